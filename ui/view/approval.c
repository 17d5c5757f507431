#include "ui/view/approval.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/wrap.h"
#include "ui/view/hints.h"

/* What of a question is on the screen: who asks, the text that can be scrolled, and the keys. */

#define MARGIN 1

enum {
    MOST_BLANKS = 64, /* alike and side by side */
    MOST_EMPTY = 3,   /* lines one after the other */
    RULE_LEAD = 3
};

/* The text */

static bool begins(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

static bool is_diff(const char *text)
{
    return begins(text, "@@ ") || (begins(text, "--- ") && strstr(text, "\n@@ "));
}

/* Before the first hunk a line that begins so names a file. */
static enum style diff_style(const char *line, bool in_hunk)
{
    if (!in_hunk || *line == '@' || *line == '\\')
        return STYLE_DIM;
    return *line == '+' ? STYLE_DIFF_ADDED : *line == '-' ? STYLE_DIFF_REMOVED : STYLE_OVERLAY;
}

/* The texts that rows are made of. */
struct pen {
    struct styled line, first, rest;
    struct wrap_look look;
};

/* A row that goes on with the line above is marked: no text can look like a line of its own. */
static void pen_init(struct pen *p, int width)
{
    styled_init(&p->line);
    styled_init(&p->first);
    styled_init(&p->rest);
    styled_addstr(&p->first, " ", STYLE_OVERLAY, 0);
    styled_addstr(&p->rest, glyph(GLYPH_POINTER), STYLE_DIM, 0);
    p->look = (struct wrap_look){(size_t)width, WRAP_HARD, &p->first, &p->rest};
}

static void pen_release(struct pen *p)
{
    styled_release(&p->line);
    styled_release(&p->first);
    styled_release(&p->rest);
}

/* Blanks that would push what follows out of view are counted instead. */
static void add_line(struct pen *p, const char *text, size_t len, enum style style,
                     struct rows *out)
{
    styled_clear(&p->line);
    for (size_t from = 0, to; from < len; from = to) {
        char blank = text[from];
        for (to = from + 1; to < len && text[to] == blank;)
            to++;
        bool folds = (blank == ' ' || blank == '\t') && to - from > MOST_BLANKS;
        char *mark = folds ? mem_printf("<U+%04X x %zu>", (unsigned)blank, to - from) : NULL;
        if (mark)
            styled_addstr(&p->line, mark, STYLE_DIM, 0);
        else
            styled_add(&p->line, text + from, to - from, style, 0);
        free(mark);
    }
    wrap_text(out, &p->line, &p->look);
}

/* Begins where no row of a text does, so that no text can look like it. */
static void add_rule(size_t lines, int width, struct rows *out)
{
    char *text =
        mem_printf(ngettext(" %zu empty line ", " %zu empty lines ", (unsigned long)lines), lines);
    rows_begin(out);
    for (int i = 0; i < RULE_LEAD; i++)
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
    rows_add_cut(out, text, (size_t)width - RULE_LEAD, STYLE_DIM);
    while (rows_width(out, out->list.len - 1) < (size_t)width)
        rows_addstr(out, glyph(GLYPH_LINE), STYLE_RULE, 0);
    free(text);
}

/* How many lines from here on are empty, and in `bytes` how long they are together. */
static size_t count_empty(const char *text, size_t *bytes)
{
    size_t lines = 0;
    *bytes = 0;
    for (const char *p = text; *p;) {
        size_t blanks = strspn(p, " \t");
        if (p[blanks] != '\n' && p[blanks] != '\0')
            break;
        p += blanks + (p[blanks] == '\n');
        *bytes = (size_t)(p - text);
        lines++;
    }
    return lines;
}

/* Like a rule, it begins where no text does. */
static void add_guarded(const char *place, int width, struct rows *out)
{
    char *text = mem_printf(_("! keys or tiro's own files: %s"), place);
    struct styled line;
    styled_init(&line);
    styled_addstr(&line, text, STYLE_WARNING, 0);
    wrap_text(out, &line, &(struct wrap_look){.width = (size_t)width, .mode = WRAP_HARD});
    styled_release(&line);
    free(text);
}

static void lay_out_text(struct approval *a, int width)
{
    const char *text = a->questions.items[0].text;
    bool diff = is_diff(text), in_hunk = false;
    struct pen pen;
    pen_init(&pen, width);
    rows_clear(&a->text);
    if (a->questions.items[0].guarded)
        add_guarded(a->questions.items[0].guarded, width, &a->text);
    for (bool more = *text; more; more = *text) {
        size_t len, empty = count_empty(text, &len);
        if (empty > MOST_EMPTY) {
            add_rule(empty, width, &a->text);
            text += len;
            continue;
        }
        len = strcspn(text, "\n");
        in_hunk = in_hunk || begins(text, "@@ ");
        add_line(&pen, text, len, diff ? diff_style(text, in_hunk) : STYLE_OVERLAY, &a->text);
        text += len + (text[len] == '\n');
    }
    pen_release(&pen);
    a->width = width;
}

/* The keys */

static void add_piece(struct rows *out, const char *text, enum style style, size_t width)
{
    size_t columns = utf8_width(text, strlen(text));
    size_t used = out->list.len > 0 ? rows_width(out, out->list.len - 1) : 0;
    bool fits = used > 0 && used + 3 + columns <= width;
    if (!fits) {
        rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    } else {
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        rows_addstr(out, glyph(GLYPH_DOT), STYLE_DIM, 0);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    }
    rows_add_cut(out, text, width > MARGIN ? width - MARGIN : 1, style);
}

/* What "this session" is for is named in full. */
static void add_what(const struct approval *a, enum action action, const char *what,
                     struct buf *out)
{
    if (action == ACTION_ALLOW_SESSION)
        buf_addf(out, _("allow %s for this session"), a->questions.items[0].grant);
    else
        buf_addstr(out, _(what));
}

struct key_help {
    enum action action;
    const char *what;
};

static const struct key_help answer_keys[] = {{ACTION_ALLOW_ONCE, N_("allow once")},
                                              {ACTION_ALLOW_SESSION, NULL},
                                              {ACTION_DECLINE, N_("decline")}};

/* As long as the end of the text was not seen. */
static const struct key_help reading[] = {{ACTION_PAGE_DOWN, N_("next page")},
                                          {ACTION_ALLOW_ONCE, N_("allow, after the last page")},
                                          {ACTION_DECLINE, N_("decline")}};

static void add_keys(const struct approval *a, const struct keymap *keymap,
                     const struct key_help *keys, size_t count, int width, struct rows *out)
{
    for (size_t i = 0; i < count; i++) {
        struct buf text = BUF_INIT;
        if (keys[i].action == ACTION_ALLOW_SESSION && !a->questions.items[0].grant)
            continue;
        keymap_describe_first(keymap, keys[i].action, &text);
        if (text.len > 0) {
            buf_addch(&text, ' ');
            add_what(a, keys[i].action, keys[i].what, &text);
            add_piece(out, text.data, STYLE_PROMPT, (size_t)width);
        }
        buf_release(&text);
    }
}

static void key_rows(const struct approval *a, const struct keymap *keymap, bool read, int width,
                     struct rows *out)
{
    rows_clear(out);
    if (read)
        add_keys(a, keymap, answer_keys, sizeof answer_keys / sizeof *answer_keys, width, out);
    else
        add_keys(a, keymap, reading, sizeof reading / sizeof *reading, width, out);
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
    return count;
}

/* In place of the keys, and of as many rows, while they do not count. */
static void pause_rows(const struct approval *a, size_t count, int width, struct rows *out)
{
    bool writing = a->typed_ms > 0 && a->typed_ms + APPROVAL_PAUSE_MS > a->shown_ms;
    const char *text = a->armed  ? _("Tab goes to the question; other keys go on with your text")
                       : writing ? _("you are typing; pause to answer")
                                 : glyph(GLYPH_ELLIPSIS);
    for (size_t i = 0; i < count; i++) {
        rows_begin(out);
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
        if (i == 0)
            rows_add_cut(out, text, width > MARGIN ? (size_t)width - MARGIN : 1, STYLE_DIM);
    }
}

/* All together */

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
    while (rows[i].class_name && strcmp(rows[i].class_name, q->class_name) != 0)
        i++;
    return mem_printf("%s (%s)", _(rows[i].wants), q->tool);
}

