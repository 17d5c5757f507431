/* The list of the pane: hits in two rows each, or what the model asked and got. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"
#include "ui/view/moves.h"

enum {
    NAME_COLUMNS = 16, /* of a speaker's name, where turn and age follow it */
    BAR_CELLS = 10,
    BAR_NARROW = 5,
    ROOMY_ROWS = 34, /* of the pane, from which on an entry has three rows of its words */
    WIDE = 38,       /* columns, from which on the bar has all its cells */
    WHO_LEAST = 12   /* that a bar leaves to what follows, or it is left out */
};

/* --- words --- */

static void add_dot(struct buf *out, const char *text)
{
    if (!*text)
        return;
    if (out->len > 0)
        buf_addf(out, " %s ", glyph(GLYPH_DOT));
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

/* What its session is called, else an end of its id. */
static void add_session(const struct memory_view *p, const struct memory_entry *e, struct buf *out)
{
    const char *id = e->session_id ? e->session_id : "";
    const char *title = p->view.host->title(p->view.host->app, id);
    size_t len = strlen(id), shown = len > 12 ? 8 : len;
    char *end = mem_strdup(id + len - shown);
    add_dot(out, title ? title : end);
    free(end);
}

static void write_name(const struct memory_entry *e, bool whole, struct buf *out)
{
    const char *name = message_row_speaker(e);
    size_t len = strlen(name);
    bool fits = whole || utf8_width(name, len) <= NAME_COLUMNS;
    utf8_clean(out, name, fits ? len : utf8_cut_width(name, len, NAME_COLUMNS - 1), UTF8_ONE_LINE);
    if (!fits)
        buf_addstr(out, glyph(GLYPH_ELLIPSIS));
}

void pane_write_who(const struct memory_view *p, const struct memory_entry *e, enum who_form form,
                    struct buf *out)
{
    struct buf part = BUF_INIT;
    write_name(e, form >= WHO_SESSION, out);
    if (e->turn > 0)
        buf_addf(&part, _("turn %lld"), (long long)e->turn);
    add_dot(out, part.data);
    buf_clear(&part);
    if (e->created_ms > 0 && form == WHO_LASTING)
        format_date(&part, e->created_ms);
    else if (e->created_ms > 0)
        format_age(&part, e->created_ms, clock_wall_ms());
    add_dot(out, part.data);
    if (form != WHO_SHORT)
        add_session(p, e, out);
    buf_release(&part);
}

/* --- a hit --- */

static void pad_to(struct rows *out, size_t width, enum style style)
{
    size_t used = rows_width(out, out->list.len - 1);
    message_row_field(out, "", used < width ? width - used : 0, style);
}

static size_t room_in(const struct rows *out, size_t width)
{
    size_t used = rows_width(out, out->list.len - 1);
    return used < width ? width - used : 0;
}

struct look {
    bool pointed;
    enum style main, side;
};

static struct look look_of(const struct memory_view *p, size_t index)
{
    bool chosen = index == p->lists[p->tab].chosen && p->place != IN_QUERY;
    bool here = chosen && p->focused, old = p->slow && p->tab == TAB_MEMORY;
    enum style usual = old ? STYLE_DIM : STYLE_OVERLAY;
    return (struct look){chosen, here && !old ? STYLE_SELECTED : usual,
                         here && !old ? STYLE_SELECTED : STYLE_DIM};
}

static void begin_row(struct rows *out, bool pointed, enum style style)
{
    rows_begin(out);
    rows_addstr(out, pointed ? glyph(GLYPH_POINTER) : " ", pointed ? STYLE_PROMPT : style, 0);
}

/* A piece that is left out where it has no room. */
static void add_whole(struct rows *out, const char *text, size_t width, enum style style)
{
    if (utf8_width(text, strlen(text)) <= room_in(out, width))
        rows_addstr(out, text, style, 0);
}

static void add_bar(struct rows *out, double score, size_t cells, enum style style)
{
    size_t full = score >= 1 ? cells : score <= 0 ? 0 : (size_t)(score * (double)cells + 0.5);
    bool selected = style == STYLE_SELECTED;
    for (size_t i = 0; i < cells; i++)
        rows_addstr(out, glyph(i < full ? GLYPH_SCORE_FULL : GLYPH_GAUGE_EMPTY),
                    selected   ? style
                    : i < full ? STYLE_GAUGE
                               : STYLE_DIM,
                    0);
    rows_addstr(out, " ", style, 0);
}

static void add_score(struct rows *out, double score, size_t width, const struct look *look)
{
    char *figure = mem_printf("%.2f ", score);
    size_t cells = width >= WIDE ? BAR_CELLS : BAR_NARROW;
    add_whole(out, figure, width, look->main);
    free(figure);
    if (room_in(out, width) >= cells + WHO_LEAST)
        add_bar(out, score, cells, look->main);
}

static bool is_search(const struct memory_view *p)
{
    return p->held && p->held[strspn(p->held, " ")] != '\0';
}

static void add_pin(struct rows *out, const struct memory_entry *e, size_t width,
                    const struct look *look)
{
    bool selected = look->main == STYLE_SELECTED;
    if (!e->pinned)
        return;
    add_whole(out, glyph(GLYPH_PINNED), width, selected ? look->main : STYLE_WARNING);
    add_whole(out, " ", width, look->main);
}

/* Row `row` of so many that its words may have. */
static void add_passage(struct rows *out, const struct memory_hit *h, size_t columns,
                        const struct look *look, size_t row, size_t most)
{
    struct styled line;
    struct rows broken;
    styled_init(&line);
    rows_init(&broken);
    memory_line(&line, h, columns * most, look->main);
    if (most > 1 && columns > 1)
        wrap_text(&broken, &line, &(struct wrap_look){.width = columns - 1, .mode = WRAP_WORDS});
    else
        wrap_add_cut(out, &line, columns);
    if (row < broken.list.len)
        rows_append(out, &broken, row);
    if (row + 1 == most && most < broken.list.len)
        rows_addstr(out, glyph(GLYPH_ELLIPSIS), look->main, 0);
    rows_release(&broken);
    styled_release(&line);
}

/* Row 0: how well, who, when. The others: the words. */
static void hit_row(struct memory_view *p, struct rows *out, size_t index, int row)
{
    const struct memory_hit *h = &p->hits.items.items[index];
    struct look look = look_of(p, index);
    size_t width = (size_t)p->layout.width;
    begin_row(out, look.pointed && row == 0, look.main);
    if (row == 0) {
        struct buf who = BUF_INIT;
        if (is_search(p))
            add_score(out, h->score, width, &look);
        add_pin(out, &h->entry, width, &look);
        pane_write_who(p, &h->entry, WHO_ROW, &who);
        (void)rows_add_cut(out, who.data, room_in(out, width), look.side);
        buf_release(&who);
    } else {
        add_whole(out, " ", width, look.main);
        add_passage(out, h, room_in(out, width), &look, (size_t)row - 1,
                    (size_t)list_part_row_height(p) - 1);
    }
    pad_to(out, width, look.main);
}

/* --- what the model asked --- */

static void question_row(struct memory_view *p, struct rows *out, const struct recalled *r,
                         const struct look *look)
{
    size_t width = (size_t)p->layout.width, hits = r->hits.items.len;
    struct buf end = BUF_INIT;
    buf_addf(&end, " %s ", glyph(GLYPH_ARROW));
    buf_addf(&end, ngettext("%zu match", "%zu matches", hits), hits);
    if (r->at_ms > 0)
        buf_addf(&end, " %s ", glyph(GLYPH_DOT));
    if (r->at_ms > 0)
        format_age(&end, r->at_ms, clock_wall_ms());
    if (r->fresh)
        buf_addf(&end, " %s %s", glyph(GLYPH_DOT), _("new"));
    size_t columns = utf8_width(end.data, end.len), room = room_in(out, width);
    add_whole(out, glyph(GLYPH_QUOTE_OPEN), width, look->side);
    (void)rows_add_cut(out, r->query, room > columns + 2 ? room - columns - 2 : 0,
                       look->main == STYLE_SELECTED ? look->main : STYLE_HEADING);
    add_whole(out, glyph(GLYPH_QUOTE_CLOSE), width, look->side);
    (void)rows_add_cut(out, end.data, room_in(out, width), look->side);
    buf_release(&end);
}

static void got_row(struct memory_view *p, struct rows *out, const struct memory_hit *h,
                    const struct look *look)
{
    size_t width = (size_t)p->layout.width;
    struct buf who = BUF_INIT;
    char *score = mem_printf("  %.2f ", h->score);
    add_whole(out, score, width, look->side);
    pane_write_who(p, &h->entry, WHO_SHORT, &who);
    (void)rows_add_cut(out, who.data, room_in(out, width) / 2, look->side);
    add_whole(out, " ", width, look->main);
    add_passage(out, h, room_in(out, width), look, 0, 1);
    free(score);
    buf_release(&who);
}

static void asked_list_row(struct memory_view *p, struct rows *out, size_t index)
{
    struct asked_row row = asked_row(p, index);
    struct look look = look_of(p, index);
    begin_row(out, look.pointed, look.main);
    if (row.hit)
        got_row(p, out, row.hit, &look);
    else
        question_row(p, out, row.recalled, &look);
    pad_to(out, (size_t)p->layout.width, look.main);
}

/* --- instead of a list --- */

/* NULL: nothing matches. */
static const char *empty_text(const struct memory_view *p)
{
    if (p->tab == TAB_ASKED)
        return _("The model has not searched memory in this session yet.");
    if (!p->held)
        return p->searching != 0 ? _("loading") : "";
    if (!is_search(p))
        return p->scope == SCOPE_ALL
                   ? _("Memory is empty. Conversations come here when you leave them or they are "
                       "compacted.")
                   : _("Memory has no entries in this scope yet.");
    return NULL;
}

/* Without a match: memory does not have the messages that the model is sent anyway. */
static void add_empty(struct memory_view *p, struct rows *out)
{
    const char *empty = empty_text(p);
    struct buf text = BUF_INIT, key = BUF_INIT;
    keymap_describe_first(p->view.host->keymap, ACTION_FIND, &key);
    buf_addstr(&text, empty                   ? empty
                      : p->scope == SCOPE_ALL ? _("No matches in memory.")
                                              : _("No matches in this scope."));
    if (!empty && key.len > 0)
        buf_addf(&text, _(" The open conversation is not in it yet: %s searches there."), key.data);
    remark_rows(out, text.data, STYLE_DIM, (size_t)p->layout.width, p->layout.list_rows);
    buf_release(&key);
    buf_release(&text);
}

/* --- all of it --- */

int list_part_row_height(const struct memory_view *p)
{
    return p->tab == TAB_ASKED ? 1 : p->layout.height < ROOMY_ROWS ? 2 : 4;
}

/* The chosen one is in view, with all of its rows if there is room for them. */
static void follow_chosen(struct memory_view *p)
{
    struct pane_list *l = &p->lists[p->tab];
    size_t count = pane_count(p), whole = (size_t)(p->layout.list_rows / list_part_row_height(p));
    l->chosen = moves_within((long)l->chosen, count);
    l->top = moves_keep_in_view(l->top, l->chosen, l->chosen, count, whole > 0 ? whole : 1);
}

size_t list_part_at(const struct memory_view *p, int row)
{
    if (row < 0 || row >= p->layout.list_rows)
        return SIZE_MAX;
    size_t index = p->lists[p->tab].top + (size_t)(row / list_part_row_height(p));
    return index < pane_count(p) ? index : SIZE_MAX;
}

void list_part_rows(struct memory_view *p, struct rows *out)
{
    int each = list_part_row_height(p);
    if (pane_count(p) == 0) {
        add_empty(p, out);
        return;
    }
    follow_chosen(p);
    for (int i = 0; i < p->layout.list_rows; i++) {
        size_t index = list_part_at(p, i);
        if (index != SIZE_MAX && p->tab == TAB_ASKED) {
            asked_list_row(p, out, index);
        } else if (index != SIZE_MAX) {
            hit_row(p, out, index, i % each);
        } else {
            rows_begin(out);
            pad_to(out, (size_t)p->layout.width, STYLE_OVERLAY);
        }
    }
}
