#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/view/moves.h"
#include "ui/view/sessions_private.h"

enum {
    GAP = 2,            /* columns between fields */
    FIELD_COLUMNS = 24, /* that one may have */
    FIELD_LEAST = 10,   /* that one which may be cut keeps */
    TITLE_LEAST = 24,   /* that a long title keeps beside the fields */
    REST_COLUMNS = 16,  /* the least for the last line */
    WIDE = 60
};

/* --- lines: the sessions, how many more there are, a heading, the places found --- */

enum line_kind { LINE_SESSION, LINE_MORE, LINE_HEADING, LINE_HIT, LINE_NONE };
struct line {
    enum line_kind kind;
    size_t index; /* among the sessions or the hits */
};

static bool has_more(const struct sessions *s)
{
    return s->list.items.len > 0 && s->matching > (int64_t)s->list.items.len;
}

static struct line line_at(const struct sessions *s, size_t line)
{
    size_t listed = s->list.items.len, found = s->hits.items.len;
    if (line < listed)
        return (struct line){LINE_SESSION, line};
    line -= listed;
    if (has_more(s) && line-- == 0)
        return (struct line){LINE_MORE, 0};
    if (found > 0 && line-- == 0)
        return (struct line){LINE_HEADING, 0};
    return (struct line){line < found ? LINE_HIT : LINE_NONE, line};
}

static struct sessions_entry entry_at(const struct sessions *s, struct line line)
{
    size_t before = line.kind == LINE_HIT ? s->list.items.len : 0;
    return sessions_entry(s, before + line.index);
}

static size_t line_of_entry(const struct sessions *s, size_t entry)
{
    return entry < s->list.items.len ? entry : entry + has_more(s) + 1;
}

size_t sessions_list_at(const struct sessions *s, int row)
{
    if (row < 0 || row >= s->layout.list_rows)
        return SIZE_MAX;
    struct line line = line_at(s, s->top + (size_t)row);
    return line.kind == LINE_SESSION ? line.index
           : line.kind == LINE_HIT   ? s->list.items.len + line.index
                                     : SIZE_MAX;
}

/* --- columns: as wide as the widest of what is in view --- */

