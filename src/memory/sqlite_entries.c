#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "memory/content.h"
#include "memory/sqlite_private.h"

/* ---- rows ---- */

static const char at_sql[] = MEMORY_ROWS "WHERE entry.key = ?";
static const char document_sql[] = MEMORY_ROWS "WHERE entry.key >= ? ORDER BY entry.key LIMIT 1";
static const char of_sql[] = MEMORY_ROWS "WHERE entry.id = ?";
/* The index is by groups of 32 sessions. */
static const char equal_sql[] =
    "WITH RECURSIVE cluster (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM cluster"
    " WHERE number < (SELECT max(number) >> 5 FROM memory_session))"
    " SELECT key, content FROM memory_entry INDEXED BY memory_alike"
    " WHERE session >> 5 IN cluster AND digest = ?1 ORDER BY key";
static const char equal_here_sql[] =
    "SELECT key, content FROM memory_entry INDEXED BY memory_alike"
    " WHERE session >> 5 = ?2 >> 5 AND digest = ?1 ORDER BY key";
static const char add_row_sql[] =
    "INSERT INTO memory_entry (key, id, id_number, session, turn, seq, role, speaker, created_ms,"
    " pinned, edited, compaction, digest, content)"
    " VALUES (?1, ?2, ?3, ?1 >> 24, ?4, ?5, ?6, ?7, ?8, ?9, ?10, nullif(?11, 0), ?12, ?13)";
static const char edit_row_sql[] =
    "UPDATE memory_entry SET edited = 1, digest = ?2, content = ?3 WHERE key = ?1";

enum {
    AT_key,
    AT_id,
    AT_id_number,
    AT_session,
    AT_turn,
    AT_seq,
    AT_role,
    AT_speaker,
    AT_created,
    AT_pinned,
    AT_edited,
    AT_compaction,
    AT_content,
    AT_from,
    AT_author
};

void memory_row_release(struct memory_row *row)
{
    memory_entry_release(&row->entry);
}

void memory_rows_release(struct memory_rows *rows)
{
    for (size_t i = 0; i < rows->items.len; i++)
        memory_row_release(&rows->items.items[i]);
    vec_release(&rows->items);
}

/* ---- reading ---- */

struct memory_row sqlite_row_read(const struct query *q)
{
    static const enum role roles[] = {ROLE_ASSISTANT, ROLE_TOOL};
    const int64_t compaction = sqlite3_column_int64(q->handle, AT_compaction);
    const char *name = (const char *)sqlite3_column_text(q->handle, AT_role);
    enum role role = ROLE_USER;
    for (size_t i = 0; name && i < sizeof roles / sizeof *roles; i++)
        if (strcmp(role_name(roles[i]), name) == 0)
            role = roles[i];
    return (struct memory_row){.key = sqlite3_column_int64(q->handle, AT_key),
                               .compaction = compaction,
                               .entry = {
                                   .origin = sqlite_origin(compaction),
                                   .id = query_column_text(q, AT_id),
                                   .id_is_number = sqlite3_column_int(q->handle, AT_id_number),
                                   .session_id = query_column_text(q, AT_session),
                                   .turn = sqlite3_column_int64(q->handle, AT_turn),
                                   .seq = sqlite3_column_int64(q->handle, AT_seq),
                                   .role = role,
                                   .speaker = query_column_text(q, AT_speaker),
                                   .created_ms = sqlite3_column_int64(q->handle, AT_created),
                                   .pinned = sqlite3_column_int(q->handle, AT_pinned),
                                   .edited = sqlite3_column_int(q->handle, AT_edited),
                                   .content = query_column_text(q, AT_content),
                                   .from = query_column_text(q, AT_from),
                                   .author = query_column_text(q, AT_author),
                               }};
}

bool sqlite_rows_read(struct query *q, struct memory_rows *out)
{
    while (query_next(q))
        vec_push(&out->items, sqlite_row_read(q));
    bool ok = query_end(q);
    if (!ok)
        memory_rows_release(out);
    return ok;
}

static bool read_one(struct query *q, struct memory_row *out, bool *found)
{
    *found = query_next(q);
    if (*found)
        *out = sqlite_row_read(q);
    return query_end(q);
}

bool sqlite_row_at(struct store *s, int64_t key, struct memory_row *out, bool *found,
                   struct error *e)
{
    *out = (struct memory_row){0};
    struct query q = sql_query(s, e, at_sql, "i", key);
    return read_one(&q, out, found);
}

