/* A user at a terminal who reviews the summary before it replaces the conversation. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/capability.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

#define REVIEW "draft summary ·", "Alt-g" /* it is open */
#define OVER "!draft summary", IDLE
#define HEADING "draft summary · summary + last turns"
#define SUMMARY "The bridge is booked."
#define OWN "my own words"
#define FIRST_REQUEST "how do we cross the river"

static int set_up(void **state)
{
    int result = scene_setup(state);
    setenv("TIRO_COMPACTION_PREVIEW", "true", 1);
    setenv("TIRO_COMPACTION_RECENT_TURN_BUDGET", "1", 1);
    return result;
}

/* Two turns, so that the first can go. Two requests. */
static struct screen *open_conversation(int rows, int cols)
{
    struct screen *s = scene_open(rows, cols, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    scene_exchange_long(s, "and then?", "second end");
    return s;
}

static struct screen *open_review(int rows, int cols, const char *text)
{
    struct screen *s = open_conversation(rows, cols);
    scene_queue(.text = text);
    act(s, "/compact<enter>", REVIEW);
    return s;
}

/* Whether the caret stands after the text of this row. */
static bool caret_stands(struct screen *s, void *text)
{
    int row, col, at, left;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return visible && screen_find(s, text, &at, &left) && row == at && col == left + 2;
}

static void wait_caret(struct screen *s, const char *row)
{
    char *text = mem_strdup(row);
    assert_true(screen_wait(s, caret_stands, text, "the caret's place", WAIT_MS));
    free(text);
}

NEEDS(capability_compaction());
FIXTURE(set_up, scene_teardown);

TEST(what_is_kept_stands_for_the_rest)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    see(s, HEADING, "Enter accepts", "> The bridge is booked.", "waiting for you");
    wait_caret(s, "> The bridge");
    act(s, "<enter>", OVER, "compacted");
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, SUMMARY, "!" FIRST_REQUEST, "second end");
}

TEST(what_was_changed_is_what_counts)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "漢字: <ctrl-e><ctrl-j>");
    screen_paste(s, "- pay by Friday\n- e\xcc\x81");
    see(s, "> 漢字: The bridge is booked.", "- e\xcc\x81");
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, "漢字: The bridge is booked.\\n- pay by Friday\\n- e\xcc\x81", "!" FIRST_REQUEST);
}

TEST(what_is_refused_changes_nothing)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "changed <escape>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, FIRST_REQUEST, "!" SUMMARY);
    scene_queue(.text = "Another summary.");
    act(s, "/compact<enter>", REVIEW, "> Another summary.");
    act(s, "<enter>", OVER, "compacted");
}

TEST(it_is_asked_for_again_with_a_focus)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "<alt-g>", "focus on:");
    act(s, "<escape>", REVIEW);
    act(s, "<alt-g>", "focus on:");
    act(s, "what it costs", "focus on: what it costs");
    scene_queue(.text = "The bridge costs 40.");
    act(s, "<enter>", "> The bridge costs 40.", REVIEW);
    assert_null(strstr(screen_text(s), SUMMARY)); /* nor in the card above */
    assert_int_equal(model_server_requests(scene_server()), 4);
    scene_sent(3, "what it costs", SUMMARY);
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(4, "The bridge costs 40.", "!" FIRST_REQUEST);
}

/* --- the person's own words --- */
/* The summary is requested, and text that is typed meanwhile is a message. */
static struct screen *write_meanwhile(const char *typed)
{
    size_t before = model_server_requests(scene_server());
    struct screen *s = open_conversation(24, 80);
    scene_queue(.text = SUMMARY, .hold = true);
    act(s, "/compact<enter>");
    assert_true(model_server_wait(scene_server(), before + 3, WAIT_MS));
    screen_type(s, typed);
    return s;
}

