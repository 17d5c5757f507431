#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/i18n.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "serve/acp_private.h"
#include "serve/wire.h"

bool acp_answer_text(const struct json *result, struct surface_answer_params *out)
{
    out->text = json_get_string(result, "content");
    return out->text != NULL;
}

const char *acp_answer_terminal(const struct json *result)
{
    const char *id = json_get_string(result, "terminalId");
    return id && *id ? id : NULL;
}

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

bool acp_answer_output(const struct json *result, struct surface_answer_params *out)
{
    out->text = json_get_string(result, "output");
    out->truncated = json_get_bool(result, "truncated", false);
    return out->text != NULL;
}

/* Many say "Internal error" and the rest in data. */
char *acp_answer_refusal(const struct rpc_fault *fault, const char *method)
{
    if (!fault)
        return mem_printf("the editor's answer to %s does not fit", method);
    const char *data = json_string(fault->data);
    const char *details = data ? data : json_get_string(fault->data, "details");
    return mem_printf("the editor refused: %.500s%s%.500s", fault->message, details ? ": " : "",
                      details ? details : "");
}

/* What tools want of the client: texts that it has open, files that it writes, and commands, which
 * are in acp_terminal.c. */

/* How the client is asked for what a notice wants. */
struct help {
    const char *method;
    size_t offered; /* offset in struct acp_client */
    bool (*begin)(struct acp_wanted *w, const struct notice *n);
};

static const struct help *help_with(enum notice_type type);

static bool *offer(struct acp *a, const struct help *help)
{
    return (bool *)((char *)&a->client + help->offered);
}

/* --- the tool ---------------------------------------------------------------------------------
 */

static void nothing_more(struct acp_ask *ask, const struct operation_answer *answer)
{
    (void)ask, (void)answer;
}

static void answer_tool(struct acp *a, const char *session, int64_t number,
                        struct surface_answer_params answer)
{
    answer.session = session;
    answer.number = number;
    acp_ask(a, NULL, NULL, &operation_tool_answer, &answer, nothing_more);
}

void acp_wanted_answer(struct acp_wanted *w, const struct surface_answer_params *answer)
{
    if (!w->answered)
        answer_tool(w->acp, w->session, w->number, *answer);
    w->answered = true;
}

void acp_wanted_fail(struct acp_wanted *w, const char *why)
{
    acp_wanted_answer(w, &(struct surface_answer_params){
                             .outcome = SURFACE_FAILED, .text = why, .exit_status = -1});
}

/* It is not asked for that any more, and the person is told what happens instead. */
static void take_offer_back(struct acp_wanted *w, const struct help *help)
{
    struct acp_session *s = acp_find_session(w->acp, w->session);
    bool *offered = offer(w->acp, help);
    char *text = mem_printf(_("The editor offers %s but does not know it; from now on tiro does "
                              "that itself."),
                            help->method);
    if (*offered && s)
        acp_tell_notice(&s->telling, "warning", text);
    *offered = false;
    free(text);
}

void acp_wanted_refuse(struct acp_wanted *w, const struct rpc_fault *fault)
{
    const struct help *help = help_with(w->type);
    char *why = acp_answer_refusal(fault, help->method);
    acp_wanted_fail(w, why);
    if (fault && fault->code == RPC_METHOD_NOT_FOUND)
        take_offer_back(w, help);
    free(why);
}

void acp_wanted_free(struct acp_wanted *w)
{
    struct acp *a = w->acp;
    size_t i = 0;
    while (a->wanted.items[i] != w)
        i++;
    vec_remove(&a->wanted, i, 1);
    rpc_withdraw(a->peer, w->asked);
    server_take_back(a->server, w->patience);
    free(w->terminal);
    free(w->signal);
    free(w);
}

