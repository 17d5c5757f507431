/* The transport, against a small server that sends exactly the test's bytes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "provider/http.h"
#include "provider/provider.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/support.h"

#define CANCEL_MS 100
#define MAX_BACKLOG 64

/* --- names: a lookup that returns only on demand --------------------------------------------- */

static pthread_mutex_t name_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t name_changed = PTHREAD_COND_INITIALIZER;
static bool name_asked, name_answered;

/* Replaces the C library's function: libcurl calls this one on its resolver's thread. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    (void)node;
    (void)service;
    (void)hints;
    *out = NULL;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5; /* so that a cancel that does wait fails and does not hang */
    pthread_mutex_lock(&name_lock);
    name_asked = true;
    pthread_cond_broadcast(&name_changed);
    while (!name_answered && pthread_cond_timedwait(&name_changed, &name_lock, &until) == 0)
        continue;
    pthread_mutex_unlock(&name_lock);
    return EAI_NONAME;
}

static void answer_names(bool answer)
{
    pthread_mutex_lock(&name_lock);
    name_answered = answer;
    name_asked = false;
    pthread_cond_broadcast(&name_changed);
    pthread_mutex_unlock(&name_lock);
}

/* --- server ---------------------------------------------------------------------------------- */

/* Answers the n-th request with the n-th text; the last one serves all that follow. */
struct server {
    int listener;
    int stop[2];
    char *url;
    pthread_t thread;
    const char *const *replies;
    size_t reply_count;
    int connections, requests; /* to be read after server_stop() */
    struct buf heard;          /* likewise: all requests */
};

static int listen_on_loopback(int backlog, char **url)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_not_equal(fd, -1);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(listen(fd, backlog), 0);
    *url = mem_printf("http://127.0.0.1:%u/x", (unsigned)ntohs(address.sin_port));
    return fd;
}

/* Length of a whole request at the beginning of the text; 0 if it is not whole yet. */
static size_t request_len(const char *text, size_t len)
{
    const char *end = strstr(text, "\r\n\r\n");
    if (end == NULL)
        return 0;
    const char *header = strstr(text, "Content-Length: ");
    size_t body = header != NULL && header < end ? strtoul(header + 16, NULL, 10) : 0;
    size_t whole = (size_t)(end + 4 - text) + body;
    return whole <= len ? whole : 0;
}

static void reply_to_requests(struct server *s, int connection, struct buf *input)
{
    size_t len;
    while ((len = request_len(input->data, input->len)) > 0) {
        size_t index = (size_t)s->requests++;
        const char *reply = s->replies[index < s->reply_count ? index : s->reply_count - 1];
        buf_add(&s->heard, input->data, len);
        buf_consume(input, len);
        (void)!send(connection, reply, strlen(reply), MSG_NOSIGNAL);
    }
}

static void *serve(void *context)
{
    struct server *s = context;
    AUTO(buf_release) struct buf input = BUF_INIT;
    int connection = -1;
    for (;;) {
        struct pollfd fds[] = {{.fd = s->stop[0], .events = POLLIN},
                               {.fd = s->listener, .events = POLLIN},
                               {.fd = connection, .events = POLLIN}};
        poll(fds, 3, -1);
        if (fds[0].revents != 0)
            break;
        if (fds[2].revents != 0) {
            char bytes[4096];
            ssize_t got = read(connection, bytes, sizeof bytes);
            if (got > 0)
                buf_add(&input, bytes, (size_t)got);
            if (got <= 0) {
                close(connection);
                connection = -1;
            }
            reply_to_requests(s, connection, &input);
        }
        if (fds[1].revents != 0) {
            if (connection != -1)
                close(connection);
            connection = accept(s->listener, NULL, NULL);
            s->connections++;
            buf_clear(&input);
        }
    }
    if (connection != -1)
        close(connection);
    return NULL;
}

