#include "chat/history_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"

void history_init(struct history *h)
{
    *h = (struct history){.usage = USAGE_UNKNOWN, .last_input = -1, .measure = REQUEST_UNMEASURED};
    compaction_state_init(&h->compaction);
}

void history_release(struct history *h)
{
    for (size_t i = 0; i < h->messages.len; i++)
        message_release(&h->messages.items[i]);
    vec_release(&h->messages);
    vec_release(&h->estimates);
    free(h->last_text);
    free(h->last_attachments);
    compaction_state_release(&h->compaction);
    for (size_t i = 0; i < h->budgets.len; i++)
        free(h->budgets.items[i].kind);
    vec_release(&h->budgets);
    vec_release(&h->undone);
    history_init(h);
}

/* The message at `i` is not as the last snapshot has it, nor are those behind it. */
static void touch(struct history *h, size_t i)
{
    if (h->unsaved > i)
        h->unsaved = i;
}

static void truncate_at(struct history *h, size_t first)
{
    touch(h, first);
    h->grown = 0;
    while (h->messages.len > first) {
        message_release(&vec_last(&h->messages));
        h->estimate -= vec_last(&h->estimates);
        h->messages.len--;
        h->estimates.len--;
    }
}

void history_add_saved(struct history *h, struct message m)
{
    int64_t estimate = message_estimate_tokens(&m);
    vec_push(&h->messages, m);
    vec_push(&h->estimates, estimate);
    h->estimate += estimate;
    h->unsaved = h->messages.len;
}

bool history_fetch(struct history *h, size_t i)
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

static struct message *begin_message(struct history *h, enum role role, int64_t seq)
{
    struct message m = {.role = role, .seq = seq, .turn = h->turns};
    int64_t estimate = message_estimate_tokens(&m);
    vec_push(&h->messages, m);
    vec_push(&h->estimates, estimate);
    h->estimate += estimate;
    return &vec_last(&h->messages);
}

/* The message at `i` has changed. */
static void set_estimate(struct history *h, size_t i, int64_t estimate)
{
    touch(h, i);
    h->estimate += estimate - h->estimates.items[i];
    h->estimates.items[i] = estimate;
}

static void weigh(struct history *h, const struct message *m)
{
    h->grown = 0;
    set_estimate(h, (size_t)(m - h->messages.items), message_estimate_tokens(m));
}

/* Costs what the block does, not the message: an answer may have many blocks. */
static void append_block(struct history *h, struct message *m, struct block b)
{
    size_t i = (size_t)(m - h->messages.items);
    int64_t bytes = h->grown == i + 1 ? h->grown_bytes : message_bytes(m);
    bytes += block_bytes(&b) + (m->blocks.len > 0);
    vec_push(&m->blocks, b);
    h->grown = i + 1;
    h->grown_bytes = bytes;
    set_estimate(h, i, message_bytes_to_tokens(bytes));
}

static void mark_partial(struct history *h, struct message *m)
{
    m->partial = true;
    weigh(h, m);
}

static void close_turn(struct history *h)
{
    h->running = false;
    h->turn_seq = 0;
    h->turn_first = 0;
    h->call_seq = 0;
    h->turn_shortened = false;
}

/* Everything from the user message at `first` on. */
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

/* The newest message of the turn that has this role, or NULL. */
static struct message *last_of_turn(const struct history *h, enum role role)
{
    for (size_t i = h->messages.len; i > h->turn_first; i--)
        if (h->messages.items[i - 1].role == role)
            return &h->messages.items[i - 1];
    return NULL;
}

/* The assistant message of the current model call, or NULL while it has none. Only the tool
 * message can stand behind it. */
static struct message *current_answer(const struct history *h)
{
    struct message *m = last_of_turn(h, ROLE_ASSISTANT);
    return m && m->seq == h->call_seq ? m : NULL;
}

static size_t count_blocks(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; m && i < m->blocks.len; i++)
        count += m->blocks.items[i].type == type && strcmp(m->blocks.items[i].id, id) == 0;
    return count;
}

/* The tool message behind an answer, or NULL. */
static struct message *results_of(const struct history *h, const struct message *answer)
{
    return answer == &vec_last(&h->messages) ? NULL : &vec_last(&h->messages);
}

