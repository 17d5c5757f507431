#include "ui/transcript/compaction_card.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "ui/term/rows.h"
#include "ui/text/format.h"
#include "ui/text/wrap.h"

enum {
    KEPT_MAX = 16 * 1024, /* bytes of a summary that streams; its end is kept */
    KEPT_LEAST = 8 * 1024,
    STREAM_ROWS = 3,       /* of a summary that streams */
    STREAM_MAX = 4 * 1024, /* bytes of it that are looked at */
    SEPARATOR_COLUMNS = 3,
    LEAST_MARKED = 4, /* columns that a row with a mark or indented has */
    NAME_MAX = 200    /* bytes */
};

/* The event without the parts that no card shows. */
static struct event *keep(const struct event *ev)
{
    struct event *kept = event_clone(ev);
    char **unused[] = {&kept->compaction.history, &kept->compaction.dropped, &kept->text};
    for (size_t i = 0; i < (kept->type == EVENT_COMPACTION_COMPLETED ? 3 : 2); i++) {
        free(*unused[i]);
        *unused[i] = NULL;
    }
    return kept;
}

void compaction_card_set(struct item *item, enum card_state state)
{
    item->card->state = state;
    item->streaming = state == CARD_RUNNING;
    item->change = ITEM_CHANGED;
}

void compaction_card_restart(struct item *item)
{
    buf_clear(&item->text);
    buf_clear(&item->tail);
    item->change = ITEM_CHANGED;
}

void compaction_card_apply(struct item *item, const struct event *ev)
{
    struct compaction_card *card = item->card;
    struct buf *text = &item->text;
    switch (ev->type) {
    case EVENT_COMPACTION_STARTED:
        event_free(card->started);
        card->started = keep(ev);
        compaction_card_set(item, CARD_RUNNING);
        break;
    case EVENT_COMPACTION_DELTA:
        if (ev->count > 0 && ev->count != card->part)
            compaction_card_restart(item);
        if (ev->count > 0) {
            card->part = ev->count;
            card->parts = ev->limit;
        }
        item_append(item, ev->text ? ev->text : "");
        if (text->len > KEPT_MAX)
            buf_consume(text, utf8_cut_bytes(text->data, text->len, text->len - KEPT_LEAST));
        compaction_card_set(item, CARD_RUNNING);
        break;
    default:
        event_free(card->ended);
        card->ended = keep(ev);
        compaction_card_restart(item);
        compaction_card_set(item, ev->type == EVENT_COMPACTION_COMPLETED ? CARD_DONE : CARD_FAILED);
    }
}

int64_t compaction_card_completed(const struct item *item)
{
    const struct compaction_card *card = item->card;
    return card && card->state == CARD_DONE ? card->ended->seq : 0;
}

/* --- rows of pieces --- */

/* Pieces with a dot between them, broken between pieces. The row begins with the first piece. */
struct flow {
    struct rows *out;
    size_t width;
    const char *mark; /* one column, before the first piece */
    enum style style; /* of the mark */
    bool begun;
};

/* Adds a piece behind `between`, SEPARATOR_COLUMNS wide, or on a new row. */
static void flow_add_after(struct flow *f, const char *between, const char *text, enum style style)
{
    size_t needed = SEPARATOR_COLUMNS + utf8_width(text, strlen(text));
    bool fits = f->begun && needed <= rows_room(f->out, f->width);
    if (!*text)
        return;
    if (fits)
        rows_addstr(f->out, between, STYLE_DIM, 0);
    else
        rows_begin(f->out);
    if (!fits && f->width >= LEAST_MARKED) {
        rows_addstr(f->out, f->begun ? " " : f->mark, f->begun ? STYLE_TEXT : f->style, 0);
        rows_addstr(f->out, " ", f->begun ? STYLE_TEXT : f->style, 0);
    }
    f->begun = true;
    rows_add_cut(f->out, text, rows_room(f->out, f->width), style);
}

static void flow_add(struct flow *f, const char *text, enum style style)
{
    auto_free char *between = mem_printf(" %s ", glyph(GLYPH_DOT));
    flow_add_after(f, between, text, style);
}

__attribute__((format(printf, 3, 4))) static void flow_addf(struct flow *f, enum style style,
                                                            const char *format, ...)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    flow_add(f, text.data, style);
}

