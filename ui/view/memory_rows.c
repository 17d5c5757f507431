#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"

/* What stands above the list: the tabs with what they hold, how the search is held up, the query.
 */

static size_t columns_of(const char *text)
{
    return utf8_width(text, strlen(text));
}

/* --- tabs --- */

static const char *scope_words(enum pane_scope scope)
{
    static const char *const words[SCOPES] = {N_("all"), N_("project"), N_("session")};
    return _(words[scope]);
}

/* " · all · 1,204 entries", " · all · imported · 12 entries" */
static void write_memory(const struct memory_view *p, struct buf *out)
{
    struct buf figure = BUF_INIT;
    buf_addf(out, " %s %s", glyph(GLYPH_DOT), scope_words(p->scope));
    if (p->origin > 0)
        buf_addf(out, " %s %s", glyph(GLYPH_DOT),
                 pane_origin_words((enum memory_origin)(p->origin - 1)));
    if (p->total >= 0) {
        format_exact(&figure, p->total);
        buf_addf(out, " %s ", glyph(GLYPH_DOT));
        buf_addf(out, ngettext("%s entry", "%s entries", (unsigned long)p->total), figure.data);
    }
    buf_release(&figure);
}

static void write_asked(const struct memory_view *p, struct buf *out)
{
    size_t count = p->recalls.items.len;
    buf_addf(out, " %s %zu", glyph(GLYPH_DOT), count);
}

/* The other one, with the key for it: "] model's searches 3"; `brief`: "] searches 3". */
static char *other_tab(const struct memory_view *p, bool brief)
{
    struct buf out = BUF_INIT;
    size_t fresh = asked_fresh(p), count = p->recalls.items.len;
    const char *searches = brief ? _("searches") : _("model's searches");
    const char *other = p->tab == TAB_ASKED ? _("memory") : searches;
    if (p->focused && p->place != IN_QUERY && p->place != IN_EDITOR)
        keymap_describe_first(p->view.host->keymap, ACTION_MEMORY_TAB, &out);
    buf_addf(&out, " %s", other);
    if (p->tab == TAB_MEMORY && count > 0)
        buf_addf(&out, " %zu", count);
    if (p->tab == TAB_MEMORY && fresh > 0)
        buf_addf(&out, " %s", _("new"));
    buf_addch(&out, ' ');
    return buf_take(&out);
}

static void title_row(struct memory_view *p, struct rows *out)
{
    size_t width = (size_t)p->layout.width, used = 1;
    const char *title = p->tab == TAB_MEMORY ? _("Memory") : _("Model's searches");
    struct buf figures = BUF_INIT;
    if (p->tab == TAB_MEMORY)
        write_memory(p, &figures);
    else
        write_asked(p, &figures);
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    used += rows_add_cut(out, title, width - used, STYLE_OVERLAY_TITLE);
    char *other = other_tab(p, false);
    if (used + columns_of(figures.data) + columns_of(other) + 1 > width) {
        free(other);
        other = other_tab(p, true);
    }
    size_t right = columns_of(other);
    if (used + columns_of(figures.data) + right + 1 > width && asked_fresh(p) == 0)
        right = 0; /* the figures say more, unless there is news */
    size_t room = used + right < width ? width - used - right : 0;
    message_row_field(out, figures.data, room, STYLE_OVERLAY);
    if (right > 0)
        message_row_field(out, other, width - used - room,
                          asked_fresh(p) > 0 ? STYLE_WARNING : STYLE_DIM);
    buf_release(&figures);
    free(other);
}

/* --- how the search is held up --- */

static void write_progress(const struct memory_view *p, struct buf *out)
{
    struct buf done = BUF_INIT, all = BUF_INIT;
    int64_t made = p->stats.entries - p->stats.pending;
    format_exact(&done, made > 0 ? made : 0);
    format_exact(&all, p->stats.entries);
    buf_addf(out, _("computing vectors: %s of %s"), done.data, all.data);
    buf_release(&done);
    buf_release(&all);
}

static void write_backlog(const struct memory_view *p, struct buf *out)
{
    struct buf done = BUF_INIT, all = BUF_INIT;
    format_exact(&done, p->stats.backlog_done);
    format_exact(&all, p->stats.backlog);
    buf_addf(out, _("indexing conversations: %s of %s"), done.data, all.data);
    buf_release(&done);
    buf_release(&all);
}

