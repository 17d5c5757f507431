#include "index/corpus.h"

#include <stdlib.h>

void document_release(struct document *d)
{
    free(d->words);
    free(d->content);
    free(d->speaker);
    *d = (struct document){0};
}

struct query corpus_query(const struct corpus *c, struct error *e, const char *sql,
                          const char *types, ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(c->store, c->tables, e, sql, types, args);
    va_end(args);
    return q;
}

bool corpus_run(const struct corpus *c, struct error *e, const char *sql, const char *types, ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(c->store, c->tables, e, sql, types, args);
    va_end(args);
    return query_run(&q);
}

bool corpus_number(const struct corpus *c, int64_t *out, struct error *e, const char *sql,
                   const char *types, ...)
{
    va_list args;
    va_start(args, types);
    struct query q = sql_query_in(c->store, c->tables, e, sql, types, args);
    va_end(args);
    *out = 0;
    return query_number(&q, out);
}

bool corpus_bytes(const struct corpus *c, int64_t *out, struct error *e)
{
    /* The first rows of FTS5's data are its own notes, which an empty index has, too. */
    return corpus_number(c, out, e,
                         "SELECT (SELECT ifnull(sum(length(block)), 0) FROM #_words_data"
                         " WHERE id > 10) + (SELECT ifnull(sum(length(bytes)), 0) FROM #_vector)"
                         " + (SELECT ifnull(sum(length(floats)), 0) FROM #_floats)",
                         "");
}

bool corpus_scope_has(const struct corpus_scope *scope, int64_t session)
{
    return scope->all ||
           (scope->numbers.len > 0 && bsearch(&session, scope->numbers.items, scope->numbers.len,
                                              sizeof session, vec_number_order));
}
