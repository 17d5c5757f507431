#include "memory/quoting.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "memory/content.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "store/sql.h"

/* ---- whether a summary quotes a text ---- */

static bool is_end(uint32_t cp)
{
    static const uint32_t ends[] = {'.', '!', '?', 0x2026, 0x3002, 0xff01, 0xff1f, '\n'};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] == cp)
            return true;
    return false;
}

/* A full stop within a word, as in a number or a name of a file, ends nothing. */
static bool ends_sentence(uint32_t cp, const char *rest)
{
    return is_end(cp) && (cp > 0x7f || cp == '\n' || *rest == '\0' || strchr(" \t\r\n\"')", *rest));
}

/* Bytes up to the end of the sentence, without what ends it; *next is where the next one begins. */
static size_t sentence(const char *text, size_t len, const char **next)
{
    size_t used;
    uint32_t cp;
    for (size_t at = 0; at < len; at += used) {
        used = utf8_decode(text + at, len - at, &cp);
        if (ends_sentence(cp, text + at + used)) {
            *next = text + at + used;
            return at;
        }
    }
    *next = text + len;
    return len;
}

static bool has_characters(const char *text, size_t count)
{
    size_t len = strlen(text);
    uint32_t cp;
    for (size_t at = 0; at < len && count > 0; count--)
        at += utf8_decode(text + at, len - at, &cp);
    return count == 0;
}

/* `part` is a piece of the text; the summary is in its normal form. */
static bool holds(const char *summary, const char *part, size_t len, size_t at_least)
{
    char *piece = mem_strndup(part, len);
    char *normal = content_normal(piece);
    bool found = has_characters(normal, at_least) && strstr(summary, normal);
    free(normal);
    free(piece);
    return found;
}

bool quoting_in(const char *summary, const char *text)
{
    char *normal = content_normal(summary);
    bool found = holds(normal, text, strlen(text), QUOTE_TEXT);
    const char *end = text + strlen(text);
    for (const char *next; !found && text < end; text = next) {
        size_t len = sentence(text, (size_t)(end - text), &next);
        found = holds(normal, text, len, QUOTE_SENTENCE);
    }
    free(normal);
    return found;
}

/* ---- who quotes it ---- */

#define NUMBER "(SELECT number FROM memory_session WHERE id = ?1)"

static const char flag_sql[] =
    "INSERT OR IGNORE INTO memory_flag (session, compaction, entry) SELECT number, ?2, ?3"
    " FROM memory_session WHERE id = ?1";
static const char unflag_sql[] =
    "DELETE FROM memory_flag WHERE session = " NUMBER " AND entry = ?2";
static const char drop_sql[] = "DELETE FROM memory_flag WHERE session = " NUMBER;
static const char flagged_sql[] =
    "SELECT 1 FROM memory_flag WHERE session = " NUMBER " AND compaction = ?2";
static const char count_sql[] =
    "SELECT count(*) FROM (SELECT DISTINCT session, compaction FROM memory_flag)";

struct quoting {
    struct store *store;
    const struct memory_entry *entry;
    VEC(int64_t) found; /* compactions */
};

static void look_at(void *context, int64_t seq, const char *summary)
{
    struct quoting *x = context;
    if (quoting_in(summary, x->entry->content))
        vec_push(&x->found, seq);
}

static bool keep_flag(const struct quoting *x, int64_t seq, struct error *e)
{
    struct query q = query_for(x->store, flag_sql, x->entry->session_id, e);
    query_int(&q, seq);
    query_text(&q, x->entry->id);
    return query_run(&q);
}

static bool is_told(const struct memory_forgotten *f, const char *session_id, int64_t seq)
{
    for (size_t i = 0; i < f->summaries.len; i++)
        if (f->summaries.items[i].completed_seq == seq &&
            strcmp(f->summaries.items[i].session_id, session_id) == 0)
            return true;
    return false;
}

static bool add_summary(const struct quoting *x, int64_t seq, struct memory_forgotten *out,
                        struct error *e)
{
    const char *session_id = x->entry->session_id;
    int turn;
    if (is_told(out, session_id, seq))
        return true;
    if (!event_log_turn(x->store, session_id, seq, &turn, e))
        return false;
    vec_push(&out->summaries, (struct quoting_summary){mem_strdup(session_id), seq, turn});
    return true;
}

static bool flag(struct store *s, const struct memory_entry *entry, struct memory_forgotten *out,
                 struct error *e)
{
    struct quoting x = {.store = s, .entry = entry};
    bool ok = event_log_summaries(s, entry->session_id, look_at, &x, e);
    for (size_t i = 0; i < x.found.len && ok; i++)
        ok = keep_flag(&x, x.found.items[i], e) && add_summary(&x, x.found.items[i], out, e);
    vec_release(&x.found);
    return ok && snapshot_trim(s, entry->session_id, e);
}

/* ---- what is listened to ---- */

static bool run_for(struct store *s, const char *sql, const char *session_id, const char *entry,
                    struct error *e)
{
    struct query q = query_for(s, sql, session_id, e);
    if (entry)
        query_text(&q, entry);
    return query_run(&q);
}

static bool hear(void *context, enum memory_event what, const struct memory_entry *entry,
                 struct memory_forgotten *out, struct error *e)
{
    struct store *s = context;
    switch (what) {
    case MEMORY_FORGOTTEN:
        return flag(s, entry, out, e);
    case MEMORY_EDITED:
        return snapshot_trim(s, entry->session_id, e);
    case MEMORY_RESTORED:
        return run_for(s, unflag_sql, entry->session_id, entry->id, e);
    case MEMORY_SESSION_FORGOTTEN:
        return run_for(s, drop_sql, entry->session_id, NULL, e);
    }
    return true;
}

struct memory_listener quoting_listener(struct store *s)
{
    return (struct memory_listener){.hear = hear, .context = s};
}

/* ---- what is flagged ---- */

bool quoting_flagged(struct store *s, const char *session_id, int64_t completed_seq, bool *out,
                     struct error *e)
{
    *out = false;
    struct query q = query_for(s, flagged_sql, session_id, e);
    query_int(&q, completed_seq);
    return query_any(&q, out);
}

bool quoting_count(struct store *s, int64_t *out, struct error *e)
{
    return store_number(s, count_sql, out, e);
}
