#include "ui/view/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"

enum {
    GAUGE_CELLS = 10,
    MARKED_CELLS = 12, /* with the mark, which takes the place of one */
    MARK_CELL = 10,    /* the earliest cell of the mark */
    GAUGE_HIGH = 90,   /* per cent from which the gauge warns */
    BUDGET_HIGH = 80,
    SEPARATOR_COLUMNS = 3
};

/* Parts in the order of the line. */
enum part_kind {
    PART_LEAVE,
    PART_BACK,
    PART_REPLACING,
    PART_UNREAD,
    PART_RETRY,
    PART_WORKING,
    PART_BACKGROUND,
    PART_TASKS,
    PART_IMPORTING,
    PART_SPACE,
    PART_TRUNCATED,
    PART_GAUGE,
    PART_CONTEXT,
    PART_RATE,
    PART_COST,
    PART_COMPACTIONS,
    PART_SUSPENDED,
    PART_BUDGET,
    PART_MEMORY_LESS,
    PART_MEMORY,
    PART_COUNT
};

/* The higher, the longer it stays when the line gets narrow. */
static const int part_rank[PART_COUNT] = {
    [PART_LEAVE] = 17,    [PART_BACK] = 16,       [PART_REPLACING] = 15,  [PART_UNREAD] = 11,
    [PART_RETRY] = 14,    [PART_WORKING] = 13,    [PART_TRUNCATED] = 12,  [PART_GAUGE] = 3,
    [PART_CONTEXT] = 10,  [PART_RATE] = 7,        [PART_COST] = 4,        [PART_BUDGET] = 8,
    [PART_SUSPENDED] = 9, [PART_COMPACTIONS] = 1, [PART_MEMORY_LESS] = 9, [PART_MEMORY] = -1,
    [PART_TASKS] = 11,    [PART_BACKGROUND] = 5,  [PART_IMPORTING] = 11,  [PART_SPACE] = 6};

struct part {
    struct buf text; /* empty: not shown */
    enum style style;
};

/* The context is measured by the threshold of compaction, or by the window without one. */
static int64_t limit(const struct status *s)
{
    bool compacts = s->threshold > 0 && !s->suspended;
    return compacts && (s->window <= 0 || s->threshold < s->window) ? s->threshold : s->window;
}

/* The cells are those of the window, but of a large one only of as many tokens that the mark of the
 * threshold stands near the end. */
static void make_gauge(const struct status *s, struct part *p)
{
    bool marked = s->window > 0 && limit(s) < s->window;
    int64_t all = limit(s), most = limit(s) * MARKED_CELLS / MARK_CELL;
    if (marked)
        all = s->window < most ? s->window : most;
    if (s->context < 0 || all <= 0)
        return;
    int cells = marked ? MARKED_CELLS : GAUGE_CELLS;
    int full = figure_share(s->context, all, cells, cells);
    int64_t mark = marked ? limit(s) * cells / all : -1;
    if (full == 0 && s->context > 0)
        full = 1;
    buf_addstr(&p->text, _("context "));
    for (int i = 0; i < cells; i++)
        buf_addstr(&p->text, glyph(i == mark  ? GLYPH_BAR
                                   : i < full ? GLYPH_GAUGE_FULL
                                              : GLYPH_GAUGE_EMPTY));
    p->style =
        figure_share(s->context, limit(s), 100, 999) >= GAUGE_HIGH ? STYLE_GAUGE_HIGH : STYLE_GAUGE;
}

/* The gauge has the label; without the gauge the figures need one. */
static void make_context(const struct status *s, bool labelled, struct part *p)
{
    buf_clear(&p->text);
    if (s->context < 0)
        return;
    if (!labelled)
        buf_addstr(&p->text, _("ctx "));
    if (s->context_estimated)
        buf_addch(&p->text, '~');
    int64_t all = limit(s);
    int percent = figure_share(s->context, all, 100, 999);
    if (all > 0)
        buf_addf(&p->text, "%d %% ", percent);
    format_short(&p->text, s->context);
    if (all > 0) {
        buf_addch(&p->text, '/');
        format_short(&p->text, all);
    }
    if (percent >= GAUGE_HIGH)
        p->style = STYLE_GAUGE_HIGH;
}

