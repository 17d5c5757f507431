#include <string.h>

#include "base/buf.h"
#include "base/i18n.h"
#include "cli/call.h"
#include "cli/command_line.h"
#include "cli/sessions.h"

enum sessions_option {
    SESSIONS_JSON = 1,
    SESSIONS_LIMIT,
    SESSIONS_ARCHIVED,
    SESSIONS_LIVE,
    SESSIONS_LABEL,
    SESSIONS_DIRECTORY,
    SESSIONS_NAMES,
    SESSIONS_AT,
    SESSIONS_YES,
    SESSIONS_FORMAT,
    SESSIONS_OUTPUT,
    SESSIONS_FORCE,
    SESSIONS_TITLE,
    SESSIONS_IN
};

/* clang-format off */
#define JSON_OPTION {SESSIONS_JSON, "json", 0, OPTION_FLAG, NULL, N_("print JSON")}
#define LIMIT_OPTION(help) {SESSIONS_LIMIT, "limit", 'n', OPTION_VALUE, "N", help}
/* clang-format on */

static const struct option list_options[] = {
    JSON_OPTION,
    LIMIT_OPTION(N_("only the newest N")),
    {SESSIONS_ARCHIVED, "archived", 0, OPTION_FLAG, NULL, N_("only archived sessions")},
    {SESSIONS_LIVE, "live", 0, OPTION_FLAG, NULL, N_("only sessions that are not archived")},
    {SESSIONS_LABEL, "label", 'l', OPTION_VALUE, "LABEL", N_("only sessions with the label")},
    {SESSIONS_DIRECTORY, "directory", 'd', OPTION_VALUE, "DIR",
     N_("only sessions started in DIR; . is the current directory")},
    {SESSIONS_NAMES, "names", 0, OPTION_FLAG, NULL,
     N_("one line per session: end of the id, tab, title; for scripts")},
    {0},
};

static const struct option show_options[] = {
    JSON_OPTION,
    LIMIT_OPTION(N_("only the last N turns")),
    {0},
};

static const struct option search_options[] = {
    JSON_OPTION,
    LIMIT_OPTION(N_("at most N matches (default: 50)")),
    {SESSIONS_IN, "in", 0, OPTION_VALUE, "SESSION", N_("only in this session")},
    {0},
};

static const struct option fork_options[] = {
    {SESSIONS_AT, "at", 0, OPTION_VALUE, "N",
     N_("up to the message of event N (\"seq\" of show --json), or ~before-compaction; default: "
        "all")},
    JSON_OPTION,
    {0},
};

static const struct option delete_options[] = {
    {SESSIONS_YES, "yes", 'y', OPTION_FLAG, NULL, N_("do not ask for confirmation")},
    {0},
};

static const struct option export_options[] = {
    {SESSIONS_FORMAT, "format", 0, OPTION_VALUE, "FORMAT",
     N_("markdown, json or jsonl (default: by the ending of FILE, else markdown)")},
    {SESSIONS_OUTPUT, "output", 'o', OPTION_VALUE, "FILE",
     N_("write to FILE instead of standard output")},
    {SESSIONS_FORCE, "force", 0, OPTION_FLAG, NULL, N_("overwrite an existing file")},
    {0},
};

static const struct option import_options[] = {
    {SESSIONS_TITLE, "title", 't', OPTION_VALUE, "TITLE",
     N_("a title for the new session, if the "
        "file has none")},
    JSON_OPTION,
    {0},
};

static const struct option no_options[] = {{0}};

/* clang-format off */
#define ANY_SESSION {.id = OPTION_WORD, .offer = OFFER_SESSIONS}
/* clang-format on */

static char *formats(void)
{
    struct buf out = BUF_INIT;
    for (int f = 0; f < EXPORT_FORMAT_COUNT; f++)
        buf_addf(&out, "%s ", export_format_name((enum export_format)f));
    return buf_take(&out);
}

static const struct cli_completion list_completions[] = {
    {.id = SESSIONS_DIRECTORY, .offer = OFFER_DIRECTORIES},
    {0},
};

static const struct cli_completion search_completions[] = {
    {.id = SESSIONS_IN, .offer = OFFER_SESSIONS},
    {0},
};

static const struct cli_completion export_completions[] = {
    ANY_SESSION,
    {.id = SESSIONS_FORMAT, .offer = OFFER_CHOICES, .choices = formats},
    {.id = SESSIONS_OUTPUT, .offer = OFFER_FILES},
    {0},
};

