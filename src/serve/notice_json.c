#include "serve/notice_json.h"

#include "base/json_out.h"
#include "session/conversation_operations.h"

#define AT(T, member) SHAPE_AT(T, struct notice, member)
#define TEXT(name, PRESENCE, member, what)                                                         \
    SHAPE_FIELD(name, STRING, PRESENCE, SHAPE_AT_TEXT(struct notice, member), .help = what)
#define NUMBER(name, member, what)                                                                 \
    SHAPE_FIELD(name, INTEGER, REQUIRED, AT(int64_t, member), .help = what)
#define COUNT(name, member, what) SHAPE_FIELD(name, COUNT, REQUIRED, AT(int, member), .help = what)
#define FLAG(name, PRESENCE, member, what)                                                         \
    SHAPE_FIELD(name, BOOLEAN, PRESENCE, AT(bool, member), .help = what)
#define SESSION                                                                                    \
    SHAPE_FIELD("session_id", UUID, OPTIONAL, offsetof(struct notice, session),                    \
                .help = "The session that it is about.")

static bool has_error(const void *notice)
{
    return ((const struct notice *)notice)->error.code != ERR_OK;
}

#define FAULT(what)                                                                                \
    SHAPE_FIELD("error", OWN, OPTIONAL, AT(struct error, error), .codec = &fault_codec,            \
                .there = has_error, .help = what)

static const char *const reason_words[] = {[PROVIDER_BY_OPTION] = "option",
                                           [PROVIDER_BY_CONFIG] = "config",
                                           [PROVIDER_BY_ENVIRONMENT] = "environment",
                                           [PROVIDER_ANSWERED] = "answered",
                                           [PROVIDER_FALLBACK] = "fallback"};
static const struct shape_names reasons = {reason_words, PROVIDER_FALLBACK + 1, -1};

static const struct shape_field error_fields[] = {SESSION, FAULT("What could not be done."), {0}};

static const struct shape_field session_fields[] = {
    SESSION,
    SHAPE_FIELD("session", OBJECT, REQUIRED, AT(struct session_info, info),
                .of = &session_info_shape, .help = "What is known of it now."),
    FLAG("opened", OPTIONAL, flag, "It was opened just now."),
    FLAG("read_only", OPTIONAL, read_only, "It can be read alone."),
    {0},
};

static const struct shape_field provider_fields[] = {
    SESSION,
    TEXT("provider", OPTIONAL, provider, "What the session talks to."),
    TEXT("model", OPTIONAL, model, "Absent: it is not known yet."),
    SHAPE_FIELD("reason", ENUM, REQUIRED, AT(enum provider_reason, reason), .names = &reasons,
                .help = "Why this one."),
    TEXT("detail", OPTIONAL, detail, "What the reason rests on."),
    {0},
};

static const struct shape_field busy_fields[] = {
    SESSION,
    FLAG("running", REQUIRED, flag, "A turn or a compaction by hand runs; else it has ended."),
    NUMBER("ms", number, "Since it began."),
    {0},
};

static const struct shape_field event_fields[] = {
    SESSION,
    SHAPE_FIELD("event", OWN, REQUIRED, AT(struct event *, event), .codec = &event_codec,
                .help = "As a line of stream-json."),
    {0},
};

static const struct shape_field approval_fields[] = {
    SESSION,
    TEXT("call", OPTIONAL, text, "Id of the call, for approval/decide."),
    TEXT("tool", OPTIONAL, name, "Its name."),
    TEXT("class", OPTIONAL, detail, "Its class."),
    SHAPE_FIELD("args", JSON, OPTIONAL, SHAPE_AT_TEXT(struct notice, args),
                .help = "Its arguments."),
    TEXT("preview", OPTIONAL, preview, "The difference or the command in full."),
    TEXT("guarded", OPTIONAL, guarded,
         "The place of keys or of the program's own files that it leads to."),
    TEXT("grant", OPTIONAL, grant,
         "The calls that the answer \"session\" allows; absent: none but this one."),
    {0},
};

