#include "agent/tool.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/approval.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

const char *tool_class_name(enum tool_class class)
{
    static const char *const names[] = {
#define X(id, name) [TOOL_##id] = name,
        TOOL_CLASSES(X)
#undef X
    };
    return names[class];
}

const char *tool_lacks(const struct tool *tool)
{
    return tool->lacks ? tool->lacks(tool->self) : NULL;
}

enum tool_stop tool_stop(const struct tool_context *context)
{
    if (!wakeup_sleep(context->wakeup, 0))
        return TOOL_INTERRUPTED;
    return clock_mono_ms() > context->deadline_ms ? TOOL_TIMED_OUT : TOOL_GOES_ON;
}

bool tool_stopped(const struct tool_context *context, struct buf *out)
{
    static const char *const reasons[] = {
        [TOOL_INTERRUPTED] = "interrupted", [TOOL_TIMED_OUT] = "timed out"};
    enum tool_stop stop = tool_stop(context);
    if (stop == TOOL_GOES_ON)
        return false;
    buf_clear(out);
    buf_addstr(out, reasons[stop]);
    return true;
}

void tool_sight_release(struct tool_sight *sight)
{
    free(sight->text);
    shape_release(&change_shape, &sight->change);
    *sight = (struct tool_sight){0};
}

void surface_run_release(struct surface_run *r)
{
    buf_release(&r->output);
    free(r->signal);
    *r = (struct surface_run){.output = BUF_INIT};
}

/* --- the tools that work in a directory ------------------------------------------------------- */

static const char *lacks_directory(const void *self)
{
    const struct tool_host *host = self;
    return host->root_fd < 0 ? "the working directory cannot be opened" : NULL;
}

static void list(struct tool_host *host, struct toolset *out)
{
    static const struct tool *const rows[] = {
#define X(name) &tool_##name,
        DIRECTORY_TOOLS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tool tool = *rows[i];
        tool.lacks = lacks_directory;
        toolset_add(out, &tool, host);
    }
    toolset_add(out, &tool_fetch_url, host);
    toolset_add(out, &tool_web_search, host);
}

const struct tool_source tool_source_builtin = {.name = "built-in", .list = list};

/* --- the tools of all sources ----------------------------------------------------------------- */

const struct tool_source *const tool_sources[] = {
    &tool_source_builtin, &tool_source_memory, &tool_source_learned, &tool_source_graph,
    &tool_source_corpus,  &tool_source_skills, &tool_source_mcp,     NULL};

static void list_all(struct toolset *t)
{
    vec_clear(&t->tools);
    for (const struct tool_source *const *s = t->sources; *s; s++) {
        t->listing = *s;
        (*s)->list(&t->host, t);
    }
}

void toolset_init(struct toolset *t, const struct tool_source *const *sources,
                  const struct tool_host *host)
{
    *t = (struct toolset){.sources = sources, .host = *host};
    list_all(t);
}

void toolset_release(struct toolset *t)
{
    (void)tasks_end(&t->host.tasks);
    vec_release(&t->tools);
    read_files_clear(&t->host.read);
}

void toolset_refresh(struct toolset *t)
{
    bool changed = false;
    for (const struct tool_source *const *s = t->sources; *s; s++)
        changed = ((*s)->changed && (*s)->changed(&t->host)) || changed;
    if (changed)
        list_all(t);
}

void toolset_add(struct toolset *t, const struct tool *row, void *self)
{
    const struct tool *same = toolset_find(t, row->spec.name);
    if (same) {
        log_line(LOG_ERROR, "tool %s of %s is left out: %s has one of that name", row->spec.name,
                 t->listing->name, same->source->name);
        return;
    }
    struct tool tool = *row;
    tool.source = t->listing;
    tool.self = self;
    vec_push(&t->tools, tool);
}

