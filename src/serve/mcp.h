/* The Model Context Protocol: other agents search what was said in tiro, read its sessions and let
 * it work. Tools and resources call rows of the table of operations; a transport moves the bytes.
 *
 * Both eras are spoken: what begins with `initialize` (2024-11-05 to 2025-11-25), and what says
 * with each request which version it is of (2026-07-28). Everything belongs to the thread of the
 * server's loop. */
#ifndef SERVE_MCP_H
#define SERVE_MCP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "session/operation.h"

struct mcp;
struct server;

/* Rights of clients that are given at start: X(LEAVE, bit, "word"). */
#define MCP_RIGHTS(X)                                                                              \
    X(RUN, 1, "run") /* tiro_run, tiro_resume: a model works, with the tools that it may use */    \
    X(CORPORA, 2, "corpora") /* texts come into corpora */                                         \
    X(GRAPH, 4, "graph")     /* the graph of facts is changed */                                   \
    X(OWNER, 8, "owner")     /* all of that, and all that HTTP's callers ask for as an owner */

enum mcp_right {
#define X(right, bit, word) MCP_##right = bit,
    MCP_RIGHTS(X)
#undef X
};

/* Takes these words out of a list parted by blanks or commas; what is left are not ours. */
unsigned mcp_take_rights(struct buf *words);

/* The word of one of them. */
const char *mcp_right_word(enum mcp_right right);

/* The tools that are offered: X(LEAVE, "word"). MEMORY: those that find what was said, in few
 * tokens; SERVER_MEMORY: those of the MCP project's server-memory instead of ours, which may change
 * the graph, and its one resource. */
#define MCP_GUISES(X)                                                                              \
    X(TIRO, "tiro")                                                                                \
    X(MEMORY, "memory")                                                                            \
    X(SERVER_MEMORY, "server-memory")

enum mcp_guise {
#define X(guise, word) MCP_AS_##guise,
    MCP_GUISES(X)
#undef X
};

struct mcp *mcp_new(struct server *server, unsigned rights, enum mcp_guise as);

/* The authority of its clients and of HTTP's: CLIENT, or OWNER with that right. */
enum authority mcp_authority(const struct mcp *m);

/* After its connections and exchanges. NULL is fine. */
void mcp_free(struct mcp *m);

/* --- lines, both ways: standard input and output ------------------------------------------------
 */

struct mcp_connection;

/* `in` and `out` may be the same; they stay the caller's. `closed` is called once, from the loop:
 * nobody reads any more, or all that was asked until the end of input is answered and written. The
 * caller disconnects then. */
struct mcp_connection *mcp_connect(struct mcp *m, int in, int out, void (*closed)(void *context),
                                   void *context);

/* Answers that are on their way are lost; turns that were begun go on. NULL is fine. */
void mcp_disconnect(struct mcp_connection *c);

/* --- HTTP: each message is the body of a POST ---------------------------------------------------
 *
 * Host, Origin, tokens, sizes and the keeping alive of streams are the HTTP server's. GET is 405.
 */

/* Headers of the request; NULL: it has none of that name. */
struct mcp_headers {
    bool takes_json, takes_events; /* Accept: application/json, text/event-stream */
    const char *protocol_version;  /* MCP-Protocol-Version */
    const char *method, *name;     /* Mcp-Method, Mcp-Name */
    const char *session;           /* Mcp-Session-Id */
};

/* How it is answered: by `answer` alone, or by `begin`, any number of `event` and `end`. After
 * `answer` and `end` the exchange is gone. Each may be called within mcp_post(); none may call
 * mcp_hang_up(). `session`: the value of Mcp-Session-Id, NULL: no such header. */
struct mcp_reply {
    /* `json` NULL: no body. */
    void (*answer)(void *context, int status, const char *session, const char *json, size_t len);
    void (*begin)(void *context, const char *session); /* 200, text/event-stream */
    void (*event)(void *context, const char *json,
                  size_t len); /* one "data:", without line break */
    void (*end)(void *context);
};

struct mcp_exchange;

/* NULL: it has been answered. `reply` and `context` are borrowed until it is gone. The server holds
 * the connection open: what is answered later is answered from its loop. */
struct mcp_exchange *mcp_post(struct mcp *m, const struct mcp_headers *headers, const char *body,
                              size_t len, const struct mcp_reply *reply, void *context);

/* The client has closed the connection, or the server wants to: nothing more is called. Of
 * 2026-07-28 that ends what the message asked for; of an older one it goes on. */
void mcp_hang_up(struct mcp_exchange *x);

/* DELETE of the session in its header: the status of the answer, which has no body. */
int mcp_delete(struct mcp *m, const char *session);

#endif
