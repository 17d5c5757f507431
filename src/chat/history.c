#include "chat/history.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_pack.h"
#include "base/mem.h"

/* --- lifecycle -------------------------------------------------------------------------------- */

static void release_state(struct compaction_state *s)
{
    vec_release(&s->in_force);
    free(s->failed_mode);
    free(s->failed_model);
    free(s->obstacle);
}

void history_init(struct history *h)
{
    *h = (struct history){.usage = USAGE_UNKNOWN,
                          .last_input = -1,
                          .measure = REQUEST_UNMEASURED,
                          .compaction = {.last_attempt = -1}};
}

void history_release(struct history *h)
{
    for (size_t i = 0; i < h->messages.len; i++)
        message_release(&h->messages.items[i]);
    vec_release(&h->messages);
    vec_release(&h->estimates);
    free(h->last_text);
    free(h->last_attachments);
    free(h->surroundings);
    release_state(&h->compaction);
    for (size_t i = 0; i < h->budgets.len; i++)
        free(h->budgets.items[i].kind);
    vec_release(&h->budgets);
    vec_free_each(&h->left_out);
    vec_release(&h->rewound);
    vec_release(&h->undone);
    history_init(h);
}

/* --- messages and their estimates ------------------------------------------------------------- */

static void push_message(struct history *h, struct message m, int64_t estimate)
{
    vec_push(&h->messages, m);
    vec_push(&h->estimates, estimate);
    h->estimate += estimate;
}

static struct message *begin_message(struct history *h, enum role role, int64_t seq)
{
    struct message m = {.role = role, .seq = seq, .turn = h->turns};
    push_message(h, m, message_estimate_tokens(&m));
    return &vec_last(&h->messages);
}

void history_add_saved(struct history *h, struct message m, int64_t bytes)
{
    push_message(h, m, bytes / MESSAGE_BYTES_A_TOKEN);
    h->unsaved = h->messages.len;
}

static void truncate_at(struct history *h, size_t first)
{
    if (h->unsaved > first)
        h->unsaved = first;
    h->grown = 0;
    while (h->messages.len > first) {
        message_release(&vec_last(&h->messages));
        h->estimate -= vec_last(&h->estimates);
        h->messages.len--;
        h->estimates.len--;
    }
}

/* Reads the blocks of the message at `i`, if they are kept elsewhere. False: they could not be
 * read. */
static bool fetch(struct history *h, size_t i)
{
    struct message room;
    struct message *m = &h->messages.items[i];
    if (message_whole(h->source, m, &room) == &room)
        *m = room;
    return m->row == 0;
}

void history_shed(struct history *h, int64_t tokens)
{
    size_t first = h->messages.len;
    while (first > 0 && (tokens -= h->estimates.items[first - 1]) >= 0)
        first--;
    if (first > h->unsaved)
        first = h->unsaved;
    if (h->running && first > h->turn_first)
        first = h->turn_first;
    for (size_t i = 0; i < first; i++) {
        struct message *m = &h->messages.items[i];
        if (m->summary || m->pinned || m->row > 0)
            continue;
        struct message shed = message_without_blocks(m);
        shed.row = (int)i + 1;
        message_release(m);
        *m = shed;
    }
}

/* The message at `i` has changed. */
static void set_estimate(struct history *h, size_t i, int64_t estimate)
{
    if (h->unsaved > i)
        h->unsaved = i;
    h->estimate += estimate - h->estimates.items[i];
    h->estimates.items[i] = estimate;
}

static void weigh(struct history *h, const struct message *m)
{
    h->grown = 0;
    set_estimate(h, (size_t)(m - h->messages.items), message_estimate_tokens(m));
}

/* Takes time for the block, not for the whole message: an answer may have many blocks. */
static void append_block(struct history *h, struct message *m, struct block b)
{
    size_t i = (size_t)(m - h->messages.items);
    int64_t bytes = h->grown == i + 1 ? h->grown_bytes : shape_bytes(&message_shape, m);
    bytes += shape_bytes(&block_shape, &b) + (m->blocks.len > 0);
    vec_push(&m->blocks, b);
    h->grown = i + 1;
    h->grown_bytes = bytes;
    set_estimate(h, i, bytes / MESSAGE_BYTES_A_TOKEN);
}

/* --- the open turn ---------------------------------------------------------------------------- */

static void close_turn(struct history *h)
{
    h->running = false;
    h->turn_seq = 0;
    h->turn_first = 0;
    h->call_seq = 0;
    h->turn_shortened = false;
}

/* Removes everything from the user message at `first` on. */
static void take_back(struct history *h, size_t first)
{
    h->turns = h->messages.items[first].turn - 1;
    truncate_at(h, first);
}

