/* Codex: ~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl, a line an item, appended as the talk
 * goes on; later compressed (.jsonl.zst), which the scanner undoes. Words occur twice, as a
 * response_item and as an event_msg: the items are read, the events tell usage, titles and turns
 * that were taken back. A fork of an older version repeats the files of its ancestors, each with
 * its session_meta, so that ids of messages are made of the oldest session's id and all the words
 * so far: a copied message has the same one. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/source.h"

/* The program's words in the user's place. */
static const char *const not_said[] = {"<environment_context>", "<user_instructions>",
                                       "<permissions",          "# AGENTS.md instructions",
                                       "<turn_aborted>",        "<skill",
                                       "<user_shell_comm",      "<subagent_notification>",
                                       "<collaboration_mode>",  "<personality",
                                       "<model_switch>",        "<apps_instructions>",
                                       "<INSTRUCTIONS>",        NULL};

enum { MOST_HELD = 100 };

/* A line with an item, and its offset. */
struct held {
    struct json *line;
    int64_t begin;
};

struct rollout {
    struct import_conversation c;
    uint64_t chain;        /* of all messages so far */
    VEC(struct held) held; /* an answer and its results, until its usage is known */
    struct usage usage;
    bool any;          /* a message was given */
    VEC(int64_t) gone; /* begins and ends of turns that were taken back */
};

static void rollout_release(struct rollout *r)
{
    import_conversation_release(&r->c);
    for (size_t i = 0; i < r->held.len; i++)
        json_free(r->held.items[i].line);
    vec_release(&r->held);
    vec_release(&r->gone);
}

/* The item of a line. The oldest files have it alone. */
static const struct json *payload_of(const struct json *line, const char **kind)
{
    const struct json *payload = json_get(line, "payload");
    *kind = payload ? json_get_string(line, "type") : "response_item";
    return payload ? payload : line;
}

/* The first session is the file's own, the others are its ancestors. */
static void take_session(struct rollout *r, const struct json *meta)
{
    const char *id = json_get_string(meta, "id");
    const struct json *spawn =
        json_get(json_get(json_get(meta, "source"), "subagent"), "thread_spawn");
    if (!id)
        id = json_get_string(meta, "session_id");
    if (!id)
        return;
    if (!r->any)
        r->chain = mem_hash(MEM_HASH, id, strlen(id));
    if (r->c.id)
        return;
    import_take(&r->c.id, id);
    import_take(&r->c.parent, json_get_string(spawn, "parent_thread_id"));
    import_take(&r->c.parent, json_get_string(meta, "parent_thread_id"));
    import_take(&r->c.parent, json_get_string(meta, "forked_from_id"));
    import_take(&r->c.directory, json_get_string(meta, "cwd"));
    r->c.created_ms = import_time_of(json_get(meta, "timestamp"));
}

/* --- items ------------------------------------------------------------------------------------ */

static void add_said(struct buf *out, const struct json *content)
{
    for (const struct json *b = json_first(content); b; b = json_next(b)) {
        const char *text = json_get_string(b, "text");
        if (is(json_get_string(b, "type"), "input_image"))
            text = "[image]";
        if (text && !import_begins(text, not_said))
            buf_addf(out, "%s%s", out->len > 0 ? "\n\n" : "", text);
    }
}

/* A result is a text, blocks, or an object with one of them. */
static void add_result(struct buf *out, const struct json *output)
{
    if (json_type(output) == JSON_OBJECT)
        output = json_get(output, json_get(output, "content") ? "content" : "output");
    import_add_content(out, output, NULL);
}