static void server_start(struct server *s, const char *const *replies, size_t count)
{
    *s = (struct server){.replies = replies, .reply_count = count, .heard = BUF_INIT};
    s->listener = listen_on_loopback(8, &s->url);
    assert_int_equal(pipe(s->stop), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void server_stop(struct server *s)
{
    assert_int_equal(write(s->stop[1], "x", 1), 1);
    pthread_join(s->thread, NULL);
    close(s->stop[0]);
    close(s->stop[1]);
    close(s->listener);
}

/* --- client ---------------------------------------------------------------------------------- */

struct client {
    struct http *http;
    struct http_request request;
    struct http_headers headers;
    struct http_reply reply;
    struct failure failure;
    struct wakeup wakeup;
    int wake[2];
    struct buf body;       /* what on_body took */
    const char *last_text; /* on_read: nothing more is wanted once the body ends with it */
};

static bool stop(void *context)
{
    (void)context;
    return false;
}

static bool take_body(void *context, const char *bytes, size_t len)
{
    struct client *c = context;
    buf_add(&c->body, bytes, len);
    return true;
}

static bool read_ended(void *context)
{
    struct client *c = context;
    size_t len = c->last_text == NULL ? 0 : strlen(c->last_text);
    return len == 0 || c->body.len < len ||
           strcmp(c->body.data + c->body.len - len, c->last_text) != 0;
}

static void client_init(struct client *c, const char *url)
{
    *c = (struct client){.http = http_new(), .body = BUF_INIT};
    c->request = (struct http_request){.url = url,
                                       .headers = &c->headers,
                                       .connect_timeout_ms = 5000,
                                       .stall_timeout_ms = 5000,
                                       .on_read = read_ended,
                                       .context = c};
    assert_int_equal(pipe(c->wake), 0);
    c->wakeup = (struct wakeup){.fd = c->wake[0], .go_on = stop};
    http_reply_init(&c->reply);
    failure_clear(&c->failure);
}

static bool perform(struct client *c)
{
    http_reply_release(&c->reply);
    http_reply_init(&c->reply);
    failure_clear(&c->failure);
    return http_perform(c->http, &c->request, &c->wakeup, &c->reply, &c->failure);
}

static void client_release(struct client *c)
{
    http_free(c->http);
    http_headers_release(&c->headers);
    http_reply_release(&c->reply);
    buf_release(&c->body);
    close(c->wake[0]);
    close(c->wake[1]);
}

#define HEAD(status, more) "HTTP/1.1 " status "\r\n" more "\r\n"

static struct server s;
static struct client c;

#define BEGIN(...)                                                                                 \
    static const char *const replies[] = {__VA_ARGS__};                                            \
    server_start(&s, replies, sizeof replies / sizeof *replies);                                   \
    client_init(&c, s.url)

/* The counts of the server stay until the next begins. */
static void end(void)
{
    if (c.http)
        client_release(&c);
    c.http = NULL;
    if (s.url)
        server_stop(&s);
    free(s.url);
    s.url = NULL;
}

static int teardown(void **state)
{
    end();
    buf_release(&s.heard);
    return support_teardown(state);
}

FIXTURE(support_setup, teardown);

TEST(test_connection_is_kept)
{
    BEGIN(HEAD("200 OK", "Content-Type: Text/Plain; charset=x\r\nContent-Length: 3\r\n") "one",
          HEAD("200 OK", "Transfer-Encoding: chunked\r\n") "3\r\ntwo\r\n0\r\n\r\n");
    assert_true(perform(&c));
    assert_int_equal(c.reply.status, 200);
    assert_string_equal(c.reply.content_type, "text/plain");
    assert_string_equal(c.reply.body.data, "one");
    assert_int_equal(c.reply.retry_after_ms, -1);
    http_headers_add(&c.headers, "X-Number: %d", 7);
    c.request.body = "{}";
    c.request.body_len = 2;
    assert_true(perform(&c));
    assert_string_equal(c.reply.content_type, "");
    assert_string_equal(c.reply.body.data, "two");
    end();
    assert_int_equal(s.connections, 1);
    assert_int_equal(s.requests, 2);
    assert_memory_equal(s.heard.data, "GET /x HTTP/1.1\r\n", 17);
    assert_says(s.heard.data, "POST /x HTTP/1.1\r\n", "X-Number: 7\r\n", "User-Agent: tiro/",
                "!Accept-Encoding");
}

/* After the last event the client does not wait for a body that never ends. */
TEST(test_end_without_an_end)
{
    BEGIN(HEAD("200 OK", "Transfer-Encoding: chunked\r\n") "4\r\ndone\r\n");
    c.request.on_body = take_body;
    c.last_text = "done";
    int64_t begin = clock_mono_ms();
    assert_true(perform(&c));
    assert_true(clock_mono_ms() - begin < 2000);
    assert_string_equal(c.body.data, "done");
    assert_int_equal(c.reply.status, 200);
}

TEST(test_retry_after_headers)
{
    BEGIN(HEAD("429 No", "Retry-After: 3\r\nContent-Length: 0\r\n"),
          HEAD("429 No", "Retry-After: 3\r\nRetry-After-Ms: 150\r\nContent-Length: 0\r\n"),
          HEAD("429 No", "retry-after-ms: 150.7\r\nretry-after: 3\r\nContent-Length: 0\r\n"),
          HEAD("503 No", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length: 0\r\n"),
          HEAD("503 No", "X-Retry-After: 3\r\nContent-Length: 0\r\n"),
          HEAD("100 Continue", "Retry-After: 9\r\n") HEAD("200 OK", "Content-Length: 0\r\n"));
    static const int64_t expected[] = {3000, 150, 150, 0, -1, -1};
    for (size_t i = 0; i < 6; i++) {
        assert_true(perform(&c));
        assert_int_equal(c.reply.retry_after_ms, expected[i]);
    }
}

/* A key must not follow to wherever the server points. */
TEST(test_redirects_are_not_followed)
{
    BEGIN(HEAD("307 Elsewhere", "Location: /other\r\nContent-Length: 0\r\n"));
    http_headers_add(&c.headers, "x-api-key: %s", "secret");
    assert_true(perform(&c));
    assert_int_equal(c.reply.status, 307);
    end();
    assert_int_equal(s.requests, 1);
}

TEST(test_other_protocols_are_refused)
{
    static const char *const urls[] = {"file:///etc/passwd", "ftp://127.0.0.1/", "no url", ""};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        client_init(&c, urls[i]);
        answer_names(true); /* "no url" may count as a host's name */
        assert_false(perform(&c));
        assert_true(c.failure.kind == FAILURE_SETUP || c.failure.kind == FAILURE_CONNECT);
        assert_int_equal(c.reply.body.len, 0);
        end();
    }
}

TEST(test_body_without_a_sink_is_bounded)
{
    AUTO(buf_release) struct buf reply = BUF_INIT;
    buf_addf(&reply, "HTTP/1.1 500 No\r\nContent-Length: %zu\r\n\r\n", PROVIDER_MAX_EVENT + 1);
    char *filler = support_keep(mem_alloc(PROVIDER_MAX_EVENT + 2));
    memset(filler, 'x', PROVIDER_MAX_EVENT + 1);
    buf_addstr(&reply, filler);
    const char *const replies[] = {reply.data};
    server_start(&s, replies, 1);
    client_init(&c, s.url);
    c.request.on_body = take_body; /* called only with the body of a 2xx reply */
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_TOO_LARGE);
    assert_int_equal(c.body.len, 0);
}

/* A listener whose queue is full lets nobody in any more. `queued` is closed by the caller. */
static int full_listener(char **url, struct pollfd *queued)
{
    int listener = listen_on_loopback(0, url);
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
    for (size_t i = 0; i < MAX_BACKLOG; i++)
        queued[i].fd = -1;
    for (size_t i = 0; i < MAX_BACKLOG; i++) {
        queued[i] = (struct pollfd){.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLOUT};
        assert_int_not_equal(queued[i].fd, -1);
        assert_int_equal(fcntl(queued[i].fd, F_SETFL, O_NONBLOCK), 0);
        if (connect(queued[i].fd, (struct sockaddr *)&address, len) == 0)
            continue;
        assert_int_equal(errno, EINPROGRESS);
        if (poll(&queued[i], 1, 200) == 0)
            return listener;
    }
    skip(); /* a system without a limit */
    return -1;
}

static void close_listener(int listener, char *url, const struct pollfd *queued)
{
    for (size_t i = 0; i < MAX_BACKLOG; i++)
        if (queued[i].fd != -1)
            close(queued[i].fd);
    close(listener);
    free(url);
}

static void assert_cancelled_at_once(void)
{
    assert_int_equal(write(c.wake[1], "x", 1), 1);
    int64_t begin = clock_mono_ms();
    assert_false(perform(&c));
    int64_t took = clock_mono_ms() - begin;
    assert_int_equal(c.failure.kind, FAILURE_CANCELLED);
    assert_true(took <= CANCEL_MS);
}

TEST(test_connecting)
{
    char *url = NULL;
    struct pollfd queued[MAX_BACKLOG];
    int listener = full_listener(&url, queued);
    client_init(&c, url);
    c.request.connect_timeout_ms = 300;
    int64_t begin = clock_mono_ms();
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CONNECT);
    assert_in_range(clock_mono_ms() - begin, 250, 2000);

    /* The stall timeout does not count before there is a connection. */
    c.request.stall_timeout_ms = 50;
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CONNECT);

    c.request.connect_timeout_ms = 60000;
    assert_cancelled_at_once();
    end();
    close_listener(listener, url, queued);
}

