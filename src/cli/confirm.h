/* One question with yes or no, asked on standard error and answered on standard input. */
#ifndef CLI_CONFIRM_H
#define CLI_CONFIRM_H

#include <stdbool.h>

/* Whether both are a terminal. */
bool confirm_possible(void);

/* `question` is translated and ends with the answers, as in "… [y/N] ". Anything but a yes in the
 * user's language is a no. */
bool confirm(const char *question);

#endif
