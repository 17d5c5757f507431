/* SIGINT, SIGTERM and SIGHUP as something that poll() sees. The second signal of a kind kills: who
 * insists shall not wait. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

/* From now on the signals arrive at the descriptor that is returned (readable: signals_take()). */
int signals_open(void);

/* The first signal that arrived and was not taken yet, or 0. Never waits. */
int signals_take(void);

#endif