TEST_IF(capability_store(), own_words_come_back)
{
    struct screen *s = write_meanwhile(OWN);
    see(s, "> my own words");
    model_server_release(scene_server());
    see(s, REVIEW, "!" OWN);
    act(s, "changed ", "> changed The bridge");
    assert_true(scene_wait_draft(s, OWN));
    act(s, "<enter>", OVER, "> my own words");
    act(s, "!");
    assert_true(scene_wait_draft(s, "my own words!"));
}

/* The draft waits, and the text that is being typed stays visible. */
static bool announced_above_x(struct screen *s)
{
    return strstr(screen_text(s), "a draft summary is ready") && strstr(screen_text(s), "xx");
}

/* Types until the draft has come. Returns false if the test was delayed for longer than the pause
 * that opens the draft. */
static bool write_until_announced(struct screen *s)
{
    enum { BETWEEN_MS = 20 };
    int64_t end = clock_mono_ms() + WAIT_MS;
    while (!announced_above_x(s) && !strstr(screen_text(s), "Alt-g")) {
        assert_true(clock_mono_ms() < end);
        act(s, "x");
        for (int64_t next = clock_mono_ms() + BETWEEN_MS; clock_mono_ms() < next;)
            (void)screen_pump(s, BETWEEN_MS);
    }
    return announced_above_x(s);
}

static struct screen *write_while_it_comes(void)
{
    enum { TRIES = 10 };
    for (int i = 0; i < TRIES; i++) {
        struct screen *s = write_meanwhile("so I");
        model_server_release(scene_server());
        if (write_until_announced(s))
            return s;
        screen_signal(s, SIGKILL);
        assert_true(screen_wait_exit(s, WAIT_MS));
    }
    fail_msg("each time the draft was opened before its announcement was seen");
    return NULL;
}

/* A message that is sent while the draft arrives is not an answer to the draft. */
TEST(typing_ahead_keeps_nothing)
{
    struct screen *s = write_while_it_comes();
    size_t requests = model_server_requests(scene_server());
    act(s, " wrote on<enter>", "waiting: so I", REVIEW,
        "> The bridge is booked."); /* at once: a pause would be the end of it */
    assert_int_equal(model_server_requests(scene_server()), requests); /* and it waits */
    act(s, "<enter>", "!draft summary", "Hello from the scripted model.");
    scene_sent(requests, "wrote on", SUMMARY);
}

TEST_IF(capability_store(), killed_during_the_review)
{
    struct screen *s = write_meanwhile(OWN);
    model_server_release(scene_server());
    see(s, REVIEW);
    act(s, "changed ", "> changed The bridge");
    assert_true(scene_wait_draft(s, OWN));
    scene_end(s, SIGKILL);
    static const char *const again[] = {"--continue", NULL};
    s = scene_open(24, 80, again);
    see(s, "> my own words");
    act(s, "<enter>", "Hello from the scripted model.");
    scene_sent(3, FIRST_REQUEST, "!changed");
}

/* Leaving decides nothing for the summary. */
TEST_IF(capability_store(), leaving_refuses)
{
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "changed ", "> changed The bridge");
    scene_end(s, SIGTERM);
    scene_assert_restored(s);
    static const char *const again[] = {"--continue", NULL};
    s = scene_open(24, 80, again);
    see(s, "!cut off");
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, FIRST_REQUEST, "!" SUMMARY);
}

/* --- around it --- */

TEST(the_external_editor)
{
    char *path = support_path("add-a-line");
    support_write(path,
                  "#!/bin/sh\n"
                  "for n in 3 4 5 6 7 8 9; do\n"
                  "  (: <&$n) 2>/dev/null && echo \"- inherited $n\" >>\"$1\"\n"
                  "done\n"
                  /* bit 24, which is SIGXFSZ */
                  "grep -q '^SigIgn:.*[13579bdf]......$' /proc/$$/status 2>/dev/null &&\n"
                  "  echo '- inherited an ignored signal' >>\"$1\"\n"
                  "echo '- by the editor' >>\"$1\"\n");
    assert_int_equal(chmod(path, 0700), 0);
    setenv("EDITOR", path, 1);
    struct screen *s = open_review(24, 80, "- by the model\n");
    act(s, "<ctrl-g>", "- by the editor", REVIEW);
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, "- by the editor");
#ifdef HAVE_CLOSEFROM
    scene_sent(3, "!- inherited");
