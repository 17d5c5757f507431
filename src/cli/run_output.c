#include "cli/run_output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "cli/command_line.h"

/* --- run tally -------------------------------------------------------------------------------- */

#define LEAST_USD 0.0001 /* a smaller cost is printed as "<$0.0001" */

static void forget_requested(struct run_tally *t)
{
    for (size_t i = 0; i < t->requested.len; i++)
        event_free(t->requested.items[i]);
    vec_clear(&t->requested);
}

static const char *args_of(const struct run_tally *t, const char *id)
{
    for (size_t i = 0; i < t->requested.len; i++)
        if (strcmp(t->requested.items[i]->id, id) == 0)
            return t->requested.items[i]->text;
    return NULL;
}

static void tally_event(struct run_tally *t, const struct event *ev)
{
    switch (ev->type) {
    case EVENT_CALL_STARTED:
        t->turn = ev->number;
        t->model_calls++;
        forget_requested(t);
        break;
    case EVENT_COMPACTION_COMPLETED:
    case EVENT_COMPACTION_FAILED:
        usage_add(&t->usage[1], &ev->usage);
        __attribute__((fallthrough));
    case EVENT_CALL_COMPLETED:
    case EVENT_TURN_FAILED:
    case EVENT_INTERRUPTED:
        usage_add(&t->usage[0], &ev->usage);
        t->cost = usage_cost_sum(t->cost, ev->used);
        t->unpriced += usage_known(&ev->usage) && ev->used < 0;
        break;
    case EVENT_TOOL_CALL_REQUESTED:
        vec_push(&t->requested, event_clone(ev));
        break;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        t->tool_calls++;
        if (ev->denied)
            vec_push(&t->denied, (struct denied_call){.id = mem_strdup(ev->id),
                                                      .name = mem_strdup(ev->name),
                                                      .args = mem_strdup(args_of(t, ev->id)),
                                                      .reason = mem_strdup(ev->text)});
        break;
    case EVENT_BUDGET_WARNING:
        vec_push(&t->warnings, event_clone(ev));
        break;
    default:
        break;
    }
}

static void separate(struct buf *out)
{
    if (out->len > 0)
        buf_addstr(out, ", ");
}

/* "120 tokens in, 7 tokens out, 1 model call, $0.0012", without numbers that are not known and
 * without a cost of 0. */
static void tally_line(const struct run_tally *t, struct buf *out)
{
    const struct usage *u = &t->usage[0];
    const char *about = u->estimated ? "~" : "";
    if (u->input >= 0)
        buf_addf(out, _("%s%lld tokens in"), about, (long long)u->input);
    if (u->input >= 0 && u->cached > 0)
        buf_addf(out, _(" (%lld cached)"), (long long)u->cached);
    if (u->output >= 0) {
        separate(out);
        buf_addf(out, _("%s%lld tokens out"), about, (long long)u->output);
    }
    separate(out);
    buf_addf(out, ngettext("%d model call", "%d model calls", (unsigned long)t->model_calls),
             t->model_calls);
    if (t->tool_calls > 0) {
        separate(out);
        buf_addf(out, ngettext("%d tool call", "%d tool calls", (unsigned long)t->tool_calls),
                 t->tool_calls);
    }
    if (t->cost <= 0)
        return;
    separate(out);
    if (t->cost < LEAST_USD)
        buf_addf(out, "<$%.4f", LEAST_USD);
    else
        buf_addf(out, "%s$%.4f", about, t->cost);
    buf_addstr(out, t->unpriced > 0 ? "+" : "");
}

/* Sets usage, cost, turns, model_calls, tool_calls, denied and budget_warnings. */
static void tally_json(const struct run_tally *t, struct json *object)
{
    json_set(object, "usage",
             usage_known(&t->usage[0]) ? shape_to_json(&usage_turn_shape, t->usage)
                                       : json_new_string(NULL));
    if (t->cost < 0)
        json_set(object, "cost", json_new_string(NULL));
    else
        json_set_number(object, "cost", t->cost);
    if (t->cost >= 0 && t->unpriced > 0)
        json_set_bool(object, "cost_partial", true);
    if (t->turn >= 0)
        json_set_int(object, "turns", t->turn);
    json_set_int(object, "model_calls", t->model_calls);
    json_set_int(object, "tool_calls", t->tool_calls);
    struct json *denied = json_new_array();
    for (size_t i = 0; i < t->denied.len; i++) {
        const struct denied_call *d = &t->denied.items[i];
        struct error e;
        /* The model may have written arguments that are not JSON: then they are a string. */
        struct json *args = d->args ? json_parse(d->args, strlen(d->args), &e) : NULL;
        json_push(denied, json_pack("{id:s name:s args:o reason:s}", d->id, d->name,
                                    args ? args : json_new_string(d->args), d->reason));
    }
    json_set(object, "denied", denied);
    struct json *warnings = json_new_array();
    for (size_t i = 0; i < t->warnings.len; i++)
        json_push(warnings,
                  shape_to_json(&event_shapes[EVENT_BUDGET_WARNING], t->warnings.items[i]));
    json_set(object, "budget_warnings", warnings);
}

