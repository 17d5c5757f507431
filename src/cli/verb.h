/* The commands of `tiro sessions`, `memory`, `learned`, `graph` and `corpus`: each calls an
 * operation on the command's own thread. The operation's row (session/operation.h) has the words,
 * the options and the help; tables of struct verb_more have what only a command line needs. */
#ifndef CLI_VERB_H
#define CLI_VERB_H

#include "base/vec.h"
#include "cli/command_line.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"

/* A call of a verb with its arguments. Texts are borrowed from the command line. */
struct verb_call {
    const struct verb *verb;
    struct operation_context *context;
    void *params; /* of the row; NULL: it takes nothing */
    VEC(const char *) words;
    char *joined; /* several words that are one member */
    bool json, yes;
    bool failed; /* the operation: only a command that `keeps` prints then */
    /* Options that are no member of parameters. */
    bool force, names, archived, live, watch;
    bool page;   /* a terminal shows the beginning of a list */
    bool chosen; /* a member that is an enumeration was given */
    int turns;
    const char *output, *session, *kind, *relation, *to;
};

struct verb_more {
    const struct operation *operation;  /* NULL ends the table */
    const char *words, *help, *details; /* other words of the operation; NULL: the row's */
    const struct operation *opens;      /* whose needs are opened; NULL: the operation's */
    const struct option *options;       /* more of them, or in place of a member's */
    size_t most;                        /* words; 0: as the row says */
    bool asks;                          /* --yes answers its question */
    bool watched;                       /* progress is shown, a signal stops it */
    bool keeps;                         /* what was done before an error stays: the result is
                                           printed then, too */
    const char *member;                 /* of the result that --json prints; NULL: all of it */
    /* In place of a call of the operation; false with an error, which is printed then. */
    bool (*run)(struct verb_call *v, struct error *e);
    /* Prints the result for people; the command has --json, too. */
    void (*print)(const struct verb_call *v, const void *result);
    /* Says more of the result, in every format. */
    void (*remark)(const struct verb_call *v, const void *result);
};

struct verb {
    struct cli_command command;
    const struct operation *operation;
    const struct verb_more *more; /* the empty row of the table: nothing */
};

/* The commands of a group, in the order of the operations' table; "list" is the first. Made once
 * into *made. */
const struct cli_command *const *verb_table(const struct cli_command *const **made,
                                            const char *group, const struct verb_more *more);

/* Defines cmd_GROUP; `more` is the file's table. */
#define VERB_GROUP(group, takes, text, about)                                                      \
    static const struct cli_command *const *verbs(void)                                            \
    {                                                                                              \
        static const struct cli_command *const *made;                                              \
        return verb_table(&made, #group, more);                                                    \
    }                                                                                              \
    const struct cli_command cmd_##group = {.name = #group,                                        \
                                            .synopsis = #group " [COMMAND] [OPTION]... " takes,    \
                                            .help = text,                                          \
                                            .details = about,                                      \
                                            .verbs = verbs,                                        \
                                            .run = cli_run_verb};

/* Rows of tables of options. */
/* clang-format off */
#define VERB_AT(member) .at = offsetof(struct verb_call, member)
#define VERB_JSON {"json", 0, OPTION_FLAG, NULL, N_("print JSON"), VERB_AT(json)}
/* clang-format on */

/* --json alone; --output and --force. */
extern const struct option verb_json_options[], verb_export_options[];

/* Takes the value of a member's option. */
option_take verb_take_member;

/* `tiro sessions compact` runs a conversation as `tiro run` does: it is in cmd_run.c. */
bool verb_compact(struct verb_call *v, struct error *e);

/* Prints a result as JSON: all of it (`member` NULL), or one member's value. */
void verb_print_json(const struct operation *o, const char *member, const void *result);

/* For `print`: the members that have a label, and these labels. */
void verb_print_figures(const struct verb_call *v, const void *result);

/* Calls the operation, with the files that its row says, shows its progress on a terminal, and
 * prints its result. */
bool verb_call(struct verb_call *v, struct error *e);

/* Calls an operation, shows its progress on a terminal, and stops it after a signal. */
bool verb_call_watched(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e);

/* Keeps the last error in `e`; prints the one before. */
void verb_add_fault(struct error *e, const struct error *fault);

/* Reads what the words name, each once: the ids, which the caller frees, and for a question before
 * deleting a line with the id and the beginning of the member `text`. */
struct verb_named {
    VEC(char *) ids;
};
bool verb_read_named(const struct verb_call *v, const struct operation *read, const char *text,
                     struct verb_named *named, struct buf *question, struct error *e);

/* Whether to delete: --yes was given, or the user confirms the question. */
bool verb_may_delete(const struct verb_call *v, const struct buf *question, struct error *e);

#endif