bool history_drop_open_turn(struct history *h)
{
    if (!h->running)
        return false;
    take_back(h, h->turn_first);
    close_turn(h);
    return true;
}

/* The newest assistant message of the turn, or NULL. */
static struct message *last_answer(const struct history *h)
{
    for (size_t i = h->messages.len; i > h->turn_first; i--)
        if (h->messages.items[i - 1].role == ROLE_ASSISTANT)
            return &h->messages.items[i - 1];
    return NULL;
}

/* The assistant message of the current model call, or NULL while it has none. Only the tool
 * message can follow it. */
static struct message *current_answer(const struct history *h)
{
    struct message *m = last_answer(h);
    return m && m->seq == h->call_seq ? m : NULL;
}

static size_t count_blocks(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        count += m->blocks.items[i].type == type && strcmp(m->blocks.items[i].id, id) == 0;
    return count;
}

static bool call_is_open(const struct history *h, const struct message *answer, const char *id)
{
    const struct message *last = &vec_last(&h->messages);
    size_t results = last == answer ? 0 : count_blocks(last, BLOCK_TOOL_RESULT, id);
    return count_blocks(answer, BLOCK_TOOL_CALL, id) > results;
}

static void add_result(struct history *h, int64_t seq, struct block b)
{
    struct message *m = &vec_last(&h->messages);
    append_block(h, m->role == ROLE_TOOL ? m : begin_message(h, ROLE_TOOL, seq), b);
}

/* A provider refuses a history in which a call has no result. */
static void answer_open_calls(struct history *h, int64_t seq)
{
    struct message *answer = current_answer(h);
    size_t blocks = answer ? answer->blocks.len : 0;
    size_t index = answer ? (size_t)(answer - h->messages.items) : 0;
    for (size_t i = 0; i < blocks; i++) {
        answer = &h->messages.items[index]; /* a new message may have moved it */
        const struct block *call = &answer->blocks.items[i];
        if (call->type != BLOCK_TOOL_CALL || !call_is_open(h, answer, call->id))
            continue;
        add_result(h, seq,
                   (struct block){.type = BLOCK_TOOL_RESULT,
                                  .is_error = true,
                                  .id = mem_strdup(call->id),
                                  .name = mem_strdup(call->name),
                                  .text = mem_strdup("Not executed: the turn was cut off.")});
    }
}

/* Whether an answer has a text or a tool call: a provider takes no other one back. */
static bool has_answer(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (m->blocks.items[i].type == BLOCK_TEXT || m->blocks.items[i].type == BLOCK_TOOL_CALL)
            return true;
    return false;
}

static bool turn_has_answer(const struct history *h)
{
    for (size_t i = h->turn_first; i < h->messages.len; i++)
        if (h->messages.items[i].role == ROLE_ASSISTANT && has_answer(&h->messages.items[i]))
            return true;
    return h->turn_shortened;
}

/* The turn ends before its answer is complete. */
static void cut_off(struct history *h, int64_t seq)
{
    answer_open_calls(h, seq);
    struct message *m = &vec_last(&h->messages);
    if (m->role == ROLE_ASSISTANT && !has_answer(m))
        truncate_at(h, h->messages.len - 1);
    m = last_answer(h);
    if (m) {
        m->partial = true;
        weigh(h, m);
    }
    close_turn(h);
}

/* --- events ----------------------------------------------------------------------------------- */

struct message *history_find(const struct history *h, int64_t seq)
{
    size_t i = h->messages.len;
    while (i > 0 && h->messages.items[i - 1].seq > seq)
        i--;
    struct message *m = i > 0 ? &h->messages.items[i - 1] : NULL;
    return m && m->seq == seq && !m->summary ? m : NULL;
}

/* The result of a tool has images alone. */
static void append_attachments(struct history *h, struct message *m, const struct event *ev)
{
    const char *attachments = ev->attachments;
    struct error e;
    AUTO(json_free_local)
    struct json *list = attachments ? json_parse(attachments, strlen(attachments), &e) : NULL;
    if (attachments && !list)
        log_line(LOG_ERROR, "attachments of message %lld: %s", (long long)ev->seq, e.text);
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        struct block b;
        if (!block_from_json(v, &b, &e)) {
            log_line(LOG_ERROR, "attachment of message %lld: %s", (long long)ev->seq, e.text);
        } else if (m->role == ROLE_TOOL && b.type != BLOCK_IMAGE) {
            block_release(&b);
        } else {
            append_block(h, m, b);
            if (b.name && strcmp(b.name, MESSAGE_SURROUNDINGS) == 0) {
                mem_replace(&h->surroundings, mem_strdup(b.text));
                h->surroundings_seq = ev->seq;
            }
        }
    }
}

