#include "ui/app/screen.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/app/clipboard.h"
#include "ui/app/find.h"
#include "ui/app/imports.h"
#include "ui/app/mentions.h"
#include "ui/app/select.h"
#include "ui/app/welcome.h"
#include "ui/term/rows.h"
#include "ui/term/term.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/view/memory_view.h"
#include "ui/view/status.h"

/* Layout */

enum {
    PANE_SHARE = 40,       /* percent of the width */
    OFFER_ROWS = 6,        /* of the welcome's offer, where the body is narrow */
    LONG_COMMAND_MS = 2000 /* a command that runs so long has a hint how to go on without it */
};

bool layout_is_too_small(int rows, int cols)
{
    return rows < SCREEN_MIN_ROWS || cols < SCREEN_MIN_COLS;
}

struct layout layout_make(int rows, int cols, int pane_cols, int editor_rows_wanted, bool review,
                          bool waiting)
{
    struct layout l = {.rows = rows, .cols = cols, .pane_cols = pane_cols, .waiting_row = -1};
    int most = rows * (review ? 2 : 1) / 3;
    l.editor_rows = editor_rows_wanted < most ? editor_rows_wanted : most;
    if (l.editor_rows < 1)
        l.editor_rows = 1;
    l.editor_top = rows - l.editor_rows;
    if (waiting)
        l.waiting_row = l.editor_top - 1;
    l.status_row = l.editor_top - 1 - waiting;
    l.body_top = 1;
    l.body_rows = l.status_row > l.body_top ? l.status_row - l.body_top : 1;
    l.body_cols = pane_cols > 0 ? cols - pane_cols - 1 : cols;
    return l;
}

int layout_pane_columns(int cols)
{
    return cols >= PANE_BESIDE ? cols * PANE_SHARE / 100 : 0;
}

/* Drawing */

#define PROMPT "> "
#define PROMPT_COLUMNS 2
#define MARGIN_COLUMNS 2 /* free at the right of the transcript */
#define TITLE_BEGIN 5    /* columns of "tiro " */
#define FIND_COLUMNS 14  /* at least, to type in */

/* State of the last frame; there is one screen. */
static struct layout shown;
static bool body_is_behind;  /* the frame shows less than there is */
static bool count_is_behind; /* the matches are not all counted: the next frame continues */
/* The place of each view on the terminal; 0 rows: it is not visible. */
static struct place {
    int top, left, rows, cols;
} drawn[VIEW_LAYERS];
static struct caret {
    int row, col;
} editor_caret_at, find_caret;

int screen_body_rows(void)
{
    return shown.body_rows;
}

struct view *screen_view_at(const struct app *app, int row, int col, int *row_in, int *col_in)
{
    int end = shown.body_top + shown.body_rows;
    for (int i = VIEW_LAYERS - 1; i >= 0; i--) {
        struct view *v = views_shown(&app->views, (enum view_layer)i);
        *row_in = row - drawn[i].top;
        *col_in = col - drawn[i].left;
        if (v && *row_in >= 0 && *row_in < drawn[i].rows && *col_in >= 0 && *col_in < drawn[i].cols)
            return v;
    }
    *row_in = row >= shown.body_top && row < end ? row - shown.body_top : -1;
    return NULL;
}

/* Draws a text at a column, cut to the room; returns the columns drawn. */
static int put(int row, int col, int room, const char *text, enum style style)
{
    return room > 0 ? term_put(row, col, room, text, strlen(text), style, 0) : 0;
}

/* put() with an ellipsis where the text is cut. */
static int put_cut(int row, int col, int room, const char *text, enum style style)
{
    AUTO(rows_release) struct rows rows;
    rows_init(&rows);
    if (room <= 0)
        return 0;
    rows_begin(&rows);
    rows_add_cut(&rows, text, (size_t)room, style);
    return term_put_row(row, col, room, &rows, 0);
}

static void put_row_within(int row, int left, int cols, const struct rows *rows, size_t index,
                           enum style rest)
{
    int used = term_put_row(row, left, cols, rows, index);
    term_fill(row, left + used, cols - used, rest);
}

/* Title: "tiro - session - - - - provider . model" */