static bool call_is_open(const struct history *h, const struct message *answer, const char *id)
{
    return count_blocks(answer, BLOCK_TOOL_CALL, id) >
           count_blocks(results_of(h, answer), BLOCK_TOOL_RESULT, id);
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

bool history_has_answer(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (m->blocks.items[i].type == BLOCK_TEXT || m->blocks.items[i].type == BLOCK_TOOL_CALL)
            return true;
    return false;
}

static bool turn_has_answer(const struct history *h)
{
    if (h->turn_shortened)
        return true;
    for (size_t i = h->turn_first; i < h->messages.len; i++)
        if (h->messages.items[i].role == ROLE_ASSISTANT &&
            history_has_answer(&h->messages.items[i]))
            return true;
    return false;
}

/* The turn ends before its answer does. */
static void cut_off(struct history *h, int64_t seq)
{
    answer_open_calls(h, seq);
    struct message *m = &vec_last(&h->messages);
    if (m->role == ROLE_ASSISTANT && !history_has_answer(m))
        truncate_at(h, h->messages.len - 1);
    m = last_of_turn(h, ROLE_ASSISTANT);
    if (m)
        mark_partial(h, m);
    close_turn(h);
}

/* The message of this number, whose events it was made of, or NULL: messages are in the order of
 * their numbers, and a summary's is another's. */
static struct message *find_message(const struct history *h, int64_t seq)
{
    size_t i = h->messages.len;
    while (i > 0 && h->messages.items[i - 1].seq > seq)
        i--;
    struct message *m = i > 0 ? &h->messages.items[i - 1] : NULL;
    return m && m->seq == seq && !m->summary ? m : NULL;
}

static void drop_retried(struct history *h, int64_t seq)
{
    const struct message *m = find_message(h, seq);
    if (m && m->role == ROLE_USER)
        take_back(h, (size_t)(m - h->messages.items));
}

static void add_attachments(struct history *h, struct message *m, const char *attachments)
{
    struct error e;
    struct json *list = attachments ? json_parse(attachments, strlen(attachments), &e) : NULL;
    if (attachments && !list)
        log_line(LOG_ERROR, "attachments of message %lld: %s", (long long)m->seq, e.text);
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        struct block b;
        if (block_from_json(v, &b, &e))
            append_block(h, m, b);
        else
            log_line(LOG_ERROR, "attachment of message %lld: %s", (long long)m->seq, e.text);
    }
    json_free(list);
}

static void turn_started(struct history *h, const struct event *ev)
{
    history_drop_open_turn(h);
    if (ev->number > 0)
        drop_retried(h, ev->number);
    h->running = true;
    h->turn_seq = h->last_turn_seq = ev->seq;
    h->turn_first = h->messages.len;
    h->turns++;
    free(h->last_text);
    h->last_text = mem_strdup(ev->text ? ev->text : "");
    free(h->last_attachments);
    h->last_attachments = mem_strdup(ev->attachments);
    struct message *m = begin_message(h, ROLE_USER, ev->seq);
    add_attachments(h, m, ev->attachments);
    if (*h->last_text || m->blocks.len == 0)
        append_block(h, m, block_text(h->last_text));
}

/* The results that stand for missing ones come before the next answer, which has this event's
 * number, and need a lower one. Where the open answer has that (in a log of other programs), the
 * next answer gets the number of its first text instead. log_messages.c does the same. */
static void call_started(struct history *h, const struct event *ev)
{
    const struct message *answer = current_answer(h);
    bool is_free = !answer || answer->seq < ev->seq - 1;
    answer_open_calls(h, is_free ? ev->seq - 1 : ev->seq);
    h->call_seq = is_free ? ev->seq : 0;
    h->calls++;
}

static struct message *answer_for(struct history *h, const struct event *ev)
{
    if (h->call_seq == 0)
        h->call_seq = ev->seq;
    struct message *m = current_answer(h);
    return m ? m : begin_message(h, ROLE_ASSISTANT, h->call_seq);
}

static bool is_empty(const char *s)
{
    return !s || !*s;
}

static void text_complete(struct history *h, const struct event *ev)
{
    if (is_empty(ev->text))
        return;
    struct message *m = answer_for(h, ev);
    append_block(h, m, block_text(ev->text));
    if (ev->flag)
        mark_partial(h, m);
}

static void reasoning_complete(struct history *h, const struct event *ev)
{
    if (is_empty(ev->text) && is_empty(ev->signature))
        return;
    append_block(h, answer_for(h, ev),
                 (struct block){.type = BLOCK_REASONING,
                                .redacted = ev->flag,
                                .text = mem_strdup(ev->text ? ev->text : ""),
                                .name = mem_strdup(ev->model),
                                .signature = mem_strdup(ev->signature)});
}

