/* The transport, against a small server that sends exactly the test's bytes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "provider/http.h"
#include "provider/provider.h"
#include "tests/raw_server.h"
#include "tests/steps.h"
#include "tests/suite.h"

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
    (void)node, (void)service, (void)hints;
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
    size_t calls;          /* of on_body */
    size_t stop_after;     /* calls after which the wakeup is pulled; 0: never */
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
    if (++c->calls == c->stop_after)
        assert_int_equal(write(c->wake[1], "x", 1), 1);
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
                                       .reach.connect_timeout_ms = 5000,
                                       .stall_timeout_ms = 20000,
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

#define HEAD(status, more) "HTTP/1.1 " status "\r\n" more "\r\n"

static struct raw_server *server;
static struct client c;

static void begin(const struct raw_reply *replies, size_t count)
{
    server = raw_server_start(replies, count);
    client_init(&c, support_text("%s/x", raw_server_url(server)));
}

#define BEGIN(...)                                                                                 \
    static const struct raw_reply replies[] = {__VA_ARGS__};                                       \
    begin(replies, sizeof replies / sizeof *replies)

static void end(void)
{
    if (c.http) {
        http_free(c.http);
        http_headers_release(&c.headers);
        http_reply_release(&c.reply);
        buf_release(&c.body);
        close(c.wake[0]);
        close(c.wake[1]);
    }
    c.http = NULL;
    if (server)
        raw_server_stop(server);
    server = NULL;
}

static int teardown(void **state)
{
    end();
    return support_teardown(state);
}

FIXTURE(support_setup, teardown);

TEST(test_connection_is_kept)
{
    BEGIN({.begin = HEAD("200 OK",
                         "Content-Type: Text/Plain; charset=x\r\nContent-Length: 3\r\n") "one"},
          {.begin = HEAD("200 OK", "Transfer-Encoding: chunked\r\n") "3\r\ntwo\r\n0\r\n\r\n"});
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
    const struct raw_server_state seen = raw_server_state(server);
    assert_int_equal(seen.connections, 1);
    assert_int_equal(seen.requests, 2);
    assert_memory_equal(seen.heard, "GET /x HTTP/1.1\r\n", 17);
    assert_says(seen.heard, "POST /x HTTP/1.1\r\n", "X-Number: 7\r\n", "User-Agent: tiro/",
                "!Accept-Encoding");
}

/* After the last event the client does not wait for a body that never ends. */
TEST(test_end_without_an_end)
{
    BEGIN({.begin = HEAD("200 OK", "Transfer-Encoding: chunked\r\n") "4\r\ndone\r\n"});
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
    BEGIN(
        {.begin = HEAD("429 No", "Retry-After: 3\r\nContent-Length: 0\r\n")},
        {.begin = HEAD("429 No", "Retry-After: 3\r\nRetry-After-Ms: 150\r\nContent-Length: 0\r\n")},
        {.begin =
             HEAD("429 No", "retry-after-ms: 150.7\r\nretry-after: 3\r\nContent-Length: 0\r\n")},
        {.begin =
             HEAD("503 No", "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length: 0\r\n")},
        {.begin = HEAD("503 No", "X-Retry-After: 3\r\nContent-Length: 0\r\n")},
        {.begin =
             HEAD("100 Continue", "Retry-After: 9\r\n") HEAD("200 OK", "Content-Length: 0\r\n")});
    static const int64_t expected[] = {3000, 150, 150, 0, -1, -1};
    for (size_t i = 0; i < 6; i++) {
        assert_true(perform(&c));
        assert_int_equal(c.reply.retry_after_ms, expected[i]);
    }
}

