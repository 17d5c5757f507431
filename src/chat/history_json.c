#include "chat/history_private.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "chat/figure.h"

#define VERSION 2 /* 1 held the messages as well */

static void write_turn(struct json_out *o, const struct history *h)
{
    if (!h->running)
        return;
    json_out_flag(o, "running", true);
    json_out_int(o, "run_seq", h->turn_seq);
    json_out_int(o, "run_first", (int64_t)h->turn_first);
    json_out_int(o, "call_seq", h->call_seq);
    json_out_flag(o, "run_shortened", h->turn_shortened);
}

static void write_compactions(struct json_out *o, const struct compaction_state *s)
{
    json_out_name(o, "compactions");
    json_out_open(o, '[');
    for (size_t i = 0; i < s->in_force.len; i++)
        json_out_number(o, s->in_force.items[i]);
    json_out_close(o, ']');
    json_out_int(o, "last_attempt", s->last_attempt);
    json_out_int(o, "failures", s->failures);
    json_out_flag(o, "suspended", s->suspended);
    json_out_member(o, "failed_mode", s->failed_mode);
    json_out_member(o, "failed_model", s->failed_model);
    json_out_member(o, "obstacle", s->obstacle);
}

static void write_budgets(struct json_out *o, const struct history *h)
{
    if (h->budgets.len == 0)
        return;
    json_out_name(o, "budgets");
    json_out_open(o, '[');
    for (size_t i = 0; i < h->budgets.len; i++) {
        json_out_open(o, '{');
        json_out_member(o, "kind", h->budgets.items[i].kind);
        json_out_real(o, "limit", figure_bounded_real(h->budgets.items[i].limit));
        json_out_int(o, "percent", h->budgets.items[i].percent);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

char *history_counters(const struct history *h)
{
    struct buf text = BUF_INIT;
    struct json_out o = {.buf = &text};
    json_out_open(&o, '{');
    json_out_int(&o, "version", VERSION);
    json_out_int(&o, "messages", (int64_t)h->messages.len);
    json_out_int(&o, "applied_seq", h->applied_seq);
    json_out_int(&o, "turns", h->turns);
    json_out_int(&o, "calls", h->calls);
    json_out_int(&o, "estimate", h->estimate);
    json_out_int(&o, "last_input", figure_known(h->last_input));
    request_measure_write(&o, &h->measure);
    json_out_member(&o, "last_text", h->last_text);
    json_out_member(&o, "last_attachments", h->last_attachments);
    json_out_int(&o, "last_run_seq", h->last_turn_seq);
    json_out_name(&o, "usage");
    shape_write(&usage_shape, &h->usage, &o);
    json_out_int(&o, "unpriced", h->unpriced);
    write_compactions(&o, &h->compaction);
    write_budgets(&o, h);
    write_turn(&o, h);
    json_out_close(&o, '}');
    return buf_take(&text);
}

static bool read_counters(const struct json *v, struct history *h)
{
    int64_t turns = json_get_int(v, "turns", -1);
    const struct json *usage = json_get(v, "usage");
    struct error e;
    shape_init(&usage_shape, &h->usage);
    h->applied_seq = json_get_int(v, "applied_seq", -1);
    h->last_input = figure_known(json_get_int(v, "last_input", -1));
    h->measure = request_measure_read(v);
    h->last_text = mem_strdup(json_get_string(v, "last_text"));
    h->last_attachments = mem_strdup(json_get_string(v, "last_attachments"));
    h->last_turn_seq = json_get_int(v, "last_run_seq", 0);
    h->unpriced = json_get_int(v, "unpriced", 0);
    h->turns = (int)turns;
    return h->applied_seq >= 0 && h->unpriced >= 0 && turns >= 0 && turns <= INT32_MAX &&
           json_get_int(v, "messages", -1) == (int64_t)h->messages.len &&
           (!usage || shape_read(&usage_shape, usage, &h->usage, &e));
}

/* Older snapshots know nothing of compactions. */
static bool read_compactions(const struct json *v, struct compaction_state *s)
{
    int64_t last_attempt = json_get_int(v, "last_attempt", -1);
    int64_t failures = json_get_int(v, "failures", 0);
    for (const struct json *n = json_first(json_get(v, "compactions")); n; n = json_next(n))
        vec_push(&s->in_force, json_int(n, 0));
    s->last_attempt = (int)last_attempt;
    s->failures = (int)failures;
    s->suspended = json_get_bool(v, "suspended", false);
    s->failed_mode = mem_strdup(json_get_string(v, "failed_mode"));
    s->failed_model = mem_strdup(json_get_string(v, "failed_model"));
    s->obstacle = mem_strdup(json_get_string(v, "obstacle"));
    return last_attempt >= -1 && last_attempt <= INT32_MAX && failures >= 0 &&
           failures <= INT32_MAX;
}

/* Older snapshots count attempts in turns, of which each has a model call at least. */
static bool read_calls(const struct json *v, struct history *h)
{
    int64_t calls = json_get_int(v, "calls", h->turns - (h->running ? 1 : 0));
    h->calls = (int)calls;
    return calls >= 0 && calls <= INT32_MAX;
}

/* Older snapshots know nothing of these either: a warning is then given once more. */
static void read_budgets(const struct json *v, struct history *h)
{
    const struct json *b = json_first(json_get(v, "budgets"));
    for (; b && h->budgets.len < HISTORY_MAX_BUDGETS; b = json_next(b)) {
        const char *kind = json_get_string(b, "kind");
        struct budget_told told = {.kind = mem_strdup(kind ? kind : ""),
                                   .limit = json_number(json_get(b, "limit"), 0),
                                   .percent = (int)json_get_int(b, "percent", 0)};
        vec_push(&h->budgets, told);
    }
}

/* The open turn stands on a user message that is there and begins it. */
static bool read_turn(const struct json *v, struct history *h)
{
    h->running = json_get_bool(v, "running", false);
    if (!h->running)
        return true;
    int64_t first = json_get_int(v, "run_first", -1);
    h->turn_seq = json_get_int(v, "run_seq", 0);
    h->call_seq = json_get_int(v, "call_seq", 0);
    h->turn_shortened = json_get_bool(v, "run_shortened", false);
    h->turn_first = (size_t)first;
    if (first < 0 || h->turn_first >= h->messages.len)
        return false;
    const struct message *m = &h->messages.items[first];
    return m->role == ROLE_USER && m->turn > 0;
}

static bool read_history(const struct json *v, struct history *out, struct error *e)
{
    int64_t version = json_get_int(v, "version", -1);
    if (version != VERSION)
        return err_set(e, ERR_SESSION_STORE_ERROR, "a snapshot of version %lld; known is %d",
                       (long long)version, VERSION);
    read_budgets(v, out);
    if (!read_counters(v, out) || !read_compactions(v, &out->compaction) || !read_turn(v, out) ||
        !read_calls(v, out))
        return err_set(e, ERR_SESSION_STORE_ERROR, "the counters of a snapshot do not fit");
    return true;
}

bool history_restore(const char *counters, size_t len, struct message *messages, size_t count,
                     struct history *out, struct error *e)
{
    history_init(out);
    out->messages.items = messages;
    out->messages.len = out->messages.cap = out->unsaved = count;
    /* Counted anew: a snapshot may be of a program that wrote messages otherwise. */
    for (size_t i = 0; i < count; i++) {
        vec_push(&out->estimates, message_estimate_tokens(&messages[i]));
        out->estimate += vec_last(&out->estimates);
    }
    struct json *v = json_parse(counters, len, e);
    bool ok = v && read_history(v, out, e);
    json_free(v);
    if (!ok)
        history_release(out);
    return ok;
}
