#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "store/db_copy.h"
#include "store/event_row.h"
#include "store/recover.h"
#include "store/salvage.h"
#include "store/session_files.h"
#include "store/sessions.h"

enum { EVENTS_A_COMMIT = 4096, EVENTS_BETWEEN_TELLING = 64, STEPS_BETWEEN_ASKING = 10000 };

struct saving {
    struct store *to;
    const struct recovery_help *help;
    struct recovery *out;
    bool stopped;
};

/* --- the tables of what was found ------------------------------------------------------------ */

static const char attach_sql[] = "ATTACH ? AS found";

/* Journal and waiting for the disk would be for nothing: it is thrown away. */
static const char settings_sql[] =
    "PRAGMA found.journal_mode = OFF; PRAGMA found.synchronous = OFF;"
    "CREATE TABLE found.saved (key INTEGER PRIMARY KEY, id)";

static bool attach(struct store *to, const char *path, struct error *e)
{
    struct query q = query_for(to, attach_sql, path, e);
    return query_run(&q) && store_exec(to, settings_sql, e);
}

/* It has no name any more once it is open. */
static bool attach_file(struct store *to, const char *path, struct error *e)
{
    die_unlinks(path, db_copy_endings);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 || err_set_errno(e, ERR_FILE_ERROR, "cannot make %s", path);
    if (fd >= 0)
        close(fd);
    ok = ok && attach(to, path, e);
    if (fd >= 0)
        unlink(path);
    if (!ok)
        die_keeps(path);
    return ok;
}

/* --- events ---------------------------------------------------------------------------------- */

static const char events_sql[] =
    "SELECT seq, at, type, version, payload"
    " FROM found.event WHERE session = ? AND whole"
    " ORDER BY seq, free";
static const char put_event_sql[] =
    "INSERT INTO event (session, seq, at, type, version, payload)"
    " SELECT key, ?2, ?3, ?4, ?5, ?6 FROM session WHERE id = ?1";

static bool go_on(struct saving *s)
{
    const struct recovery_help *help = s->help;
    s->stopped = s->stopped || (help->progress && !help->progress(help->context, s->out->events));
    return !s->stopped;
}

static bool pause_between(struct saving *s, struct error *e)
{
    int64_t events = s->out->events;
    if (events % EVENTS_BETWEEN_TELLING == 0 && !go_on(s))
        return false;
    return events % EVENTS_A_COMMIT != 0 || (store_commit(s->to, e) && store_begin(s->to, e));
}

/* The row's own text goes into the new log. */
static bool put_event(struct saving *s, const struct event *ev, const struct query *row,
                      struct error *e)
{
    struct query q = query_for(s->to, put_event_sql, ev->session_id, e);
    query_int(&q, ev->seq);
    query_int(&q, ev->wall_ms);
    query_text(&q, event_name(ev->type));
    query_int(&q, sqlite3_column_int(row->handle, 3));
    query_text(&q, (const char *)sqlite3_column_text(row->handle, 4));
    return query_run(&q);
}

/* NULL: it is not one that anybody wrote. */
static struct event *decode(const struct query *row, const char *id)
{
    const char *payload = (const char *)sqlite3_column_text(row->handle, 4);
    size_t len = (size_t)sqlite3_column_bytes(row->handle, 4);
    int64_t version = sqlite3_column_int64(row->handle, 3);
    if (version < 1 || version > INT32_MAX || !utf8_valid(payload, len) ||
        memchr(payload, '\0', len))
        return NULL;
    return event_row_read(row, id, NULL);
}

static bool save_event(struct saving *s, const struct query *row, struct session_info *info,
                       int64_t *last, struct error *e)
{
    struct event *ev = NULL;
    if (sqlite3_column_int64(row->handle, 0) != *last) /* else another copy was saved */
        ev = decode(row, info->id);
    if (!ev)
        return true;
    bool ok = put_event(s, ev, row, e);
    if (ok) {
        *last = ev->seq;
        session_tally(info, ev);
        if (!info->model && ev->type == EVENT_CALL_COMPLETED)
            info->model = mem_strdup(ev->model);
        if (info->created_ms == 0)
            info->created_ms = info->updated_ms;
        s->out->events++;
    }
    event_free(ev);
    return ok && pause_between(s, e);
}

