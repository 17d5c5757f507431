/* The rows of memory's tab: the title, the state of the search, the query, the list, the foot. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/browser.h"
#include "ui/view/memory_line.h"
#include "ui/view/memory_view_private.h"

enum {
    BADGE_ROWS = 8,    /* of the pane, from which on there is a row for the state */
    HALF_ROWS = 16,    /* from which on the preview leaves the list its half */
    FOOT_ROWS = 5,     /* from which on there is a foot */
    ROOMY_ROWS = 34,   /* from which on an entry has three rows of its words */
    SLOW_MS = 250,     /* after which the wait for an answer is shown */
    NAME_COLUMNS = 16, /* of a speaker's name, where turn and age follow it */
    BAR_CELLS = 10,
    BAR_NARROW = 5,
    WIDE = 38,       /* columns, from which on the bar has all its cells */
    WHO_LEAST = 12,  /* that a bar leaves to the words behind it, or it is left out */
    STATE_LEAST = 16 /* that the state of the search leaves to the query */
};

const char *pane_origin_words(enum memory_origin origin)
{
    static const char *const words[MEMORY_ORIGINS] = {[MEMORY_IMPORTED] = N_("imported"),
                                                      [MEMORY_DROPPED] = N_("compacted"),
                                                      [MEMORY_LEFT] = N_("earlier session")};
    return _(words[origin]);
}

/* --- title and state --- */

/* The key and the name of the other list: "] recalled 3"; the caller frees. */
static char *other_list(const struct memory_view *p, size_t fresh)
{
    struct buf out = BUF_INIT;
    size_t count = p->recalls.items.len;
    if (p->focused && p->place != IN_EDITOR)
        keymap_describe_first(p->view.host->keymap, ACTION_MEMORY_TAB, &out);
    if (p->place == IN_QUERY && out.len > 0 && !pane_tab_acts(p, (unsigned char)out.data[0]))
        buf_clear(&out);
    buf_addf(&out, " %s", p->tab == TAB_ASKED ? _("memory") : _("recalled"));
    if (p->tab == TAB_MEMORY && count > 0)
        buf_addf(&out, " %zu", count);
    if (p->tab == TAB_MEMORY && fresh > 0)
        buf_addf(&out, " %s", _("new"));
    buf_addch(&out, ' ');
    return buf_take(&out);
}

/* "Memory · all · 1,204 entries   ] recalled 3", "Memory · all · imported · 12 entries"; the other
 * list: "Recalled · 3   ] memory" */
static void add_title(struct memory_view *p, struct rows *out)
{
    const char *dot = glyph(GLYPH_DOT);
    size_t width = (size_t)p->layout.width, used = 1, fresh = 0;
    AUTO(buf_release) struct buf figures = BUF_INIT;
    for (size_t i = 0; i < p->recalls.items.len; i++)
        fresh += p->recalls.items.items[i]->fresh;
    if (p->tab == TAB_ASKED)
        buf_addf(&figures, " %s %zu", dot, p->recalls.items.len);
    else
        buf_addf(&figures, " %s %s", dot, _(pane_scopes[p->scope]));
    if (p->tab == TAB_MEMORY && p->origin > 0)
        buf_addf(&figures, " %s %s", dot, pane_origin_words((enum memory_origin)(p->origin - 1)));
    if (p->tab == TAB_MEMORY && p->total >= 0) {
        auto_free char *figure = format_exact(p->total);
        buf_addf(&figures, " %s ", dot);
        buf_addf(&figures, ngettext("%s entry", "%s entries", (unsigned long)p->total), figure);
    }
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    used += rows_add_cut(out, p->tab == TAB_MEMORY ? _("Memory") : _("Recalled"), width - used,
                         STYLE_OVERLAY_TITLE);
    auto_free char *other = other_list(p, fresh);
    size_t needed = used + utf8_width(figures.data, figures.len) + 1;
    size_t right = utf8_width(other, strlen(other));
    if (needed + right > width && fresh == 0)
        right = 0; /* the figures say more, unless there is news */
    size_t room = used + right < width ? width - used - right : 0;
    message_row_field(out, figures.data, room, STYLE_OVERLAY);
    if (right > 0)
        message_row_field(out, other, width - used - room, fresh > 0 ? STYLE_WARNING : STYLE_DIM);
}

