#include "ui/app/slash.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/app.h"
#include "ui/app/cards.h"
#include "ui/app/clipboard.h"
#include "ui/app/corpora.h"
#include "ui/app/find.h"
#include "ui/app/panes.h"
#include "ui/app/picker.h"
#include "ui/app/turns.h"
#include "ui/view/memory_view.h"
#include "ui/view/sessions.h"

/* Without a name a session that is open for reading is itself resumed. */
static void run_resume(struct app *app, const char *arguments)
{
    if (!*arguments && !app->read_only)
        (void)panes_open(app, ACTION_SESSIONS, "");
    else
        app_open_session(app, *arguments ? arguments : app->session.id, false);
}

static void run_sessions(struct app *app, const char *arguments)
{
    (void)panes_open(app, ACTION_SESSIONS, arguments);
}

static void run_rename(struct app *app, const char *arguments)
{
    const struct session_rename_params params = {app->session.id, arguments};
    (void)app_ask(app, &operation_session_rename, &params, NULL);
}

static void run_archive(struct app *app)
{
    const struct session_params params = {app->session.id};
    app_leave_session(app);
    (void)app_ask(app, &operation_session_archive, &params, NULL);
}

static void run_label(struct app *app, const char *arguments)
{
    const struct session_label_params params = {app->session.id, arguments};
    if (*arguments)
        (void)app_ask(app, &operation_session_label, &params, NULL);
    else if (app->session.labels)
        app_note(app, STYLE_NOTE,
                 _("Labels: %s\n"
                   "/label +NAME adds one, -NAME removes one."),
                 app->session.labels);
    else
        app_note(app, STYLE_NOTE, "%s",
                 _("This session has no labels. /label +NAME adds one, -NAME removes one."));
}

static bool take_export(struct app *app, struct operation_answer *a, const char *words)
{
    const struct session_export_params *p = a->request->params;
    if (!words)
        app_note(app, STYLE_NOTE, _("Exported to %s."), p->path);
    return !words;
}

static void run_export(struct app *app, const char *arguments)
{
    auto_free char *path = slash_export_path(arguments, app->session.title);
    const struct session_export_params params = {
        .session = app->session.id, .path = path, .format = export_format_of_path(path)};
    (void)app_ask(app, &operation_session_export, &params, take_export);
}

static void run_stop(struct app *app)
{
    app->stop_asked = true;
    app_interrupt(app);
}

static void run_uncompact(struct app *app)
{
    app_follow(app);
    (void)app_ask(app, &operation_compaction_undo, NULL, NULL);
}

static void run_context(struct app *app)
{
    (void)panes_open(app, ACTION_CONTEXT, "");
}

static void run_memory(struct app *app, const char *arguments)
{
    if (!cards_set_access(app, arguments))
        memory_view_open(app->memory, arguments);
}

static void run_graph(struct app *app, const char *arguments)
{
    if (!memory_view_open_tab(app->memory, "graph", arguments))
        app_note(app, STYLE_WARNING, "%s",
                 _("The graph is off. \"enabled = true\" in [graph] of tiro.ini turns it on."));
}

/* With a query the keyboard goes to its hits. */
static void run_forget(struct app *app, const char *arguments)
{
    if (*arguments) /* so that the tab of learned items shows the same query */
        (void)memory_view_open_tab(app->memory, "learned", arguments);
    memory_view_open(app->memory, arguments);
    if (!*arguments)
        return;
    memory_view_to_hits(app->memory);
    cards_find(app, arguments);
}

static void run_remember(struct app *app, const char *arguments)
{
    app_follow(app);
    cards_remember(app, arguments);
}

static bool take_indexed(struct app *app, struct operation_answer *a, const char *words)
{
    const struct memory_index_params *asked = a->request->params;
    if (words)
        return false;
    if (asked->sessions == MEMORY_INDEX_NONE)
        app_note(app, STYLE_NOTE, "%s", _("Earlier conversations stay out of memory."));
    else
        app_note(app, STYLE_NOTE, "%s",
                 _("Earlier conversations are indexed in the background; F2 shows the progress."));
    return true;
}

