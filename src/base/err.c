#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

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

bool err_set(struct error *e, enum err_code code, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    e->code = code;
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    trim_tail(e->text);
    return false;
}

bool err_set_errno(struct error *e, enum err_code code, const char *format, ...)
{
    int cause = errno;
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    e->code = code;
    int len = vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof e->text)
        snprintf(e->text + len, sizeof e->text - (size_t)len, ": %s", strerror(cause));
    trim_tail(e->text);
    errno = cause;
    return false;
}
