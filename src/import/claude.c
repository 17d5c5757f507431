/* Claude Code: ~/.claude/projects/FOLDER/SESSION.jsonl, a line an object, appended as the talk goes
 * on; sub-agents in SESSION/subagents/agent-ID.jsonl. Lines name their parents: a person who goes
 * back to an earlier message begins another branch, but results of tools that ran side by side
 * branch, too, and are none. So a line is taken back only if it follows a person's message that is
 * not on the way to the newest line. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "import/source.h"

/* The program's words in the user's place: commands and their output, reminders, notes. */
static const char *const not_said[] = {
    "<command-", "<local-command-",           "<bash-",  "<system-reminder>",
    "<task-",    "[Request interrupted",      "Caveat:", "<user-prompt-submit-hook>",
    "<ide_",     "This session is being con", NULL};

enum title { TITLE_NONE, TITLE_SUMMARY, TITLE_MADE, TITLE_AGENT, TITLE_GIVEN };

struct line {
    uint64_t id, parent; /* hashes; 0: none */
    int64_t begin;       /* offset */
    size_t root, human;  /* indexes + 1; human: of the nearest person's message, itself perhaps */
    bool talks;          /* is of the user or the assistant */
    size_t branch;       /* index + 1 of the message that began the way that was taken back; 0: it
                            is on the newest way */
};

struct talk {
    struct import_conversation c;
    enum title rank;
    VEC(struct line) lines;
};

static uint64_t hash_of(const char *id)
{
    return id && *id ? mem_hash(MEM_HASH, id, strlen(id)) : 0;
}

static const char *parent_of(const struct json *v)
{
    const char *parent = json_get_string(v, "parentUuid");
    return parent ? parent : json_get_string(v, "logicalParentUuid");
}

void import_claude_said(struct buf *out, const struct json *content, bool marks)
{
    const char *text = json_string(content);
    if (text && !import_begins(text, not_said))
        import_add_paragraph(out, text);
    for (const struct json *b = import_blocks(content); b; b = json_next(b)) {
        const char *type = json_get_string(b, "type"), *part = json_get_string(b, "text");
        if (marks && (is(type, "image") || is(type, "document")))
            import_add_paragraph(out, is(type, "image") ? "[image]" : "[document]");
        else if (is(type, "text") && part && !import_begins(part, not_said))
            import_add_paragraph(out, part);
    }
}