static bool save_events(struct saving *s, int64_t key, struct session_info *info, struct error *e)
{
    int64_t last = 0;
    bool ok = true;
    struct query q = query_begin(s->to, events_sql, e);
    query_int(&q, key);
    while (ok && query_next(&q))
        ok = save_event(s, &q, info, &last, e);
    return query_end(&q) && ok;
}

/* --- sessions -------------------------------------------------------------------------------- */

#define OF_ROW "FROM found.session WHERE row = ?1 ORDER BY free, updated_ms DESC LIMIT 1"
#define ABOVE_0(column) "max(coalesce(" #column ", 0), 0)"

static const char keys_sql[] =
    "SELECT row FROM found.session UNION SELECT session FROM found.event ORDER BY 1";
/* The id that the row has, else the index, if no other session took it; whether there is a row. */
static const char id_sql[] = "SELECT id, known FROM (SELECT coalesce((SELECT id " OF_ROW
                             "), (SELECT id FROM found.id WHERE key = ?1)) AS id,"
                             " EXISTS (SELECT 1 FROM found.session WHERE row = ?1) AS known)";
static const char put_row_sql[] =
    "INSERT INTO session (id, title, title_set, directory, provider, model, last_line, created_ms,"
    " updated_ms, messages, turns, last_seq, estimated, labels, parent, parent_seq, archived_ms,"
    " tool_calls, run_ms, cost, system, draft)"
    " SELECT ?2, coalesce(cleaned(title), ''), title_set <> 0, coalesce(cleaned(directory), ''),"
    " coalesce(cleaned(provider), ''), coalesce(cleaned(model), ''), cleaned(last_line), "
    ABOVE_0(created_ms) ", " ABOVE_0(updated_ms) ", 0, 0, 0, 0, cleaned(labels), parent, "
    ABOVE_0(parent_seq) ", " ABOVE_0(archived_ms) ", 0, 0, NULL, cleaned(system),"
    " cleaned(draft) " OF_ROW;
static const char saved_sql[] = "INSERT INTO found.saved VALUES (?, ?)";

static bool is_taken(struct saving *s, const char *id, bool *taken, struct error *e)
{
    struct query q = query_for(s->to, "SELECT 1 FROM session WHERE id = ?", id, e);
    return query_any(&q, taken);
}

static bool choose_id(struct saving *s, int64_t key, char id[UUID_LEN + 1], bool *has_row,
                      struct error *e)
{
    bool taken = true;
    struct query q = query_begin(s->to, id_sql, e);
    query_int(&q, key);
    bool ok = query_next(&q);
    const char *known = ok ? (const char *)sqlite3_column_text(q.handle, 0) : NULL;
    *has_row = ok && sqlite3_column_int(q.handle, 1);
    if (known) {
        memcpy(id, known, UUID_LEN + 1);
        ok = is_taken(s, id, &taken, e);
    }
    query_end(&q);
    if (taken)
        uuid_new(id);
    return ok;
}

static bool run_with(struct saving *s, const char *sql, int64_t key, const char *id,
                     struct error *e)
{
    struct query q = query_begin(s->to, sql, e);
    query_int(&q, key);
    query_text(&q, id);
    return query_run(&q);
}

/* Labels are sorted words: what was damaged may be none. */
static void check_labels(struct session_info *info)
{
    char *labels = NULL;
    if (info->labels)
        session_labels_change(NULL, info->labels, &labels, NULL);
    free(info->labels);
    info->labels = labels;
}

/* What is known of the session before its events are counted. */
static bool put_session(struct saving *s, int64_t key, const char *id, bool has_row,
                        struct session_info *info, struct error *e)
{
    if (has_row) {
        if (!run_with(s, put_row_sql, key, id, e) || !sessions_get(s->to, id, info, e))
            return false;
        check_labels(info);
        return true;
    }
    session_info_init(info);
    memcpy(info->id, id, UUID_LEN + 1);
    return sessions_put(s->to, info, e);
}

