/* A command of a tool in a terminal of the client: created, waited for, read and released; killed
 * where nobody waits any more. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/environment.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "serve/acp_answer.h"
#include "serve/acp_private.h"
#include "serve/wire.h"

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
