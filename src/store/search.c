#include "store/search.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "store/search_place.h"
#include "store/search_snippet.h"
#include "store/sql.h"

#define QUERY_BYTES 1024
#define QUERY_WORDS 32

#define KEY "(SELECT key FROM session WHERE id = ?)"

static const char index_sql[] =
    "INSERT INTO transcript (rowid, text) SELECT place, text FROM spoken WHERE session = " KEY
    " AND seq = ?";
static const char index_text_sql[] =
    "INSERT INTO transcript (rowid, text) VALUES (" KEY " << 32 | ?, ?)";
static const char index_from_sql[] =
    "INSERT INTO transcript (rowid, text) SELECT place, text FROM spoken WHERE session = " KEY
    " AND seq >= ?";
static const char forget_sql[] =
    "INSERT INTO transcript (transcript, rowid, text)"
    " SELECT 'delete', place, text FROM spoken WHERE session = " KEY;

/* FTS5 only notes a deletion, and drops the words when it merges. */
static const char merge_sql[] = "INSERT INTO transcript (transcript) VALUES ('optimize')";

/* The order of the rows is that of the index, so that the first are found without the others. */
#define FOUND                                                                                      \
    "SELECT session.id, session.title, spoken.seq, spoken.at, spoken.type,"                        \
    " session.archived_ms IS NOT NULL, spoken.text, match_place(transcript, spoken.text)"          \
    " FROM transcript CROSS JOIN spoken ON spoken.session = transcript.rowid >> 32"                \
    " AND spoken.seq = transcript.rowid & 0xffffffff"                                              \
    " CROSS JOIN session ON session.key = spoken.session WHERE transcript MATCH ?"
#define NEWEST_FIRST " ORDER BY transcript.rowid DESC LIMIT ?"

static const char find_sql[] = FOUND NEWEST_FIRST;
static const char find_in_session_sql[] = FOUND
    " AND transcript.rowid BETWEEN (SELECT key << 32 FROM session WHERE id = ?2)"
    " AND (SELECT key << 32 | 0xffffffff FROM session WHERE id = ?2)" NEWEST_FIRST;

/* ---- the query as FTS5 wants it ---- */

struct expression {
    struct buf text;
    int words;
    bool open; /* the last word may go on */
};

/* In quotes nothing is an operator, and punctuation parts words. Phrases side by side must all
 * occur, but for those that have no word in them; an AND would want these too. */
static void add_phrase(struct expression *x, const char *words, size_t len, bool open)
{
    if (len == 0 || x->words >= QUERY_WORDS)
        return;
    buf_addf(&x->text, "%s\"%.*s\"", x->words > 0 ? " " : "", (int)len, words);
    x->words++;
    x->open = open;
}

/* Adds the phrase in quotes or the word at the beginning of `text`; returns its length. */
static size_t take_phrase(struct expression *x, const char *text)
{
    if (*text != '"') {
        size_t len = strcspn(text, " \"");
        add_phrase(x, text, len, true);
        return len;
    }
    size_t len = strcspn(text + 1, "\"");
    bool closed = text[1 + len] == '"';
    add_phrase(x, text + 1, len, !closed);
    return 1 + len + closed;
}

/* Empty when there is nothing to be looked for. */
static struct buf make_expression(const char *query)
{
    struct buf line = BUF_INIT;
    struct expression x = {.text = BUF_INIT};
    utf8_clean(&line, query, utf8_cut_bytes(query, strlen(query), QUERY_BYTES), UTF8_ONE_LINE);
    for (const char *at = line.data; *at; at += strspn(at, " "))
        at += take_phrase(&x, at);
    if (x.open)
        buf_addstr(&x.text, " *");
    buf_release(&line);
    return x.text;
}

/* ---- searching ---- */

static struct search_hit read_hit(const struct query *q)
{
    bool asked = strcmp((const char *)sqlite3_column_text(q->handle, 4), "run_started") == 0;
    const char *text = (const char *)sqlite3_column_text(q->handle, 6);
    size_t len = (size_t)sqlite3_column_bytes(q->handle, 6);
    int64_t place = sqlite3_column_int64(q->handle, 7);
    struct search_hit hit = {
        .title = query_column_text(q, 1),
        .seq = sqlite3_column_int64(q->handle, 2),
        .at_ms = sqlite3_column_int64(q->handle, 3),
        .role = asked ? ROLE_USER : ROLE_ASSISTANT,
        .archived = sqlite3_column_int(q->handle, 5),
    };
    snprintf(hit.session_id, sizeof hit.session_id, "%s",
             (const char *)sqlite3_column_text(q->handle, 0));
    search_snippet(text ? text : "", len, (size_t)(place >> 32), (size_t)(place & 0xffffffff),
                   &hit);
    return hit;
}

static bool collect(struct query *q, int limit, struct search_hits *out, bool *more,
                    struct error *e)
{
    enum query_result result;
    while ((result = query_step(q, e)) == QUERY_ROW) {
        *more = out->items.len == (size_t)limit;
        if (*more)
            break;
        vec_push(&out->items, read_hit(q));
    }
    query_end(q);
    if (result == QUERY_FAILED)
        search_hits_release(out);
    return result != QUERY_FAILED;
}

static bool find(struct store *s, const char *expression, const char *session_id, int limit,
                 struct search_hits *out, bool *more, struct error *e)
{
    struct query q;
    if (!search_place_register(s, e) ||
        !query_begin(&q, s, session_id ? find_in_session_sql : find_sql, e))
        return false;
    query_text(&q, expression);
    if (session_id)
        query_text(&q, session_id);
    query_int(&q, (int64_t)limit + 1);
    return collect(&q, limit, out, more, e);
}

bool search_texts(struct store *s, const char *query, const char *session_id, int limit,
                  struct search_hits *out, bool *more, struct error *e)
{
    struct buf expression = make_expression(query);
    *out = (struct search_hits){0};
    *more = false;
    bool ok = expression.len == 0 || limit < 1 ||
              find(s, expression.data, session_id, limit, out, more, e);
    buf_release(&expression);
    return ok;
}

/* ---- keeping the index ---- */

static bool is_spoken(const struct event *ev)
{
    return ev->type == EVENT_RUN_STARTED || ev->type == EVENT_TEXT_COMPLETE;
}

bool search_index(struct store *s, const struct event *ev, struct error *e)
{
    struct query q;
    if (!is_spoken(ev))
        return true;
    if (!query_begin(&q, s, index_sql, e))
        return false;
    query_text(&q, ev->session_id);
    query_int(&q, ev->seq);
    return query_run(&q, e);
}

bool search_index_text(struct store *s, const struct event *ev, struct error *e)
{
    struct query q;
    if (!is_spoken(ev))
        return true;
    if (!query_begin(&q, s, index_text_sql, e))
        return false;
    query_text(&q, ev->session_id);
    query_int(&q, ev->seq);
    query_text(&q, ev->text);
    return query_run(&q, e);
}

static bool run_for(struct store *s, const char *sql, const char *session_id, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, sql, e))
        return false;
    query_text(&q, session_id);
    return query_run(&q, e);
}

bool search_index_from(struct store *s, const char *session_id, int64_t first, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, index_from_sql, e))
        return false;
    query_text(&q, session_id);
    query_int(&q, first);
    return query_run(&q, e);
}

bool search_forget(struct store *s, const char *session_id, struct error *e)
{
    struct query q;
    return run_for(s, forget_sql, session_id, e) && query_begin(&q, s, merge_sql, e) &&
           query_run(&q, e);
}
