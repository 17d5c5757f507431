#include "session/memories.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "session/capability.h"
#include "session/memories_private.h"
#include "store/sessions.h"

/* --- opening ---------------------------------------------------------------------------------- */

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (store_in_memory(path))
        return NULL;
    return slash ? mem_strndup(path, slash == path ? 1 : (size_t)(slash - path)) : mem_strdup(".");
}

static bool open_store(struct memories *m, const char *path, enum memories_access access,
                       struct error *e)
{
    struct error cause = {0};
    bool write = access == MEMORIES_WRITE;
    if (!store_open(path, write ? STORE_READ_WRITE : STORE_READ_ONLY, &m->store, &cause))
        return (!write && cause.code == ERR_SESSION_NOT_FOUND) ||
               err_set(e, cause.code, "%s", cause.text);
    m->directory = directory_of(path);
    recall_init(&m->recall, m->config, m->store, m->directory);
    m->recall.alone = true;
    return true;
}

bool memories_open(const struct config *config, const char *store_path, const char *project,
                   enum memories_access access, struct memories **out, struct error *e)
{
    *out = NULL;
    if (!capability_need_memory(config_boolean(config, CONFIG_MEMORY_ENABLED), e) ||
        !capability_need_store(config_boolean(config, CONFIG_SESSION_PERSIST), e))
        return false;
    struct memories *m = mem_alloc(sizeof *m);
    *m = (struct memories){.config = config, .project = mem_strdup(project)};
    char *path = store_path ? mem_strdup(store_path) : store_default_path();
    bool ok = open_store(m, path, access, e);
    free(path);
    if (ok)
        *out = m;
    else
        memories_close(m);
    return ok;
}

void memories_close(struct memories *m)
{
    if (!m)
        return;
    if (m->store)
        recall_release(&m->recall);
    store_close(m->store);
    free(m->directory);
    free(m->project);
    free(m);
}

/* --- scopes ----------------------------------------------------------------------------------- */

/* What a person means by a session: one that entries have, else one that is kept here. */
static bool resolve_session(struct memories *m, const char *reference, char id[UUID_LEN + 1],
                            struct memory_scope *scope, struct error *e)
{
    int64_t count;
    if (!m->store)
        return true;
    if (!memories_store(m)->count(m->recall.memory, scope, &count, e))
        return false;
    if (count > 0)
        return true;
    scope->session_id = id;
    return sessions_resolve(m->store, reference, id, e);
}

/* `id` holds a session's that was found; the scope may borrow from it and from `text`. */
static bool find_scope(struct memories *m, const char *text, char id[UUID_LEN + 1],
                       struct memory_scope *out, struct error *e)
{
    const char *name = text ? text : config_string(m->config, CONFIG_MEMORY_SCOPE);
    if (!memory_scope_parse(name, out))
        return err_set(e, ERR_USAGE, "unknown scope \"%.60s\"; give all, project or session=ID",
                       name);
    if (out->kind == MEMORY_SCOPE_PROJECT)
        out->directory = m->project;
    if (out->kind != MEMORY_SCOPE_SESSION)
        return true;
    if (out->session_id && *out->session_id)
        return resolve_session(m, out->session_id, id, out, e);
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    return !text || err_set(e, ERR_USAGE, "no session is open here; give session=ID");
}

/* --- reading ---------------------------------------------------------------------------------- */

bool memories_search(struct memories *m, const char *query, const char *scope, int limit,
                     struct memory_hits *out, struct error *e)
{
    char id[UUID_LEN + 1];
    struct memory_query q = memory_query_for(m->config, query);
    *out = (struct memory_hits){0};
    q.limit = limit;
    return find_scope(m, scope, id, &q.scope, e) &&
           (!m->store || recall_search(&m->recall, &q, NULL, out, e));
}

bool memories_list(struct memories *m, const char *scope, int limit, struct memory_entries *out,
                   struct error *e)
{
    char id[UUID_LEN + 1];
    struct memory_scope s;
    *out = (struct memory_entries){0};
    return find_scope(m, scope, id, &s, e) &&
           (!m->store ||
            memories_store(m)->list(m->recall.memory, &s, 0, limit > 0 ? limit : INT_MAX, out, e));
}

static bool resolve(struct memories *m, const char *reference, char **id, struct error *e)
{
    *id = NULL;
    if (!m->store)
        return err_set(e, ERR_MEMORY_NOT_FOUND,
                       "memory is empty here, so \"%.40s\" was not found; compactions and tiro "
                       "memory import fill it",
                       reference);
    return memory_resolve(m->recall.memory, reference, id, e);
}

bool memories_get(struct memories *m, const char *reference, struct memory_entry *out,
                  struct error *e)
{
    char *id;
    *out = (struct memory_entry){0};
    bool ok = resolve(m, reference, &id, e) && memories_store(m)->get(m->recall.memory, id, out, e);
    free(id);
    return ok;
}

bool memories_stats(struct memories *m, struct memory_stats *out, struct error *e)
{
    *out = (struct memory_stats){0};
    return !m->store || recall_stats(&m->recall, NULL, out, e);
}

/* --- changing --------------------------------------------------------------------------------- */

bool memories_edit(struct memories *m, const char *reference, const char *content, struct error *e)
{
    char *id;
    bool ok =
        resolve(m, reference, &id, e) && memories_store(m)->edit(m->recall.memory, id, content, e);
    free(id);
    return ok;
}

