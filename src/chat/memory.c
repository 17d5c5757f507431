#include "chat/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"

void memory_entry_release(struct memory_entry *m)
{
    shape_release(&memory_entry_shape, m);
    *m = (struct memory_entry){0};
}

void memory_entries_release(struct memory_entries *list)
{
    for (size_t i = 0; i < list->items.len; i++)
        memory_entry_release(&list->items.items[i]);
    vec_release(&list->items);
}

const char *memory_entry_speaker(const struct memory_entry *m)
{
    return m->speaker                          ? m->speaker
           : m->author && m->role == ROLE_USER ? m->author
                                               : role_name(m->role);
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

#define STRING_CODEC(writer)                                                                       \
    {                                                                                              \
        .write = writer, .schema = "{\"type\":\"string\"}", .expected = "a string"                 \
    }

static void write_speaker(struct json_out *o, const void *entry)
{
    json_out_string(o, memory_entry_speaker(entry));
}

static void release_speaker(void *entry)
{
    struct memory_entry *m = entry;
    free(m->speaker);
    m->speaker = NULL;
}

static const struct shape_codec speaker = {.write = write_speaker,
                                           .release = release_speaker,
                                           .schema = "{\"type\":\"string\"}",
                                           .expected = "a string"};

static bool has_id(const void *entry)
{
    return ((const struct memory_entry *)entry)->id;
}

static const char *const origin_words[MEMORY_ORIGINS] = {
    [MEMORY_IMPORTED] = "import", [MEMORY_DROPPED] = "dropped", [MEMORY_LEFT] = "session"};
const struct shape_names memory_origin_names = {origin_words, MEMORY_ORIGINS, -1};

#define AT(T, member) SHAPE_AT(T, struct memory_entry, member)
#define TEXT(member) SHAPE_AT_TEXT(struct memory_entry, member)

/* clang-format off */
const struct shape memory_entry_shape = SHAPE_OF("memory entry", struct memory_entry,
    SHAPE_FIELD("id", OWN, OPTIONAL, 0, .codec = &memory_entry_id, .there = has_id,
                .help = "Id of the entry."),
    SHAPE_FIELD("session_id", STRING, REQUIRED, TEXT(session_id), .least = 1,
                .most = MEMORY_ID_BYTES, .help = "Session of the entry."),
    SHAPE_FIELD("origin", ENUM, OPTIONAL, AT(enum memory_origin, origin),
                .names = &memory_origin_names,
                .help = "How it came: \"dropped\" by a compaction, with a \"session\" that was "
                        "left; absent: by an import."),
    SHAPE_FIELD("turn", INTEGER, DEFAULT, AT(int64_t, turn),
                .help = "Turn of the entry; 0: unknown."),
    SHAPE_OPT(memory_entry, seq, "Event number of its message."),
    SHAPE_REQ_WORD(memory_entry, role, role_names, "Role of the speaker."),
    SHAPE_FIELD("speaker", STRING, OPTIONAL, TEXT(speaker), .most = MEMORY_SPEAKER_BYTES,
                .help = "Name of the speaker; absent: only the role is known."),
    SHAPE_FIELD("created_at", TIME, REQUIRED, AT(int64_t, created_ms),
                .help = "Time of the message."),
    SHAPE_REQ(memory_entry, content, "Text of the entry.", .most = MEMORY_CONTENT_BYTES),
    SHAPE_OPT(memory_entry, pinned, "The entry is pinned: it ranks above equal matches, and later copies do not replace it."),
    SHAPE_OPT(memory_entry, edited, "The user changed the text."),
    SHAPE_OPT(memory_entry, from, "The agent that it was said to, or the shared space; absent: tiro."),
    SHAPE_OPT(memory_entry, author, "Of a shared space: the person who wrote it; absent: you."));
/* clang-format on */

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

/* --- the place -------------------------------------------------------------------------------- */

#undef TEXT
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

static const struct shape_codec session = STRING_CODEC(write_session);

#define ENTRY(T, member) SHAPE_AT(T, struct memory_entry, member)
#define EXCERPT(T, member) SHAPE_AT(T, struct memory_excerpt, member)

static const struct shape entry_shape = SHAPE_OF(
    "entry", struct memory_entry,
    SHAPE_FIELD("id", OWN, OPTIONAL, 0, .codec = &memory_entry_id, .there = has_id,
                .help = "Id of the entry."),
    SHAPE_FIELD("turn", INTEGER, DEFAULT, ENTRY(int64_t, turn),
                .help = "Turn of the entry; 0: unknown."),
    SHAPE_FIELD("speaker", OWN, REQUIRED, 0, .codec = &speaker, .help = "Role of the speaker."),
    SHAPE_FIELD("created_at", TIME, REQUIRED, ENTRY(int64_t, created_ms),
                .help = "Time of the message."),
    SHAPE_FIELD("content", STRING, REQUIRED, SHAPE_AT_TEXT(struct memory_entry, content),
                .help = "Text of the entry."));

#define FIELDS(entry)                                                                              \
    {                                                                                              \
        SHAPE_FIELD("session_id", OWN, REQUIRED, 0, .codec = &session,                             \
                    .help = "Session of the entries."),                                            \
            SHAPE_FIELD("asked", COUNT, DEFAULT, EXCERPT(int, asked),                              \
                        .help = "Index of the requested entry in the list, from 0."),              \
            SHAPE_FIELD("bytes_cut", INTEGER, OPTIONAL, EXCERPT(int64_t, bytes_cut),               \
                        .help = "Bytes cut from the end of its text."),                            \
            SHAPE_FIELD("entries", LIST, REQUIRED, offsetof(struct memory_excerpt, entries.items), \
                        .of = (entry), .help = "In the order of the conversation."),               \
            SHAPE_FIELD("left_out", COUNT, OPTIONAL, EXCERPT(int, left_out),                       \
                        .help = "Number of neighbours that are left out for lack of room."),       \
            {0},                                                                                   \
    }

static const struct shape_field whole_fields[] = FIELDS(&memory_entry_shape),
                                excerpt_model_fields[] = FIELDS(&entry_shape);
const struct shape memory_excerpt_shape = {
    .name = "memory excerpt", .size = sizeof(struct memory_excerpt), .fields = whole_fields};
const struct shape memory_excerpt_model_shape = {.name = "memory excerpt",
                                                 .size = sizeof(struct memory_excerpt),
                                                 .fields = excerpt_model_fields};

void memory_excerpt_release(struct memory_excerpt *x)
{
    memory_entries_release(&x->entries);
    *x = (struct memory_excerpt){0};
}

/* --- what fits -------------------------------------------------------------------------------- */

/* A range of the entries. */
struct span {
    size_t first, end;
};

/* The nearest entries that fit whole, in turn before and after the requested one. */
static struct span with_neighbours(const struct memory_excerpt *x, size_t room)
{
    const struct memory_entry *items = x->entries.items.items;
    size_t asked = (size_t)x->asked, len = x->entries.items.len;
    struct span s = {asked, asked + 1};
    bool before = s.first > 0, after = s.end < len;
    while (before || after) {
        size_t i = before && (!after || asked - s.first < s.end - asked) ? s.first - 1 : s.end;
        size_t size = strlen(items[i].content) > room
                          ? room + 1
                          : (size_t)shape_bytes(&entry_shape, &items[i]) + 1;
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

void memory_excerpt_fit(struct memory_excerpt *x, size_t max)
{
    /* Cut the requested entry so that it fits alone. */
    struct memory_entry *items = x->entries.items.items;
    char *text = items[x->asked].content;
    struct memory_excerpt alone = {.left_out = (int)x->entries.items.len - 1};
    size_t whole = strlen(text), len = whole, size;
    alone.entries.items.items = &items[x->asked];
    alone.entries.items.len = 1;
    alone.bytes_cut = x->bytes_cut;
    while ((size = (size_t)shape_bytes(&memory_excerpt_model_shape, &alone)) > max && len > 0) {
        len = utf8_cut_bytes(text, len, len / 2);
        text[len] = '\0';
        x->bytes_cut = alone.bytes_cut = (int64_t)(whole - len);
    }

    /* Keep it and the neighbours that fit. */
    struct span s = with_neighbours(x, size < max ? max - size : 0);
    size_t count = x->entries.items.len, kept = s.end - s.first;
    for (size_t i = 0; i < count; i++)
        if (i < s.first || i >= s.end)
            memory_entry_release(&items[i]);
    memmove(items, items + s.first, kept * sizeof *items);
    x->entries.items.len = kept;
    x->asked -= (int)s.first;
    x->left_out = (int)(count - kept);
}

void memory_hit_release(struct memory_hit *h)
{
    memory_entry_release(&h->entry);
    vec_release(&h->marks);
    free(h->title);
    free(h->project);
    free(h->question);
}

void memory_hits_release(struct memory_hits *h)
{
    for (size_t i = 0; i < h->items.len; i++)
        memory_hit_release(&h->items.items[i]);
    vec_release(&h->items);
}

void memory_stats_release(struct memory_stats *s)
{
    free(s->language);
    free(s->model);
    free(s->waits_for);
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static bool has_vector(const void *why)
{
    return ((const struct memory_why *)why)->has_vector;
}

#define RANK_MAX 1e18 /* more than any rank */

#define PART(name, member, what)                                                                   \
    SHAPE_FIELD(name, NUMBER, OPTIONAL, SHAPE_AT(double, struct memory_why, member),               \
                .least = -RANK_MAX, .most = RANK_MAX, .decimals = 4, .help = what)

/* A factor of 1 changes nothing and is left out. */
#define FACTOR(member)                                                                             \
    static bool has_##member(const void *why)                                                      \
    {                                                                                              \
        double factor = ((const struct memory_why *)why)->member;                                  \
        return factor > 0 && fabs(factor - 1) > 0.00005;                                           \
    }
FACTOR(length)
FACTOR(asks)
FACTOR(named)
FACTOR(user)
#undef FACTOR

#define WEIGHT(name, member, what)                                                                 \
    SHAPE_FIELD(name, NUMBER, OPTIONAL, SHAPE_AT(double, struct memory_why, member), .least = 0,   \
                .most = RANK_MAX, .decimals = 4, .there = has_##member, .help = what)

const struct shape memory_why_shape = SHAPE_OF(
    "why", struct memory_why,
    PART("words", words, "BM25 score of the entry; of a long entry, of its best passage."),
    SHAPE_OPT(memory_why, passage, "The entry is long; the score is that of its best passage."),
    PART("proximity", proximity, "Score for words that are close to each other."),
    PART("before", before, "Score from the previous entry."),
    PART("after", after, "Share of the entry behind."),
    PART("session", session, "Share of the talk that it stands in."),
    PART("window", window, "Share of the turns around it."),
    PART("weight", weight, "Factor of the sum: the product of the following factors."),
    WEIGHT("length", length, "It is short."), WEIGHT("asks", asks, "It is a mere question."),
    WEIGHT("named", named, "The question names who said it."),
    WEIGHT("user", user, "It is the user's own message."),
    PART("held", held, "Part of the question's words that stand in it, by their rarity."),
    PART("coverage", coverage, "`words` by the most that they can be; the score is made of it."),
    SHAPE_OPT(memory_why, cosine, "Cosine similarity of its vector.", .least = -1, .most = 1,
              .decimals = 4, .there = has_vector),
    SHAPE_OPT(memory_why, exact, "The entry has exactly the text of the query."));

#undef AT
#define AT(T, member) SHAPE_AT(T, struct memory_hit, member)
#undef TEXT
#define TEXT(member) SHAPE_AT_TEXT(struct memory_hit, member)
#define SCORE                                                                                      \
    SHAPE_FIELD("score", NUMBER, DEFAULT, AT(double, score), .decimals = 4,                        \
                .help = "0: nothing in common, 1: the same text.")
#define SESSION                                                                                    \
    SHAPE_FIELD("session_id", STRING, REQUIRED, TEXT(entry.session_id),                            \
                .help = "Session of the entry.")
#undef TURN
#define TURN                                                                                       \
    SHAPE_FIELD("turn", INTEGER, DEFAULT, AT(int64_t, entry.turn),                                 \
                .help = "Turn of the entry; 0: unknown.")
#define ID                                                                                         \
    SHAPE_FIELD("id", OWN, OPTIONAL, offsetof(struct memory_hit, entry),                           \
                .codec = &memory_entry_id, .there = has_id, .help = "Id of the entry.")
#define QUESTION                                                                                   \
    SHAPE_FIELD("question", STRING, OPTIONAL, TEXT(question),                                      \
                .help = "The user's message that a long entry answers.")
#define SAID                                                                                       \
    SHAPE_FIELD("speaker", OWN, REQUIRED, offsetof(struct memory_hit, entry), .codec = &speaker,   \
                .help = "Name of the speaker, else the role."),                                    \
        SHAPE_FIELD("created_at", TIME, REQUIRED, AT(int64_t, entry.created_ms),                   \
                    .help = "Time of the message."),                                               \
        SHAPE_OPT_AS("from", memory_hit, entry.from,                                               \
                     "The agent that it was said to, or the shared space; absent: tiro."),         \
        SHAPE_OPT_AS("author", memory_hit, entry.author,                                           \
                     "Of a shared space: the person who wrote it; absent: you."),                  \
        SHAPE_FIELD("title", STRING, OPTIONAL, TEXT(title), .help = "Title of the session."),      \
        SHAPE_FIELD("project", STRING, OPTIONAL, TEXT(project),                                    \
                    .help = "Working directory of the session.")
#define ORIGIN                                                                                     \
    SHAPE_FIELD("role", ENUM, REQUIRED, AT(enum role, entry.role), .names = &role_names,           \
                .help = "Role of the speaker."),                                                   \
        SAID,                                                                                      \
        SHAPE_FIELD("origin", ENUM, OPTIONAL, AT(enum memory_origin, entry.origin),                \
                    .names = &memory_origin_names,                                                 \
                    .help = "Origin of the entry; absent: imported."),                             \
        SHAPE_FIELD("why", OBJECT, REQUIRED, AT(struct memory_why, why), .of = &memory_why_shape,  \
                    .help = "The parts of its score that are not 0.")

static_assert(offsetof(struct memory_hit, entry) == 0, "has_id() takes a hit");

static bool has_marks(const void *hit)
{
    return ((const struct memory_hit *)hit)->marks.len > 0;
}

static void write_marks(struct json_out *o, const void *hit)
{
    const struct memory_hit *h = hit;
    json_out_open(o, '[');
    for (size_t i = 0; i < h->marks.len; i++) {
        json_out_open(o, '[');
        json_out_number(o, (int64_t)h->marks.items[i].start);
        json_out_number(o, (int64_t)h->marks.items[i].len);
        json_out_close(o, ']');
    }
    json_out_close(o, ']');
}

static void release_marks(void *hit)
{
    vec_release(&((struct memory_hit *)hit)->marks);
}

static const struct shape_codec marks = {
    .write = write_marks,
    .release = release_marks,
    .schema =
        "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},"
        "\"minItems\":2,\"maxItems\":2}}",
    .expected = "pairs of whole numbers"};

/* clang-format off */
const struct shape memory_hit_shape = SHAPE_OF("memory hit", struct memory_hit,
    ID,
    SHAPE_REQ_AS("content", memory_hit, entry.content, "Text of the entry."),
    SCORE,
    SESSION,
    TURN,
    ORIGIN,
    QUESTION,
    SHAPE_FIELD("marks", OWN, OPTIONAL, 0, .codec = &marks, .there = has_marks,
                .help = "Offset and length of each word of the query in the text."));
/* clang-format on */

/* The whole text if the passage does not lie in it. */
char *memory_hit_passage(const struct memory_hit *h)
{
    size_t len = strlen(h->entry.content);
    struct memory_span p = h->passage;
    if (p.len == 0 || p.start > len || p.len > len - p.start)
        return mem_strdup(h->entry.content);
    return mem_strndup(h->entry.content + p.start, p.len);
}

static void write_passage(struct json_out *o, const void *hit)
{
    auto_free char *text = memory_hit_passage(hit);
    json_out_string(o, text);
}

static const struct shape_codec passage = STRING_CODEC(write_passage);

static void write_for_model(struct json_out *o, const void *hit)
{
    const struct memory_hit *h = hit;
    size_t len = strlen(h->entry.content);
    if (utf8_cut_points(h->entry.content, len, MEMORY_PASSAGE) == len) {
        json_out_string(o, h->entry.content);
        return;
    }
    auto_free char *part = memory_hit_passage(h);
    auto_free char *text =
        mem_printf("%s\n[a part of %zu bytes; memory_read gives the whole]", part, len);
    json_out_string(o, text);
}

static const struct shape_codec for_model = STRING_CODEC(write_for_model);

/* The model's hits, and the same for people. */
const struct shape memory_hit_model_shape =
    SHAPE_OF("memory hit", struct memory_hit,
             SHAPE_FIELD("content", OWN, REQUIRED, 0, .codec = &for_model,
                         .help = "Text of the entry; of a long text, its best passage."),
             SCORE, SESSION, TURN, ID, SAID);

static const struct shape told_shape =
    SHAPE_OF("memory hit", struct memory_hit, ID, SCORE, SESSION, TURN, ORIGIN,
             SHAPE_FIELD("content", OWN, REQUIRED, 0, .codec = &passage,
                         .help = "Best passage of the entry."),
             SHAPE_OPT_AS("seq", memory_hit, entry.seq, "Event number of its message."));

char *memory_hits_json(const struct memory_hits *h, bool told)
{
    const struct shape *s = told ? &told_shape : &memory_hit_model_shape;
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '[');
    for (size_t i = 0; i < h->items.len; i++)
        shape_write(s, &h->items.items[i], &o);
    json_out_close(&o, ']');
    return buf_take(&text);
}

enum {
    QUESTION_BYTES = 200,
    NOTE_BYTES = 48,  /* of the line that tells how many hits were left out */
    WHOLE_ANSWERS = 2 /* first hits that may be whole although they are long answers */
};

/* A hit of the same day as the one above it has no date. `above`: NULL: none. */
static void add_hit(struct buf *out, const struct memory_hit *h, const struct memory_hit *above,
                    bool whole)
{
    const struct memory_entry *m = &h->entry;
    char said[25], said_above[25] = "";
    auto_free char *text = whole ? mem_strdup(m->content) : memory_hit_passage(h);
    rfc3339_format(m->created_ms, said);
    if (above)
        rfc3339_format(above->entry.created_ms, said_above);
    if (h->key)
        buf_addf(out, "#%" PRId64, h->key);
    else
        buf_addstr(out, m->id ? m->id : "");
    if (strncmp(said, said_above, 10) != 0)
        buf_addf(out, " %.10s", said);
    buf_addf(out, " %s", memory_entry_speaker(m));
    if (m->from)
        buf_addf(out, " (%s)", m->from);
    if (h->title)
        buf_addf(out, " in \"%s\"", h->title);
    if (h->question) {
        buf_addstr(out, "\n? ");
        utf8_add_cut(out, h->question, strlen(h->question), QUESTION_BYTES);
    }
    buf_addf(out, "\n%s%s\n", text, strlen(text) < strlen(m->content) ? " [a part]" : "");
}

/* A long answer that is whole takes at most half of the room. Another one fits only while the long
 * answers take at most a third of the room, which leaves the rest to many short messages. */
void memory_hits_fit(struct memory_hits *h, size_t most, struct buf *out)
{
    size_t kept = 0, left_out = 0, bytes = 0, answers = 0, rank = 0;
    most = most > NOTE_BYTES ? most - NOTE_BYTES : 0;
    for (size_t i = 0; i < h->items.len; i++) {
        struct memory_hit *hit = &h->items.items[i];
        const struct memory_hit *above = kept > 0 ? &h->items.items[kept - 1] : NULL;
        AUTO(buf_release) struct buf text = BUF_INIT;
        bool first = hit->score > 0 && rank++ < WHOLE_ANSWERS;
        add_hit(&text, hit, above, !hit->question || first);
        bool whole = hit->question && first && text.len <= most / 2;
        if (!whole && (hit->question || out->len + text.len > most)) {
            buf_clear(&text);
            add_hit(&text, hit, above, false);
        }
        bool fits = out->len + text.len <= most &&
                    (!hit->question || whole || answers + text.len <= most / 3);
        answers += fits && hit->question ? text.len : 0;
        if (fits) {
            buf_add(out, text.data, text.len);
            h->items.items[kept++] = *hit;
        } else {
            left_out++;
            bytes += text.len;
            memory_hit_release(hit);
        }
    }
    h->items.len = kept;
    if (kept + left_out == 0)
        buf_addstr(out, "Nothing was found.");
    if (left_out > 0)
        buf_addf(out, "%zu more of about %zu tokens did not fit.", left_out, bytes / 4);
    buf_trim_end(out, "\n");
}

#define STAT(name, member, what)                                                                   \
    SHAPE_FIELD(name, INTEGER, DEFAULT, SHAPE_AT(int64_t, struct memory_stats, member),            \
                .help = what)
#define SOME(name, member, what)                                                                   \
    SHAPE_FIELD(name, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct memory_stats, member),           \
                .help = what)
#define STAT_TEXT(name, member, what)                                                              \
    SHAPE_FIELD(name, STRING, OPTIONAL, SHAPE_AT_TEXT(struct memory_stats, member), .help = what)
#define STAT_FLAG(name, member, what)                                                              \
    SHAPE_FIELD(name, BOOLEAN, DEFAULT, SHAPE_AT(bool, struct memory_stats, member), .help = what)

/* clang-format off */
const struct shape memory_stats_shape = SHAPE_OF("memory", struct memory_stats,
    STAT("entries", entries, "Entries."),
    STAT("sessions", sessions, "Number of sessions with entries."),
    STAT("pinned", pinned, "Entries that are pinned."),
    SOME("dropped", dropped, "Entries that compactions dropped."),
    SOME("left", left, "Entries of sessions that were left."),
    SOME("deferred", deferred, "Messages that are still to be indexed."),
    SOME("unasked", unasked, "Sessions from before, of which it is not said whether they come in."),
    SOME("backlog", backlog, "Sessions from before that come in now."),
    SOME("backlog_done", backlog_done, "So many of them did."),
    STAT("flagged", flagged, "Summaries that quote what was forgotten."),
    STAT("bytes", bytes, "Size of memory in the database."),
    STAT_TEXT("language", language, "The words are stemmed in it."),
    STAT_FLAG("language_stale", language_stale, "Another one is configured: reindex."),
    STAT_TEXT("model", model, "The model of the vectors."),
    SHAPE_FIELD("dimension", COUNT, DEFAULT, SHAPE_AT(int, struct memory_stats, dimension),
                .help = "Dimensions of a vector."),
    STAT("embedded", embedded, "Entries with a vector of that model."),
    STAT("missing", missing, "Entries without a vector."),
    STAT("stale", stale, "Vectors of other models."),
    STAT_FLAG("graph", graph, "A graph over the vectors is in use."),
    SHAPE_OPT(memory_stats, embedding, "Vectors are being computed."),
    SOME("pending", pending, "Number of entries that still need a vector."),
    STAT_TEXT("waits_for", waits_for, "Why the vectors wait, in English."));
/* clang-format on */
