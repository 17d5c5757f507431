#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/mcp_private.h"

struct mcp_call *mcp_call_new(struct mcp_link *l, struct rpc_call *rpc, bool modern)
{
    struct mcp_call *c = mem_alloc(sizeof *c);
    *c = (struct mcp_call){
        .mcp = l->mcp, .link = l, .rpc = rpc, .modern = modern, .id = mem_strdup(rpc_call_id(rpc))};
    memcpy(c->session, l->session, sizeof c->session);
    rpc_call_keep(rpc, c);
    vec_push(&l->mcp->calls, c);
    return c;
}

void mcp_call_free(struct mcp_call *c)
{
    struct mcp *m = c->mcp;
    if (c->asked)
        server_withdraw(m->server, c->asked);
    if (c->work && c->work->free)
        c->work->free(c);
    for (size_t i = m->calls.len; i-- > 0;)
        if (m->calls.items[i] == c)
            vec_remove(&m->calls, i, 1);
    free(c->id);
    free(c);
}

static void on_answer(void *context, const struct operation_answer *a)
{
    struct mcp_call *c = context;
    c->asked = 0;
    c->answered(c, a);
}

void mcp_ask(struct mcp_call *c, const struct operation *o, const void *params,
             void (*answered)(struct mcp_call *c, const struct operation_answer *a))
{
    c->answered = answered;
    c->asked = server_ask(c->mcp->server, o, params, on_answer, c);
}

void mcp_call_cancel(struct mcp_call *c)
{
    if (c->rpc)
        rpc_drop(c->rpc);
    c->rpc = NULL;
    if (c->work && c->work->cancel)
        c->work->cancel(c);
    else
        mcp_call_free(c);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void write_server_info(struct json_out *o)
{
    json_out_name(o, "io.modelcontextprotocol/serverInfo");
    json_out_open(o, '{');
    json_out_member(o, "name", "tiro");
    json_out_member(o, "version", PACKAGE_VERSION);
    json_out_close(o, '}');
}

/* What goes with the result: a name, its value as JSON; NULL: nothing does. */
static void begin(const struct mcp_call *c, struct mcp_result *r, const char *name,
                  const char *json)
{
    *r = (struct mcp_result){.text = BUF_INIT};
    r->out.buf = &r->text;
    json_out_open(&r->out, '{');
    if (c->modern)
        json_out_member(&r->out, "resultType", "complete");
    if (!c->modern && !name)
        return;
    json_out_name(&r->out, "_meta");
    json_out_open(&r->out, '{');
    if (c->modern)
        write_server_info(&r->out);
    if (name) {
        json_out_name(&r->out, name);
        json_out_raw(&r->out, json);
    }
    json_out_close(&r->out, '}');
}

void mcp_result_begin(const struct mcp_call *c, struct mcp_result *r)
{
    begin(c, r, NULL, NULL);
}

void mcp_result_begin_failed(const struct mcp_call *c, struct mcp_result *r, enum err_code code)
{
    char *name = mem_printf("\"%s\"", err_info(code)->name);
    begin(c, r, "tiro/code", name);
    free(name);
}

void mcp_result_begin_listened(const struct mcp_call *c, struct mcp_result *r)
{
    begin(c, r, "io.modelcontextprotocol/subscriptionId", c->id);
}

/* What it tells is one person's, so that nobody else may be given a copy. */
void mcp_result_begin_kept(const struct mcp_call *c, struct mcp_result *r, int ttl_ms)
{
    begin(c, r, NULL, NULL);
    if (!c->modern)
        return;
    json_out_int(&r->out, "ttlMs", ttl_ms);
    json_out_member(&r->out, "cacheScope", "private");
}

/* The link may be gone once it has its output. */
static void end(struct mcp_call *c)
{
    struct mcp_link *l = c->link;
    c->rpc = NULL;
    mcp_call_free(c);
    if (l)
        l->wrote(l->context);
}

void mcp_result_send(struct mcp_call *c, struct mcp_result *r)
{
    json_out_close(&r->out, '}');
    if (c->rpc)
        rpc_answer(c->rpc, r->text.data);
    buf_release(&r->text);
    end(c);
}

/* Who calls has tools and no shell, so advice to run a command becomes another; the caller frees. */
static char *without_commands(const struct error *e)
{
    static const char *const commands[] = {"'tiro ", "run it in a shell"};
    const char *command = NULL, *advice = "the person who runs tiro can look into it";
    for (size_t i = 0; i < sizeof commands / sizeof *commands && !command; i++)
        command = strstr(e->text, commands[i]);
    if (!command)
        return mem_strdup(e->text);
    if (e->code == ERR_SESSION_NOT_FOUND)
        advice = "tiro_sessions_search finds sessions by their words";
    else if (e->code == ERR_MEMORY_NOT_FOUND)
        advice = strncmp(command, "'tiro corpus", strlen("'tiro corpus")) == 0
                     ? "tiro_rag_corpora lists the corpora"
                     : "tiro_memory_search finds entries";
    while (command > e->text && *command != ';')
        command--;
    return mem_printf("%.*s; %s", (int)(command - e->text), e->text, advice);
}

void mcp_fail(struct mcp_call *c, int code, const char *message, const char *data_json)
{
    if (c->rpc)
        rpc_fail(c->rpc, code, message, data_json);
    end(c);
}

void mcp_fail_with(struct mcp_call *c, const struct error *e)
{
    char *data = mem_printf("{\"code\":\"%s\"}", err_info(e->code)->name);
    char *text = without_commands(e);
    mcp_fail(c, e->code == ERR_USAGE ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR, text, data);
    free(text);
    free(data);
}

bool mcp_notify(struct mcp_link *l, const char *method, const char *params_json)
{
    bool heard = l && l->hears && rpc_notify(l->peer, method, params_json);
    if (heard)
        l->wrote(l->context);
    return heard;
}

/* --- results of tools ------------------------------------------------------------------------- */

static void write_text(struct json_out *o, const char *text)
{
    json_out_name(o, "content");
    json_out_open(o, '[');
    json_out_open(o, '{');
    json_out_member(o, "type", "text");
    json_out_member(o, "text", text);
    json_out_close(o, '}');
    json_out_close(o, ']');
}

static char *shape_text(const struct shape *shape, const void *result)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    shape_write(shape, result, &o);
    return buf_take(&text);
}

/* `text` NULL: the JSON itself, for clients that know no structured content. */
static void write_structured(struct json_out *o, const struct shape *shape, const void *result,
                             const char *text)
{
    char *json = shape_text(shape, result);
    write_text(o, text ? text : json);
    json_out_name(o, "structuredContent");
    json_out_raw(o, json);
    free(json);
}

void mcp_tool_send(struct mcp_call *c, const struct shape *shape, const void *result,
                   const char *text)
{
    struct mcp_result r;
    mcp_result_begin(c, &r);
    if (shape)
        write_structured(&r.out, shape, result, text);
    else
        write_text(&r.out, text ? text : "done");
    mcp_result_send(c, &r);
}

void mcp_tool_fail(struct mcp_call *c, const struct error *e, const struct shape *shape,
                   const void *result)
{
    struct mcp_result r;
    mcp_result_begin_failed(c, &r, e->code);
    char *told = without_commands(e), *text = mem_printf("%s: %s", err_info(e->code)->name, told);
    free(told);
    if (shape)
        write_structured(&r.out, shape, result, text);
    else
        write_text(&r.out, text);
    json_out_name(&r.out, "isError");
    json_out_raw(&r.out, "true");
    mcp_result_send(c, &r);
    free(text);
}
