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
#include "ui/app/turns.h"
#include "ui/term/rows.h"
#include "ui/term/term.h"
#include "ui/text/editor.h"
#include "ui/text/format.h"
#include "ui/view/memory_view.h"
#include "ui/view/status.h"

/* Layout */

enum { PANE_SHARE = 40 /* percent of the width */ };

bool layout_is_too_small(int rows, int cols)
{
    return rows < SCREEN_MIN_ROWS || cols < SCREEN_MIN_COLS;
}

static struct layout place_rows(int rows, int cols, int editor_rows_wanted, int most, bool waiting)
{
    struct layout l = {
        .rows = rows, .cols = cols, .waiting_row = -1, .body_top = 1, .body_cols = cols};
    l.too_small = layout_is_too_small(rows, cols);
    most = most > 1 ? most : 1;
    l.editor_rows = editor_rows_wanted < most ? editor_rows_wanted : most;
    if (l.editor_rows < 1)
        l.editor_rows = 1;
    l.editor_top = rows - l.editor_rows;
    if (waiting)
        l.waiting_row = l.editor_top - 1;
    l.status_row = l.editor_top - 1 - waiting;
    l.body_rows = l.status_row - l.body_top;
    if (l.body_rows < 1)
        l.body_rows = 1;
    return l;
}

struct layout layout_make(int rows, int cols, int editor_rows_wanted, bool waiting)
{
    return place_rows(rows, cols, editor_rows_wanted, rows / 3, waiting);
}

struct layout layout_review(int rows, int cols, int rows_wanted, bool waiting)
{
    return place_rows(rows, cols, rows_wanted, rows * 2 / 3, waiting);
}

void layout_add_pane(struct layout *l, int columns)
{
    l->pane_cols = columns;
    l->body_cols = columns > 0 ? l->cols - columns - 1 : l->cols;
}

