#include "agent/tool_call.h"

#include <stdlib.h>
#include <string.h>

#include "agent/guard.h"
#include "agent/head_tail.h"
#include "agent/schema.h"
#include "base/utf8.h"

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
