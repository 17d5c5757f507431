#include "index/words.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "index/rank.h"
#include "index/words_private.h"
#include "index/words_query.h"
#include "store/sql.h"

static_assert((int)QUERY_TERMS <= (int)PLACE_TERMS, "each has a number in a posting");

/* ---- where the words of a query stand ---- */

struct collected {
    struct postings postings; /* in order; of entries in scope that the phrases allow */
    VEC(int64_t) entries; /* of each term, in scope or not; a term's other forms count with it */
    int64_t all;          /* entries that there are */
    double average;       /* words an entry */
};

/* One row is enough: from it the function looks at each word by itself, without the length of every
 * entry that bm25() asks for. */
static const char collect_sql[] =
    "SELECT words_collect(#_words, ?) FROM #_words WHERE #_words MATCH ? LIMIT 1";
static const char pointer_type[] = "words_collect";

struct keys {
    VEC(int64_t) items; /* ascending */
};

struct collector {
    const struct words_query *query;
    const struct corpus_scope *scope;
    struct collected *out;
    sqlite3_int64 words; /* in all entries */

    VEC(size_t) begins; /* of each term form's postings */
    struct keys keys;   /* of the phrase that is looked at */
    uint32_t term;
    bool role; /* the term is no name */
    int64_t rows;

    int64_t session; /* looked up last */
    bool in_scope;
};

/* ---- within a search of FTS5 ---- */

static bool is_in_scope(struct collector *c, int64_t key)
{
    int64_t session = rank_key_session(key);
    if (c->scope->all)
        return true;
    if (session != c->session) {
        c->session = session;
        c->in_scope = corpus_scope_has(c->scope, session);
    }
    return c->in_scope;
}

/* Who said it stands first (words_text()). */
static void note_places(const Fts5ExtensionApi *api, Fts5Context *row, struct posting *p,
                        struct place_bytes *out)
{
    Fts5PhraseIter at;
    int column, place;
    int last = 0;
    uint32_t count = 0;
    p->places = (uint32_t)out->bytes.len;
    if (api->xPhraseFirst(row, 0, &at, &column, &place) != SQLITE_OK)
        return;
    p->named = place == 0;
    for (; column >= 0 && count < POSTING_MOST; count++) {
        places_pack(out, (uint32_t)(place - last));
        last = place;
        api->xPhraseNext(row, &at, &column, &place);
    }
    p->count = count & POSTING_MOST;
}

static int note_posting(const Fts5ExtensionApi *api, Fts5Context *row, void *context)
{
    struct collector *c = context;
    int64_t key = api->xRowid(row);
    c->rows++;
    if (is_in_scope(c, key)) {
        struct posting p = {.key = key, .term = c->term & (PLACE_TERMS - 1)};
        note_places(api, row, &p, &c->out->postings.places);
        p.named = p.named && !c->role;
        vec_push(&c->out->postings.items, p);
    }
    return SQLITE_OK;
}

static int note_key(const Fts5ExtensionApi *api, Fts5Context *row, void *context)
{
    struct collector *c = context;
    vec_push(&c->keys.items, (int64_t)api->xRowid(row));
    return SQLITE_OK;
}

static int collect_term(struct collector *c, const Fts5ExtensionApi *api, Fts5Context *found,
                        size_t i)
{
    bool also = c->query->terms.items[i].also;
    if (!also)
        vec_push(&c->out->entries, 0);
    c->term = (uint32_t)c->out->entries.len - 1;
    c->role = c->query->terms.items[i].role;
    c->rows = 0;
    vec_push(&c->begins, c->out->postings.items.len);
    int result = api->xQueryPhrase(found, (int)i, c, note_posting);
    if (c->rows > vec_last(&c->out->entries))
        vec_last(&c->out->entries) = c->rows;
    return result;
}

/* Leaves the postings of entries that are among the keys, or that are not. */
static void filter(struct postings *p, const struct keys *keys, bool among)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < p->items.len; i++) {
        int64_t key = p->items.items[i].key;
        while (at < keys->items.len && keys->items.items[at] < key)
            at++;
        bool is_among = at < keys->items.len && keys->items.items[at] == key;
        if (is_among == among)
            p->items.items[kept++] = p->items.items[i];
    }
    p->items.len = kept;
}

static int apply_phrase(struct collector *c, const Fts5ExtensionApi *api, Fts5Context *found,
                        size_t i)
{
    vec_clear(&c->keys.items);
    int result = api->xQueryPhrase(found, (int)(c->query->terms.len + i), c, note_key);
    if (result == SQLITE_OK)
        filter(&c->out->postings, &c->keys, !c->query->phrases.items[i].excluded);
    return result;
}

static int collect_all(struct collector *c, const Fts5ExtensionApi *api, Fts5Context *found)
{
    sqlite3_int64 all = 0;
    int result = api->xRowCount(found, &all);
    if (result == SQLITE_OK)
        result = api->xColumnTotalSize(found, -1, &c->words);
    c->out->all = all;
    for (size_t i = 0; result == SQLITE_OK && i < c->query->terms.len; i++)
        result = collect_term(c, api, found, i);
    if (result == SQLITE_OK)
        postings_order(&c->out->postings, c->begins.items, c->begins.len);
    for (size_t i = 0; result == SQLITE_OK && i < c->query->phrases.len; i++)
        result = apply_phrase(c, api, found, i);
    return result;
}

static void collect(const Fts5ExtensionApi *api, Fts5Context *found, sqlite3_context *out,
                    int count, sqlite3_value **values)
{
    struct collector *c = count == 1 ? sqlite3_value_pointer(values[0], pointer_type) : NULL;
    int result = c ? collect_all(c, api, found) : SQLITE_MISUSE;
    if (result != SQLITE_OK)
        sqlite3_result_error_code(out, result);
}

