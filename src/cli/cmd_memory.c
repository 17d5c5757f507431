#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/command_line.h"
#include "cli/memory.h"

enum memory_option {
    MEMORY_JSON = 1,
    MEMORY_LIMIT,
    MEMORY_SCOPE,
    MEMORY_SESSION,
    MEMORY_CONTENT,
    MEMORY_YES,
    MEMORY_FORCE
};

enum { MOST_HITS = 1000 };

/* clang-format off */
#define JSON_OPTION {MEMORY_JSON, "json", 0, OPTION_FLAG, NULL, N_("print JSON")}
#define LIMIT_OPTION(letter, help) {MEMORY_LIMIT, "limit", letter, OPTION_VALUE, "N", help}
/* clang-format on */

static const struct option search_options[] = {
    LIMIT_OPTION(0, N_("at most N matches, up to 1000 (default: 5)")),
    {MEMORY_SCOPE, "scope", 0, OPTION_VALUE, "SCOPE",
     N_("all, project (sessions started in this directory) or session=ID (default: as "
        "configured)")},
    JSON_OPTION,
    {0},
};

static const struct option list_options[] = {
    {MEMORY_SESSION, "session", 0, OPTION_VALUE, "SESSION", N_("only entries of this session")},
    LIMIT_OPTION('n', N_("only the newest N (default: 20 on a terminal, else all)")),
    JSON_OPTION,
    {0},
};

static const struct option json_options[] = {JSON_OPTION, {0}};

static const struct option edit_options[] = {
    {MEMORY_CONTENT, "content", 0, OPTION_VALUE, "TEXT",
     N_("the new text; without it, your editor opens, or standard input is read if it is not a "
        "terminal")},
    {0},
};

static const struct option delete_options[] = {
    {MEMORY_YES, "yes", 'y', OPTION_FLAG, NULL, N_("do not ask for confirmation")},
    {0},
};

static const struct option export_options[] = {
    {MEMORY_FORCE, "force", 0, OPTION_FLAG, NULL, N_("overwrite an existing file")},
    {0},
};

static const struct option no_options[] = {{0}};

static char *scopes(void)
{
    return mem_strdup("all project session=");
}

static const struct cli_completion search_completions[] = {
    {.id = MEMORY_SCOPE, .offer = OFFER_CHOICES, .choices = scopes},
    {0},
};

static const struct cli_completion list_completions[] = {
    {.id = MEMORY_SESSION, .offer = OFFER_SESSIONS},
    {0},
};

static const struct cli_completion files[] = {
    {.id = OPTION_WORD, .offer = OFFER_FILES, .first = true},
    {0},
};

/* A verb's row: what it is called with, and what runs. */
struct memory_verb {
    struct cli_command command;
    size_t least, most; /* words */
    const struct operation *operation; /* that it calls, with others that need no more */
    int (*run)(struct operation_context *c, const struct memory_options *o);
};

static int run_verb(const struct cli_command *self, int argc, char **argv);

#define NAMES_AN_ENTRY N_("ID is the id of an entry or the start of it; search and list show ids.")

