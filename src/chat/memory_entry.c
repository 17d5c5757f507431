#include "chat/memory_entry.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chat/figure.h"

void memory_entry_release(struct memory_entry *m)
{
    shape_release(&memory_entry_shape, m);
    *m = (struct memory_entry){0};
}

struct memory_entry memory_entry_clone(const struct memory_entry *m)
{
    struct memory_entry copy = *m;
    copy.id = mem_strdup(m->id);
    copy.session_id = mem_strdup(m->session_id);
    copy.speaker = mem_strdup(m->speaker);
    copy.content = mem_strdup(m->content);
    return copy;
}

void memory_entries_release(struct memory_entries *list)
{
    for (size_t i = 0; i < list->items.len; i++)
        memory_entry_release(&list->items.items[i]);
    vec_release(&list->items);
}

const char *memory_entry_speaker(const struct memory_entry *m)
{
    return m->speaker ? m->speaker : role_name(m->role);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static void write_id(struct json_out *o, const void *entry)
{
    const struct memory_entry *m = entry;
    if (m->id_is_number)
        json_out_raw(o, m->id);
    else
        json_out_string(o, m->id);
}

static bool read_id(const struct json *v, void *entry)
{
    struct memory_entry *m = entry;
    const char *text = json_string(v);
    double n = json_number(v, NAN);
    m->id_is_number = !text;
    if (text)
        m->id = mem_strdup(text);
    else if (figure_from(fabs(n), FIGURE_MAX) >= 0)
        m->id = mem_printf("%" PRId64, (int64_t)n);
    return m->id && *m->id && strlen(m->id) <= MEMORY_ID_BYTES;
}

static void release_id(void *entry)
{
    struct memory_entry *m = entry;
    free(m->id);
    m->id = NULL;
    m->id_is_number = false;
}

const struct shape_codec memory_entry_id = {
    .write = write_id,
    .read = read_id,
    .release = release_id,
    .schema = "{\"type\":[\"string\",\"integer\"]}",
    .expected = "a string that is not empty, or a whole number",
};

bool memory_entry_has_id(const void *entry)
{
    return ((const struct memory_entry *)entry)->id;
}

static const char *const origin_words[MEMORY_ORIGINS] = {
    [MEMORY_IMPORTED] = "import", [MEMORY_DROPPED] = "dropped", [MEMORY_LEFT] = "session"};
const struct shape_names memory_origin_names = {origin_words, MEMORY_ORIGINS, -1};

#define AT(T, member) SHAPE_AT(T, struct memory_entry, member)
#define TEXT(member) SHAPE_AT_TEXT(struct memory_entry, member)

/* clang-format off */
static const struct shape_field fields[] = {
    SHAPE_FIELD("id", OWN, OPTIONAL, 0, .codec = &memory_entry_id, .there = memory_entry_has_id,
                .help = "Names the entry."),
    SHAPE_FIELD("session_id", STRING, REQUIRED, TEXT(session_id), .least = 1,
                .most = MEMORY_ID_BYTES, .help = "The session that it was said in."),
    SHAPE_FIELD("origin", ENUM, OPTIONAL, AT(enum memory_origin, origin),
                .names = &memory_origin_names,
                .help = "How it came: \"dropped\" by a compaction, with a \"session\" that was "
                        "left; absent: by an import."),
    SHAPE_FIELD("turn", INTEGER, DEFAULT, AT(int64_t, turn),
                .help = "Turn that it was said in; 0: unknown."),
    SHAPE_FIELD("seq", INTEGER, OPTIONAL, AT(int64_t, seq),
                .help = "Number of the event of its message."),
    SHAPE_FIELD("role", ENUM, REQUIRED, AT(enum role, role), .names = &role_names,
                .help = "Who said it."),
    SHAPE_FIELD("speaker", STRING, OPTIONAL, TEXT(speaker), .most = MEMORY_SPEAKER_BYTES,
                .help = "A name; absent: the role stands for it."),
    SHAPE_FIELD("created_at", TIME, REQUIRED, AT(int64_t, created_ms),
                .help = "When it was said."),
    SHAPE_FIELD("content", STRING, REQUIRED, TEXT(content), .most = MEMORY_CONTENT_BYTES,
                .help = "What was said."),
    SHAPE_FIELD("pinned", BOOLEAN, OPTIONAL, AT(bool, pinned),
                .help = "It wins ties, and no copy replaces it."),
    SHAPE_FIELD("edited", BOOLEAN, OPTIONAL, AT(bool, edited), .help = "The user changed it."),
    {0},
};
/* clang-format on */

const struct shape memory_entry_shape = {
    .name = "memory entry", .size = sizeof(struct memory_entry), .fields = fields};

bool memory_entry_read(const struct json *v, struct memory_entry *out, struct error *e)
{
    *out = (struct memory_entry){0};
    if (!shape_read(&memory_entry_shape, v, out, e))
        return false;
    if (out->speaker && !*out->speaker) {
        free(out->speaker);
        out->speaker = NULL;
    }
    return true;
}
