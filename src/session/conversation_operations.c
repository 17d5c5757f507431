#include "session/conversation_operations.h"

#include <string.h>

#include "chat/context.h"
#include "chat/message.h"
#include "chat/session_info.h"
#include "session/session_operations.h"

#define PARAMETERS(T, rows)                                                                        \
    {                                                                                              \
        .name = "parameters", .size = sizeof(T), .fields = rows, .closed = true                    \
    }

#define RUN_IN_CONVERSATION(title, least, text, takes, gives, wants)                               \
    {                                                                                              \
        .name = title, .summary = text, .authority = least, .params = takes, .result = gives,      \
        .executor = OPERATION_CONVERSATION, .needs = wants                                         \
    }

/* --- what went wrong, within a result --------------------------------------------------------- */

static void write_fault(struct json_out *o, const void *at)
{
    const struct error *e = at;
    json_out_open(o, '{');
    json_out_member(o, "code", err_info(e->code)->name);
    json_out_member(o, "message", e->text);
    json_out_close(o, '}');
}

static bool read_fault(const struct json *v, void *at)
{
    const char *code = json_get_string(v, "code"), *message = json_get_string(v, "message");
    if (code && message)
        err_set(at, err_from_name(code), "%s", message);
    return code && message;
}

static void release_fault(void *at)
{
    *(struct error *)at = (struct error){0};
}

const struct shape_codec fault_codec = {
    .write = write_fault,
    .read = read_fault,
    .release = release_fault,
    .schema =
        "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},"
        "\"message\":{\"type\":\"string\"}},\"required\":[\"code\",\"message\"]}",
    .expected = "an object with code and message",
};

/* What the result of such a row has of it. */
#define FAULT(S)                                                                                   \
    static bool S##_failed(const void *result)                                                     \
    {                                                                                              \
        return ((const struct S *)result)->fault.code != ERR_OK;                                   \
    }
