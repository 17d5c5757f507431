/* The fold of events into messages: each rule, and what must hold for any sequence of events. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "chat/history.h"
#include "tests/any_compaction.h"
#include "tests/history_check.h"
#include "tests/suite.h"
#include "tests/support.h"

static int64_t next_seq;

static struct event *ev_new(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = ++next_seq;
    ev->text = mem_strdup(text);
    return ev;
}

static int64_t apply(struct history *h, struct event *ev)
{
    int64_t seq = ev->seq;
    history_apply(h, ev);
    event_free(ev);
    return seq;
}

static int64_t say(struct history *h, enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = ++next_seq;
    if (text)
        ev->text = mem_strdup(text);
    return apply(h, ev);
}

static struct event *call_event(const char *id)
{
    struct event *ev = ev_new(EVENT_TOOL_CALL_REQUESTED, "{}");
    ev->id = mem_strdup(id);
    ev->name = mem_strdup("read_file");
    return ev;
}

static struct event *result_event(const char *id)
{
    struct event *ev = ev_new(EVENT_TOOL_EXECUTION_COMPLETED, "content");
    ev->id = mem_strdup(id);
    ev->name = mem_strdup("read_file");
    return ev;
}

static struct event *failed_event(void)
{
    struct event *ev = ev_new(EVENT_TURN_FAILED, "no connection");
    ev->name = mem_strdup("AGENT_ERROR");
    return ev;
}

static int64_t retry(struct history *h, const char *text, int64_t seq)
{
    struct event *ev = ev_new(EVENT_TURN_STARTED, text);
    ev->number = seq;
    return apply(h, ev);
}

static int64_t whole_run(struct history *h, const char *question, const char *answer)
{
    int64_t seq = say(h, EVENT_TURN_STARTED, question);
    say(h, EVENT_CALL_STARTED, NULL);
    say(h, EVENT_TEXT_DELTA, "ignored");
    say(h, EVENT_TEXT_COMPLETE, answer);
    say(h, EVENT_CALL_COMPLETED, NULL);
    say(h, EVENT_TURN_COMPLETED, answer);
    return seq;
}

/* The history in short: "u:hi a:hello,call*; t:call!", with * for partial and ! for an error. */
static char *sketch(const struct history *h)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < h->messages.len; i++) {
        const struct message *m = &h->messages.items[i];
        buf_addf(&out, "%s%c%s:", i ? " " : "", role_name(m->role)[0], m->partial ? "*" : "");
        for (size_t j = 0; j < m->blocks.len; j++) {
            const struct block *b = &m->blocks.items[j];
            const char *shown = b->id ? b->id : b->text;
            buf_addf(&out, "%s%s%s", j ? "," : "", shown, b->is_error ? "!" : "");
        }
    }
    return support_keep(buf_take(&out));
}

static void check(const struct history *h, const char *wanted)
{
    char *got = sketch(h);
    assert_string_equal(got, wanted);
}

FIXTURE(support_setup, support_teardown);

TEST(test_a_run)
{
    struct history h;
    history_init(&h);
    int64_t seq = whole_run(&h, "hi", "hello");
    check(&h, "u:hi a:hello");
    assert_int_equal(h.turns, 1);
    assert_int_equal(h.messages.items[0].seq, seq);
    assert_int_equal(h.messages.items[1].seq, seq + 1);
    assert_int_equal(h.messages.items[1].turn, 1);
    assert_int_equal(h.applied_seq, next_seq);
    assert_int_equal(h.last_turn_seq, seq);
    assert_string_equal(h.last_text, "hi");
    assert_false(h.running);
    history_release(&h);
}

TEST(test_tool_calls)
{
    struct history h;
    history_init(&h);
    say(&h, EVENT_TURN_STARTED, "q");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_REASONING_COMPLETE, "think");
    say(&h, EVENT_TEXT_COMPLETE, "looking");
    apply(&h, call_event("c1"));
    apply(&h, call_event("c2"));
    apply(&h, result_event("c1"));
    apply(&h, result_event("c1")); /* a second result for it has no call */
    apply(&h, result_event("c9"));
    apply(&h, result_event("c2"));
    say(&h, EVENT_CALL_COMPLETED, NULL);
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "done");
    say(&h, EVENT_TEXT_COMPLETE, "");
    say(&h, EVENT_TURN_COMPLETED, "done");
    check(&h, "u:q a:think,looking,c1,c2 t:c1,c2 a:done");
    history_release(&h);
}

TEST(test_a_next_call_begins_a_message)
{
    struct history h;
    history_init(&h);
    say(&h, EVENT_TURN_STARTED, "q");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "one");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "two");
    check(&h, "u:q a:one a:two");
    history_release(&h);
}

TEST(test_open_calls_are_answered)
{
    static const enum event_type ends[] = {EVENT_CALL_STARTED, EVENT_INTERRUPTED};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct history h;
        history_init(&h);
        say(&h, EVENT_TURN_STARTED, "q");
        say(&h, EVENT_CALL_STARTED, NULL);
        apply(&h, call_event("c1"));
        apply(&h, call_event("c2"));
        apply(&h, call_event("c1"));
        apply(&h, result_event("c1"));
        say(&h, ends[i], NULL);
        check(&h, i == 0 ? "u:q a:c1,c2,c1 t:c1,c1!,c2!" : "u:q a*:c1,c2,c1 t:c1,c1!,c2!");
        history_release(&h);
    }
}

TEST(test_a_completed_run_answers_open_calls)
{
    struct history h;
    history_init(&h);
    say(&h, EVENT_TURN_STARTED, "q");
    apply(&h, call_event("c1"));
    say(&h, EVENT_TURN_COMPLETED, "too many rounds");
    check(&h, "u:q a:c1 t:c1!");
    history_release(&h);
}