/* Adds the text and empties it. */
static void flow_take(struct flow *f, struct buf *text, enum style style)
{
    flow_add(f, text->data, style);
    buf_clear(text);
}

/* Adds a name or a message of unknown origin. */
static void add_clean(struct buf *out, const char *text)
{
    if (text)
        utf8_clean(out, text, utf8_cut_bytes(text, strlen(text), NAME_MAX), UTF8_ONE_LINE);
}

static void flow_name(struct flow *f, const char *text, enum style style)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    add_clean(&clean, text);
    flow_add(f, clean.data, style);
}

static void flow_mode(struct flow *f, const char *mode, enum style style)
{
    flow_name(f, mode ? COMPACTION_MODE_LABEL(mode) : mode, style);
}

/* Adds a key and what it does, behind the rest. */
static void flow_hint(struct flow *f, const char *key, const char *what)
{
    if (!key || !*key)
        return;
    auto_free char *text =
        mem_printf("%s %s", strcmp(key, "Enter") == 0 ? glyph(GLYPH_ENTER) : key, what);
    flow_add_after(f, "   ", text, STYLE_DIM);
}

static void add_wrapped(struct rows *out, int width, const char *text, enum style style)
{
    AUTO(styled_release) struct styled indent = STYLED_INIT;
    styled_addstr(&indent, "  ", STYLE_TEXT, 0);
    wrap_string(out, text, style, 0,
                &(struct wrap_look){(size_t)width, WRAP_WORDS, &indent, &indent});
}

/* The first row: a mark and a word for what happened. */
static struct flow head(struct rows *out, int width, enum glyph mark, const char *what,
                        enum style style)
{
    struct flow f = {out, (size_t)width, glyph(mark), style, false};
    flow_add(&f, what, style);
    return f;
}

static unsigned long plural(int64_t n)
{
    return n > 0 ? (unsigned long)n : 0;
}

static void add_tokens(struct buf *out, int64_t n)
{
    auto_free char *figure = format_exact(n);
    buf_addf(out, ngettext("%s token", "%s tokens", plural(n)), figure);
}

/* --- while it runs --- */

static bool is_micro(const struct event *ev)
{
    return ev && ev->compaction.stage && strcmp(ev->compaction.stage, "micro") == 0;
}

static void add_trigger(struct buf *out, const struct compaction *c)
{
    static const struct {
        const char *trigger, *words;
    } triggers[] = {
        {"input_tokens", N_("limit of %s tokens reached")},
        {"estimate", N_("limit of %s tokens, by estimate")},
        {"request", N_("next request would not fit the model")},
        {"overflow", N_("the request was too long for the model")},
        {"manual", N_("manual")},
    };
    for (size_t i = 0; c->trigger && i < sizeof triggers / sizeof *triggers; i++) {
        const char *words = _(triggers[i].words), *figure = strstr(words, "%s");
        if (strcmp(c->trigger, triggers[i].trigger) != 0)
            continue;
        buf_add(out, words, figure ? (size_t)(figure - words) : strlen(words));
        auto_free char *threshold = format_exact(c->threshold);
        if (figure)
            buf_addf(out, "%s%s", threshold, figure + 2);
    }
}

/* The last rows of a summary that streams. */
static void add_stream(struct rows *out, const struct item *item, int width)
{
    const struct buf *text = &item->text;
    size_t len = text->len, step = STREAM_MAX / 2;
    while (len > 0 && strchr(" \n", text->data[len - 1]))
        len--;
    if (len == 0)
        return;
    /* the beginning moves in steps, so that the rows of a long line stay while it grows */
    size_t from = len > STREAM_MAX ? (len - STREAM_MAX) / step * step : 0;
    from = utf8_cut_bytes(text->data, len, from);
    auto_free char *end = mem_strndup(text->data + from, len - from);
    struct rows all;
    rows_init(&all);
    add_wrapped(&all, width, end, STYLE_DIM);
    size_t count = all.list.len, first = count > STREAM_ROWS ? count - STREAM_ROWS : 0;
    for (size_t i = first; i < count; i++)
        rows_copy(out, &all, i);
    rows_release(&all);
}

