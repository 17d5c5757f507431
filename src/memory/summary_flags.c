#include "memory/summary_flags.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "memory/content.h"
#include "store/event_log.h"
#include "store/snapshot.h"
#include "store/sql.h"

/* ---- quotes ---- */

/* A full stop within a word, as in a number or the name of a file, ends nothing. */
static bool ends_sentence(uint32_t cp, const char *rest)
{
    static const uint32_t ends[] = {'.', '!', '?', 0x2026, 0x3002, 0xff01, 0xff1f, '\n'};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] == cp)
            return cp > 0x7f || cp == '\n' || *rest == '\0' || strchr(" \t\r\n\"')", *rest);
    return false;
}

/* Bytes of the sentence without its end; *next is the beginning of the next one. */
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

/* Whether the summary, in its normal form, has this part of a text, of at least so many characters.
 */
static bool holds(const char *summary, const char *part, size_t len, size_t at_least)
{
    auto_free char *piece = mem_strndup(part, len);
    auto_free char *normal = content_normal(piece);
    size_t bytes = strlen(normal), at = 0;
    uint32_t cp;
    for (; at < bytes && at_least > 0; at_least--)
        at += utf8_decode(normal + at, bytes - at, &cp);
    return at_least == 0 && strstr(summary, normal);
}

bool summary_quotes(const char *summary, const char *text)
{
    auto_free char *normal = content_normal(summary);
    bool found = holds(normal, text, strlen(text), QUOTE_TEXT);
    const char *end = text + strlen(text);
    for (const char *next; !found && text < end; text = next) {
        size_t len = sentence(text, (size_t)(end - text), &next);
        found = holds(normal, text, len, QUOTE_SENTENCE);
    }
    return found;
}

/* ---- flags ---- */

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
    const char *content;
    VEC(int64_t) found; /* compactions */
};

static void look_at(void *context, int64_t seq, const char *summary)
{
    struct quoting *x = context;
    if (summary_quotes(summary, x->content))
        vec_push(&x->found, seq);
}

static bool flag(struct store *s, const struct memory_entry *entry, struct memory_forgotten *out,
                 struct error *e)
{
    const char *session_id = entry->session_id;
    struct quoting x = {.content = entry->content};
    bool ok = event_log_summaries(s, session_id, look_at, &x, e);
    for (size_t i = 0; i < x.found.len && ok; i++) {
        int64_t seq = x.found.items[i];
        int turn;
        ok = sql_exec(s, e, flag_sql, "tit", session_id, seq, entry->id);
        bool told = false;
        for (size_t k = 0; k < out->summaries.len; k++)
            told = told || (out->summaries.items[k].completed_seq == seq &&
                            strcmp(out->summaries.items[k].session_id, session_id) == 0);
        if (ok && !told && (ok = event_log_turn(s, session_id, seq, &turn, e)))
            vec_push(&out->summaries,
                     ((struct quoting_summary){mem_strdup(session_id), seq, turn}));
    }
    vec_release(&x.found);
    return ok && snapshot_trim(s, session_id, e);
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
        return sql_exec(s, e, unflag_sql, "tt", entry->session_id, entry->id);
    case MEMORY_SESSION_FORGOTTEN:
        return sql_exec(s, e, drop_sql, "t", entry->session_id);
    }
    return true;
}

struct memory_listener summary_flags_listener(struct store *s)
{
    return (struct memory_listener){.hear = hear, .context = s};
}

bool summary_flagged(struct store *s, const char *session_id, int64_t completed_seq, bool *out,
                     struct error *e)
{
    return sql_any(s, out, e, flagged_sql, "ti", session_id, completed_seq);
}

bool summary_flags_count(struct store *s, int64_t *out, struct error *e)
{
    return store_number(s, count_sql, out, e);
}
