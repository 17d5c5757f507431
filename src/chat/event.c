#include "chat/event.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/usage.h"

/* A text; one that is left out if it is NULL; one that should be JSON, left out if it is NULL. */
#define TEXT(member, field, what)                                                                  \
    SHAPE_FIELD(member, STRING, REQUIRED, SHAPE_AT_TEXT(struct event, field), .help = what)
#define OPTIONAL_TEXT(member, field, what)                                                         \
    SHAPE_FIELD(member, STRING, OPTIONAL, SHAPE_AT_TEXT(struct event, field), .help = what)
#define JSON_TEXT(member, field, what)                                                             \
    SHAPE_FIELD(member, JSON, OPTIONAL, SHAPE_AT_TEXT(struct event, field), .help = what)

/* A number of 64 bits, read as the largest allowed if an older program wrote a larger one; one
 * that is left out if it is 0; one that is left out if it is -1 (unknown). */
#define NUMBER(member, field, what)                                                                \
    SHAPE_FIELD(member, INTEGER, REQUIRED, SHAPE_AT(int64_t, struct event, field),                 \
                .nearest = true, .help = what)
#define OPTIONAL_NUMBER(member, field, what)                                                       \
    SHAPE_FIELD(member, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct event, field),                 \
                .nearest = true, .help = what)
#define KNOWN_NUMBER(member, field, what)                                                          \
    SHAPE_FIELD(member, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct event, field), .absent = -1,   \
                .nearest = true, .help = what)

/* An int; one that is left out if it is 0. */
#define COUNT(member, field, what)                                                                 \
    SHAPE_FIELD(member, COUNT, REQUIRED, SHAPE_AT(int, struct event, field), .help = what)
#define OPTIONAL_COUNT(member, field, what)                                                        \
    SHAPE_FIELD(member, COUNT, OPTIONAL, SHAPE_AT(int, struct event, field), .help = what)

/* An amount; one that is left out if it is negative (unknown). */
#define REAL(member, field, what)                                                                  \
    SHAPE_FIELD(member, NUMBER, REQUIRED, SHAPE_AT(double, struct event, field), .nearest = true,  \
                .help = what)
#define KNOWN_REAL(member, field, what)                                                            \
    SHAPE_FIELD(member, NUMBER, OPTIONAL, SHAPE_AT(double, struct event, field), .absent = -1,     \
                .nearest = true, .help = what)

/* A flag; one that is left out if it is false. */
#define FLAG(member, field, what)                                                                  \
    SHAPE_FIELD(member, BOOLEAN, REQUIRED, SHAPE_AT(bool, struct event, field), .help = what)
#define OPTIONAL_FLAG(member, field, what)                                                         \
    SHAPE_FIELD(member, BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct event, field), .help = what)

#define PIECES                                                                                     \
    JSON_TEXT("pieces", pieces,                                                                    \
              "Of a delta that the log joined: how many bytes of UTF-8 each of its pieces had.")

#define STOP(member, field, what)                                                                  \
    SHAPE_FIELD(member, ENUM, REQUIRED, SHAPE_AT(enum stop_reason, struct event, field),           \
                .names = &stop_reason_names, .help = what)

/* Left out if unknown; the second is a whole turn's, with the share of its summaries. */
#define USAGE(member, field, what)                                                                 \
    SHAPE_FIELD(member, OBJECT, OPTIONAL, SHAPE_AT(struct usage, struct event, field),             \
                .of = &usage_shape, .help = what)
#define TURN_USAGE(member, field, what)                                                            \
    SHAPE_FIELD(member, OBJECT, OPTIONAL, SHAPE_AT(struct usage, struct event, field),             \
                .of = &usage_turn_shape, .help = what)

static_assert(offsetof(struct event, summaries) ==
                  offsetof(struct event, usage) + sizeof(struct usage),
              "usage_turn_shape takes two usages in a row");

static const char *const stop_words[] = {
    [STOP_END_TURN] = "end_turn",
    [STOP_MAX_TOKENS] = "max_tokens",
    [STOP_SEQUENCE] = "stop_sequence",
    [STOP_TOOL_USE] = "tool_use",
    [STOP_PAUSE] = "pause",
    [STOP_REFUSAL] = "refusal",
    [STOP_CONTEXT_EXCEEDED] = "context_exceeded",
    [STOP_CANCELLED] = "cancelled",
    [STOP_MAX_CALLS] = "max_calls",
    [STOP_REPEATED] = "repeated_call",
    [STOP_OTHER] = "other",
};