static char *backend_text(const struct app *app)
{
    if (!app->provider)
        return mem_strdup("");
    if (strcmp(app->provider, "offline") == 0)
        return mem_strdup(shown.cols >= 80 ? _("offline: no model; answers are quotations")
                                           : _("offline: no model"));
    const char *model = app->model && *app->model ? app->model : NULL;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!model || shown.cols >= 80) /* the model tells more */
        buf_addf(&text, "%s %s ", app->provider, model ? glyph(GLYPH_DOT) : "");
    if (model)
        buf_addstr(&text, model);
    if (model && app->effort)
        buf_addf(&text, " %s %s", glyph(GLYPH_DOT), app->effort);
    return utf8_clean_line(text.data);
}

/* Appends "read-only, 2 working, 1 waits for you" for the title row; returns its style. */
static enum style title_badge(const struct app *app, struct buf *out)
{
    size_t working = background_count(app, false), waiting = background_count(app, true);
    if (app->read_only)
        buf_addstr(out, _("read-only"));
    if (app->read_only && working + waiting > 0)
        buf_addstr(out, ", ");
    if (working > 0)
        buf_addf(out, ngettext("%zu working", "%zu working", working), working);
    if (working > 0 && waiting > 0)
        buf_addstr(out, ", ");
    if (waiting > 0)
        buf_addf(out, ngettext("%zu waits for you", "%zu wait for you", waiting), waiting);
    return waiting > 0 || app->read_only ? STYLE_WARNING : STYLE_NOTE;
}

static void draw_title(const struct app *app)
{
    AUTO(buf_release) struct buf badge_text = BUF_INIT;
    auto_free char *title = utf8_clean_line(app->session.title);
    auto_free char *backend = backend_text(app);
    enum style badge_style = title_badge(app, &badge_text);
    const char *badge = badge_text.data;
    int parted = *badge && *title ? 2 : 0; /* a rule between them */
    int badge_cols = *badge ? (int)utf8_width(badge, strlen(badge)) + 1 + parted : 0;
    int cols = shown.cols, backend_cols = (int)utf8_width(backend, strlen(backend));
    int room = cols - TITLE_BEGIN - badge_cols - 1; /* the badge matters more than the model */
    room = room < cols * 3 / 5 ? room : cols * 3 / 5;
    if (backend_cols > room)
        backend_cols = room > 0 ? room : 0;
    int used = put(0, 0, cols, "tiro ", STYLE_TITLE);
    int right = cols - backend_cols;
    if (*title) {
        used += put(0, used, cols, glyph(GLYPH_LINE), STYLE_RULE);
        used += put(0, used, cols, " ", STYLE_TEXT);
        used += put_cut(0, used, right - used - 2 - badge_cols, title, STYLE_TITLE);
        used += put(0, used, cols, " ", STYLE_TEXT);
    }
    if (badge_cols > 0) {
        used += put(0, used, parted, glyph(GLYPH_LINE), STYLE_RULE);
        used += put(0, used, parted > 0, " ", STYLE_TEXT);
        used += put(0, used, right - used, badge, badge_style);
        used += put(0, used, right - used, " ", STYLE_TEXT);
    }
    while (used < right - (backend_cols > 0))
        used += put(0, used, 1, glyph(GLYPH_LINE), STYLE_RULE);
    term_fill(0, used, right - used, STYLE_TEXT);
    bool offline = app->provider && strcmp(app->provider, "offline") == 0;
    used = right + put_cut(0, right, backend_cols, backend, offline ? STYLE_WARNING : STYLE_DIM);
    term_fill(0, used, cols - used, STYLE_TEXT);
}

/* The transcript and the lists over it */

/* The rows that are laid out; the rest comes with the next frames. A list may stand below the
 * `height`. In a new session they follow the welcome, where there is room. `newest`: the last of
 * the rows in view are drawn, instead of the first. */