/* The words of a person. */
static void add_said(struct buf *out, const struct json *v)
{
    static const char *const flags[] = {"isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (json_get_bool(v, flags[i], false))
            return;
    import_claude_said(out, json_get(json_get(v, "message"), "content"), true);
}

static bool is_human(const struct json *v)
{
    AUTO(buf_release) struct buf said = BUF_INIT;
    if (!is(json_get_string(v, "type"), "user"))
        return false;
    add_said(&said, v);
    return said.len > 0;
}

/* --- what is told of the conversation --------------------------------------------------------- */

static void take_title(struct talk *t, enum title rank, const char *title)
{
    if (rank < t->rank || utf8_is_blank(title))
        return;
    t->rank = rank;
    import_take(&t->c.title, title);
}

static bool has_line(const struct talk *t, uint64_t id)
{
    for (size_t i = t->lines.len; id != 0 && i > 0; i--)
        if (t->lines.items[i - 1].id == id)
            return true;
    return false;
}

static void take_told(struct talk *t, const struct json *v)
{
    const char *type = json_get_string(v, "type"), *session = json_get_string(v, "sessionId");
    const char *agent = json_get_string(v, "agentId"), *cwd = json_get_string(v, "cwd");
    const struct json *forked = json_get(v, "forkedFrom");
    if (!t->c.id && session) {
        bool side = json_get_bool(v, "isSidechain", false) && agent;
        t->c.id = side ? mem_printf("%s/%s", session, agent) : mem_strdup(session);
        import_take(&t->c.parent, side ? session : json_get_string(forked, "sessionId"));
    }
    if (!t->c.directory)
        import_take(&t->c.directory, cwd);
    if (t->c.created_ms == 0)
        t->c.created_ms = import_time_of(json_get(v, "timestamp"));
    if (is(type, "custom-title"))
        take_title(t, TITLE_GIVEN, json_get_string(v, "customTitle"));
    else if (is(type, "agent-name"))
        take_title(t, TITLE_AGENT, json_get_string(v, "agentName"));
    else if (is(type, "ai-title"))
        take_title(t, TITLE_MADE, json_get_string(v, "aiTitle"));
    else if (is(type, "summary") && has_line(t, hash_of(json_get_string(v, "leafUuid"))))
        take_title(t, TITLE_SUMMARY, json_get_string(v, "summary")); /* others name older files */
}

static void talk_release(struct talk *t)
{
    import_conversation_release(&t->c);
    vec_release(&t->lines);
}

/* --- messages --------------------------------------------------------------------------------- */

static struct usage usage_of(const struct json *v)
{
    int64_t read = figure_tokens(v, "cache_read_input_tokens", 0);
    int64_t made = figure_tokens(v, "cache_creation_input_tokens", 0);
    int64_t input = figure_tokens(v, "input_tokens", -1);
    return (struct usage){.input = input < 0 ? -1 : input + read + made,
                          .output = figure_tokens(v, "output_tokens", -1),
                          .cached = input < 0 ? -1 : read};
}

static bool add_answer(struct import_sink *k, struct talk *t, const struct json *v,
                       struct import_message *m, struct error *e)
{
    const struct json *message = json_get(v, "message"), *content = json_get(message, "content");
    AUTO(buf_release) struct buf text = BUF_INIT;
    VEC(struct import_call) calls = {0};
    m->model = json_get_string(message, "model");
    if (is(m->model, "<synthetic>")) /* an error of the program */
        return true;
    import_take(&t->c.model, m->model);
    import_add_content(&text, content, NULL);
    for (const struct json *b = import_blocks(content); b; b = json_next(b)) {
        const char *type = json_get_string(b, "type");
        if (is(type, "tool_use") || is(type, "server_tool_use"))
            vec_push(&calls, import_call_of(b, "input"));
        else if (!is(type, "text") && !is(type, "thinking") && !is(type, "redacted_thinking"))
            import_unknown(k, type ? type : "block without a type");
    }
    m->role = ROLE_ASSISTANT;
    m->text = text.data;
    m->response = json_get_string(message, "id");
    m->usage = usage_of(json_get(message, "usage"));
    m->calls = calls.items;
    m->call_count = calls.len;
    bool ok = import_add(k, m, e);
    vec_release(&calls);
    return ok;
}

static bool add_line(struct import_sink *k, struct talk *t, const struct json *v, struct error *e)
{
    const char *type = json_get_string(v, "type"), *id = json_get_string(v, "uuid");
    const struct json *content = json_get(json_get(v, "message"), "content");
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
    AUTO(buf_release) struct buf said = BUF_INIT;
    if (!id || (!is(type, "user") && !is(type, "assistant")))
        return true;
    m.id = id;
    m.ms = import_time_of(json_get(v, "timestamp"));
    if (is(type, "assistant"))
        return add_answer(k, t, v, &m, e);
    /* Words beside a result are the program's, or come with it. */
    bool result = json_get(v, "toolUseResult") != NULL;
    for (const struct json *b = import_blocks(content); b; b = json_next(b))
        result = result || is(json_get_string(b, "type"), "tool_result");
    if (result)
        return import_add_results(k, content, id, m.ms, e);
    add_said(&said, v);
    m.text = said.data;
    return import_add(k, &m, e);
}

/* --- branches --------------------------------------------------------------------------------- */

struct by_id {
    uint64_t id;
    size_t index; /* + 1 */
};

static int id_order(const void *a, const void *b)
{
    const struct by_id *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

/* Marks the lines that were taken back. Parents stand before their children; a line whose parent is
 * in another file, or nowhere, begins a tree of its own, and each tree is kept. */
static void find_taken_back(struct talk *t, const bool *human)
{
    size_t count = t->lines.len;
    struct line *lines = t->lines.items;
    auto_free size_t *leaf = mem_alloc((count + 1) * sizeof *leaf);
    auto_free size_t *up = mem_alloc((count + 1) * sizeof *up);
    auto_free bool *alive = mem_alloc(count + 1);
    VEC(struct by_id) index = {0};
    for (size_t i = 0; i < count; i++)
        if (lines[i].id != 0)
            vec_push(&index, (struct by_id){lines[i].id, i + 1});
    vec_sort(&index, id_order);
    for (size_t i = 1; i <= count; i++) {
        struct line *l = &lines[i - 1];
        const struct by_id *found = l->parent && index.len > 0
                                        ? bsearch(&(struct by_id){.id = l->parent}, index.items,
                                                  index.len, sizeof *index.items, id_order)
                                        : NULL;
        up[i] = found && found->index < i ? found->index : 0;
        l->root = up[i] ? lines[up[i] - 1].root : i;
        l->human = human[i - 1] ? i : up[i] ? lines[up[i] - 1].human : 0;
        if (l->talks)
            leaf[l->root] = i;
    }
    for (size_t root = 1; root <= count; root++)
        for (size_t at = leaf[root] ? lines[leaf[root] - 1].human : 0; at && !alive[at];) {
            alive[at] = true;
            at = up[at] ? lines[up[at] - 1].human : 0;
        }
    for (size_t i = 1; i <= count; i++) {
        size_t h = lines[i - 1].human, above = h && up[h] ? lines[up[h] - 1].human : 0;
        if (h && !alive[h])
            lines[i - 1].branch = h < i                              ? lines[h - 1].branch
                                  : above && lines[above - 1].branch ? lines[above - 1].branch
                                                                     : h;
    }
    vec_release(&index);
}

/* Looks at all lines: titles, the directory, which were taken back. */
static bool look(struct import_file *f, struct talk *t, struct error *e)
{
    struct import_lines l;
    VEC(bool) human = {0};
    import_lines_init(&l, NULL, f, 0);
    for (struct json *v; (v = import_lines_next(&l, e)); json_free(v)) {
        const char *type = json_get_string(v, "type");
        bool talks = is(type, "user") || is(type, "assistant");
        take_told(t, v);
        vec_push(&t->lines, (struct line){.id = hash_of(json_get_string(v, "uuid")),
                                          .parent = hash_of(parent_of(v)),
                                          .begin = l.begin,
                                          .talks = talks});
        vec_push(&human, is_human(v));
    }
    import_lines_release(&l);
    if (!l.failed)
        find_taken_back(t, human.items);
    vec_release(&human);
    return !l.failed;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Whether the lines behind `offset` follow those before it, so that they alone are read. */
static bool goes_on(struct import_sink *k, struct import_file *f, struct talk *t)
{
    struct import_lines l;
    bool straight = f->offset > 0 && f->mark != 0;
    size_t since = 0; /* index of the newest person's message */
    uint64_t newest = (uint64_t)f->mark;
    import_lines_init(&l, NULL, f, f->offset);
    for (struct json *v; straight && (v = import_lines_next(&l, NULL)); json_free(v)) {
        uint64_t id = hash_of(json_get_string(v, "uuid")), parent = hash_of(parent_of(v));
        take_told(t, v);
        if (is_human(v)) {
            straight = parent != 0 && parent == newest;
            for (size_t i = since; i < t->lines.len; i++)
                straight = straight || t->lines.items[i].id == parent;
            since = t->lines.len;
            newest = 0;
        }
        if (id)
            vec_push(&t->lines, (struct line){.id = id, .parent = parent});
    }
    /* The highest title of the file counts, which may stand before. */
    straight = straight && !l.failed && (t->rank == TITLE_NONE || t->rank == TITLE_GIVEN);
    import_lines_release(&l);
    return straight && t->c.id && import_may_continue(k, t->c.id);
}

/* Gives a way that was taken back, as a conversation of its own. */
static bool read_branch(struct import_sink *k, struct import_file *f, struct talk *t, size_t branch,
                        struct error *e)
{
    struct import_lines l;
    struct talk own = {0};
    own.c.id = mem_printf("%s/%016llx", t->c.id, (unsigned long long)t->lines.items[branch - 1].id);
    import_take(&own.c.parent, t->c.id);
    import_take(&own.c.directory, t->c.directory);
    import_take(&own.c.model, t->c.model);
    bool ok = import_begin(k, &own.c, e);
    import_lines_init(&l, NULL, f, t->lines.items[branch - 1].begin);
    size_t at = branch - 1;
    for (struct json *v; ok && at < t->lines.len && (v = import_lines_next(&l, e)); at++) {
        if (t->lines.items[at].begin == l.begin && t->lines.items[at].branch == branch)
            ok = add_line(k, &own, v, e);
        json_free(v);
    }
    import_lines_release(&l);
    ok = ok && !l.failed && import_end(k, e);
    talk_release(&own);
    return ok;
}

static bool read_lines(struct import_sink *k, struct import_file *f, struct talk *t,
                       struct error *e)
{
    struct import_lines l;
    bool ok = import_begin(k, &t->c, e), straight = t->c.continues;
    size_t at = 0;
    import_lines_init(&l, k, f, straight ? f->offset : 0);
    f->done = l.next;
    for (struct json *v; ok && (v = import_lines_next(&l, e)); json_free(v)) {
        /* Lines that came since they were looked at are left for the next reading. */
        while (!straight && at < t->lines.len && t->lines.items[at].begin < l.begin)
            at++;
        if (!straight && at == t->lines.len)
            l.next = l.begin;
        else if (straight || t->lines.items[at].branch == 0)
            ok = add_line(k, t, v, e);
        if (!straight && at == t->lines.len) {
            json_free(v);
            break;
        }
        uint64_t id = hash_of(json_get_string(v, "uuid"));
        f->done = l.next;
        f->mark = id ? (int64_t)id : f->mark;
    }
    import_lines_release(&l);
    f->done = l.next;
    return ok && !l.failed && import_end(k, e);
}

/* ~/.claude/history.jsonl */
static bool is_prompts(const struct import_file *f)
{
    return f->head[0] == '{' && import_head_has(f, "display") && import_head_has(f, "project") &&
           import_head_has(f, "timestamp");
}

static bool read_claude(struct import_sink *k, struct import_file *f, struct error *e)
{
    static const struct import_prompts prompts = {"sessionId", "display", "timestamp", "project"};
    struct talk t = {0};
    bool ok = true;
    if (is_prompts(f))
        return import_prompts(k, f, &prompts, e);
    t.c.continues = goes_on(k, f, &t);
    if (!t.c.continues) {
        talk_release(&t);
        t = (struct talk){0};
        f->offset = 0;
        f->mark = 0;
        ok = look(f, &t, e);
    }
    if (ok && t.c.id && import_wants(k, &t.c, 0))
        ok = read_lines(k, f, &t, e);
    else
        f->done = 0;
    for (size_t i = 1; ok && import_all_branches(k) && i <= t.lines.len; i++)
        if (t.lines.items[i - 1].branch == i)
            ok = read_branch(k, f, &t, i, e);
    talk_release(&t);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, "CLAUDE_CONFIG_DIR", "projects", ".claude/projects");
    import_place(out, NULL, NULL, ".config/claude/projects");
    import_place(out, "CLAUDE_CONFIG_DIR", "history.jsonl", ".claude/history.jsonl");
}

static bool named(const char *path)
{
    return import_ends(path, ".jsonl") && !strstr(path, "/tool-results/");
}

/* A transcript may begin with lines that have only a type and the session's id. */
static bool sniff(const struct import_file *f)
{
    return is_prompts(f) ||
           (f->head[0] == '{' && import_head_has(f, "type") && import_head_has(f, "sessionId") &&
            !import_head_has(f, "projectHash") &&
            (import_head_has(f, "uuid") || import_head_has(f, "leafUuid") ||
             import_head_has(f, "parentUuid") || import_head_has(f, "operation") ||
             import_head_has(f, "snapshot")));
}

const struct import_source import_claude = {
    .name = "claude",
    .label = "Claude Code",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_claude,
    .unique_ids = true,
};
