#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum { CANDIDATES_SHOWN = 5 };

void memory_close(struct memory *m)
{
    if (m)
        m->ops->close(m);
}

bool memory_tell(const struct memory *m, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e)
{
    return !m->listener.hear || m->listener.hear(m->listener.context, what, entry, out, e);
}

void memory_forgotten_release(struct memory_forgotten *f)
{
    for (size_t i = 0; i < f->items.len; i++)
        memory_entry_release(&f->items.items[i].entry);
    vec_release(&f->items);
    for (size_t i = 0; i < f->summaries.len; i++)
        free(f->summaries.items[i].session_id);
    vec_release(&f->summaries);
}

/* ---- references to entries ---- */

bool memory_resolve(struct memory *m, const char *reference, char **id, struct error *e)
{
    struct text_list ids = {0};
    *id = NULL;
    if (*reference && !m->ops->ids(m, reference, CANDIDATES_SHOWN + 1, &ids, e))
        return false;
    /* A whole id is the first that begins so. */
    if (ids.items.len == 1 || (ids.items.len > 1 && strcmp(ids.items.items[0], reference) == 0)) {
        *id = mem_strdup(ids.items.items[0]);
    } else if (ids.items.len == 0) {
        err_set(e, ERR_MEMORY_NOT_FOUND,
                "there is no entry %.60s in memory; 'tiro memory list' shows them", reference);
    } else {
        AUTO(buf_release) struct buf names = BUF_INIT;
        for (size_t i = 0; i < ids.items.len && i < CANDIDATES_SHOWN; i++)
            buf_addf(&names, "%s%.24s", i > 0 ? ", " : "", ids.items.items[i]);
        err_set(e, ERR_MEMORY_NOT_FOUND,
                "%.40s matches more than one id: %s%s; give more of the id", reference, names.data,
                ids.items.len > CANDIDATES_SHOWN ? ", …" : "");
    }
    vec_free_each(&ids.items);
    return *id;
}

bool memory_around(struct memory *m, const struct memory_around *p, struct memory_excerpt *out,
                   struct error *e)
{
    struct memory_around whole = *p;
    auto_free char *id = NULL;
    bool is_key = p->place.id && p->place.id[0] == '#';
    if (p->place.id && !is_key && !memory_resolve(m, p->place.id, &id, e))
        return false;
    whole.place.id = is_key ? p->place.id : id;
    return m->ops->around(m, &whole, out, e);
}

/* ---- queries ---- */

bool memory_scope_parse(const char *text, struct memory_scope *out)
{
    static const char session[] = "session=";
    static const struct {
        const char *name;
        enum memory_scope_kind kind;
    } kinds[] = {{"all", MEMORY_SCOPE_ALL},
                 {"project", MEMORY_SCOPE_PROJECT},
                 {"session", MEMORY_SCOPE_SESSION}};
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, text) == 0) {
            out->kind = kinds[i].kind;
            return true;
        }
    if (strncmp(text, session, sizeof session - 1) != 0 || !text[sizeof session - 1])
        return false;
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_SESSION,
                                 .session_id = text + sizeof session - 1};
    return true;
}

struct memory_query memory_query_for(const struct config *config, const char *text)
{
    return (struct memory_query){
        .text = text,
        .limit = 5,
        .ranking = MEMORY_WORDS,
        .rank = rank_settings_for(config_real(config, CONFIG_MEMORY_K1),
                                  config_real(config, CONFIG_MEMORY_B)),
    };
}
