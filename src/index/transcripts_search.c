/* The search in what users and models said: what a text means as a query, where the words are that
 * it found, and the line that shows them. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "index/transcripts.h"
#include "store/sql.h"

#define QUERY_BYTES 1024
#define QUERY_WORDS 32

/* The order of the rows is that of the index, so that the first are found without the others. */
#define FOUND                                                                                      \
    "SELECT session.id, session.title, spoken.seq, spoken.at, spoken.type,"                        \
    " session.archived_ms IS NOT NULL, spoken.text, match_place(transcript_words, spoken.text)"    \
    " FROM transcript_words CROSS JOIN spoken ON spoken.session = transcript_words.rowid >> 32"    \
    " AND spoken.seq = transcript_words.rowid & 0xffffffff"                                        \
    " CROSS JOIN session ON session.key = spoken.session WHERE transcript_words MATCH ?"
#define NEWEST_FIRST " ORDER BY transcript_words.rowid DESC LIMIT ?"

static const char find_sql[] = FOUND NEWEST_FIRST;
static const char find_in_session_sql[] = FOUND
    " AND transcript_words.rowid BETWEEN (SELECT key << 32 FROM session WHERE id = ?2)"
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

/* ---- where the first match is: as the index folds case and accents, so does this ---- */

/* Going through a text by tokens to the `want`ed one and `size` on. */
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

static int first_match(const Fts5ExtensionApi *api, Fts5Context *found, struct seek *seek)
{
    int count = 0;
    int phrase = 0;
    int column;
    int result = api->xInstCount(found, &count);
    if (result == SQLITE_OK && count > 0)
        result = api->xInst(found, 0, &phrase, &column, &seek->want);
    seek->size = result == SQLITE_OK && count > 0 ? api->xPhraseSize(found, phrase) : 0;
    return result;
}

static void match_place(const Fts5ExtensionApi *api, Fts5Context *found, sqlite3_context *out,
                        int count, sqlite3_value **values)
{
    struct seek seek = {0};
    int result = count == 1 ? first_match(api, found, &seek) : SQLITE_MISUSE;
    const char *text = result == SQLITE_OK ? (const char *)sqlite3_value_text(values[0]) : NULL;
    if (text && seek.size > 0)
        result = api->xTokenize(found, text, sqlite3_value_bytes(values[0]), &seek, pass_token);
    if (result != SQLITE_OK && result != SQLITE_DONE)
        sqlite3_result_error_code(out, result);
    else if (seek.end > seek.start)
        sqlite3_result_int64(out, seek.start << 32 | (seek.end - seek.start));
}

/* ---- the line that shows it ---- */

enum {
    SNIPPET_BYTES = 240,
    MATCH_BYTES = 120,             /* of it at most */
    SPAN_BYTES = 4 * SNIPPET_BYTES /* looked at on either side: blanks will be drawn together */
};

static const char ellipsis[] = "…";

/* One line without control characters and runs of blanks. */
static struct buf cleaned(const char *text, size_t len)
{
    struct buf cleaned = BUF_INIT, out = BUF_INIT;
    utf8_clean(&cleaned, text, len, UTF8_ONE_LINE);
    for (size_t i = 0; i < cleaned.len; i++)
        if (cleaned.data[i] != ' ' || i == 0 || cleaned.data[i - 1] != ' ')
            buf_addch(&out, cleaned.data[i]);
    buf_release(&cleaned);
    return out;
}

static struct buf cleaned_before(const char *text, size_t match)
{
    size_t from = match > SPAN_BYTES ? match - SPAN_BYTES : 0;
    while (from < match && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    return cleaned(text + from, match - from);
}

static struct buf cleaned_begin(const char *text, size_t len)
{
    size_t taken = len > SPAN_BYTES ? SPAN_BYTES : len;
    taken -= utf8_incomplete_tail(text, taken);
    return cleaned(text, taken);
}

/* Takes off the beginning so that at most `max` bytes are left. */
static bool keep_end(struct buf *b, size_t max)
{
    size_t cut = 0;
    while (b->len - cut > max)
        cut = utf8_next(b->data, b->len, cut);
    buf_consume(b, cut);
    buf_consume(b, strspn(b->data, " "));
    return cut > 0;
}

static bool keep_begin(struct buf *b, size_t max)
{
    size_t keep = utf8_cut_bytes(b->data, b->len, max);
    bool cut = keep < b->len;
    while (keep > 0 && b->data[keep - 1] == ' ')
        keep--;
    buf_splice(b, keep, b->len - keep, "", 0);
    return cut;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Shares out the bytes between what stands before and behind the match; the match is in the middle
 * unless one side does not need its half. */
static void fit(struct buf *before, struct buf *after, size_t room, bool *cut_before,
                bool *cut_after)
{
    size_t spare = room - least(room, after->len);
    *cut_before = keep_end(before, spare > room / 2 ? spare : room / 2) || *cut_before;
    *cut_after = keep_begin(after, room - before->len) || *cut_after;
}

/* Fills in snippet, match and len; the `match_len` bytes at `match` were found. Blanks are drawn
 * together, and an ellipsis stands where the text goes on. */
static void set_snippet(const char *text, size_t len, size_t match, size_t match_len,
                        struct search_hit *out)
{
    size_t end = match + match_len;
    bool cut_before = match > SPAN_BYTES;
    bool cut_after = len - end > SPAN_BYTES;
    struct buf line = BUF_INIT;
    struct buf before = cleaned_before(text, match);
    struct buf found = cleaned_begin(text + match, match_len);
    struct buf after = cleaned_begin(text + end, len - end);
    if (keep_begin(&found, MATCH_BYTES)) {
        buf_clear(&after);
        cut_after = true;
    }
    fit(&before, &after, SNIPPET_BYTES - 2 * strlen(ellipsis) - found.len, &cut_before, &cut_after);
    buf_addf(&line, "%s%s", cut_before ? ellipsis : "", before.data);
    out->match = line.len;
    out->len = found.len;
    buf_addf(&line, "%s%s%s", found.data, after.data, cut_after ? ellipsis : "");
    out->snippet = buf_take(&line);
    buf_release(&before);
    buf_release(&found);
    buf_release(&after);
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
    set_snippet(text ? text : "", len, (size_t)(place >> 32), (size_t)(place & 0xffffffff), &hit);
    return hit;
}

static bool collect(struct query *q, int limit, struct search_hits *out, bool *more)
{
    while (query_next(q)) {
        *more = out->items.len == (size_t)limit;
        if (*more)
            break;
        vec_push(&out->items, read_hit(q));
    }
    bool ok = query_end(q);
    if (!ok)
        search_hits_release(out);
    return ok;
}

static bool find(struct store *s, const char *expression, const char *session_id, int limit,
                 struct search_hits *out, bool *more, struct error *e)
{
    if (!store_fts5_function(s, "match_place", match_place, &s->searchable, e))
        return false;
    struct query q = query_for(s, session_id ? find_in_session_sql : find_sql, expression, e);
    if (session_id)
        query_text(&q, session_id);
    query_int(&q, (int64_t)limit + 1);
    return collect(&q, limit, out, more);
}

bool transcripts_search(struct store *s, const char *query, const char *session_id, int limit,
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
