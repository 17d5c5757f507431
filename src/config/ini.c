#include "config/ini.h"

#include <ini.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

struct line_numbers {
    VEC(int) list;
};

/* libinih cuts long lines and long section names and reports only the first bad line. So it reads
 * its lines from next_line(), which notes what libinih does not tell; and each bad line costs
 * another pass over the text, in which that line is left out. */
struct pass {
    struct ini *ini;
    const struct line_numbers *left_out;
    const char *text, *rest;
    int line;
    size_t header, entry; /* lines of the current section and value; or INI_NO_LINE */
    char *section;
    bool lost;     /* below a bad header: the section is unknown */
    bool named;    /* a name was read in this section, so an indented line continues its value */
    bool indented; /* the current line begins with a blank */
    size_t cut;    /* the longest line that libinih takes, if the current one is longer; else 0 */
    bool unusable; /* the current value has a line that was cut */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t trimmed_len(const char *s, size_t len)
{
    while (len && is_blank(s[len - 1]))
        len--;
    return len;
}

static char *trimmed(const char *s, size_t len)
{
    while (len && is_blank(*s)) {
        s++;
        len--;
    }
    return mem_strndup(s, trimmed_len(s, len));
}

static void free_entry(struct ini_entry *entry)
{
    free(entry->section);
    free(entry->name);
    free(entry->value);
}

void ini_release(struct ini *ini)
{
    for (size_t i = 0; i < ini->entries.len; i++)
        free_entry(&ini->entries.items[i]);
    for (size_t i = 0; i < ini->faults.len; i++)
        free(ini->faults.items[i].text);
    for (size_t i = 0; i < ini->lines.len; i++)
        free(ini->lines.items[i].name);
    vec_release(&ini->entries);
    vec_release(&ini->faults);
    vec_release(&ini->lines);
}

/* Keeps the faults in the order of lines. */
static void add_fault(struct ini *ini, int line, char *text)
{
    size_t at = ini->faults.len;
    while (at > 0 && ini->faults.items[at - 1].line > line)
        at--;
    vec_insert(&ini->faults, at, (struct ini_fault){.line = line, .text = text});
}

/* Adds the line with its kind. Lines with values are INI_LINE_BAD until libinih reports them. */
static void note_line(struct pass *p, const char *text)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    size_t len = strcspn(text, "\n"), at = (size_t)(text - p->text);
    struct ini_line line = {.kind = INI_LINE_BAD,
                            .start = at,
                            .end = at + len - (len > 0 && text[len - 1] == '\r'),
                            .next = at + len + (text[len] == '\n'),
                            .entry = INI_NO_LINE};
    if (p->line == 1 && strncmp(text, byte_order_mark, 3) == 0)
        text += 3;
    const char *start = text;
    while (start < p->text + line.end && is_blank(*start))
        start++;
    p->indented = start > text;
    if (start == p->text + line.end)
        line.kind = INI_LINE_BLANK;
    else if (strchr(";#", *start)) {
        size_t name = strcspn(start, "=:\n"); /* of "; name = value" */
        line.kind = INI_LINE_COMMENT;
        if (start + name < p->text + line.end)
            line.name = trimmed(start + 1, name - 1);
    } else if (*start == '[' && !(p->indented && p->named)) {
        const char *end = memchr(start, ']', (size_t)(p->text + line.end - start));
        p->lost = !end;
        p->named = false;
        p->entry = INI_NO_LINE;
        p->header = end ? p->ini->lines.len : INI_NO_LINE;
        if (end) {
            free(p->section);
            p->section = trimmed(start + 1, (size_t)(end - start - 1));
            line.kind = INI_LINE_HEADER;
            line.name = mem_strdup(p->section);
        }
    }
    line.section = p->header;
    vec_push(&p->ini->lines, line);
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
    p->line++;
    note_line(p, p->rest);
    p->rest += len;
    p->rest += *p->rest == '\n';
    for (size_t i = 0; i < p->left_out->list.len; i++)
        if (p->left_out->list.items[i] == p->line)
            memcpy(out, "\n", 2);
    return out;
}

/* Notes the place of an entry or of its continuation. */
static void note_value(struct pass *p, bool is_new, const char *name, const char *value)
{
    struct ini_line *line = &vec_last(&p->ini->lines);
    if (line->kind == INI_LINE_HEADER) /* libinih adds it to a value before a bad header */
        return;
    if (is_new)
        p->entry = p->ini->lines.len - 1;
    line->kind = is_new ? INI_LINE_ENTRY : INI_LINE_MORE;
    line->entry = p->entry;
    if (!is_new)
        return;
    size_t after = line->start + strcspn(p->text + line->start, "=:") + 1, at = after;
    while (at < line->end && is_blank(p->text[at]))
        at++;
    line->name = mem_strdup(name);
    line->value = !*value && at < line->end ? after : at; /* "name = ; comment" */
    line->value_end =
        line->value +
        (p->cut ? trimmed_len(p->text + line->value, line->end - line->value) : strlen(value));
}

/* libinih's handler: a name with its value, or one more line of the value before. */
static int take_value(void *context, const char *section, const char *name, const char *value)
{
    (void)section; /* cut at 49 bytes; ours is whole */
    struct pass *p = context;
    bool is_new = !(p->indented && p->named);
    p->named = true;
    note_value(p, is_new, name, value);
    if (p->lost)
        return 1;
    if (is_new)
        p->unusable = false;
    if (p->cut) {
        add_fault(p->ini, p->line,
                  mem_printf("the line is longer than %zu bytes; continue the value on the lines "
                             "below, each beginning with a blank",
                             p->cut));
        if (!is_new && !p->unusable)
            free_entry(&p->ini->entries.items[--p->ini->entries.len]);
        p->unusable = true;
    } else if (is_new) {
        vec_push(&p->ini->entries, (struct ini_entry){.section = mem_strdup(p->section),
                                                      .name = mem_strdup(name),
                                                      .value = mem_strdup(value),
                                                      .line = p->line});
    } else if (!p->unusable) {
        struct ini_entry *entry = &vec_last(&p->ini->entries);
        auto_free char *before = entry->value;
        entry->value = mem_printf("%s\n%s", before, value);
    }
    return 1;
}

void ini_read(struct ini *ini, const char *text)
{
    enum { MOST_PASSES = 50 };
    *ini = (struct ini){0};
    struct line_numbers bad = {0};
    int bad_line; /* the first that libinih does not understand, or 0 */
    do {
        struct pass p = {.ini = ini,
                         .text = text,
                         .rest = text,
                         .section = mem_strdup(""),
                         .left_out = &bad,
                         .header = INI_NO_LINE,
                         .entry = INI_NO_LINE};
        ini_release(ini);
        bad_line = ini_parse_stream(next_line, &p, take_value, &p);
        free(p.section);
        if (bad_line < 0)
            die("out of memory");
        if (bad_line > 0 && bad.list.len == MOST_PASSES)
            break;
        if (bad_line > 0)
            vec_push(&bad.list, bad_line);
    } while (bad_line > 0);
    for (size_t i = 0; i < bad.list.len; i++) {
        const char *start = text + ini->lines.items[bad.list.items[i] - 1].start;
        while (is_blank(*start))
            start++;
        add_fault(ini, bad.list.items[i],
                  mem_strdup(*start == '[' ? "a section's name has no end; write \"]\" after it"
                                           : "this is not a setting; write \"name = value\""));
    }
    vec_release(&bad.list);
}