static bool row_of(struct store *s, const char *id, struct memory_row *out, bool *found,
                   struct error *e)
{
    *out = (struct memory_row){0};
    struct query q = sql_query(s, e, of_sql, "t", id);
    return read_one(&q, out, found);
}

bool sqlite_row_need(struct store *s, const char *id, struct memory_row *out, struct error *e)
{
    bool found;
    return row_of(s, id, out, &found, e) &&
           (found || err_set(e, ERR_MEMORY_NOT_FOUND,
                             "there is no entry %.60s in memory; it may have been deleted", id));
}

bool sqlite_equal_texts(struct store *s, const char *text, const struct corpus_scope *scope,
                        struct memory_keys *out, struct error *e)
{
    bool here = !scope->all && scope->numbers.len == 1;
    *out = (struct memory_keys){0};
    int64_t digest = content_digest(text);
    struct query q = here ? sql_query(s, e, equal_here_sql, "ii", digest, scope->numbers.items[0])
                          : sql_query(s, e, equal_sql, "i", digest);
    while (query_next(&q)) {
        int64_t key = sqlite3_column_int64(q.handle, 0);
        const char *there = (const char *)sqlite3_column_text(q.handle, 1);
        if (corpus_scope_has(scope, rank_key_session(key)) && content_equal(there, text))
            vec_push(&out->items, key);
    }
    bool ok = query_end(&q);
    if (!ok)
        vec_release(&out->items);
    return ok;
}

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    struct memory_row row = {0};
    *out = (struct document){0};
    struct query q = sql_query(s, e, document_sql, "i", from);
    if (!read_one(&q, &row, found))
        return false;
    if (*found) {
        *out = (struct document){.key = row.key,
                                 .words = content_words(&row.entry),
                                 .content = row.entry.content,
                                 .speaker = row.entry.speaker};
        row.entry.content = row.entry.speaker = NULL;
        memory_row_release(&row);
    }
    return true;
}

struct corpus memory_sqlite_corpus(struct store *s)
{
    return (struct corpus){.store = s, .tables = MEMORY_TABLES, .document = read_document};
}

static bool unindex(struct store *s, const struct memory_row *row, struct error *e)
{
    const struct corpus c = memory_sqlite_corpus(s);
    auto_free char *text = content_words(&row->entry);
    return words_remove(&c, row->key, text, e) && vectors_remove(&c, row->key, e);
}

static bool add_words(struct store *s, const struct memory_row *row, struct error *e)
{
    const struct corpus c = memory_sqlite_corpus(s);
    auto_free char *text = content_words(&row->entry);
    return words_add(&c, row->key, text, e);
}

static bool add_row(struct store *s, const struct memory_row *row, struct error *e)
{
    const struct memory_entry *m = &row->entry;
    return sql_exec(s, e, add_row_sql, "itiikttiiiiit", row->key, m->id, (int64_t)m->id_is_number,
                    (int64_t)m->turn, m->seq > 0 ? m->seq : (int64_t)-1, role_name(m->role),
                    m->speaker, m->created_ms, (int64_t)m->pinned, (int64_t)m->edited,
                    row->compaction, content_digest(m->content), m->content) &&
           add_words(s, row, e);
}

bool sqlite_row_remove(struct store *s, const struct memory_row *row, struct error *e)
{
    return unindex(s, row, e) &&
           sql_exec(s, e, "DELETE FROM memory_entry WHERE key = ?", "i", row->key);
}

static bool remove_rows(struct store *s, const struct memory_rows *rows, struct error *e)
{
    bool ok = true;
    for (size_t i = 0; i < rows->items.len && ok; i++)
        ok = sqlite_row_remove(s, &rows->items.items[i], e);
    return ok;
}

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

static const char of_session_sql[] =
    MEMORY_ROWS "WHERE entry.key BETWEEN ?1 << 24 AND ?1 << 24 | 0xffffff";

/* ---- indexing ---- */

struct indexing {
    struct store *store;
    const struct corpus *corpus;
    struct fresh_ids *ids;
    const char *session_id;
    int64_t number;  /* -1: the session has none yet */
    int64_t next;    /* free place */
    int64_t last_ms; /* time of the entry before it */
    int64_t compaction;
    bool changed; /* rows were added */
    int stored;   /* rows added, without those that gave way */
};

