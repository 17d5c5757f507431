#include "serve/authority.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "config/edit.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/folders.h"
#include "session/session_operations.h"

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
