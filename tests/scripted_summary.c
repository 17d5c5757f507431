#include "tests/scripted_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void scripted_summary_init(struct scripted_summary *s, const struct summary_act *acts, size_t count)
{
    *s = (struct scripted_summary){.acts = acts, .act_count = count, .calls_allowed = SIZE_MAX};
    buf_init(&s->streamed, 0);
}

static void release_messages(struct sent_summary *sent)
{
    for (size_t i = 0; i < sent->messages.len; i++)
        message_release(&sent->messages.items[i]);
    vec_release(&sent->messages);
    free(sent->system);
}

void scripted_summary_release(struct scripted_summary *s)
{
    for (size_t i = 0; i < s->sent.len; i++)
        release_messages(&s->sent.items[i]);
    vec_release(&s->sent);
    buf_release(&s->streamed);
}

static void keep_request(struct scripted_summary *s, const struct request *request)
{
    struct sent_summary sent = {.system = mem_strdup(request->system),
                                .max_output = request->max_output,
                                .window = request->window,
                                .estimate = request->estimate,
                                .tools = request->tool_count};
    for (size_t i = 0; i < request->message_count; i++)
        vec_push(&sent.messages, message_clone(&request->messages[i]));
    vec_push(&s->sent, sent);
}

static char *whole_text(const struct summary_act *act)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < (act->times ? act->times : 1); i++)
        buf_addstr(&text, act->text);
    return buf_take(&text);
}

/* Returns the number of bytes taken: fewer than `text` has if the listener said no. */
static size_t stream(const struct summary_act *act, const char *text,
                     bool (*delta)(void *, const char *, size_t), void *context)
{
    size_t len = strlen(text), piece = act->piece ? act->piece : len;
    for (size_t at = 0; at < len; at += piece) {
        size_t n = piece < len - at ? piece : len - at;
        if (!delta(context, text + at, n))
            return at + n;
    }
    return len;
}

static bool play_act(const struct summary_act *act, bool (*delta)(void *, const char *, size_t),
                     void *context, struct response *response, struct failure *failure)
{
    auto_free char *text = act->text ? whole_text(act) : mem_strdup("");
    size_t len = strlen(text), taken = stream(act, text, delta, context);
    struct block b = {.type = BLOCK_TEXT, .text = mem_strndup(text, taken)};
    vec_push(&response->blocks, b);
    if (taken < len)
        return failure_set(failure, FAILURE_CANCELLED, "nobody takes any more");
    if (act->failure != FAILURE_NONE)
        return failure_set(failure, act->failure, "%s", act->why ? act->why : "it failed");
    return true;
}

bool scripted_complete(struct scripted_summary *s, const struct request *request,
                       bool (*delta)(void *, const char *, size_t), void *delta_context,
                       struct response *response, struct failure *failure)
{
    static const struct summary_act usual = {.text = "A summary."};
    const struct summary_act *act = s->sent.len < s->act_count ? &s->acts[s->sent.len] : &usual;
    bool counted = act->input > 0 || act->output > 0;
    keep_request(s, request);
    response->stop_reason = act->stop;
    response->prompt_truncated = act->truncated;
    response->usage = (struct usage){
        .input = counted ? act->input : 100, .output = counted ? act->output : 10, .cached = -1};
    return play_act(act, delta, delta_context, response, failure);
}

bool scripted_progress(struct scripted_summary *s, const char *text, size_t len, int part, int of)
{
    buf_add(&s->streamed, text, len);
    s->last_part = part;
    s->last_of = of;
    if (++s->deltas != s->stop_at)
        return true;
    if (s->cancelled)
        *s->cancelled = true;
    return s->goes_on;
}

bool scripted_may_call(struct scripted_summary *s, struct failure *failure)
{
    return s->sent.len < s->calls_allowed ||
           failure_set(failure, FAILURE_SETUP, "the budget is used up");
}

const char *sent_text(const struct sent_summary *sent, int index)
{
    size_t at = index < 0 ? sent->messages.len - (size_t)-index : (size_t)index;
    return sent->messages.items[at].blocks.items[0].text;
}

/* --- conversations --------------------------------------------------------------------------- */

static void apply(struct history *h, enum event_type type, const char *text, const char *id,
                  const char *name)
{
    AUTO(event_free_local) struct event *ev = event_new(type);
    ev->seq = h->applied_seq + 1;
    ev->text = mem_strdup(text);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name);
    if (type == EVENT_TURN_COMPLETED)
        ev->stop_reason = STOP_END_TURN;
    history_apply(h, ev);
}

void history_begin(struct history *h, const char *user)
{
    apply(h, EVENT_TURN_STARTED, user, NULL, NULL);
    apply(h, EVENT_CALL_STARTED, NULL, NULL, NULL);
}

void history_say(struct history *h, const struct said *said)
{
    history_begin(h, said->user);
    if (said->tool) {
        apply(h, EVENT_TOOL_CALL_REQUESTED, said->args ? said->args : "{}", "call", said->tool);
        apply(h, EVENT_TOOL_EXECUTION_COMPLETED, said->result, "call", said->tool);
        apply(h, EVENT_CALL_STARTED, NULL, NULL, NULL);
    }
    apply(h, EVENT_TEXT_COMPLETE, said->answer ? said->answer : "Done.", NULL, NULL);
    apply(h, EVENT_TURN_COMPLETED, "", NULL, NULL);
}
