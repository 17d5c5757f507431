#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/utf8.h"

static const char ellipsis[] = "…";

static const struct err_info err_table[] = {
#define X(name, rpc, rest, status) {#name, rpc, rest, status},
    ERR_TABLE(X)
#undef X
};

const struct err_info *err_info(enum err_code code)
{
    return &err_table[code];
}

enum err_code err_from_name(const char *name)
{
    for (size_t i = 0; name && i < sizeof err_table / sizeof *err_table; i++) {
        if (strcmp(err_table[i].name, name) == 0)
            return (enum err_code)i;
    }
    return ERR_AGENT_ERROR;
}

/* A cut text may end inside a character. */
static void trim_tail(char *text)
{
    size_t len = strlen(text);
    text[len - utf8_incomplete_tail(text, len)] = '\0';
}

/* Of a text that did not fit: its whole sentences, if these are most of it. */
static void cut(char *text)
{
    size_t len = strlen(text), end = 0;
    for (size_t i = len / 2; i + 1 < len; i++)
        if (strchr(".;!?", text[i]) && (text[i + 1] == ' ' || text[i + 1] == '\n'))
            end = text[i] == ';' ? i : i + 1;
    if (end == 0) {
        len = utf8_cut_bytes(text, len, len - strlen(ellipsis));
        memcpy(text + len, ellipsis, sizeof ellipsis);
    } else {
        text[end] = '\0';
    }
}

__attribute__((format(printf, 3, 0))) static void set(struct error *e, enum err_code code,
                                                      const char *format, va_list args)
{
    e->code = code;
    int len = vsnprintf(e->text, sizeof e->text, format, args);
    trim_tail(e->text);
    if (len >= (int)sizeof e->text)
        cut(e->text);
}

const char *err_advice(const char *text)
{
    const char *parting = strstr(text, "; ");
    return parting && parting[2] ? parting + 2 : NULL;
}

bool err_set(struct error *e, enum err_code code, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    set(e, code, format, args);
    va_end(args);
    return false;
}

static const char *advice(int cause)
{
    static const struct {
        int cause;
        const char *text;
    } known[] = {
        {ENOENT, "is the name right?"},
        {ENOTDIR, "is the name right?"},
        {ENAMETOOLONG, "use a shorter name"},
        {EISDIR, "name a file"},
        {EEXIST, "name another"},
        {EACCES, "check its permissions"},
        {EPERM, "check its permissions"},
        {EROFS, "name a place that is writable"},
        {ENOSPC, "free some disk space"},
        {EDQUOT, "free some disk space"},
        {EFBIG, "free some disk space"},
        {EMFILE, "raise the limit of open files (ulimit -n)"},
        {ENFILE, "close other programs"},
        {ENOMEM, "close other programs"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].cause == cause)
            return known[i].text;
    return "try again, or run 'tiro doctor'";
}

/* What does not fit beside the cause and the advice is cut out of what happened. */
static void add_cause(char *text, size_t size, int cause)
{
    char tail[160];
    snprintf(tail, sizeof tail, ": %.90s; %s", strerror(cause), advice(cause));
    size_t len = strlen(text), room = size - 1 - strlen(tail);
    bool gives_way = len > room;
    if (gives_way)
        len = utf8_cut_bytes(text, len, room - strlen(ellipsis));
    snprintf(text + len, size - len, "%s%s", gives_way ? ellipsis : "", tail);
}

bool err_set_errno(struct error *e, enum err_code code, const char *format, ...)
{
    int cause = errno;
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    set(e, code, format, args);
    va_end(args);
    add_cause(e->text, sizeof e->text, cause);
    trim_tail(e->text);
    errno = cause;
    return false;
}

enum { EXIT_SOFTWARE = 70 };

static _Atomic(void (*)(void)) die_hook;

void die_set_hook(void (*hook)(void))
{
    atomic_store(&die_hook, hook);
}

static struct unfinished {
    struct unfinished *next;
    const char *path;
    const char *const *endings;
} * unfinished;

/* Nobody dies while he holds it. */
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;

void die_unlinks(const char *path, const char *const *endings)
{
    struct unfinished *u = malloc(sizeof *u);
    if (!u)
        die("out of memory");
    pthread_mutex_lock(&unfinished_lock);
    *u = (struct unfinished){unfinished, path, endings};
    unfinished = u;
    pthread_mutex_unlock(&unfinished_lock);
}

void die_keeps(const char *path)
{
    pthread_mutex_lock(&unfinished_lock);
    struct unfinished **link = &unfinished, *found;
    while (*link && (*link)->path != path)
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&unfinished_lock);
    free(found);
}

/* Without memory of its own: there may be none. */
static void unlink_with(const char *path, const char *const *endings)
{
    char name[PATH_MAX];
    for (; *endings; endings++)
        if (snprintf(name, sizeof name, "%s%s", path, *endings) < (int)sizeof name)
            unlink(name);
}

static void unlink_unfinished(void)
{
    pthread_mutex_lock(&unfinished_lock);
    for (const struct unfinished *u = unfinished; u; u = u->next)
        unlink_with(u->path, u->endings);
    pthread_mutex_unlock(&unfinished_lock);
}

/* One thread dies for all: another that came to its end, too, must not take the program away
 * before the first has put things in order. */
static void wait_unless_first(void)
{
    static atomic_bool dying;
    static _Thread_local bool first;
    if (!first && atomic_exchange(&dying, true))
        for (;;)
            pause();
    first = true;
}

_Noreturn void die(const char *what)
{
    wait_unless_first();
    /* Taken out first: a hook that runs out of memory itself must not run again. */
    void (*hook)(void) = atomic_exchange(&die_hook, NULL);
    if (hook)
        hook();
    unlink_unfinished();
    fprintf(stderr, "tiro: %s\n", what);
    /* Not exit(): other threads still run, and what exit handlers free they may use. */
    _exit(EXIT_SOFTWARE);
}

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
