#include "ui/view/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/text/wrap.h"
#include "ui/view/hints.h"

enum {
    FILTER_MAX = 256,
    FOOT_FROM = 3 /* rows below the title, from which on a long text has a foot */
};

struct list_row {
    char *label, *detail, *value, *key;
};

struct list {
    enum list_mode mode;
    char *title, *empty;
    VEC(struct list_row) all;
    VEC(size_t) shown; /* indexes of those that pass the filter */
    struct buf filter;
    bool typing;                 /* letters go to the filter */
    size_t selected, top;        /* in `shown`; READ: `top` in `reading` */
    size_t page;                 /* rows at the last drawing */
    const struct keymap *keymap; /* whose keys the foot names; NULL: none */
    struct rows reading;         /* READ: all rows, wrapped, as drawn last */
    struct rows rows;
    size_t caret_col;
};

struct list *list_new(enum list_mode mode, const char *title)
{
    struct list *l = mem_alloc(sizeof *l);
    l->mode = mode;
    l->title = mem_strdup(title ? title : "");
    l->empty = mem_strdup("");
    l->typing = mode == LIST_TYPE;
    l->page = 10;
    buf_init(&l->filter, FILTER_MAX);
    rows_init(&l->rows);
    rows_init(&l->reading);
    return l;
}

void list_clear(struct list *l)
{
    for (size_t i = 0; i < l->all.len; i++) {
        free(l->all.items[i].label);
        free(l->all.items[i].detail);
        free(l->all.items[i].value);
        free(l->all.items[i].key);
    }
    vec_clear(&l->all);
    vec_clear(&l->shown);
    l->selected = l->top = 0;
}

void list_free(struct list *l)
{
    if (!l)
        return;
    list_clear(l);
    vec_release(&l->all);
    vec_release(&l->shown);
    buf_release(&l->filter);
    rows_release(&l->rows);
    rows_release(&l->reading);
    free(l->title);
    free(l->empty);
    free(l);
}

/* Every word of the filter is somewhere in the row. */
static bool matches(const struct list *l, const struct list_row *row)
{
    const char *at = l->filter.data;
    bool ok = true;
    while (ok && *(at += strspn(at, " "))) {
        size_t len = strcspn(at, " ");
        auto_free char *word = mem_strndup(at, len);
        ok = utf8_contains_folded(row->label, word) || utf8_contains_folded(row->detail, word) ||
             utf8_contains_folded(row->key, word);
        at += len;
    }
    return ok;
}

static void refilter(struct list *l)
{
    vec_clear(&l->shown);
    for (size_t i = 0; i < l->all.len; i++)
        if (matches(l, &l->all.items[i]))
            vec_push(&l->shown, i);
    l->selected = l->top = 0;
}

void list_add_key(struct list *l, const char *label, const char *detail, const char *value,
                  const char *key)
{
    struct list_row row = {utf8_clean_line(label), utf8_clean_line(detail), mem_strdup(value),
                           mem_strdup(key)};
    vec_push(&l->all, row);
    if (matches(l, &row))
        vec_push(&l->shown, l->all.len - 1);
}

void list_add(struct list *l, const char *label, const char *detail, const char *value)
{
    list_add_key(l, label, detail, value, "");
}

void list_add_match(struct list *l, const char *word, const char *label, const char *detail)
{
    if (strncmp(label, word, strlen(word)) == 0)
        list_add(l, label, detail, label);
}

void list_set_empty(struct list *l, const char *text)
{
    free(l->empty);
    l->empty = mem_strdup(text);
}

void list_filter(struct list *l, const char *text)
{
    buf_clear(&l->filter);
    if (!buf_try_add(&l->filter, text, strlen(text)))
        return;
    l->typing = l->mode == LIST_TYPE || *text; /* so that it is seen */
    refilter(l);
}

size_t list_count(const struct list *l)
{
    return l->shown.len;
}

const char *list_value(const struct list *l)
{
    return l->shown.len > 0 ? l->all.items[l->shown.items[l->selected]].value : NULL;
}

void list_mark(struct list *l, const char *value)
{
    for (size_t i = l->shown.len; value && i-- > 0;) {
        const char *its = l->all.items[l->shown.items[i]].value;
        l->selected = its && strcmp(its, value) == 0 ? i : l->selected;
    }
}

static void move(struct list *l, long by)
{
    size_t read = l->reading.list.len;
    if (l->mode == LIST_READ)
        l->top = moves_within((long)l->top + by, read > l->page ? read - l->page + 1 : 1);
    else
        l->selected = moves_within((long)l->selected + by, l->shown.len);
}

