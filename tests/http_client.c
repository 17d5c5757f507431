#include "tests/suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/paths.h"
#include "tests/http_client.h"

enum { WAIT_MS = 10000, MOST_ARGUMENTS = 32 };

/* --- the program ------------------------------------------------------------------------------ */

/* Reads standard error until it has the text; returns the text after it. */
static const char *read_error_until(struct support_child *c, const char *text)
{
    int64_t end = clock_mono_ms() + 3 * WAIT_MS;
    const char *found;
    while (!(found = strstr(c->err_text.data, text)) || !strchr(found, '\n')) {
        char bytes[4096];
        struct pollfd p = {.fd = c->err, .events = POLLIN};
        ssize_t n =
            poll(&p, 1, (int)(end - clock_mono_ms())) > 0 ? read(c->err, bytes, sizeof bytes) : 0;
        if (n <= 0)
            fail_msg("\"%s\" does not come; standard error: %s", text, c->err_text.data);
        buf_add(&c->err_text, bytes, (size_t)n);
    }
    return found + strlen(text);
}

char *http_token_file(void)
{
    return support_path(".local/state/tiro/http-token");
}

void http_give_token(void)
{
    struct error e;
    char *directory = support_path(".local/state/tiro"), *file = http_token_file();
    assert_true(paths_make_dir(directory, &e));
    support_write(file, HTTP_TOKEN "\n");
    assert_int_equal(chmod(file, 0600), 0);
}

int served_port(struct support_child *c)
{
    int port = atoi(read_error_until(c, "http://127.0.0.1:"));
    assert_true(port > 0);
    return port;
}

void served_start(struct served *s, const char *const *args)
{
    const char *argv[MOST_ARGUMENTS] = {support_program(), "serve", "--http", "127.0.0.1:0"};
    size_t n = 4;
    *s = (struct served){0};
    http_give_token();
    for (; *args; args++)
        argv[n++] = *args;
    support_start(&s->child, argv);
    s->port = served_port(&s->child);
}

int served_stop(struct served *s)
{
    kill(s->child.pid, SIGTERM);
    int status = support_finish(&s->child, NULL);
    if (s->child.out_text.len > 0)
        fail_msg("on standard output: %s", s->child.out_text.data);
    support_release(&s->child);
    s->child.pid = 0;
    return status;
}

void served_end(struct served *s)
{
    if (s->child.pid)
        assert_int_equal(served_stop(s), 0);
}

struct served tiro;

int http_teardown(void **state)
{
    served_end(&tiro);
    return support_teardown(state);
}

size_t served_memory(const struct served *s)
{
    char *path = support_text("/proc/%d/statm", (int)s->child.pid);
    long size, resident;
    assert_int_equal(sscanf(support_read(path), "%ld %ld", &size, &resident), 2);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* --- connections ------------------------------------------------------------------------------ */

void http_client_open(struct http_client *c, int port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    buf_init(&c->bytes, 0);
    assert_true(c->fd >= 0);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to) != 0)
        fail_msg("port %d: %s", port, strerror(errno));
}

void http_client_close(struct http_client *c)
{
    close(c->fd);
    buf_release(&c->bytes);
}

void http_client_send_bytes(struct http_client *c, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(c->fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* the reader of the answer detects a failure */
        bytes += n;
        len -= (size_t)n;
    }
}

void http_client_send(struct http_client *c, const char *text)
{
    http_client_send_bytes(c, text, strlen(text));
}

bool http_client_read(struct http_client *c, int ms)
{
    char bytes[65536];
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    if (poll(&p, 1, ms) <= 0)
        return false;
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n > 0)
        buf_add(&c->bytes, bytes, (size_t)n);
    return n > 0;
}

/* The value of a field of a head; NULL. Points behind the blanks. */
static const char *field_of(const char *head, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, len) == 0 && line[2 + len] == ':')
            return line + 3 + len + strspn(line + 3 + len, " ");
    return NULL;
}