static void draw_transcript(struct app *app, int height, bool newest)
{
    size_t count, room = height > 0 ? (size_t)height : 0;
    const struct transcript_row *rows = transcript_rows(app->transcript, &count);
    body_is_behind = transcript_is_behind(app->transcript);
    int at = 0;
    app->import.shown = false;
    if (app->fresh && !newest) {
        AUTO(rows_release) struct rows welcome;
        size_t all = (size_t)shown.body_rows, free_rows = count < all ? all - count : 0;
        bool offers = imports_offered(app); /* comes before the notes of the start */
        rows_init(&welcome);
        welcome_rows(app, shown.body_cols,
                     offers && free_rows < OFFER_ROWS ? OFFER_ROWS : free_rows, &welcome);
        app->import.shown = offers && all >= OFFER_ROWS;
        for (; (size_t)at < welcome.list.len && at < height; at++)
            put_row_within(shown.body_top + at, 0, shown.body_cols, &welcome, (size_t)at,
                           STYLE_TEXT);
    }
    for (size_t i = newest && count > room ? count - room : 0; i < count && at < height; i++, at++)
        put_row_within(shown.body_top + at, 0, shown.body_cols, rows[i].rows, rows[i].index,
                       STYLE_TEXT);
    for (; at < height; at++)
        term_fill(shown.body_top + at, 0, shown.body_cols, STYLE_TEXT);
}

/* Draws the rows from the first on, and fills the place. */
static void put_rows(int top, int left, int height, int cols, const struct rows *rows,
                     enum style rest)
{
    for (int i = 0; i < height; i++) {
        if ((size_t)i < rows->list.len)
            put_row_within(top + i, left, cols, rows, (size_t)i, rest);
        else
            term_fill(top + i, left, cols, rest);
    }
}

static void draw_view_at(struct view *v, int top, int left, int height, int cols)
{
    put_rows(top, left, height, cols, view_draw(v, cols, height), STYLE_OVERLAY);
    drawn[v->ops->layer] = (struct place){top, left, height, cols};
}

/* The transcript, with a question below it or lists over it, and the pane right of it behind a
 * rule.
 */
static void draw_body(struct app *app)
{
    struct view *question = views_shown(&app->views, VIEW_QUESTION);
    struct view *pane = shown.pane_cols > 0 ? views_shown(&app->views, VIEW_PANE) : NULL;
    int height = shown.body_rows, lowest = shown.pane_cols > 0 ? VIEW_PANE + 1 : VIEW_PANE;
    memset(drawn, 0, sizeof drawn);
    if (question) { /* below the newest rows */
        int own = question->ops->height(question, shown.body_cols, shown.body_rows);
        height -= own;
        draw_view_at(question, shown.body_top + height, 0, own, shown.body_cols);
    }
    for (int i = VIEW_LIST; i >= lowest && height > 0 && !question; i--) {
        struct view *v = views_shown(&app->views, (enum view_layer)i);
        if (!v)
            continue;
        int own = v->ops->height ? v->ops->height(v, shown.body_cols, height) : height;
        int cols = own == height ? shown.cols : shown.body_cols; /* else the pane beside it stays */
        height -= own;
        draw_view_at(v, shown.body_top + height, 0, own, cols);
    }
    if (height == 0 && !question)
        return;
    draw_transcript(app, height, question);
    for (int i = 0; pane && i < shown.body_rows; i++)
        put(shown.body_top + i, shown.body_cols, 1, glyph(GLYPH_BAR), STYLE_RULE);
    if (pane)
        draw_view_at(pane, shown.body_top, shown.body_cols + 1, shown.body_rows, shown.pane_cols);
    if (question) /* clicks anywhere in the body are its own */
        drawn[VIEW_QUESTION] = (struct place){shown.body_top, 0, shown.body_rows, shown.cols};
}

/* The status line, or the line of Ctrl-F in its place */