static void title_row(const struct approval *a, int width, struct rows *out)
{
    const struct question *q = &a->questions.items[0];
    struct buf place = BUF_INIT;
    if (a->text.list.len > a->page)
        buf_addf(&place, "%zu-%zu/%zu ", a->top + 1, a->top + a->page, a->text.list.len);
    char *asks = approval_title(q);
    size_t room = width > MARGIN ? (size_t)width - MARGIN : 1;
    size_t right = place.len < room ? place.len : 0;
    rows_begin(out);
    rows_addstr(out, " ", STYLE_OVERLAY_TITLE, 0);
    size_t gap = right > 0 && right < room;
    size_t used = rows_add_cut(out, asks, room - right - gap, STYLE_OVERLAY_TITLE);
    for (; used < room - right; used++)
        rows_addstr(out, " ", STYLE_OVERLAY, 0);
    rows_add(out, place.data, right, STYLE_DIM, 0);
    free(asks);
    buf_release(&place);
}

static void arm(struct approval *a, int64_t now_ms)
{
    if (a->shown_ms == 0)
        a->shown_ms = now_ms > 0 ? now_ms : 1;
    int64_t due = approval_due(a);
    a->armed = a->armed || (due > 0 && now_ms >= due);
    if (a->armed)
        a->typed_ms = 0;
}