#define FAULT_FIELD(S, what)                                                                       \
    SHAPE_FIELD("error", OWN, OPTIONAL, SHAPE_AT(struct error, struct S, fault),                   \
                .codec = &fault_codec, .there = S##_failed, .help = what)

/* --- session/… -------------------------------------------------------------------------------- */

#define CHOICE(S)                                                                                  \
    SHAPE_FIELD("provider", STRING, OPTIONAL, SHAPE_AT_TEXT(S, provider),                          \
                .help = "Absent: the present one."),                                               \
        SHAPE_FIELD("model", STRING, OPTIONAL, SHAPE_AT_TEXT(S, model),                            \
                    .help = "Absent: as configured, or the provider's own.")

static const char *const level_words[] = {
    [TOOLS_CONFIGURED] = NULL, [TOOLS_NONE] = "none", [TOOLS_READ] = "read", [TOOLS_FULL] = "full"};
const struct shape_names tools_offer_names = {level_words, 4, -1};

#define TOOLS_FIELD(S)                                                                             \
    SHAPE_FIELD("tools", ENUM, OPTIONAL, SHAPE_AT(enum tools_offer, S, tools),                     \
                .names = &tools_offer_names, .absent = TOOLS_CONFIGURED,                           \
                .help = "Which tools the model may use; absent: as configured.")

static const struct shape_field create_fields[] = {
    CHOICE(struct session_create_params),
    SHAPE_FIELD("directory", STRING, OPTIONAL,
                SHAPE_AT_TEXT(struct session_create_params, directory), .least = 1,
                .place = SHAPE_WORKS,
                .help = "Absolute path of its working directory; absent: the program's."),
    SHAPE_FIELD("system", STRING, OPTIONAL, SHAPE_AT_TEXT(struct session_create_params, system),
                .help = "System prompt; absent: the configured one."),
    SHAPE_FIELD("labels", STRING, OPTIONAL, SHAPE_AT_TEXT(struct session_create_params, labels),
                .help = "Words parted by blanks."),
    TOOLS_FIELD(struct session_create_params),
    {0},
};
static const struct shape create_shape = PARAMETERS(struct session_create_params, create_fields);

const struct operation operation_session_create = RUN_IN_CONVERSATION(
    "session/create", AUTHORITY_CLIENT, "Begins a session.", &create_shape, &session_info_shape, 0);

static const struct shape_field open_fields[] = {
    SESSION_FIELD(struct session_open_params),
    SHAPE_FIELD("read_only", BOOLEAN, OPTIONAL,
                SHAPE_AT(bool, struct session_open_params, read_only),
                .help = "To be looked at alone: a turn is refused until it is opened otherwise, or "
                        "closed."),
    SHAPE_FIELD("directory", STRING, OPTIONAL, SHAPE_AT_TEXT(struct session_open_params, directory),
                .least = 1, .place = SHAPE_WORKS,
                .help = "Absolute path of its working directory from now on; absent: as it was."),
    {0},
};
static const struct shape open_shape = PARAMETERS(struct session_open_params, open_fields);

const struct operation operation_session_open =
    RUN_IN_CONVERSATION("session/open", AUTHORITY_CLIENT, "Opens a session that is kept.",
                        &open_shape, &session_info_shape, 0);

static const struct shape_field close_fields[] = {
    SESSION_FIELD(struct session_close_params),
    SHAPE_FIELD("discard_unused", BOOLEAN, OPTIONAL,
                SHAPE_AT(bool, struct session_close_params, discard_unused),
                .help = "Also deletes the session if it was created, and then nothing was said or "
                        "written in it before it is closed."),
    {0},
};
static const struct shape close_shape = PARAMETERS(struct session_close_params, close_fields);

const struct operation operation_session_close =
    RUN_IN_CONVERSATION("session/close", AUTHORITY_CLIENT,
                        "Ends what runs in a session and gives its memory back; it stays as it is.",
                        &close_shape, NULL, 0);

static const struct shape_field model_fields[] = {
    SESSION_FIELD(struct session_model_params), CHOICE(struct session_model_params), {0}};
static const struct shape model_shape = PARAMETERS(struct session_model_params, model_fields);

const struct operation operation_session_set_model = RUN_IN_CONVERSATION(
    "session/set_model", AUTHORITY_OWNER, "Chooses the provider and model that a session talks to.",
    &model_shape, NULL, 0);

#define TEXT_FIELD(what)                                                                           \
    SHAPE_FIELD("text", STRING, OPTIONAL, SHAPE_AT_TEXT(struct session_text_params, text),         \
                .help = what)

static const struct shape_field system_fields[] = {
    SESSION_FIELD(struct session_text_params),
    TEXT_FIELD("The prompt; absent: the configured one."),
    {0},
};
static const struct shape system_shape = PARAMETERS(struct session_text_params, system_fields);

const struct operation operation_session_set_system =
    RUN_IN_CONVERSATION("session/set_system", AUTHORITY_OWNER,
                        "Sets the system prompt from the next message on.", &system_shape, NULL, 0);

static const struct shape_field draft_fields[] = {
    SESSION_FIELD(struct session_text_params),
    TEXT_FIELD("What is written; absent: nothing."),
    {0},
};
static const struct shape draft_shape = PARAMETERS(struct session_text_params, draft_fields);

const struct operation operation_session_set_draft =
    RUN_IN_CONVERSATION("session/set_draft", AUTHORITY_CLIENT,
                        "Keeps what is written and not sent yet.", &draft_shape, NULL, 0);

static const struct shape_field memory_fields[] = {
    SESSION_FIELD(struct session_memory_params),
    SHAPE_FIELD("access", ENUM, REQUIRED,
                SHAPE_AT(enum memory_access, struct session_memory_params, access),
                .names = &memory_access_names, .help = "Of the session to memory of all kinds."),
    {0},
};
static const struct shape memory_shape = PARAMETERS(struct session_memory_params, memory_fields);

const struct operation operation_session_set_memory =
    RUN_IN_CONVERSATION("session/set_memory", AUTHORITY_OWNER,
                        "Says what the session may do with memory.", &memory_shape, NULL, 0);

static const struct shape_field tools_fields[] = {
    SESSION_FIELD(struct session_tools_params), TOOLS_FIELD(struct session_tools_params), {0}};
static const struct shape tools_shape = PARAMETERS(struct session_tools_params, tools_fields);

const struct operation operation_session_set_tools =
    RUN_IN_CONVERSATION("session/set_tools", AUTHORITY_OWNER, "Says which tools the model may use.",
                        &tools_shape, NULL, 0);

static const struct shape_field mode_fields[] = {
    SESSION_FIELD(struct session_compaction_params),
    SHAPE_FIELD("mode", STRING, OPTIONAL, SHAPE_AT_TEXT(struct session_compaction_params, mode),
                .help = "Absent: the configured one."),
    {0},
};
static const struct shape mode_shape = PARAMETERS(struct session_compaction_params, mode_fields);

const struct operation operation_session_set_compaction = RUN_IN_CONVERSATION(
    "session/set_compaction", AUTHORITY_OWNER, "Chooses the mode of the session's compactions.",
    &mode_shape, NULL, NEED_COMPACTION);

#define SETTING(member, TYPE, T, what)                                                             \
    SHAPE_FIELD(#member, TYPE, OPTIONAL, SHAPE_AT(T, struct session_settings, member), .help = what)

static const struct shape_field settings_fields[] = {
    SETTING(directory, STRING, char *, "Its working directory."),
    SETTING(provider, STRING, char *, "The provider that it talks to."),
    SETTING(model, STRING, char *, "The model that it talks to."),
    SETTING(system, STRING, char *, "System prompt; absent: the configured one."),
    TOOLS_FIELD(struct session_settings),
    SETTING(compaction, STRING, char *, "Mode of its compactions; absent: there are none."),
    SHAPE_FIELD("memory", ENUM, REQUIRED,
                SHAPE_AT(enum memory_access, struct session_settings, memory),
                .names = &memory_access_names, .help = "What it may do with memory of all kinds."),
    {0},
};
static const struct shape settings_shape = {
    .name = "settings", .size = sizeof(struct session_settings), .fields = settings_fields};

const struct operation operation_session_settings =
    RUN_IN_CONVERSATION("session/settings", AUTHORITY_CLIENT, "Tells what a session is set to.",
                        &session_params_shape, &settings_shape, 0);

static const struct shape_field image_fields[] = {
    SESSION_FIELD(struct session_image_params),
    SHAPE_FIELD("data", STRING, REQUIRED, SHAPE_AT_TEXT(struct session_image_params, data),
                .least = 4, .help = "PNG, JPEG, GIF or WebP, in base64."),
    {0},
};
static const struct shape image_shape = PARAMETERS(struct session_image_params, image_fields);

static const struct shape_field image_result_fields[] = {
    SHAPE_FIELD("path", STRING, REQUIRED, SHAPE_AT_TEXT(struct session_image, path),
                .help = "Of the file; text of an image block."),
    SHAPE_FIELD("media_type", STRING, REQUIRED, SHAPE_AT_TEXT(struct session_image, media_type),
                .help = "What it is."),
    {0},
};
static const struct shape image_result_shape = {
    .name = "image", .size = sizeof(struct session_image), .fields = image_result_fields};

const struct operation operation_session_add_image =
    RUN_IN_CONVERSATION("session/add_image", AUTHORITY_CLIENT,
                        "Keeps an image with a session, for a message that is to come.",
                        &image_shape, &image_result_shape, 0);

/* --- turn/… ----------------------------------------------------------------------------------- */

#define ORIGIN_FIELD(S)                                                                            \
    SHAPE_FIELD("origin", ENUM, OPTIONAL, SHAPE_AT(enum input_origin, S, origin),                  \
                .names = &input_origin_names,                                                      \
                .help =                                                                            \
                    "Where the text comes from: \"typed\" where a person typed it. Memory "        \
                    "learns of typed text alone, and only an owner may say so.")

static const struct shape_field start_fields[] = {
    SESSION_FIELD(struct turn_start_params),
    SHAPE_FIELD(PROMPT_MEMBER, STRING, REQUIRED, SHAPE_AT_TEXT(struct turn_start_params, text),
                .help = "The message."),
    SHAPE_FIELD("attachments", JSON, OPTIONAL, SHAPE_AT_TEXT(struct turn_start_params, attachments),
                .help = "Array of images: {\"type\": \"image\", \"text\": URL or path, which may "
                        "begin in the session's directory, "
                        "\"media_type\": \"image/png\"}."),
    ORIGIN_FIELD(struct turn_start_params),
    {0},
};
static const struct shape start_shape = PARAMETERS(struct turn_start_params, start_fields);

static const struct shape_field retry_fields[] = {
    SESSION_FIELD(struct turn_retry_params),
    SHAPE_FIELD(PROMPT_MEMBER, STRING, OPTIONAL, SHAPE_AT_TEXT(struct turn_retry_params, text),
                .help = "In other words; absent: the same."),
    ORIGIN_FIELD(struct turn_retry_params),
    {0},
};
static const struct shape retry_shape = PARAMETERS(struct turn_retry_params, retry_fields);

FAULT(turn_result)

static const struct shape_field turn_fields[] = {
    SHAPE_FIELD("session_id", UUID, REQUIRED, offsetof(struct turn_result, session_id),
                .help = "The session."),
    SHAPE_FIELD("text", STRING, OPTIONAL, SHAPE_AT_TEXT(struct turn_result, text),
                .help = "The answer, or what came of it."),
    SHAPE_FIELD("turns", COUNT, REQUIRED, SHAPE_AT(int, struct turn_result, turns),
                .help = "Number of the turn in the conversation."),
    SHAPE_FIELD("tool_calls", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct turn_result, tool_calls),
                .help = "Of this turn."),
    SHAPE_FIELD("stop_reason", ENUM, REQUIRED,
                SHAPE_AT(enum stop_reason, struct turn_result, stop_reason),
                .names = &stop_reason_names, .help = "Why it ended."),
    SHAPE_FIELD("usage", OBJECT, OPTIONAL, SHAPE_AT(struct usage, struct turn_result, usage),
                .of = &usage_shape, .help = "Tokens of this turn."),
    FAULT_FIELD(turn_result, "What ended it, if it failed."),
    {0},
};
static const struct shape turn_shape = {
    .name = "turn", .size = sizeof(struct turn_result), .fields = turn_fields};

const struct operation operation_turn_start = RUN_IN_CONVERSATION(
    "turn/start", AUTHORITY_CLIENT, "Sends a message, and answers when the turn has ended.",
    &start_shape, &turn_shape, 0);

const struct operation operation_turn_retry = RUN_IN_CONVERSATION(
    "turn/retry", AUTHORITY_CLIENT, "Sends the last message again in place of its turn.",
    &retry_shape, &turn_shape, 0);

const struct operation operation_turn_interrupt = RUN_IN_CONVERSATION(
    "turn/interrupt", AUTHORITY_CLIENT,
    "Stops the turn or compaction that runs in a session; what arrived is kept.",
    &session_params_shape, NULL, 0);

static const char *const answer_words[] = {
    [ANSWER_ONCE] = "once", [ANSWER_SESSION] = "session", [ANSWER_DENY] = "deny"};
static const struct shape_names answers = {answer_words, 3, -1};

static const struct shape_field approval_fields[] = {
    SESSION_FIELD(struct approval_decide_params),
    SHAPE_FIELD("call", STRING, REQUIRED, SHAPE_AT_TEXT(struct approval_decide_params, call),
                .help = "Id of the call that asks."),
    SHAPE_FIELD("decision", ENUM, REQUIRED,
                SHAPE_AT(enum approval_answer, struct approval_decide_params, decision),
                .names = &answers, .help = "Whether it may run."),
    {0},
};
static const struct shape approval_shape =
    PARAMETERS(struct approval_decide_params, approval_fields);

const struct operation operation_approval_decide =
    RUN_IN_CONVERSATION("approval/decide", AUTHORITY_OWNER,
                        "Answers a tool that asks before it runs.", &approval_shape, NULL, 0);

static const char *const outcome_words[] = {
    [SURFACE_DID] = "done", [SURFACE_PASSED] = "passed", [SURFACE_FAILED] = "failed"};
static const struct shape_names outcomes = {outcome_words, SURFACE_FAILED + 1, -1};

static const struct shape_field surface_fields[] = {
    SESSION_FIELD(struct surface_answer_params),
    SHAPE_FIELD("number", INTEGER, REQUIRED,
                SHAPE_AT(int64_t, struct surface_answer_params, number),
                .help = "Of what is wanted."),
    SHAPE_FIELD("outcome", ENUM, REQUIRED,
                SHAPE_AT(enum surface_outcome, struct surface_answer_params, outcome),
                .names = &outcomes, .help = "Passed: the tool does it itself."),
    SHAPE_FIELD("text", STRING, OPTIONAL, SHAPE_AT_TEXT(struct surface_answer_params, text),
                .help = "Of the file, or what the command printed, or why it failed."),
    SHAPE_FIELD("truncated", BOOLEAN, OPTIONAL,
                SHAPE_AT(bool, struct surface_answer_params, truncated),
                .help = "The beginning of what it printed was left out."),
    SHAPE_FIELD("exit_status", INTEGER, OPTIONAL,
                SHAPE_AT(int64_t, struct surface_answer_params, exit_status), .absent = -1,
                .help = "Of the command; absent: unknown."),
    SHAPE_FIELD("signal", STRING, OPTIONAL, SHAPE_AT_TEXT(struct surface_answer_params, signal),
                .help = "That ended the command."),
    {0},
};
const struct shape surface_answer_shape = PARAMETERS(struct surface_answer_params, surface_fields);

const struct operation operation_tool_answer =
    RUN_IN_CONVERSATION("tool/answer", AUTHORITY_OWNER,
                        "Answers a tool that wants a file read or written or a command run.",
                        &surface_answer_shape, NULL, 0);

/* --- compaction/… ----------------------------------------------------------------------------- */

static const struct shape_field run_fields[] = {
    SESSION_FIELD(struct compaction_run_params),
    SHAPE_FIELD("mode", STRING, OPTIONAL, SHAPE_AT_TEXT(struct compaction_run_params, mode),
                .help = "Absent: the configured one."),
    SHAPE_FIELD("focus", STRING, OPTIONAL, SHAPE_AT_TEXT(struct compaction_run_params, focus),
                .help = "What to keep above all."),
    SHAPE_FIELD("preview", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct compaction_run_params, preview),
                .help = "The draft waits for compaction/decide, whatever is configured."),
    {0},
};
static const struct shape run_shape = PARAMETERS(struct compaction_run_params, run_fields);

