#include "base/wakeup.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>

#include "base/clock.h"

static int remaining(int64_t deadline)
{
    int64_t left = deadline - clock_mono_ms();
    if (left > INT_MAX)
        return INT_MAX;
    return left > 0 ? (int)left : 0;
}

int wakeup_timeout(const struct wakeup *w, int timeout_ms)
{
    if (!w || w->deadline_ms == 0)
        return timeout_ms;
    int left = remaining(w->deadline_ms);
    return timeout_ms < 0 || left < timeout_ms ? left : timeout_ms;
}

bool wakeup_late(const struct wakeup *w)
{
    return w && w->deadline_ms != 0 && clock_mono_ms() >= w->deadline_ms;
}

bool wakeup_sleep(const struct wakeup *w, int timeout_ms)
{
    struct pollfd waker = {.fd = w ? w->fd : -1, .events = POLLIN};
    int64_t end = clock_mono_ms() + timeout_ms;
    int left = timeout_ms;
    for (;;) {
        int ready = poll(&waker, 1, wakeup_timeout(w, left));
        bool woken = ready > 0 && (waker.revents & POLLIN);
        if ((woken || wakeup_late(w)) && !w->go_on(w->context))
            return false;
        if (ready < 0 && errno != EINTR)
            return true;
        if (ready > 0 && !woken)
            waker.fd = -1; /* hung up: it would be ready for ever */
        if (timeout_ms >= 0)
            left = remaining(end);
        if (timeout_ms >= 0 && left == 0)
            return true;
    }
}
