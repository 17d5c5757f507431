/* pi: ~/.pi/agent/sessions/--DIRECTORY--/TIME_ID.jsonl, a line an entry, appended as the talk goes
 * on. Entries name their parents; the newest leaf ends the talk, and what is on other branches was
 * taken back. A compaction removes nothing from the file. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/source.h"

struct talk {
    struct import_conversation c;
    char *id, *title, *directory, *model;
    struct import_tree tree;
};

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static void take(char **to, const char *text)
{
    if (text && *text)
        mem_replace(to, mem_strdup(text));
}

static void tell(struct talk *t)
{
    t->c.id = t->id;
    t->c.title = t->title;
    t->c.directory = t->directory;
    t->c.model = t->model;
}

static void look_at(struct talk *t, const struct json *v, int64_t begin)
{
    const char *type = json_get_string(v, "type"), *id = json_get_string(v, "id");
    if (is(type, "session") && !t->id) {
        take(&t->id, id);
        take(&t->directory, json_get_string(v, "cwd"));
        t->c.created_ms = import_time_of(json_get(v, "timestamp"));
    } else if (is(type, "session_info")) {
        take(&t->title, json_get_string(v, "name"));
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
    for (const struct json *b = json_type(content) == JSON_ARRAY ? json_first(content) : NULL; b;
         b = json_next(b))
        if (is(json_get_string(b, "type"), "toolCall"))
            vec_push(&calls, (struct import_call){.id = json_get_string(b, "id"),
                                                  .name = json_get_string(b, "name"),
                                                  .arguments = json_get(b, "arguments")});
    m.id = json_get_string(line, "id");
    m.ms = import_time_of(json_get(line, "timestamp"));
    buf_addstr(&text, "");
    m.text = text.data;
    if (is(role, "assistant")) {
        int64_t read = figure_tokens(usage, "cacheRead", 0);
        int64_t input = figure_tokens(usage, "input", -1);
        take(&t->model, json_get_string(message, "model"));
        m.role = ROLE_ASSISTANT;
        m.model = t->model;
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
    tell(t);
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
        if (l.next != chain.where.items[i]) {
            l.next = chain.where.items[i];
            l.at = l.len = 0;
        }
        AUTO(json_free_local) struct json *line = import_lines_next(&l, NULL);
        ok = add_message(k, t, line, e);
    }
    import_lines_release(&l);
    vec_release(&chain.where);
    tell(t);
    return ok && import_end(k, e);
}

static bool read_pi(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct talk t = {0};
    struct import_lines l;
    struct error cause = {0};
    import_lines_init(&l, k, f, 0);
    for (struct json *v; (v = import_lines_next(&l, &cause)); json_free(v))
        look_at(&t, v, l.begin);
    import_lines_release(&l);
    tell(&t);
    bool ok = cause.code == ERR_OK || err_set(e, cause.code, "%s", cause.text);
    if (ok && t.id && import_wants(k, &t.c, 0))
        ok = give(k, f, &t, e);
    free(t.id);
    free(t.title);
    free(t.directory);
    free(t.model);
    import_tree_release(&t.tree);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    char *own = import_home("PI_CODING_AGENT_SESSION_DIR", "", NULL);
    char *usual = import_home("PI_CODING_AGENT_DIR", "sessions", ".pi/agent/sessions");
    if (own)
        vec_push(&out->items, own);
    if (usual)
        vec_push(&out->items, usual);
}

static bool named(const char *path)
{
    size_t len = strlen(path);
    return len > 6 && strcmp(path + len - 6, ".jsonl") == 0;
}

static bool sniff(const struct import_file *f)
{
    static const char first[] = "{\"type\":\"session\",";
    return f->head_len > sizeof first && memcmp(f->head, first, sizeof first - 1) == 0 &&
           import_head_has(f, "cwd") && import_head_has(f, "id");
}

const struct import_source import_pi = {
    .name = "pi",
    .label = "pi",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_pi,
};