/* A key must not follow to wherever the server points. */
TEST(test_redirects_are_not_followed)
{
    BEGIN({.begin = HEAD("307 Elsewhere", "Location: /other\r\nContent-Length: 0\r\n")});
    http_headers_add(&c.headers, "x-api-key: %s", "secret");
    assert_true(perform(&c));
    assert_int_equal(c.reply.status, 307);
    assert_int_equal(raw_server_state(server).requests, 1);
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
    const struct raw_reply replies[] = {{.begin = reply.data}};
    begin(replies, 1);
    c.request.on_body = take_body; /* called only with the body of a 2xx reply */
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_TOO_LARGE);
    assert_int_equal(c.body.len, 0);
}

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
    auto_free char *url = NULL;
    struct pollfd queued[MAX_BACKLOG];
    int listener = full_listener(&url, queued);
    client_init(&c, url);
    c.request.reach.connect_timeout_ms = 300;
    int64_t begin = clock_mono_ms();
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CONNECT);
    assert_in_range(clock_mono_ms() - begin, 250, 2000);

    /* The stall timeout does not count before there is a connection. */
    c.request.stall_timeout_ms = 50;
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CONNECT);

    c.request.reach.connect_timeout_ms = 60000;
    assert_cancelled_at_once();
    end();
    for (size_t i = 0; i < MAX_BACKLOG; i++)
        if (queued[i].fd != -1)
            close(queued[i].fd);
    close(listener);
}

/* A limit of time ends an answer in the middle, with nothing to wake us. */
TEST(test_deadline_of_the_wakeup)
{
    BEGIN({.begin = HEAD("200 OK", "Content-Length: 100\r\n") "half"});
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
    BEGIN({.begin = ""});
    c.request.stall_timeout_ms = 200;
    int64_t begin = clock_mono_ms();
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_STALL);
    assert_in_range(clock_mono_ms() - begin, 190, 2000);
}

/* --- servers that never come to an end: bounded memory, or a stop in the middle --- */

#define LINE "HTTP/1.1 200 OK\r\n"
#define CHUNKED LINE "Transfer-Encoding: chunked\r\n\r\n"

static void limits(const struct raw_reply *reply)
{
    begin(reply, 1);
    c.request.on_body = take_body;
}

static long peak_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static char *repeated(const char *piece, size_t times)
{
    struct buf text = BUF_INIT;
    while (times-- > 0)
        buf_addstr(&text, piece);
    return support_keep(buf_take(&text));
}

/* The name of the case, the reply, the kind of failure, and a word of its message. */
struct flood {
    const char *what;
    struct raw_reply reply;
    enum failure_kind kind;
    const char *said;
};

static void check_flood(const struct flood *f)
{
    long before = peak_kib();
    limits(&f->reply);
    if (perform(&c))
        fail_msg("%s: taken", f->what);
    if (c.failure.kind != f->kind || !strstr(c.failure.text, f->said))
        fail_msg("%s: %d, %s", f->what, c.failure.kind, c.failure.text);
    if (peak_kib() - before > 32 * 1024)
        fail_msg("%s: %ld KiB more", f->what, peak_kib() - before);
    end();
}

TEST(test_headers_without_end)
{
    static const struct flood floods[] = {
        {"header lines",
         {.begin = LINE, .again = "X-More: and more\r\n"},
         FAILURE_PROTOCOL,
         "1000 lines"},
        {"folded lines",
         {.begin = LINE "X-More: a\r\n", .again = " and more\r\n"},
         FAILURE_PROTOCOL,
         "headers"},
        {"interim replies",
         {.begin = "", .again = "HTTP/1.1 102 Processing\r\n\r\n"},
         FAILURE_PROTOCOL,
         "1000 lines"},
        {"a line", {.begin = LINE "X-More: ", .again = "and more"}, FAILURE_PROTOCOL, "headers"},
        {"a status line", {.begin = "HTTP/1.1 200 ", .again = "OK"}, FAILURE_PROTOCOL, "headers"},
        {"trailers",
         {.begin = CHUNKED "0\r\n", .again = "X-More: and more\r\n"},
         FAILURE_PROTOCOL,
         "1000 lines"},
        {"a trailer",
         {.begin = CHUNKED "0\r\nX-More: ", .again = "and more"},
         FAILURE_CONNECT, /* libcurl's own bound, in its own words */
         ""},
    };
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++)
        check_flood(&floods[i]);
}

