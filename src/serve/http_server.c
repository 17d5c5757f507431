#include "serve/http_server.h"

#include "serve/libmicrohttpd.h"

#ifdef HAVE_LIBMICROHTTPD

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"

/* One that is open. */
struct http_connection {
    int fd;
    size_t index;                   /* in the server's list */
    struct http_exchange *exchange; /* that it has now; NULL */
    int64_t read_by; /* clock_mono_ms() by which what is being read must be there; 0: nothing is */
};

struct http_server {
    struct server *loop;
    const struct libmicrohttpd *library;
    struct MHD_Daemon *daemon;
    struct http_policy policy;
    int head_ms;
    struct http_handler handler;
    VEC(struct http_listener *) listeners;
    VEC(struct http_connection *) connections;
    VEC(struct http_exchange *) exchanges;
    struct watch *events;
    int hangups; /* an epoll of connections that rest, which the library does not look at */
    struct watch *hung_up;
    struct timer *tick, *again;
    struct stop_handler *end;
    size_t most;   /* connections */
    size_t unread; /* bytes of replies that are not sent whole yet */
    bool full, stopping;
};

/* The library has no pipe with a loop of others: nothing else tells it that connections go on. */
static void run_soon(struct http_server *h);

static int socket_of(const struct http_exchange *x)
{
    return x->server->library->get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
        ->connect_fd;
}

static void exchange_free(struct http_exchange *x)
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

/* The library leaves the connection alone until exchange_go_on(). It may be told so by its own
 * callbacks alone. */
static void exchange_suspend(struct http_exchange *x)
{
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLET, .data.ptr = x};
    assert(!x->suspended);
    x->suspended = true;
    if (!x->watched)
        x->watched = epoll_ctl(x->server->hangups, EPOLL_CTL_ADD, socket_of(x), &event) == 0;
    x->server->library->suspend_connection(x->connection);
}

static void exchange_go_on(struct http_exchange *x)
{
    if (!x->suspended)
        return;
    x->suspended = false;
    x->server->library->resume_connection(x->connection);
    run_soon(x->server);
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
    /* Lines of chunks are the library's to read, which takes more than others do: nothing behind
     * them is taken for a request. */
    if (x->server->stopping || http_head_field(&x->head, "Transfer-Encoding"))
        (void)library->add_response_header(reply, "Connection", "close");
    x->reply = reply;
    x->status = status;
    x->progress = HTTP_ANSWERED;
    exchange_go_on(x);
}

/* Replies that wait for their readers: all larger ones together, and what counts as one. */
enum { UNREAD_BYTES = 32 << 20, REPLY_LARGE = 16 * 1024 };

