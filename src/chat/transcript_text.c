#include "chat/transcript_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

#define WHERE_BYTES 400 /* of an image's place; a data: URL has megabytes */

/* "2026-03-09 14:05 UTC" */
static void add_fixed_time(struct buf *out, int64_t wall_ms)
{
    char text[25];
    rfc3339_format(wall_ms, text);
    buf_addf(out, "%.10s %.5s UTC", text, text + strlen("2026-03-09T"));
}

const struct transcript_words transcript_words_fixed = {
    .you = "you",
    .cut_off = "cut off",
    .failed = "failed",
    .interrupted = "interrupted",
    .bytes = "bytes",
    .seconds = "s",
    .compacted = "compacted",
    .compaction_failed = "compaction failed",
    .compaction_undone = "compaction undone",
    .summary = "summary",
    .tokens = "tokens",
    .messages = "messages",
    .remembered = "stored in memory",
    .recalled = "recalled",
    .learned = "remembered for later sessions",
    .proposed = "to be remembered?",
    .unfinished = "unfinished",
    .open_end = "unfinished: interrupted, or still running",
    .time = add_fixed_time,
};

static void add_line(struct buf *out, const char *text)
{
    if (text)
        utf8_clean(out, text, strlen(text), UTF8_ONE_LINE);
}

static void add_paragraph(struct buf *out, const char *text)
{
    size_t begin = out->len;
    if (text)
        utf8_clean(out, text, strlen(text), UTF8_MULTILINE);
    if (out->len > begin && out->data[out->len - 1] != '\n')
        buf_addch(out, '\n');
    buf_addch(out, '\n');
}

static void add_fact(struct buf *out, const char *fact)
{
    if (!fact || !*fact)
        return;
    buf_addstr(out, " · ");
    add_line(out, fact);
}

void transcript_text_head(struct buf *out, const struct session_info *s,
                          const struct transcript_words *words, bool fixed_only)
{
    buf_addstr(out, "# ");
    add_line(out, fixed_only ? s->id : s->title);
    buf_addstr(out, "\n\n");
    if (!fixed_only)
        buf_addf(out, "%s · ", s->id);
    words->time(out, s->created_ms);
    if (!fixed_only) {
        add_fact(out, s->provider);
        add_fact(out, s->model);
    }
    add_fact(out, s->directory);
    buf_addstr(out, "\n\n");
}

static void add_images(struct buf *out, const char *attachments)
{
    struct json *list = attachments ? json_parse(attachments, strlen(attachments), NULL) : NULL;
    size_t begin = out->len;
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const char *where = json_get_string(v, "text");
        size_t len = where ? strlen(where) : 0;
        size_t cut = where ? utf8_cut_bytes(where, len, WHERE_BYTES) : 0;
        buf_addstr(out, "![](<");
        if (where)
            utf8_clean(out, where, cut, UTF8_ONE_LINE);
        buf_addstr(out, cut < len ? "…>)\n" : ">)\n");
    }
    if (out->len > begin)
        buf_addch(out, '\n');
    json_free(list);
}

/* --- the pieces ------------------------------------------------------------------------------- */

static void add_answer(struct buf *out, const char *mark, const char *text)
{
    buf_addf(out, "## tiro%s%s\n\n", mark ? " · " : "", mark ? mark : "");
    add_paragraph(out, text);
}

/* A call that has no result: the next line is not its. */
static void add_quote_end(const struct transcript_text *t, struct buf *out)
{
    if (t->quote)
        buf_addch(out, '\n');
}

static void add_streamed(const struct transcript_text *t, struct buf *out, const char *mark)
{
    add_quote_end(t, out);
    if (!utf8_is_blank(t->streamed.data))
        add_answer(out, mark, t->streamed.data);
}

static void leave_quote(struct transcript_text *t, struct buf *out)
{
    add_quote_end(t, out);
    t->quote = false;
}

static void forget_streamed(struct transcript_text *t)
{
    buf_clear(&t->streamed);
    t->thought = false;
}

