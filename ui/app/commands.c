#include "ui/app/slash.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/import_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "ui/app/app.h"
#include "ui/app/cards.h"
#include "ui/app/clipboard.h"
#include "ui/app/corpora.h"
#include "ui/app/find.h"
#include "ui/app/imports.h"
#include "ui/app/mentions.h"
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

/* Notes the result of an operation, or that it was done. */
static bool take_told(struct app *app, struct operation_answer *a, const char *words)
{
    auto_free char *told = words ? NULL : slash_told(a);
    if (told)
        app_note(app, STYLE_NOTE, "%s", told);
    return !words;
}

static void run_export(struct app *app, const char *arguments)
{
    auto_free char *path = slash_export_path(arguments, app->session.title);
    const struct session_export_params params = {
        .session = app->session.id, .path = path, .format = export_format_of_path(path)};
    (void)app_ask(app, &operation_session_export, &params, take_told);
}

static void run_stop(struct app *app)
{
    app->stop_asked = true;
    (void)app_ask(app, &operation_turn_interrupt, NULL, NULL);
}

static void run_graph(struct app *app, const char *arguments)
{
    if (!memory_view_open_tab(app->memory, "graph", arguments))
        app_note(app, STYLE_WARNING, "%s",
                 _("The graph is off. \"enabled = true\" in [graph] of tiro.ini turns it on."));
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

static void run_system(struct app *app, const char *arguments)
{
    auto_free void *params = slash_params(&operation_session_set_system, NULL, arguments);
    (void)app_ask(app, &operation_session_set_system, params, NULL);
    app_note(app, STYLE_NOTE, "%s",
             strcmp(arguments, "default") == 0
                 ? _("The configured system prompt applies from the next message on.")
                 : _("The new system prompt applies from the next message on."));
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

const struct slash_command slash_own[] = {
    {.name = "help", .help = N_("keys and commands"), .act = picker_help, .action = ACTION_HELP},
    {.operation = &operation_session_create},
    {&operation_session_open, .kind = ARGUMENT_SESSION, .run = run_resume},
    {&operation_session_list, .action = ACTION_SESSIONS},
    {&operation_session_rename, .kind = ARGUMENT_OTHER},
    {&operation_session_label, .kind = ARGUMENT_OTHER},
    {&operation_session_fork, .kind = ARGUMENT_FORK},
    {.operation = &operation_session_archive},
    {&operation_session_export, .run = run_export},
    {&operation_import_run, .kind = ARGUMENT_OTHER, .run = imports_run},
    {&operation_turn_interrupt, .act = run_stop, .action = ACTION_CANCEL},
    {&operation_turn_background, .action = ACTION_BACKGROUND},
    {&operation_compaction_run, .kind = ARGUMENT_COMPACT, .run = compact_send},
    {&operation_compaction_undo, .kind = ARGUMENT_OTHER},
    {&operation_compaction_pin, .kind = ARGUMENT_TURN},
    {&operation_compaction_unpin, .kind = ARGUMENT_TURN},
    {&operation_session_rewind, .kind = ARGUMENT_TURN, .run = message_rewind},
    {&operation_session_unrewind, .act = message_unrewind},
    {&operation_session_restore, .run = message_restore},
    {&operation_context_read, .action = ACTION_CONTEXT},
    {&operation_memory_search, .run = cards_memory, .action = ACTION_MEMORY},
    {&operation_memory_leave_out, .act = cards_recalled},
    {&operation_memory_index, .run = run_index},
    {&operation_graph_search, .run = run_graph},
    {&operation_learned_add, .run = cards_remember},
    {&operation_learned_list, .run = cards_show},
    {&operation_memory_forget, .run = cards_forget},
    {&operation_corpus_search, .run = corpora_run},
    {&operation_corpus_cited, .run = corpora_cite},
    {&operation_session_set_model, .kind = ARGUMENT_MODEL, .run = picker_models},
    {&operation_session_set_effort, .kind = ARGUMENT_EFFORT, .run = picker_efforts},
    {&operation_session_set_system, .run = run_system},
    {&operation_turn_retry, .act = message_retry},
    {.name = "edit",
     .help = N_("edit the last message; the new text replaces it"),
     .act = message_edit},
    {.name = "attach",
     .arguments = "[FILE]",
     .kind = ARGUMENT_FILE,
     .help = N_("send a file, an image or a folder's list with the message (default: a list)"),
     .run = mentions_attach},
    {.name = "copy",
     .arguments = "[code]",
     .kind = ARGUMENT_COPY,
     .help = N_("copy the newest answer, or its newest code block"),
     .run = run_copy},
    {.name = "find",
     .arguments = "TEXT",
     .help = N_("find a text in the transcript"),
     .run = find_open,
     .action = ACTION_FIND},
    {.name = "theme",
     .arguments = "[NAME]",
     .kind = ARGUMENT_THEME,
     .help = N_("change the colours and save the choice (default: a list)"),
     .run = picker_themes},
    {.name = "config",
     .arguments = "[WORDS]",
     .help = N_("show the settings and where each is set"),
     .run = picker_config},
    {&operation_doctor_report, .act = picker_report},
    {.name = "quit",
     .alias = "exit",
     .help = N_("quit; the draft is saved"),
     .act = app_leave,
     .action = ACTION_LEAVE},
    {0}};

void slash_do(struct app *app, const struct slash_command *c, const char *arguments)
{
    auto_free char *value = *arguments ? NULL : slash_value(c->operation, &app->session);
    if (c->skill) {
        auto_free char *text = mem_printf("/%s%s%s", c->name, *arguments ? " " : "", arguments);
        (app->replacing ? message_replace : message_send)(app, text);
    } else if (value) {
        app_note(app, STYLE_NOTE, "%s", value);
    } else if (c->act) {
        c->act(app);
    } else if (c->run) {
        c->run(app, arguments);
    } else if (panes_open(app, c->action, arguments)) {
        return;
    } else {
        auto_free void *params = slash_params(c->operation, app->session.id, arguments);
        app_follow(app);
        if (c->operation->opens || c->operation == &operation_session_archive)
            app_leave_session(app); /* a new session replaces the open one */
        bool seen = c->kind == ARGUMENT_TURN || c->kind == ARGUMENT_FORK; /* in the transcript */
        (void)app_ask(app, c->operation, params, seen ? NULL : take_told);
    }
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
