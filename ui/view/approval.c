#include "ui/view/approval.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/editor.h"
#include "ui/text/wrap.h"
#include "ui/view/hints.h"

enum {
    MARGIN = 1,
    SIDES = 2, /* columns of the frame */
    REASON_BYTES = 1000,
    MOST_BLANKS = 64, /* alike and side by side */
    MOST_EMPTY = 3,   /* lines one after the other */
    RULE_LEAD = 3
};

/* NULL stays NULL. */
static char *reveal(const char *text, enum utf8_clean_mode mode)
{
    AUTO(buf_release) struct buf revealed = BUF_INIT;
    struct buf out = BUF_INIT;
    if (!text)
        return NULL;
    utf8_reveal(&revealed, text, strlen(text), mode);
    charset_reveal(&out, revealed.data, revealed.len);
    return buf_take(&out);
}

/* --- the text --------------------------------------------------------------------------------- */

/* Writes the number of blanks in place of blanks that would push the text behind them out of view.
 * Marks a row that continues a line, so that it cannot look like a line. */
static void add_line(const char *text, size_t len, enum style style, int width, struct rows *out)
{
    AUTO(styled_release) struct styled line = {0};
    AUTO(styled_release) struct styled first = {0};
    AUTO(styled_release) struct styled rest = {0};
    styled_init(&line);
    styled_init(&first);
    styled_init(&rest);
    styled_addstr(&first, " ", STYLE_OVERLAY, 0);
    styled_addstr(&rest, glyph(GLYPH_POINTER), STYLE_DIM, 0);
    for (size_t from = 0, to; from < len; from = to) {
        char blank = text[from];
        for (to = from + 1; to < len && text[to] == blank;)
            to++;
        bool folds = (blank == ' ' || blank == '\t') && to - from > MOST_BLANKS;
        auto_free char *mark =
            folds ? mem_printf("<U+%04X x %zu>", (unsigned)blank, to - from) : NULL;
        if (mark)
            styled_addstr(&line, mark, STYLE_DIM, 0);
        else
            styled_add(&line, text + from, to - from, style, 0);
    }
    wrap_text(out, &line, &(struct wrap_look){(size_t)width, WRAP_HARD, &first, &rest});
}

/* Replaces more than MOST_EMPTY empty lines by "─── 12 empty lines ───". This row begins one column
 * before all rows of a text, so that no text can look like it. Returns the bytes of the empty
 * lines; 0: they are not more. */
static size_t fold_empty(const char *text, int width, struct rows *out)
{
    const char *end = text;
    size_t lines = 0;
    for (size_t blanks; *end; lines++) {
        blanks = strspn(end, " \t");
        if (end[blanks] && end[blanks] != '\n')
            break;
        end += blanks + (end[blanks] == '\n');
    }
    if (lines <= MOST_EMPTY)
        return 0;
    auto_free char *words =
        mem_printf(ngettext(" %zu empty line ", " %zu empty lines ", (unsigned long)lines), lines);
    rows_begin(out);
    for (int i = 0; i < RULE_LEAD; i++)
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
    rows_add_cut(out, words, (size_t)width - RULE_LEAD, STYLE_DIM);
    while (rows_width(out, out->list.len - 1) < (size_t)width)
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
    return (size_t)(end - text);
}

static void lay_out_text(struct approval *a, int width)
{
    const struct question *q = &a->questions.items[0];
    const char *text = q->text;
    bool diff =
        strncmp(text, "@@ ", 3) == 0 || (strncmp(text, "--- ", 4) == 0 && strstr(text, "\n@@ "));
    bool in_hunk = false;
    rows_clear(&a->text);
    if (q->guarded) { /* begins one column before the text, as the row of fold_empty() */
        auto_free char *place = mem_printf(_("! keys or tiro's own files: %s"), q->guarded);
        AUTO(styled_release) struct styled line = {0};
        styled_init(&line);
        styled_addstr(&line, place, STYLE_WARNING, 0);
        wrap_text(&a->text, &line, &(struct wrap_look){.width = (size_t)width, .mode = WRAP_HARD});
    }
    while (*text) {
        size_t empty = fold_empty(text, width, &a->text);
        text += empty;
        if (empty > 0)
            continue;
        size_t len = strcspn(text, "\n");
        in_hunk = in_hunk || strncmp(text, "@@ ", 3) == 0;
        /* before the first hunk a line that begins with + or - names a file */
        bool dim = diff && (!in_hunk || *text == '@' || *text == '\\');
        enum style style = dim                    ? STYLE_DIM
                           : diff && *text == '+' ? STYLE_DIFF_ADDED
                           : diff && *text == '-' ? STYLE_DIFF_REMOVED
                                                  : STYLE_OVERLAY;
        add_line(text, len, style, width, &a->text);
        text += len + (text[len] == '\n');
    }
    a->width = width;
}

