#include "chat/history.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "chat/usage.h"

/* What the parts of the history share. */

/* An event of a compaction, applied. */
void history_compaction(struct history *h, const struct event *ev);

/* A warning, which may be of one. */
void history_warning(struct history *h, const struct event *ev);

/* Text or a call of a tool: what a provider takes back. */
bool history_has_answer(const struct message *m);

/* Its usage joins the session's. */
void history_count_use(struct history *h, const struct event *ev);

void compaction_state_init(struct compaction_state *s);
void compaction_state_release(struct compaction_state *s);

/* Whether a compaction may leave these behind: numbers rise, turns from 1 on do not fall, the user
 * begins, and calls and results are paired. `what` says why not. */
bool history_messages_fit(const struct message *messages, size_t count,
                          struct message_source *source, const char **what);

/* The message at `i` has its blocks from now on. False: they could not be read. */
bool history_fetch(struct history *h, size_t i);

struct ids {
    VEC(const char *) items;
};

/* Of the blocks of one type, sorted. */
static struct ids ids_of(const struct message *m, enum block_type type)
{
    struct ids ids = {0};
    for (size_t i = 0; m && i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type)
            vec_push(&ids.items, m->blocks.items[i].id);
    vec_sort(&ids.items, vec_text_order);
    return ids;
}

static bool same_ids(const struct ids *a, const struct ids *b)
{
    bool same = a->items.len == b->items.len;
    for (size_t i = 0; i < a->items.len && same; i++)
        same = strcmp(a->items.items[i], b->items.items[i]) == 0;
    return same;
}

/* The results in `next`, a tool's message or NULL, are those of the calls in `m`. */
static bool answered(const struct message *m, const struct message *next)
{
    struct ids calls = ids_of(m, BLOCK_TOOL_CALL);
    struct ids results = ids_of(next, BLOCK_TOOL_RESULT);
    bool same = same_ids(&calls, &results);
    vec_release(&calls.items);
    vec_release(&results.items);
    return same;
}

/* What each role can say. */
static bool has_strange_block(const struct message *m)
{
    static const unsigned blocks[] = {
        [ROLE_SYSTEM] = 1U << BLOCK_TEXT,
        [ROLE_USER] = 1U << BLOCK_TEXT | 1U << BLOCK_IMAGE,
        [ROLE_ASSISTANT] = 1U << BLOCK_TEXT | 1U << BLOCK_REASONING | 1U << BLOCK_TOOL_CALL,
        [ROLE_TOOL] = 1U << BLOCK_TOOL_RESULT,
    };
    for (size_t i = 0; i < m->blocks.len; i++)
        if (!(blocks[m->role] & 1U << m->blocks.items[i].type))
            return true;
    return false;
}

/* What is wrong with a message, or NULL. `next` is NULL unless it is a tool's. */
static const char *misfit(const struct message *before, const struct message *m,
                          const struct message *next)
{
    if (!before && m->role != ROLE_USER)
        return "it does not begin with the user";
    if (m->role == ROLE_SYSTEM)
        return "it has a message of the system's";
    if (m->blocks.len == 0)
        return "it has an empty message";
    if (has_strange_block(m))
        return "a message says what its role cannot";
    if (m->turn < 1 || (before && (m->seq <= before->seq || m->turn < before->turn)))
        return "its messages are out of order";
    if (m->role == ROLE_TOOL && before->role != ROLE_ASSISTANT)
        return "it has results without calls";
    if (m->role == ROLE_ASSISTANT && !answered(m, next))
        return "its calls and results do not pair";
    return NULL;
}

bool history_messages_fit(const struct message *messages, size_t count,
                          struct message_source *source, const char **what)
{
    *what = NULL;
    for (size_t i = 0; i < count && !*what; i++) {
        struct message room, next_room = {.role = ROLE_TOOL};
        bool follows = i + 1 < count && messages[i + 1].role == ROLE_TOOL;
        const struct message *m = message_whole(source, &messages[i], &room);
        const struct message *next =
            follows ? message_whole(source, &messages[i + 1], &next_room) : NULL;
        *what = misfit(i > 0 ? &messages[i - 1] : NULL, m, next);
        message_release(&room);
        message_release(&next_room);
    }
    return !*what;
}

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
    FLAG("running", running),
    INTEGER("run_seq", OPTIONAL, turn_seq, .there = is_running),
    INTEGER("call_seq", OPTIONAL, call_seq, .there = is_running),
    FLAG("run_shortened", turn_shortened),
    {0},
};

static const struct shape counters_shape = {
    .name = "counters", .size = sizeof(struct history), .fields = fields};