/* The text, the state of the search and, where there is room, its keys. */
static void draw_find(struct app *app)
{
    AUTO(buf_release) struct buf state = BUF_INIT;
    AUTO(rows_release) struct rows rows;
    int row = shown.status_row, cols = shown.cols, caret;
    int used = put(row, 0, cols, _("find: "), STYLE_PROMPT);
    int most = cols - used - FIND_COLUMNS;
    const char *keys = _("Enter older, Shift-Tab newer, Esc closes");
    count_is_behind = !find_state(app, &state);
    int state_cols = (int)utf8_width(state.data, state.len);
    int keys_cols = (int)utf8_width(keys, strlen(keys)), gap = state_cols > 0 ? 2 : 0;
    if (app->find.failed || state_cols + gap + keys_cols > most)
        keys_cols = gap = 0;
    int right = state_cols + gap + keys_cols <= most ? state_cols + gap + keys_cols : 0;
    int col = cols - right, room = col - used - 1;
    term_fill(row, col, right, STYLE_TEXT);
    if (right > 0)
        put(row, col, state_cols, state.data, app->find.failed ? STYLE_WARNING : STYLE_NOTE);
    if (keys_cols > 0)
        put(row, col + state_cols + gap, keys_cols, keys, STYLE_DIM);

    rows_init(&rows);
    rows_begin(&rows);
    (void)edit_line(&rows, app->find.line, room > 0 ? (size_t)room : 0, &caret);
    find_caret = (struct caret){row, used + caret};
    used += term_put_row(row, used, room, &rows, 0);
    term_fill(row, used, col - used, STYLE_TEXT);
}

static void draw_status(struct app *app)
{
    const struct activity *a = &app->activity;
    int64_t now_ms = clock_mono_ms();
    AUTO(buf_release) struct buf stop = BUF_INIT, leave = BUF_INIT, background = BUF_INIT;
    struct rows rows;
    struct status s = STATUS_UNKNOWN;
    keymap_describe_first(&app->keymap, ACTION_CANCEL, &stop);
    keymap_describe_first(&app->keymap, ACTION_CLEAR, &leave);
    keymap_describe_first(&app->keymap, ACTION_BACKGROUND, &background);
    s.context = app_context(app, &s.context_estimated);
    s.window = app->meters.window;
    s.threshold = app->meters.threshold;
    s.compactions = app->meters.compactions;
    s.suspended = app->meters.suspended;
    bool kept_out = app->meters.access != MEMORY_ACCESS_WRITE; /* of the graph, too */
    s.memory =
        app->meters.memory || kept_out ? memory_access_names.words[app->meters.access] : NULL;
    s.truncated = app->truncated;
    s.cost = app->meters.cost;
    s.cost_estimated = app->meters.total.estimated;
    s.cost_partial = app->meters.cost_partial;
    s.budget = app->meters.budget != NULL;
    s.budget_percent = app->meters.budget_percent;
    s.working = a->busy;
    s.asking = approval_open(&app->approval.view) || draft_review_pending(&app->draft.view);
    s.compacting = a->compacting_ms != 0;
    s.working_ms = now_ms - (s.compacting ? a->compacting_ms : a->started_ms);
    int64_t elapsed = now_ms - a->streaming_ms;
    bool known = a->busy && a->streaming_ms != 0 && elapsed >= 500;
    s.rate = known ? (double)a->streamed / BYTES_PER_TOKEN * 1000 / (double)elapsed : -1;
    s.retry = a->busy ? a->retry : 0;
    s.retries = a->retries;
    s.retry_ms = a->retry_at > now_ms ? a->retry_at - now_ms : 0;
    s.retry_reason = a->retry_reason;
    size_t rows_shown; /* unread items are counted when rows are laid out */
    if (!transcript_at_end(app->transcript))
        (void)transcript_rows(app->transcript, &rows_shown);
    s.unread = transcript_unread(app->transcript);
    s.stop_key = draft_review_open(&app->draft) ? NULL : stop.data; /* it refuses the draft */
    if (app->way_back.places.len > 0 && s.stop_key) {
        s.back_key = s.stop_key;
        s.stop_key = NULL;
    }
    s.tasks = app->meters.tasks;
    s.importing = app->import.run != 0;
    s.space = app->space.name;
    s.space_waiting = app->space.waiting;
    s.import_percent = app->import.percent;
    bool long_command = a->command_ms != 0 && now_ms - a->command_ms >= LONG_COMMAND_MS;
    s.background_key = long_command && background.len > 0 ? background.data : NULL;
    s.replacing = app->replacing;
    s.replacing_older = app->replaced > 0;
    s.leave_key = app->leave_until ? leave.data : NULL;
    rows_init(&rows);
    status_row(&s, shown.cols, &rows);
    int used = term_put_row(shown.status_row, 0, shown.cols, &rows, 0);
    if (used < shown.cols)
        used += put(shown.status_row, used, used > 0, " ", STYLE_TEXT);
    while (used < shown.cols) /* the editor's upper edge */
        used += put(shown.status_row, used, 1, glyph(GLYPH_LINE), STYLE_RULE);
    rows_release(&rows);
}

