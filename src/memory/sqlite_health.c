/* Check and recovery of memory's tables. */
#include <stdio.h>
#include <stdlib.h>

#include "memory/sqlite_private.h"
#include "store/health.h"
#include "store/salvage.h"

/* ---- the check ---- */

static const char entries_sql[] = "SELECT count(*) FROM memory_entry";
static const char vectors_sql[] = "SELECT count(*) FROM memory_vector";

static const struct health_rule rules[] = {
    {"SELECT count(*) FROM memory_entry WHERE session NOT IN (SELECT number FROM memory_session)",
     "entries belong to no session"},
    {"SELECT count(*) FROM memory_entry JOIN memory_session ON number = session"
     " WHERE key >> 24 <> session OR key & 0xffffff >= next",
     "entries stand at a place that is none"},
    {"SELECT count(*) FROM memory_entry WHERE role NOT IN ('user', 'assistant', 'tool')"
     " OR content = '' OR id = ''",
     "entries make no sense"},
    {"SELECT count(*) FROM memory_entry WHERE key NOT IN (SELECT id FROM memory_words_docsize)",
     "entries are not in its index of words; 'tiro memory reindex' makes it anew"},
    {"SELECT count(*) FROM memory_words_docsize WHERE id NOT IN (SELECT key FROM memory_entry)",
     "rows of its index of words belong to no entry; 'tiro memory reindex' makes it anew"},
    {NULL, NULL},
};

static bool check(struct store *s, bool thorough, struct health *out)
{
    const struct corpus c = memory_sqlite_corpus(s);
    auto_free char *language = NULL;
    if (!health_count(s, entries_sql, &out->entries, out) ||
        !health_count(s, vectors_sql, &out->vectors, out))
        return false;
    if (!words_language(&c, "", &language, NULL))
        return health_fault(s, sqlite3_errcode(s->db), out);
    snprintf(out->language, sizeof out->language, "%s", language);
    return !thorough || health_rules(s, rules, "memory", out);
}

/* ---- rows in damaged pages ---- */

static const struct salvage_shape shapes[] = {
    {"entry",
     "key, id, id_number, session, turn, seq, role, speaker, created_ms, pinned, edited, "
     "compaction,"
     " digest, content",
     "ntiiiItTiiiIit", false},
    {"talk", "number, id, next", "nti", false}, /* memory_session */
    {"flag", "session, compaction, entry", "iit", true},
    {"deferred", "session, compaction, seq, messages", "tiit", true},
    {"followed", "session, seq, due, backlog", "tiii", true},
    {"gone", "session, seq, forgotten, at", "iiii", true},
    {0},
};

#define TALKS "sqlite_autoindex_memory_session_1"
#define ENTRIES "sqlite_autoindex_memory_entry_1"
#define FLAGS "memory_flag"
#define DEFERRED "memory_deferred"
#define FOLLOWED "memory_followed"
#define GONE "memory_gone"
static const char *const indexes[] = {TALKS, ENTRIES, FLAGS, DEFERRED, FOLLOWED, GONE, NULL};

/* remembered: keys in the index of entries; named: numbers in the index of sessions. */
static const char choose_sql[] =
    "CREATE TABLE found.remembered (key INTEGER PRIMARY KEY);"
    "INSERT OR IGNORE INTO found.remembered SELECT key FROM found.name"
    " WHERE whole AND page IN " SALVAGE_PAGES_OF(ENTRIES) ";"
    "CREATE TABLE found.named AS SELECT key AS number, plain(id) AS id FROM found.name"
    " WHERE whole AND page IN " SALVAGE_PAGES_OF(TALKS) ";"
    "DELETE FROM found.entry WHERE free AND row NOT IN (SELECT key FROM found.remembered);"
    "DELETE FROM found.talk WHERE free OR NOT whole OR plain(id) IS NULL OR next < 0;"
    "DELETE FROM found.flag WHERE NOT whole OR plain(entry) IS NULL OR page NOT IN "
    SALVAGE_PAGES_OF(FLAGS) ";"
    "DELETE FROM found.deferred WHERE NOT whole OR plain(session) IS NULL OR plain(messages) IS NULL"
    " OR page NOT IN " SALVAGE_PAGES_OF(DEFERRED) ";"
    "DELETE FROM found.followed WHERE NOT whole OR plain(session) IS NULL OR page NOT IN "
    SALVAGE_PAGES_OF(FOLLOWED) ";"
    "DELETE FROM found.gone WHERE NOT whole OR page NOT IN " SALVAGE_PAGES_OF(GONE) ";";