/* --- the keys --------------------------------------------------------------------------------- */

/* The keys, the safest first. The texts of the second and the last key continue those before them.
 * `read`: the end of the text was on the screen. */
static void key_rows(const struct approval *a, const struct keymap *keymap, bool read, int width,
                     struct rows *out)
{
    const char *grant = a->questions.items[0].grant;
    bool project = approval_is_of_project(&a->questions.items[0]);
    auto_free char *session = grant ? mem_printf(_("allow %s for this session"), grant) : NULL;
    auto_free char *always = grant ? mem_printf(_("allow %s always in this project"), grant) : NULL;
    const struct sheet *sheet = a->questions.items[0].sheet;
    bool fields = sheet && sheet->form.fields.len > 0;
    const char *agree = !sheet || (fields && sheet_missing(sheet) < sheet->form.fields.len) ? NULL
                        : sheet->form.url ? _("agree")
                                          : _("send it");
    AUTO(buf_release) struct buf above = BUF_INIT;
    keymap_describe_first(keymap, ACTION_ALLOW_SESSION, &above);
    const struct {
        enum action action;
        const char *what; /* NULL: not offered */
    } keys[4][5] = {
        {{ACTION_DECLINE, _("decline")},
         {ACTION_DECLINE_WHY, _("with a reason")},
         {ACTION_PAGE_DOWN, _("next page")},
         {ACTION_ALLOW_ONCE, _("allow, after the last page")},
         {ACTION_ALLOW_SESSION, NULL}},
        {{ACTION_DECLINE, _("decline")},
         {ACTION_DECLINE_WHY, _("with a reason")},
         {ACTION_ALLOW_ONCE, _("allow once")},
         {ACTION_ALLOW_SESSION, session},
         {ACTION_ALLOW_PROJECT, grant && above.len > 0 ? _("always in this project") : always}},
        {{ACTION_DECLINE, _("not now")},
         {ACTION_PAGE_DOWN, read ? NULL : _("next page")},
         {ACTION_ALLOW_ONCE, read ? _("run them in this session") : NULL},
         {ACTION_ALLOW_PROJECT, read ? _("trust this directory") : _("trust, after the last page")},
         {ACTION_ALLOW_SESSION, NULL}},
        {{ACTION_DECLINE, _("decline")},
         {ACTION_SEND, fields ? _("fill in the form") : NULL},
         {ACTION_ALLOW_ONCE, read ? agree : NULL},
         {ACTION_PAGE_DOWN, read ? NULL : _("next page")},
         {ACTION_CANCEL, _("cancel")}}};
    size_t row = sheet ? 3 : project ? 2 : read;
    rows_clear(out);
    for (size_t i = 0; i < 5; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        keymap_describe_first(keymap, keys[row][i].action, &text);
        if (!keys[row][i].what || text.len == 0)
            continue;
        buf_addf(&text, " %s", keys[row][i].what);
        size_t columns = utf8_width(text.data, text.len);
        size_t used = out->list.len > 0 ? rows_width(out, out->list.len - 1) : 0;
        bool beside = used > 0 && used + 3 + columns <= (size_t)width;
        if (!beside)
            rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        if (beside) {
            rows_addstr(out, glyph(GLYPH_DOT), STYLE_DIM, 0);
            rows_addstr(out, " ", STYLE_OVERLAY, 0);
        }
        rows_add_cut(out, text.data, width > MARGIN ? (size_t)width - MARGIN : 1, STYLE_PROMPT);
    }
}

