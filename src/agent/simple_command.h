/* The set of command lines that a person allows together with a command line of the model: a
 * program and its sub-command with any further arguments ("git status"), or this line alone. Pure.
 */
#ifndef AGENT_SIMPLE_COMMAND_H
#define AGENT_SIMPLE_COMMAND_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends the name of the set of command lines that may be allowed with this line, in back quotes:
 *   `git status …`   a program of the table in the .c file and its sub-command, if it has any, with
 *                    all further arguments that neither start a program nor write a file;
 *   `touch made`     this line alone.
 * Two lines for which the same name is appended are in the same set. Returns false, with nothing
 * appended, unless the text is certainly one simple command of the shell (without lists, pipes,
 * redirections, expansions, assignments, reserved words or a second line), and if a line that would
 * be a set alone has more than 200 bytes. */
bool simple_command_grant(const char *text, struct buf *out);

/* Whether the first word of the line is a program of the table. */
bool simple_command_is_known(const char *text);

/* The sub-commands of the program, separated by blanks; "*": any word. One of them is part of the
 * name of a set. NULL: the text is no program of the table, or one without sub-commands. Static. */
const char *simple_command_subcommands(const char *program);

#endif
