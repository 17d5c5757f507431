#include "compact/summary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "provider/provider.h"

enum {
    TOKEN_BYTES = 8,          /* more is no token, but a server that does not stop */
    LEAST_PART = 256,         /* tokens: below it folding would never end */
    LARGEST_WINDOW = 1000000, /* tokens: where it is unknown, what no model takes is not sent */
    ASIDE_BYTES = 16384,      /* of a focus or an earlier draft in the prompt */
    LEAD_TOKENS = 64          /* of the line before a conversation that an answer begins */
};

static const char lead[] = "[The conversation from its middle on:]";

/* One summary in the making. */
struct making {
    const struct summary_job *job;
    const struct summariser *s;
    const struct summary_host *host;
    struct summary *out;
    struct failure *failure;
    const char *system; /* NULL: none, or no room for it */
    int64_t max_output;
    int64_t whole, folded; /* tokens of a part; 0: no limit */
    int64_t part_budget;   /* that the parts were made with */
    int64_t carried;       /* of the summary so far, in front of a part */
    int64_t aside;         /* of what stays, behind the last part; 0: no limit, -1: no room */
    bool updates;
    int part, of;
    size_t streamed; /* bytes of the answer so far */
    bool full;       /* more of it than a summary may have */
    bool stopped;    /* by progress() */
};

void summary_release(struct summary *s)
{
    free(s->text);
    *s = (struct summary){.usage = USAGE_UNKNOWN, .cost = -1};
}

static int64_t at_most(int64_t n, int64_t limit)
{
    return limit > 0 && n > limit ? limit : n;
}

static size_t max_bytes(const struct making *m)
{
    return (size_t)m->job->max_tokens * TOKEN_BYTES;
}

static struct message text_message(const char *text)
{
    struct message m = {.role = ROLE_USER};
    vec_push(&m.blocks, block_text(text));
    return m;
}

static int64_t text_tokens(const char *text)
{
    struct message m = text_message(text);
    int64_t tokens = message_estimate_tokens(&m) + 1;
    message_release(&m);
    return tokens;
}

static bool has_earlier_summary(const struct summary_job *job)
{
    for (size_t i = 0; i < job->input->count; i++)
        if (job->plan->fates.items[i] == FATE_GOES && job->input->messages[i].summary)
            return true;
    return false;
}

/* --- the prompt ------------------------------------------------------------------------------ */

/* What stands in a prompt's file as {name}. */
struct value {
    const char *name, *text;
    size_t max; /* bytes of it; 0: all */
};

static const struct value *find_value(const struct value *values, const char *name, size_t len)
{
    for (; values->name; values++)
        if (strlen(values->name) == len && memcmp(values->name, name, len) == 0)
            return values;
    return NULL;
}

/* One pass: what a value itself says in braces stays as it is. */
static void add_filled(struct buf *out, const char *text, const struct value *values)
{
    while (*text) {
        size_t plain = strcspn(text, "{");
        buf_add(out, text, plain);
        text += plain;
        size_t name = *text ? strcspn(text + 1, "}") : 0;
        const struct value *v = *text ? find_value(values, text + 1, name) : NULL;
        if (v) {
            size_t len = strlen(v->text);
            utf8_add_cut(out, v->text, len, v->max > 0 ? v->max : len);
            text += name + 2;
        } else if (*text) {
            buf_addch(out, *text++);
        }
    }
}

/* A file of data/ as a paragraph of its own. */
static void add_file(struct buf *out, const char *name, const struct value *values)
{
    const char *text = embedded_text(name);
    assert(text);
    if (out->len > 0)
        buf_addstr(out, "\n\n");
    add_filled(out, text, values);
    buf_trim_end(out, "\n");
}

/* The last message of a request: the mode's prompt and what is said besides. The caller frees. */
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
                                   {"draft", draft ? draft : "", aside},
                                   {"focus", job->focus ? job->focus : "", aside},
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

/* --- what fits ------------------------------------------------------------------------------- */

/* Tokens of a request, less what our estimate errs; 0: no limit. */
static int64_t most_tokens(const struct making *m)
{
    int64_t size = m->s->window > 0 ? m->s->window : LARGEST_WINDOW;
    return at_most(size - size / 10 - m->max_output, m->s->max_bytes / 5);
}