/* The same whether the text was read or not, so that it does not move. */
static size_t count_key_rows(const struct approval *a, const struct keymap *keymap, int width)
{
    struct rows keys;
    rows_init(&keys);
    key_rows(a, keymap, true, width, &keys);
    size_t count = keys.list.len;
    key_rows(a, keymap, false, width, &keys);
    count = keys.list.len > count ? keys.list.len : count;
    rows_release(&keys);
    return a->explains && a->questions.items[0].sheet && count < 2 ? 2 : count;
}

/* In place of the keys, and of as many rows, while they do not count. */
static void pause_rows(const struct approval *a, size_t count, int width, struct rows *out)
{
    const char *text = a->drafted ? _("Tab answers the question; other keys go on with your text")
                                  : _("Tab answers the question, once you have stopped typing");
    for (size_t i = 0; i < count; i++) {
        rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        if (i == 0)
            rows_add_cut(out, text, width > MARGIN ? (size_t)width - MARGIN : 1, STYLE_DIM);
    }
}

/* In place of the keys: the line of the reason, with the caret, and in the next row its keys. */
static void reason_rows(struct approval *a, const struct keymap *keymap, size_t count, int width,
                        struct rows *out)
{
    AUTO(buf_release) struct buf send = BUF_INIT, back = BUF_INIT;
    int caret;
    keymap_describe_first(keymap, ACTION_SEND, &send);
    keymap_describe_first(keymap, ACTION_CANCEL, &back);
    const struct sheet *sheet = a->questions.items[0].sheet;
    auto_free char *hint =
        mem_printf(sheet ? _("%s goes on, %s goes back") : _("%s declines, %s goes back"),
                   send.data, back.data);
    auto_free char *fault = sheet && sheet->fault ? reveal(sheet->fault, UTF8_ONE_LINE) : NULL;
    size_t room = width > MARGIN ? (size_t)width - MARGIN : 1;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY, 0);
    size_t used = rows_add_cut(out, sheet ? "> " : _("why not: "), room, STYLE_PROMPT);
    (void)edit_line(out, a->reason, room - used, &caret);
    a->view.caret.col = 2 * MARGIN + (int)used + caret; /* behind the frame */
    for (size_t i = 1; i < count; i++) {
        rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        if (i == 1)
            rows_add_cut(out, fault ? fault : hint, room, fault ? STYLE_WARNING : STYLE_DIM);
    }
}

/* --- all rows --------------------------------------------------------------------------------- */

bool approval_is_of_project(const struct question *q)
{
    return strcmp(q->class_name, QUESTION_OF_PROJECT) == 0;
}

char *approval_title(const struct question *q)
{
    static const struct {
        const char *class_name, *wants;
    } rows[] = {{"read", N_("The model wants to read")},
                {"write", N_("The model wants to write")},
                {"execute", N_("The model wants to run a command")},
                {"network", N_("The model wants to use the network")},
                {NULL, N_("The model wants to use a tool")}};
    size_t i = 0;
    if (q->sheet) {
        auto_free char *title = sheet_title(q->sheet);
        return utf8_clean_line(title);
    }
    if (approval_is_of_project(q))
        return mem_strdup(_("Do you trust the programs of this project?"));
    while (rows[i].class_name && strcmp(rows[i].class_name, q->class_name) != 0)
        i++;
    return mem_printf("%s (%s)", _(rows[i].wants), q->tool);
}