static void running(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    const struct compaction *c = card->started ? &card->started->compaction : NULL;
    int64_t ms = card->elapsed_ms;
    int seconds = ms > 0 && ms < (int64_t)INT32_MAX * 1000 ? (int)(ms / 1000) : 0;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct flow f = head(out, width, GLYPH_CARD, _("compacting"), STYLE_NOTE);
    if (is_micro(card->started))
        flow_add(&f, _("shortening tool results"), STYLE_NOTE);
    else if (c)
        flow_mode(&f, c->mode, STYLE_NOTE);
    if (c && (c->request_before > 0 || c->estimate > 0)) {
        bool whole = c->request_before > 0; /* older events know only the history */
        buf_addf(&text, "%s%s~", whole ? "" : _("history"), whole ? "" : " ");
        add_tokens(&text, whole ? c->request_before : c->estimate);
        flow_take(&f, &text, STYLE_NOTE);
    }
    if (seconds < 60)
        flow_addf(&f, STYLE_NOTE, _("%d s"), seconds);
    else
        flow_addf(&f, STYLE_NOTE, "%d:%02d", seconds / 60, seconds % 60);
    if (card->hints)
        flow_hint(&f, card->hints->cancel, _("cancels"));
    if (c) {
        f = (struct flow){out, (size_t)width, " ", STYLE_TEXT, false};
        if (!is_micro(card->started))
            flow_name(&f, card->started->model, STYLE_DIM);
        add_trigger(&text, c);
        flow_take(&f, &text, STYLE_DIM);
        if (card->parts > 1)
            flow_addf(&f, STYLE_DIM, _("part %d of %d"), card->part, card->parts);
    }
    add_stream(out, item, width);
}

/* --- its outcome --- */

/* Adds the model, the price and the time of a compaction. */
static void flow_effort(struct flow *f, const struct event *ev, enum style style)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    flow_name(f, ev->model, style);
    if (ev->used > 0)
        format_cost(&text, ev->used);
    flow_take(f, &text, style);
    if (ev->number > 0)
        format_duration(&text, ev->number);
    flow_take(f, &text, style);
}

/* Tells that another mode than the wanted one was used, and why. */
static void add_stand_in(struct rows *out, const struct event *ended, int width)
{
    const struct compaction *c = &ended->compaction;
    if (is_micro(ended) || !c->mode || !c->effective_mode ||
        strcmp(c->mode, c->effective_mode) == 0)
        return;
    AUTO(buf_release) struct buf mode = BUF_INIT;
    AUTO(buf_release) struct buf effective = BUF_INIT;
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_clean(&mode, c->mode);
    add_clean(&effective, c->effective_mode);
    buf_addf(&text, _("%s instead of %s"), effective.data, mode.data);
    if (ended->name && *ended->name) {
        buf_addstr(&text, ": ");
        add_clean(&text, ended->name);
    }
    add_wrapped(out, width, text.data, STYLE_WARNING);
}

static void add_suspended(struct rows *out, const struct compaction *c, int width)
{
    if (!c->suspended)
        return;
    auto_free char *text = mem_printf(
        ngettext("Automatic compaction has stopped in this session after %d failure. It starts "
                 "again when /compact succeeds, or when you choose another mode or model.",
                 "Automatic compaction has stopped in this session after %d failures in a row. It "
                 "starts again when /compact succeeds, or when you choose another mode or model.",
                 plural(c->failures)),
        c->failures);
    add_wrapped(out, width, text, STYLE_ERROR);
}