/* Work under way and reasons why a search finds less. The caller frees; NULL: none. */
static char *state_text(const struct memory_view *p, bool *warns)
{
    const struct memory_stats *m = &p->stats;
    struct buf text = BUF_INIT;
    *warns = m->waits_for || p->hits.badge;
    if (p->tab == TAB_ASKED) {
        const struct recalled *r = asked_row(p, p->lists[TAB_ASKED].chosen).recalled;
        *warns = true;
        return r ? mem_strdup(r->badge) : NULL;
    }
    bool indexes = m->backlog > m->backlog_done;
    int64_t ready = indexes ? m->backlog_done : m->entries - m->pending;
    auto_free char *done = format_exact(ready > 0 ? ready : 0);
    auto_free char *all = format_exact(indexes ? m->backlog : m->entries);
    if (indexes)
        buf_addf(&text, _("indexing conversations: %s of %s"), done, all);
    else if (m->pending > 0)
        buf_addf(&text, _("computing vectors: %s of %s"), done, all);
    const char *why = m->waits_for ? m->waits_for : m->pending > 0 ? NULL : p->hits.badge;
    if (why && text.len > 0)
        buf_addf(&text, " %s ", glyph(GLYPH_DOT));
    if (why)
        browser_clean(&text, why);
    if (text.len == 0 && m->stale > 0 && m->missing > 0)
        buf_addstr(&text, _("some vectors come from another model"));
    if (text.len > 0)
        return buf_take(&text);
    buf_release(&text);
    return NULL;
}

static bool is_search(const struct memory_view *p)
{
    return p->held && p->held[strspn(p->held, " ")] != '\0';
}

/* Whether the query has more than "from:AGENT": the hits have scores. */
static bool is_ranked(const struct memory_view *p)
{
    const char *at = p->held ? p->held : "";
    while (*at && (*at == ' ' || strncmp(at, "from:", strlen("from:")) == 0))
        at += *at == ' ' ? 1 : strcspn(at, " ");
    return *at != '\0';
}

/* " / tea garden      12 by date" */
static void add_query(struct memory_view *p, struct rows *out)
{
    size_t width = (size_t)p->layout.width, prompt = strlen(" / ");
    AUTO(buf_release) struct buf state = BUF_INIT;
    if (p->slow)
        buf_addstr(&state, _("searching"));
    else if (is_ranked(p))
        buf_addf(&state, "%zu%s%s", p->hits.items.len,
                 (int)p->hits.items.len >= p->limit ? "+ " : " ",
                 p->order == MEMORY_BY_DATE ? _("by date") : _("by score"));
    else if (p->held)
        buf_addstr(&state, _("newest first"));
    size_t right = utf8_width(state.data, state.len) + 2;
    bool fits = prompt + right + STATE_LEAST <= width &&
                prompt + right + utf8_width(editor_text(p->query), editor_len(p->query)) < width;
    const struct browser_line line = {
        .prompt = " / ", .right = fits ? state.data : NULL, .editor = p->query};
    int caret = browser_line_row(out, &line, width);
    if (p->place == IN_QUERY) {
        p->view.caret = (struct view_caret){true, p->layout.query_row, caret};
    }
}

/* --- the list --- */

void pane_add_part(struct buf *out, const char *text)
{
    if (!*text)
        return;
    if (out->len > 0)
        buf_addf(out, " %s ", glyph(GLYPH_DOT));
    browser_clean(out, text);
}

void pane_write_who(const struct memory_view *p, const struct memory_entry *e, enum who_form form,
                    struct buf *out)
{
    AUTO(buf_release) struct buf part = BUF_INIT;
    const char *name = message_row_speaker(e);
    size_t len = strlen(name);
    bool fits = form >= WHO_SESSION || utf8_width(name, len) <= NAME_COLUMNS;
    utf8_clean(out, name, fits ? len : utf8_cut_width(name, len, NAME_COLUMNS - 1), UTF8_ONE_LINE);
    if (!fits)
        buf_addstr(out, glyph(GLYPH_ELLIPSIS));
    if (e->turn > 0)
        buf_addf(&part, _("turn %lld"), (long long)e->turn);
    pane_add_part(out, part.data);
    buf_clear(&part);
    if (e->created_ms > 0 && form == WHO_LASTING)
        format_date(&part, e->created_ms);
    else if (e->created_ms > 0)
        format_age(&part, e->created_ms, clock_wall_ms());
    pane_add_part(out, part.data);
    if (form == WHO_SHORT)
        return;
    /* the session's title, or the end of its id */
    const char *id = e->session_id ? e->session_id : "";
    const char *title = p->view.host->title(p->view.host->app, id);
    len = strlen(id);
    pane_add_part(out, title ? title : id + len - (len > 12 ? 8 : len));
}

