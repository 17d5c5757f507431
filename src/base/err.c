#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

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
