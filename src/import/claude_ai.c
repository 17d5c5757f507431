/* The export of Claude.ai: conversations.json in a zip file or a folder. Messages name their
 * parents, in newer exports; the newest leaf ends the talk. The documents of projects.json, what
 * Claude made of it all (memories.json) and users.json are no conversations. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/source.h"

/* The names of attached files. */
static void add_files(struct buf *out, const struct json *files)
{
    for (const struct json *f = json_first(files); f; f = json_next(f)) {
        const char *name = json_get_string(f, "file_name");
        buf_addf(out, "%s[file %s]", out->len > 0 ? "\n\n" : "", name ? name : "");
    }
}

static bool give(struct import_sink *k, const struct json *v, struct error *e)
{
    static const char *const passed[] = {"thinking", "tool_result", "token_budget", "flag", NULL};
    const struct json *content = json_get(v, "content");
    bool answer = is(json_get_string(v, "sender"), "assistant");
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, NULL);
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(struct import_call) calls = {0};
    import_add_content(&text, content, NULL);
    for (const struct json *b = json_first(content); b; b = json_next(b)) {
        const char *type = json_get_string(b, "type");
        if (is(type, "tool_use"))
            vec_push(&calls, import_call_of(b, "input"));
        else if (!is(type, "text") && !is(type, "image") && !(type && import_begins(type, passed)))
            import_unknown(k, type ? type : "block without a type");
    }
    if (text.len == 0 && json_get_string(v, "text"))
        buf_addstr(&text, json_get_string(v, "text"));
    add_files(&text, json_get(v, "attachments"));
    add_files(&text, json_get(v, "files"));
    m.id = json_get_string(v, "uuid");
    m.ms = import_time_of(json_get(v, "created_at"));
    m.text = text.data;
    m.calls = calls.items;
    m.call_count = calls.len;
    bool ok = (text.len == 0 && calls.len == 0) || import_add(k, &m, e);
    vec_release(&calls);
    /* Results stand in the answer that called the tool, behind the call. */
    return ok && import_add_results(k, content, m.id, m.ms, e);
}

static bool take(struct import_sink *k, const struct json *v, void *context, struct error *e)
{
    const struct json *messages = json_get(v, "chat_messages");
    struct import_conversation c = {.id = json_get_string(v, "uuid"),
                                    .title = json_get_string(v, "name"),
                                    .created_ms = import_time_of(json_get(v, "created_at")),
                                    .updated_ms = import_time_of(json_get(v, "updated_at"))};
    VEC(const struct json *) list = {0};
    struct import_tree tree = {0};
    struct import_chain chain = {0};
    bool parents = false;
    (void)context;
    if (!c.id || json_get_bool(v, "is_temporary", false) || !import_wants(k, &c, c.updated_ms))
        return true;
    for (const struct json *m = json_first(messages); m; m = json_next(m)) {
        const char *parent = json_get_string(m, "parent_message_uuid");
        import_tree_add(&tree, json_get_string(m, "uuid"), parent, (int64_t)list.len,
                        import_time_of(json_get(m, "created_at")));
        vec_push(&list, m);
        parents = parents || parent;
    }
    if (parents)
        import_tree_chain(&tree, NULL, &chain);
    else
        for (size_t i = 0; i < list.len; i++)
            vec_push(&chain.where, (int64_t)i);
    bool ok = import_begin(k, &c, e);
    for (size_t i = 0; ok && i < chain.where.len; i++)
        ok = give(k, list.items[chain.where.items[i]], e);
    ok = ok && import_end(k, e);
    vec_release(&chain.where);
    vec_release(&list);
    import_tree_release(&tree);
    return ok;
}

static bool read_claude_ai(struct import_sink *k, struct import_file *f, struct error *e)
{
    return !import_head_has(f, "chat_messages") || import_elements(k, f, NULL, take, NULL, e);
}

static void places(struct text_list *out)
{
    (void)out; /* an export is given by its path */
}

static bool named(const char *path)
{
    return strncmp(import_name(path), "conversations", 13) == 0;
}

static bool sniff(const struct import_file *f)
{
    bool chats = import_head_has(f, "uuid") && import_head_has(f, "chat_messages");
    bool projects = import_head_has(f, "uuid") && import_head_has(f, "docs");
    bool users = import_head_has(f, "uuid") && import_head_has(f, "email_address");
    return f->head[0] == '[' &&
           (chats || projects || users || import_head_has(f, "conversations_memory"));
}

const struct import_source import_claude_ai = {
    .name = "claude.ai",
    .label = "Claude.ai",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_claude_ai,
};