TEST(test_interrupted)
{
    struct history h;
    history_init(&h);
    say(&h, EVENT_TURN_STARTED, "q");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "half");
    apply(&h, call_event("c1"));
    say(&h, EVENT_INTERRUPTED, NULL);
    check(&h, "u:q a*:half,c1 t:c1!");
    assert_false(h.running);

    say(&h, EVENT_TURN_STARTED, "nothing came");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_INTERRUPTED, NULL);
    check(&h, "u:q a*:half,c1 t:c1! u:nothing came");
    assert_int_equal(h.turns, 2);

    say(&h, EVENT_TURN_STARTED, "only thoughts");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_REASONING_COMPLETE, "hm");
    say(&h, EVENT_INTERRUPTED, NULL);
    check(&h, "u:q a*:half,c1 t:c1! u:nothing came u:only thoughts");
    history_release(&h);
}

TEST(test_failed)
{
    struct history h;
    history_init(&h);
    whole_run(&h, "a", "b");
    int64_t seq = say(&h, EVENT_TURN_STARTED, "gone");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_REASONING_COMPLETE, "hm");
    apply(&h, failed_event());
    check(&h, "u:a a:b");
    assert_int_equal(h.turns, 1);
    assert_string_equal(h.last_text, "gone"); /* to be sent again */
    assert_int_equal(h.last_turn_seq, seq);

    retry(&h, "gone", seq);
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "some");
    say(&h, EVENT_CALL_STARTED, NULL);
    apply(&h, failed_event());
    check(&h, "u:a a:b u:gone a*:some");
    assert_int_equal(h.turns, 2);
    history_release(&h);
}

TEST(test_retry_drops_from_the_retried_run_on)
{
    struct history h;
    history_init(&h);
    whole_run(&h, "a", "b");
    int64_t second = whole_run(&h, "c", "d");
    whole_run(&h, "e", "f");
    retry(&h, "c2", second);
    check(&h, "u:a a:b u:c2");
    assert_int_equal(h.turns, 2);
    assert_int_equal(h.messages.items[2].turn, 2);
    say(&h, EVENT_TURN_COMPLETED, "");
    retry(&h, "x", second); /* it is gone already */
    check(&h, "u:a a:b u:c2 u:x");
    history_release(&h);
}

TEST(test_a_crash_takes_the_run_back)
{
    struct history h;
    history_init(&h);
    whole_run(&h, "a", "b");
    say(&h, EVENT_TURN_STARTED, "crashed");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "half");
    whole_run(&h, "c", "d");
    check(&h, "u:a a:b u:c a:d");
    assert_int_equal(h.turns, 2);

    int64_t seq = say(&h, EVENT_TURN_STARTED, "again");
    apply(&h, call_event("c1"));
    assert_true(history_drop_open_turn(&h));
    assert_false(history_drop_open_turn(&h));
    check(&h, "u:a a:b u:c a:d");
    assert_int_equal(h.last_turn_seq, seq);
    assert_string_equal(h.last_text, "again");
    history_release(&h);
}

TEST(test_events_are_applied_once)
{
    struct history h;
    history_init(&h);
    struct event *ev = ev_new(EVENT_TURN_STARTED, "a");
    history_apply(&h, ev);
    history_apply(&h, ev);
    check(&h, "u:a");
    event_free(ev);
    history_release(&h);
}

TEST(test_usage)
{
    struct history h;
    history_init(&h);
    assert_int_equal(h.last_input, -1);
    say(&h, EVENT_TURN_STARTED, "a");
    struct event *ev = ev_new(EVENT_CALL_COMPLETED, NULL);
    ev->usage = (struct usage){.input = 10, .output = 3, .cached = 4};
    ev->used = 0; /* it costs nothing, which is known */
    apply(&h, ev);
    assert_int_equal(h.last_input, 10);
    assert_int_equal(h.unpriced, 0);
    ev = ev_new(EVENT_INTERRUPTED, NULL);
    ev->usage = (struct usage){.input = 20, .output = 1, .cached = -1, .estimated = true};
    apply(&h, ev);
    assert_int_equal(h.usage.input, 30);
    assert_int_equal(h.usage.output, 4);
    assert_int_equal(h.usage.cached, 4);
    assert_true(h.usage.estimated);
    assert_int_equal(h.unpriced, 1);
    assert_int_equal(h.last_input, 10);
    say(&h, EVENT_TURN_STARTED, "b");
    ev = ev_new(EVENT_TURN_COMPLETED, "x"); /* its usage is a sum of what was counted */
    ev->usage = (struct usage){.input = 20, .output = 1, .cached = -1};
    apply(&h, ev);
    assert_int_equal(h.usage.input, 30);
    history_release(&h);
}

TEST(test_attachments)
{
    struct history h;
    history_init(&h);
    struct event *ev = ev_new(EVENT_TURN_STARTED, "what is this?");
    ev->attachments = mem_strdup(
        "[{\"type\":\"image\",\"text\":\"/x.png\",\"media_type\":\"image/png\"},"
        "{\"type\":\"riddle\"}]");
    apply(&h, ev);
    check(&h, "u:/x.png,what is this?");
    assert_int_equal(h.messages.items[0].blocks.items[0].type, BLOCK_IMAGE);
    assert_string_equal(h.last_text, "what is this?");
    history_release(&h);
}

/* Copies of the messages, as history_restore() takes them. */
static struct message *clone_messages(const struct history *h)
{
    VEC(struct message) copy = {0};
    for (size_t i = 0; i < h->messages.len; i++)
        vec_push(&copy, message_clone(&h->messages.items[i]));
    return copy.items;
}

static void refuse(const struct history *messages, const char *counters)
{
    struct history h;
    struct error e = {0};
    assert_false(history_restore(counters, strlen(counters), clone_messages(messages),
                                 messages->messages.len, &h, &e));
    assert_int_not_equal(e.text[0], '\0');
    assert_int_equal(h.messages.len, 0);
}

