#include "serve/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "serve/authority.h"
#include "serve/transfer.h"
#include "session/conversation_operations.h"
#include "session/graph_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"

/* --- rows with a stream ----------------------------------------------------------------------- */

/* Whose text is in JSON; other rows with a stream tell only how far they are. */
enum stream { STREAM_NONE, STREAM_IN, STREAM_OUT };

static enum stream stream_of(const struct operation *o)
{
    static const struct {
        const struct operation *operation;
        enum stream stream;
    } rows[] = {
        {&operation_session_import, STREAM_IN}, {&operation_memory_import, STREAM_IN},
        {&operation_graph_import, STREAM_IN},   {&operation_session_export, STREAM_OUT},
        {&operation_memory_export, STREAM_OUT}, {&operation_graph_export, STREAM_OUT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].operation == o)
            return rows[i].stream;
    return STREAM_NONE;
}

static const char content[] = "content";

static void add_content(struct json *schema, const char *help, bool required)
{
    struct json *text = json_new_object(), *members = json_clone(json_get(schema, "properties"));
    json_set_string(text, "type", "string");
    json_set_string(text, "description", help);
    json_set(members, content, text);
    json_set(schema, "properties", members);
    const char *name = json_get_string(schema, "title");
    char *title = name ? mem_printf("%s with content", name) : NULL;
    json_set_string(schema, "title", title);
    free(title);
    if (!required)
        return;
    const struct json *had = json_get(schema, "required");
    struct json *names = had ? json_clone(had) : json_new_array();
    json_push(names, json_new_string(content));
    json_set(schema, "required", names);
}

static struct json *schema_of(const struct shape *s)
{
    if (s)
        return shape_schema(s);
    struct json *v = json_new_object();
    json_set_string(v, "type", "object");
    json_set(v, "properties", json_new_object());
    json_set_bool(v, "additionalProperties", false);
    return v;
}

struct json *contract_params_schema(const struct operation *o)
{
    struct json *v = schema_of(o->params);
    if (stream_of(o) == STREAM_IN)
        add_content(v, "The text to read, as an export gives it.", true);
    return v;
}

struct json *contract_result_schema(const struct operation *o)
{
    struct json *v = schema_of(o->result);
    if (stream_of(o) == STREAM_OUT)
        add_content(v, "The text, unless it went to a file.", false);
    return v;
}

/* --- what is taken ---------------------------------------------------------------------------- */

/* A call that was started. */
struct call {
    const struct operation *operation;
    void *params; /* NULL: it takes none */
    char *text;   /* of a stream; NULL: none */
    contract_done *done;
    void *context;
};

static void free_call(struct call *c)
{
    if (c->params)
        shape_release(c->operation->params, c->params);
    free(c->params);
    free(c->text);
    free(c);
}

static bool takes_nothing(const struct operation *o, const struct json *params, struct error *e)
{
    const char *name = json_name(json_first(params));
    return !name ||
           err_set(e, ERR_USAGE, "\"%.60s\" is not known; %s takes nothing", name, o->name);
}

/* The members but "content", which the shape does not have. */
static struct json *without_content(const struct json *params)
{
    struct json *v = json_new_object();
    for (const struct json *m = json_first(params); m; m = json_next(m))
        if (strcmp(json_name(m), content) != 0)
            json_set(v, json_name(m), json_clone(m));
    return v;
}

static bool read_shape(struct call *c, const struct json *params, struct error *e)
{
    const struct operation *o = c->operation;
    if (!o->params)
        return takes_nothing(o, params, e);
    c->params = mem_alloc(o->params->size);
    return shape_read(o->params, params, c->params, e);
}

static bool read_params(struct call *c, const struct json *params, struct error *e)
{
    bool in = stream_of(c->operation) == STREAM_IN;
    if (params && json_type(params) != JSON_OBJECT)
        return err_set(e, ERR_USAGE, "\"params\" is no object; give members by their names");
    c->text = in ? mem_strdup(json_get_string(params, content)) : NULL;
    struct json *rest = params && !in ? NULL : without_content(params);
    bool ok = read_shape(c, rest ? rest : params, e) &&
              (!in || c->text ||
               err_set(e, ERR_USAGE, "\"content\" does not fit; give the text to read"));
    json_free(rest);
    return ok;
}

/* --- what is given ---------------------------------------------------------------------------- */

