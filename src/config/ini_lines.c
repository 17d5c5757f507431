#include "config/ini_lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char blanks[] = " \t\v\f\r";

struct reader {
    struct ini_lines *lines;
    const char *text;
    size_t section; /* line of the header above */
    size_t entry;   /* line of the value that an indented line continues */
};

static size_t skip_blanks(const char *text, size_t at, size_t end)
{
    while (at < end && strchr(blanks, text[at]))
        at++;
    return at;
}

static size_t trim_blanks(const char *text, size_t start, size_t end)
{
    while (end > start && strchr(blanks, text[end - 1]))
        end--;
    return end;
}

/* Where one of `wanted` is, or a comment begins (a ';' after a blank), or `end`. */
static size_t find_any(const char *text, size_t at, size_t end, const char *wanted)
{
    for (bool after_blank = false; at < end; at++) {
        if (strchr(wanted, text[at]) || (after_blank && text[at] == ';'))
            break;
        after_blank = strchr(blanks, text[at]) != NULL;
    }
    return at;
}

static char *trimmed_copy(const char *text, size_t start, size_t end)
{
    start = skip_blanks(text, start, end);
    return mem_strndup(text + start, trim_blanks(text, start, end) - start);
}

/* The name before "=" or ":", or NULL. */
static char *entry_name(const char *text, size_t start, size_t end, size_t *after)
{
    size_t at = find_any(text, start, end, "=:");
    if (at == end || text[at] == ';')
        return NULL;
    *after = at + 1;
    return trimmed_copy(text, start, at);
}

static void read_header(struct reader *r, struct ini_line *line, size_t start)
{
    size_t at = find_any(r->text, start + 1, line->end, "]");
    bool whole = at < line->end && r->text[at] == ']';
    r->section = whole ? r->lines->list.len : INI_NO_LINE;
    r->entry = INI_NO_LINE;
    line->kind = whole ? INI_LINE_HEADER : INI_LINE_BAD;
    line->name = whole ? trimmed_copy(r->text, start + 1, at) : NULL;
}

static void read_entry(struct reader *r, struct ini_line *line, size_t start)
{
    size_t after;
    line->name = entry_name(r->text, start, line->end, &after);
    if (!line->name)
        return;
    line->kind = INI_LINE_ENTRY;
    size_t comment = find_any(r->text, after, line->end, "");
    line->value = skip_blanks(r->text, after, comment);
    line->value_end = trim_blanks(r->text, line->value, comment);
    if (line->value == comment && comment < line->end) /* "name = ; comment" */
        line->value = line->value_end = after;
    r->entry = r->lines->list.len;
    line->entry = r->entry;
}

static void read_comment(struct reader *r, struct ini_line *line, size_t start)
{
    size_t after;
    line->kind = INI_LINE_COMMENT;
    if (r->text[start] == ';' || r->text[start] == '#')
        line->name = entry_name(r->text, start + 1, line->end, &after);
}

static void read_line(struct reader *r, struct ini_line *line)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    size_t begin = line->start;
    if (begin == 0 && strncmp(r->text, byte_order_mark, 3) == 0)
        begin = 3;
    size_t start = skip_blanks(r->text, begin, line->end);
    line->kind = INI_LINE_BAD;
    if (start == line->end) {
        line->kind = INI_LINE_BLANK;
    } else if (strchr(";#", r->text[start])) {
        read_comment(r, line, start);
    } else if (start > begin && r->entry != INI_NO_LINE) {
        line->kind = INI_LINE_MORE;
        line->entry = r->entry;
    } else if (r->text[start] == '[') {
        read_header(r, line, start);
    } else {
        read_entry(r, line, start);
    }
    line->section = r->section;
}

void ini_lines_read(struct ini_lines *lines, const char *text)
{
    struct reader r = {.lines = lines, .text = text, .section = INI_NO_LINE, .entry = INI_NO_LINE};
    *lines = (struct ini_lines){0};
    for (size_t at = 0; text[at];) {
        struct ini_line line = {.start = at, .entry = INI_NO_LINE};
        size_t end = at + strcspn(text + at, "\n");
        line.next = end + (text[end] == '\n');
        line.end = end > at && text[end - 1] == '\r' ? end - 1 : end;
        read_line(&r, &line);
        vec_push(&lines->list, line);
        at = line.next;
    }
}

void ini_lines_release(struct ini_lines *lines)
{
    for (size_t i = 0; i < lines->list.len; i++)
        free(lines->list.items[i].name);
    vec_release(&lines->list);
}
