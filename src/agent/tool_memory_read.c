#include <math.h>

#include "agent/toolset.h"
#include "base/json_out.h"

/* Any number will do: a model need not know the bounds. */
static int wanted(const struct json *args, const char *name)
{
    double n = floor(json_get_number(args, name, MEMORY_AROUND_DEFAULT));
    return n < 0 ? 0 : n > MEMORY_AROUND_MOST ? MEMORY_AROUND_MOST : (int)n;
}

static struct memory_place place_of(const struct json *args)
{
    double turn = json_get_number(args, "turn", -1);
    return (struct memory_place){.id = json_get_string(args, "id"),
                                 .session_id = json_get_string(args, "session_id"),
                                 .turn = turn >= 0 && turn < 1e15 ? (int64_t)turn : -1,
                                 .before = wanted(args, "before"),
                                 .after = wanted(args, "after")};
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_memory *memory = context->self;
    struct memory_place place = place_of(args);
    struct memory_excerpt excerpt = {0};
    struct json_out o = {.buf = out};
    struct error e = {0};
    if (!memory_place_check(&place, &e) || !memory->read(memory->context, &place, &excerpt, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    memory_excerpt_fit(&excerpt, context->max_output);
    shape_write(&memory_excerpt_model_shape, &excerpt, &o);
    memory_excerpt_release(&excerpt);
    return true;
}

/* Numbers with a point are taken, though models are not told so. */
#define TEXT(number) "string"
#define TURN(number) number
#define COUNT(number) number
#define MEMBER(type, name, what)                                                                   \
    "\"" #name "\":{\"type\":\"" type "\",\"description\":\"" what "\"}"
#define TOLD(row, name, what) MEMBER(row("integer"), name, what)
#define TOLD_NEXT(row, name, what) "," TOLD(row, name, what)
#define TAKEN(row, name, what) MEMBER(row("number"), name, what)
#define TAKEN_NEXT(row, name, what) "," TAKEN(row, name, what)
#define SCHEMA(first, next)                                                                        \
    "{\"type\":\"object\",\"properties\":{" MEMORY_PLACE_MEMBERS(first, next) "},"                \
    "\"additionalProperties\":false}"

const struct tool tool_memory_read = {
    .spec = {.name = "memory_read",
             .description = "Read an entry of semantic memory in full, and what was said around "
                            "it: for hits of memory_search that are parts of long messages, or "
                            "make sense only with the turns beside them.",
             .schema = SCHEMA(TOLD, TOLD_NEXT)},
    .accepts = SCHEMA(TAKEN, TAKEN_NEXT),
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .lacks = tool_memory_lacks,
    .run = run,
};