TEST(test_refuses_a_broken_snapshot)
{
    struct history h, empty;
    history_init(&h);
    history_init(&empty);
    say(&h, EVENT_TURN_STARTED, "a");
    char *text = support_keep(history_counters(&h));
    size_t len = strlen(text);
    for (size_t cut = 0; cut < len; cut++) {
        char *part = support_keep(mem_strndup(text, cut));
        refuse(&h, part);
    }
    refuse(&empty, text); /* its message is missing */
    refuse(&empty, "{\"version\":1,\"applied_seq\":0,\"turns\":0,\"messages\":0}");
    refuse(&empty, "{\"version\":2,\"applied_seq\":-1,\"turns\":0,\"messages\":0}");
    refuse(&empty, "{\"version\":2,\"applied_seq\":5,\"turns\":-1,\"messages\":0}");
    refuse(&empty, "{\"version\":2,\"applied_seq\":5,\"turns\":1,\"messages\":1}");
    refuse(&empty,
           "{\"version\":2,\"applied_seq\":5,\"turns\":1,\"messages\":0,\"calls\":-1}");
    refuse(&empty,
           "{\"version\":2,\"applied_seq\":5,\"turns\":1,\"messages\":0,"
           "\"running\":true,\"run_first\":0}");
    history_release(&h);
}

TEST(test_what_a_snapshot_lacks)
{
    struct history h;
    history_init(&h);
    whole_run(&h, "a", "b");
    assert_int_equal(h.unsaved, 0);
    h.unsaved = h.messages.len;
    int64_t second = whole_run(&h, "c", "d");
    assert_int_equal(h.unsaved, 2);
    h.unsaved = h.messages.len;
    say(&h, EVENT_TURN_STARTED, "e");
    say(&h, EVENT_TEXT_COMPLETE, "f");
    h.unsaved = h.messages.len;
    say(&h, EVENT_TEXT_COMPLETE, "g"); /* more of a message that was saved */
    assert_int_equal(h.unsaved, 5);
    h.unsaved = h.messages.len;
    say(&h, EVENT_INTERRUPTED, NULL); /* only marks it */
    assert_int_equal(h.unsaved, 5);
    h.unsaved = h.messages.len;
    retry(&h, "c2", second);
    assert_int_equal(h.unsaved, 2);
    h.unsaved = h.messages.len;
    history_drop_open_turn(&h);
    assert_int_equal(h.unsaved, 2);
    history_release(&h);
}

/* ---- compactions ---- */

static int64_t compact(struct history *h, const char *rebuild, const char *trigger)
{
    struct event *ev = ev_new(EVENT_COMPACTION_COMPLETED, "s");
    ev->compaction.history = mem_strdup(rebuild);
    ev->compaction.trigger = mem_strdup(trigger);
    ev->usage = (struct usage){.input = 5, .output = 1, .cached = -1};
    return apply(h, ev);
}

#define SUMMARY(seq, turn)                                                                         \
    "{\"message\":{\"role\":\"user\",\"seq\":" seq ",\"turn\":" turn                               \
    ",\"summary\":true,\"content\":[{\"type\":\"text\",\"text\":\"S\"}]}}"

TEST(test_a_compaction)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    whole_run(&h, "a", "b");
    int64_t second = whole_run(&h, "c", "d");
    h.last_input = 99;
    h.unsaved = h.messages.len;
    int64_t seq = compact(&h, "[" SUMMARY("1", "1") ",[2,2]]", "manual");
    assert_int_equal(h.messages.len, 3);
    assert_true(h.messages.items[0].summary);
    assert_int_equal(h.messages.items[1].seq, second);
    assert_int_equal(h.unsaved, 0);
    assert_int_equal(h.last_input, -1);
    assert_int_equal(h.turns, 2);
    assert_int_equal(h.applied_seq, seq);
    assert_int_equal(h.compaction.in_force.len, 1);
    assert_int_equal(h.compaction.in_force.items[0], seq);
    assert_int_equal(h.compaction.last_attempt, 2);
    retry(&h, "c2", 1); /* a summary is never retried */
    assert_int_equal(h.messages.len, 4);
    retry(&h, "c3", second);
    assert_int_equal(h.messages.len, 2);
    assert_int_equal(h.turns, 2);
    history_release(&h);
}

static void answered(struct history *h, const char *question, int64_t input, int64_t output)
{
    say(h, EVENT_TURN_STARTED, question);
    say(h, EVENT_TEXT_COMPLETE, "an answer");
    struct event *ev = ev_new(EVENT_CALL_COMPLETED, NULL);
    ev->usage = (struct usage){.input = input, .output = output, .cached = -1};
    apply(h, ev);
    apply(h, ev_new(EVENT_TURN_COMPLETED, "an answer"));
}

/* What the provider counted holds for the history that it was sent. */
TEST(test_the_request_is_measured)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    assert_int_equal(h.measure.tokens, -1);
    answered(&h, "a", 1000, 50);
    assert_int_equal(h.measure.tokens, 1050);
    assert_int_equal(h.measure.history, h.estimate);
    answered(&h, "not counted", -1, -1);
    assert_int_equal(h.measure.tokens, 1050);
    assert_true(h.measure.history < h.estimate);
    struct event *ev = ev_new(EVENT_COMPACTION_COMPLETED, "s");
    ev->compaction.history = mem_strdup("[[2,2]]");
    ev->compaction.trigger = mem_strdup("manual");
    ev->compaction.request_before = 1100;
    ev->compaction.request_after = 700;
    apply(&h, ev);
    assert_int_equal(h.measure.tokens, 700);
    assert_int_equal(h.measure.history, h.estimate);
    assert_true(h.measure.estimated);
    answered(&h, "b", 720, 10);
    assert_int_equal(h.measure.tokens, 730);
    assert_false(h.measure.estimated);
    ev = ev_new(EVENT_COMPACTION_UNDONE, NULL);
    ev->number = 1;
    apply(&h, ev);
    assert_int_equal(h.measure.tokens, -1);
    answered(&h, "c", 1500, 10);
    compact(&h, "[[0,2]]", "manual"); /* of an older program */
    assert_int_equal(h.measure.tokens, -1);
    history_release(&h);
}