char *history_counters(const struct history *h)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_int(&o, "version", VERSION);
    json_out_int(&o, "messages", (int64_t)h->messages.len);
    shape_write_members(&counters_shape, h, &o);
    shape_write_members(&request_measure_shape, &h->measure, &o);
    json_out_name(&o, "compactions");
    json_out_open(&o, '[');
    for (size_t i = 0; i < h->compaction.in_force.len; i++)
        json_out_number(&o, h->compaction.in_force.items[i]);
    json_out_close(&o, ']');
    if (h->running)
        json_out_int(&o, "run_first", (int64_t)h->turn_first);
    json_out_close(&o, '}');
    return buf_take(&text);
}

/* The open turn stands on a user message that is there and begins it. */
static bool read_turn_first(const struct json *v, struct history *h)
{
    int64_t first = json_get_int(v, "run_first", -1);
    if (!h->running)
        return true;
    h->turn_first = (size_t)first;
    if (first < 0 || h->turn_first >= h->messages.len)
        return false;
    const struct message *m = &h->messages.items[first];
    return m->role == ROLE_USER && m->turn > 0;
}

static bool read_history(const struct json *v, struct history *h, struct error *e)
{
    int64_t version = json_get_int(v, "version", -1);
    struct error cause;
    if (version != VERSION)
        return err_set(e, ERR_SESSION_STORE_ERROR, "a snapshot of version %lld; known is %d",
                       (long long)version, VERSION);
    if (!shape_read(&counters_shape, v, h, &cause) ||
        !shape_read(&request_measure_shape, v, &h->measure, &cause))
        return err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot: %s", cause.text);
    for (const struct json *n = json_first(json_get(v, "compactions")); n; n = json_next(n))
        vec_push(&h->compaction.in_force, json_int(n, 0));
    return (json_get_int(v, "messages", -1) == (int64_t)h->messages.len && read_turn_first(v, h)) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot do not fit");
}

bool history_restore(struct history *h, const char *counters, size_t len, struct error *e)
{
    /* Not as it is written: a snapshot may be of a program that wrote messages otherwise. */
    int64_t estimate = h->estimate;
    struct json *v = json_parse(counters, len, e);
    bool ok = v && read_history(v, h, e);
    json_free(v);
    h->estimate = estimate;
    if (!ok)
        history_release(h);
    return ok;
}

/* ---- what is remembered of compactions ---- */

void compaction_state_init(struct compaction_state *s)
{
    *s = (struct compaction_state){.last_attempt = -1};
}

void compaction_state_release(struct compaction_state *s)
{
    vec_release(&s->in_force);
    free(s->failed_mode);
    free(s->failed_model);
    free(s->obstacle);
    compaction_state_init(s);
}

static struct compaction_state state_clone(const struct compaction_state *s)
{
    struct compaction_state copy = *s;
    copy.in_force.items = NULL;
    copy.in_force.len = copy.in_force.cap = 0;
    vec_reserve(&copy.in_force, s->in_force.len);
    for (size_t i = 0; i < s->in_force.len; i++)
        vec_push(&copy.in_force, s->in_force.items[i]);
    copy.failed_mode = mem_strdup(s->failed_mode);
    copy.failed_model = mem_strdup(s->failed_model);
    copy.obstacle = mem_strdup(s->obstacle);
    return copy;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* One that counts for nothing leaves what was counted; one by hand in another mode, or by another
 * model, does not open what is suspended. */
static bool counts(const struct compaction_state *s, const struct event *ev, bool by_hand)
{
    bool same =
        same_text(s->failed_mode, ev->compaction.mode) && same_text(s->failed_model, ev->model);
    return ev->compaction.failures > 0 && (same || !s->suspended || !by_hand);
}

static void failed(struct compaction_state *s, const struct event *ev)
{
    s->failures = ev->compaction.failures;
    s->suspended = ev->compaction.suspended;
    free(s->failed_mode);
    free(s->failed_model);
    s->failed_mode = mem_strdup(ev->compaction.mode);
    s->failed_model = mem_strdup(ev->model);
}

static void forget_failures(struct compaction_state *s)
{
    s->failures = 0;
    s->suspended = false;
    free(s->failed_mode);
    free(s->failed_model);
    s->failed_mode = s->failed_model = NULL;
}

/* Of a completed one, undone or not: what counts is whether the model answered. */
static void judge(struct history *h, const struct event *ev)
{
    if (ev->compaction.failures == 0)
        forget_failures(&h->compaction);
    else if (counts(&h->compaction, ev, !h->running))
        failed(&h->compaction, ev);
}

/* ---- compactions that were undone ---- */

static int by_number(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

void history_pass_over(struct history *h, const int64_t *completed, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_push(&h->undone, completed[i]);
    vec_sort(&h->undone, by_number);
}

static bool was_undone(const struct history *h, int64_t seq)
{
    return h->undone.len > 0 &&
           bsearch(&seq, h->undone.items, h->undone.len, sizeof *h->undone.items, by_number);
}

/* ---- the messages made anew ---- */

/* Whether the old message of this index stays as it is. */
static bool keeps(const struct rebuild *r, size_t index)
{
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (index >= p->first && index - p->first < p->count)
            return true;
    }
    return false;
}

static bool rewrites_fit(const struct history *h, const struct rebuild *r)
{
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        const struct message *old = p->rewrites ? &h->messages.items[p->first] : &p->made;
        if (old->role != p->made.role || old->seq != p->made.seq || old->turn != p->made.turn)
            return false;
    }
    return true;
}

