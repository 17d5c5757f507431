#include "tests/simple_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/content.h"
#include "tests/simple_store_private.h"

static void simple_close(struct memory *memory)
{
    auto_free struct simple_memory *m = simple_of(memory);
    for (size_t i = 0; i < m->rows.len; i++)
        memory_entry_release(&m->rows.items[i].entry);
    vec_release(&m->rows);
    for (size_t i = 0; i < m->sessions.len; i++)
        free(m->sessions.items[i].id);
    vec_release(&m->sessions);
    vec_release(&m->gone);
    free(m->language);
}

/* ---- finding ---- */

ptrdiff_t simple_row_of(const struct simple_memory *m, const char *id)
{
    for (size_t i = 0; id && i < m->rows.len; i++)
        if (strcmp(m->rows.items[i].entry.id, id) == 0)
            return (ptrdiff_t)i;
    return SIMPLE_NOWHERE;
}

bool simple_need_row(const struct simple_memory *m, const char *id, ptrdiff_t *row, struct error *e)
{
    *row = simple_row_of(m, id);
    return *row != SIMPLE_NOWHERE ||
           err_set(e, ERR_MEMORY_NOT_FOUND, "there is no entry %.60s in memory", id);
}

static int64_t session_of(const struct simple_memory *m, const char *id)
{
    for (size_t i = 0; i < m->sessions.len; i++)
        if (m->sessions.items[i].id && strcmp(m->sessions.items[i].id, id) == 0)
            return (int64_t)i;
    return SIMPLE_NOWHERE;
}

static int64_t need_session(struct simple_memory *m, const char *id)
{
    int64_t number = session_of(m, id);
    if (number != SIMPLE_NOWHERE)
        return number;
    vec_push(&m->sessions, (struct simple_session){.id = mem_strdup(id)});
    return (int64_t)m->sessions.len - 1;
}

/* ---- putting in and taking out ---- */

static void insert_row(struct simple_memory *m, struct forgotten_entry row)
{
    size_t at = m->rows.len;
    while (at > 0 && m->rows.items[at - 1].key > row.key)
        at--;
    vec_insert(&m->rows, at, row);
}

static void remove_row(struct simple_memory *m, size_t at)
{
    memory_entry_release(&m->rows.items[at].entry);
    vec_remove(&m->rows, at, 1);
}

static bool is_source(const struct forgotten_entry *there, int64_t compaction,
                      const struct memory_entry *entry)
{
    return there->entry.seq == entry->seq &&
           strcmp(there->entry.session_id, entry->session_id) == 0 &&
           ((there->compaction != 0 && compaction != 0) || content_is_again(&there->entry, entry));
}

static bool source_is_known(const struct simple_memory *m, const struct memory_entry *entry,
                            int64_t compaction)
{
    for (size_t i = 0; entry->seq > 0 && i < m->rows.len; i++)
        if (is_source(&m->rows.items[i], compaction, entry))
            return true;
    return false;
}

static bool is_known(const struct simple_memory *m, const struct memory_entry *entry,
                     int64_t compaction)
{
    return entry->id ? simple_row_of(m, entry->id) != SIMPLE_NOWHERE
                     : source_is_known(m, entry, compaction);
}

/* Whether a copy of the entry stays; removes the copies that do not. */
static bool meets_copy(struct simple_memory *m, const struct memory_entry *entry, int *stored)
{
    for (size_t i = m->rows.len; i > 0; i--) {
        const struct memory_entry *there = &m->rows.items[i - 1].entry;
        if (strcmp(there->session_id, entry->session_id) != 0 ||
            !content_equal(there->content, entry->content))
            continue;
        if (content_stays(there, entry))
            return true;
        remove_row(m, i - 1);
        --*stored;
    }
    return false;
}

static bool is_taken(const struct simple_memory *m, const struct memory_entry *entry)
{
    ptrdiff_t row = simple_row_of(m, entry->id);
    return row != SIMPLE_NOWHERE && !content_is_again(&m->rows.items[row].entry, entry);
}

static void put(struct simple_memory *m, const struct memory_entry *entry, int64_t compaction,
                char **id)
{
    int64_t number = need_session(m, entry->session_id);
    while (!*id || simple_row_of(m, *id) != SIMPLE_NOWHERE) {
        free(*id);
        *id = fresh_ids_next(&m->ids);
    }
    struct memory_entry copy = memory_entry_clone(entry);
    free(copy.id);
    copy.id = mem_strdup(*id);
    int64_t place = m->sessions.items[number].next++;
    insert_row(m, (struct forgotten_entry){copy, rank_key(number, place), compaction});
}

