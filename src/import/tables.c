/* Sources whose history is a database with a table of sessions and one of messages: goose, Crush,
 * Hermes and llm. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "import/source.h"

/* How to read one. Columns of `sessions`: id, parent, title, directory, model, times of creation
 * and of the last change. `messages` has a parameter, the session's id; give() adds a row of it. */
struct tables {
    const char *sessions, *messages;
    bool (*give)(struct import_sink *k, const struct query *q, struct error *e);
};

static bool give_session(struct import_sink *k, struct store *s, const struct tables *t,
                         struct import_conversation *c, struct error *e)
{
    bool ok = import_begin(k, c, e);
    struct query q = sql_query(s, e, t->messages, "t", c->id);
    while (ok && query_next(&q))
        ok = t->give(k, &q, e);
    ok = query_end(&q) && ok;
    return ok && import_end(k, e);
}

/* `directory`: of sessions that name none; may be NULL. */
static bool read_tables(struct import_sink *k, struct import_file *f, const struct tables *t,
                        const char *directory, struct error *e)
{
    struct store *s = import_database(f->path, e);
    if (!s)
        return false;
    struct query q = sql_query(s, e, t->sessions, "");
    bool ok = true;
    while (ok && query_next(&q)) {
        struct import_conversation c = {
            .id = query_column_text(&q, 0),
            .parent = query_column_text(&q, 1),
            .title = query_column_text(&q, 2),
            .directory = query_column_text(&q, 3),
            .model = query_column_text(&q, 4),
            .created_ms = import_time((double)query_column_known(&q, 5)),
            .updated_ms = import_time((double)query_column_known(&q, 6))};
        if (!c.directory || !*c.directory)
            import_take(&c.directory, directory);
        if (c.id && import_wants(k, &c, c.updated_ms))
            ok = give_session(k, s, t, &c, e);
        import_conversation_release(&c);
    }
    ok = query_end(&q) && ok;
    store_close(s);
    return ok;
}

/* An answer with its calls, or what was said, and the results that stand beside it. */
struct parts {
    struct buf text;
    VEC(struct import_call) calls;
    struct import_message *m;
    size_t results;
};

static bool give_result(struct import_sink *k, struct parts *p, const char *call, const char *tool,
                        const char *text, bool failed, struct error *e)
{
    struct import_message m = IMPORT_MESSAGE(ROLE_TOOL, text ? text : "");
    auto_free char *id = mem_printf("%s/%zu", p->m->id ? p->m->id : "", ++p->results);
    m.id = id;
    m.ms = p->m->ms;
    m.call_id = call;
    m.tool = tool;
    m.failed = failed;
    return import_add(k, &m, e);
}

static bool give_parts(struct import_sink *k, struct parts *p, struct error *e)
{
    p->m->text = p->text.data;
    p->m->calls = p->calls.items;
    p->m->call_count = p->calls.len;
    bool ok = (p->text.len == 0 && p->calls.len == 0) || import_add(k, p->m, e);
    buf_release(&p->text);
    vec_release(&p->calls);
    return ok;
}

/* --- goose ------------------------------------------------------------------------------------ */

static bool give_goose(struct import_sink *k, const struct query *q, struct error *e)
{
    static const char *const passed[] = {
        "thinking",     "redactedThinking", "systemNotification",     "toolConfirmation",
        "frontendTool", "contextLength",    "summarizationRequested", NULL};
    auto_free char *id = query_column_text(q, 0), *role = query_column_text(q, 1);
    AUTO(json_free_local)
    struct json *content = import_column(q, 2), *metadata = import_column(q, 4);
    struct import_message m =
        IMPORT_MESSAGE(is(role, "assistant") ? ROLE_ASSISTANT : ROLE_USER, NULL);
    struct parts p = {.text = BUF_INIT, .m = &m};
    bool ok = true;
    m.id = id;
    m.ms = import_time((double)query_column_known(q, 3));
    if (!json_get_bool(metadata, "userVisible", true))
        return true;
    for (const struct json *b = json_first(content); ok && b; b = json_next(b)) {
        const char *type = json_get_string(b, "type");
        const struct json *call = json_get(json_get(b, "toolCall"), "value");
        const struct json *result = json_get(b, "toolResult"), *value = json_get(result, "value");
        if (is(type, "text")) {
            import_add_paragraph(&p.text, json_get_string(b, "text"));
        } else if (is(type, "image")) {
            import_add_paragraph(&p.text, "[image]");
        } else if (is(type, "toolRequest")) {
            vec_push(&p.calls, (struct import_call){.id = json_get_string(b, "id"),
                                                    .name = json_get_string(call, "name"),
                                                    .arguments = json_get(call, "arguments")});
        } else if (is(type, "toolResponse")) {
            AUTO(buf_release) struct buf text = BUF_INIT;
            bool object = json_type(value) == JSON_OBJECT;
            import_add_content(&text, object ? json_get(value, "content") : value, NULL);
            ok = give_result(k, &p, json_get_string(b, "id"), NULL, text.data,
                             is(json_get_string(result, "status"), "error"), e);
        } else if (!type || !import_begins(type, passed)) {
            import_unknown(k, type ? type : "block without a type");
        }
    }
    return give_parts(k, &p, e) && ok;
}

