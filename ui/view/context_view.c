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
#include "ui/text/wrap.h"
#include "ui/transcript/messages.h"
#include "ui/view/hints.h"
#include "ui/view/outline.h"
#include "ui/view/view.h"

/* Sums over the parts. */
struct context_sums {
    int64_t tokens[CONTEXT_KINDS];
    size_t going;  /* parts that a compaction now would drop */
    size_t cached; /* parts at the beginning that the provider has kept */
};

struct context_view {
    struct view view;
    struct outline *outline;
    char *text; /* that an opened part shows */
    struct context context;
    struct context_sums sums;
    bool known;   /* an answer has come */
    bool waiting; /* for one */
    bool stale;   /* what is held is out of date */
    int64_t asked_ms;

    bool asks_compact; /* yes or no */
    struct remark remark;

    int width, height;
    int head_rows; /* above the outline, as drawn last */
    struct rows rows;
};

/* context_rows.c */
static void context_view_resize(struct view *view, int width, int height);
static const struct rows *context_view_rows(struct view *view);
/* What an opened part shows: how it is left out, its cap, and all of it. The caller frees. */
static char *context_part_text(const struct context_part *p);
static void context_part_heading(void *view, size_t part, const struct outline_look *look,
                                 struct rows *out);

enum {
    WIDE = 70,     /* columns, from which on all marks are words and tokens exact */
    TALL = 16,     /* rows, from which on each kind has its own */
    LOW = 9,       /* below that: the title, what goes, the parts */
    WHO_MOST = 15, /* columns of a kind's name */
    WHO_NARROW = 8,
    MARK_MOST = 16,    /* of one mark */
    SHARE_COLUMNS = 6, /* "100 %" and a blank */
    BAR_LEAST = 10,
    BAR_MOST = 40
};

/* Parts of other kinds get their row here. */
#define X(id, word, label) label,
static const char *const kinds[CONTEXT_KINDS] = {CONTEXT_KIND_LIST(X)};
#undef X

const char *context_kind_name(enum context_kind kind)
{
    return (size_t)kind < CONTEXT_KINDS ? _(kinds[kind]) : "";
}

static const char *who(const struct context_part *p)
{
    return p->kind == CONTEXT_MESSAGE ? message_row_who(p->role) : context_kind_name(p->kind);
}

static size_t columns_of(const char *text)
{
    return utf8_width(text, strlen(text));
}

static void widen(size_t *columns, const char *text, size_t most)
{
    size_t width = columns_of(text);
    if (width > *columns)
        *columns = width < most ? width : most;
}

static size_t who_columns(const struct context_view *v)
{
    size_t columns = 0, most = v->width >= WIDE ? WHO_MOST : WHO_NARROW;
    for (size_t i = 0; i < CONTEXT_KINDS; i++)
        widen(&columns, _(kinds[i]), most);
    for (int r = ROLE_SYSTEM; r <= ROLE_TOOL; r++)
        widen(&columns, message_row_who((enum role)r), most);
    return columns;
}

/* --- figures --- */

static void write_share(struct buf *out, int64_t tokens, int64_t of)
{
    int percent = figure_share(tokens, of, 100, INT_MAX);
    if (percent == 0 && tokens > 0)
        buf_addf(out, "<1 %%");
    else
        buf_addf(out, "%d %%", percent);
}

static void write_tokens(struct buf *out, int64_t tokens, bool exact)
{
    if (exact)
        format_exact(out, tokens);
    else
        format_short(out, tokens);
}

/* "window 1,204", if there is such a number. */
static void add_figure(struct buf *out, const char *what, int64_t number, bool exact)
{
    struct buf figure = BUF_INIT;
    if (number <= 0)
        return;
    write_tokens(&figure, number, exact);
    buf_addf(out, " %s %s %s", glyph(GLYPH_DOT), what, figure.data);
    buf_release(&figure);
}

