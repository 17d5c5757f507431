/* The lists of words, read from FTS5's pages (doclist.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/doclist.h"
#include "index/words_private.h"

static const char format_sql[] = "SELECT v FROM #_words_config WHERE k = 'version'";
static const char record_sql[] = "SELECT block FROM #_words_data WHERE id = ?";
static const char pages_sql[] =
    "SELECT block, id FROM #_words_data WHERE id BETWEEN ? AND ? ORDER BY id";
/* The page whose first word is the last that is not behind this one; the lowest bit is a mark. */
static const char page_sql[] =
    "SELECT pgno >> 1 FROM #_words_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1";

struct words_lists {
    const struct corpus *corpus;
    struct doclist_parts parts;
    int64_t entries, words;
};

/* ---- what there is ---- */

static const uint8_t *block(const struct query *q, size_t *len)
{
    const uint8_t *bytes = sqlite3_column_blob(q->handle, 0);
    *len = bytes ? (size_t)sqlite3_column_bytes(q->handle, 0) : 0;
    return bytes ? bytes : (const uint8_t *)"";
}

static bool read_records(struct words_lists *l, bool *readable, struct error *e)
{
    size_t len;
    struct query q = corpus_query(l->corpus, record_sql, e);
    query_int(&q, DOCLIST_STRUCTURE);
    if (query_next(&q)) {
        const uint8_t *bytes = block(&q, &len);
        *readable = doclist_parts_read(bytes, len, &l->parts);
    }
    if (!query_end(&q))
        return false;
    q = corpus_query(l->corpus, record_sql, e);
    query_int(&q, DOCLIST_TOTALS);
    if (query_next(&q)) {
        const uint8_t *bytes = block(&q, &len);
        *readable = *readable && doclist_totals_read(bytes, len, &l->entries, &l->words);
    }
    return query_end(&q);
}

/* What a transaction that is under way has written need not be in the pages yet. */
static bool is_settled(const struct corpus *c)
{
    return sqlite3_txn_state(c->store->db, "main") != SQLITE_TXN_WRITE;
}

bool words_lists_open(const struct corpus *c, struct words_lists **out, struct error *e)
{
    struct words_lists *l = mem_alloc(sizeof *l);
    int64_t format = 0;
    bool readable = false;
    l->corpus = c;
    bool ok = corpus_number(c, format_sql, -1, &format, e) &&
              (format != DOCLIST_FORMAT || read_records(l, &readable, e));
    *out = ok && readable && is_settled(c) ? l : NULL;
    if (!*out)
        words_lists_close(l);
    return ok;
}

void words_lists_close(struct words_lists *l)
{
    if (!l)
        return;
    vec_release(&l->parts.items);
    free(l);
}

void words_lists_totals(const struct words_lists *l, int64_t *entries, int64_t *words)
{
    *entries = l->entries;
    *words = l->words;
}

/* ---- a list ---- */

static bool find_page(const struct words_lists *l, const struct doclist_part *part,
                      const struct doclist *d, int64_t *page, struct error *e)
{
    *page = part->first;
    struct query q = corpus_query(l->corpus, page_sql, e);
    query_int(&q, part->id);
    query_bytes(&q, d->word, d->word_len);
    bool ok = query_number(&q, page);
    if (*page < part->first)
        *page = part->first;
    return ok;
}

static bool read_pages(const struct words_lists *l, const struct doclist_part *part,
                       struct doclist *d, enum doclist_step *step, struct error *e)
{
    int64_t page;
    if (!find_page(l, part, d, &page, e))
        return false;
    *step = page <= part->last ? DOCLIST_MORE : DOCLIST_DAMAGED;
    struct query q = corpus_query(l->corpus, pages_sql, e);
    query_int(&q, doclist_page_id(part, page));
    query_int(&q, doclist_page_id(part, part->last));
    for (; *step == DOCLIST_MORE && page <= part->last && query_next(&q); page++) {
        size_t len;
        const uint8_t *bytes = block(&q, &len);
        bool next = sqlite3_column_int64(q.handle, 1) == doclist_page_id(part, page);
        *step = next ? doclist_read(d, bytes, len) : DOCLIST_DAMAGED;
    }
    if (*step == DOCLIST_MORE)
        *step = page > part->last && d->left == 0 ? DOCLIST_END : DOCLIST_DAMAGED;
    return query_end(&q);
}

/* Reads the parts from the oldest on; where each begins. */
static bool read_parts(const struct words_lists *l, struct doclist *d, struct list_begins *begins,
                       enum doclist_step *step, struct error *e)
{
    bool ok = true;
    *step = DOCLIST_END;
    for (size_t i = l->parts.items.len; ok && *step == DOCLIST_END && i-- > 0;) {
        d->key = -1;
        d->left = 0;
        d->listed = false;
        vec_push(&begins->items, d->out->items.len);
        ok = read_pages(l, &l->parts.items.items[i], d, step, e);
    }
    return ok;
}

/* `more` is empty afterwards. */
static void append(struct postings *out, struct postings *more)
{
    if (out->items.len == 0) {
        struct postings swap = *out;
        *out = *more;
        *more = swap;
    }
    for (size_t i = 0; i < more->items.len; i++)
        vec_push(&out->items, more->items.items[i]);
}

bool words_list_read(const struct words_lists *l, const char *word, bool open, struct postings *out,
                     struct place_bytes *places, bool *whole, struct error *e)
{
    char *marked = mem_printf("%s%s", DOCLIST_WORD, word);
    struct list_begins begins = {0};
    struct doclist_runs runs = {0};
    struct postings several = {0};
    struct doclist d = {.word = marked,
                        .word_len = strlen(marked),
                        .runs = open ? &runs : NULL,
                        .out = open ? &several : out,
                        .places = places,
                        .at = BUF_INIT};
    enum doclist_step step;
    bool ok = read_parts(l, &d, &begins, &step, e);
    *whole = ok && step == DOCLIST_END;
    if (!open)
        doclist_unite(out, begins.items.items, begins.items.len);
    else if (*whole)
        doclist_join(&several, &runs, places);
    if (open)
        append(out, &several);
    vec_release(&several.items);
    doclist_runs_release(&runs);
    doclist_release(&d);
    vec_release(&begins.items);
    free(marked);
    return ok;
}