static bool source_is_known(struct store *s, const struct memory_entry *entry, int64_t compaction,
                            bool *known, struct error *e)
{
    *known = false;
    if (entry->seq <= 0)
        return true;
    struct query q = sql_query(s, e, source_sql, "ti", entry->session_id, entry->seq);
    while (!*known && query_next(&q)) {
        struct memory_row there = sqlite_row_read(&q);
        /* Sessions number messages; an import may number them anew in each of its talks. */
        *known =
            (there.compaction != 0 && compaction != 0) || content_is_again(&there.entry, entry);
        memory_row_release(&there);
    }
    return query_end(&q);
}

/* Whether this entry, of this compaction (0: an import), is stored, by its id, else by its session
 * and event. USAGE when its id is that of another one. */
static bool is_known(struct store *s, const struct memory_entry *entry, int64_t compaction,
                     bool *known, struct error *e)
{
    struct memory_row there;
    if (!entry->id)
        return source_is_known(s, entry, compaction, known, e);
    if (!row_of(s, entry->id, &there, known, e))
        return false;
    bool ok = !*known || content_is_again(&there.entry, entry) ||
              err_set(e, ERR_USAGE, "the id %.60s is that of another entry; give this one another",
                      entry->id);
    memory_row_release(&there);
    return ok;
}

/* A copy of the text in the session that stays makes the entry known; others are removed. */
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
    for (size_t i = 0; ok && !*known && i < keys.items.len; i++) {
        struct memory_row there;
        bool found;
        ok = sqlite_row_at(x->store, keys.items.items[i], &there, &found, e);
        if (!ok || !found)
            continue;
        *known = content_stays(&there.entry, entry);
        if (!*known) {
            ok = sqlite_row_remove(x->store, &there, e) &&
                 sqlite_gone_add(x->store, &there, false, e);
            x->stored--;
        }
        memory_row_release(&there);
    }
    vec_release(&keys.items);
    vec_release(&here.numbers);
    return ok;
}

static bool put(struct indexing *x, struct memory_entry *entry, char **id, struct error *e)
{
    if (x->number < 0) {
        if (!sql_exec(x->store, e, new_session_sql, "t", x->session_id))
            return false;
        x->number = sqlite3_last_insert_rowid(x->store->db);
    }
    x->next = rank_place_for(x->next, x->last_ms, entry->created_ms);
    if (x->next >= (int64_t)1 << RANK_PLACE_BITS)
        return err_set(e, ERR_SESSION_STORE_ERROR,
                       "memory is full for session %.60s, which has had %lld entries; continue in "
                       "a new session",
                       x->session_id, (long long)x->next);
    for (bool taken = !*id; taken;) {
        free(*id);
        *id = fresh_ids_next(x->ids);
        if (!sql_any(x->store, &taken, e, "SELECT 1 FROM memory_entry WHERE id = ?", "t", *id))
            return false;
    }
    entry->id = *id;
    const struct memory_row row = {rank_key(x->number, x->next), x->compaction, *entry};
    x->next++;
    x->last_ms = entry->created_ms;
    x->changed = true;
    x->stored++;
    return add_row(x->store, &row, e);
}

static bool index_one(struct indexing *x, struct memory_entry *given, struct error *e)
{
    struct memory_entry entry = *given; /* owns nothing */
    auto_free char *content = content_clean(given->content);
    bool known = false;
    if (!content)
        return true;
    entry.session_id = (char *)x->session_id;
    entry.content = content;
    if (x->compaction != 0 && x->number >= 0 && entry.seq > 0 && /* forgotten, or replaced */
        !sql_any(x->store, &known, e, "SELECT 1 FROM memory_gone WHERE session = ?1 AND seq = ?2",
                 "ii", x->number, entry.seq))
        return false;
    return (known || is_known(x->store, &entry, x->compaction, &known, e)) &&
           (known ||
            (meet_copies(x, &entry, &known, e) && (known || put(x, &entry, &given->id, e))));
}