/* One item of the list, which is of no interest if `m` stays without text and call. */
static void read_item(struct import_sink *k, const struct json *item, struct import_message *m,
                      struct import_call *call, struct buf *text)
{
    static const char *const passed[] = {"reasoning", "compaction", "context_compaction",
                                         "ghost_snapshot", NULL};
    const char *type = json_get_string(item, "type"), *role = json_get_string(item, "role");
    *call = (struct import_call){.id = json_get_string(item, "call_id"),
                                 .name = json_get_string(item, "name")};
    if (is(type, "message")) {
        m->role = is(role, "assistant") ? ROLE_ASSISTANT : ROLE_USER;
        if (is(role, "user"))
            add_said(text, json_get(item, "content"));
        else if (is(role, "assistant"))
            import_add_content(text, json_get(item, "content"), NULL);
    } else if (is(type, "function_call")) {
        call->text = json_get_string(item, "arguments");
    } else if (is(type, "custom_tool_call")) {
        call->text = json_get_string(item, "input");
    } else if (is(type, "local_shell_call")) {
        call->name = "shell";
        call->arguments = json_get(item, "action");
    } else if (is(type, "web_search_call")) {
        call->id = json_get_string(item, "id");
        call->name = "web_search";
        call->arguments = json_get(item, "action");
    } else if (is(type, "function_call_output") || is(type, "custom_tool_call_output")) {
        m->role = ROLE_TOOL;
        m->call_id = call->id;
        add_result(text, json_get(item, "output"));
        buf_addstr(text, "");
    } else if (type && !import_begins(type, passed)) {
        import_unknown(k, type);
    }
    bool calls = type && strstr(type, "_call") && m->role != ROLE_TOOL;
    if (calls && call->name) {
        m->role = ROLE_ASSISTANT;
        m->calls = call;
        m->call_count = 1;
    }
    m->text = text->data;
}

static bool give(struct import_sink *k, struct rollout *r, const struct json *line,
                 const struct json *item, struct error *e)
{
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
    struct import_call call;
    AUTO(buf_release) struct buf text = BUF_INIT;
    read_item(k, item, &m, &call, &text);
    if (text.len == 0 && m.call_count == 0 && m.role != ROLE_TOOL)
        return true;
    const char *own = m.call_id ? m.call_id : m.call_count > 0 && call.id ? call.id : "";
    r->chain = mem_hash(r->chain + (uint64_t)m.role, text.data, text.len);
    r->chain = mem_hash(r->chain, own, strlen(own));
    auto_free char *id = mem_printf("%016llx", (unsigned long long)r->chain);
    m.id = id;
    m.ms = import_time_of(json_get(line, "timestamp"));
    m.model = r->c.model;
    if (m.role == ROLE_ASSISTANT) {
        m.usage = r->usage;
        r->usage = USAGE_UNKNOWN;
    }
    r->any = true;
    return import_add(k, &m, e);
}

/* Gives what was held back. */
static bool give_held(struct import_sink *k, struct rollout *r, struct error *e)
{
    const char *kind;
    bool ok = true;
    for (size_t i = 0; ok && i < r->held.len; i++)
        ok = give(k, r, r->held.items[i].line, payload_of(r->held.items[i].line, &kind), e);
    for (size_t i = 0; i < r->held.len; i++)
        json_free(r->held.items[i].line);
    vec_clear(&r->held);
    r->usage = USAGE_UNKNOWN;
    return ok;
}

static void take_event(struct rollout *r, const struct json *event)
{
    const char *type = json_get_string(event, "type");
    const struct json *last = json_get(json_get(event, "info"), "last_token_usage");
    if (is(type, "token_count") && last)
        r->usage = (struct usage){.input = figure_tokens(last, "input_tokens", -1),
                                  .output = figure_tokens(last, "output_tokens", -1),
                                  .cached = figure_tokens(last, "cached_input_tokens", -1)};
    else if (is(type, "thread_name_updated"))
        import_take(
            &r->c.title,
            json_get_string(event, json_get(event, "thread_name") ? "thread_name" : "name"));
}