/* Sets the sizes of parts. False: not even a small part fits the model's window. */
static bool measure(struct making *m)
{
    m->max_output = at_most(at_most(m->job->max_tokens, m->s->max_output), m->s->window / 4);
    if (m->max_output < 1)
        m->max_output = 1;
    char *prompt = prompt_text(m, INT16_MAX, INT16_MAX);
    int64_t room = most_tokens(m) - text_tokens(prompt) - LEAD_TOKENS;
    free(prompt);
    int64_t system = m->system ? text_tokens(m->system) : 0;
    if (system > room / 2)
        m->system = NULL; /* the conversation says more */
    else
        room -= system;
    m->carried = at_most(2 * m->max_output, room / 2);
    m->whole = room;
    m->folded = room - m->carried;
    return m->folded >= LEAST_PART;
}

/* --- one call -------------------------------------------------------------------------------- */

static bool goes_on(const struct summary_host *host)
{
    return !host->go_on || host->go_on(host->context);
}

static bool take_delta(void *context, const char *text, size_t len)
{
    struct making *m = context;
    struct buf clean = BUF_INIT;
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
    buf_release(&clean);
    return !m->stopped && !m->full;
}

/* A call that was broken off has no figure for what it wrote, or an early one. */
static struct usage usage_of(const struct making *m, const struct response *r)
{
    struct usage u = r->usage;
    int64_t written = ((int64_t)m->streamed + 3) / 4;
    if ((m->full || m->stopped) && written > u.output) {
        u.output = written;
        u.estimated = true;
    }
    return u;
}

static void account(struct making *m, const struct response *r)
{
    struct usage u = usage_of(m, r);
    const struct price price = models_price(m->s->config, m->s->model, &m->s->price, r->model);
    m->out->calls++;
    usage_add(&m->out->usage, &u);
    m->out->cost = usage_cost_sum(m->out->cost, usage_cost(&u, &price));
}

static enum summary_result why_failed(const struct making *m)
{
    switch (m->failure->kind) {
    case FAILURE_OVERFLOW:
        return SUMMARY_OVERFLOW;
    case FAILURE_CANCELLED:
        return SUMMARY_CANCELLED;
    default:
        return SUMMARY_FAILED;
    }
}

static enum summary_result overflow(struct making *m, const char *text)
{
    failure_set(m->failure, FAILURE_OVERFLOW, "%s", text);
    return SUMMARY_OVERFLOW;
}

/* What an answer that came is good for. */
static enum summary_result judge(struct making *m, const struct response *r, char **text)
{
    bool cut_off =
        m->full || r->stop_reason == STOP_MAX_TOKENS || r->stop_reason == STOP_CONTEXT_EXCEEDED;
    if (r->prompt_truncated)
        return overflow(m, "the server dropped the front of what is to be summarised");
    if (r->stop_reason == STOP_REFUSAL) {
        failure_set(m->failure, FAILURE_PROTOCOL, "the model refused to write the summary");
        return SUMMARY_FAILED;
    }
    *text = summary_text(r->blocks.items, r->blocks.len, max_bytes(m), cut_off);
    if (!*text && r->stop_reason == STOP_CONTEXT_EXCEEDED)
        return overflow(m, "the model's window was full before the summary was complete");
    return *text ? SUMMARY_DONE : SUMMARY_EMPTY;
}

static bool may_call(struct making *m)
{
    return goes_on(m->host) ? m->host->may_call(m->host->context, m->failure)
                            : failure_set(m->failure, FAILURE_CANCELLED, "interrupted");
}

static enum summary_result call(struct making *m, const struct request *request, char **text)
{
    struct response response;
    enum summary_result result;
    if (!may_call(m))
        return why_failed(m);
    response_init(&response);
    m->streamed = 0;
    m->full = false;
    bool ok =
        m->host->complete(m->host->context, m->s, request, take_delta, m, &response, m->failure);
    account(m, &response);
    if (m->stopped)
        failure_set(m->failure, FAILURE_CANCELLED, "interrupted");
    result = !m->stopped && (ok || m->full) ? judge(m, &response, text) : why_failed(m);
    response_release(&response);
    return result;
}

/* --- the parts ------------------------------------------------------------------------------- */

struct message_list {
    VEC(struct message) items; /* of a part's own, the blocks are borrowed */
};

