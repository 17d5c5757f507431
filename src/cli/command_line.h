/* The command line as tables: a row for each command and each option. The parser, the help texts,
 * the suggestions and the completion of shells use them. */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The completion of a word or of an option's value in a shell. */
struct cli_offer {
    enum {
        OFFER_NOTHING,
        OFFER_FILES,
        OFFER_DIRECTORIES,
        OFFER_SESSIONS,
        OFFER_PROFILES,
        OFFER_COMMANDS, /* the name of a command, then of one of its verbs */
        OFFER_CHOICES
    } what;
    const char *fixed;      /* OFFER_CHOICES: words separated by blanks, or NULL with `choices` */
    char *(*choices)(void); /* makes the words; the caller frees */
    bool first;             /* only for the first word */
};

enum option_kind {
    OPTION_FLAG,
    OPTION_VALUE, /* --name VALUE or --name=VALUE */
    OPTION_MAYBE  /* the value is optional: the next word, unless it begins with a dash */
};

/* Stores a value (NULL: none was given) at `at`; USAGE when it is wrong. */
struct option;
struct shape_field;
typedef bool option_take(const struct option *self, void *at, const char *value, struct error *e);

struct option {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    enum option_kind kind;
    const char *value;               /* its name in help texts */
    const char *help;                /* untranslated, N_() */
    size_t at;                       /* the offset of its member in the command's struct */
    option_take *take;               /* NULL: the member is a bool (FLAG) or a const char * */
    struct cli_offer offer;          /* for the value */
    const struct shape_field *field; /* of a verb: the member that it gives; else NULL */
};

struct cli_command {
    const char *name;
    const char *synopsis;         /* after "tiro " */
    const char *help;             /* one line, untranslated */
    const char *details;          /* paragraphs, untranslated; NULL: none */
    const struct option *options; /* NULL: none but --help */
    size_t least, most;           /* number of words */
    struct cli_offer words;
    /* After the first word, "-x" is a word, too: for words that remove something. */
    bool dashes;
    /* Stores a word in the command's struct. */
    bool (*word)(void *options, const char *word, struct error *e);
    /* Gives the verbs, ending with NULL; the first is the default. NULL: no verbs. */
    const struct cli_command *const *(*verbs)(void);
    /* argv[0] is the command's name. Returns the exit status. */
    int (*run)(const struct cli_command *self, int argc, char **argv);
};

extern const struct cli_command cmd_chat, cmd_run, cmd_sessions, cmd_memory, cmd_learned, cmd_graph,
    cmd_permissions, cmd_mcp, cmd_plugin, cmd_skills, cmd_corpus, cmd_import, cmd_space, cmd_serve,
    cmd_hook, cmd_config, cmd_doctor, cmd_completion, cmd_help;
extern const struct cli_command *const cli_commands[]; /* ends with NULL */

/* Belong to every table of options without being in it: --profile and --help. */
enum { CLI_COMMON = 2 };
extern const struct option cli_common[CLI_COMMON + 1];

/* Takes the options --profile before the command out of the arguments. */
bool cli_take_profile(int *argc, char **argv, struct error *e);

/* NULL, with the nearest name in `e` (USAGE), when there is none. */
const struct cli_command *cli_find(const char *name, struct error *e);
const struct cli_command *cli_find_verb(const struct cli_command *command, const char *name,
                                        struct error *e);

/* The run() of a command that has verbs. */
int cli_run_verb(const struct cli_command *self, int argc, char **argv);

enum { CLI_MANY = 1 << 20 }; /* for `most`: any number of words */

/* Stores options and words in the command's struct, in order. "--" ends the options, "-" is a word.
 * False when help was printed or an error reported; then *status is the exit status. */
bool cli_parse(const struct cli_command *command, int argc, char **argv, void *options,
               int *status);

/* "unknown WHAT "WORD"; did you mean …?" as USAGE; returns false. */
bool cli_unknown(const char *what, const char *word, const char *const *known, size_t count,
                 struct error *e);

option_take cli_take_count; /* an int from 1 to a million */

/* A whole number from 1 to `max`. */
bool cli_number(const char *option, const char *value, int64_t max, int64_t *out, struct error *e);

/* Prints "tiro: CODE: text" to standard error and returns the exit status. */
int cli_fail(const struct error *e);

/* Print the help on all commands, on one. */
void help_overview(void);
void help_command(const struct cli_command *command);

#endif
