#include "ui/transcript/compaction_card.h"

#include <assert.h>
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

/* Bytes of a summary that streams; only its end is shown. */
enum { KEPT_MAX = 16 * 1024, KEPT_LEAST = 8 * 1024 };

void compaction_card_new(struct item *item, const struct card_hints *hints)
{
    item->card = mem_alloc(sizeof *item->card);
    item->card->hints = hints;
}

static void drop(char **text)
{
    free(*text);
    *text = NULL;
}

/* The event without what no card shows. */
static struct event *keep(const struct event *ev)
{
    struct event *kept = event_clone(ev);
    drop(&kept->compaction.history);
    drop(&kept->compaction.dropped);
    if (kept->type == EVENT_COMPACTION_COMPLETED)
        drop(&kept->text);
    return kept;
}

static void set_state(struct item *item, enum card_state state)
{
    item->card->state = state;
    item->streaming = state == CARD_RUNNING;
    item->change = ITEM_CHANGED;
}

void compaction_card_start(struct item *item, const struct event *started)
{
    event_free(item->card->started);
    item->card->started = keep(started);
    set_state(item, CARD_RUNNING);
}

void compaction_card_restart(struct item *item)
{
    buf_clear(&item->text);
    buf_clear(&item->tail);
    item->change = ITEM_CHANGED;
}

static void forget_beginning(struct buf *text)
{
    if (text->len <= KEPT_MAX)
        return;
    buf_consume(text, utf8_cut_bytes(text->data, text->len, text->len - KEPT_LEAST));
}

void compaction_card_delta(struct item *item, const struct event *delta)
{
    struct compaction_card *card = item->card;
    if (delta->count > 0 && delta->count != card->part)
        compaction_card_restart(item);
    if (delta->count > 0) {
        card->part = delta->count;
        card->parts = delta->limit;
    }
    item_append(item, delta->text ? delta->text : "");
    forget_beginning(&item->text);
    set_state(item, CARD_RUNNING);
}

void compaction_card_end(struct item *item, const struct event *ended)
{
    struct compaction_card *card = item->card;
    bool done = ended->type == EVENT_COMPACTION_COMPLETED;
    event_free(card->ended);
    card->ended = keep(ended);
    compaction_card_restart(item);
    set_state(item, done ? CARD_DONE : CARD_FAILED);
}

void compaction_card_cut_off(struct item *item)
{
    set_state(item, CARD_CUT_OFF);
}

void compaction_card_undo(struct item *item)
{
    item->card->undone = true;
    item->change = ITEM_CHANGED;
}

bool compaction_card_tick(struct item *item, int64_t elapsed_ms)
{
    struct compaction_card *card = item->card;
    bool shows = card->state == CARD_RUNNING && elapsed_ms / 1000 != card->elapsed_ms / 1000;
    card->elapsed_ms = elapsed_ms;
    if (shows)
        item->change = ITEM_CHANGED;
    return shows;
}

void compaction_card_join(struct item *item, struct item *older)
{
    assert(!item->card->started);
    item->card->started = older->card->started;
    older->card->started = NULL;
    item->seq = older->seq;
    item->change = ITEM_CHANGED;
}

int64_t compaction_card_completed(const struct item *item)
{
    const struct compaction_card *card = item->card;
    return card && card->state == CARD_DONE ? card->ended->seq : 0;
}

enum {
    STREAM_ROWS = 3,       /* of a summary that streams */
    STREAM_MAX = 4 * 1024, /* bytes of it that are looked at */
    SEPARATOR_COLUMNS = 3,
    LEAST_MARKED = 4, /* columns that a row with a mark or indented has */
    NAME_MAX = 200    /* bytes */
};

/* Pieces with a dot between them, broken between pieces. Nothing added: no row. */
struct flow {
    struct rows *out;
    size_t width;
    const char *mark; /* before the first */
    enum style style; /* of that */
    bool begun;
};