/* While no filter is typed: vi's letters in a list to pick from, a page in a text that is read. */
static void filter_key(struct list *l, enum action action, const struct key *key)
{
    size_t len = l->filter.len;
    char typed[4];
    long by = 0;
    AUTO(buf_release) struct buf added = BUF_INIT;
    if (!l->typing && l->mode == LIST_READ)
        by = moves_is_letter(key, ' ') ? (long)l->page - 1 : 0;
    else if (!l->typing)
        by = moves_is_letter(key, 'n') ? 1 : moves_is_letter(key, 'N') ? -1 : moves_by_letter(key);
    if (action == ACTION_BACKSPACE || action == ACTION_KILL_WORD_LEFT ||
        action == ACTION_KILL_START) {
        size_t to =
            len == 0 || action == ACTION_KILL_START ? 0 : utf8_prev(l->filter.data, len, len);
        buf_splice(&l->filter, to, len - to, NULL, 0);
        if (l->filter.len == 0 && l->mode != LIST_TYPE)
            l->typing = false;
        refilter(l);
    } else if (key->code == K_PASTE) {
        l->typing = true;
        utf8_clean(&added, key->text, strcspn(key->text, "\r\n"), UTF8_ONE_LINE);
    } else if (by != 0) {
        move(l, by);
    } else if (!l->typing && moves_is_letter(key, '/')) {
        l->typing = true;
    } else if (key->code == K_CHAR && !key->ctrl && !key->alt && key->cp >= ' ') {
        l->typing = true;
        buf_add(&added, typed, utf8_encode(key->cp, typed));
    }
    if (added.len > 0 && buf_try_add(&l->filter, added.data, added.len))
        refilter(l);
}

enum list_result list_key(struct list *l, enum action action, const struct key *key)
{
    if (action == ACTION_CANCEL || action == ACTION_CLEAR)
        return action == ACTION_CLEAR && l->mode == LIST_POPUP ? LIST_NOT_MINE : LIST_CLOSED;
    bool at_once = action == ACTION_TOP || action == ACTION_LINE_START || action == ACTION_BOTTOM ||
                   action == ACTION_LINE_END;
    long by = moves_by_action(action, l->page > 1 ? (long)l->page - 1 : 1, MOVES_WHEEL);
    if (l->mode == LIST_POPUP && (by == 0 || at_once))
        return LIST_NOT_MINE;
    by = by != 0 ? by : moves_by_control(key);
    if (by != 0) {
        move(l, by);
        return LIST_STAYS;
    }
    if (action == ACTION_SEND)
        return l->mode == LIST_READ ? LIST_CLOSED : list_value(l) ? LIST_CHOSEN : LIST_STAYS;
    filter_key(l, action, key);
    return LIST_STAYS;
}