static bool read_goose(struct import_sink *k, struct import_file *f, struct error *e)
{
    static const struct tables goose = {
        "SELECT id, NULL, description, working_dir, NULL, strftime('%s', created_at), "
        "strftime('%s', updated_at) FROM sessions ORDER BY created_at, id",
        "SELECT id, role, content_json, created_timestamp, metadata_json FROM messages "
        "WHERE session_id = ? ORDER BY created_timestamp, id",
        give_goose};
    return read_tables(k, f, &goose, NULL, e);
}

static void goose_places(struct text_list *out)
{
    import_place(out, "GOOSE_PATH_ROOT", "data/sessions", NULL);
    import_place(out, "XDG_DATA_HOME", "goose/sessions", ".local/share/goose/sessions");
}

static bool goose_sniff(const struct import_file *f)
{
    static const char *const tables[] = {
        "sessions id description working_dir created_at updated_at",
        "messages id session_id role content_json created_timestamp metadata_json"};
    return import_sniff_tables(f, tables, 2);
}

static bool is_database(const char *path)
{
    return import_ends(path, ".db") || import_ends(path, ".sqlite");
}

const struct import_source import_goose = {.name = "goose",
                                           .label = "goose",
                                           .places = goose_places,
                                           .named = is_database,
                                           .sniff = goose_sniff,
                                           .read = read_goose};

/* --- Crush ------------------------------------------------------------------------------------ */

static bool give_crush(struct import_sink *k, const struct query *q, struct error *e)
{
    static const char *const passed[] = {"reasoning", "finish", "_meta", NULL};
    auto_free char *id = query_column_text(q, 0), *role = query_column_text(q, 1);
    auto_free char *model = query_column_text(q, 4);
    AUTO(json_free_local) struct json *content = import_column(q, 2);
    bool answer = is(role, "assistant"), ok = true;
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, NULL);
    struct parts p = {.text = BUF_INIT, .m = &m};
    m.id = id;
    m.ms = import_time((double)query_column_known(q, 3));
    m.model = answer ? model : NULL;
    for (const struct json *b = json_first(content); ok && b; b = json_next(b)) {
        const char *type = json_get_string(b, "type");
        const struct json *data = json_get(b, "data");
        if (is(type, "text"))
            import_add_paragraph(&p.text, json_get_string(data, "text"));
        else if (is(type, "image_url") || is(type, "binary"))
            import_add_paragraph(&p.text, "[image]");
        else if (is(type, "tool_call"))
            vec_push(&p.calls, (struct import_call){.id = json_get_string(data, "id"),
                                                    .name = json_get_string(data, "name"),
                                                    .text = json_get_string(data, "input")});
        else if (is(type, "tool_result"))
            ok = give_result(k, &p, json_get_string(data, "tool_call_id"),
                             json_get_string(data, "name"), json_get_string(data, "content"),
                             json_get_bool(data, "is_error", false), e);
        else if (is(type, "shell_command"))
            import_add_paragraph(&p.text, json_get_string(data, "command"));
        else if (!type || !import_begins(type, passed))
            import_unknown(k, type ? type : "part without a type");
    }
    return give_parts(k, &p, e) && ok;
}

static bool read_crush(struct import_sink *k, struct import_file *f, struct error *e)
{
    static const struct tables crush = {
        "SELECT id, parent_session_id, title, NULL, (SELECT model FROM messages WHERE session_id = "
        "sessions.id AND role = 'assistant' ORDER BY rowid DESC LIMIT 1), created_at, updated_at "
        "FROM "
        "sessions ORDER BY created_at, id",
        "SELECT id, role, parts, created_at, model FROM messages WHERE session_id = ? AND "
        "is_summary_message = 0 ORDER BY created_at, rowid",
        give_crush};
    /* The database is in PROJECT/.crush/. */
    const char *folder = strstr(f->path, "/.crush/");
    auto_free char *project =
        folder ? mem_strndup(f->path, (size_t)(folder - f->path)) : mem_strdup("");
    return read_tables(k, f, &crush, folder ? project : NULL, e);
}