void http_exchange_reply(struct http_exchange *x, int status, const char *type, const char *body,
                         size_t len)
{
    if (len > REPLY_LARGE && x->server->unread + len > UNREAD_BYTES) {
        http_exchange_add_field(x, "Retry-After", "60");
        http_exchange_refuse(
            x, 503, NULL,
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

void http_exchange_fail(struct http_exchange *x, const struct error *e)
{
    http_exchange_refuse(x, err_info(e->code)->rest, err_info(e->code)->name, e->text);
}

void http_exchange_refuse(struct http_exchange *x, int status, const char *code,
                          const char *message)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    json_out_pack(&(struct json_out){.buf = &text}, "{code:s message:s}",
                  code ? code : http_status_name(status), message);
    http_exchange_reply(x, status, "application/json", text.data, text.len);
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
        exchange_suspend(x);
    return len < 0 ? MHD_CONTENT_READER_END_OF_STREAM : (ssize_t)len;
}

/* Block in which a reply for HTTP/1.0, which has no chunks, is gathered. */
enum { STREAM_BLOCK = 4096 };

void http_exchange_stream(struct http_exchange *x, const struct http_source *source)
{
    x->source = *source;
    http_exchange_add_field(x, "X-Accel-Buffering", "no");
    answer(x, 200, "text/event-stream",
           x->server->library->create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
                                                             read_source, x, NULL));
}

void http_exchange_wake(struct http_exchange *x)
{
    if (x->progress == HTTP_SENDING)
        exchange_go_on(x);
}

/* Memory of the library for one connection: for a head, or a chunk of a stream. */
#define CONNECTION_BYTES ((size_t)32 * 1024)
/* Descriptors that are not connections': databases, locks, what tools open. */
enum { OTHER_DESCRIPTORS = 256 };
/* Bytes that the system may keep for a slow reader; its default is megabytes. */
enum { SEND_BYTES = 256 * 1024 };
enum { TICK_MS = 1000, ROUNDS_AT_ONCE = 64, ACCEPTED_AT_ONCE = 64 };

struct http_listener {
    struct http_server *server;
    int fd;
    struct watch *watch;
};

/* --- the library's turns ---------------------------------------------------------------------- */

static void run(struct http_server *h);

static void run_again(void *context)
{
    struct http_server *h = context;
    h->again = NULL;
    run(h);
}

static void run_soon(struct http_server *h)
{
    if (!h->again && h->loop)
        h->again = server_after(h->loop, 0, run_again, h);
}

/* Work that it has put off does not show in its descriptor. */
static void run(struct http_server *h)
{
    MHD_UNSIGNED_LONG_LONG wait = 1;
    for (int i = 0; i < ROUNDS_AT_ONCE; i++) {
        (void)h->library->run(h->daemon);
        if (h->library->get_timeout(h->daemon, &wait) != MHD_YES || wait > 0)
            return;
    }
    run_soon(h);
}

static void on_events(void *context, short revents)
{
    (void)revents;
    run(context);
}

/* --- connections ------------------------------------------------------------------------------ */

static void on_tick(void *context);

static void tick(struct http_server *h)
{
    if (!h->tick)
        h->tick = server_after(h->loop, TICK_MS, on_tick, h);
}

static void listen_again(struct http_server *h, bool yes)
{
    h->full = !yes;
    tick(h);
    for (size_t i = 0; i < h->listeners.len; i++)
        watch_events(h->listeners.items[i]->watch, yes ? POLLIN : 0);
}

/* At most so many at a time, so that none of them ends another that is still to be looked at: all
 * that they do is to let it go on. */
enum { HANGUPS_AT_ONCE = 64 };

/* A connection is broken, or its other end sends nothing more: a caller that still waits for its
 * answer may have closed that half alone. */
static void on_hangups(void *context, short revents)
{
    struct http_server *h = context;
    struct epoll_event events[HANGUPS_AT_ONCE];
    (void)revents;
    int count = epoll_wait(h->hangups, events, HANGUPS_AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        struct http_exchange *x = events[i].data.ptr;
        bool surely = events[i].events & (EPOLLHUP | EPOLLERR);
        bool streams = x->progress == HTTP_SENDING;
        if (!x->suspended)
            continue;
        if (!surely && streams && x->source.probe) {
            x->source.probe(x->source.context);
        } else if (surely || streams) {
            x->gone = true;
            exchange_go_on(x);
        }
    }
}

/* Ends requests that do not arrive in time. A client that does not read its reply is noticed by
 * libmicrohttpd, when it is called. */
static void on_tick(void *context)
{
    struct http_server *h = context;
    int64_t now = clock_mono_ms();
    h->tick = NULL;
    for (size_t i = 0; i < h->connections.len; i++) {
        struct http_connection *c = h->connections.items[i];
        if (c->read_by && c->read_by <= now)
            (void)shutdown(c->fd, SHUT_RDWR);
    }
    run(h);
    if (h->full && h->connections.len < h->most)
        listen_again(h, true);
    if (h->connections.len > 0)
        tick(h);
}

static struct http_connection *connection_of(struct http_server *h, struct MHD_Connection *c)
{
    return h->library->get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **mine,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http_server *h = context;
    struct http_connection *c = *mine;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        c = mem_alloc(sizeof *c);
        c->fd = h->library->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
                    ->connect_fd;
        c->index = h->connections.len;
        c->read_by = clock_mono_ms() + h->head_ms;
        vec_push(&h->connections, c);
        *mine = c;
        tick(h);
        return;
    }
    /* The library completes no request whose first line it refused, such as a query that does not
     * fit into its memory. */
    if (c->exchange)
        exchange_free(c->exchange);
    vec_last(&h->connections)->index = c->index;
    h->connections.items[c->index] = vec_last(&h->connections);
    h->connections.len--;
    free(c);
    if (h->full && !h->stopping)
        listen_again(h, true);
}

static void on_connect(void *context, short revents)
{
    struct http_listener *l = context;
    struct http_server *h = l->server;
    const int send_bytes = SEND_BYTES;
    (void)revents;
    for (int i = 0; i < ACCEPTED_AT_ONCE && !h->full; i++) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        int fd = descriptors_accept(l->fd, (struct sockaddr *)&from, &size);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) {
            /* Out of descriptors or memory: it stays readable, and has to wait. */
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
                listen_again(h, false);
            break;
        }
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
        (void)h->library->add_connection(h->daemon, fd, (struct sockaddr *)&from, size);
        if (h->connections.len >= h->most)
            listen_again(h, false);
    }
    run(h);
}

