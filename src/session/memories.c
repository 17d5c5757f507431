#include "session/memories.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "session/memories_private.h"
#include "store/sessions.h"

/* --- opening ---------------------------------------------------------------------------------- */

struct memories *memories_new(const struct config *config, struct store *store,
                              const char *directory, const char *project)
{
    struct memories *m = mem_alloc(sizeof *m);
    *m = (struct memories){.config = config, .store = store, .project = mem_strdup(project)};
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
    if (m->store)
        recall_release(&m->recall);
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
    out->session_id = m->session;
    if (m->session)
        return true;
    *out = (struct memory_scope){.kind = MEMORY_SCOPE_ALL};
    return !text || err_set(e, ERR_USAGE, "no session is open here; give session=ID");
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_blank(const char *text)
{
    return text[strspn(text, " \t\n")] == '\0';
}

static bool browse(struct memories *m, const struct memory_scope *scope, int limit,
                   struct memory_hits *out, struct error *e)
{
    struct memory_entries list = {0};
    if (!memories_store(m)->list(m->recall.memory, scope, 0, limit, &list, e))
        return false;
    for (size_t i = 0; i < list.items.len; i++)
        vec_push(&out->items, (struct memory_hit){.entry = list.items.items[i]});
    vec_release(&list.items);
    return true;
}

/* Newest first. */
static int by_date(const void *left, const void *right)
{
    const struct memory_hit *a = left, *b = right;
    return (a->entry.created_ms < b->entry.created_ms) -
           (a->entry.created_ms > b->entry.created_ms);
}

static bool look_up(struct memories *m, const struct memory_search *search,
                    const struct memory_scope *scope, struct memory_hits *out, struct error *e)
{
    if (is_blank(search->query))
        return browse(m, scope, search->limit, out, e);
    struct memory_query q = memory_query_for(m->config, search->query);
    q.limit = search->limit;
    q.typing = search->typing;
    q.scope = *scope;
    if (!recall_search(&m->recall, &q, m->wakeup, out, e))
        return false;
    if (search->order == MEMORY_BY_DATE && out->items.len > 0)
        qsort(out->items.items, out->items.len, sizeof *out->items.items, by_date);
    return true;
}

bool memories_search(struct memories *m, const struct memory_search *search,
                     struct memory_found *out, struct error *e)
{
    char id[UUID_LEN + 1];
    struct memory_scope scope;
    *out = (struct memory_found){0};
    if (!find_scope(m, search->scope, id, &scope, e))
        return false;
    if (!m->store || (look_up(m, search, &scope, &out->hits, e) &&
                      memories_store(m)->count(m->recall.memory, &scope, &out->total, e)))
        return true;
    memory_hits_release(&out->hits);
    return false;
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
    if (!reference)
        return err_set(e, ERR_USAGE, "no entry is named; give its id");
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
    return !m->store || recall_stats(&m->recall, m->wakeup, out, e);
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
    vec_push(&m->forgotten, gone);
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

bool memories_restore(struct memories *m, char **id, int *summaries, struct error *e)
{
    if (m->forgotten.len == 0)
        return err_set(e, ERR_MEMORY_NOT_FOUND, "there is no forgotten entry to restore");
    struct memory_forgotten *last = &vec_last(&m->forgotten);
    if (!memories_store(m)->restore(m->recall.memory, last, e))
        return false;
    *id = mem_strdup(last->items.len > 0 ? last->items.items[0].entry.id : NULL);
    *summaries = (int)last->summaries.len;
    memory_forgotten_release(last);
    m->forgotten.len--;
    return true;
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
