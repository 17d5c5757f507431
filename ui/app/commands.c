#include "ui/app/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "session/export.h"
#include "ui/app/app.h"
#include "ui/app/clipboard.h"
#include "ui/app/compact.h"
#include "ui/app/find.h"
#include "ui/app/fork.h"
#include "ui/app/panes.h"
#include "ui/app/picker.h"
#include "ui/app/pin.h"
#include "ui/app/replace.h"
#include "ui/app/theme_choice.h"
#include "ui/view/memory_view.h"
#include "ui/view/sessions.h"

static void run_help(struct app *app, const char *arguments)
{
    (void)arguments;
    picker_help(app);
}

static void run_new(struct app *app, const char *arguments)
{
    (void)arguments;
    app_leave_session(app);
    app_command(app, COMMAND_NEW, NULL);
}

/* What is open for reading goes on itself. */
static void run_resume(struct app *app, const char *arguments)
{
    if (!*arguments && !app->read_only) {
        (void)panes_open(app, ACTION_SESSIONS, "");
        return;
    }
    app_leave_session(app);
    app_command(app, COMMAND_RESUME, *arguments ? arguments : app->session.id);
}

static void run_sessions(struct app *app, const char *arguments)
{
    (void)panes_open(app, ACTION_SESSIONS, arguments);
}

static void run_rename(struct app *app, const char *arguments)
{
    app_command(app, COMMAND_RENAME, arguments);
}

static void run_archive(struct app *app, const char *arguments)
{
    (void)arguments;
    app_leave_session(app);
    app_command(app, COMMAND_ARCHIVE, NULL);
}

static void run_label(struct app *app, const char *arguments)
{
    if (*arguments)
        app_command(app, COMMAND_LABEL, arguments);
    else if (app->session.labels)
        app_note(app, STYLE_NOTE,
                 _("Labels: %s\n"
                   "/label +NAME adds one, -NAME removes one."),
                 app->session.labels);
    else
        app_note(app, STYLE_NOTE, "%s",
                 _("This session has no labels. /label +NAME adds one, -NAME removes one."));
}

static char *in_home(const char *path)
{
    const char *home = getenv("HOME");
    bool there = home && *home && strncmp(path, "~/", 2) == 0;
    return there ? mem_printf("%s%s", home, path + 1) : mem_strdup(path);
}

struct command *slash_export(const char *arguments, const char *title)
{
    struct command *c = command_new(COMMAND_EXPORT, NULL);
    c->text = *arguments ? in_home(arguments) : sessions_file_name(title);
    c->limit = (int)export_format_of_path(c->text);
    return c;
}

static void run_export(struct app *app, const char *arguments)
{
    engine_send(app->engine, slash_export(arguments, app->session.title));
}

static void run_stop(struct app *app, const char *arguments)
{
    (void)arguments;
    app->stop_asked = true;
    app_command(app, COMMAND_INTERRUPT, NULL);
}

static void run_uncompact(struct app *app, const char *arguments)
{
    (void)arguments;
    app_follow(app);
    app_command(app, COMMAND_UNCOMPACT, NULL);
}

static void run_context(struct app *app, const char *arguments)
{
    (void)arguments;
    (void)panes_open(app, ACTION_CONTEXT, "");
}

static void run_memory(struct app *app, const char *arguments)
{
    memory_view_open(app->memory, arguments);
}

/* The query is written already: the keys are for what it finds. */
static void run_forget(struct app *app, const char *arguments)
{
    memory_view_open(app->memory, arguments);
    if (*arguments)
        memory_view_to_hits(app->memory);
}

static void set_model(struct app *app, char *provider, const char *model)
{
    struct command *c = command_new(COMMAND_SET_MODEL, model);
    c->name = provider;
    engine_send(app->engine, c);
}

static void run_model(struct app *app, const char *arguments)
{
    if (!*arguments) {
        picker_models(app);
        return;
    }
    size_t first = strcspn(arguments, "/");
    char *provider = mem_strndup(arguments, first);
    const char *rest = arguments[first] ? arguments + first + 1 : NULL;
    if (picker_is_provider(provider)) {
        set_model(app, provider, rest && *rest ? rest : NULL);
    } else {
        free(provider);
        set_model(app, NULL, arguments);
    }
}

static void run_system(struct app *app, const char *arguments)
{
    if (!*arguments) {
        if (app->session.system)
            app_note(app, STYLE_NOTE, _("System prompt of this session:\n%s"), app->session.system);
        else
            app_note(app, STYLE_NOTE, "%s",
                     _("This session uses the configured system prompt. /system TEXT replaces it; "
                       "/system default restores it."));
        return;
    }
    bool configured = strcmp(arguments, "default") == 0;
    app_command(app, COMMAND_SET_SYSTEM, configured ? NULL : arguments);
    app_note(app, STYLE_NOTE, "%s",
             configured ? _("The configured system prompt applies from the next message on.")
                        : _("The new system prompt applies from the next message on."));
}

