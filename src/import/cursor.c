/* Cursor: the editor keeps its chats in a table of keys and JSON values of a database, composers
 * and their bubbles; its command line has a database for each chat, whose blobs are messages. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "import/source.h"

/* --- the editor ------------------------------------------------------------------------------- */

/* A bubble: what was said, an answer, or a call with its result. */
static bool give_bubble(struct import_sink *k, const struct json *v, const char *id,
                        struct import_conversation *c, struct error *e)
{
    const struct json *tool = json_get(v, "toolFormerData");
    bool answer = json_number(json_get(v, "type"), 0) == 2;
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, NULL);
    struct import_call call = {
        .id = id, .name = json_get_string(tool, "name"), .text = json_get_string(tool, "rawArgs")};
    const char *text = json_get_string(v, "text");
    const char *folder = json_get_string(v, "workspaceProjectDir");
    if (!c->directory)
        import_take(&c->directory, folder);
    m.id = id;
    m.ms = import_time_of(json_get(v, "timestamp"));
    if (m.ms == 0)
        m.ms = import_time_of(json_get(v, "createdAt"));
    m.text = text;
    m.model = answer ? json_get_string(json_get(v, "modelInfo"), "modelName") : NULL;
    if (!c->model)
        import_take(&c->model, m.model);
    if (call.name) {
        m.calls = &call;
        m.call_count = 1;
    }
    if (((text && *text) || call.name) && !import_add(k, &m, e))
        return false;
    const char *result = json_get_string(tool, "result");
    if (!call.name || !result)
        return true;
    auto_free char *result_id = mem_printf("%s/result", id);
    struct import_message r = IMPORT_MESSAGE(ROLE_TOOL, result);
    r.id = result_id;
    r.ms = m.ms;
    r.call_id = id;
    r.tool = call.name;
    r.failed = is(json_get_string(tool, "status"), "error");
    return import_add(k, &r, e);
}

/* The headers name the bubbles, which have keys of their own; older composers contain them. */
static bool give_composer(struct import_sink *k, struct store *s, const struct json *v,
                          struct import_conversation *c, struct error *e)
{
    const struct json *headers = json_get(v, "fullConversationHeadersOnly");
    bool ok = import_begin(k, c, e);
    if (!json_first(headers))
        headers = json_get(v, "conversation");
    for (const struct json *h = json_first(headers); ok && h; h = json_next(h)) {
        const char *id = json_get_string(h, "bubbleId");
        if (!id)
            continue;
        auto_free char *key = mem_printf("bubbleId:%s:%s", c->id, id);
        struct query q = sql_query(s, e, "SELECT value FROM cursorDiskKV WHERE key = ?", "t", key);
        AUTO(json_free_local) struct json *bubble = query_next(&q) ? import_column(&q, 0) : NULL;
        ok = query_end(&q) && give_bubble(k, bubble ? bubble : h, id, c, e);
    }
    return ok && import_end(k, e);
}

static bool read_editor(struct import_sink *k, struct store *s, struct error *e)
{
    struct query q = sql_query(s, e,
                               "SELECT value FROM cursorDiskKV WHERE key >= 'composerData:' AND "
                               "key < 'composerData;' ORDER BY rowid",
                               "");
    bool ok = true;
    while (ok && query_next(&q)) {
        AUTO(json_free_local) struct json *v = import_column(&q, 0);
        struct import_conversation c = {.id = mem_strdup(json_get_string(v, "composerId")),
                                        .title = mem_strdup(json_get_string(v, "name")),
                                        .created_ms = import_time_of(json_get(v, "createdAt")),
                                        .updated_ms = import_time_of(json_get(v, "lastUpdatedAt"))};
        if (c.id && import_wants(k, &c, c.updated_ms))
            ok = give_composer(k, s, v, &c, e);
        import_conversation_release(&c);
    }
    return query_end(&q) && ok;
}

/* --- the command line ------------------------------------------------------------------------- */

/* The program's words around the person's. */
static void add_said(struct buf *out, const struct json *content)
{
    static const char *const not_said[] = {"<user_info>",      "<system_reminder>", "<environment",
                                           "<project_layout>", "<rules>",           NULL};
    AUTO(buf_release) struct buf all = BUF_INIT;
    import_add_content(&all, content, NULL);
    const char *begin = strstr(all.data, "<user_query>");
    const char *end = begin ? strstr(begin, "</user_query>") : NULL;
    if (end)
        buf_add(out, begin + 12, (size_t)(end - begin - 12));
    else if (!import_begins(all.data, not_said))
        buf_addstr(out, all.data);
}

