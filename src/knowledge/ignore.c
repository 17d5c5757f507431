#include "knowledge/ignore.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- patterns --------------------------------------------------------------------------------- */

/* A name or a pattern of one: the characters up to a slash or the end. */
struct part {
    const char *at, *end;
};

static struct part first_part(const char *path)
{
    return (struct part){path, path + strcspn(path, "/")};
}

/* NULL: it is the last one. */
static const char *behind(struct part p)
{
    return *p.end == '/' ? p.end + 1 : NULL;
}

/* Behind the "]" of the set that begins here; NULL: it has none, so "[" stands for itself. */
static const char *set_end(const char *at, const char *end)
{
    const char *p = at + 1;
    p += p < end && (*p == '!' || *p == '^');
    p += p < end && *p == ']';
    while (p < end && *p != ']')
        p++;
    return p < end ? p + 1 : NULL;
}

static bool is_in_set(const char *at, const char *end, unsigned char c)
{
    const char *p = at + 1, *last = end - 1;
    bool negated = *p == '!' || *p == '^', found = false;
    for (p += negated; p < last; p++) {
        unsigned char from = (unsigned char)*p, to = from;
        if (p + 2 < last && p[1] == '-') {
            to = (unsigned char)p[2];
            p += 2;
        }
        found = found || (from <= c && c <= to);
    }
    return found != negated;
}

/* Whether the element of the pattern at `p` takes the character; *next: the element behind it. */
static bool takes(const char *p, const char *end, char c, const char **next)
{
    const char *set = *p == '[' ? set_end(p, end) : NULL;
    *next = set ? set : p + 1;
    if (set)
        return is_in_set(p, set, (unsigned char)c);
    if (*p == '?')
        return true;
    if (*p == '\\' && p + 1 < end) {
        *next = p + 2;
        return p[1] == c;
    }
    return *p == c;
}

/* Where it does not go on, the last "*" takes a character more. */
static bool part_fits(struct part pattern, struct part name)
{
    const char *p = pattern.at, *star = NULL, *n = name.at, *from = NULL;
    while (n < name.end) {
        const char *next;
        if (p < pattern.end && *p == '*') {
            star = ++p;
            from = n;
        } else if (p < pattern.end && takes(p, pattern.end, *n, &next)) {
            p = next;
            n++;
        } else if (star) {
            p = star;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.end && *p == '*')
        p++;
    return p == pattern.end;
}

static bool is_any_depth(struct part p)
{
    return p.end - p.at == 2 && p.at[0] == '*' && p.at[1] == '*';
}

/* The same with names in place of characters, and "**" in place of "*". At the end of the pattern
 * it needs something below it. */
bool ignore_fits(const char *pattern, const char *path)
{
    const char *p = pattern, *n = path, *any = NULL, *from = NULL;
    while (n) {
        struct part name = first_part(n), part = {0};
        if (p)
            part = first_part(p);
        if (p && is_any_depth(part)) {
            any = behind(part);
            if (!any)
                return true;
            p = any;
            from = n;
        } else if (p && part_fits(part, name)) {
            p = behind(part);
            n = behind(name);
        } else if (any) {
            p = any;
            from = behind(first_part(from));
            n = from;
        } else {
            return false;
        }
    }
    return !p;
}

/* --- the file --------------------------------------------------------------------------------- */

/* Blanks at the end do not count, unless one is escaped. */
static size_t trimmed(const char *line, size_t len)
{
    if (len > 0 && line[len - 1] == '\r')
        len--;
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t') &&
           !(len > 1 && line[len - 2] == '\\'))
        len--;
    return len;
}

static void add_line(struct ignore_rules *out, const char *line, size_t len)
{
    struct ignore_rule r = {0};
    len = trimmed(line, len);
    if (len == 0 || *line == '#' || memchr(line, '\0', len))
        return;
    if (*line == '!') {
        r.negated = true;
        line++, len--;
    }
    if (len > 0 && line[len - 1] == '/') {
        r.directory = true;
        len--;
    }
    r.anchored = len > 0 && memchr(line, '/', len);
    if (len > 0 && *line == '/')
        line++, len--;
    if (len == 0)
        return;
    r.pattern = mem_strndup(line, len);
    vec_push(&out->items, r);
}

void ignore_read(struct ignore_rules *out, const char *text, size_t len)
{
    const char *end = text + len;
    *out = (struct ignore_rules){0};
    while (text < end && out->items.len < IGNORE_LINES) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        add_line(out, text, (size_t)(stop - text));
        text = stop + 1;
    }
}

void ignore_release(struct ignore_rules *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        free(r->items.items[i].pattern);
    vec_release(&r->items);
}

enum ignore_verdict ignore_says(const struct ignore_rules *r, const char *path, bool is_directory)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (size_t i = r->items.len; i-- > 0;) {
        const struct ignore_rule *rule = &r->items.items[i];
        if ((!rule->directory || is_directory) &&
            ignore_fits(rule->pattern, rule->anchored ? path : name))
            return rule->negated ? IGNORE_IN : IGNORE_OUT;
    }
    return IGNORE_UNSAID;
}
