#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/session_options.h"
#include "cli/setup.h"
#include "ui/app/plain.h"
#include "ui/app/ui.h"
#include "ui/term/term.h"

enum { CHAT_RESUME = 1, CHAT_READ_ONLY, CHAT_PLAIN };

static const struct option options[] = {
    {CHAT_RESUME, "resume", 'r', OPTION_MAYBE, "SESSION",
     N_("open a session: the start or end of its id, its title, last or ~2 (default: last)")},
    {CHAT_READ_ONLY, "read-only", 0, OPTION_FLAG, NULL,
     N_("with --resume or --continue: look at the session, change nothing")},
    {CHAT_PLAIN, "plain", 0, OPTION_FLAG, NULL,
     N_("line by line, for screen readers and terminals that cannot move their cursor")},
    SESSION_OPTIONS,
    {0},
};

static const struct cli_completion completions[] = {
    {.id = CHAT_RESUME, .offer = OFFER_SESSIONS},
    SESSION_COMPLETIONS,
    {0},
};

struct chat_options {
    struct session_options session;
    bool plain;
};

static bool take(void *context, int id, const char *value, struct error *e)
{
    struct chat_options *chat = context;
    struct session_options *o = &chat->session;
    if (id == OPTION_WORD)
        return err_set(e, ERR_USAGE,
                       _("chat takes no arguments; for one turn without a screen, "
                         "use: tiro run PROMPT"));
    if (id == CHAT_RESUME)
        o->resume = value ? value : "last";
    else if (id == CHAT_READ_ONLY)
        o->read_only = true;
    else if (id == CHAT_PLAIN)
        chat->plain = true;
    else
        return session_options_take(o, id, value, e);
    return true;
}

static bool check_options(const struct session_options *o, struct error *e)
{
    return !o->read_only || o->resume ||
           err_set(e, ERR_USAGE, _("--read-only needs a session; add --resume SESSION"));
}

static bool check_terminal(struct error *e)
{
    if (!isatty(STDOUT_FILENO))
        return err_set(
            e, ERR_USAGE,
            _("standard output is not a terminal; use: tiro run PROMPT, or tiro --plain"));
    if (!isatty(STDIN_FILENO))
        return err_set(e, ERR_USAGE,
                       _("standard input is not a terminal; use: tiro run -, or tiro --plain"));
    return true;
}

/* Ends with NULL. */
static char **make_warnings(const struct config_problems *problems)
{
    char **warnings = mem_alloc((problems->list.len + 1) * sizeof *warnings);
    for (size_t i = 0; i < problems->list.len; i++)
        warnings[i] = setup_problem_text(&problems->list.items[i]);
    return warnings;
}

static void free_warnings(char **warnings)
{
    for (size_t i = 0; warnings[i]; i++)
        free(warnings[i]);
    free(warnings);
}

static int chat(const struct chat_options *chat)
{
    const struct session_options *o = &chat->session;
    bool plain = chat->plain || (isatty(STDOUT_FILENO) && term_kind() == TERM_LINES);
    struct error e = {0};
    struct buf draft = BUF_INIT;
    if (!check_options(o, &e) || (!plain && !check_terminal(&e)) ||
        !session_options_files(o, &draft, &e)) {
        buf_release(&draft);
        return cli_fail(&e);
    }
    struct setup setup;
    setup_load(&setup);
    struct engine_options engine = session_options_service(o, setup.config);
    engine.can_ask = true;
    engine.offer_draft = draft.len == 0; /* of files, which begin a message of their own */
    char **warnings = make_warnings(&setup.problems);
    struct ui_options ui = {.config = setup.config,
                            .engine = &engine,
                            .first_draft = draft.len > 0 ? draft.data : NULL,
                            .warnings = warnings};
    int status = plain ? plain_run(&ui, &e) : ui_run(&ui, &e);
    if (e.code != ERR_OK)
        cli_fail(&e);
    free_warnings(warnings);
    setup_release(&setup);
    buf_release(&draft);
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct chat_options o = {.session = SESSION_OPTIONS_INIT};
    int status;
    if (cli_parse(self, argc, argv, take, &o, &status))
        status = chat(&o);
    session_options_release(&o.session);
    return status;
}

const struct cli_command cmd_chat = {
    .name = "chat",
    .synopsis = "[chat] [OPTION]...",
    .help = N_("chat on the full screen (the default command)"),
    .options = options,
    .completions = completions,
    .run = run,
};