/* The list of projects names the folders of their databases. */
static void crush_places(struct text_list *out)
{
    auto_free char *list =
        import_home("XDG_DATA_HOME", "crush/projects.json", ".local/share/crush/projects.json");
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = 1 << 20};
    if (!list || !paths_read_file(list, PATHS_FILE, &text, NULL))
        return;
    AUTO(json_free_local) struct json *v = json_parse_foreign(text.data, text.len, NULL);
    for (const struct json *p = json_first(json_get(v, "projects")); p; p = json_next(p)) {
        const char *data = json_get_string(p, "data_dir"), *path = json_get_string(p, "path");
        if (data && *data == '/')
            vec_push(&out->items, mem_strdup(data));
        else if (path && *path == '/')
            vec_push(&out->items, paths_join(path, ".crush"));
    }
}

static bool crush_sniff(const struct import_file *f)
{
    static const char *const tables[] = {
        "sessions id parent_session_id title created_at updated_at",
        "messages id session_id role parts model created_at is_summary_message"};
    return import_sniff_tables(f, tables, 2);
}

const struct import_source import_crush = {.name = "crush",
                                           .label = "Crush",
                                           .places = crush_places,
                                           .named = is_database,
                                           .sniff = crush_sniff,
                                           .read = read_crush};

/* --- Hermes ----------------------------------------------------------------------------------- */

static bool give_hermes(struct import_sink *k, const struct query *q, struct error *e)
{
    auto_free char *id = query_column_text(q, 0), *role = query_column_text(q, 1);
    auto_free char *content = query_column_text(q, 2), *call = query_column_text(q, 5);
    AUTO(json_free_local) struct json *calls = import_column(q, 4);
    bool answer = is(role, "assistant");
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, NULL);
    struct parts p = {.text = BUF_INIT, .m = &m};
    m.id = id;
    m.ms = import_time((double)query_column_known(q, 3));
    /* A content that is JSON begins with a NUL, which the statement takes away, and "json:". */
    if (content && query_column_known(q, 6) == 1 && strncmp(content, "json:", 5) == 0) {
        AUTO(json_free_local)
        struct json *v = json_parse_foreign(content + 5, strlen(content + 5), NULL);
        import_add_content(&p.text, v, NULL);
    } else {
        import_add_paragraph(&p.text, content);
    }
    for (const struct json *c = json_first(calls); c; c = json_next(c))
        vec_push(&p.calls, (struct import_call){
                               .id = json_get_string(c, "id"),
                               .name = json_get_string(json_get(c, "function"), "name"),
                               .text = json_get_string(json_get(c, "function"), "arguments")});
    if (is(role, "tool")) {
        bool ok = give_result(k, &p, call, NULL, p.text.data, false, e);
        buf_release(&p.text);
        vec_release(&p.calls);
        return ok;
    }
    if (answer || is(role, "user"))
        return give_parts(k, &p, e);
    buf_release(&p.text);
    vec_release(&p.calls);
    return true;
}

static bool read_hermes(struct import_sink *k, struct import_file *f, struct error *e)
{
    static const struct tables hermes = {
        "SELECT id, NULL, title, cwd, model, CAST(started_at * 1000 AS INTEGER), (SELECT "
        "CAST(max(timestamp) * 1000 AS INTEGER) FROM messages WHERE session_id = sessions.id) FROM "
        "sessions ORDER BY started_at, id",
        "SELECT id, role, CASE WHEN substr(CAST(content AS BLOB), 1, 1) = x'00' THEN "
        "CAST(substr(CAST(content AS BLOB), 2) AS TEXT) ELSE content END, CAST(timestamp * 1000 AS "
        "INTEGER), tool_calls, "
        "tool_call_id, substr(CAST(content AS BLOB), 1, 1) = x'00' FROM messages WHERE session_id "
        "= ? "
        "AND active = 1 ORDER BY id",
        give_hermes};
    return read_tables(k, f, &hermes, NULL, e);
}

static void hermes_places(struct text_list *out)
{
    import_place(out, "HERMES_HOME", "state.db", ".hermes/state.db");
}

static bool hermes_sniff(const struct import_file *f)
{
    static const char *const tables[] = {
        "sessions id source model started_at title cwd",
        "messages id session_id role content tool_calls tool_call_id timestamp active"};
    return import_sniff_tables(f, tables, 2);
}

const struct import_source import_hermes = {.name = "hermes",
                                            .label = "Hermes",
                                            .places = hermes_places,
                                            .named = is_database,
                                            .sniff = hermes_sniff,
                                            .read = read_hermes};

/* --- llm -------------------------------------------------------------------------------------- */