TEST(test_what_is_saved_before_it_stays_saved)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    whole_run(&h, "a", "b");
    whole_run(&h, "c", "d");
    h.unsaved = h.messages.len;
    compact(&h, "[[0,4]]", "manual");
    assert_int_equal(h.unsaved, 4);
    compact(&h,
            "[[0,2],{\"of\":2,\"message\":{\"role\":\"user\",\"seq\":7,\"turn\":2,"
            "\"content\":[{\"type\":\"text\",\"text\":\"C\"}]}},[3,1]]",
            "manual");
    assert_int_equal(h.unsaved, 2);
    assert_string_equal(h.messages.items[2].blocks.items[0].text, "C");
    history_release(&h);
}

/* The answers of a run may all be in the summary: it has answered even so. */
TEST(test_within_a_run)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    whole_run(&h, "a", "b");
    int64_t run = say(&h, EVENT_TURN_STARTED, "c");
    say(&h, EVENT_CALL_STARTED, NULL);
    apply(&h, call_event("c1"));
    apply(&h, result_event("c1"));
    compact(&h, "[" SUMMARY("1", "1") ",[2,1]]", "estimate");
    assert_int_equal(h.messages.len, 2);
    assert_int_equal(h.turn_first, 1);
    assert_int_equal(h.messages.items[1].seq, run);
    say(&h, EVENT_CALL_STARTED, NULL);
    apply(&h, failed_event());
    assert_int_equal(h.messages.len, 2);
    assert_false(h.running);
    say(&h, EVENT_TURN_STARTED, "d");
    apply(&h, failed_event()); /* that was of the other run */
    assert_int_equal(h.messages.len, 2);
    history_release(&h);
}

/* What the model says after one is a message of its own. */
TEST(test_within_a_call)
{
    struct history h;
    history_init(&h);
    next_seq = 0;
    whole_run(&h, "a", "b");
    say(&h, EVENT_TURN_STARTED, "c");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_TEXT_COMPLETE, "d");
    compact(&h, "[" SUMMARY("1", "1") ",[2,2]]", "overflow");
    say(&h, EVENT_TEXT_COMPLETE, "e");
    assert_int_equal(h.messages.len, 4);
    assert_int_equal(h.messages.items[2].blocks.len, 1);
    assert_int_equal(h.messages.items[3].seq, next_seq);
    history_release(&h);
}

/* A shortened message stands for the one it was. */
TEST(test_rewrites_that_do_not_fit)
{
    static const char *const texts[] = {"\"user\",\"seq\":8,\"turn\":2",
                                        "\"user\",\"seq\":7,\"turn\":1",
                                        "\"assistant\",\"seq\":7,\"turn\":2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct history h;
        history_init(&h);
        next_seq = 0;
        whole_run(&h, "a", "b");
        whole_run(&h, "c", "d");
        char *rebuild = support_text(
            "[[0,2],{\"of\":2,\"message\":{\"role\":%s,\"content\":"
            "[{\"type\":\"text\",\"text\":\"x\"}]}}]",
            texts[i]);
        compact(&h, rebuild, "manual");
        if (h.messages.len != 4)
            fail_msg("taken: %s", rebuild);
        history_release(&h);
    }
}

TEST(test_by_hand_takes_an_open_run_back)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    whole_run(&h, "a", "b");
    say(&h, EVENT_TURN_STARTED, "c");
    say(&h, EVENT_TEXT_COMPLETE, "d");
    compact(&h, "[[0,2]]", "manual");
    assert_false(h.running);
    assert_int_equal(h.messages.len, 2);
    assert_int_equal(h.turns, 1);
    assert_int_equal(h.compaction.in_force.len, 1);
    assert_int_equal(h.compaction.last_attempt, 1);
    history_release(&h);
}

TEST(test_those_that_do_not_fit)
{
    static const char *const texts[] = {
        "",
        "[[0,9]]",
        "[[1,1]]",                                 /* begins with an answer */
        "[[0,2]," SUMMARY("99999", "1") ",[3,1]]", /* of events to come, and no running message */
        "[[0,3]," SUMMARY("99999", "1") "]",
        "[[0,3]," SUMMARY("2", "1") "]",  /* out of order */
        "[[0,3]," SUMMARY("90", "0") "]", /* turns that fall */
        "[[0,3]," SUMMARY("90", "9") "]", /* a turn to come */
        "[" SUMMARY("1", "0") ",[1,3]]",  /* a turn before the first */
        "[[0,2]]",                        /* the running turn's message */
        "[[0,2],{\"of\":2,\"message\":{\"role\":\"assistant\",\"seq\":5,\"turn\":2,\"content\":"
        "[{\"type\":\"text\",\"text\":\"x\"}]}}]",
        "[[0,3],{\"message\":{\"role\":\"assistant\",\"seq\":90,\"turn\":2,\"content\":"
        "[{\"type\":\"tool_call\",\"id\":\"a\",\"name\":\"n\",\"text\":\"{}\"}]}}]",
        "[[0,3],{\"message\":{\"role\":\"tool\",\"seq\":90,\"turn\":2,\"content\":"
        "[{\"type\":\"tool_result\",\"id\":\"a\",\"text\":\"x\"}]}}]",
        "[[0,3],{\"message\":{\"role\":\"user\",\"seq\":90,\"turn\":2,\"content\":[]}}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct history h;
        next_seq = 0;
        history_init(&h);
        whole_run(&h, "a", "b");
        next_seq = 99;
        say(&h, EVENT_TURN_STARTED, "c");
        say(&h, EVENT_TEXT_COMPLETE, "d");
        next_seq = 200;
        compact(&h, texts[i], "estimate");
        if (h.compaction.in_force.len > 0 || h.messages.len != 4)
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(h.usage.input, 5); /* it was spent all the same */
        history_release(&h);
    }
}

