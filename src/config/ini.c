#include "config/ini.h"

#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/mem.h"

enum { MOST_PASSES = 50 };

struct line_numbers {
    VEC(int) list;
};

/* libinih cuts long lines and long section names and tells the first bad line alone. So it gets its
 * lines from here, where what it keeps to itself is noted; and a bad line costs another pass over
 * the text, in which it is left out. */
struct pass {
    struct ini *ini;
    const struct line_numbers *left_out;
    const char *rest;
    int line;
    char *section;
    bool lost;     /* below a bad header: which section this is, no one knows */
    bool named;    /* a name was read in this section, so an indented line continues its value */
    bool indented; /* the line at hand begins with a blank */
    size_t cut;    /* longest line that libinih takes, if the line at hand is longer; else 0 */
    bool unusable; /* the value at hand has a line that was cut */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_blanks(const char *s)
{
    while (is_blank(*s))
        s++;
    return s;
}

static char *trimmed(const char *s, size_t len)
{
    while (len && is_blank(s[len - 1]))
        len--;
    const char *start = s;
    while (len && is_blank(*start)) {
        start++;
        len--;
    }
    return mem_strndup(start, len);
}

static void free_entry(struct ini_entry *entry)
{
    free(entry->section);
    free(entry->name);
    free(entry->value);
}

static void clear(struct ini *ini)
{
    for (size_t i = 0; i < ini->entries.len; i++)
        free_entry(&ini->entries.items[i]);
    for (size_t i = 0; i < ini->faults.len; i++)
        free(ini->faults.items[i].text);
    vec_clear(&ini->entries);
    vec_clear(&ini->faults);
}

void ini_release(struct ini *ini)
{
    clear(ini);
    vec_release(&ini->entries);
    vec_release(&ini->faults);
}

/* Keeps them in the order of lines. */
static void add_fault(struct ini *ini, int line, char *text)
{
    size_t at = ini->faults.len;
    while (at > 0 && ini->faults.items[at - 1].line > line)
        at--;
    vec_insert(&ini->faults, at, (struct ini_fault){.line = line, .text = text});
}

static bool is_left_out(const struct pass *p)
{
    for (size_t i = 0; i < p->left_out->list.len; i++) {
        if (p->left_out->list.items[i] == p->line)
            return true;
    }
    return false;
}

/* What the line means for those below it. */
static void note_line(struct pass *p, const char *line)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    if (p->line == 1 && strncmp(line, byte_order_mark, 3) == 0)
        line += 3;
    const char *start = skip_blanks(line);
    p->indented = start > line;
    if (*start != '[' || (p->indented && p->named))
        return;
    const char *end = strchr(start, ']');
    p->lost = !end;
    p->named = false;
    if (end) {
        free(p->section);
        p->section = trimmed(start + 1, (size_t)(end - start - 1));
    }
}

/* libinih's reader: one line a call, always with its newline. */
static char *next_line(char *out, int size, void *stream)
{
    struct pass *p = stream;
    if (!*p->rest)
        return NULL;
    size_t len = strcspn(p->rest, "\n");
    size_t most = (size_t)size - 2;
    size_t taken = len < most ? len : most;
    memcpy(out, p->rest, taken);
    memcpy(out + taken, "\n", 2);
    p->cut = len > most ? most : 0;
    p->rest += len;
    p->rest += *p->rest == '\n';
    p->line++;
    note_line(p, out);
    if (is_left_out(p))
        memcpy(out, "\n", 2);
    return out;
}

static void drop_last_value(struct pass *p, bool is_new)
{
    add_fault(
        p->ini, p->line,
        mem_printf("the line is longer than %zu bytes; continue the value on the lines below, "
                   "each beginning with a blank",
                   p->cut));
    if (!is_new && !p->unusable)
        free_entry(&p->ini->entries.items[--p->ini->entries.len]);
    p->unusable = true;
}

static void continue_value(struct ini_entry *entry, const char *more)
{
    char *joined = mem_printf("%s\n%s", entry->value, more);
    free(entry->value);
    entry->value = joined;
}

/* libinih's handler: a name with its value, or one more line of the value before. */
static int take_value(void *context, const char *section, const char *name, const char *value)
{
    (void)section; /* cut at 49 bytes; ours is whole */
    struct pass *p = context;
    bool is_new = !(p->indented && p->named);
    p->named = true;
    if (p->lost)
        return 1;
    if (is_new)
        p->unusable = false;
    if (p->cut)
        drop_last_value(p, is_new);
    else if (is_new)
        vec_push(&p->ini->entries, (struct ini_entry){.section = mem_strdup(p->section),
                                                      .name = mem_strdup(name),
                                                      .value = mem_strdup(value),
                                                      .line = p->line});
    else if (!p->unusable)
        continue_value(&vec_last(&p->ini->entries), value);
    return 1;
}

/* The number of the first line that libinih does not understand, or 0. */
static int read_once(struct ini *ini, const char *text, const struct line_numbers *left_out)
{
    struct pass p = {.ini = ini, .rest = text, .section = mem_strdup(""), .left_out = left_out};
    clear(ini);
    int bad_line = ini_parse_stream(next_line, &p, take_value, &p);
    free(p.section);
    if (bad_line < 0)
        die("out of memory");
    return bad_line;
}

static char *describe(const char *text, int line)
{
    while (--line > 0)
        text += strcspn(text, "\n") + 1;
    return mem_strdup(*skip_blanks(text) == '['
                          ? "a section's name has no end; write \"]\" after it"
                          : "this is not a setting; write \"name = value\"");
}

void ini_read(struct ini *ini, const char *text)
{
    *ini = (struct ini){0};
    struct line_numbers bad = {0};
    int bad_line;
    while ((bad_line = read_once(ini, text, &bad)) > 0 && bad.list.len < MOST_PASSES)
        vec_push(&bad.list, bad_line);
    for (size_t i = 0; i < bad.list.len; i++)
        add_fault(ini, bad.list.items[i], describe(text, bad.list.items[i]));
    vec_release(&bad.list);
}
