#include "chat/mention.h"

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"

static const char blanks[] = " \t\r\n\v\f";

void mentions_release(struct mentions *m)
{
    vec_free_each(&m->items);
}

bool mentions_have(const struct mentions *m, const char *name)
{
    for (size_t i = 0; i < m->items.len; i++)
        if (strcmp(m->items.items[i], name) == 0)
            return true;
    return false;
}

/* The length of ":10-40", ":10-" or ":10" at the end of a name; 0: there is none. */
static size_t lines_length(const char *name, size_t len)
{
    static const char digits[] = "0123456789";
    size_t at = len;
    while (at > 0 && strchr(digits, name[at - 1]))
        at--;
    if (at > 0 && name[at - 1] == '-')
        for (at--; at > 0 && strchr(digits, name[at - 1]);)
            at--;
    bool fits = at > 1 && name[at - 1] == ':' && at < len && strchr(digits, name[at]);
    return fits ? len - at + 1 : 0;
}

size_t mention_lines(const char *name, int64_t *first, int64_t *last)
{
    size_t all = strlen(name), len = all - lines_length(name, all);
    *first = 0;
    *last = INT32_MAX;
    if (len == all)
        return len;
    char *end;
    long long from = strtoll(name + len + 1, &end, 10), to = from;
    if (*end == '-')
        to = end[1] ? strtoll(end + 1, NULL, 10) : INT32_MAX;
    *first = from < 1 ? 1 : from > INT32_MAX ? INT32_MAX : from;
    *last = to < *first ? *first : to > INT32_MAX ? INT32_MAX : to;
    return len;
}

/* Reads a quoted name at its quote; returns the byte behind it, 0 if the quote does not end on its
 * line. */
static size_t take_quoted(const char *text, size_t at, struct buf *name)
{
    for (at++; text[at] && text[at] != '"' && text[at] != '\n'; at++) {
        at += text[at] == '\\' && text[at + 1] && text[at + 1] != '\n';
        buf_addch(name, text[at]);
    }
    if (text[at] != '"' || name->len == 0)
        return 0;
    size_t len = strspn(text + ++at, ":-0123456789");
    while (len > 0 && lines_length(text + at - 1, len + 1) != len)
        len--;
    buf_add(name, text + at, len);
    return at + len;
}

bool mention_next(const char *text, size_t at, size_t *from, size_t *end, char **name)
{
    for (const char *mark; (mark = strchr(text + at, '@')); at = *from + 1) {
        *from = (size_t)(mark - text);
        if (*from > 0 && !strchr(" \t\r\n\v\f([{", text[*from - 1]))
            continue;
        AUTO(buf_release) struct buf found = BUF_INIT;
        size_t len = strcspn(mark + 1, blanks);
        if (mark[1] == '"') {
            *end = take_quoted(text, *from + 1, &found);
        } else {
            while (len > 0 && strchr(",.;:!?)]}>'\"", mark[len]) &&
                   !(mark[len] == '.' && (len == 1 || strchr("./", mark[len - 1]))))
                len--;
            *end = len > 0 && mark[1] != '@' ? *from + 1 + len : 0;
            buf_add(&found, mark + 1, len);
        }
        if (*end == 0)
            continue;
        *name = buf_take(&found);
        return true;
    }
    return false;
}

void mentions_find(const char *text, struct mentions *out)
{
    char *name;
    *out = (struct mentions){0};
    for (size_t at = 0, from; mention_next(text, at, &from, &at, &name);) {
        if (out->items.len < MENTIONS_MOST && !mentions_have(out, name))
            vec_push(&out->items, name);
        else
            free(name);
        if (out->items.len == MENTIONS_MOST)
            return;
    }
}

void mention_add(struct buf *out, const char *name)
{
    AUTO(buf_release) struct buf plain = BUF_INIT;
    size_t from, end, all = strlen(name), len = all - lines_length(name, all);
    char *read = NULL;
    buf_addf(&plain, "@%s", name);
    bool same = mention_next(plain.data, 0, &from, &end, &read) && strcmp(read, name) == 0;
    free(read);
    if (same) {
        buf_add(out, plain.data, plain.len);
        return;
    }
    buf_addstr(out, "@\"");
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '"' || name[i] == '\\')
            buf_addch(out, '\\');
        buf_addch(out, name[i]);
    }
    buf_addf(out, "\"%s", name + len);
}

void mentions_add(struct buf *out, const struct mentions *names)
{
    for (size_t i = 0; i < names->items.len; i++) {
        buf_addstr(out, i > 0 ? " " : "");
        mention_add(out, names->items.items[i]);
    }
}

char *mention_of_path(const char *text)
{
    static const char file[] = "file://";
    AUTO(buf_release) struct buf path = BUF_INIT;
    const char *at = text + strspn(text, blanks), *end = at + strlen(at);
    while (end > at && strchr(blanks, end[-1]))
        end--;
    bool url = strncmp(at, file, sizeof file - 1) == 0;
    char quote = *at == '\'' || *at == '"' ? *at : '\0';
    if (quote && (end - at < 2 || end[-1] != quote))
        return NULL;
    at += quote ? 1 : url ? sizeof file - 1 : 0;
    at += url ? strcspn(at, "/") : 0; /* behind the host */
    for (end -= quote != '\0'; at < end; at++) {
        int byte = url ? url_escaped_byte(at, (size_t)(end - at)) : -1;
        at += !url && quote != '\'' && *at == '\\' && at + 1 < end;
        if (*at == '\n')
            return NULL;
        buf_addch(&path, byte >= ' ' ? (char)byte : *at);
        at += byte >= ' ' ? 2 : 0;
    }
    return path.len > 0 ? buf_take(&path) : NULL;
}
