#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/message.h"
#include "session/import_private.h"

enum {
    CALLS_MAX = 1000, /* of one answer */
    SYSTEM_MIB = 4    /* as --system-file takes */
};

/* A call of the newest answer. */
struct call {
    char *id, *name;
};

/* Runs of model calls, as if they had been talked here. */
struct import_openai {
    struct imported *out;
    int64_t now_ms;
    bool run_open, answered;
    int calls; /* model calls of the run */
    int64_t turns;
    enum stop_reason stop;
    VEC(struct call) asked; /* by the newest answer of the run */
    char *result;           /* the run's last text; NULL: none yet */
    struct buf system;
};

/* A message while it is read. */
struct content {
    struct buf text;
    struct buf images; /* a JSON array's elements */
};

/* The next event, to be filled in and added. */
static struct event *next_event(const struct import_openai *r, enum event_type type)
{
    struct event *ev = event_new(type);
    ev->seq = r->out->last_seq + 1;
    ev->wall_ms = r->now_ms + ev->seq - 1;
    return ev;
}

static void forget_calls(struct import_openai *r)
{
    for (size_t i = 0; i < r->asked.len; i++) {
        free(r->asked.items[i].id);
        free(r->asked.items[i].name);
    }
    vec_clear(&r->asked);
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

static void end_run(struct import_openai *r)
{
    if (!r->run_open)
        return;
    struct event *ev = next_event(r, r->answered ? EVENT_TURN_COMPLETED : EVENT_INTERRUPTED);
    if (r->answered) {
        ev->text = r->result ? r->result : mem_strdup("");
        r->result = NULL;
        ev->count = r->calls;
        ev->stop_reason = r->stop;
    }
    r->run_open = false;
    forget_calls(r);
    imported_add(r->out, ev);
}

static bool need_run(const struct import_openai *r, const struct place *p, struct error *e)
{
    return r->run_open || import_fault(p, e, "comes before the first message of a user");
}

static bool add_user(struct import_openai *r, const struct json *message, const struct place *p,
                     struct content *c, struct error *e)
{
    (void)message;
    if (c->text.len == 0 && c->images.len == 0)
        return import_fault(p, e, "\"content\" is empty");
    end_run(r);
    struct event *ev = next_event(r, EVENT_TURN_STARTED);
    ev->text = buf_take(&c->text);
    if (c->images.len > 0)
        ev->attachments = mem_printf("[%s]", c->images.data);
    r->run_open = true;
    r->answered = false;
    r->calls = 0;
    r->turns++;
    free(r->result);
    r->result = NULL;
    imported_add(r->out, ev);
    return true;
}

static bool add_system(struct import_openai *r, const struct json *message, const struct place *p,
                       struct content *c, struct error *e)
{
    (void)message;
    const char *gap = c->text.len > 0 && r->system.len > 0 ? "\n\n" : "";
    return (buf_try_add(&r->system, gap, strlen(gap)) &&
            buf_try_add(&r->system, c->text.data, c->text.len)) ||
           import_fault(p, e, "the system prompts are together over %d MiB", SYSTEM_MIB);
}

static bool add_call(struct import_openai *r, const struct json *call, const struct place *p,
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
    struct event *ev = next_event(r, EVENT_TOOL_CALL_REQUESTED);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name);
    ev->text = mem_strdup(args);
    vec_push(&r->asked, (struct call){mem_strdup(id), mem_strdup(name)});
    imported_add(r->out, ev);
    return true;
}

static bool add_calls(struct import_openai *r, const struct json *calls, const struct place *p,
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

static void add_answer_text(struct import_openai *r, const struct json *message, struct content *c)
{
    const char *refusal = json_get_string(message, "refusal");
    if (refusal)
        add_text(&c->text, refusal);
    if (c->text.len == 0)
        return;
    struct event *ev = next_event(r, EVENT_TEXT_COMPLETE);
    free(r->result);
    r->result = mem_strdup(c->text.data);
    ev->text = buf_take(&c->text);
    imported_add(r->out, ev);
}

static void begin_call(struct import_openai *r)
{
    struct event *ev = next_event(r, EVENT_CALL_STARTED);
    ev->number = r->turns;
    ev->count = ++r->calls;
    forget_calls(r);
    imported_add(r->out, ev);
}

static void end_call(struct import_openai *r)
{
    struct event *ev = next_event(r, EVENT_CALL_COMPLETED);
    r->stop = r->asked.len > 0 ? STOP_TOOL_USE : STOP_END_TURN;
    ev->stop_reason = r->stop;
    imported_add(r->out, ev);
}

static bool add_assistant(struct import_openai *r, const struct json *message,
                          const struct place *p, struct content *c, struct error *e)
{
    if (json_get(message, "function_call"))
        return import_fault(p, e, "\"function_call\" cannot be imported; tool_calls can");
    if (!need_run(r, p, e))
        return false;
    begin_call(r);
    int64_t begun = r->out->count;
    add_answer_text(r, message, c);
    if (!add_calls(r, json_get(message, "tool_calls"), p, e))
        return false;
    r->answered = r->answered || r->out->count > begun;
    end_call(r);
    return true;
}

/* The name of the tool that the newest answer called under this id; NULL: it did not. */
static const char *called_name(const struct import_openai *r, const char *id)
{
    for (size_t i = 0; i < r->asked.len; i++)
        if (strcmp(r->asked.items[i].id, id) == 0)
            return r->asked.items[i].name;
    return NULL;
}

/* A result that nobody asked for stays in the transcript; the history passes over it. */
static bool add_tool(struct import_openai *r, const struct json *message, const struct place *p,
                     struct content *c, struct error *e)
{
    const char *id = json_get_string(message, "tool_call_id");
    if (!id)
        return import_fault(p, e, "\"tool_call_id\" is no text");
    if (!need_run(r, p, e))
        return false;
    const char *name = called_name(r, id);
    struct event *ev = next_event(r, EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name ? name : "");
    ev->text = buf_take(&c->text);
    imported_add(r->out, ev);
    return true;
}

static const struct role_reader {
    const char *name;
    enum role role;
    bool (*add)(struct import_openai *r, const struct json *message, const struct place *p,
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

bool import_openai_message(struct import_openai *r, const struct json *message,
                           const struct place *p, struct error *e)
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

/* --- the list --------------------------------------------------------------------------------- */

struct import_openai *import_openai_new(struct imported *out)
{
    struct import_openai *r = mem_alloc(sizeof *r);
    *r = (struct import_openai){.out = out, .now_ms = clock_wall_ms()};
    buf_init(&r->system, (size_t)SYSTEM_MIB << 20);
    return r;
}

void import_openai_free(struct import_openai *r)
{
    if (!r)
        return;
    forget_calls(r);
    vec_release(&r->asked);
    buf_release(&r->system);
    free(r->result);
    free(r);
}

void import_openai_end(struct import_openai *r)
{
    if (r->system.len > 0)
        r->out->info.system = mem_strdup(r->system.data);
    end_run(r);
}
