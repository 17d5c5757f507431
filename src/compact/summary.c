#include "compact/summary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/image.h"
#include "provider/provider.h"

enum {
    TOKEN_BYTES = 8,          /* a server that sends more for a token does not stop */
    LEAST_PART = 256,         /* tokens: with less, folding would never end */
    LARGEST_WINDOW = 1000000, /* tokens, where the window is unknown */
    ASIDE_BYTES = 16384,      /* of a focus or an earlier draft in the prompt */
    LEAD_TOKENS = 64          /* of `lead` */
};

/* Stands before a conversation that an answer begins: the first message must be the user's. */
static const char lead[] = "[The conversation from its middle on:]";

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

/* --- texts that fit --------------------------------------------------------------------------- */

/* Bytes of the longest beginning of a text whose message is estimated at `tokens` at most: whole
 * graphemes, and at least one character. */
static size_t text_fit(const char *text, size_t len, int64_t tokens)
{
    int64_t bytes = tokens * 4 - SUMMARY_MESSAGE_BYTES;
    size_t room = bytes > 0 ? (size_t)bytes : 0;
    size_t probe = room < len ? room : len;
    bool valid = utf8_valid(text, probe - utf8_incomplete_tail(text, probe));
    size_t fits = 0;
    for (size_t used = 0; fits < len; fits++) { /* in JSON; a byte that is no UTF-8 becomes three */
        unsigned char c = (unsigned char)text[fits];
        if (c < 0x20)
            used += strchr("\b\t\n\f\r", c) ? 2 : 6;
        else if (c == '"' || c == '\\')
            used += 2;
        else
            used += c < 0x80 || valid ? 1 : 3;
        if (used > room)
            break;
    }
    size_t cut = utf8_cut_bytes(text, len, fits);
    if (cut == 0) /* one grapheme without end: cut between characters */
        cut = fits - utf8_incomplete_tail(text, fits);
    if (cut == 0 && len > 0) {
        uint32_t cp;
        cut = utf8_decode(text, len, &cp);
    }
    return cut;
}

size_t summary_text_sentences(const char *text, size_t len)
{
    static const char *const ends[] = {".",           "!", "?", "\xE3\x80\x82", "\xEF\xBC\x81",
                                       "\xEF\xBC\x9F"};
    for (size_t at = len; at > len / 2; at--) {
        if (text[at - 1] == '\n')
            return at;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t n = strlen(ends[i]);
            bool wide = n > 1; /* needs no blank behind it */
            if (at >= n && memcmp(text + at - n, ends[i], n) == 0 &&
                (wide || at == len || strchr(" \t\n", text[at])))
                return at;
        }
    }
    return len;
}

char *summary_text(const struct block *blocks, size_t count, size_t max, bool cut_off)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (size_t i = 0; i < count && out.len <= max; i++) {
        const char *text = blocks[i].text;
        if (blocks[i].type != BLOCK_TEXT || !text)
            continue;
        if (out.len > 0)
            buf_addstr(&out, "\n\n");
        size_t len = strnlen(text, max + 1);
        utf8_clean(&out, text, len - (text[len] ? utf8_incomplete_tail(text, len) : 0),
                   UTF8_MULTILINE);
    }
    if (out.len > max) {
        buf_truncate(&out, utf8_cut_bytes(out.data, out.len, max));
        cut_off = true;
    }
    if (cut_off)
        buf_truncate(&out, summary_text_sentences(out.data, out.len));
    buf_trim_end(&out, " \t\n");
    buf_consume(&out, strspn(out.data, " \t\n"));
    return out.len > 0 ? buf_take(&out) : NULL;
}

/* --- messages as text ------------------------------------------------------------------------- */

