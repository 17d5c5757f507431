/* Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-TIME-ID.jsonl, a line a message or a change of
 * the list of messages; sub-agents in chats/SESSION/. Older versions wrote one object. A line with
 * the id of an earlier one replaces it. A checkpoint ("$set" of messages) is the list as the API
 * gets it, poorer than the lines before it and without what the program compacted away: it only
 * adds messages that were not there. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "import/source.h"

/* The program's words in the user's place. */
static const char *const not_said[] = {"<session_context>", "<state_snapshot>", "<system-reminder>",
                                       "This is the Gemini CLI.", NULL};

enum { ALONE = -1, PROJECT_ROOT_BYTES = 4096 };

/* Where a message stands: a line, or one of the messages of a line or file. */
struct kept {
    uint64_t id; /* a hash */
    int64_t begin, index;
};

struct talk {
    struct import_conversation c;
    VEC(struct kept) messages;
    size_t *index, room, used; /* hashed: places in the list + 1; room is a power of two */
    bool results;              /* they stand at the calls; those in the user's place are copies */
};

static void talk_release(struct talk *t)
{
    import_conversation_release(&t->c);
    vec_release(&t->messages);
    free(t->index);
}

/* --- the list of messages --------------------------------------------------------------------- */

/* The slot of the id: its place in the list + 1, or 0 if it is not there. Slots of messages that
 * were taken back stay used. */
static size_t *find(struct talk *t, uint64_t id)
{
    size_t at = (size_t)id & (t->room - 1);
    for (; t->index[at] != 0; at = (at + 1) & (t->room - 1))
        if (t->index[at] <= t->messages.len && t->messages.items[t->index[at] - 1].id == id)
            break;
    return &t->index[at];
}

/* Makes room in the index for another message. */
static void grow(struct talk *t)
{
    if (t->used < t->room / 2)
        return;
    free(t->index);
    t->room = 64;
    while (t->room < t->messages.len * 4)
        t->room *= 2;
    t->index = mem_alloc(t->room * sizeof *t->index);
    t->used = t->messages.len;
    for (size_t i = 0; i < t->messages.len; i++)
        *find(t, t->messages.items[i].id) = i + 1;
}

static void keep(struct talk *t, const struct json *message, int64_t begin, int64_t index)
{
    const char *id = json_get_string(message, "id");
    struct kept entry = {id ? mem_hash(MEM_HASH, id, strlen(id)) : 0, begin, index};
    t->results = t->results || json_get(message, "toolCalls");
    if (!id || !json_get_string(message, "type"))
        return;
    grow(t);
    size_t *at = find(t, entry.id);
    if (*at == 0) {
        vec_push(&t->messages, entry);
        *at = t->messages.len;
        t->used++;
    } else if (index == ALONE) {
        t->messages.items[*at - 1] = entry;
    }
}

static void keep_all(struct talk *t, const struct json *messages, int64_t begin)
{
    int64_t index = 0;
    for (const struct json *m = json_first(messages); m; m = json_next(m))
        keep(t, m, begin, index++);
}

/* Members of the first line, of "$set" and of a file of one object. */
static void take_told(struct talk *t, const struct json *v)
{
    const struct json *folders = json_get(v, "directories");
    if (!t->c.id)
        import_take(&t->c.id, json_get_string(v, "sessionId"));
    import_take(&t->c.title, json_get_string(v, "summary"));
    if (!t->c.directory)
        import_take(&t->c.directory, json_string(json_at(folders, 0)));
    if (t->c.created_ms == 0)
        t->c.created_ms = import_time_of(json_get(v, "startTime"));
}

static void look_at(struct talk *t, const struct json *v, int64_t begin)
{
    const struct json *set = json_get(v, "$set");
    const char *back = json_get_string(v, "$rewindTo");
    if (back && t->room > 0) {
        size_t at = *find(t, mem_hash(MEM_HASH, back, strlen(back)));
        t->messages.len = at > 0 ? at - 1 : t->messages.len;
    }
    take_told(t, set ? set : v);
    keep_all(t, json_get(set ? set : v, "messages"), begin);
    if (!set && !back && json_get(v, "id"))
        keep(t, v, begin, ALONE);
}