static void draw_title(struct context_view *v)
{
    const struct context *c = &v->context;
    bool exact = v->width >= WIDE;
    size_t width = (size_t)v->width, used = 1;
    struct buf text = BUF_INIT, tokens = BUF_INIT;
    rows_begin(&v->rows);
    rows_addstr(&v->rows, " ", STYLE_OVERLAY_TITLE, 0);
    used += rows_add_cut(&v->rows, _("Context"), width - used, STYLE_OVERLAY_TITLE);
    write_tokens(&tokens, c->tokens, true);
    if (v->known)
        buf_addf(&text, _("  ~%s tokens"), tokens.data);
    add_figure(&text, _("window"), c->window, false);
    add_figure(&text, _("compacts at"), c->threshold, false);
    add_figure(&text, _("last request"), c->last_input, exact);
    add_figure(&text, _("cached"), c->cached, exact);
    if (c->sent > 0 || c->received > 0) {
        AUTO(buf_release) struct buf sent = BUF_INIT, received = BUF_INIT;
        write_tokens(&sent, c->sent, false);
        write_tokens(&received, c->received, false);
        buf_addf(&text, _(" %s session %s in, %s out"), glyph(GLYPH_DOT), sent.data, received.data);
    }
    message_row_field(&v->rows, text.data, width - used, STYLE_OVERLAY);
    buf_release(&text);
    buf_release(&tokens);
}

/* --- kinds --- */

static void add_bar(struct rows *out, int64_t part, int64_t of, size_t cells)
{
    size_t full = of > 0 ? (size_t)((double)part / (double)of * (double)cells + 0.5) : 0;
    if (full == 0 && part > 0)
        full = 1;
    for (size_t i = 0; i < cells; i++)
        rows_addstr(out, glyph(i < full ? GLYPH_GAUGE_FULL : GLYPH_GAUGE_EMPTY),
                    i < full ? STYLE_GAUGE : STYLE_DIM, 0);
}

/* " history  ▓▓▓▓▓▓░░░  51,204  82 %" */
static void draw_kind(struct context_view *v, enum context_kind kind)
{
    size_t width = (size_t)v->width, names = who_columns(v), figures = 12 + SHARE_COLUMNS;
    size_t room = width > names + 3 + figures ? width - names - 3 - figures : 0;
    size_t cells = room > BAR_MOST ? BAR_MOST : room, used = 1 + names + 1 + cells;
    struct buf tokens = BUF_INIT, share = BUF_INIT;
    rows_begin(&v->rows);
    if (used > width) {
        message_row_field(&v->rows, context_kind_name(kind), width, STYLE_OVERLAY);
        return;
    }
    write_tokens(&tokens, v->sums.tokens[kind], true);
    write_share(&share, v->sums.tokens[kind], v->context.tokens);
    rows_addstr(&v->rows, " ", STYLE_OVERLAY, 0);
    message_row_field(&v->rows, context_kind_name(kind), names, STYLE_OVERLAY);
    rows_addstr(&v->rows, " ", STYLE_OVERLAY, 0);
    add_bar(&v->rows, v->sums.tokens[kind], v->context.tokens, cells);
    if (used + figures <= width) {
        message_row_figure(&v->rows, tokens.data, 12, STYLE_OVERLAY);
        message_row_figure(&v->rows, share.data, SHARE_COLUMNS, STYLE_DIM);
        used += figures;
    }
    message_row_field(&v->rows, "", width - used, STYLE_OVERLAY);
    buf_release(&tokens);
    buf_release(&share);
}

/* " system 2 % · tools 10 % · history 88 %" */
static void draw_kinds_in_a_row(struct context_view *v)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < CONTEXT_KINDS; i++) {
        if (v->sums.tokens[i] <= 0)
            continue;
        buf_addf(&text, " %s%s%s ", text.len > 0 ? glyph(GLYPH_DOT) : "", text.len > 0 ? " " : "",
                 _(kinds[i]));
        write_share(&text, v->sums.tokens[i], v->context.tokens);
    }
    rows_begin(&v->rows);
    message_row_field(&v->rows, text.data, (size_t)v->width, STYLE_DIM);
    buf_release(&text);
}