static bool give_blob(struct import_sink *k, const struct json *v, const char *id, struct error *e)
{
    const char *role = json_get_string(v, "role");
    const struct json *content = json_get(v, "content");
    bool answer = is(role, "assistant");
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, NULL);
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(struct import_call) calls = {0};
    if (!answer && !is(role, "user") && !is(role, "tool")) /* a system prompt, or no message */
        return true;
    if (answer)
        import_add_content(&text, content, NULL);
    else if (is(role, "user"))
        add_said(&text, content);
    bool ok = true;
    for (const struct json *b = import_blocks(content); ok && b; b = json_next(b)) {
        const char *type = json_get_string(b, "type");
        struct import_message r = IMPORT_MESSAGE(ROLE_TOOL, json_get_string(b, "result"));
        r.id = id;
        r.call_id = json_get_string(b, "toolCallId");
        r.tool = json_get_string(b, "toolName");
        if (is(type, "tool-call"))
            vec_push(&calls, (struct import_call){.id = json_get_string(b, "toolCallId"),
                                                  .name = json_get_string(b, "toolName"),
                                                  .arguments = json_get(b, "args")});
        else if (is(type, "tool-result") && r.text)
            ok = import_add(k, &r, e);
    }
    m.id = id;
    m.text = text.data;
    m.calls = calls.items;
    m.call_count = calls.len;
    if (ok && (text.len > 0 || calls.len > 0))
        ok = import_add(k, &m, e);
    vec_release(&calls);
    return ok;
}

/* JSON in hexadecimal digits. */
static struct json *parse_digits(const char *digits)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (; digits && digits[0] && digits[1]; digits += 2) {
        const char pair[] = {digits[0], digits[1], '\0'};
        buf_addch(&text, (char)strtoul(pair, NULL, 16));
    }
    return json_parse_foreign(text.data, text.len, NULL);
}

/* "~/.cursor/chats/HASH/ID/store.db" */
static bool read_command_line(struct import_sink *k, struct import_file *f, struct store *s,
                              struct error *e)
{
    struct query q = sql_query(s, e, "SELECT value FROM meta WHERE key = '0'", "");
    auto_free char *digits = query_next(&q) ? query_column_text(&q, 0) : NULL;
    AUTO(json_free_local) struct json *meta = parse_digits(digits);
    bool ok = query_end(&q);
    const char *id = json_get_string(meta, "agentId");
    struct import_conversation c = {.id = id ? id : f->path,
                                    .title = json_get_string(meta, "name"),
                                    .created_ms = import_time_of(json_get(meta, "createdAt"))};
    if (!ok || !import_wants(k, &c, 0))
        return ok;
    ok = import_begin(k, &c, e);
    struct query blobs = sql_query(s, e,
                                   "SELECT id, CAST(data AS TEXT) FROM blobs WHERE "
                                   "substr(data, 1, 1) = CAST('{' AS BLOB) ORDER BY rowid",
                                   "");
    while (ok && query_next(&blobs)) {
        auto_free char *blob = query_column_text(&blobs, 0);
        AUTO(json_free_local) struct json *v = import_column(&blobs, 1);
        ok = give_blob(k, v, blob, e);
    }
    ok = query_end(&blobs) && ok;
    return ok && import_end(k, e);
}

static bool read_cursor(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct store *s = import_database(f->path, e);
    bool ok =
        s && (import_has_columns(s, "cursorDiskKV", "key value") ? read_editor(k, s, e)
                                                                 : read_command_line(k, f, s, e));
    store_close(s);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    static const char *const under[] = {
        ".config/Cursor/User/globalStorage/state.vscdb",
        "Library/Application Support/Cursor/User/globalStorage/state.vscdb", ".cursor/chats"};
    for (size_t i = 0; i < sizeof under / sizeof *under; i++) {
        import_place(out, NULL, NULL, under[i]);
    }
}

static bool named(const char *path)
{
    return is(import_name(path), "state.vscdb") || is(import_name(path), "store.db");
}

static bool sniff(const struct import_file *f)
{
    static const char *const editor[] = {"cursorDiskKV key value"};
    static const char *const command_line[] = {"blobs id data", "meta key value"};
    return import_sniff_tables(f, editor, 1) || import_sniff_tables(f, command_line, 2);
}

const struct import_source import_cursor = {
    .name = "cursor",
    .label = "Cursor",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_cursor,
};
