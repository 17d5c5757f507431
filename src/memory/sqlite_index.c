#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/content.h"
#include "memory/sqlite_private.h"

static const char session_sql[] =
    "SELECT number, next, (SELECT created_ms FROM memory_entry WHERE key < (number << 24) + next"
    " AND key >= number << 24 ORDER BY key DESC LIMIT 1) FROM memory_session WHERE id = ?";
static const char new_session_sql[] = "INSERT INTO memory_session (id, next) VALUES (?, 0)";
static const char next_sql[] = "UPDATE memory_session SET next = ?2 WHERE number = ?1";
static const char source_sql[] = MEMORY_ROWS
    "WHERE entry.session = (SELECT number FROM memory_session WHERE id = ?1) AND seq = ?2";
static const char brought_sql[] = MEMORY_ROWS
    "WHERE entry.key BETWEEN ?1 << 24 AND ?1 << 24 | 0xffffff AND compaction = ?2"
    " AND pinned = 0 AND edited = 0";

/* ---- the session that they go into ---- */

struct indexing {
    struct store *store;
    struct fresh_ids *ids;
    const char *session_id;
    int64_t number;  /* -1: the session has none yet */
    int64_t next;    /* place */
    int64_t last_ms; /* when the entry before that was said */
    int64_t compaction;
    bool changed; /* rows were put in */
    int stored;   /* rows that are there more */
};

static bool find_session(struct indexing *x, struct error *e)
{
    x->number = -1;
    x->next = x->last_ms = 0;
    struct query q = query_for(x->store, session_sql, x->session_id, e);
    if (query_next(&q)) {
        x->number = sqlite3_column_int64(q.handle, 0);
        x->next = sqlite3_column_int64(q.handle, 1);
        x->last_ms = sqlite3_column_int64(q.handle, 2);
    }
    return query_end(&q);
}

static bool need_session(struct indexing *x, struct error *e)
{
    if (x->number >= 0)
        return true;
    struct query q = query_for(x->store, new_session_sql, x->session_id, e);
    if (!query_run(&q))
        return false;
    x->number = sqlite3_last_insert_rowid(x->store->db);
    return true;
}

static bool keep_next(const struct indexing *x, struct error *e)
{
    if (!x->changed)
        return true;
    struct query q = query_begin(x->store, next_sql, e);
    query_int(&q, x->number);
    query_int(&q, x->next);
    return query_run(&q);
}

/* ---- what is there already ---- */

/* Sessions number messages; an import may do so anew in each of its talks. */
static bool is_source(const struct memory_row *there, int64_t compaction,
                      const struct memory_entry *entry)
{
    return (there->compaction != 0 && compaction != 0) || content_is_again(&there->entry, entry);
}

bool sqlite_source_is_known(struct store *s, const struct memory_entry *entry, int64_t compaction,
                            bool *known, struct error *e)
{
    *known = false;
    if (entry->seq <= 0)
        return true;
    struct query q = query_for(s, source_sql, entry->session_id, e);
    query_int(&q, entry->seq);
    while (!*known && query_next(&q)) {
        struct memory_row there = sqlite_row_read(&q);
        *known = is_source(&there, compaction, entry);
        memory_row_release(&there);
    }
    return query_end(&q);
}

static bool id_is_known(struct store *s, const struct memory_entry *entry, bool *known,
                        struct error *e)
{
    struct memory_row there;
    if (!sqlite_row_of(s, entry->id, &there, known, e))
        return false;
    bool ok = !*known || content_is_again(&there.entry, entry) ||
              err_set(e, ERR_USAGE, "the id %.60s is that of another entry; give this one another",
                      entry->id);
    memory_row_release(&there);
    return ok;
}

bool sqlite_is_known(struct store *s, const struct memory_entry *entry, int64_t compaction,
                     bool *known, struct error *e)
{
    *known = false;
    return entry->id ? id_is_known(s, entry, known, e)
                     : sqlite_source_is_known(s, entry, compaction, known, e);
}

/* One that stays makes the entry known; one that does not is taken out. */
static bool meet_copy(struct indexing *x, int64_t key, const struct memory_entry *entry,
                      bool *known, struct error *e)
{
    struct memory_row there;
    bool found;
    if (!sqlite_row_at(x->store, key, &there, &found, e))
        return false;
    *known = found && content_stays(&there.entry, entry);
    bool gives_way = found && !*known;
    bool ok = !gives_way || (sqlite_row_remove(x->store, &there, e) &&
                             sqlite_gone_add(x->store, &there, false, e));
    x->stored -= gives_way;
    memory_row_release(&there);
    return ok;
}

static bool meet_copies(struct indexing *x, const struct memory_entry *entry, bool *known,
                        struct error *e)
{
    struct memory_keys keys;
    struct corpus_scope here = {0};
    *known = false;
    if (x->number < 0)
        return true;
    vec_push(&here.numbers, x->number);
    bool ok = sqlite_equal_texts(x->store, entry->content, &here, &keys, e);
    for (size_t i = 0; ok && !*known && i < keys.items.len; i++)
        ok = meet_copy(x, keys.items.items[i], entry, known, e);
    vec_release(&keys.items);
    vec_release(&here.numbers);
    return ok;
}

