/* A client of `tiro serve`, on the standard streams of a real program or on its socket. Faults fail
 * the test; returned values are kept (tests/support.h). Include <cmocka.h> first. */
#ifndef TESTS_RPC_CLIENT_H
#define TESTS_RPC_CLIENT_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/json.h"
#include "base/vec.h"
#include "tests/support.h"

enum { RPC_CLIENT_MS = 20000 }; /* of every wait */

struct rpc_client {
    struct support_child child; /* of --stdio */
    int fd;                     /* of a socket; -1: the child's standard files */
    struct sockaddr_un address; /* of the socket */
    size_t read;                /* bytes of the child's output that were consumed */
    struct buf socket_text;
    VEC(struct json *) waiting; /* messages that came while the test waited for others */
    VEC(struct json *) all;     /* to be freed at the end */
    int asked;
    bool stopped;
    int status; /* the exit status then */
};

/* Runs the program with --stdio and these arguments, up to a NULL, and calls initialize. */
void rpc_client_start(struct rpc_client *c, const char *const *args);
#define RPC_START(c, ...) rpc_client_start(c, (const char *const[]){__VA_ARGS__, NULL})
/* Like rpc_client_start(), on the socket of a running program, once it listens. */
void rpc_client_connect(struct rpc_client *c, const char *path);

/* Without a call to initialize; the first argument says how to serve ("--acp"). */
void rpc_client_start_raw(struct rpc_client *c, const char *const *args);
void rpc_client_connect_raw(struct rpc_client *c, const char *path);

/* Sends a request; parameters are JSON with ' for "; NULL: none. Returns the id of the request. */
int rpc_client_ask(struct rpc_client *c, const char *method, const char *params);
void rpc_client_write(struct rpc_client *c, const char *text);

/* The whole answer, {"id",…,"result"|"error"}. Notifications before it wait for
 * rpc_client_told(). */
const struct json *rpc_client_answer(struct rpc_client *c, int id);
const struct json *rpc_client_call(struct rpc_client *c, const char *method, const char *params);

/* The result of a call, which must succeed; the error of a call that must fail with this name of
 * base/err.h. */
const struct json *rpc_client_result(struct rpc_client *c, const char *method, const char *params);
const struct json *rpc_client_error(struct rpc_client *c, const char *method, const char *params,
                                    const char *name);
void rpc_client_is_error(const struct json *answer, const char *name);

/* Parameters of the next notification of this method (for an event or an update: of this type;
 * NULL: any); earlier notifications are dropped. */
const struct json *rpc_client_told(struct rpc_client *c, const char *method, const char *type);

/* Whether such a notification has come so far; all stay queued. */
bool rpc_client_was_told(struct rpc_client *c, const char *method, const char *type);

/* The next message. */
const struct json *rpc_client_next(struct rpc_client *c);

/* Sends the program this signal and waits for its end; complete messages that it wrote before are
 * queued. Returns the exit status. */
int rpc_client_stop(struct rpc_client *c, int signal_number);

/* Closes the input or the socket, and frees. Returns the exit status; 0 for a socket. */
int rpc_client_end(struct rpc_client *c);

#endif
