/* Help texts, made of the command and option tables. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command_line.h"

void help_overview(void);
void help_command(const struct cli_command *command);

#endif