static const struct cli_completion import_completions[] = {
    {.id = OPTION_WORD, .offer = OFFER_FILES},
    {0},
};

static const struct cli_completion any_sessions[] = {ANY_SESSION, {0}};

static const struct cli_completion first_session[] = {
    {.id = OPTION_WORD, .offer = OFFER_SESSIONS, .first = true},
    {0},
};

/* A verb's row: what it is called with, and what runs. */
struct sessions_verb {
    struct cli_command command;
    size_t least, most; /* words */
    const struct operation *operation; /* that it calls, with others that need no more */
    int (*run)(struct operation_context *c, const struct sessions_options *o);
};

static int run_verb(const struct cli_command *self, int argc, char **argv);

#define NAMES_A_SESSION                                                                            \
    N_("SESSION is the start or the end of an id, a title, last, or ~2 (the last but one).")

static const struct sessions_verb verbs[] = {
    {.command = {.name = "list",
                 .synopsis = "sessions list [OPTION]...",
                 .help = N_("list every session, newest first"),
                 .options = list_options,
                 .completions = list_completions,
                 .run = run_verb},
     .operation = &operation_session_list,
     .run = verb_list},
    {.command = {.name = "show",
                 .synopsis = "sessions show [OPTION]... [SESSION]",
                 .help = N_("show the transcript of a session (default: last)"),
                 .details = NAMES_A_SESSION,
                 .options = show_options,
                 .completions = any_sessions,
                 .run = run_verb},
     .most = 1,
     .operation = &operation_session_history,
     .run = verb_show},
    {.command = {.name = "search",
                 .synopsis = "sessions search [OPTION]... WORD...",
                 .help = N_("search all transcripts for words"),
                 .details =
                     N_("\"Words in quotes\" must occur in that order; the last word also matches "
                        "longer words."),
                 .options = search_options,
                 .completions = search_completions,
                 .run = run_verb},
     .least = 1,
     .most = CLI_MANY,
     .operation = &operation_session_search,
     .run = verb_search},
    {.command = {.name = "rename",
                 .synopsis = "sessions rename SESSION TITLE",
                 .help = N_("change the title of a session; an empty title restores the first"),
                 .details = NAMES_A_SESSION,
                 .options = no_options,
                 .completions = first_session,
                 .run = run_verb},
     .least = 2,
     .most = 2,
     .operation = &operation_session_rename,
     .run = verb_rename},
    {.command = {.name = "label",
                 .synopsis = "sessions label SESSION [+]LABEL|-LABEL...",
                 .help = N_("add labels to a session, or remove them"),
                 .details = NAMES_A_SESSION,
                 .options = no_options,
                 .completions = first_session,
                 .dashes = true,
                 .run = run_verb},
     .least = 2,
     .most = CLI_MANY,
     .operation = &operation_session_label,
     .run = verb_label},
    {.command = {.name = "archive",
                 .synopsis = "sessions archive SESSION...",
                 .help = N_("archive sessions"),
                 .details = NAMES_A_SESSION,
                 .options = no_options,
                 .completions = any_sessions,
                 .run = run_verb},
     .least = 1,
     .most = CLI_MANY,
     .operation = &operation_session_archive,
     .run = verb_archive},
    {.command = {.name = "unarchive",
                 .synopsis = "sessions unarchive SESSION...",
                 .help = N_("move sessions out of the archive"),
                 .details = NAMES_A_SESSION,
                 .options = no_options,
                 .completions = any_sessions,
                 .run = run_verb},
     .least = 1,
     .most = CLI_MANY,
     .operation = &operation_session_unarchive,
     .run = verb_unarchive},
    {.command = {.name = "fork",
                 .synopsis = "sessions fork [OPTION]... SESSION",
                 .help = N_("start a session with the messages of another; prints its id"),
                 .details = NAMES_A_SESSION,
                 .options = fork_options,
                 .completions = any_sessions,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_session_fork,
     .run = verb_fork},
    {.command = {.name = "delete",
                 .synopsis = "sessions delete [--yes] SESSION...",
                 .help = N_("delete sessions with all their messages"),
                 .details = N_("Asks once; without a terminal, --yes is required."),
                 .options = delete_options,
                 .completions = any_sessions,
                 .run = run_verb},
     .least = 1,
     .most = CLI_MANY,
     .operation = &operation_session_delete,
     .run = verb_delete},
    {.command = {.name = "export",
                 .synopsis = "sessions export [OPTION]... SESSION",
                 .help = N_("export a session to standard output or a file"),
                 .details = N_("markdown   to read\n"
                               "json       one object; json and jsonl can be imported "
                               "again\n"
                               "jsonl      the session's properties, then one event per line"),
                 .options = export_options,
                 .completions = export_completions,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_session_export,
     .run = verb_export},
    {.command = {.name = "import",
                 .synopsis = "sessions import [OPTION]... FILE|-",
                 .help = N_("import a session from a file; prints its id"),
                 .details = N_(
                     "The file is an export (json, jsonl) or a list of messages in OpenAI's form;\n"
                     "- is standard input."),
                 .options = import_options,
                 .completions = import_completions,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_session_import,
     .run = verb_import},
    {.command = {.name = "rebuild",
                 .synopsis = "sessions rebuild [SESSION]",
                 .help = N_("rewrite the files below sessions/ for one session or for all"),
                 .options = no_options,
                 .completions = any_sessions,
                 .run = run_verb},
     .most = 1,
     .operation = &operation_session_rebuild,
     .run = verb_rebuild},
};

static const struct cli_command *verb_at(size_t index)
{
    return index < sizeof verbs / sizeof *verbs ? &verbs[index].command : NULL;
}

static bool take_at(struct sessions_options *o, const char *value, struct error *e)
{
    o->before_compaction = strcmp(value, "~before-compaction") == 0;
    return o->before_compaction || cli_number("at", value, INT64_MAX, &o->at, e);
}

static bool take_value(struct sessions_options *o, int id, const char *value, struct error *e)
{
    const char **const places[] = {
        [SESSIONS_LABEL] = &o->label,   [SESSIONS_DIRECTORY] = &o->directory,
        [SESSIONS_FORMAT] = &o->format, [SESSIONS_OUTPUT] = &o->output,
        [SESSIONS_TITLE] = &o->title,   [SESSIONS_IN] = &o->in,
    };
    *places[id] = value;
    return id != SESSIONS_FORMAT || sessions_check_format(value, e);
}

static bool take_flag(struct sessions_options *o, int id)
{
    bool *const places[] = {
        [SESSIONS_JSON] = &o->json, [SESSIONS_ARCHIVED] = &o->archived,
        [SESSIONS_LIVE] = &o->live, [SESSIONS_NAMES] = &o->names,
        [SESSIONS_YES] = &o->yes,   [SESSIONS_FORCE] = &o->force,
    };
    *places[id] = true;
    return true;
}

static bool take(void *context, int id, const char *value, struct error *e)
{
    struct sessions_options *o = context;
    switch (id) {
    case OPTION_WORD:
        vec_push(&o->words, value);
        return true;
    case SESSIONS_LIMIT:
        return cli_count("limit", value, &o->limit, e);
    case SESSIONS_AT:
        return take_at(o, value, e);
    default:
        return value ? take_value(o, id, value, e) : take_flag(o, id);
    }
}

static int call_verb(const struct sessions_verb *verb, const struct sessions_options *o)
{
    struct call call;
    struct error e = {0};
    bool ok = call_begin(&call, verb->operation, &e);
    int status = ok ? verb->run(&call.context, o) : cli_fail(&e);
    call_end(&call);
    return status;
}

/* `self` begins the verb's row. */
static int run_verb(const struct cli_command *self, int argc, char **argv)
{
    const struct sessions_verb *verb = (const struct sessions_verb *)self;
    struct sessions_options o = {0};
    struct error e = {0};
    int status;
    if (cli_parse(self, argc, argv, take, &o, &status))
        status = cli_check_words(self, verb->least, verb->most, o.words.items, o.words.len, &e)
                     ? call_verb(verb, &o)
                     : cli_fail(&e);
    vec_release(&o.words);
    return status;
}

const struct cli_command cmd_sessions = {
    .name = "sessions",
    .synopsis = "sessions [COMMAND] [OPTION]... [SESSION]",
    .help = N_("list, show, search and change saved sessions"),
    .details = N_("The default command is list. For details: tiro sessions COMMAND --help."),
    .options = no_options,
    .verb = verb_at,
    .run = cli_run_verb,
};