/* Takes `line`, which it frees or holds. */
static bool take_line(struct import_sink *k, struct rollout *r, struct json *line, int64_t begin,
                      struct error *e)
{
    AUTO(json_free_local) struct json *owned = line;
    const char *kind;
    const struct json *payload = payload_of(line, &kind);
    if (is(kind, "event_msg")) {
        take_event(r, payload);
        return r->usage.input < 0 || give_held(k, r, e);
    }
    if (is(kind, "response_item") && json_get(payload, "type")) {
        bool said = is(json_get_string(payload, "role"), "user");
        if ((said || r->held.len >= MOST_HELD) && !give_held(k, r, e))
            return false;
        vec_push(&r->held, (struct held){owned, begin});
        owned = NULL;
    } else if (is(kind, "turn_context")) {
        import_take(&r->c.model, json_get_string(payload, "model"));
        import_take(&r->c.directory, json_get_string(payload, "cwd"));
    } else if (is(kind, "session_meta")) {
        take_session(r, payload);
    } else if (is(kind, "compacted") && !r->any && r->held.len == 0) {
        /* The file was written anew: what is left of the talk stands here. */
        const struct json *items = json_get(payload, "replacement_history");
        for (const struct json *item = json_first(items); item; item = json_next(item))
            if (!give(k, r, line, item, e))
                return false;
    }
    return true;
}

/* --- turns that were taken back --------------------------------------------------------------- */

/* Whether the bytes from `offset` on have the word; much quicker than to parse them. */
static bool mentions(const struct import_file *f, int64_t offset, const char *word)
{
    enum { STEP = 64 * 1024 };
    size_t len = strlen(word), kept = 0;
    auto_free char *bytes = mem_alloc(STEP + len);
    for (;;) {
        ssize_t got = pread(f->fd, bytes + kept, STEP, (off_t)offset);
        if (got <= 0)
            return false;
        offset += got;
        size_t all = kept + (size_t)got;
        for (const char *at = bytes, *end = bytes + all;
             (at = memchr(at, *word, (size_t)(end - at))) && (size_t)(end - at) >= len; at++)
            if (memcmp(at, word, len) == 0)
                return true;
        kept = all < len - 1 ? all : len - 1;
        memmove(bytes, bytes + all - kept, kept);
    }
}

/* Notes the bytes of the turns that "thread_rolled_back" took back. */
static bool find_gone(struct import_file *f, struct rollout *r, struct error *e)
{
    struct import_lines l;
    VEC(int64_t) turns = {0};
    import_lines_init(&l, NULL, f, 0);
    for (struct json *v; (v = import_lines_next(&l, e)); json_free(v)) {
        AUTO(buf_release) struct buf said = BUF_INIT;
        const char *kind;
        const struct json *payload = payload_of(v, &kind);
        if (is(kind, "response_item") && is(json_get_string(payload, "role"), "user"))
            add_said(&said, json_get(payload, "content"));
        if (said.len > 0)
            vec_push(&turns, l.begin);
        if (!is(json_get_string(payload, "type"), "thread_rolled_back"))
            continue;
        int64_t count = json_int(json_get(payload, "num_turns"), 0);
        size_t back = count < 0 ? 0 : (uint64_t)count > turns.len ? turns.len : (size_t)count;
        if (back == 0)
            continue;
        vec_push(&r->gone, turns.items[turns.len - back]);
        vec_push(&r->gone, l.begin);
        turns.len -= back;
    }
    import_lines_release(&l);
    vec_release(&turns);
    return !l.failed;
}