const struct tool *toolset_find(const struct toolset *t, const char *name)
{
    for (size_t i = 0; i < t->tools.len; i++)
        if (strcmp(t->tools.items[i].spec.name, name) == 0)
            return &t->tools.items[i];
    return NULL;
}

bool tool_offered(const struct tool *tool, const char *level)
{
    bool reads = tool->class == TOOL_READ || tool->consent != CONSENT_BY_CLASS;
    return strcmp(level, "full") == 0 || (strcmp(level, "read") == 0 && reads);
}

/* --- one call --------------------------------------------------------------------------------- */

static bool has_type(const struct json *v, const char *type)
{
    static const struct {
        const char *name;
        enum json_type type;
    } types[] = {{"string", JSON_STRING}, {"number", JSON_NUMBER}, {"boolean", JSON_BOOL},
                 {"object", JSON_OBJECT}, {"array", JSON_ARRAY},   {"null", JSON_NULL}};
    double n = json_number(v, 0.5);
    if (strcmp(type, "integer") == 0)
        return json_type(v) == JSON_NUMBER && floor(n) == n;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return json_type(v) == types[i].type;
    return false;
}

static bool check_value(const struct json *schema, const struct json *v, const char *path,
                        bool rounded, struct error *e);

static bool check_object(const struct json *schema, const struct json *v, const char *path,
                         bool rounded, struct error *e)
{
    const struct json *properties = json_get(schema, "properties");
    const struct json *required = json_get(schema, "required");
    for (const struct json *r = json_first(required); r; r = json_next(r))
        if (!json_get(v, json_string(r)))
            return err_set(e, ERR_USAGE, "argument \"%s\" is missing", json_string(r));
    for (const struct json *m = json_first(v); m; m = json_next(m)) {
        const struct json *member = json_get(properties, json_name(m));
        if (!member)
            return err_set(e, ERR_USAGE, "unknown argument \"%s\"", json_name(m));
        auto_free char *inner = mem_printf("%s%s%s", path, *path ? "." : "", json_name(m));
        if (!check_value(member, m, inner, rounded, e))
            return false;
    }
    return true;
}

static bool check_value(const struct json *schema, const struct json *v, const char *path,
                        bool rounded, struct error *e)
{
    const char *type = json_get_string(schema, "type");
    if (type && rounded && strcmp(type, "integer") == 0)
        type = "number";
    if (type && !has_type(v, type))
        return *path ? err_set(e, ERR_USAGE, "argument \"%s\" must be of type %s", path, type)
                     : err_set(e, ERR_USAGE, "the arguments must be one JSON %s", type);
    const struct json *choice = json_get(schema, "enum");
    if (choice) {
        const char *s = json_string(v);
        for (choice = json_first(choice); choice; choice = json_next(choice))
            if (s && json_string(choice) && strcmp(json_string(choice), s) == 0)
                break;
        if (!choice)
            return err_set(e, ERR_USAGE, "argument \"%s\" is none of the values allowed", path);
    }
    const struct json *items = json_get(schema, "items");
    double n = json_number(v, 0), least = json_get_number(schema, "minimum", -DBL_MAX);
    double most = json_get_number(schema, "maximum", DBL_MAX);
    switch (json_type(v)) {
    case JSON_OBJECT:
        return check_object(schema, v, path, rounded, e);
    case JSON_ARRAY:
        for (const struct json *m = items ? json_first(v) : NULL; m; m = json_next(m)) {
            auto_free char *inner = mem_printf("%s%s[]", path, *path ? "." : "");
            if (!check_value(items, m, inner, rounded, e))
                return false;
        }
        return true;
    case JSON_NUMBER:
        if (n < least)
            return err_set(e, ERR_USAGE, "argument \"%s\" must be at least %g", path, least);
        return n <= most || err_set(e, ERR_USAGE, "argument \"%s\" must be at most %g", path, most);
    default:
        return true;
    }
}

bool tool_schema_check(const struct json *schema, const struct json *value, struct error *e)
{
    return check_value(schema, value, "", false, e);
}