/* 1 + where it is noted that the message was forgotten. */
static size_t find_gone(const struct simple_memory *m, int64_t session, int64_t seq)
{
    size_t i = m->gone.len;
    while (i > 0 && (m->gone.items[i - 1].session != session || m->gone.items[i - 1].seq != seq))
        i--;
    return i;
}

static void index_one(struct simple_memory *m, struct memory_entry *given,
                      const struct memory_entry *entry, int64_t compaction, int *stored)
{
    bool gone = compaction != 0 && find_gone(m, session_of(m, entry->session_id), entry->seq) > 0;
    if (gone || is_known(m, entry, compaction) || meets_copy(m, entry, stored))
        return;
    put(m, entry, compaction, &given->id);
    ++*stored;
}

/* The entry in its stored form; it owns its content alone, which is NULL if the content was
 * deleted. */
static struct memory_entry as_kept(const struct memory_entry *given, const char *session_id)
{
    struct memory_entry entry = *given;
    entry.session_id = (char *)session_id;
    entry.content = content_clean(given->content);
    return entry;
}

/* Checks all ids first, since the operation adds all entries or none. */
static bool ids_are_free(const struct simple_memory *m, const char *session_id,
                         const struct memory_entry *entries, size_t count, struct error *e)
{
    bool taken = false;
    for (size_t i = 0; i < count && !taken; i++) {
        struct memory_entry entry = as_kept(&entries[i], session_id);
        taken = entry.content && is_taken(m, &entry);
        if (taken)
            err_set(e, ERR_USAGE, "the id %.60s is that of another entry", entry.id);
        free(entry.content);
    }
    return !taken;
}

