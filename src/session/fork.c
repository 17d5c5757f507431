#include "session/fork.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "knowledge/learned.h"
#include "session/catalog.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"

static void stand_begin(struct fork_stand *s)
{
    *s = (struct fork_stand){0};
    session_info_init(&s->tally);
}

static void stand_set(struct fork_stand *to, const struct fork_stand *from)
{
    session_info_release(&to->tally);
    to->seq = from->seq;
    to->tally = session_info_clone(&from->tally);
}

void fork_point_begin(struct fork_point *p, int64_t at)
{
    *p = (struct fork_point){.at = at, .found = at == 0};
    session_info_init(&p->tally);
    stand_begin(&p->now);
    stand_begin(&p->message);
    stand_begin(&p->run);
    stand_begin(&p->compaction);
}

void fork_point_begin_before(struct fork_point *p, int64_t before)
{
    fork_point_begin(p, 0);
    p->before = before;
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

/* The part of a run that an event belongs to; FORK_OUTSIDE for those that say nothing of it. */
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

static bool is_run_end(enum event_type type)
{
    return type == EVENT_TURN_COMPLETED || type == EVENT_TURN_FAILED || type == EVENT_INTERRUPTED;
}

static bool begins_message(const struct fork_point *p, const struct event *ev)
{
    if (ev->type == EVENT_TURN_STARTED)
        return true;
    if (p->part == FORK_OUTSIDE)
        return false;
    enum fork_part part = part_of(ev->type);
    return ev->type == EVENT_CALL_STARTED || (part != FORK_OUTSIDE && part != p->part);
}

/* As chat/history.h: an empty text is none. */
static bool is_answer(const struct event *ev)
{
    return ev->type == EVENT_TOOL_CALL_REQUESTED ||
           (ev->type == EVENT_TEXT_COMPLETE && ev->text && *ev->text);
}

bool fork_point_look(struct fork_point *p, const struct event *ev)
{
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
            free(p->input);
            p->input = mem_strdup(ev->text);
        }
        stand_set(&p->message, &p->now);
        p->part = part_of(ev->type);
        p->part_answered = false;
    }
    if (p->part != FORK_OUTSIDE && is_answer(ev))
        p->run_answered = p->part_answered = true;
    if (p->before > 0) {
        /* The beginning of the one that a fork ends before is no more of it than its end. */
        if (ev->type == EVENT_COMPACTION_STARTED)
            stand_set(&p->compaction, &p->now);
        if (ev->type != EVENT_COMPACTION_DELTA && ev->type != EVENT_RETRYING)
            p->compacting = ev->type == EVENT_COMPACTION_STARTED;
    }
    p->now.seq = ev->seq;
    session_tally(&p->now.tally, ev);
    if (is_run_end(ev->type))
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

static bool look(void *point, const struct event *ev)
{
    return fork_point_look(point, ev);
}

static bool find_point(struct catalog *c, const struct session_info *parent, struct fork_point *p,
                       struct error *e)
{
    if (!event_log_read(c->store, parent->id, 0, look, p, e))
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

static bool begin_point(struct catalog *c, const struct session_info *parent, int64_t at,
                        struct fork_point *p, struct error *e)
{
    if (at == CATALOG_BEFORE_COMPACTION) {
        struct history h;
        struct snapshot_rows rows;
        snapshot_rows_init(&rows, c->store, parent->id);
        if (!snapshot_open(&rows, 0, &h, NULL, e))
            return false;
        int64_t newest = h.compaction.in_force.len > 0 ? vec_last(&h.compaction.in_force) : 0;
        history_release(&h);
        if (newest == 0)
            return err_set(e, ERR_USAGE, "session %.8s was never compacted, or that was undone",
                           parent->id + UUID_LEN - 8);
        fork_point_begin_before(p, newest);
        return true;
    }
    fork_point_begin(p, at);
    return true;
}

/* Bytes of a title in front of " (fork)" or " (fork N)". */
static size_t title_base(const char *title)
{
    static const char mark[] = " (fork";
    const char *last = NULL;
    for (const char *at = title; (at = strstr(at, mark)); at++)
        last = at;
    if (!last)
        return strlen(title);
    const char *rest = last + strlen(mark);
    if (*rest == ' ')
        rest += 1 + strspn(rest + 1, "0123456789");
    return strcmp(rest, ")") == 0 ? (size_t)(last - title) : strlen(title);
}

/* The first of "X (fork)", "X (fork 2)" … that no session has. */
static bool name_fork(struct catalog *c, const char *parent, char **out, struct error *e)
{
    auto_free char *base = mem_strndup(parent, title_base(parent));
    bool taken = true, ok = true;
    *out = NULL;
    for (int64_t n = 1; ok && taken; n++) {
        auto_free char *suffix =
            n > 1 ? mem_printf(" (fork %lld)", (long long)n) : mem_strdup(" (fork)");
        free(*out);
        *out = session_title_with(base, suffix);
        ok = sessions_has_title(c->store, *out, &taken, e);
    }
    return ok;
}

static void replace(char **text, const char *by)
{
    free(*text);
    *text = mem_strdup(by);
}

/* The row of the fork but for its title: what it counts comes from the point, the rest from its
 * parent. */
static struct session_info make_row(const struct session_info *parent, const struct fork_point *p)
{
    struct session_info row = session_info_clone(&p->tally);
    uuid_new(row.id);
    row.created_ms = row.updated_ms = clock_wall_ms();
    replace(&row.directory, parent->directory);
    replace(&row.provider, parent->provider);
    replace(&row.model, parent->model);
    replace(&row.system, parent->system);
    replace(&row.labels, parent->labels);
    replace(&row.draft, p->draft);
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

/* A fork of nothing is named by its first message. */
static bool fork_at(struct catalog *c, const struct session_info *parent, struct fork_point *p,
                    struct session_info *out, struct error *e)
{
    struct event *end = NULL;
    bool ok = true;
    if (!find_point(c, parent, p, e))
        return false;
    *out = make_row(parent, p);
    free(out->title);
    out->title = NULL;
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
         (!end || transcripts_append(c->store, end, e)) && store_commit(c->store, e);
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
    struct session_info parent;
    struct fork_point p = {0};
    *out = (struct session_info){0};
    if (!catalog_find(c, reference, &parent, e))
        return false;
    bool ok = begin_point(c, &parent, at, &p, e) && fork_at(c, &parent, &p, out, e);
    fork_point_release(&p);
    session_info_release(&parent);
    return ok;
}
