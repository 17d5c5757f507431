#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static atomic_int log_most = LOG_OFF; /* read without the lock: most calls end there */

/* Nobody waits for the reader of a pipe. */
static int open_file(const char *path, struct error *e)
{
    struct stat st;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0 || fstat(fd, &st) != 0)
        err_set_errno(e, ERR_FILE_ERROR, "cannot open the log %s", path);
    else if (!S_ISREG(st.st_mode))
        err_set(e, ERR_FILE_ERROR, "the log %s is not a regular file; name another", path);
    else if (fchmod(fd, 0600) != 0)
        err_set_errno(e, ERR_FILE_ERROR, "cannot make the log %s private", path);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool log_open(const char *path, enum log_level level, struct error *e)
{
    log_close();
    if (level == LOG_OFF)
        return true;
    int fd = open_file(path, e);
    if (fd < 0)
        return false;
    pthread_mutex_lock(&log_lock);
    log_fd = fd;
    pthread_mutex_unlock(&log_lock);
    atomic_store(&log_most, (int)level);
    return true;
}

static void close_locked(void)
{
    atomic_store(&log_most, LOG_OFF);
    if (log_fd >= 0)
        close(log_fd);
    log_fd = -1;
}

void log_close(void)
{
    pthread_mutex_lock(&log_lock);
    close_locked();
    pthread_mutex_unlock(&log_lock);
}

/* An entry is one line whatever its text holds. */
static void format_line(struct buf *line, enum log_level level, const char *text, size_t len)
{
    static const char *const names[] = {"off", "error", "info", "debug"};
    char stamp[25];
    rfc3339_format(clock_wall_ms(), stamp);
    buf_addf(line, "%s %s ", stamp, names[level]);
    utf8_clean(line, text, len, UTF8_ONE_LINE);
    buf_addch(line, '\n');
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level == LOG_OFF || (int)level > atomic_load(&log_most))
        return;
    int cause = errno;
    struct buf text = BUF_INIT, line = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    format_line(&line, level, text.data, text.len);

    pthread_mutex_lock(&log_lock);
    /* There is nobody to tell that the log cannot be written, so it ends there. */
    if (log_fd >= 0 && write(log_fd, line.data, line.len) != (ssize_t)line.len)
        close_locked();
    pthread_mutex_unlock(&log_lock);
    buf_release(&text);
    buf_release(&line);
    errno = cause;
}
