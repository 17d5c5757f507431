#include "agent/glob.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { MAX_PATTERNS = 64 };

/* The innermost braces: `open` and `close` are set. */
static bool find_braces(const char *text, const char **open, const char **close)
{
    *open = NULL;
    for (*close = text; **close && **close != '}'; (*close)++)
        if (**close == '{')
            *open = *close;
    return *open && **close;
}

/* One pattern for each word of the braces. */
static void push_words(struct glob *g, const char *text, const char *open, const char *close)
{
    for (const char *word = open + 1; word <= close; word++) {
        const char *end = word + strcspn(word, ",}");
        struct buf whole = BUF_INIT;
        buf_add(&whole, text, (size_t)(open - text));
        buf_add(&whole, word, (size_t)(end - word));
        buf_addstr(&whole, close + 1);
        vec_push(&g->patterns, buf_take(&whole));
        word = end;
    }
}

/* Without its "**" directories, which may stand for none. */
static char *shallow(const char *pattern)
{
    struct buf out = BUF_INIT;
    for (const char *p = pattern; *p; p++) {
        if (strncmp(p, "**/", 3) == 0 && (p == pattern || p[-1] == '/'))
            p += 2;
        else
            buf_addch(&out, *p);
    }
    return buf_take(&out);
}

bool glob_read(struct glob *g, const char *text, struct error *e)
{
    const char *open, *close;
    *g = (struct glob){0};
    vec_push(&g->patterns, mem_strdup(text));
    for (size_t i = 0; i < g->patterns.len && g->patterns.len <= MAX_PATTERNS;) {
        char *pattern = g->patterns.items[i];
        if (!find_braces(pattern, &open, &close)) {
            i++;
            continue;
        }
        push_words(g, pattern, open, close);
        vec_remove(&g->patterns, i, 1);
        free(pattern);
    }
    if (g->patterns.len > MAX_PATTERNS) {
        glob_release(g);
        return err_set(e, ERR_USAGE, "the glob stands for more than %d patterns", MAX_PATTERNS);
    }
    for (size_t i = g->patterns.len; i > 0; i--)
        if (strstr(g->patterns.items[i - 1], "**/"))
            vec_push(&g->patterns, shallow(g->patterns.items[i - 1]));
    return true;
}

void glob_release(struct glob *g)
{
    vec_free_each(&g->patterns);
}

bool glob_matches(const struct glob *g, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < g->patterns.len; i++) {
        const char *pattern = g->patterns.items[i];
        if (fnmatch(pattern, strchr(pattern, '/') ? path : name, 0) == 0)
            return true;
    }
    return false;
}