/* An unknown reason is read as "other": a newer program may know more. */
const struct shape_names stop_reason_names = {stop_words, STOP_OTHER + 1, STOP_OTHER};

static const char *const origin_words[] = {
    [INPUT_UNKNOWN] = "unknown", [INPUT_TYPED] = "typed",     [INPUT_PIPED] = "piped",
    [INPUT_ATTACHED] = "file",   [INPUT_PROGRAM] = "program", [INPUT_COMMAND] = "command",
    [INPUT_IMPORTED] = "imported",
};
const struct shape_names input_origin_names = {origin_words, INPUT_ORIGINS, -1};
/* In a log an unknown origin is read as "unknown": a newer program may know more. */
static const struct shape_names logged_origins = {origin_words, INPUT_ORIGINS, INPUT_UNKNOWN};

/* clang-format off */
static const struct shape_field fields_TURN_STARTED[] = {
    TEXT("prompt", text, "Text of the user's message."),
    OPTIONAL_NUMBER("retries", number, "Number of the run_started that this one sends again."),
    JSON_TEXT("attachments", attachments,
              "Image blocks and attached files (named \"@notes.md\"), behind the text of a skill; then "
              "the surroundings."),
    SHAPE_FIELD("origin", ENUM, OPTIONAL, SHAPE_AT(enum input_origin, struct event, origin),
                .names = &logged_origins, .help = "Origin of the message; absent: unknown."),
    OPTIONAL_TEXT("effort", name, "Effort of reasoning that is asked for."), {0}};

static const struct shape_field fields_CALL_STARTED[] = {
    NUMBER("turn", number, "Turn of the session, from 1."),
    COUNT("call", count, "Model call in the turn, from 1."), {0}};

static const struct shape_field fields_TEXT_DELTA[] = {
    TEXT("delta", text, "A piece of the answer."),
    PIECES, {0}};

static const struct shape_field fields_REASONING_DELTA[] = {
    TEXT("delta", text, "A piece of the reasoning."),
    PIECES, {0}};

static const struct shape_field fields_REASONING_COMPLETE[] = {
    TEXT("content", text, "The whole reasoning."),
    OPTIONAL_TEXT("signature", signature, "The provider's proof, sent back unchanged."),
    OPTIONAL_FLAG("redacted", flag, "The signature is the encrypted content."),
    OPTIONAL_TEXT("model", model, "The model, if there is a signature."), {0}};

#define OWN_BLOCKS OPTIONAL_TEXT("signature", signature, "The provider's own blocks for this.")

static const struct shape_field fields_TEXT_COMPLETE[] = {
    TEXT("content", text, "The whole answer."), OWN_BLOCKS,
    OPTIONAL_FLAG("partial", flag, "The answer was interrupted or cut off."), {0}};

static const struct shape_field fields_TOOL_CALL_REQUESTED[] = {
    TEXT("id", id, "Id of the call."),
    TEXT("name", name, "The tool."),
    JSON_TEXT("args", text, "The arguments as the model wrote them."), OWN_BLOCKS, {0}};

static const struct shape_field fields_TOOL_EXECUTION_COMPLETED[] = {
    TEXT("id", id, "Id of the call."),
    TEXT("name", name, "The tool."),
    TEXT("content", text, "Its result."),
    FLAG("is_error", flag, "The call failed; the result says why."), OWN_BLOCKS,
    JSON_TEXT("attachments", attachments, "Image blocks of the result."),
    OPTIONAL_FLAG("denied", denied, "The call was not allowed to run."),
    SHAPE_FIELD("change", OBJECT, OPTIONAL, SHAPE_AT(struct file_change, struct event, change),
                .of = &change_shape, .help = "The file that the call changed, before and after."),
    NUMBER("duration_ms", number, "Duration in milliseconds."), {0}};