static const struct memory_verb verbs[] = {
    {.command = {.name = "list",
                 .synopsis = "memory list [OPTION]...",
                 .help = N_("list the entries, newest first"),
                 .details = N_("On a terminal, the newest 20 are shown unless --limit is given; "
                               "to a pipe or a file, and\n"
                               "with --json, all are written."),
                 .options = list_options,
                 .completions = list_completions,
                 .run = run_verb},
     .operation = &operation_memory_list,
     .run = verb_memory_list},
    {.command = {.name = "search",
                 .synopsis = "memory search [OPTION]... QUERY...",
                 .help = N_("search the entries, best match first"),
                 .details =
                     N_("\"Words in quotes\" must occur in that order; if no entry has them, the "
                        "other words of the query\n"
                        "are searched. After the first word, -word excludes entries that contain "
                        "this word."),
                 .options = search_options,
                 .completions = search_completions,
                 .dashes = true,
                 .run = run_verb},
     .least = 1,
     .most = CLI_MANY,
     .operation = &operation_memory_search,
     .run = verb_memory_search},
    {.command = {.name = "show",
                 .synopsis = "memory show [--json] ID",
                 .help = N_("show an entry in full"),
                 .details = NAMES_AN_ENTRY,
                 .options = json_options,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_memory_read,
     .run = verb_memory_show},
    {.command = {.name = "edit",
                 .synopsis = "memory edit [--content TEXT] ID",
                 .help = N_("change the text of an entry"),
                 .details = NAMES_AN_ENTRY,
                 .options = edit_options,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_memory_edit,
     .run = verb_memory_edit},
    {.command = {.name = "pin",
                 .synopsis = "memory pin ID",
                 .help = N_("rank an entry above equal matches, and keep later copies from "
                            "replacing it"),
                 .details = NAMES_AN_ENTRY,
                 .options = no_options,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_memory_pin,
     .run = verb_memory_pin},
    {.command = {.name = "unpin",
                 .synopsis = "memory unpin ID",
                 .help = N_("unpin an entry"),
                 .details = NAMES_AN_ENTRY,
                 .options = no_options,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_memory_pin,
     .run = verb_memory_unpin},
    {.command = {.name = "delete",
                 .synopsis = "memory delete [--yes] ID...",
                 .help = N_("delete entries for good"),
                 .details = N_("Asks once; without a terminal, --yes is required. If one id is "
                               "unknown, nothing is deleted."),
                 .options = delete_options,
                 .run = run_verb},
     .least = 1,
     .most = CLI_MANY,
     .operation = &operation_memory_forget,
     .run = verb_memory_delete},
    {.command = {.name = "export",
                 .synopsis = "memory export [--force] [FILE]",
                 .help = N_("export every entry to standard output or a file, one JSON object per "
                            "line"),
                 .options = export_options,
                 .completions = files,
                 .run = run_verb},
     .most = 1,
     .operation = &operation_memory_export,
     .run = verb_memory_export},
    {.command = {.name = "import",
                 .synopsis = "memory import FILE|-",
                 .help = N_("import entries, one JSON object per line"),
                 .details =
                     N_("A line is {\"id\", \"session_id\", \"turn\", \"seq\", \"role\", "
                        "\"speaker\", \"created_at\",\n"
                        "\"content\", \"pinned\"}; session_id, role, created_at and content are "
                        "required.\n"
                        "Entries of a session must be in its order. Entries that exist already are "
                        "skipped; - is\n"
                        "standard input."),
                 .options = no_options,
                 .completions = files,
                 .run = run_verb},
     .least = 1,
     .most = 1,
     .operation = &operation_memory_import,
     .run = verb_memory_import},
    {.command = {.name = "stats",
                 .synopsis = "memory stats [--json]",
                 .help = N_("show the size of the memory"),
                 .options = json_options,
                 .run = run_verb},
     .operation = &operation_memory_stats,
     .run = verb_memory_stats},
    {.command = {.name = "reindex",
                 .synopsis = "memory reindex",
                 .help = N_("rebuild the word index in the configured language, and compute "
                            "missing vectors"),
                 .options = no_options,
                 .run = run_verb},
     .operation = &operation_memory_reindex,
     .run = verb_memory_reindex},
};

static const struct cli_command *verb_at(size_t index)
{
    return index < sizeof verbs / sizeof *verbs ? &verbs[index].command : NULL;
}

static bool take_text(struct memory_options *o, int id, const char *value)
{
    const char **const places[] = {
        [MEMORY_SCOPE] = &o->scope,
        [MEMORY_SESSION] = &o->session,
        [MEMORY_CONTENT] = &o->content,
    };
    *places[id] = value;
    return true;
}

static bool take_flag(struct memory_options *o, int id)
{
    bool *const places[] = {
        [MEMORY_JSON] = &o->json, [MEMORY_YES] = &o->yes, [MEMORY_FORCE] = &o->force};
    *places[id] = true;
    return true;
}

static bool take(void *context, int id, const char *value, struct error *e)
{
    struct memory_options *o = context;
    switch (id) {
    case OPTION_WORD:
        vec_push(&o->words, value);
        return true;
    case MEMORY_LIMIT:
        return cli_count("limit", value, &o->limit, e);
    default:
        return value ? take_text(o, id, value) : take_flag(o, id);
    }
}

static bool check_limit(const struct memory_verb *verb, const struct memory_options *o,
                        struct error *e)
{
    return verb->run != verb_memory_search || o->limit <= MOST_HITS ||
           err_set(e, ERR_USAGE, _("--limit is at most %d here; give a smaller number"), MOST_HITS);
}

static int call_verb(const struct memory_verb *verb, const struct memory_options *o)
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
    const struct memory_verb *verb = (const struct memory_verb *)self;
    struct memory_options o = {0};
    struct error e = {0};
    int status;
    if (cli_parse(self, argc, argv, take, &o, &status))
        status = cli_check_words(self, verb->least, verb->most, o.words.items, o.words.len, &e) &&
                         check_limit(verb, &o, &e)
                     ? call_verb(verb, &o)
                     : cli_fail(&e);
    vec_release(&o.words);
    return status;
}

const struct cli_command cmd_memory = {
    .name = "memory",
    .synopsis = "memory [COMMAND] [OPTION]... [ID]",
    .help = N_("search, list and change the entries that compactions stored in memory"),
    .details = N_("The default command is list. For details: tiro memory COMMAND --help."),
    .options = no_options,
    .verb = verb_at,
    .run = cli_run_verb,
};
