#include "ui/view/context_view.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"

enum {
    WIDE = 70,     /* columns, from which on all marks are words and tokens exact */
    TALL = 16,     /* rows, from which on each kind has its own */
    LOW = 9,       /* below that: the title, the forecast of a compaction, the parts */
    WHO_MOST = 15, /* columns of a kind's name */
    WHO_NARROW = 12,
    MARK_MOST = 16,      /* of one mark */
    FIGURE_COLUMNS = 12, /* of a kind's tokens */
    SHARE_COLUMNS = 6,   /* "100 %" and a blank */
    BAR_MOST = 40,
    ASK_MS = 1000 /* between requests */
};

struct context_view {
    struct view view;
    struct outline *outline;
    char *text; /* of the part that was unfolded last */
    struct context context;
    int64_t tokens[CONTEXT_KINDS]; /* sums over the parts */
    size_t going;                  /* parts that a compaction now would drop */
    size_t cached;                 /* parts at the beginning that the provider has kept */
    bool known;                    /* an answer has come */
    bool waiting;                  /* for an answer */
    bool stale;                    /* the context has changed since it was asked for */
    int64_t asked_ms;
    bool asks_compact; /* yes or no */
    struct remark remark;
    int head_rows; /* above the outline, as drawn last */
    struct rows rows;
};

#define X(id, word, label) label,
static const char *const kinds[CONTEXT_KINDS] = {CONTEXT_KIND_LIST(X)};
#undef X

const char *context_kind_name(enum context_kind kind)
{
    return (size_t)kind < CONTEXT_KINDS ? _(kinds[kind]) : "";
}

static void widen(size_t *columns, const char *text, size_t most)
{
    size_t width = utf8_width(text, strlen(text));
    if (width > *columns)
        *columns = width < most ? width : most;
}

/* Columns of the longest name of a kind or a speaker. */
static size_t who_columns(const struct context_view *v)
{
    size_t columns = 0, most = v->view.width >= WIDE ? WHO_MOST : WHO_NARROW;
    for (size_t i = 0; i < CONTEXT_KINDS; i++)
        widen(&columns, _(kinds[i]), most);
    for (int r = ROLE_SYSTEM; r <= ROLE_TOOL; r++)
        widen(&columns, message_row_who((enum role)r), most);
    return columns;
}

static void write_share(struct buf *out, int64_t tokens, int64_t of_tokens)
{
    int percent = figure_share(tokens, of_tokens, 100, INT_MAX);
    if (percent == 0 && tokens > 0)
        buf_addf(out, "<1 %%");
    else
        buf_addf(out, "%d %%", percent);
}

/* The caller frees. */
static char *tokens_text(int64_t tokens, bool exact)
{
    struct buf out = BUF_INIT;
    if (exact)
        return format_exact(tokens);
    format_short(&out, tokens);
    return buf_take(&out);
}

/* --- the head --------------------------------------------------------------------------------- */

/* " Context  ~51,204 tokens · window 128k · compacts at 96k …" */
static void add_title(struct context_view *v)
{
    const struct context *c = &v->context;
    bool exact = v->view.width >= WIDE;
    const struct {
        const char *what;
        int64_t number;
        bool exact;
    } figures[] = {{_("window"), c->window, false},
                   {_("compacts at"), c->threshold, false},
                   {_("last request"), c->last_input, exact},
                   {_("cached"), c->cached, exact}};
    size_t width = (size_t)v->view.width, used = 1;
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *tokens = format_exact(c->tokens);
    rows_begin(&v->rows);
    rows_addstr(&v->rows, " ", STYLE_OVERLAY_TITLE, 0);
    used += rows_add_cut(&v->rows, _("Context"), width - used, STYLE_OVERLAY_TITLE);
    if (v->known)
        buf_addf(&text, _("  ~%s tokens"), tokens);
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        auto_free char *figure = tokens_text(figures[i].number, figures[i].exact);
        if (figures[i].number > 0)
            buf_addf(&text, " %s %s %s", glyph(GLYPH_DOT), figures[i].what, figure);
    }
    if (c->effort)
        buf_addf(&text, " %s %s %s", glyph(GLYPH_DOT), _("effort"), c->effort);
    if (c->sent > 0 || c->received > 0) {
        auto_free char *sent = tokens_text(c->sent, false);
        auto_free char *received = tokens_text(c->received, false);
        buf_addf(&text, _(" %s session %s in, %s out"), glyph(GLYPH_DOT), sent, received);
    }
    message_row_field(&v->rows, text.data, width - used, STYLE_OVERLAY);
}