static void turn_started(struct history *h, const struct event *ev)
{
    history_drop_open_turn(h);
    const struct message *retried = ev->number > 0 ? history_find(h, ev->number) : NULL;
    if (retried && retried->role == ROLE_USER)
        take_back(h, (size_t)(retried - h->messages.items));
    h->running = true;
    h->turn_seq = h->last_turn_seq = ev->seq;
    h->turn_first = h->messages.len;
    h->turns++;
    mem_replace(&h->last_text, mem_strdup(ev->text ? ev->text : ""));
    mem_replace(&h->last_attachments, mem_strdup(ev->attachments));

    struct message *m = begin_message(h, ROLE_USER, ev->seq);
    append_attachments(h, m, ev);
    if (*h->last_text || m->blocks.len == 0)
        append_block(h, m, block_text(h->last_text));
}

static struct message *answer_for(struct history *h, const struct event *ev)
{
    if (h->call_seq == 0)
        h->call_seq = ev->seq;
    struct message *m = current_answer(h);
    return m ? m : begin_message(h, ROLE_ASSISTANT, h->call_seq);
}

/* Adds the event's usage to the session's. */
static void count_usage(struct history *h, const struct event *ev)
{
    usage_add(&h->usage, &ev->usage);
    h->unpriced += usage_known(&ev->usage) && ev->used < 0;
}

/* The answer is in the history. */
static void measure(struct history *h, const struct event *ev)
{
    if (ev->usage.input >= 0)
        h->measure = request_measured(&ev->usage, h->estimate);
}

static void budget_warning(struct history *h, const struct event *ev)
{
    const char *kind = ev->name ? ev->name : "";
    size_t i = 0;
    while (i < h->budgets.len && strcmp(h->budgets.items[i].kind, kind) != 0)
        i++;
    if (i == HISTORY_MAX_BUDGETS)
        return;
    if (i == h->budgets.len)
        vec_push(&h->budgets, (struct budget_told){.kind = mem_strdup(kind)});
    struct budget_told *b = &h->budgets.items[i];
    bool same = !(b->limit < ev->bound) && !(b->limit > ev->bound);
    b->limit = ev->bound;
    b->percent = same && b->percent > ev->count ? b->percent : ev->count;
}

static size_t left_out_at(const struct history *h, const char *id)
{
    size_t i = 0;
    while (i < h->left_out.len && strcmp(h->left_out.items[i], id) != 0)
        i++;
    return i;
}

bool history_leaves_out(const struct history *h, const char *id)
{
    return left_out_at(h, id) < h->left_out.len;
}