FAULT(compaction_result)

static bool was_compacted(const void *result)
{
    return ((const struct compaction_result *)result)->completed;
}

static const struct shape_field compaction_fields[] = {
    SHAPE_FIELD(
        "completed", OWN, OPTIONAL, SHAPE_AT(struct event *, struct compaction_result, completed),
        .codec = &event_codec, .there = was_compacted,
        .help = "What was done, as a line of stream-json; \"why\" is there if a fallback was "
                "used."),
    FAULT_FIELD(compaction_result, "Why it failed; absent: it was done."),
    {0},
};
static const struct shape compaction_shape = {
    .name = "compaction", .size = sizeof(struct compaction_result), .fields = compaction_fields};

const struct operation operation_compaction_run = RUN_IN_CONVERSATION(
    "compaction/run", AUTHORITY_CLIENT, "Shortens the history of a session now.", &run_shape,
    &compaction_shape, NEED_COMPACTION);

static const char *const draft_words[] = {
    [DRAFT_COMMIT] = "commit", [DRAFT_REFUSE] = "refuse", [DRAFT_AGAIN] = "again"};
static const struct shape_names drafts = {draft_words, 3, -1};

static const struct shape_field decide_fields[] = {
    SESSION_FIELD(struct compaction_decide_params),
    SHAPE_FIELD("decision", ENUM, REQUIRED,
                SHAPE_AT(enum draft_answer, struct compaction_decide_params, decision),
                .names = &drafts, .help = "What becomes of the draft."),
    SHAPE_FIELD("text", STRING, OPTIONAL, SHAPE_AT_TEXT(struct compaction_decide_params, text),
                .help = "The changed summary; with \"again\" what to focus on."),
    {0},
};
static const struct shape decide_shape = PARAMETERS(struct compaction_decide_params, decide_fields);