bool memories_pin(struct memories *m, const char *reference, bool pinned, struct error *e)
{
    char *id;
    bool ok =
        resolve(m, reference, &id, e) && memories_store(m)->pin(m->recall.memory, id, pinned, e);
    free(id);
    return ok;
}

struct ids {
    VEC(char *) items;
};

static void ids_add(struct ids *ids, char *id)
{
    bool there = false;
    for (size_t i = 0; i < ids->items.len && !there; i++)
        there = strcmp(ids->items.items[i], id) == 0;
    if (there)
        free(id);
    else
        vec_push(&ids->items, id);
}

static void ids_release(struct ids *ids)
{
    for (size_t i = 0; i < ids->items.len; i++)
        free(ids->items.items[i]);
    vec_release(&ids->items);
}

static bool forget(struct memories *m, const struct ids *ids, int *deleted, int *summaries,
                   struct error *e)
{
    struct memory_forgotten gone = {0};
    if (!memories_store(m)->forget(m->recall.memory, (const char *const *)ids->items.items,
                                   ids->items.len, &gone, e))
        return false;
    *deleted = (int)gone.items.len;
    *summaries = (int)gone.summaries.len;
    memory_forgotten_release(&gone);
    return true;
}

bool memories_forget(struct memories *m, const char *const *references, size_t count, int *deleted,
                     int *summaries, struct error *e)
{
    struct ids ids = {0};
    bool ok = true;
    *deleted = *summaries = 0;
    for (size_t i = 0; i < count && ok; i++) {
        char *id;
        ok = resolve(m, references[i], &id, e);
        if (ok)
            ids_add(&ids, id);
    }
    ok = ok && (ids.items.len == 0 || forget(m, &ids, deleted, summaries, e));
    ids_release(&ids);
    return ok;
}

/* --- export ----------------------------------------------------------------------------------- */

enum { PIECE_BYTES = 65536 };

struct writer {
    bool (*write)(void *context, const char *bytes, size_t len, struct error *e);
    void *context;
    struct buf pending;
    int64_t written;
    struct error fault; /* that stopped it */
};

static bool flush(struct writer *w)
{
    bool ok = w->write(w->context, w->pending.data, w->pending.len, &w->fault);
    buf_clear(&w->pending);
    return ok;
}

static bool write_line(void *context, const struct memory_entry *entry)
{
    struct writer *w = context;
    struct json_out o = {.buf = &w->pending};
    shape_write(&memory_entry_shape, entry, &o);
    buf_addch(&w->pending, '\n');
    w->written++;
    return w->pending.len < PIECE_BYTES || flush(w);
}

bool memories_export(struct memories *m,
                     bool (*write)(void *context, const char *bytes, size_t len, struct error *e),
                     void *context, int64_t *written, struct error *e)
{
    struct writer w = {.write = write, .context = context, .pending = BUF_INIT};
    bool ok = !m->store || memories_store(m)->each(m->recall.memory, write_line, &w, e);
    if (ok && (w.fault.code != ERR_OK || !flush(&w)))
        ok = err_set(e, w.fault.code, "%s", w.fault.text);
    buf_release(&w.pending);
    *written = w.written;
    return ok;
}

/* --- reindex ---------------------------------------------------------------------------------- */

struct reindex {
    bool (*tell)(void *context, int what, int64_t done, int64_t of);
    void *context;
    int wake_fd;
    int64_t done, of; /* vectors */
    bool stopped;
};

enum { WORDS, VECTORS };

static bool go_on(struct reindex *r, int what, int64_t done, int64_t of)
{
    r->stopped = r->stopped || !r->tell(r->context, what, done, of);
    return !r->stopped;
}

static bool tell_words(void *reindex, int64_t done, int64_t of)
{
    return go_on(reindex, WORDS, done, of);
}

static bool vectors_go_on(void *reindex)
{
    struct reindex *r = reindex;
    return go_on(r, VECTORS, r->done, r->of);
}

/* A graph's work comes after the vectors': then there is more left than before. */
static void count(struct reindex *r, int64_t left)
{
    if (left > r->of - r->done)
        r->of = left;
    r->done = r->of - left;
}

static bool stop(struct error *e)
{
    return err_set(e, ERR_INTERRUPTED, "stopped; the vectors that were made are kept");
}

static bool make_vectors(struct memories *m, struct reindex *r, struct error *e)
{
    const struct wakeup wakeup = {.fd = r->wake_fd, .go_on = vectors_go_on, .context = r};
    if (!recall_know_model(&m->recall, &wakeup, e))
        return r->stopped ? stop(e) : false;
    for (;;) {
        int64_t left = 0;
        int retry_ms = 0;
        switch (recall_work(&m->recall, &wakeup, &left, &retry_ms, e)) {
        case RECALL_IDLE:
            return true;
        case RECALL_WAITS:
            return r->stopped ? stop(e) : false;
        case RECALL_WORKED:
            break;
        }
        count(r, left);
        if (!vectors_go_on(r))
            return stop(e);
    }
}

bool memories_reindex(struct memories *m,
                      bool (*tell)(void *context, int what, int64_t done, int64_t of), int wake_fd,
                      void *context, struct error *e)
{
    struct reindex r = {.tell = tell, .wake_fd = wake_fd, .context = context};
    return !m->store || (memories_store(m)->reindex(
                             m->recall.memory, config_string(m->config, CONFIG_MEMORY_LANGUAGE),
                             tell_words, &r, e) &&
                         make_vectors(m, &r, e));
}