static void run_index(struct app *app, const char *arguments)
{
    bool none = strcmp(arguments, "none") == 0;
    const struct memory_index_params params = {.sessions =
                                                   none ? MEMORY_INDEX_NONE : MEMORY_INDEX_ALL};
    if (*arguments && !none && strcmp(arguments, "all") != 0)
        app_note(app, STYLE_WARNING, "%s", _("/index takes all or none."));
    else
        (void)app_ask(app, &operation_memory_index, &params, take_indexed);
}

static void run_model(struct app *app, const char *arguments)
{
    if (!*arguments) {
        picker_models(app);
        return;
    }
    struct session_model_params params;
    auto_free char *provider = picker_read_model(arguments, &params);
    picker_choose_model(app, &params);
}

static void run_system(struct app *app, const char *arguments)
{
    bool configured = strcmp(arguments, "default") == 0;
    if (*arguments) {
        (void)app_ask(app, &operation_session_set_system,
                      &(struct session_text_params){.text = configured ? NULL : arguments}, NULL);
        app_note(app, STYLE_NOTE, "%s",
                 configured ? _("The configured system prompt applies from the next message on.")
                            : _("The new system prompt applies from the next message on."));
    } else if (app->session.system) {
        app_note(app, STYLE_NOTE, _("System prompt of this session:\n%s"), app->session.system);
    } else {
        app_note(app, STYLE_NOTE, "%s",
                 _("This session uses the configured system prompt. /system TEXT replaces it; "
                   "/system default restores it."));
    }
}

static void run_copy(struct app *app, const char *arguments)
{
    if (!*arguments) {
        clipboard_copy(app, transcript_last_answer(app->transcript));
    } else if (strcmp(arguments, "code") == 0) {
        auto_free char *code = transcript_last_code(app->transcript);
        clipboard_copy(app, code);
    } else {
        app_note_briefly(app, STYLE_WARNING, "%s",
                         _("/copy copies the newest answer, /copy code its newest code block."));
    }
}

static void run_theme(struct app *app, const char *arguments)
{
    if (!*arguments)
        picker_themes(app);
    else
        picker_choose_theme(app, arguments);
}

static void run_config(struct app *app, const char *arguments)
{
    picker_config(app);
    if (*arguments)
        list_filter(list_view_find(&app->views, LIST_CONFIG), arguments);
}