static void make_working(const struct status *s, struct part *p)
{
    if (!s->working)
        return;
    int seconds = (int)(s->working_ms / 1000);
    if (s->asking)
        buf_addstr(&p->text, _("waiting for you"));
    else if (s->compacting && seconds < 60)
        buf_addf(&p->text, _("compacting %d s"), seconds);
    else if (s->compacting)
        buf_addf(&p->text, _("compacting %d:%02d"), seconds / 60, seconds % 60);
    else if (seconds < 60)
        buf_addf(&p->text, _("working %d s"), seconds);
    else
        buf_addf(&p->text, _("working %d:%02d"), seconds / 60, seconds % 60);
    if (s->stop_key && *s->stop_key)
        buf_addf(&p->text, _(" (%s stops)"), s->stop_key);
    p->style = STYLE_NOTE;
}

static void make_retry(const struct status *s, struct part *p)
{
    if (s->retry <= 0)
        return;
    int seconds = (int)((s->retry_ms + 999) / 1000);
    if (seconds > 0)
        buf_addf(&p->text, _("retry %d/%d in %d s"), s->retry, s->retries, seconds);
    else
        buf_addf(&p->text, _("retry %d/%d"), s->retry, s->retries);
    if (s->retry_reason && *s->retry_reason) {
        buf_addstr(&p->text, ": ");
        utf8_clean(&p->text, s->retry_reason, strlen(s->retry_reason), UTF8_ONE_LINE);
    }
    p->style = STYLE_WARNING;
}

/* Sets the text of a part, if it is shown, and its style. */
static void set_part(struct part *p, bool shown, enum style style, const char *text)
{
    if (shown)
        buf_addstr(&p->text, text);
    p->style = style;
}

static void make_parts(const struct status *s, struct part parts[PART_COUNT])
{
    const char *memory = s->memory ? s->memory : "write";
    bool usual = strcmp(memory, "write") == 0, off = strcmp(memory, "off") == 0;
    bool stops = s->stop_key && *s->stop_key;
    for (int i = 0; i < PART_COUNT; i++) {
        buf_init(&parts[i].text, 0);
        parts[i].style = STYLE_STATUS;
    }
    if (s->leave_key)
        buf_addf(&parts[PART_LEAVE].text, _("%s again leaves"), s->leave_key);
    parts[PART_LEAVE].style = STYLE_WARNING;
    if (s->back_key)
        buf_addf(&parts[PART_BACK].text, _("%s goes back"), s->back_key);
    parts[PART_BACK].style = STYLE_NOTE;
    set_part(&parts[PART_REPLACING], s->replacing, STYLE_NOTE,
             s->replacing_older ? _("changing an earlier message")
                                : _("changing your last message"));
    if (s->replacing && stops)
        buf_addf(&parts[PART_REPLACING].text, _(" (%s stops)"), s->stop_key);
    if (s->unread > 0) {
        buf_addf(&parts[PART_UNREAD].text, "%s ", glyph(GLYPH_DOWN));
        buf_addf(&parts[PART_UNREAD].text, _("%d new"), s->unread);
    }
    parts[PART_UNREAD].style = STYLE_NOTE;
    make_retry(s, &parts[PART_RETRY]);
    make_working(s, &parts[PART_WORKING]);
    if (s->background_key)
        buf_addf(&parts[PART_BACKGROUND].text, _("%s: background"), s->background_key);
    parts[PART_BACKGROUND].style = STYLE_NOTE;
    if (s->tasks > 0)
        buf_addf(&parts[PART_TASKS].text, ngettext("%d task", "%d tasks", (unsigned long)s->tasks),
                 s->tasks);
    parts[PART_TASKS].style = STYLE_NOTE;
    if (s->importing)
        buf_addf(&parts[PART_IMPORTING].text, _("importing %d %%"), s->import_percent);
    if (s->importing && stops && !s->working)
        buf_addf(&parts[PART_IMPORTING].text, _(" (%s stops)"), s->stop_key);
    parts[PART_IMPORTING].style = STYLE_NOTE;
    if (s->space_waiting > 0)
        buf_addf(&parts[PART_SPACE].text, _("%s · %lld waiting"), s->space,
                 (long long)s->space_waiting);
    parts[PART_SPACE].style = STYLE_WARNING;
    make_gauge(s, &parts[PART_GAUGE]);
    make_context(s, parts[PART_GAUGE].text.len > 0, &parts[PART_CONTEXT]);
    if (s->rate >= 0)
        buf_addf(&parts[PART_RATE].text, _("~%.0f tokens/s"), s->rate);
    if (s->cost > 0) { /* a free model needs no figure */
        buf_addstr(&parts[PART_COST].text, s->cost_estimated ? "~" : "");
        format_cost(&parts[PART_COST].text, s->cost);
        buf_addstr(&parts[PART_COST].text, s->cost_partial ? "+" : "");
    }
    set_part(&parts[PART_TRUNCATED], s->truncated, STYLE_ERROR,
             _("the server dropped the beginning!"));
    if (s->compactions > 0)
        buf_addf(&parts[PART_COMPACTIONS].text, "%s%d", glyph(GLYPH_AGAIN), s->compactions);
    set_part(&parts[PART_SUSPENDED], s->suspended, STYLE_WARNING, _("compaction stopped"));
    if (s->budget && s->budget_percent >= 0)
        buf_addf(&parts[PART_BUDGET].text, _("budget %d %%"), s->budget_percent);
    if (s->budget_percent >= BUDGET_HIGH)
        parts[PART_BUDGET].style = STYLE_GAUGE_HIGH;
    /* less memory than usual is worth more room */
    set_part(&parts[PART_MEMORY], s->memory && usual, STYLE_STATUS, _("memory on"));
    set_part(&parts[PART_MEMORY_LESS], s->memory && !usual, STYLE_NOTE,
             off ? _("memory off") : _("memory read only"));
}

