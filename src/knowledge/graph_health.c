/* What a look at the database and its recovery have to know of the graph's tables. */
#include "knowledge/graph_private.h"
#include "store/health_rows.h"
#include "store/salvage.h"

/* ---- a look at it ---- */

/* What must not be: a count of rows, and what they are called. */
static const struct {
    const char *sql, *fault;
} checks[] = {
    {"SELECT count(*) FROM graph_entry WHERE name = '' OR type = '' OR key <= 0 OR key & 0xffffff",
     "entities make no sense"},
    {"SELECT count(*) FROM graph_observation WHERE entity NOT IN (SELECT key FROM graph_entry)",
     "observations belong to no entity"},
    {"SELECT count(*) FROM graph_observation WHERE content = ''", "observations are empty"},
    {"SELECT count(*) FROM graph_relation WHERE source NOT IN (SELECT key FROM graph_entry)"
     " OR target NOT IN (SELECT key FROM graph_entry)",
     "relations lead nowhere"},
    {"SELECT count(*) FROM graph_entry WHERE key NOT IN (SELECT id FROM graph_words_docsize)",
     "entities are not in its index of words; 'tiro graph reindex' makes it anew"},
    {"SELECT count(*) FROM graph_words_docsize WHERE id NOT IN (SELECT key FROM graph_entry)",
     "rows of its index of words belong to no entity; 'tiro graph reindex' makes it anew"},
    {"SELECT count(*) FROM graph_size WHERE entities <> (SELECT count(*) FROM graph_entry)"
     " OR relations <> (SELECT count(*) FROM graph_relation)",
     "counts are wrong"},
};

static bool check(struct store *s, bool thorough, struct health *out)
{
    bool ok =
        health_count(s, "SELECT count(*) FROM graph_entry", &out->graph_entities, out) &&
        health_count(s, "SELECT count(*) FROM graph_observation", &out->graph_observations, out) &&
        health_count(s, "SELECT count(*) FROM graph_relation", &out->graph_relations, out);
    for (size_t i = 0; ok && thorough && i < sizeof checks / sizeof *checks; i++) {
        int64_t rows = 0;
        ok = health_count(s, checks[i].sql, &rows, out) &&
             (rows == 0 || health_found(out, HEALTH_INCONSISTENT, "graph: %lld %s", (long long)rows,
                                        checks[i].fault));
    }
    return ok;
}

/* ---- what is found of it in damaged pages ---- */

static const struct salvage_shape shapes[] = {
    {"graph_entry", "key, name, type, session, seq, created_ms", "nttTii", false},
    {"graph_observation", "number, entity, digest, session, seq, created_ms, content", "niiTiit",
     false},
    {"graph_relation", "number, type, source, target, session, seq, created_ms", "ntiiTii", false},
    {0},
};
static const char *const indexes[] = {NULL};

/* What is on a page that was given up was deleted. */
static const char choose_sql[] =
    "DELETE FROM found.graph_entry WHERE free;"
    "DELETE FROM found.graph_observation WHERE free;"
    "DELETE FROM found.graph_relation WHERE free;";

/* ---- back into its tables ---- */

#define SOURCE_IS_PLAIN " AND (session IS NULL OR plain(session) IS NOT NULL)"

static const char put_entities_sql[] =
    "INSERT OR IGNORE INTO graph_entry (key, name, type, session, seq, created_ms)"
    " SELECT row, name, type, session, seq, created_ms FROM found.graph_entry WHERE whole"
    " AND row > 0 AND row & 0xffffff = 0 AND plain(name) <> '' AND plain(type) <> "
    "''" SOURCE_IS_PLAIN " ORDER BY row";

/* What was observed of somebody whose name is lost is kept, too. */
static const char name_lost_sql[] =
    "INSERT OR IGNORE INTO graph_entry (key, name, type, seq, created_ms)"
    " SELECT DISTINCT entity, 'recovered ' || (entity >> 24), 'unknown', 0, min(created_ms)"
    " FROM found.graph_observation WHERE whole AND entity > 0 AND entity & 0xffffff = 0"
    " AND plain(content) <> '' AND entity NOT IN (SELECT key FROM graph_entry) GROUP BY entity";

static const char put_observations_sql[] =
    "INSERT OR IGNORE INTO graph_observation (number, entity, digest, session, seq, created_ms,"
    " content) SELECT row, entity, digest, session, seq, created_ms, content"
    " FROM found.graph_observation WHERE whole AND entity IN (SELECT key FROM graph_entry)"
    " AND plain(content) <> ''" SOURCE_IS_PLAIN " ORDER BY row";

static const char put_relations_sql[] =
    "INSERT OR IGNORE INTO graph_relation (number, type, source, target, session, seq, created_ms)"
    " SELECT row, type, source, target, session, seq, created_ms FROM found.graph_relation"
    " WHERE whole AND source IN (SELECT key FROM graph_entry)"
    " AND target IN (SELECT key FROM graph_entry) AND plain(type) <> ''" SOURCE_IS_PLAIN
    " ORDER BY row";

static const char lost_sql[] =
    "SELECT (SELECT count(DISTINCT row) FROM found.graph_entry"
    "  WHERE row NOT IN (SELECT key FROM graph_entry))"
    " + (SELECT count(*) FROM graph_entry WHERE key NOT IN (SELECT row FROM found.graph_entry))"
    " + (SELECT count(DISTINCT row) FROM found.graph_observation"
    "  WHERE row NOT IN (SELECT number FROM graph_observation))"
    " + (SELECT count(DISTINCT row) FROM found.graph_relation"
    "  WHERE row NOT IN (SELECT number FROM graph_relation))";

static bool put(struct store *to, const char *sql, int64_t *rows, struct error *e)
{
    struct query q = query_begin(to, sql, e);
    bool ok = query_run(&q);
    *rows += sqlite3_changes(to->db);
    return ok;
}

static bool recover(struct store *to, struct recovery *out, struct error *e)
{
    int64_t lost = 0;
    bool ok = put(to, put_entities_sql, &out->facts, e) && put(to, name_lost_sql, &out->facts, e) &&
              put(to, put_observations_sql, &out->facts, e) &&
              put(to, put_relations_sql, &out->facts, e) && store_number(to, lost_sql, &lost, e);
    out->lost += lost;
    return ok;
}

const struct store_extension graph_extension = {
    .check = check, .shapes = shapes, .indexes = indexes, .choose = choose_sql, .recover = recover};
