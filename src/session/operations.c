#include <string.h>

#include "session/capability.h"
#include "session/engine_operations.h"
#include "session/memory_operations.h"
#include "session/removal.h"
#include "session/session_operations.h"

/* Of sessions that were deleted by a process that did not come to the end. */
enum { REMOVALS_AT_ONCE = 64 };

static const struct operation *const rows[] = {
    &operation_engine_info,     &operation_capabilities_get,  &operation_config_get,
    &operation_session_list,    &operation_session_search,    &operation_session_read,
    &operation_session_history, &operation_session_rename,    &operation_session_label,
    &operation_session_archive, &operation_session_unarchive, &operation_session_delete,
    &operation_session_fork,    &operation_session_export,    &operation_session_import,
    &operation_session_rebuild, &operation_memory_search,     &operation_memory_list,
    &operation_memory_read,     &operation_memory_edit,       &operation_memory_pin,
    &operation_memory_forget,   &operation_memory_restore,    &operation_memory_stats,
    &operation_memory_export,   &operation_memory_import,     &operation_memory_reindex,
};

const struct operation *operation_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? rows[index] : NULL;
}

const struct operation *operation_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i]->name, name) == 0)
            return rows[i];
    return NULL;
}

/* --- needs ------------------------------------------------------------------------------------ */

static bool persists(const struct config *config)
{
    return config_boolean(config, CONFIG_SESSION_PERSIST);
}

/* Those that build and configuration decide. */
static bool is_allowed(const struct operation *o, const struct config *config, struct error *e)
{
    if ((o->needs & NEED_MEMORY) &&
        !capability_need_memory(config_boolean(config, CONFIG_MEMORY_ENABLED), e))
        return false;
    return !(o->needs & NEED_STORE) || capability_need_store(persists(config), e);
}

/* Those that the caller decides. */
static bool is_equipped(const struct operation *o, const struct operation_context *c,
                        struct error *e)
{
    if ((o->needs & NEED_WRITE) && !c->writes)
        return err_set(e, ERR_SESSION_STORE_ERROR, "%s writes, but the store is open for reading",
                       o->name);
    return !(o->needs & NEED_STREAM) || c->stream ||
           err_set(e, ERR_USAGE, "%s needs a stream to read from or to write to", o->name);
}

bool operation_call(struct operation_context *c, const struct operation *o, const void *params,
                    void *result, struct error *e)
{
    if (o->result)
        shape_init(o->result, result);
    return is_allowed(o, c->config, e) && is_equipped(o, c, e) && o->run(c, params, result, e);
}

/* --- what it works on ------------------------------------------------------------------------- */

static bool open_catalog(struct operation_context *c, const char *store_path, struct error *e)
{
    if (!persists(c->config) || !capability_store())
        return true;
    if (!catalog_open(&c->catalog, store_path, c->writes ? CATALOG_WRITE : CATALOG_READ, e))
        return false;
    if (c->writes) {
        removal_finish_some(&c->catalog, REMOVALS_AT_ONCE);
        removal_sweep_locks(&c->catalog);
    }
    return true;
}

bool operation_open(struct operation_context *c, const struct operation *o,
                    const struct config *config, const char *store_path, const char *project,
                    struct error *e)
{
    *c = (struct operation_context){
        .config = config, .project = project, .writes = (o->needs & NEED_WRITE) != 0};
    if (!is_allowed(o, config, e))
        return false;
    if (o->executor == OPERATION_CALLER)
        return true;
    if (!open_catalog(c, store_path, e))
        return false;
    if (o->executor == OPERATION_MEMORY)
        c->memories = memories_new(config, c->catalog.store, c->catalog.directory, project);
    return true;
}

void operation_close(struct operation_context *c)
{
    memories_free(c->memories);
    catalog_release(&c->catalog);
}
