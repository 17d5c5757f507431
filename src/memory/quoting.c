#include "memory/quoting.h"

#include <string.h>

#include "base/mem.h"
#include "memory/quote.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "store/sql.h"

#define NUMBER "(SELECT number FROM memory_session WHERE id = ?1)"

static const char flag_sql[] =
    "INSERT OR IGNORE INTO memory_flag (session, compaction, entry) SELECT number, ?2, ?3"
    " FROM memory_session WHERE id = ?1";
static const char unflag_sql[] =
    "DELETE FROM memory_flag WHERE session = " NUMBER " AND entry = ?2";
static const char drop_sql[] = "DELETE FROM memory_flag WHERE session = " NUMBER;
static const char flagged_sql[] =
    "SELECT 1 FROM memory_flag WHERE session = " NUMBER " AND compaction = ?2";
static const char count_sql[] =
    "SELECT count(*) FROM (SELECT DISTINCT session, compaction FROM memory_flag)";

/* ---- who quotes it ---- */

struct quoting {
    struct store *store;
    const struct memory_entry *entry;
    VEC(int64_t) found; /* compactions */
};

static void look_at(void *context, int64_t seq, const char *summary)
{
    struct quoting *x = context;
    if (quote_in(summary, x->entry->content))
        vec_push(&x->found, seq);
}

static bool keep_flag(const struct quoting *x, int64_t seq, struct error *e)
{
    struct query q = query_for(x->store, flag_sql, x->entry->session_id, e);
    query_int(&q, seq);
    query_text(&q, x->entry->id);
    return query_run(&q);
}

static bool is_told(const struct memory_forgotten *f, const char *session_id, int64_t seq)
{
    for (size_t i = 0; i < f->summaries.len; i++)
        if (f->summaries.items[i].completed_seq == seq &&
            strcmp(f->summaries.items[i].session_id, session_id) == 0)
            return true;
    return false;
}

static bool add_summary(const struct quoting *x, int64_t seq, struct memory_forgotten *out,
                        struct error *e)
{
    const char *session_id = x->entry->session_id;
    int turn;
    if (is_told(out, session_id, seq))
        return true;
    if (!event_log_turn(x->store, session_id, seq, &turn, e))
        return false;
    vec_push(&out->summaries, (struct quoting_summary){mem_strdup(session_id), seq, turn});
    return true;
}

static bool flag(struct store *s, const struct memory_entry *entry, struct memory_forgotten *out,
                 struct error *e)
{
    struct quoting x = {.store = s, .entry = entry};
    bool ok = event_log_summaries(s, entry->session_id, look_at, &x, e);
    for (size_t i = 0; i < x.found.len && ok; i++)
        ok = keep_flag(&x, x.found.items[i], e) && add_summary(&x, x.found.items[i], out, e);
    vec_release(&x.found);
    return ok && snapshot_trim(s, entry->session_id, e);
}

/* ---- what is listened to ---- */

static bool run_for(struct store *s, const char *sql, const char *session_id, const char *entry,
                    struct error *e)
{
    struct query q = query_for(s, sql, session_id, e);
    if (entry)
        query_text(&q, entry);
    return query_run(&q);
}

static bool hear(void *context, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e)
{
    struct store *s = context;
    switch (what) {
    case MEMORY_FORGOTTEN:
        return flag(s, entry, out, e);
    case MEMORY_EDITED:
        return snapshot_trim(s, entry->session_id, e);
    case MEMORY_RESTORED:
        return run_for(s, unflag_sql, entry->session_id, entry->id, e);
    case MEMORY_SESSION_FORGOTTEN:
        return run_for(s, drop_sql, entry->session_id, NULL, e);
    }
    return true;
}

struct memory_listener quoting_listener(struct store *s)
{
    return (struct memory_listener){.hear = hear, .context = s};
}

/* ---- what is flagged ---- */

bool quoting_flagged(struct store *s, const char *session_id, int64_t completed_seq, bool *out,
                     struct error *e)
{
    *out = false;
    struct query q = query_for(s, flagged_sql, session_id, e);
    query_int(&q, completed_seq);
    return query_any(&q, out);
}

bool quoting_count(struct store *s, int64_t *out, struct error *e)
{
    return store_number(s, count_sql, out, e);
}
