#include "store/recover_memory.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "store/sql.h"

enum { ENTRIES_A_COMMIT = 4096, ENTRIES_BETWEEN_ASKING = 64 };

static const char put_talk_sql[] =
    "INSERT OR IGNORE INTO memory_session (number, id, next) VALUES (?, ?, ?)";
static const char put_entry_sql[] =
    "INSERT OR IGNORE INTO memory_entry (key, id, id_number, session, turn, seq, role, speaker,"
    " created_ms, pinned, edited, compaction, digest, content)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char put_flag_sql[] =
    "INSERT OR IGNORE INTO memory_flag (session, compaction, entry)"
    " SELECT ?1, ?2, ?3 WHERE EXISTS (SELECT 1 FROM memory_session WHERE number = ?1)";

struct saving {
    const struct salvaged_memory *memory;
    const struct db_pages *pages;
    struct store *to;
    struct recovery *out;
    bool (*go_on)(void *context);
    void *context;
    int64_t seen; /* entries */
};

static bool pause_between(struct saving *s, struct error *e)
{
    s->seen++;
    if (s->seen % ENTRIES_BETWEEN_ASKING == 0 && !s->go_on(s->context))
        return err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed");
    return s->seen % ENTRIES_A_COMMIT != 0 || (store_commit(s->to, e) && store_begin(s->to, e));
}

/* --- sessions -------------------------------------------------------------------------------- */

static bool insert_talk(struct saving *s, int64_t number, const char *id, int64_t next, bool *done,
                        struct error *e)
{
    struct query q;
    if (!query_begin(&q, s->to, put_talk_sql, e))
        return false;
    query_int(&q, number);
    query_text(&q, id);
    query_int(&q, next);
    if (!query_run(&q, e))
        return false;
    *done = sqlite3_changes(s->to->db) == 1;
    return true;
}

/* Where nothing tells what it was called, or another has that name, it gets one of its own. */
static bool save_talk(struct saving *s, int64_t number, const struct memory_talk *known,
                      int64_t next, struct error *e)
{
    bool done = false;
    char made[UUID_LEN + 1];
    if (known &&
        !insert_talk(s, number, known->id, known->next > next ? known->next : next, &done, e))
        return false;
    if (done)
        return true;
    s->out->lost++;
    uuid_new(made);
    return insert_talk(s, number, made, next, &done, e);
}

/* --- entries --------------------------------------------------------------------------------- */

static void bind_entry(struct query *q, const struct salvaged_entry *entry)
{
    query_int(q, entry->key);
    query_text(q, entry->id);
    query_int(q, entry->id_is_number);
    query_int(q, entry->session);
    query_int(q, entry->turn);
    query_known(q, entry->seq > 0 ? entry->seq : -1);
    query_text(q, entry->role);
    query_text(q, entry->speaker);
    query_int(q, entry->created_ms);
    query_int(q, entry->pinned);
    query_int(q, entry->edited);
    query_known(q, entry->compaction > 0 ? entry->compaction : -1);
    query_int(q, entry->digest);
    query_text(q, entry->content);
}

static bool insert_entry(struct saving *s, const struct salvaged_entry *entry, bool *done,
                         struct error *e)
{
    struct query q;
    if (!query_begin(&q, s->to, put_entry_sql, e))
        return false;
    bind_entry(&q, entry);
    if (!query_run(&q, e))
        return false;
    *done = sqlite3_changes(s->to->db) == 1;
    return true;
}

/* One that cannot be read is lost, and what the others are is not changed by it. */
static bool save_entry(struct saving *s, const struct memory_place *place, struct error *e)
{
    struct salvaged_entry entry;
    bool done = false;
    if (salvage_memory_entry(s->pages, place, &entry)) {
        bool ok = insert_entry(s, &entry, &done, e);
        salvaged_entry_release(&entry);
        if (!ok)
            return false;
    }
    s->out->entries += done;
    s->out->lost += !done;
    return pause_between(s, e);
}

static int64_t place_after(const struct memory_place *last)
{
    return (last->key & (((int64_t)1 << SALVAGE_PLACE_BITS) - 1)) + 1;
}

/* A session's row, or none, and its entries. */
static bool save_session(struct saving *s, int64_t number, const struct memory_talk *talk,
                         const struct memory_place *entries, size_t count, struct error *e)
{
    int64_t next = count > 0 ? place_after(&entries[count - 1]) : 0;
    bool ok = save_talk(s, number, talk, next, e);
    for (size_t i = 0; ok && i < count; i++)
        ok = save_entry(s, &entries[i], e);
    return ok;
}

/* Sessions and entries are both by number. */
static bool save_sessions(struct saving *s, struct error *e)
{
    const struct salvaged_memory *m = s->memory;
    size_t talk = 0;
    size_t entry = 0;
    bool ok = true;
    while (ok && (talk < m->talks.len || entry < m->entries.len)) {
        const struct memory_talk *t = talk < m->talks.len ? &m->talks.items[talk] : NULL;
        const struct memory_place *first = entry < m->entries.len ? &m->entries.items[entry] : NULL;
        int64_t number = first ? first->key >> SALVAGE_PLACE_BITS : INT64_MAX;
        if (t && t->number <= number)
            number = t->number;
        else
            t = NULL;
        talk += t != NULL;
        size_t begin = entry;
        while (entry < m->entries.len &&
               m->entries.items[entry].key >> SALVAGE_PLACE_BITS == number)
            entry++;
        ok = save_session(s, number, t, first, entry - begin, e);
    }
    return ok;
}

/* --- the rest -------------------------------------------------------------------------------- */

static bool save_flags(struct saving *s, struct error *e)
{
    const struct salvaged_memory *m = s->memory;
    for (size_t i = 0; i < m->flags.len; i++) {
        struct query q;
        if (!query_begin(&q, s->to, put_flag_sql, e))
            return false;
        query_int(&q, m->flags.items[i].session);
        query_int(&q, m->flags.items[i].compaction);
        query_text(&q, m->flags.items[i].entry);
        if (!query_run(&q, e))
            return false;
    }
    return true;
}

static int place_by_key(const void *key, const void *place)
{
    int64_t wanted = *(const int64_t *)key;
    int64_t found = ((const struct memory_place *)place)->key;
    return (wanted > found) - (wanted < found);
}

/* Entries of which nothing but the id is left. */
static void count_lost(struct saving *s)
{
    const struct salvaged_memory *m = s->memory;
    for (size_t i = 0; i < m->expected.len; i++)
        s->out->lost +=
            m->entries.len == 0 || !bsearch(&m->expected.items[i], m->entries.items, m->entries.len,
                                            sizeof *m->entries.items, place_by_key);
}

bool recover_memory(const struct salvage *from, struct store *to, struct recovery *out,
                    bool (*go_on)(void *context), void *context, struct error *e)
{
    struct saving s = {.memory = &from->memory,
                       .pages = &from->pages,
                       .to = to,
                       .out = out,
                       .go_on = go_on,
                       .context = context};
    if (!store_begin(to, e))
        return false;
    if (!save_sessions(&s, e) || !save_flags(&s, e)) {
        store_rollback(to);
        return false;
    }
    count_lost(&s);
    return store_commit(to, e);
}
