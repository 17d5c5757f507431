#include "base/wakeup.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

static int remaining(int64_t deadline)
{
    int64_t left = deadline - clock_mono_ms();
    return left > 0 ? (int)left : 0;
}

bool wakeup_sleep(const struct wakeup *w, int timeout_ms)
{
    struct pollfd waker = {.fd = w ? w->fd : -1, .events = POLLIN};
    int64_t deadline = clock_mono_ms() + timeout_ms;
    int left = timeout_ms;
    for (;;) {
        int ready = poll(&waker, 1, left);
        if (ready == 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return true;
        if (ready > 0 && (waker.revents & POLLIN) && !w->go_on(w->context))
            return false;
        if (ready > 0 && !(waker.revents & POLLIN))
            waker.fd = -1; /* hung up: it would be ready for ever */
        if (timeout_ms >= 0)
            left = remaining(deadline);
    }
}
