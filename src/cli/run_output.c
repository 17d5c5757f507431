#include "cli/run_output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/i18n.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/context.h"
#include "cli/command_line.h"

/* --- run tally -------------------------------------------------------------------------------- */

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

/* --- run output ------------------------------------------------------------------------------- */

/* --- text --- */

static void write_text(struct run_output *o, const char *text, size_t len)
{
    struct buf clean = BUF_INIT;
    if (len == 0)
        return;
    if (o->terminal)
        utf8_clean(&clean, text, len, UTF8_MULTILINE);
    else
        buf_add(&clean, text, len);
    fwrite(clean.data, 1, clean.len, stdout);
    o->mid_line = clean.len > 0 && clean.data[clean.len - 1] != '\n';
    buf_release(&clean);
}

static void end_line(struct run_output *o)
{
    if (o->mid_line)
        putchar('\n');
    o->mid_line = false;
}

static void text_delta(struct run_output *o, const struct event *ev)
{
    if (o->mid_text) {
        end_line(o);
        putchar('\n');
        o->mid_text = false;
    }
    write_text(o, ev->text, strlen(ev->text));
}

__attribute__((format(printf, 2, 3))) static void tell(struct run_output *o, const char *format,
                                                       ...)
{
    struct buf line = BUF_INIT, clean = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&line, format, args);
    va_end(args);
    utf8_clean(&clean, line.data, line.len, UTF8_ONE_LINE);
    end_line(o);
    fflush(stdout);
    fprintf(stderr, "tiro: %s\n", clean.data);
    buf_release(&clean);
    buf_release(&line);
}

static bool has_hint(const struct run_output *o, const struct event *ev)
{
    const char *stage = ev->compaction.stage;
    return o->hints && ev->type == EVENT_COMPACTION_COMPLETED &&
           !(stage && strcmp(stage, "micro") == 0);
}

/* Logs show it, too: the model knows less from here on. */
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
    if (ev->type == EVENT_CALL_STARTED)
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

static void tell_used(struct run_output *o)
{
    struct buf used = BUF_INIT;
    run_tally_line(&o->tally, &used);
    tell(o, _("used: %s, %.1f s"), used.data, (double)duration_ms(o) / 1000);
    buf_release(&used);
}

/* After a signal nothing is printed. */
static void text_finish(struct run_output *o, const struct error *e)
{
    bool used_some = o->tally.model_calls > 0 && (!e || usage_known(&o->tally.usage[0]));
    end_line(o);
    if (used_some && !o->quiet && !(e && e->code == ERR_INTERRUPTED))
        tell_used(o);
}

/* --- json --- */

static void no_event(struct run_output *o, const struct event *ev)
{
    (void)o;
    (void)ev;
}

static struct json *error_json(const struct error *e)
{
    struct json *v = json_new_object();
    json_set_string(v, "code", err_info(e->code)->name);
    json_set_string(v, "message", e->text);
    return v;
}

/* On one line; frees the tree. */
static void put_json(struct json *v)
{
    char *text = json_print(v);
    puts(text);
    free(text);
    json_free(v);
}

static enum stop_reason stop_of(const struct event *end)
{
    return end->type == EVENT_INTERRUPTED ? STOP_CANCELLED : end->stop_reason;
}

static void json_finish(struct run_output *o, const struct error *e)
{
    const struct event *end = o->end;
    bool completed = end && end->type == EVENT_TURN_COMPLETED;
    struct json *v = json_new_object();
    if (*o->session_id)
        json_set_string(v, "session_id", o->session_id);
    json_set_string(v, "result", completed && end->text ? end->text : o->answer.data);
    if (end && end->type != EVENT_TURN_FAILED)
        json_set_string(v, "stop_reason", stop_reason_name(stop_of(end)));
    run_tally_json(&o->tally, v);
    json_set_int(v, "duration_ms", duration_ms(o));
    json_set_string(v, "model", o->model);
    json_set_string(v, "provider", o->provider);
    if (e)
        json_set(v, "error", error_json(e));
    put_json(v);
}

/* --- stream-json --- */

static void stream_event(struct run_output *o, const struct event *ev)
{
    char *line = event_to_line(ev);
    if (has_hint(o, ev))
        printf("%.*s,\"hint\":\"another mode: [compaction] mode in tiro.ini\"}\n",
               (int)strlen(line) - 1, line);
    else
        puts(line);
    free(line);
}

/* Writes the error of a turn that ended without an event: it did not start, or cannot be saved. */
static void stream_finish(struct run_output *o, const struct error *e)
{
    if (!e || o->end)
        return;
    struct json *v = json_new_object();
    json_set_string(v, "type", event_name(EVENT_TURN_FAILED));
    json_set_string(v, "code", err_info(e->code)->name);
    json_set_string(v, "message", e->text);
    put_json(v);
}

const struct output_format output_formats[] = {
    {"text", text_event, text_finish},
    {"json", no_event, json_finish},
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
    run_tally_init(&o->tally);
}

void run_output_release(struct run_output *o)
{
    free(o->provider);
    free(o->model);
    buf_release(&o->answer);
    run_tally_release(&o->tally);
    event_free(o->end);
}

static void keep(struct run_output *o, const struct event *ev)
{
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
}

static bool written(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

bool run_output_event(struct run_output *o, const struct event *ev)
{
    o->format->event(o, ev);
    if (ev->type == EVENT_TOOL_EXECUTION_COMPLETED && ev->denied)
        tell(o, _("the tool %s was refused: %s"), ev->name, ev->text);
    keep(o, ev);
    run_tally_event(&o->tally, ev);
    return written();
}

bool run_output_finish(struct run_output *o, const struct error *e)
{
    o->format->finish(o, e);
    return written();
}