static void run_retry(struct app *app, const char *arguments)
{
    (void)arguments;
    app_retry(app);
}

static void run_edit(struct app *app, const char *arguments)
{
    (void)arguments;
    replace_begin(app);
}

static void run_copy(struct app *app, const char *arguments)
{
    if (!*arguments) {
        clipboard_copy(app, transcript_last_answer(app->transcript));
        return;
    }
    if (strcmp(arguments, "code") != 0) {
        app_note_briefly(app, STYLE_WARNING, "%s",
                         _("/copy copies the newest answer, /copy code its newest code block."));
        return;
    }
    char *code = transcript_last_code(app->transcript);
    clipboard_copy(app, code);
    free(code);
}

static void run_find(struct app *app, const char *arguments)
{
    find_open(app, arguments);
}

static void run_theme(struct app *app, const char *arguments)
{
    if (!*arguments)
        picker_themes(app);
    else
        theme_choose(app, arguments);
}

static void run_config(struct app *app, const char *arguments)
{
    picker_config(app);
    if (*arguments)
        list_filter(list_view_find(&app->views, LIST_CONFIG), arguments);
}

static void run_doctor(struct app *app, const char *arguments)
{
    (void)arguments;
    picker_report(app);
}

static void run_quit(struct app *app, const char *arguments)
{
    (void)arguments;
    app->leaving = true;
}

const struct slash_command slash_commands[] = {
    {"help", "", ARGUMENT_OTHER, N_("keys and commands"), run_help},
    {"new", "", ARGUMENT_OTHER, N_("start a new session"), run_new},
    {"resume", "[SESSION]", ARGUMENT_SESSION,
     N_("open a session: its title, the start or end of its id, last or ~2"), run_resume},
    {"sessions", "[WORDS]", ARGUMENT_OTHER, N_("list earlier sessions"), run_sessions},
    {"rename", "TITLE", ARGUMENT_OTHER, N_("change the title of this session"), run_rename},
    {"label", "[+NAME -NAME]", ARGUMENT_OTHER, N_("show this session's labels, add or remove some"),
     run_label},
    {"fork", "[N]", ARGUMENT_FORK,
     N_("continue in a copy of this session, up to your N-th message and its answer, or "
        "~before-compaction (default: all)"),
     fork_run},
    {"archive", "", ARGUMENT_OTHER, N_("archive this session and start a new one"), run_archive},
    {"export", "[FILE]", ARGUMENT_OTHER, N_("export this session to a file: .md, .json or .jsonl"),
     run_export},
    {"stop", "", ARGUMENT_OTHER, N_("stop the running turn"), run_stop},
    {"compact", "[MODE] [--preview] [FOCUS]", ARGUMENT_COMPACT,
     N_("shorten what is sent to the model; FOCUS: what to keep above all"), compact_send},
    {"uncompact", "", ARGUMENT_OTHER, N_("undo the last compaction"), run_uncompact},
    {"pin", "[N]", ARGUMENT_TURN,
     N_("keep your N-th message word for word in every compaction (default: the newest)"), pin_run},
    {"unpin", "[N]", ARGUMENT_TURN, N_("unpin your N-th message (default: the newest)"), unpin_run},
    {"context", "", ARGUMENT_OTHER, N_("show what the next request would contain"), run_context},
    {"memory", "[QUERY]", ARGUMENT_OTHER, N_("search what compactions dropped"), run_memory},
    {"forget", "QUERY", ARGUMENT_OTHER, N_("search memory and forget entries with d"), run_forget},
    {"model", "[NAME]", ARGUMENT_MODEL,
     N_("choose a model: NAME, PROVIDER/NAME or PROVIDER (default: a list)"), run_model},
    {"system", "[TEXT]", ARGUMENT_OTHER,
     N_("show or set this session's system prompt; \"default\" restores the configured one"),
     run_system},
    {"retry", "", ARGUMENT_OTHER, N_("send the last message again"), run_retry},
    {"edit", "", ARGUMENT_OTHER, N_("edit the last message; the new text replaces it"), run_edit},
    {"copy", "[code]", ARGUMENT_COPY, N_("copy the newest answer, or its newest code block"),
     run_copy},
    {"find", "TEXT", ARGUMENT_OTHER, N_("find in the transcript"), run_find},
    {"theme", "[NAME]", ARGUMENT_THEME,
     N_("change the colours and save the choice (default: a "
        "list)"),
     run_theme},
    {"config", "[WORDS]", ARGUMENT_OTHER, N_("show the settings and where each is set"),
     run_config},
    {"doctor", "", ARGUMENT_OTHER, N_("show which provider and store are used, and why"),
     run_doctor},
    {"quit", "", ARGUMENT_OTHER, N_("quit; the draft is saved"), run_quit},
    {0}};