/* A piece that is left out where it has no room. */
static void add_whole(struct rows *out, const char *text, size_t width, enum style style)
{
    if (utf8_width(text, strlen(text)) <= rows_room(out, width))
        rows_addstr(out, text, style, 0);
}

struct look {
    bool pointed;
    enum style main, side;
};

/* Row `row` of the words, which may have `most` rows. */
static void add_passage(struct rows *out, const struct memory_hit *h, size_t columns,
                        enum style style, size_t row, size_t most)
{
    struct styled line;
    struct rows broken;
    styled_init(&line);
    rows_init(&broken);
    memory_line(&line, h, columns * most, style);
    if (most > 1 && columns > 1)
        wrap_text(&broken, &line, &(struct wrap_look){.width = columns - 1, .mode = WRAP_WORDS});
    else
        wrap_add_cut(out, &line, columns);
    if (row < broken.list.len)
        rows_append(out, &broken, row);
    if (row + 1 == most && most < broken.list.len)
        rows_addstr(out, glyph(GLYPH_ELLIPSIS), style, 0);
    rows_release(&broken);
    styled_release(&line);
}

static void add_left_out(const struct memory_view *p, struct rows *out, const struct memory_hit *h,
                         const struct look *look)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!left_out_has(&p->recalls.left_out, h->entry.id))
        return;
    buf_addf(&text, "%s %s ", _("left out"), glyph(GLYPH_DOT));
    (void)rows_add_cut(out, text.data, rows_room(out, (size_t)p->layout.width),
                       look->main == STYLE_SELECTED ? look->main : STYLE_WARNING);
}

/* Row 0 of an entry: score with its bar, speaker, time. The others: its words. */
static void add_hit(struct memory_view *p, struct rows *out, size_t index, int row,
                    const struct look *look)
{
    const struct memory_hit *h = &p->hits.items.items[index];
    size_t width = (size_t)p->layout.width, cells = width >= WIDE ? BAR_CELLS : BAR_NARROW;
    bool selected = look->main == STYLE_SELECTED;
    if (row > 0) {
        add_whole(out, " ", width, look->main);
        add_passage(out, h, rows_room(out, width), look->main, (size_t)row - 1,
                    (size_t)pane_entry_height(p) - 1);
        return;
    }
    if (is_ranked(p)) {
        auto_free char *figure = mem_printf("%.2f ", h->score);
        add_whole(out, figure, width, look->main);
        size_t full = h->score >= 1   ? cells
                      : h->score <= 0 ? 0
                                      : (size_t)(h->score * (double)cells + 0.5);
        if (rows_room(out, width) < cells + WHO_LEAST)
            cells = 0;
        for (size_t i = 0; i < cells; i++)
            rows_addstr(out, glyph(i < full ? GLYPH_SCORE_FULL : GLYPH_GAUGE_EMPTY),
                        selected   ? look->main
                        : i < full ? STYLE_GAUGE
                                   : STYLE_DIM,
                        0);
        if (cells > 0)
            rows_addstr(out, " ", look->main, 0);
    }
    if (h->entry.pinned) {
        add_whole(out, glyph(GLYPH_PINNED), width, selected ? look->main : STYLE_WARNING);
        add_whole(out, " ", width, look->main);
    }
    if (h->entry.from && strcmp(message_row_speaker(&h->entry), h->entry.from) != 0) {
        add_whole(out, h->entry.from, width, selected ? look->main : STYLE_NOTE);
        add_whole(out, " ", width, look->main);
    }
    add_left_out(p, out, h, look);
    AUTO(buf_release) struct buf who = BUF_INIT;
    pane_write_who(p, &h->entry, WHO_ROW, &who);
    (void)rows_add_cut(out, who.data, rows_room(out, width), look->side);
}

/* A row of the list: a search of the model, “tea garden” → 3 matches · 2 h · new; a message, → 3
 * sent; or one of their matches. */