/* The upper edge of the frame, with the title and the place in the text. */
static void add_top(struct approval *a, size_t width)
{
    AUTO(buf_release) struct buf place = BUF_INIT;
    auto_free char *asks = approval_title(&a->questions.items[0]);
    if (a->text.list.len > a->page)
        buf_addf(&place, " %zu-%zu/%zu ", a->top + 1, a->top + a->page, a->text.list.len);
    size_t right = place.len + SIDES + 2 < width ? place.len : 0;
    rows_begin(&a->rows);
    rows_addstr(&a->rows, glyph(GLYPH_CORNER_TOP_LEFT), STYLE_RULE, 0);
    rows_addstr(&a->rows, " ", STYLE_OVERLAY_TITLE, 0);
    size_t room = width - right, used = SIDES;
    if (room > SIDES + 2)
        used += rows_add_cut(&a->rows, asks, room - SIDES - 2, STYLE_OVERLAY_TITLE);
    rows_addstr(&a->rows, " ", STYLE_OVERLAY_TITLE, 0);
    for (used++; used + 1 < room; used++)
        rows_addstr(&a->rows, glyph(GLYPH_LINE), STYLE_RULE, 0);
    rows_add(&a->rows, place.data, right, STYLE_DIM, 0);
    rows_addstr(&a->rows, glyph(GLYPH_CORNER_TOP_RIGHT), STYLE_RULE, 0);
}

static void add_bottom(struct rows *out, size_t width)
{
    rows_begin(out);
    rows_addstr(out, glyph(GLYPH_CORNER_BOTTOM_LEFT), STYLE_RULE, 0);
    for (size_t used = SIDES; used < width; used++)
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
    rows_addstr(out, glyph(GLYPH_CORNER_BOTTOM_RIGHT), STYLE_RULE, 0);
}

/* Row `index`, or an empty one, between the sides of the frame. */
static void add_framed(struct rows *out, const struct rows *from, size_t index, size_t width)
{
    rows_begin(out);
    rows_addstr(out, glyph(GLYPH_BAR), STYLE_RULE, 0);
    if (index < from->list.len)
        rows_append(out, from, index);
    size_t used = rows_width(out, out->list.len - 1);
    rows_pad(out, used + 1 < width ? width - 1 - used : 0, STYLE_OVERLAY);
    rows_addstr(out, glyph(GLYPH_BAR), STYLE_RULE, 0);
}

static int height(struct view *view, int width, int room)
{
    struct approval *a = (struct approval *)view;
    int inner = width > SIDES ? width - SIDES : 1;
    if (a->width != inner)
        lay_out_text(a, inner);
    size_t wanted = 2 + a->text.list.len + count_key_rows(a, view->host->keymap, inner);
    return wanted < (size_t)room ? (int)wanted : room;
}

/* If there is not room for all, the order of importance is: the keys, one row of the text, the
 * upper edge, another row of the text, the lower edge. */
static const struct rows *rows(struct view *view)
{
    struct approval *a = (struct approval *)view;
    const struct keymap *keymap = view->host->keymap;
    size_t width = (size_t)view->width, all = (size_t)view->height;
    int inner = view->width > SIDES ? view->width - SIDES : 1;
    int64_t now_ms = clock_mono_ms();
    AUTO(rows_release) struct rows keys;
    a->drafted = view->host->drafting(view->host->app);
    if (a->width != inner)
        lay_out_text(a, inner);
    if (a->shown_ms == 0)
        a->shown_ms = now_ms > 0 ? now_ms : 1;
    int64_t due = approval_due(view);
    a->armed = a->armed || a->entered || (due > 0 && now_ms >= due);

    size_t below = count_key_rows(a, keymap, inner), top = all >= below + 2;
    size_t bottom = all >= below + 4 || all >= below + 2 + a->text.list.len;
    a->page = all > below + top + bottom ? all - below - top - bottom : 0;
    size_t last = a->text.list.len > a->page ? a->text.list.len - a->page : 0;
    if (a->top > last)
        a->top = last;
    a->read = a->read || (a->page > 0 && a->top + a->page >= a->text.list.len);
    rows_init(&keys);
    view->caret.shown = a->explains;
    if (a->explains)
        reason_rows(a, keymap, below, inner, &keys);
    else if (a->armed && (a->entered || !a->drafted))
        key_rows(a, keymap, a->read, inner, &keys);
    else
        pause_rows(a, below, inner, &keys);

    rows_clear(&a->rows);
    if (top)
        add_top(a, width);
    for (size_t i = 0; i < a->page; i++)
        add_framed(&a->rows, &a->text, a->top + i, width);
    view->caret.row = (int)a->rows.list.len;
    for (size_t i = 0; i < below && a->rows.list.len < all; i++)
        add_framed(&a->rows, &keys, i, width);
    if (bottom && a->rows.list.len < all)
        add_bottom(&a->rows, width);
    while (a->rows.list.len < all)
        rows_begin(&a->rows);
    return &a->rows;
}

