/* Arguments of a model for a tool: arguments that fit the schema still fit without an optional
 * member, and do not with an unknown one. The first byte selects the tool. */
#include <stdlib.h>
#include <string.h>

#include "agent/tool.h"
#include "base/mem.h"
#include "tests/fuzz/fuzz.h"

static void check_fitting(const struct json *schema, const struct json *value)
{
    struct error e = {0};
    FUZZ_CHECK(json_type(value) == JSON_OBJECT);
    const struct json *required = json_get(schema, "required");
    for (const struct json *r = json_first(required); r; r = json_next(r))
        FUZZ_CHECK(json_get(value, json_string(r)));
    AUTO(json_free_local) struct json *more = json_clone(value);
    json_set_bool(more, "no such member", true);
    FUZZ_CHECK(!tool_schema_check(schema, more, &e));
}

int fuzz_schema(const uint8_t *data, size_t size)
{
    struct error e = {0};
    if (size == 0)
        return -1;
    AUTO(json_free_local) struct json *value = json_parse((const char *)data + 1, size - 1, NULL);
    if (!value)
        return -1;
    static struct toolset tools;
    if (tools.tools.len == 0)
        toolset_init(&tools, tool_sources, &(struct tool_host){.root_fd = -1});
    const struct tool *tool = &tools.tools.items[data[0] % tools.tools.len];
    const char *text = tool->spec.schema;
    AUTO(json_free_local) struct json *schema = json_parse(text, strlen(text), &e);
    FUZZ_CHECK_ERROR(schema, &e);
    if (tool_schema_check(schema, value, &e))
        check_fitting(schema, value);
    else
        fuzz_check_error(&e);
    return 0;
}