/* Its files stay: they may be all that is left of it. */
static bool leave_out(struct store *to, const char *id, struct error *e)
{
    return sessions_delete(to, id, e) && removals_strike(to, id, e);
}

/* A session's row, or none, and its events. */
static bool save_session(struct saving *s, int64_t key, struct error *e)
{
    char id[UUID_LEN + 1];
    bool has_row;
    struct session_info info;
    int64_t events = s->out->events;
    if (!choose_id(s, key, id, &has_row, e) || !put_session(s, key, id, has_row, &info, e))
        return false;
    int64_t updated_ms = info.updated_ms;
    char *draft = mem_strdup(info.draft);
    session_tally_reset(&info);
    bool ok = run_with(s, saved_sql, key, id, e) && save_events(s, key, &info, e);
    if (info.updated_ms < updated_ms)
        info.updated_ms = updated_ms;
    if (has_row) {
        free(info.draft);
        info.draft = draft;
    } else {
        free(draft);
    }
    bool empty = !has_row && s->out->events == events;
    ok = ok && (empty ? leave_out(s->to, id, e) : sessions_put(s->to, &info, e));
    s->out->sessions += ok && !empty;
    s->out->lost += !has_row;
    session_info_release(&info);
    return ok;
}

static bool save_sessions(struct saving *s, struct error *e)
{
    bool ok = true;
    struct query q = query_begin(s->to, keys_sql, e);
    while (ok && query_next(&q))
        ok = save_session(s, sqlite3_column_int64(q.handle, 0), e);
    return query_end(&q) && ok;
}

/* --- what they are set to --------------------------------------------------------------------- */

static const char settings_of_sql[] =
    "INSERT OR IGNORE INTO session_setting SELECT session, plain(name), plain(value)"
    " FROM found.setting WHERE session IN (SELECT id FROM session)"
    " AND plain(name) <> '' AND plain(value) <> ''";

/* --- what is missing ------------------------------------------------------------------------- */

/* Events that there were, and sessions of which nothing but the id is left. */
static const char lost_sql[] =
    "SELECT (SELECT count(*) FROM"
    " (SELECT session, seq FROM found.expected UNION SELECT session, seq FROM found.event) f"
    " WHERE NOT EXISTS (SELECT 1 FROM found.saved v JOIN session s ON s.id = v.id"
    " JOIN event e ON e.session = s.key AND e.seq = f.seq WHERE v.key = f.session))"
    " + (SELECT count(*) FROM found.id WHERE key NOT IN (SELECT key FROM found.saved))";

static bool count_lost(struct saving *s, struct error *e)
{
    int64_t lost;
    bool ok = store_number(s->to, lost_sql, &lost, e);
    s->out->lost += lost;
    return ok;
}

/* --------------------------------------------------------------------------------------------- */

/* SQLite asks now and then; not 0 ends the statement. */
static int is_stopped(void *context)
{
    return !go_on(context);
}

static bool save(struct saving *s, const char *damaged, struct error *e)
{
    struct store *to = s->to;
    const struct store_extension *const *x = s->help->extensions;
    bool ok = salvage_register(to, e) && store_begin(to, e);
    ok = ok && salvage_read(to, damaged, x, e) && save_sessions(s, e) &&
         store_exec(to, settings_of_sql, e) && count_lost(s, e);
    for (; x && *x && ok; x++)
        ok = (*x)->recover(to, s->out, e);
    if (ok)
        return store_commit(to, e);
    store_rollback(to);
    return false;
}

bool recover_rows(const char *damaged, struct store *to, const char *scratch,
                  const struct recovery_help *help, struct recovery *out, struct error *e)
{
    struct saving s = {.to = to, .help = help, .out = out};
    if (!(scratch ? attach_file(to, scratch, e) : attach(to, ":memory:", e)))
        return false;
    sqlite3_progress_handler(to->db, STEPS_BETWEEN_ASKING, is_stopped, &s);
    bool ok = save(&s, damaged, e);
    sqlite3_progress_handler(to->db, 0, NULL, NULL);
    if (scratch) {
        unlink(scratch); /* in case its name could not be taken away at first */
        die_keeps(scratch);
    }
    return ok || (s.stopped ? err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed") : false);
}
