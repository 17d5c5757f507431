/* Merging the parts of the index of words. What a transaction adds is a part of its own, and a
 * search looks into each of them. FTS5 can merge by itself, within the transaction of who adds; but
 * then a compaction waits now and then for the merging of all others'. So it is done while nobody
 * asks, and by who adds only where the parts have become many. */
#include "index/words_private.h"

/* SQLite 3.40 lets an index have a layer more for each purge, and at 2,000 it is damaged. */
enum { WORN_LAYERS = 100, MOST_LAYERS = 1500, COOKIE_BYTES = 4 };

enum { FEW = 8, MANY = 16, STEP_PAGES = 64 };

/* What is merged for what is added, so that parts do not become more and more: a byte of text makes
 * less than two of the index, and each of those is written again in each of at most seven layers.
 */
enum { LEAST_PAGES = 16, INDEX_BYTES_PER_BYTE = 12, PAGE_BYTES = 4096 };

static const char parts_sql[] =
    "WITH RECURSIVE part (id) AS (SELECT min(segid) FROM #_words_idx UNION ALL"
    " SELECT (SELECT min(segid) FROM #_words_idx WHERE segid > part.id) FROM part"
    " WHERE part.id IS NOT NULL) SELECT count(id) FROM part";
static const char layers_sql[] = "SELECT block FROM #_words_data WHERE id = 10";
static const char merge_sql[] = "INSERT INTO #_words (#_words, rank) VALUES ('merge', ?)";

/* As FTS5 keeps it, behind a number of its own: seven bits a byte, the highest first, all but the
 * last byte marked. */
static int64_t read_layers(const unsigned char *bytes, int len)
{
    int64_t n = 0;
    for (int i = COOKIE_BYTES; i < len; i++) {
        n = n << 7 | (bytes[i] & 0x7f);
        if (!(bytes[i] & 0x80))
            break;
    }
    return n;
}

static bool has_layers(const struct corpus *c, int64_t most, bool *out, struct error *e)
{
    *out = false;
    struct query q = corpus_query(c, layers_sql, e);
    if (query_next(&q)) {
        const unsigned char *bytes = sqlite3_column_blob(q.handle, 0);
        *out = read_layers(bytes, sqlite3_column_bytes(q.handle, 0)) > most;
    }
    return query_end(&q);
}

bool words_are_worn(const struct corpus *c, bool *out, struct error *e)
{
    return has_layers(c, WORN_LAYERS, out, e);
}

bool words_are_worn_out(const struct corpus *c, bool *out, struct error *e)
{
    return has_layers(c, MOST_LAYERS, out, e);
}

bool words_make_room(const struct corpus *c, size_t bytes, struct error *e)
{
    int64_t parts = 0;
    return corpus_number(c, parts_sql, -1, &parts, e) &&
           (parts <= MANY ||
            corpus_run(c, merge_sql,
                       LEAST_PAGES + (int64_t)(bytes / PAGE_BYTES) * INDEX_BYTES_PER_BYTE, e));
}

/* A merge that finds nothing to do counts as one change. */
bool words_merge_step(const struct corpus *c, bool *more, struct error *e)
{
    int64_t parts = 0;
    *more = false;
    if (!corpus_number(c, parts_sql, -1, &parts, e) || parts <= FEW)
        return parts <= FEW;
    int before = sqlite3_total_changes(c->store->db);
    if (!corpus_run(c, merge_sql, STEP_PAGES, e))
        return false;
    *more = sqlite3_total_changes(c->store->db) - before > 1;
    return true;
}