static void add_block(struct buf *out, const struct block *b)
{
    const char *text = or_empty(b->text), *name = or_empty(b->name);
    if (b->type == BLOCK_REASONING || (b->type == BLOCK_TEXT && !*text))
        return;
    if (out->len > 0)
        buf_addstr(out, "\n\n");
    switch (b->type) {
    case BLOCK_TEXT:
        buf_addstr(out, text);
        break;
    case BLOCK_TOOL_CALL:
        buf_addf(out, "[called %s %s]", name, text);
        break;
    case BLOCK_TOOL_RESULT:
        buf_addf(out, "[%s of %s: %s]", b->is_error ? "error" : "result", name, text);
        break;
    case BLOCK_IMAGE:
        image_add_text(out, b);
        break;
    case BLOCK_REASONING:
        break;
    }
}

static char *plain_text(const struct compact_input *in, size_t index)
{
    struct buf out = BUF_INIT;
    struct message room;
    const struct message *m = message_whole(in->source, &in->messages[index], &room);
    for (size_t i = 0; i < m->blocks.len; i++)
        add_block(&out, &m->blocks.items[i]);
    message_release(&room);
    return buf_take(&out);
}

static struct message text_message(const char *text)
{
    struct message m = {.role = ROLE_USER};
    vec_push(&m.blocks, block_text(text));
    return m;
}

/* Tokens of a user message with this text. */
static int64_t text_tokens(const char *text)
{
    struct block b = {.type = BLOCK_TEXT, .text = (char *)text};
    const struct message m = {.role = ROLE_USER, .blocks = {.items = &b, .len = 1}};
    return message_estimate_tokens(&m);
}

/* --- the parts -------------------------------------------------------------------------------- */

/* A walk over the messages that go, oldest first. */
struct walk {
    const struct compact_input *in;
    int64_t budget; /* tokens of a part; 0: no bound */
    struct summary_place at;
    char *text; /* of the message there; NULL: not made yet */
    size_t len;
};

static void next_message(struct walk *w)
{
    free(w->text);
    w->text = NULL;
    w->at = (struct summary_place){.message = w->at.message + 1};
}

/* Whether the message there has text left. */
static bool has_text(struct walk *w)
{
    if (!w->text) {
        w->text = plain_text(w->in, w->at.message);
        w->len = strlen(w->text);
    }
    return w->at.byte < w->len;
}

/* Whether a message that is kept elsewhere fits into a part: it is then counted without reading. */
static bool fits_unread(const struct walk *w)
{
    int64_t room = w->budget - SUMMARY_MESSAGE_BYTES / MESSAGE_BYTES_A_TOKEN;
    return w->in->messages[w->at.message].row > 0 && w->at.byte == 0 &&
           (w->budget == 0 || w->in->estimates[w->at.message] <= room);
}

/* The next piece of the message's text: all of it if a part can hold that. Tool results become the
 * user's, as in every model API: an answer cannot give them. */
static struct message take_message(struct walk *w)
{
    const struct message *m = &w->in->messages[w->at.message];
    const char *text = w->text + w->at.byte;
    size_t rest = w->len - w->at.byte;
    bool whole = w->budget == 0 || fits_unread(w);
    size_t piece = whole ? rest : text_fit(text, rest, w->budget);
    struct message plain = {.role = m->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER,
                            .summary = m->summary,
                            .seq = m->seq,
                            .turn = m->turn};
    vec_push(&plain.blocks, (struct block){.type = BLOCK_TEXT, .text = mem_strndup(text, piece)});
    w->at.byte += piece;
    return plain;
}

void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out)
{
    struct walk w = {.in = in, .budget = budget};
    *out = (struct summary_parts){0};
    while (w.at.message < in->count) {
        struct summary_place from = w.at;
        int64_t tokens = 0, used = out->items.len > 0 ? vec_last(&out->items).tokens : 0;
        bool goes = p->fates.items[w.at.message] == FATE_GOES;
        if (goes && fits_unread(&w)) {
            tokens = in->estimates[w.at.message];
            next_message(&w);
        } else if (goes && has_text(&w)) {
            struct message m = take_message(&w);
            tokens = message_estimate_tokens(&m);
            message_release(&m);
        } else {
            next_message(&w);
        }
        if (tokens == 0)
            continue;
        if (out->items.len == 0 || (budget > 0 && used > 0 && used + tokens > budget))
            vec_push(&out->items, (struct summary_part){.begin = from});
        vec_last(&out->items).tokens += tokens;
    }
}

