#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/toolset.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "memory/memory.h"

enum { AROUND_DEFAULT = 2, AROUND_MOST = 20 };

/* What is given: a range of the entries, the one that was asked for cut where it must be. */
struct excerpt {
    const struct memory_entries *entries;
    size_t asked;
    size_t first, end; /* those that are given */
    size_t most;       /* bytes of the one that was asked for */
};

/* --- as JSON ---------------------------------------------------------------------------------- */

static void write_content(struct json_out *o, const char *text, size_t most)
{
    size_t len = strlen(text), given = utf8_cut_bytes(text, len, most);
    char *part = mem_strndup(text, given);
    json_out_member(o, "content", part);
    if (given < len)
        json_out_int(o, "bytes_cut", (int64_t)(len - given));
    free(part);
}

static void write_member(struct json_out *o, const char *name, const struct memory_entry *m)
{
    json_out_name(o, name);
    shape_write_value(&memory_entry_shape, name, m, o);
}

static void write_entry(struct json_out *o, const struct memory_entry *m, size_t most)
{
    json_out_open(o, '{');
    write_member(o, "id", m);
    write_member(o, "turn", m);
    json_out_member(o, "speaker", memory_entry_speaker(m));
    write_member(o, "created_at", m);
    write_content(o, m->content, most);
    json_out_close(o, '}');
}

/* The caller frees. */
static char *print(const struct excerpt *x)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    size_t given = x->end - x->first;
    json_out_open(&o, '{');
    write_member(&o, "session_id", &x->entries->items.items[x->asked]);
    json_out_int(&o, "asked", (int64_t)(x->asked - x->first));
    json_out_name(&o, "entries");
    json_out_open(&o, '[');
    for (size_t i = x->first; i < x->end; i++)
        write_entry(&o, &x->entries->items.items[i], i == x->asked ? x->most : SIZE_MAX);
    json_out_close(&o, ']');
    if (given < x->entries->items.len)
        json_out_int(&o, "left_out", (int64_t)(x->entries->items.len - given));
    json_out_close(&o, '}');
    return buf_take(&text);
}

/* --- what fits -------------------------------------------------------------------------------- */

/* What it takes as JSON, or more than `most`. */
static size_t size_of(const struct memory_entry *m, size_t most)
{
    struct json_out o = {.buf = NULL};
    if (strlen(m->content) > most)
        return most + 1;
    write_entry(&o, m, SIZE_MAX);
    return (size_t)o.len + 1;
}

/* The nearest ones whole, as far as there is room; in turn before and behind it. */
static void add_neighbours(struct excerpt *x, size_t room)
{
    const struct memory_entry *items = x->entries->items.items;
    bool before = x->first > 0, after = x->end < x->entries->items.len;
    while (before || after) {
        size_t i =
            before && (!after || x->asked - x->first < x->end - x->asked) ? x->first - 1 : x->end;
        size_t size = size_of(&items[i], room);
        bool fits = size <= room;
        room -= fits ? size : 0;
        if (i < x->first) {
            x->first -= fits;
            before = fits && x->first > 0;
        } else {
            x->end += fits;
            after = fits && x->end < x->entries->items.len;
        }
    }
}

/* The entry itself comes first. The caller frees. */
static char *fitting(const struct memory_entries *entries, size_t asked, size_t max)
{
    struct excerpt x = {
        .entries = entries, .asked = asked, .first = asked, .end = asked + 1, .most = max};
    char *text = print(&x);
    while (strlen(text) > max && x.most > 0) {
        x.most /= 2;
        free(text);
        text = print(&x);
    }
    add_neighbours(&x, strlen(text) < max ? max - strlen(text) : 0);
    free(text);
    return print(&x);
}

/* --- the call --------------------------------------------------------------------------------- */

/* Any number will do: a model need not know the bounds. */
static int wanted(const struct json *args, const char *name)
{
    double n = floor(json_get_number(args, name, AROUND_DEFAULT));
    return n < 0 ? 0 : n > AROUND_MOST ? AROUND_MOST : (int)n;
}

static bool read_place(const struct json *args, struct memory_around *out, struct buf *fault)
{
    double turn = json_get_number(args, "turn", -1);
    *out = (struct memory_around){.id = json_get_string(args, "id"),
                                  .session_id = json_get_string(args, "session_id"),
                                  .turn = turn >= 0 && turn < 1e15 ? (int64_t)turn : -1,
                                  .before = wanted(args, "before"),
                                  .after = wanted(args, "after")};
    if (out->id ? !utf8_is_blank(out->id) : out->session_id && out->turn >= 0)
        return true;
    buf_addstr(fault, "give \"id\", as memory_search has it, or \"session_id\" and \"turn\"");
    return false;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_memory *memory = context->self;
    struct memory_entries entries = {0};
    struct memory_around place;
    struct error e = {0};
    size_t asked;
    if (!read_place(args, &place, out))
        return false;
    if (!memory->read(memory->context, &place, &entries, &asked, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    char *text = fitting(&entries, asked, context->max_output);
    buf_addstr(out, text);
    free(text);
    memory_entries_release(&entries);
    return true;
}

#define SCHEMA(number)                                                                             \
    "{\"type\":\"object\",\"properties\":{"                                                        \
    "\"id\":{\"type\":\"string\",\"description\":\"the entry, as memory_search names it\"},"       \
    "\"session_id\":{\"type\":\"string\",\"description\":\"instead of id, with turn\"},"           \
    "\"turn\":{\"type\":\"" number                                                                 \
    "\",\"description\":\"the first entry of this turn\"},"                                        \
    "\"before\":{\"type\":\"" number                                                               \
    "\",\"description\":\"how many entries before it; default 2, at most 20\"},"                   \
    "\"after\":{\"type\":\"" number                                                                \
    "\",\"description\":\"how many entries after it; default 2, at most 20\"}},"                   \
    "\"additionalProperties\":false}"

const struct tool tool_memory_read = {
    .spec = {.name = "memory_read",
             .description = "Read an entry of semantic memory in full, and what was said around "
                            "it: for hits of memory_search that are parts of long messages, or "
                            "make sense only with the turns beside them.",
             .schema = SCHEMA("integer")},
    .accepts = SCHEMA("number"),
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .lacks = tool_memory_lacks,
    .run = run,
};
