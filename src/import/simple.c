/* The neutral form: a list of messages as OpenAI's API takes them, or an object with "messages" and
 * perhaps "id", "title", "cwd", "model" and "timestamp". Blocks of Anthropic's form are read, too.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/private.h"

static bool add_message(struct import_sink *k, const struct json *v, struct error *e)
{
    const char *role = json_get_string(v, "role");
    const struct json *content = json_get(v, "content");
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(struct import_call) calls = {0};
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
    if (is(role, "system") || is(role, "developer"))
        return true;
    if (is(role, "assistant"))
        m.role = ROLE_ASSISTANT;
    else if (is(role, "tool"))
        m.role = ROLE_TOOL;
    else if (!is(role, "user")) {
        import_unknown(k, role ? role : "message without a role");
        return true;
    }
    m.ms = import_time_of(json_get(v, "timestamp"));
    if (!import_add_results(k, content, NULL, m.ms, e))
        return false;
    import_add_content(&text, content, NULL);
    m.text = text.data;
    m.call_id = json_get_string(v, "tool_call_id");
    m.tool = json_get_string(v, "name");
    for (const struct json *c = json_first(json_get(v, "tool_calls")); c; c = json_next(c)) {
        const struct json *f = json_get(c, "function");
        vec_push(&calls, (struct import_call){.id = json_get_string(c, "id"),
                                              .name = json_get_string(f, "name"),
                                              .text = json_get_string(f, "arguments")});
    }
    for (const struct json *b = import_blocks(content); b; b = json_next(b))
        if (is(json_get_string(b, "type"), "tool_use"))
            vec_push(&calls, import_call_of(b, "input"));
    m.calls = calls.items;
    m.call_count = calls.len;
    bool ok = import_add(k, &m, e);
    vec_release(&calls);
    return ok;
}

/* A conversation without an id is known by its first message. */
static bool read_simple(struct import_sink *k, struct import_file *f, struct error *e)
{
    AUTO(json_free_local) struct json *v = import_file_json(f, e);
    const struct json *messages = json_type(v) == JSON_ARRAY ? v : json_get(v, "messages");
    if (!v)
        return false;
    AUTO(buf_release) struct buf first = BUF_INIT;
    for (const struct json *m = json_first(messages); m && first.len == 0; m = json_next(m))
        if (is(json_get_string(m, "role"), "user"))
            import_add_content(&first, json_get(m, "content"), NULL);
    auto_free char *made =
        mem_printf("%016llx", (unsigned long long)mem_hash(MEM_HASH, first.data, first.len));
    const char *id = json_get_string(v, "id");
    int64_t ms = import_time_of(json_get(v, "timestamp"));
    struct import_conversation c = {
        .id = id ? id : made,
        .title = json_get_string(v, "title"),
        .directory = json_get_string(v, "cwd"),
        .model = json_get_string(v, "model"),
        .created_ms = ms > 0 ? ms : (int64_t)f->stat.st_mtim.tv_sec * 1000,
    };
    if (!import_wants(k, &c, 0))
        return true;
    bool ok = import_begin(k, &c, e);
    for (const struct json *m = json_first(messages); ok && m; m = json_next(m))
        ok = add_message(k, m, e);
    return ok && import_end(k, e);
}

static void places(struct text_list *out)
{
    (void)out; /* it is nobody's own form */
}

static bool named(const char *path)
{
    return import_ends(path, ".json");
}

static bool sniff(const struct import_file *f)
{
    size_t at = 0;
    while (at < f->head_len && memchr(" \t\r\n", f->head[at], 4))
        at++;
    return !f->sqlite && at < f->head_len && import_head_has(f, "role") &&
           import_head_has(f, "content") && !import_head_has(f, "tiro") &&
           (f->head[at] == '[' || (f->head[at] == '{' && import_head_has(f, "messages")));
}

const struct import_source import_simple = {
    .name = "messages",
    .label = "Lists of messages",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_simple,
};

/* --- tiro's own exports ----------------------------------------------------------------------- */

/* A session comes back as it was, so that it is no conversation for the sink. */
static bool read_own(struct import_sink *k, struct import_file *f, struct error *e)
{
    const struct import_options *o = k->options;
    int64_t messages = 0;
    k->filtered = true; /* it is read whenever it is named: the session may have been deleted */
    if (!o->own || o->dry || o->project)
        return true;
    FILE *in = import_file_open(f, e);
    if (!in)
        return false;
    k->broken = !import_sink_commit(k, false, e);
    bool ok = !k->broken && o->own(o->context, in, &messages, e);
    k->counts->messages += messages;
    k->counts->conversations += messages > 0;
    fclose(in);
    return ok;
}

static bool named_own(const char *path)
{
    return import_ends(path, ".json") || import_ends(path, ".jsonl");
}

static bool sniff_own(const struct import_file *f)
{
    static const char *const begins[] = {"{\"tiro\":", "{\"type\":\"session\",\"tiro\":", NULL};
    auto_free char *head = mem_strndup(f->head, f->head_len);
    return import_begins(head, begins);
}

const struct import_source import_own = {
    .name = "tiro",
    .label = "tiro (exports)",
    .places = places,
    .named = named_own,
    .sniff = sniff_own,
    .read = read_own,
};