/* The messages as the rebuild has them; their blocks stay where they are. */
static struct message *compose(const struct history *h, const struct rebuild *r, size_t count)
{
    struct message *out = mem_alloc((count > 0 ? count : 1) * sizeof *out);
    size_t len = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        const struct message *from = p->count > 0 ? &h->messages.items[p->first] : &p->made;
        size_t n = p->count > 0 ? p->count : 1;
        memcpy(&out[len], from, n * sizeof *from);
        len += n;
    }
    return out;
}

/* What is kept elsewhere is kept by its place. */
static bool fetch_moved(struct history *h, const struct rebuild *r)
{
    size_t place = 0;
    bool ok = true;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        for (size_t k = 0; k < p->count && place != p->first; k++)
            ok = history_fetch(h, p->first + k) && ok;
        place += p->count > 0 ? p->count : 1;
    }
    return ok;
}

/* What comes after gets higher numbers and turns. */
static bool fits_behind(const struct history *h, const struct message *messages, size_t count,
                        int64_t seq)
{
    return count == 0 || (messages[count - 1].seq <= seq && messages[count - 1].turn <= h->turns);
}

static bool rebuild_fits(const struct history *h, const struct rebuild *r,
                         const struct message *messages, size_t count, int64_t seq, struct error *e)
{
    const char *what;
    if (h->running && !keeps(r, h->turn_first))
        return err_set(e, ERR_AGENT_ERROR, "a compaction takes the running turn's message");
    if (!rewrites_fit(h, r))
        return err_set(e, ERR_AGENT_ERROR, "a compaction makes another message of an old one");
    if (!history_messages_fit(messages, count, h->source, &what))
        return err_set(e, ERR_AGENT_ERROR, "the history after a compaction is none: %s", what);
    return fits_behind(h, messages, count, seq) ||
           err_set(e, ERR_AGENT_ERROR, "a compaction makes messages of events to come");
}

/* Messages at the beginning that are what they were. */
static size_t unchanged(const struct rebuild *r)
{
    const struct rebuild_part *p = r->parts.len > 0 ? &r->parts.items[0] : NULL;
    return p && p->first == 0 ? p->count : 0;
}

/* What the old messages between the kept ranges were, one run of them at a time. */
static void each_gap(const struct rebuild *r, size_t old,
                     void (*visit)(void *context, size_t first, size_t count), void *context)
{
    size_t next = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count == 0)
            continue;
        if (p->first > next)
            visit(context, next, p->first - next);
        next = p->first + p->count;
    }
    if (old > next)
        visit(context, next, old - next);
}

struct gaps {
    const struct message *messages;
    size_t after; /* only answers behind this one are looked for */
    bool answers;
};

static void look_for_answers(void *context, size_t first, size_t count)
{
    struct gaps *g = context;
    for (size_t i = first; i < first + count && !g->answers; i++)
        g->answers = i > g->after && g->messages[i].role == ROLE_ASSISTANT &&
                     history_has_answer(&g->messages[i]);
}

static void weigh_rebuilt(struct history *h, const struct rebuild *r,
                          const struct message *messages, size_t count)
{
    const int64_t *old = h->estimates.items;
    int64_t *new = mem_alloc((count > 0 ? count : 1) * sizeof *new);
    size_t len = 0;
    for (size_t i = 0; i < r->parts.len; i++) {
        const struct rebuild_part *p = &r->parts.items[i];
        if (p->count > 0)
            memcpy(&new[len], &old[p->first], p->count * sizeof *new);
        else
            new[len] = message_estimate_tokens(&messages[len]);
        len += p->count > 0 ? p->count : 1;
    }
    h->grown = 0;
    h->estimates.items = new;
    h->estimates.len = h->estimates.cap = count;
    h->estimate = 0;
    for (size_t i = 0; i < count; i++)
        h->estimate += new[i];
}

