#include "index/corpus.h"

#include <stdlib.h>

/* The first rows of FTS5's data are its own notes, which an empty index has, too. */
static const char bytes_sql[] =
    "SELECT (SELECT ifnull(sum(length(block)), 0) FROM #_words_data WHERE id > 10)"
    " + (SELECT ifnull(sum(length(bytes)), 0) FROM #_vector)"
    " + (SELECT ifnull(sum(length(floats)), 0) FROM #_floats)";

void document_release(struct document *d)
{
    free(d->words);
    free(d->content);
    free(d->speaker);
    *d = (struct document){0};
}

struct query corpus_query(const struct corpus *c, const char *sql, struct error *e)
{
    return query_begin_in(c->store, c->tables, sql, e);
}

bool corpus_exec(const struct corpus *c, const char *sql, struct error *e)
{
    return store_exec_in(c->store, c->tables, sql, e);
}

static struct query begin(const struct corpus *c, const char *sql, int64_t parameter,
                          struct error *e)
{
    struct query q = corpus_query(c, sql, e);
    if (parameter >= 0)
        query_int(&q, parameter);
    return q;
}

bool corpus_run(const struct corpus *c, const char *sql, int64_t parameter, struct error *e)
{
    struct query q = begin(c, sql, parameter, e);
    return query_run(&q);
}

bool corpus_number(const struct corpus *c, const char *sql, int64_t parameter, int64_t *out,
                   struct error *e)
{
    struct query q = begin(c, sql, parameter, e);
    *out = 0;
    return query_number(&q, out);
}

bool corpus_has(const struct corpus *c, const char *sql, bool *out, struct error *e)
{
    int64_t n;
    bool ok = corpus_number(c, sql, -1, &n, e);
    *out = ok && n != 0;
    return ok;
}

bool corpus_bytes(const struct corpus *c, int64_t *out, struct error *e)
{
    return corpus_number(c, bytes_sql, -1, out, e);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool corpus_scope_has(const struct corpus_scope *scope, int64_t session)
{
    return scope->all ||
           (scope->numbers.len > 0 && bsearch(&session, scope->numbers.items, scope->numbers.len,
                                              sizeof session, compare_numbers));
}