static struct json *parse_args(const struct tool *tool, const char *args, struct buf *out)
{
    struct error e = {0};
    if (!args || !*args)
        args = "{}";
    struct json *value = json_parse_foreign(args, strlen(args), &e);
    AUTO(json_free_local)
    struct json *schema = json_parse(tool->spec.schema, strlen(tool->spec.schema), NULL);
    if (!value)
        buf_addf(out, "the arguments are no valid JSON: %s", e.text);
    else if (json_find_nul(args, strlen(args))) /* where a string would end */
        buf_addstr(out, "the arguments have a NUL character, which no tool takes");
    else if (tool->check == CHECK_OBJECT
                 ? has_type(value, "object")
                 : check_value(schema, value, "", tool->check == CHECK_ROUNDED, &e))
        return value;
    else
        buf_addstr(out, *e.text ? e.text : "the arguments must be one JSON object");
    json_free(value);
    return NULL;
}

static bool is_there(const struct tool *tool, struct buf *out)
{
    const char *lack = tool_lacks(tool);
    if (lack)
        buf_addf(out, "%s cannot be used now: %s", tool->spec.name, lack);
    return !lack;
}

bool tool_call_prepare(struct tool_call *call, const struct toolset *tools, const char *name,
                       const char *args, struct buf *out)
{
    *call = (struct tool_call){.tool = toolset_find(tools, name)};
    if (!call->tool)
        buf_addf(out, "there is no tool named \"%s\"", name);
    else if (is_there(call->tool, out))
        call->args = parse_args(call->tool, args, out);
    return call->args != NULL;
}

void tool_call_release(struct tool_call *call)
{
    json_free(call->args);
    free(call->guarded);
    free(call->refusal);
    tool_sight_release(&call->sight);
    *call = (struct tool_call){0};
}

/* The model gets valid UTF-8 within the limit, whatever the tool produced. A valid text
 * stays as it is: the model is no terminal. */
bool tool_call_run(const struct tool_call *call, const struct tool_context *context,
                   struct buf *out)
{
    struct tool_context own = *context;
    own.self = call->tool->self;
    own.number = call->tool->number;
    own.sight = &call->sight;
    own.guarded = call->asked ? call->guarded : NULL;
    bool ok = is_there(call->tool, out) && call->tool->run(&own, call->args, out);
    if (!utf8_valid(out->data, out->len)) {
        AUTO(buf_release) struct buf raw = *out;
        *out = (struct buf)BUF_INIT;
        utf8_clean(out, raw.data, raw.len, UTF8_MULTILINE);
    }
    head_tail_cut(out, context->max_output);
    return !ok;
}

bool tool_call_preview(struct tool_call *call, const struct tool_context *context, struct buf *out)
{
    struct tool_context own = *context;
    AUTO(buf_release) struct buf raw = BUF_INIT;
    own.self = call->tool->self;
    own.number = call->tool->number;
    own.guarded = call->guarded; /* a person looks */
    tool_sight_release(&call->sight);
    bool ok = !call->tool->preview || call->tool->preview(&own, call->args, &call->sight, &raw);
    if (raw.len <= TOOL_MAX_PREVIEW) {
        utf8_reveal(out, raw.data, raw.len, UTF8_MULTILINE);
        return ok;
    }
    buf_addf(out,
             "%zu bytes would have to be read before this is allowed, and at most %d can be shown",
             raw.len, TOOL_MAX_PREVIEW);
    return false;
}

char *tool_call_grant(const struct tool_call *call)
{
    AUTO(buf_release) struct buf out = BUF_INIT;
    const struct tool *tool = call->guarded ? NULL : call->tool;
    if (tool && tool->grant)
        tool->grant(call->args, &out);
    else if (tool)
        buf_addstr(&out, tool->spec.name);
    return out.len > 0 ? buf_take(&out) : NULL;
}

