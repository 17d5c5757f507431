#include "store/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/sql.h"

#define PART_MIN 4       /* characters of an id that name it */
#define CANDIDATES_MAX 5 /* shown of an ambiguous reference */
#define CANDIDATE_COLUMNS 24
#define REFERENCE_SHOWN 40
#define SHORT_ID 8 /* the end of an id: its beginning is the time, and alike */

/* The order of put() and read_row(). */
#define ROW                                                                                        \
    "id, title, title_set, directory, provider, model, last_line, created_ms, updated_ms,"         \
    " messages, turns, last_seq, input_tokens, output_tokens, cached_tokens, estimated"

static const char put_sql[] =
    "INSERT INTO session (" ROW
    ", system, draft)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET title = excluded.title, title_set = excluded.title_set,"
    " directory = excluded.directory, provider = excluded.provider, model = excluded.model,"
    " last_line = excluded.last_line, created_ms = excluded.created_ms,"
    " updated_ms = excluded.updated_ms, messages = excluded.messages, turns = excluded.turns,"
    " last_seq = excluded.last_seq, input_tokens = excluded.input_tokens,"
    " output_tokens = excluded.output_tokens, cached_tokens = excluded.cached_tokens,"
    " estimated = excluded.estimated, system = excluded.system, draft = excluded.draft";
static const char get_sql[] = "SELECT " ROW ", system, draft FROM session WHERE id = ?";
static const char list_sql[] =
    "SELECT " ROW " FROM session ORDER BY updated_ms DESC, key DESC LIMIT ?";
static const char nth_sql[] =
    "SELECT id FROM session ORDER BY updated_ms DESC, key DESC LIMIT 1 OFFSET ?";
static const char names_sql[] = "SELECT id, title FROM session ORDER BY updated_ms DESC, key DESC";
static const char draft_sql[] = "UPDATE session SET draft = ? WHERE id = ?";
static const char drop_sql[] =
    "DELETE FROM session WHERE id = ? AND draft IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM event WHERE event.session = session.key)";

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static const char *or_null(const char *s)
{
    return s && *s ? s : NULL;
}

bool sessions_put(struct store *s, const struct session_info *info, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, put_sql, e))
        return false;
    query_text(&q, info->id);
    query_text(&q, or_empty(info->title));
    query_int(&q, info->title_set);
    query_text(&q, or_empty(info->directory));
    query_text(&q, or_empty(info->provider));
    query_text(&q, or_empty(info->model));
    query_text(&q, info->last_line);
    query_int(&q, info->created_ms);
    query_int(&q, info->updated_ms);
    query_int(&q, info->messages);
    query_int(&q, info->turns);
    query_int(&q, info->last_seq);
    query_known(&q, info->usage.input);
    query_known(&q, info->usage.output);
    query_known(&q, info->usage.cached);
    query_int(&q, info->usage.estimated);
    query_text(&q, info->system);
    query_text(&q, or_null(info->draft));
    return query_run(&q, e);
}

static struct session_info read_row(const struct query *q)
{
    struct session_info info = {
        .title = query_column_text(q, 1),
        .title_set = sqlite3_column_int(q->handle, 2),
        .directory = query_column_text(q, 3),
        .provider = query_column_text(q, 4),
        .model = query_column_text(q, 5),
        .last_line = query_column_text(q, 6),
        .created_ms = sqlite3_column_int64(q->handle, 7),
        .updated_ms = sqlite3_column_int64(q->handle, 8),
        .messages = sqlite3_column_int64(q->handle, 9),
        .turns = sqlite3_column_int(q->handle, 10),
        .last_seq = sqlite3_column_int64(q->handle, 11),
        .usage = {.input = query_column_known(q, 12),
                  .output = query_column_known(q, 13),
                  .cached = query_column_known(q, 14),
                  .estimated = sqlite3_column_int(q->handle, 15)},
    };
    snprintf(info.id, sizeof info.id, "%s", (const char *)sqlite3_column_text(q->handle, 0));
    return info;
}

