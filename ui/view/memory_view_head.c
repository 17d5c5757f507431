/* What stands above the list: the tabs with what they hold, how the search is held up, the query.
 */
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/memory_view_private.h"

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