/* ---- putting in ---- */

static bool make_id(const struct indexing *x, char **id, struct error *e)
{
    bool taken = true;
    while (taken) {
        struct memory_row there;
        free(*id);
        *id = fresh_ids_next(x->ids);
        if (!sqlite_row_of(x->store, *id, &there, &taken, e))
            return false;
        memory_row_release(&there);
    }
    return true;
}

static bool put(struct indexing *x, struct memory_entry *entry, char **id, struct error *e)
{
    if (!need_session(x, e))
        return false;
    x->next = rank_place_for(x->next, x->last_ms, entry->created_ms);
    if (x->next >= (int64_t)1 << RANK_PLACE_BITS)
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "memory is full for session %.60s, which has had %lld entries; continue in "
                       "a new session",
                       x->session_id, (long long)x->next);
    if (!*id && !make_id(x, id, e))
        return false;
    entry->id = *id;
    const struct memory_row row = {rank_key(x->number, x->next), x->compaction, *entry};
    x->next++;
    x->last_ms = entry->created_ms;
    x->changed = true;
    x->stored++;
    return sqlite_row_add(x->store, &row, e);
}

/* Whether the message is not to come in again. */
static bool is_gone(const struct indexing *x, const struct memory_entry *entry, bool *gone,
                    struct error *e)
{
    *gone = false;
    return x->compaction == 0 || x->number < 0 || entry->seq <= 0 ||
           sqlite_gone_has(x->store, x->number, entry->seq, gone, e);
}

/* `entry` is as it is to be kept; its id, NULL or not, is in `id`. */
static bool put_unless_known(struct indexing *x, struct memory_entry *entry, char **id,
                             struct error *e)
{
    bool known;
    return is_gone(x, entry, &known, e) &&
           (known || sqlite_is_known(x->store, entry, x->compaction, &known, e)) &&
           (known || (meet_copies(x, entry, &known, e) && (known || put(x, entry, id, e))));
}

static bool index_one(struct indexing *x, struct memory_entry *given, struct error *e)
{
    struct memory_entry entry = *given; /* owns nothing */
    entry.session_id = (char *)x->session_id;
    entry.content = content_clean(given->content);
    bool ok = !entry.content || put_unless_known(x, &entry, &given->id, e);
    free(entry.content);
    return ok;
}

static size_t count_bytes(const struct memory_entry *entries, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(entries[i].content);
    return bytes;
}

static bool index_all(struct sqlite_memory *m, struct indexing *x, struct memory_entry *entries,
                      size_t count, struct error *e)
{
    bool ok = words_prepare(&m->corpus, m->language, count_bytes(entries, count), e) &&
              find_session(x, e);
    for (size_t i = 0; i < count && ok; i++)
        ok = index_one(x, &entries[i], e);
    return ok && keep_next(x, e);
}

bool sqlite_memory_index(struct memory *memory, const char *session_id, int64_t compaction,
                         struct memory_entry *entries, size_t count, int *stored, struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    struct indexing x = {
        .store = m->store, .ids = &m->ids, .session_id = session_id, .compaction = compaction};
    bool began;
    *stored = 0;
    if (!store_enter(m->store, &began, e) ||
        !store_leave(m->store, began, index_all(m, &x, entries, count, e), e))
        return false;
    *stored = x.stored;
    return true;
}

/* ---- and back ---- */

/* The messages are in the history again, and come in when the session is left. */
static bool follow_again(struct store *s, const char *session_id, const struct memory_rows *rows,
                         struct error *e)
{
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < rows->items.len; i++)
        if (rows->items.items[i].entry.seq < first)
            first = rows->items.items[i].entry.seq;
    return rows->items.len == 0 || sqlite_followed_again(s, session_id, first, e);
}

static bool withdraw(struct store *s, const char *session_id, int64_t compaction, struct error *e)
{
    struct memory_rows rows = {0};
    int64_t number;
    if (!sqlite_deferred_withdraw(s, session_id, compaction, e) ||
        !sqlite_session_number(s, session_id, &number, e))
        return false;
    if (number < 0)
        return true;
    struct query q = query_begin(s, brought_sql, e);
    query_int(&q, number);
    query_int(&q, compaction);
    bool ok = sqlite_rows_read(&q, &rows) && sqlite_rows_remove(s, &rows, e) &&
              follow_again(s, session_id, &rows, e);
    memory_rows_release(&rows);
    return ok;
}

bool sqlite_memory_withdraw(struct memory *memory, const char *session_id, int64_t compaction,
                            struct error *e)
{
    struct store *s = sqlite_memory_of(memory)->store;
    bool began;
    return store_enter(s, &began, e) &&
           store_leave(s, began, withdraw(s, session_id, compaction, e), e);
}