static const struct shape_field fields_COMMAND_COMPLETED[] = {
    TEXT("content", text, "Output of the command that the user ran, and how it ended."),
    FLAG("is_error", flag, "It failed."),
    NUMBER("duration_ms", number, "Duration in milliseconds."), {0}};

static const struct shape_field fields_CALL_COMPLETED[] = {
    STOP("stop_reason", stop_reason, "Why the model stopped."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Tokens of these model calls."),
    KNOWN_REAL("cost", used, "USD."), {0}};

static const struct shape_field fields_RETRYING[] = {
    COUNT("attempt", count, "Number of the next attempt."),
    COUNT("of", limit, "Most attempts."),
    NUMBER("wait_ms", number, "Milliseconds until the next attempt."),
    TEXT("reason", text, "What failed."), {0}};

static const struct shape_field fields_COMPACTION_STARTED[] = {
    TEXT("mode", compaction.mode, "The requested mode."),
    TEXT("stage", compaction.stage, "\"micro\": tool results were shortened; \"summary\"."),
    TEXT("trigger", compaction.trigger, "\"input_tokens\", \"estimate\", \"request\", \"overflow\" or \"manual\"."),
    KNOWN_NUMBER("input_tokens", compaction.input_tokens, "As the provider counted the last request."),
    NUMBER("estimated_history_tokens", compaction.estimate, "Estimate of the history."),
    NUMBER("threshold", compaction.threshold, "Tokens from which on the history is compacted."),
    OPTIONAL_NUMBER("request_tokens", compaction.request_before, "Tokens of the whole next request."),
    COUNT("message_count", compaction.messages_before, "Messages of the history."),
    OPTIONAL_TEXT("model", model, "Model that writes the summary."),
    OPTIONAL_FLAG("preview", flag, "A draft will be shown for review."), {0}};

static const struct shape_field fields_COMPACTION_DELTA[] = {
    TEXT("delta", text, "A piece of the summary."),
    OPTIONAL_COUNT("part", count, "A part of the history, folded before the last."),
    OPTIONAL_COUNT("of", limit, "Number of parts."),
    PIECES, {0}};

static const struct shape_field fields_COMPACTION_COMPLETED[] = {
    TEXT("mode", compaction.mode, "The requested mode."),
    TEXT("effective_mode", compaction.effective_mode, "The mode that was used."),
    OPTIONAL_TEXT("why", name, "Why another mode was used, in English."),
    TEXT("stage", compaction.stage, "\"micro\": tool results were shortened; \"summary\"."),
    TEXT("trigger", compaction.trigger, "\"input_tokens\", \"estimate\", \"request\", \"overflow\" or \"manual\"."),
    TEXT("summary", text, "The summary; empty: none."),
    OPTIONAL_FLAG("edited", flag, "The user changed the draft."),
    NUMBER("summary_tokens", compaction.summary_tokens, "Estimate."),
    COUNT("messages_before", compaction.messages_before, "Messages of the history."),
    COUNT("messages_after", compaction.messages_after, "Messages of the history."),
    COUNT("messages_dropped", compaction.messages_dropped, "Messages that were dropped."),
    COUNT("messages_changed", compaction.messages_changed, "Messages that stay with shortened tool results."),
    NUMBER("tokens_before", compaction.tokens_before, "Estimate of the history."),
    NUMBER("tokens_after", compaction.tokens_after, "Estimate of the history."),
    OPTIONAL_NUMBER("request_tokens_before", compaction.request_before, "Tokens of the whole next request."),
    OPTIONAL_NUMBER("request_tokens_after", compaction.request_after, "Tokens of the whole next request."),
    COUNT("entries_indexed", compaction.entries_indexed, "Entries that were added to memory."),
    JSON_TEXT("history", compaction.history, "How the new messages are made of the old ones."),
    JSON_TEXT("dropped", compaction.dropped, "Events of the dropped messages."),
    OPTIONAL_COUNT("consecutive_failures", compaction.failures, "Failed compactions in a row."),
    OPTIONAL_FLAG("suspended", compaction.suspended, "Automatic compaction stops."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Tokens of these model calls."),
    KNOWN_REAL("cost", used, "USD."),
    NUMBER("duration_ms", number, "Duration in milliseconds."), {0}};

static const struct shape_field fields_COMPACTION_FAILED[] = {
    TEXT("mode", compaction.mode, "The requested mode."),
    TEXT("reason", compaction.reason, "\"llm\", \"empty_summary\", \"memory_indexing\", \"too_small\", \"cancelled\" or \"store\"."),
    OPTIONAL_TEXT("code", name, "Code of the error; absent: AGENT_ERROR."),
    TEXT("message", text, "What failed, for a person."),
    COUNT("consecutive_failures", compaction.failures, "Failed compactions in a row."),
    FLAG("suspended", compaction.suspended, "Automatic compaction stops."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Tokens of these model calls."),
    KNOWN_REAL("cost", used, "USD."),
    OPTIONAL_NUMBER("duration_ms", number, "Duration in milliseconds."), {0}};

static const struct shape_field fields_COMPACTION_UNDONE[] = {
    NUMBER("of", number, "Number of the compaction_completed that was undone."), {0}};

static const struct shape_field fields_REWOUND[] = {
    NUMBER("message", number, "Number of the user's message before which the conversation goes on."),
    {0}};

static const struct shape_field fields_REWIND_UNDONE[] = {
    NUMBER("of", number, "Number of the conversation_rewound that was undone."), {0}};

static const struct shape_field fields_FILE_RESTORED[] = {
    TEXT("path", name, "The file that was given back its content from before a rewind, or after it."),
    OPTIONAL_FLAG("removed", flag, "The file was removed: there was none then."),
    SHAPE_FIELD("change", OBJECT, OPTIONAL, SHAPE_AT(struct file_change, struct event, change),
                .of = &change_shape, .help = "The file before and after that."), {0}};

static const struct shape_field fields_MESSAGE_PINNED[] = {
    NUMBER("message", number, "Number of the message."),
    FLAG("pinned", flag, "True: pinned; false: unpinned."), {0}};

static const struct shape_field fields_MEMORY_INDEXED[] = {
    COUNT("entries", count, "Number of entries."),
    NUMBER("compaction", number, "Number of the compaction_completed that dropped their messages."), {0}};

static const struct shape_field fields_MEMORY_RECALLED[] = {
    OPTIONAL_TEXT("id", id, "Id of the tool call."),
    OPTIONAL_TEXT("by", model, "\"turn\": found for the user's message and sent with it; else by a tool call."),
    TEXT("query", text, "Query of the model, or the user's message."),
    COUNT("limit", limit, "Number of requested hits."),
    JSON_TEXT("hits", hits, "Entries, best first, as the model got them, and why."),
    OPTIONAL_NUMBER("tokens", number, "Estimated tokens of what is sent with the message."),
    OPTIONAL_TEXT("badge", name, "Why memory could not be searched as configured, in English."), {0}};

static const struct shape_field fields_MEMORY_LEFT_OUT[] = {
    TEXT("id", id, "Id of the entry of memory."),
    FLAG("left_out", flag, "True: it is not sent with messages any more; false: it may be."), {0}};

static const struct shape_field fields_GRAPH_CHANGED[] = {
    TEXT("id", id, "Id of the tool call."),
    TEXT("facts", text,
         "Entities, observations as \"name: text\", relations as \"from type to\", separated by commas."),
    OPTIONAL_NUMBER("more", number, "Number of further ones that are not named."),
    OPTIONAL_FLAG("deleted", flag, "They were deleted."), {0}};

static const struct shape_field fields_LEARNED_NOTED[] = {
    TEXT("id", id, "Id of the learned item."),
    TEXT("kind", name, "\"fact\", \"rule\", \"language\", …"),
    TEXT("text", text, "Text of the learned item."),
    FLAG("active", flag, "True: the item is active; false: it waits for the user's decision."), {0}};

static const struct shape_field fields_LEARNED_EXTRACTED[] = {
    COUNT("proposals", count, "Number of proposals that wait for the user's decision."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Tokens of this model call."),
    KNOWN_REAL("cost", used, "USD."), {0}};

static const struct shape_field fields_SESSION_TITLED[] = {
    OPTIONAL_TEXT("title", text, "Title by a model; absent: it gave none."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Tokens of this model call."),
    KNOWN_REAL("cost", used, "USD."), {0}};

static const struct shape_field fields_BUDGET_WARNING[] = {
    TEXT("kind", name, "The budget: \"max_tokens\", …"),
    REAL("used", used, "In the unit of the budget."),
    REAL("limit", bound, "In the unit of the budget."),
    COUNT("percent", count, "Used percentage of the budget."), {0}};

static const struct shape_field fields_WARNING[] = {
    TEXT("code", name, "A code of the program's."),
    TEXT("detail", text, "English."), {0}};

static const struct shape_field fields_TURN_COMPLETED[] = {
    TEXT("result", text, "The last answer."),
    TURN_USAGE("usage", usage, "Sum of the turn."),
    COUNT("model_calls", count, "Number of model calls, without those of compactions."),
    NUMBER("duration_ms", number, "Duration in milliseconds."),
    STOP("stop_reason", stop_reason, "Why the model stopped."), {0}};

static const struct shape_field fields_TURN_FAILED[] = {
    TEXT("code", name, "Code of the error."),
    TEXT("message", text, "What failed, for a person."),
    USAGE("usage", usage, "Tokens of these model calls."),
    KNOWN_REAL("cost", used, "USD."),
    OPTIONAL_NUMBER("duration_ms", number, "Duration in milliseconds."), {0}};

static const struct shape_field fields_INTERRUPTED[] = {
    USAGE("usage", usage, "Tokens; estimated if the provider had not reported them yet."),
    KNOWN_REAL("cost", used, "USD."),
    OPTIONAL_NUMBER("duration_ms", number, "Duration in milliseconds."), {0}};

/* clang-format on */

#define X(id, word, version)                                                                       \
    [EVENT_##id] = {.name = word, .size = sizeof(struct event), .fields = fields_##id},
const struct shape event_shapes[EVENT_TYPE_COUNT] = {EVENT_TYPES(X)};
#undef X

static const struct {
    const char *name;
    int version;
} types[] = {
#define X(id, name, version) [EVENT_##id] = {name, version},
    EVENT_TYPES(X)
#undef X
};

struct event *event_new(enum event_type type)
{
    struct event *ev = mem_alloc(sizeof *ev);
    ev->type = type;
    ev->usage = ev->summaries = USAGE_UNKNOWN;
    ev->compaction.input_tokens = -1;
    shape_init(&event_shapes[type], ev);
    return ev;
}

void event_free(struct event *ev)
{
    if (!ev)
        return;
    shape_release(&event_shapes[ev->type], ev);
    free(ev);
}

struct event *event_clone(const struct event *ev)
{
    struct event *copy = event_new(ev->type);
    shape_copy(&event_shapes[ev->type], copy, ev);
    copy->seq = ev->seq;
    copy->wall_ms = ev->wall_ms;
    memcpy(copy->session_id, ev->session_id, sizeof copy->session_id);
    return copy;
}

const char *event_name(enum event_type type)
{
    return types[type].name;
}

int event_version(enum event_type type)
{
    return types[type].version;
}

bool event_is_delta(enum event_type type)
{
    return type == EVENT_TEXT_DELTA || type == EVENT_REASONING_DELTA ||
           type == EVENT_COMPACTION_DELTA;
}

bool event_type_from_name(const char *name, enum event_type *out)
{
    for (int i = 0; i < EVENT_TYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *out = (enum event_type)i;
            return true;
        }
    }
    return false;
}

bool event_ends_turn(enum event_type type)
{
    return type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED || type == EVENT_INTERRUPTED;
}

bool event_between_turns(const struct event *ev)
{
    bool compacts = ev->type == EVENT_COMPACTION_STARTED || ev->type == EVENT_COMPACTION_COMPLETED;
    return ev->type == EVENT_COMPACTION_UNDONE || ev->type == EVENT_REWOUND ||
           ev->type == EVENT_REWIND_UNDONE || ev->type == EVENT_FILE_RESTORED ||
           (compacts && ev->compaction.trigger && strcmp(ev->compaction.trigger, "manual") == 0);
}

char *event_payload(const struct event *ev)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(&event_shapes[ev->type], ev, &o);
    return buf_take(&text);
}

void event_begin_line(const struct event *ev, struct json_out *o)
{
    char time[25];
    rfc3339_format(ev->wall_ms, time);
    json_out_open(o, '{');
    json_out_member(o, "type", types[ev->type].name);
    json_out_int(o, "seq", ev->seq);
    json_out_member(o, "session_id", ev->session_id);
    json_out_member(o, "at", time);
    if (types[ev->type].version > 1)
        json_out_int(o, "version", types[ev->type].version);
}

static void write_line(struct json_out *o, const struct event *ev)
{
    event_begin_line(ev, o);
    shape_write_members(&event_shapes[ev->type], ev, o);
    json_out_close(o, '}');
}

char *event_to_line(const struct event *ev)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    write_line(&o, ev);
    return buf_take(&text);
}

/* Reads the members of the event's type. Takes `ev`. */
static bool finish(struct event *ev, const struct json *v, struct event **out, struct error *e)
{
    struct error cause = {0};
    if (shape_read(&event_shapes[ev->type], v, ev, &cause)) {
        *out = ev;
        return true;
    }
    err_set(e, ERR_SESSION_STORE_ERROR, "in a %s event: %s", types[ev->type].name, cause.text);
    event_free(ev);
    return false;
}

static bool check_version(enum event_type type, int64_t version, struct error *e)
{
    return (version >= 1 && version <= types[type].version) ||
           err_set(e, ERR_SESSION_STORE_ERROR,
                   "a %s event of version %" PRId64
                   "; this program reads up to %d, so use a newer one",
                   types[type].name, version, types[type].version);
}

bool event_from_payload(enum event_type type, int version, const char *payload, size_t len,
                        struct event **out, struct error *e)
{
    *out = NULL;
    if (type < 0 || type >= EVENT_TYPE_COUNT)
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event of unknown type %d", (int)type);
    if (!check_version(type, version, e))
        return false;
    struct error cause = {0};
    AUTO(json_free_local) struct json *v = json_parse(payload, len, &cause);
    if (!v)
        return err_set(e, ERR_SESSION_STORE_ERROR, "the payload of a %s event is no JSON: %s",
                       types[type].name, cause.text);
    return finish(event_new(type), v, out, e);
}

bool event_from_json(const struct json *line, struct event **out, struct error *e)
{
    enum event_type type = EVENT_TURN_STARTED;
    *out = NULL;
    if (json_type(line) != JSON_OBJECT)
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event is no object");
    const char *name = json_get_string(line, "type");
    if (!name)
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event without a \"type\"");
    if (!event_type_from_name(name, &type))
        return err_set(e, ERR_SESSION_STORE_ERROR, "an event of unknown type \"%.40s\"", name);
    if (!check_version(type, json_get_int(line, "version", 1), e))
        return false;
    int64_t seq = figure_from(json_get_number(line, "seq", 0), FIGURE_MAX), wall_ms;
    const char *session_id = json_get_string(line, "session_id");
    const char *at = json_get_string(line, "at");
    const char *misfit = seq < 1                                     ? "seq"
                         : !session_id || !uuid_valid(session_id)    ? "session_id"
                         : !at || !rfc3339_parse_exact(at, &wall_ms) ? "at"
                                                                     : NULL;
    if (misfit)
        return err_set(e, ERR_SESSION_STORE_ERROR, "\"%s\" of an event does not fit", misfit);
    struct event *ev = event_new(type);
    ev->seq = seq;
    ev->wall_ms = wall_ms;
    memcpy(ev->session_id, session_id, sizeof ev->session_id);
    return finish(ev, line, out, e);
}

/* --- events as members of a shape ------------------------------------------------------------- */

static void write_event(struct json_out *o, const void *at)
{
    const struct event *ev = *(struct event *const *)at;
    if (ev)
        write_line(o, ev);
    else
        json_out_raw(o, "null");
}

static bool read_event(const struct json *v, void *at)
{
    return json_type(v) == JSON_NULL || event_from_json(v, at, NULL);
}

static void release_event(void *at)
{
    event_free(*(struct event **)at);
    *(struct event **)at = NULL;
}

const struct shape_codec event_codec = {.write = write_event,
                                        .read = read_event,
                                        .release = release_event,
                                        .schema = "{\"type\":[\"object\",\"null\"]}",
                                        .expected = "an event"};

void event_list_release(struct event_list *l)
{
    for (size_t i = 0; i < l->items.len; i++)
        event_free(l->items.items[i]);
    vec_release(&l->items);
}

static void write_events(struct json_out *o, const void *at)
{
    const struct event_list *l = at;
    json_out_open(o, '[');
    for (size_t i = 0; i < l->items.len; i++)
        write_line(o, l->items.items[i]);
    json_out_close(o, ']');
}

static bool read_events(const struct json *v, void *at)
{
    struct event_list *l = at;
    struct event *ev;
    for (const struct json *line = json_first(v); line; line = json_next(line)) {
        if (!event_from_json(line, &ev, NULL))
            return false;
        vec_push(&l->items, ev);
    }
    return json_type(v) == JSON_ARRAY;
}

static void release_events(void *at)
{
    event_list_release(at);
}

const struct shape_codec event_list_codec = {
    .write = write_events,
    .read = read_events,
    .release = release_events,
    .schema = "{\"type\":\"array\",\"items\":{\"type\":\"object\"}}",
    .expected = "a list of events",
};

/* --- the pieces of a joined delta ------------------------------------------------------------- */

void event_pieces_release(struct event_pieces *p)
{
    vec_release(&p->lengths);
}

void event_pieces_add(struct event_pieces *p, int64_t seq, size_t length)
{
    if (p->lengths.len > 0 && p->last == seq)
        vec_last(&p->lengths) += length;
    else
        vec_push(&p->lengths, length);
    p->last = seq;
}

char *event_pieces_json(const struct event_pieces *p)
{
    struct buf text = BUF_INIT;
    struct json_out out = {.buf = &text};
    if (p->lengths.len < 2)
        return NULL;
    json_out_open(&out, '[');
    for (size_t i = 0; i < p->lengths.len; i++)
        json_out_number(&out, (int64_t)p->lengths.items[i]);
    json_out_close(&out, ']');
    return buf_take(&text);
}

/* Does nothing if the lengths are not those of the text: the log may be foreign. */
void event_pieces_skip(struct event *ev, int64_t after)
{
    if (!event_is_delta(ev->type) || !ev->pieces || after >= ev->seq)
        return;
    AUTO(event_pieces_release) struct event_pieces p = {.last = ev->seq};
    AUTO(json_free_local)
    struct json *v = json_parse_foreign(ev->pieces, strlen(ev->pieces), NULL);
    const size_t whole = ev->text ? strlen(ev->text) : 0;
    size_t sum = 0, skipped = 0;
    if (json_type(v) != JSON_ARRAY)
        return;
    for (const struct json *n = json_first(v); n; n = json_next(n)) {
        int64_t length = json_int(n, -1);
        if (length < 0 || (size_t)length > whole - sum)
            return;
        vec_push(&p.lengths, (size_t)length);
        sum += (size_t)length;
    }
    int64_t before = ev->seq - (int64_t)p.lengths.len;
    if (sum != whole || after <= before)
        return;
    size_t count = (size_t)(after - before);
    for (size_t i = 0; i < count; i++)
        skipped += p.lengths.items[i];
    memmove(ev->text, ev->text + skipped, strlen(ev->text + skipped) + 1);
    vec_remove(&p.lengths, 0, count);
    mem_replace(&ev->pieces, event_pieces_json(&p));
}

/* --- the messages of a log, by their numbers -------------------------------------------------- */

void log_messages_release(struct log_messages *l)
{
    vec_release(&l->items);
    *l = (struct log_messages){0};
}

static void begin_message(struct log_messages *l, enum role role, int64_t seq)
{
    vec_push(&l->items, (struct log_message){.seq = seq, .turn = l->turns, .role = role});
}

static void close_turn(struct log_messages *l)
{
    l->turn_seq = l->call_seq = 0;
    l->turn_first = l->answer = 0;
    l->open_calls = 0;
}

static void take_back(struct log_messages *l, size_t first)
{
    l->turns = l->items.items[first].turn - 1;
    l->items.len = first;
}

int64_t log_messages_drop_open_turn(struct log_messages *l)
{
    int64_t open = l->turn_seq;
    if (open > 0)
        take_back(l, l->turn_first);
    close_turn(l);
    return open;
}

/* 1 + the index of the last message with this number; 0: there is none. Messages are in the order
 * of their numbers. */
static size_t find(const struct log_messages *l, int64_t seq)
{
    size_t low = 0, high = l->items.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->items.items[middle].seq <= seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && l->items.items[low - 1].seq == seq ? low : 0;
}

bool log_messages_have(const struct log_messages *l, int64_t seq)
{
    return find(l, seq) > 0;
}

static struct log_message *answer_for(struct log_messages *l, int64_t seq)
{
    if (l->call_seq == 0)
        l->call_seq = seq;
    if (l->answer == 0) {
        begin_message(l, ROLE_ASSISTANT, l->call_seq);
        l->answer = l->items.len;
    }
    return &l->items.items[l->answer - 1];
}

static void add_result(struct log_messages *l, int64_t seq)
{
    if (vec_last(&l->items).role != ROLE_TOOL)
        begin_message(l, ROLE_TOOL, seq);
}

/* The history answers them with an error. */
static void answer_open_calls(struct log_messages *l, int64_t seq)
{
    if (l->open_calls > 0)
        add_result(l, seq);
    l->open_calls = 0;
}

/* The turn ends before its answer is complete. */
static void cut_off(struct log_messages *l, int64_t seq)
{
    answer_open_calls(l, seq);
    const struct log_message *last = &vec_last(&l->items);
    if (last->role == ROLE_ASSISTANT && !last->says)
        l->items.len--;
    close_turn(l);
}

static void start_turn(struct log_messages *l, const struct log_event *ev)
{
    log_messages_drop_open_turn(l);
    size_t retried = ev->retries > 0 ? find(l, ev->retries) : 0;
    if (retried > 0 && l->items.items[retried - 1].role == ROLE_USER)
        take_back(l, retried - 1);
    l->turn_seq = ev->seq;
    l->turn_first = l->items.len;
    l->turns++;
    begin_message(l, ROLE_USER, ev->seq);
}

/* The rules are those of history_apply(), which says why. */
void log_messages_apply(struct log_messages *l, const struct log_event *ev)
{
    if (ev->type == EVENT_TURN_STARTED)
        start_turn(l, ev);
    else if (ev->between_turns)
        log_messages_drop_open_turn(l);
    if (ev->type == EVENT_REWOUND && ev->retries > 0) {
        size_t first = l->items.len;
        while (first > 0 && l->items.items[first - 1].seq >= ev->retries)
            first--;
        if (first < l->items.len && l->items.items[first].role == ROLE_USER)
            take_back(l, first);
    }
    if (l->turn_seq == 0 || ev->type == EVENT_TURN_STARTED)
        return;
    bool answered = false;
    switch (ev->type) {
    case EVENT_CALL_STARTED: {
        bool is_free = l->answer == 0 || l->items.items[l->answer - 1].seq < ev->seq - 1;
        answer_open_calls(l, is_free ? ev->seq - 1 : ev->seq);
        l->call_seq = is_free ? ev->seq : 0;
        l->answer = 0;
        break;
    }
    case EVENT_TEXT_COMPLETE:
        if (!ev->is_empty)
            answer_for(l, ev->seq)->says = true;
        break;
    case EVENT_REASONING_COMPLETE:
        if (!ev->is_empty)
            answer_for(l, ev->seq);
        break;
    case EVENT_TOOL_CALL_REQUESTED:
        answer_for(l, ev->seq)->says = true;
        l->open_calls++;
        break;
    case EVENT_TOOL_EXECUTION_COMPLETED:
        if (l->open_calls > 0) {
            l->open_calls--;
            add_result(l, ev->seq);
        }
        break;
    case EVENT_TURN_COMPLETED:
        answer_open_calls(l, ev->seq);
        close_turn(l);
        break;
    case EVENT_TURN_FAILED:
        for (size_t i = l->turn_first; i < l->items.len && !answered; i++)
            answered = l->items.items[i].says;
        if (answered)
            cut_off(l, ev->seq);
        else
            log_messages_drop_open_turn(l);
        break;
    case EVENT_INTERRUPTED:
        cut_off(l, ev->seq);
        break;
    default:
        break;
    }
}