static bool simple_index(struct memory *memory, const char *session_id, int64_t compaction,
                         struct memory_entry *entries, size_t count, int *stored, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    *stored = 0;
    if (!ids_are_free(m, session_id, entries, count, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct memory_entry entry = as_kept(&entries[i], session_id);
        if (entry.content)
            index_one(m, &entries[i], &entry, compaction, stored);
        free(entry.content);
    }
    return true;
}

static bool simple_withdraw(struct memory *memory, const char *session_id, int64_t compaction,
                            struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    (void)e;
    for (size_t i = m->rows.len; i > 0; i--) {
        const struct forgotten_entry *row = &m->rows.items[i - 1];
        if (row->compaction == compaction && !row->entry.pinned && !row->entry.edited &&
            strcmp(row->entry.session_id, session_id) == 0)
            remove_row(m, i - 1);
    }
    return true;
}

static bool simple_edit(struct memory *memory, const char *id, const char *content, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    ptrdiff_t row;
    char *clean = content_clean(content);
    if (!clean)
        return err_set(e, ERR_USAGE, "an entry cannot be empty; delete it instead");
    if (!simple_need_row(m, id, &row, e)) {
        free(clean);
        return false;
    }
    struct memory_entry *entry = &m->rows.items[row].entry;
    bool changes = strcmp(entry->content, clean) != 0;
    if (changes && !memory_tell(memory, MEMORY_EDITED, entry, NULL, e)) {
        free(clean);
        return false;
    }
    entry->edited = entry->edited || changes;
    free(entry->content);
    entry->content = clean;
    return true;
}

static bool simple_pin(struct memory *memory, const char *id, bool pinned, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    ptrdiff_t row;
    if (!simple_need_row(m, id, &row, e))
        return false;
    m->rows.items[row].entry.pinned = pinned;
    return true;
}

static bool simple_forget(struct memory *memory, const char *const *ids, size_t count,
                          struct memory_forgotten *out, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    struct memory_forgotten forgotten = {0};
    ptrdiff_t row;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = simple_need_row(m, ids[i], &row, e) &&
             memory_tell(memory, MEMORY_FORGOTTEN, &m->rows.items[row].entry, &forgotten, e);
    for (size_t i = 0; i < count && ok; i++) {
        row = simple_row_of(m, ids[i]);
        if (row == SIMPLE_NOWHERE)
            continue;
        const struct forgotten_entry *gone = &m->rows.items[row];
        if (gone->compaction != 0 && gone->entry.seq > 0)
            vec_push(&m->gone,
                     (struct simple_source){rank_key_session(gone->key), gone->entry.seq});
        vec_push(&forgotten.items, *gone);
        vec_remove(&m->rows, (size_t)row, 1);
    }
    if (out)
        *out = forgotten;
    else
        memory_forgotten_release(&forgotten);
    return ok;
}

/* Deleted entries leave no traces in memory, so there is nothing to purge. */
static bool simple_purge(struct memory *m, bool *more, struct error *e)
{
    (void)m, (void)e;
    *more = false;
    return true;
}

static bool sessions_are_there(const struct simple_memory *m, const struct memory_forgotten *f,
                               struct error *e)
{
    for (size_t i = 0; i < f->items.len; i++) {
        const struct forgotten_entry *item = &f->items.items[i];
        if (session_of(m, item->entry.session_id) != rank_key_session(item->key))
            return err_set(e, ERR_MEMORY_NOT_FOUND, "session %.60s was deleted meanwhile",
                           item->entry.session_id);
        if (is_taken(m, &item->entry))
            return err_set(e, ERR_USAGE, "the id %.60s is that of another entry", item->entry.id);
    }
    return true;
}

static bool simple_restore(struct memory *memory, const struct memory_forgotten *f, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    if (!sessions_are_there(m, f, e))
        return false;
    for (size_t i = 0; i < f->items.len; i++) {
        struct forgotten_entry row = f->items.items[i];
        size_t gone = find_gone(m, rank_key_session(row.key), row.entry.seq);
        if (gone > 0)
            vec_remove(&m->gone, gone - 1, 1);
        if (is_known(m, &row.entry, row.compaction) ||
            (row.compaction != 0 && source_is_known(m, &row.entry, row.compaction)))
            continue;
        row.entry = memory_entry_clone(&row.entry);
        insert_row(m, row);
    }
    bool ok = true;
    for (size_t i = 0; i < f->items.len && ok; i++)
        ok = memory_tell(memory, MEMORY_RESTORED, &f->items.items[i].entry, NULL, e);
    return ok;
}

static bool simple_forget_session(struct memory *memory, const char *session_id, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    const struct memory_entry session = {.session_id = (char *)session_id};
    int64_t number = session_of(m, session_id);
    if (number != SIMPLE_NOWHERE &&
        !memory_tell(memory, MEMORY_SESSION_FORGOTTEN, &session, NULL, e))
        return false;
    for (size_t i = m->rows.len; i > 0; i--)
        if (rank_key_session(m->rows.items[i - 1].key) == number)
            remove_row(m, i - 1);
    if (number != SIMPLE_NOWHERE) {
        free(m->sessions.items[number].id);
        m->sessions.items[number].id = NULL;
    }
    return true;
}

static bool simple_reindex(struct memory *memory, const char *language,
                           bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                           struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    int64_t all = (int64_t)m->rows.len;
    if (progress && !progress(context, all, all))
        return err_set(e, ERR_INTERRUPTED, "the index was not made anew; it is as before");
    free(m->language);
    m->language = mem_strdup(language ? language : "english");
    return true;
}

static bool simple_tidy(struct memory *memory, bool *more, struct error *fault)
{
    (void)memory, (void)fault;
    *more = false;
    return true;
}

/* This store keeps no vectors. */
static bool simple_count_vectors(struct memory *memory, const char *model,
                                 struct vectors_counts *out, struct error *fault)
{
    (void)fault;
    *out = (struct vectors_counts){.missing = model ? (int64_t)simple_of(memory)->rows.len : 0};
    return true;
}

static bool simple_know_model(struct memory *memory, const char *model, int dimension,
                              struct error *fault)
{
    (void)memory, (void)model;
    (void)dimension, (void)fault;
    return true;
}

static bool simple_lacking(struct memory *memory, const char *model, size_t max_bytes,
                           struct vectors_lacking *out, struct error *fault)
{
    (void)memory, (void)model;
    (void)max_bytes, (void)fault;
    *out = (struct vectors_lacking){0};
    return true;
}

static bool simple_keep(struct memory *memory, const char *model, const struct vectors_lacking *of,
                        const struct embeddings *made, struct error *fault)
{
    (void)memory, (void)model;
    (void)of, (void)made, (void)fault;
    return true;
}

static bool simple_tidy_vectors(struct memory *memory, const char *model, int64_t *left,
                                struct error *fault)
{
    (void)memory, (void)model, (void)fault;
    *left = 0;
    return true;
}

static const struct memory_ops simple_store = {
    .name = "simple",
    .close = simple_close,
    .index = simple_index,
    .withdraw = simple_withdraw,
    .search = simple_search,
    .list = simple_list,
    .count = simple_count,
    .get = simple_get,
    .ids = simple_ids,
    .each = simple_each,
    .edit = simple_edit,
    .pin = simple_pin,
    .forget = simple_forget,
    .purge = simple_purge,
    .restore = simple_restore,
    .forget_session = simple_forget_session,
    .stats = simple_stats,
    .reindex = simple_reindex,
    .tidy = simple_tidy,
    .count_vectors = simple_count_vectors,
    .know_model = simple_know_model,
    .lacking = simple_lacking,
    .keep = simple_keep,
    .tidy_vectors = simple_tidy_vectors,
};

struct memory *memory_simple_new(void)
{
    struct simple_memory *m = mem_alloc(sizeof *m);
    m->memory.ops = &simple_store;
    m->language = mem_strdup("english");
    return &m->memory;
}
