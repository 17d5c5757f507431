#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "chat/session_info.h"
#include "index/transcripts.h"
#include "knowledge/learned.h"
#include "session/catalog.h"
#include "session/fork.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"

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

static bool begin_before_compaction(struct catalog *c, const struct session_info *parent,
                                    struct fork_point *p, struct error *e)
{
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

static bool begin_point(struct catalog *c, const struct session_info *parent, int64_t at,
                        struct fork_point *p, struct error *e)
{
    if (at == CATALOG_BEFORE_COMPACTION)
        return begin_before_compaction(c, parent, p, e);
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
    char *base = mem_strndup(parent, title_base(parent));
    bool taken = true, ok = true;
    *out = NULL;
    for (int64_t n = 1; ok && taken; n++) {
        char *suffix = n > 1 ? mem_printf(" (fork %lld)", (long long)n) : mem_strdup(" (fork)");
        free(*out);
        *out = session_title_with(base, suffix);
        ok = sessions_has_title(c->store, *out, &taken, e);
        free(suffix);
    }
    free(base);
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

static struct event *make_end(const struct session_info *row)
{
    struct event *ev = event_new(EVENT_TURN_COMPLETED);
    ev->seq = row->parent_seq + 1;
    ev->wall_ms = row->created_ms;
    memcpy(ev->session_id, row->id, sizeof ev->session_id);
    ev->text = mem_strdup("");
    ev->stop_reason = STOP_OTHER;
    return ev;
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

static bool write_fork(struct catalog *c, const struct session_info *row, const struct event *end,
                       struct error *e)
{
    if (!store_begin(c->store, e))
        return false;
    if (sessions_put(c->store, row, e) && copy_log(c, row, e) &&
        session_settings_copy(c->store, row->parent, row->id, e) &&
        (!end || transcripts_append(c->store, end, e)) && store_commit(c->store, e))
        return true;
    store_rollback(c->store);
    return false;
}

/* What takes nothing along is named by what will be sent. */
static bool title_fork(struct catalog *c, const struct session_info *parent,
                       const struct fork_point *p, struct session_info *row, struct error *e)
{
    bool named = *parent->title && (p->last > 0 || parent->title_set);
    free(row->title);
    row->title = NULL;
    row->title_set = named;
    if (named)
        return name_fork(c, parent->title, &row->title, e);
    row->title = mem_strdup("");
    return true;
}

static bool fork_at(struct catalog *c, const struct session_info *parent, struct fork_point *p,
                    struct session_info *out, struct error *e)
{
    if (!find_point(c, parent, p, e))
        return false;
    *out = make_row(parent, p);
    if (!title_fork(c, parent, p, out, e)) {
        session_info_release(out);
        return false;
    }
    struct event *end = p->open ? make_end(out) : NULL;
    if (end)
        session_tally(out, end);
    bool ok = write_fork(c, out, end, e);
    event_free(end);
    if (!ok)
        session_info_release(out);
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