bool layout_equal(const struct layout *a, const struct layout *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->body_top == b->body_top &&
           a->body_rows == b->body_rows && a->body_cols == b->body_cols &&
           a->pane_cols == b->pane_cols && a->status_row == b->status_row &&
           a->waiting_row == b->waiting_row && a->editor_top == b->editor_top &&
           a->editor_rows == b->editor_rows && a->too_small == b->too_small;
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
static struct {
    int top, left, rows, cols; /* place of the view on the terminal; 0 rows: it is not visible */
} drawn[VIEW_LAYERS];
static struct {
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

static void put_row_filled(int row, const struct rows *rows, size_t index, enum style rest)
{
    put_row_within(row, 0, shown.cols, rows, index, rest);
}

static void put_body_row(int row, const struct rows *rows, size_t index, enum style rest)
{
    put_row_within(row, 0, shown.body_cols, rows, index, rest);
}

/* Title: "tiro - session - - - - provider . model" */

static char *cleaned(const char *text)
{
    struct buf out = BUF_INIT;
    if (text)
        utf8_clean(&out, text, strlen(text), UTF8_ONE_LINE);
    return buf_take(&out);
}

static char *backend_text(const struct app *app)
{
    if (!app->provider)
        return mem_strdup("");
    if (strcmp(app->provider, "offline") == 0)
        return mem_strdup(shown.cols >= 80 ? _("offline: no model; answers are quotations")
                                           : _("offline: no model"));
    bool model = app->model && *app->model;
    if (model && shown.cols < 80) /* the model tells more */
        return cleaned(app->model);
    auto_free char *text = mem_printf("%s %s %s", app->provider, model ? glyph(GLYPH_DOT) : "",
                                      model ? app->model : "");
    return cleaned(text);
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
    auto_free char *title = cleaned(app->session.title);
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

/* Draws at most `height` rows: a list may stand below. Returns the rows drawn. */
static int draw_welcome(const struct app *app, size_t transcript_rows_shown, int height)
{
    if (!app->fresh)
        return 0;
    struct rows rows;
    rows_init(&rows);
    welcome_rows(&app->keymap, shown.body_cols, &rows);
    int count = (int)rows.list.len;
    if (count + (int)transcript_rows_shown > shown.body_rows)
        count = 0;
    count = count < height ? count : height;
    for (int i = 0; i < count; i++)
        put_body_row(shown.body_top + i, &rows, (size_t)i, STYLE_TEXT);
    rows_release(&rows);
    return count;
}

/* The rows that are laid out; the rest comes with the next frames. */
static const struct transcript_row *body_rows(struct app *app, size_t *count)
{
    const struct transcript_row *rows = transcript_rows(app->transcript, count);
    body_is_behind = transcript_is_behind(app->transcript);
    return rows;
}

static void draw_transcript(struct app *app, int height)
{
    size_t count;
    const struct transcript_row *rows = body_rows(app, &count);
    int at = draw_welcome(app, count, height);
    for (size_t i = 0; i < count && at < height; i++, at++)
        put_body_row(shown.body_top + at, rows[i].rows, rows[i].index, STYLE_TEXT);
    for (; at < height; at++)
        term_fill(shown.body_top + at, 0, shown.body_cols, STYLE_TEXT);
}

/* Draws the last of the rows in view. */
static void draw_newest(struct app *app, int height)
{
    size_t count, room = (size_t)height;
    const struct transcript_row *rows = body_rows(app, &count);
    size_t skip = count > room ? count - room : 0;
    for (size_t i = 0; i < room; i++) {
        int row = shown.body_top + (int)i;
        if (skip + i < count)
            put_body_row(row, rows[skip + i].rows, rows[skip + i].index, STYLE_TEXT);
        else
            term_fill(row, 0, shown.body_cols, STYLE_TEXT);
    }
}

static void set_drawn(enum view_layer layer, int top, int left, int rows, int cols)
{
    drawn[layer].top = top;
    drawn[layer].left = left;
    drawn[layer].rows = rows;
    drawn[layer].cols = cols;
}

static void draw_view_at(struct view *v, int top, int left, int height, int cols)
{
    const struct rows *rows = view_draw(v, cols, height);
    for (int i = 0; i < height; i++) {
        if ((size_t)i < rows->list.len)
            put_row_within(top + i, left, cols, rows, (size_t)i, STYLE_OVERLAY);
        else
            term_fill(top + i, left, cols, STYLE_OVERLAY);
    }
    set_drawn(v->ops->layer, top, left, height, cols);
}

/* Draws the view over the lowest rows of the body's `height`. Returns the rows above it. */
static int draw_view(struct view *v, int height)
{
    int own = v->ops->height ? v->ops->height(v, shown.body_cols, height) : height;
    int cols = own == height ? shown.cols : shown.body_cols; /* else what stands beside stays */
    draw_view_at(v, shown.body_top + height - own, 0, own, cols);
    return height - own;
}

/* The pane right of the transcript, behind a rule. */
static void draw_pane(struct app *app)
{
    struct view *v = views_shown(&app->views, VIEW_PANE);
    if (!v || shown.pane_cols == 0)
        return;
    for (int i = 0; i < shown.body_rows; i++)
        put(shown.body_top + i, shown.body_cols, 1, glyph(GLYPH_BAR), STYLE_RULE);
    draw_view_at(v, shown.body_top, shown.body_cols + 1, shown.body_rows, shown.pane_cols);
}

/* A question stands below the newest rows; clicks anywhere in the body are its own. */
static void draw_question(struct view *v, struct app *app)
{
    int own = v->ops->height(v, shown.body_cols, shown.body_rows), above = shown.body_rows - own;
    draw_newest(app, above);
    draw_view_at(v, shown.body_top + above, 0, own, shown.body_cols);
    draw_pane(app);
    set_drawn(VIEW_QUESTION, shown.body_top, 0, shown.body_rows, shown.cols);
}

static void draw_body(struct app *app)
{
    struct view *question = views_shown(&app->views, VIEW_QUESTION);
    memset(drawn, 0, sizeof drawn);
    if (question) {
        draw_question(question, app);
        return;
    }
    int height = shown.body_rows, lowest = shown.pane_cols > 0 ? VIEW_PANE + 1 : VIEW_PANE;
    for (int i = VIEW_LIST; i >= lowest && height > 0; i--) {
        struct view *v = views_shown(&app->views, (enum view_layer)i);
        if (v)
            height = draw_view(v, height);
    }
    if (height == 0)
        return;
    draw_transcript(app, height);
    draw_pane(app);
}

/* The status line, or the line of Ctrl-F in its place */

/* Draws the state of the search and, where there is room, its keys; returns the columns. */
static int draw_find_state(struct app *app, int room)
{
    AUTO(buf_release) struct buf state = BUF_INIT;
    const char *keys = _("Enter older, Shift-Tab newer, Esc closes");
    count_is_behind = !find_state(app, &state);
    enum style style = app->find.failed ? STYLE_WARNING : STYLE_NOTE;
    int state_cols = (int)utf8_width(state.data, state.len);
    int keys_cols = (int)utf8_width(keys, strlen(keys)), gap = state_cols > 0 ? 2 : 0;
    if (app->find.failed || state_cols + gap + keys_cols > room)
        keys_cols = gap = 0;
    int all = state_cols + gap + keys_cols <= room ? state_cols + gap + keys_cols : 0;
    int col = shown.cols - all;
    term_fill(shown.status_row, col, all, STYLE_TEXT);
    if (all > 0)
        put(shown.status_row, col, state_cols, state.data, style);
    if (keys_cols > 0)
        put(shown.status_row, col + state_cols + gap, keys_cols, keys, STYLE_DIM);
    return all;
}

static void draw_find(struct app *app)
{
    int row = shown.status_row, cols = shown.cols;
    int used = put(row, 0, cols, _("find: "), STYLE_PROMPT), caret;
    int room = cols - used - draw_find_state(app, cols - used - FIND_COLUMNS) - 1;
    struct rows rows;
    rows_init(&rows);
    rows_begin(&rows);
    (void)edit_line(&rows, app->find.line, room > 0 ? (size_t)room : 0, &caret);
    find_caret.row = row;
    find_caret.col = used + caret;
    int end = used + room + 1;
    used += term_put_row(row, used, room, &rows, 0);
    rows_release(&rows);
    term_fill(row, used, end - used, STYLE_TEXT);
}

static void draw_status(struct app *app)
{
    const struct activity *a = &app->activity;
    int64_t now_ms = clock_mono_ms();
    AUTO(buf_release) struct buf stop = BUF_INIT, leave = BUF_INIT;
    struct rows rows;
    struct status s = STATUS_UNKNOWN;
    keymap_describe_first(&app->keymap, ACTION_CANCEL, &stop);
    keymap_describe_first(&app->keymap, ACTION_CLEAR, &leave);
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
    s.asking = approval_open(&app->approval) || draft_review_pending(&app->draft);
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
    s.replacing = app->replacing;
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

static void draw_waiting(const struct app *app)
{
    if (shown.waiting_row < 0)
        return;
    int row = shown.waiting_row, cols = shown.cols;
    auto_free char *text = cleaned(app->waiting);
    const char *hint = _("Esc edits");
    int hint_cols = (int)utf8_width(hint, strlen(hint));
    int used = put(row, 0, cols, _("waiting: "), STYLE_NOTE);
    used += put_cut(row, used, cols - used - hint_cols - 1, text, STYLE_DIM);
    term_fill(row, used, cols - used - hint_cols, STYLE_TEXT);
    put(row, cols - hint_cols, hint_cols, hint, STYLE_DIM);
}

static void draw_review(struct app *app)
{
    const struct rows *rows =
        draft_review_rows(&app->draft, &app->keymap, shown.cols, shown.editor_rows);
    for (int i = 0; i < shown.editor_rows; i++) {
        if ((size_t)i < rows->list.len)
            put_row_filled(shown.editor_top + i, rows, (size_t)i, STYLE_EDITOR);
        else
            term_fill(shown.editor_top + i, 0, shown.cols, STYLE_EDITOR);
    }
    editor_caret_at.row = shown.editor_top + app->draft.caret_row;
    editor_caret_at.col = app->draft.caret_col;
}

static void draw_message(struct app *app, int top, int height)
{
    int width = shown.cols - PROMPT_COLUMNS - 1;
    struct editor_view view = editor_layout(app->editor, width, height);
    for (int i = 0; i < height; i++) {
        int row = top + i;
        int used = put(row, 0, PROMPT_COLUMNS, i == 0 ? PROMPT : "  ", STYLE_PROMPT);
        if (view.top + (size_t)i < view.row_count)
            used += term_put_row(row, used, shown.cols - used, view.rows, view.top + (size_t)i);
        if (i == 0 && !*editor_text(app->editor))
            used +=
                put_cut(row, used, shown.cols - used, _("Message, or / for commands"), STYLE_DIM);
        term_fill(row, used, shown.cols - used, STYLE_EDITOR);
    }
    editor_caret_at.row = top + view.caret_row;
    editor_caret_at.col = PROMPT_COLUMNS + view.caret_col;
}

static void draw_editor(struct app *app)
{
    if (draft_review_open(&app->draft)) {
        draw_review(app);
        return;
    }
    int announced = draft_review_pending(&app->draft);
    if (announced) {
        AUTO(rows_release) struct rows rows;
        rows_init(&rows);
        draft_review_announcement(&app->draft, shown.cols, &rows);
        put_row_filled(shown.editor_top, &rows, 0, STYLE_OVERLAY);
    }
    draw_message(app, shown.editor_top + announced, shown.editor_rows - announced);
}

/* Frames */

static void put_centred(int row, const char *text, enum style style)
{
    int width = (int)utf8_width(text, strlen(text));
    put(row, width < shown.cols ? (shown.cols - width) / 2 : 0, shown.cols, text, style);
}

static void draw_too_small(void)
{
    auto_free char *text = mem_printf(_("tiro needs %d x %d"), SCREEN_MIN_COLS, SCREEN_MIN_ROWS);
    term_erase();
    put_centred((shown.rows - 1) / 2, text, STYLE_WARNING);
    if (shown.rows > 1)
        put_centred((shown.rows - 1) / 2 + 1, _("columns x rows"), STYLE_DIM);
    term_cursor_hide();
}

/* True if a view places the caret. A question covers the views over the transcript. */
static bool place_view_caret(const struct app *app)
{
    const struct view *v = views_holder(&app->views);
    if (!v || v->ops->layer < VIEW_PANE)
        return false;
    bool beside = v->ops->layer == VIEW_PANE && shown.pane_cols > 0;
    bool seen = beside || !views_shown(&app->views, VIEW_QUESTION);
    if (seen && v->caret.shown)
        term_cursor(drawn[v->ops->layer].top + v->caret.row,
                    drawn[v->ops->layer].left + v->caret.col);
    else
        term_cursor_hide();
    return true;
}

static struct layout find_places(struct app *app, int rows, int cols)
{
    bool waiting = app->waiting != NULL;
    if (draft_review_open(&app->draft))
        return layout_review(rows, cols, draft_review_height(&app->draft, &app->keymap, cols),
                             waiting);
    int width = cols > PROMPT_COLUMNS + 2 ? cols - PROMPT_COLUMNS - 1 : 1;
    size_t wanted = editor_layout(app->editor, width, rows > 3 ? rows / 3 : 1).row_count;
    wanted += draft_review_pending(&app->draft); /* its announcement */
    return layout_make(rows, cols, wanted < 1000 ? (int)wanted : 1000, waiting);
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
    int rows, cols;
    term_size(&rows, &cols);
    if (!layout_is_too_small(rows, cols))
        screen_advance_draft(app, clock_mono_ms());
    struct layout l = find_places(app, rows, cols);
    if (memory_view_is_open(app->memory))
        layout_add_pane(&l, layout_pane_columns(cols));
    if (layout_equal(&l, &shown))
        return;
    shown = l;
    app->dirty = DIRTY_ALL;
    if (!l.too_small)
        transcript_resize(app->transcript, l.body_cols - MARGIN_COLUMNS, l.body_rows);
}

/* The bare text takes the whole screen. */
static void draw_bare(struct app *app, struct view *v)
{
    app->drawn_ms = clock_mono_ms();
    bare_draw(v);
    set_drawn(VIEW_BARE, 0, 0, INT_MAX, INT_MAX);
    app->dirty = 0;
    app->urgent = app->status_dirty = false;
}

void screen_draw(struct app *app)
{
    struct view *bare = views_shown(&app->views, VIEW_BARE);
    if (bare) {
        draw_bare(app, bare);
        return;
    }
    body_is_behind = count_is_behind = false;
    lay_out(app);
    app->drawn_ms = clock_mono_ms();
    if (app->dirty & DIRTY_STATUS) { /* also where another line stands in its place */
        app->status_ms = app->drawn_ms;
        app->status_dirty = false;
    }
    if (shown.too_small) {
        draw_too_small();
    } else {
        if (app->dirty & DIRTY_BODY)
            draw_body(app);
        if (app->dirty & DIRTY_EDITOR) {
            draw_waiting(app);
            draw_editor(app);
        }
        if (app->dirty & DIRTY_TITLE)
            draw_title(app);
        if (app->dirty & DIRTY_STATUS && app->find.active)
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