static void leave_out(struct history *h, const char *id, bool left_out)
{
    size_t i = left_out_at(h, id);
    bool is_there = i < h->left_out.len;
    if (is_there == left_out)
        return;
    if (!is_there)
        vec_push(&h->left_out, mem_strdup(id));
    if (is_there || h->left_out.len > HISTORY_MAX_LEFT_OUT) {
        i = is_there ? i : 0;
        free(h->left_out.items[i]);
        vec_remove(&h->left_out, i, 1);
    }
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* --- the failures of compactions -------------------------------------------------------------- */

/* Counts the failure of an event. An event that counts no failure leaves the state; a manual
 * attempt in another mode, or with another model, does not reset a suspension. */
static void count_failure(struct history *h, const struct event *ev)
{
    struct compaction_state *s = &h->compaction;
    bool by_hand = !h->running, same = same_text(s->failed_mode, ev->compaction.mode) &&
                                       same_text(s->failed_model, ev->model);
    if (ev->compaction.failures == 0 || (!same && s->suspended && by_hand))
        return;
    s->failures = ev->compaction.failures;
    s->suspended = ev->compaction.suspended;
    mem_replace(&s->failed_mode, mem_strdup(ev->compaction.mode));
    mem_replace(&s->failed_model, mem_strdup(ev->model));
}

/* For a completed compaction, undone or not: it counts whether the model answered. */
static void judge(struct history *h, const struct event *ev)
{
    struct compaction_state *s = &h->compaction;
    if (ev->compaction.failures > 0) {
        count_failure(h, ev);
        return;
    }
    s->failures = 0;
    s->suspended = false;
    mem_replace(&s->failed_mode, NULL);
    mem_replace(&s->failed_model, NULL);
}

void history_pass_over(struct history *h, const int64_t *undone, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_push(&h->undone, undone[i]);
    vec_sort(&h->undone, vec_number_order);
}

static bool is_undone(const struct history *h, const struct event *ev)
{
    return h->undone.len > 0 && bsearch(&ev->seq, h->undone.items, h->undone.len,
                                        sizeof *h->undone.items, vec_number_order);
}

/* --- messages that a compaction may make ------------------------------------------------------ */

struct ids {
    VEC(const char *) items;
};

/* The IDs of the blocks of one type, sorted. */
static struct ids ids_of(const struct message *m, enum block_type type)
{
    struct ids ids = {0};
    for (size_t i = 0; m && i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type)
            vec_push(&ids.items, m->blocks.items[i].id);
    vec_sort(&ids.items, vec_text_order);
    return ids;
}

/* The fault of a message, or NULL. `next` is NULL unless it is a tool's. */
static const char *misfit(const struct message *before, const struct message *m,
                          const struct message *next)
{
    static const unsigned may_have[] = {
        [ROLE_SYSTEM] = 1U << BLOCK_TEXT,
        [ROLE_USER] = 1U << BLOCK_TEXT | 1U << BLOCK_IMAGE,
        [ROLE_ASSISTANT] = 1U << BLOCK_TEXT | 1U << BLOCK_REASONING | 1U << BLOCK_TOOL_CALL,
        [ROLE_TOOL] = 1U << BLOCK_TOOL_RESULT | 1U << BLOCK_IMAGE,
    };
    if (!before && m->role != ROLE_USER)
        return "it does not begin with the user";
    if (m->role == ROLE_SYSTEM)
        return "it has a message of the system's";
    if (m->blocks.len == 0)
        return "it has an empty message";
    for (size_t i = 0; i < m->blocks.len; i++)
        if (!(may_have[m->role] & 1U << m->blocks.items[i].type))
            return "a message says what its role cannot";
    if (m->turn < 1 || (before && (m->seq <= before->seq || m->turn < before->turn)))
        return "its messages are out of order";
    if (m->role == ROLE_TOOL && before->role != ROLE_ASSISTANT)
        return "it has results without calls";
    if (m->role != ROLE_ASSISTANT)
        return NULL;
    AUTO(vec_release_local) struct ids calls = ids_of(m, BLOCK_TOOL_CALL);
    AUTO(vec_release_local) struct ids results = ids_of(next, BLOCK_TOOL_RESULT);
    bool same = calls.items.len == results.items.len;
    for (size_t i = 0; i < calls.items.len && same; i++)
        same = strcmp(calls.items.items[i], results.items.items[i]) == 0;
    return same ? NULL : "its calls and results do not pair";
}

/* Whether the rebuilt messages are a history that events may follow: numbers rise, turns from 1 on
 * do not fall, the user begins, and calls and results are paired. */
static bool rebuild_fits(const struct history *h, const struct rebuild *r,
                         const struct message *messages, size_t count, int64_t seq, struct error *e)
{
    bool keeps_turn = !h->running;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        const struct message *old = p->rewrites ? &h->messages.items[p->first] : &p->made;
        if (h->turn_first >= p->first && h->turn_first - p->first < p->count)
            keeps_turn = true;
        if (old->role != p->made.role || old->seq != p->made.seq || old->turn != p->made.turn)
            return err_set(e, ERR_AGENT_ERROR, "a compaction makes another message of an old one");
    }
    if (!keeps_turn)
        return err_set(e, ERR_AGENT_ERROR, "a compaction takes the running turn's message");
    for (size_t i = 0; i < count; i++) {
        AUTO(message_release) struct message room = {0}, next_room = {.role = ROLE_TOOL};
        bool follows = i + 1 < count && messages[i + 1].role == ROLE_TOOL;
        const struct message *m = message_whole(h->source, &messages[i], &room);
        const struct message *next =
            follows ? message_whole(h->source, &messages[i + 1], &next_room) : NULL;
        const char *fault = misfit(i > 0 ? &messages[i - 1] : NULL, m, next);
        if (fault)
            return err_set(e, ERR_AGENT_ERROR, "the history after a compaction is none: %s", fault);
    }
    /* The messages that follow get higher numbers and turns. */
    return count == 0 || (messages[count - 1].seq <= seq && messages[count - 1].turn <= h->turns) ||
           err_set(e, ERR_AGENT_ERROR, "a compaction makes messages of events to come");
}

/* --- a compaction ----------------------------------------------------------------------------- */

/* The messages that the rebuild makes, which share their blocks with the old ones, and their
 * estimates. */
static struct message *compose(const struct history *h, const struct rebuild *r, size_t count,
                               int64_t **estimates)
{
    struct message *out = mem_alloc((count > 0 ? count : 1) * sizeof *out);
    int64_t *tokens = *estimates = mem_alloc((count > 0 ? count : 1) * sizeof *tokens);
    size_t len = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count > 0) {
            memcpy(&out[len], &h->messages.items[p->first], p->count * sizeof *out);
            memcpy(&tokens[len], &h->estimates.items[p->first], p->count * sizeof *tokens);
            len += p->count;
        } else {
            out[len] = p->made;
            tokens[len++] = message_estimate_tokens(&p->made);
        }
    }
    return out;
}