/* " history  ▓▓▓▓▓▓░░░  51,204  82 %" */
static void add_kind(struct context_view *v, enum context_kind kind)
{
    struct rows *out = &v->rows;
    int64_t part = v->tokens[kind], all = v->context.tokens;
    size_t width = (size_t)v->view.width, names = who_columns(v);
    size_t figures = FIGURE_COLUMNS + SHARE_COLUMNS;
    size_t room = width > names + 3 + figures ? width - names - 3 - figures : 0;
    size_t cells = room > BAR_MOST ? BAR_MOST : room, used = 1 + names + 1 + cells;
    size_t full = all > 0 ? (size_t)((double)part / (double)all * (double)cells + 0.5) : 0;
    rows_begin(out);
    if (used > width) {
        message_row_field(out, context_kind_name(kind), width, STYLE_OVERLAY);
        return;
    }
    if (full == 0 && part > 0)
        full = 1;
    rows_addstr(out, " ", STYLE_OVERLAY, 0);
    message_row_field(out, context_kind_name(kind), names, STYLE_OVERLAY);
    rows_addstr(out, " ", STYLE_OVERLAY, 0);
    for (size_t i = 0; i < cells; i++)
        rows_addstr(out, glyph(i < full ? GLYPH_GAUGE_FULL : GLYPH_GAUGE_EMPTY),
                    i < full ? STYLE_GAUGE : STYLE_DIM, 0);
    if (used + figures <= width) {
        auto_free char *tokens = format_exact(part);
        AUTO(buf_release) struct buf share = BUF_INIT;
        write_share(&share, part, all);
        message_row_figure(out, tokens, FIGURE_COLUMNS, STYLE_OVERLAY);
        message_row_figure(out, share.data, SHARE_COLUMNS, STYLE_DIM);
        used += figures;
    }
    rows_pad(out, width - used, STYLE_OVERLAY);
}

/* A row for each kind, or one for all: " system 2 % · tools 10 % · history 88 %". */
static void add_kinds(struct context_view *v)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (v->view.height < LOW)
        return;
    for (int i = 0; i < CONTEXT_KINDS; i++) {
        if (v->tokens[i] <= 0)
            continue;
        if (v->view.height >= TALL)
            add_kind(v, (enum context_kind)i);
        buf_addf(&text, " %s%s%s ", text.len > 0 ? glyph(GLYPH_DOT) : "", text.len > 0 ? " " : "",
                 _(kinds[i]));
        write_share(&text, v->tokens[i], v->context.tokens);
    }
    if (v->view.height >= TALL)
        return;
    rows_begin(&v->rows);
    message_row_field(&v->rows, text.data, (size_t)v->view.width, STYLE_DIM);
}

/* A sentence about the effect of a compaction now; the caller frees. */
static char *forecast_text(const struct context_view *v)
{
    const struct context *c = &v->context;
    bool wide = v->view.width >= WIDE;
    if (!v->known)
        return mem_strdup("");
    if (!c->mode)
        return mem_strdup(_("Compaction is off."));
    AUTO(buf_release) struct buf mode = BUF_INIT;
    const char *name = COMPACTION_MODE_LABEL(c->mode), *arrow = glyph(GLYPH_ARROW);
    auto_free char *before = tokens_text(c->tokens, wide);
    auto_free char *after = tokens_text(c->tokens_after, wide);
    utf8_clean(&mode, name, strlen(name), UTF8_ONE_LINE);
    if (c->tokens_after < 0)
        return mem_printf(_("a compaction now (%s) would drop nothing"), mode.data);
    if (v->going == 0)
        return mem_printf(_("a compaction now (%s) would shorten messages, %s %s ~%s"), mode.data,
                          before, arrow, after);
    if (wide)
        return mem_printf(ngettext("a compaction now (%s) would drop %zu message, %s %s ~%s",
                                   "a compaction now (%s) would drop %zu messages, %s %s ~%s",
                                   v->going),
                          mode.data, v->going, before, arrow, after);
    return mem_printf(ngettext("would drop %zu message, %s %s ~%s",
                               "would drop %zu messages, %s %s ~%s", v->going),
                      v->going, before, arrow, after);
}

