#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/toolset.h"
#include "base/mem.h"
#include "base/rfc3339.h"
#include "base/utf8.h"
#include "memory/recall.h"

/* Any number will do: a model need not know the bounds. */
static int wanted(const struct json *args)
{
    double n = floor(json_get_number(args, "limit", RECALL_DEFAULT));
    return n < 1 ? 1 : n > RECALL_MOST ? RECALL_MOST : (int)n;
}

/* Tells what the model was given, and why. */
static void tell(const struct tool_context *context, const char *query, int limit,
                 const struct memory_hits *hits)
{
    if (!context->tell)
        return;
    struct event *ev = event_new(EVENT_MEMORY_RECALLED);
    ev->text = mem_strdup(query);
    ev->limit = limit;
    ev->hits = memory_hits_told(hits);
    ev->name = mem_strdup(hits->badge);
    context->tell(context->tell_context, ev);
}

/* Cut in the middle it would be no JSON: the worst hits give way. The caller frees. */
static char *fitting_result(const struct tool_context *context, struct memory_hits *hits)
{
    char *text = memory_hits_for_model(hits);
    while (strlen(text) > context->max_output && hits->items.len > 0) {
        memory_hit_release(&vec_last(&hits->items));
        hits->items.len--;
        free(text);
        text = memory_hits_for_model(hits);
    }
    return text;
}

static bool read_date(const struct json *args, const char *name, int64_t *wall_ms, struct buf *out)
{
    const char *text = json_get_string(args, name);
    if (!text || rfc3339_parse(text, wall_ms))
        return true;
    buf_addf(out, "argument \"%s\" is no date; give one as 2026-05-01 or 2026-05-01T14:00:00Z",
             name);
    return false;
}

static bool read_filter(const struct json *args, struct memory_filter *f, struct buf *out)
{
    const char *origin = json_get_string(args, "origin");
    for (int i = 0; origin && i < memory_origin_names.count; i++)
        if (strcmp(memory_origin_names.words[i], origin) == 0)
            f->origin = 1 + i;
    f->project = json_get_string(args, "project");
    return read_date(args, "after", &f->after_ms, out) &&
           read_date(args, "before", &f->before_ms, out);
}

static bool search(const struct tool_context *context, const char *query, int limit,
                   const struct memory_filter *filter, struct buf *out)
{
    const struct tool_memory *memory = context->self;
    struct memory_hits hits = {.badge = NULL};
    struct error e = {0};
    if (!memory->search(memory->context, query, limit, filter, &hits, &e)) {
        if (!tool_stopped(context, out))
            buf_addf(out, "the memory could not be searched: %s", e.text);
        memory_hits_release(&hits);
        return false;
    }
    char *text = fitting_result(context, &hits);
    tell(context, query, limit, &hits);
    buf_addstr(out, text);
    free(text);
    memory_hits_release(&hits);
    return true;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const char *query = json_get_string(args, "query");
    if (utf8_is_blank(query)) {
        buf_addstr(out, "argument \"query\" must not be empty: say what to recall");
        return false;
    }
    struct memory_filter filter = {.project = NULL};
    return read_filter(args, &filter, out) && search(context, query, wanted(args), &filter, out);
}

#define SCHEMA(number)                                                                             \
    "{\"type\":\"object\",\"properties\":{"                                                        \
    "\"query\":{\"type\":\"string\",\"description\":\"what to recall, in natural language\"},"     \
    "\"limit\":{\"type\":\"" number                                                                \
    "\",\"description\":\"how many results; default 5, at most 20\"},"                             \
    "\"after\":{\"type\":\"string\",\"description\":\"only what was said on this date, as "        \
    "2026-05-01, or later\"},"                                                                     \
    "\"before\":{\"type\":\"string\",\"description\":\"only what was said before this date\"},"    \
    "\"project\":{\"type\":\"string\",\"description\":\"only sessions with this working "          \
    "directory: its path, or the last part of it\"},"                                              \
    "\"origin\":{\"type\":\"string\",\"enum\":[\"import\",\"dropped\",\"session\"],"                \
    "\"description\":\"only what was imported, dropped by a compaction, or left with a "           \
    "session\"}},"                                                                                 \
    "\"required\":[\"query\"],\"additionalProperties\":false}"

const char *tool_memory_lacks(const void *self)
{
    const struct tool_memory *memory = self;
    if (!memory)
        return "there is no memory here";
    return memory->off ? "the user switched memory off in this session" : NULL;
}

static const struct tool tool = {
    .spec = {.name = "memory_search",
             .description = "Search semantic memory for past conversation content. Memory "
                            "contains text from earlier conversation turns that were compacted "
                            "away to save context space.",
             .schema = SCHEMA("integer")},
    .accepts = SCHEMA("number"),
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .skill = "memory-retrieval",
    .lacks = tool_memory_lacks,
    .run = run,
};

static void list(struct tool_host *host, struct toolset *out)
{
    toolset_add(out, &tool, (void *)host->memory);
    toolset_add(out, &tool_memory_read, (void *)host->memory);
}

const struct tool_source tool_source_memory = {.name = "memory", .list = list};