/* Nothing will complete what streamed. */
static void leave_streamed(struct transcript_text *t, struct buf *out, const char *mark)
{
    add_streamed(t, out, mark);
    t->quote = false;
    forget_streamed(t);
}

static void end_turn(struct transcript_text *t, struct buf *out)
{
    leave_streamed(t, out, t->words->cut_off);
    t->open = false;
}

/* --- the events ------------------------------------------------------------------------------- */

static void turn_started(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    transcript_text_cut_off(t, out);
    t->open = true;
    buf_addf(out, "## %s · ", t->words->you);
    t->words->time(out, ev->wall_ms);
    buf_addstr(out, "\n\n");
    add_images(out, ev->attachments);
    add_paragraph(out, ev->text);
}

static void text_delta(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)out;
    if (!t->open || !ev->text)
        return;
    if (t->thought && t->streamed.len > 0)
        buf_addstr(&t->streamed, "\n\n");
    t->thought = false;
    buf_addstr(&t->streamed, ev->text);
}

static void reasoning_delta(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)out;
    (void)ev;
    t->thought = t->open;
}

static void retrying(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)out;
    (void)ev;
    forget_streamed(t);
}

static void text_complete(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    leave_quote(t, out);
    add_answer(out, ev->flag ? t->words->cut_off : NULL, ev->text);
    forget_streamed(t);
}

static void tool_call_requested(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    buf_addstr(out, "> ");
    add_line(out, ev->name);
    buf_addch(out, ' ');
    add_line(out, ev->text);
    buf_addch(out, '\n');
    t->quote = t->open;
}

/* Tenths by hand: printf() would take the locale's decimal sign. */
static void tool_execution_completed(struct transcript_text *t, struct buf *out,
                                     const struct event *ev)
{
    size_t len = ev->text ? strlen(ev->text) : 0;
    int64_t tenths = ev->number / 100 + (ev->number % 100 >= 50);
    buf_addf(out, "> %s%s%zu %s, %" PRId64 ".%d %s\n\n", ev->flag ? t->words->failed : "",
             ev->flag ? ", " : "", len, t->words->bytes, tenths / 10, (int)(tenths % 10),
             t->words->seconds);
    t->quote = false;
}

/* Calls come before it, their results behind it. */
static void call_completed(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)ev;
    if (t->streamed.len > 0)
        leave_streamed(t, out, NULL);
}

static void turn_completed(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)ev;
    end_turn(t, out);
}

static void turn_failed(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    end_turn(t, out);
    buf_addstr(out, "! ");
    add_line(out, ev->name);
    buf_addstr(out, ": ");
    add_line(out, ev->text);
    buf_addstr(out, "\n\n");
}

static void interrupted(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)ev;
    end_turn(t, out);
    buf_addf(out, "! %s\n\n", t->words->interrupted);
}

/* --- compactions ------------------------------------------------------------------------------ */

/* Every line of it stays within the quote. */
static void add_quoted(struct buf *out, const char *text)
{
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, text, strlen(text), UTF8_MULTILINE);
    for (const char *line = clean.data; line && *line;) {
        size_t len = strcspn(line, "\n");
        buf_addf(out, ">%s%.*s\n", len > 0 ? " " : "", (int)len, line);
        line += len + (line[len] == '\n');
    }
    buf_release(&clean);
}

/* Folded away where Markdown is shown as a page. */
static void add_summary(const struct transcript_text *t, struct buf *out, const char *summary)
{
    if (utf8_is_blank(summary))
        return;
    buf_addf(out, ">\n> <details><summary>%s</summary>\n>\n", t->words->summary);
    add_quoted(out, summary);
    buf_addstr(out, ">\n> </details>\n");
}

static void add_change(struct buf *out, int64_t before, int64_t after, const char *unit)
{
    buf_addf(out, " · %" PRId64 " → %" PRId64 " %s", before, after, unit);
}

