/* Whether a request may be looked at: which version of the protocol it is of, and what that wants
 * of its members and its headers. Pure. */
#ifndef SERVE_MCP_PRIVATE_H
#define SERVE_MCP_PRIVATE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/json.h"
#include "base/json_out.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "serve/mcp.h"
#include "serve/server.h"

/* Besides those of JSON-RPC. */
enum {
    MCP_RESOURCE_NOT_FOUND = -32002, /* until 2025-11-25; RPC_INVALID_PARAMS from then on */
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNSUPPORTED_VERSION = -32022
};

/* Newest first; the first is of the era without a handshake. NULL ends them. */
extern const char *const mcp_versions[];
/* The one that initialize agrees on, where it was asked for `wanted`. Static. */
const char *mcp_version_for(const char *wanted);
/* The array of them. */
void mcp_write_versions(struct json_out *o);

struct mcp_request {
    const char *method;
    const struct json *params;
    bool batch;                        /* it came in an array */
    const struct mcp_headers *headers; /* NULL: no HTTP */
    const char *agreed; /* version of an initialize before it; NULL: there was none */
};

struct mcp_refusal {
    int status; /* of HTTP */
    int code;
    char message[256];
    char *data; /* JSON, the caller's to free; NULL: none */
};

/* False: `refusal` says why. `modern`: it is of 2026-07-28. */
bool mcp_admit(const struct mcp_request *r, bool *modern, struct mcp_refusal *refusal);

/* Names of resources: "tiro://session/REFERENCE" is a session as Markdown, with ".json" behind it
 * its events. Pure. */

enum mcp_form { MCP_MARKDOWN, MCP_JSON };

/* False: it names nothing of ours. `reference` (catalog.h), with what was escaped as it is, is the
 * caller's to free. */
bool mcp_uri_read(const char *uri, char **reference, enum mcp_form *form);

/* The caller frees. */
char *mcp_uri_of(const char *session_id, enum mcp_form form);

/* --- shared by the files of the MCP server -------------------------------------------------------
 */

struct mcp {
    struct server *server;
    unsigned rights; /* of enum mcp_right */
    enum mcp_guise as;
    struct listener *listener;
    struct stop_handler *end;
    struct timer *watching; /* of the subscriptions; NULL: there are none */
    VEC(struct mcp_subscription *) subscriptions;
    VEC(struct mcp_link *) links;
    VEC(struct mcp_call *) calls;
    VEC(struct mcp_session *) sessions; /* of HTTP, the one that was used last behind the others */
    char *tools;                        /* the array of those that are offered, JSON */
};

/* A client of HTTP that has said initialize. */
struct mcp_session {
    char id[UUID_LEN + 1];
    const char *version;
};

/* Where messages come from: a connection, or one POST. */
struct mcp_link {
    struct mcp *mcp;
    struct rpc_peer *peer;
    const char *agreed; /* version of initialize; NULL: none was */
    bool begun;         /* … that came over this link */

    bool http;                         /* it is one POST */
    const struct mcp_headers *headers; /* of it, while it is read */
    char session[UUID_LEN + 1];        /* … "": none */
    bool lost;                         /* … the session that it names has ended */
    int status;                        /* … 0: nothing was asked */
    bool hears;                        /* notifications can be sent */
    struct mcp_subscription *followed; /* by resources/subscribe; NULL: nothing */
    bool follows_graph;                /* likewise, as server-memory */

    void (*wrote)(void *context); /* there is output */
    void *context;
};

/* A request that waits for its answer, or a turn that goes on without a client. */
struct mcp_call {
    struct mcp *mcp;
    struct mcp_link *link; /* NULL: it has gone */
    struct rpc_call *rpc;  /* NULL: nobody waits any more */
    bool modern;
    char *id;                   /* JSON */
    char session[UUID_LEN + 1]; /* the link's */
    uint64_t asked;             /* of the server; 0: nothing */
    void (*answered)(struct mcp_call *c, const struct operation_answer *a);
    const struct mcp_work *work; /* NULL: what was asked is all that there is */
    void *state;
};

/* The work of a call that makes more than one call to the engine. */
struct mcp_work {
    bool lasts; /* it goes on where the client has just gone */
    /* Nobody waits any more: what can be ended is ended, and the call in the end. NULL: it is
     * withdrawn and gone. */
    void (*cancel)(struct mcp_call *c);
    void (*free)(struct mcp_call *c);
};

/* --- calls (mcp.c) ------------------------------------------------------------------------
 */

/* One question at a time. The call is still there when `answered` is called; where the question
 * cannot be asked, it fails at once, and is gone. */
void mcp_ask(struct mcp_call *c, const struct operation *o, const void *params,
             void (*answered)(struct mcp_call *c, const struct operation_answer *a));

/* The result: its object is open for members in between. mcp_result_send() ends the call; where
 * nobody waits, too. */