static size_t room_in(const struct flow *f)
{
    size_t used = rows_width(f->out, f->out->list.len - 1);
    return used < f->width ? f->width - used : 0;
}

static void flow_row(struct flow *f, const char *mark, enum style style)
{
    rows_begin(f->out);
    f->begun = true;
    if (f->width < LEAST_MARKED)
        return;
    rows_addstr(f->out, mark, style, 0);
    if (*mark != ' ')
        rows_addstr(f->out, " ", style, 0);
}

/* `between` is SEPARATOR_COLUMNS wide. */
static void flow_add_after(struct flow *f, const char *between, const char *text, enum style style)
{
    if (!*text)
        return;
    if (!f->begun)
        flow_row(f, f->mark, f->style);
    else if (SEPARATOR_COLUMNS + utf8_width(text, strlen(text)) > room_in(f))
        flow_row(f, "  ", STYLE_TEXT);
    else
        rows_addstr(f->out, between, STYLE_DIM, 0);
    rows_add_cut(f->out, text, room_in(f), style);
}

static void flow_add(struct flow *f, const char *text, enum style style)
{
    struct buf between = BUF_INIT;
    buf_addf(&between, " %s ", glyph(GLYPH_DOT));
    flow_add_after(f, between.data, text, style);
    buf_release(&between);
}

__attribute__((format(printf, 3, 4))) static void flow_addf(struct flow *f, enum style style,
                                                            const char *format, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    flow_add(f, text.data, style);
    buf_release(&text);
}

/* Takes what was gathered in `text`, which is empty then. */
static void flow_take(struct flow *f, struct buf *text, enum style style)
{
    flow_add(f, text->data, style);
    buf_clear(text);
}

/* A name or a message of unknown origin. */
static void add_clean(struct buf *out, const char *text)
{
    if (text)
        utf8_clean(out, text, utf8_cut_bytes(text, strlen(text), NAME_MAX), UTF8_ONE_LINE);
}

static void flow_name(struct flow *f, const char *text, enum style style)
{
    struct buf clean = BUF_INIT;
    add_clean(&clean, text);
    flow_take(f, &clean, style);
    buf_release(&clean);
}

static void flow_mode(struct flow *f, const char *mode, enum style style)
{
    flow_name(f, mode ? COMPACTION_MODE_LABEL(mode) : mode, style);
}

/* A key and what it does, behind the rest. */
static void flow_hint(struct flow *f, const char *key, const char *what)
{
    struct buf text = BUF_INIT;
    if (!key || !*key)
        return;
    buf_addf(&text, "%s %s", strcmp(key, "Enter") == 0 ? glyph(GLYPH_ENTER) : key, what);
    flow_add_after(f, "   ", text.data, STYLE_DIM);
    buf_release(&text);
}

static void add_wrapped(struct rows *out, int width, const char *text, enum style style)
{
    struct styled indent;
    styled_init(&indent);
    styled_addstr(&indent, "  ", STYLE_TEXT, 0);
    wrap_string(out, text, style, 0,
                &(struct wrap_look){(size_t)width, WRAP_WORDS, &indent, &indent});
    styled_release(&indent);
}

/* The mark and what happened. */
static struct flow head(struct rows *out, int width, enum glyph mark, const char *what,
                        enum style style)
{
    struct flow f = {out, (size_t)width, glyph(mark), style, false};
    flow_add(&f, what, style);
    return f;
}

static struct flow details(struct rows *out, int width)
{
    return (struct flow){out, (size_t)width, "  ", STYLE_TEXT, false};
}

static unsigned long plural(int64_t n)
{
    return n > 0 ? (unsigned long)n : 0;
}

static void add_tokens(struct buf *out, int64_t n)
{
    struct buf figure = BUF_INIT;
    format_exact(&figure, n);
    buf_addf(out, ngettext("%s token", "%s tokens", plural(n)), figure.data);
    buf_release(&figure);
}

