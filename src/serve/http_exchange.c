#include "serve/http_private.h"

#ifdef HAVE_LIBMICROHTTPD

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/json_out.h"
#include "base/mem.h"

static int socket_of(const struct http_exchange *x)
{
    return x->server->library->get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
        ->connect_fd;
}

struct http_exchange *http_exchange_new(struct http_server *h, struct MHD_Connection *connection,
                                        const char *raw_target)
{
    struct http_exchange *x = mem_alloc(sizeof *x);
    x->server = h;
    x->connection = connection;
    x->raw_target = mem_strdup(raw_target);
    buf_init(&x->body, HTTP_BODY_MAX);
    x->index = h->exchanges.len;
    vec_push(&h->exchanges, x);
    return x;
}

void http_exchange_free(struct http_exchange *x)
{
    struct http_exchange *last = vec_last(&x->server->exchanges);
    if (x->watched)
        (void)epoll_ctl(x->server->hangups, EPOLL_CTL_DEL, socket_of(x), NULL);
    if (x->forget)
        x->forget(x->kept);
    x->server->unread -= x->reply_bytes;
    if (x->reply)
        x->server->library->destroy_response(x->reply);
    last->index = x->index;
    x->server->exchanges.items[x->index] = last;
    x->server->exchanges.len--;
    for (size_t i = 0; i < x->reply_fields.len; i++) {
        free(x->reply_fields.items[i].name);
        free(x->reply_fields.items[i].value);
    }
    vec_release(&x->reply_fields);
    vec_release(&x->head.fields);
    http_target_release(&x->target);
    buf_release(&x->body);
    free(x->raw_target);
    free(x);
}

const struct http_head *http_exchange_head(const struct http_exchange *x)
{
    return &x->head;
}

const struct http_target *http_exchange_target(const struct http_exchange *x)
{
    return &x->target;
}

const struct buf *http_exchange_body(const struct http_exchange *x)
{
    return &x->body;
}

void http_exchange_keep(struct http_exchange *x, void *mine, void (*forget)(void *mine))
{
    x->kept = mine;
    x->forget = forget;
}

void *http_exchange_kept(const struct http_exchange *x)
{
    return x->kept;
}

static void watch(struct http_exchange *x)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = x};
    x->watched = epoll_ctl(x->server->hangups, EPOLL_CTL_ADD, socket_of(x), &event) == 0;
}

/* The library may be told so by its own callbacks alone. */
void http_exchange_suspend(struct http_exchange *x)
{
    assert(!x->suspended);
    x->suspended = true;
    if (!x->watched)
        watch(x);
    x->server->library->suspend_connection(x->connection);
}

void http_exchange_go_on(struct http_exchange *x)
{
    if (!x->suspended)
        return;
    x->suspended = false;
    x->server->library->resume_connection(x->connection);
    http_server_run_soon(x->server);
}

/* --- answers ---------------------------------------------------------------------------------- */

void http_exchange_add_field(struct http_exchange *x, const char *name, const char *value)
{
    vec_push(&x->reply_fields, (struct http_parameter){mem_strdup(name), mem_strdup(value)});
}

static void answer(struct http_exchange *x, int status, const char *type,
                   struct MHD_Response *reply)
{
    const struct libmicrohttpd *library = x->server->library;
    assert(x->progress < HTTP_ANSWERED && reply);
    (void)library->add_response_header(reply, "Content-Type", type);
    (void)library->add_response_header(reply, "Cache-Control", "no-store");
    (void)library->add_response_header(reply, "X-Content-Type-Options", "nosniff");
    for (size_t i = 0; i < x->reply_fields.len; i++)
        (void)library->add_response_header(reply, x->reply_fields.items[i].name,
                                           x->reply_fields.items[i].value);
    if (x->server->stopping || http_is_chunked(&x->head))
        (void)library->add_response_header(reply, "Connection", "close");
    x->reply = reply;
    x->status = status;
    x->progress = HTTP_ANSWERED;
    http_exchange_go_on(x);
}

static void fail(struct http_exchange *x, int status, const char *code, const char *message);

/* Replies that wait for their readers: all larger ones together, and what counts as one. */
enum { UNREAD_BYTES = 32 << 20, REPLY_LARGE = 16 * 1024 };

void http_exchange_reply(struct http_exchange *x, int status, const char *type, const char *body,
                         size_t len)
{
    if (len > REPLY_LARGE && x->server->unread + len > UNREAD_BYTES) {
        http_exchange_add_field(x, "Retry-After", "60");
        fail(x, 503, http_status_name(503),
             "the request was done, but replies that nobody reads fill the memory for them; read "
             "those, or ask for less");
        return;
    }
    x->reply_bytes = len;
    x->server->unread += len;
    answer(x, status, type,
           x->server->library->create_response_from_buffer(len, (void *)(uintptr_t)body,
                                                           MHD_RESPMEM_MUST_COPY));
}

static void fail(struct http_exchange *x, int status, const char *code, const char *message)
{
    struct buf text = BUF_INIT;
    struct json_out out = {.buf = &text};
    json_out_open(&out, '{');
    json_out_member(&out, "code", code);
    json_out_member(&out, "message", message);
    json_out_close(&out, '}');
    http_exchange_reply(x, status, "application/json", text.data, text.len);
    buf_release(&text);
}

void http_exchange_fail(struct http_exchange *x, const struct error *e)
{
    const struct err_info *info = err_info(e->code);
    fail(x, info->rest, info->name, e->text);
}

void http_exchange_refuse(struct http_exchange *x, int status, const char *message)
{
    fail(x, status, http_status_name(status), message);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* The first bytes are a comment: proxies and browsers take a stream for open when it has some. A
 * connection that has nothing to send would be asked again at once; so it rests. */
static ssize_t read_source(void *context, uint64_t position, char *to, size_t size)
{
    static const char opening[] = ":\n\n";
    struct http_exchange *x = context;
    if (x->gone)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (position == 0 && size >= sizeof opening) {
        memcpy(to, opening, sizeof opening - 1);
        return sizeof opening - 1;
    }
    long len = x->source.read(x->source.context, to, size);
    if (len == 0)
        http_exchange_suspend(x);
    return len < 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)len;
}

/* What a reply for HTTP/1.0, which has no chunks, is gathered in. */
enum { STREAM_BLOCK = 4096 };

void http_exchange_stream(struct http_exchange *x, const struct http_source *source)
{
    x->source = *source;
    http_exchange_add_field(x, "X-Accel-Buffering", "no");
    answer(x, 200, "text/event-stream",
           x->server->library->create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
                                                             read_source, x, NULL));
}

void http_exchange_hung_up(struct http_exchange *x, bool surely)
{
    bool streams = x->progress == HTTP_SENDING;
    if (!x->suspended)
        return;
    if (!surely && streams && x->source.probe) {
        x->source.probe(x->source.context);
    } else if (surely || streams) {
        x->gone = true;
        http_exchange_go_on(x);
    }
}

void http_exchange_wake(struct http_exchange *x)
{
    if (x->progress == HTTP_SENDING)
        http_exchange_go_on(x);
}

#endif
