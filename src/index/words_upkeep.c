/* What keeps the index of words quick and free of what was removed: merging its parts, purging,
 * making it anew. What a transaction adds is a part of its own, and a search looks into each of
 * them. FTS5 can merge by itself, within the transaction of who adds; but then a compaction waits
 * now and then for the merging of all others'. So it is done while nobody asks, and by who adds
 * only where the parts have become many.
 *
 * Each step of a reindex is a transaction of its own, unless one is open: others write in between,
 * searches go on in the old index until the new one is whole, and whoever comes next goes on where
 * one died. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "index/vectors.h"
#include "index/words_private.h"

/* ---- merging ---- */

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
static const char merge_sql[] = "INSERT INTO #_words (#_words, rank) VALUES ('merge', ?)";

/* The number stands behind one of FTS5's own. */
static bool has_layers(const struct corpus *c, int64_t most, bool *out, struct error *e)
{
    *out = false;
    struct query q = corpus_query(c, "SELECT block FROM #_words_data WHERE id = 10", e);
    if (query_next(&q))
        *out = words_column_varint(&q, 0, COOKIE_BYTES) > most;
    return query_end(&q);
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
static bool merge_some(const struct corpus *c, const char *sql, int64_t pages, bool *more,
                       struct error *e)
{
    int before = sqlite3_total_changes(c->store->db);
    bool ok = corpus_run(c, sql, pages, e);
    *more = ok && sqlite3_total_changes(c->store->db) - before > 1;
    return ok;
}

static bool merge_step(const struct corpus *c, bool *more, struct error *e)
{
    int64_t parts = 0;
    *more = false;
    return corpus_number(c, parts_sql, -1, &parts, e) &&
           (parts <= FEW || merge_some(c, merge_sql, STEP_PAGES, more, e));
}

/* ---- purging: merging all of it, and of the next one ---- */

static const char merge_all_sql[] = "INSERT INTO #_words (#_words) VALUES ('optimize')";
static const char merge_all_next_sql[] =
    "INSERT INTO #_words_next (#_words_next) VALUES ('optimize')";
/* Pages that are written at a time; a negative number merges whatever there is. */
static const char merge_some_sql[] = "INSERT INTO #_words (#_words, rank) VALUES ('merge', -64)";
static const char merge_some_next_sql[] =
    "INSERT INTO #_words_next (#_words_next, rank) VALUES ('merge', -64)";
static const char mark_sql[] = "UPDATE words_state SET purge = 1 WHERE tables = '#'";
static const char unmark_sql[] = "UPDATE words_state SET purge = 0 WHERE tables = '#'";

static bool has_next(const struct corpus *c, bool *out, struct error *e)
{
    int64_t key;
    return words_next_key(c, &key, out, e);
}

static bool drop_old(const struct corpus *c, struct error *e)
{
    bool ok = true, more = true;
    while (ok && more)
        ok = words_old_step(c, &more, e);
    return ok;
}

static bool purge_now(const struct corpus *c, struct error *e)
{
    bool next = false;
    return drop_old(c, e) && corpus_run(c, merge_all_sql, -1, e) && has_next(c, &next, e) &&
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
    if (!has_layers(c, MOST_LAYERS, &worn_out, e))
        return false;
    if (worn_out)
        return make_anew(c, e);
    return later ? corpus_run(c, mark_sql, -1, e) : purge_now(c, e);
}

bool words_purge_waits(const struct corpus *c, bool *out, struct error *e)
{
    return corpus_has(c, "SELECT purge FROM words_state WHERE tables = '#'", out, e);
}

static bool purge_next(const struct corpus *c, bool *more, struct error *e)
{
    bool next = false;
    return has_next(c, &next, e) && (!next || merge_some(c, merge_some_next_sql, -1, more, e));
}

/* The first statement writes: one that had read first could not wait for another writer. */
static bool purge_some(const struct corpus *c, struct vectors *v, bool *more, struct error *e)
{
    return merge_some(c, merge_some_sql, -1, more, e) && (*more || purge_next(c, more, e)) &&
           (*more || words_old_step(c, more, e)) &&
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

/* ---- making it anew ---- */

/* REST_MS: for others, who look every few milliseconds whether they may write. */
enum { STEP_TEXTS = 1000, STEP_BYTES = 1 << 20, FILL_PAGES = 512, REST_MS = 15 };

static const char before_sql[] = "SELECT count(*) FROM #_entry WHERE key <= ?";
static const char fill_merge_sql[] =
    "INSERT INTO #_words_next (#_words_next, rank) VALUES ('merge', ?)";

enum stage { BEGIN, FILL, EMPTY_OLD, DONE };

struct reindexing {
    const struct corpus *corpus;
    const char *language;
    enum stage stage;
    int64_t done, of;
};

/* ---- filling the next one ---- */

struct filling {
    const struct corpus *corpus;
    int64_t key; /* of the last text */
    int64_t texts;
    size_t bytes;
    bool whole; /* there is none left */
};

static bool add_next(struct filling *f, struct error *e)
{
    struct document d;
    bool found;
    if (!f->corpus->document(f->corpus->store, f->key + 1, &d, &found, e))
        return false;
    f->whole = !found;
    if (!found)
        return true;
    f->key = d.key;
    f->texts++;
    f->bytes += strlen(d.words);
    bool ok = words_next_add(f->corpus, d.key, d.words, e);
    document_release(&d);
    return ok;
}

static bool add_some(struct filling *f, struct error *e)
{
    bool ok = true;
    while (ok && !f->whole && f->texts < STEP_TEXTS && f->bytes < STEP_BYTES)
        ok = add_next(f, e);
    return ok;
}

/* Adds some texts. Where none is left, it takes the other's place in the same transaction, or
 * somebody who goes on adding would keep it from ever doing so. */
static bool fill(struct filling *f, struct error *e)
{
    bool there;
    if (!words_next_key(f->corpus, &f->key, &there, e))
        return false;
    f->whole = !there; /* another program has brought it to its end */
    return f->whole ||
           (add_some(f, e) && corpus_run(f->corpus, fill_merge_sql, FILL_PAGES, e) &&
            (f->whole ? words_next_use(f->corpus, e) : words_next_reach(f->corpus, f->key, e)));
}

/* ---- a step ---- */

static bool empty_some(struct reindexing *r, struct error *e)
{
    bool more;
    bool ok = words_old_step(r->corpus, &more, e);
    r->stage += ok && !more;
    return ok;
}

static bool count_done(struct reindexing *r, struct error *e)
{
    int64_t key;
    bool there;
    return words_next_key(r->corpus, &key, &there, e) &&
           corpus_number(r->corpus, before_sql, key > 0 ? key : 0, &r->done, e);
}

static bool begin(struct reindexing *r, struct error *e)
{
    r->stage = FILL;
    return words_next_begin(r->corpus, r->language, e) && count_done(r, e);
}

static bool fill_some(struct reindexing *r, struct error *e)
{
    struct filling f = {.corpus = r->corpus};
    if (!fill(&f, e))
        return false;
    r->done += f.texts;
    r->stage += f.whole;
    return true;
}

static bool step(struct reindexing *r, struct error *e)
{
    static bool (*const steps[])(struct reindexing * r, struct error * e) = {
        [BEGIN] = begin, [FILL] = fill_some, [EMPTY_OLD] = empty_some};
    struct store *s = r->corpus->store;
    bool began;
    if (!store_enter(s, &began, e) || !store_leave(s, began, steps[r->stage](r, e), e))
        return false;
    if (began)
        poll(NULL, 0, REST_MS);
    return true;
}

/* ---- all of them ---- */

static bool is_for(struct reindexing *r, struct error *e)
{
    char *language;
    if (!words_language(r->corpus, &language, e))
        return false;
    bool same = strcmp(language, r->language) == 0;
    free(language);
    return same || err_set(e, ERR_SESSION_STORE_ERROR,
                           "another program has made the index of words for another language; "
                           "configure the same for both and try again");
}

static bool tell(const struct reindexing *r,
                 bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                 struct error *e)
{
    return progress(context, r->done, r->done > r->of ? r->done : r->of) ||
           err_set(e, ERR_INTERRUPTED,
                   "stopped; searches use the index as before, and making the new one goes on "
                   "another time");
}

bool words_reindex(const struct corpus *c, const char *language,
                   bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                   struct error *e)
{
    struct reindexing r = {.corpus = c, .language = language};
    if (!corpus_number(c, "SELECT count(*) FROM #_entry", -1, &r.of, e))
        return false;
    while (r.stage != DONE)
        if (!step(&r, e) || (progress && !tell(&r, progress, context, e) && r.stage < EMPTY_OLD))
            return false;
    return is_for(&r, e);
}

/* ---- while nobody asks ---- */

/* Which stage somebody left it at, or whether there is a reason to begin; DONE: none. */
static bool find_stage(const struct corpus *c, enum stage *out, struct error *e)
{
    int64_t key;
    bool next, worn, old;
    if (!words_next_key(c, &key, &next, e) || !has_layers(c, WORN_LAYERS, &worn, e) ||
        !words_old_waits(c, &old, e))
        return false;
    *out = old ? EMPTY_OLD : next ? FILL : worn ? BEGIN : DONE;
    return true;
}

static bool tidy_stage(struct reindexing *r, struct error *e)
{
    char *language;
    if (!words_language(r->corpus, &language, e))
        return false;
    r->language = language;
    bool ok = step(r, e);
    free(language);
    return ok;
}

bool words_tidy(const struct corpus *c, bool *more, struct error *e)
{
    struct reindexing r = {.corpus = c};
    *more = false;
    if (!find_stage(c, &r.stage, e))
        return false;
    *more = r.stage != DONE;
    return *more ? tidy_stage(&r, e) : merge_step(c, more, e);
}
