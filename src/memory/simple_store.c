#include "memory/simple_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "memory/content.h"

struct simple_session {
    char *id;
    int64_t next; /* place */
};

struct simple_memory {
    struct memory memory;
    VEC(struct forgotten_entry) rows; /* by key */
    VEC(struct simple_session) sessions;
    char *language;
};

static struct simple_memory *simple_of(struct memory *m)
{
    return (struct simple_memory *)m;
}

static void simple_close(struct memory *memory)
{
    struct simple_memory *m = simple_of(memory);
    for (size_t i = 0; i < m->rows.len; i++)
        memory_entry_release(&m->rows.items[i].entry);
    vec_release(&m->rows);
    for (size_t i = 0; i < m->sessions.len; i++)
        free(m->sessions.items[i].id);
    vec_release(&m->sessions);
    free(m->language);
    free(m);
}

/* ---- finding ---- */

enum { NOWHERE = -1 };

static ptrdiff_t row_of(const struct simple_memory *m, const char *id)
{
    for (size_t i = 0; id && i < m->rows.len; i++)
        if (strcmp(m->rows.items[i].entry.id, id) == 0)
            return (ptrdiff_t)i;
    return NOWHERE;
}

static bool need_row(const struct simple_memory *m, const char *id, ptrdiff_t *row, struct error *e)
{
    *row = row_of(m, id);
    return *row != NOWHERE ||
           err_set(e, ERR_MEMORY_NOT_FOUND, "there is no entry %.60s in memory", id);
}

static int64_t session_of(const struct simple_memory *m, const char *id)
{
    for (size_t i = 0; i < m->sessions.len; i++)
        if (m->sessions.items[i].id && strcmp(m->sessions.items[i].id, id) == 0)
            return (int64_t)i;
    return NOWHERE;
}

static int64_t need_session(struct simple_memory *m, const char *id)
{
    int64_t number = session_of(m, id);
    if (number != NOWHERE)
        return number;
    vec_push(&m->sessions, (struct simple_session){.id = mem_strdup(id)});
    return (int64_t)m->sessions.len - 1;
}

static bool in_scope(const struct memory_entry *entry, const struct memory_scope *scope)
{
    switch (scope->kind) {
    case MEMORY_SCOPE_ALL:
        return true;
    case MEMORY_SCOPE_PROJECT: /* no session has a directory here */
        return false;
    case MEMORY_SCOPE_SESSION:
        break;
    }
    return scope->session_id && strcmp(entry->session_id, scope->session_id) == 0;
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
           ((there->compaction > 0 && compaction > 0) || content_is_again(&there->entry, entry));
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
    return entry->id ? row_of(m, entry->id) != NOWHERE : source_is_known(m, entry, compaction);
}

/* Whether a copy of it stays; those that do not are taken out. */
static bool meets_copy(struct simple_memory *m, const struct memory_entry *entry)
{
    for (size_t i = m->rows.len; i > 0; i--) {
        const struct memory_entry *there = &m->rows.items[i - 1].entry;
        if (strcmp(there->session_id, entry->session_id) != 0 ||
            !content_equal(there->content, entry->content))
            continue;
        if (content_stays(there, entry))
            return true;
        remove_row(m, i - 1);
    }
    return false;
}

static bool is_taken(const struct simple_memory *m, const struct memory_entry *entry)
{
    ptrdiff_t row = row_of(m, entry->id);
    return row != NOWHERE && !content_is_again(&m->rows.items[row].entry, entry);
}

static void put(struct simple_memory *m, const struct memory_entry *entry, int64_t compaction,
                char **id)
{
    int64_t number = need_session(m, entry->session_id);
    while (!*id || row_of(m, *id) != NOWHERE) {
        free(*id);
        *id = memory_id_new();
    }
    struct memory_entry copy = memory_entry_clone(entry);
    free(copy.id);
    copy.id = mem_strdup(*id);
    int64_t place = m->sessions.items[number].next++;
    insert_row(m, (struct forgotten_entry){copy, memory_key(number, place), compaction});
}

static void index_one(struct simple_memory *m, struct memory_entry *given,
                      const struct memory_entry *entry, int64_t compaction, int *stored)
{
    if (is_known(m, entry, compaction) || meets_copy(m, entry))
        return;
    put(m, entry, compaction, &given->id);
    ++*stored;
}