void summary_part_read(const struct compact_input *in, const struct compact_plan *p, int64_t budget,
                       const struct summary_parts *parts, size_t index,
                       struct summary_messages *out)
{
    const struct summary_part *part = &parts->items.items[index];
    struct summary_place end = {.message = in->count};
    struct walk w = {.in = in, .budget = budget, .at = part->begin};
    *out = (struct summary_messages){0};
    if (index + 1 < parts->items.len)
        end = part[1].begin;
    while (w.at.message < end.message || (w.at.message == end.message && w.at.byte < end.byte)) {
        if (p->fates.items[w.at.message] == FATE_GOES && has_text(&w))
            vec_push(&out->items, take_message(&w));
        else
            next_message(&w);
    }
    free(w.text);
}

void summary_messages_release(struct summary_messages *m)
{
    for (size_t i = 0; i < m->items.len; i++)
        message_release(&m->items.items[i]);
    vec_release(&m->items);
}

/* --- the messages that stay ------------------------------------------------------------------- */

/* The messages that stay, without the system's, as the text of one message of at most `budget`
 * tokens (0: no limit). The oldest are left out where they do not fit. NULL: none. The caller
 * frees. */
static char *parts_that_stay(const struct compact_input *in, const struct compact_plan *p,
                             int64_t budget)
{
    enum { LEAST_BYTES = 200 }; /* of a beginning that says something */
    VEC(char *) lines = {0};    /* newest first */
    struct buf out = BUF_INIT;
    int64_t left = budget > 0 ? budget - text_tokens(SUMMARY_STAYS) : INT64_MAX / 8;
    for (size_t i = in->count; i > 0 && left > 0; i--) {
        if (p->fates.items[i - 1] == FATE_GOES || in->messages[i - 1].role == ROLE_SYSTEM)
            continue;
        auto_free char *text = plain_text(in, i - 1); /* "user: Hello", or its beginning */
        auto_free char *line = mem_printf("\n\n%s: %s", role_name(in->messages[i - 1].role), text);
        size_t len = strlen(line), fits = text_fit(line, len, left);
        if (!*text || (fits < len && fits < LEAST_BYTES))
            continue;
        vec_push(&lines, mem_strndup(line, fits));
        left -= text_tokens(vec_last(&lines));
    }
    for (size_t i = lines.len; i > 0; i--)
        buf_addf(&out, "%s%s", i == lines.len ? SUMMARY_STAYS : "", lines.items[i - 1]);
    char *text = lines.len > 0 ? buf_take(&out) : NULL;
    vec_free_each(&lines);
    return text;
}

/* --- the prompt ------------------------------------------------------------------------------- */

/* One summary in the making. */
struct making {
    const struct summary_job *job;
    const struct summariser *s;
    const struct summary_host *host;
    struct summary *out;
    struct failure *failure;
    const char *system; /* NULL: none, or no room for it */
    int64_t max_output;
    int64_t whole, folded; /* tokens of the only part, and of one of several; 0: no limit */
    int64_t part_budget;   /* that the parts were made with */
    int64_t carried;       /* tokens of the summary so far, in front of a part */
    int64_t stays;         /* tokens of the messages that stay, behind the last part; 0: no limit,
                              -1: no room */
    bool updates;          /* an earlier summary goes */
    int part, of;
    size_t streamed; /* bytes of the answer so far */
    bool full;       /* the answer is longer than a summary may be */
    bool stopped;    /* by progress() */
};

/* The text for {name} in a prompt's file. */
struct value {
    const char *name, *text;
    size_t max; /* bytes of it; 0: all */
};