/* --- parts ------------------------------------------------------------------------------------ */

static int64_t part_key(void *view, size_t index)
{
    const struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[index];
    int64_t of_kind = 0;
    for (size_t i = 0; p->seq <= 0 && i < index; i++)
        of_kind += v->context.parts.items[i].kind == p->kind;
    return p->seq > 0 ? p->seq : -1 - (int64_t)p->kind - CONTEXT_KINDS * of_kind;
}

/* The text of an unfolded part: how to leave it out or change it, its limit, and its content. For
 * messages there is the compaction. */
static struct outline_text part_text(void *view, size_t index)
{
    static const char *const switches[CONTEXT_KINDS] = {
        [CONTEXT_SYSTEM] = N_("Changed by /system."),
        [CONTEXT_INSTRUCTIONS] = N_("Off: [project] instructions = false."),
        [CONTEXT_SKILLS] = N_("Off: [tools] deny, with its tools."),
        [CONTEXT_SKILL_LIST] = N_("Off: [project] skills = false."),
        [CONTEXT_LEARNED] = N_("Off: /memory off, or [learned] max_prompt_tokens = 0."),
        [CONTEXT_GRAPH] = N_("Off: /memory off, or [graph] max_prompt_tokens = 0."),
        [CONTEXT_TOOLS] = N_("Fewer: [chat] tools, [tools] deny."),
        [CONTEXT_RECALLED] = N_("Sent with one message only. Off: [memory] recall = tool."),
        [CONTEXT_SUMMARY] = N_("Undone by /uncompact.")};
    struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[index];
    const char *way = (size_t)p->kind < CONTEXT_KINDS ? switches[p->kind] : NULL;
    struct buf text = BUF_INIT;
    if (!p->text || !*p->text)
        return (struct outline_text){0};
    if (way)
        buf_addstr(&text, _(way));
    if (p->cap > 0) {
        auto_free char *cap = format_exact(p->cap);
        buf_addch(&text, ' ');
        buf_addf(&text, _("At most %s tokens."), cap);
    }
    buf_addf(&text, "%s%s", text.len > 0 ? "\n\n" : "", p->text);
    free(v->text);
    v->text = buf_take(&text);
    return (struct outline_text){v->text, false};
}

/* The text in the part's row; the caller frees. It leaves out the words that the row already has:
 * the heading of instructions, skills, learned items and the graph, and the mark of a summary. A
 * source comes first; the path of a file of instructions is cut to its last two names. */
static char *row_text(const struct context_part *p)
{
    const char *text = p->text ? p->text : "", *source = p->source;
    bool headed = p->kind == CONTEXT_INSTRUCTIONS || p->kind == CONTEXT_SKILL_LIST ||
                  p->kind == CONTEXT_LEARNED || p->kind == CONTEXT_GRAPH;
    if (headed && *text == '#') {
        text += strcspn(text, "\n");
        text += strspn(text, "\n");
    }
    const char *mark = p->kind == CONTEXT_SUMMARY && *text == '[' ? strchr(text, ']') : NULL;
    if (mark && mark[1 + strspn(mark + 1, " \n")])
        text = mark + 1;
    if (source && p->kind == CONTEXT_INSTRUCTIONS) {
        const char *end = strrchr(source, '/');
        while (end && end > source && end[-1] != '/')
            end--;
        source = end ? end : source;
    }
    return source ? mem_printf("%s: %s", source, text) : mem_strdup(text);
}

