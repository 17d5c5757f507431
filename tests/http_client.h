/* An HTTP client that sends bytes unchanged, and the program that serves it. Faults fail the test;
 * waits end after ten seconds. Include <cmocka.h> first. */
#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "tests/support.h"

/* The token of every server that a test starts, unless its configuration sets another, and the
 * header fields that every request needs. */
#define HTTP_TOKEN "0123456789abcdef-of-the-tests"
#define HTTP_HOST "Host: localhost\r\nAuthorization: Bearer " HTTP_TOKEN "\r\n"

/* The path of the file with the server's token; kept. */
char *http_token_file(void);
/* Writes HTTP_TOKEN to that file. */
void http_give_token(void);

/* --- the program: tiro serve --http ----------------------------------------------------------- */

struct served {
    struct support_child child;
    int port;
};

/* Starts on a free port of 127.0.0.1, unless `args` (ending with NULL) name another; returns when
 * standard error reports that it listens. */
void served_start(struct served *s, const char *const *args);
#define SERVE(s, ...) served_start(s, (const char *const[]){__VA_ARGS__, NULL})

/* The port of 127.0.0.1 that the program reports on standard error. */
int served_port(struct support_child *c);

/* Sends SIGTERM and waits; returns the exit status. */
int served_stop(struct served *s);
/* Stops it, if it runs, with status 0. */
void served_end(struct served *s);

/* The resident bytes of the server. */
size_t served_memory(const struct served *s);

/* The server of a test, which ends with it, and requests to it. */
extern struct served tiro;
int http_teardown(void **state);
#define GET(path) http_ask(tiro.port, "GET", path, NULL)
#define POST(path, body) http_ask(tiro.port, "POST", path, body)

/* --- connections ------------------------------------------------------------------------------ */

struct http_client {
    int fd;
    struct buf bytes; /* bytes that were read but not consumed */
};

void http_client_open(struct http_client *c, int port);
void http_client_close(struct http_client *c);
void http_client_send(struct http_client *c, const char *text);
void http_client_send_bytes(struct http_client *c, const char *bytes, size_t len);

/* Reads more; returns false at the end, or after `ms`. */
bool http_client_read(struct http_client *c, int ms);

/* A reply; its texts are kept (tests/support.h). */
struct http_answer {
    int status; /* 0: the connection was closed instead */
    char *head, *body;
};
struct http_answer http_client_answer(struct http_client *c);
/* The reply to HEAD: without a body, whatever its head says. */
struct http_answer http_client_head(struct http_client *c);

/* The connection must be closed without more bytes. */
void http_client_expect_end(struct http_client *c);
void http_client_expect_closed(struct http_client *c);

/* --- whole requests --------------------------------------------------------------------------- */

/* `body` NULL: none; it may have ' for ". */
struct http_answer http_ask(int port, const char *method, const char *path, const char *body);

/* The body as JSON; kept. */
const struct json *http_json(const struct http_answer *a);

/* Checks the status and the code in the body; `names` (or NULL) must be in the message. */
void http_expect_error(struct http_answer a, int status, const char *code, const char *names);

/* Begins a session; returns its id, kept. */
char *http_begin_session(int port);

/* --- event streams ---------------------------------------------------------------------------- */

struct http_stream {
    struct http_client client;
    struct buf text;        /* text of the stream that is not consumed */
    char *id, *name, *data; /* of the last event; id "" where it had none */
    int comments;
};

/* Opens the stream, which must answer with 200. `session` NULL: events of all sessions. `after`
 * negative: no Last-Event-ID. */
void events_open(struct http_stream *s, int port, const char *session, int64_t after);
void events_close(struct http_stream *s);

/* The next event; false at the end of the stream, or after `ms` without one. */
bool events_next(struct http_stream *s, int ms);

/* Waits for the next event of this name; skips others. */
void events_expect(struct http_stream *s, const char *name);

#endif
