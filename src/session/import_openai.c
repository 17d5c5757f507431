#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "chat/json_out.h"
#include "chat/message.h"
#include "session/import_private.h"

#define CALLS_MAX 1000 /* of one answer */

/* What a list of messages becomes: runs of model calls, as if they had been talked here. */
struct reading {
    struct imported *out;
    int64_t now_ms;
    bool run_open, answered;
    int calls; /* model calls of the run */
    int64_t turns;
    enum stop_reason stop;
    size_t call_first; /* among the events: the newest model call's first */
    struct buf system, result;
};

/* A message while it is read. */
struct content {
    struct buf text;
    struct buf images; /* a JSON array's elements */
};

static struct event *add_event(struct reading *r, enum event_type type)
{
    struct event *ev = event_new(type);
    ev->seq = (int64_t)r->out->events.len + 1;
    ev->wall_ms = r->now_ms + ev->seq - 1;
    vec_push(&r->out->events, ev);
    return ev;
}

/* --- content ---------------------------------------------------------------------------------- */

static void add_text(struct buf *out, const char *text)
{
    if (out->len > 0 && *text)
        buf_addch(out, '\n');
    buf_addstr(out, text);
}

static bool take_text(const struct json *part, const char *member, const struct place *p,
                      struct content *c, struct error *e)
{
    const char *text = json_get_string(part, member);
    if (!text)
        return import_fault(p, e, "\"%s\" is no text", member);
    add_text(&c->text, text);
    return true;
}

/* A path would have us send a file of this machine. */
static bool is_url(const char *s)
{
    return strncasecmp(s, "https://", 8) == 0 || strncasecmp(s, "http://", 7) == 0;
}

static bool take_image(const struct json *part, const struct place *p, struct content *c,
                       struct error *e)
{
    const char *url = json_get_string(json_get(part, "image_url"), "url");
    struct json_out o = {.buf = &c->images, .comma = c->images.len > 0};
    if (!url || !is_url(url))
        return import_fault(p, e, "an image that is no http or https address");
    json_out_open(&o, '{');
    json_out_member(&o, "type", "image");
    json_out_member(&o, "text", url);
    json_out_close(&o, '}');
    return true;
}

static bool take_part(const struct json *part, const struct place *p, enum role role,
                      struct content *c, struct error *e)
{
    const char *type = json_get_string(part, "type");
    if (!type)
        return import_fault(p, e, "a part without a \"type\"");
    if (strcmp(type, "text") == 0)
        return take_text(part, "text", p, c, e);
    if (strcmp(type, "refusal") == 0 && role == ROLE_ASSISTANT)
        return take_text(part, "refusal", p, c, e);
    if (strcmp(type, "image_url") == 0 && role == ROLE_USER)
        return take_image(part, p, c, e);
    return import_fault(p, e, "a part of type \"%.40s\" cannot be imported", type);
}

static bool read_content(const struct json *message, const struct place *p, enum role role,
                         struct content *c, struct error *e)
{
    const struct json *v = json_get(message, "content");
    const char *text = json_string(v);
    if (text)
        add_text(&c->text, text);
    if (text || (json_type(v) == JSON_NULL && role == ROLE_ASSISTANT))
        return true;
    if (json_type(v) != JSON_ARRAY)
        return import_fault(p, e, "\"content\" is neither a text nor a list of parts");
    size_t i = 0;
    for (const struct json *part = json_first(v); part; part = json_next(part)) {
        struct place at = place_of("%s.content[%zu]", p->text, i++);
        if (!take_part(part, &at, role, c, e))
            return false;
    }
    return true;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void end_run(struct reading *r)
{
    if (!r->run_open)
        return;
    struct event *ev = add_event(r, r->answered ? EVENT_RUN_COMPLETED : EVENT_INTERRUPTED);
    if (r->answered) {
        ev->text = mem_strdup(r->result.data);
        ev->count = r->calls;
        ev->stop_reason = r->stop;
    }
    r->run_open = false;
}

static bool need_run(const struct reading *r, const struct place *p, struct error *e)
{
    return r->run_open || import_fault(p, e, "comes before the first message of a user");
}

static bool add_user(struct reading *r, const struct json *message, const struct place *p,
                     struct content *c, struct error *e)
{
    (void)message;
    if (c->text.len == 0 && c->images.len == 0)
        return import_fault(p, e, "\"content\" is empty");
    end_run(r);
    struct event *ev = add_event(r, EVENT_RUN_STARTED);
    ev->text = mem_strdup(c->text.data);
    if (c->images.len > 0)
        ev->attachments = mem_printf("[%s]", c->images.data);
    r->run_open = true;
    r->answered = false;
    r->calls = 0;
    r->turns++;
    buf_clear(&r->result);
    return true;
}

static bool add_system(struct reading *r, const struct json *message, const struct place *p,
                       struct content *c, struct error *e)
{
    (void)message;
    (void)p;
    (void)e;
    if (c->text.len > 0 && r->system.len > 0)
        buf_addstr(&r->system, "\n\n");
    buf_addstr(&r->system, c->text.data);
    return true;
}

static bool add_call(struct reading *r, const struct json *call, const struct place *p,
                     struct error *e)
{
    const struct json *function = json_get(call, "function");
    const char *type = json_get_string(call, "type");
    const char *id = json_get_string(call, "id");
    const char *name = json_get_string(function, "name");
    const char *args = json_get_string(function, "arguments");
    if (type && strcmp(type, "function") != 0)
        return import_fault(p, e, "a call of type \"%.40s\" cannot be imported", type);
    if (!id || !name || !args)
        return import_fault(p, e, "\"%s\" is no text",
                            !id     ? "id"
                            : !name ? "function.name"
                                    : "function.arguments");
    struct event *ev = add_event(r, EVENT_TOOL_CALL_REQUESTED);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name);
    ev->text = mem_strdup(args);
    return true;
}

