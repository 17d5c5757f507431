#include "agent/tool.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/approval.h"
#include "agent/tool_run_command.h"
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
    *sight = (struct tool_sight){0};
}

void surface_run_release(struct surface_run *r)
{
    buf_release(&r->output);
    free(r->signal);
    *r = (struct surface_run){.output = BUF_INIT};
}

/* --- builtin --- */

static const char *lacks(const void *self)
{
    const struct tool_host *host = self;
    return host->root_fd < 0 ? "the working directory cannot be opened" : NULL;
}

static void list(struct tool_host *host, struct toolset *out)
{
    static const struct tool *const rows[] = {&tool_read_file, &tool_list_directory,
                                              &tool_search_files, &tool_write_file,
                                              &tool_run_command};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tool tool = *rows[i];
        tool.lacks = lacks;
        toolset_add(out, &tool, host);
    }
}

const struct tool_source tool_source_builtin = {.name = "built-in", .list = list};

char *builtin_reaches(const void *self, const struct json *args)
{
    const struct tool_host *host = self;
    const char *path = json_get_string(args, "path");
    return confine_resolve(host->root_fd, host->root, path ? path : ".");
}

/* What was asked about, and what is below it. */
static bool was_asked(const struct tool_context *context, const char *where)
{
    size_t len = context->guarded ? strlen(context->guarded) : 0;
    return len > 0 && strncmp(where, context->guarded, len) == 0 &&
           (where[len] == '\0' || where[len] == '/' || len == 1);
}

bool builtin_may_reach(const struct tool_context *context, const char *path, const char *where,
                       struct error *e)
{
    return was_asked(context, where) || !guard_asks(where) ||
           err_set(e, ERR_FILE_ERROR,
                   "%s: keys or tiro's own files are there, and the user was not asked about it",
                   path);
}

int builtin_open(const struct tool_context *context, const char *path, int flags, char **where,
                 struct buf *out)
{
    const struct tool_host *host = context->self;
    struct error e = {0};
    char *found = NULL;
    int fd = confine_open(host->root_fd, host->root, path, flags, &found, &e);
    if (fd >= 0 && !builtin_may_reach(context, path, found, &e)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        buf_addstr(out, e.text);
    if (where && fd >= 0)
        *where = found;
    else
        free(found);
    return fd;
}

/* --- toolset --- */

const struct tool_source *const tool_sources[] = {&tool_source_builtin, &tool_source_memory,
                                                  &tool_source_learned, &tool_source_graph,
                                                  &tool_source_corpus,  NULL};

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
    vec_release(&t->tools);
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

/* --- tool_call --- */

static bool is_integer(const struct json *v)
{
    double n = json_number(v, 0.5);
    return json_type(v) == JSON_NUMBER && floor(n) == n;
}

static bool has_type(const struct json *v, const char *type)
{
    static const struct {
        const char *name;
        enum json_type type;
    } types[] = {{"string", JSON_STRING}, {"number", JSON_NUMBER}, {"boolean", JSON_BOOL},
                 {"object", JSON_OBJECT}, {"array", JSON_ARRAY},   {"null", JSON_NULL}};
    if (strcmp(type, "integer") == 0)
        return is_integer(v);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return json_type(v) == types[i].type;
    return false;
}

static bool in_enum(const struct json *choices, const struct json *v)
{
    const char *s = json_string(v);
    for (const struct json *c = json_first(choices); c; c = json_next(c))
        if (s && json_string(c) && strcmp(json_string(c), s) == 0)
            return true;
    return false;
}

static bool check_value(const struct json *schema, const struct json *v, const char *path,
                        struct error *e);

static bool check_member(const struct json *schema, const struct json *v, const char *path,
                         const char *name, struct error *e)
{
    char *inner = mem_printf("%s%s%s", path, *path ? "." : "", name);
    bool ok = check_value(schema, v, inner, e);
    free(inner);
    return ok;
}

static bool check_object(const struct json *schema, const struct json *v, const char *path,
                         struct error *e)
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
        if (!check_member(member, m, path, json_name(m), e))
            return false;
    }
    return true;
}

static bool check_items(const struct json *schema, const struct json *v, const char *path,
                        struct error *e)
{
    const struct json *items = json_get(schema, "items");
    if (!items)
        return true;
    for (const struct json *m = json_first(v); m; m = json_next(m))
        if (!check_member(items, m, path, "[]", e))
            return false;
    return true;
}