static void add_asked(struct memory_view *p, struct rows *out, struct asked_row asked,
                      const struct look *look)
{
    size_t width = (size_t)p->layout.width;
    AUTO(buf_release) struct buf end = BUF_INIT;
    if (asked.hit) {
        auto_free char *score = mem_printf("  %.2f ", asked.hit->score);
        add_whole(out, score, width, look->side);
        add_left_out(p, out, asked.hit, look);
        pane_write_who(p, &asked.hit->entry, WHO_SHORT, &end);
        (void)rows_add_cut(out, end.data, rows_room(out, width) / 2, look->side);
        add_whole(out, " ", width, look->main);
        add_passage(out, asked.hit, rows_room(out, width), look->main, 0, 1);
        return;
    }
    const struct recalled *r = asked.recalled;
    size_t hits = r->hits.items.len;
    buf_addf(&end, " %s ", glyph(GLYPH_ARROW));
    if (r->tokens > 0) /* with the message */
        buf_addf(&end, ngettext("%zu sent", "%zu sent", hits), hits);
    else
        buf_addf(&end, ngettext("%zu match", "%zu matches", hits), hits);
    if (r->at_ms > 0) {
        buf_addf(&end, " %s ", glyph(GLYPH_DOT));
        format_age(&end, r->at_ms, clock_wall_ms());
    }
    if (r->fresh)
        buf_addf(&end, " %s %s", glyph(GLYPH_DOT), _("new"));
    size_t columns = utf8_width(end.data, end.len), room = rows_room(out, width);
    add_whole(out, glyph(GLYPH_QUOTE_OPEN), width, look->side);
    (void)rows_add_cut(out, r->query, room > columns + 2 ? room - columns - 2 : 0,
                       look->main == STYLE_SELECTED ? look->main : STYLE_HEADING);
    add_whole(out, glyph(GLYPH_QUOTE_CLOSE), width, look->side);
    (void)rows_add_cut(out, end.data, rows_room(out, width), look->side);
}

int pane_entry_height(const struct memory_view *p)
{
    return p->tab == TAB_ASKED ? 1 : p->layout.height < ROOMY_ROWS ? 2 : 4;
}

size_t pane_list_at(const struct memory_view *p, int row)
{
    if (row < 0 || row >= p->layout.list_rows)
        return SIZE_MAX;
    size_t index = p->lists[p->tab].top + (size_t)(row / pane_entry_height(p));
    return index < pane_count(p) ? index : SIZE_MAX;
}

static void add_list_row(struct memory_view *p, struct rows *out, int row)
{
    size_t index = pane_list_at(p, row), width = (size_t)p->layout.width;
    bool slow = p->slow && p->tab == TAB_MEMORY; /* the entries answer an older search */
    bool chosen = index == p->lists[p->tab].chosen && p->place != IN_QUERY;
    struct look look = {chosen, slow ? STYLE_DIM : STYLE_OVERLAY, STYLE_DIM};
    rows_begin(out);
    if (index == SIZE_MAX) {
        rows_pad(out, width, STYLE_OVERLAY);
        return;
    }
    if (chosen && p->focused && !slow)
        look.main = look.side = STYLE_SELECTED;
    int of_entry = row % pane_entry_height(p);
    bool pointed = chosen && of_entry == 0;
    rows_addstr(out, pointed ? glyph(GLYPH_POINTER) : " ", pointed ? STYLE_PROMPT : look.main, 0);
    if (p->tab == TAB_MEMORY)
        add_hit(p, out, index, of_entry, &look);
    else
        add_asked(p, out, asked_row(p, index), &look);
    rows_pad(out, rows_room(out, width), look.main);
}

/* The chosen entry is in view, with all of its rows if there is room for them. */
static void add_list(struct memory_view *p, struct rows *out)
{
    struct pane_list *l = &p->lists[p->tab];
    size_t count = pane_count(p), whole = (size_t)(p->layout.list_rows / pane_entry_height(p));
    l->chosen = moves_within((long)l->chosen, count);
    l->top = moves_keep_in_view(l->top, l->chosen, l->chosen, count, whole > 0 ? whole : 1);
    for (int i = 0; count > 0 && i < p->layout.list_rows; i++)
        add_list_row(p, out, i);
    if (count > 0)
        return;
    /* messages that the model is sent anyway are not in memory */
    bool all = p->scope == SCOPE_ALL;
    AUTO(buf_release) struct buf text = BUF_INIT;
    AUTO(buf_release) struct buf key = BUF_INIT;
    if (p->tab == TAB_ASKED) {
        buf_addstr(&text, _("Nothing was recalled from memory in this session yet."));
    } else if (!p->held) {
        buf_addstr(&text, p->searching != 0 ? _("loading") : "");
    } else if (!is_search(p)) {
        buf_addstr(&text, all ? _("Memory is empty. Conversations come here when you leave them "
                                  "or they are compacted.")
                              : _("Memory has no entries in this scope yet."));
    } else {
        keymap_describe_first(p->view.host->keymap, ACTION_FIND, &key);
        buf_addstr(&text, all ? _("No matches in memory.") : _("No matches in this scope."));
        if (key.len > 0)
            buf_addf(&text, _(" The open conversation is not in it yet: %s searches there."),
                     key.data);
    }
    remark_rows(out, text.data, STYLE_DIM, (size_t)p->layout.width, p->layout.list_rows);
}

