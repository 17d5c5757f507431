#include "index/transcripts.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "index/words.h"
#include "store/event_log.h"
#include "store/sessions.h"

/* A key is the session's, and so many bits of the event's number. */
enum { SEQ_BITS = 32 };
static const int64_t LAST_SEQ = 0xffffffff;

/* Words are as they are written: no stems, and none too common to be looked for. */
static const char language[] = "none";

/* Deltas are many, and in no index of what is whole. */
static const char from_sql[] =
    "SELECT place, text FROM spoken WHERE (session, seq) >= (?1 >> 32, ?1 & 0xffffffff)"
    " AND type NOT IN ('text_delta', 'reasoning_delta', 'compaction_delta')"
    " ORDER BY session, seq LIMIT 1";

/* ---- keeping the index ---- */

static bool read_document(struct store *s, int64_t from, struct document *out, bool *found,
                          struct error *e)
{
    *out = (struct document){0};
    struct query q = query_begin(s, from_sql, e);
    query_int(&q, from);
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
    struct query q = query_for(s, "SELECT key FROM session WHERE id = ?", session_id, e);
    *key = -1;
    return query_number(&q, key);
}

/* What is no UTF-8 has become another text in the row, out of which it will be removed. */
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

static bool prepare(const struct corpus *c, struct event *const *events, size_t count,
                    struct error *e)
{
    size_t bytes = 0, spoken = 0;
    for (size_t i = 0; i < count; i++) {
        spoken += is_spoken(events[i]);
        bytes += is_spoken(events[i]) ? strlen(events[i]->text) : 0;
    }
    return spoken == 0 || words_prepare(c, language, bytes, e);
}

static bool index_events(const struct corpus *c, struct event *const *events, size_t count,
                         struct error *e)
{
    int64_t session = -1;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = !is_spoken(events[i]) ||
             ((session >= 0 || find_key(c->store, events[i]->session_id, &session, e)) &&
              add_words(c, session, events[i], e));
    return ok;
}

/* The first statement writes: one that had read first could not wait for another writer. */
static bool fill(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    const struct corpus c = corpus_of(s);
    return event_log_fill(s, events, count, e) && prepare(&c, events, count, e) &&
           index_events(&c, events, count, e);
}

bool transcripts_fill(struct store *s, struct event *const *events, size_t count, struct error *e)
{
    bool began;
    return count == 0 || (store_step_begin(s, &began, e) &&
                          store_step_end(s, began, fill(s, events, count, e), e));
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

static bool copy(struct store *s, const char *from, int64_t last, const char *to, struct error *e)
{
    const struct corpus c = corpus_of(s);
    return event_log_copy(s, from, last, to, e) && change_all(&c, to, words_add, e);
}

bool transcripts_copy(struct store *s, const char *from, int64_t last, const char *to,
                      struct error *e)
{
    bool began;
    return store_step_begin(s, &began, e) &&
           store_step_end(s, began, copy(s, from, last, to, e), e);
}

static bool delete (struct store *s, const char *session_id, struct error *e)
{
    const struct corpus c = corpus_of(s);
    return change_all(&c, session_id, words_remove, e) && sessions_delete(s, session_id, e) &&
           words_purge(&c, true, e);
}

bool transcripts_delete(struct store *s, const char *session_id, struct error *e)
{
    bool began;
    return store_enter(s, &began, e) && store_leave(s, began, delete (s, session_id, e), e);
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
