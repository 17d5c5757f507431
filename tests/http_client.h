/* A client of HTTP that sends bytes as they are, and the program that serves it. Faults fail the
 * test; waits end after ten seconds. Wants <cmocka.h>. */
#ifndef TESTS_HTTP_CLIENT_H
#define TESTS_HTTP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "tests/support.h"

/* The token of every server that a test starts, unless its configuration says another, and the
 * fields of a head that every request needs. */
#define HTTP_TOKEN "0123456789abcdef-of-the-tests"
#define HTTP_HOST "Host: localhost\r\nAuthorization: Bearer " HTTP_TOKEN "\r\n"

/* Where a server of the test keeps its token; kept. */
char *http_token_file(void);
/* Puts HTTP_TOKEN there. */
void http_give_token(void);

/* --- the program: tiro serve --http ------------------------------------------------------------
 */

struct served {
    struct support_child child;
    int port;
};

/* On a free port of 127.0.0.1, unless `args` (ending with NULL) say another; returns when it
 * listens. Standard error has said where. */
void served_start(struct served *s, const char *const *args);
#define SERVE(s, ...) served_start(s, (const char *const[]){__VA_ARGS__, NULL})

/* The port of 127.0.0.1 that a program says on standard error. */
int served_port(struct support_child *c);

/* Sends SIGTERM and waits; the exit status. */
int served_stop(struct served *s);

/* Resident bytes of it. */
size_t served_memory(const struct served *s);

/* --- connections -------------------------------------------------------------------------------
 */

struct http_client {
    int fd;
    struct buf bytes; /* that were read and not taken yet */
};

void http_client_open(struct http_client *c, int port);
void http_client_close(struct http_client *c);
void http_client_send(struct http_client *c, const char *text);
void http_client_send_bytes(struct http_client *c, const char *bytes, size_t len);

/* Reads more; false at the end, or after `ms`. */
bool http_client_read(struct http_client *c, int ms);

/* A reply; its texts are kept (tests/support.h). */
struct http_answer {
    int status; /* 0: the connection was closed instead */
    char *head, *body;
};
struct http_answer http_client_answer(struct http_client *c);
/* … without a body whatever its head says: to HEAD. */
struct http_answer http_client_head(struct http_client *c);

/* The connection is closed, and nothing more came. */
void http_client_expect_end(struct http_client *c);
void http_client_expect_closed(struct http_client *c);

/* --- whole requests ----------------------------------------------------------------------------
 */

/* `body` NULL: none; it may have ' for ". */
struct http_answer http_ask(int port, const char *method, const char *path, const char *body);

/* The body as JSON; kept. */
const struct json *http_json(const struct http_answer *a);

/* Has this status, and a body with this code; `names` (or NULL) is in the message. */
void http_expect_error(struct http_answer a, int status, const char *code, const char *names);

/* The id of a session that was begun; kept. */
char *http_begin_session(int port);

/* --- event streams -----------------------------------------------------------------------------
 */

struct http_stream {
    struct http_client client;
    struct buf text;        /* of the stream that is not taken yet */
    char *id, *name, *data; /* of the last event; id "" where it had none */
    int comments;
};

/* `session` NULL: of all. `after` negative: no Last-Event-ID. Has been answered with 200. */
void events_open(struct http_stream *s, int port, const char *session, int64_t after);
void events_close(struct http_stream *s);

/* The next event; false: the stream has ended, or nothing came for `ms`. */
bool events_next(struct http_stream *s, int ms);

/* The next one of this name; others are passed over. */
void events_expect(struct http_stream *s, const char *name);

#endif