/* ---- around it ---- */

static void add_phrase(struct buf *out, const char *raw, bool prefix)
{
    buf_addf(out, "%s\"%s\"%s", out->len > 0 ? " OR " : "", raw, prefix ? " *" : "");
}

static struct buf make_expression(const struct words_query *q)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < q->terms.len; i++)
        add_phrase(&out, q->terms.items[i].raw, q->terms.items[i].prefix);
    for (size_t i = 0; i < q->phrases.len; i++)
        add_phrase(&out, q->phrases.items[i].raw, false);
    return out;
}

static bool run_query(const struct corpus *from, struct collector *c, const char *expression,
                      struct error *e)
{
    struct query q = corpus_query(from, collect_sql, e);
    query_pointer(&q, c, pointer_type);
    query_text(&q, expression);
    return query_run(&q);
}

/* Where nothing was found, no function ran. */
static void count_terms(const struct words_query *q, struct collected *out)
{
    size_t terms = 0;
    for (size_t i = 0; i < q->terms.len; i++)
        terms += !q->terms.items[i].also;
    while (out->entries.len < terms)
        vec_push(&out->entries, 0);
}

static void collected_release(struct collected *c)
{
    vec_release(&c->postings.items);
    vec_release(&c->postings.places.bytes);
    vec_release(&c->entries);
}

/* A posting's term is the number of a word of the query: terms but for those that are `also`. */
static bool collect_postings(const struct corpus *from, const struct words_query *q,
                             const struct corpus_scope *scope, struct collected *out,
                             struct error *e)
{
    struct collector c = {.query = q, .scope = scope, .out = out, .session = -1};
    *out = (struct collected){0};
    if (q->terms.len == 0)
        return true;
    struct buf expression = make_expression(q);
    bool ok =
        store_fts5_function(from->store, "words_collect", collect, &from->store->collects, e) &&
        run_query(from, &c, expression.data, e);
    buf_release(&expression);
    vec_release(&c.begins);
    vec_release(&c.keys.items);
    out->average = out->all > 0 ? (double)c.words / (double)out->all : 0;
    count_terms(q, out);
    if (!ok)
        collected_release(out);
    return ok;
}

/* ---- which texts are the best ---- */

static const char facts_sql[] =
    "SELECT sz, asks FROM #_words_docsize"
    " CROSS JOIN #_entry INDEXED BY #_asks ON key = #_words_docsize.id"
    " WHERE #_words_docsize.id = ?";

struct fact_source {
    const struct corpus *corpus;
    struct error *error;
};

static bool find_facts(void *context, int64_t key, struct rank_facts *out)
{
    struct fact_source *f = context;
    struct query q = corpus_query(f->corpus, facts_sql, f->error);
    query_int(&q, key);
    if (query_next(&q)) {
        out->words = (double)words_column_varint(&q, 0, 0);
        out->asks = sqlite3_column_int(q.handle, 1) != 0;
    }
    return query_end(&q);
}

static const char user_sql[] =
    "SELECT role = 'user' AND speaker IS NULL FROM #_entry WHERE key = ?";

static bool find_user(void *context, int64_t key, bool *out)
{
    struct fact_source *f = context;
    int64_t is_user;
    bool ok = corpus_number(f->corpus, user_sql, key, &is_user, f->error);
    *out = ok && is_user != 0;
    return ok;
}

static bool rank(const struct corpus *c, const struct words_question *question,
                 const struct collected *found, size_t limit, struct ranking *out, struct error *e)
{
    struct fact_source facts = {c, e};
    VEC(double) idf = {0};
    struct rank_input in = {
        .postings = found->postings.items.items,
        .count = found->postings.items.len,
        .average = found->average,
        .places = found->postings.places.bytes.items,
        .facts = find_facts,
        .is_user = find_user,
        .context = &facts,
    };
    for (size_t i = 0; i < found->entries.len; i++) {
        vec_push(&idf, rank_idf(found->all, found->entries.items[i]));
        in.idf_sum += vec_last(&idf);
    }
    in.idf = idf.items;
    in.terms = idf.len;
    bool ok = rank_best(&question->rank, &in, limit, out);
    vec_release(&idf);
    return ok;
}

static void take(const struct ranking *ranking, struct candidates *out)
{
    for (size_t i = 0; i < ranking->items.len; i++) {
        const struct ranked *r = &ranking->items.items[i];
        struct candidate c = {
            .key = r->key, .rank = r->rank, .score = rank_score(r->why.coverage), .why = r->why};
        vec_push(&out->items, c);
    }
}

static bool find(const struct corpus *c, const struct words_query *words,
                 const struct words_question *question, const struct corpus_scope *scope,
                 size_t limit, struct candidates *out, struct error *e)
{
    struct collected found;
    struct ranking ranking = {0};
    if (!collect_postings(c, words, scope, &found, e))
        return false;
    bool ok = rank(c, question, &found, limit, &ranking, e);
    take(&ranking, out);
    collected_release(&found);
    vec_release(&ranking.items);
    return ok;
}

bool words_search(const struct corpus *c, const struct words_question *question,
                  const struct corpus_scope *scope, size_t limit, struct candidates *out,
                  struct error *e)
{
    struct words_query words;
    struct language *l;
    *out = (struct candidates){0};
    if (!words_speak(c, &l, e))
        return false;
    words_query_parse(l, question->text, question->typing, &words);
    bool ok = find(c, &words, question, scope, limit, out, e);
    if (ok && out->items.len == 0 && words_query_loosen(&words))
        ok = find(c, &words, question, scope, limit, out, e);
    words_query_release(&words);
    language_free(l);
    return ok;
}
