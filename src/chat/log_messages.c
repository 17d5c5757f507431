#include "chat/log_messages.h"

void log_messages_release(struct log_messages *l)
{
    vec_release(&l->items);
    *l = (struct log_messages){0};
}

static bool says_nothing(const struct event *ev)
{
    bool text = ev->text && *ev->text;
    bool proof = ev->type == EVENT_REASONING_COMPLETE && ev->signature && *ev->signature;
    return !text && !proof;
}

struct log_event log_event_of(const struct event *ev)
{
    return (struct log_event){.seq = ev->seq,
                              .type = ev->type,
                              .retries = ev->type == EVENT_TURN_STARTED ? ev->number : 0,
                              .is_empty = says_nothing(ev),
                              .between_turns = event_between_turns(ev)};
}

/* ---- messages ---- */

static struct log_message *begin_message(struct log_messages *l, enum role role, int64_t seq)
{
    vec_push(&l->items, (struct log_message){.seq = seq, .turn = l->turns, .role = role});
    return &vec_last(&l->items);
}

static void close_turn(struct log_messages *l)
{
    l->turn_seq = l->call_seq = 0;
    l->turn_first = l->answer = 0;
    l->open_calls = 0;
}

static void take_back(struct log_messages *l, size_t first)
{
    l->turns = l->items.items[first].turn - 1;
    l->items.len = first;
}

int64_t log_messages_drop_open_turn(struct log_messages *l)
{
    int64_t open = l->turn_seq;
    if (open > 0)
        take_back(l, l->turn_first);
    close_turn(l);
    return open;
}

/* 1 + its index: the last one of this number, messages being in the order of their numbers; 0:
 * there is none. */
static size_t find(const struct log_messages *l, int64_t seq)
{
    size_t low = 0, high = l->items.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->items.items[middle].seq <= seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && l->items.items[low - 1].seq == seq ? low : 0;
}

bool log_messages_have(const struct log_messages *l, int64_t seq)
{
    return find(l, seq) > 0;
}

static struct log_message *answer_for(struct log_messages *l, int64_t seq)
{
    if (l->call_seq == 0)
        l->call_seq = seq;
    if (l->answer == 0) {
        begin_message(l, ROLE_ASSISTANT, l->call_seq);
        l->answer = l->items.len;
    }
    return &l->items.items[l->answer - 1];
}

static void add_result(struct log_messages *l, int64_t seq)
{
    if (vec_last(&l->items).role != ROLE_TOOL)
        begin_message(l, ROLE_TOOL, seq);
}

/* The history answers them with an error. */
static void answer_open_calls(struct log_messages *l, int64_t seq)
{
    if (l->open_calls > 0)
        add_result(l, seq);
    l->open_calls = 0;
}

/* The turn ends before its answer does. */
static void cut_off(struct log_messages *l, int64_t seq)
{
    answer_open_calls(l, seq);
    const struct log_message *last = &vec_last(&l->items);
    if (last->role == ROLE_ASSISTANT && !last->says)
        l->items.len--;
    close_turn(l);
}

static bool turn_has_answer(const struct log_messages *l)
{
    for (size_t i = l->turn_first; i < l->items.len; i++)
        if (l->items.items[i].says)
            return true;
    return false;
}

/* ---- events ---- */

static void turn_started(struct log_messages *l, const struct log_event *ev)
{
    log_messages_drop_open_turn(l);
    size_t retried = ev->retries > 0 ? find(l, ev->retries) : 0;
    if (retried > 0 && l->items.items[retried - 1].role == ROLE_USER)
        take_back(l, retried - 1);
    l->turn_seq = ev->seq;
    l->turn_first = l->items.len;
    l->turns++;
    begin_message(l, ROLE_USER, ev->seq);
}

static void call_started(struct log_messages *l, const struct log_event *ev)
{
    bool is_free = l->answer == 0 || l->items.items[l->answer - 1].seq < ev->seq - 1;
    answer_open_calls(l, is_free ? ev->seq - 1 : ev->seq);
    l->call_seq = is_free ? ev->seq : 0;
    l->answer = 0;
}

static void text_complete(struct log_messages *l, const struct log_event *ev)
{
    if (!ev->is_empty)
        answer_for(l, ev->seq)->says = true;
}

static void reasoning_complete(struct log_messages *l, const struct log_event *ev)
{
    if (!ev->is_empty)
        answer_for(l, ev->seq);
}

static void tool_call_requested(struct log_messages *l, const struct log_event *ev)
{
    answer_for(l, ev->seq)->says = true;
    l->open_calls++;
}

static void tool_execution_completed(struct log_messages *l, const struct log_event *ev)
{
    if (l->open_calls == 0)
        return;
    l->open_calls--;
    add_result(l, ev->seq);
}

static void turn_completed(struct log_messages *l, const struct log_event *ev)
{
    answer_open_calls(l, ev->seq);
    close_turn(l);
}

static void turn_failed(struct log_messages *l, const struct log_event *ev)
{
    if (turn_has_answer(l))
        cut_off(l, ev->seq);
    else
        log_messages_drop_open_turn(l);
}

static void interrupted(struct log_messages *l, const struct log_event *ev)
{
    cut_off(l, ev->seq);
}

/* What an event does to an open turn. */
static void (*const effects[EVENT_TYPE_COUNT])(struct log_messages *l,
                                               const struct log_event *ev) = {
    [EVENT_CALL_STARTED] = call_started,
    [EVENT_TEXT_COMPLETE] = text_complete,
    [EVENT_REASONING_COMPLETE] = reasoning_complete,
    [EVENT_TOOL_CALL_REQUESTED] = tool_call_requested,
    [EVENT_TOOL_EXECUTION_COMPLETED] = tool_execution_completed,
    [EVENT_TURN_COMPLETED] = turn_completed,
    [EVENT_TURN_FAILED] = turn_failed,
    [EVENT_INTERRUPTED] = interrupted,
};

void log_messages_apply(struct log_messages *l, const struct log_event *ev)
{
    if (ev->type == EVENT_TURN_STARTED)
        turn_started(l, ev);
    else if (ev->between_turns)
        log_messages_drop_open_turn(l);
    else if (l->turn_seq > 0 && effects[ev->type])
        effects[ev->type](l, ev);
}