/* Adds a file of data/ as a paragraph. Braces within a value stay as they are. */
static void add_file(struct buf *out, const char *name, const struct value *values)
{
    const char *text = embedded_text(name);
    assert(text);
    if (out->len > 0)
        buf_addstr(out, "\n\n");
    while (*text) {
        size_t plain = strcspn(text, "{");
        buf_add(out, text, plain);
        text += plain;
        size_t len = *text ? strcspn(text + 1, "}") : 0;
        const struct value *v = values;
        while (v->name && (strlen(v->name) != len || memcmp(v->name, text + 1, len) != 0))
            v++;
        if (*text && v->name) {
            size_t all = strlen(v->text);
            utf8_add_cut(out, v->text, all, v->max > 0 ? v->max : all);
            text += len + 2;
        } else if (*text) {
            buf_addch(out, *text++);
        }
    }
    buf_trim_end(out, "\n");
}

static int64_t at_most(int64_t n, int64_t limit)
{
    return limit > 0 && n > limit ? limit : n;
}

/* The last message of a request: the mode's prompt and additions. The caller frees. */
static char *prompt_text(const struct making *m, int part, int of)
{
    const struct summary_job *job = m->job;
    const char *draft = part == of ? job->draft : NULL;
    size_t aside = (size_t)at_most(ASIDE_BYTES, m->s->window);
    struct buf out = BUF_INIT;
    char number[16], count[16];
    snprintf(number, sizeof number, "%d", part);
    snprintf(count, sizeof count, "%d", of);
    const struct value values[] = {{"part", number, 0},
                                   {"parts", count, 0},
                                   {"draft", or_empty(draft), aside},
                                   {"focus", or_empty(job->focus), aside},
                                   {NULL, NULL, 0}};
    add_file(&out, job->mode->prompt, values);
    if ((m->updates || part > 1) && job->mode->update_prompt)
        add_file(&out, job->mode->update_prompt, values);
    if (of > 1)
        add_file(&out, "prompts/compaction-fold.md", values);
    if (part == of && job->sectionless)
        add_file(&out, "prompts/compaction-sections.md", values);
    if (draft)
        add_file(&out, "prompts/compaction-again.md", values);
    if (!utf8_is_blank(job->focus))
        add_file(&out, "prompts/compaction-focus.md", values);
    return buf_take(&out);
}

/* --- one call --------------------------------------------------------------------------------- */

static size_t max_bytes(const struct making *m)
{
    return (size_t)m->job->max_tokens * TOKEN_BYTES;
}

static bool goes_on(const struct summary_host *host)
{
    return !host->go_on || host->go_on(host->context);
}

static bool take_delta(void *context, const char *text, size_t len)
{
    struct making *m = context;
    AUTO(buf_release) struct buf clean = BUF_INIT;
    if (m->stopped || m->full)
        return false;
    size_t room = max_bytes(m) - m->streamed;
    m->full = len > room;
    if (m->full)
        len = room - utf8_incomplete_tail(text, room);
    m->streamed += len;
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    m->stopped =
        !goes_on(m->host) || !m->host->progress(m->host->context, clean.data, clean.len,
                                                m->of > 1 ? m->part : 0, m->of > 1 ? m->of : 0);
    return !m->stopped && !m->full;
}

static enum summary_result why_failed(const struct making *m)
{
    return m->failure->kind == FAILURE_OVERFLOW    ? SUMMARY_OVERFLOW
           : m->failure->kind == FAILURE_CANCELLED ? SUMMARY_CANCELLED
                                                   : SUMMARY_FAILED;
}

static enum summary_result fails(struct making *m, enum failure_kind kind, const char *text)
{
    failure_set(m->failure, kind, "%s", text);
    return why_failed(m);
}

