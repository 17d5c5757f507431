#include <assert.h>

#include "chat/event.h"
#include "chat/figure.h"

/* A text; one that NULL leaves out; one that should be JSON, likewise. */
#define TEXT(member, field, what)                                                                  \
    SHAPE_FIELD(member, STRING, REQUIRED, SHAPE_AT_TEXT(struct event, field), .help = what)
#define OPTIONAL_TEXT(member, field, what)                                                         \
    SHAPE_FIELD(member, STRING, OPTIONAL, SHAPE_AT_TEXT(struct event, field), .help = what)
#define JSON_TEXT(member, field, what)                                                             \
    SHAPE_FIELD(member, JSON, OPTIONAL, SHAPE_AT_TEXT(struct event, field), .help = what)

/* A figure of 64 bits, which an older program may have written larger; one that 0 leaves out; one
 * that -1, unknown, leaves out. */
#define NUMBER(member, field, what)                                                                \
    SHAPE_FIELD(member, INTEGER, REQUIRED, SHAPE_AT(int64_t, struct event, field),                 \
                .nearest = true, .help = what)
#define OPTIONAL_NUMBER(member, field, what)                                                       \
    SHAPE_FIELD(member, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct event, field),                 \
                .nearest = true, .help = what)
#define KNOWN_NUMBER(member, field, what)                                                          \
    SHAPE_FIELD(member, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct event, field), .absent = -1,   \
                .nearest = true, .help = what)

/* An int; one that 0 leaves out. */
#define COUNT(member, field, what)                                                                 \
    SHAPE_FIELD(member, COUNT, REQUIRED, SHAPE_AT(int, struct event, field), .help = what)
#define OPTIONAL_COUNT(member, field, what)                                                        \
    SHAPE_FIELD(member, COUNT, OPTIONAL, SHAPE_AT(int, struct event, field), .help = what)

/* An amount; one that a negative, unknown, leaves out. */
#define REAL(member, field, what)                                                                  \
    SHAPE_FIELD(member, NUMBER, REQUIRED, SHAPE_AT(double, struct event, field), .nearest = true,  \
                .help = what)
#define KNOWN_REAL(member, field, what)                                                            \
    SHAPE_FIELD(member, NUMBER, OPTIONAL, SHAPE_AT(double, struct event, field), .absent = -1,     \
                .nearest = true, .help = what)

/* A flag; one that false leaves out. */
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

/* Left out when unknown; of a whole turn, with the share of its summaries. */
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
    [STOP_OTHER] = "other",
};

/* A reason that we do not know is one of the others, no fault. */
const struct shape_names stop_reason_names = {stop_words, STOP_OTHER + 1, STOP_OTHER};

static const char *const origin_words[] = {
    [INPUT_UNKNOWN] = "unknown", [INPUT_TYPED] = "typed",     [INPUT_PIPED] = "piped",
    [INPUT_ATTACHED] = "file",   [INPUT_PROGRAM] = "program", [INPUT_IMPORTED] = "imported",
};
const struct shape_names input_origin_names = {origin_words, INPUT_ORIGINS, -1};
/* Of a log: a newer program may know more origins. */
static const struct shape_names logged_origins = {origin_words, INPUT_ORIGINS, INPUT_UNKNOWN};

const char *stop_reason_name(enum stop_reason reason)
{
    return stop_words[reason];
}

/* clang-format off */
static const struct shape_field fields_TURN_STARTED[] = {
    TEXT("prompt", text, "What the person sent."),
    OPTIONAL_NUMBER("retries", number, "Number of the run_started that this one sends again."),
    JSON_TEXT("attachments", attachments, "Image blocks."),
    SHAPE_FIELD("origin", ENUM, OPTIONAL, SHAPE_AT(enum input_origin, struct event, origin),
                .names = &logged_origins, .help = "Where it came from; absent: unknown."),
    {0},
};

static const struct shape_field fields_CALL_STARTED[] = {
    NUMBER("turn", number, "Turn of the session, from 1."),
    COUNT("call", count, "Model call in the turn, from 1."),
    {0},
};

static const struct shape_field fields_TEXT_DELTA[] = {
    TEXT("delta", text, "A piece of the answer."),
    PIECES,
    {0},
};

static const struct shape_field fields_REASONING_DELTA[] = {
    TEXT("delta", text, "A piece of the reasoning."),
    PIECES,
    {0},
};

static const struct shape_field fields_REASONING_COMPLETE[] = {
    TEXT("content", text, "The whole reasoning."),
    OPTIONAL_TEXT("signature", signature, "The provider's proof, sent back unchanged."),
    OPTIONAL_FLAG("redacted", flag, "The signature is the encrypted content."),
    OPTIONAL_TEXT("model", model, "The model that was asked, where there is a signature."),
    {0},
};