/* A row is a question and its answer. */
static bool give_llm(struct import_sink *k, const struct query *q, struct error *e)
{
    auto_free char *id = query_column_text(q, 0), *prompt = query_column_text(q, 1);
    auto_free char *response = query_column_text(q, 2), *model = query_column_text(q, 3);
    auto_free char *asked = mem_printf("%s/prompt", id ? id : "");
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, prompt);
    m.id = asked;
    m.ms = import_time((double)query_column_known(q, 4));
    if (prompt && *prompt && !import_add(k, &m, e))
        return false;
    m = IMPORT_MESSAGE(ROLE_ASSISTANT, response);
    m.id = id;
    m.ms = import_time((double)query_column_known(q, 4));
    m.model = model;
    m.usage.input = query_column_known(q, 5);
    m.usage.output = query_column_known(q, 6);
    return !response || !*response || import_add(k, &m, e);
}

/* Since version 0.32 messages have parts; a row is one of them. */
static bool give_llm_part(struct import_sink *k, const struct query *q, struct error *e)
{
    auto_free char *id = query_column_text(q, 0), *role = query_column_text(q, 1);
    auto_free char *text = query_column_text(q, 2), *type = query_column_text(q, 3);
    bool answer = is(role, "assistant");
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, text);
    m.id = id;
    if (is(type, "attachment"))
        m.text = "[file]";
    if (is(role, "system") || !m.text || !*m.text || is(type, "reasoning"))
        return true;
    return import_add(k, &m, e);
}

static bool read_llm(struct import_sink *k, struct import_file *f, struct error *e)
{
    static const struct tables legacy = {
        "SELECT c.id, NULL, c.name, NULL, c.model, CAST(strftime('%s', min(r.datetime_utc)) AS "
        "INTEGER), CAST(strftime('%s', max(r.datetime_utc)) AS INTEGER) FROM conversations c JOIN "
        "responses r ON r.conversation_id = c.id GROUP BY c.id ORDER BY min(r.datetime_utc), c.id",
        "SELECT id, prompt, response, model, CAST(strftime('%s', datetime_utc) AS INTEGER), "
        "input_tokens, output_tokens FROM responses WHERE conversation_id = ? ORDER BY "
        "datetime_utc, id",
        give_llm};
    /* Messages are chained by the hashes of their parents; the depth is counted from the tip. */
    static const struct tables threads = {
        "SELECT t.id, t.forked_from, t.name, NULL, (SELECT model FROM turns WHERE thread_id = t.id "
        "ORDER BY datetime_utc DESC LIMIT 1), CAST(strftime('%s', (SELECT min(datetime_utc) FROM "
        "turns WHERE thread_id = t.id)) AS INTEGER), CAST(strftime('%s', (SELECT max(datetime_utc) "
        "FROM turns WHERE thread_id = t.id)) AS INTEGER) FROM threads t ORDER BY t.id",
        "WITH RECURSIVE chain(hash, depth) AS (SELECT tip_message_hash, 0 FROM threads WHERE id = "
        "? "
        "UNION ALL SELECT m.parent_hash, depth + 1 FROM chain JOIN messages m USING (hash) WHERE "
        "m.parent_hash IS NOT NULL AND depth < 100000) SELECT c.hash || '/' || p.position, m.role, "
        "p.text, p.type FROM chain c JOIN messages m USING (hash) JOIN parts p ON "
        "p.message_hash = c.hash ORDER BY c.depth DESC, p.position",
        give_llm_part};
    static const char *const newer[] = {
        "threads id name tip_message_hash forked_from", "turns thread_id model datetime_utc",
        "messages hash parent_hash role", "parts message_hash position type text"};
    static const char *const older[] = {"conversations id name model",
                                        "responses id conversation_id model prompt response"};
    return (!import_sniff_tables(f, older, 2) || read_tables(k, f, &legacy, NULL, e)) &&
           (!import_sniff_tables(f, newer, 4) || read_tables(k, f, &threads, NULL, e));
}

static void llm_places(struct text_list *out)
{
    import_place(out, "LLM_USER_PATH", "logs.db", ".config/io.datasette.llm/logs.db");
}

static bool llm_sniff(const struct import_file *f)
{
    static const char *const older[] = {"responses id conversation_id prompt response"};
    static const char *const newer[] = {"threads id tip_message_hash", "turns thread_id"};
    return import_sniff_tables(f, older, 1) || import_sniff_tables(f, newer, 2);
}

const struct import_source import_llm = {.name = "llm",
                                         .label = "llm",
                                         .places = llm_places,
                                         .named = is_database,
                                         .sniff = llm_sniff,
                                         .read = read_llm};
