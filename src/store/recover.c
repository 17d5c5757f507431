#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/die.h"
#include "base/mem.h"
#include "chat/session_tally.h"
#include "store/db_copy.h"
#include "store/db_lock.h"
#include "store/health.h"
#include "store/recover_memory.h"
#include "store/removals.h"
#include "store/salvage.h"
#include "store/sessions.h"
#include "store/sql.h"

enum { EVENTS_A_COMMIT = 4096, EVENTS_BETWEEN_TELLING = 64, NAMES_MAX = 100 };

static const char insert_sql[] =
    "INSERT INTO event (session, seq, at, type, version, payload)"
    " SELECT key, ?2, ?3, ?4, ?5, ?6 FROM session WHERE id = ?1";
static const char has_id_sql[] = "SELECT 1 FROM session WHERE id = ?";

struct saving {
    struct salvage from;
    struct store *to;
    struct recovery *out;
    VEC(struct event_number) saved; /* by number */
    struct buf payload;
    const struct recovery_help *help;
};

/* --- rows ------------------------------------------------------------------------------------ */

static bool go_on(void *context)
{
    const struct saving *s = context;
    const struct recovery_help *help = s->help;
    return !help->progress || help->progress(help->context, s->out->events);
}

static bool pause_between(struct saving *s, struct error *e)
{
    int64_t events = s->out->events;
    if (events % EVENTS_BETWEEN_TELLING == 0 && !go_on(s))
        return err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed");
    return events % EVENTS_A_COMMIT != 0 || (store_commit(s->to, e) && store_begin(s->to, e));
}

/* The row's own text goes into the new log. */
static bool insert(struct saving *s, const struct event *ev, int version, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s->to, insert_sql, e))
        return false;
    query_text(&q, ev->session_id);
    query_int(&q, ev->seq);
    query_int(&q, ev->wall_ms);
    query_text(&q, event_name(ev->type));
    query_int(&q, version);
    query_text(&q, s->payload.data);
    return query_run(&q, e);
}

/* Of an event that cannot be read there may be another copy; what has none is counted as lost when
 * all is done. */
static bool save_event(struct saving *s, const struct event_place *place, struct session_info *info,
                       struct error *e)
{
    int version;
    if (s->saved.len > 0 && event_number_order(&vec_last(&s->saved), &place->number) == 0)
        return true;
    struct event *ev = salvage_event(&s->from, place, &s->payload, &version);
    if (!ev) {
        vec_push(&s->from.expected, place->number);
        return true;
    }
    memcpy(ev->session_id, info->id, sizeof ev->session_id);
    bool ok = insert(s, ev, version, e);
    if (ok) {
        session_tally(info, ev);
        if (!info->model && ev->type == EVENT_CALL_COMPLETED)
            info->model = mem_strdup(ev->model);
        vec_push(&s->saved, place->number);
        s->out->events++;
    }
    event_free(ev);
    return ok && pause_between(s, e);
}

static bool id_is_free(struct saving *s, const char *id, bool *is_free, struct error *e)
{
    struct query q;
    if (!query_begin(&q, s->to, has_id_sql, e))
        return false;
    query_text(&q, id);
    enum query_result result = query_step(&q, e);
    query_end(&q);
    *is_free = result == QUERY_DONE;
    return result != QUERY_FAILED;
}

/* What is known of the session before its events are counted. */
static bool begin_info(struct saving *s, const struct session_row *row, int64_t key,
                       struct session_info *info, struct error *e)
{
    const char *id = row ? row->info.id : salvage_id(&s->from, key);
    bool usable = false;
    if (id && !id_is_free(s, id, &usable, e))
        return false;
    if (row)
        *info = session_info_clone(&row->info);
    else
        session_info_init(info);
    if (usable)
        memcpy(info->id, id, sizeof info->id);
    else
        uuid_new(info->id);
    session_tally_reset(info);
    return true;
}

static void end_info(const struct session_row *row, struct session_info *info)
{
    if (!row)
        return;
    if (info->updated_ms < row->info.updated_ms)
        info->updated_ms = row->info.updated_ms;
    free(info->draft);
    info->draft = mem_strdup(row->info.draft);
}

