/* The protocol over HTTP: each POST has one message (or, of 2025-03-26, an array of them), and is
 * answered by one, or by a stream of events where something is to be told before. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/mcp_admit.h"
#include "serve/mcp_private.h"

/* Clients that have begun and not ended; of more the one is dropped that was away longest, and has
 * to begin again. */
enum { SESSIONS_MOST = 1024 };

struct mcp_exchange {
    struct mcp_link link; /* first */
    const struct mcp_reply *reply;
    void *context;
    bool takes_json;
    bool reading;   /* its message is looked at */
    bool streaming; /* events are sent */
};

/* --- sessions --------------------------------------------------------------------------------- */

static size_t find_session(const struct mcp *m, const char *id)
{
    size_t i = 0;
    while (i < m->sessions.len && strcmp(m->sessions.items[i]->id, id) != 0)
        i++;
    return i;
}

static void remove_session(struct mcp *m, size_t at)
{
    free(m->sessions.items[at]);
    vec_remove(&m->sessions, at, 1);
}

static struct mcp_session *begin_session(struct mcp *m, const char *version)
{
    struct mcp_session *s = mem_alloc(sizeof *s);
    uuid_new(s->id);
    s->version = version;
    if (m->sessions.len >= SESSIONS_MOST)
        remove_session(m, 0);
    vec_push(&m->sessions, s);
    return s;
}

/* NULL: there is none (any more). */
static const struct mcp_session *use_session(struct mcp *m, const char *id)
{
    size_t at = find_session(m, id);
    if (at == m->sessions.len)
        return NULL;
    struct mcp_session *s = m->sessions.items[at];
    vec_remove(&m->sessions, at, 1);
    vec_push(&m->sessions, s);
    return s;
}

int mcp_delete(struct mcp *m, const char *session)
{
    size_t at = session ? find_session(m, session) : 0;
    if (!session)
        return 405;
    if (at == m->sessions.len)
        return 404;
    remove_session(m, at);
    return 204;
}

/* --- answers ---------------------------------------------------------------------------------- */

static void close_exchange(struct mcp_exchange *x, bool gone)
{
    mcp_link_close(&x->link, gone);
    free(x);
}

/* What is no message at all, or was refused, is no stream. */
static int status_of(const struct mcp_exchange *x, bool output)
{
    return x->link.status ? x->link.status : output ? 400 : 202;
}

static const char *session_of(const struct mcp_exchange *x)
{
    return x->link.begun ? x->link.session : NULL;
}

static void begin_stream(struct mcp_exchange *x)
{
    x->streaming = true;
    x->reply->begin(x->context, session_of(x));
}

/* The message alone, unless only events are taken, or another is still to come. */
static void send_message(struct mcp_exchange *x, const char *line, size_t len, bool only)
{
    int status = status_of(x, true);
    if (!x->streaming && only && (status != 200 || x->takes_json)) {
        x->reply->answer(x->context, status, session_of(x), line, len);
        return;
    }
    if (!x->streaming)
        begin_stream(x);
    x->reply->event(x->context, line, len);
}

/* Whether the exchange is over. */
static bool pump(struct mcp_exchange *x)
{
    struct rpc_peer *peer = x->link.peer;
    bool sent = false;
    size_t len;
    const char *bytes;
    while ((bytes = rpc_peer_output(peer, &len), len > 0)) {
        size_t line = (size_t)((const char *)memchr(bytes, '\n', len) - bytes);
        send_message(x, bytes, line, line + 1 == len && rpc_peer_calls(peer) == 0);
        rpc_peer_wrote(peer, line + 1);
        sent = true;
    }
    if (rpc_peer_calls(peer) > 0)
        return false;
    if (x->streaming)
        x->reply->end(x->context);
    else if (!sent)
        x->reply->answer(x->context, status_of(x, false), NULL, NULL, 0);
    return true;
}

static void on_output(void *context)
{
    struct mcp_exchange *x = context;
    if (!x->reading && pump(x))
        close_exchange(x, false);
}

/* --- messages --------------------------------------------------------------------------------- */

static void read_body(struct mcp_exchange *x, const char *body, size_t len)
{
    struct error e;
    x->reading = true;
    (void)rpc_peer_take(x->link.peer, body, len, &e); /* what is wrong is answered */
    x->reading = false;
    x->link.headers = NULL;
}

/* It has no sessions, and passes over their header. */
static bool is_modern(const struct mcp_headers *h)
{
    return h->protocol_version && strcmp(h->protocol_version, mcp_versions[0]) == 0;
}

static struct mcp_exchange *exchange_new(struct mcp *m, const struct mcp_headers *headers,
                                         const struct mcp_reply *reply, void *context)
{
    const struct mcp_session *session = headers->session ? use_session(m, headers->session) : NULL;
    struct mcp_exchange *x = mem_alloc(sizeof *x);
    x->reply = reply;
    x->context = context;
    x->takes_json = headers->takes_json;
    x->link = (struct mcp_link){.agreed = session ? session->version : NULL,
                                .http = true,
                                .headers = headers,
                                .lost = headers->session && !session && !is_modern(headers),
                                .hears = headers->takes_events,
                                .wrote = on_output,
                                .context = x};
    if (session)
        memcpy(x->link.session, session->id, sizeof x->link.session);
    mcp_link_open(&x->link, m);
    return x;
}

/* That a client has gone shows on a stream alone, and matters where a model works. */
static bool waits_for_turn(const struct mcp_exchange *x)
{
    const struct mcp *m = x->link.mcp;
    for (size_t i = 0; i < m->calls.len; i++) {
        const struct mcp_call *c = m->calls.items[i];
        if (c->link == &x->link && c->modern && c->work && c->work->lasts)
            return x->link.hears;
    }
    return false;
}

struct mcp_exchange *mcp_post(struct mcp *m, const struct mcp_headers *headers, const char *body,
                              size_t len, const struct mcp_reply *reply, void *context)
{
    if (!headers->takes_events && !headers->takes_json) {
        reply->answer(context, 406, NULL, NULL, 0);
        return NULL;
    }
    struct mcp_exchange *x = exchange_new(m, headers, reply, context);
    read_body(x, body, len);
    if (x->link.begun)
        memcpy(x->link.session, begin_session(m, x->link.agreed)->id, sizeof x->link.session);
    if (pump(x)) {
        close_exchange(x, false);
        return NULL;
    }
    if (waits_for_turn(x))
        begin_stream(x);
    return x;
}

void mcp_hang_up(struct mcp_exchange *x)
{
    close_exchange(x, true);
}