/* The editor and what waits above it */

static void draw_editor(struct app *app)
{
    if (shown.waiting_row >= 0) {
        int row = shown.waiting_row, cols = shown.cols;
        auto_free char *text = utf8_clean_line(app->waiting);
        const char *hint = _("Esc edits");
        int hint_cols = (int)utf8_width(hint, strlen(hint));
        int used = put(row, 0, cols, _("waiting: "), STYLE_NOTE);
        used += put_cut(row, used, cols - used - hint_cols - 1, text, STYLE_DIM);
        term_fill(row, used, cols - used - hint_cols, STYLE_TEXT);
        put(row, cols - hint_cols, hint_cols, hint, STYLE_DIM);
    }
    int announced = draft_review_pending(&app->draft.view);
    if (draft_review_open(&app->draft)) {
        const struct rows *rows =
            draft_review_rows(&app->draft, &app->keymap, shown.cols, shown.editor_rows);
        put_rows(shown.editor_top, 0, shown.editor_rows, shown.cols, rows, STYLE_EDITOR);
        editor_caret_at =
            (struct caret){shown.editor_top + app->draft.caret_row, app->draft.caret_col};
        return;
    }
    if (announced) {
        AUTO(rows_release) struct rows rows;
        rows_init(&rows);
        draft_review_announcement(&app->draft, shown.cols, &rows);
        put_rows(shown.editor_top, 0, 1, shown.cols, &rows, STYLE_OVERLAY);
    }
    int top = shown.editor_top + announced, height = shown.editor_rows - announced;
    AUTO(rows_release) struct rows mentions;
    rows_init(&mentions);
    if (height > 1 && mentions_row(app, (size_t)(shown.cols - PROMPT_COLUMNS - 1), &mentions)) {
        int row = top + --height, used = put(row, 0, PROMPT_COLUMNS, "  ", STYLE_EDITOR);
        put_row_within(row, used, shown.cols - used, &mentions, 0, STYLE_EDITOR);
    }
    struct editor_view view = editor_layout(app->editor, shown.cols - PROMPT_COLUMNS - 1, height);
    for (int i = 0; i < height; i++) {
        int row = top + i;
        int used = put(row, 0, PROMPT_COLUMNS, i == 0 ? PROMPT : "  ", STYLE_PROMPT);
        if (view.top + (size_t)i < view.row_count)
            used += term_put_row(row, used, shown.cols - used, view.rows, view.top + (size_t)i);
        if (i == 0 && !*editor_text(app->editor)) {
            auto_free char *hint = welcome_hint(app, shown.cols - used);
            used += put_cut(row, used, shown.cols - used, hint, STYLE_DIM);
        }
        term_fill(row, used, shown.cols - used, STYLE_EDITOR);
    }
    editor_caret_at = (struct caret){top + view.caret_row, PROMPT_COLUMNS + view.caret_col};
}

/* Frames */

static void draw_too_small(void)
{
    auto_free char *size = mem_printf(_("tiro needs %d x %d"), SCREEN_MIN_COLS, SCREEN_MIN_ROWS);
    const char *texts[] = {size, _("columns x rows")};
    int top = (shown.rows - 1) / 2;
    for (int row = 0; row < shown.rows; row++)
        term_fill(row, 0, shown.cols, STYLE_TEXT);
    for (int i = 0; i < 2 && top + i < shown.rows; i++) {
        int width = (int)utf8_width(texts[i], strlen(texts[i]));
        put(top + i, width < shown.cols ? (shown.cols - width) / 2 : 0, shown.cols, texts[i],
            i == 0 ? STYLE_WARNING : STYLE_DIM);
    }
    term_cursor(-1, 0);
}