static bool add_calls(struct reading *r, const struct json *calls, const struct place *p,
                      struct error *e)
{
    size_t i = 0;
    if (json_type(calls) != JSON_NULL && json_type(calls) != JSON_ARRAY)
        return import_fault(p, e, "\"tool_calls\" is no list");
    for (const struct json *call = json_first(calls); call; call = json_next(call)) {
        struct place at = place_of("%s.tool_calls[%zu]", p->text, i++);
        if (i > CALLS_MAX)
            return import_fault(&at, e, "an answer has at most %d calls", CALLS_MAX);
        if (!add_call(r, call, &at, e))
            return false;
    }
    return true;
}

static void add_answer_text(struct reading *r, const struct json *message, struct content *c)
{
    const char *refusal = json_get_string(message, "refusal");
    if (refusal)
        add_text(&c->text, refusal);
    if (c->text.len == 0)
        return;
    add_event(r, EVENT_TEXT_COMPLETE)->text = mem_strdup(c->text.data);
    buf_clear(&r->result);
    buf_addstr(&r->result, c->text.data);
}

static bool add_assistant(struct reading *r, const struct json *message, const struct place *p,
                          struct content *c, struct error *e)
{
    if (json_get(message, "function_call"))
        return import_fault(p, e, "\"function_call\" cannot be imported; tool_calls can");
    if (!need_run(r, p, e))
        return false;
    struct event *begin = add_event(r, EVENT_TURN_STARTED);
    size_t first = r->out->events.len;
    begin->number = r->turns;
    begin->count = ++r->calls;
    add_answer_text(r, message, c);
    size_t calls_first = r->out->events.len;
    if (!add_calls(r, json_get(message, "tool_calls"), p, e))
        return false;
    r->stop = r->out->events.len > calls_first ? STOP_TOOL_USE : STOP_END_TURN;
    r->answered = r->answered || r->out->events.len > first;
    r->call_first = first;
    add_event(r, EVENT_TURN_COMPLETED)->stop_reason = r->stop;
    return true;
}

/* The name of the tool that the newest answer called under this id; NULL: it did not. */
static const char *called_name(const struct reading *r, const char *id)
{
    for (size_t i = r->call_first; r->calls > 0 && i < r->out->events.len; i++) {
        const struct event *ev = r->out->events.items[i];
        if (ev->type == EVENT_TURN_COMPLETED)
            return NULL;
        if (ev->type == EVENT_TOOL_CALL_REQUESTED && strcmp(ev->id, id) == 0)
            return ev->name;
    }
    return NULL;
}

/* A result that nobody asked for stays in the transcript; the history passes over it. */
static bool add_tool(struct reading *r, const struct json *message, const struct place *p,
                     struct content *c, struct error *e)
{
    const char *id = json_get_string(message, "tool_call_id");
    if (!id)
        return import_fault(p, e, "\"tool_call_id\" is no text");
    if (!need_run(r, p, e))
        return false;
    const char *name = called_name(r, id);
    struct event *ev = add_event(r, EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name ? name : "");
    ev->text = mem_strdup(c->text.data);
    return true;
}

static const struct role_reader {
    const char *name;
    enum role role;
    bool (*add)(struct reading *r, const struct json *message, const struct place *p,
                struct content *c, struct error *e);
} roles[] = {
    {"system", ROLE_SYSTEM, add_system},
    {"developer", ROLE_SYSTEM, add_system},
    {"user", ROLE_USER, add_user},
    {"tool", ROLE_TOOL, add_tool},
    {"assistant", ROLE_ASSISTANT, add_assistant},
};

static const struct role_reader *find_role(const char *name)
{
    for (size_t i = 0; name && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0)
            return &roles[i];
    return NULL;
}

static bool read_message(struct reading *r, const struct json *message, const struct place *p,
                         struct error *e)
{
    struct content c = {.text = BUF_INIT, .images = BUF_INIT};
    const char *name = json_get_string(message, "role");
    const struct role_reader *role = find_role(name);
    struct place at = place_of("%s.role", p->text);
    if (!role)
        return name ? import_fault(&at, e, "\"%.40s\" is unknown", name)
                    : import_fault(&at, e, "it is no text");
    bool ok = read_content(message, p, role->role, &c, e) && role->add(r, message, p, &c, e);
    buf_release(&c.text);
    buf_release(&c.images);
    return ok;
}

static bool read_messages(struct reading *r, const struct json *messages, struct error *e)
{
    struct place top = place_of("messages");
    size_t i = 0;
    if (json_type(messages) != JSON_ARRAY)
        return import_fault(&top, e, "it is no list");
    for (const struct json *message = json_first(messages); message; message = json_next(message)) {
        struct place p = place_of("messages[%zu]", i++);
        if (!read_message(r, message, &p, e))
            return false;
    }
    end_run(r);
    return true;
}

bool import_openai(const struct json *root, struct imported *out, struct error *e)
{
    struct reading r = {
        .out = out, .now_ms = clock_wall_ms(), .system = BUF_INIT, .result = BUF_INIT};
    bool is_list = json_type(root) == JSON_ARRAY;
    bool ok = read_messages(&r, is_list ? root : json_get(root, "messages"), e);
    if (ok && r.system.len > 0)
        out->info.system = mem_strdup(r.system.data);
    if (ok)
        out->info.model = mem_strdup(json_get_string(root, "model"));
    buf_release(&r.system);
    buf_release(&r.result);
    return ok;
}