/* --- messages --------------------------------------------------------------------------------- */

/* A text, or parts {text}, {functionCall}, {functionResponse}, {inlineData}. */
static void add_parts(struct buf *out, const struct json *content, bool said)
{
    const char *whole = json_string(content);
    if (whole && !(said && import_begins(whole, not_said)))
        buf_addstr(out, whole);
    if (json_type(content) != JSON_ARRAY)
        return;
    for (const struct json *p = json_first(content); p; p = json_next(p)) {
        const char *text = json_string(p) ? json_string(p) : json_get_string(p, "text");
        if (json_get(p, "inlineData") || json_get(p, "fileData"))
            text = "[image]";
        if (json_get_bool(p, "thought", false) || !text || (said && import_begins(text, not_said)))
            continue;
        buf_addf(out, "%s%s", out->len > 0 ? "\n\n" : "", text);
    }
}

static bool add_result(struct import_sink *k, const struct json *response, const char *message,
                       bool failed, int64_t ms, struct error *e)
{
    struct import_message m = IMPORT_MESSAGE(ROLE_TOOL, NULL);
    const struct json *answer = json_get(response, "response");
    const char *text = json_get_string(answer, "output");
    m.call_id = json_get_string(response, "id");
    m.tool = json_get_string(response, "name");
    auto_free char *id = mem_printf("%s/%s", message, m.call_id ? m.call_id : "");
    m.id = id;
    m.ms = ms;
    m.failed = failed || json_get(answer, "error");
    m.text = text ? text : json_get_string(answer, "error");
    if (!m.text)
        m.text = "";
    return import_add(k, &m, e);
}

static bool add_answer(struct import_sink *k, struct talk *t, const struct json *v,
                       struct import_message *m, struct error *e)
{
    const struct json *calls = json_get(v, "toolCalls"), *tokens = json_get(v, "tokens");
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(struct import_call) list = {0};
    add_parts(&text, json_get(v, "content"), false);
    for (const struct json *c = json_first(calls); c; c = json_next(c))
        vec_push(&list, import_call_of(c, "args"));
    for (const struct json *p = calls ? NULL : json_first(json_get(v, "content")); p;
         p = json_next(p)) {
        const struct json *call = json_get(p, "functionCall");
        if (call)
            vec_push(&list, import_call_of(call, "args"));
    }
    import_take(&t->c.model, json_get_string(v, "model"));
    m->role = ROLE_ASSISTANT;
    m->text = text.data;
    m->model = t->c.model;
    int64_t output = figure_tokens(tokens, "output", -1);
    m->usage =
        (struct usage){.input = figure_tokens(tokens, "input", -1),
                       .output = output < 0 ? -1 : output + figure_tokens(tokens, "thoughts", 0),
                       .cached = figure_tokens(tokens, "cached", -1)};
    m->calls = list.items;
    m->call_count = list.len;
    bool ok = import_add(k, m, e);
    vec_release(&list);
    for (const struct json *c = json_first(calls); ok && c; c = json_next(c)) {
        bool failed = is(json_get_string(c, "status"), "error");
        for (const struct json *r = json_first(json_get(c, "result")); ok && r; r = json_next(r))
            if (json_get(r, "functionResponse"))
                ok = add_result(k, json_get(r, "functionResponse"), m->id, failed, m->ms, e);
    }
    return ok;
}

