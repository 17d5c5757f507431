#include "tests/record.h"
#include "index/transcripts.h"

#include "base/entropy.h"
#include "chat/session_info.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "tests/any_compaction.h"
#include "tests/suite.h"

void record_begin(struct record *r, struct store *store)
{
    *r = (struct record){.store = store, .now_ms = 1773065107123};
    session_info_init(&r->info);
    uuid_new(r->info.id);
    r->info.directory = mem_strdup("/home/ana/größe");
    r->info.provider = mem_strdup("openai");
    r->info.model = mem_strdup("m-1");
    r->info.created_ms = r->info.updated_ms = r->now_ms;
    record_save(r);
}

void record_release(struct record *r)
{
    session_info_release(&r->info);
}

void record_save(struct record *r)
{
    struct error e = {0};
    assert_ok(sessions_put(r->store, &r->info, &e), e);
}

void record_event(struct record *r, struct event *ev)
{
    struct error e = {0};
    ev->seq = r->info.last_seq + 1;
    ev->wall_ms = r->now_ms;
    r->now_ms += 1234;
    memcpy(ev->session_id, r->info.id, sizeof ev->session_id);
    assert_ok(transcripts_append(r->store, ev, &e), e);
    session_tally(&r->info, ev);
    if (ev->type == EVENT_TURN_STARTED)
        r->run_seq = ev->seq;
    event_free(ev);
}

static struct event *make(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->text = mem_strdup(text);
    if (type == EVENT_TOOL_CALL_REQUESTED || type == EVENT_TOOL_EXECUTION_COMPLETED) {
        ev->id = mem_strdup("c1");
        ev->name = mem_strdup("read_file");
    }
    return ev;
}

void record_add(struct record *r, enum event_type type, const char *text)
{
    record_event(r, make(type, text));
}

void record_run(struct record *r, const char *input, const char *answer)
{
    record_add(r, EVENT_TURN_STARTED, input);
    record_add(r, EVENT_CALL_STARTED, NULL);
    record_add(r, EVENT_TEXT_COMPLETE, answer);
    record_add(r, EVENT_CALL_COMPLETED, NULL);
    record_add(r, EVENT_TURN_COMPLETED, answer);
    record_save(r);
}

/* --- any shape -------------------------------------------------------------------------------- */

static bool maybe(double chance)
{
    return entropy_unit() < chance;
}

static size_t below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static const char *any_text(void)
{
    static const char *const texts[] = {
        "yes",
        "größer – 漢字 👩‍👩‍👧",
        "two\nlines\n",
        "\x1b[31mred\x1b[0m \x07 \xe2\x80\xae overridden",
        "# heading\n\n```c\nint x;\n```",
        "",
        "a \"quoted\" \\ back",
        "\xff\xfe broken",
    };
    return texts[below(sizeof texts / sizeof *texts)];
}

static struct usage any_usage(void)
{
    if (maybe(0.3))
        return USAGE_UNKNOWN;
    return (struct usage){.input = (int64_t)below(5000),
                          .output = (int64_t)below(900),
                          .cached = maybe(0.5) ? -1 : (int64_t)below(100),
                          .estimated = maybe(0.2)};
}

static void any_call(struct record *r)
{
    static const char *const args[] = {"{\"path\":\"x\"}", "{\"n\":12345678901234567890}", "{\"a",
                                       "\"word\"", "[\"a\\u0000b\"]"};
    record_add(r, EVENT_TOOL_CALL_REQUESTED, args[below(sizeof args / sizeof *args)]);
}