/* The gauge and its figures belong together: a blank between them, no mark. */
static size_t gap(const struct part parts[PART_COUNT], int index, bool first)
{
    if (first)
        return 0;
    return index == PART_CONTEXT && parts[PART_GAUGE].text.len > 0 ? 1 : SEPARATOR_COLUMNS;
}

/* Empties the least important parts until the line fits or one is left. */
static void drop_parts(const struct status *s, struct part parts[PART_COUNT], size_t room)
{
    for (;;) {
        int least = -1, shown = 0;
        size_t columns = 0;
        for (int i = 0; i < PART_COUNT; i++) {
            const struct buf *text = &parts[i].text;
            if (text->len == 0)
                continue;
            columns += gap(parts, i, shown++ == 0) + utf8_width(text->data, text->len);
            if (least < 0 || part_rank[i] < part_rank[least])
                least = i;
        }
        if (columns <= room || shown < 2)
            return;
        buf_clear(&parts[least].text);
        if (least == PART_GAUGE)
            make_context(s, false, &parts[PART_CONTEXT]);
    }
}

void status_row(const struct status *s, int width, struct rows *out)
{
    struct part parts[PART_COUNT];
    size_t room = width > 0 ? (size_t)width : 0;
    make_parts(s, parts);
    /* a long reason of a retry leaves room for the key that stops, if half of the line is left */
    struct buf *reason = &parts[PART_RETRY].text;
    const struct buf *unread = &parts[PART_UNREAD].text, *working = &parts[PART_WORKING].text;
    size_t others = SEPARATOR_COLUMNS + utf8_width(working->data, working->len);
    if (unread->len > 0)
        others += SEPARATOR_COLUMNS + utf8_width(unread->data, unread->len);
    size_t most = others + room / 2 < room ? room - others : room;
    if (utf8_width(reason->data, reason->len) > most) {
        const char *mark = glyph(GLYPH_ELLIPSIS);
        size_t columns = utf8_width(mark, strlen(mark));
        size_t cut = utf8_cut_width(reason->data, reason->len, most > columns ? most - columns : 0);
        buf_splice(reason, cut, reason->len - cut, mark, strlen(mark));
    }
    drop_parts(s, parts, room);
    rows_begin(out);
    bool first = true;
    for (int i = 0; i < PART_COUNT; i++) {
        struct buf *text = &parts[i].text;
        if (text->len > 0) {
            size_t space = gap(parts, i, first);
            if (space > 0)
                rows_addstr(out, " ", STYLE_STATUS, 0);
            if (space == SEPARATOR_COLUMNS) {
                rows_addstr(out, glyph(GLYPH_DOT), STYLE_DIM, 0);
                rows_addstr(out, " ", STYLE_STATUS, 0);
            }
            rows_add(out, text->data, utf8_cut_width(text->data, text->len, room), parts[i].style,
                     0);
            first = false;
        }
    }
    for (int i = 0; i < PART_COUNT; i++)
        buf_release(&parts[i].text);
}
