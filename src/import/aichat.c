/* aichat: messages.md has what was asked without a session, a question and its answer each.
 * ~/.config/aichat/sessions/NAME.yaml, and sessions/_/TIME-NAME.yaml where it chose the
 * name: the model and a list of messages, written anew as the talk goes on. What a compaction took
 * away stands in a list of its own. There are no times and no ids; a session can be emptied and
 * used again, so that it is known by its name and its first message. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "import/source.h"
#include "import/text.h"

#ifdef HAVE_LIBYAML

#include <yaml.h>

enum { DEPTH_MAX = 64 };

#define LIBYAML_FUNCTIONS(X)                                                                       \
    X(yaml_event_delete)                                                                           \
    X(yaml_parser_delete)                                                                          \
    X(yaml_parser_initialize)                                                                      \
    X(yaml_parser_parse)                                                                           \
    X(yaml_parser_set_input_string)

struct libyaml {
#define X(name) __typeof__(name) *name;
    LIBYAML_FUNCTIONS(X)
#undef X
};

static bool load(struct libyaml *library, struct error *e)
{
#ifdef LIBYAML_FILE
    static const struct late_function functions[] = {
#define X(name) {#name, offsetof(struct libyaml, name)},
        LIBYAML_FUNCTIONS(X)
#undef X
    };
    return late_library_load(library, "libyaml", LIBYAML_FILE, functions,
                             sizeof functions / sizeof *functions, e);
#else
    (void)e;
#define X(name) library->name = name;
    LIBYAML_FUNCTIONS(X)
#undef X
    return true;
#endif
}

/* A list or object that is open, with the name of the member that comes. */
struct level {
    struct json *v;
    char *name;
};

/* Puts a value, which is taken, into what is open; a text may be a name. */
static void put(struct level *l, struct json *value)
{
    if (json_type(l->v) == JSON_ARRAY) {
        json_push(l->v, value);
    } else if (l->name) {
        json_set(l->v, l->name, value);
        mem_replace(&l->name, NULL);
    } else {
        l->name = mem_strdup(json_string(value) ? json_string(value) : "");
        json_free(value);
    }
}

/* A list of the documents, which the caller frees. Every scalar but null is a text; an alias is
 * null. */
static struct json *parse(const char *text, size_t len, struct error *e)
{
    struct libyaml y;
    yaml_parser_t p;
    struct level open[DEPTH_MAX] = {{.v = NULL}};
    size_t depth = 1, values = 0;
    if (!load(&y, e))
        return NULL;
    if (!y.yaml_parser_initialize(&p)) {
        err_set(e, ERR_AGENT_ERROR, "libyaml cannot begin");
        return NULL;
    }
    open[0].v = json_new_array();
    y.yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
    bool ok = true;
    for (bool more = true; ok && more;) {
        yaml_event_t ev;
        if (!y.yaml_parser_parse(&p, &ev)) {
            ok = err_set(e, ERR_FILE_ERROR, "line %zu: %s", p.problem_mark.line + 1, p.problem);
            break;
        }
        const char *scalar =
            ev.type == YAML_SCALAR_EVENT ? (const char *)ev.data.scalar.value : NULL;
        if (scalar && ev.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
            (is(scalar, "null") || is(scalar, "~") || is(scalar, "")))
            scalar = NULL;
        switch (ev.type) {
        case YAML_SCALAR_EVENT:
        case YAML_ALIAS_EVENT:
            put(&open[depth - 1], json_new_string(scalar));
            break;
        case YAML_SEQUENCE_START_EVENT:
        case YAML_MAPPING_START_EVENT:
            ok = depth < DEPTH_MAX || err_set(e, ERR_FILE_ERROR, "it is nested too deeply");
            if (ok)
                open[depth++].v =
                    ev.type == YAML_SEQUENCE_START_EVENT ? json_new_array() : json_new_object();
            break;
        case YAML_SEQUENCE_END_EVENT:
        case YAML_MAPPING_END_EVENT:
            depth--;
            mem_replace(&open[depth].name, NULL);
            put(&open[depth - 1], open[depth].v);
            open[depth].v = NULL;
            break;
        case YAML_STREAM_END_EVENT:
            more = false;
            break;
        default:
            break;
        }
        y.yaml_event_delete(&ev);
        if (ok && ++values > JSON_FOREIGN_VALUES)
            ok = err_set(e, ERR_FILE_ERROR, "it has too many values");
    }
    for (size_t i = 1; i < depth; i++) {
        json_free(open[i].v);
        free(open[i].name);
    }
    y.yaml_parser_delete(&p);
    if (ok)
        return open[0].v;
    json_free(open[0].v);
    return NULL;
}

