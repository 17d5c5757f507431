/* Interrupts a long effect on the agent thread: code that sleeps there also polls `fd` and, when it
 * is readable, calls go_on(), which drains it. False means: stop at once. */
#ifndef BASE_WAKEUP_H
#define BASE_WAKEUP_H

#include <stdbool.h>
#include <stdint.h>

struct wakeup {
    int fd; /* -1: nothing can wake */
    bool (*go_on)(void *context);
    void *context;
    /* clock_mono_ms() at which the sleeper calls go_on() without being woken; 0: never. Its owner
     * makes go_on() return false from then on. */
    int64_t deadline_ms;
};

/* The timeout for poll() (-1: none), shortened to the deadline. `w` may be NULL. */
int wakeup_timeout(const struct wakeup *w, int timeout_ms);

/* Whether the deadline has passed, so that go_on() must be called. `w` may be NULL. */
bool wakeup_late(const struct wakeup *w);

/* Sleeps up to timeout_ms (-1: for ever; 0: only polls). False when go_on() returned false. */
bool wakeup_sleep(const struct wakeup *w, int timeout_ms);

#endif
