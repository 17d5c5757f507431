/* opencode: a database, $XDG_DATA_HOME/opencode/opencode.db, with tables of sessions, messages and
 * parts of messages, whose data is JSON; before version 1.2 the same JSON in files of storage/. A
 * fork is a new session with copies of all messages under new ids, but with their old times: a
 * message is known by its time. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "import/source.h"
#include "import/text.h"

enum { STREAMING_MS = 60 * 1000 }; /* an unfinished answer in a session that rests is at its end */

typedef VEC(struct json *) json_list;

struct talk {
    struct import_conversation c;
    char *revert; /* id of the first message that was taken back; NULL: none was */
};

static void talk_clear(struct talk *t)
{
    import_conversation_release(&t->c);
    free(t->revert);
    *t = (struct talk){0};
}

/* --- messages --------------------------------------------------------------------------------- */

static struct usage usage_of(const struct json *tokens)
{
    const struct json *cache = json_get(tokens, "cache");
    int64_t read = figure_tokens(cache, "read", 0), input = figure_tokens(tokens, "input", -1);
    int64_t output = figure_tokens(tokens, "output", -1);
    return (struct usage){.input = input < 0 ? -1 : input + read + figure_tokens(cache, "write", 0),
                          .output =
                              output < 0 ? -1 : output + figure_tokens(tokens, "reasoning", 0),
                          .cached = input < 0 ? -1 : read};
}

/* Gives the text before a call or before the end; `m` has everything but its id and text. */
static bool give_text(struct import_sink *k, struct import_message *m, struct buf *text,
                      const char *key, size_t number, struct error *e)
{
    auto_free char *id = mem_printf("%s/%zu", key, number);
    m->id = id;
    m->text = text->data;
    bool ok = (text->len == 0 && m->call_count == 0) || import_add(k, m, e);
    buf_clear(text);
    m->usage = USAGE_UNKNOWN;
    m->cost = -1;
    m->calls = NULL;
    m->call_count = 0;
    return ok;
}

static bool give_call(struct import_sink *k, struct import_message *m, struct buf *text,
                      const struct json *part, const char *key, size_t number, struct error *e)
{
    const struct json *state = json_get(part, "state");
    const char *status = json_get_string(state, "status");
    struct import_message result = IMPORT_MESSAGE(ROLE_TOOL, NULL);
    struct import_call call = {.id = json_get_string(part, "callID"),
                               .name = json_get_string(part, "tool"),
                               .arguments = json_get(state, "input")};
    m->calls = &call;
    m->call_count = 1;
    if (!give_text(k, m, text, key, number, e))
        return false;
    result.failed = is(status, "error");
    result.text = json_get_string(state, result.failed ? "error" : "output");
    if (!result.text)
        return true;
    auto_free char *id = mem_printf("%s/%zu/result", key, number);
    result.id = id;
    result.ms = m->ms;
    result.call_id = call.id;
    result.tool = call.name;
    return import_add(k, &result, e);
}

static bool give_message(struct import_sink *k, struct talk *t, const struct json *data,
                         const json_list *parts, struct error *e)
{
    static const char *const passed[] = {"reasoning", "step-", "snapshot", "patch", "compaction",
                                         "agent",     "retry", "subtask",  NULL};
    const struct json *time = json_get(data, "time");
    bool answer = is(json_get_string(data, "role"), "assistant");
    struct import_message m = IMPORT_MESSAGE(answer ? ROLE_ASSISTANT : ROLE_USER, NULL);
    AUTO(buf_release) struct buf text = BUF_INIT;
    m.ms = import_time_of(json_get(time, "created"));
    auto_free char *key = mem_printf("%lld/%d", (long long)m.ms, m.role);
    if (answer && json_get_bool(data, "summary", false)) /* of a compaction */
        return true;
    if (answer) {
        import_take(&t->c.model, json_get_string(data, "modelID"));
        m.model = t->c.model;
        m.response = key;
        m.usage = usage_of(json_get(data, "tokens"));
        m.cost = json_number(json_get(data, "cost"), -1);
    }
    for (size_t i = 0; i < parts->len; i++) {
        const struct json *part = parts->items[i];
        const char *type = json_get_string(part, "type"), *words = json_get_string(part, "text");
        if (is(type, "file"))
            words =
                import_begins(json_get_string(part, "mime") ? json_get_string(part, "mime") : "",
                              (const char *const[]){"image/", NULL})
                    ? "[image]"
                    : "[file]";
        if ((is(type, "text") && words && !json_get_bool(part, "synthetic", false) &&
             !json_get_bool(part, "ignored", false)) ||
            is(type, "file"))
            buf_addf(&text, "%s%s", text.len > 0 ? "\n\n" : "", words);
        else if (is(type, "tool") && !give_call(k, &m, &text, part, key, i, e))
            return false;
        else if (!is(type, "text") && !is(type, "tool") && !(type && import_begins(type, passed)))
            import_unknown(k, type ? type : "part without a type");
    }
    return give_text(k, &m, &text, key, parts->len, e);
}