/* Shows the most important marks that have room. A pinned message is never dropped. */
static void part_heading(void *view, size_t part, const struct outline_look *look, struct rows *out)
{
    const struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[part];
    bool wide = v->view.width >= WIDE;
    enum style side = look->chosen ? STYLE_SELECTED : STYLE_DIM;
    const char *going = wide ? _("would be dropped") : _("dropped");
    const char *const marks[] = {p->goes ? going : NULL, p->pinned ? _("pinned") : NULL,
                                 p->whole > 0 ? _("cut") : NULL,
                                 part < v->cached ? _("cached") : NULL};
    size_t fate = 0, cached = 0, tokens = wide ? 10 : 6, share = wide ? SHARE_COLUMNS : 0;
    widen(&fate, going, MARK_MOST);
    widen(&fate, _("pinned"), MARK_MOST);
    widen(&cached, _("cached"), MARK_MOST);
    size_t marked = 1 + (wide ? fate + 1 + cached : fate > cached ? fate : cached);
    size_t right = marked + tokens + share, left = look->columns;
    auto_free char *text = row_text(p);
    const char *who =
        p->kind == CONTEXT_MESSAGE ? message_row_who(p->role) : context_kind_name(p->kind);
    const struct message_row row = {who,        p->turn,     text, p->text && *p->text,
                                    look->open, look->chosen};
    if (left < right + 20)
        right = 0;
    message_row_add(out, &row, who_columns(v), left - right);
    if (right == 0)
        return;
    AUTO(buf_release) struct buf figure = BUF_INIT;
    auto_free char *count = tokens_text(p->tokens, wide);
    for (size_t i = 0, most = wide ? 2 : 1; i < sizeof marks / sizeof *marks && most > 0; i++)
        if (marks[i]) {
            buf_addf(&figure, " %s", marks[i]);
            most--;
        }
    message_row_field(out, figure.data, marked, p->goes && !look->chosen ? STYLE_WARNING : side);
    message_row_figure(out, count, tokens, side);
    buf_clear(&figure);
    write_share(&figure, p->tokens, v->context.tokens);
    if (share > 0)
        message_row_figure(out, figure.data, share, side);
}

/* --- all rows --------------------------------------------------------------------------------- */