/* --- the foot --- */

/* Whether the editor has its rows; it has them while its text is still being read, too. */
static bool has_editor(const struct memory_view *p)
{
    return p->place == IN_EDITOR || p->edit.reading != 0;
}

enum { LIST_KEYS = COMMON_MOVE | COMMON_VI | COMMON_UNFOLD | COMMON_CLOSE | COMMON_TABS };

static const struct hint in_query[] = {
    {ACTION_DOWN, NULL, N_("to the matches")},
    {ACTION_PANE_NEXT, NULL, N_("next tab")},
    {ACTION_CANCEL, NULL, N_("close")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_COMPLETE, NULL, N_("to the message")},
    {ACTION_NONE, "\"two words\" -word", N_("exact phrase, without word")},
    {ACTION_NONE, "from:claude",
     N_("from one agent|only what was said to that agent; from:tiro: here")},
    {ACTION_SEND, NULL, N_("|to the matches")},
    {ACTION_PAGE_DOWN, NULL, N_("|to the matches")}};
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
static const struct hint in_searches[] = {
    {ACTION_SEND, NULL, N_("show in full")},
    {ACTION_MEMORY_LEAVE_OUT, NULL,
     N_("leave out|do not send it with messages of this session; again: send it")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_OPEN, NULL, N_("go to message|open the conversation at this message")},
    {ACTION_MEMORY_TAB, NULL, N_("memory|back to the matches in memory")},
    {ACTION_MEMORY_INSERT, NULL, N_("quote|quote it in your message")},
    {ACTION_MEMORY_PIN, NULL, N_("pin|pin it: it comes before equal matches; again: no longer")},
    {ACTION_MEMORY_EDIT, NULL, N_("edit|change its text")},
    {ACTION_MEMORY_FORGET, NULL, N_("forget|delete it from memory")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")}};
static const struct hint in_empty_list[] = {
    {ACTION_MEMORY_QUERY, NULL, N_("search|change what is searched for")},
    {ACTION_MEMORY_SCOPE, NULL,
     N_("scope|where to search: everywhere, in this project, in this session")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
    {ACTION_COMPLETE, NULL, N_("to the message")}};
static const struct hint in_preview[] = {
    {ACTION_CANCEL, NULL, N_("back")},
    {ACTION_SEND, NULL, N_("|back")},
    {ACTION_NONE, "Space", N_("|a page down")},
    {ACTION_MEMORY_OPEN, NULL, N_("go to message|open the conversation at this message")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_MEMORY_INSERT, NULL, N_("quote|quote it in your message")},
    {ACTION_NONE, "n N", N_("next, previous|the next entry and the one before")},
    {ACTION_MEMORY_FIGURES, NULL, N_("figures|the numbers behind the score")},
    {ACTION_MEMORY_EDIT, NULL, N_("edit|change its text")}};
/* For the help: what works in lists, and from LIST_ONLY on in a preview, too. */
enum { LIST_ONLY = 5 };
static const struct hint others[] = {
    {ACTION_LEFT, NULL, N_("|what was recalled in this session, and back")},
    {ACTION_RIGHT, NULL, N_("|what was recalled in this session, and back")},
    {ACTION_CANCEL, NULL, N_("search|change what is searched for")},
    {ACTION_NONE, "n N", N_("next, previous|the next entry and the one before")},
    {ACTION_NONE, "Space", N_("show in full")},
    {ACTION_MEMORY_TAB, NULL, N_("|what was recalled in this session, and back")},
    {ACTION_MEMORY_LEAVE_OUT, NULL,
     N_("leave out|do not send it with messages of this session; again: send it")},
    {ACTION_MEMORY_FIGURES, NULL, N_("figures|the numbers behind the score")},
    {ACTION_MEMORY_PIN, NULL, N_("pin|pin it: it comes before equal matches; again: no longer")},
    {ACTION_MEMORY_FORGET, NULL, N_("forget|delete it from memory")},
    {ACTION_MEMORY_RESTORE, NULL, N_("undo|bring back what was forgotten last")},
    {ACTION_MEMORY_SCOPE, NULL,
     N_("scope|where to search: everywhere, in this project, in this session")},
    {ACTION_MEMORY_ORIGIN, NULL,
     N_("origin|only entries from compactions, from sessions, or imported")},
    {ACTION_MEMORY_SORT, NULL, N_("sort|by score or by date")},
    {ACTION_MEMORY_QUERY, NULL, N_("search|change what is searched for")}};
static const struct hint_table in_lists = {others, sizeof others / sizeof *others, 0, NULL};
static const struct hint_table in_previews = {others + LIST_ONLY,
                                              sizeof others / sizeof *others - LIST_ONLY, 0, NULL};
static const struct hint in_editor[] = {{ACTION_SEND, NULL, N_("save")},
                                        {ACTION_CANCEL, NULL, N_("close")},
                                        {ACTION_EXTERNAL, NULL, "$EDITOR"},
                                        {ACTION_CLEAR, NULL, N_("undo changes")}};

/* --- all of it --- */

static void lay_out(struct memory_view *p, bool state)
{
    struct pane_layout l = {.width = p->layout.width, .height = p->layout.height};
    l.hint_rows = remark_height(p->remark.text, (size_t)l.width, l.height, FOOT_ROWS);
    int top = 1 + state, bottom = l.height - l.hint_rows;
    l.query_row = p->tab == TAB_MEMORY && top < bottom ? top : -1;
    l.list_top = top + (l.query_row >= 0);
    l.list_rows = bottom > l.list_top ? bottom - l.list_top : 0;
    if (p->preview.open || has_editor(p)) {
        int left = l.height >= HALF_ROWS ? l.list_rows / 2 : 0;
        left -= left % pane_entry_height(p);
        l.lower_top = l.list_top + left;
        l.lower_rows = l.list_rows - left;
        l.list_rows = left;
    }
    p->layout = l;
}

int64_t pane_due(const struct view *view)
{
    const struct memory_view *p = (const struct memory_view *)view;
    return p->open && p->behind && p->searching != 0 && !p->slow ? p->behind_ms + SLOW_MS : 0;
}

const struct rows *pane_rows(struct view *view)
{
    struct memory_view *p = pane_of(view);
    struct rows *out = &p->rows;
    size_t width = (size_t)p->layout.width;
    bool warns = false;
    int64_t due = pane_due(view);
    if (!p->focused) /* the person went elsewhere */
        ahead_drop(p);
    p->slow = p->slow || (due > 0 && clock_mono_ms() >= due);
    auto_free char *state = p->layout.height >= BADGE_ROWS ? state_text(p, &warns) : NULL;
    lay_out(p, state != NULL);
    rows_clear(out);
    add_title(p, out);
    if (state)
        remark_row(out, state, warns ? STYLE_WARNING : STYLE_DIM, width);
    if (p->layout.query_row >= 0)
        add_query(p, out);
    if (p->layout.list_rows > 0)
        add_list(p, out);
    if (p->layout.lower_rows > 0)
        (has_editor(p) ? edit_rows : preview_rows)(p, out);
    struct hint_table table =
        !p->focused              ? hints_elsewhere
        : has_editor(p)          ? HINTS(in_editor, COMMON_WRITE)
        : p->place == IN_QUERY   ? HINTS(in_query, COMMON_WRITE | COMMON_WHEEL | COMMON_TABS)
        : p->place == IN_PREVIEW ? HINTS(in_preview, LIST_KEYS)
        : pane_count(p) == 0     ? HINTS(in_empty_list, COMMON_TABS | COMMON_CLOSE)
        : p->tab == TAB_ASKED    ? HINTS(in_searches, LIST_KEYS)
                                 : HINTS(in_list, LIST_KEYS);
    if (p->focused && !has_editor(p) && p->place != IN_QUERY)
        table.also = p->place == IN_PREVIEW ? &in_previews : &in_lists;
    int feet = p->layout.hint_rows;
    if (feet > 0 && p->remark.text)
        remark_rows(out, p->remark.text, p->remark.style, width, feet);
    else if (feet > 0)
        hints_rows(out, view->host->keymap, table, width, feet);
    for (size_t i = 0; p->focused && p->tab == TAB_ASKED && i < p->recalls.items.len; i++)
        p->recalls.items.items[i]->fresh = false;
    return out;
}
