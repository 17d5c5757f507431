#include "cli/run_tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"

#define LEAST_USD 0.0001 /* that is shown in figures */

void run_tally_init(struct run_tally *t)
{
    *t = (struct run_tally){.turn = -1, .usage = {USAGE_UNKNOWN, USAGE_UNKNOWN}, .cost = -1};
}

static void forget_requested(struct run_tally *t)
{
    for (size_t i = 0; i < t->requested.len; i++)
        event_free(t->requested.items[i]);
    vec_clear(&t->requested);
}

void run_tally_release(struct run_tally *t)
{
    forget_requested(t);
    vec_release(&t->requested);
    for (size_t i = 0; i < t->warnings.len; i++)
        event_free(t->warnings.items[i]);
    vec_release(&t->warnings);
    for (size_t i = 0; i < t->denied.len; i++) {
        struct denied_call *d = &t->denied.items[i];
        free(d->id);
        free(d->name);
        free(d->args);
        free(d->reason);
    }
    vec_release(&t->denied);
    run_tally_init(t);
}

static void begin_call(struct run_tally *t, const struct event *ev)
{
    t->turn = ev->number;
    t->model_calls++;
    forget_requested(t);
}

static void add_use(struct run_tally *t, const struct event *ev)
{
    usage_add(&t->usage[0], &ev->usage);
    t->cost = usage_cost_sum(t->cost, ev->used);
    t->unpriced += usage_known(&ev->usage) && ev->used < 0;
}

static void add_summary(struct run_tally *t, const struct event *ev)
{
    usage_add(&t->usage[1], &ev->usage);
    add_use(t, ev);
}

static void note_request(struct run_tally *t, const struct event *ev)
{
    vec_push(&t->requested, event_clone(ev));
}

static const char *args_of(const struct run_tally *t, const char *id)
{
    for (size_t i = 0; i < t->requested.len; i++)
        if (strcmp(t->requested.items[i]->id, id) == 0)
            return t->requested.items[i]->text;
    return NULL;
}

static void end_tool(struct run_tally *t, const struct event *ev)
{
    t->tool_calls++;
    if (ev->denied)
        vec_push(&t->denied, ((struct denied_call){.id = mem_strdup(ev->id),
                                                   .name = mem_strdup(ev->name),
                                                   .args = mem_strdup(args_of(t, ev->id)),
                                                   .reason = mem_strdup(ev->text)}));
}

static void note_warning(struct run_tally *t, const struct event *ev)
{
    vec_push(&t->warnings, event_clone(ev));
}

void run_tally_event(struct run_tally *t, const struct event *ev)
{
    static void (*const effects[EVENT_TYPE_COUNT])(struct run_tally *, const struct event *) = {
        [EVENT_CALL_STARTED] = begin_call,
        [EVENT_CALL_COMPLETED] = add_use,
        [EVENT_TOOL_CALL_REQUESTED] = note_request,
        [EVENT_TOOL_EXECUTION_COMPLETED] = end_tool,
        [EVENT_COMPACTION_COMPLETED] = add_summary,
        [EVENT_COMPACTION_FAILED] = add_summary,
        [EVENT_BUDGET_WARNING] = note_warning,
        [EVENT_TURN_FAILED] = add_use,
        [EVENT_INTERRUPTED] = add_use,
    };
    if (effects[ev->type])
        effects[ev->type](t, ev);
}

static void separate(struct buf *out)
{
    if (out->len > 0)
        buf_addstr(out, ", ");
}

static void add_tokens(const struct run_tally *t, struct buf *out)
{
    const struct usage *u = &t->usage[0];
    const char *about = u->estimated ? "~" : "";
    if (u->input >= 0)
        buf_addf(out, _("%s%lld tokens in"), about, (long long)u->input);
    if (u->input >= 0 && u->cached > 0)
        buf_addf(out, _(" (%lld cached)"), (long long)u->cached);
    if (u->output < 0)
        return;
    separate(out);
    buf_addf(out, _("%s%lld tokens out"), about, (long long)u->output);
}

static void add_calls(const struct run_tally *t, struct buf *out)
{
    separate(out);
    buf_addf(out, ngettext("%d model call", "%d model calls", (unsigned long)t->model_calls),
             t->model_calls);
    if (t->tool_calls == 0)
        return;
    separate(out);
    buf_addf(out, ngettext("%d tool call", "%d tool calls", (unsigned long)t->tool_calls),
             t->tool_calls);
}

void run_tally_line(const struct run_tally *t, struct buf *out)
{
    add_tokens(t, out);
    add_calls(t, out);
    if (t->cost <= 0)
        return;
    separate(out);
    if (t->cost < LEAST_USD)
        buf_addf(out, "<$%.4f", LEAST_USD);
    else
        buf_addf(out, "%s$%.4f", t->usage[0].estimated ? "~" : "", t->cost);
    buf_addstr(out, t->unpriced > 0 ? "+" : "");
}

static void set_measured(struct json *object, const char *name, int64_t n)
{
    if (n >= 0)
        json_set_int(object, name, n);
}

/* As in run_completed. */
static struct json *usage_json(const struct run_tally *t)
{
    return usage_known(&t->usage[0]) ? shape_to_json(&usage_turn_shape, t->usage)
                                     : json_new_string(NULL);
}

static void set_cost(const struct run_tally *t, struct json *object)
{
    if (t->cost < 0) {
        json_set(object, "cost", json_new_string(NULL));
        return;
    }
    json_set_number(object, "cost", t->cost);
    if (t->unpriced > 0)
        json_set_bool(object, "cost_partial", true);
}

/* As the model wrote them, which need not be JSON. */
static struct json *args_json(const char *args)
{
    struct error e;
    struct json *v = args ? json_parse(args, strlen(args), &e) : NULL;
    return v ? v : json_new_string(args);
}

static struct json *denied_json(const struct run_tally *t)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < t->denied.len; i++) {
        const struct denied_call *d = &t->denied.items[i];
        struct json *v = json_new_object();
        json_set_string(v, "id", d->id);
        json_set_string(v, "name", d->name);
        json_set(v, "args", args_json(d->args));
        json_set_string(v, "reason", d->reason);
        json_push(list, v);
    }
    return list;
}

static struct json *warnings_json(const struct run_tally *t)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < t->warnings.len; i++)
        json_push(list, shape_to_json(&event_shapes[EVENT_BUDGET_WARNING], t->warnings.items[i]));
    return list;
}

void run_tally_json(const struct run_tally *t, struct json *object)
{
    json_set(object, "usage", usage_json(t));
    set_cost(t, object);
    set_measured(object, "turns", t->turn);
    json_set_int(object, "model_calls", t->model_calls);
    json_set_int(object, "tool_calls", t->tool_calls);
    json_set(object, "denied", denied_json(t));
    json_set(object, "budget_warnings", warnings_json(t));
}
