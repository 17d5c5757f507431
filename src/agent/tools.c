#include "agent/tools.h"

#include <string.h>

#include "agent/rows.h"
#include "agent/schema.h"
#include "base/utf8.h"

const struct tool *const tools[] = {&tool_read_file, &tool_list_directory, NULL};

const struct tool *tool_find(const char *name)
{
    for (const struct tool *const *t = tools; *t; t++)
        if (strcmp((*t)->spec.name, name) == 0)
            return *t;
    return NULL;
}

static struct json *parse_args(const struct tool *tool, const char *args, struct buf *out)
{
    struct error e = {0};
    if (!args || !*args)
        args = "{}";
    struct json *value = json_parse(args, strlen(args), &e);
    if (!value) {
        buf_addf(out, "the arguments are no valid JSON: %s", e.text);
        return NULL;
    }
    struct json *schema = json_parse(tool->spec.schema, strlen(tool->spec.schema), NULL);
    bool fits = schema_check(schema, value, &e);
    json_free(schema);
    if (fits)
        return value;
    buf_addstr(out, e.text);
    json_free(value);
    return NULL;
}

/* What the model gets is valid UTF-8 within the limit, whatever the tool produced. */
static void bound_output(struct buf *out, size_t max)
{
    size_t total = out->len;
    if (total > max) {
        size_t keep = utf8_cut_bytes(out->data, total, max);
        buf_splice(out, keep, total - keep, NULL, 0);
        buf_addf(out, "\n[cut: %zu of %zu bytes shown]", keep, total);
    }
    if (utf8_valid(out->data, out->len))
        return;
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, out->data, out->len, UTF8_MULTILINE);
    buf_release(out);
    *out = clean;
}

bool tool_call(const struct tool_context *context, const char *name, const char *args,
               struct buf *out)
{
    const struct tool *tool = tool_find(name);
    if (!tool) {
        buf_addf(out, "there is no tool named \"%s\"", name);
        return true;
    }
    struct json *value = parse_args(tool, args, out);
    if (!value)
        return true;
    bool ok = tool->run(context, value, out);
    json_free(value);
    bound_output(out, context->max_output);
    return !ok;
}
