#include "serve/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/json_pack.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/edit.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/folders.h"
#include "session/operation.h"
#include "session/session_operations.h"

static const char content[] = "content";

struct json *contract_schema(const struct operation *o, bool of_result)
{
    const struct shape *s = of_result ? o->result : o->params; /* NULL: it has no members */
    const char *help = NULL;
    if (of_result && o->content == CONTENT_OUT)
        help = "The text, unless it went to a file.";
    else if (!of_result && o->content == CONTENT_IN)
        help = "The text to read, as an export gives it.";
    struct json *schema =
        s ? shape_schema(s)
          : json_pack("{type:'object' properties:{} additionalProperties:b}", false);
    if (!help)
        return schema;
    struct json *members = json_clone(json_get(schema, "properties"));
    const struct json *had = json_get(schema, "required");
    const char *name = json_get_string(schema, "title");
    auto_free char *title = name ? mem_printf("%s with content", name) : NULL;
    json_set(members, content, json_pack("{type:'string' description:s}", help));
    json_set(schema, "properties", members);
    json_set_string(schema, "title", title);
    if (!of_result) {
        struct json *names = had ? json_clone(had) : json_new_array();
        json_push(names, json_new_string(content));
        json_set(schema, "required", names);
    }
    return schema;
}

/* --- calls --------------------------------------------------------------------------------------
 */

bool contract_start(struct server *s, enum authority caller, const struct operation *o,
                    const struct json *params, server_answered *done, void *context, uint64_t *id,
                    struct error *e)
{
    *id = 0;
    if (o->authority == AUTHORITY_TERMINAL)
        return err_set(e, ERR_FORBIDDEN,
                       "%s is for the terminal and the command line alone; use these", o->name);
    if (caller > o->authority)
        return err_set(
            e, ERR_FORBIDDEN,
            "%s is for an owner; the person who starts tiro serve allows it with --allow "
            "owner",
            o->name);
    if (params && json_type(params) != JSON_OBJECT)
        return err_set(e, ERR_USAGE, "\"params\" is no object; give members by their names");
    AUTO(json_free_local) struct json *copy = NULL;
    bool in = o->content == CONTENT_IN;
    const char *text = in ? json_get_string(params, content) : NULL;
    if (!params || in) { /* the shape does not have the text */
        copy = json_new_object();
        for (const struct json *m = json_first(params); m; m = json_next(m))
            if (strcmp(json_name(m), content) != 0)
                json_set(copy, json_name(m), json_clone(m));
    }
    const struct json *members = copy ? copy : params;
    const char *first = json_name(json_first(members));
    if (!o->params && first)
        return err_set(e, ERR_USAGE, "\"%.60s\" is not known; %s takes nothing", first, o->name);
    auto_free void *taken = o->params ? mem_alloc(o->params->size) : NULL;
    bool fits =
        (!taken || shape_read(o->params, members, taken, e)) &&
        (!in || text || err_set(e, ERR_USAGE, "\"content\" does not fit; give the text to read"));
    if (fits && authority_gives(s, caller, o, taken, e))
        *id = server_ask_with(s, o, taken, text, done, context, e);
    if (taken)
        shape_release(o->params, taken);
    return *id != 0;
}

char *contract_result(const struct operation_answer *a)
{
    const struct operation *o = a->request->operation;
    struct buf out = BUF_INIT;
    struct json_out j = {.buf = &out};
    json_out_open(&j, '{');
    if (a->result)
        shape_write_members(o->result, a->result, &j);
    json_out_member(&j, content, o->content == CONTENT_OUT ? a->text : NULL);
    json_out_close(&j, '}');
    return buf_take(&out);
}

const struct error *contract_fault(const struct operation_answer *a)
{
    enum operation_busy busy = a->result ? a->request->operation->busy : BUSY_NOT;
    const struct error *fault = &a->error;
    if (busy == BUSY_TURN)
        fault = &((const struct turn_result *)a->result)->fault;
    else if (busy == BUSY_COMPACTION)
        fault = &((const struct compaction_result *)a->result)->fault;
    return fault->code == ERR_OK ? NULL : fault;
}

void contract_answer(struct rpc_call *call, const struct operation_answer *a)
{
    const struct error *fault = contract_fault(a);
    auto_free char *result = a->error.code == ERR_OK ? contract_result(a) : NULL;
    if (!result) {
        rpc_fail_with(call, fault);
    } else if (fault) {
        auto_free char *data =
            mem_printf("{\"code\":\"%s\",\"result\":%s}", err_info(fault->code)->name, result);
        rpc_fail(call, err_info(fault->code)->rpc, fault->text, data);
    } else {
        rpc_answer(call, result);
    }
}

/* --- authority ----------------------------------------------------------------------------------
 */

/* Replaces a path by the file that it leads to. The row itself refuses a working directory that is
 * not absolute. */
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

/* Refuses a key that is not spelled as in the table, also where the configuration's file would take
 * it. */
static bool may_set(const struct config_set_params *p, struct error *e)
{
    auto_free char *section = NULL;
    auto_free char *name = NULL;
    if (!config_edit_split(p->key, &section, &name, e))
        return false;
    enum config_key key = config_key_find(section, name);
    const struct config_key_info *info = key < CONFIG_KEY_COUNT ? config_key_info(key) : NULL;
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

    /* Typed text becomes learned items, which are an owner's (learned/add). */
    enum input_origin origin = INPUT_UNKNOWN;
    if (o == &operation_turn_start)
        origin = ((const struct turn_start_params *)params)->origin;
    if (o == &operation_turn_retry)
        origin = ((const struct turn_retry_params *)params)->origin;
    if (caller == AUTHORITY_CLIENT && origin == INPUT_TYPED)
        return err_set(e, ERR_FORBIDDEN,
                       "\"origin\": \"typed\" is for an owner; leave it out, or start tiro serve "
                       "with --allow owner");

    if (origin == INPUT_COMMAND) /* it asks nobody, and has no sandbox */
        return err_set(e, ERR_FORBIDDEN,
                       "\"origin\": \"command\" is for a person at the terminal; leave it out");

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