/* --- text --- */

static void end_line(struct run_output *o)
{
    if (o->mid_line)
        putchar('\n');
    o->mid_line = false;
}

/* A blank line separates the text of a model call, or behind a search of the provider, from the
 * text before. */
static void text_delta(struct run_output *o, const struct event *ev)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    size_t len = strlen(ev->text);
    if (o->mid_text) {
        end_line(o);
        putchar('\n');
        o->mid_text = false;
    }
    if (len == 0)
        return;
    if (o->terminal)
        utf8_clean(&clean, ev->text, len, UTF8_MULTILINE);
    else
        buf_add(&clean, ev->text, len);
    fwrite(clean.data, 1, clean.len, stdout);
    o->mid_line = clean.len > 0 && clean.data[clean.len - 1] != '\n';
}

__attribute__((format(printf, 2, 3))) static void tell(struct run_output *o, const char *format,
                                                       ...)
{
    AUTO(buf_release) struct buf line = BUF_INIT, clean = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&line, format, args);
    va_end(args);
    utf8_clean(&clean, line.data, line.len, UTF8_ONE_LINE);
    end_line(o);
    fflush(stdout);
    fprintf(stderr, "tiro: %s\n", clean.data);
}

static bool has_hint(const struct run_output *o, const struct event *ev)
{
    const char *stage = ev->compaction.stage;
    return o->hints && ev->type == EVENT_COMPACTION_COMPLETED &&
           !(stage && strcmp(stage, "micro") == 0);
}

/* Logs get these lines, too: from here on, the model knows less. */
static void tell_compacted(struct run_output *o, const struct event *ev)
{
    const struct compaction *c = &ev->compaction;
    bool micro = c->stage && strcmp(c->stage, "micro") == 0;
    bool whole = c->request_before > 0;
    int64_t before = whole ? c->request_before : c->tokens_before;
    int64_t after = whole ? c->request_after : c->tokens_after;
    tell(o, _("compacted (%s): %lld to %lld tokens, %d to %d messages"),
         micro ? c->stage : COMPACTION_MODE_LABEL(c->effective_mode), (long long)before,
         (long long)after, c->messages_before, c->messages_after);
    if (ev->name)
        tell(o, _("warning: compacted without the model's summary: %s"), ev->name);
    if (has_hint(o, ev))
        tell(o, _("another mode: [compaction] mode in tiro.ini"));
}

static void text_event(struct run_output *o, const struct event *ev)
{
    if (ev->type == EVENT_CALL_STARTED || ev->type == EVENT_TOOL_CALL_REQUESTED)
        o->mid_text = o->answer.len > 0;
    else if (ev->type == EVENT_TEXT_DELTA)
        text_delta(o, ev);
    else if (ev->type == EVENT_RETRYING && o->progress && !o->quiet)
        tell(o, _("retry %d of %d in %.1f s: %s"), ev->count, ev->limit, (double)ev->number / 1000,
             ev->text);
    else if (ev->type == EVENT_BUDGET_WARNING)
        tell(o, _("%d %% of [budget] %s is used: %.6g of %.6g"), ev->count, ev->name, ev->used,
             ev->bound);
    else if (ev->type == EVENT_WARNING)
        tell(o, _("warning: %s"), ev->text ? ev->text : ev->name);
    else if (ev->type == EVENT_LEARNED_NOTED && !o->quiet)
        tell(o,
             ev->flag ? _("remembered: %s (tiro learned reject undoes this)")
                      : _("to be remembered? %s (tiro learned accept keeps it)"),
             ev->text);
    else if (ev->type == EVENT_COMPACTION_COMPLETED && !o->quiet)
        tell_compacted(o, ev);
    else if (ev->type == EVENT_COMPACTION_FAILED)
        tell(o, _("warning: the conversation could not be compacted: %s"), ev->text);
}

static int64_t duration_ms(const struct run_output *o)
{
    bool completed = o->end && o->end->type == EVENT_TURN_COMPLETED;
    return completed ? o->end->number : clock_mono_ms() - o->began_ms;
}

