/* Taking what was removed really out of the index of words: merging all of it, and of the next one.
 */
#include <stdlib.h>

#include "index/vectors.h"
#include "index/words_private.h"

static const char merge_all_sql[] = "INSERT INTO #_words (#_words) VALUES ('optimize')";
static const char merge_all_next_sql[] =
    "INSERT INTO #_words_next (#_words_next) VALUES ('optimize')";
/* Pages that are written at a time; a negative number merges whatever there is. */
static const char merge_some_sql[] = "INSERT INTO #_words (#_words, rank) VALUES ('merge', -64)";
static const char merge_some_next_sql[] =
    "INSERT INTO #_words_next (#_words_next, rank) VALUES ('merge', -64)";
static const char mark_sql[] = "UPDATE words_state SET purge = 1 WHERE tables = '#'";
static const char unmark_sql[] = "UPDATE words_state SET purge = 0 WHERE tables = '#'";
static const char marked_sql[] = "SELECT purge FROM words_state WHERE tables = '#'";

static bool has_next(const struct corpus *c, bool *out, struct error *e)
{
    int64_t key;
    return words_next_key(c, &key, out, e);
}

static bool purge_now(const struct corpus *c, struct error *e)
{
    bool next = false;
    return corpus_run(c, merge_all_sql, -1, e) && has_next(c, &next, e) &&
           (!next || corpus_run(c, merge_all_next_sql, -1, e)) && corpus_run(c, unmark_sql, -1, e);
}

static bool make_anew(const struct corpus *c, struct error *e)
{
    char *language;
    bool ok = words_language(c, &language, e) && words_reindex(c, language, NULL, NULL, e);
    free(language);
    return ok;
}

bool words_purge(const struct corpus *c, bool later, struct error *e)
{
    bool worn_out;
    if (!words_are_worn_out(c, &worn_out, e))
        return false;
    if (worn_out)
        return make_anew(c, e);
    return later ? corpus_run(c, mark_sql, -1, e) : purge_now(c, e);
}

bool words_purge_waits(const struct corpus *c, bool *out, struct error *e)
{
    return corpus_has(c, marked_sql, out, e);
}

/* A merge that finds nothing to do counts as one change. */
static bool merge_some(const struct corpus *c, const char *sql, bool *more, struct error *e)
{
    int before = sqlite3_total_changes(c->store->db);
    bool ok = corpus_run(c, sql, -1, e);
    *more = ok && sqlite3_total_changes(c->store->db) - before > 1;
    return ok;
}

static bool purge_next(const struct corpus *c, bool *more, struct error *e)
{
    bool next = false;
    return has_next(c, &next, e) && (!next || merge_some(c, merge_some_next_sql, more, e));
}

/* The first statement writes: one that had read first could not wait for another writer. */
static bool purge_some(const struct corpus *c, struct vectors *v, bool *more, struct error *e)
{
    return merge_some(c, merge_some_sql, more, e) && (*more || purge_next(c, more, e)) &&
           (*more || (corpus_run(c, unmark_sql, -1, e) && (!v || vectors_graph_purge(v, c, e))));
}

bool words_purge_step(const struct corpus *c, struct vectors *v, bool *more, struct error *e)
{
    bool waits, began;
    *more = false;
    if (!words_purge_waits(c, &waits, e) || !waits || !store_step_begin(c->store, &began, e))
        return !waits;
    bool ok = store_step_end(c->store, began, purge_some(c, v, more, e), e);
    if (ok && !*more)
        store_settle(c->store);
    return ok;
}
