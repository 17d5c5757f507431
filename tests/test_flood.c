/* Answers of the greatest length, and longer, at full speed: the text that is kept, the memory and
 * disk space, and the response to Esc. */
#include <sys/resource.h>

#include "provider/stream.h"
#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

enum {
    KIB = 1024,
    MIB = 1024 * KIB,
    ABOVE_KIB = 64 * KIB, /* that a request may take above its text */
    TIMES_ON_DISK = 6,    /* text_complete, run_completed, snapshot, checkpoints, index */
};

/* A beginning and a repeated piece. Only a terminal lays the text out; where it is written
 * unchanged, the sizes of the pieces make the difference. */
struct pattern {
    const char *name, *begin, *unit;
    size_t piece; /* bytes an event */
};

static const struct pattern patterns[] = {
    {"small events", "", "a line of text that is not very long\n", 24},
    {"few events", "", "a line of text that is not very long\n", MIB},
    {"one line", "", "word after word ", 4000},
    {"no blanks", "", "abcdefghijklmnop", 4000},
    {"table", "| a | b |\n|---|---|\n", "| a cell | 12.5 |\n", 4000},
    {"code", "```c\n", "    if (x) return y + \"z\"; /* why */\n", 4000},
    {"lists", "", "- item\n  - nested\n    - and *more*\n", 4000},
    {"quotations", "", "> ", 4000},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns, LAID_OUT = 4 };

/* Text of at least this many bytes. */
static char *text_of(const struct pattern *s, size_t len)
{
    struct buf text = BUF_INIT;
    buf_addstr(&text, s->begin);
    while (text.len < len)
        buf_addstr(&text, s->unit);
    return buf_take(&text);
}

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

static long peak_of_children_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return usage.ru_maxrss;
}

static void assert_told_of_the_cut(const struct result *r)
{
    assert_int_equal(r->status, 1);
    assert_text(r->err, "the answer has more than 4 MiB and was cut there; ask for less at once");
}

FIXTURE(scene_setup, scene_teardown);

/* The text before the limit is shown and kept, the log says that it is incomplete, and the
 * character at the cut stays whole. */
TEST_IF(capability_store(), test_an_answer_is_cut_at_the_maximum)
{
    static const struct pattern wide = {"wide", "x", "あ", 4000};
    const struct pattern *const cut[] = {&wide, &patterns[1]};
    for (size_t i = 0; i < suite_sample(1, 2); i++) {
        auto_free char *text = text_of(cut[i], STREAM_MAX_BYTES + MIB);
        queue((struct reply){.text = text, .piece = cut[i]->piece});
        struct result r = RUN("run", "flood");
        assert_told_of_the_cut(&r);
        size_t len = strlen(r.out) - 1; /* the line's end */
        assert_in_range(len, STREAM_MAX_BYTES - 8, STREAM_MAX_BYTES);
        assert_memory_equal(r.out, text, len);
        if (cut[i] == &wide)
            assert_int_equal(len % 3, 1);
        assert_int_equal(
            damage_number(
                scene_store(),
                "SELECT length(CAST(payload ->> 'content' AS BLOB)) FROM event WHERE type = "
                "'text_complete' AND payload ->> 'partial' ORDER BY rowid DESC"),
            len);
        assert_true(damage_size(scene_store()) <= (i + 1) * TIMES_ON_DISK * STREAM_MAX_BYTES);
    }
    queue((struct reply){.text = "Shorter."});
    assert_string_equal(program_output(RUN("run", "--continue", "--no-compaction", "again")),
                        "Shorter.\n");
}

/* Half a call is none, and reasoning alone no answer. */
TEST_IF(capability_store(), test_calls_and_reasoning_count)
{
    auto_free char *text = text_of(&patterns[2], STREAM_MAX_BYTES + MIB);
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addf(&args, "{\"path\":\"%s\"}", text);
    queue((struct reply){.tool_name = "read_file", .tool_args = args.data});
    queue((struct reply){.reasoning = text, .text = "Late."});
    for (int i = 0; i < 2; i++) {
        struct result r = RUN("run", "flood");
        assert_told_of_the_cut(&r);
        assert_string_equal(r.out, "");
    }
    assert_int_equal(damage_number(scene_store(),
                                   "SELECT count(*) FROM event WHERE type IN "
                                   "('tool_call_requested', 'text_complete')"),
                     0);
}

/* ---- memory and disk ---- */

