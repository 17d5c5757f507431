#include "index/transcripts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/words.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/sql.h"

/* A key is the session's key << SEQ_BITS | the number of the event. */
enum { SEQ_BITS = 32 };
static const int64_t LAST_SEQ = 0xffffffff;

/* Words are indexed as they are written: without stems and stop words. */
static const char language[] = "none";

/* Without deltas, which are many, so that event_whole can be used. */
static const char from_sql[] =
    "SELECT place, text FROM spoken WHERE (session, seq) >= (?1 >> 32, ?1 & 0xffffffff)"
    " AND type NOT IN ('text_delta', 'reasoning_delta', 'compaction_delta')"
    " ORDER BY session, seq LIMIT 1";

/* ---- keeping the index ---- */

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    *out = (struct document){0};
    struct query q = sql_query(s, e, from_sql, "i", from);
    *found = query_next(&q);
    if (*found) {
        out->key = sqlite3_column_int64(q.handle, 0);
        out->words = query_column_text(&q, 1);
        if (!out->words)
            out->words = mem_strdup("");
    }
    return query_end(&q);
}

static struct corpus corpus_of(struct store *s)
{
    return (struct corpus){.store = s, .tables = "transcript", .document = read_document};
}

static bool is_spoken(const struct event *ev)
{
    return (ev->type == EVENT_TURN_STARTED || ev->type == EVENT_TEXT_COMPLETE) &&
           ev->seq <= LAST_SEQ;
}

/* -1: there is no such session. */
static bool find_key(struct store *s, const char *session_id, int64_t *key, struct error *e)
{
    *key = -1;
    return sql_number(s, key, e, "SELECT key FROM session WHERE id = ?", "t", session_id);
}

/* A text that is no UTF-8 is another text in its row, from which its words will be removed. */
static bool add_words(const struct corpus *c, int64_t session, const struct event *ev,
                      struct error *e)
{
    int64_t key = session << SEQ_BITS | ev->seq;
    struct document d;
    bool found;
    if (utf8_valid(ev->text, strlen(ev->text)))
        return words_add(c, key, ev->text, e);
    if (!read_document(c->store, key, &d, &found, e))
        return false;
    bool ok = !found || d.key != key || words_add(c, key, d.words, e);
    document_release(&d);
    return ok;
}

bool transcripts_fill(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    const struct corpus c = corpus_of(s);
    size_t bytes = 0, spoken = 0;
    int64_t session = -1;
    bool began;
    for (size_t i = 0; i < count; i++)
        if (is_spoken(events[i])) {
            spoken++;
            bytes += strlen(events[i]->text);
        }
    if (count == 0)
        return true;
    if (!store_step_begin(s, &began, e))
        return false;
    /* The first statement writes: one that had read first could not wait for another writer. */
    bool ok = event_log_fill(s, events, count, e) &&
              (spoken == 0 || words_prepare(&c, language, bytes, e));
    for (size_t i = 0; i < count && ok; i++)
        if (is_spoken(events[i]))
            ok = (session >= 0 || find_key(s, events[i]->session_id, &session, e)) &&
                 add_words(&c, session, events[i], e);
    return store_step_end(s, began, ok, e);
}

bool transcripts_append(struct store *s, const struct event *ev, struct error *e)
{
    struct event *const one = (struct event *)ev; /* is only read */
    return transcripts_fill(s, &one, 1, e);
}

typedef bool change_words(const struct corpus *c, int64_t key, const char *text, struct error *e);

static bool change_all(const struct corpus *c, const char *session_id, change_words *change,
                       struct error *e)
{
    int64_t session;
    bool ok = find_key(c->store, session_id, &session, e), found = session >= 0;
    for (int64_t key = session << SEQ_BITS; ok && found;) {
        struct document d;
        ok = c->document(c->store, key, &d, &found, e);
        found = ok && found && d.key >> SEQ_BITS == session;
        ok = ok && (!found || change(c, d.key, d.words, e));
        key = d.key + 1;
        document_release(&d);
    }
    return ok;
}

bool transcripts_copy(struct store *s, const char *from, int64_t last, const char *to,
                      struct error *e)
{
    const struct corpus c = corpus_of(s);
    bool began;
    if (!store_step_begin(s, &began, e))
        return false;
    bool ok = event_log_copy(s, from, last, to, e) && change_all(&c, to, words_add, e);
    return store_step_end(s, began, ok, e);
}

bool transcripts_delete(struct store *s, const char *session_id, struct error *e)
{
    const struct corpus c = corpus_of(s);
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    bool ok = change_all(&c, session_id, words_remove, e) && sessions_delete(s, session_id, e) &&
              words_purge(&c, true, e);
    return store_leave(s, began, ok, e);
}

