/* How a long effect on the agent thread stays answerable: whoever sleeps there also polls `fd`
 * and, when it is readable, calls go_on(), which drains it. False means: stop at once. */
#ifndef BASE_WAKEUP_H
#define BASE_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

struct wakeup {
    int fd; /* -1: nothing can wake */
    bool (*go_on)(void *context);
    void *context;
    /* clock_mono_ms() at which whoever sleeps calls go_on() without being woken; 0: never. Whoever
     * set it sees to it that go_on() says no from then on. */
    int64_t deadline_ms;
};

/* A timeout for poll() (-1: none), shortened so that the deadline is not slept over. `w` may be
 * NULL. */
int wakeup_timeout(const struct wakeup *w, int timeout_ms);

/* Whether the deadline has passed, and go_on() is to be asked. `w` may be NULL. */
bool wakeup_late(const struct wakeup *w);

/* Sleeps up to timeout_ms (-1: for ever; 0: only looks). False when go_on() said stop. */
bool wakeup_sleep(const struct wakeup *w, int timeout_ms);

#endif
