/* A scripted client of `tiro serve --acp`, the real program, with a scripted model. The short names
 * are for tests of the protocol only. Faults fail the test; returned texts are kept
 * (tests/support.h). Include <cmocka.h> first. */
#ifndef TESTS_ACP_CLIENT_H
#define TESTS_ACP_CLIENT_H

#include "base/json.h"
#include "tests/model_server.h"
#include "tests/rpc_client.h"

extern struct model_server *model;
extern struct rpc_client client;
extern const char *session; /* set by the tests that have a session */

int acp_set_up(void **state);
int acp_tear_down(void **state);

#define START(...) rpc_client_start_raw(&client, (const char *const[]){"--acp", __VA_ARGS__, NULL})
void initialize(const char *capabilities); /* JSON with ' for ", as all texts here */
const char *new_session(void);
void begin_with(const char *capabilities);    /* starts with all tools and makes a session */
void begin(void);                             /* the same for a client without capabilities */
void begin_allowed(const char *capabilities); /* the same, and tools run without asking */
void end(void); /* the program ends with its input, at the end of a test by itself */

/* JSON of an object whose first member is the session. */
#define PARAMS(rest) support_text("{'sessionId':'%s'" rest "}", session)
#define CANCEL                                                                                     \
    support_text(                                                                                  \
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":"            \
        "\"%s\"}}\n",                                                                              \
        session)

/* Sends a prompt; returns the id of the request. */
int prompt_in(const char *id, const char *text);
int prompt(const char *text);
void expect_stop(int id, const char *reason);
void expect_code(int id, int code, const char *name); /* name NULL: any */
void fails(const char *method, const char *params, int code, const char *name);

/* A text member that must be there. */
const char *text_of(const struct json *v, const char *member);

/* The next update of this kind; earlier updates of other kinds are dropped. */
const struct json *client_told(const char *kind);
const char *told_text(const char *kind);

/* The next update of a tool call that has this member. */
const struct json *next_update_with(const char *member);

/* Removes all updates of this kind that have arrived, and returns their texts joined. */
char *all_said(const char *kind);

/* Sends a prompt and waits for its end; returns the agent's text. */
char *ask(const char *text);

/* The next request of the agent; messages before it stay queued. The others answer it. */
const struct json *next_request(const char *method);
void answer_with(const struct json *request, const char *result);
void refuse_with(const struct json *request, int code, const char *message);

const char *id_of(const struct json *request);
const struct json *asked_for(const struct json *request);

/* The agent must have cancelled the request. */
void expect_withdrawn(const struct json *request);
void expect_no_request(const char *method); /* no such request has come so far */

/* The agent's next request for permission to run a tool. */
const struct json *next_permission(void);
void allow(const struct json *permission);

/* A JSON string of `len` letters. */
const char *giant(size_t len);

/* Queues a reply in which the model calls this tool. */
void queue_tool(const char *name, const char *args);

const char *last_body(void); /* the body of the newest request to the model */

bool is_there(const char *path);

const char *load(const char *id);

#endif
