/* The fold of events into messages: each rule, and the invariants for any sequence of events. */
#include "base/clock.h"
#include "base/entropy.h"
#include "chat/history.h"
#include "tests/any_compaction.h"
#include "tests/history_check.h"
#include "tests/suite.h"

static struct history live;
static int64_t next_seq;
static struct error e;

static int setup(void **state)
{
    next_seq = 0;
    history_init(&live);
    return support_setup(state);
}

static int teardown(void **state)
{
    history_release(&live);
    return support_teardown(state);
}

static struct event *ev_new(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = ++next_seq;
    ev->text = mem_strdup(text);
    return ev;
}

static int64_t apply(struct event *ev)
{
    int64_t seq = ev->seq;
    history_apply(&live, ev);
    event_free(ev);
    return seq;
}

static const struct {
    const char *word;
    enum event_type type;
    const char *text; /* where the word has none */
} words[] = {
    {"q", EVENT_TURN_STARTED, NULL},
    {"m", EVENT_CALL_STARTED, NULL},
    {"d", EVENT_TEXT_DELTA, NULL},
    {"r", EVENT_REASONING_COMPLETE, NULL},
    {"a", EVENT_TEXT_COMPLETE, NULL},
    {"call", EVENT_TOOL_CALL_REQUESTED, "{}"},
    {"result", EVENT_TOOL_EXECUTION_COMPLETED, "content"},
    {"e", EVENT_CALL_COMPLETED, NULL},
    {".", EVENT_TURN_COMPLETED, ""},
    {"x", EVENT_INTERRUPTED, NULL},
    {"fail", EVENT_TURN_FAILED, "no connection"},
    {"attempt", EVENT_COMPACTION_STARTED, NULL},
};

static void happen_word(const char *token, size_t len)
{
    const char *text = memchr(token, ':', len);
    size_t name = text ? (size_t)(text - token) : len;
    char *said = text ? support_keep(mem_strndup(text + 1, len - name - 1)) : NULL;
    size_t i = 0;
    while (strlen(words[i].word) != strcspn(token, ":@ ") ||
           strncmp(words[i].word, token, strlen(words[i].word)) != 0)
        assert_true(++i < sizeof words / sizeof *words);
    struct event *ev = ev_new(words[i].type, words[i].text ? words[i].text : said);
    if (token[1] == '@')
        ev->number = atoi(token + 2);
    bool of_tool =
        ev->type == EVENT_TOOL_CALL_REQUESTED || ev->type == EVENT_TOOL_EXECUTION_COMPLETED;
    if (of_tool) {
        ev->id = mem_strdup(said);
        ev->name = mem_strdup("read_file");
    }
    apply(ev);
}

/* Applies events given in words: "q:hello m a:answer ."; "q@7:hello" repeats the turn of number 7,
 * and "call:c1" and "result:c1" have an id. Returns the number of the first event. */
static int64_t go(const char *script)
{
    int64_t first = next_seq + 1;
    for (size_t len; *script; script += len + (script[len] == ' ')) {
        len = strcspn(script, " ");
        happen_word(script, len);
    }
    return first;
}

/* A whole turn has six events. */
#define TURN(question, answer) "q:" question " m d:ignored a:" answer " e ."

/* The history in short: "u:hi a:hello,call* t:call! #1", with * for partial, ! for an error, the
 * number of turns, and ~ where one runs. */
static char *sketch(void)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < live.messages.len; i++) {
        const struct message *m = &live.messages.items[i];
        buf_addf(&out, "%c%s:", role_name(m->role)[0], m->partial ? "*" : "");
        for (size_t j = 0; j < m->blocks.len; j++) {
            const struct block *b = &m->blocks.items[j];
            const char *shown = b->id ? b->id : b->text;
            buf_addf(&out, "%s%s%s", j ? "," : "", shown, b->is_error ? "!" : "");
        }
        buf_addch(&out, ' ');
    }
    buf_addf(&out, "#%d%s", live.turns, live.running ? "~" : "");
    return support_keep(buf_take(&out));
}

