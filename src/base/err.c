#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"

/* --- errors as values ------------------------------------------------------------------------- */

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
    for (size_t i = 0; name && i < sizeof err_table / sizeof *err_table; i++)
        if (strcmp(err_table[i].name, name) == 0)
            return (enum err_code)i;
    return ERR_AGENT_ERROR;
}

const char *err_advice(const char *text)
{
    const char *found = strstr(text, "; ");
    return found && found[2] ? found + 2 : NULL;
}

__attribute__((format(printf, 3, 0))) static void set(struct error *e, enum err_code code,
                                                      const char *format, va_list args)
{
    e->code = code;
    bool cut = vsnprintf(e->text, sizeof e->text, format, args) >= (int)sizeof e->text;
    size_t len = strlen(e->text), end = 0;
    len -= utf8_incomplete_tail(e->text, len);
    e->text[len] = '\0';
    if (!cut)
        return;
    /* The last sentence end in the second half. */
    for (size_t i = len / 2; i + 1 < len; i++)
        if (strchr(".;!?", e->text[i]) && (e->text[i + 1] == ' ' || e->text[i + 1] == '\n'))
            end = e->text[i] == ';' ? i : i + 1;
    if (end > 0) {
        e->text[end] = '\0';
    } else {
        len = utf8_cut_bytes(e->text, len, len - strlen(ellipsis));
        memcpy(e->text + len, ellipsis, sizeof ellipsis);
    }
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

bool err_set_errno(struct error *e, enum err_code code, const char *format, ...)
{
    int cause = errno;
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    set(e, code, format, args);
    va_end(args);
    char tail[160];
    snprintf(tail, sizeof tail, ": %.90s; %s", strerror(cause), advice(cause));
    size_t len = strlen(e->text), room = sizeof e->text - 1 - strlen(tail);
    bool cut = len > room;
    if (cut)
        len = utf8_cut_bytes(e->text, len, room - strlen(ellipsis));
    snprintf(e->text + len, sizeof e->text - len, "%s%s", cut ? ellipsis : "", tail);
    len = strlen(e->text);
    e->text[len - utf8_incomplete_tail(e->text, len)] = '\0';
    errno = cause;
    return false;
}

/* --- the end of the program ------------------------------------------------------------------- */

enum { EXIT_SOFTWARE = 70 };

static _Atomic(void (*)(void)) die_hook;

static struct unfinished {
    struct unfinished *next;
    const char *path;
    const char *const *endings;
} * unfinished;

/* Nothing that can die() runs while it is held. */
static pthread_mutex_t unfinished_lock = PTHREAD_MUTEX_INITIALIZER;

void die_set_hook(void (*hook)(void))
{
    atomic_store(&die_hook, hook);
}

void die_unlinks(const char *path, const char *const *endings)
{
    struct unfinished *u = mem_alloc(sizeof *u);
    pthread_mutex_lock(&unfinished_lock);
    *u = (struct unfinished){unfinished, path, endings};
    unfinished = u;
    pthread_mutex_unlock(&unfinished_lock);
}

void die_keeps(const char *path)
{
    pthread_mutex_lock(&unfinished_lock);
    struct unfinished **link = &unfinished;
    while (*link && (*link)->path != path)
        link = &(*link)->next;
    struct unfinished *found = *link;
    if (found)
        *link = found->next;
    pthread_mutex_unlock(&unfinished_lock);
    free(found);
}

_Noreturn void die(const char *reason)
{
    static atomic_bool dying;
    static _Thread_local bool first;
    /* A second thread that dies waits: it must not end the program before the first has cleaned
     * up. */
    if (!first && atomic_exchange(&dying, true))
        for (;;)
            pause();
    first = true;
    /* Removed first: a hook that runs out of memory must not run again. */
    void (*hook)(void) = atomic_exchange(&die_hook, NULL);
    if (hook)
        hook();
    pthread_mutex_lock(&unfinished_lock);
    for (const struct unfinished *u = unfinished; u; u = u->next)
        for (const char *const *ending = u->endings; *ending; ending++) {
            char name[PATH_MAX]; /* there may be no memory to allocate */
            if (snprintf(name, sizeof name, "%s%s", u->path, *ending) < (int)sizeof name)
                unlink(name);
        }
    pthread_mutex_unlock(&unfinished_lock);
    fprintf(stderr, "tiro: %s\n", reason);
    /* Not exit(): other threads still run and may use what exit handlers free. */
    _exit(EXIT_SOFTWARE);
}

/* --- the diagnostic log ----------------------------------------------------------------------- */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static atomic_int log_most = LOG_OFF; /* read without the lock: most calls end there */

bool log_open(const char *path, enum log_level level, struct error *e)
{
    struct stat st;
    log_close();
    if (level == LOG_OFF)
        return true;
    /* O_NONBLOCK: do not wait for the reader of a named pipe. */
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    bool ok = false;
    if (fd < 0 || fstat(fd, &st) != 0)
        err_set_errno(e, ERR_FILE_ERROR, "cannot open the log %s", path);
    else if (!S_ISREG(st.st_mode))
        err_set(e, ERR_FILE_ERROR, "the log %s is not a regular file; name another", path);
    else if (fchmod(fd, 0600) != 0)
        err_set_errno(e, ERR_FILE_ERROR, "cannot make the log %s private", path);
    else
        ok = true;
    if (!ok) {
        if (fd >= 0)
            close(fd);
        return false;
    }
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

void log_line(enum log_level level, const char *format, ...)
{
    static const char *const names[] = {"off", "error", "info", "debug"};
    if (level == LOG_OFF || (int)level > atomic_load(&log_most))
        return;
    int cause = errno;
    AUTO(buf_release) struct buf text = BUF_INIT, line = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    char stamp[25];
    rfc3339_format(clock_wall_ms(), stamp);
    buf_addf(&line, "%s %s ", stamp, names[level]);
    utf8_clean(&line, text.data, text.len, UTF8_ONE_LINE);
    buf_addch(&line, '\n');

    pthread_mutex_lock(&log_lock);
    /* A failure to write cannot be reported anywhere: the log ends. */
    if (log_fd >= 0 && write(log_fd, line.data, line.len) != (ssize_t)line.len)
        close_locked();
    pthread_mutex_unlock(&log_lock);
    errno = cause;
}
