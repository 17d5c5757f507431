/* Failures during a compaction, as a person sees them: after any of them the conversation is
 * unchanged and the turn goes on. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "session/capability.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

#define FIRST_REQUEST "how do we cross the river"
#define FAILED "✗ not compacted · summary + last turns"

static int set_up(void **state)
{
    int result = scene_setup(state);
    setenv("TIRO_LEARNED_HISTORY", "false", 1); /* else a request tells of other sessions */
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "400", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    return result;
}

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

static bool says(size_t index, const char *text)
{
    const char *body = model_server_body(scene_server(), index);
    assert_non_null(body);
    return strstr(body, text) != NULL;
}

/* A conversation that the next message shortens. One request. */
static struct screen *open_full(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    return s;
}

/* The message that shortens it is answered, and was sent behind all that was said before. */
static void assert_untouched(struct screen *s, size_t index)
{
    see(s, "Gladly.", IDLE);
    scene_sent(index, FIRST_REQUEST, "first end", "go on", "![Context compacted]");
    assert_int_equal(model_server_requests(scene_server()), index + 1);
}

NEEDS(capability_compaction());
FIXTURE(set_up, scene_teardown);

TEST(a_server_that_fails_is_asked_again)
{
    struct screen *s = open_full(24, 80);
    for (int i = 0; i < 4; i++)
        scene_queue(.fault = REPLY_STATUS, .status = 500, .error_type = "api_error",
                    .error_message = "no summaries today", .retry_after = i == 0 ? "1" : "0");
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "retry 1/3", FAILED, "no summaries today",
        "The conversation is unchanged.");
    assert_untouched(s, 5);
    scene_exchange(s, "and more", "Still here."); /* the next turn does not try again */
    assert_int_equal(model_server_requests(scene_server()), 7);
}

TEST(an_error_while_it_streams)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_ERROR_EVENT, .text = "The bridge is", .error_type = "api_error",
                .error_message = "\033]0;owned\007 lost");
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", FAILED);
    assert_untouched(s, 2);
    assert_false(screen_log_has(s, "\033]0;owned"));
}

/* Esc ends the turn, too; its question can be sent again. */
TEST(escape_while_it_stalls)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_STALL, .text = "The bridge is not");
    act(s, "go on<enter>", "▣ compacting · summary + last turns", "The bridge is");
    act(s, "my own words", "> my own words");
    act(s, "<escape>", "cancelled", "interrupted", IDLE, "> my own words");
    model_server_release(scene_server());
    assert_int_equal(model_server_requests(scene_server()), 2);
    act(s, "<ctrl-c>");
    scene_queue(.text = "Gladly.");
    act(s, "/retry<enter>");
    assert_untouched(s, 2);
}

TEST_IF(capability_store(), it_stops_after_failures)
{
    setenv("TIRO_COMPACTION_MIN_TURNS_BETWEEN_COMPACTIONS", "0", 1);
    setenv("TIRO_COMPACTION_MAX_CONSECUTIVE_FAILURES", "2", 1);
    struct screen *s = open_full(24, 80);
    static const char *const answers[] = {"One.", "Two."};
    for (int i = 0; i < 2; i++) {
        scene_queue(.text = " ");
        scene_exchange(s, "on", answers[i]);
    }
    see(s, "Automatic compaction has stopped", "compaction stopped");
    size_t before = model_server_requests(scene_server());
    scene_leave(s);
    s = scene_open(24, 80, (const char *const[]){"--continue", NULL});
    see(s, "compaction stopped");
    scene_exchange(s, "on", "Three.");
    assert_int_equal(model_server_requests(scene_server()), before + 1);
}

/* --- the summary on the screen --- */
static const char wide[] =
    "漢字かな交じり文の要約。日本の川に橋を架ける。e\xcc\x81 "
    "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x94\xac 予約は金曜日まで。";