int approval_height(struct approval *a, const struct keymap *keymap, int width)
{
    if (a->width != width)
        lay_out_text(a, width);
    size_t height = 1 + a->text.list.len + count_key_rows(a, keymap, width);
    return height < 10000 ? (int)height : 10000;
}

static void blank_rows(struct rows *out, size_t height)
{
    while (out->list.len < height)
        rows_begin(out);
}

static void text_rows(struct approval *a, struct rows *out)
{
    size_t end = a->top + a->page;
    for (size_t i = a->top; i < a->text.list.len && i < end; i++)
        rows_copy(out, &a->text, i);
    a->read = a->read || (a->page > 0 && end >= a->text.list.len);
}

/* Where there is no room for all, the keys come first, then a row of the text, then the title. */
const struct rows *approval_rows(struct approval *a, const struct keymap *keymap, int width,
                                 int height, int64_t now_ms)
{
    struct rows keys;
    size_t all = height > 0 ? (size_t)height : 0;
    if (a->width != width)
        lay_out_text(a, width);
    arm(a, now_ms);
    size_t below = count_key_rows(a, keymap, width), title = all >= below + 2;
    a->page = all > below + title ? all - below - title : 0;
    size_t last = a->text.list.len > a->page ? a->text.list.len - a->page : 0;
    if (a->top > last)
        a->top = last;
    rows_clear(&a->rows);
    if (title)
        title_row(a, width, &a->rows);
    text_rows(a, &a->rows);
    blank_rows(&a->rows, title + a->page);
    rows_init(&keys);
    if (a->armed && (a->entered || !a->drafted))
        key_rows(a, keymap, a->read, width, &keys);
    else
        pause_rows(a, below, width, &keys);
    for (size_t i = 0; i < keys.list.len && a->rows.list.len < all; i++)
        rows_copy(&a->rows, &keys, i);
    blank_rows(&a->rows, all);
    rows_release(&keys);
    return &a->rows;
}

static void question_release(struct question *q)
{
    free(q->id);
    free(q->tool);
    free(q->class_name);
    free(q->text);
    free(q->guarded);
    free(q->grant);
}

void approval_release(struct approval *a)
{
    approval_forget(a);
    vec_release(&a->questions);
    rows_release(&a->text);
    rows_release(&a->rows);
}

static char *clean(const char *text)
{
    struct buf out = BUF_INIT;
    if (text)
        utf8_clean(&out, text, strlen(text), UTF8_ONE_LINE);
    return buf_take(&out);
}

static char *reveal(const char *text, enum utf8_clean_mode mode)
{
    struct buf revealed = BUF_INIT, out = BUF_INIT;
    utf8_reveal(&revealed, text, strlen(text), mode);
    charset_reveal(&out, revealed.data, revealed.len);
    buf_release(&revealed);
    return buf_take(&out);
}

/* Where a tool has no words of its own, its arguments say what it would do. */
static char *text_of(const struct notice *n)
{
    if (n->preview && *n->preview)
        return reveal(n->preview, UTF8_MULTILINE);
    const char *args = n->args ? n->args : "";
    struct json *all = json_parse(args, strlen(args), NULL);
    char *pretty = all ? json_print_pretty(all) : NULL;
    char *text = reveal(pretty ? pretty : args, UTF8_MULTILINE);
    free(pretty);
    json_free(all);
    return text;
}

