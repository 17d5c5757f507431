#include "chat/transcript_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "chat/image.h"

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
    .lines = "lines",
    .files = "files",
    .seconds = "s",
    .compacted = "compacted",
    .compaction_failed = "compaction failed",
    .compaction_undone = "compaction undone",
    .rewound = "rewound to before the message",
    .rewind_undone = "rewind undone",
    .file_restored = "file taken back",
    .file_removed = "file removed again",
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

/* --- texts, cleaned --------------------------------------------------------------------------- */

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

/* "![](<path>)" of an image, behind `before`; "@notes.md · 84 lines" of a file. */
static void add_attached(const struct transcript_text *t, struct buf *out, const char *before,
                         const char *attachments)
{
    enum { WHERE_BYTES = 400 }; /* of an image's place; a data: URL has megabytes */
    AUTO(json_free_local)
    struct json *list = attachments ? json_parse(attachments, strlen(attachments), NULL) : NULL;
    size_t begin = out->len;
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const char *where = json_get_string(v, "text"), *type = json_get_string(v, "type");
        const char *label = json_get_string(v, "name"), *kind = json_get_string(v, "media_type");
        bool folder = kind && strcmp(kind, "inode/directory") == 0;
        if (type && strcmp(type, "text") == 0) {
            if (!label || *label != '@') /* of a skill: the message has its name */
                continue;
            add_line(out, label);
            buf_addf(out, " · %" PRId64 " %s  \n", attached_file_lines(where ? where : ""),
                     folder ? t->words->files : t->words->lines);
            continue;
        }
        AUTO(buf_release) struct buf form = BUF_INIT;
        bool sized = json_get_string(v, "id") != NULL;
        if (sized)
            image_add_json_text(&form, v);
        size_t len = where ? strlen(where) : 0;
        size_t cut = where ? utf8_cut_bytes(where, len, WHERE_BYTES) : 0;
        buf_addf(out, "%s!%s(<", before, sized ? form.data : "[]");
        if (where)
            utf8_clean(out, where, cut, UTF8_ONE_LINE);
        buf_addstr(out, cut < len ? "…>)\n" : ">)\n");
    }
    if (out->len > begin && !*before)
        buf_addch(out, '\n');
}

/* --- the parts of a turn ---------------------------------------------------------------------- */

static void add_answer(struct buf *out, const char *mark, const char *text)
{
    buf_addf(out, "## tiro%s%s\n\n", mark ? " · " : "", mark ? mark : "");
    add_paragraph(out, text);
}

/* The streamed text after an empty line that ends the quote of a call. */
static void add_streamed(const struct transcript_text *t, struct buf *out, const char *mark)
{
    if (t->quote)
        buf_addch(out, '\n');
    if (!utf8_is_blank(t->streamed.data))
        add_answer(out, mark, t->streamed.data);
}

/* Ends the quote of a call that has no result. */
static void leave_quote(struct transcript_text *t, struct buf *out)
{
    if (t->quote)
        buf_addch(out, '\n');
    t->quote = false;
}

static void forget_streamed(struct transcript_text *t)
{
    buf_clear(&t->streamed);
    t->thought = false;
}

/* Adds the streamed text as it is: nothing will complete it. */
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

/* Adds the lines of a clean text as a quote. */
static void add_quoted(struct buf *out, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");
        buf_addf(out, ">%s", len > 0 ? " " : "");
        buf_add(out, text, len);
        buf_addch(out, '\n');
        text += len + (text[len] == '\n');
    }
}

static void add_change(struct buf *out, const struct file_change *change)
{
    AUTO(buf_release) struct buf hunks = BUF_INIT, clean = BUF_INIT, fenced = BUF_INIT;
    change_difference(change, &hunks);
    utf8_clean(&clean, hunks.data, hunks.len, UTF8_MULTILINE);
    attached_file_fence(&fenced, clean.data, clean.len);
    buf_splice(&fenced, strspn(fenced.data, "`"), 0, "diff", strlen("diff"));
    add_quoted(out, fenced.data);
}

static void add_result(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    if (ev->change.after)
        add_change(out, &ev->change);
    add_attached(t, out, "> ", ev->attachments);
    size_t len = ev->text ? strlen(ev->text) : 0;
    /* Not a real number: printf() would write the locale's decimal sign. */
    int64_t tenths = ev->number / 100 + (ev->number % 100 >= 50);
    buf_addf(out, "> %s%s%zu %s, %" PRId64 ".%d %s\n\n", ev->flag ? t->words->failed : "",
             ev->flag ? ", " : "", len, t->words->bytes, tenths / 10, (int)(tenths % 10),
             t->words->seconds);
    t->quote = false;
}