/* Lines of 64 KiB are few until they are much. */
TEST(test_headers_have_bytes_too)
{
    char *value = repeated("value   ", 8000), *line = mem_printf("X-Long: %s\r\n", value);
    const struct flood flood = {
        "long lines", {.begin = LINE, .again = line}, FAILURE_PROTOCOL, "256 KiB"};
    check_flood(&flood);
    free(line);
}

/* libcurl calls that "out of memory". */
TEST(test_a_header_line_past_what_libcurl_takes)
{
    char *value = repeated("value   ", 20000);
    char *reply = support_text(LINE "X-Long: %s\r\nContent-Length: 0\r\n\r\n", value);
    const struct flood flood = {"160 KB", {.begin = reply}, FAILURE_PROTOCOL, "headers"};
    check_flood(&flood);
}

/* A response that a real server may send is accepted. */
TEST(test_many_headers_are_taken)
{
    const struct raw_reply reply = {.begin = LINE "Content-Length: 2\r\n",
                                    .again = "Set-Cookie: a=b; Path=/\r\n",
                                    .times = 500,
                                    .end = "\r\nok"};
    limits(&reply);
    assert_true(perform(&c));
    assert_int_equal(c.body.len, 2);
}

TEST(test_dripping_is_silence)
{
    static const struct raw_reply replies[] = {
        {.begin = LINE, .again = "X: 1\r\n", .pause_ms = 20},
        {.begin = LINE "X-Slow: ", .again = "1", .pause_ms = 20},
        {.begin = "", .again = "HTTP/1.1 102 Processing\r\n\r\n", .pause_ms = 20},
        {.begin = CHUNKED "0\r\n", .again = "X: 1\r\n", .pause_ms = 20},
    };
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        limits(&replies[i]);
        c.request.stall_timeout_ms = 300;
        assert_false(perform(&c));
        assert_int_equal(c.failure.kind, FAILURE_STALL);
        end();
    }
}

/* A body that drips is an answer that is slow. */
TEST(test_a_slow_body_is_taken)
{
    const struct raw_reply reply = {
        .begin = LINE "Content-Length: 20\r\n\r\n", .again = "x", .times = 20, .pause_ms = 50};
    limits(&reply);
    c.request.stall_timeout_ms = 700;
    assert_true(perform(&c));
    assert_int_equal(c.body.len, 20);
    end();
}

/* The wakeup is asked between the pieces of what libcurl reads at once. */
TEST(test_a_flood_is_stopped_at_the_next_piece)
{
    const struct raw_reply reply = {.begin = LINE "\r\n", .again = "flood and flood\n"};
    limits(&reply);
    c.stop_after = 3;
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CANCELLED);
    assert_int_equal(c.calls, 3);
    end();
}

/* No byte of this is of a body or a header: nothing but the wakeup ends it. */
TEST(test_a_chunk_extension_without_end)
{
    const struct raw_reply reply = {.begin = CHUNKED "1;x=", .again = "extension "};
    limits(&reply);
    c.wakeup.deadline_ms = clock_mono_ms() + 300;
    long before = peak_kib();
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CANCELLED);
    assert_true(raw_server_state(server).sent > (size_t)1024 * 1024);
    assert_in_range(clock_mono_ms() - c.wakeup.deadline_ms, 0, 5000);
    assert_in_range(peak_kib() - before, 0, 32 * 1024);
    end();
}

/* Whether the descriptor is the connection to that port. */
static bool leads_to(int fd, in_port_t port)
{
    struct sockaddr_in peer;
    socklen_t len = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && peer.sin_family == AF_INET &&
           peer.sin_port == port;
}

TEST(test_connections_close_on_exec)
{
    const struct raw_reply reply = {.begin = LINE "Content-Length: 2\r\n\r\nok"};
    limits(&reply);
    assert_true(perform(&c));
    in_port_t port = htons((uint16_t)atoi(strrchr(raw_server_url(server), ':') + 1));
    int found = 0;
    for (int fd = 0; fd < 1024; fd++) {
        if (!leads_to(fd, port))
            continue;
        found++;
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    assert_int_equal(found, 1);
    end();
}