const struct operation operation_compaction_decide =
    RUN_IN_CONVERSATION("compaction/decide", AUTHORITY_CLIENT,
                        "Answers a draft summary that waits.", &decide_shape, NULL, 0);

const struct operation operation_compaction_undo = RUN_IN_CONVERSATION(
    "compaction/undo", AUTHORITY_CLIENT, "Takes the last compaction of a session back.",
    &session_params_shape, NULL, NEED_COMPACTION);

static const struct shape_field pin_fields[] = {
    SESSION_FIELD(struct compaction_pin_params),
    SHAPE_FIELD("seq", INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct compaction_pin_params, seq),
                .help = "Number of the message's event; absent or 0: the newest of the user's."),
    {0},
};
static const struct shape pin_shape = PARAMETERS(struct compaction_pin_params, pin_fields);

const struct operation operation_compaction_pin = RUN_IN_CONVERSATION(
    "compaction/pin", AUTHORITY_CLIENT, "Keeps a message word for word in every compaction.",
    &pin_shape, NULL, NEED_COMPACTION);

const struct operation operation_compaction_unpin = RUN_IN_CONVERSATION(
    "compaction/unpin", AUTHORITY_CLIENT, "Lets compactions have a message again.", &pin_shape,
    NULL, NEED_COMPACTION);