static size_t text_columns(char *text)
{
    size_t width = utf8_width(text, strlen(text));
    free(text);
    return width;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void widen(const struct sessions *s, enum line_kind kind, struct sessions_columns *c)
{
    for (size_t row = 0; row < (size_t)s->layout.list_rows; row++) {
        struct line line = line_at(s, s->top + row);
        if (line.kind != kind)
            continue;
        for (size_t f = 0; f < SESSIONS_FIELDS; f++) {
            size_t width = text_columns(sessions_field(s, entry_at(s, line), f));
            if (width > c->fields[f])
                c->fields[f] = least(width, FIELD_COLUMNS);
        }
        if (kind != LINE_SESSION)
            continue;
        size_t title = text_columns(sessions_title(&s->list.items.items[line.index]));
        c->main = title > c->main ? title : c->main;
    }
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* What a field takes of the room; one that is cut below its least takes nothing. */
static size_t fit_field(size_t field, size_t wanted, size_t room)
{
    size_t columns = room > GAP ? least(wanted, room - GAP) : 0;
    bool fits = columns == wanted || (sessions_field_is_cut(field) && columns >= FIELD_LEAST);
    return fits ? columns : 0;
}

/* Fields that have no room are left out, and so are all behind them. */
static size_t drop_fields(struct sessions_columns *c, size_t room)
{
    size_t used = 0;
    bool full = false;
    for (size_t f = 0; f < SESSIONS_FIELDS; f++) {
        size_t columns = full ? 0 : fit_field(f, c->fields[f], room - used);
        full = columns < c->fields[f];
        c->fields[f] = columns;
        used += columns > 0 ? GAP + columns : 0;
    }
    return used;
}

static bool has_last_line(const struct sessions *s)
{
    for (size_t row = 0; row < (size_t)s->layout.list_rows; row++) {
        struct line line = line_at(s, s->top + row);
        const char *last =
            line.kind == LINE_SESSION ? s->list.items.items[line.index].last_line : NULL;
        if (last && *last)
            return true;
    }
    return false;
}

/* The fields come before the length of a title, and the last line before the labels. */
static struct sessions_columns find_session_columns(const struct sessions *s, size_t width)
{
    struct sessions_columns c = {0};
    widen(s, LINE_SESSION, &c);
    size_t title = least(c.main, most(TITLE_LEAST, width / 4)), room = width - title;
    size_t labels = c.fields[SESSIONS_LABELS], rest = has_last_line(s) ? REST_COLUMNS : 0;
    c.fields[SESSIONS_LABELS] = 0;
    size_t used = drop_fields(&c, room);
    rest = used + rest <= room ? rest : 0;
    c.fields[SESSIONS_LABELS] = fit_field(SESSIONS_LABELS, labels, room - used - rest);
    used += c.fields[SESSIONS_LABELS] > 0 ? GAP + c.fields[SESSIONS_LABELS] : 0;
    size_t spare = width - used;
    rest = rest > 0 ? most(rest, spare / 3) : 0;
    c.main = least(c.main, most(title, spare - rest));
    return c;
}

static struct sessions_columns find_hit_columns(const struct sessions *s, size_t width)
{
    struct sessions_columns c = {0};
    widen(s, LINE_HIT, &c);
    size_t half = width > WIDE ? width / 2 : width * 3 / 5;
    c.main = width - drop_fields(&c, width - half);
    return c;
}

/* With how many more there are, behind the last that is listed. */
static size_t last_line_of_entry(const struct sessions *s, size_t entry)
{
    return line_of_entry(s, entry) + (has_more(s) && entry + 1 == s->list.items.len);
}

static void keep_in_view(struct sessions *s)
{
    size_t rows = s->layout.list_rows > 0 ? (size_t)s->layout.list_rows : 1;
    size_t count = sessions_count(s);
    size_t line = line_of_entry(s, s->selected);
    size_t to = rows > 1 ? last_line_of_entry(s, s->selected) : line;
    /* with its heading */
    size_t from = count > 0 && s->selected == s->list.items.len && line > 0 ? line - 1 : line;
    size_t last = count > 0 ? last_line_of_entry(s, count - 1) : 0;
    s->top = moves_keep_in_view(s->top, from, to, last + 1, rows);
}

void sessions_list_view(struct sessions *s)
{
    size_t width = (size_t)s->layout.list_cols - 1;
    keep_in_view(s);
    s->list_columns = find_session_columns(s, width);
    s->hit_columns = find_hit_columns(s, width);
}

/* --- drawing --- */

static void add_padded(struct rows *out, const char *text, size_t columns, enum style style)
{
    size_t used = rows_add_cut(out, text, columns, style);
    rows_pad(out, columns - used, style);
}

/* Where to begin a snippet so that its match, which ends at `end`, is seen. */
static size_t snippet_start(const char *text, size_t match, size_t end, size_t columns)
{
    size_t from = match, len = strlen(text);
    if (utf8_width(text, end) < columns)
        return 0;
    while (from > 0 && utf8_width(text + from, match - from) < columns / 3)
        from = utf8_prev(text, len, from);
    return from;
}

static size_t add_piece(struct rows *out, const char *text, size_t len, size_t room,
                        enum style style)
{
    char *raw = mem_strndup(text, len), *clean = sessions_clean(raw);
    size_t used = rows_add_cut(out, clean, room, style);
    free(raw);
    free(clean);
    return used;
}

static void add_snippet(struct rows *out, const struct search_hit *hit, size_t columns,
                        enum style style)
{
    const char *text = hit->snippet ? hit->snippet : "";
    size_t len = strlen(text), match = least(hit->match, len);
    size_t end = match + least(hit->len, len - match);
    size_t from = snippet_start(text, match, end, columns), used = 0;
    if (from > 0)
        used += rows_add_cut(out, glyph(GLYPH_ELLIPSIS), columns, style);
    used += add_piece(out, text + from, match - from, columns - used, style);
    used += add_piece(out, text + match, end - match, columns - used, STYLE_MATCH);
    used += add_piece(out, text + end, len - end, columns - used, style);
    rows_pad(out, columns - used, style);
}

static void add_last_line(struct rows *out, const char *text, size_t room, enum style style)
{
    char *clean = sessions_clean(text);
    if (*clean && room >= REST_COLUMNS) {
        char *line = mem_printf(" %s %s", glyph(GLYPH_DASH), clean);
        room -= rows_add_cut(out, line, room, style);
        free(line);
    }
    rows_pad(out, room, style);
    free(clean);
}

/* Bytes in front of what tells a fork from its session: " (fork)" at the end. */
static size_t base_of(const struct session_info *info, const char *title)
{
    const char *mark = *info->parent ? strrchr(title, '(') : NULL;
    return mark && mark > title ? (size_t)(mark - title) - 1 : strlen(title);
}

static void add_title(struct rows *out, const struct session_info *info, size_t columns,
                      enum style style)
{
    char *title = sessions_title(info);
    size_t len = strlen(title), base = base_of(info, title);
    size_t end = utf8_width(title + base, len - base);
    bool parted = base < len && utf8_width(title, len) > columns && end < columns / 2;
    char *beginning = mem_strndup(title, parted ? base : len);
    size_t used = rows_add_cut(out, beginning, parted ? columns - end : columns, style);
    used += parted ? rows_add_cut(out, title + base, columns - used, style) : 0;
    rows_pad(out, columns - used, style);
    free(beginning);
    free(title);
}

static void draw_entry(const struct sessions *s, struct rows *out, struct line line, bool selected)
{
    size_t width = (size_t)s->layout.list_cols - 1;
    enum style main = selected ? STYLE_SELECTED : STYLE_OVERLAY;
    enum style side = selected ? STYLE_SELECTED : STYLE_DIM;
    const struct sessions_columns *c = line.kind == LINE_HIT ? &s->hit_columns : &s->list_columns;
    const struct session_info *info =
        line.kind == LINE_SESSION ? &s->list.items.items[line.index] : NULL;
    rows_addstr(out, selected ? glyph(GLYPH_POINTER) : " ", main, 0);
    if (info)
        add_title(out, info, c->main, main);
    else
        add_snippet(out, &s->hits.items.items[line.index], c->main, main);
    size_t used = c->main;
    for (size_t f = 0; f < SESSIONS_FIELDS; f++) {
        if (c->fields[f] == 0)
            continue;
        char *text = sessions_field(s, entry_at(s, line), f);
        rows_pad(out, GAP, side);
        add_padded(out, text, c->fields[f], side);
        used += GAP + c->fields[f];
        free(text);
    }
    add_last_line(out, info ? info->last_line : NULL, width - used, side);
}

static void draw_text(const struct sessions *s, struct rows *out, const char *text,
                      enum style style)
{
    rows_addstr(out, " ", style, 0);
    add_padded(out, text, (size_t)s->layout.list_cols - 1, style);
}

static void draw_more(const struct sessions *s, struct rows *out)
{
    struct buf count = BUF_INIT;
    format_exact(&count, s->matching - (int64_t)s->list.items.len);
    char *text = mem_printf(_("%s more; type to narrow them down"), count.data);
    draw_text(s, out, text, STYLE_DIM);
    free(text);
    buf_release(&count);
}

static void draw_heading(const struct sessions *s, struct rows *out)
{
    size_t found = s->hits.items.len;
    char *text = s->more_hits
                     ? mem_printf(ngettext("In the transcripts: %zu match, and more",
                                           "In the transcripts: %zu matches, and more", found),
                                  found)
                     : mem_printf(ngettext("In the transcripts: %zu match",
                                           "In the transcripts: %zu matches", found),
                                  found);
    draw_text(s, out, text, STYLE_HEADING);
    free(text);
}

static void draw_none(const struct sessions *s, struct rows *out)
{
    bool loading = s->list_question.id || s->search_question.id;
    draw_text(s, out,
              loading                  ? _("loading")
              : *editor_text(s->query) ? _("no matches")
                                       : _("No session was saved yet."),
              STYLE_DIM);
}

void sessions_list_row(const struct sessions *s, struct rows *out, int row)
{
    struct line line = line_at(s, s->top + (size_t)row);
    size_t entry = line.kind == LINE_HIT ? s->list.items.len + line.index : line.index;
    if (line.kind == LINE_MORE)
        draw_more(s, out);
    else if (line.kind == LINE_HEADING)
        draw_heading(s, out);
    else if (line.kind != LINE_NONE)
        draw_entry(s, out, line, entry == s->selected);
    else if (row == 0 && sessions_count(s) == 0)
        draw_none(s, out);
    else
        rows_pad(out, (size_t)s->layout.list_cols, STYLE_OVERLAY);
}