static void draw_kinds(struct context_view *v)
{
    if (v->height >= LOW && v->height < TALL)
        draw_kinds_in_a_row(v);
    for (int i = 0; i < CONTEXT_KINDS && v->height >= TALL; i++)
        if (v->sums.tokens[i] > 0)
            draw_kind(v, (enum context_kind)i);
}

/* --- what a compaction now would do --- */

static char *going_text(const struct context_view *v)
{
    const struct context *c = &v->context;
    struct buf before = BUF_INIT, after = BUF_INIT, mode = BUF_INIT;
    bool wide = v->width >= WIDE;
    char *text;
    if (!v->known)
        return mem_strdup("");
    if (!c->mode)
        return mem_strdup(_("Compaction is off."));
    const char *name = COMPACTION_MODE_LABEL(c->mode);
    utf8_clean(&mode, name, strlen(name), UTF8_ONE_LINE);
    write_tokens(&before, c->tokens, wide);
    write_tokens(&after, c->tokens_after, wide);
    if (c->tokens_after < 0)
        text = mem_printf(_("a compaction now (%s) would drop nothing"), mode.data);
    else if (v->sums.going == 0)
        text = mem_printf(_("a compaction now (%s) would shorten messages, %s %s ~%s"), mode.data,
                          before.data, glyph(GLYPH_ARROW), after.data);
    else if (wide)
        text = mem_printf(ngettext("a compaction now (%s) would drop %zu message, %s %s ~%s",
                                   "a compaction now (%s) would drop %zu messages, %s %s ~%s",
                                   v->sums.going),
                          mode.data, v->sums.going, before.data, glyph(GLYPH_ARROW), after.data);
    else
        text = mem_printf(ngettext("would drop %zu message, %s %s ~%s",
                                   "would drop %zu messages, %s %s ~%s", v->sums.going),
                          v->sums.going, before.data, glyph(GLYPH_ARROW), after.data);
    buf_release(&before);
    buf_release(&after);
    buf_release(&mode);
    return text;
}

static void draw_going(struct context_view *v)
{
    char *text = going_text(v);
    rows_begin(&v->rows);
    rows_addstr(&v->rows, " ", STYLE_NOTE, 0);
    message_row_field(&v->rows, text, (size_t)v->width - 1, STYLE_NOTE);
    free(text);
}

/* What the status line says in two words, and the way out. */
static void draw_stopped(struct context_view *v)
{
    struct buf key = BUF_INIT, text = BUF_INIT;
    if (!v->view.host->meters->suspended || v->height < LOW)
        return;
    keymap_describe_first(v->view.host->keymap, ACTION_CONTEXT_COMPACT, &key);
    buf_addf(&text,
             _("automatic compaction has stopped after failures; if %s succeeds, it starts "
               "again"),
             key.len > 0 ? key.data : "/compact");
    remark_row(&v->rows, text.data, STYLE_WARNING, (size_t)v->width);
    buf_release(&key);
    buf_release(&text);
}

/* --- parts --- */

/* Their first line says what the row says by itself. */
static bool has_heading(enum context_kind kind)
{
    return kind == CONTEXT_INSTRUCTIONS || kind == CONTEXT_LEARNED || kind == CONTEXT_GRAPH;
}

/* The last two names of a path: its front is the same for all. */
static const char *path_end(const char *path)
{
    const char *end = strrchr(path, '/');
    while (end && end > path && end[-1] != '/')
        end--;
    return end ? end : path;
}

/* The caller frees. A summary begins with what each of them begins with: the row has words for
 * that. What has a source says it first. */
static char *telling_text(const struct context_part *p)
{
    const char *text = p->text ? p->text : "";
    if (has_heading(p->kind) && *text == '#')
        text += strcspn(text, "\n") + strspn(text + strcspn(text, "\n"), "\n");
    const char *mark_end = *text == '[' ? strchr(text, ']') : NULL;
    bool marked = p->kind == CONTEXT_SUMMARY && mark_end;
    if (marked && mark_end[1 + strspn(mark_end + 1, " \n")])
        text = mark_end + 1;
    const char *source =
        p->source && p->kind == CONTEXT_INSTRUCTIONS ? path_end(p->source) : p->source;
    return source ? mem_printf("%s: %s", source, text) : mem_strdup(text);
}