/* Its files stay: they may be all that is left of it. */
static bool leave_out(struct store *to, const char *id, struct error *e)
{
    return sessions_delete(to, id, e) && removals_strike(to, id, e);
}

/* A session's row, or none, and its events. */
static bool save_session(struct saving *s, const struct session_row *row,
                         const struct event_place *events, size_t count, struct error *e)
{
    struct session_info info;
    size_t saved = s->saved.len;
    int64_t key = row ? row->key : events->number.key;
    if (!begin_info(s, row, key, &info, e))
        return false;
    bool ok = sessions_put(s->to, &info, e);
    for (size_t i = 0; ok && i < count; i++) {
        ok = save_event(s, &events[i], &info, e);
        if (info.created_ms == 0)
            info.created_ms = info.updated_ms;
    }
    end_info(row, &info);
    bool empty = !row && s->saved.len == saved;
    ok = ok && (empty ? leave_out(s->to, info.id, e) : sessions_put(s->to, &info, e));
    s->out->sessions += ok && !empty;
    s->out->lost += !row;
    session_info_release(&info);
    return ok;
}

/* Rows and events are both by key. */
static bool save_all(struct saving *s, struct error *e)
{
    const struct salvage *from = &s->from;
    size_t row = 0;
    size_t event = 0;
    bool ok = store_begin(s->to, e);
    while (ok && (row < from->rows.len || event < from->events.len)) {
        const struct session_row *r = row < from->rows.len ? &from->rows.items[row] : NULL;
        const struct event_place *first =
            event < from->events.len ? &from->events.items[event] : NULL;
        int64_t key = first ? first->number.key : INT64_MAX;
        if (r && r->key <= key)
            key = r->key;
        else
            r = NULL;
        row += r != NULL;
        size_t begin = event;
        while (event < from->events.len && from->events.items[event].number.key == key)
            event++;
        ok = save_session(s, r, first, event - begin, e);
    }
    if (ok)
        return store_commit(s->to, e);
    store_rollback(s->to);
    return false;
}

/* --- what is missing ------------------------------------------------------------------------- */

static bool was_saved(const struct saving *s, const struct event_number *n)
{
    return s->saved.len > 0 &&
           bsearch(n, s->saved.items, s->saved.len, sizeof *n, event_number_order);
}

static void count_lost_events(struct saving *s)
{
    struct event_number *expected = s->from.expected.items;
    size_t count = s->from.expected.len;
    if (count > 0)
        qsort(expected, count, sizeof *expected, event_number_order);
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && event_number_order(&expected[i - 1], &expected[i]) == 0;
        s->out->lost += !again && !was_saved(s, &expected[i]);
    }
}

static int row_by_key(const void *key, const void *row)
{
    int64_t wanted = *(const int64_t *)key;
    int64_t found = ((const struct session_row *)row)->key;
    return (wanted > found) - (wanted < found);
}

static int event_by_key(const void *key, const void *event)
{
    int64_t wanted = *(const int64_t *)key;
    int64_t found = ((const struct event_place *)event)->number.key;
    return (wanted > found) - (wanted < found);
}

/* Whether there is a row or an event of the session. */
static bool was_found(const struct salvage *from, int64_t key)
{
    return (from->rows.len > 0 && bsearch(&key, from->rows.items, from->rows.len,
                                          sizeof *from->rows.items, row_by_key)) ||
           (from->events.len > 0 && bsearch(&key, from->events.items, from->events.len,
                                            sizeof *from->events.items, event_by_key));
}

/* Sessions of which nothing but the id is left. */
static void count_lost_sessions(struct saving *s)
{
    const struct salvage *from = &s->from;
    for (size_t i = 0; i < from->ids.len; i++) {
        int64_t key = from->ids.items[i].key;
        bool again = i > 0 && from->ids.items[i - 1].key == key;
        s->out->lost += !again && !was_found(from, key);
    }
}

/* --- files ----------------------------------------------------------------------------------- */