/* The next question is looked at anew, so that a key that is held down answers one. */
static void show_next(struct approval *a)
{
    approval_hidden(a);
    a->width = 0;
}

void approval_ask(struct approval *a, const struct notice *n)
{
    struct question q = {.id = mem_strdup(n->text ? n->text : ""),
                         .tool = clean(n->name),
                         .class_name = clean(n->detail),
                         .text = text_of(n),
                         .guarded = n->guarded ? reveal(n->guarded, UTF8_ONE_LINE) : NULL,
                         .grant = n->grant ? reveal(n->grant, UTF8_ONE_LINE) : NULL};
    vec_push(&a->questions, q);
    if (a->questions.len == 1)
        show_next(a);
}

bool approval_over(struct approval *a, const char *id)
{
    for (size_t i = 0; id && i < a->questions.len; i++) {
        if (strcmp(a->questions.items[i].id, id) != 0)
            continue;
        question_release(&a->questions.items[i]);
        vec_remove(&a->questions, i, 1);
        if (i == 0)
            show_next(a);
        return true;
    }
    return false;
}

void approval_forget(struct approval *a)
{
    for (size_t i = 0; i < a->questions.len; i++)
        question_release(&a->questions.items[i]);
    vec_clear(&a->questions);
    show_next(a);
}

bool approval_open(const struct approval *a)
{
    return a->questions.len > 0;
}

const char *approval_id(const struct approval *a)
{
    return a->questions.items[0].id;
}

void approval_typed(struct approval *a, int64_t now_ms)
{
    a->typed_ms = now_ms;
    a->entered = false;
    if (now_ms > 0)
        a->armed = false;
}

int64_t approval_due(const struct approval *a)
{
    if (!approval_open(a) || a->shown_ms == 0 || a->armed)
        return 0;
    int64_t looked = a->shown_ms + APPROVAL_LOOK_MS;
    int64_t paused = a->typed_ms > 0 ? a->typed_ms + APPROVAL_PAUSE_MS : 0;
    return looked > paused ? looked : paused;
}

/* Its rows are others now, so it is read from the beginning. */
void approval_hidden(struct approval *a)
{
    a->armed = false;
    a->entered = false;
    a->shown_ms = 0;
    a->read = false;
    a->top = 0;
}

/* Moves */

static void move(struct approval *a, long rows)
{
    long last = a->text.list.len > a->page ? (long)(a->text.list.len - a->page) : 0;
    long to = (long)a->top + rows;
    a->top = (size_t)(to < 0 ? 0 : to < last ? to : last);
}

/* Home and End are of the text that is written meanwhile. */
static bool move_by_action(struct approval *a, enum action action)
{
    bool of_text = action == ACTION_LINE_START || action == ACTION_LINE_END;
    long page = a->page > 1 ? (long)a->page - 1 : 1;
    long by = of_text ? 0 : moves_by_action(action, page, MOVES_WHEEL);
    if (by != 0)
        move(a, by);
    return by != 0;
}

static bool move_by_letter(struct approval *a, const struct key *key)
{
    if (moves_is_letter(key, ' '))
        return move_by_action(a, ACTION_PAGE_DOWN);
    move(a, moves_by_letter(key));
    return moves_by_letter(key) != 0;
}

static bool answer_of(enum action action, enum approval_answer *answer)
{
    static const struct {
        enum action action;
        enum approval_answer answer;
    } answers[] = {{ACTION_ALLOW_ONCE, ANSWER_ONCE},
                   {ACTION_ALLOW_SESSION, ANSWER_SESSION},
                   {ACTION_DECLINE, ANSWER_DENY}};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].action == action) {
            *answer = answers[i].answer;
            return true;
        }
    return false;
}

static bool is_offered(const struct approval *a, enum approval_answer answer)
{
    return answer != ANSWER_SESSION || a->questions.items[0].grant;
}