/* Finds the next free place of the session. */
static bool indexing_begin(struct sqlite_memory *m, const char *session_id, int64_t compaction,
                           struct indexing *x, struct error *e)
{
    *x = (struct indexing){.store = m->store,
                           .corpus = &m->corpus,
                           .ids = &m->ids,
                           .session_id = session_id,
                           .number = -1,
                           .compaction = compaction};
    struct query q = sql_query(m->store, e, session_sql, "t", session_id);
    if (query_next(&q)) {
        x->number = sqlite3_column_int64(q.handle, 0);
        x->next = sqlite3_column_int64(q.handle, 1);
        x->last_ms = sqlite3_column_int64(q.handle, 2);
    }
    return query_end(&q);
}

bool sqlite_memory_index(struct memory *memory, const char *session_id, int64_t compaction,
                         struct memory_entry *entries, size_t count, int *stored, struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    struct indexing x;
    size_t bytes = 0;
    bool began;
    *stored = 0;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(entries[i].content);
    if (!store_enter(m->store, &began, e))
        return false;
    bool ok = words_prepare(&m->corpus, m->language, bytes, e) &&
              indexing_begin(m, session_id, compaction, &x, e);
    for (size_t i = 0; i < count && ok; i++)
        ok = index_one(&x, &entries[i], e);
    if (ok && x.changed)
        ok = sql_exec(m->store, e, next_sql, "ii", x.number, x.next);
    if (!store_leave(m->store, began, ok, e))
        return false;
    *stored = x.stored;
    return true;
}

bool sqlite_memory_withdraw(struct memory *memory, const char *session_id, int64_t compaction,
                            struct error *e)
{
    struct store *s = sqlite_memory_of(memory)->store;
    struct memory_rows rows = {0};
    int64_t number = -1, first = INT64_MAX;
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sqlite_deferred_withdraw(s, session_id, compaction, e) &&
              sqlite_session_number(s, session_id, &number, e);
    if (ok && number >= 0) {
        struct query q = sql_query(s, e, brought_sql, "ii", number, compaction);
        ok = sqlite_rows_read(&q, &rows) && remove_rows(s, &rows, e);
        /* The messages are in the history again, and are indexed when the session is left. */
        for (size_t i = 0; i < rows.items.len; i++)
            if (rows.items.items[i].entry.seq < first)
                first = rows.items.items[i].entry.seq;
        ok = ok && (rows.items.len == 0 || sqlite_followed_again(s, session_id, first, e));
        memory_rows_release(&rows);
    }
    return store_leave(s, began, ok, e);
}

/* ---- entries of a shared space ---- */

/* The order of a session's entries that does not depend on when they came. */
static int by_place(const void *left, const void *right)
{
    const struct memory_entry *a = left, *b = right;
    const int64_t seq_a = a->seq > 0 ? a->seq : 0, seq_b = b->seq > 0 ? b->seq : 0;
    return seq_a != seq_b ? (seq_a > seq_b) - (seq_a < seq_b)
           : a->created_ms != b->created_ms
               ? (a->created_ms > b->created_ms) - (a->created_ms < b->created_ms)
               : strcmp(a->id, b->id);
}

static int by_row_place(const void *left, const void *right)
{
    const struct memory_row *a = left, *b = right;
    return by_place(&a->entry, &b->entry);
}

/* The newer version takes the place of the entry that is there. */
static bool put_version(struct indexing *x, const struct memory_row *there,
                        const struct memory_entry *version, struct error *e)
{
    struct memory_row row = *there;
    if (strcmp(there->entry.session_id, x->session_id) != 0)
        return err_set(e, ERR_USAGE, "the id %.60s is that of an entry of another session",
                       version->id);
    bool changes = strcmp(there->entry.content, version->content) != 0;
    row.entry.content = version->content;
    return (!changes || unindex(x->store, there, e)) &&
           sql_exec(x->store, e,
                    "UPDATE memory_entry SET pinned = ?2, edited = ?3, digest = ?4, content = ?5"
                    " WHERE key = ?1",
                    "iiiit", there->key, (int64_t)version->pinned, (int64_t)version->edited,
                    content_digest(version->content), version->content) &&
           (!changes || add_words(x->store, &row, e));
}

/* The entry stands at the next place, with its vectors. */
static bool place_again(struct indexing *x, struct memory_row *row, struct error *e)
{
    char *id = row->entry.id;
    x->compaction = row->compaction;
    return sql_exec(x->store, e, "UPDATE memory_entry SET id = 'key ' || key WHERE key = ?", "i",
                    row->key) &&
           put(x, &row->entry, &id, e) &&
           vectors_move(x->corpus, row->key, rank_key(x->number, x->next - 1), e) &&
           sqlite_row_remove(x->store, row, e);
}

