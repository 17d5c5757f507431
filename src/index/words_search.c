#include <stdlib.h>

#include "index/words_collect.h"
#include "index/words_private.h"
#include "index/words_query.h"

static const char facts_sql[] =
    "SELECT sz, asks FROM #_words_docsize"
    " CROSS JOIN #_entry INDEXED BY #_asks ON key = #_words_docsize.id"
    " WHERE #_words_docsize.id = ?";

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
    const struct corpus *corpus;
    struct error *error;
};

static bool find_facts(void *context, int64_t key, struct rank_facts *out)
{
    struct fact_source *f = context;
    struct query q = corpus_query(f->corpus, facts_sql, f->error);
    query_int(&q, key);
    if (query_next(&q)) {
        const unsigned char *bytes = sqlite3_column_blob(q.handle, 0);
        out->words = read_length(bytes, sqlite3_column_bytes(q.handle, 0));
        out->asks = sqlite3_column_int(q.handle, 1) != 0;
    }
    return query_end(&q);
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
        .facts = find_facts,
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
    if (!words_collect(c, words, scope, &found, e))
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