static char *result_json(const struct operation *o, const void *result, const char *text)
{
    struct buf out = BUF_INIT;
    struct json_out j = {.buf = &out};
    json_out_open(&j, '{');
    if (result)
        shape_write_members(o->result, result, &j);
    json_out_member(&j, content, text);
    json_out_close(&j, '}');
    return buf_take(&out);
}

/* --- what failed and has a result ------------------------------------------------------------- */

bool contract_runs(const char *method)
{
    static const struct operation *const rows[] = {&operation_turn_start, &operation_turn_retry,
                                                   &operation_compaction_run};
    for (size_t i = 0; method && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i]->name, method) == 0)
            return true;
    return false;
}

bool contract_read_fault(const char *result_json, struct contract_fault *out)
{
    struct json *result = json_parse(result_json, strlen(result_json), NULL);
    const struct json *fault = json_get(result, "error");
    const char *name = json_get_string(fault, "code");
    if (name)
        *out = (struct contract_fault){err_info(err_from_name(name)),
                                       mem_strdup(json_get_string(fault, "message"))};
    json_free(result);
    return name;
}

void contract_answer(struct rpc_call *call, const char *method, const char *result_json,
                     const struct error *e)
{
    struct contract_fault fault;
    if (e) {
        rpc_fail_with(call, e);
    } else if (contract_runs(method) && contract_read_fault(result_json, &fault)) {
        char *data = mem_printf("{\"code\":\"%s\",\"result\":%s}", fault.info->name, result_json);
        rpc_fail(call, fault.info->rpc, fault.message, data);
        free(data);
        free(fault.message);
    } else {
        rpc_answer(call, result_json);
    }
}

char *contract_result(const struct operation_answer *a)
{
    return result_json(a->request->operation, a->result, NULL);
}

static void end_call(struct call *c, const void *result, const char *text, const struct error *e)
{
    char *json = e ? NULL : result_json(c->operation, result, text);
    c->done(c->context, json, e);
    free(json);
    free_call(c);
}

static void on_answer(void *context, const struct operation_answer *a)
{
    end_call(context, a->result, NULL, a->error.code == ERR_OK ? NULL : &a->error);
}

static void on_transfer(void *context, const void *result, const char *text, const struct error *e)
{
    struct call *c = context;
    end_call(c, result, stream_of(c->operation) == STREAM_OUT ? text : NULL, e);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Ids of transfers are counted by themselves. */
#define TRANSFER (UINT64_C(1) << 63)

/* What an engine's desks cannot do: they have no stream, and the one that reads cannot write. */
static bool is_transfer(const struct call *c)
{
    if (c->operation == &operation_session_export)
        return !((const struct session_export_params *)c->params)->path;
    bool reader_writes =
        c->operation->executor == OPERATION_READ && c->operation->needs & NEED_WRITE;
    return reader_writes || c->operation->needs & NEED_STREAM;
}

static bool start(struct server *s, struct call *c, uint64_t *id, struct error *e)
{
    if (is_transfer(c)) {
        uint64_t transfer = transfers_start(server_transfers(s), c->operation, c->params, c->text,
                                            on_transfer, c, e);
        *id = transfer | TRANSFER;
        return transfer > 0;
    }
    *id = server_ask(s, c->operation, c->params, on_answer, c);
    return true;
}

bool contract_start(struct server *s, enum authority caller, const char *method,
                    const struct json *params, contract_done *done, void *context, uint64_t *id,
                    struct error *e)
{
    const struct operation *o = operation_find(method);
    if (!o)
        return err_set(e, ERR_USAGE, "there is no method \"%.60s\"", method);
    struct call *c = mem_alloc(sizeof *c);
    *c = (struct call){.operation = o, .done = done, .context = context};
    if (authority_calls(caller, o, e) && read_params(c, params, e) &&
        authority_gives(s, caller, o, c->params, e) && start(s, c, id, e))
        return true;
    free_call(c);
    return false;
}

static void free_withdrawn(struct call *c)
{
    if (c)
        free_call(c);
}

void contract_withdraw(struct server *s, uint64_t id)
{
    free_withdrawn(id & TRANSFER ? transfers_withdraw(server_transfers(s), id & ~TRANSFER)
                                 : server_withdraw(s, id));
}

bool contract_cancel(struct server *s, uint64_t id)
{
    void *call;
    if (id & TRANSFER) {
        contract_withdraw(s, id);
        return false;
    }
    bool undone = server_cancel(s, id, &call);
    free_withdrawn(call);
    return undone;
}