enum approval_key approval_key(struct approval *a, const struct keymap *keymap, enum action action,
                               const struct key *key, enum approval_answer *answer)
{
    if (!approval_open(a) || a->shown_ms == 0)
        return APPROVAL_PASS;
    if (action == ACTION_CANCEL || action == ACTION_CLEAR)
        return APPROVAL_STOP;
    if (key->code == K_CLICK || move_by_action(a, action))
        return APPROVAL_TAKEN;
    if (!a->armed)
        return APPROVAL_PASS;
    if (a->drafted && !a->entered) {
        a->entered = action == ACTION_COMPLETE;
        return a->entered ? APPROVAL_TAKEN : action == ACTION_LEAVE ? APPROVAL_PASS : APPROVAL_TEXT;
    }
    if (answer_of(keymap_find_in(keymap, key, KEYS_ANSWER), answer)) {
        bool counts = is_offered(a, *answer) && (a->read || *answer == ANSWER_DENY);
        return counts ? APPROVAL_ANSWERED : APPROVAL_TAKEN;
    }
    if (action == ACTION_NONE && move_by_letter(a, key))
        return APPROVAL_TAKEN;
    return action == ACTION_LEAVE ? APPROVAL_PASS : APPROVAL_TEXT;
}

/* --- the view --- */

static struct approval *of(struct view *view)
{
    return (struct approval *)view;
}

static const struct approval *of_const(const struct view *view)
{
    return (const struct approval *)view;
}

static void send_answer(struct view *view, enum approval_answer answer)
{
    char *id = mem_strdup(approval_id(of(view)));
    approval_over(of(view), id);
    (void)view_ask(view, &operation_approval_decide,
                   &(struct approval_decide_params){.call = id, .decision = answer}, NULL);
    free(id);
}

static void look_at_draft(struct view *view)
{
    of(view)->drafted = view->host->drafting(view->host->app);
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    const struct view_host *host = view->host;
    enum approval_answer answer;
    look_at_draft(view);
    switch (approval_key(of(view), host->keymap, action, key, &answer)) {
    case APPROVAL_PASS:
        return false;
    case APPROVAL_TEXT:
        host->write(host->app, action, key);
        break;
    case APPROVAL_TAKEN:
        break;
    case APPROVAL_STOP:
        host->stop(host->app);
        break;
    case APPROVAL_ANSWERED:
        send_answer(view, answer);
        break;
    }
    return true;
}

static void notice(struct view *view, struct notice *n)
{
    struct approval *a = of(view);
    enum event_type type = n->type == NOTICE_EVENT ? n->event->type : EVENT_TEXT_DELTA;
    bool over = type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED ||
                type == EVENT_INTERRUPTED || (n->type == NOTICE_BUSY && !n->flag) ||
                (n->type == NOTICE_SESSION && n->flag);
    if (n->type == NOTICE_APPROVAL)
        approval_ask(a, n);
    else if (type == EVENT_TOOL_EXECUTION_COMPLETED && approval_over(a, n->event->id))
        view_touch(view);
    else if (over)
        approval_forget(a);
}

static bool shown(const struct view *view)
{
    return approval_open(of_const(view));
}

static bool passes(const struct view *view)
{
    (void)view;
    return true;
}

static int height(struct view *view, int width, int room)
{
    int wanted = approval_height(of(view), view->host->keymap, width);
    return wanted < room ? wanted : room;
}

static void resize(struct view *view, int width, int room)
{
    of(view)->room_width = width;
    of(view)->room = room;
}

static const struct rows *rows(struct view *view)
{
    struct approval *a = of(view);
    look_at_draft(view);
    return approval_rows(a, view->host->keymap, a->room_width, a->room, clock_mono_ms());
}

static int64_t due(const struct view *view)
{
    return approval_due(of_const(view));
}

static void close_view(struct view *view)
{
    approval_forget(of(view));
}

static void release(struct view *view)
{
    approval_release(of(view));
}

static const struct view_ops ops = {
    .layer = VIEW_QUESTION,
    .free = release,
    .close = close_view,
    .shown = shown,
    .passes = passes,
    .key = take_key,
    .height = height,
    .resize = resize,
    .rows = rows,
    .notice = notice,
    .due = due,
    .due_with_keys = true,
};

void approval_init(struct approval *a, const struct view_host *host)
{
    *a = (struct approval){.view = {.ops = &ops, .host = host}};
    rows_init(&a->text);
    rows_init(&a->rows);
}