/* Something is there, or what would belong to a database of this name. */
static bool is_taken(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    struct stat st;
    bool taken = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char *name = mem_printf("%s%s", path, suffixes[i]);
        taken = taken || lstat(name, &st) == 0;
        free(name);
    }
    return taken;
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
        if (!is_taken(out->copy) && !is_taken(out->recovered)) {
            die_unlinks(out->copy, db_copy_endings);
            die_unlinks(out->recovered, db_copy_endings);
            return true;
        }
        recovery_release(out);
    }
    return err_set(e, ERR_FILE_ERROR,
                   "%s.damaged-%s and others are there already; try again in a second", path,
                   stamp);
}

static bool in_use(struct error *e)
{
    return err_set(e, ERR_SESSION_BUSY, "another process has the database open; leave it first");
}

/* The new database must be one file, on the disk, and without a fault. */
static bool finish(const char *recovered, struct error *e)
{
    struct health found;
    struct stat st;
    char *wal = mem_printf("%s-wal", recovered);
    bool folded = stat(wal, &st) != 0 || st.st_size == 0;
    free(wal);
    if (!folded)
        return err_set(e, ERR_SESSION_STORE_ERROR, "%s could not be closed in order; try again",
                       recovered);
    db_copy_remove_beside(recovered);
    if (!db_copy_sync(recovered, e))
        return false;
    db_copy_sync_parent(recovered);
    health_check(recovered, true, &found);
    return found.state == HEALTH_GOOD ||
           err_set(e, ERR_SESSION_STORE_ERROR, "what was saved is %s: %s; try again",
                   health_name(found.state), found.detail);
}

static bool save(struct saving *s, struct error *e)
{
    struct recovery *out = s->out;
    if (!salvage_open(&s->from, out->copy, go_on, s, e))
        return false;
    bool ok = store_open(out->recovered, STORE_READ_WRITE, &s->to, e) && save_all(s, e) &&
              recover_memory(&s->from, s->to, out, go_on, s, e) &&
              (out->entries == 0 || s->help->index(s->help->context, s->to, e));
    if (ok) {
        count_lost_events(s);
        count_lost_sessions(s);
    }
    store_close(s->to);
    salvage_release(&s->from);
    vec_release(&s->saved);
    buf_release(&s->payload);
    return ok && finish(out->recovered, e);
}

/* Who has it open may go on writing, which would be lost. */
static bool is_idle(const char *file, struct error *e)
{
    struct db_lock lock;
    if (!db_lock_look(file, &lock))
        return err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", file);
    return !(lock.open || lock.locked) || in_use(e);
}

bool health_recover(const char *path, struct recovery *out, const struct recovery_help *help,
                    struct error *e)
{
    *out = (struct recovery){0};
    struct saving s = {.out = out, .payload = BUF_INIT, .help = help};
    char *file = realpath(path, NULL);
    if (!file)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    bool ok = is_idle(file, e) && choose_names(file, out, e) &&
              db_copy(file, out->copy, go_on, &s, e) && save(&s, e);
    free(file);
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
        db_copy_remove(r->copy);
    if (r->recovered)
        db_copy_remove(r->recovered);
}

/* --- the place of the damaged one ------------------------------------------------------------ */

/* The old log would be played into the new database: it goes first, and the copy has it. */
static bool put_in_place(int fd, const char *file, const struct recovery *r, struct error *e)
{
    if (!db_copy_same(fd, file, r->copy))
        return err_set(e, ERR_SESSION_BUSY,
                       "the database was written to while it was read; quit every tiro and try "
                       "again");
    die_keeps(r->copy);
    db_copy_remove_beside(file);
    if (rename(r->recovered, file) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot put %s in the place of the damaged one",
                             r->recovered);
    db_copy_sync_parent(file);
    return true;
}

bool health_replace(const char *path, const struct recovery *r, struct error *e)
{
    char *file = realpath(path, NULL);
    int fd = file ? db_lock_take(file) : -1;
    bool ok;
    if (fd >= 0)
        ok = put_in_place(fd, file, r, e);
    else if (errno == EBUSY)
        ok = in_use(e);
    else
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    free(file);
    return ok;
}
