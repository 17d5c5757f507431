#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/message.h"
#include "session/import_private.h"

static const struct place whole = {"the text"};

#define BEFORE_USER "comes before the first message of a user"

enum {
    CALLS_MAX = 1000, /* of one answer */
    SYSTEM_MIB = 4    /* as --system-file takes */
};

/* A call of the newest answer. */
struct call {
    char *id, *name;
};

/* The turns and model calls that the messages are made into. */
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
    if (strcmp(type, "image_url") == 0 && role == ROLE_USER) {
        const char *url = json_get_string(json_get(part, "image_url"), "url");
        struct json_out o = {.buf = &c->images, .comma = c->images.len > 0};
        /* a path would make tiro send a file of this machine */
        if (!url || (strncasecmp(url, "https://", 8) != 0 && strncasecmp(url, "http://", 7) != 0))
            return import_fault(p, e, "an image that is no http or https address");
        json_out_open(&o, '{');
        json_out_member(&o, "type", "image");
        json_out_member(&o, "text", url);
        json_out_close(&o, '}');
        return true;
    }
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
    mem_replace(&r->result, NULL);
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

static bool add_calls(struct import_openai *r, const struct json *calls, const struct place *p,
                      struct error *e)
{
    size_t i = 0;
    if (json_type(calls) != JSON_NULL && json_type(calls) != JSON_ARRAY)
        return import_fault(p, e, "\"tool_calls\" is no list");
    for (const struct json *call = json_first(calls); call; call = json_next(call)) {
        struct place at = place_of("%s.tool_calls[%zu]", p->text, i++);
        const struct json *function = json_get(call, "function");
        const char *type = json_get_string(call, "type");
        const char *id = json_get_string(call, "id");
        const char *name = json_get_string(function, "name");
        const char *args = json_get_string(function, "arguments");
        if (i > CALLS_MAX)
            return import_fault(&at, e, "an answer has at most %d calls", CALLS_MAX);
        if (type && strcmp(type, "function") != 0)
            return import_fault(&at, e, "a call of type \"%.40s\" cannot be imported", type);
        if (!id || !name || !args)
            return import_fault(&at, e, "\"%s\" is no text",
                                !id     ? "id"
                                : !name ? "function.name"
                                        : "function.arguments");
        struct event *ev = next_event(r, EVENT_TOOL_CALL_REQUESTED);
        ev->id = mem_strdup(id);
        ev->name = mem_strdup(name);
        ev->text = mem_strdup(args);
        vec_push(&r->asked, (struct call){mem_strdup(id), mem_strdup(name)});
        imported_add(r->out, ev);
    }
    return true;
}

static bool add_assistant(struct import_openai *r, const struct json *message,
                          const struct place *p, struct content *c, struct error *e)
{
    const char *refusal = json_get_string(message, "refusal");
    if (json_get(message, "function_call"))
        return import_fault(p, e, "\"function_call\" cannot be imported; tool_calls can");
    if (!r->run_open)
        return import_fault(p, e, BEFORE_USER);
    struct event *ev = next_event(r, EVENT_CALL_STARTED);
    ev->number = r->turns;
    ev->count = ++r->calls;
    forget_calls(r);
    imported_add(r->out, ev);

    int64_t begun = r->out->count;
    if (refusal)
        add_text(&c->text, refusal);
    if (c->text.len > 0) {
        ev = next_event(r, EVENT_TEXT_COMPLETE);
        mem_replace(&r->result, mem_strdup(c->text.data));
        ev->text = buf_take(&c->text);
        imported_add(r->out, ev);
    }
    if (!add_calls(r, json_get(message, "tool_calls"), p, e))
        return false;
    r->answered = r->answered || r->out->count > begun;

    ev = next_event(r, EVENT_CALL_COMPLETED);
    r->stop = r->asked.len > 0 ? STOP_TOOL_USE : STOP_END_TURN;
    ev->stop_reason = r->stop;
    imported_add(r->out, ev);
    return true;
}

