#include "serve/acp_difference.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

/* A line with its end, if it has one. */
struct line {
    const char *text;
    size_t len;
};

static bool next_line(const char **at, struct line *out)
{
    if (!**at)
        return false;
    size_t len = strcspn(*at, "\n");
    len += (*at)[len] == '\n';
    *out = (struct line){*at, len};
    *at += len;
    return true;
}

/* The two texts while the difference is gone through. */
struct undoing {
    const char *after; /* what of it is to come */
    size_t line;       /* number of its next line, from 1 */
    struct buf before;
    char last; /* mark of the last line of the difference */
};

static bool copy_until(struct undoing *u, size_t line)
{
    struct line l;
    for (; u->line < line; u->line++) {
        if (!next_line(&u->after, &l))
            return false;
        buf_add(&u->before, l.text, l.len);
    }
    return u->line == line;
}

/* "@@ -1,4 +1,6 @@": where the lines begin that follow. Where they have none of the new text, it is
 * the line before. */
static bool begin_hunk(struct undoing *u, const char *head)
{
    char *end;
    const char *plus = strchr(head, '+');
    if (!plus)
        return false;
    unsigned long line = strtoul(plus + 1, &end, 10);
    unsigned long count = *end == ',' ? strtoul(end + 1, NULL, 10) : 1;
    return copy_until(u, line + (count == 0));
}

/* The line stands in the new text; its end may lack there. */
static bool is_next(struct undoing *u, const struct line *l)
{
    struct line found;
    if (!next_line(&u->after, &found))
        return false;
    u->line++;
    bool shorter = l->len == found.len + 1 && l->text[l->len - 1] == '\n';
    return (l->len == found.len || shorter) && memcmp(l->text, found.text, found.len) == 0;
}

/* "\ No newline at end of file" is about the line before. */
static void drop_end(struct undoing *u)
{
    if (u->last != '+' && u->before.len > 0 && u->before.data[u->before.len - 1] == '\n')
        buf_truncate(&u->before, u->before.len - 1);
}

static bool undo_line(struct undoing *u, const struct line *l)
{
    const struct line rest = {l->text + 1, l->len - 1};
    char mark = *l->text;
    bool fits = true;
    if (mark == '@')
        fits = begin_hunk(u, l->text);
    else if (mark == '\\')
        drop_end(u);
    else if (mark == '+' || mark == ' ')
        fits = is_next(u, &rest);
    else
        fits = mark == '-';
    if (fits && (mark == '-' || mark == ' '))
        buf_add(&u->before, rest.text, rest.len);
    u->last = mark;
    return fits;
}

static bool undo(struct undoing *u, const char *difference)
{
    struct line l;
    bool any = false;
    while (next_line(&difference, &l)) {
        any = any || *l.text == '@';
        if (!any || !undo_line(u, &l))
            return false;
    }
    buf_addstr(&u->before, u->after);
    return any;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Both names, of which the first may say that there was none. */
static bool skip_names(const char **difference, bool *created)
{
    struct line old, new;
    return next_line(difference, &old) && starts(old.text, "--- ") && next_line(difference, &new) &&
           starts(new.text, "+++ ") && (*created = starts(old.text, "--- /dev/null\n"), true);
}

bool acp_difference_undo(const char *difference, const char *after, char **before)
{
    struct undoing u = {.after = after, .line = 1, .before = BUF_INIT};
    bool created = false;
    bool same = strcmp(difference, "[no difference]\n") == 0;
    *before = same ? mem_strdup(after) : NULL;
    if (same)
        return true;
    bool fits = skip_names(&difference, &created) && (created || undo(&u, difference));
    if (fits && !created)
        *before = buf_take(&u.before);
    buf_release(&u.before);
    return fits;
}