enum { MARKS = 4 };
struct marks {
    bool shown;
    const char *word; /* for gettext */
};

static const char *word_for_dropped(const struct context_view *v)
{
    return v->width >= WIDE ? N_("would be dropped") : N_("dropped");
}

/* The most important first. What is pinned is never dropped. */
static void marks_of(const struct context_view *v, size_t part, struct marks out[MARKS])
{
    const struct context_part *p = &v->context.parts.items[part];
    out[0] = (struct marks){p->goes, word_for_dropped(v)};
    out[1] = (struct marks){p->pinned, N_("pinned")};
    out[2] = (struct marks){p->whole > 0, N_("cut")};
    out[3] = (struct marks){part < v->sums.cached, N_("cached")};
}

static size_t mark_columns(const struct context_view *v)
{
    size_t fate = 0, cached = 0;
    widen(&fate, _(word_for_dropped(v)), MARK_MOST);
    widen(&fate, _("pinned"), MARK_MOST);
    widen(&cached, _("cached"), MARK_MOST);
    return 1 + (v->width >= WIDE ? fate + 1 + cached : fate > cached ? fate : cached);
}

static char *mark_text(const struct context_view *v, size_t part)
{
    struct marks marks[MARKS];
    struct buf text = BUF_INIT;
    size_t left = v->width >= WIDE ? 2 : 1;
    marks_of(v, part, marks);
    for (size_t i = 0; i < MARKS && left > 0; i++) {
        if (!marks[i].shown)
            continue;
        buf_addf(&text, " %s", _(marks[i].word));
        left--;
    }
    return buf_take(&text);
}

static void context_part_heading(void *view, size_t part, const struct outline_look *look,
                                 struct rows *out)
{
    const struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[part];
    bool wide = v->width >= WIDE;
    enum style side = look->chosen ? STYLE_SELECTED : STYLE_DIM;
    size_t marks = mark_columns(v), tokens = wide ? 10 : 6, share = wide ? SHARE_COLUMNS : 0;
    size_t right = marks + tokens + share, left = look->columns;
    char *text = telling_text(p);
    const struct message_row row = {who(p),     p->turn,     text, p->text && *p->text,
                                    look->open, look->chosen};
    if (left < right + 20)
        right = 0;
    message_row_add(out, &row, who_columns(v), left - right);
    free(text);
    if (right == 0)
        return;
    struct buf figure = BUF_INIT;
    char *mark = mark_text(v, part);
    message_row_field(out, mark, marks, p->goes && !look->chosen ? STYLE_WARNING : side);
    write_tokens(&figure, p->tokens, wide);
    message_row_figure(out, figure.data, tokens, side);
    buf_clear(&figure);
    write_share(&figure, p->tokens, v->context.tokens);
    if (share > 0)
        message_row_figure(out, figure.data, share, side);
    free(mark);
    buf_release(&figure);
}

/* What leaves the kind out, or changes it. Messages are what a compaction is for. */
static const char *const switches[CONTEXT_KINDS] = {
    [CONTEXT_SYSTEM] = N_("Changed by /system."),
    [CONTEXT_INSTRUCTIONS] = N_("Off: [project] instructions = false."),
    [CONTEXT_SKILLS] = N_("Off: [tools] deny, with its tools."),
    [CONTEXT_LEARNED] = N_("Off: /memory off, or [learned] max_prompt_tokens = 0."),
    [CONTEXT_GRAPH] = N_("Off: /memory off, or [graph] max_prompt_tokens = 0."),
    [CONTEXT_TOOLS] = N_("Fewer: [chat] tools, [tools] deny."),
    [CONTEXT_SUMMARY] = N_("Undone by /uncompact.")};