/* --- while it runs --- */

static bool is_micro(const struct event *ev)
{
    return ev && ev->compaction.stage && strcmp(ev->compaction.stage, "micro") == 0;
}

static bool is_trigger(const struct event *ev, const char *trigger)
{
    return ev->compaction.trigger && strcmp(ev->compaction.trigger, trigger) == 0;
}

/* What it began with: the whole request, as the gauge has it. Older events know the history. */
static void add_before(struct buf *out, const struct event *started)
{
    const struct compaction *c = &started->compaction;
    if (c->request_before <= 0 && c->estimate <= 0)
        return;
    if (c->request_before <= 0)
        buf_addf(out, "%s ", _("history"));
    buf_addch(out, '~');
    add_tokens(out, c->request_before > 0 ? c->request_before : c->estimate);
}

static void add_trigger(struct buf *out, const struct event *started)
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
    struct buf threshold = BUF_INIT;
    format_exact(&threshold, started->compaction.threshold);
    for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++) {
        const char *words = _(triggers[i].words), *figure = strstr(words, "%s");
        if (!is_trigger(started, triggers[i].trigger))
            continue;
        buf_add(out, words, figure ? (size_t)(figure - words) : strlen(words));
        if (figure)
            buf_addf(out, "%s%s", threshold.data, figure + 2);
    }
    buf_release(&threshold);
}

static void add_elapsed(struct buf *out, int64_t ms)
{
    int seconds = ms > 0 && ms < (int64_t)INT32_MAX * 1000 ? (int)(ms / 1000) : 0;
    if (seconds < 60)
        buf_addf(out, _("%d s"), seconds);
    else
        buf_addf(out, "%d:%02d", seconds / 60, seconds % 60);
}

/* Where the text's end begins. It moves in steps, so that the rows of a long line stay where they
 * are while it grows. */
static size_t end_of_stream(const struct buf *text, size_t len)
{
    size_t step = STREAM_MAX / 2;
    size_t from = len > STREAM_MAX ? (len - STREAM_MAX) / step * step : 0;
    return utf8_cut_bytes(text->data, len, from);
}

static void add_stream(struct rows *out, const struct item *item, int width)
{
    const struct buf *text = &item->text;
    size_t len = text->len;
    while (len > 0 && strchr(" \n", text->data[len - 1]))
        len--;
    if (len == 0)
        return;
    size_t from = end_of_stream(text, len);
    struct buf end = BUF_INIT;
    struct rows all;
    rows_init(&all);
    buf_add(&end, text->data + from, len - from);
    add_wrapped(&all, width, end.data, STYLE_DIM);
    size_t count = all.list.len, first = count > STREAM_ROWS ? count - STREAM_ROWS : 0;
    for (size_t i = first; i < count; i++)
        rows_copy(out, &all, i);
    rows_release(&all);
    buf_release(&end);
}

static void add_why(struct rows *out, const struct compaction_card *card, int width)
{
    struct buf text = BUF_INIT;
    struct flow f = details(out, width);
    if (!is_micro(card->started))
        flow_name(&f, card->started->model, STYLE_DIM);
    add_trigger(&text, card->started);
    flow_take(&f, &text, STYLE_DIM);
    if (card->parts > 1)
        flow_addf(&f, STYLE_DIM, _("part %d of %d"), card->part, card->parts);
    buf_release(&text);
}

static void running(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    const struct event *started = card->started;
    struct buf text = BUF_INIT;
    struct flow f = head(out, width, GLYPH_CARD, _("compacting"), STYLE_NOTE);
    if (is_micro(started))
        flow_add(&f, _("shortening tool results"), STYLE_NOTE);
    else if (started)
        flow_mode(&f, started->compaction.mode, STYLE_NOTE);
    if (started)
        add_before(&text, started);
    flow_take(&f, &text, STYLE_NOTE);
    add_elapsed(&text, card->elapsed_ms);
    flow_take(&f, &text, STYLE_NOTE);
    if (card->hints)
        flow_hint(&f, card->hints->cancel, _("cancels"));
    if (started)
        add_why(out, card, width);
    add_stream(out, item, width);
    buf_release(&text);
}