const struct slash_command slash_commands[] = {
    {"help", "", ARGUMENT_OTHER, N_("keys and commands"), .act = picker_help},
    {"new", "", ARGUMENT_OTHER, N_("start a new session"), .act = app_begin_session},
    {"resume", "[SESSION]", ARGUMENT_SESSION,
     N_("open a session: its title or a part of it, the start or end of its id, last or ~2"),
     .run = run_resume},
    {"sessions", "[WORDS]", ARGUMENT_OTHER, N_("list earlier sessions"), .run = run_sessions},
    {"rename", "TITLE", ARGUMENT_OTHER, N_("change the title of this session"), .run = run_rename},
    {"label", "[+NAME -NAME]", ARGUMENT_OTHER, N_("show, add or remove labels of this session"),
     .run = run_label},
    {"fork", "[N]", ARGUMENT_FORK,
     N_("continue in a copy of this session (default: all of it), up to your N-th message and its "
        "answer, or ~before-compaction"),
     .run = fork_run},
    {"archive", "", ARGUMENT_OTHER, N_("archive this session and start a new one"),
     .act = run_archive},
    {"export", "[FILE]", ARGUMENT_OTHER, N_("export this session to a file: .md, .json or .jsonl"),
     .run = run_export},
    {"stop", "", ARGUMENT_OTHER, N_("stop the running turn"), .act = run_stop},
    {"compact", "[MODE] [--preview] [FOCUS]", ARGUMENT_COMPACT,
     N_("shorten the history that is sent to the model; FOCUS: what to keep above all"),
     .run = compact_send},
    {"uncompact", "", ARGUMENT_OTHER, N_("undo the last compaction"), .act = run_uncompact},
    {"pin", "[N]", ARGUMENT_TURN,
     N_("keep your N-th message word for word in every compaction (default: the newest)"),
     .run = pin_run},
    {"unpin", "[N]", ARGUMENT_TURN, N_("unpin your N-th message (default: the newest)"),
     .run = unpin_run},
    {"context", "", ARGUMENT_OTHER, N_("show what the next request would contain"),
     .act = run_context},
    {"memory", "[QUERY|off|read|write]", ARGUMENT_OTHER,
     N_("search earlier conversations, or set how this session may use memory"), .run = run_memory},
    {"index", "[none]", ARGUMENT_OTHER, N_("index conversations that are not in memory yet"),
     .run = run_index},
    {"graph", "[QUERY]", ARGUMENT_OTHER, N_("search the graph of facts and follow its relations"),
     .run = run_graph},
    {"remember", "TEXT", ARGUMENT_OTHER,
     N_("keep a text and tell it to the model in later sessions"), .run = run_remember},
    {"learned", "[WORDS]", ARGUMENT_OTHER,
     N_("show learned items and those that wait for you; or: accept, reject or forget ID, restore"),
     .run = cards_show},
    {"forget", "QUERY", ARGUMENT_OTHER,
     N_("search memory and learned items; the key d forgets an entry"), .run = run_forget},
    {"corpus", "[QUERY | add NAME PATH | update [NAME]]", ARGUMENT_OTHER,
     N_("search documents, or read a file or folder into a corpus"), .run = corpora_run},
    {"cite", "N", ARGUMENT_OTHER, N_("open the passage that the model cites as [N]"),
     .run = corpora_cite},
    {"model", "[NAME]", ARGUMENT_MODEL,
     N_("choose a model and save the choice: NAME, PROVIDER/NAME or PROVIDER (default: a list)"),
     .run = run_model},
    {"system", "[TEXT]", ARGUMENT_OTHER,
     N_("show or set this session's system prompt; \"default\" restores the configured one"),
     .run = run_system},
    {"retry", "", ARGUMENT_OTHER, N_("send the last message again"), .act = message_retry},
    {"edit", "", ARGUMENT_OTHER, N_("edit the last message; the new text replaces it"),
     .act = message_edit},
    {"copy", "[code]", ARGUMENT_COPY, N_("copy the newest answer, or its newest code block"),
     .run = run_copy},
    {"find", "TEXT", ARGUMENT_OTHER, N_("find a text in the transcript"), .run = find_open},
    {"theme", "[NAME]", ARGUMENT_THEME,
     N_("change the colours and save the choice (default: a list)"), .run = run_theme},
    {"config", "[WORDS]", ARGUMENT_OTHER, N_("show the settings and where each is set"),
     .run = run_config},
    {"doctor", "", ARGUMENT_OTHER, N_("show which provider and store are used, and why"),
     .act = picker_report},
    {"quit", "", ARGUMENT_OTHER, N_("quit; the draft is saved"), .act = app_leave},
    {0}};

void slash_do(struct app *app, const struct slash_command *c, const char *arguments)
{
    if (c->act)
        c->act(app);
    else
        c->run(app, arguments);
}

bool slash_run(struct app *app, const char *text)
{
    struct slash_choice choice = slash_choose(text);
    bool fits = !choice.complaint;
    if (fits) {
        slash_do(app, choice.command, choice.arguments);
    } else {
        app_follow(app);
        app_note_briefly(app, STYLE_WARNING, "%s", choice.complaint);
    }
    slash_choice_release(&choice);
    return fits;
}