/* Prints nothing after a signal. */
static void text_finish(struct run_output *o, const struct error *e)
{
    bool used_some = o->tally.model_calls > 0 && (!e || usage_known(&o->tally.usage[0]));
    end_line(o);
    if (!used_some || o->quiet || (e && e->code == ERR_INTERRUPTED))
        return;
    AUTO(buf_release) struct buf used = BUF_INIT;
    tally_line(&o->tally, &used);
    tell(o, _("used: %s, %.1f s"), used.data, (double)duration_ms(o) / 1000);
}

/* --- json --- */

/* The object has what happened, but no reasons. */
static void json_event(struct run_output *o, const struct event *ev)
{
    if (ev->type == EVENT_WARNING)
        tell(o, _("warning: %s"), ev->text ? ev->text : ev->name);
}

/* Prints on one line, and frees the tree. */
static void put_json(struct json *v)
{
    auto_free char *text = json_print(v);
    puts(text);
    json_free(v);
}

static void json_finish(struct run_output *o, const struct error *e)
{
    const struct event *end = o->end;
    bool completed = end && end->type == EVENT_TURN_COMPLETED;
    const char *stop = NULL;
    if (end && end->type != EVENT_TURN_FAILED)
        stop = stop_reason_names
                   .words[end->type == EVENT_INTERRUPTED ? STOP_CANCELLED : end->stop_reason];
    struct json *v = json_new_object();
    json_set_string(v, "session_id", *o->session_id ? o->session_id : NULL);
    json_set_string(v, "result", completed && end->text ? end->text : o->answer.data);
    json_set_string(v, "stop_reason", stop);
    tally_json(&o->tally, v);
    json_set_int(v, "duration_ms", duration_ms(o));
    json_set_string(v, "model", o->model);
    json_set_string(v, "provider", o->provider);
    if (e)
        json_set(v, "error", json_pack("{code:s message:s}", err_info(e->code)->name, e->text));
    put_json(v);
}

/* --- stream-json --- */

static void stream_event(struct run_output *o, const struct event *ev)
{
    auto_free char *line = event_to_line(ev);
    if (has_hint(o, ev))
        printf("%.*s,\"hint\":\"another mode: [compaction] mode in tiro.ini\"}\n",
               (int)strlen(line) - 1, line);
    else
        puts(line);
}

/* Writes the error of a turn that ended without an event: it did not start, or cannot be saved. */
static void stream_finish(struct run_output *o, const struct error *e)
{
    if (e && !o->end)
        put_json(json_pack("{type:s code:s message:s}", event_name(EVENT_TURN_FAILED),
                           err_info(e->code)->name, e->text));
}

const struct output_format output_formats[] = {
    {"text", text_event, text_finish},
    {"json", json_event, json_finish},
    {"stream-json", stream_event, stream_finish},
    {NULL, NULL, NULL},
};

const struct output_format *output_format_find(const char *name, struct error *e)
{
    const char *names[sizeof output_formats / sizeof *output_formats];
    size_t count = 0;
    for (; output_formats[count].name; count++) {
        names[count] = output_formats[count].name;
        if (strcmp(names[count], name) == 0)
            return &output_formats[count];
    }
    cli_unknown(_("output format"), name, names, count, e);
    return NULL;
}

/* --- all formats --- */

void run_output_init(struct run_output *o, const struct output_format *format)
{
    *o = (struct run_output){.format = format,
                             .terminal = isatty(STDOUT_FILENO),
                             .progress = isatty(STDERR_FILENO),
                             .answer = BUF_INIT,
                             .began_ms = clock_mono_ms()};
    struct run_tally *t = &o->tally;
    *t = (struct run_tally){.turn = -1, .usage = {USAGE_UNKNOWN, USAGE_UNKNOWN}, .cost = -1};
}

void run_output_release(struct run_output *o)
{
    free(o->provider);
    free(o->model);
    buf_release(&o->answer);
    struct run_tally *t = &o->tally;
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
    event_free(o->end);
}

bool run_output_event(struct run_output *o, const struct event *ev)
{
    o->format->event(o, ev);
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && ev->denied)
        tell(o, _("the tool %s was refused: %s"), ev->name, ev->text);
    tally_event(&o->tally, ev);
    switch (ev->type) {
    case EVENT_CALL_STARTED:
        buf_clear(&o->answer);
        break;
    case EVENT_TEXT_DELTA:
        buf_addstr(&o->answer, ev->text);
        break;
    case EVENT_CALL_COMPLETED:
        if (ev->model) {
            free(o->model);
            o->model = mem_strdup(ev->model);
        }
        break;
    case EVENT_TURN_COMPLETED:
    case EVENT_TURN_FAILED:
    case EVENT_INTERRUPTED:
        event_free(o->end);
        o->end = event_clone(ev);
        break;
    default:
        break;
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}