FIXTURE(setup, teardown);

static void restart(void)
{
    history_release(&live);
    history_init(&live);
    next_seq = 0;
}

TEST(what_happened_becomes_messages)
{
    static const struct {
        const char *script, *history;
    } cases[] = {
        {"q:q m r:think a:looking call:c1 call:c2 result:c1 result:c1 result:c9 result:c2 e m "
         "a:done a: .", /* a second result has no call, c9 has none, and "" is no text */
         "u:q a:think,looking,c1,c2 t:c1,c2 a:done #1"},
        {"q:q m a:one m a:two", "u:q a:one a:two #1~"}, /* a next call begins a message */

        /* Open calls are answered. */
        {"q:q m call:c1 call:c2 call:c1 result:c1 m", "u:q a:c1,c2,c1 t:c1,c1!,c2! #1~"},
        {"q:q m call:c1 call:c2 call:c1 result:c1 x", "u:q a*:c1,c2,c1 t:c1,c1!,c2! #1"},
        {"q:q call:c1 .", "u:q a:c1 t:c1! #1"},

        {"q:q m a:half call:c1 x q:nothing m x q:thoughts m r:hm x",
         "u:q a*:half,c1 t:c1! u:nothing u:thoughts #3"},

        /* A turn that failed is taken back if nothing was answered. */
        {TURN("a", "b") " q:gone m r:hm fail", "u:a a:b #1"},
        {TURN("a", "b") " q:gone m r:hm fail q@7:gone m a:some m fail",
         "u:a a:b u:gone a*:some #2"},

        /* The edited turn removes all later ones, once. */
        {TURN("a", "b") " " TURN("c", "d") " " TURN("e", "f") " q@7:c2", "u:a a:b u:c2 #2~"},
        {TURN("a", "b") " " TURN("c", "d") " " TURN("e", "f") " q@7:c2 . q@7:x",
         "u:a a:b u:c2 u:x #3~"},

        /* The program died in a turn. */
        {TURN("a", "b") " q:crashed m a:half " TURN("c", "d"), "u:a a:b u:c a:d #2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        restart();
        go(cases[i].script);
        assert_string_equal(sketch(), cases[i].history);
    }
}

TEST(test_a_run)
{
    go(TURN("hi", "hello"));
    assert_string_equal(sketch(), "u:hi a:hello #1");
    assert_int_equal(live.messages.items[0].seq, 1);
    assert_int_equal(live.messages.items[1].seq, 2);
    assert_int_equal(live.messages.items[1].turn, 1);
    assert_int_equal(live.applied_seq, next_seq);
    assert_int_equal(live.last_turn_seq, 1);
    assert_string_equal(live.last_text, "hi");
}

/* A message whose turn failed or crashed can be sent again. */
TEST(test_what_was_taken_back_is_known)
{
    go(TURN("a", "b") " q:gone m fail");
    assert_string_equal(live.last_text, "gone");
    assert_int_equal(live.last_turn_seq, 7);
    int64_t seq = go("q@7:again call:c1");
    assert_int_equal(live.messages.items[2].turn, 2);
    assert_true(history_drop_open_turn(&live));
    assert_false(history_drop_open_turn(&live));
    assert_string_equal(sketch(), "u:a a:b #1");
    assert_int_equal(live.last_turn_seq, seq);
    assert_string_equal(live.last_text, "again");
}

TEST(test_events_are_applied_once)
{
    go("q:a m");
    AUTO(event_free_local) struct event *ev = ev_new(EVENT_TEXT_COMPLETE, "b");
    history_apply(&live, ev);
    history_apply(&live, ev);
    assert_string_equal(sketch(), "u:a a:b #1~");
}

TEST(test_usage)
{
    assert_int_equal(live.last_input, -1);
    go("q:a");
    struct event *ev = ev_new(EVENT_CALL_COMPLETED, NULL);
    ev->usage = (struct usage){.input = 10, .output = 3, .cached = 4};
    ev->used = 0; /* it costs nothing, which is known */
    apply(ev);
    assert_int_equal(live.last_input, 10);
    assert_int_equal(live.unpriced, 0);
    ev = ev_new(EVENT_INTERRUPTED, NULL);
    ev->usage = (struct usage){.input = 20, .output = 1, .cached = -1, .estimated = true};
    apply(ev);
    assert_int_equal(live.usage.input, 30);
    assert_int_equal(live.usage.output, 4);
    assert_int_equal(live.usage.cached, 4);
    assert_true(live.usage.estimated);
    assert_int_equal(live.unpriced, 1);
    assert_int_equal(live.last_input, 10);
    go("q:b");
    ev = ev_new(EVENT_TURN_COMPLETED, "x"); /* its usage is a sum of counted figures */
    ev->usage = (struct usage){.input = 20, .output = 1, .cached = -1};
    apply(ev);
    assert_int_equal(live.usage.input, 30);
}

TEST(test_attachments)
{
    struct event *ev = ev_new(EVENT_TURN_STARTED, "what is this?");
    ev->attachments = mem_strdup(
        "[{\"type\":\"image\",\"text\":\"/x.png\",\"media_type\":\"image/png\"},"
        "{\"type\":\"riddle\"}]");
    apply(ev);
    assert_string_equal(sketch(), "u:/x.png,what is this? #1~");
    assert_int_equal(live.messages.items[0].blocks.items[0].type, BLOCK_IMAGE);
    assert_string_equal(live.last_text, "what is this?");
}

/* The images of a result stand behind it, and nothing else that claims to be one. */
TEST(images_of_a_result_follow_it)
{
    go("q:what? m call:c1 call:c2 e");
    for (int i = 1; i <= 2; i++) {
        struct event *ev = ev_new(EVENT_TOOL_EXECUTION_COMPLETED, "seen");
        ev->id = mem_printf("c%d", i);
        ev->attachments = mem_printf(
            "[{\"type\":\"image\",\"text\":\"/%d.png\"},{\"type\":\"text\",\"text\":\"order\"}]",
            i);
        apply(ev);
    }
    assert_string_equal(sketch(), "u:what? a:c1,c2 t:c1,/1.png,c2,/2.png #1~");
}

static bool restores(const struct history *messages, const char *counters, struct history *back)
{
    history_init(back);
    for (size_t i = 0; i < messages->messages.len; i++)
        history_add_saved(back, message_clone(&messages->messages.items[i]),
                          shape_bytes(&message_shape, &messages->messages.items[i]));
    return history_restore(back, counters, strlen(counters), &e);
}

static void refuse(const struct history *messages, const char *counters)
{
    struct history back;
    e = (struct error){0};
    assert_false(restores(messages, counters, &back));
    assert_int_not_equal(e.text[0], '\0');
    assert_int_equal(back.messages.len, 0);
}

TEST(test_refuses_a_broken_snapshot)
{
    static const char *const broken[] = {
        "{\"version\":2,\"applied_seq\":0,\"turns\":0,\"calls\":0,\"messages\":0}",
        "{\"version\":1,\"applied_seq\":-1,\"turns\":0,\"calls\":0,\"messages\":0}",
        "{\"version\":1,\"applied_seq\":5,\"turns\":-1,\"calls\":0,\"messages\":0}",
        "{\"version\":1,\"applied_seq\":5,\"turns\":1,\"calls\":1,\"messages\":1}",
        "{\"version\":1,\"applied_seq\":5,\"turns\":1,\"messages\":0,\"calls\":-1}",
        "{\"version\":1,\"applied_seq\":5,\"turns\":1,\"messages\":0}",
        ("{\"version\":1,\"applied_seq\":5,\"turns\":1,\"calls\":0,\"messages\":0,\"running\":true,"
         "\"run_first\":0}")};
    struct history empty;
    history_init(&empty);
    go("q:a");
    char *text = support_keep(history_counters(&live));
    size_t len = strlen(text);
    for (size_t cut = 0; cut < len; cut++) {
        refuse(&live, support_keep(mem_strndup(text, cut)));
    }
    refuse(&empty, text); /* its message is missing */
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        refuse(&empty, broken[i]);
}

TEST(test_what_a_snapshot_lacks)
{
    static const struct {
        const char *script;
        size_t unsaved; /* from this message on */
    } steps[] = {{TURN("a", "b"), 0},
                 {TURN("c", "d"), 2},
                 {"q:e a:f", 4},
                 {"a:g", 5}, /* more of a message that was saved */
                 {"x", 5},   /* only marks it */
                 {"q@7:c2", 2}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        go(steps[i].script);
        assert_int_equal(live.unsaved, steps[i].unsaved);
        live.unsaved = live.messages.len;
    }
    history_drop_open_turn(&live);
    assert_int_equal(live.unsaved, 2);
}

/* ---- compactions ---- */

static int64_t compact(const char *rebuild, const char *trigger)
{
    struct event *ev = ev_new(EVENT_COMPACTION_COMPLETED, "s");
    ev->compaction.history = mem_strdup(rebuild);
    ev->compaction.trigger = mem_strdup(trigger);
    ev->usage = (struct usage){.input = 5, .output = 1, .cached = -1};
    return apply(ev);
}

#define SUMMARY(seq, turn)                                                                         \
    "{\"message\":{\"role\":\"user\",\"seq\":" seq ",\"turn\":" turn                               \
    ",\"summary\":true,\"content\":[{\"type\":\"text\",\"text\":\"S\"}]}}"

TEST(test_a_compaction)
{
    go(TURN("a", "b"));
    int64_t second = go(TURN("c", "d"));
    live.last_input = 99;
    live.unsaved = live.messages.len;
    int64_t seq = compact("[" SUMMARY("1", "1") ",[2,2]]", "manual");
    assert_int_equal(live.messages.len, 3);
    assert_true(live.messages.items[0].summary);
    assert_int_equal(live.messages.items[1].seq, second);
    assert_int_equal(live.unsaved, 0);
    assert_int_equal(live.last_input, -1);
    assert_int_equal(live.turns, 2);
    assert_int_equal(live.applied_seq, seq);
    assert_int_equal(live.compaction.in_force.len, 1);
    assert_int_equal(live.compaction.in_force.items[0], seq);
    assert_int_equal(live.compaction.last_attempt, 2);
    go("q@1:c2"); /* a summary is never retried */
    assert_int_equal(live.messages.len, 4);
    go("q@7:c3");
    assert_int_equal(live.messages.len, 2);
    assert_int_equal(live.turns, 2);
}

static void answered(const char *question, int64_t input, int64_t output)
{
    go(support_text("q:%s a:answer", question));
    struct event *ev = ev_new(EVENT_CALL_COMPLETED, NULL);
    ev->usage = (struct usage){.input = input, .output = output, .cached = -1};
    apply(ev);
    go(".");
}

/* The provider's token count belongs to the history of that request. */
TEST(test_the_request_is_measured)
{
    assert_int_equal(live.measure.tokens, -1);
    answered("a", 1000, 50);
    assert_int_equal(live.measure.tokens, 1050);
    assert_int_equal(live.measure.history, live.estimate);
    answered("uncounted", -1, -1);
    assert_int_equal(live.measure.tokens, 1050);
    assert_true(live.measure.history < live.estimate);
    struct event *ev = ev_new(EVENT_COMPACTION_COMPLETED, "s");
    ev->compaction.history = mem_strdup("[[2,2]]");
    ev->compaction.trigger = mem_strdup("manual");
    ev->compaction.request_before = 1100;
    ev->compaction.request_after = 700;
    apply(ev);
    assert_int_equal(live.measure.tokens, 700);
    assert_int_equal(live.measure.history, live.estimate);
    assert_true(live.measure.estimated);
    answered("b", 720, 10);
    assert_int_equal(live.measure.tokens, 730);
    assert_false(live.measure.estimated);
    ev = ev_new(EVENT_COMPACTION_UNDONE, NULL);
    ev->number = 1;
    apply(ev);
    assert_int_equal(live.measure.tokens, -1);
    answered("c", 1500, 10);
    compact("[[0,2]]", "manual");
    assert_int_equal(live.measure.tokens, -1);
}

TEST(test_what_is_saved_before_it_stays_saved)
{
    go(TURN("a", "b") " " TURN("c", "d"));
    live.unsaved = live.messages.len;
    compact("[[0,4]]", "manual");
    assert_int_equal(live.unsaved, 4);
    compact(
        "[[0,2],{\"of\":2,\"message\":{\"role\":\"user\",\"seq\":7,\"turn\":2,"
        "\"content\":[{\"type\":\"text\",\"text\":\"C\"}]}},[3,1]]",
        "manual");
    assert_int_equal(live.unsaved, 2);
    assert_string_equal(live.messages.items[2].blocks.items[0].text, "C");
}

/* The answers of a run may all be in the summary: it has answered even so. */
TEST(test_within_a_run)
{
    go(TURN("a", "b"));
    int64_t run = go("q:c m call:c1 result:c1");
    compact("[" SUMMARY("1", "1") ",[2,1]]", "estimate");
    assert_int_equal(live.messages.len, 2);
    assert_int_equal(live.turn_first, 1);
    assert_int_equal(live.messages.items[1].seq, run);
    go("m fail");
    assert_int_equal(live.messages.len, 2);
    assert_false(live.running);
    go("q:d fail"); /* that was of the other run */
    assert_int_equal(live.messages.len, 2);
}

/* The model's text after a compaction is a message of its own. */
TEST(test_within_a_call)
{
    go(TURN("a", "b") " q:c m a:d");
    compact("[" SUMMARY("1", "1") ",[2,2]]", "overflow");
    go("a:e");
    assert_int_equal(live.messages.len, 4);
    assert_int_equal(live.messages.items[2].blocks.len, 1);
    assert_int_equal(live.messages.items[3].seq, next_seq);
}

/* A shortened message stands for the one it was. */
TEST(test_rewrites_that_do_not_fit)
{
    static const char *const texts[] = {"\"user\",\"seq\":8,\"turn\":2",
                                        "\"user\",\"seq\":7,\"turn\":1",
                                        "\"assistant\",\"seq\":7,\"turn\":2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        restart();
        go(TURN("a", "b") " " TURN("c", "d"));
        char *rebuild = support_text(
            "[[0,2],{\"of\":2,\"message\":{\"role\":%s,\"content\":"
            "[{\"type\":\"text\",\"text\":\"x\"}]}}]",
            texts[i]);
        compact(rebuild, "manual");
        if (live.messages.len != 4)
            fail_msg("taken: %s", rebuild);
    }
}

TEST(test_by_hand_takes_an_open_run_back)
{
    go(TURN("a", "b") " q:c a:d");
    compact("[[0,2]]", "manual");
    assert_false(live.running);
    assert_int_equal(live.messages.len, 2);
    assert_int_equal(live.turns, 1);
    assert_int_equal(live.compaction.in_force.len, 1);
    assert_int_equal(live.compaction.last_attempt, 1);
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
        restart();
        go(TURN("a", "b"));
        next_seq = 99;
        go("q:c a:d");
        next_seq = 200;
        compact(texts[i], "estimate");
        if (live.compaction.in_force.len > 0 || live.messages.len != 4)
            fail_msg("taken: %s", texts[i]);
        assert_int_equal(live.usage.input, 5); /* it was spent all the same */
    }
}

