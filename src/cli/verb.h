/* The commands of `tiro sessions`, `memory`, `learned`, `graph` and `corpus`: each calls an
 * operation (session/operation.h) on the command's own thread. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "base/vec.h"
#include "cli/command_line.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"

/* Texts are borrowed from the command line. */
struct verb_options {
    const struct verb *verb;
    VEC(const char *) words;
    const char *label, *directory, *format, *output, *title, *in; /* of sessions */
    const char *origin, *scope, *session, *content;               /* of memory */
    const char *kind;                  /* of the graph, of learned memory */
    const char *relation, *to;         /* of the graph */
    const char *state, *project, *tag; /* of learned memory */
    bool unused;                       /* of learned memory */
    const char *filter;                /* of corpora */
    double weight;                     /* of corpora; negative: not given */
    bool failed;                       /* of corpora */
    bool json, yes, force, names, archived, live;
    int limit;  /* 0: not given */
    int64_t at; /* 0: the end */
    bool before_compaction;
};

struct verb {
    struct cli_command command;
    const struct operation *operation; /* the operation whose needs are opened for `run` */
    /* False with an error, which verb_run() prints. */
    bool (*run)(struct operation_context *c, const struct verb_options *o, struct error *e);
};

/* A struct verb, with the members of its struct cli_command. */
#define VERB(calls, function, ...)                                                                 \
    {                                                                                              \
        .command = {.word = verb_take_word, .run = verb_run, __VA_ARGS__}, .operation = &calls,    \
        .run = function                                                                            \
    }
int verb_run(const struct cli_command *self, int argc, char **argv);
bool verb_take_word(void *options, const char *word, struct error *e);

/* The number of words, and their completion in a shell. */
#define VERB_WORDS(from, to, ...) .least = from, .most = to, .words = {.what = __VA_ARGS__}

/* Joins the words from `first` on with blanks; the caller frees. */
char *verb_join(const struct verb_options *o, size_t first);

/* Rows that several tables of options have. */
/* clang-format off */
#define VERB_AT(member) .at = offsetof(struct verb_options, member)
#define VERB_JSON {"json", 0, OPTION_FLAG, NULL, N_("print JSON"), VERB_AT(json)}
#define VERB_YES {"yes", 'y', OPTION_FLAG, NULL, N_("do not ask for confirmation"), VERB_AT(yes)}
#define VERB_FORCE {"force", 0, OPTION_FLAG, NULL, N_("overwrite an existing file"), VERB_AT(force)}
#define VERB_LIMIT(letter, help) \
    {"limit", letter, OPTION_VALUE, "N", help, VERB_AT(limit), .take = cli_take_count}
/* clang-format on */

/* --json alone, --yes alone. */
extern const struct option verb_json_options[], verb_yes_options[];

/* `tiro sessions compact` runs a conversation as `tiro run` does: it is in cmd_run.c. */
extern const struct verb verb_sessions_compact;

/* For the details of a command. */
#define NAMES_A_SESSION                                                                            \
    N_("SESSION is the start or the end of an id, a title or a part of it, last, or ~2 (the "      \
       "last\n"                                                                                    \
       "but one).")

/* Prints a result as JSON: all of it (`member` NULL), or one member's value. */
void verb_print_json(const struct operation *o, const char *member, const void *result);

/* Calls an operation, shows its progress on a terminal, and stops it after a signal. */
bool verb_call_watched(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e);

/* Calls an operation and prints its result: as JSON with --json (`member` as above), else by
 * `print`, which gets the operation's result. */
bool verb_show(struct operation_context *c, const struct verb_options *o,
               const struct operation *operation, const void *params, const char *member,
               void (*print)(const void *result), struct error *e);

/* Calls an operation that writes to standard output; the text is cleaned for a terminal. */
bool verb_write_output(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e);

/* Calls an operation without parameters that writes a file. The file appears whole or not at all;
 * an existing one is overwritten only with `replace`. */
bool verb_write_file(struct operation_context *c, const struct operation *o, const char *path,
                     bool replace, void *result, struct error *e);

/* Appends a line of a question before deleting: the id and the beginning of the text. */
void verb_add_deleted(struct buf *question, const char *id, const char *text);

/* Whether to delete: `yes` was given, or the user confirms the question. */
bool verb_may_delete(bool yes, const struct buf *question, struct error *e);

#endif
