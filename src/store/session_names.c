/* What names a session: sessions_resolve(), sessions_has_title(). */
#include "store/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "store/sql.h"

#define CANDIDATES_MAX 5 /* shown of an ambiguous reference */
#define CANDIDATE_COLUMNS 24
#define REFERENCE_SHOWN 40
#define TITLE_PART 3 /* bytes, at least: two letters are in most titles */
#define SHORT_ID 8   /* the end of an id: its beginning is the time, and alike */

static const char nth_sql[] =
    "SELECT id FROM session ORDER BY updated_ms DESC, key DESC LIMIT 1 OFFSET ?";
static const char names_sql[] = "SELECT id, title FROM session ORDER BY updated_ms DESC, key DESC";

/* Bytes of a reference that an error has room for. */
static int shown(const char *reference)
{
    return (int)utf8_cut_bytes(reference, strlen(reference), REFERENCE_SHOWN);
}

static bool not_found(const char *reference, struct error *e)
{
    return err_set(e, ERR_SESSION_NOT_FOUND,
                   "no session matches \"%.*s\"; 'tiro sessions list' shows them all",
                   shown(reference), reference);
}

/* Rising: a better one puts the others out. */
enum match { MATCH_NONE, MATCH_TITLE_PART, MATCH_ID_PART, MATCH_TITLE, MATCH_ID };

/* What a reference matches, best kind only. */
struct matches {
    enum match kind;
    size_t count;
    char id[UUID_LEN + 1];
    struct buf candidates;
};

/* Folding maps one character to one, so that two texts that contain each other are equal. */
static bool same_folded(const char *a, const char *b)
{
    return utf8_contains_folded(a, b) && utf8_contains_folded(b, a);
}

static enum match match_of(const char *id, const char *title, const char *reference)
{
    size_t id_len = strlen(id);
    size_t len = strlen(reference);
    if (strcasecmp(id, reference) == 0)
        return MATCH_ID;
    if (same_folded(title, reference))
        return MATCH_TITLE;
    if (len <= id_len &&
        (strncasecmp(id, reference, len) == 0 || strcasecmp(id + id_len - len, reference) == 0))
        return MATCH_ID_PART;
    bool part = len >= TITLE_PART && utf8_contains_folded(title, reference);
    return part ? MATCH_TITLE_PART : MATCH_NONE;
}

static void add_candidate(struct matches *m, const char *id, const char *title)
{
    size_t len = strlen(title);
    size_t cut = utf8_cut_width(title, len, CANDIDATE_COLUMNS);
    buf_addf(&m->candidates, "%s%s %.*s%s", m->count > 0 ? ", " : "", id + strlen(id) - SHORT_ID,
             (int)cut, title, cut < len ? "…" : "");
}

static void consider(struct matches *m, const char *id, const char *title, const char *reference)
{
    enum match kind = match_of(id, title, reference);
    if (kind == MATCH_NONE || kind < m->kind)
        return;
    if (kind > m->kind) {
        m->count = 0;
        buf_clear(&m->candidates);
        snprintf(m->id, sizeof m->id, "%s", id);
    }
    m->kind = kind;
    if (m->count < CANDIDATES_MAX)
        add_candidate(m, id, title);
    m->count++;
}

static bool find_matches(struct store *s, const char *reference, struct matches *m, struct error *e)
{
    struct query q = query_begin(s, names_sql, e);
    while (query_next(&q))
        consider(m, (const char *)sqlite3_column_text(q.handle, 0),
                 (const char *)sqlite3_column_text(q.handle, 1), reference);
    return query_end(&q);
}

static bool resolve_name(struct store *s, const char *reference, char id[UUID_LEN + 1],
                         struct error *e)
{
    struct matches m = {.candidates = BUF_INIT};
    bool ok = find_matches(s, reference, &m, e);
    if (ok && m.count == 0)
        ok = not_found(reference, e);
    else if (ok && m.count > 1)
        ok = err_set(e, ERR_SESSION_AMBIGUOUS, "%zu sessions match \"%.*s\"; name one: %s%s",
                     m.count, shown(reference), reference, m.candidates.data,
                     m.count > CANDIDATES_MAX ? ", …" : "");
    if (ok)
        memcpy(id, m.id, UUID_LEN + 1);
    buf_release(&m.candidates);
    return ok;
}

static bool resolve_nth(struct store *s, int64_t n, const char *reference, char id[UUID_LEN + 1],
                        struct error *e)
{
    struct query q = query_begin(s, nth_sql, e);
    query_int(&q, n - 1);
    bool found = query_next(&q);
    if (found)
        snprintf(id, UUID_LEN + 1, "%s", (const char *)sqlite3_column_text(q.handle, 0));
    bool ok = query_end(&q);
    if (!ok || found)
        return ok;
    return err_set(e, ERR_SESSION_NOT_FOUND,
                   n == 1
                       ? "no session is saved yet%.0s"
                       : "there is no session %s, because there are fewer; 'tiro sessions list' shows them",
                   reference);
}

/* N of "~N" and "last"; 0 for any other reference. */
static int64_t parse_nth(const char *reference)
{
    if (strcmp(reference, "last") == 0)
        return 1;
    size_t digits = reference[0] == '~' ? strspn(reference + 1, "0123456789") : 0;
    if (digits == 0 || digits > 9 || reference[1 + digits])
        return 0;
    return strtol(reference + 1, NULL, 10);
}

bool sessions_resolve(struct store *s, const char *reference, char id[UUID_LEN + 1],
                      struct error *e)
{
    int64_t n = parse_nth(reference);
    if (n > 0)
        return resolve_nth(s, n, reference, id, e);
    if (!*reference)
        return not_found(reference, e);
    return resolve_name(s, reference, id, e);
}

bool sessions_has_title(struct store *s, const char *title, bool *out, struct error *e)
{
    struct query q = query_for(s, "SELECT 1 FROM session WHERE title = ? LIMIT 1", title, e);
    return query_any(&q, out);
}
