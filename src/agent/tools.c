#include "agent/tools.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/guard.h"
#include "agent/rows.h"
#include "agent/schema.h"
#include "base/clock.h"
#include "base/utf8.h"

const struct tool *const tools[] = {&tool_read_file,
                                    &tool_list_directory,
                                    &tool_search_files,
                                    &tool_write_file,
                                    &tool_run_command,
                                    &tool_memory_search,
                                    NULL};

const char *tool_class_name(enum tool_class class)
{
    static const char *const names[] = {
#define X(id, name) [TOOL_##id] = name,
        TOOL_CLASSES(X)
#undef X
    };
    return names[class];
}

const struct tool *tool_find(const char *name)
{
    for (const struct tool *const *t = tools; *t; t++)
        if (strcmp((*t)->spec.name, name) == 0)
            return *t;
    return NULL;
}

bool tool_offered(const struct tool *tool, const char *level)
{
    return strcmp(level, "full") == 0 || (strcmp(level, "read") == 0 && tool->class == TOOL_READ);
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
    bool fits = schema_check(schema, value, &e);
    json_free(schema);
    if (fits)
        return value;
    buf_addstr(out, e.text);
    json_free(value);
    return NULL;
}

bool tool_call_prepare(struct tool_call *call, const char *name, const char *args, struct buf *out)
{
    *call = (struct tool_call){.tool = tool_find(name)};
    if (call->tool)
        call->args = parse_args(call->tool, args, out);
    else
        buf_addf(out, "there is no tool named \"%s\"", name);
    return call->args != NULL;
}

void tool_call_release(struct tool_call *call)
{
    json_free(call->args);
    free(call->guarded);
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

static void cut(struct buf *text, size_t max)
{
    size_t total = text->len;
    if (total <= max)
        return;
    size_t keep = utf8_cut_bytes(text->data, total, max);
    buf_splice(text, keep, total - keep, NULL, 0);
    buf_addf(text, "\n[cut: %zu of %zu bytes shown]", keep, total);
}

/* What the model gets is valid UTF-8 within the limit, whatever the tool produced. A text that is
 * valid stays as it is: what it does to a terminal is none of the model's business. */
bool tool_call_run(const struct tool_call *call, const struct tool_context *context,
                   struct buf *out)
{
    struct tool_context own = *context;
    own.sight = &call->sight;
    own.guarded = call->asked ? call->guarded : NULL;
    bool ok = call->tool->run(&own, call->args, out);
    if (!utf8_valid(out->data, out->len))
        replace(out, utf8_clean);
    cut(out, context->max_output);
    return !ok;
}

bool tool_call_preview(struct tool_call *call, const struct tool_context *context, struct buf *out)
{
    struct tool_context own = *context;
    own.guarded = call->guarded; /* it is the user who looks */
    call->sight = (struct tool_sight){0};
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

/* --- places that ask ------------------------------------------------------------------------- */

static bool is_guarded(const char *where)
{
    struct guard guard;
    guard_init(&guard);
    bool is = guard_covers(&guard, where);
    guard_release(&guard);
    return is;
}

bool tool_call_is_guarded(struct tool_call *call, const struct tool_context *context)
{
    const char *path = json_get_string(call->args, "path");
    free(call->guarded);
    call->guarded = call->tool->takes_path
                        ? confine_resolve(context->root_fd, context->root, path ? path : ".")
                        : NULL;
    if (call->guarded && !is_guarded(call->guarded)) {
        free(call->guarded);
        call->guarded = NULL;
    }
    return call->guarded != NULL;
}

/* What was asked about, and what is below it. */
static bool was_asked(const struct tool_context *context, const char *where)
{
    size_t len = context->guarded ? strlen(context->guarded) : 0;
    return len > 0 && strncmp(where, context->guarded, len) == 0 &&
           (where[len] == '\0' || where[len] == '/' || len == 1);
}

bool tool_may_reach(const struct tool_context *context, const char *path, const char *where,
                    struct error *e)
{
    return was_asked(context, where) || !is_guarded(where) ||
           err_set(e, ERR_FILE_ERROR,
                   "%s: keys or tiro's own files are there, and the user was not asked about it",
                   path);
}

int tool_open(const struct tool_context *context, const char *path, int flags, char **where,
              struct error *e)
{
    char *found = NULL;
    int fd = confine_open(context->root_fd, context->root, path, flags, &found, e);
    if (fd >= 0 && !tool_may_reach(context, path, found, e)) {
        close(fd);
        fd = -1;
    }
    if (where && fd >= 0)
        *where = found;
    else
        free(found);
    return fd;
}

/* --- stopping -------------------------------------------------------------------------------- */

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
