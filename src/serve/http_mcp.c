#include "serve/http_mcp.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/mcp.h"

/* Without a word for so long a comment is sent, so that nobody takes the stream for dead, and one
 * whose reader has gone is seen. Of a reader that takes nothing no more is kept than this. */
enum { HEARTBEAT_MS = 15000, WAITING_MAX = 8 << 20 };

static const char json_type_name[] = "application/json";

/* An exchange until it is answered. */
struct posted {
    struct server *loop;
    struct http_exchange *exchange;
    struct mcp_exchange *message; /* NULL: it is answered */
    struct buf out;               /* of a stream, of which `sent` bytes are gone */
    size_t sent;
    bool over; /* nothing is added any more */
    struct timer *heartbeat;
};

static void forget(void *mine)
{
    struct posted *p = mine;
    server_take_back(p->loop, p->heartbeat);
    if (p->message)
        mcp_hang_up(p->message);
    buf_release(&p->out);
    free(p);
}

/* --- the answer ------------------------------------------------------------------------------- */

static void add_session(struct posted *p, const char *session)
{
    if (session)
        http_exchange_add_field(p->exchange, "Mcp-Session-Id", session);
}

static void on_answer(void *context, int status, const char *session, const char *json, size_t len)
{
    struct posted *p = context;
    p->message = NULL;
    add_session(p, session);
    if (status == 405)
        http_exchange_add_field(p->exchange, "Allow", "POST");
    http_exchange_reply(p->exchange, status, json_type_name, json ? json : "", len);
}

/* --- a stream --------------------------------------------------------------------------------- */

static long read_stream(void *context, char *to, size_t size)
{
    struct posted *p = context;
    size_t waits = p->out.len - p->sent, len = waits < size ? waits : size;
    if (len == 0)
        return p->over ? -1 : 0;
    memcpy(to, p->out.data + p->sent, len);
    p->sent += len;
    if (p->sent == p->out.len) {
        buf_clear(&p->out);
        p->sent = 0;
    }
    return (long)len;
}

static void add(struct posted *p, const char *before, const char *text, size_t len)
{
    if (p->over)
        return;
    if (p->out.len - p->sent > WAITING_MAX) {
        p->over = true; /* who reads nothing is hung up on */
        return;
    }
    buf_addstr(&p->out, before);
    buf_add(&p->out, text, len);
    buf_addstr(&p->out, "\n\n");
    http_exchange_wake(p->exchange);
}

static void on_silence(void *context)
{
    struct posted *p = context;
    if (p->out.len == 0)
        add(p, ":", "", 0);
    p->heartbeat = server_after(p->loop, HEARTBEAT_MS, on_silence, p);
}

static void on_begin(void *context, const char *session)
{
    struct posted *p = context;
    const struct http_source source = {.read = read_stream, .context = p};
    add_session(p, session);
    http_exchange_stream(p->exchange, &source);
    p->heartbeat = server_after(p->loop, HEARTBEAT_MS, on_silence, p);
}

static void on_event(void *context, const char *json, size_t len)
{
    add(context, "event: message\ndata: ", json, len);
}

static void on_end(void *context)
{
    struct posted *p = context;
    p->message = NULL;
    p->over = true;
    http_exchange_wake(p->exchange);
}

static const struct mcp_reply reply = {
    .answer = on_answer, .begin = on_begin, .event = on_event, .end = on_end};

/* --- requests --------------------------------------------------------------------------------- */

/* A field's value without the blanks around it; NULL: it is not there. The caller frees. */
static char *field(const struct http_head *h, const char *name)
{
    const char *value = http_head_field(h, name);
    if (!value)
        return NULL;
    value += strspn(value, " \t");
    size_t len = strlen(value);
    while (len > 0 && strchr(" \t", value[len - 1]))
        len--;
    return mem_strndup(value, len);
}

static void take_message(struct mcp *m, struct posted *p)
{
    const struct http_head *h = http_exchange_head(p->exchange);
    const struct buf *body = http_exchange_body(p->exchange);
    char *version = field(h, "MCP-Protocol-Version"), *method = field(h, "Mcp-Method");
    char *name = field(h, "Mcp-Name"), *session = field(h, "Mcp-Session-Id");
    const struct mcp_headers headers = {
        .takes_json = http_accepts(h, json_type_name),
        .takes_events = http_accepts(h, "text/event-stream"),
        .protocol_version = version,
        .method = method,
        .name = name,
        .session = session,
    };
    p->message = mcp_post(m, &headers, body->data, body->len, &reply, p);
    free(version);
    free(method);
    free(name);
    free(session);
}

void http_mcp_serve(struct server *loop, struct mcp *m, struct http_exchange *x)
{
    const struct http_head *h = http_exchange_head(x);
    struct posted *p = mem_alloc(sizeof *p);
    *p = (struct posted){.loop = loop, .exchange = x, .out = BUF_INIT};
    http_exchange_keep(x, p, forget);
    if (strcmp(h->method, "DELETE") == 0)
        on_answer(p, mcp_delete(m, http_head_field(h, "Mcp-Session-Id")), NULL, NULL, 0);
    else
        take_message(m, p);
}