/* --- context/read ----------------------------------------------------------------------------- */

#define X(id, word, label) word,
static const char *const kind_words[CONTEXT_KINDS] = {CONTEXT_KIND_LIST(X)};
#undef X
static const struct shape_names kinds = {kind_words, CONTEXT_KINDS, -1};

static bool has_role(const void *part)
{
    const struct context_part *p = part;
    return p->kind == CONTEXT_MESSAGE && p->role != ROLE_SYSTEM;
}

#define PART(name, TYPE, PRESENCE, T, member, what)                                                \
    SHAPE_FIELD(name, TYPE, PRESENCE, SHAPE_AT(T, struct context_part, member), .help = what)

static const struct shape_field part_fields[] = {
    SHAPE_FIELD("kind", ENUM, REQUIRED, SHAPE_AT(enum context_kind, struct context_part, kind),
                .names = &kinds, .help = "What it is."),
    SHAPE_FIELD("role", ENUM, OPTIONAL, SHAPE_AT(enum role, struct context_part, role),
                .names = &role_names, .there = has_role, .help = "Who says the message."),
    SHAPE_FIELD("source", STRING, OPTIONAL, SHAPE_AT_TEXT(struct context_part, source),
                .help = "Where tools, a skill or instructions come from."),
    PART("seq", INTEGER, OPTIONAL, int64_t, seq, "Number of the message."),
    PART("turn", COUNT, OPTIONAL, int, turn, "Turn of the message."),
    PART("tokens", INTEGER, REQUIRED, int64_t, tokens, "Its share of the request."),
    PART("cap", INTEGER, OPTIONAL, int64_t, cap, "Tokens that it may have."),
    PART("whole", INTEGER, OPTIONAL, int64_t, whole, "Tokens before the cap cut it."),
    SHAPE_FIELD("text", STRING, OPTIONAL, SHAPE_AT_TEXT(struct context_part, text),
                .help = "The whole of it."),
    PART("pinned", BOOLEAN, OPTIONAL, bool, pinned, "Compactions keep it."),
    PART("goes", BOOLEAN, OPTIONAL, bool, goes, "A compaction now would drop it."),
    {0},
};
static const struct shape part_shape = {
    .name = "part", .size = sizeof(struct context_part), .fields = part_fields};