/* A result without a call stays in the transcript; the history skips it. */
static bool add_tool(struct import_openai *r, const struct json *message, const struct place *p,
                     struct content *c, struct error *e)
{
    const char *id = json_get_string(message, "tool_call_id");
    if (!id)
        return import_fault(p, e, "\"tool_call_id\" is no text");
    if (!r->run_open)
        return import_fault(p, e, BEFORE_USER);
    size_t i = 0; /* the call of the newest answer */
    while (i < r->asked.len && strcmp(r->asked.items[i].id, id) != 0)
        i++;
    struct event *ev = next_event(r, EVENT_TOOL_EXECUTION_COMPLETED);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(i < r->asked.len ? r->asked.items[i].name : "");
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

/* --- the list --------------------------------------------------------------------------------- */

struct form {
    struct import_text *text;
    struct imported *out;
    bool versioned, has_session, has_events;
    struct import_openai *messages; /* NULL: none came */
};

/* --- arrays and objects, element by element --------------------------------------------------- */

/* An array whose bracket was taken. */
static bool read_array(struct form *f, const char *name,
                       bool (*take)(struct form *f, const struct json *v, const struct place *p,
                                    struct error *e),
                       struct error *e)
{
    struct import_text *t = f->text;
    if (import_text_take(t, ']'))
        return true;
    for (size_t i = 0;; i++) {
        struct place p = place_of("%s[%zu]", name, i);
        struct json *v = import_text_value(t, &p, e);
        bool ok = v && take(f, v, &p, e);
        json_free(v);
        if (!ok || !imported_settle(f->out, e))
            return false;
        if (import_text_take(t, ']'))
            return true;
        if (!import_text_take(t, ','))
            return import_text_fault(t, &p, e);
    }
}

/* An object whose bracket was taken; `take` reads the member's value. */
static bool read_object(struct form *f,
                        bool (*take)(struct form *f, const char *name, struct error *e),
                        struct error *e)
{
    struct import_text *t = f->text;
    if (import_text_take(t, '}'))
        return true;
    for (;;) {
        AUTO(json_free_local) struct json *v = import_text_value(t, &whole, e);
        const char *name = json_string(v);
        if (!v)
            return false;
        if (!name || !import_text_take(t, ':'))
            return import_text_fault(t, &whole, e);
        if (!take(f, name, e))
            return false;
        if (import_text_take(t, '}'))
            return true;
        if (!import_text_take(t, ','))
            return import_text_fault(t, &whole, e);
    }
}

/* --- the forms of a text ---------------------------------------------------------------------- */

static bool take_event(struct form *f, const struct json *v, const struct place *p, struct error *e)
{
    return import_own_event(v, p, f->out, e);
}

static bool take_message(struct form *f, const struct json *v, const struct place *p,
                         struct error *e)
{
    struct content c = {.text = BUF_INIT, .images = BUF_INIT};
    const char *name = json_get_string(v, "role");
    struct place at = place_of("%s.role", p->text);
    enum { ROLES = sizeof roles / sizeof *roles };
    size_t i = 0;
    while (name && i < ROLES && strcmp(roles[i].name, name) != 0)
        i++;
    if (!name || i == ROLES)
        return name ? import_fault(&at, e, "\"%.40s\" is unknown", name)
                    : import_fault(&at, e, "it is no text");
    bool ok = read_content(v, p, roles[i].role, &c, e) && roles[i].add(f->messages, v, p, &c, e);
    buf_release(&c.text);
    buf_release(&c.images);
    return ok;
}

static bool read_messages(struct form *f, struct error *e)
{
    struct import_openai *r = f->messages = mem_alloc(sizeof *r);
    *r = (struct import_openai){.out = f->out, .now_ms = clock_wall_ms()};
    buf_init(&r->system, (size_t)SYSTEM_MIB << 20);
    if (!read_array(f, "messages", take_message, e))
        return false;
    if (r->system.len > 0)
        r->out->info.system = mem_strdup(r->system.data);
    end_run(r);
    return true;
}

static bool read_member(struct form *f, const char *name, struct error *e)
{
    bool events = strcmp(name, "events") == 0, messages = strcmp(name, "messages") == 0;
    struct place p = messages ? place_of("messages") : place_of("\"%.40s\"", name);
    if ((events || messages) && (f->has_events || f->messages))
        return import_fault(&whole, e, "a second list of events or messages");
    if (events) {
        f->has_events = true;
        return import_text_take(f->text, '[') ? read_array(f, "events", take_event, e)
                                              : import_fault(&whole, e, "\"events\" is no array");
    }
    if (messages)
        return import_text_take(f->text, '[') ? read_messages(f, e)
                                              : import_fault(&p, e, "it is no list");
    AUTO(json_free_local) struct json *v = import_text_value(f->text, &p, e);
    if (!v)
        return false;
    if (strcmp(name, "tiro") == 0) {
        f->versioned = true;
        return import_own_version(v, &whole, e);
    }
    if (strcmp(name, "session") == 0) {
        if (f->has_session)
            return import_fault(&whole, e, "a second \"session\"");
        f->has_session = true;
        return import_own_session(v, f->out, e);
    }
    if (strcmp(name, "model") == 0 && !f->out->info.model)
        f->out->info.model = mem_strdup(json_string(v));
    return true;
}

static bool read_whole_json(struct import_text *t, struct imported *out, struct error *e)
{
    struct form f = {.text = t, .out = out};
    bool ok;
    if (import_text_take(t, '['))
        ok = read_messages(&f, e);
    else if (!import_text_take(t, '{'))
        ok = import_fault(
            &whole, e,
            "neither a session that tiro exported nor a list of messages, which are JSON");
    else if (!read_object(&f, read_member, e))
        ok = false;
    else if (f.messages)
        ok = true;
    else if (!f.versioned)
        ok = import_fault(&whole, e, "neither a session that tiro exported nor a list of messages");
    else if (!f.has_session)
        ok = import_fault(&(struct place){"session"}, e, "the session is no object");
    else
        ok = f.has_events || import_fault(&whole, e, "\"events\" is no array");
    ok = ok && (import_text_peek(t) < 0 || import_text_fault(t, &whole, e));
    if (f.messages) {
        forget_calls(f.messages);
        vec_release(&f.messages->asked);
        buf_release(&f.messages->system);
        free(f.messages->result);
        free(f.messages);
    }
    return ok;
}

/* A text that ends too early because it could not be read has the error of the reading. */
bool import_form_read(struct import_text *t, struct imported *out, struct error *e)
{
    struct error none;
    if (!import_text_rewind(t, e))
        return false;
    bool ok = import_text_peek(t) >= 0 || import_fault(&whole, e, "there is nothing in it");
    if (ok) {
        /* Lines: the first line alone is an object with a "type". */
        struct json *line = import_text_peek(t) == '{' && import_text_line(t, &none)
                                ? json_parse_foreign(t->element.data, t->element.len, NULL)
                                : NULL;
        bool lines = line && json_get_string(line, "type");
        json_free(line);
        ok = import_text_rewind(t, e) && (lines ? import_own_lines : read_whole_json)(t, out, e) &&
             (out->count > 0 || (out->info.draft && *out->info.draft) ||
              import_fault(&whole, e, "there is no message in it"));
    }
    return t->fault.code == ERR_OK ? ok : err_set(e, t->fault.code, "%s", t->fault.text);
}