/* The entry as it is kept; it owns its content alone, which is NULL where nothing is left. */
static struct memory_entry as_kept(const struct memory_entry *given, const char *session_id)
{
    struct memory_entry entry = *given;
    entry.session_id = (char *)session_id;
    entry.content = content_clean(given->content);
    return entry;
}

/* All of them are looked at first: it is all or nothing. */
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
    if (!need_row(m, id, &row, e)) {
        free(clean);
        return false;
    }
    struct memory_entry *entry = &m->rows.items[row].entry;
    entry->edited = entry->edited || strcmp(entry->content, clean) != 0;
    free(entry->content);
    entry->content = clean;
    return true;
}

static bool simple_pin(struct memory *memory, const char *id, bool pinned, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    ptrdiff_t row;
    if (!need_row(m, id, &row, e))
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
        ok = need_row(m, ids[i], &row, e);
    for (size_t i = 0; i < count && ok; i++) {
        row = row_of(m, ids[i]);
        if (row == NOWHERE)
            continue;
        vec_push(&forgotten.items, m->rows.items[row]);
        vec_remove(&m->rows, (size_t)row, 1);
    }
    if (out)
        *out = forgotten;
    else
        memory_forgotten_release(&forgotten);
    return ok;
}

/* Nothing is left anywhere. */
static bool simple_purge(struct memory *m, bool *more, struct error *e)
{
    (void)m;
    (void)e;
    *more = false;
    return true;
}

static bool sessions_are_there(const struct simple_memory *m, const struct memory_forgotten *f,
                               struct error *e)
{
    for (size_t i = 0; i < f->items.len; i++) {
        const struct forgotten_entry *item = &f->items.items[i];
        if (session_of(m, item->entry.session_id) != memory_key_session(item->key))
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
        if (is_known(m, &row.entry, row.compaction) ||
            (row.compaction > 0 && source_is_known(m, &row.entry, row.compaction)))
            continue;
        row.entry = memory_entry_clone(&row.entry);
        insert_row(m, row);
    }
    return true;
}

static bool simple_forget_session(struct memory *memory, const char *session_id, struct error *e)
{
    struct simple_memory *m = simple_of(memory);
    int64_t number = session_of(m, session_id);
    (void)e;
    for (size_t i = m->rows.len; i > 0; i--)
        if (memory_key_session(m->rows.items[i - 1].key) == number)
            remove_row(m, i - 1);
    if (number != NOWHERE) {
        free(m->sessions.items[number].id);
        m->sessions.items[number].id = NULL;
    }
    return true;
}

/* ---- searching ---- */

static const char blanks[] = " \t\r\n";

/* Calls `word` for each of the query's words. */
static void each_word(const char *query, void (*word)(void *context, const char *w), void *context)
{
    for (query += strspn(query, blanks); *query; query += strspn(query, blanks)) {
        size_t len = strcspn(query, blanks);
        char *w = mem_strndup(query, len);
        word(context, w);
        free(w);
        query += len;
    }
}

struct match {
    const char *content;
    int words, matching;
};

static void match_word(void *context, const char *w)
{
    struct match *match = context;
    match->words++;
    match->matching += utf8_contains_folded(match->content, w);
}

static double score_of(const char *content, const char *query)
{
    struct match match = {.content = content};
    each_word(query, match_word, &match);
    return match.words > 0 ? (double)match.matching / match.words : 0;
}

/* Better score, then pinned, then newer, then later in the store. */
static bool is_before(const struct memory_hit *a, const struct memory_hit *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    if (a->entry.pinned != b->entry.pinned)
        return a->entry.pinned;
    return a->entry.created_ms >= b->entry.created_ms;
}

static void add_hit(struct memory_hits *out, const struct memory_entry *entry, double score)
{
    struct memory_hit hit = {.entry = memory_entry_clone(entry), .score = score, .rank = score};
    hit.passage = (struct memory_span){0, strlen(entry->content)};
    size_t at = 0;
    while (at < out->items.len && !is_before(&hit, &out->items.items[at]))
        at++;
    vec_insert(&out->items, at, hit);
}

static bool simple_search(struct memory *memory, const struct memory_query *query,
                          struct memory_hits *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    *out = (struct memory_hits){0};
    (void)e;
    for (size_t i = 0; i < m->rows.len; i++) {
        const struct memory_entry *entry = &m->rows.items[i].entry;
        double score = in_scope(entry, &query->scope) ? score_of(entry->content, query->text) : 0;
        if (score > 0 && score >= query->min_score)
            add_hit(out, entry, score);
        if (out->items.len > (size_t)query->limit)
            memory_hit_release(&out->items.items[--out->items.len]);
    }
    return true;
}