static char *context_part_text(const struct context_part *p)
{
    const char *way = (size_t)p->kind < CONTEXT_KINDS ? switches[p->kind] : NULL;
    struct buf text = BUF_INIT;
    if (way)
        buf_addstr(&text, _(way));
    if (p->cap > 0) {
        struct buf cap = BUF_INIT;
        format_exact(&cap, p->cap);
        buf_addch(&text, ' ');
        buf_addf(&text, _("At most %s tokens."), cap.data);
        buf_release(&cap);
    }
    buf_addf(&text, "%s%s", text.len > 0 ? "\n\n" : "", p->text);
    return buf_take(&text);
}

/* --- the last row --- */

static void draw_hints(struct context_view *v)
{
    static const struct hint hints[] = {
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_CANCEL, NULL, N_("close")},
        {ACTION_CONTEXT_PIN, NULL,
         N_("pin|keep the message word for word in every compaction; again: no longer")},
        {ACTION_CONTEXT_COMPACT, NULL, N_("shorten|compact the conversation now")},
        {ACTION_CONTEXT_UNCOMPACT, NULL, N_("undo|undo the last compaction")},
        {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
        {ACTION_NONE, "n", N_("next dropped|to the next message that a compaction would drop")},
        {ACTION_HELP, NULL, N_("help")}};
    static const struct hint fixed[] = {
        {ACTION_SEND, NULL, N_("unfold")},
        {ACTION_CANCEL, NULL, N_("close")},
        {ACTION_JUMP, NULL, N_("jump|show the message in the conversation")},
        {ACTION_HELP, NULL, N_("help")}};
    size_t width = (size_t)v->width;
    if (v->asks_compact)
        remark_row(&v->rows, _("Shorten the conversation now? y/n"), STYLE_WARNING, width);
    else if (v->remark.text)
        remark_row(&v->rows, v->remark.text, v->remark.style, width);
    else if (v->context.mode)
        hints_rows(&v->rows, v->view.host->keymap, HINTS(hints), width, 1);
    else /* nothing is shortened, so nothing is pinned */
        hints_rows(&v->rows, v->view.host->keymap, HINTS(fixed), width, 1);
}

static void context_view_resize(struct view *view, int width, int height)
{
    struct context_view *v = (struct context_view *)view;
    v->width = width > 2 ? width : 2;
    v->height = height > 1 ? height : 1;
}

static void draw_parts(struct context_view *v, int height)
{
    if (v->known) {
        outline_resize(v->outline, v->width, height);
        outline_rows(v->outline, &v->rows);
        return;
    }
    for (int i = 0; i < height; i++) {
        rows_begin(&v->rows);
        message_row_field(&v->rows, i == 0 && v->waiting ? _(" loading") : "", (size_t)v->width,
                          STYLE_DIM);
    }
}

static const struct rows *context_view_rows(struct view *view)
{
    struct context_view *v = (struct context_view *)view;
    rows_clear(&v->rows);
    draw_title(v);
    draw_kinds(v);
    if (v->height > 4)
        draw_going(v);
    draw_stopped(v);
    v->head_rows = (int)v->rows.list.len;
    int last = v->height > v->head_rows + 1;
    if (v->height > v->head_rows)
        draw_parts(v, v->height - v->head_rows - last);
    if (last)
        draw_hints(v);
    return &v->rows;
}

enum { ASK_MS = 1000 };

/* --- what is held --- */

static int64_t part_key(void *view, size_t index)
{
    const struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[index];
    int64_t of_kind = 0;
    for (size_t i = 0; p->seq <= 0 && i < index; i++)
        of_kind += v->context.parts.items[i].kind == p->kind;
    return p->seq > 0 ? p->seq : -1 - (int64_t)p->kind - CONTEXT_KINDS * of_kind;
}

static struct outline_text part_text(void *view, size_t index)
{
    struct context_view *v = view;
    const struct context_part *p = &v->context.parts.items[index];
    if (!p->text || !*p->text)
        return (struct outline_text){0};
    free(v->text);
    v->text = context_part_text(p);
    return (struct outline_text){v->text, false};
}

