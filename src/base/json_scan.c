#include "base/json_scan.h"

#include <string.h>

/* Ends a number or a word, which have no end of their own. */
static bool is_behind(char c)
{
    return c != '\0' && strchr(" \t\r\n,:]}", c) != NULL;
}

/* Behind the string's end, or `len`. */
static size_t scan_string(struct json_scan *s, const char *bytes, size_t at, size_t len)
{
    for (; at < len; at++) {
        if (s->escaped)
            s->escaped = false;
        else if (bytes[at] == '\\')
            s->escaped = true;
        else if (bytes[at] == '"') {
            s->in_string = false;
            s->ended = s->depth == 0;
            return at + 1;
        }
    }
    return len;
}

size_t json_scan(struct json_scan *s, const char *bytes, size_t len)
{
    size_t at = 0;
    while (at < len && !s->ended) {
        char c = bytes[at];
        if (s->in_string) {
            at = scan_string(s, bytes, at, len);
            continue;
        }
        if (s->depth == 0 && is_behind(c)) {
            s->ended = true;
            return at;
        }
        at++;
        s->in_string = c == '"';
        s->depth += c == '[' || c == '{';
        if (c == ']' || c == '}')
            s->ended = --s->depth == 0;
    }
    return at;
}
