#include "index/words.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "index/rank.h"
#include "index/words_facts.h"
#include "index/words_private.h"
#include "index/words_query.h"
#include "store/sql.h"

static_assert((int)QUERY_TERMS <= (int)PLACE_TERMS, "each has a number in a posting");

/* ---- where the words of a query stand ---- */

/* A word of the query is a term with those behind it that are `also`. */
struct collected {
    VEC(struct postings) lists; /* of each word: entries in scope that the phrases allow, by key */
    struct place_bytes places;
    VEC(int64_t) entries; /* that have it, in scope or not */
    int64_t all;          /* entries that there are */
    double average;       /* words an entry */
};

struct keys {
    VEC(int64_t) items; /* ascending */
};

struct collector {
    const struct words_query *query;
    const struct corpus_scope *scope;
    struct collected *out;
    int64_t words; /* in all entries */

    VEC(size_t) asked; /* terms that FTS5 is asked for */
    struct keys phrases[QUERY_PHRASES];

    int64_t session; /* looked up last */
    bool in_scope;
};

/* The number of the word that a term is of. */
static size_t word_of(const struct collector *c, size_t term)
{
    size_t word = 0;
    for (size_t i = 1; i <= term; i++)
        word += !c->query->terms.items[i].also;
    return word;
}

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

/* What a term has added to its word's list, which had so many. */
static void end_term(struct collector *c, size_t term, size_t before)
{
    size_t word = word_of(c, term), kept = before;
    struct postings *list = &c->out->lists.items[word];
    int64_t *entries = &c->out->entries.items[word], rows = (int64_t)(list->items.len - before);
    for (size_t i = before; i < list->items.len; i++) {
        struct posting p = list->items.items[i];
        p.term = word & 0x7f;
        p.named = p.named && !c->query->terms.items[term].role;
        if (is_in_scope(c, p.key))
            list->items.items[kept++] = p;
    }
    list->items.len = kept;
    *entries = rows > *entries ? rows : *entries;
    if (before > 0)
        postings_order(list, (size_t[]){0, before}, 2);
}

/* ---- as FTS5 hands it over ---- */

/* One row is enough: from it the function looks at each phrase by itself. */
static const char collect_sql[] =
    "SELECT words_collect(#_words, ?) FROM #_words WHERE #_words MATCH ? LIMIT 1";
static const char pointer_type[] = "words_collect";

/* What a phrase's rows are added to; those of a damaged index come in any order. */
struct phrase_rows {
    struct postings *list;
    size_t first; /* of this phrase in it */
    struct place_bytes *places;
};

static void note_places(const Fts5ExtensionApi *api, Fts5Context *row, struct posting *p,
                        struct place_bytes *out)
{
    Fts5PhraseIter at;
    int column, place;
    int64_t last = 0;
    p->places = (uint32_t)out->bytes.len;
    if (api->xPhraseFirst(row, 0, &at, &column, &place) != SQLITE_OK)
        return;
    for (; column >= 0; api->xPhraseNext(row, &at, &column, &place)) {
        posting_add_place(p, (uint64_t)(place - last));
        places_pack(out, (uint32_t)(place - last));
        last = place;
    }
}

static int note_posting(const Fts5ExtensionApi *api, Fts5Context *row, void *context)
{
    struct phrase_rows *to = context;
    struct posting p = {.key = api->xRowid(row)};
    if (to->list->items.len > to->first && vec_last(&to->list->items).key >= p.key)
        return SQLITE_CORRUPT_VTAB;
    note_places(api, row, &p, to->places);
    vec_push(&to->list->items, p);
    return SQLITE_OK;
}

static int note_key(const Fts5ExtensionApi *api, Fts5Context *row, void *keys)
{
    vec_push(&((struct keys *)keys)->items, (int64_t)api->xRowid(row));
    return SQLITE_OK;
}