bool list_click(struct list *l, int row)
{
    long at = row - (l->mode == LIST_POPUP ? 0 : 1);
    if (l->mode == LIST_READ || at < 0 || l->top + (size_t)at >= l->shown.len ||
        (size_t)at >= l->page)
        return false;
    l->selected = l->top + (size_t)at;
    return true;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static void draw_title(struct list *l, size_t width)
{
    /* the number of rows; of a text that is read, how to filter it, unless its foot says so */
    AUTO(buf_release) struct buf count = BUF_INIT;
    auto_free char *shown = format_exact((int64_t)l->shown.len);
    bool reads = l->mode == LIST_READ,
         quiet = reads && (l->typing || l->reading.list.len > l->page);
    if (!quiet)
        buf_addf(&count, " %s", reads ? _("type to filter") : shown);
    rows_begin(&l->rows);
    rows_addstr(&l->rows, " ", STYLE_OVERLAY_TITLE, 0);
    size_t used = 1 + rows_add_cut(&l->rows, l->title, width - 1, STYLE_OVERLAY_TITLE);
    if (l->typing && used + 4 < width) {
        rows_addstr(&l->rows, " / ", STYLE_PROMPT, 0);
        used += 3;
        used += rows_add_cut(&l->rows, l->filter.data, width - used - 1, STYLE_EDITOR);
    }
    l->caret_col = used;
    size_t counter = utf8_width(count.data, count.len);
    if (used + counter + 2 < width) {
        rows_pad(&l->rows, width - used - counter - 1, STYLE_OVERLAY);
        rows_addstr(&l->rows, count.data, STYLE_DIM, 0);
    }
}

/* 1/4 · type to filter · PageDown */
static void draw_foot(struct list *l, size_t width)
{
    size_t step = l->page > 1 ? l->page - 1 : 1, rest = l->reading.list.len - l->page;
    size_t pages = 1 + (rest + step - 1) / step;
    bool last = l->top >= rest;
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_addf(&text, "%zu/%zu", last ? pages : l->top / step + 1, pages);
    AUTO(buf_release) struct buf key = BUF_INIT;
    if (l->keymap)
        keymap_describe_first(l->keymap, last ? ACTION_PAGE_UP : ACTION_PAGE_DOWN, &key);
    const char *const more[] = {l->typing ? "" : _("type to filter"), key.len > 0 ? key.data : ""};
    for (size_t i = 0; i < 2; i++)
        if (*more[i] &&
            utf8_width(text.data, text.len) + 4 + utf8_width(more[i], strlen(more[i])) <= width)
            buf_addf(&text, " %s %s", glyph(GLYPH_DOT), more[i]);
    remark_row(&l->rows, text.data, STYLE_DIM, width);
}

static void draw_row(struct list *l, size_t index, size_t labels, size_t width)
{
    const struct list_row *row = &l->all.items[l->shown.items[index]];
    bool selected = index == l->selected, heading = !row->value && !*row->detail;
    enum style label = selected ? STYLE_SELECTED : heading ? STYLE_HEADING : STYLE_OVERLAY;
    enum style detail = selected ? STYLE_SELECTED : STYLE_DIM;
    size_t whole = width, key = utf8_width(row->key, strlen(row->key));
    width -= key > 0 && key + labels + 4 < width ? key + 2 : 0;
    rows_begin(&l->rows);
    rows_addstr(&l->rows, selected ? glyph(GLYPH_POINTER) : " ", label, 0);
    size_t used = 1 + rows_add_cut(&l->rows, row->label, *row->detail ? labels : width - 1, label);
    if (*row->detail && used < width) {
        size_t to = labels + 3 < width ? labels + 3 : width;
        rows_pad(&l->rows, to > used ? to - used : 0, detail);
        used = to > used ? to : used;
        used += rows_add_cut(&l->rows, row->detail, width - used, detail);
    }
    if (width < whole) {
        rows_pad(&l->rows, whole - used - key - 1, detail);
        rows_addstr(&l->rows, row->key, detail, 0);
        used = whole - 1;
    }
    if (selected && used < whole)
        rows_pad(&l->rows, whole - used, STYLE_SELECTED);
}

/* A row that is read is not cut: the text goes on below itself, and begins below a wide label. The
 * labels of all rows count, so that a filter moves nothing sideways. */
static void lay_out_reading(struct list *l, size_t width)
{
    size_t labels = 0, most = width < 16 ? 0 : width / 3;
    AUTO(styled_release) struct styled first = STYLED_INIT;
    AUTO(styled_release) struct styled rest = STYLED_INIT;
    AUTO(styled_release) struct styled text = STYLED_INIT;
    rows_clear(&l->reading);
    for (size_t i = 0; i < l->all.len; i++) {
        const struct list_row *row = &l->all.items[i];
        size_t columns = *row->detail ? utf8_width(row->label, strlen(row->label)) : 0;
        labels = columns > labels && columns <= most ? columns : labels;
    }
    auto_free char *blanks = mem_printf("%*s", (int)labels + 3, "");
    styled_add(&rest, blanks, labels + 3, STYLE_DIM, 0);
    for (size_t i = 0; i < l->shown.len; i++) {
        const struct list_row *row = &l->all.items[l->shown.items[i]];
        enum style style = !row->value && !*row->detail ? STYLE_HEADING : STYLE_OVERLAY;
        size_t columns = utf8_width(row->label, strlen(row->label));
        bool beside = *row->detail && columns <= labels;
        styled_clear(&first);
        styled_clear(&text);
        styled_addstr(&first, " ", STYLE_OVERLAY, 0);
        styled_addstr(beside ? &first : &text, row->label, style, 0);
        if (!beside) {
            wrap_text(&l->reading, &text, &(struct wrap_look){width, WRAP_WORDS, &first, &first});
            styled_clear(&first);
            styled_clear(&text);
        }
        size_t used = beside ? 1 + columns : 0;
        styled_add(&first, blanks, used < labels + 3 ? labels + 3 - used : 0, STYLE_DIM, 0);
        styled_addstr(&text, row->detail, STYLE_DIM, 0);
        if (*row->detail)
            wrap_text(&l->reading, &text, &(struct wrap_look){width, WRAP_WORDS, &first, &rest});
    }
}

const struct rows *list_rows(struct list *l, int width, int height)
{
    size_t columns = width > 2 ? (size_t)width : 2;
    bool title = l->mode != LIST_POPUP, reads = l->mode == LIST_READ, details = false;
    rows_clear(&l->rows);
    size_t room = height > title ? (size_t)(height - title) : 0;
    if (reads)
        lay_out_reading(l, columns);
    bool foot = reads && room >= FOOT_FROM && l->reading.list.len > room;
    room -= foot;
    l->page = room > 0 ? room : 1;
    size_t count = reads ? l->reading.list.len : l->shown.len, at = reads ? l->top : l->selected;
    l->top = moves_keep_in_view(l->top, at, at, count, l->page);
    if (title)
        draw_title(l, columns);
    if (l->shown.len == 0 && title && room > 0) {
        rows_begin(&l->rows);
        rows_addstr(&l->rows, " ", STYLE_DIM, 0);
        rows_add_cut(&l->rows, l->all.len > 0 ? _("no matches") : l->empty, columns - 1, STYLE_DIM);
    }
    /* columns of the labels in view, of which details stand at the right */
    size_t labels = 0, most = columns > 62 ? (columns - 2) / 2 : (columns - 2) * 3 / 5;
    for (size_t i = l->top; !reads && i < count && i < l->top + l->page; i++) {
        const struct list_row *row = &l->all.items[l->shown.items[i]];
        size_t label = *row->detail ? utf8_width(row->label, strlen(row->label)) : 0;
        labels = label > labels ? label : labels;
        details = details || *row->detail;
    }
    labels = !details ? columns - 2 : labels < most ? labels : most;
    for (size_t i = l->top; i < count && i < l->top + room; i++)
        if (reads)
            rows_copy(&l->rows, &l->reading, i);
        else
            draw_row(l, i, labels, columns);
    if (foot)
        draw_foot(l, columns);
    return &l->rows;
}

bool list_caret(const struct list *l, int *row, int *col)
{
    *row = 0;
    *col = (int)l->caret_col;
    return l->typing && l->mode != LIST_POPUP;
}

/* --- the list as a view ----------------------------------------------------------------------- */

enum { POPUP_ROWS = 8 };

struct list_view {
    struct view view;
    enum list_subject subject;
    struct list *list;
    struct list_view_host to;
};

static bool is_popup(const struct view *view)
{
    return ((const struct list_view *)view)->list->mode == LIST_POPUP;
}

static void choose(struct view *view)
{
    const struct list_view_host to = ((struct list_view *)view)->to;
    auto_free char *value = mem_strdup(list_value(((struct list_view *)view)->list));
    struct app *app = view->host->app;
    view_close(view);
    if (to.chosen && value)
        to.chosen(app, value);
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    const struct list_view_host to = ((struct list_view *)view)->to;
    struct app *app = view->host->app;
    bool popup = is_popup(view);
    if (popup && (action == ACTION_COMPLETE || action == ACTION_SEND)) {
        choose(view);
        return !(to.sends && action == ACTION_SEND);
    }
    switch (list_key(((struct list_view *)view)->list, action, key)) {
    case LIST_CHOSEN:
        choose(view);
        return true;
    case LIST_CLOSED:
        view_close(view);
        if (to.left)
            to.left(app);
        return true;
    case LIST_STAYS:
        return true;
    case LIST_NOT_MINE:
        break;
    }
    return !popup;
}

static void click(struct view *view, int row, int col)
{
    (void)col;
    if (list_click(((struct list_view *)view)->list, row))
        choose(view);
}

static int height(struct view *view, int width, int room)
{
    int wanted = (int)list_count(((struct list_view *)view)->list);
    (void)width;
    if (!is_popup(view))
        return room;
    wanted = wanted < POPUP_ROWS ? wanted : POPUP_ROWS;
    return wanted < room - 1 ? wanted : room - 1;
}

static const struct rows *rows(struct view *view)
{
    struct view_caret *caret = &view->caret;
    const struct rows *rows =
        list_rows(((struct list_view *)view)->list, view->width, view->height);
    caret->shown = list_caret(((struct list_view *)view)->list, &caret->row, &caret->col);
    return rows;
}

static void free_view(struct view *view)
{
    list_free(((struct list_view *)view)->list);
    free(view);
}

struct view *list_view_new(const struct view_host *host, enum list_subject subject,
                           struct list *list, const struct list_view_host *to)
{
    static const struct view_ops ops = {
        .layer = VIEW_LIST,
        .free = free_view,
        .key = take_key,
        .click = click,
        .passes = is_popup,
        .height = height,
        .rows = rows,
    };
    struct list_view *v = mem_alloc(sizeof *v);
    list->keymap = host->keymap;
    *v = (struct list_view){
        .view = {.ops = &ops, .host = host}, .subject = subject, .list = list, .to = *to};
    return &v->view;
}

struct list *list_view_find(const struct views *s, enum list_subject subject)
{
    struct view *view = s->at[VIEW_LIST];
    return view && ((struct list_view *)view)->subject == subject ? ((struct list_view *)view)->list
                                                                  : NULL;
}
