#include "store/recover.h"

/* An entry's key is the session's number and, in so many bits, the place in it (memory/rank.h). */
#define PLACE_BITS "24"
#define NUMBER_OF "(row >> " PLACE_BITS ")"
#define NEXT_PLACE "((row & ((1 << " PLACE_BITS ") - 1)) + 1)"

/* Numbers of sessions with the first place that is free in each; the index knows no place, and an
 * entry no name. */
static const char find_talks_sql[] =
    "CREATE TABLE found.place AS SELECT number, max(next) AS next FROM ("
    " SELECT row AS number, next FROM found.talk"
    " UNION ALL SELECT number, 0 FROM found.named"
    " UNION ALL SELECT " NUMBER_OF ", " NEXT_PLACE
    " FROM found.entry) WHERE number BETWEEN 1 AND 0xffffffff GROUP BY number;"
    "CREATE TABLE found.call AS SELECT row AS number, id, max(next) AS next FROM ("
    " SELECT row, id, next FROM found.talk UNION ALL SELECT number, id, -1 FROM found.named)"
    " WHERE id IS NOT NULL GROUP BY row;";
static const char put_talks_sql[] =
    "INSERT OR IGNORE INTO memory_session (number, id, next)"
    " SELECT number, c.id, p.next FROM found.place p JOIN found.call c USING (number)";

/* Where nothing tells what it was called, or another has that name, it gets one of its own. */
static const char name_talks_sql[] =
    "INSERT INTO memory_session (number, id, next) SELECT number, new_uuid(), next FROM found.place"
    " WHERE number NOT IN (SELECT number FROM memory_session)";

/* Those that anybody may have written. */
static const char put_entries_sql[] =
    "INSERT OR IGNORE INTO memory_entry (key, id, id_number, session, turn, seq, role, speaker,"
    " created_ms, pinned, edited, compaction, digest, content)"
    " SELECT row, id, id_number, session, turn, iif(seq > 0, seq, NULL), role, speaker, created_ms,"
    " pinned, edited, iif(compaction > 0, compaction, NULL), digest, content FROM found.entry"
    " WHERE whole AND session = " NUMBER_OF
    " AND session IN (SELECT number FROM memory_session) AND role IN ('user', 'assistant', 'tool') "
    "AND plain(id) <> '' AND plain(content) <> ''"
    " AND (speaker IS NULL OR plain(speaker) IS NOT NULL) ORDER BY row, free";

static const char put_flags_sql[] =
    "INSERT OR IGNORE INTO memory_flag SELECT session, compaction, entry FROM found.flag"
    " WHERE session IN (SELECT number FROM memory_session)";

static const char lost_sql[] =
    "SELECT count(*) FROM (SELECT row FROM found.entry UNION SELECT key FROM found.remembered)"
    " WHERE row NOT IN (SELECT key FROM memory_entry)";

/* `rows`: how many were written. */
static bool put(struct store *to, const char *sql, int64_t *rows, struct error *e)
{
    struct query q = query_begin(to, sql, e);
    bool ok = query_run(&q);
    *rows = sqlite3_changes(to->db);
    return ok;
}

bool recover_memory(struct store *to, struct recovery *out, struct error *e)
{
    int64_t named, unnamed = 0, flags, lost = 0;
    bool ok = store_exec(to, find_talks_sql, e) && put(to, put_talks_sql, &named, e) &&
              put(to, name_talks_sql, &unnamed, e) && put(to, put_entries_sql, &out->entries, e) &&
              put(to, put_flags_sql, &flags, e) && store_number(to, lost_sql, &lost, e);
    out->lost += unnamed + lost;
    return ok;
}
