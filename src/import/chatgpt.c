/* The export of ChatGPT: conversations.json, or conversations-000.json and so on, in a zip file or
 * a folder. A conversation is a tree of messages, in which siblings are edits and retries; the talk
 * leads from current_node to the root. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/source.h"

/* The first and the last private-use character that ChatGPT writes into texts: U+E200 begins a
 * citation, U+E201 ends it, the others part it. */
#define CITATION_BEGIN "\xee\x88\x80"
#define CITATION_END "\xee\x88\x81"
#define CITATION_LAST "\xee\x88\x86"

struct talk {
    struct import_conversation c;
    VEC(const struct json *) nodes;
    struct import_tree tree;
};

/* Appends a text without its citations. */
static void add_words(struct buf *out, const char *text)
{
    if (out->len > 0)
        buf_addstr(out, "\n\n");
    while (*text) {
        bool begins = strncmp(text, CITATION_BEGIN, 3) == 0;
        const char *end = begins ? strstr(text, CITATION_END) : NULL;
        if (end)
            text = end + 3;
        else if (strncmp(text, CITATION_BEGIN, 3) >= 0 && strncmp(text, CITATION_LAST, 3) <= 0)
            text += 3;
        else
            buf_addch(out, *text++);
    }
}

static void add_content(struct import_sink *k, struct buf *out, const struct json *content)
{
    static const char *const passed[] = {"thoughts",
                                         "reasoning_recap",
                                         "tether_quote",
                                         "tether_browsing_display",
                                         "sonic_webpage",
                                         "user_editable_context",
                                         "model_editable_context",
                                         "system_error",
                                         "app_pairing_content",
                                         NULL};
    const char *type = json_get_string(content, "content_type");
    const char *text = json_get_string(content, "text");
    const struct json *parts = json_get(content, "parts");
    if (!type || import_begins(type, passed))
        return;
    if (text && *text)
        add_words(out, text);
    for (const struct json *p = json_first(parts); p; p = json_next(p)) {
        const char *words = json_string(p), *kind = json_get_string(p, "content_type");
        if (is(kind, "image_asset_pointer"))
            words = "[image]";
        else if (!words && json_get_string(p, "text")) /* of a recording */
            words = json_get_string(p, "text");
        if (words && *words)
            add_words(out, words);
    }
    if (!text && !parts)
        import_unknown(k, type);
}

static bool give(struct import_sink *k, const struct json *node, struct error *e)
{
    const struct json *v = json_get(node, "message"), *metadata = json_get(v, "metadata");
    const struct json *author = json_get(v, "author"), *content = json_get(v, "content");
    const char *role = json_get_string(author, "role"), *to = json_get_string(v, "recipient");
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
    struct import_call call = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    if (json_type(v) != JSON_OBJECT || is(role, "system") ||
        json_number(json_get(v, "weight"), 1) == 0 ||
        json_get_bool(metadata, "is_visually_hidden_from_conversation", false) ||
        json_get_bool(metadata, "is_user_system_message", false))
        return true;
    add_content(k, &text, content);
    m.id = json_get_string(v, "id");
    m.ms = import_time_of(json_get(v, "create_time"));
    m.text = text.data;
    if (is(role, "assistant")) {
        m.role = ROLE_ASSISTANT;
        m.model = json_get_string(metadata, "model_slug");
        if (to && !is(to, "all")) {
            call = (struct import_call){.id = m.id, .name = to, .text = text.data};
            m.calls = &call;
            m.call_count = 1;
            m.text = NULL;
        }
    } else if (is(role, "tool")) {
        m.role = ROLE_TOOL;
        m.call_id = json_get_string(metadata, "parent_id");
        m.tool = json_get_string(author, "name");
        if (!is(json_get_string(content, "content_type"), "execution_output"))
            return true;
    } else if (!is(role, "user")) {
        import_unknown(k, role ? role : "message without a role");
        return true;
    }
    return (text.len == 0 && m.role != ROLE_TOOL) || import_add(k, &m, e);
}

static bool take(struct import_sink *k, const struct json *v, void *context, struct error *e)
{
    struct talk t = {0};
    struct import_chain chain = {0};
    const char *id = json_get_string(v, "id");
    (void)context;
    t.c.id = id ? id : json_get_string(v, "conversation_id");
    t.c.title = json_get_string(v, "title");
    t.c.model = json_get_string(v, "default_model_slug");
    t.c.created_ms = import_time_of(json_get(v, "create_time"));
    t.c.updated_ms = import_time_of(json_get(v, "update_time"));
    /* The person asked that it is not remembered. */
    if (!t.c.id || json_get_bool(v, "is_do_not_remember", false))
        return true;
    if (!import_wants(k, &t.c, t.c.updated_ms))
        return true;
    for (const struct json *n = json_first(json_get(v, "mapping")); n; n = json_next(n)) {
        const char *node = json_get_string(n, "id");
        import_tree_add(&t.tree, node ? node : json_name(n), json_get_string(n, "parent"),
                        (int64_t)t.nodes.len, (int64_t)t.nodes.len);
        vec_push(&t.nodes, n);
    }
    import_tree_chain(&t.tree, json_get_string(v, "current_node"), &chain);
    bool ok = import_begin(k, &t.c, e);
    for (size_t i = 0; ok && i < chain.where.len; i++)
        ok = give(k, t.nodes.items[chain.where.items[i]], e);
    ok = ok && import_end(k, e);
    vec_release(&chain.where);
    vec_release(&t.nodes);
    import_tree_release(&t.tree);
    return ok;
}

static bool read_chatgpt(struct import_sink *k, struct import_file *f, struct error *e)
{
    return import_elements(k, f, "conversations", take, NULL, e);
}

/* An export is given by its path; it has no place of its own. */
static void places(struct text_list *out)
{
    (void)out;
}

static bool named(const char *path)
{
    return strncmp(import_name(path), "conversations", 13) == 0;
}

static bool sniff(const struct import_file *f)
{
    return (f->head[0] == '[' || f->head[0] == '{') && import_head_has(f, "mapping") &&
           !import_head_has(f, "chat_messages");
}

const struct import_source import_chatgpt = {
    .name = "chatgpt",
    .label = "ChatGPT",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_chatgpt,
};
