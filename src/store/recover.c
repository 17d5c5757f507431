#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "store/db_files.h"
#include "store/event_log.h"
#include "store/health.h"
#include "store/salvage.h"
#include "store/sessions.h"
#include "store/sql.h"

enum { EVENTS_A_COMMIT = 4096, EVENTS_BETWEEN_TELLING = 64, STEPS_BETWEEN_ASKING = 10000 };

struct saving {
    struct store *to;
    const struct recovery_help *help;
    struct recovery *out;
    bool stopped;
};

/* --- the tables of what was found ------------------------------------------------------------ */

/* The database of found rows is thrown away: it needs no journal and no sync. */
static const char settings_sql[] =
    "PRAGMA found.journal_mode = OFF; PRAGMA found.synchronous = OFF;"
    "CREATE TABLE found.saved (key INTEGER PRIMARY KEY, id)";

/* The file has no name any more once it is open. */
static bool attach(struct store *to, const char *path, struct error *e)
{
    die_unlinks(path, db_file_endings);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 || err_set_errno(e, ERR_FILE_ERROR, "cannot make %s", path);
    if (fd >= 0)
        close(fd);
    ok = ok && sql_exec(to, e, "ATTACH ? AS found", "t", path) && store_exec(to, settings_sql, e);
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

/* Copies the row's own text into the new log; one that nobody can have written is left out. */
static bool save_event(struct saving *s, const struct query *row, struct session_info *info,
                       int64_t *last, struct error *e)
{
    int64_t seq = sqlite3_column_int64(row->handle, 0);
    int64_t version = sqlite3_column_int64(row->handle, 3);
    const char *payload = (const char *)sqlite3_column_text(row->handle, 4);
    size_t len = (size_t)sqlite3_column_bytes(row->handle, 4);
    if (seq == *last || version < 1 || version > INT32_MAX || !utf8_valid(payload, len) ||
        memchr(payload, '\0', len))
        return true;
    struct event *ev = event_row_read(row, info->id, NULL);
    if (!ev)
        return true;
    bool ok = sql_exec(s->to, e, put_event_sql, "tiitit", ev->session_id, ev->seq, ev->wall_ms,
                       event_name(ev->type), version, payload);
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
    int64_t events = s->out->events;
    if (!ok || (events % EVENTS_BETWEEN_TELLING == 0 && !go_on(s)))
        return false;
    return events % EVENTS_A_COMMIT != 0 || (store_commit(s->to, e) && store_begin(s->to, e));
}

/* --- sessions -------------------------------------------------------------------------------- */

#define OF_ROW "FROM found.session WHERE row = ?1 ORDER BY free, updated_ms DESC LIMIT 1"
#define ABOVE_0(column) "max(coalesce(" #column ", 0), 0)"

static const char keys_sql[] =
    "SELECT row FROM found.session UNION SELECT session FROM found.event ORDER BY 1";
/* The id in the row, else in the index; whether there is a row. */
static const char id_sql[] = "SELECT id, known FROM (SELECT coalesce((SELECT id " OF_ROW
                             "), (SELECT id FROM found.id WHERE key = ?1)) AS id,"
                             " EXISTS (SELECT 1 FROM found.session WHERE row = ?1) AS known)";
static const char put_row_sql[] =
    "INSERT INTO session (id, title, title_set, directory, provider, model, last_line, created_ms,"
    " updated_ms, messages, turns, last_seq, estimated, labels, parent, parent_seq, archived_ms,"
    " tool_calls, run_ms, cost, imported, system, draft)"
    " SELECT ?2, coalesce(cleaned(title), ''), title_set <> 0, coalesce(cleaned(directory), ''),"
    " coalesce(cleaned(provider), ''), coalesce(cleaned(model), ''), cleaned(last_line), "
    ABOVE_0(created_ms) ", " ABOVE_0(updated_ms) ", 0, 0, 0, 0, cleaned(labels), parent, "
    ABOVE_0(parent_seq) ", " ABOVE_0(archived_ms) ", 0, 0, NULL, cleaned(imported), cleaned(system),"
    " cleaned(draft) " OF_ROW;
static const char saved_sql[] = "INSERT INTO found.saved VALUES (?, ?)";

/* A new id if none is known, or another session has it. */
static bool choose_id(struct saving *s, int64_t key, char id[UUID_LEN + 1], bool *has_row,
                      struct error *e)
{
    bool taken = true;
    struct query q = sql_query(s->to, e, id_sql, "i", key);
    bool ok = query_next(&q);
    const char *known = ok ? (const char *)sqlite3_column_text(q.handle, 0) : NULL;
    *has_row = ok && sqlite3_column_int(q.handle, 1);
    if (known) {
        memcpy(id, known, UUID_LEN + 1);
        ok = sql_any(s->to, &taken, e, "SELECT 1 FROM session WHERE id = ?", "t", id);
    }
    query_end(&q);
    if (taken)
        uuid_new(id);
    return ok;
}

/* A session's row, or none, and its events. */
static bool save_session(struct saving *s, int64_t key, struct error *e)
{
    char id[UUID_LEN + 1];
    bool has_row;
    struct session_info info;
    int64_t events = s->out->events, last = 0;
    if (!choose_id(s, key, id, &has_row, e))
        return false;
    if (has_row) {
        if (!sql_exec(s->to, e, put_row_sql, "it", key, id) || !sessions_get(s->to, id, &info, e))
            return false;
        /* Labels are sorted words: damaged ones may be none. */
        auto_free char *labels = info.labels;
        info.labels = NULL;
        if (labels)
            session_labels_change(NULL, labels, &info.labels, NULL);
    } else {
        session_info_init(&info);
        memcpy(info.id, id, UUID_LEN + 1);
        if (!sessions_put(s->to, &info, e))
            return false;
    }

    int64_t updated_ms = info.updated_ms;
    auto_free char *draft = mem_strdup(info.draft);
    session_tally_reset(&info);
    bool ok = sql_exec(s->to, e, saved_sql, "it", key, id);
    struct query q = sql_query(s->to, e, events_sql, "i", key);
    while (ok && query_next(&q))
        ok = save_event(s, &q, &info, &last, e);
    ok = query_end(&q) && ok;

    if (info.updated_ms < updated_ms)
        info.updated_ms = updated_ms;
    if (has_row) {
        free(info.draft);
        info.draft = draft;
        draft = NULL;
    }
    bool empty = !has_row && s->out->events == events;
    if (ok && empty) /* its files stay: they may be all that is left of it */
        ok = sessions_delete(s->to, id, e) && removals_strike(s->to, id, e);
    else if (ok)
        ok = event_log_standing(s->to, id, &info.messages, &info.turns, e) &&
             sessions_put(s->to, &info, e);
    s->out->sessions += ok && !empty;
    s->out->lost += !has_row;
    session_info_release(&info);
    return ok;
}

/* --- settings, missing rows ------------------------------------------------------------------ */

static const char settings_of_sql[] =
    "INSERT OR IGNORE INTO session_setting SELECT session, plain(name), plain(value)"
    " FROM found.setting WHERE session IN (SELECT id FROM session)"
    " AND plain(name) <> '' AND plain(value) <> ''";

/* Events that an index names, and sessions of which only the id is left. */
static const char lost_sql[] =
    "SELECT (SELECT count(*) FROM"
    " (SELECT session, seq FROM found.expected UNION SELECT session, seq FROM found.event) f"
    " WHERE NOT EXISTS (SELECT 1 FROM found.saved v JOIN session s ON s.id = v.id"
    " JOIN event e ON e.session = s.key AND e.seq = f.seq WHERE v.key = f.session))"
    " + (SELECT count(*) FROM found.id WHERE key NOT IN (SELECT key FROM found.saved))";

/* SQLite calls it now and then; not 0 ends the statement. */
static int is_stopped(void *context)
{
    return !go_on(context);
}

/* Sessions and events of the damaged file, and rows of extensions, into a database that has none
 * yet; counts saved and lost. The found rows stand in the file `scratch` meanwhile, which must not
 * exist and is gone when this returns. */
static bool recover_rows(const char *damaged, struct store *to, const char *scratch,
                         const struct recovery_help *help, struct recovery *out, struct error *e)
{
    struct saving s = {.to = to, .help = help, .out = out};
    const struct store_extension *const *x = help->extensions;
    int64_t lost = 0;
    if (!attach(to, scratch, e))
        return false;
    sqlite3_progress_handler(to->db, STEPS_BETWEEN_ASKING, is_stopped, &s);
    bool ok = salvage_register(to, e) && store_begin(to, e) && salvage_read(to, damaged, x, e);
    if (ok) {
        struct query q = sql_query(to, e, keys_sql, "");
        while (ok && query_next(&q))
            ok = save_session(&s, sqlite3_column_int64(q.handle, 0), e);
        ok = query_end(&q) && ok;
    }
    ok = ok && store_exec(to, settings_of_sql, e) && store_number(to, lost_sql, &lost, e);
    out->lost += lost;
    for (; x && *x && ok; x++)
        ok = (*x)->recover(to, out, e);
    if (ok)
        ok = store_commit(to, e);
    else
        store_rollback(to);
    sqlite3_progress_handler(to->db, 0, NULL, NULL);
    unlink(scratch); /* in case its name could not be removed at first */
    die_keeps(scratch);
    return ok || (s.stopped && err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed"));
}

enum { NAMES_MAX = 100 };

static bool copy_goes_on(void *context)
{
    const struct recovery_help *help = context;
    return !help->progress || help->progress(help->context, 0);
}

/* --- files ----------------------------------------------------------------------------------- */

/* Whether something is there, or a file that would belong to a database of this name. */
static bool name_taken(const char *path)
{
    struct stat st;
    bool taken = false;
    for (const char *const *ending = db_file_endings; *ending && !taken; ending++) {
        auto_free char *name = mem_printf("%s%s", path, *ending);
        taken = lstat(name, &st) == 0;
    }
    return taken;
}

static bool busy(struct error *e)
{
    return err_set(e, ERR_SESSION_BUSY, "another process has the database open; leave it first");
}

/* Two names with the time in them that are not taken. */
static bool choose_names(const char *path, struct recovery *out, struct error *e)
{
    char stamp[32];
    struct tm utc;
    time_t now = (time_t)(clock_wall_ms() / 1000);
    gmtime_r(&now, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
    for (int i = 1; i <= NAMES_MAX; i++) {
        char again[16] = "";
        if (i > 1)
            snprintf(again, sizeof again, "-%d", i);
        out->copy = mem_printf("%s.damaged-%s%s", path, stamp, again);
        out->recovered = mem_printf("%s.recovered-%s%s", path, stamp, again);
        if (!name_taken(out->copy) && !name_taken(out->recovered)) {
            die_unlinks(out->copy, db_file_endings);
            die_unlinks(out->recovered, db_file_endings);
            return true;
        }
        recovery_release(out);
    }
    return err_set(e, ERR_FILE_ERROR,
                   "%s.damaged-%s and others are there already; try again in a second", path,
                   stamp);
}

/* The new database must be one file, on the disk, and without a fault. */
static bool finish(const char *recovered, const struct store_extension *const *extensions,
                   struct error *e)
{
    struct health found;
    struct stat st;
    auto_free char *wal = mem_printf("%s-wal", recovered);
    if (stat(wal, &st) == 0 && st.st_size > 0)
        return err_set(e, ERR_SESSION_STORE_ERROR, "%s could not be closed in order; try again",
                       recovered);
    db_files_remove_beside(recovered);
    if (!db_files_sync(recovered, e))
        return false;
    paths_sync_parent(recovered);
    health_check(recovered, true, extensions, &found);
    return found.state == HEALTH_GOOD ||
           err_set(e, ERR_SESSION_STORE_ERROR, "what was saved is %s: %s; try again",
                   health_name(found.state), found.detail);
}

bool health_recover(const char *path, struct recovery *out, const struct recovery_help *help,
                    struct error *e)
{
    struct db_lock lock;
    *out = (struct recovery){0};
    auto_free char *file = realpath(path, NULL);
    if (!file)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    if (!db_lock_look(file, &lock))
        return err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", file);
    if (lock.open || lock.locked) /* it may be written to, which would be lost */
        return busy(e);
    bool ok =
        choose_names(file, out, e) && db_files_copy(file, out->copy, copy_goes_on, (void *)help, e);
    if (ok) {
        struct store *to;
        auto_free char *scratch = mem_printf("%s-rows", out->recovered);
        ok = store_open(out->recovered, STORE_READ_WRITE, &to, e) &&
             recover_rows(out->copy, to, scratch, help, out, e) &&
             help->index(help->context, to, e);
        store_close(to);
        ok = ok && finish(out->recovered, help->extensions, e);
    }
    if (!ok) {
        recovery_discard(out);
        recovery_release(out);
    }
    return ok;
}

void recovery_release(struct recovery *r)
{
    die_keeps(r->copy);
    die_keeps(r->recovered);
    free(r->copy);
    free(r->recovered);
    r->copy = r->recovered = NULL;
}

void recovery_discard(const struct recovery *r)
{
    if (r->copy)
        db_files_remove(r->copy);
    if (r->recovered)
        db_files_remove(r->recovered);
}

bool health_replace(const char *path, const struct recovery *r, struct error *e)
{
    auto_free char *file = realpath(path, NULL);
    int fd = file ? db_lock_take(file) : -1;
    if (fd < 0)
        return errno == EBUSY ? busy(e) : err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", path);
    bool ok = db_files_same(fd, file, r->copy) ||
              err_set(e, ERR_SESSION_BUSY,
                      "the database was written to while it was read; quit every tiro and try "
                      "again");
    if (ok) {
        /* The old log would be played into the new database: it goes first, and the copy has it. */
        die_keeps(r->copy);
        db_files_remove_beside(file);
        ok = rename(r->recovered, file) == 0 ||
             err_set_errno(e, ERR_FILE_ERROR, "cannot put %s in the place of the damaged one",
                           r->recovered);
    }
    if (ok)
        paths_sync_parent(file);
    close(fd);
    return ok;
}