enum { COMMANDS = sizeof slash_commands / sizeof *slash_commands - 1 };

const char *slash_help(const struct slash_command *c, bool kept)
{
    static const char gone[] = N_("delete this session, since none is saved, and start a new one");
    return _(!kept && c->run == run_archive ? gone : c->help);
}

char *slash_parting(const char *title, bool archived)
{
    return mem_printf(archived ? _("\"%s\" is archived; /sessions finds it again.")
                               : _("\"%s\" is closed and was not saved."),
                      title);
}

const struct slash_command *slash_find(const char *name, size_t len)
{
    for (const struct slash_command *c = slash_commands; c->name; c++)
        if (strlen(c->name) == len && memcmp(c->name, name, len) == 0)
            return c;
    return NULL;
}

/* The one command that begins with these letters, or NULL. */
static const struct slash_command *find_abbreviated(const char *name, size_t len)
{
    const struct slash_command *only = NULL;
    for (const struct slash_command *c = slash_commands; len > 0 && c->name; c++)
        if (strncmp(c->name, name, len) == 0) {
            if (only)
                return NULL;
            only = c;
        }
    return only;
}

const char *slash_nearest(const char *name)
{
    const char *words[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        words[i] = slash_commands[i].name;
    return config_nearest(name, words, COMMANDS);
}

bool slash_needs_argument(const struct slash_command *c)
{
    return *c->arguments && *c->arguments != '[';
}

struct slash_line slash_parse(const char *text)
{
    if (text[0] != '/')
        return (struct slash_line){.kind = SLASH_TEXT};
    if (text[1] == '/')
        return (struct slash_line){.kind = SLASH_LITERAL};
    size_t name_len = strcspn(text + 1, " \t\n");
    size_t arguments = 1 + name_len;
    arguments += strspn(text + arguments, " \t\n");
    return (struct slash_line){SLASH_COMMAND, name_len, arguments};
}

/* "/resume, /rename, /retry" for a beginning that several share; nothing for any other. */
static void list_abbreviated(const char *name, struct buf *out)
{
    for (const struct slash_command *c = slash_commands; *name && c->name; c++)
        if (strncmp(c->name, name, strlen(name)) == 0)
            buf_addf(out, "%s/%s", out->len > 0 ? ", " : "", c->name);
}

static char *unknown(const char *name)
{
    struct buf several = BUF_INIT;
    const char *near = slash_nearest(name);
    char *text;
    list_abbreviated(name, &several);
    if (several.len > 0)
        text = mem_printf(_("/%s is the beginning of several commands: %s."), name, several.data);
    else if (near)
        text = mem_printf(_("There is no command /%s. Did you mean /%s? To send it as a message, "
                            "begin it with \"//\"."),
                          name, near);
    else
        text = mem_printf(_("There is no command /%s; /help lists the commands. To send it as a "
                            "message, begin it with \"//\"."),
                          name);
    buf_release(&several);
    return text;
}

/* What is wrong with what the command gets; NULL: nothing. */
static char *misfit(const struct slash_command *c, const char *arguments)
{
    if (!*arguments && slash_needs_argument(c))
        return mem_printf("/%s %s: %s", c->name, c->arguments, _(c->help));
    if (*arguments && !*c->arguments)
        return mem_printf(_("/%s takes no arguments."), c->name);
    return NULL;
}

struct slash_choice slash_choose(const char *text)
{
    struct slash_line line = slash_parse(text);
    struct slash_choice choice = {.command = slash_find(text + 1, line.name_len)};
    if (!choice.command)
        choice.command = find_abbreviated(text + 1, line.name_len);
    size_t len = strlen(text + line.arguments);
    while (len > 0 && strchr(" \t\n", text[line.arguments + len - 1]))
        len--;
    choice.arguments = mem_strndup(text + line.arguments, len);
    if (choice.command) {
        choice.complaint = misfit(choice.command, choice.arguments);
    } else {
        char *name = mem_strndup(text + 1, line.name_len);
        choice.complaint = unknown(name);
        free(name);
    }
    return choice;
}

void slash_choice_release(struct slash_choice *choice)
{
    free(choice->arguments);
    free(choice->complaint);
}

bool slash_run(struct app *app, const char *text)
{
    struct slash_choice choice = slash_choose(text);
    bool fits = !choice.complaint;
    if (fits) {
        choice.command->run(app, choice.arguments);
    } else {
        app_follow(app);
        app_note_briefly(app, STYLE_WARNING, "%s", choice.complaint);
    }
    slash_choice_release(&choice);
    return fits;
}
