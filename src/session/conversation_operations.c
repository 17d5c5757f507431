#include "session/conversation_operations.h"

#include <string.h>

#include "chat/context.h"
#include "chat/memory.h"
#include "chat/message.h"
#include "chat/session_info.h"
#include "session/conversation.h"
#include "session/session_operations.h"

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

/* The member "error" of a result, present if the operation failed. */
#define FAULT(S)                                                                                   \
    static bool S##_failed(const void *result)                                                     \
    {                                                                                              \
        return ((const struct S *)result)->fault.code != ERR_OK;                                   \
    }
#define FAULT_FIELD(S, what)                                                                       \
    SHAPE_FIELD("error", OWN, OPTIONAL, SHAPE_AT(struct error, struct S, fault),                   \
                .codec = &fault_codec, .there = S##_failed, .help = what)

#define CHOICE(S)                                                                                  \
    SHAPE_OPT(S, provider, "Name of the provider; absent: the session's present provider."),       \
        SHAPE_OPT(S, model,                                                                        \
                  "Name of the model; absent: the configured model, else the provider's default.")
#define TOOLS_FIELD(S)                                                                             \
    SHAPE_OPT_WORD(S, tools, tools_offer_names,                                                    \
                   "Tools that the model may use; absent: as configured.",                         \
                   .absent = TOOLS_CONFIGURED)
#define ORIGIN_FIELD(S)                                                                            \
    SHAPE_OPT_WORD(S, origin, input_origin_names,                                                  \
                   "Origin of the text: \"typed\" if a person typed it. Memory learns only from "  \
                   "typed text, and only an owner may set \"typed\".")
/* Without a session it is about what a new one would talk to. */
#define ANY_SESSION_FIELD(S)                                                                       \
    SHAPE_OPT_AS(SESSION_MEMBER, S, session,                                                       \
                 "The session whose values are used; absent: the values of a new session.",        \
                 .least = 1)

/* --- session/… -------------------------------------------------------------------------------- */

static const char *const level_words[] = {
    [TOOLS_CONFIGURED] = NULL, [TOOLS_NONE] = "none", [TOOLS_READ] = "read", [TOOLS_FULL] = "full"};
const struct shape_names tools_offer_names = {level_words, 4, -1};

const struct operation operation_session_create = {
    OPERATION("session/create", CLIENT, CONVERSATION, "Begins a session."),
    SLASH("new", "", N_("start a new session")),
    .alias = "clear",
    .params = PARAMETERS(
        session_create_params, CHOICE(session_create_params),
        SHAPE_OPT(session_create_params, directory,
                  "Absolute path of its working directory; absent: the program's.", .least = 1,
                  .place = SHAPE_WORKS),
        SHAPE_OPT(session_create_params, system, "System prompt; absent: the configured one."),
        SHAPE_OPT(session_create_params, labels, "Labels, separated by blanks."),
        TOOLS_FIELD(session_create_params)),
    .result = &session_info_shape,
    CONVERSE(create, REFUSED, NOTHING),
    .opens = true,
};

const struct operation operation_session_open = {
    OPERATION("session/open", CLIENT, CONVERSATION, "Opens a saved session."),
    SLASH("resume", "[SESSION]",
          N_("open a session: its title or a part of it, the start or end of its id, last or ~2")),
    .params = PARAMETERS(
        session_open_params, SESSION_FIELD(session_open_params),
        SHAPE_OPT(session_open_params, read_only,
                  "Open the session read-only: turns are refused until the session is opened again "
                  "without this, or closed."),
        SHAPE_OPT(
            session_open_params, directory,
            "Absolute path of the new working directory; absent: the session keeps its directory.",
            .least = 1, .place = SHAPE_WORKS)),
    .result = &session_info_shape,
    CONVERSE(open, REFUSED, WRITING),
    .opens = true,
};

const struct operation operation_session_close = {
    OPERATION("session/close", CLIENT, CONVERSATION,
              "Closes a session: ends its turn or compaction and frees its memory. The saved "
              "session stays as it is."),
    .params = PARAMETERS(
        session_close_params, SESSION_FIELD(session_close_params),
        SHAPE_OPT(
            session_close_params, discard_unused,
            "Also delete a session that was created and has had no message and no draft since.")),
    CONVERSE(close, ENDS, SESSION),
};

const struct operation operation_session_set_model = {
    OPERATION("session/set_model", OWNER, CONVERSATION,
              "Sets the provider and model of a session."),
    SLASH("model", "[NAME]",
          N_("choose a model and save the choice: NAME, PROVIDER/NAME or PROVIDER (default: a "
             "list)")),
    .undone = N_("The model was not changed."),
    .params = PARAMETERS(session_model_params, SESSION_FIELD(session_model_params),
                         CHOICE(session_model_params)),
    CONVERSE(set_model, REFUSED, WRITING),
};

const struct operation operation_session_set_effort = {
    OPERATION("session/set_effort", OWNER, CONVERSATION,
              "Sets how much the model reasons, from the next message on."),
    SLASH("effort", "[WORD]",
          N_("how much the model reasons, in its provider's words; \"default\" leaves it to the "
             "provider (default: a list)")),
    .done = SAYS_DONE,
    .undone = N_("The effort was not changed."),
    .params = PARAMETERS(session_effort_params, SESSION_FIELD(session_effort_params),
                         SHAPE_OPT(session_effort_params, effort,
                                   "A word of \"efforts\" of session/settings, or \"default\": as "
                                   "the provider has it; absent or empty: as configured.")),
    CONVERSE(set_effort, REFUSED, WRITING),
};

const struct operation operation_session_set_system = {
    OPERATION("session/set_system", OWNER, CONVERSATION,
              "Sets the system prompt from the next message on."),
    SLASH("system", "[TEXT]",
          N_("show or set this session's system prompt; \"default\" restores the configured one")),
    .params =
        PARAMETERS(session_text_params, SESSION_FIELD(session_text_params),
                   SHAPE_OPT(session_text_params, text, "The prompt; absent: the configured one.")),
    CONVERSE(set_system, REFUSED, WRITING),
};

const struct operation operation_session_set_draft = {
    OPERATION("session/set_draft", CLIENT, CONVERSATION,
              "Saves the draft: a text that is not sent yet."),
    .params = PARAMETERS(session_text_params, SESSION_FIELD(session_text_params),
                         SHAPE_OPT(session_text_params, text, "The draft; absent: none.")),
    CONVERSE(set_draft, NOW, WRITING),
};

const struct operation operation_session_set_memory = {
    OPERATION("session/set_memory", OWNER, CONVERSATION, "Sets how the session may use memory."),
    .done = SAYS_DONE,
    .params = PARAMETERS(session_memory_params, SESSION_FIELD(session_memory_params),
                         SHAPE_REQ_WORD(session_memory_params, access, memory_access_names,
                                        "Access of the session to all kinds of memory.")),
    CONVERSE(set_memory, NOW, WRITING),
};

const struct operation operation_memory_leave_out = {
    OPERATION(
        "memory/leave_out", CLIENT, CONVERSATION,
        "Leaves an entry of memory out of the passages that the session sends with messages. A "
        "search of the model still finds the entry."),
    SLASH("recalled", "[NUMBER]",
          N_("what was recalled from memory, to leave a passage out or take it back")),
    .params = PARAMETERS(
        memory_leave_out_params, SESSION_FIELD(memory_leave_out_params),
        SHAPE_REQ(memory_leave_out_params, id, "Id of an entry, or the beginning of the id.",
                  .least = 1, .most = MEMORY_ID_BYTES),
        SHAPE_OPT(memory_leave_out_params, back, "True: the session may send the entry again.")),
    .needs = NEED_MEMORY,
    CONVERSE(leave_out, NOW, WRITING),
};

const struct operation operation_session_set_tools = {
    OPERATION("session/set_tools", OWNER, CONVERSATION, "Sets the tools that the model may use."),
    .params = PARAMETERS(session_tools_params, SESSION_FIELD(session_tools_params),
                         TOOLS_FIELD(session_tools_params)),
    CONVERSE(set_tools, REFUSED, WRITING),
};

const struct operation operation_session_set_compaction = {
    OPERATION("session/set_compaction", OWNER, CONVERSATION,
              "Sets the mode of the session's compactions."),
    .params = PARAMETERS(session_compaction_params, SESSION_FIELD(session_compaction_params),
                         SHAPE_OPT(session_compaction_params, mode,
                                   "Compaction mode; absent: the configured mode.")),
    .needs = NEED_COMPACTION,
    CONVERSE(set_compaction, REFUSED, WRITING),
};

const struct operation operation_session_settings = {
    OPERATION("session/settings", CLIENT, CONVERSATION, "Gives the settings of a session."),
    .params = &session_params_shape,
    .result = RESULT(
        "settings", session_settings,
        SHAPE_OPT(session_settings, directory, "Working directory of the session."),
        SHAPE_OPT(session_settings, provider, "Provider of the session."),
        SHAPE_OPT(session_settings, model, "Model of the session."),
        SHAPE_OPT(session_settings, system, "System prompt; absent: the configured one."),
        TOOLS_FIELD(session_settings),
        SHAPE_OPT(session_settings, compaction,
                  "Compaction mode of the session; absent: compaction is off."),
        SHAPE_OPT(session_settings, effort, "Effort of reasoning; absent: as the provider has it."),
        SHAPE_OPT(session_settings, efforts,
                  "Words for the effort, separated by blanks; absent: the model has none "
                  "that is known."),
        SHAPE_REQ_WORD(session_settings, memory, memory_access_names,
                       "Access of the session to all kinds of memory.")),
    CONVERSE(settings, NOW, READING),
};

const struct operation operation_session_add_image = {
    OPERATION("session/add_image", CLIENT, CONVERSATION,
              "Saves an image with a session, for a later message."),
    .params = PARAMETERS(
        session_image_params, SESSION_FIELD(session_image_params),
        SHAPE_REQ(session_image_params, data, "PNG, JPEG, GIF or WebP, in base64.", .least = 4)),
    .result = RESULT("image", session_image,
                     SHAPE_REQ(session_image, path,
                               "Path of the saved file; use it as the text of an image block."),
                     SHAPE_REQ(session_image, media_type, "Media type of the image.")),
    CONVERSE(add_image, NOW, WRITING),
};

/* --- turn/… ----------------------------------------------------------------------------------- */

FAULT(turn_result)

static const struct shape turn_shape = SHAPE_OF(
    "turn", struct turn_result, SHAPE_REQ(turn_result, session_id, "The session."),
    SHAPE_OPT(turn_result, text, "The answer, or the part of it that arrived."),
    SHAPE_REQ(turn_result, turns, "Number of the turn in the conversation."),
    SHAPE_REQ(turn_result, tool_calls, "Number of tool calls of this turn."),
    SHAPE_REQ_WORD(turn_result, stop_reason, stop_reason_names, "Why the turn ended."),
    SHAPE_FIELD("usage", OBJECT, OPTIONAL, SHAPE_AT(struct usage, struct turn_result, usage),
                .of = &usage_shape, .help = "Tokens of this turn."),
    FAULT_FIELD(turn_result, "The error that ended the turn, if it failed."));

#define ATTACH_FIELD(T)                                                                            \
    SHAPE_FIELD("attach", STRINGS, OPTIONAL, offsetof(struct T, attach), .most = MENTIONS_MOST,    \
                .help =                                                                            \
                    "Files, folders and skills that go with the message: \"notes.md\", "           \
                    "\"notes.md:10-40\", \"src/\", \"skill:NAME\". One that the message "          \
                    "mentions, as @notes.md, may be missing.")

const struct operation operation_turn_start = {
    OPERATION("turn/start", CLIENT, CONVERSATION,
              "Sends a message, and returns when the turn has ended."),
    .params = PARAMETERS(
        turn_start_params, SESSION_FIELD(turn_start_params),
        SHAPE_REQ_AS(PROMPT_MEMBER, turn_start_params, text, "The message."),
        SHAPE_FIELD(
            "attachments", JSON, OPTIONAL, SHAPE_AT_TEXT(struct turn_start_params, attachments),
            .help = "Array of images: {\"type\": \"image\", \"text\": URL or path, which may begin "
                    "in the session's directory, \"media_type\": \"image/png\"}."),
        ATTACH_FIELD(turn_start_params), ORIGIN_FIELD(turn_start_params)),
    .result = &turn_shape,
    CONVERSE(start_turn, REFUSED, WRITING),
    .busy = BUSY_TURN,
};

const struct operation operation_turn_retry = {
    OPERATION("turn/retry", CLIENT, CONVERSATION,
              "Sends the last message again; the new turn replaces the old one."),
    SLASH("retry", "", N_("send the last message again")),
    .params =
        PARAMETERS(turn_retry_params, SESSION_FIELD(turn_retry_params),
                   SHAPE_OPT_AS(PROMPT_MEMBER, turn_retry_params, text,
                                "A new text in place of the last message; absent: the same text."),
                   ATTACH_FIELD(turn_retry_params), ORIGIN_FIELD(turn_retry_params)),
    .result = &turn_shape,
    CONVERSE(retry, REFUSED, WRITING),
    .busy = BUSY_TURN,
};

const struct operation operation_turn_interrupt = {
    OPERATION("turn/interrupt", CLIENT, CONVERSATION,
              "Stops the running turn or compaction of a session; the part of the answer that "
              "arrived is kept."),
    SLASH("stop", "", N_("stop the running turn")),
    .params = &session_params_shape,
    CONVERSE(interrupt, NOW, SESSION),
};

const struct operation operation_turn_background = {
    OPERATION("turn/background", CLIENT, CONVERSATION,
              "Lets the running command of a tool go on in the background; its turn goes on, too."),
    SLASH("background", "", N_("let the running command go on in the background")),
    .params = &session_params_shape,
    CONVERSE(background, NOW, SESSION),
};

static const char *const answer_words[] = {[ANSWER_ONCE] = "once",
                                           [ANSWER_SESSION] = "session",
                                           [ANSWER_PROJECT] = "project",
                                           [ANSWER_DENY] = "deny"};
static const struct shape_names answers = {answer_words, ANSWER_DENY + 1, -1};

const struct operation operation_approval_decide = {
    OPERATION("approval/decide", OWNER, CONVERSATION,
              "Answers a tool call that asks before it runs."),
    .params = PARAMETERS(
        approval_decide_params, SESSION_FIELD(approval_decide_params),
        SHAPE_REQ(approval_decide_params, call, "Id of the tool call."),
        SHAPE_REQ_WORD(approval_decide_params, decision, answers, "Whether the tool call may run."),
        SHAPE_OPT(approval_decide_params, reason,
                  "Why the call may not run, for the model; only with \"deny\".")),
    CONVERSE(decide_approval, NOW, SESSION),
};

static const char *const action_words[] = {[ELICITATION_ACCEPT] = "accept",
                                           [ELICITATION_DECLINE] = "decline",
                                           [ELICITATION_CANCEL] = "cancel"};
static const struct shape_names actions = {action_words, ELICITATION_CANCEL + 1, -1};

const struct operation operation_elicitation_decide = {
    OPERATION("elicitation/decide", OWNER, CONVERSATION,
              "Answers a form, or a page to open, of an MCP server."),
    .params = PARAMETERS(
        elicitation_decide_params, SESSION_FIELD(elicitation_decide_params),
        SHAPE_REQ(elicitation_decide_params, number, "Number of the request."),
        SHAPE_REQ_WORD(elicitation_decide_params, action, actions,
                       "Accept: the content is sent, or the page was opened."),
        SHAPE_FIELD("content", JSON, OPTIONAL,
                    SHAPE_AT_TEXT(struct elicitation_decide_params, content),
                    .help = "Object with the values of the form; absent: its defaults.")),
    CONVERSE(decide_elicitation, NOW, SESSION),
};

static const char *const outcome_words[] = {
    [SURFACE_DID] = "done", [SURFACE_PASSED] = "passed", [SURFACE_FAILED] = "failed"};
static const struct shape_names outcomes = {outcome_words, SURFACE_FAILED + 1, -1};

const struct shape surface_answer_shape = SHAPE_PARAMETERS(
    struct surface_answer_params, SESSION_FIELD(surface_answer_params),
    SHAPE_REQ(surface_answer_params, number, "Number of the tool's request."),
    SHAPE_REQ_WORD(surface_answer_params, outcome, outcomes,
                   "Result; \"passed\": the tool shall do it itself."),
    SHAPE_OPT(surface_answer_params, text,
              "Text of the file, output of the command, or reason of the failure."),
    SHAPE_OPT(surface_answer_params, truncated, "The beginning of the output was left out."),
    SHAPE_OPT(surface_answer_params, exit_status, "Exit status of the command; absent: unknown.",
              .absent = -1),
    SHAPE_OPT(surface_answer_params, signal, "Signal that ended the command."));

const struct operation operation_tool_answer = {
    OPERATION("tool/answer", OWNER, CONVERSATION,
              "Answers a tool that asks the client to read or write a file or to run a command."),
    .params = &surface_answer_shape,
    CONVERSE(answer_tool, NOW, SESSION),
};

/* --- compaction/… ----------------------------------------------------------------------------- */

FAULT(compaction_result)

static bool was_compacted(const void *result)
{
    return ((const struct compaction_result *)result)->completed;
}

struct compact_words compact_parse(const char *arguments)
{
    static const char blanks[] = " \t\r\n";
#define X(id, name, keeps_ends, help) name,
    static const char *const modes[] = {COMPACTION_MODES(X)};
#undef X
    struct compact_words words = {.focus = ""};
    for (const char *p = arguments; *(p += strspn(p, blanks));) {
        size_t len = strcspn(p, blanks);
        const char *mode = NULL;
        for (size_t i = 0; !words.mode && !mode && i < sizeof modes / sizeof *modes; i++)
            if (strlen(modes[i]) == len && memcmp(p, modes[i], len) == 0)
                mode = modes[i];
        if (mode) {
            words.mode = mode;
        } else if (len == strlen(COMPACT_PREVIEW) && memcmp(p, COMPACT_PREVIEW, len) == 0) {
            words.preview = true;
        } else {
            if (strncmp(p, "--", 2) == 0)
                words.unknown = p;
            else
                words.focus = p;
            return words;
        }
        p += len;
    }
    return words;
}

const struct operation operation_compaction_run = {
    OPERATION("compaction/run", CLIENT, CONVERSATION, "Shortens the history of a session now."),
    SLASH("compact", "[MODE] [--preview] [FOCUS]",
          N_("shorten the history that is sent to the model; FOCUS: what to keep above all")),
    .undone = N_("Nothing was shortened."),
    COMMAND("sessions compact", "SESSION [MODE [FOCUS]...]",
            N_("shorten the history of a session; its transcript keeps everything")),
    .details = NAMES_A_SESSION,
    .params = PARAMETERS(
        compaction_run_params, SESSION_FIELD(compaction_run_params),
        SHAPE_OPT(compaction_run_params, mode, "Compaction mode; absent: the configured mode."),
        SHAPE_OPT(compaction_run_params, focus, "What the summary should keep above all."),
        SHAPE_OPT(compaction_run_params, preview,
                  "The summary waits as a draft for compaction/decide, whatever is configured.")),
    .result = RESULT(
        "compaction", compaction_result,
        SHAPE_FIELD(
            "completed", OWN, OPTIONAL,
            SHAPE_AT(struct event *, struct compaction_result, completed), .codec = &event_codec,
            .there = was_compacted,
            .help =
                "The compaction, as a line of stream-json; it has \"why\" if a fallback was used."),
        FAULT_FIELD(compaction_result, "Why the compaction failed; absent: it succeeded.")),
    .needs = NEED_COMPACTION,
    CONVERSE(compact, REFUSED, WRITING),
    .busy = BUSY_COMPACTION,
};

static const char *const draft_words[] = {
    [DRAFT_COMMIT] = "commit", [DRAFT_REFUSE] = "refuse", [DRAFT_AGAIN] = "again"};
static const struct shape_names drafts = {draft_words, 3, -1};

const struct operation operation_compaction_decide = {
    OPERATION("compaction/decide", CLIENT, CONVERSATION,
              "Answers a draft summary that waits for a decision."),
    .params =
        PARAMETERS(compaction_decide_params, SESSION_FIELD(compaction_decide_params),
                   SHAPE_REQ_WORD(compaction_decide_params, decision, drafts,
                                  "Use the draft, refuse it, or ask for a new one."),
                   SHAPE_OPT(compaction_decide_params, text,
                             "The edited summary; with \"again\": the focus of the new summary.")),
    CONVERSE(decide_draft, NOW, SESSION),
};

const struct operation operation_compaction_undo = {
    OPERATION("compaction/undo", CLIENT, CONVERSATION, "Undoes the last compaction of a session."),
    SLASH("uncompact", "", N_("undo the last compaction")),
    .alias = "undo",
    .undone = N_("Nothing was undone."),
    .params = &session_params_shape,
    .needs = NEED_COMPACTION,
    CONVERSE(undo, REFUSED, WRITING),
};

const struct operation operation_session_rewind = {
    OPERATION("session/rewind", CLIENT, CONVERSATION,
              "Lets the conversation go on from before a message of the user. The message and all "
              "that follow it stay in the transcript, and are not sent any more."),
    SLASH(
        "rewind", "[N]",
        N_("go on from before your N-th message, which returns to the editor (default: the last)")),
    .undone = N_("The conversation is as it was."),
    .params = PARAMETERS(
        session_rewind_params, SESSION_FIELD(session_rewind_params),
        SHAPE_OPT(session_rewind_params, turn,
                  "Number of the message among those of the user, from 1; absent or 0: the last."),
        SHAPE_OPT(session_rewind_params, seq,
                  "Number of the message's event, in place of \"turn\".")),
    .result = RESULT("rewound", session_rewound,
                     SHAPE_REQ(session_rewound, seq, "Number of the message's event."),
                     SHAPE_REQ(session_rewound, text, "Text of the message.")),
    CONVERSE(rewind, REFUSED, WRITING),
};

const struct operation operation_session_unrewind = {
    OPERATION(
        "session/unrewind", CLIENT, CONVERSATION,
        "Undoes the last rewind of a session: its messages are sent again, before later ones."),
    SLASH("unrewind", "", N_("undo the last /rewind; its messages are sent again")),
    .undone = N_("Nothing was undone."),
    .params = &session_params_shape,
    CONVERSE(unrewind, REFUSED, WRITING),
};

static const char *const state_words[] = {[RESTORABLE_READY] = "ready",
                                          [RESTORABLE_CHANGED] = "changed",
                                          [RESTORABLE_LOST] = "lost",
                                          [RESTORABLE_DONE] = "restored",
                                          [RESTORABLE_FAILED] = "failed"};
static const struct shape_names states = {state_words, RESTORABLE_FAILED + 1, -1};

static const struct shape restorable_shape = SHAPE_OF(
    "file", struct restorable, SHAPE_REQ(restorable, path, "The file, as the tools named it."),
    SHAPE_REQ_WORD(restorable, state, states,
                   "Ready: it is as the tools left it; changed: it was changed since, and is given "
                   "back only by its name; lost: it cannot be given back; restored; failed."),
    SHAPE_OPT(restorable, removes, "There was no file then: it is removed."),
    SHAPE_REQ(restorable, added, "Lines that come."),
    SHAPE_REQ(restorable, removed, "Lines that go."),
    SHAPE_OPT(restorable, difference, "As diff -u writes it; absent: too long, or none."),
    SHAPE_OPT(restorable, why, "Why it cannot be given back, or was not."));

static const struct shape files_shape =
    SHAPE_OF("files", struct session_files,
             SHAPE_REQ_LIST("files", session_files, files, restorable_shape,
                            "Files that differ from the point of the rewind."),
             SHAPE_REQ_TEXTS(session_files, commands,
                             "Commands and tools of servers that ran since; their changes are not "
                             "covered."));

const struct operation operation_session_changes = {
    OPERATION("session/changes", OWNER, CONVERSATION,
              "Lists the files that tools changed since the message of the newest rewind; after "
              "session/unrewind, those that session/restore gave back since that rewind."),
    .params = &session_params_shape,
    .result = &files_shape,
    CONVERSE(changes, REFUSED, WRITING),
};

const struct operation operation_session_restore = {
    OPERATION("session/restore", OWNER, CONVERSATION,
              "Gives files of session/changes the content that they had then."),
    SLASH("restore", "[FILE]",
          N_("after /rewind or /unrewind: take back what tools did to files (default: to all that "
             "nobody else has changed)")),
    .undone = N_("No file was taken back."),
    .params = PARAMETERS(
        session_restore_params, SESSION_FIELD(session_restore_params),
        SHAPE_OPT(session_restore_params, file, "One file; absent: all that are ready.")),
    .result = &files_shape,
    .lines = "files",
    .line = "{state}: {path}",
    .none = N_("No file differs from then."),
    CONVERSE(restore, REFUSED, WRITING),
};

static const struct shape pin_shape = SHAPE_PARAMETERS(
    struct compaction_pin_params, SESSION_FIELD(compaction_pin_params),
    SHAPE_OPT(compaction_pin_params, turn,
              "Number of the message among those of the user, from 1; absent or 0: the newest."),
    SHAPE_OPT(compaction_pin_params, seq, "Number of a message's event, in place of \"turn\"."));

const struct operation operation_compaction_pin = {
    OPERATION("compaction/pin", CLIENT, CONVERSATION,
              "Keeps a message word for word in every compaction."),
    .done = N_("The message is pinned: compactions keep it word for word."),
    SLASH("pin", "[N]",
          N_("keep your N-th message word for word in every compaction (default: the newest)")),
    .undone = N_("No pin was changed."),
    .params = &pin_shape,
    .needs = NEED_COMPACTION,
    CONVERSE(pin, REFUSED, WRITING),
};

const struct operation operation_compaction_unpin = {
    OPERATION("compaction/unpin", CLIENT, CONVERSATION,
              "Unpins a message: compactions may summarise or drop it again."),
    .done = N_("The message is not pinned any more."),
    SLASH("unpin", "[N]", N_("unpin your N-th message (default: the newest)")),
    .undone = N_("No pin was changed."),
    .params = &pin_shape,
    .needs = NEED_COMPACTION,
    CONVERSE(unpin, REFUSED, WRITING),
};

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

static const struct shape part_shape = SHAPE_OF(
    "part", struct context_part, SHAPE_REQ_WORD(context_part, kind, kinds, "Kind of the part."),
    SHAPE_OPT_WORD(context_part, role, role_names, "Role of the message.", .there = has_role),
    SHAPE_OPT(context_part, source, "Source of the tools, skill or instructions."),
    SHAPE_OPT(context_part, seq, "Number of the message."),
    SHAPE_OPT(context_part, turn, "Turn of the message."),
    SHAPE_REQ(context_part, tokens, "Tokens of this part."),
    SHAPE_OPT(context_part, cap, "Token limit of this part."),
    SHAPE_OPT(context_part, whole, "Tokens of the part before the limit cut it."),
    SHAPE_OPT(context_part, text, "Full text of the part."),
    SHAPE_OPT(context_part, pinned, "The message is pinned: compactions keep it."),
    SHAPE_OPT(context_part, goes, "A compaction now would drop this part."));

const struct operation operation_context_read = {
    OPERATION("context/read", CLIENT, CONVERSATION, "Lists the parts of the next request."),
    SLASH("context", "", N_("show what the next request would contain")),
    .alias = "cost",
    .params = &session_params_shape,
    .result = RESULT(
        "context", context,
        SHAPE_REQ_LIST("parts", context, parts, part_shape, "In the order of the request."),
        SHAPE_REQ(context, tokens, "Tokens of all parts."),
        SHAPE_OPT(context, estimated, "The tokens are estimated: no provider has counted them."),
        SHAPE_OPT(context, last_input, "Tokens of the last request, as the provider counted them.",
                  .absent = -1),
        SHAPE_OPT(context, cached,
                  "Tokens of the last request that came from the provider's cache.", .absent = -1),
        SHAPE_OPT(context, sent, "Tokens of all requests of the session.", .absent = -1),
        SHAPE_OPT(context, received, "Tokens of all answers of the session.", .absent = -1),
        SHAPE_OPT(context, effort, "Effort of reasoning; absent: as the provider has it."),
        SHAPE_OPT(context, window, "Context window of the model, in tokens."),
        SHAPE_OPT(context, threshold,
                  "Tokens from which on the history is shortened automatically."),
        SHAPE_OPT(context, mode, "Mode that a compaction now would use."),
        SHAPE_OPT(context, tokens_after,
                  "Tokens of all parts that would stay after that compaction.", .absent = -1)),
    CONVERSE(context, NOW, READING),
};

/* --- models/list, provider/check, doctor/report ----------------------------------------------- */

/* Without a session it is about what a new one would talk to. */

static const struct shape any_session_shape =
    SHAPE_PARAMETERS(struct session_params, ANY_SESSION_FIELD(session_params));

static const struct shape offer_shape = SHAPE_OF(
    "provider", struct provider_offer, SHAPE_REQ(provider_offer, name, "Name of the provider."),
    SHAPE_OPT(provider_offer, wants, "Environment variable of the missing key."));

static const struct shape model_shape =
    SHAPE_OF("model", struct model_offer, SHAPE_REQ(model_offer, name, "Name of the model."),
             SHAPE_OPT(model_offer, window, "Context window, in tokens."),
             SHAPE_OPT(model_offer, input_price, "USD for a million input tokens.", .absent = -1),
             SHAPE_OPT(model_offer, output_price, "USD for a million output tokens.", .absent = -1),
             SHAPE_OPT(model_offer, price_date, "When these prices were true."));

FAULT(models_result)

const struct operation operation_models_list = {
    OPERATION("models/list", CLIENT, CONVERSATION,
              "Lists the models of a provider, and the providers."),
    .params = PARAMETERS(
        models_params, ANY_SESSION_FIELD(models_params),
        SHAPE_OPT(models_params, provider, "Name of the provider; absent: the present provider.")),
    .result = RESULT(
        "models", models_result,
        SHAPE_OPT(models_result, provider, "The provider; absent: none could be chosen."),
        SHAPE_REQ_LIST("models", models_result, models, model_shape, "Models of the provider."),
        SHAPE_REQ_LIST("providers", models_result, providers, offer_shape,
                       "Providers that can be chosen or lack their key."),
        FAULT_FIELD(models_result, "Why the server lists no models.")),
    CONVERSE(models, LATER, READING),
};

FAULT(provider_check_result)

const struct operation operation_provider_check = {
    OPERATION("provider/check", CLIENT, CONVERSATION,
              "Asks the server of a provider whether it answers."),
    .params =
        PARAMETERS(provider_check_params, ANY_SESSION_FIELD(provider_check_params),
                   SHAPE_OPT(provider_check_params, provider,
                             "Name of the provider; absent: the present provider."),
                   SHAPE_OPT(provider_check_params, model,
                             "Model to look for; absent: the present model or the default one.")),
    .result = RESULT("provider state", provider_check_result,
                     SHAPE_REQ(provider_check_result, provider, "Provider that was asked."),
                     SHAPE_REQ(provider_check_result, model,
                               "The model; empty: the first that the server lists."),
                     SHAPE_OPT(provider_check_result, url,
                               "Address of the server; absent: the provider has no server."),
                     SHAPE_REQ(provider_check_result, models, "How many models the server lists."),
                     SHAPE_REQ(provider_check_result, listed, "Whether the model is among them."),
                     SHAPE_REQ(provider_check_result, ms, "Milliseconds until the answer."),
                     FAULT_FIELD(provider_check_result, "Why there was no answer.")),
    CONVERSE(check, LATER, READING),
};

static const struct shape fact_shape =
    SHAPE_OF("fact", struct report_fact, SHAPE_REQ(report_fact, name, "Subject of the fact."),
             SHAPE_REQ(report_fact, value, "The fact."));

FAULT(report_result)

const struct operation operation_doctor_report = {
    OPERATION("doctor/report", OWNER, CONVERSATION,
              "Tells which provider, store and memory the engine uses, and why."),
    SLASH("doctor", "", N_("show which provider and store are used, and why")),
    .alias = "status",
    .params = &any_session_shape,
    .result = RESULT("report", report_result,
                     SHAPE_REQ_LIST("facts", report_result, facts, fact_shape,
                                    "Provider, store and memory, and why."),
                     FAULT_FIELD(report_result, "The problem that was found.")),
    CONVERSE(report, LATER, READING),
};
