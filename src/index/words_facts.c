#include "index/words_facts.h"

#include "index/words_private.h"

/* So many postings are read in the time that a table takes to be asked. */
enum { POSTINGS_A_QUESTION = 150 };

static const char length_sql[] = "SELECT sz FROM #_words_docsize WHERE id = ?";
static const char asks_sql[] = "SELECT asks FROM #_entry INDEXED BY #_asks WHERE key = ?";
static const char user_sql[] =
    "SELECT role = 'user' AND speaker IS NULL FROM #_entry WHERE key = ?";

void words_facts_release(struct words_facts *f)
{
    for (size_t i = 0; i < TOKEN_MARKS; i++)
        vec_release(&f->lists[i].items);
    vec_release(&f->places.bytes);
}

/* ---- of all ---- */

static bool read_lists(struct words_facts *f, const struct words_lists *from, struct error *e)
{
    int64_t found = 0;
    bool ok = true, whole = true;
    for (int i = 0; ok && whole && i < TOKEN_MARKS; i++) {
        const char mark[] = {words_mark(i & MARK_ASKS, i & MARK_USER), '\0'};
        ok = words_list_read(from, mark, false, &f->lists[i], &f->places, &whole, e);
        found += (int64_t)f->lists[i].items.len;
    }
    f->listed = ok && whole && found == f->entries;
    return ok;
}

/* An index of an older version has none, and texts of another owner need not have them. */
static bool list(struct words_facts *f)
{
    struct words_lists *from;
    bool ok = words_lists_open(f->corpus, &from, f->error);
    if (ok && from)
        ok = read_lists(f, from, f->error);
    words_lists_close(from);
    f->unlisted = !f->listed;
    if (f->unlisted)
        words_facts_release(f);
    return ok;
}

/* Asked for the next fact: where it comes from. */
static bool choose(struct words_facts *f)
{
    bool many = f->asked++ > f->entries / POSTINGS_A_QUESTION;
    return f->listed || f->unlisted || !many || list(f);
}

/* *tells: what the mark of an entry does; NULL: there is no such entry. */
static const struct posting *find_mark(struct words_facts *f, int64_t key, int *tells)
{
    for (*tells = 0; *tells < TOKEN_MARKS; ++*tells) {
        const struct postings *p = &f->lists[*tells];
        size_t at = f->near[*tells] = postings_find(p, f->near[*tells], key);
        if (at < p->items.len && p->items.items[at].key == key)
            return &p->items.items[at];
    }
    *tells = 0;
    return NULL;
}

/* It stands at the place of the last word. */
static double listed_length(struct words_facts *f, int64_t key)
{
    int tells;
    const struct posting *p = find_mark(f, key, &tells);
    if (!p || p->last < POSTING_LAST)
        return p ? p->last + 1 : 0;
    struct occurrences last = {0};
    places_unpack(f->places.bytes.items + p->places, 1, 0, &last);
    double words = last.items.items[0].at + 1.0;
    vec_release(&last.items);
    return words;
}

/* ---- of one ---- */

static bool asked_length(struct words_facts *f, int64_t key, double *out)
{
    struct query q = corpus_query(f->corpus, length_sql, f->error);
    query_int(&q, key);
    *out = query_next(&q) ? (double)words_column_varint(&q, 0, 0) : 0;
    return query_end(&q);
}

static bool asked_flag(struct words_facts *f, const char *sql, int64_t key, bool *out)
{
    int64_t n;
    bool ok = corpus_number(f->corpus, sql, key, &n, f->error);
    *out = ok && n != 0;
    return ok;
}

/* ---- either way ---- */

bool words_facts_length(void *facts, int64_t key, double *out)
{
    struct words_facts *f = facts;
    if (!choose(f))
        return false;
    if (!f->listed)
        return asked_length(f, key, out);
    *out = listed_length(f, key);
    return true;
}

static bool find_flag(struct words_facts *f, const char *sql, int64_t key, int flag, bool *out)
{
    int tells;
    if (!choose(f))
        return false;
    if (!f->listed)
        return asked_flag(f, sql, key, out);
    find_mark(f, key, &tells);
    *out = tells & flag;
    return true;
}

bool words_facts_asks(void *facts, int64_t key, bool *out)
{
    return find_flag(facts, asks_sql, key, MARK_ASKS, out);
}

bool words_facts_user(void *facts, int64_t key, bool *out)
{
    return find_flag(facts, user_sql, key, MARK_USER, out);
}