/* --- questions -------------------------------------------------------------------------------- */

static void question_release(struct question *q)
{
    free(q->id);
    free(q->tool);
    free(q->class_name);
    free(q->text);
    free(q->guarded);
    free(q->grant);
    sheet_free(q->sheet);
}

void approval_release(struct view *view)
{
    struct approval *a = (struct approval *)view;
    approval_forget(view);
    vec_release(&a->questions);
    editor_free(a->reason);
    rows_release(&a->text);
    rows_release(&a->rows);
}

/* A question whose text is that of its sheet; without one, nothing is asked. */
static void ask_form(struct approval *a, const struct notice *n)
{
    auto_free char *id = mem_printf("form:%" PRId64, n->number);
    struct sheet *sheet = n->flag ? NULL : sheet_new(n);
    if (n->flag)
        (void)approval_over(a, id);
    if (!sheet)
        return;
    struct question q = {.id = mem_strdup(id),
                         .tool = mem_strdup(""),
                         .class_name = mem_strdup(""),
                         .text = mem_strdup(""),
                         .sheet = sheet};
    vec_push(&a->questions, q);
    if (a->questions.len == 1) {
        approval_hidden(a);
        approval_write_sheet(a);
    }
}

void approval_write_sheet(struct approval *a)
{
    struct question *q = &a->questions.items[0];
    auto_free char *text = sheet_text(q->sheet);
    auto_free char *typed = sheet_fills(q->sheet) ? sheet_typed(q->sheet) : NULL;
    mem_replace(&q->text, reveal(text, UTF8_MULTILINE));
    editor_start(a->reason, typed);
    editor_set_caret(a->reason, SIZE_MAX);
    a->explains = sheet_fills(q->sheet);
    a->width = 0;
    a->top = 0;
    a->read = false;
}

void approval_ask(struct approval *a, const struct notice *n)
{
    if (n->type == NOTICE_ELICITATION) {
        ask_form(a, n);
        return;
    }
    const char *args = n->args ? n->args : "", *text = n->preview;
    AUTO(buf_release) struct buf pretty = BUF_INIT;
    if (!text || !*text) { /* a tool without words of its own is shown by its arguments */
        AUTO(json_free_local) struct json *all = json_parse(args, strlen(args), NULL);
        auto_free char *compact = all ? json_print(all) : NULL;
        if (compact)
            json_out_pretty(compact, &pretty);
        text = compact ? pretty.data : args;
    }
    struct question q = {.id = mem_strdup(n->text ? n->text : ""),
                         .tool = utf8_clean_line(n->name),
                         .class_name = utf8_clean_line(n->detail),
                         .text = reveal(text, UTF8_MULTILINE),
                         .guarded = reveal(n->guarded, UTF8_ONE_LINE),
                         .grant = reveal(n->grant, UTF8_ONE_LINE)};
    vec_push(&a->questions, q);
    if (a->questions.len == 1)
        approval_hidden(a);
}

static void leave_reason(struct approval *a)
{
    a->explains = false;
    editor_start(a->reason, NULL);
}

bool approval_over(struct approval *a, const char *id)
{
    for (size_t i = 0; id && i < a->questions.len; i++) {
        if (strcmp(a->questions.items[i].id, id) != 0)
            continue;
        question_release(&a->questions.items[i]);
        vec_remove(&a->questions, i, 1);
        if (i == 0) {
            leave_reason(a);
            approval_hidden(a);
            if (a->questions.len > 0 && a->questions.items[0].sheet)
                approval_write_sheet(a);
        }
        return true;
    }
    return false;
}

void approval_forget(struct view *view)
{
    struct approval *a = (struct approval *)view;
    for (size_t i = 0; i < a->questions.len; i++)
        question_release(&a->questions.items[i]);
    vec_clear(&a->questions);
    leave_reason(a);
    approval_hidden(a);
}