/* The text of a response that came, or why it is of no use. */
static enum summary_result judge(struct making *m, const struct response *r, char **text)
{
    bool cut_off =
        m->full || r->stop_reason == STOP_MAX_TOKENS || r->stop_reason == STOP_CONTEXT_EXCEEDED;
    if (r->prompt_truncated)
        return fails(m, FAILURE_OVERFLOW,
                     "the server dropped the front of what is to be summarised");
    if (r->stop_reason == STOP_REFUSAL)
        return fails(m, FAILURE_PROTOCOL, "the model refused to write the summary");
    *text = summary_text(r->blocks.items, r->blocks.len, max_bytes(m), cut_off);
    if (!*text && r->stop_reason == STOP_CONTEXT_EXCEEDED)
        return fails(m, FAILURE_OVERFLOW,
                     "the model's window was full before the summary was complete");
    return *text ? SUMMARY_DONE : SUMMARY_EMPTY;
}

static enum summary_result call(struct making *m, const struct request *request, char **text)
{
    struct response response;
    if (!goes_on(m->host))
        return fails(m, FAILURE_CANCELLED, "interrupted");
    if (!m->host->may_call(m->host->context, m->failure))
        return why_failed(m);
    response_init(&response);
    m->streamed = 0;
    m->full = false;
    bool ok =
        m->host->complete(m->host->context, m->s, request, take_delta, m, &response, m->failure);
    struct usage u = response.usage;
    int64_t written = ((int64_t)m->streamed + 3) / 4;
    if ((m->full || m->stopped) && written > u.output) {
        u.output = written; /* a call that was broken off reports none, or an early number */
        u.estimated = true;
    }
    const struct price price =
        models_price(m->s->config, m->s->model, &m->s->price, response.model);
    m->out->calls++;
    usage_add(&m->out->usage, &u);
    m->out->cost = usage_cost_sum(m->out->cost, usage_cost(&u, &price));
    enum summary_result result = m->stopped      ? fails(m, FAILURE_CANCELLED, "interrupted")
                                 : ok || m->full ? judge(m, &response, text)
                                                 : why_failed(m);
    response_release(&response);
    return result;
}

/* Before the part stands the summary so far, so that the user's word comes first. Behind the last
 * part stand the messages that stay, so that the summary does not contradict them. */