static void tool_call_requested(struct history *h, const struct event *ev)
{
    append_block(h, answer_for(h, ev),
                 (struct block){.type = BLOCK_TOOL_CALL,
                                .id = mem_strdup(ev->id ? ev->id : ""),
                                .name = mem_strdup(ev->name ? ev->name : ""),
                                .text = mem_strdup(ev->text ? ev->text : "")});
}

static void tool_execution_completed(struct history *h, const struct event *ev)
{
    const struct message *answer = current_answer(h);
    const char *id = ev->id ? ev->id : "";
    if (!answer || !call_is_open(h, answer, id))
        return;
    add_result(h, ev->seq,
               (struct block){.type = BLOCK_TOOL_RESULT,
                              .is_error = ev->flag,
                              .id = mem_strdup(id),
                              .name = mem_strdup(ev->name),
                              .text = mem_strdup(ev->text ? ev->text : "")});
}

void history_count_use(struct history *h, const struct event *ev)
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

static void call_completed(struct history *h, const struct event *ev)
{
    history_count_use(h, ev);
    h->last_input = ev->usage.input;
    measure(h, ev);
}

static void turn_completed(struct history *h, const struct event *ev)
{
    answer_open_calls(h, ev->seq);
    close_turn(h);
}

static void turn_failed(struct history *h, const struct event *ev)
{
    history_count_use(h, ev);
    if (turn_has_answer(h))
        cut_off(h, ev->seq);
    else
        history_drop_open_turn(h);
    measure(h, ev);
}

static void interrupted(struct history *h, const struct event *ev)
{
    history_count_use(h, ev);
    cut_off(h, ev->seq);
    measure(h, ev);
}

static void message_pinned(struct history *h, const struct event *ev)
{
    struct message *m = find_message(h, ev->number);
    if (!m || m->pinned == ev->flag || (m->role != ROLE_USER && m->role != ROLE_ASSISTANT) ||
        !history_fetch(h, (size_t)(m - h->messages.items)))
        return;
    m->pinned = ev->flag;
    weigh(h, m);
}

static struct budget_told *find_budget(struct history *h, const char *kind)
{
    for (size_t i = 0; i < h->budgets.len; i++)
        if (strcmp(h->budgets.items[i].kind, kind) == 0)
            return &h->budgets.items[i];
    if (h->budgets.len == HISTORY_MAX_BUDGETS)
        return NULL;
    vec_push(&h->budgets, (struct budget_told){.kind = mem_strdup(kind)});
    return &vec_last(&h->budgets);
}

static void budget_warning(struct history *h, const struct event *ev)
{
    struct budget_told *b = find_budget(h, ev->name ? ev->name : "");
    if (!b)
        return;
    bool same = !(b->limit < ev->bound) && !(b->limit > ev->bound);
    b->limit = ev->bound;
    b->percent = same && b->percent > ev->count ? b->percent : ev->count;
}

/* What an event does whether or not a turn is open. */
static void (*const effects[EVENT_TYPE_COUNT])(struct history *h, const struct event *ev) = {
    [EVENT_TURN_STARTED] = turn_started,
    [EVENT_COMPACTION_STARTED] = history_compaction,
    [EVENT_COMPACTION_COMPLETED] = history_compaction,
    [EVENT_COMPACTION_FAILED] = history_compaction,
    [EVENT_COMPACTION_UNDONE] = history_compaction,
    [EVENT_MESSAGE_PINNED] = message_pinned,
    [EVENT_WARNING] = history_warning,
    [EVENT_BUDGET_WARNING] = budget_warning,
};

/* What it does to an open one. */
static void (*const turn_effects[EVENT_TYPE_COUNT])(struct history *h, const struct event *ev) = {
    [EVENT_CALL_STARTED] = call_started,
    [EVENT_TEXT_COMPLETE] = text_complete,
    [EVENT_REASONING_COMPLETE] = reasoning_complete,
    [EVENT_TOOL_CALL_REQUESTED] = tool_call_requested,
    [EVENT_TOOL_EXECUTION_COMPLETED] = tool_execution_completed,
    [EVENT_CALL_COMPLETED] = call_completed,
    [EVENT_TURN_COMPLETED] = turn_completed,
    [EVENT_TURN_FAILED] = turn_failed,
    [EVENT_INTERRUPTED] = interrupted,
};

void history_apply(struct history *h, const struct event *ev)
{
    if (ev->seq <= h->applied_seq)
        return;
    h->applied_seq = ev->seq;
    if (effects[ev->type])
        effects[ev->type](h, ev);
    else if (h->running && turn_effects[ev->type])
        turn_effects[ev->type](h, ev);
}
