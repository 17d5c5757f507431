/* A random log, in any order, folded: each call has its result directly after it, the history from
 * a snapshot is the same, and each event reads back with the same effect. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "chat/history.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_EVENTS = 200 };

static const enum event_type told[] = {
    EVENT_TURN_STARTED,      EVENT_CALL_STARTED,        EVENT_TEXT_COMPLETE,
    EVENT_CALL_COMPLETED,    EVENT_TOOL_CALL_REQUESTED, EVENT_TOOL_EXECUTION_COMPLETED,
    EVENT_TURN_COMPLETED,    EVENT_TURN_FAILED,         EVENT_INTERRUPTED,
    EVENT_MESSAGE_PINNED,    EVENT_REASONING_COMPLETE,  EVENT_COMPACTION_COMPLETED,
    EVENT_COMPACTION_FAILED, EVENT_TEXT_DELTA};

static void set_compaction(struct compaction *c, struct fuzz_input *in)
{
    size_t first = fuzz_below(in, 8), count = fuzz_below(in, 8);
    c->mode = mem_strdup("handoff");
    c->effective_mode = mem_strdup("handoff");
    c->stage = mem_strdup("summary");
    c->trigger = mem_strdup(fuzz_bool(in) ? "manual" : "estimate");
    c->history = first == 7
                     ? fuzz_string(in)
                     : mem_printf(
                           "[{\"message\":{\"role\":\"user\",\"seq\":1,\"turn\":1,\"summary\":true,"
                           "\"content\":[{\"type\":\"text\",\"text\":\"sum\"}]}},[%zu,%zu]]",
                           first, count);
    c->dropped = mem_strdup("[]");
}

static struct event *make_event(struct fuzz_input *in, int64_t seq)
{
    struct event *ev = event_new(told[fuzz_below(in, sizeof told / sizeof *told)]);
    bool tool = ev->type == EVENT_TOOL_CALL_REQUESTED || ev->type == EVENT_TOOL_EXECUTION_COMPLETED;
    bool compacts = ev->type == EVENT_COMPACTION_COMPLETED || ev->type == EVENT_COMPACTION_FAILED;
    ev->seq = seq;
    ev->number = (int64_t)fuzz_below(in, (size_t)seq + 1);
    ev->flag = fuzz_bool(in);
    if (ev->type == EVENT_COMPACTION_COMPLETED)
        set_compaction(&ev->compaction, in);
    else if (compacts) {
        ev->compaction.mode = mem_strdup("handoff");
        ev->compaction.reason = mem_strdup("llm");
    }
    if (tool) {
        /* Few different ids, so that results meet calls. */
        ev->id = mem_printf("call%zu", fuzz_below(in, 4));
        ev->name = mem_strdup("read_file");
    }
    if (ev->type == EVENT_TURN_FAILED)
        ev->name = mem_strdup("AGENT_ERROR");
    bool texts = ev->type != EVENT_CALL_STARTED && ev->type != EVENT_CALL_COMPLETED &&
                 ev->type != EVENT_INTERRUPTED && ev->type != EVENT_MESSAGE_PINNED;
    if (texts)
        ev->text = fuzz_string(in);
    if (ev->type == EVENT_TURN_STARTED && !*ev->text) { /* nobody sends nothing */
        free(ev->text);
        ev->text = mem_strdup("?");
    }
    return ev;
}

/* The event as the log returns it: arguments of a call are then compact JSON. */
static struct event *reread(const struct event *ev)
{
    struct event *read;
    struct error e = {0};
    auto_free char *payload = event_payload(ev);
    bool ok =
        event_from_payload(ev->type, event_version(ev->type), payload, strlen(payload), &read, &e);
    FUZZ_CHECK_ERROR(ok, &e);
    read->seq = ev->seq;
    return read;
}

static void check_same(const struct history *a, const struct history *b)
{
    auto_free char *x = history_counters(a), *y = history_counters(b);
    FUZZ_CHECK_SAME(x, y);
    FUZZ_CHECK(a->messages.len == b->messages.len && a->estimate == b->estimate);
}

static void check_restored(const struct history *h)
{
    AUTO(history_release) struct history again = {0};
    struct error e = {0};
    auto_free char *counters = history_counters(h);
    history_init(&again);
    for (size_t i = 0; i < h->messages.len; i++)
        history_add_saved(&again, message_clone(&h->messages.items[i]));
    FUZZ_CHECK_ERROR(history_restore(&again, counters, strlen(counters), &e), &e);
    check_same(h, &again);
}

static size_t count_calls(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        count += m->blocks.items[i].type == type && strcmp(m->blocks.items[i].id, id) == 0;
    return count;
}

/* Providers refuse a call without a result, and a result without a call. */
static void check_calls(const struct history *h)
{
    static const struct message none = {.role = ROLE_USER};
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        const struct message *before = i > 0 ? m - 1 : &none;
        const struct message *next = i + 1 < h->messages.len ? m + 1 : &none;
        FUZZ_CHECK(m->role != ROLE_TOOL || before->role == ROLE_ASSISTANT);
        for (size_t k = 0; k < m->blocks.len; k++) {
            const struct block *b = &m->blocks.items[k];
            if (b->type == BLOCK_TOOL_CALL)
                FUZZ_CHECK(count_calls(m, BLOCK_TOOL_CALL, b->id) ==
                           count_calls(next, BLOCK_TOOL_RESULT, b->id));
            if (b->type == BLOCK_TOOL_RESULT)
                FUZZ_CHECK(count_calls(before, BLOCK_TOOL_CALL, b->id) > 0);
        }
    }
}

int fuzz_history(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    AUTO(history_release) struct history h = {0}, again = {0};
    bool compacted = false;
    history_init(&h);
    history_init(&again);
    for (int64_t seq = 1; in.left > 0 && seq <= MOST_EVENTS; seq++) {
        struct event *ev = make_event(&in, seq);
        compacted = compacted || ev->type == EVENT_COMPACTION_COMPLETED;
        struct event *logged = reread(ev), *twice = reread(logged);
        history_apply(&h, logged);
        history_apply(&again, twice);
        event_free(twice);
        event_free(logged);
        event_free(ev);
    }
    check_same(&h, &again);
    int64_t sum = 0;
    for (size_t i = 0; i < h.estimates.len; i++)
        sum += h.estimates.items[i];
    FUZZ_CHECK(h.estimates.len == h.messages.len && h.estimate == sum);
    check_restored(&h);
    history_drop_open_turn(&h);
    if (!compacted) /* a compaction names the kept messages itself */
        check_calls(&h);
    return 0;
}