/* Reads the blocks of the messages that get another index: blocks that are kept elsewhere are found
 * by the index. */
static bool fetch_moved(struct history *h, const struct rebuild *r)
{
    size_t place = 0;
    bool ok = true;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        for (size_t k = 0; k < p->count && place != p->first; k++)
            ok = fetch(h, p->first + k) && ok;
        place += p->count > 0 ? p->count : 1;
    }
    return ok;
}

/* The next run of old messages that are not kept, from index *at and part *part on. */
static bool next_gap(const struct rebuild *r, size_t old, size_t *part, size_t *at, size_t *count)
{
    for (; *part < r->parts.len; ++*part) {
        const struct rebuild_part *p = &r->parts.items[*part];
        if (p->count == 0)
            continue;
        *count = p->first - *at;
        if (*count > 0)
            return true;
        *at = p->first + p->count;
    }
    *count = old - *at;
    return *count > 0;
}

/* Finds the open turn among the new messages. Later answers begin messages of their own. */
static void follow_turn(struct history *h, const struct rebuild *r, const struct message *messages,
                        size_t count)
{
    const struct message *old = h->messages.items;
    for (size_t part = 0, at = 0, gap; next_gap(r, h->messages.len, &part, &at, &gap); at += gap)
        for (size_t i = at; i < at + gap && !h->turn_shortened; i++)
            h->turn_shortened =
                i > h->turn_first && old[i].role == ROLE_ASSISTANT && has_answer(&old[i]);
    int64_t seq = old[h->turn_first].seq;
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (messages[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    h->turn_first = low;
    h->call_seq = 0;
}

/* Takes `messages` and `estimates`. */
static void replace(struct history *h, const struct rebuild *r, struct message *messages,
                    int64_t *estimates, size_t count)
{
    const struct rebuild_part *first = r->parts.len > 0 ? &r->parts.items[0] : NULL;
    size_t same = first && first->first == 0 ? first->count : 0; /* unchanged at the beginning */
    if (h->unsaved > same && (same < h->messages.len || count > same))
        h->unsaved = same;
    if (h->running)
        follow_turn(h, r, messages, count);
    h->messages.items = messages;
    h->estimates.items = estimates;
    h->messages.len = h->messages.cap = h->estimates.len = h->estimates.cap = count;
    h->grown = 0;
    h->estimate = 0;
    for (size_t i = 0; i < count; i++)
        h->estimate += estimates[i];
    h->last_input = -1;
}

static struct compaction_state clone_state(const struct compaction_state *s)
{
    struct compaction_state copy = *s;
    copy.in_force.items = NULL;
    copy.in_force.len = copy.in_force.cap = 0;
    for (size_t i = 0; i < s->in_force.len; i++)
        vec_push(&copy.in_force, s->in_force.items[i]);
    copy.failed_mode = mem_strdup(s->failed_mode);
    copy.failed_model = mem_strdup(s->failed_model);
    copy.obstacle = mem_strdup(s->obstacle);
    return copy;
}

bool history_compact(struct history *h, const struct event *ev, struct history_backup *b,
                     struct error *e)
{
    *b = (struct history_backup){0};
    if (!rebuild_from_json(ev->compaction.history ? ev->compaction.history : "", h->messages.len,
                           &b->rebuild, e))
        return false;
    if (!fetch_moved(h, &b->rebuild)) {
        rebuild_release(&b->rebuild);
        *e = h->source->fault;
        return false;
    }
    size_t count = rebuild_count(&b->rebuild);
    int64_t *estimates;
    struct message *messages = compose(h, &b->rebuild, count, &estimates);
    if (!rebuild_fits(h, &b->rebuild, messages, count, ev->seq, e)) {
        free(messages);
        free(estimates);
        rebuild_release(&b->rebuild);
        return false;
    }
    b->before = *h;
    h->compaction = clone_state(&b->before.compaction);
    h->applied_seq = ev->seq;
    h->compaction.last_attempt = h->calls;
    count_usage(h, ev);
    judge(h, ev);
    vec_push(&h->compaction.in_force, ev->seq);
    replace(h, &b->rebuild, messages, estimates, count);
    h->measure = REQUEST_UNMEASURED;
    if (ev->compaction.request_after > 0)
        h->measure = (struct request_measure){
            .tokens = ev->compaction.request_after, .history = h->estimate, .estimated = true};
    return true;
}

void history_settle(struct history_backup *b)
{
    struct message *old = b->before.messages.items;
    for (size_t part = 0, at = 0, gap;
         next_gap(&b->rebuild, b->before.messages.len, &part, &at, &gap); at += gap)
        for (size_t i = at; i < at + gap; i++)
            message_release(&old[i]);
    vec_release(&b->before.messages);
    vec_release(&b->before.estimates);
    release_state(&b->before.compaction);
    vec_release(&b->rebuild.parts); /* the made messages are the history's */
}

void history_revert(struct history *h, struct history_backup *b)
{
    vec_release(&h->messages);
    vec_release(&h->estimates);
    release_state(&h->compaction);
    rebuild_release(&b->rebuild);
    *h = b->before;
}

static void compaction(struct history *h, const struct event *ev)
{
    struct history_backup b;
    struct error e = {0};
    if (event_between_turns(ev))
        history_drop_open_turn(h);
    h->compaction.last_attempt = h->calls;
    if (ev->type == EVENT_COMPACTION_UNDONE || ev->type == EVENT_REWIND_UNDONE) {
        /* they were measured with a shorter history */
        h->last_input = -1;
        h->measure = REQUEST_UNMEASURED;
    } else if (ev->type == EVENT_COMPACTION_COMPLETED) {
        bool undone = is_undone(h, ev);
        if (!undone && history_compact(h, ev, &b, &e)) {
            history_settle(&b);
            return;
        }
        count_usage(h, ev); /* it was spent all the same */
        if (undone)
            judge(h, ev);
        else
            log_line(LOG_ERROR, "compaction %lld is passed over: %s", (long long)ev->seq, e.text);
    } else if (ev->type == EVENT_COMPACTION_FAILED) {
        count_usage(h, ev);
        count_failure(h, ev);
        if (same_text(ev->compaction.reason, "too_small"))
            mem_replace(&h->compaction.obstacle, mem_strdup(ev->text));
    }
}

/* --- a rewind --------------------------------------------------------------------------------- */

static void rewind_to(struct history *h, const struct event *ev)
{
    history_drop_open_turn(h);
    if (is_undone(h, ev))
        return;
    size_t first = h->messages.len;
    while (first > 0 && h->messages.items[first - 1].seq >= ev->number)
        first--;
    if (first < h->messages.len && h->messages.items[first].role == ROLE_USER)
        take_back(h, first);
    else if (first < h->messages.len)
        log_line(LOG_ERROR, "rewind %lld is passed over: no turn begins there", (long long)ev->seq);
    vec_push(&h->rewound, ev->seq);
    h->last_input = -1;
    h->measure = REQUEST_UNMEASURED;
    h->compaction.last_attempt = h->calls;
    h->last_turn_seq = 0;
    mem_replace(&h->last_text, NULL);
    mem_replace(&h->last_attachments, NULL);
}

/* --- the fold --------------------------------------------------------------------------------- */

/* An event of the open turn. */
static void apply_to_turn(struct history *h, const struct event *ev)
{
    const char *text = ev->text ? ev->text : "", *id = ev->id ? ev->id : "";
    const struct message *answer = current_answer(h);
    struct message *m;
    switch (ev->type) {
    case EVENT_CALL_STARTED: {
        /* Results that are added for missing ones come before the next answer, which has this
         * event's number, and so need a lower one. If the open answer has that lower number (in the
         * log of another program), the next answer gets the number of its first text instead.
         * log_messages_apply() does the same. */
        bool is_free = !answer || answer->seq < ev->seq - 1;
        answer_open_calls(h, is_free ? ev->seq - 1 : ev->seq);
        h->call_seq = is_free ? ev->seq : 0;
        h->calls++;
        break;
    }
    case EVENT_TEXT_COMPLETE:
        if (!*text)
            break;
        m = answer_for(h, ev);
        append_block(h, m,
                     (struct block){.type = BLOCK_TEXT,
                                    .text = mem_strdup(text),
                                    .signature = mem_strdup(ev->signature)});
        if (ev->flag) {
            m->partial = true;
            weigh(h, m);
        }
        break;
    case EVENT_REASONING_COMPLETE:
        if (*text || (ev->signature && *ev->signature))
            append_block(h, answer_for(h, ev),
                         (struct block){.type = BLOCK_REASONING,
                                        .redacted = ev->flag,
                                        .text = mem_strdup(text),
                                        .name = mem_strdup(ev->model),
                                        .signature = mem_strdup(ev->signature)});
        break;
    case EVENT_TOOL_CALL_REQUESTED:
        append_block(h, answer_for(h, ev),
                     (struct block){.type = BLOCK_TOOL_CALL,
                                    .id = mem_strdup(id),
                                    .name = mem_strdup(ev->name ? ev->name : ""),
                                    .text = mem_strdup(text),
                                    .signature = mem_strdup(ev->signature)});
        break;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        if (!answer || !call_is_open(h, answer, id))
            break;
        add_result(h, ev->seq,
                   (struct block){.type = BLOCK_TOOL_RESULT,
                                  .is_error = ev->flag,
                                  .id = mem_strdup(id),
                                  .name = mem_strdup(ev->name),
                                  .text = mem_strdup(text),
                                  .signature = mem_strdup(ev->signature)});
        append_attachments(h, &vec_last(&h->messages), ev);
        break;
    case EVENT_COMMAND_COMPLETED: /* the message has the command */
        m = &h->messages.items[h->turn_first];
        if (m->role == ROLE_USER && fetch(h, h->turn_first)) {
            auto_free char *told = mem_printf("[output of this command, which I ran]\n%s", text);
            append_block(h, m, block_text(told));
        }
        break;
    case EVENT_CALL_COMPLETED:
        count_usage(h, ev);
        h->last_input = ev->usage.input;
        measure(h, ev);
        break;
    case EVENT_TURN_COMPLETED:
        answer_open_calls(h, ev->seq);
        close_turn(h);
        break;
    case EVENT_TURN_FAILED:
        count_usage(h, ev);
        if (turn_has_answer(h))
            cut_off(h, ev->seq);
        else
            history_drop_open_turn(h);
        measure(h, ev);
        break;
    case EVENT_INTERRUPTED:
        count_usage(h, ev);
        cut_off(h, ev->seq);
        measure(h, ev);
        break;
    default:
        break;
    }
}

/* Pinned results keep the answer that called them. */
static void pin(struct history *h, size_t i, bool pinned)
{
    struct message *m = &h->messages.items[i];
    if (m->pinned == pinned || m->role == ROLE_SYSTEM || !fetch(h, i))
        return;
    m->pinned = pinned;
    weigh(h, m);
    if (m->role == ROLE_TOOL && i > 0 && m[-1].role != ROLE_USER)
        pin(h, i - 1, pinned);
    if (m->role == ROLE_ASSISTANT && !pinned && i + 1 < h->messages.len && m[1].role == ROLE_TOOL)
        pin(h, i + 1, false);
}

void history_apply(struct history *h, const struct event *ev)
{
    struct message *m;
    if (ev->seq <= h->applied_seq)
        return;
    h->applied_seq = ev->seq;
    switch (ev->type) {
    case EVENT_TURN_STARTED:
        turn_started(h, ev);
        break;
    case EVENT_COMPACTION_STARTED:
    case EVENT_COMPACTION_COMPLETED:
    case EVENT_COMPACTION_FAILED:
    case EVENT_COMPACTION_UNDONE:
    case EVENT_REWIND_UNDONE:
        compaction(h, ev);
        break;
    case EVENT_REWOUND:
        rewind_to(h, ev);
        break;
    case EVENT_FILE_RESTORED:
        history_drop_open_turn(h);
        break;
    case EVENT_MESSAGE_PINNED:
        m = history_find(h, ev->number);
        if (m)
            pin(h, (size_t)(m - h->messages.items), ev->flag);
        break;
    case EVENT_WARNING:
        if (same_text(ev->name, WARNING_NOT_COMPACTED))
            mem_replace(&h->compaction.obstacle, mem_strdup(ev->text));
        break;
    case EVENT_BUDGET_WARNING:
        budget_warning(h, ev);
        break;
    case EVENT_MEMORY_LEFT_OUT:
        leave_out(h, ev->id ? ev->id : "", ev->flag);
        break;
    default:
        if (h->running)
            apply_to_turn(h, ev);
    }
}

/* --- the snapshot ----------------------------------------------------------------------------- */

#define VERSION 1

#define BUDGET(T, TYPE, member)                                                                    \
    SHAPE_FIELD(#member, TYPE, REQUIRED, SHAPE_AT(T, struct budget_told, member))

static const struct shape_field budget_fields[] = {
    BUDGET(char *, STRING, kind), BUDGET(double, NUMBER, limit), BUDGET(int, COUNT, percent), {0}};
static const struct shape budget_shape = {
    .name = "budget", .size = sizeof(struct budget_told), .fields = budget_fields};

static bool is_running(const void *history)
{
    return ((const struct history *)history)->running;
}

#define INTEGER(name, PRESENCE, member, ...)                                                       \
    SHAPE_FIELD(name, INTEGER, PRESENCE, SHAPE_AT(int64_t, struct history, member), __VA_ARGS__)
#define COUNT(name, PRESENCE, member, ...)                                                         \
    SHAPE_FIELD(name, COUNT, PRESENCE, SHAPE_AT(int, struct history, member), __VA_ARGS__)
#define TEXT(name, member)                                                                         \
    SHAPE_FIELD(name, STRING, OPTIONAL, SHAPE_AT(char *, struct history, member))
#define FLAG(name, member)                                                                         \
    SHAPE_FIELD(name, BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct history, member))

static const struct shape_field fields[] = {
    INTEGER("applied_seq", REQUIRED, applied_seq, .least = 0),
    COUNT("turns", REQUIRED, turns, .least = 0),
    COUNT("calls", REQUIRED, calls, .least = 0),
    INTEGER("estimate", DEFAULT, estimate, .nearest = true),
    INTEGER("last_input", DEFAULT, last_input, .absent = -1, .least = -1,
            .most = (double)FIGURE_MAX, .nearest = true),
    TEXT("last_text", last_text),
    TEXT("last_attachments", last_attachments),
    INTEGER("last_run_seq", DEFAULT, last_turn_seq, .absent = 0),
    TEXT("surroundings", surroundings),
    INTEGER("surroundings_seq", DEFAULT, surroundings_seq, .absent = 0),
    SHAPE_FIELD("usage", OBJECT, DEFAULT, SHAPE_AT(struct usage, struct history, usage),
                .of = &usage_shape),
    INTEGER("unpriced", DEFAULT, unpriced, .absent = 0),
    COUNT("last_attempt", DEFAULT, compaction.last_attempt, .absent = -1, .least = -1,
          .most = INT_MAX),
    COUNT("failures", DEFAULT, compaction.failures, .absent = 0),
    FLAG("suspended", compaction.suspended),
    TEXT("failed_mode", compaction.failed_mode),
    TEXT("failed_model", compaction.failed_model),
    TEXT("obstacle", compaction.obstacle),
    SHAPE_FIELD("budgets", LIST, OPTIONAL, offsetof(struct history, budgets), .of = &budget_shape,
                .most = HISTORY_MAX_BUDGETS),
    SHAPE_FIELD("left_out", STRINGS, OPTIONAL, offsetof(struct history, left_out),
                .most = HISTORY_MAX_LEFT_OUT),
    FLAG("running", running),
    INTEGER("run_seq", OPTIONAL, turn_seq, .there = is_running),
    INTEGER("call_seq", OPTIONAL, call_seq, .there = is_running),
    FLAG("run_shortened", turn_shortened),
    {0},
};

static const struct shape counters_shape = {
    .name = "counters", .size = sizeof(struct history), .fields = fields};

static void write_numbers(struct json_out *o, const char *name, const int64_t *numbers,
                          size_t count)
{
    json_out_name(o, name);
    json_out_open(o, '[');
    for (size_t i = 0; i < count; i++)
        json_out_number(o, numbers[i]);
    json_out_close(o, ']');
}

char *history_counters(const struct history *h)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_pack(&o, "version:i messages:I", VERSION, (int64_t)h->messages.len);
    shape_write_members(&counters_shape, h, &o);
    shape_write_members(&request_measure_shape, &h->measure, &o);
    write_numbers(&o, "compactions", h->compaction.in_force.items, h->compaction.in_force.len);
    if (h->rewound.len > 0)
        write_numbers(&o, "rewinds", h->rewound.items, h->rewound.len);
    if (h->running)
        json_out_int(&o, "run_first", (int64_t)h->turn_first);
    json_out_close(&o, '}');
    return buf_take(&text);
}

bool history_restore(struct history *h, const char *counters, size_t len, struct error *e)
{
    /* The written estimate is ignored: another version may write messages differently. */
    int64_t estimate = h->estimate;
    AUTO(json_free_local) struct json *v = json_parse(counters, len, e);
    struct error cause;
    bool ok = v != NULL;
    if (ok && json_get_int(v, "version", -1) != VERSION)
        ok = err_set(e, ERR_SESSION_STORE_ERROR, "a snapshot of version %lld; known is %d",
                     (long long)json_get_int(v, "version", -1), VERSION);
    if (ok && (!shape_read(&counters_shape, v, h, &cause) ||
               !shape_read(&request_measure_shape, v, &h->measure, &cause)))
        ok = err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot: %s", cause.text);
    if (ok) {
        for (const struct json *n = json_first(json_get(v, "compactions")); n; n = json_next(n))
            vec_push(&h->compaction.in_force, json_int(n, 0));
        for (const struct json *n = json_first(json_get(v, "rewinds")); n; n = json_next(n))
            vec_push(&h->rewound, json_int(n, 0));
        bool fits = json_get_int(v, "messages", -1) == (int64_t)h->messages.len;
        if (fits && h->running) { /* the open turn begins with a user message that is there */
            int64_t first = json_get_int(v, "run_first", -1);
            h->turn_first = (size_t)first;
            fits = first >= 0 && h->turn_first < h->messages.len &&
                   h->messages.items[first].role == ROLE_USER && h->messages.items[first].turn > 0;
        }
        ok = fits || err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot do not fit");
    }
    h->estimate = estimate;
    if (!ok)
        history_release(h);
    return ok;
}
