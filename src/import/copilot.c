/* Copilot CLI: ~/.copilot/session-state/ID/events.jsonl, a line an event, appended as the talk goes
 * on; older versions wrote session-state/ID.jsonl. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/source.h"

static void take_start(struct import_conversation *c, const struct json *event)
{
    const struct json *data = json_get(event, "data"), *context = json_get(data, "context");
    import_take(&c->id, json_get_string(data, "sessionId"));
    import_take(&c->model, json_get_string(data, "selectedModel"));
    import_take(&c->directory, json_get_string(context, "cwd"));
    c->created_ms = import_time_of(json_get(event, "timestamp"));
}

static bool give_answer(struct import_sink *k, struct import_message *m, const struct json *data,
                        struct error *e)
{
    VEC(struct import_call) calls = {0};
    for (const struct json *r = json_first(json_get(data, "toolRequests")); r; r = json_next(r))
        vec_push(&calls, (struct import_call){.id = json_get_string(r, "toolCallId"),
                                              .name = json_get_string(r, "name"),
                                              .arguments = json_get(r, "arguments")});
    m->role = ROLE_ASSISTANT;
    m->calls = calls.items;
    m->call_count = calls.len;
    bool ok = (!m->text && calls.len == 0) || import_add(k, m, e);
    vec_release(&calls);
    return ok;
}

static bool give(struct import_sink *k, struct import_conversation *c, const struct json *event,
                 struct error *e)
{
    static const char *const passed[] = {"session.", "assistant.",  "tool.",     "hook.",
                                         "abort",    "skill.",      "subagent.", "system.",
                                         "user.",    "permission.", "model.",    NULL};
    const char *type = json_get_string(event, "type");
    const struct json *data = json_get(event, "data"), *result = json_get(data, "result");
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, json_get_string(data, "content"));
    m.id = json_get_string(event, "id");
    m.ms = import_time_of(json_get(event, "timestamp"));
    if (is(type, "session.model_change")) {
        import_take(&c->model, json_get_string(data, "newModel"));
    } else if (is(type, "user.message")) {
        return !m.text || import_add(k, &m, e);
    } else if (is(type, "assistant.message")) {
        m.model = c->model;
        return give_answer(k, &m, data, e);
    } else if (is(type, "tool.execution_complete")) {
        m.role = ROLE_TOOL;
        m.call_id = json_get_string(data, "toolCallId");
        m.failed = !json_get_bool(data, "success", true);
        m.text = json_get_string(m.failed ? json_get(data, "error") : result,
                                 m.failed ? "message" : "content");
        return import_add(k, &m, e);
    } else if (!type || !import_begins(type, passed)) {
        import_unknown(k, type ? type : "event without a type");
    }
    return true;
}

static bool read_copilot(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct import_conversation c = {0};
    struct import_lines l;
    bool ok = true;
    import_lines_init(&l, k, f, 0);
    struct json *first = import_lines_next(&l, e);
    if (first && is(json_get_string(first, "type"), "session.start"))
        take_start(&c, first);
    json_free(first);
    if (c.id && import_wants(k, &c, 0)) {
        c.continues = import_may_continue(k, c.id);
        if (c.continues)
            import_lines_seek(&l, f->offset);
        ok = import_begin(k, &c, e);
        for (struct json *v; ok && (v = import_lines_next(&l, e)); json_free(v)) {
            f->done = l.begin;
            ok = give(k, &c, v, e);
        }
        f->done = l.next;
        ok = ok && !l.failed && import_end(k, e);
    }
    import_lines_release(&l);
    import_conversation_release(&c);
    return ok && !l.failed;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, "COPILOT_HOME", "session-state", ".copilot/session-state");
}

static bool named(const char *path)
{
    return import_ends(path, ".jsonl");
}

static bool sniff(const struct import_file *f)
{
    return f->head[0] == '{' && import_head_has(f, "copilotVersion") &&
           import_head_has(f, "sessionId");
}

const struct import_source import_copilot = {
    .name = "copilot",
    .label = "Copilot CLI",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_copilot,
};
