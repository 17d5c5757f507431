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
    const struct verb *verb; /* that was called */
    VEC(const char *) words;
    const char *label, *directory, *format, *output, *title, *in; /* of sessions */
    const char *origin;                                           /* … */
    const char *scope, *session, *content;                        /* of memory */
    const char *kind;                  /* of the graph, of learned memory */
    const char *relation, *to;         /* of the graph */
    const char *state, *project, *tag; /* of learned memory */
    bool unused;                       /* … */
    const char *filter;                                           /* of corpora */
    double weight; /* likewise; negative: not given */
    bool failed;   /* likewise */
    bool json, yes, force, names, archived, live;
    int limit;  /* 0: not given */
    int64_t at; /* 0: the end */
    bool before_compaction;
};

struct verb {
    struct cli_command command;
    const struct operation *operation; /* that it calls, with others that need no more */
    /* False with an error that is yet to be told. */
    bool (*run)(struct operation_context *c, const struct verb_options *o, struct error *e);
};

/* The row of one, with its members of struct cli_command. */
#define VERB(calls, function, ...)                                                                 \
    {                                                                                              \
        .command = {.word = verb_take_word, .run = verb_run, __VA_ARGS__}, .operation = &calls,    \
        .run = function                                                                            \
    }
int verb_run(const struct cli_command *self, int argc, char **argv);
bool verb_take_word(void *options, const char *word, struct error *e);

/* How many words the command takes, and what a shell offers for them. */
#define VERB_WORDS(from, to, ...) .least = from, .most = to, .words = {.what = __VA_ARGS__}

/* The words from `first` on, joined by blanks; the caller frees. */
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

extern const struct verb verb_sessions_list, verb_sessions_show, verb_sessions_search,
    verb_sessions_rename, verb_sessions_label, verb_sessions_archive, verb_sessions_unarchive,
    verb_sessions_fork, verb_sessions_compact, verb_sessions_delete, verb_sessions_export, verb_sessions_import,
    verb_sessions_rebuild;
extern const struct verb verb_memory_list, verb_memory_search, verb_memory_show, verb_memory_edit,
    verb_memory_pin, verb_memory_unpin, verb_memory_delete, verb_memory_export, verb_memory_import,
    verb_memory_stats, verb_memory_reindex, verb_memory_index;
extern const struct verb verb_graph_list, verb_graph_search, verb_graph_show, verb_graph_add,
    verb_graph_relate, verb_graph_forget, verb_graph_export, verb_graph_import, verb_graph_stats,
    verb_graph_reindex;

extern const struct verb verb_learned_list, verb_learned_search, verb_learned_history,
    verb_learned_add, verb_learned_edit, verb_learned_accept, verb_learned_reject,
    verb_learned_forget;
extern const struct verb verb_corpus_add, verb_corpus_update, verb_corpus_list, verb_corpus_show,
    verb_corpus_search, verb_corpus_remove, verb_corpus_stats;

/* Prints a result as its shape has it: all of it, or one member's value. */
void verb_print_json(const struct operation *o, const char *member, const void *result);

/* Has the operation write to standard output, which is cleaned for a terminal. */
bool verb_write_output(struct operation_context *c, const struct operation *o, const void *params,
                       void *result, struct error *e);

/* Has an operation without parameters write a file, which appears whole or not at all. `replace`:
 * also one that is there. */
bool verb_write_file(struct operation_context *c, const struct operation *o, const char *path,
                     bool replace, void *result, struct error *e);

/* Whether what goes for good may go: `yes`, or the answer to the question is. */
bool verb_may_delete(bool yes, const struct buf *question, struct error *e);

/* --- of sessions --- */

#define NAMES_A_SESSION                                                                            \
    N_("SESSION is the start or the end of an id, a title or a part of it, last, or ~2 (the last\n" \
       "but one).")

/* An operation of struct session_params that gives a struct session_changed. */
bool sessions_change_one(struct operation_context *c, const struct operation *o,
                         const char *session, struct error *e);

/* Of several sessions one could not be changed: tells the fault that `e` has of another one, if it
 * has one, and puts this in its place. */
void sessions_add_fault(struct error *e, const struct error *fault);

/* Prints what an operation made, a session: its id alone, or all of it as JSON; and releases it. */
void sessions_print_made(const struct operation *o, struct session_info *made, bool json);

/* An id begins with the time and ends in chance: its end tells sessions apart. Points into it. */
const char *sessions_short_id(const char *id);

/* --- of memory --- */

#define NAMES_AN_ENTRY N_("ID is the id of an entry or the start of it; search and list show ids.")

#define NAMES_AN_ITEM N_("ID is the id of an item or the start of it; list and search show ids.")

/* Who said it, for a person: the name, else as the screen calls the role. */
const char *memory_who(const struct memory_entry *entry);

/* --origin, and what it means for an operation. */
bool memory_take_origin(const struct option *self, void *at, const char *value, struct error *e);
int memory_origin_of(const struct verb_options *o); /* 0: any */
char *memory_origins(void);                         /* to choose from; the caller frees */
const char *memory_origin_words(enum memory_origin origin);
#define VERB_ORIGIN                                                                                \
    {                                                                                              \
        "origin", 0, OPTION_VALUE, "ORIGIN",                                                       \
            N_("only entries that came so: import, dropped (by a compaction) or session (that "    \
               "was left)"),                                                                       \
            VERB_AT(origin), .take = memory_take_origin, .offer = {                                \
                OFFER_CHOICES,                                                                     \
                .choices = memory_origins                                                          \
            }                                                                                      \
    }

#endif
