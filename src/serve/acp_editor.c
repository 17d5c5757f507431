/* Requests to the editor on behalf of tools: texts that it has open, files that it writes, and
 * commands in its terminals. */
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "serve/acp_private.h"
#include "serve/wire.h"

/* From the kill of a command to the release of its terminal, whatever the client answers; less than
 * the tool waits. */
enum { PATIENCE_MS = 2000 };

struct acp_editor_request {
    struct acp *acp;
    enum notice_type type;
    char session[UUID_LEN + 1];
    int64_t number; /* of the notice */
    int64_t asked;  /* request to the client that waits for its answer; 0: none */
    bool answered;  /* the tool knows the outcome */

    char *terminal;         /* of a command; NULL: it has none yet */
    int64_t status;         /* that the command ended with; -1: unknown */
    char *signal;           /* likewise; NULL: none */
    bool ends;              /* nobody waits for it any more */
    struct timer *patience; /* from then on; NULL: none */
};

/* How the client is asked for what a notice wants. */
struct way {
    const char *method;
    size_t offered;         /* offset of a bool in struct acp_client */
    rpc_answered *answered; /* gets the answer */
    /* False: too much waits to be read by the client. */
    bool (*begin)(struct acp_editor_request *r, const struct notice *n);
};

static const struct way *way_of(enum notice_type type);

/* --- answers of the client ----------------------------------------------------------------------
 */

void acp_answer_exit(const struct json *exit, int64_t *status, char **signal)
{
    int64_t code = json_get_int(exit, "exitCode", -1);
    const char *name = json_get_string(exit, "signal");
    if (code >= 0 && code <= UINT32_MAX)
        *status = code;
    if (name && *name) {
        free(*signal);
        *signal = mem_strdup(name);
    }
}

/* Many clients say "Internal error" and give the details in data. */
char *acp_answer_refusal(const struct rpc_fault *fault, const char *method)
{
    if (!fault)
        return mem_printf("the editor's answer to %s does not fit", method);
    const char *data = json_string(fault->data);
    const char *details = data ? data : json_get_string(fault->data, "details");
    return mem_printf("the editor refused: %.500s%s%.500s", fault->message, details ? ": " : "",
                      details ? details : "");
}

/* --- the tool -----------------------------------------------------------------------------------
 */

/* The tool is answered once; a later outcome is dropped. */
static void answer_tool(struct acp_editor_request *r, struct surface_answer_params answer)
{
    answer.session = r->session;
    answer.number = r->number;
    if (!r->answered)
        acp_ask(r->acp, NULL, NULL, &operation_tool_answer, &answer, NULL);
    r->answered = true;
}

static void fail(struct acp_editor_request *r, const char *why)
{
    answer_tool(r, (struct surface_answer_params){
                       .outcome = SURFACE_FAILED, .text = why, .exit_status = -1});
}

static void request_free(struct acp_editor_request *r)
{
    struct acp *a = r->acp;
    vec_drop(&a->editor_requests, r);
    rpc_withdraw(a->peer, r->asked);
    server_cancel_timer(a->server, r->patience);
    free(r->terminal);
    free(r->signal);
    free(r);
}

static bool *offer(struct acp *a, const struct way *way)
{
    return (bool *)((char *)&a->client + way->offered);
}

/* The answer of the client is an error (NULL: one that does not fit). A method that the client does
 * not know is not called again, and the person is told. */
static void refuse(struct acp_editor_request *r, const struct rpc_fault *fault)
{
    const struct way *way = way_of(r->type);
    struct acp_session *s = acp_find_session(r->acp, r->session);
    bool *offered = offer(r->acp, way);
    auto_free char *why = acp_answer_refusal(fault, way->method);
    fail(r, why);
    if (!fault || fault->code != RPC_METHOD_NOT_FOUND)
        return;
    auto_free char *text = mem_printf(
        _("The editor offers %s but does not know it; from now on tiro does that itself."),
        way->method);
    if (*offered && s)
        acp_tell_notice(&s->telling, "warning", text);
    *offered = false;
}

