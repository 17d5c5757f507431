#include "compact/extract_paths.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define PATH_BYTES 200 /* what is longer is none */
#define EXTENSION_CHARS 8

void path_set_release(struct path_set *s)
{
    vec_free_each(&s->items);
}

static bool is_ascii_alnum(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Letters of other scripts, but not their punctuation and not what no character was. */
static bool is_letter(uint32_t cp)
{
    return cp >= 0xC0 && !(cp >= 0x2000 && cp <= 0x2BFF) && !(cp >= 0x3000 && cp <= 0x303F) &&
           cp != 0xFFFD && !(cp >= 0xFF00 && cp <= 0xFF0F);
}

/* Bytes of the character at the beginning that a path may have, 0 where it may not. */
static size_t path_char(const char *s, size_t len)
{
    unsigned char c = (unsigned char)*s;
    if (c < 0x80)
        return is_ascii_alnum(c) || (c && strchr("._-/~+@", c));
    uint32_t cp;
    size_t used = utf8_decode(s, len, &cp);
    return is_letter(cp) ? used : 0;
}

static bool begins_with(const char *s, size_t len, const char *start)
{
    return len > strlen(start) && strncmp(s, start, strlen(start)) == 0;
}

/* "main.c", ".clang-format" has none, and neither has "3.5". */
static bool has_extension(const char *name, size_t len)
{
    size_t dot = len;
    while (dot > 0 && name[dot - 1] != '.' && name[dot - 1] != '/')
        dot--;
    size_t chars = len - dot;
    if (dot < 2 || name[dot - 1] != '.' || name[dot - 2] == '/' || chars == 0 ||
        chars > EXTENSION_CHARS || !isalpha((unsigned char)name[dot]))
        return false;
    for (size_t i = dot; i < len; i++)
        if (!is_ascii_alnum((unsigned char)name[i]))
            return false;
    return true;
}

static size_t count_slashes(const char *s, size_t len)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += s[i] == '/';
    return count;
}

/* "and/or" is none, nor is what follows the colon of a URL. */
static bool is_path(const char *s, size_t len, bool names)
{
    size_t slashes = count_slashes(s, len);
    if (len < 3 || len > PATH_BYTES || begins_with(s, len, "//"))
        return false;
    if (slashes == 0)
        return names && has_extension(s, len);
    return slashes > 1 || has_extension(s, len) || begins_with(s, len, "./") ||
           begins_with(s, len, "~/");
}

static bool is_in(const struct path_set *s, const char *path, size_t len)
{
    for (size_t i = 0; i < s->items.len; i++)
        if (strlen(s->items.items[i]) == len && memcmp(s->items.items[i], path, len) == 0)
            return true;
    return false;
}

static size_t run_length(const char *s, size_t len)
{
    size_t run = 0;
    for (size_t used; run < len && (used = path_char(s + run, len - run)) > 0;)
        run += used;
    return run;
}

/* Where the run begins that holds the next slash; `len`: there is none. */
static size_t run_with_slash(const char *text, size_t len, size_t at)
{
    const char *slash = memchr(text + at, '/', len - at);
    size_t start = slash ? (size_t)(slash - text) : len;
    while (slash && start > at) {
        size_t before = start - 1;
        while (before > at && ((unsigned char)text[before] & 0xC0) == 0x80)
            before--;
        if (path_char(text + before, len - before) != start - before)
            break;
        start = before;
    }
    return start;
}

void path_set_add(struct path_set *s, const char *text, bool names)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len && s->items.len < s->max;) {
        if (!names && (at = run_with_slash(text, len, at)) == len)
            break;
        size_t run = run_length(text + at, len - at);
        size_t path = run;
        while (path > 0 && text[at + path - 1] == '.')
            path--;
        if (is_path(text + at, path, names) && !is_in(s, text + at, path))
            vec_push(&s->items, mem_strndup(text + at, path));
        at += run > 0 ? run : 1;
    }
}

void path_set_sort(struct path_set *s)
{
    vec_sort(&s->items, vec_text_order);
}