/* The summary so far as a message; one longer than we asked for gives way at its end. */
static struct message carried_message(const struct making *m, const char *so_far)
{
    static const char head[] = "[Summary of the conversation so far:]\n\n";
    struct buf text = BUF_INIT;
    buf_addstr(&text, head);
    buf_addstr(&text, so_far);
    size_t fits = summary_text_fit(text.data, text.len, m->carried);
    if (fits < text.len) {
        fits = summary_text_sentences(text.data, fits);
        buf_truncate(&text, fits);
    }
    struct message made = text_message(text.data);
    buf_release(&text);
    return made;
}

/* What stands before the part, so that the user's word comes first. */
static void add_first(const struct making *m, const struct summary_messages *part,
                      const char *so_far, struct message_list *out)
{
    if (so_far)
        vec_push(&out->items, carried_message(m, so_far));
    else if (part->items.len > 0 && part->items.items[0].role != ROLE_USER)
        vec_push(&out->items, text_message(lead));
}

/* Behind all that goes, so that what remains to be done does not contradict the newest turns. */
static void add_stays(const struct making *m, struct message_list *out)
{
    bool last = m->part == m->of && m->aside >= 0;
    char *text = last ? summary_parts_stay(m->job->input, m->job->plan, m->aside) : NULL;
    if (text)
        vec_push(&out->items, text_message(text));
    free(text);
}

static int64_t estimate(const struct message_list *list, const char *system)
{
    int64_t tokens = system ? text_tokens(system) : 0;
    for (size_t i = 0; i < list->items.len; i++)
        tokens += message_estimate_tokens(&list->items.items[i]);
    return tokens;
}

static enum summary_result summarise(struct making *m, const struct summary_messages *part,
                                     const char *so_far, char **text)
{
    struct message_list list = {0};
    char *prompt = prompt_text(m, m->part, m->of);
    add_first(m, part, so_far, &list);
    size_t own = list.items.len;
    for (size_t i = 0; i < part->items.len; i++)
        vec_push(&list.items, part->items.items[i]);
    add_stays(m, &list);
    vec_push(&list.items, text_message(prompt));
    const struct request request = {.model = m->s->model,
                                    .system = m->system,
                                    .messages = list.items.items,
                                    .message_count = list.items.len,
                                    .max_output = m->max_output,
                                    .window = m->s->window,
                                    .estimate = estimate(&list, m->system)};
    enum summary_result result = call(m, &request, text);
    for (size_t i = 0; i < list.items.len; i++)
        if (i < own || i >= own + part->items.len)
            message_release(&list.items.items[i]);
    vec_release(&list.items);
    free(prompt);
    return result;
}

static enum summary_result summarise_part(struct making *m, const struct summary_parts *parts,
                                          const char *so_far, char **text)
{
    const struct message_source *source = m->job->input->source;
    struct summary_messages messages;
    summary_part_read(m->job->input, m->job->plan, m->part_budget, parts, (size_t)m->part - 1,
                      &messages);
    bool failed = source && source->failed;
    enum summary_result result = SUMMARY_FAILED;
    if (failed)
        failure_set(m->failure, FAILURE_SETUP, "%s", source->fault.text);
    else
        result = summarise(m, &messages, so_far, text);
    summary_messages_release(&messages);
    return result;
}

static enum summary_result fold(struct making *m, const struct summary_parts *parts)
{
    enum summary_result result = SUMMARY_EMPTY;
    char *so_far = NULL;
    m->of = (int)parts->items.len;
    for (m->part = 1; m->part <= m->of; m->part++) {
        char *next = NULL;
        result = summarise_part(m, parts, so_far, &next);
        free(so_far);
        so_far = next;
        if (result != SUMMARY_DONE)
            break;
    }
    m->out->text = so_far;
    return result;
}

static int64_t count_stays(const struct summary_job *job)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < job->input->count; i++)
        if (job->plan->fates.items[i] != FATE_GOES)
            tokens += job->input->estimates[i];
    return tokens;
}

/* What stays has the room that the last part leaves; several parts leave it some. */
static void make_parts(struct making *m, struct summary_parts *parts)
{
    int64_t budget = m->part_budget = m->whole;
    summary_parts_make(m->job->input, m->job->plan, budget, parts);
    if (parts->items.len > 1) {
        m->part_budget = m->folded - at_most(count_stays(m->job) + LEAD_TOKENS, m->folded / 4);
        vec_release(&parts->items);
        summary_parts_make(m->job->input, m->job->plan, m->part_budget, parts);
        budget = m->folded;
    }
    if (budget > 0 && parts->items.len > 0) {
        m->aside = budget - vec_last(&parts->items).tokens;
        m->aside = m->aside > 0 ? m->aside : -1;
    }
}