/* `answered` sets `asked` to 0. False: too much waits. */
static bool ask(struct acp_editor_request *r, const char *method, const char *params,
                rpc_answered *answered)
{
    r->asked = rpc_ask(r->acp->peer, method, params, answered, r);
    return r->asked != 0;
}

/* --- files --------------------------------------------------------------------------------------
 */

static bool ask_about_file(struct acp_editor_request *r, const struct notice *n)
{
    const struct way *way = way_of(n->type);
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_pack(&o, "{sessionId:s path:s content:s}", r->session, n->detail,
                  n->type == NOTICE_WRITE ? n->text : NULL);
    return ask(r, way->method, buf.data, way->answered);
}

/* `done` NULL: it was not. */
static void conclude(struct acp_editor_request *r, const struct surface_answer_params *done,
                     const struct rpc_fault *fault)
{
    r->asked = 0;
    if (done)
        answer_tool(r, *done);
    else
        refuse(r, fault);
    request_free(r);
}

/* A file that the client does not have is read from the disk. */
static void on_text(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct surface_answer_params answer = {.outcome = SURFACE_DID, .exit_status = -1};
    bool passes = fault && fault->code == ACP_NOT_FOUND;
    if (passes)
        answer.outcome = SURFACE_PASSED;
    answer.text = json_get_string(result, "content");
    conclude(context, passes || answer.text ? &answer : NULL, fault);
}

static void on_written(void *context, const struct json *result, const struct rpc_fault *fault)
{
    const struct surface_answer_params answer = {.outcome = SURFACE_DID, .exit_status = -1};
    (void)result;
    conclude(context, fault ? NULL : &answer, fault);
}

/* --- terminals ----------------------------------------------------------------------------------
 */

/* `answered` NULL: nobody wants the answer. */
static bool ask_terminal(struct acp_editor_request *r, const char *method, rpc_answered *answered)
{
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_pack(&o, "{sessionId:s terminalId:s}", r->session, r->terminal);
    return answered ? ask(r, method, buf.data, answered)
                    : rpc_ask(r->acp->peer, method, buf.data, NULL, NULL) != 0;
}

/* Gives the terminal up, with what it has printed. */
static void give_up_terminal(struct acp_editor_request *r, const char *why)
{
    (void)ask_terminal(r, "terminal/release", NULL);
    fail(r, why);
    request_free(r);
}

static void go_on(struct acp_editor_request *r, const char *method, rpc_answered *answered)
{
    if (!ask_terminal(r, method, answered))
        give_up_terminal(r, "the editor does not read what it is asked");
}

static void on_output(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_editor_request *r = context;
    struct surface_answer_params answer = {.outcome = SURFACE_DID,
                                           .text = json_get_string(result, "output"),
                                           .truncated = json_get_bool(result, "truncated", false)};
    (void)fault;
    r->asked = 0;
    acp_answer_exit(json_get(result, "exitStatus"), &r->status, &r->signal);
    if (!answer.text) {
        give_up_terminal(r, "the editor did not tell what the command printed");
        return;
    }
    answer.exit_status = r->status;
    answer.signal = r->signal;
    answer_tool(r, answer);
    (void)ask_terminal(r, "terminal/release", NULL);
    request_free(r);
}

static void on_killed(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_editor_request *r = context;
    (void)result, (void)fault;
    r->asked = 0;
    go_on(r, "terminal/output", on_output);
}

static void on_exit_status(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_editor_request *r = context;
    r->asked = 0;
    acp_answer_exit(result, &r->status, &r->signal);
    if (fault) /* the command may run still */
        go_on(r, "terminal/kill", on_killed);
    else
        go_on(r, "terminal/output", on_output);
}

static void on_created(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_editor_request *r = context;
    struct acp_session *s = acp_find_session(r->acp, r->session);
    const char *id = json_get_string(result, "terminalId");
    r->asked = 0;
    if (!id || !*id) {
        refuse(r, fault);
        request_free(r);
        return;
    }
    r->terminal = mem_strdup(id);
    if (r->ends) {
        give_up_terminal(r, "");
        return;
    }
    if (s)
        acp_tell_terminal(&s->telling, id);
    go_on(r, "terminal/wait_for_exit", on_exit_status);
}