static const struct hint hints[] = {
    {ACTION_SEND, NULL, N_("unfold")},
    {ACTION_CANCEL, NULL, N_("close")},
    {ACTION_CONTEXT_PIN, NULL,
     N_("pin|keep the message word for word in every compaction; again: no longer")},
    {ACTION_CONTEXT_COMPACT, NULL, N_("shorten|compact the conversation now")},
    {ACTION_CONTEXT_UNCOMPACT, NULL, N_("undo|undo the last compaction")},
    {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
    {ACTION_NONE, "n", N_("next dropped|to the next message that a compaction would drop")},
    {ACTION_NONE, "N", N_("|to the one before")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_CONTEXT, NULL, N_("|close")}};
static const struct hint without_compaction[] = {
    {ACTION_SEND, NULL, N_("unfold")},
    {ACTION_CANCEL, NULL, N_("close")},
    {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
    {ACTION_HELP, NULL, N_("help")},
    {ACTION_CONTEXT, NULL, N_("|close")}};

static const struct rows *rows(struct view *view)
{
    struct context_view *v = (struct context_view *)view;
    size_t width = (size_t)view->width;
    rows_clear(&v->rows);
    add_title(v);
    add_kinds(v);
    if (v->view.height > 4) {
        auto_free char *text = forecast_text(v);
        remark_row(&v->rows, text, STYLE_NOTE, width);
    }
    if (view->host->meters->suspended && v->view.height >= LOW) {
        AUTO(buf_release) struct buf key = BUF_INIT;
        keymap_describe_first(view->host->keymap, ACTION_CONTEXT_COMPACT, &key);
        auto_free char *text = mem_printf(
            _("automatic compaction has stopped after failures; if %s succeeds, it starts again"),
            key.len > 0 ? key.data : "/compact");
        remark_row(&v->rows, text, STYLE_WARNING, width);
    }
    v->head_rows = (int)v->rows.list.len;
    int foot = v->view.height > v->head_rows + 1, body = v->view.height - v->head_rows - foot;
    if (body > 0 && v->known) {
        outline_resize(v->outline, v->view.width, body);
        outline_rows(v->outline, &v->rows);
    } else if (body > 0) {
        remark_rows(&v->rows, v->waiting ? _("loading") : "", STYLE_DIM, width, body);
    }
    if (foot && v->asks_compact)
        remark_row(&v->rows, _("Shorten the conversation now? y/n"), STYLE_WARNING, width);
    else if (foot && v->remark.text)
        remark_row(&v->rows, v->remark.text, v->remark.style, width);
    else if (foot)
        hints_rows(&v->rows, view->host->keymap,
                   v->context.mode ? HINTS(hints, COMMON_OUTLINE)
                                   : HINTS(without_compaction, COMMON_OUTLINE),
                   width, 1);
    return &v->rows;
}

/* --- asking ----------------------------------------------------------------------------------- */

static bool take(struct view *view, struct operation_answer *a, const char *words)
{
    struct context_view *v = (struct context_view *)view;
    int64_t before = 0;
    v->waiting = false;
    if (words) {
        remark_set(&v->remark, STYLE_ERROR, words);
        return true;
    }
    v->known = true;
    context_release(&v->context);
    v->context = *(struct context *)a->result;
    *(struct context *)a->result = (struct context){0};
    memset(v->tokens, 0, sizeof v->tokens);
    v->going = v->cached = 0;
    for (size_t i = 0; i < v->context.parts.len; i++) {
        const struct context_part *p = &v->context.parts.items[i];
        if ((size_t)p->kind < CONTEXT_KINDS)
            v->tokens[p->kind] += p->tokens;
        v->going += p->goes;
        before += p->tokens;
        if (before <= v->context.cached)
            v->cached = i + 1;
    }
    outline_fill(v->outline, v->context.parts.len);
    return true;
}

/* A change shows in the next request, which the event of the change asks for. */
static bool changed(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    if (words)
        remark_set(&((struct context_view *)view)->remark, STYLE_ERROR, words);
    return true;
}

static void ask(struct context_view *v)
{
    v->waiting = true;
    v->stale = false;
    v->asked_ms = clock_mono_ms();
    (void)view_ask(&v->view, &operation_context_read, NULL, take);
}

static int64_t due(const struct view *view)
{
    const struct context_view *v = (const struct context_view *)view;
    return v->stale && !v->waiting ? v->asked_ms + ASK_MS : 0;
}

static void tick(struct view *view)
{
    if (due(view) != 0)
        ask((struct context_view *)view);
}

static void notice(struct view *view, struct notice *n)
{
    static const bool changes[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = true,
        [EVENT_REASONING_COMPLETE] = true,
        [EVENT_TEXT_COMPLETE] = true,
        [EVENT_TOOL_CALL_REQUESTED] = true,
        [EVENT_TOOL_EXECUTION_COMPLETED] = true,
        [EVENT_COMMAND_COMPLETED] = true,
        [EVENT_CALL_COMPLETED] = true,
        [EVENT_COMPACTION_COMPLETED] = true,
        [EVENT_COMPACTION_UNDONE] = true,
        [EVENT_REWOUND] = true,
        [EVENT_REWIND_UNDONE] = true,
        [EVENT_MESSAGE_PINNED] = true,
        [EVENT_TURN_COMPLETED] = true,
        [EVENT_TURN_FAILED] = true,
        [EVENT_INTERRUPTED] = true,
    };
    struct context_view *v = (struct context_view *)view;
    if (n->type == NOTICE_SESSION || n->type == NOTICE_PROVIDER)
        v->stale = true;
    else if (n->type == NOTICE_EVENT && n->event->type < EVENT_TYPE_COUNT)
        v->stale = v->stale || changes[n->event->type];
    else if (n->type == NOTICE_BUSY && !n->flag) /* the end of a turn */
        tick(view);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* To the next part that a compaction would drop (n), or to the one before (N). */
static bool move_to_going(struct context_view *v, const struct key *key)
{
    bool back = moves_is_letter(key, 'N');
    size_t count = v->context.parts.len, at = outline_chosen(v->outline);
    if (!back && !moves_is_letter(key, 'n'))
        return false;
    for (size_t i = 1; i < count; i++) {
        size_t to = (at + (back ? count - i : i)) % count;
        if (v->context.parts.items[to].goes) {
            outline_choose(v->outline, to);
            break;
        }
    }
    return true;
}

static void act(struct context_view *v, enum action action, const struct key *key)
{
    size_t chosen = outline_chosen(v->outline);
    const struct context_part *p =
        chosen < v->context.parts.len ? &v->context.parts.items[chosen] : NULL;
    const char *why_not = NULL;
    switch (action) {
    case ACTION_CANCEL:
    case ACTION_CLEAR:
    case ACTION_CONTEXT:
        view_close(&v->view);
        return;
    case ACTION_SEND:
    case ACTION_TOGGLE:
        (void)outline_toggle(v->outline);
        break;
    case ACTION_CONTEXT_PIN:
        if (p && p->kind == CONTEXT_MESSAGE && p->seq > 0 && (p->role != ROLE_TOOL || p->pinned))
            (void)view_ask(&v->view,
                           p->pinned ? &operation_compaction_unpin : &operation_compaction_pin,
                           &(struct compaction_pin_params){.seq = p->seq}, changed);
        else
            why_not = _("Only your messages and answers can be pinned.");
        break;
    case ACTION_CONTEXT_COMPACT:
        v->asks_compact = v->context.mode != NULL;
        if (!v->asks_compact)
            why_not = _("Conversations are not shortened here.");
        break;
    case ACTION_CONTEXT_UNCOMPACT:
        (void)view_ask(&v->view, &operation_compaction_undo, NULL, changed);
        break;
    case ACTION_JUMP:
        if (p && p->seq > 0) {
            v->view.host->show_message(v->view.host->app, &v->view, NULL, p->seq);
            return;
        }
        why_not = _("This is not a message of the conversation.");
        break;
    default:
        if (!move_to_going(v, key))
            (void)outline_key(v->outline, action, key);
    }
    if (why_not)
        remark_set(&v->remark, STYLE_NOTE, why_not);
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct context_view *v = (struct context_view *)view;
    remark_set(&v->remark, STYLE_NOTE, NULL);
    if (action == ACTION_HELP)
        return false;
    if (v->asks_compact) {
        enum hint_answer answer = hint_answer(action, key);
        v->asks_compact = answer == HINT_NO_ANSWER;
        if (answer != HINT_YES)
            return true;
        /* the card in the transcript shows its progress */
        (void)view_ask(view, &operation_compaction_run, NULL, NULL);
        view_close(view);
    } else {
        act(v, view_action(view, action, key), key);
    }
    return true;
}

static void click(struct view *view, int row, int col)
{
    struct context_view *v = (struct context_view *)view;
    (void)col;
    if (!v->asks_compact)
        (void)outline_click(v->outline, row - v->head_rows);
}

/* --- the view --------------------------------------------------------------------------------- */

static void free_view(struct view *view)
{
    struct context_view *v = (struct context_view *)view;
    outline_free(v->outline);
    free(v->text);
    context_release(&v->context);
    rows_release(&v->rows);
    free(v->remark.text);
    free(v);
}

struct view *context_view_new(const struct view_host *host, const char *none)
{
    static const struct view_ops ops = {
        .layer = VIEW_COVER,
        .of_session = true,
        .free = free_view,
        .key = take_key,
        .click = click,
        .rows = rows,
        .notice = notice,
        .due = due,
        .tick = tick,
    };
    struct context_view *v = mem_alloc(sizeof *v);
    (void)none;
    *v = (struct context_view){.view = {.ops = &ops, .host = host}};
    v->outline = outline_new(&(struct outline_host){part_key, part_text, part_heading, v});
    rows_init(&v->rows);
    ask(v);
    return &v->view;
}