/* The warning is remembered, so that it is given once, even by the next process. */
TEST(test_the_obstacle_is_remembered)
{
    AUTO(history_release) struct history back = {0};
    go(TURN("a", "b"));
    struct event *ev = ev_new(EVENT_WARNING, "another");
    ev->name = mem_strdup("max_rounds");
    apply(ev);
    assert_null(live.compaction.obstacle);
    ev = ev_new(EVENT_WARNING, "lower it");
    ev->name = mem_strdup(WARNING_NOT_COMPACTED);
    apply(ev);
    assert_true(restores(&live, support_keep(history_counters(&live)), &back));
    assert_string_equal(back.compaction.obstacle, "lower it");
}

TEST(test_calls_are_counted)
{
    AUTO(history_release) struct history back = {0};
    go(TURN("a", "b") " q:c m m");
    assert_int_equal(live.calls, 3);
    go("fail");
    assert_int_equal(live.turns, 1);
    assert_int_equal(live.calls, 3);
    go("attempt");
    assert_int_equal(live.compaction.last_attempt, 3);
    assert_true(restores(&live, support_keep(history_counters(&live)), &back));
    assert_int_equal(back.calls, 3);
}

TEST(test_undone_ones_are_passed_over)
{
    static const int64_t undone[] = {77, 500};
    history_pass_over(&live, undone, 2);
    history_pass_over(&live, (const int64_t[]){13}, 1);
    go(TURN("a", "b"));
    next_seq = 76;
    compact("[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(live.messages.len, 2);
    assert_int_equal(live.compaction.in_force.len, 0);
    assert_int_equal(live.usage.input, 5);
    compact("[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(live.messages.len, 1);
}

static void fail_in(const char *mode, int failures, bool suspended)
{
    struct event *ev = ev_new(EVENT_COMPACTION_FAILED, "why");
    ev->compaction.mode = mem_strdup(mode);
    ev->compaction.failures = failures;
    ev->compaction.suspended = suspended;
    ev->usage = (struct usage){.input = 3, .output = 1, .cached = -1};
    apply(ev);
}

/* A compaction that was undone later still counts as a success that ended the failures. */
TEST(test_an_undone_success_is_one)
{
    history_pass_over(&live, (const int64_t[]){77}, 1);
    go(TURN("a", "b"));
    fail_in("handoff", 3, true);
    next_seq = 76;
    compact("[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(live.messages.len, 2);
    assert_int_equal(live.compaction.failures, 0);
    assert_false(live.compaction.suspended);
}

/* Neither an ignored attempt nor a failure by hand in another mode ends the suspension. */
TEST(test_what_is_suspended_stays_so)
{
    go(TURN("a", "b"));
    fail_in("handoff", 3, true);
    fail_in("deterministic", 0, false);
    fail_in("structured", 1, false);
    assert_true(live.compaction.suspended);
    assert_int_equal(live.compaction.failures, 3);
    assert_string_equal(live.compaction.failed_mode, "handoff");
    go("q:c"); /* by itself, in a mode that was chosen since */
    fail_in("structured", 1, false);
    assert_false(live.compaction.suspended);
    assert_string_equal(live.compaction.failed_mode, "structured");
}

TEST(test_failures)
{
    assert_int_equal(live.compaction.last_attempt, -1);
    go(TURN("a", "b") " attempt");
    assert_int_equal(live.compaction.last_attempt, 1);
    fail_in("structured", 2, true);
    assert_int_equal(live.compaction.failures, 2);
    assert_true(live.compaction.suspended);
    assert_string_equal(live.compaction.failed_mode, "structured");
    assert_null(live.compaction.failed_model);
    assert_int_equal(live.usage.input, 3);
    compact("[" SUMMARY("1", "1") "]", "manual");
    assert_int_equal(live.compaction.failures, 0);
    assert_false(live.compaction.suspended);
    assert_null(live.compaction.failed_mode);
}

/* The model failed, and another mode stood in. */
static int64_t stand_in(int failures, bool suspended)
{
    struct event *ev = ev_new(EVENT_COMPACTION_COMPLETED, "s");
    ev->compaction.history = mem_strdup("[[0,2]]");
    ev->compaction.trigger = mem_strdup("estimate");
    ev->compaction.mode = mem_strdup("structured");
    ev->compaction.effective_mode = mem_strdup("recency_preserving");
    ev->compaction.failures = failures;
    ev->compaction.suspended = suspended;
    ev->model = mem_strdup("m");
    return apply(ev);
}

TEST(test_stand_ins_count_as_failures)
{
    for (int undone = 0; undone <= 1; undone++) {
        restart();
        go(TURN("a", "b"));
        history_pass_over(&live, (const int64_t[]){next_seq + 2}, (size_t)undone);
        stand_in(1, false);
        stand_in(2, true);
        assert_int_equal(live.compaction.in_force.len, 2 - undone);
        assert_int_equal(live.compaction.failures, 2);
        assert_true(live.compaction.suspended);
        assert_string_equal(live.compaction.failed_mode, "structured");
        assert_string_equal(live.compaction.failed_model, "m");
        compact("[[0,2]]", "manual");
        assert_int_equal(live.compaction.failures, 0);
    }
}

static void pin(int64_t seq, bool pinned)
{
    struct event *ev = ev_new(EVENT_MESSAGE_PINNED, NULL);
    ev->number = seq;
    ev->flag = pinned;
    apply(ev);
}

TEST(test_pins)
{
    int64_t first = go(TURN("a", "b") " " TURN("c", "d"));
    live.unsaved = live.messages.len;
    int64_t estimate = live.estimate;
    pin(12345, true);
    assert_int_equal(live.unsaved, 4);
    pin(live.messages.items[1].seq, true);
    assert_true(live.messages.items[1].pinned);
    assert_int_equal(live.unsaved, 1);
    assert_true(live.estimate > estimate);
    pin(live.messages.items[1].seq, false);
    assert_false(live.messages.items[1].pinned);
    assert_int_equal(live.estimate, estimate);
    compact("[" SUMMARY("1", "1") ",[2,2]]", "manual");
    assert_true(live.messages.items[0].summary);
    pin(first, true);
    assert_false(live.messages.items[0].pinned); /* it stands for others */
}

TEST(pinned_results_stay_with_their_answer)
{
    go(TURN("a", "b") " q:c m call:1 e result:1 m a:d e .");
    struct message *m = live.messages.items;
    assert_int_equal(m[4].role, ROLE_TOOL);
    pin(m[4].seq, true);
    assert_true(m[3].pinned && m[4].pinned);
    assert_false(m[2].pinned || m[5].pinned);
    pin(m[3].seq, false); /* a result without its call cannot be sent */
    assert_false(m[3].pinned || m[4].pinned);
    pin(m[3].seq, true);
    assert_true(m[3].pinned && !m[4].pinned);
}

static void leave_out(const char *id, bool left_out)
{
    struct event *ev = ev_new(EVENT_MEMORY_LEFT_OUT, NULL);
    ev->id = mem_strdup(id);
    ev->flag = left_out;
    apply(ev);
}

TEST(entries_that_are_left_out_are_remembered)
{
    struct history again;
    leave_out("a", true);
    leave_out("b", true);
    leave_out("b", true);
    leave_out("a", false);
    leave_out("c", false);
    assert_false(history_leaves_out(&live, "a"));
    assert_true(history_leaves_out(&live, "b"));
    assert_int_equal(live.left_out.len, 1);
    char *counters = support_keep(history_counters(&live));
    history_init(&again);
    assert_true(history_restore(&again, counters, strlen(counters), &e));
    assert_true(history_leaves_out(&again, "b"));
    history_release(&again);
    for (int i = 0; i < HISTORY_MAX_LEFT_OUT; i++)
        leave_out(support_text("%d", i), true);
    assert_int_equal(live.left_out.len, HISTORY_MAX_LEFT_OUT);
    assert_false(history_leaves_out(&live, "b")); /* of many the newest */
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
           type != EVENT_MESSAGE_PINNED && type != EVENT_MEMORY_INDEXED &&
           type != EVENT_MEMORY_LEFT_OUT && type != EVENT_LEARNED_EXTRACTED &&
           type != EVENT_REWOUND && type != EVENT_REWIND_UNDONE && type != EVENT_FILE_RESTORED;
}

/* A rebuild that fits, or that names random messages. */
static char *random_rebuild(const struct history *h)
{
    AUTO(rebuild_release) struct rebuild r = {0};
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
    return rebuild_to_json(&r);
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
    if (is_tool || type == EVENT_MEMORY_LEFT_OUT)
        ev->id = mem_strdup(ids[pick(4)]);
    if (is_tool || type == EVENT_TURN_FAILED || type == EVENT_WARNING ||
        type == EVENT_BUDGET_WARNING || type == EVENT_FILE_RESTORED)
        ev->name = mem_strdup("n");
    if (type == EVENT_REASONING_COMPLETE && one_in(2))
        ev->signature = mem_strdup(random_text());
    if (type == EVENT_TURN_STARTED && one_in(3))
        ev->number = one_in(3) ? pick((int)next_seq) : last_run;
    if (type == EVENT_TURN_STARTED && one_in(8))
        ev->attachments = mem_strdup("[{\"type\":\"image\",\"text\":\"/x.png\"}]");
    return ev;
}

/* Half of the steps are an agent's, so that runs make progress; the others are random. */
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
    assert_true(!before || (before->seq < m->seq && before->turn <= m->turn));
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
    AUTO(json_free_local) struct json *v = shape_to_json(&message_shape, m);
    return json_print(v);
}

static void restore(struct history *h)
{
    struct history back;
    assert_true(restores(h, support_keep(history_counters(h)), &back));
    assert_int_equal(back.unsaved, back.messages.len);
    assert_same_history(h, &back);
    history_release(h);
    *h = back;
}

/* The messages of a snapshot that is saved according to `unsaved`. */
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
    AUTO(history_release) struct history h = {0}, restored = {0};
    struct saved saved = {0};
    history_init(&h);
    history_init(&restored);
    int64_t last_run = 0;
    enum event_type type = EVENT_TURN_COMPLETED;
    int count = pick(40);
    next_seq = 0;
    for (int i = 0; i < count; i++) {
        type = random_type(type);
        AUTO(event_free_local) struct event *ev = random_event(&h, type, last_run);
        if (type == EVENT_TURN_STARTED)
            last_run = ev->seq;
        history_apply(&h, ev);
        history_apply(&restored, ev);
        check_history(&h);
        if (one_in(6))
            restore(&restored);
        if (one_in(4))
            save(&saved, &h);
    }
    assert_same_history(&h, &restored);
    history_drop_open_turn(&h);
    history_drop_open_turn(&restored);
    check_history(&h);
    assert_same_history(&h, &restored);
    save(&saved, &h);
    saved_cut(&saved, 0);
    vec_release(&saved.messages);
}

TEST(test_any_sequence)
{
    entropy_seed(support_seed());
    for (int i = 0; i < (int)suite_sample(1500, 4000); i++)
        one_sequence();
}

/* The cost of each call is in proportion to the bytes that it adds. */
TEST(test_many_calls_in_one_answer)
{
    enum { CALLS = 4000, ARGS = 16384, SOON_MS = 20000 };
    AUTO(history_release) struct history h = {0};
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
}