/* The script is in the environment, so that a client which shows the command line shows the command
 * and not the lines before it. */
static bool begin_command(struct acp_editor_request *r, const struct notice *n)
{
    AUTO(buf_release) struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_pack(&o,
                  "{sessionId:s command:'/bin/sh' args:['-c' s 'sh' s] env:[{name:s value:s}] "
                  "cwd:s outputByteLimit:I}",
                  r->session, "eval \"$" CHILD_SCRIPT_VARIABLE "\"", n->text, CHILD_SCRIPT_VARIABLE,
                  n->args, n->detail, (int64_t)n->limit);
    return ask(r, way_of(n->type)->method, buf.data, way_of(n->type)->answered);
}

static void on_patience_lost(void *context)
{
    struct acp_editor_request *r = context;
    struct wire *wire = r->acp->wire;
    r->patience = NULL;
    give_up_terminal(r, "the editor did not end the command in time");
    wire_update(wire);
}

/* --- notices ------------------------------------------------------------------------------------
 */

static const struct way *way_of(enum notice_type type)
{
    static const struct way ways[NOTICE_TYPES] = {
        [NOTICE_READ] = {"fs/read_text_file", offsetof(struct acp_client, reads), on_text,
                         ask_about_file},
        [NOTICE_WRITE] = {"fs/write_text_file", offsetof(struct acp_client, writes), on_written,
                          ask_about_file},
        [NOTICE_RUN] = {"terminal/create", offsetof(struct acp_client, terminals), on_created,
                        begin_command},
    };
    return ways[type].method ? &ways[type] : NULL;
}

/* The tool does not wait any more: a command is killed and its output read. A terminal that is not
 * there yet is released as soon as it is. */
static void end_request(struct acp *a, const struct notice *n)
{
    struct acp_editor_request *r = NULL;
    for (size_t i = 0; i < a->editor_requests.len && !r; i++) {
        r = a->editor_requests.items[i];
        if (r->number != n->number || strcmp(r->session, n->session) != 0)
            r = NULL;
    }
    if (!r || r->ends)
        return;
    if (r->type != NOTICE_RUN) {
        request_free(r);
        return;
    }
    r->ends = true;
    if (!r->terminal) {
        fail(r, "the editor had not begun it");
        return;
    }
    rpc_withdraw(a->peer, r->asked);
    r->asked = 0;
    if (server_stopping(a->server)) { /* an answer would not be read */
        give_up_terminal(r, "the program ends");
        return;
    }
    r->patience = server_after(a->server, PATIENCE_MS, on_patience_lost, r);
    go_on(r, "terminal/kill", on_killed);
}

bool acp_editor_notice(struct acp *a, const struct notice *n)
{
    const struct way *way = way_of(n->type);
    const struct acp_session *s = acp_find_session(a, n->session);
    if (n->type == NOTICE_ENOUGH)
        end_request(a, n);
    if (!way)
        return n->type == NOTICE_ENOUGH;
    struct acp_editor_request *r = mem_alloc(sizeof *r);
    *r = (struct acp_editor_request){.acp = a, .type = n->type, .number = n->number, .status = -1};
    memcpy(r->session, n->session, sizeof r->session);
    vec_push(&a->editor_requests, r);
    if (!s || s->loading.call || !*offer(a, way)) /* another surface's session, or not offered */
        answer_tool(r,
                    (struct surface_answer_params){.outcome = SURFACE_PASSED, .exit_status = -1});
    else if (a->gone)
        fail(r, "the editor has gone away");
    else if (!way->begin(r, n))
        fail(r, "the editor does not read what it is asked");
    if (r->answered)
        request_free(r);
    return true;
}

void acp_editor_leave(struct acp *a)
{
    while (a->editor_requests.len > 0) {
        struct acp_editor_request *r = a->editor_requests.items[0];
        if (r->terminal)
            (void)ask_terminal(r, "terminal/release", NULL);
        fail(r, "the editor has gone away");
        request_free(r);
    }
    vec_release(&a->editor_requests);
}
