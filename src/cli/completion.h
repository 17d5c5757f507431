/* Scripts with which shells complete a command line of tiro: the tables of commands in the shell's
 * language, and what data/completion/ makes of them. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "base/buf.h"
#include "cli/command_line.h"

/* Where a word may stand: behind "tiro", a command, or a command and its command. */
struct completion_place {
    char *path;                                      /* "", "sessions", "sessions list" */
    const struct cli_command *(*verb)(size_t index); /* NULL: no commands may follow */
    const struct cli_command *command;               /* whose options and words may follow */
};

/* All of them, "" first. */
void completion_places(void (*visit)(struct buf *out, const struct completion_place *place),
                       struct buf *out);

/* Every option of the place, --help and --version among them. NULL past the last. */
const struct option *completion_option(const struct completion_place *place, size_t index);

/* What to offer for the option's value, or for OPTION_WORD. NULL: nothing. */
const struct cli_completion *completion_for(const struct completion_place *place, int id);

/* The rest of the script: a file of data/completion/. */
void completion_add_file(struct buf *out, const char *name);

void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

#endif
