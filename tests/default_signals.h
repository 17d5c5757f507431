#ifndef TESTS_DEFAULT_SIGNALS_H
#define TESTS_DEFAULT_SIGNALS_H

/* Call it between fork and exec: a shell that starts the tests in the background ignores these
 * signals. */
void default_signals(void);

#endif