/* ---- recovering them ---- */

#define NUMBER_OF "(row >> 24)" /* rank_key_session() */
#define NEXT_PLACE "((row & 0xffffff) + 1)"

/* Numbers of sessions with their first free place; the index has no place, and an entry no name. */
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

/* A session without a known name, or whose name is taken, gets a new one. */
static const char name_talks_sql[] =
    "INSERT INTO memory_session (number, id, next) SELECT number, new_uuid(), next FROM found.place"
    " WHERE number NOT IN (SELECT number FROM memory_session)";

/* Only entries that can have been written. */
static const char put_entries_sql[] =
    "INSERT OR IGNORE INTO memory_entry (key, id, id_number, session, turn, seq, role, speaker,"
    " created_ms, pinned, edited, compaction, digest, content)"
    " SELECT row, id, id_number, session, turn, iif(seq > 0, seq, NULL), role, speaker, created_ms,"
    " pinned, edited, iif(compaction = 0, NULL, compaction), digest, content FROM found.entry"
    " WHERE whole AND session = " NUMBER_OF
    " AND session IN (SELECT number FROM memory_session) AND role IN ('user', 'assistant', 'tool') "
    "AND plain(id) <> '' AND plain(content) <> ''"
    " AND (speaker IS NULL OR plain(speaker) IS NOT NULL) ORDER BY row, free";

static const char put_flags_sql[] =
    "INSERT OR IGNORE INTO memory_flag SELECT session, compaction, entry FROM found.flag"
    " WHERE session IN (SELECT number FROM memory_session)";

static const char put_deferred_sql[] =
    "INSERT OR IGNORE INTO memory_deferred SELECT session, compaction, seq, messages"
    " FROM found.deferred";

/* A session whose row is lost waits for the person's answer. */
static const char put_followed_sql[] =
    "INSERT OR REPLACE INTO memory_followed SELECT s.id, ifnull(f.seq, s.last_seq),"
    " ifnull(f.due, 0), ifnull(f.backlog, 1)"
    " FROM session s LEFT JOIN found.followed f ON f.session = s.id WHERE s.last_seq > 0";
static const char put_gone_sql[] =
    "INSERT OR IGNORE INTO memory_gone SELECT session, seq, forgotten, at FROM found.gone"
    " WHERE session IN (SELECT number FROM memory_session)";

static const char lost_sql[] =
    "SELECT count(*) FROM (SELECT row FROM found.entry UNION SELECT key FROM found.remembered)"
    " WHERE row NOT IN (SELECT key FROM memory_entry)";

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    bool ok = store_exec(to, find_talks_sql, e) && store_exec(to, put_talks_sql, e) &&
              store_exec(to, name_talks_sql, e);
    out->lost += ok ? sqlite3_changes(to->db) : 0;
    ok = ok && store_exec(to, put_entries_sql, e);
    out->entries = ok ? sqlite3_changes(to->db) : 0;
    ok = ok && store_exec(to, put_flags_sql, e) && store_exec(to, put_deferred_sql, e) &&
         store_exec(to, put_followed_sql, e) && store_exec(to, put_gone_sql, e) &&
         store_number(to, lost_sql, &lost, e);
    out->lost += lost;
    return ok;
}

/* ---- files ---- */

bool memory_files_read(struct store *s, struct text_list *models, struct error *e)
{
    const struct corpus c = memory_sqlite_corpus(s);
    return graph_names_read(&c, models, e);
}

enum graph_file_kind memory_file_kind(const struct text_list *models, const char *name)
{
    return graph_file_kind(MEMORY_TABLES, models, name);
}

const struct store_extension memory_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