/* Adds new entries of a session. If one belongs before an entry that is there, or if there is none
 * (the session lost entries), all entries are placed anew, in order and without holes: the rank of
 * an entry depends on its neighbours. */
static bool put_in_order(struct indexing *x, struct memory_entry *entries, size_t count,
                         struct error *e)
{
    enum { PLACED_ANEW_MOST = 20000 }; /* of a longer session, ranks may differ a little */
    AUTO(memory_rows_release) struct memory_rows rows = {0};
    int64_t there = 0;
    bool ok = true;
    if (x->number >= 0 &&
        !sql_number(x->store, &there, e,
                    "SELECT count(*) FROM memory_entry WHERE key BETWEEN ?1 << 24 AND"
                    " ?1 << 24 | 0xffffff",
                    "i", x->number))
        return false;
    if (there > 0 && there <= PLACED_ANEW_MOST) {
        struct query q = sql_query(x->store, e, of_session_sql, "i", x->number);
        if (!sqlite_rows_read(&q, &rows))
            return false;
    }
    size_t n = rows.items.len, i = 0, k = 0;
    if (n > 0 && count > 0 && by_place(&rows.items.items[n - 1].entry, entries) < 0)
        n = 0; /* the new ones follow those that are there */
    if (n > 0) {
        vec_sort(&rows.items, by_row_place);
        x->next = rank_next_talk(x->next);
        x->last_ms = 0;
    }
    while (ok && (i < n || k < count)) {
        struct memory_row *row = i < n ? &rows.items.items[i] : NULL;
        if (row && (k == count || by_place(&row->entry, &entries[k]) < 0)) {
            ok = place_again(x, row, e);
            i++;
            continue;
        }
        char *id = entries[k].id;
        x->compaction = 0;
        ok = put(x, &entries[k++], &id, e);
    }
    return ok;
}

bool sqlite_memory_replicate(struct memory *memory, const char *session_id,
                             struct memory_entry *entries, size_t count, struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    struct indexing x;
    VEC(struct memory_entry) fresh = {0};
    size_t bytes = 0;
    bool began;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(entries[i].content);
    if (!store_enter(m->store, &began, e))
        return false;
    bool ok =
        words_prepare(&m->corpus, m->language, bytes, e) && indexing_begin(m, session_id, 0, &x, e);
    for (size_t i = 0; i < count && ok; i++) {
        struct memory_row there;
        bool found;
        ok = row_of(m->store, entries[i].id, &there, &found, e);
        if (ok && found)
            ok = put_version(&x, &there, &entries[i], e);
        else if (ok)
            vec_push(&fresh, entries[i]);
        memory_row_release(&there);
    }
    vec_sort(&fresh, by_place);
    ok = ok && ((count > 0 && fresh.len == 0) || put_in_order(&x, fresh.items, fresh.len, e)) &&
         (!x.changed || sql_exec(m->store, e, next_sql, "ii", x.number, x.next));
    vec_release(&fresh);
    return store_leave(m->store, began, ok, e);
}

/* ---- editing and forgetting ---- */

/* Ends a transaction that deleted texts, if `any`. Unless the memory is lazy, their remains leave
 * the index of words, the files of graphs and the journal at once. */
static bool leave_and_purge(struct memory *memory, bool began, bool ok, bool any, struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    ok = ok && (!any || words_purge(&m->corpus, memory->lazy, e)) &&
         (memory->lazy || vectors_graph_purge(m->vectors, &m->corpus, e));
    ok = store_leave(m->store, began, ok, e);
    if (ok && began && !memory->lazy)
        store_settle(m->store);
    return ok;
}

bool sqlite_memory_purge(struct memory *m, bool *more, struct error *e)
{
    return words_purge_step(&sqlite_memory_of(m)->corpus, sqlite_memory_of(m)->vectors, more, e);
}

