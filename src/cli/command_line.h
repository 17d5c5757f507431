/* The command line as tables: one row a command, one row an option. They make the parser, the help
 * texts, the suggestions and what shells complete. */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What a shell may offer for a word or an option's value. */
struct cli_offer {
    enum {
        OFFER_NOTHING,
        OFFER_FILES,
        OFFER_DIRECTORIES,
        OFFER_SESSIONS,
        OFFER_COMMANDS, /* a command's name, then that of its command */
        OFFER_CHOICES
    } what;
    char *(*choices)(void); /* OFFER_CHOICES: words parted by blanks; the caller frees */
    bool first;             /* of the words only the first */
};

enum option_kind {
    OPTION_FLAG,
    OPTION_VALUE, /* --name VALUE or --name=VALUE */
    OPTION_MAYBE  /* the value may lack: the next word is it unless that begins with a dash */
};

/* Puts a value (NULL: none was given) where the option wants it, or says USAGE. */
struct option;
typedef bool option_take(const struct option *self, void *at, const char *value, struct error *e);

struct option {
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    enum option_kind kind;
    const char *value;      /* its name in help texts */
    const char *help;       /* untranslated, N_() */
    size_t at;              /* in the command's struct: of a bool (FLAG), or of what `take` wants */
    option_take *take;      /* NULL: it is a const char * */
    struct cli_offer offer; /* for the value */
};

struct cli_command {
    const char *name;
    const char *synopsis;         /* after "tiro " */
    const char *help;             /* one line, untranslated */
    const char *details;          /* paragraphs, untranslated; NULL: none */
    const struct option *options; /* NULL: none but --help */
    size_t least, most;           /* words that it takes */
    struct cli_offer words;
    /* Once there was a word, "-x" is one too: for words that say what to take away. */
    bool dashes;
    /* Takes a word into the command's struct. */
    bool (*word)(void *options, const char *word, struct error *e);
    /* The command's own commands; ends with NULL. The first one runs when none is named. NULL: it
     * has none. */
    const struct cli_command *const *verbs;
    /* argv[0] is the command's name. Returns the exit status. */
    int (*run)(const struct cli_command *self, int argc, char **argv);
};

extern const struct cli_command cmd_chat, cmd_run, cmd_sessions, cmd_memory, cmd_learned, cmd_graph,
    cmd_corpus, cmd_serve, cmd_config, cmd_doctor, cmd_completion, cmd_help;
extern const struct cli_command *const cli_commands[]; /* ends with NULL */

/* In every table of options though none has it. */
extern const struct option cli_help_option;

/* NULL, with the nearest name in `e` (USAGE), when there is none. */
const struct cli_command *cli_find(const char *name, struct error *e);
const struct cli_command *cli_find_verb(const struct cli_command *command, const char *name,
                                        struct error *e);

/* The run() of a command that has verbs. */
int cli_run_verb(const struct cli_command *self, int argc, char **argv);

/* Fills the command's struct with options and words, in order. "--" ends the options, "-" is a
 * word. False when the command is over: help was printed or an error reported; then *status is the
 * exit status. */
enum { CLI_MANY = 1 << 20 }; /* words */
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

/* Help on all commands, on one. */
void help_overview(void);
void help_command(const struct cli_command *command);

#endif