/* Bytes of a reference that an error has room for. */
static int shown(const char *reference)
{
    return (int)utf8_cut_bytes(reference, strlen(reference), REFERENCE_SHOWN);
}

static bool not_found(const char *reference, struct error *e)
{
    return err_set(e, ERR_SESSION_NOT_FOUND,
                   "no session is called \"%.*s\"; 'tiro sessions list' shows them all",
                   shown(reference), reference);
}

bool sessions_get(struct store *s, const char *id, struct session_info *out, struct error *e)
{
    struct query q;
    *out = (struct session_info){.usage = USAGE_UNKNOWN};
    if (!query_begin(&q, s, get_sql, e))
        return false;
    query_text(&q, id);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW) {
        *out = read_row(&q);
        out->system = query_column_text(&q, 16);
        out->draft = query_column_text(&q, 17);
    }
    query_end(&q);
    return result == QUERY_ROW || (result == QUERY_DONE && not_found(id, e));
}

bool sessions_list(struct store *s, int limit, struct session_list *out, struct error *e)
{
    struct query q;
    enum query_result result;
    *out = (struct session_list){0};
    if (!query_begin(&q, s, list_sql, e))
        return false;
    query_int(&q, limit > 0 ? limit : -1);
    while ((result = query_step(&q, e)) == QUERY_ROW)
        vec_push(&out->items, read_row(&q));
    query_end(&q);
    if (result == QUERY_DONE)
        return true;
    session_list_release(out);
    return false;
}

static bool set_draft(struct store *s, const char *id, const char *draft, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s, draft_sql, e))
        return false;
    query_text(&q, draft);
    query_text(&q, id);
    if (!query_run(&q, e))
        return false;
    if (draft)
        return sqlite3_changes(s->db) > 0 || not_found(id, e);
    if (!query_begin(&q, s, drop_sql, e))
        return false;
    query_text(&q, id);
    return query_run(&q, e);
}

bool sessions_set_draft(struct store *s, const char *id, const char *draft, struct error *e)
{
    bool began;
    if (!store_enter(s, &began, e))
        return false;
    return store_leave(s, began, set_draft(s, id, or_null(draft), e), e);
}

/* Rising: a better one puts the others out. */
enum match { MATCH_NONE, MATCH_PART, MATCH_TITLE, MATCH_ID };

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
    if (len < PART_MIN || len > id_len)
        return MATCH_NONE;
    bool part =
        strncasecmp(id, reference, len) == 0 || strcasecmp(id + id_len - len, reference) == 0;
    return part ? MATCH_PART : MATCH_NONE;
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
    struct query q;
    enum query_result result;
    if (!query_begin(&q, s, names_sql, e))
        return false;
    while ((result = query_step(&q, e)) == QUERY_ROW)
        consider(m, (const char *)sqlite3_column_text(q.handle, 0),
                 (const char *)sqlite3_column_text(q.handle, 1), reference);
    query_end(&q);
    return result == QUERY_DONE;
}

static bool resolve_name(struct store *s, const char *reference, char id[UUID_LEN + 1],
                         struct error *e)
{
    struct matches m = {.candidates = BUF_INIT};
    bool ok = find_matches(s, reference, &m, e);
    if (ok && m.count == 0)
        ok = not_found(reference, e);
    else if (ok && m.count > 1)
        ok = err_set(e, ERR_SESSION_NOT_FOUND, "%zu sessions match \"%.*s\"; name one: %s%s",
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
    struct query q;
    if (!query_begin(&q, s, nth_sql, e))
        return false;
    query_int(&q, n - 1);
    enum query_result result = query_step(&q, e);
    if (result == QUERY_ROW)
        snprintf(id, UUID_LEN + 1, "%s", (const char *)sqlite3_column_text(q.handle, 0));
    query_end(&q);
    return result == QUERY_ROW ||
           (result == QUERY_DONE &&
            err_set(e, ERR_SESSION_NOT_FOUND, "there is no session %s: fewer are kept", reference));
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
