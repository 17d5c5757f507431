/* How a long effect on the agent thread stays answerable: whoever sleeps there also polls `fd`
 * and, when it is readable, calls go_on(), which drains it. False means: stop at once. */
#ifndef BASE_WAKEUP_H
#define BASE_WAKEUP_H

#include <stdbool.h>

struct wakeup {
    int fd; /* -1: nothing can wake */
    bool (*go_on)(void *context);
    void *context;
};

/* Sleeps up to timeout_ms (-1: for ever). False when go_on() said stop. */
bool wakeup_sleep(const struct wakeup *w, int timeout_ms);

#endif