bool sqlite_memory_edit(struct memory *m, const char *id, const char *content, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    auto_free char *clean = content_clean(content);
    struct memory_row row = {0};
    bool began;
    if (!clean)
        return err_set(e, ERR_USAGE, "an entry cannot be empty; delete it instead");
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sqlite_row_need(s, id, &row, e);
    bool changes = ok && strcmp(row.entry.content, clean) != 0;
    if (changes) {
        struct memory_row edited = row;
        edited.entry.content = clean;
        ok = memory_tell(m, MEMORY_EDITED, &row.entry, NULL, e) && unindex(s, &row, e) &&
             sql_exec(s, e, edit_row_sql, "iit", row.key, content_digest(clean), clean) &&
             add_words(s, &edited, e);
    }
    memory_row_release(&row);
    return leave_and_purge(m, began, ok, changes, e);
}

bool sqlite_memory_forget(struct memory *m, const char *const *ids, size_t count,
                          struct memory_forgotten *out, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    struct memory_forgotten forgotten = {0};
    struct error fault = {0};
    bool began, ok = store_enter(s, &began, &fault), entered = ok;
    for (size_t i = 0; i < count && ok; i++) {
        struct memory_row row;
        bool again = false; /* an id may be named twice */
        for (size_t k = 0; k < forgotten.items.len; k++)
            again = again || strcmp(forgotten.items.items[k].entry.id, ids[i]) == 0;
        if (again)
            continue;
        ok = sqlite_row_need(s, ids[i], &row, &fault);
        if (!ok)
            break;
        ok = memory_tell(m, MEMORY_FORGOTTEN, &row.entry, &forgotten, &fault) &&
             sqlite_row_remove(s, &row, &fault) && sqlite_gone_add(s, &row, true, &fault);
        vec_push(&forgotten.items, ((struct forgotten_entry){row.entry, row.key, row.compaction}));
    }
    if (entered)
        ok = leave_and_purge(m, began, ok, forgotten.items.len > 0, &fault);
    if (out)
        *out = ok ? forgotten : (struct memory_forgotten){0};
    if (!ok || !out)
        memory_forgotten_release(&forgotten);
    if (!ok && e)
        *e = fault;
    return ok;
}

bool sqlite_memory_restore(struct memory *m, const struct memory_forgotten *f, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    bool began, ok = true;
    if (!store_enter(s, &began, e))
        return false;
    for (size_t i = 0; i < f->items.len && ok; i++) {
        const struct forgotten_entry *item = &f->items.items[i];
        const struct memory_row row = {item->key, item->compaction, item->entry};
        const int64_t number = rank_key_session(row.key);
        bool there, known;
        ok = sql_any(s, &there, e, "SELECT 1 FROM memory_session WHERE number = ?1 AND id = ?2",
                     "it", number, row.entry.session_id);
        if (ok && !there)
            ok = err_set(e, ERR_MEMORY_NOT_FOUND,
                         "session %.60s was deleted meanwhile; its entries cannot be restored",
                         row.entry.session_id);
        ok = ok &&
             sql_exec(s, e, "DELETE FROM memory_gone WHERE session = ?1 AND seq = ?2", "ii", number,
                      row.entry.seq) &&
             is_known(s, &row.entry, row.compaction, &known, e);
        /* A compaction that was undone and made again may have brought it under another id. */
        if (ok && !known && row.compaction != 0)
            ok = source_is_known(s, &row.entry, row.compaction, &known, e);
        ok = ok && (known || add_row(s, &row, e)) &&
             memory_tell(m, MEMORY_RESTORED, &row.entry, NULL, e);
    }
    return store_leave(s, began, ok, e);
}

bool sqlite_memory_forget_session(struct memory *m, const char *session_id, struct error *e)
{
    struct store *s = sqlite_memory_of(m)->store;
    const struct memory_entry session = {.session_id = (char *)session_id};
    struct memory_rows rows = {0};
    int64_t number = -1;
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = sql_exec(s, e, "DELETE FROM memory_deferred WHERE session = ?", "t", session_id) &&
              sqlite_session_number(s, session_id, &number, e);
    if (ok && number >= 0) {
        struct query q = sql_query(s, e, of_session_sql, "i", number);
        ok = sqlite_rows_read(&q, &rows) && remove_rows(s, &rows, e) &&
             sql_exec(s, e, "DELETE FROM memory_gone WHERE session = ?", "i", number) &&
             memory_tell(m, MEMORY_SESSION_FORGOTTEN, &session, NULL, e) &&
             sql_exec(s, e, "DELETE FROM memory_session WHERE number = ?", "i", number);
    }
    bool any = rows.items.len > 0;
    memory_rows_release(&rows);
    return leave_and_purge(m, began, ok, any, e);
}