#define CONTEXT_NUMBER(member, otherwise, what)                                                    \
    SHAPE_FIELD(#member, INTEGER, OPTIONAL, SHAPE_AT(int64_t, struct context, member),             \
                .absent = otherwise, .help = what)

static const struct shape_field context_fields[] = {
    SHAPE_FIELD("parts", LIST, REQUIRED, offsetof(struct context, parts), .of = &part_shape,
                .help = "In their order."),
    SHAPE_FIELD("tokens", INTEGER, REQUIRED, SHAPE_AT(int64_t, struct context, tokens),
                .help = "Of all parts."),
    SHAPE_FIELD("estimated", BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct context, estimated),
                .help = "No provider has counted them."),
    CONTEXT_NUMBER(last_input, -1, "As the provider counted the last request."),
    CONTEXT_NUMBER(cached, -1, "Of those from the provider's cache."),
    CONTEXT_NUMBER(sent, -1, "Tokens of all requests of the session."),
    CONTEXT_NUMBER(received, -1, "Tokens of all answers of the session."),
    CONTEXT_NUMBER(window, 0, "Of the model."),
    CONTEXT_NUMBER(threshold, 0, "Tokens from which on the history is shortened."),
    SHAPE_FIELD("mode", STRING, OPTIONAL, SHAPE_AT_TEXT(struct context, mode),
                .help = "Of a compaction now."),
    CONTEXT_NUMBER(tokens_after, -1, "Of all parts that would stay then."),
    {0},
};
static const struct shape context_shape = {
    .name = "context", .size = sizeof(struct context), .fields = context_fields};

