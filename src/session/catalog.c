#include "session/catalog.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/paths.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "knowledge/graph.h"
#include "knowledge/learned.h"
#include "memory/memory.h"
#include "session/lock.h"
#include "session/projection.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"

/* --- opening ---------------------------------------------------------------------------------- */

bool catalog_open(struct catalog *c, const char *store_path, enum catalog_access access,
                  struct error *e)
{
    *c = (struct catalog){0};
    auto_free char *path = store_path ? mem_strdup(store_path) : store_default_path();
    struct error cause = {0};
    bool write = access == CATALOG_WRITE;
    if (store_open(path, write ? STORE_READ_WRITE : STORE_READ_ONLY, &c->store, &cause)) {
        c->directory = store_in_memory(path) ? NULL : paths_parent(path);
        return true;
    }
    if (!write && cause.code == ERR_SESSION_NOT_FOUND)
        return true; /* nothing was ever kept */
    return err_set(e, cause.code, "%s", cause.text);
}

void catalog_borrow(struct catalog *c, struct store *store, const char *directory, const char *held)
{
    *c = (struct catalog){.store = store, .directory = mem_strdup(directory), .borrowed = true};
    memcpy(c->held, held, strnlen(held, UUID_LEN));
}

void catalog_release(struct catalog *c)
{
    if (!c->borrowed)
        store_close(c->store);
    free(c->directory);
    *c = (struct catalog){0};
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool resolve(struct catalog *c, const char *reference, char id[UUID_LEN + 1],
                    struct error *e)
{
    if (!c->store)
        return err_set(e, ERR_SESSION_NOT_FOUND,
                       "no session is saved here yet, so \"%.40s\" was not found; tiro starts one",
                       reference);
    return sessions_resolve(c->store, reference, id, e);
}

static bool catch_up(void *info, const struct event *ev)
{
    session_tally(info, ev);
    return true;
}

/* The row, with the events of a running turn or of one that a crash ended. */
static bool read_info(struct catalog *c, const char *id, struct session_info *out, struct error *e)
{
    if (!sessions_get(c->store, id, out, e))
        return false;
    if (event_log_read(c->store, id, out->last_seq, catch_up, out, e))
        return true;
    session_info_release(out);
    return false;
}

bool catalog_list(struct catalog *c, const struct session_filter *filter, struct session_list *out,
                  int64_t *total, struct error *e)
{
    *out = (struct session_list){0};
    if (total)
        *total = 0;
    return !c->store || sessions_list(c->store, filter, out, total, e);
}

bool catalog_find(struct catalog *c, const char *reference, struct session_info *out,
                  struct error *e)
{
    char id[UUID_LEN + 1];
    *out = (struct session_info){0};
    return resolve(c, reference, id, e) && read_info(c, id, out, e);
}

bool catalog_read(struct catalog *c, const char *reference, int64_t after,
                  struct session_info *info, bool (*visit)(void *context, const struct event *ev),
                  void *context, struct error *e)
{
    struct session_info found = {0};
    if (!catalog_find(c, reference, &found, e))
        return false;
    struct session_info *shown = info ? info : &found;
    *shown = found;
    bool ok = event_log_read(c->store, shown->id, after, visit, context, e);
    if (!info)
        session_info_release(&found);
    return ok;
}

bool catalog_search(struct catalog *c, const char *query, const char *reference, int limit,
                    struct search_hits *out, bool *more, struct error *e)
{
    char id[UUID_LEN + 1];
    *out = (struct search_hits){0};
    *more = false;
    if (reference && !resolve(c, reference, id, e))
        return false;
    return !c->store ||
           transcripts_search(c->store, query, reference ? id : NULL, limit, out, more, e);
}

/* --- changing --------------------------------------------------------------------------------- */

/* The row of a session that is changed, and the lock that is held meanwhile. */
struct change {
    struct session_info info;
    int lock;
};

static bool change_begin(struct catalog *c, const char *reference, struct change *change,
                         struct error *e)
{
    char id[UUID_LEN + 1];
    struct error unremoved;
    *change = (struct change){.lock = -1};
    if (!resolve(c, reference, id, e) || (c->directory && strcmp(id, c->held) != 0 &&
                                          !lock_take(c->directory, id, &change->lock, e)))
        return false;
    if (read_info(c, id, &change->info, e))
        return true;
    /* Another process deleted the session before it was locked, which made the lock's file again.
     */
    if (e->code == ERR_SESSION_NOT_FOUND && change->lock >= 0)
        lock_remove(c->directory, id, &unremoved);
    lock_drop(&change->lock);
    return false;
}

static bool change_end(struct change *change, char id[UUID_LEN + 1], bool ok)
{
    if (id)
        memcpy(id, change->info.id, UUID_LEN + 1);
    lock_drop(&change->lock);
    session_info_release(&change->info);
    return ok;
}

static bool name_after(void *info, const struct event *ev)
{
    struct session_info *named = info;
    if (ev->type == EVENT_TURN_STARTED)
        session_tally_name(named, ev->text);
    return !*named->title;
}

/* Without a title the first message names the session. */
bool catalog_rename(struct catalog *c, const char *reference, const char *title,
                    char id[UUID_LEN + 1], struct error *e)
{
    struct change change;
    struct session_info *info = &change.info;
    if (!change_begin(c, reference, &change, e))
        return false;
    mem_replace(&info->title, session_title_from(title, ""));
    info->title_set = *info->title != '\0';
    bool ok = info->title_set || event_log_read(c->store, info->id, 0, name_after, info, e);
    return change_end(&change, id, ok && sessions_put(c->store, info, e));
}

bool catalog_label(struct catalog *c, const char *reference, const char *changes,
                   char id[UUID_LEN + 1], struct error *e)
{
    struct change change;
    char *labels;
    if (!change_begin(c, reference, &change, e))
        return false;
    bool ok = session_labels_change(change.info.labels, changes, &labels, e);
    if (ok)
        mem_replace(&change.info.labels, labels);
    return change_end(&change, id, ok && sessions_put(c->store, &change.info, e));
}

bool catalog_append(struct catalog *c, const char *reference, struct event *ev, struct error *e)
{
    struct change change;
    struct session_info *info = &change.info;
    bool began;
    if (!change_begin(c, reference, &change, e))
        return false;
    if (!event_log_skip_told(c->store, info->id, &info->last_seq, e))
        return change_end(&change, NULL, false);
    ev->seq = info->last_seq + 1;
    ev->wall_ms = clock_wall_ms();
    memcpy(ev->session_id, info->id, sizeof ev->session_id);
    session_tally(info, ev);
    bool ok =
        store_enter(c->store, &began, e) &&
        store_leave(c->store, began,
                    transcripts_append(c->store, ev, e) && sessions_put(c->store, info, e), e);
    return change_end(&change, NULL, ok);
}

enum { REST_MS = 6 }; /* a connection that waits to write tries every few milliseconds */

/* False: nothing is left, or a failure, which is logged. */
static bool purge_step(struct catalog *c, struct memory *m)
{
    struct error e = {0};
    bool more = false;
    const struct graph graph = {c->store, "english"};
    if (!m->ops->purge(m, &more, &e) || (!more && !transcripts_purge(c->store, &more, &e)) ||
        (!more && !graph_purge(&graph, &more, &e)))
        log_line(LOG_ERROR, "purging the words of what was deleted: %s", e.text);
    return e.code == ERR_OK && more;
}

bool catalog_purge_step(struct catalog *c)
{
    struct memory *m = memory_open(c->store, NULL);
    bool more = purge_step(c, m);
    memory_close(m);
    return more;
}

/* Deletes the record first: a crash after that leaves files that are recorded as to be removed, and
 * never a part of the record. Memory of the session is deleted even if this program does not use
 * memory. */
static bool remove_all(struct catalog *c, const char *id, struct error *e)
{
    struct memory *m = memory_open(c->store, NULL);
    struct error cause = {0};
    bool began;
    m->lazy = true;
    bool ok =
        store_enter(c->store, &began, e) &&
        store_leave(c->store, began,
                    m->ops->forget_session(m, id, e) && learned_forget_session(c->store, id, e) &&
                        transcripts_delete(c->store, id, e),
                    e);
    while (ok && purge_step(c, m))
        poll(NULL, 0, REST_MS);
    memory_close(m);
    return ok && (removal_finish(c, id, &cause) ||
                  err_set(e, cause.code,
                          "the session is deleted, but not all of its files, which is tried again "
                          "later: %s",
                          cause.text));
}

bool catalog_archive(struct catalog *c, const char *reference, bool archived, char id[UUID_LEN + 1],
                     struct error *e)
{
    struct change change;
    struct session_info *info = &change.info;
    bool ok = true;
    if (!change_begin(c, reference, &change, e))
        return false;
    if (archived && !c->directory) {
        ok = remove_all(c, info->id, e);
    } else if (archived != (info->archived_ms > 0)) {
        info->archived_ms = archived ? clock_wall_ms() : 0;
        ok = sessions_put(c->store, info, e);
    }
    return change_end(&change, id, ok);
}

bool catalog_delete(struct catalog *c, const char *reference, char id[UUID_LEN + 1],
                    struct error *e)
{
    struct change change;
    return change_begin(c, reference, &change, e) &&
           change_end(&change, id, remove_all(c, change.info.id, e));
}

bool removal_finish(struct catalog *c, const char *id, struct error *e)
{
    struct error fault = {0};
    if (c->directory) {
        bool gone = projection_remove(c, id, e);
        if (!lock_remove(c->directory, id, gone ? e : &fault) || !gone)
            return false;
    }
    if (!removals_strike(c->store, id, &fault)) /* a record without files does no harm */
        log_line(LOG_ERROR, "removing the files of %s: %s", id, fault.text);
    return true;
}

void removal_finish_some(struct catalog *c, int limit)
{
    struct removals due;
    struct error e = {0};
    if (!c->store || !c->directory)
        return;
    if (!removals_some(c->store, limit, &due, &e))
        log_line(LOG_ERROR, "removing the files of deleted sessions: %s", e.text);
    for (size_t i = 0; i < due.items.len; i++) {
        const char *id = due.items.items[i].id;
        int lock = -1;
        bool still;
        e.code = ERR_OK;
        /* An earlier holder of the lock may have finished the removal, and the id be in use again.
         */
        bool ok = lock_take(c->directory, id, &lock, &e) &&
                  removals_has(c->store, id, &still, &e) && (!still || removal_finish(c, id, &e));
        if (!ok && (lock >= 0 || e.code != ERR_SESSION_BUSY))
            log_line(LOG_ERROR, "removing the files of %s: %s", id, e.text);
        lock_drop(&lock);
    }
    vec_release(&due.items);
}

/* --- locks without a session ------------------------------------------------------------------ */

static bool ask_store(void *store, const char *id, bool *known)
{
    struct session_info info = {0};
    struct error e = {0};
    *known = sessions_get(store, id, &info, &e);
    session_info_release(&info);
    return *known || e.code == ERR_SESSION_NOT_FOUND;
}

void removal_sweep_locks(struct catalog *c)
{
    if (c->store && c->directory)
        lock_sweep(c->directory, ask_store, c->store);
}

static void stand_set(struct fork_stand *to, const struct fork_stand *from)
{
    session_info_release(&to->tally);
    to->seq = from->seq;
    to->tally = session_info_clone(&from->tally);
}

void fork_point_begin(struct fork_point *p, int64_t at, int64_t before)
{
    *p = (struct fork_point){.at = at, .before = before, .found = at == 0};
    session_info_init(&p->tally);
    session_info_init(&p->now.tally);
    session_info_init(&p->message.tally);
    session_info_init(&p->run.tally);
    session_info_init(&p->compaction.tally);
}

void fork_point_release(struct fork_point *p)
{
    session_info_release(&p->tally);
    session_info_release(&p->now.tally);
    session_info_release(&p->message.tally);
    session_info_release(&p->run.tally);
    session_info_release(&p->compaction.tally);
    free(p->draft);
    free(p->input);
    *p = (struct fork_point){0};
}

/* The part of a run that an event belongs to; FORK_OUTSIDE for events of no part. */
static enum fork_part part_of(enum event_type type)
{
    static const enum fork_part parts[EVENT_TYPE_COUNT] = {
        [EVENT_TURN_STARTED] = FORK_INPUT,         [EVENT_CALL_STARTED] = FORK_ANSWER,
        [EVENT_TEXT_DELTA] = FORK_ANSWER,          [EVENT_REASONING_DELTA] = FORK_ANSWER,
        [EVENT_REASONING_COMPLETE] = FORK_ANSWER,  [EVENT_TEXT_COMPLETE] = FORK_ANSWER,
        [EVENT_TOOL_CALL_REQUESTED] = FORK_ANSWER, [EVENT_TOOL_EXECUTION_COMPLETED] = FORK_RESULTS,
    };
    return parts[type];
}

static bool begins_message(const struct fork_point *p, const struct event *ev)
{
    if (ev->type == EVENT_TURN_STARTED)
        return true;
    if (p->part == FORK_OUTSIDE)
        return false;
    if (ev->signature && ev->type == EVENT_TOOL_EXECUTION_COMPLETED)
        return false; /* the provider ran the tool while it answered */
    enum fork_part part = part_of(ev->type);
    return ev->type == EVENT_CALL_STARTED || (part != FORK_OUTSIDE && part != p->part);
}

bool fork_point_look(void *point, const struct event *ev)
{
    struct fork_point *p = point;
    if (p->before > 0 && ev->seq >= p->before)
        return false;
    if (p->part != FORK_OUTSIDE && event_between_turns(ev)) {
        /* The history takes the open run back, and goes on without it. */
        p->part = FORK_OUTSIDE;
        p->run_seq = 0;
    }
    bool begins = begins_message(p, ev);
    p->found = p->found || (p->at > 0 && ev->seq >= p->at);
    if (begins && p->at > 0 && p->at < ev->seq)
        return false;
    if (begins) {
        if (ev->type == EVENT_TURN_STARTED) {
            /* A run that is still open died with the program: the history takes it back, as one
             * that is retried. */
            bool replaces = p->part != FORK_OUTSIDE || (ev->number > 0 && ev->number == p->run_seq);
            if (!replaces)
                stand_set(&p->run, &p->now);
            p->run_seq = ev->seq;
            p->run_answered = false;
            mem_replace(&p->input, mem_strdup(ev->text));
        }
        stand_set(&p->message, &p->now);
        p->part = part_of(ev->type);
        p->part_answered = false;
    }
    bool answers = ev->type == EVENT_TOOL_CALL_REQUESTED ||
                   (ev->type == EVENT_TEXT_COMPLETE && ev->text && *ev->text);
    if (p->part != FORK_OUTSIDE && answers)
        p->run_answered = p->part_answered = true;
    if (p->before > 0) { /* the fork also ends before the beginning of the compaction */
        if (ev->type == EVENT_COMPACTION_STARTED)
            stand_set(&p->compaction, &p->now);
        if (ev->type != EVENT_COMPACTION_DELTA && ev->type != EVENT_RETRYING)
            p->compacting = ev->type == EVENT_COMPACTION_STARTED;
    }
    p->now.seq = ev->seq;
    session_tally(&p->now.tally, ev);
    if (event_ends_turn(ev->type))
        p->part = FORK_OUTSIDE;
    return true;
}

static void part_at(struct fork_point *p, const struct fork_stand *s)
{
    p->last = s->seq;
    session_info_release(&p->tally);
    p->tally = session_info_clone(&s->tally);
}

void fork_point_end(struct fork_point *p)
{
    if (!p->found)
        return;
    bool within_run = p->before > 0 && p->part != FORK_OUTSIDE;
    if (within_run || (p->run_seq > 0 && !p->run_answered)) {
        part_at(p, &p->run);
        p->draft = p->input && *p->input ? mem_strdup(p->input) : NULL;
        return;
    }
    if (p->compacting) {
        part_at(p, &p->compaction);
        return;
    }
    p->open = p->part != FORK_OUTSIDE;
    bool empty = p->part == FORK_ANSWER && !p->part_answered;
    part_at(p, empty ? &p->message : &p->now);
}

static bool find_point(struct catalog *c, const struct session_info *parent, struct fork_point *p,
                       struct error *e)
{
    if (!event_log_read(c->store, parent->id, 0, fork_point_look, p, e))
        return false;
    fork_point_end(p);
    if (!p->found)
        return err_set(e, ERR_USAGE, "session %.8s has no event %lld; its last is %lld",
                       parent->id + UUID_LEN - 8, (long long)p->at, (long long)parent->last_seq);
    if (parent->last_seq == 0)
        p->draft = mem_strdup(parent->draft);
    return p->last > 0 || p->draft ||
           err_set(e, ERR_USAGE, "there is nothing to fork yet; send a message first");
}

/* The first of "X (fork)", "X (fork 2)" … that no session has. The parent's title X may end so
 * itself. */
static bool name_fork(struct catalog *c, const char *parent, char **out, struct error *e)
{
    static const char mark[] = " (fork";
    const char *last = NULL;
    for (const char *at = parent; (at = strstr(at, mark)); at++)
        last = at;
    const char *rest = last ? last + strlen(mark) : "";
    if (last && *rest == ' ')
        rest += 1 + strspn(rest + 1, "0123456789");
    bool is_fork = strcmp(rest, ")") == 0, taken = true, ok = true;
    auto_free char *base = mem_strndup(parent, is_fork ? (size_t)(last - parent) : strlen(parent));
    *out = NULL;
    for (int64_t n = 1; ok && taken; n++) {
        auto_free char *suffix =
            n > 1 ? mem_printf(" (fork %lld)", (long long)n) : mem_strdup(" (fork)");
        mem_replace(out, session_title_from(base, suffix));
        ok = sessions_has_title(c->store, *out, &taken, e);
    }
    return ok;
}

/* The row of the fork without its title: the counters are the point's, the rest is the parent's. */
static struct session_info make_row(const struct session_info *parent, const struct fork_point *p)
{
    struct session_info row = session_info_clone(&p->tally);
    uuid_new(row.id);
    row.created_ms = row.updated_ms = clock_wall_ms();
    mem_replace(&row.directory, mem_strdup(parent->directory));
    mem_replace(&row.provider, mem_strdup(parent->provider));
    mem_replace(&row.model, mem_strdup(parent->model));
    mem_replace(&row.system, mem_strdup(parent->system));
    mem_replace(&row.labels, mem_strdup(parent->labels));
    mem_replace(&row.draft, mem_strdup(p->draft));
    memcpy(row.parent, parent->id, sizeof row.parent);
    row.parent_seq = p->last;
    return row;
}

/* The parent may have been deleted since it was read. */
static bool copy_log(struct catalog *c, const struct session_info *row, struct error *e)
{
    int64_t copied = 0;
    if (row->parent_seq == 0)
        return true;
    return transcripts_copy(c->store, row->parent, row->parent_seq, row->id, e) &&
           event_log_last(c->store, row->id, &copied, e) &&
           (copied == row->parent_seq ||
            err_set(e, ERR_SESSION_NOT_FOUND, "session %.8s was deleted meanwhile; choose another",
                    row->parent + UUID_LEN - 8)) &&
           learned_access_copy(c->store, row->parent, row->parent_seq, row->id, e);
}

static bool fork_at(struct catalog *c, const struct session_info *parent, struct fork_point *p,
                    struct session_info *out, struct error *e)
{
    struct event *end = NULL;
    bool ok = true;
    if (!find_point(c, parent, p, e))
        return false;
    *out = make_row(parent, p);
    mem_replace(&out->title, NULL);
    /* Without messages and title, its first message names the fork. */
    out->title_set = *parent->title && (p->last > 0 || parent->title_set);
    if (out->title_set)
        ok = name_fork(c, parent->title, &out->title, e);
    else
        out->title = mem_strdup("");
    if (p->open) {
        end = event_new(EVENT_TURN_COMPLETED);
        end->seq = out->parent_seq + 1;
        end->wall_ms = out->created_ms;
        memcpy(end->session_id, out->id, sizeof end->session_id);
        end->text = mem_strdup("");
        end->stop_reason = STOP_OTHER;
        session_tally(out, end);
    }
    bool began = ok && store_begin(c->store, e);
    ok = began && sessions_put(c->store, out, e) && copy_log(c, out, e) &&
         session_settings_copy(c->store, out->parent, out->id, e) &&
         (!end || transcripts_append(c->store, end, e)) &&
         event_log_standing(c->store, out->id, &out->messages, &out->turns, e) &&
         sessions_put(c->store, out, e) && store_commit(c->store, e);
    if (began && !ok)
        store_rollback(c->store);
    if (!ok)
        session_info_release(out);
    event_free(end);
    return ok;
}

bool catalog_fork(struct catalog *c, const char *reference, int64_t at, struct session_info *out,
                  struct error *e)
{
    AUTO(session_info_release) struct session_info parent = {0};
    AUTO(fork_point_release) struct fork_point p = {0};
    *out = (struct session_info){0};
    if (!catalog_find(c, reference, &parent, e))
        return false;
    if (at == CATALOG_BEFORE_COMPACTION) {
        struct history h;
        struct snapshot_rows rows;
        snapshot_rows_init(&rows, c->store, parent.id);
        if (!snapshot_open(&rows, 0, &h, NULL, e))
            return false;
        int64_t newest = h.compaction.in_force.len > 0 ? vec_last(&h.compaction.in_force) : 0;
        history_release(&h);
        if (newest == 0)
            return err_set(e, ERR_USAGE, "session %.8s was never compacted, or that was undone",
                           parent.id + UUID_LEN - 8);
        fork_point_begin(&p, 0, newest);
    } else {
        fork_point_begin(&p, at, 0);
    }
    return fork_at(c, &parent, &p, out, e);
}
