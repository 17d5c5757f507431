#include "ui/view/browser.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"

enum {
    FOOT_ROWS = 4, /* of the view, from which on it has a foot */
    LEFT_COLUMNS = 16,
    AGAIN_MS = 300
};

/* --- lists ------------------------------------------------------------------------------------ */

int64_t browser_hash(int64_t seed, const char *text)
{
    return (int64_t)mem_hash(MEM_HASH ^ (uint64_t)seed, text, strlen(text));
}

void browser_clean(struct buf *out, const char *text)
{
    utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static int64_t entry_id(void *list, size_t index)
{
    const struct browser_list *l = list;
    return l->columns->id(l->browser, index);
}

static struct outline_text entry_text(void *list, size_t index)
{
    const struct browser_list *l = list;
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (!l->columns->text || !l->columns->text(l->browser, index, &text))
        return (struct outline_text){0};
    free(l->browser->unfolded);
    l->browser->unfolded = buf_take(&text);
    return (struct outline_text){l->browser->unfolded, false};
}

static void entry_row(void *list, size_t index, const struct outline_look *look, struct rows *out)
{
    const struct browser_list *l = list;
    struct browser_entry e = {BUF_INIT, BUF_INIT, STYLE_OVERLAY};
    l->columns->entry(l->browser, index, &e);
    size_t end = e.right.len > 0 ? utf8_width(e.right.data, e.right.len) + 1 : 0;
    if (end + LEFT_COLUMNS > look->columns)
        end = 0;
    message_row_field(out, e.left.data, look->columns - end,
                      look->chosen ? STYLE_SELECTED : e.style);
    if (end > 0)
        message_row_figure(out, e.right.data, end, look->chosen ? STYLE_SELECTED : STYLE_DIM);
    buf_release(&e.left);
    buf_release(&e.right);
}

void browser_list_init(struct browser_list *l, struct browser *b,
                       const struct browser_columns *columns)
{
    *l = (struct browser_list){.browser = b, .columns = columns};
    l->outline = outline_new(&(struct outline_host){entry_id, entry_text, entry_row, l});
}

void browser_fill(struct browser_list *l, size_t count)
{
    l->count = count;
    outline_fill(l->outline, count);
}

size_t browser_chosen(const struct browser *b)
{
    return outline_chosen(b->list->outline);
}

void browser_init(struct browser *b, const struct view_host *host, const struct view_ops *ops,
                  const struct browser_table *table, const struct browser_columns *columns)
{
    *b = (struct browser){.view = {.ops = ops, .host = host},
                          .table = table,
                          .query = editor_new(),
                          .line = editor_new(),
                          .list = &b->main};
    browser_list_init(&b->main, b, columns);
    rows_init(&b->rows);
}

void browser_release(struct browser *b)
{
    outline_free(b->main.outline);
    editor_free(b->query);
    editor_free(b->line);
    free(b->remark.text);
    rows_release(&b->rows);
    free(b->unfolded);
}

/* --- answers ---------------------------------------------------------------------------------- */

void browser_refresh(struct browser *b)
{
    b->stale = false;
    b->asked_ms = clock_mono_ms();
    b->table->refresh(b);
}

void browser_ask(struct browser *b, const struct operation *o, const void *params,
                 view_answer *take)
{
    view_withdraw(&b->view, b->asked);
    b->asked = view_ask(&b->view, o, params, take);
}

void browser_take(struct operation_answer *a, void *to)
{
    const struct shape *shape = a->request->operation->result;
    shape_release(shape, to);
    memcpy(to, a->result, shape->size);
    memset(a->result, 0, shape->size);
}

bool browser_changed(struct view *v, struct operation_answer *a, const char *words)
{
    struct browser *b = browser_of(v);
    const char *said = words ? words : b->table->done(b, a);
    remark_set(&b->remark, words ? STYLE_ERROR : STYLE_NOTE, said);
    if (!words)
        browser_refresh(b);
    return true;
}

bool browser_came(struct browser *b, const char *words)
{
    b->asked = 0;
    b->known = b->known || !words;
    if (words)
        remark_set(&b->remark, STYLE_ERROR, words);
    return !words;
}

int64_t browser_due(const struct view *v)
{
    const struct browser *b = (const struct browser *)v;
    return b->stale && b->place != BROWSER_QUESTION ? b->asked_ms + AGAIN_MS : 0;
}

void browser_tick(struct view *v)
{
    if (browser_due(v) != 0)
        browser_refresh(browser_of(v));
}

/* --- where something was said ----------------------------------------------------------------- */

void browser_write_source(const struct browser *b, const struct browser_source *s,
                          const char *other, struct buf *out)
{
    const struct view_host *host = b->view.host;
    const char *title = s->session_id ? host->title(host->app, s->session_id) : NULL;
    if (!title)
        title = s->title;
    format_date(out, s->at_ms);
    if (s->deleted)
        buf_addf(out, ", %s", _("its conversation was deleted"));
    else if (title && !*title)
        buf_addf(out, ", %s", _("from this conversation"));
    else if (s->session_id)
        buf_addf(out, ", %s%s%s", _("from a conversation"), title ? ": " : "", title ? title : "");
    else
        buf_addf(out, ", %s", other);
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool has_query(const struct browser *b)
{
    return b->table->has_query ? b->table->has_query(b) : b->list == &b->main;
}

void browser_to_query(struct browser *b)
{
    while (!has_query(b))
        b->table->back(b);
    b->place = BROWSER_QUERY;
}

bool browser_edit(struct editor *e, size_t most, enum action action, const struct key *key,
                  bool *mine)
{
    auto_free char *before = mem_strdup(editor_text(e));
    *mine = edit_line_key(e, most, action, key);
    return strcmp(before, editor_text(e)) != 0;
}

/* Shows the message from which the chosen entry is, or says why it cannot. */
static void show_source(struct browser *b)
{
    const struct view_host *host = b->view.host;
    size_t chosen = browser_chosen(b);
    if (chosen == SIZE_MAX) {
        remark_set(&b->remark, STYLE_NOTE, _("No entry is selected."));
        return;
    }
    const struct browser_source s = b->list->columns->source(b, chosen);
    if (!s.session_id)
        remark_set(&b->remark, STYLE_NOTE, _(b->table->sourceless));
    else if (s.deleted)
        remark_set(&b->remark, STYLE_NOTE, _("The conversation of this was deleted."));
    else
        host->show_message(host->app, &b->view, s.session_id, s.seq);
}

static bool move(struct browser *b, enum action action, const struct key *key)
{
    bool mine = outline_key(b->list->outline, action, key);
    if (mine && b->table->more && browser_chosen(b) + 1 == b->list->count)
        b->table->more(b);
    return mine;
}

/* Esc and Backspace go up, at the top to the query; the arrow does only where there are levels. */
static bool list_key(struct browser *b, enum action action, const struct key *key)
{
    const struct browser_table *table = b->table;
    enum action letter = keymap_find_in(b->view.host->keymap, key, KEYS_PANE);
    bool first = b->list->count == 0 || browser_chosen(b) == 0;
    bool up = action == ACTION_CANCEL || action == ACTION_BACKSPACE ||
              (action == ACTION_LEFT && table->back);
    if (table->act && (table->act(b, letter) || table->act(b, action)))
        return true;
    if (letter == ACTION_MEMORY_FORGET) {
        AUTO(buf_release) struct buf question = BUF_INIT;
        const char *why_not = table->question(b, &question);
        if (why_not)
            remark_set(&b->remark, STYLE_NOTE, why_not);
        else
            b->place = BROWSER_QUESTION;
    } else if (letter == ACTION_MEMORY_OPEN && b->list->columns->source) {
        show_source(b);
    } else if (letter == ACTION_MEMORY_RESTORE && table->restore) {
        (void)view_ask(&b->view, table->restore, NULL, browser_changed);
    } else if (action == ACTION_SEND || action == ACTION_TOGGLE || action == ACTION_RIGHT) {
        if (!table->open || !table->open(b))
            (void)outline_toggle(b->list->outline);
    } else if (letter == ACTION_MEMORY_QUERY) {
        browser_to_query(b);
    } else if (up && !has_query(b)) {
        table->back(b);
    } else if (up || (action == ACTION_UP && first && has_query(b))) {
        b->place = BROWSER_QUERY;
    } else {
        return move(b, action, key);
    }
    return true;
}

static bool query_key(struct browser *b, enum action action, const struct key *key)
{
    bool mine = true;
    if (action == ACTION_SEND || action == ACTION_DOWN || action == ACTION_PAGE_DOWN)
        b->place = BROWSER_LIST;
    else if (action == ACTION_SCROLL_UP || action == ACTION_SCROLL_DOWN)
        mine = move(b, action, key);
    else if (action == ACTION_CANCEL || (action == ACTION_CLEAR && editor_len(b->query) == 0))
        mine = false;
    else if (browser_edit(b->query, BROWSER_QUERY_BYTES, action, key, &mine)) {
        outline_choose(b->main.outline, 0);
        b->table->search(b);
    }
    return mine;
}

bool browser_key(struct view *v, enum action action, const struct key *key)
{
    struct browser *b = browser_of(v);
    bool mine = true;
    if (b->place == BROWSER_QUESTION) {
        enum hint_answer answer = hint_answer(action, key);
        if (answer != HINT_NO_ANSWER)
            b->place = BROWSER_LIST;
        if (answer == HINT_YES)
            b->table->confirm(b);
        return true;
    }
    remark_set(&b->remark, STYLE_NOTE, NULL);
    if (b->place != BROWSER_LINE)
        return (b->place == BROWSER_QUERY ? query_key : list_key)(b, action, key);
    if (action == ACTION_SEND || action == ACTION_CANCEL ||
        (action == ACTION_CLEAR && editor_len(b->line) == 0))
        b->place = BROWSER_LIST;
    else
        (void)browser_edit(b->line, b->table->line_bytes, action, key, &mine);
    if (action == ACTION_SEND)
        b->table->save(b);
    return mine;
}

void browser_click(struct view *v, int row, int col)
{
    struct browser *b = browser_of(v);
    size_t before = browser_chosen(b);
    bool writing = b->place == BROWSER_QUERY;
    (void)col;
    if (b->place == BROWSER_QUESTION || b->place == BROWSER_LINE)
        return;
    if (row > 0 && row < b->top_rows) {
        b->place = BROWSER_QUERY;
        return;
    }
    b->place = BROWSER_LIST;
    if (outline_click(b->list->outline, row - b->top_rows) && browser_chosen(b) == before &&
        !writing && !outline_unfolds(b->list->outline) && b->table->open)
        (void)b->table->open(b);
}

/* --- rows ------------------------------------------------------------------------------------- */

int browser_line_row(struct rows *out, const struct browser_line *line, size_t width)
{
    int caret;
    size_t right = line->right ? utf8_width(line->right, strlen(line->right)) : 0, used = 0;
    rows_begin(out);
    if (line->title) {
        used += rows_add_cut(out, " ", width, STYLE_OVERLAY_TITLE);
        used += rows_add_cut(out, line->title, width / 2, STYLE_OVERLAY_TITLE);
    }
    if (line->prompt)
        used += rows_add_cut(out, line->prompt, width - used, STYLE_PROMPT);
    if (right > 0)
        right += 2;
    if (right > width - used)
        right = 0;
    size_t columns = edit_line(out, line->editor, width - used - right, &caret);
    caret += (int)used;
    rows_pad(out, width - used - columns - right, STYLE_OVERLAY);
    if (right > 0) {
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        message_row_field(out, line->right, right - 1, STYLE_DIM);
    }
    return caret < (int)width ? caret : (int)width - 1;
}

static struct hint_table hints(const struct browser *b)
{
    static const struct hint in_line[] = {{ACTION_SEND, NULL, N_("save")},
                                          {ACTION_CANCEL, NULL, N_("leave it as it was")}};
    static struct hint in_query[] = {{ACTION_DOWN, NULL, NULL},
                                     {ACTION_PANE_NEXT, NULL, N_("next tab")},
                                     {ACTION_CANCEL, NULL, N_("close")},
                                     {ACTION_HELP, NULL, N_("help")},
                                     {ACTION_SEND, NULL, N_("|to the list")},
                                     {ACTION_PAGE_DOWN, NULL, N_("|to the list")}};
    in_query[0].text = b->table->to_list;
    return b->place == BROWSER_LINE    ? HINTS(in_line, COMMON_WRITE)
           : b->place == BROWSER_QUERY ? HINTS(in_query, COMMON_WRITE | COMMON_WHEEL | COMMON_TABS)
                                       : b->table->hints(b);
}

const struct rows *browser_rows(struct view *v)
{
    struct browser *b = browser_of(v);
    size_t width = (size_t)b->view.width;
    bool asks = b->place == BROWSER_QUESTION, line = b->place == BROWSER_LINE;
    AUTO(buf_release) struct buf title = BUF_INIT;
    AUTO(buf_release) struct buf foot = BUF_INIT;
    rows_clear(&b->rows);
    b->table->title(b, &title);
    rows_begin(&b->rows);
    message_row_field(&b->rows, title.data, width, STYLE_OVERLAY_TITLE);
    if (has_query(b) && b->view.height > 1) {
        auto_free char *prompt = mem_printf(" %s ", line ? _(b->table->prompt) : "/");
        const struct browser_line shown = {.prompt = prompt, .editor = line ? b->line : b->query};
        int caret = browser_line_row(&b->rows, &shown, width);
        if (line || b->place == BROWSER_QUERY)
            b->view.caret = (struct view_caret){true, 1, caret};
    }
    b->top_rows = (int)b->rows.list.len;

    if (asks)
        (void)b->table->question(b, &foot);
    else if (b->remark.text)
        buf_addstr(&foot, b->remark.text);
    int feet = remark_height(foot.len > 0 ? foot.data : NULL, width, b->view.height, FOOT_ROWS);
    int body = b->view.height - feet - (has_query(b) ? 2 : 1);
    if (body > 0 && b->list->count == 0) {
        remark_rows(&b->rows, b->known ? b->table->empty(b) : _("loading"), STYLE_DIM, width, body);
    } else if (body > 0) {
        outline_resize(b->list->outline, b->view.width, body);
        outline_rows(b->list->outline, &b->rows);
    }
    if (feet > 0 && foot.len > 0)
        remark_rows(&b->rows, foot.data, asks ? STYLE_WARNING : b->remark.style, width, feet);
    else if (feet > 0)
        hints_rows(&b->rows, v->host->keymap, view_has_keyboard(v) ? hints(b) : hints_elsewhere,
                   width, feet);
    return &b->rows;
}