static struct context_view *of(struct view *view)
{
    return (struct context_view *)view;
}

/* NULL: there are none. */
static const struct context_part *chosen_part(const struct context_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->context.parts.len ? &v->context.parts.items[chosen] : NULL;
}

static int64_t chosen_message(const struct context_view *v)
{
    const struct context_part *p = chosen_part(v);
    return p ? p->seq : 0;
}

/* --- asking and answers --- */

static struct context_sums sums_of(const struct context *c)
{
    struct context_sums sums = {0};
    int64_t before = 0;
    for (size_t i = 0; i < c->parts.len; i++) {
        const struct context_part *p = &c->parts.items[i];
        if ((size_t)p->kind < CONTEXT_KINDS)
            sums.tokens[p->kind] += p->tokens;
        sums.going += p->goes;
        before += p->tokens;
        if (before <= c->cached)
            sums.cached = i + 1;
    }
    return sums;
}

static bool take(struct view *view, struct operation_answer *a, const char *words)
{
    struct context_view *v = of(view);
    v->waiting = false;
    if (words) {
        remark_set(&v->remark, STYLE_ERROR, words);
        return true;
    }
    v->known = true;
    context_release(&v->context);
    v->context = *(struct context *)a->result;
    *(struct context *)a->result = (struct context){0};
    v->sums = sums_of(&v->context);
    outline_fill(v->outline, v->context.parts.len);
    return true;
}

/* What is done is seen in what the next request is then. */
static bool changed(struct view *view, struct operation_answer *a, const char *words)
{
    (void)a;
    if (words)
        remark_set(&of(view)->remark, STYLE_ERROR, words);
    return true;
}

static void ask(struct context_view *v)
{
    v->waiting = true;
    v->stale = false;
    v->asked_ms = clock_mono_ms();
    (void)view_ask(&v->view, &operation_context_read, NULL, take);
}

static bool changes_request(enum event_type type)
{
    static const bool changes[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = true,
        [EVENT_REASONING_COMPLETE] = true,
        [EVENT_TEXT_COMPLETE] = true,
        [EVENT_TOOL_CALL_REQUESTED] = true,
        [EVENT_TOOL_EXECUTION_COMPLETED] = true,
        [EVENT_CALL_COMPLETED] = true,
        [EVENT_COMPACTION_COMPLETED] = true,
        [EVENT_COMPACTION_UNDONE] = true,
        [EVENT_MESSAGE_PINNED] = true,
        [EVENT_TURN_COMPLETED] = true,
        [EVENT_TURN_FAILED] = true,
        [EVENT_INTERRUPTED] = true,
    };
    return type < EVENT_TYPE_COUNT && changes[type];
}

static int64_t due(const struct view *view)
{
    const struct context_view *v = (const struct context_view *)view;
    return v->stale && !v->waiting ? v->asked_ms + ASK_MS : 0;
}

static void tick(struct view *view)
{
    struct context_view *v = of(view);
    if (v->stale && !v->waiting)
        ask(v);
}

static void notice(struct view *view, struct notice *n)
{
    struct context_view *v = of(view);
    if (n->type == NOTICE_SESSION || n->type == NOTICE_PROVIDER)
        v->stale = true;
    else if (n->type == NOTICE_EVENT && changes_request(n->event->type))
        v->stale = true;
    else if (n->type == NOTICE_BUSY && !n->flag) /* the end of a turn */
        tick(view);
}

/* --- what can be done --- */

static void toggle(struct view *view)
{
    (void)outline_toggle(of(view)->outline);
}

static bool can_pin(const struct context_part *p)
{
    return p && p->kind == CONTEXT_MESSAGE && p->seq > 0 && p->role != ROLE_TOOL;
}

static void pin(struct view *view)
{
    struct context_view *v = of(view);
    const struct context_part *p = chosen_part(v);
    if (!can_pin(p)) {
        remark_set(&v->remark, STYLE_NOTE, _("Only your messages and answers can be pinned."));
        return;
    }
    (void)view_ask(view, p->pinned ? &operation_compaction_unpin : &operation_compaction_pin,
                   &(struct compaction_pin_params){.seq = p->seq}, changed);
}

