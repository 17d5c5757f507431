#include "agent/line_search.h"

#include <string.h>

enum { PIECE = 2048, OVERLAP = 256 };

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

/* Back to the beginning of a character. */
static size_t align(const char *line, size_t at)
{
    for (int i = 0; i < 3 && at > 0 && is_continuation(line[at]); i++)
        at--;
    return at;
}

static bool match(const regex_t *pattern, char *line, size_t from, size_t to, size_t len,
                  size_t *at)
{
    regmatch_t where;
    char after = line[to];
    int flags = (from > 0 ? REG_NOTBOL : 0) | (to < len ? REG_NOTEOL : 0);
    line[to] = '\0';
    /* Whether it matches is cheaper to tell than where. */
    bool yes = regexec(pattern, line + from, 0, NULL, flags) == 0;
    if (yes)
        *at = regexec(pattern, line + from, 1, &where, flags) == 0 ? from + (size_t)where.rm_so
                                                                   : from;
    line[to] = after;
    return yes;
}

static bool search_line(const struct line_search *s, int64_t number, char *line, size_t len)
{
    size_t from = 0, to, at;
    do {
        to = len - from > PIECE ? align(line, from + PIECE) : len;
        if (!s->go_on(s->context))
            return false;
        if (match(s->pattern, line, from, to, len, &at))
            return s->found(s->context, number, line, len, at);
        from = align(line, to - (to < len ? OVERLAP : 0));
    } while (to < len);
    return true;
}

bool line_search_run(const struct line_search *s, char *text, size_t len)
{
    int64_t number = 1;
    for (size_t start = 0; start < len; number++) {
        const char *newline = memchr(text + start, '\n', len - start);
        size_t end = newline ? (size_t)(newline - text) : len;
        size_t line_len = end - start;
        if (line_len > 0 && text[end - 1] == '\r')
            line_len--;
        if (!search_line(s, number, text + start, line_len))
            return false;
        start = end + 1;
    }
    return true;
}