const struct operation operation_context_read = RUN_IN_CONVERSATION(
    "context/read", AUTHORITY_CLIENT, "Tells what the next request would carry, part by part.",
    &session_params_shape, &context_shape, 0);

/* --- models/list, provider/check, doctor/report ------------------------------------------------
 */

/* Without a session it is about what a new one would talk to. */
#define ANY_SESSION_FIELD(S)                                                                       \
    SHAPE_FIELD(SESSION_MEMBER, STRING, OPTIONAL, SHAPE_AT_TEXT(S, session), .least = 1,           \
                .help = "As it is for this session; absent: as it would be for a new one.")

static const struct shape_field any_session_fields[] = {ANY_SESSION_FIELD(struct session_params),
                                                        {0}};
static const struct shape any_session_shape = PARAMETERS(struct session_params, any_session_fields);

static const struct shape_field offer_fields[] = {
    SHAPE_FIELD("name", STRING, REQUIRED, SHAPE_AT_TEXT(struct provider_offer, name),
                .help = "Of the provider."),
    SHAPE_FIELD("wants", STRING, OPTIONAL, SHAPE_AT_TEXT(struct provider_offer, wants),
                .help = "The variable of the key that it lacks."),
    {0},
};
static const struct shape offer_shape = {
    .name = "provider", .size = sizeof(struct provider_offer), .fields = offer_fields};

