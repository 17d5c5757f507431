/* The command line as tables: one row a command, one row an option. They make the parser, the help
 * texts and the suggestions. */
#ifndef CLI_COMMAND_LINE_H
#define CLI_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum option_kind {
    OPTION_FLAG,
    OPTION_VALUE, /* --name VALUE or --name=VALUE */
    OPTION_MAYBE  /* the value may lack: the next word is it unless that begins with a dash */
};

struct option {
    int id;           /* from 1; the command's own */
    const char *name; /* without dashes; NULL ends the table */
    char letter;      /* 0: none */
    enum option_kind kind;
    const char *value; /* its name in help texts */
    const char *help;  /* untranslated, N_() */
};

/* What a command's take() gets for a word that is no option. */
enum { OPTION_WORD = 0 };

/* What a shell may offer for a word or an option's value. */
enum cli_offer {
    OFFER_NOTHING,
    OFFER_FILES,
    OFFER_DIRECTORIES,
    OFFER_SESSIONS,
    OFFER_COMMANDS, /* a command's name, then that of its command */
    OFFER_CHOICES
};

struct cli_completion {
    int id;                 /* an option's, or OPTION_WORD */
    enum cli_offer offer;   /* OFFER_NOTHING ends the table */
    char *(*choices)(void); /* OFFER_CHOICES: words parted by blanks; the caller frees */
    bool first;             /* of the words only the first */
};

struct cli_command {
    const char *name;
    const char *synopsis; /* after "tiro " */
    const char *help;     /* one line, untranslated */
    const char *details;  /* paragraphs, untranslated; NULL: none */
    const struct option *options;
    const struct cli_completion *completions; /* NULL: none */
    /* Once there was a word, "-x" is one too: for words that say what to take away. */
    bool dashes;
    /* The command's own commands, the first of which is meant when none is named; NULL past the
     * last. NULL: it has none. */
    const struct cli_command *(*verb)(size_t index);
    /* argv[0] is the command's name. Returns the exit status. */
    int (*run)(const struct cli_command *self, int argc, char **argv);
};

extern const struct cli_command cmd_chat, cmd_run, cmd_sessions, cmd_memory, cmd_config, cmd_doctor,
    cmd_completion, cmd_help;
extern const struct cli_command *const cli_commands[]; /* ends with NULL */

/* NULL, with the nearest name in `e` (USAGE), when there is none. */
const struct cli_command *cli_find(const char *name, struct error *e);
const struct cli_command *cli_find_verb(const struct cli_command *command, const char *name,
                                        struct error *e);

/* The run() of a command that has verbs. */
int cli_run_verb(const struct cli_command *self, int argc, char **argv);

/* Calls `take` for each option and word, in order; `value` is NULL where there is none. "--" ends
 * the options, "-" is a word. False when the command is over: help was printed or an error
 * reported; then *status is the exit status. */
bool cli_parse(const struct cli_command *command, int argc, char **argv,
               bool (*take)(void *context, int id, const char *value, struct error *e),
               void *context, int *status);

/* Whether there are as many words as the command takes; else USAGE. */
enum { CLI_MANY = 1 << 20 };
bool cli_check_words(const struct cli_command *command, size_t least, size_t most,
                     const char *const *words, size_t count, struct error *e);

/* "unknown WHAT "WORD"; did you mean …?" as USAGE; returns false. */
bool cli_unknown(const char *what, const char *word, const char *const *known, size_t count,
                 struct error *e);

/* A whole number from 1 to a million. */
bool cli_count(const char *option, const char *value, int *out, struct error *e);

/* A whole number from 1 to `max`. */
bool cli_number(const char *option, const char *value, int64_t max, int64_t *out, struct error *e);

/* Prints "tiro: CODE: text" to standard error and returns the exit status. */
int cli_fail(const struct error *e);

#endif