/* True if a view places the caret. A question covers the views over the transcript. */
static bool place_view_caret(const struct app *app)
{
    const struct view *v = views_holder(&app->views);
    if (!v || v->ops->layer < VIEW_PANE)
        return false;
    bool beside = v->ops->layer == VIEW_PANE && shown.pane_cols > 0;
    bool asks = v->ops->layer == VIEW_QUESTION; /* drawn at the lower end of its place */
    bool seen = beside || asks || !views_shown(&app->views, VIEW_QUESTION);
    int top = drawn[v->ops->layer].top;
    if (asks)
        top += shown.body_rows - v->height;
    if (seen && v->caret.shown)
        term_cursor(top + v->caret.row, drawn[v->ops->layer].left + v->caret.col);
    else
        term_cursor(-1, 0);
    return true;
}

void screen_advance_draft(struct app *app, int64_t now_ms)
{
    enum draft_stage before = app->draft.stage;
    draft_review_advance(&app->draft, !views_holder(&app->views), now_ms);
    if (app->draft.stage == before)
        return;
    app_close_list(app);
    app->dirty = DIRTY_ALL;
}

/* Lays the screen out; all is dirty if a place has moved. */
static void lay_out(struct app *app)
{
    int rows = term_facts().rows, cols = term_facts().cols, wanted;
    bool too_small = layout_is_too_small(rows, cols);
    if (!too_small)
        screen_advance_draft(app, clock_mono_ms());
    bool review = draft_review_open(&app->draft);
    if (review) {
        wanted = draft_review_height(&app->draft, &app->keymap, cols);
    } else {
        int width = cols > PROMPT_COLUMNS + 2 ? cols - PROMPT_COLUMNS - 1 : 1;
        size_t most = editor_layout(app->editor, width, rows > 3 ? rows / 3 : 1).row_count;
        most += draft_review_pending(&app->draft.view); /* its announcement */
        AUTO(rows_release) struct rows mentions;
        rows_init(&mentions);
        most += mentions_row(app, (size_t)width, &mentions);
        wanted = most < 1000 ? (int)most : 1000;
    }
    int pane_cols = memory_view_is_open(app->memory) ? layout_pane_columns(cols) : 0;
    struct layout l = layout_make(rows, cols, pane_cols, wanted, review, app->waiting != NULL);
    if (memcmp(&l, &shown, sizeof l) == 0)
        return;
    shown = l;
    app->dirty = DIRTY_ALL;
    if (!too_small)
        transcript_resize(app->transcript, l.body_cols - MARGIN_COLUMNS, l.body_rows);
}

void screen_draw(struct app *app)
{
    struct view *bare = views_shown(&app->views, VIEW_BARE);
    if (bare) { /* its text takes the whole screen */
        app->drawn_ms = clock_mono_ms();
        bare_draw(bare);
        drawn[VIEW_BARE] = (struct place){0, 0, INT_MAX, INT_MAX};
        app->dirty = 0;
        app->urgent = app->status_dirty = false;
        return;
    }
    body_is_behind = count_is_behind = false;
    lay_out(app);
    app->drawn_ms = clock_mono_ms();
    if (app->dirty & DIRTY_STATUS) { /* also where another line stands in its place */
        app->status_ms = app->drawn_ms;
        app->status_dirty = false;
    }
    if (layout_is_too_small(shown.rows, shown.cols)) {
        draw_too_small();
    } else {
        if (app->dirty & DIRTY_BODY)
            draw_body(app);
        if (app->dirty & DIRTY_EDITOR)
            draw_editor(app);
        if (app->dirty & DIRTY_TITLE)
            draw_title(app);
        if (app->dirty & DIRTY_STATUS && app->selecting.active)
            term_fill(
                shown.status_row,
                term_put_row(shown.status_row, 0, shown.cols, select_foot(app, shown.cols), 0),
                shown.cols, STYLE_TEXT);
        else if (app->dirty & DIRTY_STATUS && app->find.active)
            draw_find(app);
        else if (app->dirty & DIRTY_STATUS)
            draw_status(app);
        if (place_view_caret(app))
            ;
        else if (app->find.active)
            term_cursor(find_caret.row, find_caret.col);
        else
            term_cursor(editor_caret_at.row, editor_caret_at.col);
    }
    app->dirty = (body_is_behind ? DIRTY_BODY : 0u) | (count_is_behind ? DIRTY_STATUS : 0u);
    app->urgent = false;
    term_flush();
}