bool acp_wanted_ask(struct acp_wanted *w, const char *method, const char *params,
                    rpc_answered *answered)
{
    w->asked = rpc_ask(w->acp->peer, method, params, answered, w);
    return w->asked != 0;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Of the protocol: what the client has not counts as it is on the disk. */
enum { NOT_FOUND = -32002 };

static bool ask_about_file(struct acp_wanted *w, const struct notice *n, rpc_answered *answered)
{
    struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_open(&o, '{');
    json_out_member(&o, "sessionId", w->session);
    json_out_member(&o, "path", n->detail);
    if (n->type == NOTICE_WRITE)
        json_out_member(&o, "content", n->text);
    json_out_close(&o, '}');
    bool asked = acp_wanted_ask(w, help_with(n->type)->method, buf.data, answered);
    buf_release(&buf);
    return asked;
}

/* `done`: NULL where it was not. */
static void conclude(struct acp_wanted *w, const struct surface_answer_params *done,
                     const struct rpc_fault *fault)
{
    w->asked = 0;
    if (done)
        acp_wanted_answer(w, done);
    else
        acp_wanted_refuse(w, fault);
    acp_wanted_free(w);
}

static void text_came(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct surface_answer_params answer = {.outcome = SURFACE_DID, .exit_status = -1};
    bool passes = fault && fault->code == NOT_FOUND;
    if (passes)
        answer.outcome = SURFACE_PASSED;
    conclude(context, passes || acp_answer_text(result, &answer) ? &answer : NULL, fault);
}

static void was_written(void *context, const struct json *result, const struct rpc_fault *fault)
{
    const struct surface_answer_params answer = {.outcome = SURFACE_DID, .exit_status = -1};
    (void)result;
    conclude(context, fault ? NULL : &answer, fault);
}

static bool begin_read(struct acp_wanted *w, const struct notice *n)
{
    return ask_about_file(w, n, text_came);
}

static bool begin_write(struct acp_wanted *w, const struct notice *n)
{
    return ask_about_file(w, n, was_written);
}

/* --- notices ---------------------------------------------------------------------------------- */

static const struct help *help_with(enum notice_type type)
{
    static const struct help helps[NOTICE_TYPES] = {
        [NOTICE_READ] = {"fs/read_text_file", offsetof(struct acp_client, reads), begin_read},
        [NOTICE_WRITE] = {"fs/write_text_file", offsetof(struct acp_client, writes), begin_write},
        [NOTICE_RUN] = {"terminal/create", offsetof(struct acp_client, terminals),
                        acp_terminal_begin},
    };
    return helps[type].method ? &helps[type] : NULL;
}

static struct acp_wanted *add(struct acp *a, const struct notice *n)
{
    struct acp_wanted *w = mem_alloc(sizeof *w);
    *w = (struct acp_wanted){.acp = a, .type = n->type, .number = n->number, .status = -1};
    memcpy(w->session, n->session, sizeof w->session);
    vec_push(&a->wanted, w);
    return w;
}

static void begin(struct acp *a, const struct notice *n, const struct help *help)
{
    struct acp_wanted *w = add(a, n);
    if (a->gone)
        acp_wanted_fail(w, "the editor has gone away");
    else if (!help->begin(w, n))
        acp_wanted_fail(w, "the editor does not read what it is asked");
    if (w->answered)
        acp_wanted_free(w);
}

/* A session that the client does not have is another surface's. */
static bool is_the_clients(struct acp *a, const struct notice *n, const struct help *help)
{
    const struct acp_session *s = acp_find_session(a, n->session);
    return s && !s->loading.call && *offer(a, help);
}

static void give_up(struct acp_wanted *w)
{
    if (w->type == NOTICE_RUN)
        acp_terminal_end(w);
    else
        acp_wanted_free(w);
}

static void hear_enough(struct acp *a, const struct notice *n)
{
    for (size_t i = 0; i < a->wanted.len; i++) {
        struct acp_wanted *w = a->wanted.items[i];
        if (w->number == n->number && strcmp(w->session, n->session) == 0) {
            give_up(w);
            return;
        }
    }
}

bool acp_want(struct acp *a, const struct notice *n)
{
    const struct help *help = help_with(n->type);
    if (n->type == NOTICE_ENOUGH)
        hear_enough(a, n);
    else if (help && is_the_clients(a, n, help))
        begin(a, n, help);
    else if (help)
        answer_tool(a, n->session, n->number,
                    (struct surface_answer_params){.outcome = SURFACE_PASSED, .exit_status = -1});
    return help || n->type == NOTICE_ENOUGH;
}

void acp_leave_wanted(struct acp *a)
{
    while (a->wanted.len > 0) {
        struct acp_wanted *w = a->wanted.items[0];
        if (w->terminal)
            acp_terminal_release(w);
        acp_wanted_fail(w, "the editor has gone away");
        acp_wanted_free(w);
    }
    vec_release(&a->wanted);
}

/* A command of a tool in a terminal of the client: created, waited for, read and released; killed
 * where nobody waits any more. */

/* From the kill to the release, whatever the client answers; less than the tool waits. */
enum { PATIENCE_MS = 2000 };

/* So that a client which shows the command line shows the command and not what comes before. */
static const char first_line[] = "eval \"$" CHILD_SCRIPT_VARIABLE "\"";

static void ignore(void *context, const struct json *result, const struct rpc_fault *fault)
{
    (void)context, (void)result, (void)fault;
}

static bool ask(struct acp_wanted *w, const char *method, rpc_answered *answered)
{
    struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_open(&o, '{');
    json_out_member(&o, "sessionId", w->session);
    json_out_member(&o, "terminalId", w->terminal);
    json_out_close(&o, '}');
    bool asked = answered ? acp_wanted_ask(w, method, buf.data, answered)
                          : rpc_ask(w->acp->peer, method, buf.data, ignore, NULL) != 0;
    buf_release(&buf);
    return asked;
}

void acp_terminal_release(struct acp_wanted *w)
{
    (void)ask(w, "terminal/release", NULL);
}

/* What a terminal has is lost with it. */
static void leave(struct acp_wanted *w, const char *why)
{
    acp_terminal_release(w);
    acp_wanted_fail(w, why);
    acp_wanted_free(w);
}

static void go_on(struct acp_wanted *w, const char *method, rpc_answered *answered)
{
    if (!ask(w, method, answered))
        leave(w, "the editor does not read what it is asked");
}

/* --- the end ---------------------------------------------------------------------------------- */

static void output_came(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_wanted *w = context;
    struct surface_answer_params answer = {.outcome = SURFACE_DID};
    (void)fault;
    w->asked = 0;
    acp_answer_exit(json_get(result, "exitStatus"), &w->status, &w->signal);
    if (!acp_answer_output(result, &answer)) {
        leave(w, "the editor did not tell what the command printed");
        return;
    }
    answer.exit_status = w->status;
    answer.signal = w->signal;
    acp_wanted_answer(w, &answer);
    acp_terminal_release(w);
    acp_wanted_free(w);
}

static void was_killed(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_wanted *w = context;
    (void)result, (void)fault;
    w->asked = 0;
    go_on(w, "terminal/output", output_came);
}

static void has_ended(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_wanted *w = context;
    w->asked = 0;
    acp_answer_exit(result, &w->status, &w->signal);
    if (fault) /* it may run still */
        go_on(w, "terminal/kill", was_killed);
    else
        go_on(w, "terminal/output", output_came);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static void was_created(void *context, const struct json *result, const struct rpc_fault *fault)
{
    struct acp_wanted *w = context;
    struct acp_session *s = acp_find_session(w->acp, w->session);
    const char *id = acp_answer_terminal(result);
    w->asked = 0;
    if (!id) {
        acp_wanted_refuse(w, fault);
        acp_wanted_free(w);
        return;
    }
    w->terminal = mem_strdup(id);
    if (w->ends) {
        leave(w, "");
        return;
    }
    if (s)
        acp_tell_terminal(&s->telling, id);
    go_on(w, "terminal/wait_for_exit", has_ended);
}

static void write_program(struct json_out *o, const struct notice *n)
{
    const char *const args[] = {"-c", first_line, "sh", n->text};
    json_out_member(o, "command", "/bin/sh");
    json_out_name(o, "args");
    json_out_open(o, '[');
    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        json_out_string(o, args[i]);
    json_out_close(o, ']');
    json_out_name(o, "env");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "name", CHILD_SCRIPT_VARIABLE);
    json_out_member(o, "value", n->args);
    json_out_close(o, '}');
    json_out_close(o, ']');
}

bool acp_terminal_begin(struct acp_wanted *w, const struct notice *n)
{
    struct buf buf = BUF_INIT;
    struct json_out o = {.buf = &buf};
    json_out_open(&o, '{');
    json_out_member(&o, "sessionId", w->session);
    write_program(&o, n);
    json_out_member(&o, "cwd", n->detail);
    json_out_int(&o, "outputByteLimit", n->limit);
    json_out_close(&o, '}');
    bool asked = acp_wanted_ask(w, "terminal/create", buf.data, was_created);
    buf_release(&buf);
    return asked;
}

/* --- nobody waits any more -------------------------------------------------------------------- */

static void lose_patience(void *context)
{
    struct acp_wanted *w = context;
    struct wire *wire = w->acp->wire;
    w->patience = NULL;
    leave(w, "the editor did not end the command in time");
    wire_update(wire);
}

/* One that is not there yet is released as soon as it is. */
void acp_terminal_end(struct acp_wanted *w)
{
    if (w->ends)
        return;
    w->ends = true;
    if (!w->terminal) {
        acp_wanted_fail(w, "the editor had not begun it");
        return;
    }
    rpc_withdraw(w->acp->peer, w->asked);
    w->asked = 0;
    if (server_stopping(w->acp->server)) { /* what it says now is not read */
        leave(w, "the program ends");
        return;
    }
    w->patience = server_after(w->acp->server, PATIENCE_MS, lose_patience, w);
    go_on(w, "terminal/kill", was_killed);
}
