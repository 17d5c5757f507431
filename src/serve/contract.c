#include "serve/contract.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/worker.h"
#include "config/edit.h"
#include "session/capability.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/folders.h"
#include "session/graph_operations.h"
#include "session/memory_operations.h"
#include "session/operation.h"
#include "session/session_operations.h"

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
    if (o->content == CONTENT_IN)
        add_content(v, "The text to read, as an export gives it.", true);
    return v;
}

struct json *contract_result_schema(const struct operation *o)
{
    struct json *v = schema_of(o->result);
    if (o->content == CONTENT_OUT)
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
    bool in = c->operation->content == CONTENT_IN;
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
    const struct operation *o = method ? operation_find(method) : NULL;
    return o && o->busy;
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
    end_call(c, result, c->operation->content == CONTENT_OUT ? text : NULL, e);
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

bool authority_calls(enum authority caller, const struct operation *o, struct error *e)
{
    if (o->authority == AUTHORITY_TERMINAL)
        return err_set(e, ERR_FORBIDDEN,
                       "%s is for the terminal and the command line alone; use these", o->name);
    return caller <= o->authority ||
           err_set(e, ERR_FORBIDDEN,
                   "%s is for an owner; the person who starts tiro serve allows it with --allow "
                   "owner",
                   o->name);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Without a name it is left out; the row refuses a working directory that is not absolute. */
static bool resolve(const struct server *s, enum authority caller, const struct shape_field *f,
                    char **path, struct error *e)
{
    const char *own = server_options(s)->directory ? server_options(s)->directory : ".";
    bool works = f->place == SHAPE_WORKS;
    if (!*path || (works && **path != '/'))
        return true;
    char *found = folders_resolve(server_config(s), own, *path, f->place,
                                  works && caller == AUTHORITY_OWNER, e);
    if (!found)
        return false;
    free(*path);
    *path = found;
    return true;
}

static bool resolve_all(const struct server *s, enum authority caller, const struct operation *o,
                        void *params, struct error *e)
{
    bool ok = true;
    for (const struct shape_field *f = o->params->fields; f->name && ok; f++) {
        char *at = (char *)params + f->offset;
        if (f->place == SHAPE_ANY)
            continue;
        if (f->type == SHAPE_STRING)
            ok = resolve(s, caller, f, (char **)(void *)at, e);
        VEC(char *) *list = f->type == SHAPE_STRINGS ? (void *)at : NULL;
        for (size_t i = 0; list && i < list->len && ok; i++)
            ok = resolve(s, caller, f, &list->items[i], e);
    }
    return ok;
}

/* --- what else a caller gives ------------------------------------------------------------------
 */

/* A key that is not known as it is written is refused: what a file would make of it is not looked
 * at here. */
static bool may_set(const struct config_set_params *p, struct error *e)
{
    char *section, *name;
    if (!config_edit_split(p->key, &section, &name, e))
        return false;
    enum config_key key = config_key_find(section, name);
    const struct config_key_info *info = key < CONFIG_KEY_COUNT ? config_key_info(key) : NULL;
    free(section);
    free(name);
    return (info && !info->terminal && !config_key_is_free(info)) ||
           err_set(e, ERR_FORBIDDEN, "no other program may set %.60s; use tiro config set", p->key);
}

static bool may_have(const struct server *s, enum tools_offer wanted, struct error *e)
{
    const char *offered = server_options(s)->tools;
    if (!offered)
        offered = config_string(server_config(s), CONFIG_CHAT_TOOLS);
    int level = TOOLS_FULL;
    while (level > TOOLS_NONE && strcmp(tools_offer_names.words[level], offered) != 0)
        level--;
    return (int)wanted <= level ||
           err_set(e, ERR_FORBIDDEN,
                   "\"tools\": more than \"%s\" is for an owner; leave it out, or start tiro serve "
                   "with --tools",
                   offered);
}

/* Typed text becomes learned items, which are an owner's (learned/add). */
static bool may_say(const struct operation *o, const void *params, struct error *e)
{
    enum input_origin origin = INPUT_UNKNOWN;
    if (o == &operation_turn_start)
        origin = ((const struct turn_start_params *)params)->origin;
    if (o == &operation_turn_retry)
        origin = ((const struct turn_retry_params *)params)->origin;
    return origin != INPUT_TYPED ||
           err_set(e, ERR_FORBIDDEN,
                   "\"origin\": \"typed\" is for an owner; leave it out, or start tiro serve with "
                   "--allow owner");
}

bool authority_gives(const struct server *s, enum authority caller, const struct operation *o,
                     void *params, struct error *e)
{
    if (!params)
        return true;
    if (o == &operation_session_export) /* also where a file comes while it is written */
        ((struct session_export_params *)params)->replace = false;
    if (o == &operation_config_set && !may_set(params, e))
        return false;
    if (o == &operation_session_create && caller == AUTHORITY_CLIENT &&
        !may_have(s, ((const struct session_create_params *)params)->tools, e))
        return false;
    if (caller == AUTHORITY_CLIENT && !may_say(o, params, e))
        return false;
    return resolve_all(s, caller, o, params, e);
}

struct waiting {
    uint64_t id;
    transfer_done *done;
    void *context;
};

struct transfers {
    struct server *server;
    const struct config *config;
    char *store_path, *project; /* the first NULL: the default */
    bool persist;
    struct worker *worker;
    struct mailbox *over; /* of struct outcome */
    struct watch *watch;
    VEC(struct waiting) waiting;
    uint64_t started;
};

/* What came of one; the answer's request has its id. */
struct outcome {
    struct operation_answer *answer;
    struct buf text;
};

struct transfer {
    struct job job; /* the first member */
    struct transfers *transfers;
    struct operation_request *request; /* NULL: the outcome has it */
    char *text;
    size_t len;
};

static void free_outcome(void *item)
{
    struct outcome *o = item;
    operation_answer_free(o->answer);
    buf_release(&o->text);
    free(o);
}

/* --- on the worker's thread ------------------------------------------------------------------- */

static bool write_text(void *context, const char *bytes, size_t len, struct error *e)
{
    return buf_try_add(context, bytes, len) ||
           err_set(e, ERR_USAGE, "the export has more than %zu bytes; write it to a file",
                   TRANSFER_MAX);
}

static bool run_transfer(struct transfer *t, struct outcome *out, const struct wakeup *wakeup,
                         struct error *e)
{
    const struct transfers *all = t->transfers;
    const struct operation *o = t->request->operation;
    struct operation_stream stream = {.in = t->len > 0 ? fmemopen(t->text, t->len, "r") : NULL,
                                      .name = "content",
                                      .write = write_text,
                                      .wake_fd = wakeup->fd,
                                      .context = &out->text};
    struct operation_context c;
    bool opened = (!t->text || stream.in ||
                   err_set(e, ERR_USAGE, "\"content\" is empty; give the text to read")) &&
                  capability_need_store(all->persist, e) &&
                  operation_open(&c, o, all->config, all->store_path, all->project, e);
    bool ok = opened;
    if (opened) {
        c.stream = &stream;
        c.wakeup = wakeup;
        ok = operation_call(&c, o, t->request->params, out->answer->result, e);
        operation_close(&c);
    }
    if (stream.in)
        fclose(stream.in);
    return ok;
}

static void run(struct job *job, void *context, const struct wakeup *wakeup)
{
    struct transfer *t = (struct transfer *)job;
    struct outcome *out = mem_alloc(sizeof *out);
    struct error e;
    (void)context;
    buf_init(&out->text, TRANSFER_MAX);
    out->answer = operation_answer_new(t->request);
    if (!run_transfer(t, out, wakeup, &e))
        operation_answer_fail(out->answer, &e);
    t->request = NULL;
    mailbox_push(t->transfers->over, out);
}

static void release(struct job *job)
{
    struct transfer *t = (struct transfer *)job;
    operation_request_free(t->request);
    free(t->text);
    free(t);
}

/* --- on the loop's ---------------------------------------------------------------------------- */

static bool take_waiting(struct transfers *t, uint64_t id, struct waiting *out)
{
    for (size_t i = 0; i < t->waiting.len; i++)
        if (t->waiting.items[i].id == id) {
            *out = t->waiting.items[i];
            vec_remove(&t->waiting, i, 1);
            return true;
        }
    return false;
}

static void on_over(void *context, short revents)
{
    struct transfers *t = context;
    struct outcome *o;
    (void)revents;
    while ((o = mailbox_pop(t->over))) {
        const struct operation_answer *a = o->answer;
        bool failed = a->error.code != ERR_OK;
        struct waiting w;
        if (take_waiting(t, a->request->id, &w))
            w.done(w.context, a->result, failed ? NULL : o->text.data, failed ? &a->error : NULL);
        free_outcome(o);
    }
}

static const struct worker_role role = {0};

struct transfers *transfers_new(struct server *s, const struct engine_options *options)
{
    const char *directory = options->directory ? options->directory : ".";
    struct transfers *t = mem_alloc(sizeof *t);
    t->server = s;
    t->config = options->config;
    t->store_path = mem_strdup(options->store_path);
    t->project = realpath(directory, NULL);
    if (!t->project)
        t->project = mem_strdup(directory);
    t->persist = options->persist;
    t->over = mailbox_new(free_outcome);
    t->watch = server_watch(s, mailbox_fd(t->over), POLLIN, on_over, t);
    t->worker = worker_new(&role, t);
    return t;
}

void transfers_free(struct transfers *t)
{
    if (!t)
        return;
    worker_free(t->worker);
    server_unwatch(t->server, t->watch);
    mailbox_free(t->over);
    vec_release(&t->waiting);
    free(t->store_path);
    free(t->project);
    free(t);
}

uint64_t transfers_start(struct transfers *t, const struct operation *o, const void *params,
                         const char *text, transfer_done *done, void *context, struct error *e)
{
    struct transfer *made = mem_alloc(sizeof *made);
    *made = (struct transfer){.job = {run, release, ++t->started, operation_lasts(o)},
                              .transfers = t,
                              .request = operation_request_new(o, params),
                              .text = mem_strdup(text),
                              .len = text ? strlen(text) : 0};
    uint64_t id = made->request->id = t->started;
    if (!worker_submit(t->worker, &made->job, e)) {
        release(&made->job);
        return 0;
    }
    vec_push(&t->waiting, (struct waiting){id, done, context});
    return id;
}

void *transfers_withdraw(struct transfers *t, uint64_t id)
{
    struct waiting gone;
    if (!take_waiting(t, id, &gone))
        return NULL;
    worker_withdraw(t->worker, id);
    return gone.context;
}
