/* Reading a log from its end: event_log_tail(). */
#include "store/event_log.h"

#include <assert.h>
#include <stdlib.h>

#include "store/event_row.h"
#include "store/sql.h"

#define OF_SESSION " WHERE session = (SELECT key FROM session WHERE id = ?)"
#define ROW "SELECT " EVENT_ROW " FROM event "
#define IS_DELTA " AND type IN " EVENT_DELTAS

static const char whole_before_sql[] = ROW
    "INDEXED BY event_whole" OF_SESSION " AND seq < ?" EVENT_IS_WHOLE " ORDER BY seq DESC LIMIT ?";
static const char types_from_sql[] = "SELECT type FROM event INDEXED BY event_whole" OF_SESSION
                                     " AND seq >= ?" EVENT_IS_WHOLE " ORDER BY seq";
static const char deltas_sql[] =
    ROW "INDEXED BY event_delta" OF_SESSION " AND type = ? AND seq > ? AND seq < ?" IS_DELTA
        " ORDER BY seq DESC LIMIT ?";

/* `done` says of what kinds a later event of the same model call, or compaction, has the whole
 * text. */
struct tail {
    struct store *store;
    const char *session_id;
    size_t limit; /* of events, one more than asked for */
    size_t bytes; /* of payloads; 0: any number */
    bool full;    /* older whole events were left out for their size */
    bool text_done, reasoning_done, summary_done;
    struct event_list found; /* unordered */
};

static bool collect(struct tail *t, struct query *q, struct error *e)
{
    bool ok = true;
    size_t sum = 0;
    while (ok && query_next(q)) {
        sum += (size_t)sqlite3_column_bytes(q->handle, 4);
        if (t->bytes > 0 && sum > t->bytes && t->found.items.len > 0) {
            t->full = true;
            break;
        }
        struct event *ev = event_row_read(q, t->session_id, e);
        ok = ev;
        if (ok)
            vec_push(&t->found.items, ev);
    }
    return query_end(q) && ok;
}

static bool collect_deltas(struct tail *t, enum event_type type, int64_t after, int64_t before,
                           struct error *e)
{
    struct query q = query_for(t->store, deltas_sql, t->session_id, e);
    query_text(&q, event_name(type));
    query_int(&q, after);
    query_int(&q, before);
    query_int(&q, (int64_t)t->limit);
    return collect(t, &q, e);
}

/* What the log has between two neighbours among the whole events are deltas. */
static bool collect_gap(struct tail *t, int64_t after, int64_t before, struct error *e)
{
    if (before - after < 2)
        return true;
    return (t->text_done || collect_deltas(t, EVENT_TEXT_DELTA, after, before, e)) &&
           (t->reasoning_done || collect_deltas(t, EVENT_REASONING_DELTA, after, before, e)) &&
           (t->summary_done || collect_deltas(t, EVENT_COMPACTION_DELTA, after, before, e));
}

static bool begins_call(enum event_type type)
{
    return type == EVENT_CALL_STARTED || type == EVENT_TURN_STARTED;
}

static bool ends_compaction(enum event_type type)
{
    return type == EVENT_COMPACTION_COMPLETED || type == EVENT_COMPACTION_FAILED;
}

static void note_texts(struct tail *t, enum event_type type)
{
    t->text_done = t->text_done || type == EVENT_TEXT_COMPLETE;
    t->reasoning_done = t->reasoning_done || type == EVENT_REASONING_COMPLETE;
}

/* Going back over an event of this type. */
static void pass(struct tail *t, enum event_type type)
{
    if (begins_call(type))
        t->text_done = t->reasoning_done = false;
    if (begins_call(type) || type == EVENT_COMPACTION_STARTED)
        t->summary_done = false;
    t->summary_done = t->summary_done || ends_compaction(type);
    note_texts(t, type);
}

/* The model call or compaction that `before` is in may be completed behind it. */
static bool look_ahead(struct tail *t, int64_t before, struct error *e)
{
    bool another = false; /* compaction has begun */
    struct query q = query_for(t->store, types_from_sql, t->session_id, e);
    query_int(&q, before);
    while (query_next(&q)) {
        enum event_type type;
        if (!event_type_from_name((const char *)sqlite3_column_text(q.handle, 0), &type) ||
            begins_call(type))
            break;
        note_texts(t, type);
        another = another || type == EVENT_COMPACTION_STARTED;
        t->summary_done = t->summary_done || (!another && ends_compaction(type));
    }
    return query_end(&q);
}

static bool collect_whole(struct tail *t, int64_t before, struct error *e)
{
    struct query q = query_for(t->store, whole_before_sql, t->session_id, e);
    query_int(&q, before);
    query_int(&q, (int64_t)t->limit);
    return collect(t, &q, e);
}

/* Deltas are looked for between whole events until there are enough events without those further
 * back. */
static bool collect_tail(struct tail *t, int64_t before, struct error *e)
{
    if (!look_ahead(t, before, e) || !collect_whole(t, before, e))
        return false;
    size_t whole = t->found.items.len;
    t->bytes = 0; /* deltas are left out only together with what stands before them */
    for (size_t i = 0; i < whole; i++) {
        const struct event *ev = t->found.items.items[i];
        if (!collect_gap(t, ev->seq, before, e))
            return false;
        size_t deltas = t->found.items.len - whole;
        if (deltas + i + 1 >= t->limit)
            return true;
        pass(t, ev->type);
        before = ev->seq;
    }
    return t->full || collect_gap(t, 0, before, e);
}

static int by_seq(const void *a, const void *b)
{
    int64_t left = (*(struct event *const *)a)->seq;
    int64_t right = (*(struct event *const *)b)->seq;
    return (left > right) - (left < right);
}

static void drop_first(struct event_list *l, size_t count)
{
    for (size_t i = 0; i < count; i++)
        event_free(l->items.items[i]);
    vec_remove(&l->items, 0, count);
}

/* Older events, and with a run_started in the list what belongs to the run before it. */
static bool trim(struct event_list *l, size_t limit)
{
    size_t drop = l->items.len > limit ? l->items.len - limit : 0;
    for (size_t i = drop; i < l->items.len; i++) {
        if (l->items.items[i]->type == EVENT_TURN_STARTED) {
            drop = i;
            break;
        }
    }
    drop_first(l, drop);
    return drop > 0;
}

bool event_log_tail(struct store *s, const char *session_id, int64_t before, int limit,
                    size_t bytes, struct event_list *out, bool *more, struct error *e)
{
    assert(limit > 0);
    struct tail t = {
        .store = s, .session_id = session_id, .limit = (size_t)limit + 1, .bytes = bytes};
    *out = (struct event_list){0};
    *more = false;
    if (!collect_tail(&t, before > 0 ? before : INT64_MAX, e)) {
        event_list_release(&t.found);
        return false;
    }
    *out = t.found;
    vec_sort(&out->items, by_seq);
    *more = trim(out, (size_t)limit) || t.full;
    return true;
}