/* Snapshots of programs that knew nothing of compactions. */
TEST(test_an_older_snapshot)
{
    struct history h;
    struct error e;
    static const char counters[] = "{\"version\":2,\"messages\":0,\"applied_seq\":5,\"turns\":1}";
    assert_true(history_restore(counters, strlen(counters), NULL, 0, &h, &e));
    assert_int_equal(h.compaction.last_attempt, -1);
    assert_int_equal(h.compaction.in_force.len, 0);
    assert_int_equal(h.compaction.failures, 0);
    assert_false(h.compaction.suspended);
    history_release(&h);
}

/* Which counted attempts in turns: three calls on, whatever had been counted, one is due again. */
TEST(test_calls_of_an_older_snapshot)
{
    struct history h;
    struct error e;
    static const char counters[] =
        "{\"version\":2,\"messages\":0,\"applied_seq\":5,\"turns\":7,\"last_attempt\":6}";
    assert_true(history_restore(counters, strlen(counters), NULL, 0, &h, &e));
    assert_int_equal(h.calls, 7);
    assert_int_equal(h.compaction.last_attempt, 6);
    history_release(&h);
}

/* So that it is said once, also by the next process. */
TEST(test_the_obstacle_is_remembered)
{
    struct history h, back;
    struct error e;
    next_seq = 0;
    history_init(&h);
    whole_run(&h, "a", "b");
    struct event *ev = ev_new(EVENT_WARNING, "another");
    ev->name = mem_strdup("max_rounds");
    apply(&h, ev);
    assert_null(h.compaction.obstacle);
    ev = ev_new(EVENT_WARNING, "lower it");
    ev->name = mem_strdup(WARNING_NOT_COMPACTED);
    apply(&h, ev);
    char *counters = support_keep(history_counters(&h));
    assert_true(
        history_restore(counters, strlen(counters), clone_messages(&h), h.messages.len, &back, &e));
    assert_string_equal(back.compaction.obstacle, "lower it");
    history_release(&back);
    history_release(&h);
}

TEST(test_calls_are_counted)
{
    struct history h, back;
    struct error e;
    next_seq = 0;
    history_init(&h);
    whole_run(&h, "a", "b");
    say(&h, EVENT_TURN_STARTED, "c");
    say(&h, EVENT_CALL_STARTED, NULL);
    say(&h, EVENT_CALL_STARTED, NULL);
    assert_int_equal(h.calls, 3);
    say(&h, EVENT_TURN_FAILED, "no connection");
    assert_int_equal(h.turns, 1);
    assert_int_equal(h.calls, 3);
    say(&h, EVENT_COMPACTION_STARTED, NULL);
    assert_int_equal(h.compaction.last_attempt, 3);
    char *counters = support_keep(history_counters(&h));
    assert_true(history_restore(counters, strlen(counters), clone_messages(&h), h.messages.len,
                                &back, &e));
    assert_int_equal(back.calls, 3);
    history_release(&back);
    history_release(&h);
}