static bool is_gone(const struct rollout *r, int64_t begin)
{
    for (size_t i = 0; i + 1 < r->gone.len; i += 2)
        if (begin >= r->gone.items[i] && begin < r->gone.items[i + 1])
            return true;
    return false;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The oldest form: one object {session, items}. */
static bool read_object(struct import_sink *k, struct import_file *f, struct rollout *r,
                        struct error *e)
{
    AUTO(json_free_local) struct json *whole = import_file_json(f, e);
    if (!whole)
        return false;
    take_session(r, json_get(whole, "session"));
    if (!r->c.id || !import_wants(k, &r->c, 0))
        return true;
    if (!import_begin(k, &r->c, e))
        return false;
    for (const struct json *item = json_first(json_get(whole, "items")); item;
         item = json_next(item))
        if (!give(k, r, item, item, e))
            return false;
    return import_end(k, e);
}

static bool read_lines(struct import_sink *k, struct import_file *f, struct rollout *r,
                       struct error *e)
{
    struct import_lines l;
    bool ok = import_begin(k, &r->c, e);
    import_lines_init(&l, k, f, f->offset);
    for (struct json *v; ok && (v = import_lines_next(&l, e));) {
        /* Where it begins anew, its id is the hash of all before. */
        f->done = r->held.len > 0 ? r->held.items[0].begin : l.begin;
        f->mark = (int64_t)r->chain;
        if (is_gone(r, l.begin))
            json_free(v);
        else
            ok = take_line(k, r, v, l.begin, e);
    }
    ok = ok && give_held(k, r, e);
    f->done = l.next;
    f->mark = (int64_t)r->chain;
    import_lines_release(&l);
    return ok && !l.failed && import_end(k, e);
}

/* ~/.codex/history.jsonl */
static bool is_prompts(const struct import_file *f)
{
    return f->head[0] == '{' && import_head_has(f, "session_id") && import_head_has(f, "ts") &&
           import_head_has(f, "text");
}

static bool read_codex(struct import_sink *k, struct import_file *f, struct error *e)
{
    static const struct import_prompts prompts = {"session_id", "text", "ts", NULL};
    static const char *const back = "thread_rolled_back";
    struct rollout r = {.usage = USAGE_UNKNOWN};
    struct import_lines l;
    bool ok = true, one = !import_head_has(f, "payload") && import_head_has(f, "items");
    if (is_prompts(f))
        return import_prompts(k, f, &prompts, e);
    if (one) {
        ok = read_object(k, f, &r, e);
        rollout_release(&r);
        return ok;
    }
    import_lines_init(&l, NULL, f, 0);
    struct json *first = import_lines_next(&l, NULL);
    import_lines_release(&l);
    const char *kind;
    if (first)
        take_session(&r, payload_of(first, &kind));
    json_free(first);

    r.c.continues =
        r.c.id && f->mark != 0 && import_may_continue(k, r.c.id) && !mentions(f, f->offset, back);
    r.any = r.c.continues;
    if (r.c.continues)
        r.chain = (uint64_t)f->mark;
    else
        f->offset = 0;
    if (!r.c.id || !import_wants(k, &r.c, 0))
        f->done = 0;
    else if (!r.c.continues && mentions(f, 0, back))
        ok = find_gone(f, &r, e) && read_lines(k, f, &r, e);
    else
        ok = read_lines(k, f, &r, e);
    rollout_release(&r);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, "CODEX_HOME", "sessions", ".codex/sessions");
    import_place(out, "CODEX_HOME", "archived_sessions", ".codex/archived_sessions");
    import_place(out, "CODEX_HOME", "history.jsonl", ".codex/history.jsonl");
}

static bool named(const char *path)
{
    return is(import_name(path), "history.jsonl") ||
           (strncmp(import_name(path), "rollout-", 8) == 0 &&
            (import_ends(path, ".jsonl") || import_ends(path, ".json") ||
             import_ends(path, ".jsonl.zst")));
}

static bool sniff(const struct import_file *f)
{
    bool old = import_head_has(f, "instructions") && !import_head_has(f, "messages");
    return is_prompts(f) || (f->head[0] == '{' && import_head_has(f, "timestamp") &&
                             (import_head_has(f, "payload") || (old && import_head_has(f, "id"))));
}

const struct import_source import_codex = {
    .name = "codex",
    .label = "Codex",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_codex,
    .unique_ids = true,
};
