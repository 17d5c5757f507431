/* The index of words made anew, and what else is done to it while nobody asks. Each step is a
 * transaction of its own, unless one is open: others write in between, searches go on in the old
 * index until the new one is whole, and whoever comes next goes on where one died. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "index/words_private.h"

/* REST_MS: for others, who look every few milliseconds whether they may write. */
enum { STEP_TEXTS = 1000, STEP_BYTES = 1 << 20, STEP_PAGES = 512, REST_MS = 15 };

static const char all_sql[] = "SELECT count(*) FROM #_entry";
static const char before_sql[] = "SELECT count(*) FROM #_entry WHERE key <= ?";
static const char merge_sql[] = "INSERT INTO #_words_next (#_words_next, rank) VALUES ('merge', ?)";

enum stage { BEGIN, FILL, DONE };

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
           (add_some(f, e) && corpus_run(f->corpus, merge_sql, STEP_PAGES, e) &&
            (f->whole ? words_next_use(f->corpus, e) : words_next_reach(f->corpus, f->key, e)));
}

/* ---- a step ---- */

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
    static bool (*const steps[])(struct reindexing * r,
                                 struct error * e) = {[BEGIN] = begin, [FILL] = fill_some};
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
    if (!corpus_number(c, all_sql, -1, &r.of, e))
        return false;
    while (r.stage != DONE)
        if (!step(&r, e) || (progress && !tell(&r, progress, context, e) && r.stage != DONE))
            return false;
    return is_for(&r, e);
}

/* ---- while nobody asks ---- */

/* Which stage somebody left it at, or whether there is a reason to begin; DONE: none. */
static bool find_stage(const struct corpus *c, enum stage *out, struct error *e)
{
    int64_t key;
    bool next, worn;
    if (!words_next_key(c, &key, &next, e) || !words_are_worn(c, &worn, e))
        return false;
    *out = next ? FILL : worn ? BEGIN : DONE;
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
    return *more ? tidy_stage(&r, e) : words_merge_step(c, more, e);
}
