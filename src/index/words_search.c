#include <stdlib.h>

#include "index/words.h"
#include "index/words_collect.h"
#include "index/words_query.h"
#include "store/sql.h"

static const char facts_sql[] =
    "SELECT sz, asks FROM memory_words_docsize"
    " CROSS JOIN memory_entry INDEXED BY memory_asks ON key = memory_words_docsize.id"
    " WHERE memory_words_docsize.id = ?";

/* The number of words as FTS5 keeps it: seven bits a byte, the highest first, all but the last byte
 * marked. */
static double read_length(const unsigned char *bytes, int len)
{
    uint64_t n = 0;
    for (int i = 0; i < len; i++) {
        n = n << 7 | (bytes[i] & 0x7f);
        if (!(bytes[i] & 0x80))
            break;
    }
    return (double)n;
}

struct fact_source {
    struct store *store;
    struct error *error;
};

static bool find_facts(void *context, int64_t key, struct rank_facts *out)
{
    struct fact_source *f = context;
    struct query q;
    if (!query_begin(&q, f->store, facts_sql, f->error))
        return false;
    query_int(&q, key);
    enum query_result result = query_step(&q, f->error);
    if (result == QUERY_ROW) {
        const unsigned char *bytes = sqlite3_column_blob(q.handle, 0);
        out->words = read_length(bytes, sqlite3_column_bytes(q.handle, 0));
        out->asks = sqlite3_column_int(q.handle, 1) != 0;
    }
    query_end(&q);
    return result != QUERY_FAILED;
}

static bool rank(struct store *s, const struct memory_query *query, const struct collected *found,
                 size_t limit, struct ranking *out, struct error *e)
{
    struct fact_source facts = {s, e};
    VEC(double) idf = {0};
    struct rank_input in = {
        .postings = found->postings.items.items,
        .count = found->postings.items.len,
        .average = found->average,
        .facts = find_facts,
        .context = &facts,
    };
    for (size_t i = 0; i < found->entries.len; i++) {
        vec_push(&idf, rank_idf(found->all, found->entries.items[i]));
        in.idf_sum += vec_last(&idf);
    }
    in.idf = idf.items;
    in.terms = idf.len;
    bool ok = rank_best(&query->rank, &in, limit, out);
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

static bool find(struct store *s, const struct words_query *words, const struct memory_query *query,
                 const struct scope_sessions *scope, size_t limit, struct candidates *out,
                 struct error *e)
{
    struct collected found;
    struct ranking ranking = {0};
    if (!words_collect(s, words, scope, &found, e))
        return false;
    bool ok = rank(s, query, &found, limit, &ranking, e);
    take(&ranking, out);
    collected_release(&found);
    vec_release(&ranking.items);
    return ok;
}

static bool search(struct store *s, struct language *l, const struct memory_query *query,
                   const struct scope_sessions *scope, size_t limit, struct candidates *out,
                   struct error *e)
{
    struct words_query words;
    words_query_parse(l, query->text, query->typing, &words);
    bool ok = find(s, &words, query, scope, limit, out, e);
    if (ok && out->items.len == 0 && words_query_loosen(&words))
        ok = find(s, &words, query, scope, limit, out, e);
    words_query_release(&words);
    return ok;
}

bool words_search(struct store *s, const struct memory_query *query,
                  const struct scope_sessions *scope, size_t limit, struct candidates *out,
                  struct error *e)
{
    char *name;
    *out = (struct candidates){0};
    if (!words_language(s, &name, e))
        return false;
    struct language *l = language_new(name);
    bool ok = l ? search(s, l, query, scope, limit, out, e) : store_fault(s, SQLITE_ERROR, e);
    language_free(l);
    free(name);
    return ok;
}
