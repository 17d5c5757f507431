#include "serve/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

enum { READ_BYTES = 65536 };

struct wire {
    struct server *server;
    struct rpc_peer *peer;
    int in, out;
    size_t write_max;                   /* what surely does not block */
    struct watch *in_watch, *out_watch; /* NULL: at its end */
    struct timer *closing;              /* NULL: it does not close now */
    bool closed;
    const struct wire_events *events;
    void *context;
    void (*over)(void *context);
    void *over_context;
};

static void tell_closed(void *context)
{
    struct wire *w = context;
    w->closing = NULL;
    w->closed = true;
    w->over(w->over_context);
}

/* Not at once: whoever came here goes on with it. */
static void close_soon(struct wire *w)
{
    if (!w->closing && !w->closed)
        w->closing = server_after(w->server, 0, tell_closed, w);
}

void wire_update(struct wire *w)
{
    size_t waits;
    (void)rpc_peer_output(w->peer, &waits);
    bool reads = waits <= RPC_OUTPUT_MAX && !server_stopping(w->server);
    if (w->in_watch)
        watch_events(w->in_watch, reads ? POLLIN : 0);
    if (w->out_watch)
        watch_events(w->out_watch, waits > 0 ? POLLOUT : 0);
    if (!w->in_watch && rpc_peer_calls(w->peer) == 0 && waits == 0)
        close_soon(w);
}

static void on_readable(void *context, short revents)
{
    struct wire *w = context;
    char bytes[READ_BYTES];
    struct error e;
    (void)revents;
    ssize_t n = read(w->in, bytes, sizeof bytes);
    bool fits = n <= 0 || rpc_peer_feed(w->peer, bytes, (size_t)n, &e);
    if (!fits)
        log_line(LOG_ERROR, "a client is hung up on: %s", e.text);
    if (!fits || n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        server_unwatch(w->server, w->in_watch);
        w->in_watch = NULL;
        w->events->ended(w->context);
    }
    wire_update(w);
}

static void on_writable(void *context, short revents)
{
    struct wire *w = context;
    size_t len;
    const char *bytes = rpc_peer_output(w->peer, &len);
    ssize_t n = len > 0 ? write(w->out, bytes, len < w->write_max ? len : w->write_max) : 0;
    bool broken = n < 0 && errno != EAGAIN && errno != EINTR;
    if (n > 0)
        rpc_peer_wrote(w->peer, (size_t)n);
    if (broken || revents & (POLLERR | POLLNVAL) || (revents & POLLHUP && len == 0)) {
        server_unwatch(w->server, w->out_watch);
        w->out_watch = NULL;
        close_soon(w);
    } else if (n > 0 && w->events->wrote) {
        w->events->wrote(w->context);
    }
    wire_update(w);
}

/* A pipe that poll() calls writable takes PIPE_BUF bytes at once: the descriptor, which others may
 * share, need not be set to O_NONBLOCK. */
struct wire *wire_new(struct server *s, struct rpc_peer *peer, int in, int out,
                      const struct wire_events *events, void *context,
                      void (*closed)(void *context), void *closed_context)
{
    struct wire *w = mem_alloc(sizeof *w);
    int flags = fcntl(out, F_GETFL);
    *w = (struct wire){.server = s,
                       .peer = peer,
                       .in = in,
                       .out = out,
                       .write_max = flags >= 0 && flags & O_NONBLOCK ? SSIZE_MAX : PIPE_BUF,
                       .events = events,
                       .context = context,
                       .over = closed,
                       .over_context = closed_context};
    w->in_watch = server_watch(s, in, POLLIN, on_readable, w);
    w->out_watch = server_watch(s, out, 0, on_writable, w);
    return w;
}

void wire_free(struct wire *w)
{
    if (!w)
        return;
    server_unwatch(w->server, w->in_watch);
    server_unwatch(w->server, w->out_watch);
    server_cancel_timer(w->server, w->closing);
    free(w);
}