/* Each byte is a write of its own, while the screen changes its size. */
TEST(wide_characters_and_sizes_while_it_streams)
{
    static const int sizes[][2] = {{10, 40}, {50, 200}, {5, 20},  {30, 41}, {24, 80},
                                   {2, 2},   {11, 45},  {40, 61}, {24, 80}};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    struct screen *s = open_full(24, 80);
    struct buf text = BUF_INIT;
    for (int i = 0; i < 12; i++)
        buf_addstr(&text, wide);
    scene_queue(.text = text.data, .piece = 7, .interval_ms = 5);
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "漢字");
    for (size_t i = 0; i < SIZES; i++) {
        screen_resize(s, sizes[i][0], sizes[i][1]);
        (void)screen_pump(s, 20);
    }
    see(s, "Gladly.", IDLE, "▣ compacted · summary + last turns");
    scene_assert_truthful(s);
    scene_sent(2, wide, "!" FIRST_REQUEST);
    buf_release(&text);
}

TEST(a_summary_cannot_write_to_the_terminal)
{
    static const char hostile[] =
        "before\033[31mred\033]0;owned\007\033[?1049l\033P+q\033\\"
        "\r\b\xe2\x80\xae after";
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_STALL, .text = hostile);
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "after");
    model_server_release(scene_server());
    see(s, "Gladly.", IDLE);
    act(s, "<enter>", "before"); /* opens the card, with the whole of it */
    static const char *const never[] = {"\033[31mred", "\033]0;owned", "\033[?1049l", "\033P+q",
                                        "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_false(screen_log_has(s, never[i]));
    assert_true(screen_alternate(s));
}

/* --- killed --- */

static const char *const again[] = {"--continue", NULL};
static const char back[] = "Back again.";

static void kill_it(struct screen *s)
{
    scene_end(s, SIGKILL);
    model_server_release(scene_server());
}

/* The conversation is wholly as it was, or wholly shortened, and never both; and it goes on. */
static void assert_whole(struct screen *s)
{
    act(s, "/retry<enter>", back, IDLE);
    size_t last = model_server_requests(scene_server()) - 1;
    scene_sent(last, "go on");
    bool whole = says(last, FIRST_REQUEST) && says(last, "first end");
    bool shortened = says(last, "[Context compacted]");
    assert_true(whole != shortened);
    assert_int_equal(says(last, FIRST_REQUEST), whole);
}

static struct screen *open_killable(const struct reply *summary)
{
    model_server_set_default(scene_server(), &(struct reply){.text = back});
    struct screen *s = open_full(24, 80);
    size_t sent = model_server_requests(scene_server());
    queue(*summary);
    act(s, "go on<enter>");
    assert_true(model_server_wait(scene_server(), sent + 1, WAIT_MS));
    return s;
}

TEST_IF(capability_store(), killed_within_the_summary)
{
    struct screen *s = open_killable(&(struct reply){.fault = REPLY_STALL, .text = wide});
    see(s, "漢字");
    act(s, "my own words");
    assert_true(scene_wait_draft(s, "my own words"));
    kill_it(s);
    s = scene_open(24, 80, again);
    see(s, "▣ compaction interrupted · summary + last turns", "> my own words", "!漢字");
    act(s, "<ctrl-c>");
    assert_whole(s);
}

struct moment {
    size_t bytes; /* that the program has written by then */
};

static bool has_come(struct screen *s, void *context)
{
    const struct moment *m = context;
    return screen_bytes(s) >= m->bytes || strstr(screen_text(s), back);
}

static bool is_shown(struct screen *s, void *context)
{
    (void)context;
    const char *text = screen_text(s);
    return strstr(text, back) || strstr(text, "/retry sends the message again");
}

TEST_IF(capability_store(), killed_at_any_moment)
{
    support_seed();
    for (int i = 0; i < 4; i++) {
        const struct reply summary = {
            .text = "The bridge is booked; pay by Friday.", .piece = 4, .interval_ms = 3};
        struct screen *s = open_killable(&summary);
        struct moment m = {screen_bytes(s) + (size_t)(entropy_unit() * 2500)};
        assert_true(screen_wait(s, has_come, &m, "the moment to die", WAIT_MS));
        kill_it(s);
        s = scene_open(24, 80, again);
        assert_true(screen_wait(s, is_shown, NULL, "how the session ended", WAIT_MS));
        if (!strstr(screen_text(s), back))
            assert_whole(s);
    }
}