static bool read_head(struct http_client *c, struct http_answer *a)
{
    const char *end;
    while (!(end = strstr(c->bytes.data, "\r\n\r\n")))
        if (!http_client_read(c, WAIT_MS)) {
            if (c->bytes.len > 0)
                fail_msg("half a head: %s", c->bytes.data);
            return false;
        }
    size_t len = (size_t)(end - c->bytes.data) + 4;
    a->head = support_keep(mem_strndup(c->bytes.data, len));
    buf_consume(&c->bytes, len);
    assert_int_equal(sscanf(a->head, "HTTP/1.%*d %d", &a->status), 1);
    return true;
}

static void wait_for(struct http_client *c, size_t len)
{
    while (c->bytes.len < len)
        if (!http_client_read(c, WAIT_MS))
            fail_msg("%zu of %zu bytes came: %s", c->bytes.len, len, c->bytes.data);
}

/* Takes the next chunk into `out`; false: it was the last. */
static bool read_chunk(struct http_client *c, struct buf *out)
{
    while (!strstr(c->bytes.data, "\r\n"))
        wait_for(c, c->bytes.len + 1);
    size_t digits = strcspn(c->bytes.data, "\r"), len = strtoul(c->bytes.data, NULL, 16);
    wait_for(c, digits + 2 + len + 2);
    buf_add(out, c->bytes.data + digits + 2, len);
    buf_consume(&c->bytes, digits + 2 + len + 2);
    return len > 0;
}

static void read_body(struct http_client *c, struct http_answer *a)
{
    struct buf body = BUF_INIT;
    const char *length = field_of(a->head, "Content-Length");
    if (length) {
        size_t len = strtoul(length, NULL, 10);
        wait_for(c, len);
        buf_add(&body, c->bytes.data, len);
        buf_consume(&c->bytes, len);
    } else if (field_of(a->head, "Transfer-Encoding")) {
        while (read_chunk(c, &body))
            continue;
    } else {
        while (http_client_read(c, WAIT_MS))
            continue;
        buf_add(&body, c->bytes.data, c->bytes.len);
        buf_clear(&c->bytes);
    }
    a->body = support_keep(buf_take(&body));
}

struct http_answer http_client_answer(struct http_client *c)
{
    struct http_answer a = {0};
    do {
        if (!read_head(c, &a))
            return a;
    } while (a.status == 100);
    read_body(c, &a);
    return a;
}

struct http_answer http_client_head(struct http_client *c)
{
    struct http_answer a = {0};
    (void)read_head(c, &a);
    return a;
}

void http_client_expect_end(struct http_client *c)
{
    while (http_client_read(c, WAIT_MS))
        continue;
    if (c->bytes.len > 0)
        fail_msg("more came: %s", c->bytes.data);
    http_client_expect_closed(c);
}

void http_client_expect_closed(struct http_client *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 0), 1);
}

/* --- whole requests --------------------------------------------------------------------------- */

struct http_answer http_ask(int port, const char *method, const char *path, const char *body)
{
    struct http_client c;
    const char *text = body ? support_json(body) : "";
    http_client_open(&c, port);
    http_client_send(&c, support_text("%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
                                      "Authorization: Bearer " HTTP_TOKEN "\r\n",
                                      method, path, port));
    if (body)
        http_client_send(&c,
                         support_text("Content-Type: application/json\r\nContent-Length: %zu\r\n",
                                      strlen(text)));
    http_client_send(&c, "\r\n");
    http_client_send(&c, text);
    struct http_answer a = http_client_answer(&c);
    http_client_close(&c);
    return a;
}

const struct json *http_json(const struct http_answer *a)
{
    static struct json *kept;
    json_free(kept);
    kept = a->body ? json_parse(a->body, strlen(a->body), NULL) : NULL;
    if (!kept)
        fail_msg("no JSON: %s", a->body);
    return kept;
}

