#include "chat/session_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"

enum { FENCE_LEAST = 3 };

static const char blanks[] = " \t\r\n";

static size_t longest_run(const char *text, size_t len, char c)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < len; i++) {
        run = text[i] == c ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void add_fence(struct buf *out, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_addch(out, '`');
}

void attached_file_fence(struct buf *out, const char *text, size_t len)
{
    size_t run = longest_run(text, len, '`');
    size_t fence = run < FENCE_LEAST ? FENCE_LEAST : run + 1;
    add_fence(out, fence);
    buf_addch(out, '\n');
    buf_add(out, text, len);
    if (len > 0 && text[len - 1] != '\n')
        buf_addch(out, '\n');
    add_fence(out, fence);
    buf_addch(out, '\n');
}

void attached_file_add(struct buf *out, const char *path, const char *text, size_t len)
{
    buf_addf(out, "%s:\n", path);
    attached_file_fence(out, text, len);
    buf_addch(out, '\n');
}

/* The next line; at the end of the text, that. */
static const char *line_after(const char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* Backticks of a line that has nothing else; 0: it is no fence. */
static size_t fence_of(const char *line)
{
    size_t len = strspn(line, "`");
    return len >= FENCE_LEAST && (line[len] == '\n' || line[len] == '\0') ? len : 0;
}

/* Behind the file that the text begins with; NULL: it begins with none. */
static const char *file_end(const char *text)
{
    size_t name = strcspn(text, "\n");
    const char *at = line_after(text);
    size_t fence = fence_of(at);
    if (name < 2 || text[name - 1] != ':' || fence == 0)
        return NULL;
    for (at = line_after(at); *at; at = line_after(at))
        if (fence_of(at) == fence)
            return line_after(at);
    return NULL;
}

const char *attached_files_end(const char *message)
{
    const char *at = message + strspn(message, blanks), *end;
    while ((end = file_end(at)))
        at = end + strspn(end, blanks);
    return at;
}

const char *attached_files_skip(const char *message)
{
    const char *typed = attached_files_end(message);
    return *typed ? typed : message;
}

#define TITLE_COLUMNS 60
#define TITLE_BYTES 1024 /* of a line are enough to find 60 columns in */

void session_info_init(struct session_info *s)
{
    *s = (struct session_info){.title = mem_strdup(""), .usage = USAGE_UNKNOWN, .cost = -1};
}

void session_info_release(struct session_info *s)
{
    shape_release(&session_info_shape, s);
    *s = (struct session_info){0};
}

struct session_info session_info_clone(const struct session_info *s)
{
    struct session_info copy = *s;
    shape_copy(&session_info_shape, &copy, s);
    return copy;
}

void session_list_release(struct session_list *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        session_info_release(&l->items.items[i]);
    vec_release(&l->items);
}

static const char white[] = " \t\r\n\v\f";

/* Cuts at the column limit, the sign of which takes one. */
static void fit(struct buf *line, bool cut_before, size_t columns)
{
    buf_trim_end(line, " ");
    if (!cut_before && utf8_width(line->data, line->len) <= columns)
        return;
    size_t keep = utf8_cut_width(line->data, line->len, columns - 1);
    while (keep > 0 && line->data[keep - 1] == ' ')
        keep--;
    buf_splice(line, keep, line->len - keep, "…", strlen("…"));
}

static void add_first_line(struct buf *line, const char *text, size_t columns)
{
    text += strspn(text, white);
    size_t len = strcspn(text, "\r\n");
    size_t taken = utf8_cut_bytes(text, len, TITLE_BYTES);
    utf8_clean(line, text, taken, UTF8_ONE_LINE);
    fit(line, taken < len, columns);
}

char *session_title_from(const char *text)
{
    struct buf line = BUF_INIT;
    add_first_line(&line, text, TITLE_COLUMNS);
    return buf_take(&line);
}

char *session_title_of_draft(const struct session_info *s)
{
    bool unsent = !(s->title && *s->title) && s->draft && *s->draft;
    return unsent ? session_title_from(attached_files_skip(s->draft)) : NULL;
}

char *session_title_with(const char *title, const char *suffix)
{
    struct buf line = BUF_INIT;
    add_first_line(&line, title, TITLE_COLUMNS - utf8_width(suffix, strlen(suffix)));
    buf_addstr(&line, suffix);
    return buf_take(&line);
}

/* People write lists with commas, too. */
static const char between_labels[] = ", \t\r\n";

struct labels {
    VEC(char *) words;
};

static bool label_fits(const char *word, size_t len, struct error *e)
{
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, word, len, UTF8_ONE_LINE);
    bool same = clean.len == len && memcmp(clean.data, word, len) == 0;
    buf_release(&clean);
    if (len == 0 || len > LABEL_BYTES || !same)
        return err_set(e, ERR_USAGE, "a label is a word, not \"%.*s\"; use one of 1 to %d bytes",
                       (int)utf8_cut_bytes(word, len, LABEL_BYTES), word, LABEL_BYTES);
    return true;
}

/* Where the word is or would be. */
static size_t labels_find(const struct labels *l, const char *word, bool *there)
{
    size_t i = 0;
    while (i < l->words.len && strcmp(l->words.items[i], word) < 0)
        i++;
    *there = i < l->words.len && strcmp(l->words.items[i], word) == 0;
    return i;
}

static void labels_apply(struct labels *l, bool add, const char *word, size_t len)
{
    bool there;
    char *label = mem_strndup(word, len);
    size_t i = labels_find(l, label, &there);
    if (add && !there) {
        vec_insert(&l->words, i, label);
        return;
    }
    free(label);
    if (!add && there) {
        free(l->words.items[i]);
        vec_remove(&l->words, i, 1);
    }
}

static bool labels_read(struct labels *l, const char *words, struct error *e)
{
    words += strspn(words, between_labels);
    while (*words) {
        size_t len = strcspn(words, between_labels);
        bool add = *words != '-';
        size_t sign = !add || *words == '+';
        if (!label_fits(words + sign, len - sign, e))
            return false;
        labels_apply(l, add, words + sign, len - sign);
        words += len;
        words += strspn(words, between_labels);
    }
    return l->words.len <= LABELS_MAX ||
           err_set(e, ERR_USAGE, "a session has at most %d labels; remove one first", LABELS_MAX);
}

bool session_labels_change(const char *current, const char *words, char **out, struct error *e)
{
    struct labels labels = {0};
    struct buf text = BUF_INIT;
    bool ok = labels_read(&labels, current ? current : "", e) && labels_read(&labels, words, e);
    for (size_t i = 0; i < labels.words.len; i++)
        buf_addf(&text, "%s%s", i > 0 ? " " : "", labels.words.items[i]);
    *out = ok && text.len > 0 ? mem_strdup(text.data) : NULL;
    buf_release(&text);
    vec_free_each(&labels.words);
    return ok;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

static bool has_parent(const void *info)
{
    return *((const struct session_info *)info)->parent;
}

#define AT(T, member) SHAPE_AT(T, struct session_info, member)
#define TEXT(name, member, what)                                                                   \
    SHAPE_FIELD(name, STRING, OPTIONAL, SHAPE_AT_TEXT(struct session_info, member), .help = what)
#define ID(name, PRESENCE, member, what)                                                           \
    SHAPE_FIELD(name, UUID, PRESENCE, offsetof(struct session_info, member), .help = what)
#define TIME(name, PRESENCE, member, what)                                                         \
    SHAPE_FIELD(name, TIME, PRESENCE, AT(int64_t, member), .help = what)
#define NUMBER(name, member, what)                                                                 \
    SHAPE_FIELD(name, INTEGER, DEFAULT, AT(int64_t, member), .nearest = true, .help = what)

/* clang-format off */
static const struct shape_field info_fields[] = {
    ID("id", DEFAULT, id, "Names the session."),
    TEXT("title", title, "Set by hand, else the beginning of the first message."),
    TEXT("directory", directory, "Working directory."),
    TEXT("provider", provider, "The provider that it talks to."),
    TEXT("model", model, "The model that it talks to."),
    TEXT("system", system, "System prompt; absent: the configured one."),
    TEXT("draft", draft, "What was typed and not sent."),
    TEXT("last_line", last_line, "First line of the newest answer."),
    SHAPE_FIELD("labels", WORDS, DEFAULT, SHAPE_AT_TEXT(struct session_info, labels),
                .help = "Sorted words."),
    ID("parent", OPTIONAL, parent, "The session that this one was forked from."),
    SHAPE_FIELD("parent_seq", INTEGER, OPTIONAL, AT(int64_t, parent_seq), .there = has_parent,
                .help = "The last event that came along."),
    TIME("created", DEFAULT, created_ms, "When it began."),
    TIME("updated", DEFAULT, updated_ms, "When something was last said."),
    TIME("archived", OPTIONAL, archived_ms, "When it was archived."),
    NUMBER("messages", messages, "Messages of the transcript."),
    SHAPE_FIELD("turns", COUNT, DEFAULT, AT(int, turns), .help = "Turns."),
    NUMBER("last_seq", last_seq, "Number of the newest event."),
    NUMBER("tool_calls", tool_calls, "Calls of tools."),
    NUMBER("run_ms", run_ms, "How long its turns took, together."),
    SHAPE_FIELD("usage", OBJECT, OPTIONAL, AT(struct usage, usage), .of = &usage_shape,
                .help = "Sum of its model calls."),
    SHAPE_FIELD("cost", NUMBER, OPTIONAL, AT(double, cost), .absent = -1, .nearest = true,
                .help = "USD, sum of the calls whose cost is known."),
    {0},
};
/* clang-format on */

const struct shape session_info_shape = {
    .name = "session", .size = sizeof(struct session_info), .fields = info_fields};

#define LAST_LINE_BYTES 160

static char *first_line(const char *text)
{
    text += strspn(text, " \t\r\n");
    size_t len = strcspn(text, "\r\n");
    return mem_strndup(text, utf8_cut_bytes(text, len, LAST_LINE_BYTES));
}

void session_tally_name(struct session_info *s, const char *first_message)
{
    if (s->title && *s->title)
        return;
    free(s->title);
    s->title = session_title_from(attached_files_skip(first_message ? first_message : ""));
}

void session_tally_reset(struct session_info *s)
{
    free(s->last_line);
    s->last_line = NULL;
    s->messages = s->last_seq = s->tool_calls = s->run_ms = 0;
    s->turns = 0;
    s->usage = USAGE_UNKNOWN;
    s->cost = -1;
}

static void turn_started(struct session_info *s, const struct event *ev)
{
    s->messages++;
    s->turns++;
    free(s->draft);
    s->draft = NULL;
    session_tally_name(s, ev->text);
}

static void text_complete(struct session_info *s, const struct event *ev)
{
    s->messages++;
    free(s->last_line);
    s->last_line = first_line(ev->text ? ev->text : "");
}

static void tool_completed(struct session_info *s, const struct event *ev)
{
    (void)ev;
    s->tool_calls++;
}

static void add_usage(struct session_info *s, const struct event *ev)
{
    if (usage_known(&ev->usage))
        usage_add(&s->usage, &ev->usage);
    s->cost = usage_cost_sum(s->cost, ev->used);
}

/* An imported log may say anything. */
static void add_time(struct session_info *s, int64_t ms)
{
    if (ms > 0)
        s->run_ms = s->run_ms > INT64_MAX - ms ? INT64_MAX : s->run_ms + ms;
}

static void turn_cut(struct session_info *s, const struct event *ev)
{
    add_usage(s, ev);
    add_time(s, ev->number);
}

static void turn_completed(struct session_info *s, const struct event *ev)
{
    add_time(s, ev->number);
}

void session_tally(struct session_info *s, const struct event *ev)
{
    static void (*const effects[EVENT_TYPE_COUNT])(struct session_info *, const struct event *) = {
        [EVENT_TURN_STARTED] = turn_started,
        [EVENT_TEXT_COMPLETE] = text_complete,
        [EVENT_TOOL_EXECUTION_COMPLETED] = tool_completed,
        [EVENT_CALL_COMPLETED] = add_usage,
        [EVENT_COMPACTION_COMPLETED] = add_usage,
        [EVENT_COMPACTION_FAILED] = add_usage,
        [EVENT_LEARNED_EXTRACTED] = add_usage,
        [EVENT_TURN_COMPLETED] = turn_completed,
        [EVENT_TURN_FAILED] = turn_cut,
        [EVENT_INTERRUPTED] = turn_cut,
    };
    if (ev->type != EVENT_LEARNED_EXTRACTED) /* the session was left before */
        s->updated_ms = ev->wall_ms;
    s->last_seq = ev->seq;
    if (effects[ev->type])
        effects[ev->type](s, ev);
}

void search_hits_release(struct search_hits *h)
{
    for (size_t i = 0; i < h->items.len; i++) {
        free(h->items.items[i].title);
        free(h->items.items[i].snippet);
    }
    vec_release(&h->items);
}

#undef AT
#define AT(T, member) SHAPE_AT(T, struct search_hit, member)

/* clang-format off */
static const struct shape_field hit_fields[] = {
    SHAPE_FIELD("session_id", UUID, REQUIRED, offsetof(struct search_hit, session_id),
                .help = "The session."),
    SHAPE_FIELD("title", STRING, OPTIONAL, SHAPE_AT_TEXT(struct search_hit, title),
                .help = "Its title."),
    SHAPE_FIELD("seq", INTEGER, REQUIRED, AT(int64_t, seq),
                .help = "Number of the event that holds the text."),
    SHAPE_FIELD("at", TIME, REQUIRED, AT(int64_t, at_ms), .help = "When it was said."),
    SHAPE_FIELD("role", ENUM, REQUIRED, AT(enum role, role), .names = &role_names,
                .help = "Who said it."),
    SHAPE_FIELD("archived", BOOLEAN, OPTIONAL, AT(bool, archived), .help = "The session is."),
    SHAPE_FIELD("snippet", STRING, OPTIONAL, SHAPE_AT_TEXT(struct search_hit, snippet),
                .help = "One line around what matched first."),
    {0},
};
/* clang-format on */

const struct shape search_hit_shape = {
    .name = "match", .size = sizeof(struct search_hit), .fields = hit_fields};