/* A limit of time ends an answer in the middle, with nothing to wake us. */
TEST(test_deadline_of_the_wakeup)
{
    BEGIN(HEAD("200 OK", "Content-Length: 100\r\n") "half");
    c.request.on_body = take_body;
    c.request.stall_timeout_ms = 60000;
    c.wakeup.deadline_ms = clock_mono_ms() + 200;
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CANCELLED);
    assert_string_equal(c.body.data, "half");
    assert_in_range(clock_mono_ms() - c.wakeup.deadline_ms, 0, 5000);
}

static bool name_was_asked(void *context)
{
    (void)context;
    pthread_mutex_lock(&name_lock);
    bool asked = name_asked;
    pthread_mutex_unlock(&name_lock);
    return asked;
}

/* A resolver that hangs must not hold up a cancel, whose thread it is in. */
TEST(test_cancel_while_resolving)
{
    answer_names(false);
    client_init(&c, "http://slow.invalid/");
    assert_cancelled_at_once();
    assert_true(support_wait_until(name_was_asked, NULL, 5000));
    answer_names(true);
}

TEST(test_unknown_name)
{
    answer_names(true);
    client_init(&c, "http://nobody.invalid/");
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CONNECT);
    assert_non_null(strstr(c.failure.text, "nobody.invalid"));
}

TEST(test_silence_is_a_stall)
{
    BEGIN("");
    c.request.stall_timeout_ms = 200;
    int64_t begin = clock_mono_ms();
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_STALL);
    assert_in_range(clock_mono_ms() - begin, 190, 2000);
}