/* ---- reading ---- */

static void insert_newest_first(struct memory_entries *list, const struct memory_entry *entry)
{
    size_t at = 0;
    while (at < list->items.len && list->items.items[at].created_ms > entry->created_ms)
        at++;
    vec_insert(&list->items, at, memory_entry_clone(entry));
}

/* Leaves those from `after` on, at most `limit`; a negative one is none. */
static void keep_part(struct memory_entries *list, size_t after, int limit)
{
    size_t first = after < list->items.len ? after : list->items.len;
    for (size_t i = 0; i < first; i++)
        memory_entry_release(&list->items.items[i]);
    vec_remove(&list->items, 0, first);
    while (limit >= 0 && list->items.len > (size_t)limit)
        memory_entry_release(&list->items.items[--list->items.len]);
}

static bool simple_list(struct memory *memory, const struct memory_scope *scope, int64_t after,
                        int limit, struct memory_entries *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    (void)e;
    *out = (struct memory_entries){0};
    for (size_t i = 0; i < m->rows.len; i++)
        if (in_scope(&m->rows.items[i].entry, scope))
            insert_newest_first(out, &m->rows.items[i].entry);
    keep_part(out, (size_t)after, limit);
    return true;
}

static bool simple_count(struct memory *memory, const struct memory_scope *scope, int64_t *out,
                         struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    (void)e;
    *out = 0;
    for (size_t i = 0; i < m->rows.len; i++)
        *out += in_scope(&m->rows.items[i].entry, scope);
    return true;
}

static bool simple_get(struct memory *memory, const char *id, struct memory_entry *out,
                       struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    ptrdiff_t row;
    *out = (struct memory_entry){0};
    if (!need_row(m, id, &row, e))
        return false;
    *out = memory_entry_clone(&m->rows.items[row].entry);
    return true;
}

static void insert_id(struct memory_ids *out, const char *id)
{
    size_t at = out->items.len;
    while (at > 0 && strcmp(out->items.items[at - 1], id) > 0)
        at--;
    vec_insert(&out->items, at, mem_strdup(id));
}

static bool simple_ids(struct memory *memory, const char *beginning, int limit,
                       struct memory_ids *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    (void)e;
    *out = (struct memory_ids){0};
    for (size_t i = 0; i < m->rows.len; i++) {
        const char *id = m->rows.items[i].entry.id;
        if (strncmp(id, beginning, strlen(beginning)) == 0)
            insert_id(out, id);
        if (out->items.len > (size_t)limit)
            free(out->items.items[--out->items.len]);
    }
    return true;
}

static bool simple_each(struct memory *memory,
                        bool (*visit)(void *context, const struct memory_entry *entry),
                        void *context, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    bool go_on = true;
    (void)e;
    for (size_t i = 0; i < m->rows.len && go_on; i++)
        go_on = visit(context, &m->rows.items[i].entry);
    return true;
}

static bool simple_flagged(struct memory *memory, const char *session_id, int64_t completed_seq,
                           bool *out, struct error *e)
{
    (void)memory; /* it knows no summaries */
    (void)session_id;
    (void)completed_seq;
    (void)e;
    *out = false;
    return true;
}

static bool simple_stats(struct memory *memory, struct memory_stats *out, struct error *e)
{
    const struct simple_memory *m = simple_of(memory);
    int64_t last = NOWHERE;
    (void)e;
    *out =
        (struct memory_stats){.entries = (int64_t)m->rows.len, .language = mem_strdup(m->language)};
    for (size_t i = 0; i < m->rows.len; i++) {
        int64_t session = memory_key_session(m->rows.items[i].key);
        out->sessions += session != last;
        out->pinned += m->rows.items[i].entry.pinned;
        out->bytes += (int64_t)strlen(m->rows.items[i].entry.content);
        last = session;
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

static const struct memory_store simple_store = {
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
    .flagged = simple_flagged,
    .stats = simple_stats,
    .reindex = simple_reindex,
};

struct memory *memory_simple_new(void)
{
    struct simple_memory *m = mem_alloc(sizeof *m);
    m->memory.store = &simple_store;
    m->language = mem_strdup("english");
    return &m->memory;
}