struct mcp_result {
    struct buf text;
    struct json_out out;
};
/* `meta`: the name of a member of _meta, whose value is `json`; NULL: none. */
void mcp_result_begin(const struct mcp_call *c, struct mcp_result *r, const char *meta,
                      const char *json);
/* … of a listing or a text that may be kept for `ttl_ms`. */
void mcp_result_begin_kept(const struct mcp_call *c, struct mcp_result *r, int ttl_ms);
void mcp_result_send(struct mcp_call *c, struct mcp_result *r);

/* An error of the protocol; ends the call. `data_json` may be NULL. */
void mcp_fail(struct mcp_call *c, int code, const char *message, const char *data_json);

/* An error of the engine, except as the result of a tool; it never has tiro's numbers. */
void mcp_fail_with(struct mcp_call *c, const struct error *e);

/* The result of a tool: a struct of the shape, and a text (NULL: its JSON). One that failed may
 * have one, too (shape NULL: none). */
void mcp_tool_send(struct mcp_call *c, const struct shape *shape, const void *result,
                   const char *text);
void mcp_tool_fail(struct mcp_call *c, const struct error *e, const struct shape *shape,
                   const void *result);

/* Without an answer: it is taken back and gone, or ended by its work. */
void mcp_call_cancel(struct mcp_call *c);
void mcp_call_free(struct mcp_call *c);

/* False: it is not heard. */
bool mcp_notify(struct mcp_link *l, const char *method, const char *params_json);

/* --- links (mcp.c) -----------------------------------------------------------------------------
 */

void mcp_link_open(struct mcp_link *l, struct mcp *m);
/* `gone`: the client closed it, so that what 2026-07-28 asked for over HTTP is cancelled. */
void mcp_link_close(struct mcp_link *l, bool gone);

/* --- methods -----------------------------------------------------------------------------------
 */

typedef void mcp_method(struct mcp_call *c, const struct json *params);
mcp_method mcp_done;                                                        /* an empty result */
mcp_method mcp_tools_list, mcp_tools_call;                                  /* mcp_tools.c */
mcp_method mcp_resources_list, mcp_resources_templates, mcp_resources_read; /* mcp_resources.c */
mcp_method mcp_subscribe, mcp_unsubscribe, mcp_listen;                      /* mcp_resources.c */

/* The array of tools that are offered; the caller frees. */
char *mcp_tools_json(const struct mcp *m);

/* A tool: a row, made of a row of the table of operations. */
struct mcp_tool {
    const char *name, *title, *description;
    const struct operation *operation; /* whose needs are the tool's */
    const struct shape *params;        /* NULL: the operation's */
    void (*ready)(void *params);       /* sets what no argument says; NULL: nothing */
    const struct shape *result; /* of the operation's struct; NULL: as the operation has it */
    char *(*text)(const void *result); /* what models read; NULL: JSON. The caller frees */
    /* Takes the params, and asks; `state` of the call is the tool. NULL: asks for the row. */
    void (*start)(struct mcp_call *c, void *params, const char *token);
    enum mcp_right right; /* that it needs; 0: it only reads */
    bool destroys;        /* what was there */
    bool repeatable;      /* … without more coming of it */
    bool reaches_out;     /* beyond what tiro keeps */
    bool memory;          /* it is offered as MCP_AS_MEMORY, too */
};

enum { MCP_GRAPH_TOOLS = 9 };
extern const struct mcp_tool mcp_graph_tools[MCP_GRAPH_TOOLS]; /* mcp_graph.c, as the next two */
mcp_method mcp_graph_resources, mcp_graph_templates, mcp_graph_read, mcp_graph_subscribe,
    mcp_graph_unsubscribe;
/* A tool has changed the graph. */
void mcp_graph_changed(struct mcp *m);

/* No resource has this URI; ends the call. */
void mcp_fail_not_found(struct mcp_call *c, const char *uri);

/* Sends the answer of the tool's operation. */
void mcp_tool_answered(struct mcp_call *c, const struct operation_answer *a);

/* Ends the subscriptions of the link; answers its subscriptions/listen. */
void mcp_unfollow(struct mcp_link *l);
void mcp_stop_listening(struct mcp_link *l);

/* --- turns (mcp_tools.c) ------------------------------------------------------------------------
 */

extern const struct shape mcp_run_shape, mcp_resume_shape, mcp_compact_shape;
/* `params` is a struct of the shape, which is taken; `token` (JSON, NULL) is the caller's. */
void mcp_turn_run(struct mcp_call *c, void *params, const char *token);
void mcp_turn_resume(struct mcp_call *c, void *params, const char *token);
/* Tells the progress of a turn that a call waits for, and answers the questions of its session. */
void mcp_turn_notice(void *mcp, const struct notice *n);

#endif