static size_t index_of(const struct message *messages, size_t count, int64_t seq)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (messages[middle].seq < seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Later answers begin messages of their own. */
static void follow_turn(struct history *h, const struct rebuild *r, const struct message *messages,
                        size_t count)
{
    struct gaps g = {.messages = h->messages.items, .after = h->turn_first};
    each_gap(r, h->messages.len, look_for_answers, &g);
    h->turn_shortened = h->turn_shortened || g.answers;
    h->turn_first = index_of(messages, count, h->messages.items[h->turn_first].seq);
    h->call_seq = 0;
}

/* `messages` is taken. */
static void replace(struct history *h, const struct rebuild *r, struct message *messages,
                    size_t count)
{
    size_t same = unchanged(r);
    if (h->unsaved > same && (same < h->messages.len || count > same))
        h->unsaved = same;
    weigh_rebuilt(h, r, messages, count);
    if (h->running)
        follow_turn(h, r, messages, count);
    h->messages.items = messages;
    h->messages.len = h->messages.cap = count;
    h->last_input = -1;
}

/* What is left of the request is known by estimate. */
static void measure_rest(struct history *h, const struct event *ev)
{
    bool known = ev->compaction.request_after > 0;
    h->measure = REQUEST_UNMEASURED;
    if (known)
        h->measure = (struct request_measure){
            .tokens = ev->compaction.request_after, .history = h->estimate, .estimated = true};
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
    struct message *messages = compose(h, &b->rebuild, count);
    if (!rebuild_fits(h, &b->rebuild, messages, count, ev->seq, e)) {
        free(messages);
        rebuild_release(&b->rebuild);
        return false;
    }
    b->before = *h;
    h->compaction = state_clone(&b->before.compaction);
    h->applied_seq = ev->seq;
    h->compaction.last_attempt = h->calls;
    history_count_use(h, ev);
    judge(h, ev);
    vec_push(&h->compaction.in_force, ev->seq);
    replace(h, &b->rebuild, messages, count);
    measure_rest(h, ev);
    return true;
}

static void release_gap(void *context, size_t first, size_t count)
{
    struct message *messages = context;
    for (size_t i = first; i < first + count; i++)
        message_release(&messages[i]);
}

void history_settle(struct history *h, struct history_backup *b)
{
    (void)h;
    each_gap(&b->rebuild, b->before.messages.len, release_gap, b->before.messages.items);
    vec_release(&b->before.messages);
    vec_release(&b->before.estimates);
    compaction_state_release(&b->before.compaction);
    vec_release(&b->rebuild.parts); /* what was made is the history's */
}

void history_revert(struct history *h, struct history_backup *b)
{
    vec_release(&h->messages);
    vec_release(&h->estimates);
    compaction_state_release(&h->compaction);
    rebuild_release(&b->rebuild);
    *h = b->before;
}

/* ---- the fold ---- */

static void set_obstacle(struct compaction_state *s, const char *text)
{
    free(s->obstacle);
    s->obstacle = mem_strdup(text);
}

static void completed(struct history *h, const struct event *ev)
{
    struct history_backup b;
    struct error e;
    bool undone = was_undone(h, ev->seq);
    if (!undone && history_compact(h, ev, &b, &e)) {
        history_settle(h, &b);
        return;
    }
    history_count_use(h, ev); /* it was spent all the same */
    if (undone)
        judge(h, ev);
    else
        log_line(LOG_ERROR, "compaction %lld is passed over: %s", (long long)ev->seq, e.text);
}

void history_warning(struct history *h, const struct event *ev)
{
    if (!same_text(ev->name, WARNING_NOT_COMPACTED))
        return;
    set_obstacle(&h->compaction, ev->text);
}

void history_compaction(struct history *h, const struct event *ev)
{
    if (event_between_turns(ev))
        history_drop_open_turn(h);
    h->compaction.last_attempt = h->calls;
    if (ev->type == EVENT_COMPACTION_UNDONE) { /* they are of a history that was shorter */
        h->last_input = -1;
        h->measure = REQUEST_UNMEASURED;
    }
    if (ev->type == EVENT_COMPACTION_COMPLETED)
        completed(h, ev);
    if (ev->type == EVENT_COMPACTION_FAILED) {
        history_count_use(h, ev);
        if (counts(&h->compaction, ev, !h->running))
            failed(&h->compaction, ev);
        if (same_text(ev->compaction.reason, "too_small"))
            set_obstacle(&h->compaction, ev->text);
    }
}