char *pane_badge(const struct memory_view *p, bool *warns)
{
    struct buf text = BUF_INIT;
    *warns = p->stats.waits_for || p->hits.badge;
    if (p->tab == TAB_ASKED) {
        const struct recalled *r = asked_row(p, p->lists[TAB_ASKED].chosen).recalled;
        *warns = true;
        return r ? mem_strdup(r->badge) : NULL;
    }
    if (p->stats.backlog > p->stats.backlog_done)
        write_backlog(p, &text);
    else if (p->stats.pending > 0)
        write_progress(p, &text);
    const char *why = p->stats.waits_for     ? p->stats.waits_for
                      : p->stats.pending > 0 ? NULL
                                             : p->hits.badge;
    if (why && text.len > 0)
        buf_addf(&text, " %s ", glyph(GLYPH_DOT));
    if (why)
        utf8_clean(&text, why, strlen(why), UTF8_ONE_LINE);
    if (text.len == 0 && p->stats.stale > 0 && p->stats.missing > 0)
        buf_addstr(&text, _("some vectors come from another model"));
    if (text.len > 0)
        return buf_take(&text);
    buf_release(&text);
    return NULL;
}

void head_rows(struct memory_view *p, struct rows *out, const char *badge, bool warns)
{
    title_row(p, out);
    if (badge)
        remark_row(out, badge, warns ? STYLE_WARNING : STYLE_DIM, (size_t)p->layout.width);
}

/* --- the query --- */

/* "12 by date": of what is held, which soon is what is asked for, unless it is slow. */
static void write_state(const struct memory_view *p, struct buf *out)
{
    bool asked = p->held && *p->held != '\0';
    if (p->slow || !asked) {
        buf_addstr(out, p->slow ? _("searching") : p->held ? _("newest first") : "");
        return;
    }
    buf_addf(out, "%zu%s", p->hits.items.len, (int)p->hits.items.len >= p->limit ? "+ " : " ");
    buf_addstr(out, p->order == MEMORY_BY_DATE ? _("by date") : _("by score"));
}

static size_t query_line(struct memory_view *p, struct rows *out, size_t used, size_t room)
{
    int caret;
    size_t columns = edit_line(out, p->query, room, &caret);
    if (p->place == IN_QUERY) {
        p->caret_row = p->layout.query_row;
        p->caret_col =
            (int)used + caret < p->layout.width ? (int)used + caret : p->layout.width - 1;
    }
    return columns;
}

void head_query(struct memory_view *p, struct rows *out)
{
    size_t width = (size_t)p->layout.width, used;
    struct buf state = BUF_INIT;
    write_state(p, &state);
    size_t right = columns_of(state.data) + 2;
    rows_begin(out);
    used = rows_add_cut(out, " / ", width, STYLE_PROMPT);
    if (right + 16 > width - used || right + columns_of(editor_text(p->query)) >= width - used)
        right = 0; /* what is written comes first */
    used += query_line(p, out, used, width - used - right);
    message_row_field(out, "", used + right < width ? width - used - right : 0, STYLE_OVERLAY);
    if (right > 0) {
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        message_row_field(out, state.data, right - 1, STYLE_DIM);
    }
    buf_release(&state);
}

/* The list of the pane: hits in two rows each, or what the model asked and got. */

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

/* Where things are in the pane, and its last row. */

enum {
    BADGE_ROWS = 8, /* of the pane, from which on there is a row for the badge */
    HALF_ROWS = 16, /* from which on the preview leaves the list its half */
    HINT_ROWS = 5,  /* from which on there is a row of keys */
    SLOW_MS = 250   /* an answer that takes longer is seen to be waited for */
};

static int end_rows(const struct memory_view *p)
{
    const struct pane_layout *l = &p->layout;
    return remark_height(p->remark.text, (size_t)l->width, l->height, HINT_ROWS);
}

/* It is there as soon as its keys are meant for it. */
static bool has_editor(const struct memory_view *p)
{
    return p->place == IN_EDITOR || edit_waits(p);
}

static struct pane_layout lay_out(const struct memory_view *p, bool badge)
{
    struct pane_layout l = {.width = p->layout.width, .height = p->layout.height};
    bool lower = p->preview.open || has_editor(p);
    l.hint_rows = end_rows(p);
    int top = 1 + badge, bottom = l.height - l.hint_rows;
    l.query_row = p->tab == TAB_MEMORY && top < bottom ? top : -1;
    l.list_top = top + (l.query_row >= 0);
    l.list_rows = bottom > l.list_top ? bottom - l.list_top : 0;
    if (!lower)
        return l;
    int left = l.height >= HALF_ROWS ? l.list_rows / 2 : 0;
    left -= left % list_part_row_height(p);
    l.lower_top = l.list_top + left;
    l.lower_rows = l.list_rows - left;
    l.list_rows = left;
    return l;
}

void pane_resize(struct view *view, int width, int height)
{
    struct memory_view *p = pane_of(view);
    p->layout.width = width > 2 ? width : 2;
    p->layout.height = height > 1 ? height : 1;
}

/* --- keys --- */

