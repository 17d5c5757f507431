#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/toolset.h"
#include "base/json_out.h"

enum { DEFAULT_ITEMS = 10, MOST_ITEMS = 50 };

static int wanted(const struct json *args)
{
    double n = floor(json_get_number(args, "limit", DEFAULT_ITEMS));
    return n < 1 ? 1 : n > MOST_ITEMS ? MOST_ITEMS : (int)n;
}

/* What of an item is of use to a model. */
static void write_item(struct json_out *o, const struct learned_item *item)
{
    json_out_open(o, '{');
    json_out_member(o, "id", item->id);
    json_out_member(o, "scope", learned_scope_word(item->scope));
    json_out_member(o, "kind", learned_kind_word(item->kind));
    json_out_member(o, "session_id", item->session_id);
    json_out_member(o, "text", item->text);
    json_out_close(o, '}');
}

/* As many as fit, best first: cut in the middle it would be no JSON. */
static void write_items(struct buf *out, const struct learned_items *items, size_t max)
{
    size_t count = items->items.len;
    do {
        struct json_out o = {.buf = out};
        buf_clear(out);
        json_out_open(&o, '[');
        for (size_t i = 0; i < count; i++)
            write_item(&o, &items->items.items[i]);
        json_out_close(&o, ']');
    } while (out->len > max && count-- > 0);
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_learned *learned = context->self;
    const struct tool_learned_query query = {.query = json_get_string(args, "query"),
                                             .scope = json_get_string(args, "scope"),
                                             .kind = json_get_string(args, "kind"),
                                             .tag = json_get_string(args, "tag"),
                                             .session = json_get_string(args, "session_id"),
                                             .limit = wanted(args)};
    struct learned_items items = {0};
    struct buf text = BUF_INIT;
    struct error e = {0};
    bool ok = learned->search(learned->context, &query, &items, &e);
    if (ok)
        write_items(&text, &items, context->max_output);
    else
        buf_addf(&text, "what was learned could not be searched: %s", e.text);
    buf_addstr(out, text.data);
    buf_release(&text);
    learned_items_release(&items);
    return ok;
}

#define STRING(name, help) "\"" name "\":{\"type\":\"string\",\"description\":\"" help "\"}"
#define SCHEMA(number)                                                                             \
    "{\"type\":\"object\",\"properties\":{" STRING(                                                \
        "query", "words to look for; left out: the newest") "," STRING("scope",                    \
                                                                       "project or user")          \
    "," STRING("kind", "fact, rule, language, style, tone, format or emoji") "," STRING(           \
        "tag", "only texts with this #tag") "," STRING("session_id",                               \
                                                       "only what was said in that session")       \
    ",\"limit\":{\"type\":\"" number                                                                \
    "\",\"description\":\"how many; default 10, at most 50\"}},\"additionalProperties\":false}"

static const char *lacks(const void *self)
{
    const struct tool_learned *learned = self;
    if (!learned || learned->told)
        return "the prompt has all of learned memory";
    return learned->off ? "the user switched memory off in this session" : NULL;
}

static const struct tool tool = {
    .spec = {.name = "learned_search",
             .description = "Search learned memory: facts and preferences of the user's that "
                            "earlier sessions kept. The prompt has only their beginnings.",
             .schema = SCHEMA("integer")},
    .accepts = SCHEMA("number"),
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .lacks = lacks,
    .run = run,
};

static void list(struct tool_host *host, struct toolset *out)
{
    toolset_add(out, &tool, (void *)host->learned);
}

const struct tool_source tool_source_learned = {.name = "learned", .list = list};
