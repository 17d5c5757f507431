/* The transport against servers that never come to an end: each request fails in bounded memory,
 * or can be stopped in the middle. */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "provider/http.h"
#include "tests/raw_server.h"
#include "tests/suite.h"
#include "tests/support.h"

#define LINE "HTTP/1.1 200 OK\r\n"
#define CHUNKED LINE "Transfer-Encoding: chunked\r\n\r\n"

struct client {
    struct raw_server *server;
    struct http *http;
    struct http_request request;
    struct http_reply reply;
    struct failure failure;
    struct wakeup wakeup;
    int wake[2];
    size_t body, calls; /* what on_body got */
    size_t stop_after;  /* calls of it, after which the wakeup is pulled; 0: never */
};

static bool take_body(void *context, const char *bytes, size_t len)
{
    struct client *c = context;
    (void)bytes;
    c->body += len;
    c->calls++;
    if (c->calls == c->stop_after)
        assert_int_equal(write(c->wake[1], "x", 1), 1);
    return true;
}

static bool stop(void *context)
{
    (void)context;
    return false;
}

static void client_start(struct client *c, const struct raw_reply *reply)
{
    *c = (struct client){.server = raw_server_start(reply), .http = http_new()};
    c->request = (struct http_request){.url = raw_server_url(c->server),
                                       .connect_timeout_ms = 5000,
                                       .stall_timeout_ms = 20000,
                                       .on_body = take_body,
                                       .context = c};
    assert_int_equal(pipe(c->wake), 0);
    c->wakeup = (struct wakeup){.fd = c->wake[0], .go_on = stop};
    http_reply_init(&c->reply);
    failure_clear(&c->failure);
}

static bool perform(struct client *c)
{
    return http_perform(c->http, &c->request, &c->wakeup, &c->reply, &c->failure);
}

static void client_end(struct client *c)
{
    http_free(c->http);
    http_reply_release(&c->reply);
    raw_server_stop(c->server);
    close(c->wake[0]);
    close(c->wake[1]);
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
    struct client c;
    long before = peak_kib();
    client_start(&c, &f->reply);
    if (perform(&c))
        fail_msg("%s: taken", f->what);
    if (c.failure.kind != f->kind || !strstr(c.failure.text, f->said))
        fail_msg("%s: %d, %s", f->what, c.failure.kind, c.failure.text);
    if (peak_kib() - before > 32 * 1024)
        fail_msg("%s: %ld KiB more", f->what, peak_kib() - before);
    client_end(&c);
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
    struct client c;
    client_start(&c, &reply);
    assert_true(perform(&c));
    assert_int_equal(c.body, 2);
    client_end(&c);
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
        struct client c;
        client_start(&c, &replies[i]);
        c.request.stall_timeout_ms = 300;
        assert_false(perform(&c));
        assert_int_equal(c.failure.kind, FAILURE_STALL);
        client_end(&c);
    }
}

/* A body that drips is an answer that is slow. */
TEST(test_a_slow_body_is_taken)
{
    const struct raw_reply reply = {
        .begin = LINE "Content-Length: 20\r\n\r\n", .again = "x", .times = 20, .pause_ms = 50};
    struct client c;
    client_start(&c, &reply);
    c.request.stall_timeout_ms = 700;
    assert_true(perform(&c));
    assert_int_equal(c.body, 20);
    client_end(&c);
}

/* The wakeup is asked between the pieces of what libcurl reads at once. */
TEST(test_a_flood_is_stopped_at_the_next_piece)
{
    const struct raw_reply reply = {.begin = LINE "\r\n", .again = "flood and flood\n"};
    struct client c;
    client_start(&c, &reply);
    c.stop_after = 3;
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CANCELLED);
    assert_int_equal(c.calls, 3);
    client_end(&c);
}

/* No byte of this is of a body or a header: nothing but the wakeup ends it. */
TEST(test_a_chunk_extension_without_end)
{
    const struct raw_reply reply = {.begin = CHUNKED "1;x=", .again = "extension "};
    struct client c;
    client_start(&c, &reply);
    c.wakeup.deadline_ms = clock_mono_ms() + 300;
    long before = peak_kib();
    assert_false(perform(&c));
    assert_int_equal(c.failure.kind, FAILURE_CANCELLED);
    assert_true(raw_server_sent(c.server) > (size_t)1024 * 1024);
    assert_in_range(clock_mono_ms() - c.wakeup.deadline_ms, 0, 5000);
    assert_in_range(peak_kib() - before, 0, 32 * 1024);
    client_end(&c);
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
    struct client c;
    client_start(&c, &reply);
    assert_true(perform(&c));
    in_port_t port = htons((uint16_t)atoi(strrchr(raw_server_url(c.server), ':') + 1));
    int found = 0;
    for (int fd = 0; fd < 1024; fd++) {
        if (!leads_to(fd, port))
            continue;
        found++;
        assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    }
    assert_int_equal(found, 1);
    client_end(&c);
}