enum tool_bounds tool_call_bounds(const struct tool_call *call)
{
    const struct tool *tool = call->tool;
    return tool->bounds ? tool->bounds(tool->self, call->args) : BOUNDS_NONE;
}

bool tool_call_is_guarded(struct tool_call *call)
{
    const struct tool *tool = call->tool;
    free(call->guarded);
    call->guarded = tool->reaches ? tool->reaches(tool->self, call->args) : NULL;
    if (call->guarded && !guard_asks(call->guarded)) {
        free(call->guarded);
        call->guarded = NULL;
    }
    return call->guarded != NULL;
}

/* --- outputs ---------------------------------------------------------------------------------- */

void head_tail_init(struct head_tail *h, size_t max)
{
    *h = (struct head_tail){.half = max / 2, .head = BUF_INIT, .tail = BUF_INIT};
}

void head_tail_release(struct head_tail *h)
{
    buf_release(&h->head);
    buf_release(&h->tail);
}

void head_tail_add(struct head_tail *h, const char *bytes, size_t len)
{
    size_t room = h->half - h->head.len;
    size_t first = len < room ? len : room;
    buf_add(&h->head, bytes, first);
    buf_add(&h->tail, bytes + first, len - first);
    /* Not at every piece: moving half of it costs. */
    if (h->tail.len > 2 * h->half) {
        size_t over = h->tail.len - h->half;
        buf_consume(&h->tail, over);
        h->dropped += over;
    }
}

static size_t skip_continuation(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && n < 3 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    return n;
}

/* At most `half` bytes of each; the bytes cut off count as dropped. */
static void add_both(struct buf *out, const struct buf *head, const struct buf *tail, size_t half,
                     size_t dropped)
{
    size_t keep = utf8_cut_bytes(head->data, head->len, half);
    size_t from = tail->len > half ? tail->len - half : 0;
    if (from > 0)
        from += skip_continuation(tail->data + from, tail->len - from);
    dropped += head->len - keep + from;
    buf_add(out, head->data, keep);
    if (dropped > 0)
        buf_addf(out, "\n[… %zu bytes left out …]\n", dropped);
    buf_add(out, tail->data + from, tail->len - from);
}

void head_tail_show(const struct head_tail *h, struct buf *out)
{
    AUTO(buf_release) struct buf head = BUF_INIT;
    AUTO(buf_release) struct buf tail = BUF_INIT;
    size_t over = h->tail.len > h->half ? h->tail.len - h->half : 0;
    if (h->dropped + over > 0) {
        size_t end = h->head.len - utf8_incomplete_tail(h->head.data, h->head.len);
        size_t start = over + skip_continuation(h->tail.data + over, h->tail.len - over);
        utf8_clean(&head, h->head.data, end, UTF8_MULTILINE);
        utf8_clean(&tail, h->tail.data + start, h->tail.len - start, UTF8_MULTILINE);
        add_both(out, &head, &tail, h->half, h->dropped + start + h->head.len - end);
        return;
    }
    AUTO(buf_release) struct buf text = BUF_INIT;
    buf_add(&tail, h->head.data, h->head.len);
    buf_add(&tail, h->tail.data, h->tail.len);
    utf8_clean(&text, tail.data, tail.len, UTF8_MULTILINE);
    if (text.len <= 2 * h->half) {
        buf_add(out, text.data, text.len);
        return;
    }
    /* It grew while it was cleaned. */
    size_t keep = utf8_cut_bytes(text.data, text.len, h->half);
    buf_clear(&tail);
    buf_add(&tail, text.data + keep, text.len - keep);
    buf_truncate(&text, keep);
    add_both(out, &text, &tail, h->half, 0);
}

void head_tail_cut(struct buf *text, size_t max)
{
    size_t total = text->len;
    if (total <= max)
        return;
    size_t keep = utf8_cut_bytes(text->data, total, max);
    buf_truncate(text, keep);
    buf_addf(text, "\n[cut: %zu of %zu bytes shown]", keep, total);
}