static void done(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    const struct event *ev = card->ended;
    const struct compaction *c = &ev->compaction;
    bool whole = c->request_before > 0; /* older events know only the history */
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct flow f = head(out, width, GLYPH_CARD, _("compacted"), STYLE_NOTE);
    if (is_micro(ev))
        flow_addf(&f, STYLE_NOTE,
                  ngettext("%d tool result shortened", "%d tool results shortened",
                           plural(c->messages_changed)),
                  c->messages_changed);
    else
        flow_mode(&f, c->effective_mode ? c->effective_mode : c->mode, STYLE_NOTE);
    auto_free char *before = format_exact(whole ? c->request_before : c->tokens_before);
    buf_addf(&text, "%s%s%s %s ", whole ? "" : _("history"), whole ? "" : " ", before,
             glyph(GLYPH_ARROW));
    add_tokens(&text, whole ? c->request_after : c->tokens_after);
    flow_take(&f, &text, STYLE_NOTE);
    if (card->undone)
        flow_add(&f, _("undone"), STYLE_WARNING);

    f = (struct flow){out, (size_t)width, " ", STYLE_TEXT, false};
    if (c->messages_before != c->messages_after) {
        buf_addf(&text, "%d %s ", c->messages_before, glyph(GLYPH_ARROW));
        buf_addf(&text, ngettext("%d message", "%d messages", plural(c->messages_after)),
                 c->messages_after);
        flow_take(&f, &text, STYLE_DIM);
    }
    if (c->entries_indexed > 0)
        flow_addf(&f, STYLE_DIM,
                  ngettext("%d memory entry", "%d memory entries", plural(c->entries_indexed)),
                  c->entries_indexed);
    if (ev->flag)
        flow_add(&f, _("edited by you"), STYLE_DIM);
    flow_effort(&f, ev, STYLE_DIM);
    if (card->hints)
        flow_hint(&f, card->hints->open, _("opens"));
    add_stand_in(out, ev, width);
    add_suspended(out, c, width);
    if (card->hints && card->hints->settings && !is_micro(ev))
        add_wrapped(out, width, _("another mode: /compact MODE, or [compaction] mode in tiro.ini"),
                    STYLE_DIM);
}

/* --- failures --- */

static void failed(struct rows *out, const struct item *item, int width)
{
    static const struct {
        const char *reason; /* of the event */
        bool quiet;         /* not a fault */
        const char *what, *then;
    } failures[] = {
        {"llm", false, N_("the model sent no summary"),
         N_("The conversation is unchanged. /compact tries again, /compact deterministic without "
            "a model.")},
        {"empty_summary", false, N_("the model's summary was empty"),
         N_("The conversation is unchanged. /compact tries again, /compact deterministic without "
            "a model.")},
        {"memory_indexing", false, N_("dropped messages could not be stored"),
         N_("The conversation is unchanged. /compact tries again, /doctor shows what is wrong.")},
        {"too_small", true, N_("the conversation would not get shorter"),
         N_("The conversation is unchanged. /context shows what fills it.")},
        {"cancelled", true, N_("cancelled"), N_("The conversation is unchanged.")},
        {"store", false, N_("the result could not be saved"),
         N_("The conversation is unchanged. /compact tries again, /doctor shows what is wrong.")},
        {NULL, false, N_("an error occurred"),
         N_("The conversation is unchanged. /compact tries again.")},
    };
    const struct event *ev = item->card->ended;
    const struct compaction *c = &ev->compaction;
    size_t i = 0;
    while (failures[i].reason && (!c->reason || strcmp(failures[i].reason, c->reason) != 0))
        i++;
    bool quiet = failures[i].quiet;
    enum style style = quiet ? STYLE_NOTE : STYLE_ERROR;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct flow f = head(out, width, quiet ? GLYPH_CARD : GLYPH_FAILED, _("not compacted"), style);
    flow_mode(&f, c->mode, style);
    flow_effort(&f, ev, STYLE_DIM);
    /* The event's text tells more than our words if it is a fault, or if the program found by
     * itself that the conversation is too small. */
    bool found = c->reason && strcmp(c->reason, "too_small") == 0 &&
                 !(ev->name && err_from_name(ev->name) == ERR_TOO_SMALL_TO_COMPACT);
    buf_addstr(&text, _(failures[i].what));
    if (ev->text && *ev->text && (found || !quiet)) {
        buf_addstr(&text, ": ");
        add_clean(&text, ev->text);
    }
    add_wrapped(out, width, text.data, quiet ? STYLE_DIM : STYLE_TEXT);
    add_wrapped(out, width, _(failures[i].then), STYLE_DIM);
    add_suspended(out, c, width);
}

void compaction_card_rows(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    struct flow f;
    switch (card->state) {
    case CARD_RUNNING:
        running(out, item, width);
        break;
    case CARD_DONE:
        done(out, item, width);
        break;
    case CARD_FAILED:
        failed(out, item, width);
        break;
    case CARD_CUT_OFF:
        f = head(out, width, GLYPH_CARD, _("compaction interrupted"), STYLE_WARNING);
        if (card->started)
            flow_mode(&f, card->started->compaction.mode, STYLE_WARNING);
        add_wrapped(out, width,
                    _("The program ended before the compaction was complete. The conversation is "
                      "unchanged."),
                    STYLE_DIM);
        break;
    }
}