static const struct hint in_query[] = {
    {ACTION_DOWN, NULL, N_("to the matches")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")},
    {ACTION_CANCEL, NULL, N_("close")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_COMPLETE, NULL, N_("to the message")},
    {ACTION_NONE, "\"two words\" -word", N_("exact phrase, without word")}};

static const struct hint in_list[] = {
    {ACTION_SEND, NULL, N_("show in full")},
    {ACTION_MEMORY_OPEN, NULL, N_("go to message|open the conversation at this message")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_INSERT, NULL, N_("quote|quote it in your message")},
    {ACTION_MEMORY_PIN, NULL, N_("pin|pin it: it comes before equal matches; again: no longer")},
    {ACTION_MEMORY_EDIT, NULL, N_("edit|change its text")},
    {ACTION_MEMORY_FORGET, NULL, N_("forget|delete it from memory")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
    {ACTION_MEMORY_SCOPE, NULL,
     N_("scope|where to search: everywhere, in this project, in this session")},
    {ACTION_MEMORY_ORIGIN, NULL,
     N_("origin|only entries from compactions, from sessions, or imported")},
    {ACTION_MEMORY_SORT, NULL, N_("sort|by score or by date")},
    {ACTION_MEMORY_QUERY, NULL, N_("search|change what is searched for")}};

static const struct hint in_empty_list[] = {
    {ACTION_MEMORY_QUERY, NULL, N_("search|change what is searched for")},
    {ACTION_MEMORY_SCOPE, NULL,
     N_("scope|where to search: everywhere, in this project, in this session")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
    {ACTION_COMPLETE, NULL, N_("to the message")}};

static const struct hint in_preview[] = {
    {ACTION_CANCEL, NULL, N_("back")},
    {ACTION_MEMORY_OPEN, NULL, N_("go to message|open the conversation at this message")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_INSERT, NULL, N_("quote|quote it in your message")},
    {ACTION_NONE, "n N", N_("next, previous|the next entry and the one before")},
    {ACTION_MEMORY_FIGURES, NULL, N_("figures|the numbers behind the score")},
    {ACTION_MEMORY_EDIT, NULL, N_("edit|change its text")}};

static const struct hint in_editor[] = {{ACTION_SEND, NULL, N_("save")},
                                        {ACTION_CANCEL, NULL, N_("close")},
                                        {ACTION_EXTERNAL, NULL, "$EDITOR"},
                                        {ACTION_CLEAR, NULL, N_("undo changes")}};

static void hint_part(struct memory_view *p, struct rows *out)
{
    const struct hint_table places[] = {[IN_QUERY] = HINTS(in_query),
                                        [IN_LIST] = HINTS(in_list),
                                        [IN_PREVIEW] = HINTS(in_preview),
                                        [IN_EDITOR] = HINTS(in_editor)};
    size_t width = (size_t)p->layout.width;
    int rows = p->layout.hint_rows;
    enum pane_place place = has_editor(p) ? IN_EDITOR : p->place;
    if (p->remark.text)
        remark_rows(out, p->remark.text, p->remark.style, width, rows);
    else if (p->focused && place == IN_LIST && pane_count(p) == 0)
        hints_rows(out, p->view.host->keymap, HINTS(in_empty_list), width, rows);
    else if (p->focused)
        hints_rows(out, p->view.host->keymap, places[place], width, rows);
    else
        hints_elsewhere(out, p->view.host->keymap, width, rows);
}

/* --- all of it --- */

static void lower_part(struct memory_view *p, struct rows *out)
{
    if (p->layout.lower_rows <= 0)
        return;
    if (has_editor(p))
        edit_rows(p, out);
    else
        preview_rows(p, out);
}

int64_t pane_due(const struct view *view)
{
    const struct memory_view *p = (const struct memory_view *)view;
    return p->open && p->behind && p->searching != 0 && !p->slow ? p->behind_ms + SLOW_MS : 0;
}

const struct rows *pane_rows(struct view *view)
{
    struct memory_view *p = pane_of(view);
    bool warns = false;
    int64_t due = pane_due(view);
    if (!p->focused) /* the person went elsewhere: keys that waited are off */
        ahead_drop(p);
    p->slow = p->slow || (due > 0 && clock_mono_ms() >= due);
    char *badge = p->layout.height >= BADGE_ROWS ? pane_badge(p, &warns) : NULL;
    p->layout = lay_out(p, badge != NULL);
    p->caret_row = -1;
    rows_clear(&p->rows);
    head_rows(p, &p->rows, badge, warns);
    if (p->layout.query_row >= 0)
        head_query(p, &p->rows);
    if (p->layout.list_rows > 0)
        list_part_rows(p, &p->rows);
    lower_part(p, &p->rows);
    if (p->layout.hint_rows > 0)
        hint_part(p, &p->rows);
    if (p->focused && p->tab == TAB_ASKED)
        asked_seen(p);
    free(badge);
    return &p->rows;
}