enum summary_result summary_make(const struct summary_job *job, const struct summariser *s,
                                 const struct summary_host *host, struct summary *out,
                                 struct failure *failure)
{
    struct making m = {.job = job,
                       .s = s,
                       .host = host,
                       .out = out,
                       .failure = failure,
                       .system = job->system,
                       .updates = has_earlier_summary(job)};
    struct summary_parts parts;
    *out = (struct summary){.usage = USAGE_UNKNOWN, .cost = -1};
    failure_clear(failure);
    if (!measure(&m))
        return overflow(&m, "it leaves no room for a summary");
    make_parts(&m, &parts);
    enum summary_result result = fold(&m, &parts);
    vec_release(&parts.items);
    return result;
}

/* Of an image's path or URL; one that holds the picture itself is megabytes long. */
#define IMAGE_NAME_BYTES 200

static const char *text_or_empty(const char *s)
{
    return s ? s : "";
}

static void add_image(struct buf *out, const struct block *b)
{
    const char *name = text_or_empty(b->text);
    buf_addstr(out, "[image ");
    if (strncmp(name, "data:", 5) == 0)
        buf_addstr(out, "without a name");
    else
        utf8_add_cut(out, name, strlen(name), IMAGE_NAME_BYTES);
    if (b->media_type)
        buf_addf(out, ", %s", b->media_type);
    buf_addch(out, ']');
}

static void add_call(struct buf *out, const struct block *b)
{
    buf_addf(out, "[called %s %s]", text_or_empty(b->name), text_or_empty(b->text));
}

static void add_result(struct buf *out, const struct block *b)
{
    buf_addf(out, "[%s of %s: %s]", b->is_error ? "error" : "result", text_or_empty(b->name),
             text_or_empty(b->text));
}

static void add_text_block(struct buf *out, const struct block *b)
{
    buf_addstr(out, text_or_empty(b->text));
}

static char *plain_text(const struct compact_input *in, size_t index)
{
    static void (*const writers[])(struct buf *,
                                   const struct block *) = {[BLOCK_TEXT] = add_text_block,
                                                            [BLOCK_TOOL_CALL] = add_call,
                                                            [BLOCK_TOOL_RESULT] = add_result,
                                                            [BLOCK_IMAGE] = add_image,
                                                            [BLOCK_REASONING] = NULL};
    struct buf out = BUF_INIT;
    struct message room;
    const struct message *m = message_whole(in->source, &in->messages[index], &room);
    for (size_t i = 0; i < m->blocks.len; i++) {
        const struct block *b = &m->blocks.items[i];
        if (!writers[b->type] || (b->type == BLOCK_TEXT && !*text_or_empty(b->text)))
            continue;
        if (out.len > 0)
            buf_addstr(&out, "\n\n");
        writers[b->type](&out, b);
    }
    message_release(&room);
    return buf_take(&out);
}

/* Tool results are the user's, as in every model API: an answer cannot give them. */
static struct message plain_message(const struct message *m, const char *text, size_t len)
{
    struct message plain = {.role = m->role == ROLE_ASSISTANT ? ROLE_ASSISTANT : ROLE_USER,
                            .summary = m->summary,
                            .seq = m->seq,
                            .turn = m->turn};
    struct block b = {.type = BLOCK_TEXT, .text = mem_strndup(text, len)};
    vec_push(&plain.blocks, b);
    return plain;
}

/* A walk over what goes, oldest first, as the messages that tell it. */
struct walk {
    const struct compact_input *in;
    const struct compact_plan *plan;
    int64_t budget; /* tokens of a part; 0: no bound */
    struct summary_place at;
    char *text; /* of the message there; NULL: not made yet */
    size_t len;
};

static void step_over(struct walk *w)
{
    free(w->text);
    w->text = NULL;
    w->at = (struct summary_place){.message = w->at.message + 1};
}

static bool is_at_message(const struct walk *w)
{
    return w->at.message < w->in->count && w->plan->fates.items[w->at.message] == FATE_GOES;
}

/* The message there has something left to tell. */
static bool has_text(struct walk *w)
{
    if (!w->text) {
        w->text = plain_text(w->in, w->at.message);
        w->len = strlen(w->text);
    }
    return w->at.byte < w->len;
}

