#include "session/memories.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/sessions.h"

struct memories *memories_new(const struct config *config, struct store *store,
                              const char *directory, const char *project)
{
    struct memories *m = mem_alloc(sizeof *m);
    *m = (struct memories){.config = config,
                           .store = store,
                           .directory = mem_strdup(directory),
                           .project = mem_strdup(project)};
    if (store) {
        recall_init(&m->recall, config, store, directory);
        m->recall.alone = true;
    }
    return m;
}

void memories_free(struct memories *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->forgotten.len; i++)
        memory_forgotten_release(&m->forgotten.items[i]);
    vec_release(&m->forgotten);
    for (size_t i = 0; i < m->unlearned.len; i++)
        learned_items_release(&m->unlearned.items[i]);
    vec_release(&m->unlearned);
    if (m->store)
        recall_release(&m->recall);
    session_info_release(&m->named);
    free(m->directory);
    free(m->project);
    free(m);
}

/* --- the session that a row is for ------------------------------------------------------------ */

bool memories_work_in(struct memories *m, const char *reference, struct error *e)
{
    char id[UUID_LEN + 1];
    session_info_release(&m->named);
    m->named = (struct session_info){0};
    return !reference || !m->store ||
           (sessions_resolve(m->store, reference, id, e) &&
            sessions_get(m->store, id, &m->named, e));
}

const char *memories_session(const struct memories *m)
{
    return *m->named.id ? m->named.id : m->session;
}

/* An imported session has none. */
const char *memories_directory(const struct memories *m)
{
    return m->named.directory && *m->named.directory ? m->named.directory : m->project;
}

/* --- scopes ----------------------------------------------------------------------------------- */

/* What a person means by a session: one that entries have, else one that is kept here. */
static bool resolve_session(struct memories *m, const char *reference, char id[UUID_LEN + 1],
                            struct memory_scope *scope, struct error *e)
{
    int64_t count;
    if (!m->store)
        return true;
    if (!memories_ops(m)->count(m->recall.memory, scope, &count, e))
        return false;
    if (count > 0)
        return true;
    scope->session_id = id;
    return sessions_resolve(m->store, reference, id, e);
}

bool memories_find_scope(struct memories *m, const char *text, char id[UUID_LEN + 1],
                         struct memory_scope *out, struct error *e)
{
    const char *name = text ? text : config_string(m->config, CONFIG_MEMORY_SCOPE);
    if (!memory_scope_parse(name, out))
        return err_set(e, ERR_USAGE, "unknown scope \"%.60s\"; give all, project or session=ID",
                       name);
    if (out->kind == MEMORY_SCOPE_PROJECT)
        out->directory = memories_directory(m);
    if (out->kind != MEMORY_SCOPE_SESSION)
        return true;
    if (out->session_id && *out->session_id)
        return resolve_session(m, out->session_id, id, out, e);
    out->session_id = memories_session(m);
    if (out->session_id)
        return true;
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    return !text || err_set(e, ERR_USAGE, "no session is open here; give session=ID");
}

/* --- entries ---------------------------------------------------------------------------------- */

bool memories_resolve(struct memories *m, const char *reference, char **id, struct error *e)
{
    *id = NULL;
    if (!reference)
        return err_set(e, ERR_USAGE, "no entry is named; give its id");
    if (!m->store)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "memory is empty here, so \"%.40s\" was not found; compactions and tiro "
                       "memory import fill it",
                       reference);
    return memory_resolve(m->recall.memory, reference, id, e);
}