static const struct shape_field draft_fields[] = {
    SESSION,
    TEXT("text", OPTIONAL, text, "The summary, for compaction/decide."),
    TEXT("mode", OPTIONAL, name, "The mode that made it."),
    TEXT("model", OPTIONAL, detail, "Provider and model that wrote it."),
    NUMBER("tokens_before", draft.tokens_before, "Of the history."),
    NUMBER("tokens_after", draft.tokens_after, "Of the history then."),
    COUNT("messages_before", draft.messages_before, "Of the history."),
    COUNT("messages_after", draft.messages_after, "Of the history then."),
    {0},
};

static const struct shape_field memory_fields[] = {
    SHAPE_FIELD("stats", OBJECT, REQUIRED, AT(struct memory_stats, stats),
                .of = &memory_stats_shape, .help = "As of memory/stats."),
    {0},
};

static const struct shape_field learned_fields[] = {
    TEXT("project", OPTIONAL, text, "Directory of the project that it was counted in."),
    NUMBER("waiting", number, "Items of the project and the user that wait for the person's word."),
    FLAG("proposed", OPTIONAL, flag, "A model proposed some of them just now."),
    {0},
};

static const struct shape_field offer_fields[] = {
    NUMBER("sessions", number,
           "From before that are not in memory; memory/index has them come in."),
    {0},
};

static const struct shape_field chore_fields[] = {
    SHAPE_FIELD("ingest", OBJECT, REQUIRED, AT(struct corpus_progress, progress),
                .of = &corpus_progress_shape, .help = "How far it is."),
    FLAG("embedding", OPTIONAL, flag, "Vectors of passages are made."),
    NUMBER("missing", number, "Vectors that lack."),
    FAULT("Why it failed or waits."),
    {0},
};

#define SHAPE(title, rows)                                                                         \
    {                                                                                              \
        .name = title, .size = sizeof(struct notice), .fields = rows                               \
    }

static const struct shape error_shape = SHAPE("engine_error", error_fields),
                          session_shape = SHAPE("session_changed", session_fields),
                          provider_shape = SHAPE("session_provider", provider_fields),
                          busy_shape = SHAPE("session_running", busy_fields),
                          event_shape = SHAPE("session_event", event_fields),
                          approval_shape = SHAPE("approval", approval_fields),
                          draft_shape = SHAPE("draft", draft_fields),
                          memory_shape = SHAPE("memory_state", memory_fields),
                          learned_shape = SHAPE("learned", learned_fields),
                          offer_shape = SHAPE("memory_offer", offer_fields),
                          chore_shape = SHAPE("chore", chore_fields);

const struct notification *notification_of(enum notice_type type)
{
    static const struct notification rows[NOTICE_TYPES] = {
        [NOTICE_ERROR] = {"engine/error", "What nobody asked for could not be done.", &error_shape},
        [NOTICE_SESSION] = {"session/changed",
                            "A session was opened, or what is known of it changed.",
                            &session_shape},
        [NOTICE_PROVIDER] = {"session/provider", "What a session talks to, and why.",
                             &provider_shape},
        [NOTICE_BUSY] = {"session/running", "A turn or a compaction by hand began or ended.",
                         &busy_shape},
        [NOTICE_EVENT] = {"session/event", "Something happened in a session.", &event_shape},
        [NOTICE_APPROVAL] = {"approval/requested",
                             "A tool asks before it runs; it is over when tool_execution_completed "
                             "comes.",
                             &approval_shape},
        [NOTICE_DRAFT] = {"draft/requested",
                          "A draft summary waits; it is over when compaction_completed or "
                          "compaction_failed comes.",
                          &draft_shape},
        [NOTICE_MEMORY_STATE] = {"memory/state", "How far memory is.", &memory_shape},
        [NOTICE_LEARNED] = {"learned/changed", "What was learned has changed.", &learned_shape},
        [NOTICE_MEMORY_OFFER] = {"memory/offered",
                                 "Sessions from before are not in memory; once a start.",
                                 &offer_shape},
        [NOTICE_CORPORA_STATE] = {"chore/progress", "How far the ingest of a corpus is.",
                                  &chore_shape},
    };
    return &rows[type];
}

char *notice_json(const struct notice *n)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(notification_of(n->type)->shape, n, &o);
    return buf_take(&text);
}