/* An answer that called tools and their results are one message: {tool_results[{call{name,
 * arguments, id}, output}], text}. */
static bool give_tools(struct import_sink *k, const struct json *content, const char *model,
                       struct error *e)
{
    const struct json *results = json_get(content, "tool_results");
    struct import_message m = IMPORT_MESSAGE(ROLE_ASSISTANT, json_get_string(content, "text"));
    VEC(struct import_call) calls = {0};
    for (const struct json *r = import_blocks(results); r; r = json_next(r))
        vec_push(&calls, import_call_of(json_get(r, "call"), "arguments"));
    m.model = model;
    m.calls = calls.items;
    m.call_count = calls.len;
    bool ok = import_add(k, &m, e);
    vec_release(&calls);
    for (const struct json *r = import_blocks(results); ok && r; r = json_next(r)) {
        const struct json *output = json_get(r, "output"), *call = json_get(r, "call");
        auto_free char *printed = json_string(output) ? NULL : json_print(output);
        m = IMPORT_MESSAGE(ROLE_TOOL, printed ? printed : json_string(output));
        m.call_id = json_get_string(call, "id");
        m.tool = json_get_string(call, "name");
        ok = import_add(k, &m, e);
    }
    return ok;
}

static bool give(struct import_sink *k, const struct json *messages, const char *model,
                 struct error *e)
{
    bool ok = true;
    for (const struct json *v = import_blocks(messages); ok && v; v = json_next(v)) {
        AUTO(buf_release) struct buf text = BUF_INIT;
        const char *role = json_get_string(v, "role");
        const struct json *content = json_get(v, "content");
        struct import_message m = IMPORT_MESSAGE(ROLE_USER, NULL);
        if (json_get(content, "tool_results")) {
            ok = give_tools(k, content, model, e);
            continue;
        }
        import_add_content(&text, content, NULL);
        m.text = text.data;
        if (is(role, "assistant")) {
            m.role = ROLE_ASSISTANT;
            m.model = model;
        }
        if (is(role, "user") || is(role, "assistant"))
            ok = import_add(k, &m, e);
        else if (!is(role, "system"))
            import_unknown(k, role ? role : "message without a role");
    }
    return ok;
}

static bool read_session(struct import_sink *k, struct import_file *f, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT, first = BUF_INIT;
    if (!import_file_text(f, &text, e))
        return false;
    AUTO(json_free_local) struct json *documents = parse(text.data, text.len, e);
    if (!documents)
        return false;
    const struct json *v = json_first(documents);
    static const char *const lists[] = {"compressed_messages", "messages"};
    for (size_t i = 0; i < 2; i++)
        for (const struct json *m = import_blocks(json_get(v, lists[i])); m && first.len == 0;
             m = json_next(m))
            if (is(json_get_string(m, "role"), "user"))
                import_add_content(&first, json_get(m, "content"), NULL);
    auto_free char *name = mem_strdup(import_name(f->path));
    if (import_ends(name, ".yaml"))
        name[strlen(name) - 5] = '\0';
    size_t digits = strspn(name, "0123456789T"); /* TIME is 20260301T100000 */
    auto_free char *id = mem_printf("%s/%016llx", name,
                                    (unsigned long long)mem_hash(MEM_HASH, first.data, first.len));
    struct import_conversation c = {.id = id,
                                    .title = digits == 15 && name[15] == '-' ? name + 16 : name,
                                    .model = json_get_string(v, "model"),
                                    .created_ms = (int64_t)f->stat.st_mtim.tv_sec * 1000};
    if (first.len == 0 || !import_wants(k, &c, 0))
        return true;
    return import_begin(k, &c, e) && give(k, json_get(v, lists[0]), c.model, e) &&
           give(k, json_get(v, lists[1]), c.model, e) && import_end(k, e);
}

#else

static bool read_session(struct import_sink *k, struct import_file *f, struct error *e)
{
    (void)k;
    return err_set(e, ERR_FILE_ERROR, "%s cannot be read: this program is built without libyaml",
                   f->path);
}

#endif

/* --- messages.md ------------------------------------------------------------------------------ */

/*     # CHAT: SUMMARY [TIME] ROLE
 *     question
 *     --------
 *     answer
 *     -------- */
#define HEADING "# CHAT: "

struct talk {
    struct import_sink *sink;
    char *heading; /* NULL: before the first */
    struct buf text[2];
    bool answered; /* the first rule came */
};

