#include "knowledge/corpora.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "knowledge/corpora_private.h"

static const char chunk_sql[] =
    "SELECT key, (SELECT file FROM corpus_document WHERE number = key >> 24), heading, content"
    " FROM corpus_entry WHERE key >= ? ORDER BY key LIMIT 1";

struct corpora *corpora_open(const struct config *config, struct store *s, const char *directory)
{
    struct corpora *c = mem_alloc(sizeof *c);
    *c = (struct corpora){.store = s,
                          .config = config,
                          .language = config_string(config, CONFIG_MEMORY_LANGUAGE),
                          .alone = true};
    c->vectors =
        vectors_new(CORPORA_TABLES, directory, config_integer(config, CONFIG_MEMORY_HNSW_FROM));
    encoder_init(&c->encoder, config);
    return c;
}

void corpora_close(struct corpora *c)
{
    if (!c)
        return;
    vectors_free(c->vectors);
    encoder_release(&c->encoder);
    free(c);
}

bool corpora_wants_vectors(const struct corpora *c)
{
    const char *ranking = config_string(c->config, CONFIG_CORPUS_RANKING);
    const struct embedder *embedder =
        embedder_find(config_string(c->config, CONFIG_EMBEDDING_PROVIDER));
    return embedder && strcmp(ranking, "words") != 0 &&
           (embedder->has_network || strcmp(ranking, "both") == 0);
}

char *corpora_column(const struct query *q, int i)
{
    const char *text = (const char *)sqlite3_column_text(q->handle, i);
    return text && *text ? mem_strdup(text) : NULL;
}

/* --- words ------------------------------------------------------------------------------------ */

/* Of a path the name alone: folders are those of every file beside it. */
char *corpora_words(const char *file, const char *heading, const char *content)
{
    const char *slash = strrchr(file, '/');
    return mem_printf("%s\n%s\n%s", slash ? slash + 1 : file, heading, content);
}

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    *out = (struct document){0};
    struct query q = query_begin(s, chunk_sql, e);
    query_int(&q, from);
    *found = query_next(&q);
    if (*found) {
        const char *file = (const char *)sqlite3_column_text(q.handle, 1);
        const char *heading = (const char *)sqlite3_column_text(q.handle, 2);
        const char *content = (const char *)sqlite3_column_text(q.handle, 3);
        out->key = sqlite3_column_int64(q.handle, 0);
        out->words = corpora_words(file ? file : "", heading, content);
        out->content = mem_printf("%s%s%s", heading, *heading ? "\n" : "", content);
    }
    return query_end(&q);
}

struct corpus corpora_index(struct store *s)
{
    return (struct corpus){.store = s, .tables = CORPORA_TABLES, .document = read_document};
}

/* --- corpora ---------------------------------------------------------------------------------- */

bool corpora_number(struct store *s, const char *name, int64_t *number, struct error *e)
{
    struct query q = query_for(s, "SELECT number FROM corpus_set WHERE name = ?", name, e);
    *number = -1;
    return query_number(&q, number);
}

bool corpora_need(struct store *s, const char *name, int64_t *number, struct error *e)
{
    return corpora_number(s, name, number, e) &&
           (*number >= 0 ||
            err_set(e, ERR_MEMORY_NOT_FOUND,
                    "there is no corpus \"%.80s\"; tiro corpus list shows their names", name));
}

static bool insert(struct store *s, const char *name, int64_t *number, struct error *e)
{
    struct query q = query_for(s,
                               "INSERT INTO corpus_set (name, asked, ended, created_ms, updated_ms)"
                               " VALUES (?, 0, 0, ?, 0)",
                               name, e);
    query_int(&q, clock_wall_ms());
    bool ok = query_run(&q);
    *number = sqlite3_last_insert_rowid(s->db);
    return ok;
}

bool corpora_refuse_name(const char *name, struct error *e)
{
    return err_set(e, ERR_USAGE,
                   "\"%.80s\" cannot be a corpus's name; use letters, digits, \".\", \"_\" "
                   "and \"-\", at most %d",
                   name, CORPUS_NAME_BYTES);
}

bool corpora_make(struct store *s, const char *name, int64_t *number, struct error *e)
{
    if (!corpus_name_valid(name))
        return corpora_refuse_name(name, e);
    return corpora_number(s, name, number, e) && (*number >= 0 || insert(s, name, number, e));
}