static void ask_compact(struct view *view)
{
    struct context_view *v = of(view);
    v->asks_compact = v->context.mode != NULL;
    if (!v->asks_compact)
        remark_set(&v->remark, STYLE_NOTE, _("Conversations are not shortened here."));
}

static void undo(struct view *view)
{
    (void)view_ask(view, &operation_compaction_undo, NULL, changed);
}

static void jump(struct view *view)
{
    int64_t seq = chosen_message(of(view));
    if (seq > 0)
        view_jump(view, seq);
    else
        remark_set(&of(view)->remark, STYLE_NOTE, _("This is not a message of the conversation."));
}

static const struct view_key keys[] = {{ACTION_CANCEL, view_close},
                                       {ACTION_CLEAR, view_close},
                                       {ACTION_CONTEXT, view_close},
                                       {ACTION_SEND, toggle},
                                       {ACTION_TOGGLE, toggle},
                                       {ACTION_CONTEXT_PIN, pin},
                                       {ACTION_CONTEXT_COMPACT, ask_compact},
                                       {ACTION_CONTEXT_UNCOMPACT, undo},
                                       {ACTION_JUMP, jump},
                                       {ACTION_NONE, NULL}};

/* --- keys --- */

/* The card in the transcript shows how it goes. */
static void answer_key(struct context_view *v, enum action action, const struct key *key)
{
    enum hint_answer answer = hint_answer(action, key);
    if (answer == HINT_NO_ANSWER)
        return;
    v->asks_compact = false;
    if (answer == HINT_NO)
        return;
    (void)view_ask(&v->view, &operation_compaction_run, NULL, NULL);
    view_close(&v->view);
}

/* To the next part that goes, or back to the one before. */
static bool move_to_going(struct context_view *v, const struct key *key)
{
    bool back = key->cp == 'N';
    if (key->code != K_CHAR || key->ctrl || key->alt || (key->cp != 'n' && !back))
        return false;
    size_t count = v->context.parts.len, at = outline_chosen(v->outline);
    for (size_t i = 1; i < count; i++) {
        size_t to = (at + (back ? count - i : i)) % count;
        if (v->context.parts.items[to].goes) {
            outline_choose(v->outline, to);
            break;
        }
    }
    return true;
}

static bool take_key(struct view *view, enum action action, const struct key *key)
{
    struct context_view *v = of(view);
    if (action == ACTION_HELP)
        return false;
    remark_set(&v->remark, STYLE_NOTE, NULL);
    if (v->asks_compact)
        answer_key(v, action, key);
    else if (!view_run_key(view, keys, action, key) && !move_to_going(v, key))
        (void)outline_key(v->outline, action, key);
    return true;
}

static void click(struct view *view, int row, int col)
{
    struct context_view *v = of(view);
    (void)col;
    if (!v->asks_compact)
        (void)outline_click(v->outline, row - v->head_rows);
}

/* --- the view --- */

static void free_view(struct view *view)
{
    struct context_view *v = of(view);
    outline_free(v->outline);
    free(v->text);
    context_release(&v->context);
    rows_release(&v->rows);
    remark_release(&v->remark);
    free(v);
}

static const struct view_ops ops = {
    .layer = VIEW_COVER,
    .of_session = true,
    .free = free_view,
    .key = take_key,
    .click = click,
    .resize = context_view_resize,
    .rows = context_view_rows,
    .notice = notice,
    .due = due,
    .tick = tick,
};

struct view *context_view_new(const struct view_host *host, const char *none)
{
    (void)none;
    struct context_view *v = mem_alloc(sizeof *v);
    const struct outline_host outline = {part_key, part_text, context_part_heading, v};
    v->view = (struct view){.ops = &ops, .host = host};
    v->outline = outline_new(&outline);
    v->width = v->height = 1;
    rows_init(&v->rows);
    ask(v);
    return &v->view;
}