/* Not read, for it fits in one piece: it tells no more than it is. */
static bool fits_unread(const struct walk *w)
{
    int64_t room = w->budget - message_bytes_to_tokens(SUMMARY_MESSAGE_BYTES);
    return w->in->messages[w->at.message].row > 0 && w->at.byte == 0 &&
           (w->budget == 0 || w->in->estimates[w->at.message] <= room);
}

/* A message that no part can hold becomes several. */
static struct message take_message(struct walk *w)
{
    const char *text = w->text + w->at.byte;
    size_t rest = w->len - w->at.byte;
    bool whole = w->budget == 0 || fits_unread(w);
    size_t piece = whole ? rest : summary_text_fit(text, rest, w->budget);
    w->at.byte += piece;
    return plain_message(&w->in->messages[w->at.message], text, piece);
}

/* Tokens of what comes next, behind which the walk then is; 0: the message has no more. */
static int64_t pass(struct walk *w)
{
    int64_t tokens = 0;
    if (fits_unread(w)) {
        tokens = w->in->estimates[w->at.message];
        step_over(w);
    } else if (has_text(w)) {
        struct message m = take_message(w);
        tokens = message_estimate_tokens(&m);
        message_release(&m);
    } else {
        step_over(w);
    }
    return tokens;
}

static void add_tokens(struct summary_parts *out, struct summary_place from, int64_t tokens,
                       int64_t budget)
{
    int64_t used = out->items.len > 0 ? vec_last(&out->items).tokens : 0;
    bool full = budget > 0 && used > 0 && used + tokens > budget;
    if (out->items.len == 0 || full)
        vec_push(&out->items, (struct summary_part){.begin = from});
    vec_last(&out->items).tokens += tokens;
}

void summary_parts_make(const struct compact_input *in, const struct compact_plan *p,
                        int64_t budget, struct summary_parts *out)
{
    struct walk w = {.in = in, .plan = p, .budget = budget};
    *out = (struct summary_parts){0};
    while (w.at.message < in->count) {
        if (!is_at_message(&w)) {
            step_over(&w);
            continue;
        }
        struct summary_place from = w.at;
        int64_t tokens = pass(&w);
        if (tokens > 0)
            add_tokens(out, from, tokens, budget);
    }
}

void summary_part_read(const struct compact_input *in, const struct compact_plan *p, int64_t budget,
                       const struct summary_parts *parts, size_t index,
                       struct summary_messages *out)
{
    const struct summary_place all = {.message = in->count};
    const struct summary_part *part = &parts->items.items[index];
    struct summary_place end = index + 1 < parts->items.len ? part[1].begin : all;
    struct walk w = {.in = in, .plan = p, .budget = budget, .at = part->begin};
    *out = (struct summary_messages){0};
    while (w.at.message < end.message || (w.at.message == end.message && w.at.byte < end.byte)) {
        if (is_at_message(&w) && has_text(&w))
            vec_push(&out->items, take_message(&w));
        else
            step_over(&w);
    }
    free(w.text);
}

void summary_messages_release(struct summary_messages *m)
{
    for (size_t i = 0; i < m->items.len; i++)
        message_release(&m->items.items[i]);
    vec_release(&m->items);
}

/* --- what stays ------------------------------------------------------------------------------ */

struct lines {
    VEC(char *) items; /* a message each, newest first; owned */
};

static int64_t tokens_of(const char *text)
{
    struct block b = {.type = BLOCK_TEXT, .text = (char *)text};
    const struct message m = {.role = ROLE_USER, .blocks = {.items = &b, .len = 1}};
    return message_estimate_tokens(&m);
}

/* "user: Hello", or as much of its beginning as fits. NULL: that would say nothing. */
static char *line_of(const struct compact_input *in, size_t index, int64_t tokens)
{
    enum { LEAST_BYTES = 200 }; /* of a beginning */
    char *text = plain_text(in, index);
    char *line = mem_printf("\n\n%s: %s", role_name(in->messages[index].role), text);
    size_t len = strlen(line), fits = summary_text_fit(line, len, tokens);
    bool says_something = *text && (fits == len || fits >= LEAST_BYTES);
    free(text);
    if (says_something)
        line[fits] = '\0';
    else
        free(line);
    return says_something ? line : NULL;
}