bool transcripts_purge(struct store *s, bool *more, struct error *e)
{
    const struct corpus c = corpus_of(s);
    return words_purge_step(&c, NULL, more, e);
}

bool transcripts_reindex(struct store *s, struct error *e)
{
    const struct corpus c = corpus_of(s);
    return words_reindex(&c, language, NULL, NULL, e);
}

bool transcripts_tidy(struct store *s, bool *more, struct error *e)
{
    const struct corpus c = corpus_of(s);
    return transcripts_purge(s, more, e) && (*more || words_tidy(&c, more, e));
}

/* ---- hits ---- */

#define QUERY_BYTES 1024
#define QUERY_WORDS 32

/* Rows come in the order of the index, so that the first are found without the others. */
#define FOUND                                                                                      \
    "SELECT session.id, session.title, spoken.seq, spoken.at, spoken.type,"                        \
    " session.archived_ms IS NOT NULL, spoken.text, match_place(transcript_words, spoken.text)"    \
    " FROM transcript_words CROSS JOIN spoken ON spoken.session = transcript_words.rowid >> 32"    \
    " AND spoken.seq = transcript_words.rowid & 0xffffffff"                                        \
    " CROSS JOIN session ON session.key = spoken.session WHERE transcript_words MATCH ?1"          \
    " AND " SESSIONS_FROM("?2")
#define NEWEST_FIRST " ORDER BY transcript_words.rowid DESC LIMIT ?3"

static const char find_sql[] = FOUND NEWEST_FIRST;
static const char find_in_session_sql[] = FOUND
    " AND transcript_words.rowid BETWEEN (SELECT key << 32 FROM session WHERE id = ?4)"
    " AND (SELECT key << 32 | 0xffffffff FROM session WHERE id = ?4)" NEWEST_FIRST;

/* ---- the query for FTS5 ---- */

/* Empty when there is nothing to search for. In quotes nothing is an operator, and punctuation
 * separates words. Phrases side by side must all occur, except those without a word; an AND would
 * need these, too. */
static char *make_expression(const char *query)
{
    AUTO(buf_release) struct buf line = BUF_INIT;
    struct buf out = BUF_INIT;
    int words = 0;
    bool open = false; /* the last word may go on */
    utf8_clean(&line, query, utf8_cut_bytes(query, strlen(query), QUERY_BYTES), UTF8_ONE_LINE);
    for (const char *at = line.data; *at; at += strspn(at, " ")) {
        bool quoted = *at == '"';
        at += quoted;
        size_t len = strcspn(at, quoted ? "\"" : " \"");
        bool closed = quoted && at[len] == '"';
        if (len > 0 && words < QUERY_WORDS) {
            buf_addf(&out, "%s\"%.*s\"", words++ > 0 ? " " : "", (int)len, at);
            open = !closed;
        }
        at += len + closed;
    }
    if (open)
        buf_addstr(&out, " *");
    return buf_take(&out);
}

/* ---- the place of the first match, with the folding of the index ---- */

/* Finds the bytes of `size` tokens from the `want`ed one on. */
struct seek {
    int want, size;
    int token;
    sqlite3_int64 start, end;
};

static int pass_token(void *context, int flags, const char *token, int len, int start, int end)
{
    struct seek *seek = context;
    (void)token;
    (void)len;
    if (flags & FTS5_TOKEN_COLOCATED)
        return SQLITE_OK;
    if (seek->token == seek->want)
        seek->start = start;
    if (++seek->token < seek->want + seek->size)
        return SQLITE_OK;
    seek->end = end;
    return SQLITE_DONE;
}

static void match_place(const Fts5ExtensionApi *api, Fts5Context *found, sqlite3_context *out,
                        int count, sqlite3_value **values)
{
    struct seek seek = {0};
    int matches = 0, phrase = 0, column;
    int result = count == 1 ? api->xInstCount(found, &matches) : SQLITE_MISUSE;
    if (result == SQLITE_OK && matches > 0)
        result = api->xInst(found, 0, &phrase, &column, &seek.want);
    if (result == SQLITE_OK && matches > 0)
        seek.size = api->xPhraseSize(found, phrase);
    const char *text = result == SQLITE_OK ? (const char *)sqlite3_value_text(values[0]) : NULL;
    if (text && seek.size > 0)
        result = api->xTokenize(found, text, sqlite3_value_bytes(values[0]), &seek, pass_token);
    if (result != SQLITE_OK && result != SQLITE_DONE)
        sqlite3_result_error_code(out, result);
    else if (seek.end > seek.start)
        sqlite3_result_int64(out, seek.start << 32 | (seek.end - seek.start));
}

/* ---- the snippet ---- */

enum {
    SNIPPET_BYTES = 240,
    MATCH_BYTES = 120,             /* of it at most */
    SPAN_BYTES = 4 * SNIPPET_BYTES /* looked at on either side: blanks will be drawn together */
};