static void run_shapes(size_t begin, size_t end, const char *format)
{
    for (size_t i = begin; i < end; i++) {
        auto_free char *text = text_of(&patterns[i], STREAM_MAX_BYTES - 64);
        queue((struct reply){.text = text, .piece = patterns[i].piece});
        run_ok(RUN("run", "--output-format", format, "flood"));
    }
}

static void run_reasoning_and_call(void)
{
    auto_free char *text = text_of(&patterns[2], STREAM_MAX_BYTES - 64);
    AUTO(buf_release) struct buf args = BUF_INIT;
    buf_addf(&args, "{\"path\":\"%.*s\"}", (int)(STREAM_MAX_BYTES - 64), text);
    queue((struct reply){.reasoning = text, .text = "Done."});
    run_ok(RUN("run", "flood"));
    queue((struct reply){.tool_name = "read_file", .tool_args = args.data});
    queue((struct reply){.text = "Done."});
    run_ok(RUN("run", "--no-compaction", "flood"));
}

/* The first test: the largest child so far is then a small one. */
TEST_IF(capability_store(), test_memory_is_bounded)
{
    if (!SUPPORT_TELLS_MEMORY)
        skip();
    /* Linux counts the pages of this process for a child until the child executes the program. */
    mem_return_large_blocks();
    queue((struct reply){.text = "small"});
    run_ok(RUN("run", "small"));
    long base = peak_of_children_kib();
    run_shapes(0, suite_sample(1, LAID_OUT), "text");
    run_shapes(suite_sample(1, 0), 2, "stream-json");
    run_shapes(suite_sample(2, 0), 2, "json");
    run_reasoning_and_call();
    long above = peak_of_children_kib() - base - (long)(STREAM_MAX_BYTES / KIB);
    print_message("peak above base and text: %ld KiB\n", above);
    assert_true(above <= ABOVE_KIB);
}

static void call_with_much(void *context, const char *body, size_t len, struct reply *r)
{
    size_t *largest = context;
    (void)body;
    *largest = len > *largest ? len : *largest;
    static const char head[] = "{\"path\":\"";
    static char *args;
    if (!args) {
        auto_free char *text = text_of(&patterns[2], STREAM_MAX_BYTES - 64);
        struct buf made = BUF_INIT;
        buf_addf(&made, "%sa%.*s\"}", head, (int)(STREAM_MAX_BYTES - 65), text);
        args = buf_take(&made);
    }
    args[sizeof head - 1]++; /* a turn that repeats a failing call stops */
    *r = (struct reply){.tool_name = "read_file", .tool_args = args};
}

/* Every answer makes as many calls as allowed. The turn ends before a request is longer than any
 * server accepts, and before memory is full. make check has smaller bounds in test_requests. */
TEST_IF(SUPPORT_TELLS_MEMORY &&getenv("TEST_WHOLE"), test_a_request_is_bounded)
{
    size_t largest = 0;
    model_server_set_responder(scene_server(), call_with_much, &largest);
    struct result r = RUN("run", "--no-compaction", "flood");
    model_server_set_responder(scene_server(), NULL, NULL);
    assert_int_equal(r.status, 1);
    assert_text(r.err, "bytes, and may have 33554432; compact it, or start a new session");
    assert_in_range(largest, 24 * MIB, 32 * MIB);
    print_message("peak of a long turn: %ld KiB\n", peak_of_children_kib());
    assert_true(peak_of_children_kib() <= 256 * KIB);
}

/* ---- at a terminal ---- */

/* Esc while the answer comes and is laid out; the text so far stays. */
TEST(test_esc_is_answered)
{
    size_t step = suite_sample(4, 1);
    for (size_t n = 0, i = support_seed() % step; i < PATTERNS; n++, i += step) {
        auto_free char *text = text_of(&patterns[i], STREAM_MAX_BYTES - 64);
        queue((struct reply){.fault = REPLY_STALL, .text = text, .piece = patterns[i].piece});
        struct screen *s = scene_open(24, 80, (const char *const[]){"--no-compaction", NULL});
        scene_say(s, "flood");
        assert_true(model_server_wait(scene_server(), 2 * n + 1, WAIT_MS));
        screen_key(s, SCREEN_ESCAPE);
        if (!screen_wait_text(s, "interrupted", WAIT_MS))
            fail_msg("%s: Esc is not answered", patterns[i].name);
        assert_true(scene_wait_idle(s));
        scene_exchange(s, "again", "Hello from the scripted model.");
        scene_leave(s);
        model_server_release(scene_server());
    }
}
