#include "chat/session_info.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/usage.h"

/* --- attached files --------------------------------------------------------------------------- */

enum { FENCE_LEAST = 3 };

void attached_file_fence(struct buf *out, const char *text, size_t len)
{
    size_t fence = FENCE_LEAST, run = 0; /* longer than any run of backticks in the text */
    for (size_t i = 0; i < len; i++) {
        run = text[i] == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    struct buf ticks = BUF_INIT;
    for (size_t i = 0; i < fence; i++)
        buf_addch(&ticks, '`');
    buf_addf(out, "%s\n", ticks.data);
    buf_add(out, text, len);
    if (len > 0 && text[len - 1] != '\n')
        buf_addch(out, '\n');
    buf_addf(out, "%s\n", ticks.data);
    buf_release(&ticks);
}

void attached_file_add(struct buf *out, const char *path, const char *text, size_t len)
{
    buf_addf(out, "%s:\n", path);
    attached_file_fence(out, text, len);
    buf_addch(out, '\n');
}

/* The next line, or the end of the text. */
static const char *line_after(const char *at)
{
    at += strcspn(at, "\n");
    return *at ? at + 1 : at;
}

/* The number of backticks of a line that has nothing else; 0: it is no fence. */
static size_t fence_of(const char *line)
{
    size_t len = strspn(line, "`");
    return len >= FENCE_LEAST && (line[len] == '\n' || line[len] == '\0') ? len : 0;
}

int64_t attached_file_lines(const char *text)
{
    const char *at = line_after(text);
    size_t fence = fence_of(at);
    int64_t lines = 0;
    for (at = line_after(at); fence > 0 && *at && fence_of(at) != fence; at = line_after(at))
        lines++;
    return lines;
}

const char *attached_files_end(const char *message)
{
    static const char blanks[] = " \t\r\n";
    for (const char *text = message + strspn(message, blanks);;) {
        /* "NAME:", a fence, the file, the fence */
        size_t name = strcspn(text, "\n");
        const char *at = line_after(text);
        size_t fence = fence_of(at);
        if (name < 2 || text[name - 1] != ':' || fence == 0)
            return text;
        for (at = line_after(at); *at && fence_of(at) != fence; at = line_after(at))
            ;
        if (!*at)
            return text;
        at = line_after(at);
        text = at + strspn(at, blanks);
    }
}

const char *attached_files_skip(const char *message)
{
    const char *typed = attached_files_end(message);
    return *typed ? typed : message;
}

/* --- session infos ---------------------------------------------------------------------------- */

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

enum {
    TITLE_COLUMNS = 60,
    TITLE_BYTES = 1024 /* of a line are enough to find 60 columns in */
};

char *session_title_from(const char *text, const char *suffix)
{
    size_t columns = TITLE_COLUMNS - utf8_width(suffix, strlen(suffix));
    struct buf line = BUF_INIT;
    text += strspn(text, " \t\r\n\v\f");
    size_t len = strcspn(text, "\r\n"), taken = utf8_cut_bytes(text, len, TITLE_BYTES);
    utf8_clean(&line, text, taken, UTF8_ONE_LINE);
    buf_trim_end(&line, " ");
    if (taken < len || utf8_width(line.data, line.len) > columns) {
        buf_truncate(&line, utf8_cut_width(line.data, line.len, columns - 1));
        buf_trim_end(&line, " ");
        buf_addstr(&line, "…");
    }
    buf_addstr(&line, suffix);
    return buf_take(&line);
}

char *session_title_of_draft(const struct session_info *s)
{
    bool unsent = !(s->title && *s->title) && s->draft && *s->draft;
    return unsent ? session_title_from(attached_files_skip(s->draft), "") : NULL;
}

/* --- labels ----------------------------------------------------------------------------------- */

struct labels {
    VEC(char *) words; /* sorted */
};

static bool change_labels(struct labels *l, const char *words, struct error *e)
{
    static const char between[] = ", \t\r\n"; /* people write lists with commas, too */
    for (words += strspn(words, between); *words; words += strspn(words, between)) {
        AUTO(buf_release) struct buf clean = BUF_INIT;
        bool add = *words != '-';
        const char *word = words + (*words == '-' || *words == '+');
        size_t len = strcspn(word, between), i = 0;
        utf8_clean(&clean, word, len, UTF8_ONE_LINE);
        if (len == 0 || len > LABEL_BYTES || clean.len != len || memcmp(clean.data, word, len) != 0)
            return err_set(e, ERR_USAGE,
                           "a label is a word, not \"%.*s\"; use one of 1 to %d bytes",
                           (int)utf8_cut_bytes(word, len, LABEL_BYTES), word, LABEL_BYTES);
        while (i < l->words.len && strcmp(l->words.items[i], clean.data) < 0)
            i++;
        bool there = i < l->words.len && strcmp(l->words.items[i], clean.data) == 0;
        if (add && !there)
            vec_insert(&l->words, i, buf_take(&clean));
        if (!add && there) {
            free(l->words.items[i]);
            vec_remove(&l->words, i, 1);
        }
        words = word + len;
    }
    return l->words.len <= LABELS_MAX ||
           err_set(e, ERR_USAGE, "a session has at most %d labels; remove one first", LABELS_MAX);
}

bool session_labels_change(const char *current, const char *words, char **out, struct error *e)
{
    struct labels labels = {0};
    AUTO(buf_release) struct buf text = BUF_INIT;
    bool ok = change_labels(&labels, current ? current : "", e) && change_labels(&labels, words, e);
    for (size_t i = 0; i < labels.words.len; i++)
        buf_addf(&text, "%s%s", i > 0 ? " " : "", labels.words.items[i]);
    vec_free_each(&labels.words);
    *out = ok && text.len > 0 ? buf_take(&text) : NULL;
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
const struct shape session_info_shape = SHAPE_OF("session", struct session_info,
    ID("id", DEFAULT, id, "Id of the session."),
    TEXT("title", title, "Set by hand, else by a model, else the beginning of the first message."),
    TEXT("directory", directory, "Working directory."),
    TEXT("provider", provider, "The provider that it talks to."),
    TEXT("model", model, "The model that it talks to."),
    TEXT("system", system, "System prompt; absent: the configured one."),
    TEXT("draft", draft, "Text that was typed and not sent."),
    TEXT("last_line", last_line, "First line of the newest answer."),
    TEXT("imported", imported, "The source that it was imported from; absent: it was begun here."),
    SHAPE_FIELD("labels", WORDS, DEFAULT, SHAPE_AT_TEXT(struct session_info, labels),
                .help = "Labels, sorted."),
    ID("parent", OPTIONAL, parent, "The session that this one was forked from."),
    SHAPE_OPT(session_info, parent_seq, "Number of the last event that was copied.", .there = has_parent),
    TIME("created", DEFAULT, created_ms, "Time at which the session began."),
    TIME("updated", DEFAULT, updated_ms, "Time of the last message or answer."),
    TIME("archived", OPTIONAL, archived_ms, "When it was archived."),
    NUMBER("messages", messages, "Messages of the transcript."),
    SHAPE_FIELD("turns", COUNT, DEFAULT, AT(int, turns), .help = "Number of turns."),
    NUMBER("last_seq", last_seq, "Number of the newest event."),
    NUMBER("tool_calls", tool_calls, "Number of tool calls."),
    NUMBER("run_ms", run_ms, "How long its turns took, together."),
    SHAPE_FIELD("usage", OBJECT, OPTIONAL, AT(struct usage, usage), .of = &usage_shape,
                .help = "Tokens of all its model calls."),
    SHAPE_FIELD("cost", NUMBER, OPTIONAL, AT(double, cost), .absent = -1, .nearest = true,
                .help = "Cost in USD of the calls whose cost is known."));
/* clang-format on */

/* --- the tally -------------------------------------------------------------------------------- */

void session_tally_name(struct session_info *s, const char *first_message)
{
    if (s->title && *s->title)
        return;
    free(s->title);
    s->title = session_title_from(attached_files_skip(first_message ? first_message : ""), "");
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

static void add_time(struct session_info *s, int64_t ms)
{
    if (ms > 0) /* an imported log may say anything */
        s->run_ms = s->run_ms > INT64_MAX - ms ? INT64_MAX : s->run_ms + ms;
}

void session_tally(struct session_info *s, const struct event *ev)
{
    enum { LAST_LINE_BYTES = 160 };
    const char *text = ev->text ? ev->text : "";
    if (ev->type != EVENT_LEARNED_EXTRACTED) /* it comes when the session was already left */
        s->updated_ms = ev->wall_ms;
    s->last_seq = ev->seq;
    switch (ev->type) {
    case EVENT_TURN_STARTED:
        s->messages++;
        s->turns++;
        mem_replace(&s->draft, NULL);
        session_tally_name(s, ev->text);
        break;
    case EVENT_TEXT_COMPLETE:
        s->messages++;
        text += strspn(text, " \t\r\n");
        mem_replace(&s->last_line, mem_strndup(text, utf8_cut_bytes(text, strcspn(text, "\r\n"),
                                                                    LAST_LINE_BYTES)));
        break;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        s->tool_calls++;
        break;
    case EVENT_TURN_FAILED:
    case EVENT_INTERRUPTED:
        add_time(s, ev->number);
        /* fallthrough */
    case EVENT_CALL_COMPLETED:
    case EVENT_COMPACTION_COMPLETED:
    case EVENT_COMPACTION_FAILED:
    case EVENT_LEARNED_EXTRACTED:
        usage_add(&s->usage, &ev->usage);
        s->cost = usage_cost_sum(s->cost, ev->used);
        break;
    case EVENT_SESSION_TITLED:
        if (*text && !s->title_set)
            mem_replace(&s->title, session_title_from(text, ""));
        usage_add(&s->usage, &ev->usage);
        s->cost = usage_cost_sum(s->cost, ev->used);
        break;
    case EVENT_TURN_COMPLETED:
        add_time(s, ev->number);
        break;
    default:
        break;
    }
}

/* --- search hits ------------------------------------------------------------------------------ */

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
const struct shape search_hit_shape = SHAPE_OF("match", struct search_hit,
    SHAPE_REQ(search_hit, session_id, "Id of the session."),
    SHAPE_OPT(search_hit, title, "Title of the session."),
    SHAPE_REQ(search_hit, seq, "Number of the event that holds the text."),
    SHAPE_FIELD("at", TIME, REQUIRED, AT(int64_t, at_ms), .help = "Time of the message."),
    SHAPE_REQ_WORD(search_hit, role, role_names, "Role of the speaker."),
    SHAPE_OPT(search_hit, archived, "The session is archived."),
    SHAPE_OPT(search_hit, snippet, "One line of text around the first match."));
/* clang-format on */

const char *session_short_id(const char *id)
{
    enum { SHORT_ID = 8 }; /* bytes */
    size_t len = strlen(id);
    return len > SHORT_ID ? id + len - SHORT_ID : id;
}
