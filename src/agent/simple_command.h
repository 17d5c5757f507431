/* A command line of the model as what a person can allow beyond the moment: a program with its
 * sub-command and any further arguments ("git status"), or that very line. Pure. */
#ifndef AGENT_SIMPLE_COMMAND_H
#define AGENT_SIMPLE_COMMAND_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the set of command lines that may be allowed together with this one, in back quotes:
 *   `git status …`   a program of the table in the .c file, its sub-command where it has any, and
 *                    whatever follows that neither starts a program nor writes a file;
 *   `touch made`     this line alone.
 * Two lines with the same text are in the same set. False, with nothing appended: the text is not
 * surely one simple command of the shell (lists, pipes, redirections, expansions, assignments,
 * reserved words, several lines), or too long to be read at a glance. */
bool simple_command_grant(const char *text, struct buf *out);

/* Whether the line begins with a program that the table has. */
bool simple_command_is_known(const char *text);

/* The sub-commands of this program, of which one belongs to the name of a set. NULL: the text is no
 * such program. Static. */
const char *simple_command_subcommands(const char *program);

#endif