/* Whether the answer may still grow: then it waits for the next reading. */
static bool is_streaming(const struct talk *t, const struct json *data)
{
    return is(json_get_string(data, "role"), "assistant") && !json_get(data, "error") &&
           !json_get(json_get(data, "time"), "completed") &&
           clock_wall_ms() - t->c.updated_ms < STREAMING_MS;
}

static void list_clear(json_list *list)
{
    for (size_t i = 0; i < list->len; i++)
        json_free(list->items[i]);
    vec_clear(list);
}

/* --- the database ----------------------------------------------------------------------------- */

static bool load_parts(struct store *s, const char *message, json_list *out, struct error *e)
{
    struct query q =
        sql_query(s, e, "SELECT data FROM part WHERE message_id = ? ORDER BY id", "t", message);
    while (query_next(&q)) {
        struct json *part = import_column(&q, 0);
        if (part)
            vec_push(out, part);
    }
    return query_end(&q);
}

static bool give_session(struct import_sink *k, struct store *s, struct talk *t, struct error *e)
{
    json_list parts = {0};
    bool ok = import_begin(k, &t->c, e), more = true;
    struct query q = sql_query(s, e,
                               "SELECT id, data FROM message WHERE session_id = ? "
                               "ORDER BY time_created, id",
                               "t", t->c.id);
    while (ok && more && query_next(&q)) {
        auto_free char *id = query_column_text(&q, 0);
        AUTO(json_free_local) struct json *data = import_column(&q, 1);
        more = !is(t->revert, id) && !is_streaming(t, data);
        if (!data)
            import_unknown(k, "message that is no JSON");
        else if (more)
            ok = load_parts(s, id, &parts, e) && give_message(k, t, data, &parts, e);
        list_clear(&parts);
    }
    vec_release(&parts);
    ok = query_end(&q) && ok;
    return ok && import_end(k, e);
}

static bool load_session(struct store *s, const char *id, struct talk *t, struct error *e)
{
    struct query q = sql_query(s, e,
                               "SELECT parent_id, directory, title, revert, time_created, "
                               "time_updated FROM session WHERE id = ?",
                               "t", id);
    t->c.id = mem_strdup(id);
    if (query_next(&q)) {
        AUTO(json_free_local) struct json *revert = import_column(&q, 3);
        t->c.parent = query_column_text(&q, 0);
        t->c.directory = query_column_text(&q, 1);
        auto_free char *title = query_column_text(&q, 2);
        if (title && !import_begins(title, (const char *const[]){"New session - ", NULL}))
            import_take(&t->c.title, title); /* else it has none yet */
        t->revert = mem_strdup(json_get_string(revert, "messageID"));
        t->c.created_ms = import_time((double)query_column_known(&q, 4));
        t->c.updated_ms = import_time((double)query_column_known(&q, 5));
    }
    return query_end(&q);
}

static bool read_database(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct text_list ids = {0};
    struct talk t = {0};
    struct store *s = import_database(f->path, e);
    if (!s)
        return false;
    struct query q = sql_query(s, e, "SELECT id FROM session ORDER BY time_created, id", "");
    bool ok = query_texts(&q, &ids);
    for (size_t i = 0; ok && i < ids.items.len; i++) {
        ok = load_session(s, ids.items.items[i], &t, e);
        if (ok && import_wants(k, &t.c, t.c.updated_ms))
            ok = give_session(k, s, &t, e);
        talk_clear(&t);
    }
    vec_free_each(&ids.items);
    store_close(s);
    return ok;
}