bool approval_open(const struct view *view)
{
    return ((const struct approval *)view)->questions.len > 0;
}

void approval_typed(struct approval *a, int64_t now_ms)
{
    a->key_ms = now_ms;
    a->entered = false;
    a->armed = false;
}

/* The time since which the question is on the screen and no key came; 0: it was not drawn yet. */
static int64_t quiet_since(const struct approval *a)
{
    return a->shown_ms > 0 && a->key_ms > a->shown_ms ? a->key_ms : a->shown_ms;
}

int64_t approval_due(const struct view *view)
{
    const struct approval *a = (const struct approval *)view;
    bool waits = a->questions.len > 0 && a->shown_ms > 0 && !a->armed;
    return waits ? quiet_since(a) + APPROVAL_PAUSE_MS : 0;
}

/* The next question starts unseen, too: a key that is held down answers only one question. */
void approval_hidden(struct approval *a)
{
    a->width = 0;
    a->armed = false;
    a->entered = false;
    a->shown_ms = 0;
    a->read = false; /* its rows will be others */
    a->top = 0;
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Home and End move in the text that the person writes meanwhile. */
static bool move_by_action(struct approval *a, enum action action)
{
    bool of_text = action == ACTION_LINE_START || action == ACTION_LINE_END;
    long page = a->page > 1 ? (long)a->page - 1 : 1;
    long by = of_text ? 0 : moves_by_action(action, page, MOVES_WHEEL);
    size_t last = a->text.list.len > a->page ? a->text.list.len - a->page : 0;
    if (by != 0)
        a->top = moves_within((long)a->top + by, last + 1);
    return by != 0;
}

static void answer(struct approval *a, enum approval_answer decision)
{
    auto_free char *id = mem_strdup(a->questions.items[0].id);
    auto_free char *reason = mem_strdup(editor_text(a->reason)); /* "": none */
    approval_over(a, id);
    (void)view_ask(&a->view, &operation_approval_decide,
                   &(struct approval_decide_params){
                       .call = id, .decision = decision, .reason = *reason ? reason : NULL},
                   NULL);
}

static void answer_form(struct approval *a, enum elicitation_action action)
{
    auto_free char *id = mem_strdup(a->questions.items[0].id), *content = NULL;
    const struct elicitation_decide_params params =
        sheet_answer(a->questions.items[0].sheet, action, &content);
    approval_over(a, id);
    (void)view_ask(&a->view, &operation_elicitation_decide, &params, NULL);
}

/* Asks for a field, or (the number of fields) shows all. */
static void show_field(struct approval *a, size_t at)
{
    sheet_show(a->questions.items[0].sheet, at);
    approval_write_sheet(a);
}

/* The line takes all keys except those that move in the text above. */
static void take_reason_key(struct approval *a, enum action action, const struct key *key)
{
    bool empty = editor_len(a->reason) == 0;
    struct sheet *sheet = a->questions.items[0].sheet;
    bool back = action == ACTION_CANCEL || (empty && action == ACTION_CLEAR);
    if (sheet && action == ACTION_SEND) {
        if (sheet_take(sheet, editor_text(a->reason)))
            approval_write_sheet(a);
    } else if (sheet && back) {
        show_field(a, sheet->form.fields.len);
    } else if (action == ACTION_SEND)
        answer(a, ANSWER_DENY);
    else if (back)
        leave_reason(a);
    else if (key->code != K_CLICK && !move_by_action(a, action))
        (void)edit_line_key(a->reason, sheet ? FORM_TEXT_MAX : REASON_BYTES, action, key);
}

/* Once keys count, a key is an answer, or a letter that moves in a text longer than its page, or
 * part of the message. */
static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct approval *a = (struct approval *)view;
    const struct view_host *host = view->host;
    if (a->questions.len > 0 && a->explains) {
        take_reason_key(a, action, key);
        return true;
    }
    a->drafted = host->drafting(host->app);
    if (a->questions.len == 0 || a->shown_ms == 0)
        return false;
    struct sheet *sheet = a->questions.items[0].sheet;
    if (sheet && action == ACTION_CANCEL) {
        answer_form(a, ELICITATION_CANCEL);
        return true;
    }
    if (action == ACTION_CANCEL || action == ACTION_CLEAR) {
        host->act(host->app, ACTION_CANCEL);
        return true;
    }
    if (key->code == K_CLICK || move_by_action(a, action))
        return true;
    bool counts = a->armed && (a->entered || !a->drafted);
    if (action == ACTION_COMPLETE) {
        bool enters = counts || clock_mono_ms() >= quiet_since(a) + APPROVAL_TAB_MS;
        a->entered = a->entered || enters;
        return enters;
    }
    if (!a->armed)
        return false;
    enum action word = counts ? keymap_find_in(host->keymap, key, KEYS_ANSWER) : ACTION_NONE;
    bool moves = counts && action == ACTION_NONE && a->text.list.len > a->page;
    long by = moves ? moves_by_letter(key) : 0;
    enum action move = moves && moves_is_letter(key, ' ') ? ACTION_PAGE_DOWN
                       : by == 1                          ? ACTION_DOWN
                       : by == -1                         ? ACTION_UP
                       : by > 0                           ? ACTION_BOTTOM
                       : by < 0                           ? ACTION_TOP
                                                          : ACTION_NONE;
    bool once = word == ACTION_ALLOW_ONCE, always = word == ACTION_ALLOW_PROJECT;
    bool project = a->questions.len > 0 && approval_is_of_project(&a->questions.items[0]);
    if (sheet && counts && action == ACTION_SEND && sheet->form.fields.len > 0) {
        show_field(a, 0);
    } else if (sheet && word == ACTION_DECLINE) {
        answer_form(a, ELICITATION_DECLINE);
    } else if (sheet && once) {
        size_t missing = sheet_missing(sheet);
        if (missing < sheet->form.fields.len)
            show_field(a, missing);
        else if (a->read)
            answer_form(a, ELICITATION_ACCEPT);
    } else if (word == ACTION_DECLINE) {
        answer(a, ANSWER_DENY);
    } else if (word == ACTION_DECLINE_WHY) {
        a->explains = !project;
    } else if (once || always || word == ACTION_ALLOW_SESSION) {
        if (a->read && (once || (always && project) || a->questions.items[0].grant))
            answer(a, once ? ANSWER_ONCE : always ? ANSWER_PROJECT : ANSWER_SESSION);
    } else if (action == ACTION_LEAVE) {
        return false;
    } else if (!move_by_action(a, move)) {
        host->write(host->app, action, key);
    }
    return true;
}