/* --- requests --------------------------------------------------------------------------------- */

static void *on_target(void *context, const char *raw, struct MHD_Connection *connection)
{
    struct http_server *h = context;
    struct http_exchange *x = mem_alloc(sizeof *x);
    x->server = h;
    x->connection = connection;
    x->raw_target = mem_strdup(raw);
    buf_init(&x->body, HTTP_BODY_MAX);
    x->index = h->exchanges.len;
    vec_push(&h->exchanges, x);
    connection_of(h, connection)->exchange = x;
    return x;
}

static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *s)
{
    (void)context, (void)connection;
    return strlen(s);
}

/* The library takes a folded line for more of the name, LF alone for the end of a line, and a NUL
 * for the end of a text, and does not tell (0.9; see begin()). But it reads in place: a text lies
 * CR and LF behind the one before, a value behind its name, and behind the last of them is the
 * line's end. */
static enum MHD_Result add_field(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct http_head *head = context;
    const char *before = head->fields.len > 0 ? vec_last(&head->fields).value : head->version;
    size_t len = value ? strlen(value) : 0;
    (void)kind;
    bool in_place = value && (uintptr_t)name == (uintptr_t)before + strlen(before) + 2 &&
                    (uintptr_t)value > (uintptr_t)name &&
                    (!value[len + 1] || value[len + 1] == '\n');
    head->garbled = head->garbled || !in_place;
    vec_push(&head->fields, (struct http_field){name, value ? value : ""});
    return head->fields.len <= HTTP_FIELDS_MAX ? MHD_YES : MHD_NO;
}

/* A connection whose request was not understood cannot be gone on with. */
static void refuse(struct http_exchange *x, const struct http_refusal *r)
{
    http_exchange_add_field(x, "Connection", "close");
    if (r->status == 401)
        http_exchange_add_field(x, "WWW-Authenticate", "Bearer");
    http_exchange_refuse(x, r->status, NULL, r->error.text);
}

static void begin(struct http_exchange *x, const char *method, const char *version)
{
    struct http_server *h = x->server;
    struct http_refusal refusal = {0};
    bool parsed = http_target_parse(x->raw_target, &x->target, &refusal.error);
    x->begun = true;
    x->head.method = method;
    x->head.version = version;
    x->head.authority = x->target.authority;
    const struct sockaddr *from =
        h->library->get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
            ->client_addr;
    const struct sockaddr_in *v4 = (const void *)from;
    const struct sockaddr_in6 *v6 = (const void *)from;
    x->head.of_machine =
        from->sa_family == AF_INET6
            ? IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr)
            : from->sa_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    h->library->get_connection_values(x->connection, MHD_HEADER_KIND, add_field, &x->head);
    /* From 1.0 on the library unfolds or refuses such lines, and may move what it has read. */
    x->head.garbled = x->head.garbled && strncmp(h->library->get_version(), "0.", 2) == 0;
    http_check_head(&x->head, &h->policy, &refusal);
    if (refusal.status == 401 && parsed && h->handler.open(h->handler.context, x))
        refusal.status = 0;
    if (!refusal.status && !parsed)
        refusal.status = 400;
    if (!refusal.status)
        http_check_body_type(&x->head, &refusal);
    if (refusal.status)
        refuse(x, &refusal);
    else if (h->stopping)
        http_exchange_refuse(x, 503, NULL, "the server ends; ask again later");
    else
        h->handler.admit(h->handler.context, x);
}

/* The library calls it with the head, with each piece of the body, at the request's end, and again
 * when it was suspended and goes on. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *len, void **mine)
{
    static const struct http_refusal too_long = {
        .status = 413, .error = {.text = "the body is longer than 32 MiB; send less"}};
    struct http_exchange *x = *mine;
    struct http_server *h = x->server;
    (void)context, (void)url;
    if (!x->begun) {
        begin(x, method, version);
        if (x->progress == HTTP_READING)
            connection_of(h, connection)->read_by = clock_mono_ms() + 4 * h->head_ms;
    } else if (*len > 0) {
        x->too_long = x->too_long || !buf_try_add(&x->body, bytes, *len);
        *len = 0;
        return MHD_YES;
    } else if (x->progress == HTTP_READING) {
        x->progress = HTTP_RUNNING;
        connection_of(h, connection)->read_by = 0;
        if (x->too_long)
            refuse(x, &too_long);
        else
            h->handler.serve(h->handler.context, x);
    }
    if (x->gone)
        return MHD_NO;
    if (x->progress == HTTP_RUNNING)
        exchange_suspend(x);
    if (x->progress != HTTP_ANSWERED)
        return MHD_YES;
    x->progress = HTTP_SENDING;
    connection_of(h, connection)->read_by = 0;
    return h->library->queue_response(connection, (unsigned)x->status, x->reply);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **mine,
                         enum MHD_RequestTerminationCode why)
{
    struct http_server *h = context;
    (void)why;
    if (!*mine)
        return;
    exchange_free(*mine);
    *mine = connection_of(h, connection)->exchange = NULL;
    connection_of(h, connection)->read_by = clock_mono_ms() + h->head_ms;
}

/* --- beginning and end ------------------------------------------------------------------------ */