#endif
    unsetenv("EDITOR");
    free(path);
}

TEST(what_an_editor_that_failed_wrote_is_not_taken)
{
    char *path = support_path("fails");
    support_write(path, "#!/bin/sh\necho '- by the editor' >>\"$1\"\nexit 1\n");
    assert_int_equal(chmod(path, 0700), 0);
    setenv("EDITOR", path, 1);
    struct screen *s = open_review(24, 80, "- by the model\n");
    act(s, "<ctrl-g>", "the text is unchanged", "- by the model", "!- by the editor");
    unsetenv("EDITOR");
    free(path);
}

TEST(the_smallest_screen_will_do)
{
    struct screen *s = open_review(10, 40, "one\ntwo\nthree\nfour\nfive\nsix\nseven");
    see(s, "> one");
    wait_caret(s, "> one");
    see(s, "Enter accepts", "Esc rejects · Alt-g focus");
    assert_int_equal(strncmp(screen_row_text(s, 0), "tiro", 4), 0);
    act(s, "<down*6>");
    see(s, "seven");
    act(s, "<alt-g>", "focus on:");
    act(s, "<escape>", REVIEW);
    act(s, "<enter>", OVER, "compacted");
}

TEST(it_survives_any_size)
{
    static const int sizes[][2] = {{10, 40}, {50, 200}, {5, 20}, {30, 41}, {2, 2}, {12, 60}};
    struct screen *s = open_review(24, 80, SUMMARY);
    act(s, "mine: ");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        screen_resize(s, sizes[i][0], sizes[i][1]);
        if (sizes[i][0] < 10) {
            see(s, "!The bridge");
            act(s, "<enter>"); /* an invisible draft cannot be accepted */
            continue;
        }
        see(s, REVIEW, "> mine: The bridge is booked.");
    }
    act(s, "<enter>", OVER);
    scene_exchange(s, "go on", "Gladly.");
    scene_sent(3, "mine: The bridge");
}

/* A summary is only text, whatever bytes it has. */
TEST(it_cannot_write_to_the_terminal)
{
    struct screen *s = open_review(24, 80, "before\033]0;owned\007\033[31mred\nafter\r\b");
    see(s, "after");
    assert_false(screen_log_has(s, "\033]0;owned"));
    assert_false(screen_log_has(s, "\033[31mred"));
    act(s, "<enter>", OVER);
    assert_false(screen_log_has(s, "\033]0;owned"));
}

/* Within a turn, the answer waits for the decision on the summary, and comes after any decision. */
TEST(a_turn_goes_on_after_it)
{
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "400", 1);
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    scene_queue(.text = SUMMARY);
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", REVIEW);
    assert_int_equal(model_server_requests(scene_server()), 2);
    act(s, "kept: <enter>", "Gladly.", OVER); /* into the summary, and keeps it */
    scene_sent(2, "kept: The bridge is booked.", "!" FIRST_REQUEST, "go on");
}

/* The first Ctrl-C clears the summary, the next one stops the turn. */
TEST(a_turn_can_be_stopped_in_it)
{
    setenv("TIRO_COMPACTION_AUTO_COMPACT_THRESHOLD", "400", 1);
    struct screen *s = scene_open(24, 120, NULL);
    scene_exchange_long(s, FIRST_REQUEST, "first end");
    scene_queue(.text = SUMMARY);
    act(s, "go on<enter>", REVIEW, "!Esc stops"); /* here it refuses */
    act(s, "<ctrl-c*2>", "interrupted", OVER);
    assert_int_equal(model_server_requests(scene_server()), 2);
}