/* --- its outcome --- */

/* Of the whole request, as the gauge has it. Older events know the history. */
static void add_change(struct buf *out, const struct compaction *c)
{
    bool whole = c->request_before > 0;
    if (!whole)
        buf_addf(out, "%s ", _("history"));
    format_exact(out, whole ? c->request_before : c->tokens_before);
    buf_addf(out, " %s ", glyph(GLYPH_ARROW));
    add_tokens(out, whole ? c->request_after : c->tokens_after);
}

static void flow_messages(struct flow *f, const struct compaction *c)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "%d %s ", c->messages_before, glyph(GLYPH_ARROW));
    buf_addf(&text, ngettext("%d message", "%d messages", plural(c->messages_after)),
             c->messages_after);
    flow_take(f, &text, STYLE_DIM);
    buf_release(&text);
}

/* What it took: who was asked, money, time. */
static void flow_effort(struct flow *f, const struct event *ev, enum style style)
{
    struct buf text = BUF_INIT;
    flow_name(f, ev->model, style);
    if (ev->used > 0) {
        format_cost(&text, ev->used);
        flow_take(f, &text, style);
    }
    if (ev->number > 0) {
        format_duration(&text, ev->number);
        flow_take(f, &text, style);
    }
    buf_release(&text);
}

static void done_head(struct rows *out, const struct compaction_card *card, int width)
{
    const struct compaction *c = &card->ended->compaction;
    struct buf text = BUF_INIT;
    struct flow f = head(out, width, GLYPH_CARD, _("compacted"), STYLE_NOTE);
    if (is_micro(card->ended))
        flow_addf(&f, STYLE_NOTE,
                  ngettext("%d tool result shortened", "%d tool results shortened",
                           plural(c->messages_changed)),
                  c->messages_changed);
    else
        flow_mode(&f, c->effective_mode ? c->effective_mode : c->mode, STYLE_NOTE);
    add_change(&text, c);
    flow_take(&f, &text, STYLE_NOTE);
    if (card->undone)
        flow_add(&f, _("undone"), STYLE_WARNING);
    buf_release(&text);
}

static void done_details(struct rows *out, const struct compaction_card *card, int width)
{
    const struct compaction *c = &card->ended->compaction;
    struct flow f = details(out, width);
    if (c->messages_before != c->messages_after)
        flow_messages(&f, c);
    if (c->entries_indexed > 0)
        flow_addf(&f, STYLE_DIM,
                  ngettext("%d memory entry", "%d memory entries", plural(c->entries_indexed)),
                  c->entries_indexed);
    if (card->ended->flag)
        flow_add(&f, _("edited by you"), STYLE_DIM);
    flow_effort(&f, card->ended, STYLE_DIM);
    if (card->hints)
        flow_hint(&f, card->hints->open, _("opens"));
}

/* Another mode than the one that was asked for. */
static void add_stand_in(struct rows *out, const struct event *ended, int width)
{
    const struct compaction *c = &ended->compaction;
    struct buf mode = BUF_INIT, effective = BUF_INIT, reason = BUF_INIT, text = BUF_INIT;
    if (is_micro(ended) || !c->mode || !c->effective_mode ||
        strcmp(c->mode, c->effective_mode) == 0)
        return;
    add_clean(&mode, c->mode);
    add_clean(&effective, c->effective_mode);
    add_clean(&reason, ended->name);
    buf_addf(&text, _("%s instead of %s"), effective.data, mode.data);
    if (reason.len > 0)
        buf_addf(&text, ": %s", reason.data);
    add_wrapped(out, width, text.data, STYLE_WARNING);
    buf_release(&mode);
    buf_release(&effective);
    buf_release(&reason);
    buf_release(&text);
}

