/* `tiro config set`. */
#ifndef CLI_CONFIG_CHANGE_H
#define CLI_CONFIG_CHANGE_H

#include "cli/command_line.h"

extern const struct cli_command config_change;

#endif