FAULT(models_result)

static const struct shape_field models_fields[] = {
    SHAPE_FIELD("models", STRINGS, REQUIRED, offsetof(struct models_result, models),
                .help = "Of the present provider."),
    SHAPE_FIELD("providers", LIST, REQUIRED, offsetof(struct models_result, providers),
                .of = &offer_shape, .help = "That can be chosen, or lack their key."),
    FAULT_FIELD(models_result, "Why the server lists no models."),
    {0},
};
static const struct shape models_shape = {
    .name = "models", .size = sizeof(struct models_result), .fields = models_fields};

const struct operation operation_models_list = RUN_IN_CONVERSATION(
    "models/list", AUTHORITY_CLIENT, "Lists the models of the present provider, and the providers.",
    &any_session_shape, &models_shape, 0);

#define CHECK_PARAM(name, what)                                                                    \
    SHAPE_FIELD(#name, STRING, OPTIONAL, SHAPE_AT_TEXT(struct provider_check_params, name),        \
                .help = what)
static const struct shape_field check_params_fields[] = {
    ANY_SESSION_FIELD(struct provider_check_params),
    CHECK_PARAM(provider, "Its name; without it the present one."),
    CHECK_PARAM(model, "That is to be listed; without it the present or the usual one."),
    {0},
};
static const struct shape check_params_shape =
    PARAMETERS(struct provider_check_params, check_params_fields);

FAULT(provider_check_result)

#define CHECKED(T, name, TYPE, PRESENCE, what)                                                     \
    SHAPE_FIELD(#name, TYPE, PRESENCE, SHAPE_AT(T, struct provider_check_result, name),            \
                .help = what)
static const struct shape_field check_fields[] = {
    CHECKED(char *, provider, STRING, REQUIRED, "Who was asked."),
    CHECKED(char *, model, STRING, REQUIRED, "The model; empty: the first that the server lists."),
    CHECKED(char *, url, STRING, OPTIONAL, "Where; none: it has no server."),
    CHECKED(int, models, COUNT, REQUIRED, "How many models the server lists."),
    CHECKED(bool, listed, BOOLEAN, REQUIRED, "Whether the model is among them."),
    CHECKED(int64_t, ms, INTEGER, REQUIRED, "Milliseconds until the answer."),
    FAULT_FIELD(provider_check_result, "Why there was no answer."),
    {0},
};
static const struct shape check_shape = {
    .name = "provider state", .size = sizeof(struct provider_check_result), .fields = check_fields};

const struct operation operation_provider_check = RUN_IN_CONVERSATION(
    "provider/check", AUTHORITY_CLIENT, "Asks the server of a provider whether it answers.",
    &check_params_shape, &check_shape, 0);

static const struct shape_field fact_fields[] = {
    SHAPE_FIELD("name", STRING, REQUIRED, SHAPE_AT_TEXT(struct report_fact, name),
                .help = "What of."),
    SHAPE_FIELD("value", STRING, REQUIRED, SHAPE_AT_TEXT(struct report_fact, value),
                .help = "What there is."),
    {0},
};
static const struct shape fact_shape = {
    .name = "fact", .size = sizeof(struct report_fact), .fields = fact_fields};

FAULT(report_result)

static const struct shape_field report_fields[] = {
    SHAPE_FIELD("facts", LIST, REQUIRED, offsetof(struct report_result, facts), .of = &fact_shape,
                .help = "Provider, store and memory, and why."),
    FAULT_FIELD(report_result, "The fault among them."),
    {0},
};
static const struct shape report_shape = {
    .name = "report", .size = sizeof(struct report_result), .fields = report_fields};

const struct operation operation_doctor_report =
    RUN_IN_CONVERSATION("doctor/report", AUTHORITY_OWNER, "Tells what the engine uses, and why.",
                        &any_session_shape, &report_shape, 0);