/* --- the view --------------------------------------------------------------------------------- */

static void notice(struct view *view, struct notice *n)
{
    struct approval *a = (struct approval *)view;
    enum event_type type = n->type == NOTICE_EVENT ? n->event->type : EVENT_TEXT_DELTA;
    bool over = type == EVENT_TURN_STARTED || type == EVENT_TURN_COMPLETED ||
                type == EVENT_TURN_FAILED || type == EVENT_INTERRUPTED ||
                (n->type == NOTICE_BUSY && !n->flag) || (n->type == NOTICE_SESSION && n->flag);
    if (n->type == NOTICE_APPROVAL || n->type == NOTICE_ELICITATION)
        approval_ask(a, n);
    else if (type == EVENT_TOOL_EXECUTION_COMPLETED && approval_over(a, n->event->id))
        view_touch(view);
    else if (over)
        approval_forget(view);
}

static bool passes(const struct view *view)
{
    return !((const struct approval *)view)->explains;
}

void approval_init(struct approval *a, const struct view_host *host)
{
    static const struct view_ops ops = {
        .layer = VIEW_QUESTION,
        .free = approval_release,
        .close = approval_forget,
        .shown = approval_open,
        .passes = passes,
        .key = take_key,
        .height = height,
        .rows = rows,
        .notice = notice,
        .due = approval_due,
        .due_with_keys = true,
    };
    *a = (struct approval){.view = {.ops = &ops, .host = host}, .reason = editor_new()};
    rows_init(&a->text);
    rows_init(&a->rows);
}