static enum summary_result summarise(struct making *m, const struct summary_messages *part,
                                     const char *so_far, char **text)
{
    VEC(struct message) list = {0}; /* blocks of the part's messages are borrowed */
    auto_free char *prompt = prompt_text(m, m->part, m->of);
    bool has_stays = m->part == m->of && m->stays >= 0;
    auto_free char *stays =
        has_stays ? parts_that_stay(m->job->input, m->job->plan, m->stays) : NULL;
    if (so_far) {
        AUTO(buf_release) struct buf carried = BUF_INIT;
        buf_addf(&carried, "[Summary of the conversation so far:]\n\n%s", so_far);
        size_t fits = text_fit(carried.data, carried.len, m->carried);
        if (fits < carried.len) /* longer than we asked for */
            buf_truncate(&carried, summary_text_sentences(carried.data, fits));
        vec_push(&list, text_message(carried.data));
    } else if (part->items.len > 0 && part->items.items[0].role != ROLE_USER)
        vec_push(&list, text_message(lead));
    size_t first = list.len, end = first + part->items.len;
    for (size_t i = 0; i < part->items.len; i++)
        vec_push(&list, part->items.items[i]);
    if (stays)
        vec_push(&list, text_message(stays));
    vec_push(&list, text_message(prompt));
    int64_t estimate = m->system ? text_tokens(m->system) + 1 : 0;
    for (size_t i = 0; i < list.len; i++)
        estimate += message_estimate_tokens(&list.items[i]);
    const struct request request = {.model = m->s->model,
                                    .system = m->system,
                                    .messages = list.items,
                                    .message_count = list.len,
                                    .max_output = m->max_output,
                                    .window = m->s->window,
                                    .estimate = estimate};
    enum summary_result result = call(m, &request, text);
    for (size_t i = 0; i < list.len; i++)
        if (i < first || i >= end)
            message_release(&list.items[i]);
    vec_release(&list);
    return result;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Sets the sizes of parts, beside a summary of at most this share of the window. False: not even a
 * small part fits the model's window. */
static bool measure(struct making *m, int64_t share)
{
    m->system = m->job->system;
    int64_t window = m->s->window > 0 ? m->s->window : LARGEST_WINDOW;
    m->max_output = at_most(at_most(m->job->max_tokens, m->s->max_output), m->s->window / share);
    if (m->max_output < 1)
        m->max_output = 1;
    auto_free char *prompt = prompt_text(m, INT16_MAX, INT16_MAX);
    /* A tenth is left for what our estimate errs. */
    int64_t most = at_most(window - window / 10 - m->max_output, m->s->max_bytes / 5);
    int64_t room = most - text_tokens(prompt) - 1 - LEAD_TOKENS;
    int64_t system = m->system ? text_tokens(m->system) + 1 : 0;
    if (system > room / 2)
        m->system = NULL; /* the conversation says more */
    else
        room -= system;
    m->carried = at_most(2 * m->max_output, room / 2);
    m->whole = room;
    m->folded = room - m->carried;
    return m->folded >= LEAST_PART;
}

/* The messages that stay have the room that the last part leaves; several parts leave them some. */
static void make_parts(struct making *m, struct summary_parts *parts)
{
    const struct summary_job *job = m->job;
    int64_t budget = m->part_budget = m->whole;
    summary_parts_make(job->input, job->plan, budget, parts);
    if (parts->items.len > 1) {
        int64_t stays = LEAD_TOKENS;
        for (size_t i = 0; i < job->input->count; i++)
            if (job->plan->fates.items[i] != FATE_GOES)
                stays += job->input->estimates[i];
        m->part_budget = m->folded - at_most(stays, m->folded / 4);
        vec_release(&parts->items);
        summary_parts_make(job->input, job->plan, m->part_budget, parts);
        budget = m->folded;
    }
    if (budget > 0 && parts->items.len > 0) {
        m->stays = budget - vec_last(&parts->items).tokens;
        m->stays = m->stays > 0 ? m->stays : -1;
    }
}

enum summary_result summary_make(const struct summary_job *job, const struct summariser *s,
                                 const struct summary_host *host, struct summary *out,
                                 struct failure *failure)
{
    struct making m = {
        .job = job, .s = s, .host = host, .out = out, .failure = failure, .system = job->system};
    struct summary_parts parts = {0};
    /* A summary of an eighth, as policy.h reserves, if one call is enough then. */
    static const int64_t shares[] = {4, 8, 4};
    *out = (struct summary){.usage = USAGE_UNKNOWN, .cost = -1};
    failure_clear(failure);
    for (size_t i = 0; i < job->input->count && !m.updates; i++)
        m.updates = job->plan->fates.items[i] == FATE_GOES && job->input->messages[i].summary;
    for (size_t i = 0; i < sizeof shares / sizeof *shares && (i == 0 || parts.items.len > 1); i++) {
        vec_release(&parts.items);
        if (!measure(&m, shares[i]))
            return fails(&m, FAILURE_OVERFLOW, "it leaves no room for a summary");
        make_parts(&m, &parts);
    }
    const struct message_source *source = job->input->source;
    enum summary_result result = SUMMARY_EMPTY;
    m.of = (int)parts.items.len;
    for (m.part = 1; m.part <= m.of; m.part++) {
        auto_free char *so_far = out->text;
        struct summary_messages messages;
        out->text = NULL;
        summary_part_read(job->input, job->plan, m.part_budget, &parts, (size_t)m.part - 1,
                          &messages);
        result = source && source->failed ? fails(&m, FAILURE_SETUP, source->fault.text)
                                          : summarise(&m, &messages, so_far, &out->text);
        summary_messages_release(&messages);
        if (result != SUMMARY_DONE)
            break;
    }
    vec_release(&parts.items);
    return result;
}
