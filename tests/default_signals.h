#ifndef TESTS_DEFAULT_SIGNALS_H
#define TESTS_DEFAULT_SIGNALS_H

/* Between fork and exec: a shell that starts the tests in the background has them ignored. */
void default_signals(void);

#endif