/* Gives what followed the heading, if it is whole. */
static bool give_talk(struct talk *t, struct error *e)
{
    static const char rule[] = "\n--------", calls_begin[] = "<tool_calls>\n";
    static const char calls_end[] = "\n</tool_calls>\n";
    struct buf *answer = &t->text[1];
    const char *time = t->heading ? strrchr(t->heading, '[') : NULL;
    auto_free char *at = time ? mem_strndup(time + 1, strcspn(time + 1, "]")) : NULL;
    struct import_conversation c = {.id = t->heading};
    buf_trim_end(&t->text[0], "\n");
    buf_trim_end(answer, "\n");
    if (!import_ends(answer->data, rule) || !at || !rfc3339_parse(at, &c.created_ms) ||
        !import_wants(t->sink, &c, c.created_ms))
        return true;
    buf_truncate(answer, answer->len - strlen(rule));
    const char *text = answer->data, *calls = NULL;
    if (strncmp(text, calls_begin, strlen(calls_begin)) == 0)
        calls = strstr(text, calls_end);
    if (calls)
        text = calls + strlen(calls_end);
    struct import_message said = IMPORT_MESSAGE(ROLE_USER, t->text[0].data);
    struct import_message answered = IMPORT_MESSAGE(ROLE_ASSISTANT, text + strspn(text, "\n"));
    said.ms = answered.ms = c.created_ms;
    return import_begin(t->sink, &c, e) && import_add(t->sink, &said, e) &&
           import_add(t->sink, &answered, e) && import_end(t->sink, e);
}

static bool take_line(struct talk *t, const char *line, struct error *e)
{
    if (strncmp(line, HEADING, strlen(HEADING)) == 0 && strstr(line, " [20")) {
        bool ok = give_talk(t, e);
        mem_replace(&t->heading, mem_strdup(line + strlen(HEADING)));
        buf_clear(&t->text[0]);
        buf_clear(&t->text[1]);
        t->answered = false;
        return ok;
    }
    if (!t->answered && is(line, "--------"))
        t->answered = true;
    else if (t->text[t->answered].len < IMPORT_ELEMENT_BYTES)
        buf_addf(&t->text[t->answered], "%s\n", line);
    return true;
}

static bool read_messages(struct import_sink *k, struct import_file *f, struct error *e)
{
    struct talk t = {.sink = k, .text = {BUF_INIT, BUF_INIT}};
    struct import_text lines;
    struct error cause = {0};
    bool ok = true;
    FILE *in = import_file_open(f, e);
    if (!in)
        return false;
    import_text_init(&lines, in, 64 * 1024, NULL, NULL);
    while (ok && import_text_line(&lines, &cause)) {
        lines.element.data[strcspn(lines.element.data, "\r")] = '\0';
        ok = take_line(&t, lines.element.data, e);
        buf_clear(&lines.element);
    }
    ok = ok && give_talk(&t, e);
    if (ok && cause.code != ERR_OK)
        ok = err_set(e, cause.code, "%s", cause.text);
    import_text_release(&lines);
    fclose(in);
    free(t.heading);
    buf_release(&t.text[0]);
    buf_release(&t.text[1]);
    return ok;
}

/* --- the row ---------------------------------------------------------------------------------- */

static void places(struct text_list *out)
{
    import_place(out, "AICHAT_CONFIG_DIR", "", NULL);
    import_place(out, "XDG_CONFIG_HOME", "aichat", ".config/aichat");
}

static bool named(const char *path)
{
    return (strstr(path, "/sessions/") && import_ends(path, ".yaml")) ||
           is(import_name(path), "messages.md");
}

static bool is_messages(const struct import_file *f)
{
    return f->head_len > strlen(HEADING) && memcmp(f->head, HEADING, strlen(HEADING)) == 0;
}

static bool read_aichat(struct import_sink *k, struct import_file *f, struct error *e)
{
    return is_messages(f) ? read_messages(k, f, e) : read_session(k, f, e);
}

static bool sniff(const struct import_file *f)
{
    static const char *const begins[] = {"model: ", "---\nmodel: ", NULL};
    auto_free char *head = mem_strndup(f->head, f->head_len);
    return is_messages(f) || (import_begins(head, begins) && strstr(head, "messages:"));
}

const struct import_source import_aichat = {
    .name = "aichat",
    .label = "aichat",
    .places = places,
    .named = named,
    .sniff = sniff,
    .read = read_aichat,
};