static void any_answer(struct record *r)
{
    record_add(r, EVENT_CALL_STARTED, NULL);
    if (maybe(0.3)) {
        struct event *ev = make(EVENT_REASONING_COMPLETE, any_text());
        ev->signature = mem_strdup(maybe(0.5) ? "sig" : NULL);
        record_event(r, ev);
    }
    for (size_t i = below(3); i > 0; i--)
        record_add(r, EVENT_TEXT_DELTA, any_text());
    if (maybe(0.2)) { /* the provider runs a tool while it answers */
        record_add(r, EVENT_TEXT_COMPLETE, any_text());
        any_call(r);
        struct event *ev = make(EVENT_TOOL_EXECUTION_COMPLETED, any_text());
        ev->signature = mem_strdup("null");
        record_event(r, ev);
    }
    if (maybe(0.8))
        record_add(r, EVENT_TEXT_COMPLETE, any_text());
    bool call = maybe(0.4);
    if (call)
        any_call(r);
    if (maybe(0.9)) {
        struct event *ev = make(EVENT_CALL_COMPLETED, NULL);
        ev->usage = any_usage();
        ev->used = maybe(0.5) ? entropy_unit() / 3 : 0;
        ev->model = mem_strdup(maybe(0.5) ? "m-1" : NULL);
        record_event(r, ev);
    }
    if (call && maybe(0.9)) {
        struct event *ev = make(EVENT_TOOL_EXECUTION_COMPLETED, any_text());
        ev->flag = maybe(0.3);
        ev->number = (int64_t)below(100000);
        record_event(r, ev);
    }
}

static void any_end(struct record *r)
{
    static const enum event_type ends[] = {EVENT_TURN_COMPLETED, EVENT_TURN_COMPLETED,
                                           EVENT_TURN_COMPLETED, EVENT_TURN_FAILED,
                                           EVENT_INTERRUPTED};
    struct event *ev = event_new(ends[below(sizeof ends / sizeof *ends)]);
    if (ev->type != EVENT_INTERRUPTED)
        ev->text = mem_strdup(any_text());
    if (ev->type == EVENT_TURN_FAILED)
        ev->name = mem_strdup("AGENT_ERROR");
    ev->number = (int64_t)below(60000);
    ev->usage = any_usage();
    record_event(r, ev);
}

static void fail_compaction(struct record *r)
{
    struct event *ev = make(EVENT_COMPACTION_FAILED, any_text());
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.reason = mem_strdup("llm");
    ev->compaction.failures = (int)below(4);
    ev->compaction.suspended = maybe(0.3);
    ev->usage = any_usage();
    record_event(r, ev);
}

static void undo_compaction(struct record *r, const struct history *h)
{
    struct event *ev = event_new(EVENT_COMPACTION_UNDONE);
    ev->number = vec_last(&h->compaction.in_force);
    record_event(r, ev);
}

static void compact(struct record *r, struct history *h)
{
    if (!h->running || maybe(0.2))
        history_drop_open_turn(h);
    struct event *ev = event_new(EVENT_COMPACTION_STARTED);
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.stage = mem_strdup("summary");
    ev->compaction.trigger = mem_strdup(h->running ? "estimate" : "manual");
    record_event(r, ev);
    for (size_t i = below(3); i > 0; i--)
        record_add(r, EVENT_COMPACTION_DELTA, any_text());
    if (maybe(0.2))
        fail_compaction(r);
    else if (maybe(0.9))
        record_event(r, any_compaction(h, any_text()));
}

void record_random_compaction(struct record *r)
{
    AUTO(history_release) struct history h = {0};
    struct error e = {0};
    assert_ok(snapshot_resume(r->store, r->info.id, &h, &e), e);
    if (h.compaction.in_force.len > 0 && maybe(0.3))
        undo_compaction(r, &h);
    else if (h.messages.len > 0)
        compact(r, &h);
}

void record_random_run(struct record *r)
{
    if (maybe(0.2))
        record_random_compaction(r);
    struct event *ev = make(EVENT_TURN_STARTED, any_text());
    if (maybe(0.2))
        ev->number = r->run_seq;
    if (maybe(0.2))
        ev->attachments = mem_strdup("[{\"type\":\"image\",\"text\":\"/tmp/a b.png\"}]");
    record_event(r, ev);
    for (size_t i = below(4); i > 0; i--) {
        any_answer(r);
        if (maybe(0.1))
            record_random_compaction(r);
    }
    if (maybe(0.9))
        any_end(r);
    record_save(r);
}

static bool add_line(void *out, const struct event *ev)
{
    auto_free char *line = event_to_line(ev);
    buf_addf(out, "%s\n", line);
    return true;
}

char *record_lines(struct store *store, const char *id)
{
    struct buf out = BUF_INIT;
    struct error e = {0};
    assert_ok(event_log_read(store, id, 0, add_line, &out, &e), e);
    return buf_take(&out);
}
