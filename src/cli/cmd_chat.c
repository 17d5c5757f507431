#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "cli/session_options.h"
#include "cli/setup.h"
#include "ui/app/run.h"
#include "ui/term/term.h"

struct chat_options {
    struct session_options session;
    bool plain;
};

static const struct option options[] = {
    {"resume", 'r', OPTION_MAYBE, "SESSION",
     N_("open a session: the start or end of its id, its title or a part of it, last or ~2 "
        "(default: last)"),
     SESSION_AT(resume), .take = session_options_take_last, .offer = {.what = OFFER_SESSIONS}},
    {"read-only", 0, OPTION_FLAG, NULL,
     N_("with --resume or --continue: read the session, change nothing"), SESSION_AT(read_only)},
    {"plain", 0, OPTION_FLAG, NULL,
     N_("line by line, for screen readers and terminals that cannot move their cursor"),
     .at = offsetof(struct chat_options, plain)},
    SESSION_OPTIONS,
    {0},
};

static bool refuse_word(void *context, const char *word, struct error *e)
{
    (void)context, (void)word;
    return err_set(e, ERR_USAGE,
                   _("chat takes no arguments; for one turn without a screen, "
                     "use: tiro run PROMPT"));
}

static bool check_options(const struct session_options *o, bool plain, struct error *e)
{
    if (o->read_only && !o->resume)
        return err_set(e, ERR_USAGE, _("--read-only needs a session; add --resume SESSION"));
    if (!plain && !isatty(STDOUT_FILENO))
        return err_set(
            e, ERR_USAGE,
            _("standard output is not a terminal; use: tiro run PROMPT, or tiro --plain"));
    if (!plain && !isatty(STDIN_FILENO))
        return err_set(e, ERR_USAGE,
                       _("standard input is not a terminal; use: tiro run -, or tiro --plain"));
    return true;
}

static int chat(const struct chat_options *chat)
{
    const struct session_options *o = &chat->session;
    bool plain = chat->plain || (isatty(STDOUT_FILENO) && term_kind() == TERM_LINES);
    struct error e = {0};
    AUTO(buf_release) struct buf first_message = BUF_INIT;
    AUTO(mentions_release) struct mentions files = {0};
    if (!check_options(o, plain, &e) || !session_options_files(o, &first_message, &files, &e))
        return cli_fail(&e);
    struct setup setup;
    setup_load(&setup);
    struct engine_options engine = session_options_service(o, setup.config);
    engine.can_ask = true;
    engine.offer_draft = o->files.len == 0; /* else the message begins with files */
    VEC(char *) warnings = {0};
    for (size_t i = 0; i < setup.problems.list.len; i++)
        vec_push(&warnings, setup_problem_text(&setup.problems.list.items[i]));
    vec_push(&warnings, NULL);
    struct ui_options ui = {.config = setup.config,
                            .engine = &engine,
                            .first_draft = first_message.len > 0 ? first_message.data : NULL,
                            .attach = &files,
                            .warnings = warnings.items};
    int status = plain ? plain_run(&ui, &e) : ui_run(&ui, &e);
    if (e.code != ERR_OK)
        cli_fail(&e);
    vec_free_each(&warnings);
    setup_release(&setup);
    return status;
}

static int run(const struct cli_command *self, int argc, char **argv)
{
    struct chat_options o = {.session = SESSION_OPTIONS_INIT};
    int status;
    if (cli_parse(self, argc, argv, &o, &status))
        status = chat(&o);
    session_options_release(&o.session);
    return status;
}

const struct cli_command cmd_chat = {
    .name = "chat",
    .synopsis = "[chat] [OPTION]...",
    .help = N_("chat on the full screen (the default command)"),
    .options = options,
    .most = CLI_MANY,
    .word = refuse_word,
    .run = run,
};