TEST(test_undone_ones_are_passed_over)
{
    struct history h;
    history_init(&h);
    static const int64_t undone[] = {77, 500};
    history_pass_over(&h, undone, 2);
    history_pass_over(&h, (const int64_t[]){13}, 1);
    next_seq = 0;
    whole_run(&h, "a", "b");
    next_seq = 76;
    compact(&h, "[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(h.messages.len, 2);
    assert_int_equal(h.compaction.in_force.len, 0);
    assert_int_equal(h.usage.input, 5);
    compact(&h, "[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(h.messages.len, 1);
    history_release(&h);
}

/* What was undone had ended the failures all the same. */
TEST(test_an_undone_success_is_one)
{
    struct history h;
    history_init(&h);
    history_pass_over(&h, (const int64_t[]){77}, 1);
    next_seq = 0;
    whole_run(&h, "a", "b");
    struct event *ev = ev_new(EVENT_COMPACTION_FAILED, "why");
    ev->compaction.mode = mem_strdup("handoff");
    ev->compaction.failures = 3;
    ev->compaction.suspended = true;
    apply(&h, ev);
    next_seq = 76;
    compact(&h, "[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(h.messages.len, 2);
    assert_int_equal(h.compaction.failures, 0);
    assert_false(h.compaction.suspended);
    history_release(&h);
}

static void fail_in(struct history *h, const char *mode, int failures, bool suspended)
{
    struct event *ev = ev_new(EVENT_COMPACTION_FAILED, "why");
    ev->compaction.mode = mem_strdup(mode);
    ev->compaction.failures = failures;
    ev->compaction.suspended = suspended;
    apply(h, ev);
}

/* Neither what counts for nothing nor a failure by hand in another mode opens it. */
TEST(test_what_is_suspended_stays_so)
{
    struct history h;
    history_init(&h);
    next_seq = 0;
    whole_run(&h, "a", "b");
    fail_in(&h, "handoff", 3, true);
    fail_in(&h, "deterministic", 0, false);
    fail_in(&h, "structured", 1, false);
    assert_true(h.compaction.suspended);
    assert_int_equal(h.compaction.failures, 3);
    assert_string_equal(h.compaction.failed_mode, "handoff");
    say(&h, EVENT_TURN_STARTED, "c"); /* by itself, in a mode that was chosen since */
    fail_in(&h, "structured", 1, false);
    assert_false(h.compaction.suspended);
    assert_string_equal(h.compaction.failed_mode, "structured");
    history_release(&h);
}

TEST(test_failures)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    assert_int_equal(h.compaction.last_attempt, -1);
    whole_run(&h, "a", "b");
    say(&h, EVENT_COMPACTION_STARTED, NULL);
    assert_int_equal(h.compaction.last_attempt, 1);
    struct event *ev = ev_new(EVENT_COMPACTION_FAILED, "why");
    ev->compaction.mode = mem_strdup("structured");
    ev->compaction.failures = 2;
    ev->compaction.suspended = true;
    ev->usage = (struct usage){.input = 3, .output = 1, .cached = -1};
    apply(&h, ev);
    assert_int_equal(h.compaction.failures, 2);
    assert_true(h.compaction.suspended);
    assert_string_equal(h.compaction.failed_mode, "structured");
    assert_null(h.compaction.failed_model);
    assert_int_equal(h.usage.input, 3);
    compact(&h, "[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(h.compaction.failures, 0);
    assert_false(h.compaction.suspended);
    assert_null(h.compaction.failed_mode);
    history_release(&h);
}

/* The model failed, and another mode stood in. */
static int64_t stand_in(struct history *h, int failures, bool suspended)
{
    struct event *ev = ev_new(EVENT_COMPACTION_COMPLETED, "s");
    ev->compaction.history = mem_strdup("[[0,2]]");
    ev->compaction.trigger = mem_strdup("estimate");
    ev->compaction.mode = mem_strdup("structured");
    ev->compaction.effective_mode = mem_strdup("recency_preserving");
    ev->compaction.failures = failures;
    ev->compaction.suspended = suspended;
    ev->model = mem_strdup("m");
    return apply(h, ev);
}

TEST(test_stand_ins_count_as_failures)
{
    for (int undone = 0; undone <= 1; undone++) {
        struct history h;
        next_seq = 0;
        history_init(&h);
        whole_run(&h, "a", "b");
        history_pass_over(&h, (const int64_t[]){next_seq + 2}, (size_t)undone);
        stand_in(&h, 1, false);
        stand_in(&h, 2, true);
        assert_int_equal(h.compaction.in_force.len, 2 - undone);
        assert_int_equal(h.compaction.failures, 2);
        assert_true(h.compaction.suspended);
        assert_string_equal(h.compaction.failed_mode, "structured");
        assert_string_equal(h.compaction.failed_model, "m");
        compact(&h, "[[0,2]]", "manual");
        assert_int_equal(h.compaction.failures, 0);
        history_release(&h);
    }
}

static void pin(struct history *h, int64_t seq, bool pinned)
{
    struct event *ev = event_new(EVENT_MESSAGE_PINNED);
    ev->seq = ++next_seq;
    ev->number = seq;
    ev->flag = pinned;
    apply(h, ev);
}

TEST(test_pins)
{
    struct history h;
    next_seq = 0;
    history_init(&h);
    int64_t first = whole_run(&h, "a", "b");
    whole_run(&h, "c", "d");
    h.unsaved = h.messages.len;
    int64_t estimate = h.estimate;
    pin(&h, 12345, true);
    assert_int_equal(h.unsaved, 4);
    pin(&h, h.messages.items[1].seq, true);
    assert_true(h.messages.items[1].pinned);
    assert_int_equal(h.unsaved, 1);
    assert_true(h.estimate > estimate);
    pin(&h, h.messages.items[1].seq, false);
    assert_false(h.messages.items[1].pinned);
    assert_int_equal(h.estimate, estimate);
    char at[24];
    snprintf(at, sizeof at, "%d", (int)first);
    char *rebuild = support_text(
        "[{\"message\":{\"role\":\"user\",\"seq\":%s,\"turn\":1,"
        "\"summary\":true,\"content\":[{\"type\":\"text\",\"text\":"
        "\"S\"}]}},[2,2]]",
        at);
    compact(&h, rebuild, "manual");
    assert_true(h.messages.items[0].summary);
    pin(&h, first, true);
    assert_false(h.messages.items[0].pinned); /* it stands for others */
    history_release(&h);
}

/* ---- any sequence of events ---- */

static bool one_in(int n)
{
    return entropy_unit() * n < 1;
}

static int pick(int n)
{
    return (int)(entropy_unit() * n);
}

static const char *random_text(void)
{
    static const char *const texts[] = {"",
                                        "yes",
                                        "\"quoted\"\n\x02",
                                        "größer 漢字",
                                        "bad \xff\xc3",
                                        "a longer text of some thirty-odd bytes"};
    return texts[pick(sizeof texts / sizeof *texts)];
}

static struct usage random_usage(void)
{
    if (one_in(3))
        return USAGE_UNKNOWN;
    return (struct usage){.input = pick(100) - 1,
                          .output = pick(100) - 1,
                          .cached = pick(5) - 1,
                          .estimated = one_in(4)};
}

static bool has_text(enum event_type type)
{
    return type != EVENT_CALL_STARTED && type != EVENT_CALL_COMPLETED &&
           type != EVENT_INTERRUPTED && type != EVENT_BUDGET_WARNING &&
           type != EVENT_COMPACTION_STARTED && type != EVENT_COMPACTION_UNDONE &&
           type != EVENT_MESSAGE_PINNED && type != EVENT_MEMORY_INDEXED;
}

/* One that fits, or that names messages at random. */
static char *random_rebuild(const struct history *h)
{
    struct rebuild r = {0};
    struct message m = {.role = (enum role)pick(4), .seq = pick((int)next_seq), .turn = pick(4)};
    if (one_in(2)) {
        any_rebuild(h, "summary", &r);
    } else {
        size_t first = (size_t)pick(4);
        vec_push(&m.blocks, block_text("made"));
        rebuild_keep(&r, 0, first);
        rebuild_make(&r, m);
        rebuild_keep(&r, first + (size_t)pick(4), (size_t)pick(6));
    }
    char *text = rebuild_to_json(&r);
    rebuild_release(&r);
    return text;
}

static struct event *random_event(const struct history *h, enum event_type type, int64_t last_run)
{
    static const char *const ids[] = {"", "c1", "c2", "c3"};
    bool is_tool = type == EVENT_TOOL_CALL_REQUESTED || type == EVENT_TOOL_EXECUTION_COMPLETED;
    struct event *ev = event_new(type);
    next_seq += 1 + one_in(5);
    ev->seq = next_seq;
    ev->usage = random_usage();
    ev->flag = one_in(3);
    if (has_text(type))
        ev->text = mem_strdup(random_text());
    if (type == EVENT_COMPACTION_COMPLETED)
        ev->compaction.history = random_rebuild(h);
    if (type == EVENT_COMPACTION_FAILED)
        ev->compaction.mode = mem_strdup("handoff");
    if (type == EVENT_COMPACTION_FAILED && one_in(2))
        ev->model = mem_strdup("p/m");
    if (type == EVENT_COMPACTION_STARTED && one_in(2))
        ev->compaction.trigger = mem_strdup("manual");
    if (type == EVENT_MESSAGE_PINNED)
        ev->number = pick((int)next_seq);
    if (is_tool)
        ev->id = mem_strdup(ids[pick(4)]);
    if (is_tool || type == EVENT_TURN_FAILED || type == EVENT_WARNING ||
        type == EVENT_BUDGET_WARNING)
        ev->name = mem_strdup("n");
    if (type == EVENT_REASONING_COMPLETE && one_in(2))
        ev->signature = mem_strdup(random_text());
    if (type == EVENT_TURN_STARTED && one_in(3))
        ev->number = one_in(3) ? pick((int)next_seq) : last_run;
    if (type == EVENT_TURN_STARTED && one_in(8))
        ev->attachments = mem_strdup("[{\"type\":\"image\",\"text\":\"/x.png\"}]");
    return ev;
}

/* Half of the steps what an agent would do, so that runs get somewhere, half anything. */
static enum event_type random_type(enum event_type last)
{
    static const enum event_type usual[EVENT_TYPE_COUNT][4] = {
        [EVENT_TURN_STARTED] = {EVENT_CALL_STARTED, EVENT_CALL_STARTED, EVENT_CALL_STARTED,
                                EVENT_TURN_FAILED},
        [EVENT_CALL_STARTED] = {EVENT_TEXT_DELTA, EVENT_TOOL_CALL_REQUESTED,
                                EVENT_REASONING_COMPLETE, EVENT_TURN_FAILED},
        [EVENT_TEXT_DELTA] = {EVENT_TEXT_COMPLETE, EVENT_TEXT_COMPLETE, EVENT_TEXT_DELTA,
                              EVENT_INTERRUPTED},
        [EVENT_REASONING_COMPLETE] = {EVENT_TEXT_DELTA, EVENT_TEXT_COMPLETE,
                                      EVENT_TOOL_CALL_REQUESTED, EVENT_INTERRUPTED},
        [EVENT_TEXT_COMPLETE] = {EVENT_CALL_COMPLETED, EVENT_TOOL_CALL_REQUESTED,
                                 EVENT_TURN_COMPLETED, EVENT_INTERRUPTED},
        [EVENT_TOOL_CALL_REQUESTED] = {EVENT_TOOL_EXECUTION_COMPLETED, EVENT_TOOL_CALL_REQUESTED,
                                       EVENT_CALL_COMPLETED, EVENT_INTERRUPTED},
        [EVENT_TOOL_EXECUTION_COMPLETED] = {EVENT_TOOL_EXECUTION_COMPLETED, EVENT_CALL_STARTED,
                                            EVENT_CALL_STARTED, EVENT_TURN_FAILED},
        [EVENT_CALL_COMPLETED] = {EVENT_TURN_COMPLETED, EVENT_TURN_COMPLETED, EVENT_CALL_STARTED,
                                  EVENT_TOOL_EXECUTION_COMPLETED},
    };
    if (one_in(2))
        return (enum event_type)pick(EVENT_TYPE_COUNT);
    return usual[last][pick(4)]; /* after the end of a run: run_started */
}

static size_t blocks_with(const struct message *m, enum block_type type, const char *id)
{
    size_t count = 0;
    for (size_t i = 0; i < m->blocks.len; i++)
        count += m->blocks.items[i].type == type && strcmp(m->blocks.items[i].id, id) == 0;
    return count;
}

static void check_results(const struct message *calls, const struct message *results)
{
    for (size_t i = 0; i < results->blocks.len; i++) {
        const struct block *b = &results->blocks.items[i];
        assert_int_equal(b->type, BLOCK_TOOL_RESULT);
        assert_true(blocks_with(results, BLOCK_TOOL_RESULT, b->id) <=
                    blocks_with(calls, BLOCK_TOOL_CALL, b->id));
    }
}

static void check_calls(const struct message *calls, const struct message *results)
{
    for (size_t i = 0; i < calls->blocks.len; i++) {
        const struct block *b = &calls->blocks.items[i];
        if (b->type == BLOCK_TOOL_CALL)
            assert_true(results && results->role == ROLE_TOOL &&
                        blocks_with(results, BLOCK_TOOL_RESULT, b->id) ==
                            blocks_with(calls, BLOCK_TOOL_CALL, b->id));
    }
}

static void check_message(const struct history *h, size_t i)
{
    const struct message *m = &h->messages.items[i];
    const struct message *before = i > 0 ? m - 1 : NULL;
    const struct message *after = i + 1 < h->messages.len ? m + 1 : NULL;
    assert_true(before || m->role == ROLE_USER);
    assert_int_not_equal(m->role, ROLE_SYSTEM);
    assert_true(m->blocks.len > 0);
    if (h->compaction.in_force.len == 0)
        assert_true(m->turn == (before ? before->turn : 0) + (m->role == ROLE_USER));
    assert_true(!before || (before->seq <= m->seq && before->turn <= m->turn));
    if (m->role == ROLE_TOOL) {
        assert_int_equal(before->role, ROLE_ASSISTANT);
        check_results(before, m);
    }
    /* Only the last call of an open run may wait for its results. */
    bool waits = h->running && (!after || (after->role == ROLE_TOOL && i + 2 == h->messages.len));
    if (m->role == ROLE_ASSISTANT && !waits)
        check_calls(m, after);
}

static void check_history(const struct history *h)
{
    int64_t estimate = 0;
    int turns = 0;
    for (size_t i = 0; i < h->messages.len; i++) {
        check_message(h, i);
        assert_int_equal(h->estimates.items[i], message_estimate_tokens(&h->messages.items[i]));
        estimate += h->estimates.items[i];
        turns += h->messages.items[i].role == ROLE_USER;
    }
    assert_int_equal(h->estimates.len, h->messages.len);
    assert_int_equal(h->estimate, estimate);
    if (h->compaction.in_force.len == 0)
        assert_int_equal(h->turns, turns);
    if (h->running) {
        assert_true(h->turn_first < h->messages.len);
        assert_int_equal(h->messages.items[h->turn_first].seq, h->turn_seq);
    }
}

static char *message_json(const struct message *m)
{
    struct json *v = shape_to_json(&message_shape, m);
    char *text = json_print(v);
    json_free(v);
    return text;
}

static void check_same(const struct history *a, const struct history *b)
{
    assert_same_compactions(a, b);
    char *left = support_keep(history_counters(a));
    char *right = support_keep(history_counters(b));
    assert_string_equal(left, right);
    assert_int_equal(a->messages.len, b->messages.len);
    for (size_t i = 0; i < a->messages.len; i++) {
        left = support_keep(message_json(&a->messages.items[i]));
        right = support_keep(message_json(&b->messages.items[i]));
        assert_string_equal(left, right);
    }
}

static void restore(struct history *h)
{
    struct history back;
    struct error e;
    char *text = support_keep(history_counters(h));
    assert_true(history_restore(text, strlen(text), clone_messages(h), h->messages.len, &back, &e));
    assert_int_equal(back.unsaved, back.messages.len);
    check_same(h, &back);
    history_release(h);
    *h = back;
}

/* What a snapshot by message holds that is saved as `unsaved` says. */
struct saved {
    VEC(char *) messages;
};

static void saved_cut(struct saved *s, size_t len)
{
    while (s->messages.len > len)
        free(s->messages.items[--s->messages.len]);
}

static void save(struct saved *s, struct history *h)
{
    assert_true(h->unsaved <= h->messages.len);
    assert_true(h->unsaved <= s->messages.len);
    saved_cut(s, h->unsaved);
    for (size_t i = h->unsaved; i < h->messages.len; i++)
        vec_push(&s->messages, message_json(&h->messages.items[i]));
    h->unsaved = h->messages.len;
    for (size_t i = 0; i < h->messages.len; i++) {
        char *wanted = support_keep(message_json(&h->messages.items[i]));
        assert_string_equal(s->messages.items[i], wanted);
    }
}

/* `restored` goes through a snapshot after some of the events, the other never; that one is saved
 * now and then. */
static void one_sequence(void)
{
    struct history h, restored;
    struct saved saved = {0};
    history_init(&h);
    history_init(&restored);
    int64_t last_run = 0;
    enum event_type type = EVENT_TURN_COMPLETED;
    int count = pick(40);
    next_seq = 0;
    for (int i = 0; i < count; i++) {
        type = random_type(type);
        struct event *ev = random_event(&h, type, last_run);
        if (type == EVENT_TURN_STARTED)
            last_run = ev->seq;
        history_apply(&h, ev);
        history_apply(&restored, ev);
        check_history(&h);
        if (one_in(6))
            restore(&restored);
        if (one_in(4))
            save(&saved, &h);
        event_free(ev);
    }
    check_same(&h, &restored);
    history_drop_open_turn(&h);
    history_drop_open_turn(&restored);
    check_history(&h);
    check_same(&h, &restored);
    save(&saved, &h);
    saved_cut(&saved, 0);
    vec_release(&saved.messages);
    history_release(&h);
    history_release(&restored);
}

TEST(test_any_sequence)
{
    entropy_seed(support_seed());
    for (int i = 0; i < 4000; i++)
        one_sequence();
}

/* An older program took as many calls as came: each costs what it adds. */
TEST(test_many_calls_in_one_answer)
{
    enum { CALLS = 4000, ARGS = 16384, SOON_MS = 20000 };
    struct history h;
    static char args[ARGS + 1], name[] = "one", id[24];
    memset(args, 'a', ARGS);
    history_init(&h);
    int64_t begun = clock_mono_ms(), seq = 0;
    struct event started = {.type = EVENT_TURN_STARTED, .seq = ++seq, .text = name};
    history_apply(&h, &started);
    for (int i = 0; i < CALLS; i++) {
        snprintf(id, sizeof id, "call_%d", i);
        struct event call = {
            .type = EVENT_TOOL_CALL_REQUESTED, .seq = ++seq, .id = id, .name = name, .text = args};
        history_apply(&h, &call);
    }
    struct event ended = {.type = EVENT_INTERRUPTED, .seq = ++seq, .usage = USAGE_UNKNOWN};
    history_apply(&h, &ended);
    assert_true(clock_mono_ms() - begun < SOON_MS);
    check_history(&h);
    history_release(&h);
}