static void compaction_completed(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    const struct compaction *c = &ev->compaction;
    leave_quote(t, out);
    buf_addf(out, "> %s", t->words->compacted);
    add_fact(out, c->effective_mode);
    bool whole = c->request_before > 0;
    add_change(out, whole ? c->request_before : c->tokens_before,
               whole ? c->request_after : c->tokens_after, t->words->tokens);
    add_change(out, c->messages_before, c->messages_after, t->words->messages);
    buf_addch(out, '\n');
    add_summary(t, out, ev->text);
    buf_addch(out, '\n');
}

static void compaction_failed(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    leave_quote(t, out);
    buf_addf(out, "> %s", t->words->compaction_failed);
    add_fact(out, ev->compaction.mode);
    add_fact(out, ev->text);
    buf_addstr(out, "\n\n");
}

static void compaction_undone(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    (void)ev;
    buf_addf(out, "> %s\n\n", t->words->compaction_undone);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void add_count(const struct transcript_text *t, struct buf *out, const char *what,
                      size_t count)
{
    buf_addf(out, "> %s · %zu %s\n", what, count, t->words->messages);
}

static void memory_indexed(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    if (ev->count <= 0)
        return;
    add_count(t, out, t->words->remembered, (size_t)ev->count);
    buf_addch(out, '\n');
}

/* Between a call and its result, in their quote. */
static void memory_recalled(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    struct json *hits = ev->hits ? json_parse(ev->hits, strlen(ev->hits), NULL) : NULL;
    add_count(t, out, t->words->recalled, json_len(hits));
    json_free(hits);
}

static void learned_noted(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    leave_quote(t, out);
    buf_addf(out, "> %s", ev->flag ? t->words->learned : t->words->proposed);
    add_fact(out, ev->text);
    buf_addstr(out, "\n\n");
}

/* ---------------------------------------------------------------------------------------------- */

void transcript_text_init(struct transcript_text *t, const struct transcript_words *words)
{
    *t = (struct transcript_text){.words = words, .streamed = BUF_INIT};
}

void transcript_text_release(struct transcript_text *t)
{
    buf_release(&t->streamed);
}

void transcript_text_add(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    static void (*const effects[EVENT_TYPE_COUNT])(struct transcript_text *, struct buf *,
                                                   const struct event *) = {
        [EVENT_TURN_STARTED] = turn_started,
        [EVENT_TEXT_DELTA] = text_delta,
        [EVENT_REASONING_DELTA] = reasoning_delta,
        [EVENT_TEXT_COMPLETE] = text_complete,
        [EVENT_TOOL_CALL_REQUESTED] = tool_call_requested,
        [EVENT_TOOL_EXECUTION_COMPLETED] = tool_execution_completed,
        [EVENT_CALL_COMPLETED] = call_completed,
        [EVENT_RETRYING] = retrying,
        [EVENT_COMPACTION_COMPLETED] = compaction_completed,
        [EVENT_COMPACTION_FAILED] = compaction_failed,
        [EVENT_COMPACTION_UNDONE] = compaction_undone,
        [EVENT_MEMORY_INDEXED] = memory_indexed,
        [EVENT_MEMORY_RECALLED] = memory_recalled,
        [EVENT_LEARNED_NOTED] = learned_noted,
        [EVENT_TURN_COMPLETED] = turn_completed,
        [EVENT_TURN_FAILED] = turn_failed,
        [EVENT_INTERRUPTED] = interrupted,
    };
    if (event_between_turns(ev))
        transcript_text_cut_off(t, out);
    if (effects[ev->type])
        effects[ev->type](t, out, ev);
}

void transcript_text_cut_off(struct transcript_text *t, struct buf *out)
{
    if (!t->open)
        return;
    end_turn(t, out);
    buf_addf(out, "! %s\n\n", t->words->cut_off);
}

void transcript_text_end(const struct transcript_text *t, struct buf *out)
{
    if (!t->open)
        return;
    add_streamed(t, out, t->words->unfinished);
    buf_addf(out, "! %s\n\n", t->words->open_end);
}