static bool start(struct http_server *h, struct error *e)
{
    h->library = libmicrohttpd_load(e);
    if (!h->library)
        return false;
    struct rlimit set; /* of descriptors: it limits the connections */
    rlim_t limit = getrlimit(RLIMIT_NOFILE, &set) == 0 ? set.rlim_cur : _POSIX_OPEN_MAX;
    h->most = limit >= HTTP_CONNECTIONS + OTHER_DESCRIPTORS ? HTTP_CONNECTIONS
              : limit > (rlim_t)2 * OTHER_DESCRIPTORS       ? limit - OTHER_DESCRIPTORS
                                                            : limit / 2;
    h->daemon = h->library->start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_URI_LOG_CALLBACK, on_target, h, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)h->most, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)HTTP_STALLED_S, MHD_OPTION_END);
    if (!h->daemon)
        return err_set(e, ERR_AGENT_ERROR, "libmicrohttpd does not start; it needs epoll");
    h->hangups = epoll_create1(EPOLL_CLOEXEC);
    if (h->hangups < 0)
        return err_set_errno(e, ERR_AGENT_ERROR, "connections cannot be watched");
    h->hung_up = server_watch(h->loop, h->hangups, POLLIN, on_hangups, h);
    int fd = h->library->get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    h->events = server_watch(h->loop, fd, POLLIN, on_events, h);
    return true;
}

static void stop_listening(struct http_server *h)
{
    for (size_t i = 0; i < h->listeners.len; i++) {
        server_unwatch(h->loop, h->listeners.items[i]->watch);
        close(h->listeners.items[i]->fd);
    }
    vec_free_each(&h->listeners);
}

/* Nothing that connects is served any more; requests that run go on. */
static void on_stop(void *context)
{
    struct http_server *h = context;
    h->stopping = true;
    stop_listening(h);
}

static bool is_written(void *context)
{
    return ((const struct http_server *)context)->exchanges.len == 0;
}

struct http_server *http_server_new(struct server *loop, const int *sockets, size_t count,
                                    const struct http_policy *policy, int head_ms,
                                    const struct http_handler *handler, struct error *e)
{
    struct http_server *h = mem_alloc(sizeof *h);
    *h = (struct http_server){
        .loop = loop, .hangups = -1, .policy = *policy, .head_ms = head_ms, .handler = *handler};
    for (size_t i = 0; i < count; i++) {
        struct http_listener *l = mem_alloc(sizeof *l);
        *l = (struct http_listener){.server = h, .fd = sockets[i]};
        (void)fcntl(l->fd, F_SETFL, fcntl(l->fd, F_GETFL) | O_NONBLOCK);
        l->watch = server_watch(loop, l->fd, POLLIN, on_connect, l);
        vec_push(&h->listeners, l);
    }
    if (start(h, e)) {
        h->end = server_on_stop(loop, on_stop, is_written, h);
        return h;
    }
    http_server_free(h);
    return NULL;
}

void http_server_free(struct http_server *h)
{
    if (!h)
        return;
    stop_listening(h);
    server_remove_stop(h->loop, h->end);
    server_unwatch(h->loop, h->events);
    server_unwatch(h->loop, h->hung_up);
    server_cancel_timer(h->loop, h->tick);
    server_cancel_timer(h->loop, h->again);
    h->stopping = true;
    h->loop = NULL;
    for (size_t i = 0; i < h->exchanges.len; i++)
        exchange_go_on(h->exchanges.items[i]);
    if (h->daemon)
        h->library->stop_daemon(h->daemon);
    if (h->hangups >= 0)
        close(h->hangups);
    vec_release(&h->exchanges);
    vec_release(&h->connections);
    free(h);
}

#endif
