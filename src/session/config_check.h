/* What is wrong with a configuration that only the engine sees: values which it does not take as
 * they are. */
#ifndef SESSION_CONFIG_CHECK_H
#define SESSION_CONFIG_CHECK_H

#include "config/config.h"

/* Adds to the problems. `file` is the user's, for values that come from there. */
void config_check(const struct config *config, const char *file, struct config_problems *problems);

/* Whether [tools] allow, ask and deny, and these words (of --allow; NULL: none), are tools and
 * classes of tools: CONFIG_ERROR names one that is not. */
bool config_check_tools(const struct config *config, const char *allow, struct error *e);

#endif
