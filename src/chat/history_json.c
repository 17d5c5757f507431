#include "chat/history_private.h"

#include <limits.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "chat/figure.h"

#define VERSION 1

#define BUDGET(T, TYPE, member)                                                                    \
    SHAPE_FIELD(#member, TYPE, REQUIRED, SHAPE_AT(T, struct budget_told, member))

static const struct shape_field budget_fields[] = {
    BUDGET(char *, STRING, kind), BUDGET(double, NUMBER, limit), BUDGET(int, COUNT, percent), {0}};
static const struct shape budget_shape = {
    .name = "budget", .size = sizeof(struct budget_told), .fields = budget_fields};

static bool is_running(const void *history)
{
    return ((const struct history *)history)->running;
}

#define INTEGER(name, PRESENCE, member, ...)                                                       \
    SHAPE_FIELD(name, INTEGER, PRESENCE, SHAPE_AT(int64_t, struct history, member), __VA_ARGS__)
#define COUNT(name, PRESENCE, member, ...)                                                         \
    SHAPE_FIELD(name, COUNT, PRESENCE, SHAPE_AT(int, struct history, member), __VA_ARGS__)
#define TEXT(name, member)                                                                         \
    SHAPE_FIELD(name, STRING, OPTIONAL, SHAPE_AT(char *, struct history, member))
#define FLAG(name, member)                                                                         \
    SHAPE_FIELD(name, BOOLEAN, OPTIONAL, SHAPE_AT(bool, struct history, member))

static const struct shape_field fields[] = {
    INTEGER("applied_seq", REQUIRED, applied_seq, .least = 0),
    COUNT("turns", REQUIRED, turns, .least = 0),
    COUNT("calls", REQUIRED, calls, .least = 0),
    INTEGER("estimate", DEFAULT, estimate, .nearest = true),
    INTEGER("last_input", DEFAULT, last_input, .absent = -1, .least = -1,
            .most = (double)FIGURE_MAX, .nearest = true),
    TEXT("last_text", last_text),
    TEXT("last_attachments", last_attachments),
    INTEGER("last_run_seq", DEFAULT, last_turn_seq, .absent = 0),
    SHAPE_FIELD("usage", OBJECT, DEFAULT, SHAPE_AT(struct usage, struct history, usage),
                .of = &usage_shape),
    INTEGER("unpriced", DEFAULT, unpriced, .absent = 0),
    COUNT("last_attempt", DEFAULT, compaction.last_attempt, .absent = -1, .least = -1,
          .most = INT_MAX),
    COUNT("failures", DEFAULT, compaction.failures, .absent = 0),
    FLAG("suspended", compaction.suspended),
    TEXT("failed_mode", compaction.failed_mode),
    TEXT("failed_model", compaction.failed_model),
    TEXT("obstacle", compaction.obstacle),
    SHAPE_FIELD("budgets", LIST, OPTIONAL, offsetof(struct history, budgets), .of = &budget_shape,
                .most = HISTORY_MAX_BUDGETS),
    FLAG("running", running),
    INTEGER("run_seq", OPTIONAL, turn_seq, .there = is_running),
    INTEGER("call_seq", OPTIONAL, call_seq, .there = is_running),
    FLAG("run_shortened", turn_shortened),
    {0},
};

static const struct shape counters_shape = {
    .name = "counters", .size = sizeof(struct history), .fields = fields};

char *history_counters(const struct history *h)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_int(&o, "version", VERSION);
    json_out_int(&o, "messages", (int64_t)h->messages.len);
    shape_write_members(&counters_shape, h, &o);
    shape_write_members(&request_measure_shape, &h->measure, &o);
    json_out_name(&o, "compactions");
    json_out_open(&o, '[');
    for (size_t i = 0; i < h->compaction.in_force.len; i++)
        json_out_number(&o, h->compaction.in_force.items[i]);
    json_out_close(&o, ']');
    if (h->running)
        json_out_int(&o, "run_first", (int64_t)h->turn_first);
    json_out_close(&o, '}');
    return buf_take(&text);
}

/* The open turn stands on a user message that is there and begins it. */
static bool read_turn_first(const struct json *v, struct history *h)
{
    int64_t first = json_get_int(v, "run_first", -1);
    if (!h->running)
        return true;
    h->turn_first = (size_t)first;
    if (first < 0 || h->turn_first >= h->messages.len)
        return false;
    const struct message *m = &h->messages.items[first];
    return m->role == ROLE_USER && m->turn > 0;
}

static bool read_history(const struct json *v, struct history *h, struct error *e)
{
    int64_t version = json_get_int(v, "version", -1);
    struct error cause;
    if (version != VERSION)
        return err_set(e, ERR_SESSION_STORE_ERROR, "a snapshot of version %lld; known is %d",
                       (long long)version, VERSION);
    if (!shape_read(&counters_shape, v, h, &cause) ||
        !shape_read(&request_measure_shape, v, &h->measure, &cause))
        return err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot: %s", cause.text);
    for (const struct json *n = json_first(json_get(v, "compactions")); n; n = json_next(n))
        vec_push(&h->compaction.in_force, json_int(n, 0));
    return (json_get_int(v, "messages", -1) == (int64_t)h->messages.len && read_turn_first(v, h)) ||
           err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot do not fit");
}

bool history_restore(struct history *h, const char *counters, size_t len, struct error *e)
{
    /* Not as it is written: a snapshot may be of a program that wrote messages otherwise. */
    int64_t estimate = h->estimate;
    struct json *v = json_parse(counters, len, e);
    bool ok = v && read_history(v, h, e);
    json_free(v);
    h->estimate = estimate;
    if (!ok)
        history_release(h);
    return ok;
}
