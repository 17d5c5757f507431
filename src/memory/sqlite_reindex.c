/* The index of words made anew, and what else is done to it while nobody asks. Each step is a
 * transaction of its own, unless one is open: others write in between, searches go on in the old
 * index until the new one is whole, and whoever comes next goes on where one died. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "memory/sqlite_private.h"

/* REST_MS: for others, who look every few milliseconds whether they may write. */
enum { STEP_ENTRIES = 1000, STEP_BYTES = 1 << 20, STEP_PAGES = 512, REST_MS = 15 };

static const char rest_sql[] = MEMORY_ROWS "WHERE entry.key > ? ORDER BY entry.key";
static const char before_sql[] = "SELECT count(*) FROM memory_entry WHERE key <= ?";
static const char merge_sql[] =
    "INSERT INTO memory_words_next (memory_words_next, rank) VALUES ('merge', ?)";

/* ---- filling the next one ---- */

struct filling {
    struct store *store;
    int64_t key; /* of the last entry */
    int64_t entries;
    size_t bytes;
    bool whole; /* there is none left */
};

static bool add_row(struct filling *f, const struct query *q, struct error *e)
{
    struct memory_row row = sqlite_row_read(q);
    char *text = words_text(&row.entry);
    bool ok = words_next_add(f->store, row.key, text, e);
    f->key = row.key;
    f->entries++;
    f->bytes += strlen(text);
    free(text);
    memory_row_release(&row);
    return ok;
}

static bool is_enough(const struct filling *f)
{
    return f->entries >= STEP_ENTRIES || f->bytes >= STEP_BYTES;
}

static bool add_rows(struct filling *f, struct error *e)
{
    struct query q;
    enum query_result result = QUERY_ROW;
    bool ok = query_begin(&q, f->store, rest_sql, e);
    if (!ok)
        return false;
    query_int(&q, f->key);
    while (ok && !is_enough(f) && (result = query_step(&q, e)) == QUERY_ROW)
        ok = add_row(f, &q, e);
    query_end(&q);
    f->whole = result == QUERY_DONE;
    return ok && result != QUERY_FAILED;
}

static bool merge_some(struct store *s, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, merge_sql, e))
        return false;
    query_int(&q, STEP_PAGES);
    return query_run(&q, e);
}

/* Adds some entries. Where none is left, it takes the other's place in the same transaction, or
 * somebody who goes on adding would keep it from ever doing so. */
static bool fill(struct filling *f, struct error *e)
{
    bool there;
    if (!words_next_key(f->store, &f->key, &there, e))
        return false;
    f->whole = !there; /* another program has brought it to its end */
    return f->whole ||
           (add_rows(f, e) && merge_some(f->store, e) &&
            (f->whole ? words_next_use(f->store, e) : words_next_reach(f->store, f->key, e)));
}

/* ---- a step ---- */

enum stage { CLEAR_BEFORE, BEGIN, FILL, CLEAR_AFTER, DONE };

struct reindexing {
    struct store *store;
    const char *language;
    enum stage stage;
    int64_t done, of;
};

/* Goes on to the next stage where there is no old index any more. */
static bool clear(struct reindexing *r, struct error *e)
{
    bool waits, more = false;
    if (!words_old_waits(r->store, &waits, e) || (waits && !words_old_clear(r->store, &more, e)))
        return false;
    r->stage += !more;
    return true;
}

static bool count_done(struct reindexing *r, struct error *e)
{
    struct query q;
    int64_t key;
    bool there;
    if (!words_next_key(r->store, &key, &there, e) || !query_begin(&q, r->store, before_sql, e))
        return false;
    query_int(&q, key);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW)
        r->done = sqlite3_column_int64(q.handle, 0);
    query_end(&q);
    return result != QUERY_FAILED;
}

static bool begin(struct reindexing *r, struct error *e)
{
    bool begun;
    if (!words_next_begin(r->store, r->language, &begun, e))
        return false;
    r->stage = begun ? FILL : CLEAR_BEFORE;
    return count_done(r, e);
}

static bool fill_some(struct reindexing *r, struct error *e)
{
    struct filling f = {.store = r->store};
    if (!fill(&f, e))
        return false;
    r->done += f.entries;
    r->stage += f.whole;
    return true;
}

static bool step(struct reindexing *r, struct error *e)
{
    static bool (*const steps[])(struct reindexing * r, struct error * e) = {
        [CLEAR_BEFORE] = clear, [BEGIN] = begin, [FILL] = fill_some, [CLEAR_AFTER] = clear};
    bool began;
    if (!store_enter(r->store, &began, e) ||
        !store_leave(r->store, began, steps[r->stage](r, e), e))
        return false;
    if (began)
        poll(NULL, 0, REST_MS);
    return true;
}

/* ---- all of them ---- */

static bool is_for(struct reindexing *r, struct error *e)
{
    char *language;
    if (!words_language(r->store, &language, e))
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

bool sqlite_memory_reindex(struct memory *memory, const char *language,
                           bool (*progress)(void *context, int64_t done, int64_t of), void *context,
                           struct error *e)
{
    struct sqlite_memory *m = sqlite_memory_of(memory);
    const struct memory_scope all = {.kind = MEMORY_SCOPE_ALL};
    struct reindexing r = {.store = m->store, .language = language ? language : m->language};
    if (!sqlite_memory_count(memory, &all, &r.of, e))
        return false;
    while (r.stage != DONE)
        if (!step(&r, e) || (r.stage != DONE && progress && !tell(&r, progress, context, e)))
            return false;
    return is_for(&r, e);
}

/* ---- while nobody asks ---- */

/* Which stage somebody left it at, or whether there is a reason to begin; DONE: none. */
static bool find_stage(struct store *s, enum stage *out, struct error *e)
{
    int64_t key;
    bool old, next, worn;
    if (!words_old_waits(s, &old, e) || !words_next_key(s, &key, &next, e) ||
        !words_are_worn(s, &worn, e))
        return false;
    *out = old ? CLEAR_AFTER : next ? FILL : worn ? BEGIN : DONE;
    return true;
}

static bool tidy_stage(struct reindexing *r, struct error *e)
{
    char *language;
    if (!words_language(r->store, &language, e))
        return false;
    r->language = language;
    bool ok = step(r, e);
    free(language);
    return ok;
}

bool memory_sqlite_tidy(struct memory *memory, bool *more, struct error *e)
{
    struct reindexing r = {.store = sqlite_memory_of(memory)->store};
    *more = false;
    if (!find_stage(r.store, &r.stage, e))
        return false;
    *more = r.stage != DONE;
    return *more ? tidy_stage(&r, e) : words_merge_step(r.store, more, e);
}
