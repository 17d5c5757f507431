#include "chat/memory_excerpt.h"

#include <string.h>

#include "base/utf8.h"

/* --- the place -------------------------------------------------------------------------------- */

#define TEXT(member, what)                                                                         \
    SHAPE_FIELD(#member, STRING, OPTIONAL, SHAPE_AT_TEXT(struct memory_place, member), .least = 1, \
                .most = MEMORY_ID_BYTES, .help = what)
#define TURN(member, what)                                                                         \
    SHAPE_FIELD(#member, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct memory_place, member),        \
                .most = 1e15, .absent = -1, .help = what)
#define COUNT(member, what)                                                                        \
    SHAPE_FIELD(#member, COUNT, OPTIONAL, SHAPE_AT(int, struct memory_place, member),              \
                .most = MEMORY_AROUND_MOST, .nearest = true, .absent = MEMORY_AROUND_DEFAULT,      \
                .help = what)
#define ROW(row, member, what) row(member, what),

static const struct shape_field place_fields[] = {MEMORY_PLACE_MEMBERS(ROW, ROW){0}};
const struct shape memory_place_shape = {.name = "parameters",
                                         .size = sizeof(struct memory_place),
                                         .fields = place_fields,
                                         .closed = true};

bool memory_place_check(const struct memory_place *p, struct error *e)
{
    if (p->id ? !utf8_is_blank(p->id) : p->session_id && p->turn >= 0)
        return true;
    return err_set(e, ERR_USAGE,
                   "give \"id\", as memory_search has it, or \"session_id\" and \"turn\"");
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static void write_session(struct json_out *o, const void *excerpt)
{
    const struct memory_excerpt *x = excerpt;
    json_out_string(o, x->entries.items.items[x->asked].session_id);
}

static void write_speaker(struct json_out *o, const void *entry)
{
    json_out_string(o, memory_entry_speaker(entry));
}

static const struct shape_codec session = {.write = write_session,
                                           .schema = "{\"type\":\"string\"}",
                                           .expected = "a string"},
                                speaker = {.write = write_speaker,
                                           .schema = "{\"type\":\"string\"}",
                                           .expected = "a string"};

#define ENTRY(T, member) SHAPE_AT(T, struct memory_entry, member)
#define EXCERPT(T, member) SHAPE_AT(T, struct memory_excerpt, member)

static const struct shape_field entry_fields[] = {
    SHAPE_FIELD("id", OWN, OPTIONAL, 0, .codec = &memory_entry_id, .there = memory_entry_has_id,
                .help = "Names the entry."),
    SHAPE_FIELD("turn", INTEGER, DEFAULT, ENTRY(int64_t, turn),
                .help = "Turn that it was said in; 0: unknown."),
    SHAPE_FIELD("speaker", OWN, REQUIRED, 0, .codec = &speaker, .help = "Who said it."),
    SHAPE_FIELD("created_at", TIME, REQUIRED, ENTRY(int64_t, created_ms),
                .help = "When it was said."),
    SHAPE_FIELD("content", STRING, REQUIRED, SHAPE_AT_TEXT(struct memory_entry, content),
                .help = "What was said."),
    {0},
};
static const struct shape entry_shape = {
    .name = "entry", .size = sizeof(struct memory_entry), .fields = entry_fields};

#define FIELDS(entry)                                                                              \
    {                                                                                              \
        SHAPE_FIELD("session_id", OWN, REQUIRED, 0, .codec = &session,                             \
                    .help = "The session of all of them."),                                        \
            SHAPE_FIELD("asked", COUNT, DEFAULT, EXCERPT(int, asked),                              \
                        .help = "Which of the entries was asked for, from 0."),                    \
            SHAPE_FIELD("bytes_cut", INTEGER, OPTIONAL, EXCERPT(int64_t, bytes_cut),               \
                        .help = "Bytes that its content lacks at the end."),                       \
            SHAPE_FIELD("entries", LIST, REQUIRED, offsetof(struct memory_excerpt, entries.items), \
                        .of = (entry), .help = "In the order of the conversation."),               \
            SHAPE_FIELD("left_out", COUNT, OPTIONAL, EXCERPT(int, left_out),                       \
                        .help = "Neighbours for which there was no room."),                        \
            {0},                                                                                   \
    }

static const struct shape_field whole_fields[] = FIELDS(&memory_entry_shape),
                                model_fields[] = FIELDS(&entry_shape);
const struct shape memory_excerpt_shape = {
    .name = "memory excerpt", .size = sizeof(struct memory_excerpt), .fields = whole_fields};
const struct shape memory_excerpt_model_shape = {
    .name = "memory excerpt", .size = sizeof(struct memory_excerpt), .fields = model_fields};

void memory_excerpt_release(struct memory_excerpt *x)
{
    memory_entries_release(&x->entries);
    *x = (struct memory_excerpt){0};
}

/* --- what fits -------------------------------------------------------------------------------- */

static size_t size_of(const struct shape *shape, const void *object)
{
    struct json_out o = {.buf = NULL};
    shape_write(shape, object, &o);
    return (size_t)o.len;
}

/* What one more entry takes, or more than `most`. */
static size_t size_of_entry(const struct memory_entry *m, size_t most)
{
    return strlen(m->content) > most ? most + 1 : size_of(&entry_shape, m) + 1;
}

/* … of the excerpt with no other entry than the one that was asked for. */
static size_t size_alone(const struct memory_excerpt *x)
{
    struct memory_excerpt lone = {.bytes_cut = x->bytes_cut,
                                  .left_out = (int)x->entries.items.len - 1};
    lone.entries.items.items = &x->entries.items.items[x->asked];
    lone.entries.items.len = 1;
    return size_of(&memory_excerpt_model_shape, &lone);
}

/* Gives what the excerpt takes alone then. */
static size_t cut_content(struct memory_excerpt *x, size_t max)
{
    char *text = x->entries.items.items[x->asked].content;
    size_t whole = strlen(text), len = whole, size;
    while ((size = size_alone(x)) > max && len > 0) {
        len = utf8_cut_bytes(text, len, len / 2);
        text[len] = '\0';
        x->bytes_cut = (int64_t)(whole - len);
    }
    return size;
}

/* A range of the entries. */
struct span {
    size_t first, end;
};

/* The nearest ones whole, as far as there is room; in turn before and behind it. */
static struct span with_neighbours(const struct memory_excerpt *x, size_t room)
{
    const struct memory_entry *items = x->entries.items.items;
    size_t asked = (size_t)x->asked, len = x->entries.items.len;
    struct span s = {asked, asked + 1};
    bool before = s.first > 0, after = s.end < len;
    while (before || after) {
        size_t i = before && (!after || asked - s.first < s.end - asked) ? s.first - 1 : s.end;
        size_t size = size_of_entry(&items[i], room);
        bool fits = size <= room;
        room -= fits ? size : 0;
        if (i < s.first) {
            s.first -= fits;
            before = fits && s.first > 0;
        } else {
            s.end += fits;
            after = fits && s.end < len;
        }
    }
    return s;
}

static void keep(struct memory_excerpt *x, struct span s)
{
    struct memory_entry *items = x->entries.items.items;
    size_t len = x->entries.items.len, kept = s.end - s.first;
    for (size_t i = 0; i < len; i++)
        if (i < s.first || i >= s.end)
            memory_entry_release(&items[i]);
    memmove(items, items + s.first, kept * sizeof *items);
    x->entries.items.len = kept;
    x->asked -= (int)s.first;
    x->left_out = (int)(len - kept);
}

void memory_excerpt_fit(struct memory_excerpt *x, size_t max)
{
    size_t size = cut_content(x, max);
    keep(x, with_neighbours(x, size < max ? max - size : 0));
}