static const char ellipsis[] = "…";

/* One line without control characters and with single blanks; of a long text the beginning. */
static struct buf cleaned(const char *text, size_t len)
{
    AUTO(buf_release) struct buf cleaned = BUF_INIT;
    struct buf out = BUF_INIT;
    size_t taken = len > SPAN_BYTES ? SPAN_BYTES : len;
    utf8_clean(&cleaned, text, taken - utf8_incomplete_tail(text, taken), UTF8_ONE_LINE);
    for (size_t i = 0; i < cleaned.len; i++)
        if (cleaned.data[i] != ' ' || i == 0 || cleaned.data[i - 1] != ' ')
            buf_addch(&out, cleaned.data[i]);
    return out;
}

static bool keep_begin(struct buf *b, size_t max)
{
    size_t keep = utf8_cut_bytes(b->data, b->len, max);
    bool cut = keep < b->len;
    buf_truncate(b, keep);
    buf_trim_end(b, " ");
    return cut;
}

/* Fills in snippet, match and len; the `match_len` bytes at `match` were found. An ellipsis stands
 * where the text goes on. */
static void set_snippet(const char *text, size_t len, size_t match, size_t match_len,
                        struct search_hit *out)
{
    size_t end = match + match_len, from = match > SPAN_BYTES ? match - SPAN_BYTES : 0;
    bool cut_before = match > SPAN_BYTES, cut_after = len - end > SPAN_BYTES;
    while (from < match && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    AUTO(buf_release) struct buf before = cleaned(text + from, match - from);
    AUTO(buf_release) struct buf found = cleaned(text + match, match_len);
    AUTO(buf_release) struct buf after = cleaned(text + end, len - end);
    if (keep_begin(&found, MATCH_BYTES)) {
        buf_clear(&after);
        cut_after = true;
    }
    /* The match is in the middle unless one side does not need its half of the room. */
    size_t room = SNIPPET_BYTES - 2 * strlen(ellipsis) - found.len;
    size_t spare = room - (after.len < room ? after.len : room);
    size_t cut = 0, most = spare > room / 2 ? spare : room / 2;
    while (before.len - cut > most)
        cut = utf8_next(before.data, before.len, cut);
    buf_consume(&before, cut);
    buf_consume(&before, strspn(before.data, " "));
    cut_before = cut_before || cut > 0;
    cut_after = keep_begin(&after, room - before.len) || cut_after;

    struct buf line = BUF_INIT;
    buf_addf(&line, "%s%s", cut_before ? ellipsis : "", before.data);
    out->match = line.len;
    out->len = found.len;
    buf_addf(&line, "%s%s%s", found.data, after.data, cut_after ? ellipsis : "");
    out->snippet = buf_take(&line);
}

/* ---- hits ---- */

bool transcripts_search(struct store *s, const char *query, const char *session_id, int limit,
                        struct search_hits *out, bool *more, struct error *e)
{
    auto_free char *from = NULL;
    auto_free char *words = sessions_take_from(query, &from);
    auto_free char *expression = make_expression(words);
    *out = (struct search_hits){0};
    *more = false;
    if (!*expression || limit < 1)
        return true;
    if (!store_fts5_function(s, "match_place", match_place, &s->searchable, e))
        return false;
    const int64_t most = (int64_t)limit + 1;
    struct query q = session_id ? sql_query(s, e, find_in_session_sql, "ttit", expression, from,
                                            most, session_id)
                                : sql_query(s, e, find_sql, "tti", expression, from, most);
    while (!*more && query_next(&q)) {
        *more = out->items.len == (size_t)limit;
        if (*more)
            break;
        bool asked = strcmp((const char *)sqlite3_column_text(q.handle, 4), "run_started") == 0;
        const char *text = (const char *)sqlite3_column_text(q.handle, 6);
        size_t len = (size_t)sqlite3_column_bytes(q.handle, 6);
        int64_t place = sqlite3_column_int64(q.handle, 7);
        struct search_hit hit = {
            .title = query_column_text(&q, 1),
            .seq = sqlite3_column_int64(q.handle, 2),
            .at_ms = sqlite3_column_int64(q.handle, 3),
            .role = asked ? ROLE_USER : ROLE_ASSISTANT,
            .archived = sqlite3_column_int(q.handle, 5),
        };
        snprintf(hit.session_id, sizeof hit.session_id, "%s",
                 (const char *)sqlite3_column_text(q.handle, 0));
        set_snippet(text ? text : "", len, (size_t)(place >> 32), (size_t)(place & 0xffffffff),
                    &hit);
        vec_push(&out->items, hit);
    }
    bool ok = query_end(&q);
    if (!ok)
        search_hits_release(out);
    return ok;
}
