/* pi: ~/.pi/agent/sessions/--DIRECTORY--/TIME_ID.jsonl, a line an entry, appended as the talk goes
 * on. Entries name their parents; the newest leaf ends the talk, and what is on other branches was
 * taken back. A compaction removes nothing from the file. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/source.h"

struct talk {
    struct import_conversation c;
    struct import_tree tree;
};

static void look_at(struct talk *t, const struct json *v, int64_t begin)
{
    const char *type = json_get_string(v, "type"), *id = json_get_string(v, "id");
    if (is(type, "session") && !t->c.id) {
        import_take(&t->c.id, id);
        import_take(&t->c.directory, json_get_string(v, "cwd"));
        t->c.created_ms = import_time_of(json_get(v, "timestamp"));
    } else if (is(type, "session_info")) {
        import_take(&t->c.title, json_get_string(v, "name"));
    } else if (id) {
        import_tree_add(&t->tree, id, json_get_string(v, "parentId"), begin, begin);
    }
}

static bool add_message(struct import_sink *k, struct talk *t, const struct json *line,
                        struct error *e)
{
    static const char *const passed[] = {"compaction",   "branch_summary",        "custom", "label",
                                         "model_change", "thinking_level_change", NULL};
    const char *type = json_get_string(line, "type");
    const struct json *message = json_get(line, "message"), *usage = json_get(message, "usage");
    const struct json *content = json_get(message, "content");
    const char *role = json_get_string(message, "role");
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(struct import_call) calls = {0};
    if (!is(type, "message")) {
        if (!type || !import_begins(type, passed))
            import_unknown(k, type ? type : "entry without a type");
        return true;
    }
    import_add_content(&text, content, NULL);
    for (const struct json *b = import_blocks(content); b; b = json_next(b))
        if (is(json_get_string(b, "type"), "toolCall"))
            vec_push(&calls, import_call_of(b, "arguments"));
    m.id = json_get_string(line, "id");
    m.ms = import_time_of(json_get(line, "timestamp"));
    m.text = text.data;
    if (is(role, "assistant")) {
        int64_t read = figure_tokens(usage, "cacheRead", 0);
        int64_t input = figure_tokens(usage, "input", -1);
        import_take(&t->c.model, json_get_string(message, "model"));
        m.role = ROLE_ASSISTANT;
        m.model = t->c.model;
        m.response = json_get_string(message, "responseId");
        m.usage = (struct usage){
            .input = input < 0 ? -1 : input + read + figure_tokens(usage, "cacheWrite", 0),
            .output = figure_tokens(usage, "output", -1),
            .cached = input < 0 ? -1 : read};
        m.cost = json_number(json_get(json_get(usage, "cost"), "total"), -1);
        m.calls = calls.items;
        m.call_count = calls.len;
    } else if (is(role, "toolResult")) {
        m.role = ROLE_TOOL;
        m.call_id = json_get_string(message, "toolCallId");
        m.tool = json_get_string(message, "toolName");
        m.failed = json_get_bool(message, "isError", false);
    } else if (!is(role, "user")) { /* "bashExecution", "custom" and summaries are the program's */
        m.text = NULL;
    }
    bool ok = !m.text || import_add(k, &m, e);
    vec_release(&calls);
    return ok;
}

static bool give(struct import_sink *k, struct import_file *f, struct talk *t, struct error *e)
{
    struct import_lines l;
    struct import_chain chain = {0};
    import_tree_chain(&t->tree, NULL, &chain);
    bool ok = import_begin(k, &t->c, e);
    import_lines_init(&l, NULL, f, 0);
    for (size_t i = 0; ok && i < chain.where.len; i++) {
        import_lines_seek(&l, chain.where.items[i]);
        AUTO(json_free_local) struct json *line = import_lines_next(&l, NULL);
        ok = add_message(k, t, line, e);
    }
    import_lines_release(&l);
    vec_release(&chain.where);
    return ok && import_end(k, e);
}

static bool read_pi(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct talk t = {0};
    struct import_lines l;
    import_lines_init(&l, k, f, 0);
    for (struct json *v; (v = import_lines_next(&l, e)); json_free(v))
        look_at(&t, v, l.begin);
    import_lines_release(&l);
    bool ok = !l.failed;
    if (ok && t.c.id && import_wants(k, &t.c, 0))
        ok = give(k, f, &t, e);
    import_conversation_release(&t.c);
    import_tree_release(&t.tree);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, "PI_CODING_AGENT_SESSION_DIR", "", NULL);
    import_place(out, "PI_CODING_AGENT_DIR", "sessions", ".pi/agent/sessions");
}

static bool named(const char *path)
{
    return import_ends(path, ".jsonl");
}

static bool sniff(const struct import_file *f)
{
    static const char first[] = "{\"type\":\"session\",";
    return f->head_len > sizeof first && memcmp(f->head, first, sizeof first - 1) == 0 &&
           import_head_has(f, "cwd") && import_head_has(f, "id") && !import_head_has(f, "tiro");
}

const struct import_source import_pi = {
    .name = "pi",
    .label = "pi",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_pi,
};