/* --- files ------------------------------------------------------------------------------------ */

static struct json *read_json(const char *folder, const char *name)
{
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = IMPORT_ELEMENT_BYTES};
    auto_free char *path = paths_join(folder, name);
    return paths_read_file(path, PATHS_FILE_NO_LINK, &text, NULL)
               ? json_parse_foreign(text.data, text.len, NULL)
               : NULL;
}

static int no_hidden(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* All JSON files of a folder, in the order of their names, which are ids that grow. */
static void read_folder(const char *folder, json_list *out)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, no_hidden, alphasort);
    for (int i = 0; i < count; i++) {
        struct json *v = read_json(folder, names[i]->d_name);
        if (v)
            vec_push(out, v);
        free(names[i]);
    }
    free(names);
}

/* A file storage/session/PROJECT/ID.json; the messages are in storage/message/ID, their parts in
 * storage/part/MESSAGE. */
static bool read_storage(struct import_sink *k, struct import_file *f, struct error *e)
{
    AUTO(json_free_local) struct json *info = import_file_json(f, e);
    const char *at = strstr(f->path, "/session/"), *id = json_get_string(info, "id");
    struct talk t = {0};
    json_list messages = {0}, parts = {0};
    if (!info || !at || !id || strchr(id, '/'))
        return info != NULL;
    t.c.id = mem_strdup(id);
    import_take(&t.c.parent, json_get_string(info, "parentID"));
    import_take(&t.c.directory, json_get_string(info, "directory"));
    import_take(&t.c.title, json_get_string(info, "title"));
    t.revert = mem_strdup(json_get_string(json_get(info, "revert"), "messageID"));
    t.c.created_ms = import_time_of(json_get(json_get(info, "time"), "created"));
    t.c.updated_ms = import_time_of(json_get(json_get(info, "time"), "updated"));
    bool ok = true, more = import_wants(k, &t.c, t.c.updated_ms), begun = more;
    auto_free char *storage = mem_strndup(f->path, (size_t)(at - f->path));
    auto_free char *folder = mem_printf("%s/message/%s", storage, id);
    if (more) {
        read_folder(folder, &messages);
        ok = import_begin(k, &t.c, e);
    }
    for (size_t i = 0; ok && more && i < messages.len; i++) {
        const char *message = json_get_string(messages.items[i], "id");
        if (!message || strchr(message, '/'))
            continue;
        more = !is(t.revert, message) && !is_streaming(&t, messages.items[i]);
        auto_free char *part_folder = mem_printf("%s/part/%s", storage, message);
        read_folder(part_folder, &parts);
        ok = !more || give_message(k, &t, messages.items[i], &parts, e);
        list_clear(&parts);
    }
    ok = ok && (!begun || import_end(k, e));
    list_clear(&messages);
    vec_release(&messages);
    vec_release(&parts);
    talk_clear(&t);
    return ok;
}

static bool read_opencode(struct import_sink *k, struct import_file *f, struct error *e)
{
    return f->sqlite ? read_database(k, f, e) : read_storage(k, f, e);
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, "OPENCODE_DB", "", NULL);
    import_place(out, "XDG_DATA_HOME", "opencode", ".local/share/opencode");
}

static bool named(const char *path)
{
    return (strncmp(import_name(path), "opencode", 8) == 0 && import_ends(path, ".db")) ||
           (strstr(path, "/storage/session/") && import_ends(path, ".json"));
}

static bool sniff(const struct import_file *f)
{
    static const char *const tables[] = {"session id parent_id directory title revert time_updated",
                                         "message id session_id data", "part id message_id data"};
    if (f->sqlite)
        return import_sniff_tables(f, tables, 3);
    return f->head_len > 0 && f->head[0] == '{' && import_head_has(f, "projectID") &&
           import_head_has(f, "directory") && import_head_has(f, "time");
}

const struct import_source import_opencode = {
    .name = "opencode",
    .label = "opencode",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_opencode,
    .unique_ids = true,
};