static bool add_message(struct import_sink *k, struct talk *t, const struct json *v,
                        struct error *e)
{
    const char *type = json_get_string(v, "type");
    const struct json *content = json_get(v, "content");
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
    AUTO(buf_release) struct buf said = BUF_INIT;
    m.id = json_get_string(v, "id");
    m.ms = import_time_of(json_get(v, "timestamp"));
    if (is(type, "gemini") || is(type, "qwen"))
        return add_answer(k, t, v, &m, e);
    if (!is(type, "user")) {
        if (!is(type, "info") && !is(type, "warning") && !is(type, "error"))
            import_unknown(k, type ? type : "message without a type");
        return true;
    }
    for (const struct json *p = import_blocks(content); p; p = json_next(p))
        if (json_get(p, "functionResponse") && !t->results &&
            !add_result(k, json_get(p, "functionResponse"), m.id, false, m.ms, e))
            return false;
    add_parts(&said, content, true);
    m.text = said.data;
    return said.len == 0 || import_add(k, &m, e);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The directory of the project is in a file beside chats/, as sub-agents' folders are in it. */
static void take_place(struct talk *t, const char *path)
{
    const char *chats = strstr(path, "/chats/");
    if (!chats)
        return;
    auto_free char *folder = mem_strndup(path, (size_t)(chats - path));
    auto_free char *file = paths_join(folder, ".project_root");
    const char *below = strchr(chats + 7, '/');
    AUTO(buf_release) struct buf root = {.data = buf_empty, .max = PROJECT_ROOT_BYTES};
    if (below && !t->c.parent)
        t->c.parent = mem_strndup(chats + 7, (size_t)(below - chats - 7));
    if (!t->c.directory && paths_read_file(file, PATHS_FILE, &root, NULL) && root.len > 0 &&
        root.data[0] == '/')
        t->c.directory = mem_strndup(root.data, strcspn(root.data, "\r\n"));
}

static bool give(struct import_sink *k, struct import_file *f, struct talk *t,
                 const struct json *whole, struct error *e)
{
    struct import_lines l;
    struct json *line = NULL; /* of the message before */
    int64_t begin = -1;
    bool ok = import_begin(k, &t->c, e);
    import_lines_init(&l, NULL, f, 0);
    for (size_t i = 0; ok && i < t->messages.len; i++) {
        const struct kept *m = &t->messages.items[i];
        if (!whole && m->begin != begin) {
            json_free(line);
            import_lines_seek(&l, begin = m->begin);
            line = import_lines_next(&l, NULL);
        }
        const struct json *v = whole ? whole : line, *set = json_get(v, "$set");
        if (m->index != ALONE)
            v = json_at(json_get(set ? set : v, "messages"), (size_t)m->index);
        ok = add_message(k, t, v, e);
    }
    json_free(line);
    import_lines_release(&l);
    return ok && import_end(k, e);
}

static bool read_gemini(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct talk t = {0};
    bool ok = true, one = import_ends(f->path, ".json");
    AUTO(json_free_local) struct json *whole = one ? import_file_json(f, e) : NULL;
    if (one && !whole)
        return false;
    if (one) {
        look_at(&t, whole, 0);
    } else {
        struct import_lines l;
        import_lines_init(&l, k, f, 0);
        for (struct json *v; (v = import_lines_next(&l, e)); json_free(v))
            look_at(&t, v, l.begin);
        import_lines_release(&l);
        ok = !l.failed;
    }
    take_place(&t, f->path);
    if (ok && t.c.id && import_wants(k, &t.c, 0))
        ok = give(k, f, &t, whole, e);
    talk_release(&t);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, NULL, NULL, ".gemini/tmp");
    import_place(out, NULL, NULL, ".qwen/tmp"); /* writes the same files */
}

static bool named(const char *path)
{
    return strstr(path, "/chats/") && (import_ends(path, ".jsonl") || import_ends(path, ".json"));
}

static bool sniff(const struct import_file *f)
{
    return f->head[0] == '{' && import_head_has(f, "sessionId") &&
           import_head_has(f, "projectHash");
}

const struct import_source import_gemini = {
    .name = "gemini",
    .label = "Gemini CLI",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_gemini,
};