static int collect_term(struct collector *c, const Fts5ExtensionApi *api, Fts5Context *found,
                        size_t i)
{
    size_t term = c->asked.items[i];
    struct postings *list = &c->out->lists.items[word_of(c, term)];
    size_t before = list->items.len;
    struct phrase_rows rows = {list, before, &c->out->places};
    int result = api->xQueryPhrase(found, (int)i, &rows, note_posting);
    end_term(c, term, before);
    return result;
}

static int collect_all(struct collector *c, const Fts5ExtensionApi *api, Fts5Context *found)
{
    sqlite3_int64 all = 0, words = 0;
    int result = api->xRowCount(found, &all);
    if (result == SQLITE_OK)
        result = api->xColumnTotalSize(found, -1, &words);
    c->out->all = all;
    c->words = words;
    for (size_t i = 0; result == SQLITE_OK && i < c->asked.len; i++)
        result = collect_term(c, api, found, i);
    for (size_t i = 0; result == SQLITE_OK && i < c->query->phrases.len; i++)
        result = api->xQueryPhrase(found, (int)(c->asked.len + i), &c->phrases[i], note_key);
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

static void add_phrase(struct buf *out, const char *raw, bool prefix)
{
    buf_addf(out, "%s\"%s\"%s", out->len > 0 ? " OR " : "", raw, prefix ? " *" : "");
}

static struct buf make_expression(const struct collector *c)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < c->asked.len; i++) {
        const struct query_term *term = &c->query->terms.items[c->asked.items[i]];
        add_phrase(&out, term->raw, term->prefix);
    }
    for (size_t i = 0; i < c->query->phrases.len; i++)
        add_phrase(&out, c->query->phrases.items[i].raw, false);
    return out;
}

static bool ask_fts5(const struct corpus *from, struct collector *c, struct error *e)
{
    if (c->asked.len + c->query->phrases.len == 0)
        return true;
    if (!store_fts5_function(from->store, "words_collect", collect, &from->store->collects, e))
        return false;
    struct buf expression = make_expression(c);
    struct query q = corpus_query(from, collect_sql, e);
    query_pointer(&q, c, pointer_type);
    query_text(&q, expression.data);
    bool ok = query_run(&q);
    buf_release(&expression);
    return ok;
}

/* ---- as it stands in the pages ---- */

static bool read_term(struct collector *c, const struct words_lists *from, size_t term,
                      struct error *e)
{
    const struct query_term *t = &c->query->terms.items[term];
    struct postings *list = &c->out->lists.items[word_of(c, term)];
    size_t before = list->items.len;
    bool whole = false;
    bool ok = !from || words_list_read(from, t->word, t->prefix, list, &c->out->places, &whole, e);
    if (whole) {
        end_term(c, term, before);
    } else {
        list->items.len = before;
        vec_push(&c->asked, term);
    }
    return ok;
}

static bool read_terms(const struct corpus *from, struct collector *c, struct error *e)
{
    struct words_lists *lists;
    bool ok = words_lists_open(from, &lists, e);
    if (ok && lists)
        words_lists_totals(lists, &c->out->all, &c->words);
    for (size_t i = 0; ok && i < c->query->terms.len; i++)
        ok = read_term(c, lists, i, e);
    words_lists_close(lists);
    return ok;
}

/* ---- all of it ---- */

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

static void apply_phrases(struct collector *c)
{
    for (size_t i = 0; i < c->query->phrases.len; i++)
        for (size_t k = 0; k < c->out->lists.len; k++)
            filter(&c->out->lists.items[k], &c->phrases[i], !c->query->phrases.items[i].excluded);
}

static void collected_init(struct collected *c, const struct words_query *q)
{
    *c = (struct collected){0};
    for (size_t i = 0; i < q->terms.len; i++)
        if (!q->terms.items[i].also) {
            vec_push(&c->lists, (struct postings){0});
            vec_push(&c->entries, 0);
        }
}

