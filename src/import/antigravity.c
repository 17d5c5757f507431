/* Antigravity: brain/ID/.system_generated/logs/transcript.jsonl, a line a step, which mirrors a
 * database of another form; transcript_full.jsonl beside it, where there is one, has the texts that
 * were shortened there. A step may be written again when it ends. A person who goes back begins
 * another step with an earlier number. A result is a step behind the answer that asked for it. */
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "import/source.h"

enum { STEPS_MAX = 1000000 };

struct talk {
    struct import_conversation c;
    VEC(int64_t) steps; /* offsets of their lines; -1: none */
    struct json *asked; /* the newest answer with calls; NULL: none */
    int64_t step;       /* its number */
    size_t answered;    /* calls of it that have results */
};

static void look_at(struct talk *t, const struct json *line, int64_t begin)
{
    int64_t step = json_get_int(line, "step_index", (int64_t)t->steps.len);
    if (step < 0 || step >= STEPS_MAX)
        return;
    if ((size_t)step < t->steps.len && is(json_get_string(line, "type"), "USER_INPUT"))
        t->steps.len = (size_t)step;
    while (t->steps.len <= (size_t)step)
        vec_push(&t->steps, -1);
    t->steps.items[step] = begin;
    if (t->c.created_ms == 0)
        t->c.created_ms = import_time_of(json_get(line, "created_at"));
}

/* Sets `out` to the text between two texts; false: it is not there. */
static bool between(const char *text, const char *begin, const char *end, struct buf *out)
{
    const char *from = text ? strstr(text, begin) : NULL;
    const char *to = from ? strstr(from + strlen(begin), end) : NULL;
    buf_clear(out);
    if (to)
        buf_add(out, from + strlen(begin), (size_t)(to - from) - strlen(begin));
    return to != NULL;
}

static bool give_answer(struct import_sink *k, struct talk *t, const struct json *line,
                        struct import_message *m, struct error *e)
{
    const struct json *usage = json_get(line, "usage");
    VEC(struct import_call) calls = {0};
    VEC(char *) ids = {0};
    for (const struct json *c = import_blocks(json_get(line, "tool_calls")); c; c = json_next(c)) {
        struct import_call call = import_call_of(c, json_get(c, "args") ? "args" : "arguments");
        vec_push(&ids, mem_printf("%s/%zu", m->id, calls.len));
        call.id = ids.items[calls.len];
        vec_push(&calls, call);
    }
    m->role = ROLE_ASSISTANT;
    m->model = t->c.model;
    m->usage = (struct usage){.input = figure_tokens(usage, "input_tokens", -1),
                              .output = figure_tokens(usage, "output_tokens", -1),
                              .cached = figure_tokens(usage, "cached_content_token_count", -1)};
    m->calls = calls.items;
    m->call_count = calls.len;
    bool ok = import_add(k, m, e);
    vec_release(&calls);
    vec_free_each(&ids);
    return ok;
}

/* "None to Gemini 3.5 Flash (High). No need to comment …" */
static void take_model(struct talk *t, char *change)
{
    char *name = strstr(change, " to "), *end = name ? strstr(name, ". ") : NULL;
    size_t len = name ? strlen(name) : 0;
    if (!end && len > 0 && name[len - 1] == '.')
        end = name + len - 1;
    if (end)
        *end = '\0';
    import_take(&t->c.model, name ? name + 4 : NULL);
}

/* `line` is taken. */
static bool give(struct import_sink *k, struct talk *t, struct json *line, int64_t step,
                 struct error *e)
{
    AUTO(json_free_local) struct json *owned = line;
    AUTO(buf_release) struct buf part = BUF_INIT;
    const char *type = json_get_string(line, "type"), *source = json_get_string(line, "source");
    const char *text = json_get_string(line, "content"), *status = json_get_string(line, "status");
    auto_free char *id = mem_printf("%lld", (long long)step);
    struct import_message m = IMPORT_MESSAGE(ROLE_USER, text);
    m.id = id;
    m.ms = import_time_of(json_get(line, "created_at"));
    if (!text)
        m.text = json_get_string(json_get(line, "content"), "text");
    if (is(status, "RUNNING") || is(status, "PENDING") || is(status, "GENERATING"))
        return true; /* it comes again when it is done */
    if (is(type, "USER_INPUT")) {
        if (between(m.text, "`Model Selection` from ", "\n", &part))
            take_model(t, part.data);
        if (between(m.text, "<USER_REQUEST>\n", "\n</USER_REQUEST>", &part))
            m.text = part.data;
        return import_add(k, &m, e);
    }
    if (is(type, "PLANNER_RESPONSE")) {
        if (!give_answer(k, t, line, &m, e))
            return false;
        json_free(t->asked);
        t->asked = owned;
        owned = NULL;
        t->step = step;
        t->answered = 0;
        return true;
    }
    if (!is(source, "MODEL")) /* the program's own, for the model */
        return true;
    const struct json *call = json_at(json_get(t->asked, "tool_calls"), t->answered);
    auto_free char *call_id = mem_printf("%lld/%zu", (long long)t->step, t->answered);
    t->answered += call != NULL;
    m.role = ROLE_TOOL;
    m.call_id = call ? call_id : NULL;
    m.tool = call ? json_get_string(call, "name") : type;
    m.failed = is(status, "ERROR");
    return import_add(k, &m, e);
}

static bool read_antigravity(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct talk t = {0};
    struct import_lines l;
    AUTO(buf_release) struct buf id = BUF_INIT;
    auto_free char *whole = mem_printf("%.*s_full.jsonl", (int)strlen(f->path) - 6, f->path);
    if (!import_ends(f->path, "_full.jsonl") && access(whole, F_OK) == 0)
        return true; /* the other file is read */
    import_take(&t.c.id, between(f->path, "/brain/", "/", &id) ? id.data : f->path);
    import_lines_init(&l, k, f, 0);
    for (struct json *v; (v = import_lines_next(&l, e)); json_free(v))
        look_at(&t, v, l.begin);
    bool ok = !l.failed;
    if (ok && import_wants(k, &t.c, 0)) {
        ok = import_begin(k, &t.c, e);
        for (size_t i = 0; ok && i < t.steps.len; i++) {
            if (t.steps.items[i] < 0)
                continue;
            import_lines_seek(&l, t.steps.items[i]);
            ok = give(k, &t, import_lines_next(&l, NULL), (int64_t)i, e);
        }
        ok = ok && import_end(k, e);
    }
    import_lines_release(&l);
    import_conversation_release(&t.c);
    vec_release(&t.steps);
    json_free(t.asked);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, NULL, NULL, ".gemini/antigravity-cli/brain");
    import_place(out, NULL, NULL, ".gemini/antigravity/brain");
    import_place(out, NULL, NULL, ".gemini/antigravity-ide/brain");
}

static bool named(const char *path)
{
    return is(import_name(path), "transcript.jsonl") ||
           is(import_name(path), "transcript_full.jsonl");
}

static bool sniff(const struct import_file *f)
{
    return f->head[0] == '{' && import_head_has(f, "step_index") && import_head_has(f, "source") &&
           import_head_has(f, "type");
}

const struct import_source import_antigravity = {
    .name = "antigravity",
    .label = "Antigravity",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_antigravity,
};