void http_expect_error(struct http_answer a, int status, const char *code, const char *names)
{
    const struct json *v = http_json(&a);
    const char *message = json_get_string(v, "message");
    if (a.status != status || strcmp(json_get_string(v, "code"), code) != 0)
        fail_msg("not %d %s but %d %s", status, code, a.status, a.body);
    if (!message || !strchr(message, ';') || (names && !strstr(message, names)))
        fail_msg("the message: %s", message);
}

char *http_begin_session(int port)
{
    struct http_answer a = http_ask(port, "POST", "/sessions", "{}");
    assert_int_equal(a.status, 201);
    return support_text("%s", json_get_string(http_json(&a), "id"));
}

/* --- event streams ---------------------------------------------------------------------------- */

void events_open(struct http_stream *s, int port, const char *session, int64_t after)
{
    struct http_answer a = {0};
    *s = (struct http_stream){.text = BUF_INIT};
    http_client_open(&s->client, port);
    http_client_send(&s->client, support_text("GET %s%s/events HTTP/1.1\r\n" HTTP_HOST "Accept: "
                                              "text/event-stream\r\n",
                                              session ? "/sessions/" : "", session ? session : ""));
    if (after >= 0)
        http_client_send(&s->client, support_text("Last-Event-ID: %lld\r\n", (long long)after));
    http_client_send(&s->client, "\r\n");
    assert_true(read_head(&s->client, &a));
    if (a.status != 200)
        fail_msg("%s", a.head);
    assert_non_null(strstr(a.head, "text/event-stream"));
}

static void forget_event(struct http_stream *s)
{
    free(s->id);
    free(s->name);
    free(s->data);
    s->id = s->name = s->data = NULL;
}

void events_close(struct http_stream *s)
{
    http_client_close(&s->client);
    buf_release(&s->text);
    forget_event(s);
    *s = (struct http_stream){0};
}

/* The whole chunks that have come. */
static bool take_chunks(struct http_stream *s)
{
    struct buf *b = &s->client.bytes;
    for (;;) {
        const char *line = strstr(b->data, "\r\n");
        size_t digits = line ? (size_t)(line - b->data) : 0, len = strtoul(b->data, NULL, 16);
        if (!line || b->len < digits + 2 + len + 2)
            return true;
        buf_add(&s->text, b->data + digits + 2, len);
        buf_consume(b, digits + 2 + len + 2);
        if (len == 0)
            return false;
    }
}

static char *line_of(const char *event, const char *name)
{
    const char *at = event;
    size_t len = strlen(name);
    while (at && strncmp(at, name, len) != 0) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at ? mem_strndup(at + len, strcspn(at + len, "\n")) : mem_strdup("");
}

/* False: there is no whole one. */
static bool take_event(struct http_stream *s)
{
    char *end = strstr(s->text.data, "\n\n");
    if (!end)
        return false;
    *end = '\0';
    forget_event(s);
    s->id = line_of(s->text.data, "id: ");
    s->name = line_of(s->text.data, "event: ");
    s->data = line_of(s->text.data, "data: ");
    s->comments += s->text.data[0] == ':';
    buf_consume(&s->text, (size_t)(end - s->text.data) + 2);
    return true;
}

bool events_next(struct http_stream *s, int ms)
{
    int64_t end = clock_mono_ms() + ms;
    do {
        bool goes_on = take_chunks(s);
        while (take_event(s))
            if (*s->name)
                return true;
        int64_t left = end - clock_mono_ms();
        if (!goes_on || left < 0 || !http_client_read(&s->client, (int)left))
            return false;
    } while (true);
}

void events_expect(struct http_stream *s, const char *name)
{
    while (events_next(s, WAIT_MS))
        if (strcmp(s->name, name) == 0)
            return;
    fail_msg("no %s came; the last was %s", name, s->name);
}