static void collected_release(struct collected *c)
{
    for (size_t i = 0; i < c->lists.len; i++)
        vec_release(&c->lists.items[i].items);
    vec_release(&c->lists);
    vec_release(&c->places.bytes);
    vec_release(&c->entries);
}

static void collector_release(struct collector *c)
{
    for (size_t i = 0; i < QUERY_PHRASES; i++)
        vec_release(&c->phrases[i].items);
    vec_release(&c->asked);
}

static bool collect_postings(const struct corpus *from, const struct words_query *q,
                             const struct corpus_scope *scope, struct collected *out,
                             struct error *e)
{
    struct collector c = {.query = q, .scope = scope, .out = out, .session = -1};
    collected_init(out, q);
    if (q->terms.len == 0)
        return true;
    bool ok = read_terms(from, &c, e) && ask_fts5(from, &c, e);
    if (ok)
        apply_phrases(&c);
    else
        collected_release(out);
    out->average = out->all > 0 ? (double)c.words / (double)out->all : 0;
    collector_release(&c);
    return ok;
}

/* ---- which texts are the best ---- */

static bool rank(const struct corpus *c, const struct words_question *question,
                 const struct collected *found, size_t limit, struct word_weights *weights,
                 struct ranking *out, struct error *e)
{
    struct words_facts facts = {.corpus = c, .entries = found->all, .error = e};
    struct rank_input in = {
        .lists = found->lists.items,
        .average = found->average,
        .places = found->places.bytes.items,
        .words = words_facts_length,
        .asks = words_facts_asks,
        .is_user = words_facts_user,
        .context = &facts,
    };
    vec_clear(&weights->items);
    for (size_t i = 0; i < found->entries.len; i++) {
        vec_push(&weights->items, rank_idf(found->all, found->entries.items[i]));
        in.idf_sum += vec_last(&weights->items);
    }
    in.idf = weights->items.items;
    in.terms = weights->items.len;
    bool ok = rank_best(&question->rank, &in, limit, out);
    words_facts_release(&facts);
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

static bool excludes(const struct words_query *words)
{
    for (size_t i = 0; i < words->phrases.len; i++)
        if (words->phrases.items[i].excluded)
            return true;
    return false;
}

/* A text that is the question's has all of its words. */
static void take_equals(const struct words_query *words, const char *text,
                        const struct rank_whole *whole, struct candidates *out)
{
    out->knows_equals = words->terms.len > 0 && !excludes(words) && whole->count <= RANK_WHOLE &&
                        strlen(text) <= QUERY_BYTES;
    out->equals = *whole;
}

static bool find(const struct corpus *c, const struct words_query *words,
                 const struct words_question *question, const struct corpus_scope *scope,
                 size_t limit, struct candidates *out, struct word_weights *weights,
                 struct error *e)
{
    struct collected found;
    struct ranking ranking = {0};
    if (!collect_postings(c, words, scope, &found, e))
        return false;
    bool ok = rank(c, question, &found, limit, weights, &ranking, e);
    take(&ranking, out);
    take_equals(words, question->text, &ranking.whole, out);
    out->average = found.average;
    collected_release(&found);
    vec_release(&ranking.items);
    return ok;
}

bool words_search(const struct corpus *c, const struct words_question *question,
                  const struct corpus_scope *scope, size_t limit, struct candidates *out,
                  struct word_weights *weights, struct error *e)
{
    struct words_query words;
    struct language *l;
    *out = (struct candidates){0};
    if (!words_speak(c, &l, e))
        return false;
    words_query_parse(l, question->text, question->typing, &words);
    bool ok = find(c, &words, question, scope, limit, out, weights, e);
    if (ok && out->items.len == 0 && words_query_loosen(&words))
        ok = find(c, &words, question, scope, limit, out, weights, e);
    words_query_release(&words);
    language_free(l);
    return ok;
}