static void add_suspended(struct rows *out, const struct compaction *c, int width)
{
    struct buf text = BUF_INIT;
    buf_addf(&text,
             ngettext("Automatic compaction has stopped in this session after %d failure. It "
                      "starts again when /compact succeeds, or when you choose another mode or "
                      "model.",
                      "Automatic compaction has stopped in this session after %d failures in a "
                      "row. It starts again when /compact succeeds, or when you choose another "
                      "mode or model.",
                      plural(c->failures)),
             c->failures);
    add_wrapped(out, width, text.data, STYLE_ERROR);
    buf_release(&text);
}

static void done(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    done_head(out, card, width);
    done_details(out, card, width);
    add_stand_in(out, card->ended, width);
    if (card->ended->compaction.suspended)
        add_suspended(out, &card->ended->compaction, width);
    if (card->hints && card->hints->settings && !is_micro(card->ended))
        add_wrapped(out, width, _("another mode: /compact MODE, or [compaction] mode in tiro.ini"),
                    STYLE_DIM);
}

/* --- what became of nothing --- */

struct failure_words {
    const char *reason; /* of the event */
    bool quiet;         /* no fault of anything */
    const char *what, *then;
};

static const struct failure_words *words_of(const char *reason)
{
    static const struct failure_words words[] = {
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
    };
    static const struct failure_words unknown = {
        "", false, N_("an error occurred"),
        N_("The conversation is unchanged. /compact tries again.")};
    for (size_t i = 0; reason && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].reason, reason) == 0)
            return &words[i];
    return &unknown;
}

/* What the program found about its own doing; the bare code says no more than our words. */
static bool tells_more(const struct event *ev, const struct failure_words *words)
{
    bool found = ev->compaction.reason && strcmp(ev->compaction.reason, "too_small") == 0 &&
                 !(ev->name && err_from_name(ev->name) == ERR_TOO_SMALL_TO_COMPACT);
    return ev->text && *ev->text && (found || !words->quiet);
}

static void add_reason(struct rows *out, const struct event *ev, const struct failure_words *words,
                       int width)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text, _(words->what));
    if (tells_more(ev, words)) {
        buf_addstr(&text, ": ");
        add_clean(&text, ev->text);
    }
    add_wrapped(out, width, text.data, words->quiet ? STYLE_DIM : STYLE_TEXT);
    add_wrapped(out, width, _(words->then), STYLE_DIM);
    buf_release(&text);
}

static void failed(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    const struct event *ev = card->ended;
    const struct failure_words *words = words_of(ev->compaction.reason);
    enum style style = words->quiet ? STYLE_NOTE : STYLE_ERROR;
    struct flow f =
        head(out, width, words->quiet ? GLYPH_CARD : GLYPH_FAILED, _("not compacted"), style);
    flow_mode(&f, ev->compaction.mode, style);
    flow_effort(&f, ev, STYLE_DIM);
    add_reason(out, ev, words, width);
    if (ev->compaction.suspended)
        add_suspended(out, &ev->compaction, width);
}

static void cut_off(struct rows *out, const struct item *item, int width)
{
    const struct compaction_card *card = item->card;
    struct flow f = head(out, width, GLYPH_CARD, _("compaction interrupted"), STYLE_WARNING);
    if (card->started)
        flow_mode(&f, card->started->compaction.mode, STYLE_WARNING);
    add_wrapped(out, width,
                _("The program ended before the compaction was complete. The conversation is "
                  "unchanged."),
                STYLE_DIM);
}

void compaction_card_rows(struct rows *out, const struct item *item, int width)
{
    static void (*const states[])(struct rows *, const struct item *,
                                  int) = {[CARD_RUNNING] = running,
                                          [CARD_DONE] = done,
                                          [CARD_FAILED] = failed,
                                          [CARD_CUT_OFF] = cut_off};
    states[item->card->state](out, item, width);
}