static void collect_lines(const struct compact_input *in, const struct compact_plan *p,
                          int64_t tokens, struct lines *out)
{
    for (size_t i = in->count; i > 0 && tokens > 0; i--) {
        if (p->fates.items[i - 1] == FATE_GOES || in->messages[i - 1].role == ROLE_SYSTEM)
            continue;
        char *line = line_of(in, i - 1, tokens);
        if (line)
            vec_push(&out->items, line);
        tokens -= line ? tokens_of(line) : 0;
    }
}

char *summary_parts_stay(const struct compact_input *in, const struct compact_plan *p,
                         int64_t budget)
{
    const int64_t without_limit = INT64_MAX / 8;
    struct lines lines = {0};
    struct buf out = BUF_INIT;
    collect_lines(in, p, budget > 0 ? budget - tokens_of(SUMMARY_STAYS) : without_limit, &lines);
    buf_addstr(&out, SUMMARY_STAYS);
    for (size_t i = lines.items.len; i > 0; i--) {
        buf_addstr(&out, lines.items.items[i - 1]);
        free(lines.items.items[i - 1]);
    }
    bool any = lines.items.len > 0;
    vec_release(&lines.items);
    if (any)
        return buf_take(&out);
    buf_release(&out);
    return NULL;
}

/* What a byte of a text takes in JSON at most; one that is no UTF-8 becomes a character of 3. */
static size_t json_bytes(unsigned char c, bool valid)
{
    if (c < 0x20)
        return strchr("\b\t\n\f\r", c) ? 2 : 6;
    if (c == '"' || c == '\\')
        return 2;
    return c < 0x80 || valid ? 1 : 3;
}

size_t summary_text_fit(const char *text, size_t len, int64_t tokens)
{
    int64_t bytes = tokens * 4 - SUMMARY_MESSAGE_BYTES;
    size_t room = bytes > 0 ? (size_t)bytes : 0;
    size_t probe = room < len ? room : len;
    bool valid = utf8_valid(text, probe - utf8_incomplete_tail(text, probe));
    size_t fits = 0;
    for (size_t used = 0; fits < len; fits++) {
        used += json_bytes((unsigned char)text[fits], valid);
        if (used > room)
            break;
    }
    size_t cut = utf8_cut_bytes(text, len, fits);
    if (cut == 0) /* one grapheme without end: any character's border must do */
        cut = fits - utf8_incomplete_tail(text, fits);
    if (cut == 0 && len > 0) {
        uint32_t cp;
        cut = utf8_decode(text, len, &cp);
    }
    return cut;
}

static bool ends_sentence(const char *text, size_t len, size_t at)
{
    static const char *const ends[] = {".",           "!", "?", "\xE3\x80\x82", "\xEF\xBC\x81",
                                       "\xEF\xBC\x9F"};
    if (text[at] == '\n')
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        bool wide = n > 1; /* they need no blank behind them */
        if (at + 1 >= n && memcmp(text + at + 1 - n, ends[i], n) == 0 &&
            (wide || at + 1 == len || strchr(" \t\n", text[at + 1])))
            return true;
    }
    return false;
}

size_t summary_text_sentences(const char *text, size_t len)
{
    for (size_t at = len; at > len / 2; at--)
        if (ends_sentence(text, len, at - 1))
            return at;
    return len;
}

static void add_texts(struct buf *out, const struct block *blocks, size_t count, size_t max)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = blocks[i].text;
        if (blocks[i].type != BLOCK_TEXT || !text || out->len > max)
            continue;
        if (out->len > 0)
            buf_addstr(out, "\n\n");
        size_t len = strnlen(text, max + 1);
        utf8_clean(out, text, len - (text[len] ? utf8_incomplete_tail(text, len) : 0),
                   UTF8_MULTILINE);
    }
}

char *summary_text(const struct block *blocks, size_t count, size_t max, bool cut_off)
{
    struct buf text = BUF_INIT;
    add_texts(&text, blocks, count, max);
    if (text.len > max) {
        buf_truncate(&text, utf8_cut_bytes(text.data, text.len, max));
        cut_off = true;
    }
    if (cut_off)
        buf_truncate(&text, summary_text_sentences(text.data, text.len));
    buf_trim_end(&text, " \t\n");
    buf_consume(&text, strspn(text.data, " \t\n"));
    if (text.len > 0)
        return buf_take(&text);
    buf_release(&text);
    return NULL;
}