/* A quote; the summary in it is folded where Markdown is shown as a page. */
static void add_compaction(struct transcript_text *t, struct buf *out, const struct event *ev)
{
    const struct compaction *c = &ev->compaction;
    bool whole = c->request_before > 0;
    leave_quote(t, out);
    buf_addf(out, "> %s", t->words->compacted);
    add_fact(out, c->effective_mode);
    buf_addf(out, " · %" PRId64 " → %" PRId64 " %s", whole ? c->request_before : c->tokens_before,
             whole ? c->request_after : c->tokens_after, t->words->tokens);
    buf_addf(out, " · %d → %d %s\n", c->messages_before, c->messages_after, t->words->messages);
    if (!utf8_is_blank(ev->text)) {
        AUTO(buf_release) struct buf clean = BUF_INIT;
        utf8_clean(&clean, ev->text, strlen(ev->text), UTF8_MULTILINE);
        buf_addf(out, ">\n> <details><summary>%s</summary>\n>\n", t->words->summary);
        add_quoted(out, clean.data);
        buf_addstr(out, ">\n> </details>\n");
    }
    buf_addch(out, '\n');
}

/* --- the fold --------------------------------------------------------------------------------- */

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
    if (event_between_turns(ev))
        transcript_text_cut_off(t, out);
    switch (ev->type) {
    case EVENT_TURN_STARTED:
        transcript_text_cut_off(t, out);
        t->open = true;
        buf_addf(out, "## %s · ", t->words->you);
        t->words->time(out, ev->wall_ms);
        buf_addstr(out, "\n\n");
        add_attached(t, out, "", ev->attachments);
        add_paragraph(out, ev->text);
        break;
    case EVENT_TEXT_DELTA:
        if (!t->open || !ev->text)
            break;
        if (t->thought && t->streamed.len > 0)
            buf_addstr(&t->streamed, "\n\n");
        t->thought = false;
        buf_addstr(&t->streamed, ev->text);
        break;
    case EVENT_REASONING_DELTA:
        t->thought = t->open;
        break;
    case EVENT_RETRYING:
        forget_streamed(t);
        break;
    case EVENT_TEXT_COMPLETE:
        leave_quote(t, out);
        add_answer(out, ev->flag ? t->words->cut_off : NULL, ev->text);
        forget_streamed(t);
        break;
    case EVENT_TOOL_CALL_REQUESTED:
        buf_addstr(out, "> ");
        add_line(out, ev->name);
        buf_addch(out, ' ');
        add_line(out, ev->text);
        buf_addch(out, '\n');
        t->quote = t->open;
        break;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        add_result(t, out, ev);
        break;
    case EVENT_COMMAND_COMPLETED: {
        AUTO(buf_release) struct buf clean = BUF_INIT;
        utf8_clean(&clean, ev->text ? ev->text : "", ev->text ? strlen(ev->text) : 0,
                   UTF8_MULTILINE);
        attached_file_fence(out, clean.data, clean.len);
        buf_addch(out, '\n');
        break;
    }
    case EVENT_CALL_COMPLETED: /* it comes between the tool calls and their results */
        if (t->streamed.len > 0)
            leave_streamed(t, out, NULL);
        break;
    case EVENT_TURN_COMPLETED:
        end_turn(t, out);
        break;
    case EVENT_TURN_FAILED:
        end_turn(t, out);
        buf_addstr(out, "! ");
        add_line(out, ev->name);
        buf_addstr(out, ": ");
        add_line(out, ev->text);
        buf_addstr(out, "\n\n");
        break;
    case EVENT_INTERRUPTED:
        end_turn(t, out);
        buf_addf(out, "! %s\n\n", t->words->interrupted);
        break;
    case EVENT_COMPACTION_COMPLETED:
        add_compaction(t, out, ev);
        break;
    case EVENT_COMPACTION_FAILED:
        leave_quote(t, out);
        buf_addf(out, "> %s", t->words->compaction_failed);
        add_fact(out, ev->compaction.mode);
        add_fact(out, ev->text);
        buf_addstr(out, "\n\n");
        break;
    case EVENT_COMPACTION_UNDONE:
        buf_addf(out, "> %s\n\n", t->words->compaction_undone);
        break;
    case EVENT_REWOUND:
        buf_addf(out, "> %s %" PRId64 "\n\n", t->words->rewound, ev->number);
        break;
    case EVENT_REWIND_UNDONE:
        buf_addf(out, "> %s\n\n", t->words->rewind_undone);
        break;
    case EVENT_FILE_RESTORED:
        buf_addf(out, "> %s", ev->flag ? t->words->file_removed : t->words->file_restored);
        add_fact(out, ev->name);
        buf_addstr(out, "\n\n");
        break;
    case EVENT_MEMORY_INDEXED:
        if (ev->count > 0)
            buf_addf(out, "> %s · %d %s\n\n", t->words->remembered, ev->count, t->words->messages);
        break;
    case EVENT_MEMORY_RECALLED: { /* within the quote of the call, if it was one */
        AUTO(json_free_local)
        struct json *hits = ev->hits ? json_parse(ev->hits, strlen(ev->hits), NULL) : NULL;
        buf_addf(out, "> %s · %zu %s\n%s", t->words->recalled, json_len(hits), t->words->messages,
                 ev->id ? "" : "\n");
        break;
    }
    case EVENT_LEARNED_NOTED:
        leave_quote(t, out);
        buf_addf(out, "> %s", ev->flag ? t->words->learned : t->words->proposed);
        add_fact(out, ev->text);
        buf_addstr(out, "\n\n");
        break;
    default:
        break;
    }
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