static const struct shape_field fields_TEXT_COMPLETE[] = {
    TEXT("content", text, "The whole answer."),
    OPTIONAL_FLAG("partial", flag, "It was interrupted or cut off."),
    {0},
};

static const struct shape_field fields_TOOL_CALL_REQUESTED[] = {
    TEXT("id", id, "Id of the call."),
    TEXT("name", name, "The tool."),
    JSON_TEXT("args", text, "The arguments as the model wrote them."),
    {0},
};

static const struct shape_field fields_TOOL_EXECUTION_COMPLETED[] = {
    TEXT("id", id, "Id of the call."),
    TEXT("name", name, "The tool."),
    TEXT("content", text, "Its result."),
    FLAG("is_error", flag, "The result says why it failed."),
    OPTIONAL_FLAG("denied", denied, "The call was not allowed to run."),
    NUMBER("duration_ms", number, "How long it ran."),
    {0},
};

static const struct shape_field fields_CALL_COMPLETED[] = {
    STOP("stop_reason", stop_reason, "Why the model stopped."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Of these calls."),
    KNOWN_REAL("cost", used, "USD."),
    {0},
};

static const struct shape_field fields_RETRYING[] = {
    COUNT("attempt", count, "The try that comes next."),
    COUNT("of", limit, "Tries at most."),
    NUMBER("wait_ms", number, "How long it waits before."),
    TEXT("reason", text, "What failed."),
    {0},
};

static const struct shape_field fields_COMPACTION_STARTED[] = {
    TEXT("mode", compaction.mode, "The mode that was asked for."),
    TEXT("stage", compaction.stage, "\"micro\": tool results were shortened; \"summary\"."),
    TEXT("trigger", compaction.trigger, "\"input_tokens\", \"estimate\", \"request\", \"overflow\" or \"manual\"."),
    KNOWN_NUMBER("input_tokens", compaction.input_tokens, "As the provider counted the last request."),
    NUMBER("estimated_history_tokens", compaction.estimate, "Estimate of the history."),
    NUMBER("threshold", compaction.threshold, "Tokens from which on it is compacted."),
    OPTIONAL_NUMBER("request_tokens", compaction.request_before, "Of the whole next request."),
    COUNT("message_count", compaction.messages_before, "Messages of the history."),
    OPTIONAL_TEXT("model", model, "That is asked for the summary."),
    OPTIONAL_FLAG("preview", flag, "A draft will be shown for review."),
    {0},
};

static const struct shape_field fields_COMPACTION_DELTA[] = {
    TEXT("delta", text, "A piece of the summary."),
    OPTIONAL_COUNT("part", count, "A part of the history, folded before the last."),
    OPTIONAL_COUNT("of", limit, "Parts in all."),
    PIECES,
    {0},
};

static const struct shape_field fields_COMPACTION_COMPLETED[] = {
    TEXT("mode", compaction.mode, "The mode that was asked for."),
    TEXT("effective_mode", compaction.effective_mode, "The mode that was used."),
    OPTIONAL_TEXT("why", name, "Why that is not the mode, English."),
    TEXT("stage", compaction.stage, "\"micro\": tool results were shortened; \"summary\"."),
    TEXT("trigger", compaction.trigger, "\"input_tokens\", \"estimate\", \"request\", \"overflow\" or \"manual\"."),
    TEXT("summary", text, "The summary; empty where there is none."),
    OPTIONAL_FLAG("edited", flag, "The user changed the draft."),
    NUMBER("summary_tokens", compaction.summary_tokens, "Estimate."),
    COUNT("messages_before", compaction.messages_before, "Of the history."),
    COUNT("messages_after", compaction.messages_after, "Of the history."),
    COUNT("messages_dropped", compaction.messages_dropped, "That went."),
    COUNT("messages_changed", compaction.messages_changed, "That stayed with shortened tool results."),
    NUMBER("tokens_before", compaction.tokens_before, "Estimate of the history."),
    NUMBER("tokens_after", compaction.tokens_after, "Estimate of the history."),
    OPTIONAL_NUMBER("request_tokens_before", compaction.request_before, "Of the whole next request."),
    OPTIONAL_NUMBER("request_tokens_after", compaction.request_after, "Of the whole next request."),
    COUNT("entries_indexed", compaction.entries_indexed, "Entries that memory took."),
    JSON_TEXT("history", compaction.history, "How the new messages are made of the old ones."),
    JSON_TEXT("dropped", compaction.dropped, "Events that the messages which went were made of."),
    OPTIONAL_COUNT("consecutive_failures", compaction.failures, "In a row."),
    OPTIONAL_FLAG("suspended", compaction.suspended, "Automatic compaction stops."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Of these calls."),
    KNOWN_REAL("cost", used, "USD."),
    NUMBER("duration_ms", number, "How long it took."),
    {0},
};

static const struct shape_field fields_COMPACTION_FAILED[] = {
    TEXT("mode", compaction.mode, "The mode that was asked for."),
    TEXT("reason", compaction.reason, "\"llm\", \"empty_summary\", \"memory_indexing\", \"too_small\", \"cancelled\" or \"store\"."),
    OPTIONAL_TEXT("code", name, "Code of the error; absent: AGENT_ERROR."),
    TEXT("message", text, "What failed, for a person."),
    COUNT("consecutive_failures", compaction.failures, "In a row."),
    FLAG("suspended", compaction.suspended, "Automatic compaction stops."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Of these calls."),
    KNOWN_REAL("cost", used, "USD."),
    OPTIONAL_NUMBER("duration_ms", number, "How long it took."),
    {0},
};

static const struct shape_field fields_COMPACTION_UNDONE[] = {
    NUMBER("of", number, "Number of the compaction_completed that holds no more."),
    {0},
};

static const struct shape_field fields_MESSAGE_PINNED[] = {
    NUMBER("message", number, "Number of the message."),
    FLAG("pinned", flag, "False: no more."),
    {0},
};

static const struct shape_field fields_MEMORY_INDEXED[] = {
    COUNT("entries", count, "How many."),
    NUMBER("compaction", number, "Number of the compaction_completed that they came of."),
    {0},
};

static const struct shape_field fields_MEMORY_RECALLED[] = {
    TEXT("id", id, "Of the tool call."),
    TEXT("query", text, "What the model asked."),
    COUNT("limit", limit, "Hits that were asked for."),
    JSON_TEXT("hits", hits, "Entries, best first, as the model got them, and why."),
    OPTIONAL_TEXT("badge", name, "Why it was not searched as configured, English."),
    {0},
};

static const struct shape_field fields_GRAPH_CHANGED[] = {
    TEXT("id", id, "Of the tool call."),
    TEXT("facts", text,
         "Entities, observations as \"name: text\", relations as \"from type to\", parted by commas."),
    OPTIONAL_NUMBER("more", number, "Further ones that are not named."),
    OPTIONAL_FLAG("deleted", flag, "They are gone."),
    {0},
};

static const struct shape_field fields_LEARNED_NOTED[] = {
    TEXT("id", id, "Of the item of learned memory."),
    TEXT("kind", name, "\"fact\", \"rule\", \"language\", …"),
    TEXT("text", text, "What was learned."),
    FLAG("active", flag, "It counts; else it waits for the user's word."),
    {0},
};

static const struct shape_field fields_LEARNED_EXTRACTED[] = {
    COUNT("proposals", count, "What the model proposed to remember, and waits for the user's word."),
    OPTIONAL_TEXT("model", model, "The model."),
    USAGE("usage", usage, "Of this call."),
    KNOWN_REAL("cost", used, "USD."),
    {0},
};

static const struct shape_field fields_BUDGET_WARNING[] = {
    TEXT("kind", name, "The budget: \"max_tokens\", …"),
    REAL("used", used, "In the budget's unit."),
    REAL("limit", bound, "In the budget's unit."),
    COUNT("percent", count, "How much of it is used."),
    {0},
};

static const struct shape_field fields_WARNING[] = {
    TEXT("code", name, "A code of the program's."),
    TEXT("detail", text, "English."),
    {0},
};

static const struct shape_field fields_TURN_COMPLETED[] = {
    TEXT("result", text, "The last answer."),
    TURN_USAGE("usage", usage, "Sum of the turn."),
    COUNT("model_calls", count, "Without those of compactions."),
    NUMBER("duration_ms", number, "How long it took."),
    STOP("stop_reason", stop_reason, "Why the model stopped."),
    {0},
};

static const struct shape_field fields_TURN_FAILED[] = {
    TEXT("code", name, "Code of the error."),
    TEXT("message", text, "What failed, for a person."),
    USAGE("usage", usage, "Of these calls."),
    KNOWN_REAL("cost", used, "USD."),
    OPTIONAL_NUMBER("duration_ms", number, "How long it took."),
    {0},
};

static const struct shape_field fields_INTERRUPTED[] = {
    USAGE("usage", usage, "Estimated where the provider had not said yet."),
    KNOWN_REAL("cost", used, "USD."),
    OPTIONAL_NUMBER("duration_ms", number, "How long it took."),
    {0},
};

/* clang-format on */

#define X(id, word, version)                                                                       \
    [EVENT_##id] = {.name = word, .size = sizeof(struct event), .fields = fields_##id},
const struct shape event_shapes[EVENT_TYPE_COUNT] = {EVENT_TYPES(X)};
#undef X
