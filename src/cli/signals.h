/* SIGINT, SIGTERM and SIGHUP through a descriptor for poll(). The second signal of a kind ends the
 * process at once. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* Catches the signals from now on. The descriptor, the same at each call, is readable when
 * signals_take() has one. */
int signals_open(void);

/* The oldest signal that was not taken yet, or 0. Does not wait. */
int signals_take(void);

#endif