static bool check_bounds(const struct json *schema, const struct json *v, const char *path,
                         struct error *e)
{
    double n = json_number(v, 0);
    double min = json_get_number(schema, "minimum", -DBL_MAX);
    double max = json_get_number(schema, "maximum", DBL_MAX);
    if (n < min)
        return err_set(e, ERR_USAGE, "argument \"%s\" must be at least %g", path, min);
    if (n > max)
        return err_set(e, ERR_USAGE, "argument \"%s\" must be at most %g", path, max);
    return true;
}

static bool check_value(const struct json *schema, const struct json *v, const char *path,
                        struct error *e)
{
    const char *type = json_get_string(schema, "type");
    if (type && !has_type(v, type)) {
        if (!*path)
            return err_set(e, ERR_USAGE, "the arguments must be one JSON %s", type);
        return err_set(e, ERR_USAGE, "argument \"%s\" must be of type %s", path, type);
    }
    const struct json *choices = json_get(schema, "enum");
    if (choices && !in_enum(choices, v))
        return err_set(e, ERR_USAGE, "argument \"%s\" is none of the values allowed", path);
    switch (json_type(v)) {
    case JSON_OBJECT:
        return check_object(schema, v, path, e);
    case JSON_ARRAY:
        return check_items(schema, v, path, e);
    case JSON_NUMBER:
        return check_bounds(schema, v, path, e);
    default:
        return true;
    }
}

bool tool_schema_check(const struct json *schema, const struct json *value, struct error *e)
{
    return check_value(schema, value, "", e);
}

static struct json *parse_args(const struct tool *tool, const char *args, struct buf *out)
{
    struct error e = {0};
    if (!args || !*args)
        args = "{}";
    struct json *value = json_parse_foreign(args, strlen(args), &e);
    if (value && json_find_nul(args, strlen(args))) { /* no tool would see what comes behind it */
        buf_addstr(out, "the arguments have a NUL character, which no tool takes");
        json_free(value);
        return NULL;
    }
    if (!value) {
        buf_addf(out, "the arguments are no valid JSON: %s", e.text);
        return NULL;
    }
    const char *accepts = tool->accepts ? tool->accepts : tool->spec.schema;
    struct json *schema = json_parse(accepts, strlen(accepts), NULL);
    bool fits = tool_schema_check(schema, value, &e);
    json_free(schema);
    if (fits)
        return value;
    buf_addstr(out, e.text);
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
    tool_sight_release(&call->sight);
    *call = (struct tool_call){0};
}

typedef void make_safe(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode);

static void replace(struct buf *text, make_safe *make)
{
    struct buf safe = BUF_INIT;
    make(&safe, text->data, text->len, UTF8_MULTILINE);
    buf_release(text);
    *text = safe;
}

/* What the model gets is valid UTF-8 within the limit, whatever the tool produced. A text that is
 * valid stays as it is: what it does to a terminal is none of the model's business. */
bool tool_call_run(const struct tool_call *call, const struct tool_context *context,
                   struct buf *out)
{
    struct tool_context own = *context;
    own.self = call->tool->self;
    own.sight = &call->sight;
    own.guarded = call->asked ? call->guarded : NULL;
    bool ok = is_there(call->tool, out) && call->tool->run(&own, call->args, out);
    if (!utf8_valid(out->data, out->len))
        replace(out, utf8_clean);
    head_tail_cut(out, context->max_output);
    return !ok;
}

bool tool_call_preview(struct tool_call *call, const struct tool_context *context, struct buf *out)
{
    struct tool_context own = *context;
    own.self = call->tool->self;
    own.guarded = call->guarded; /* it is the user who looks */
    tool_sight_release(&call->sight);
    bool ok = !call->tool->preview || call->tool->preview(&own, call->args, &call->sight, out);
    size_t len = out->len;
    replace(out, utf8_reveal);
    if (len <= TOOL_MAX_PREVIEW)
        return ok;
    buf_clear(out);
    buf_addf(out,
             "%zu bytes would have to be read before this is allowed, and at most %d can be shown",
             len, TOOL_MAX_PREVIEW);
    return false;
}

char *tool_call_grant(const struct tool_call *call)
{
    const struct tool *tool = call->guarded ? NULL : call->tool;
    struct buf out = BUF_INIT;
    if (tool && tool->grant)
        tool->grant(call->args, &out);
    else if (tool)
        buf_addstr(&out, tool->spec.name);
    char *grant = out.len > 0 ? buf_take(&out) : NULL;
    buf_release(&out);
    return grant;
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
