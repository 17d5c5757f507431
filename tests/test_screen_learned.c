/* Learned memory in the real program: cards of noted facts, receipts, the tab of the memory pane at
 * three sizes, and the permissions of a session. */
#include <stdlib.h>
#include <string.h>

#include "tests/damage.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char next_tab[] = "\033[17~"; /* F6 */

static struct screen *open_with(int rows, int cols, const char *name, const char *value)
{
    setenv(name, value, 1);
    struct screen *s = scene_open(rows, cols, NULL);
    unsetenv(name);
    return s;
}

static void say(struct screen *s, const char *text)
{
    scene_queue(.text = "As you like.");
    screen_type(s, text);
    act(s, "<enter>", "As you like.", IDLE);
}

static int64_t count(const char *state)
{
    return damage_number(
        scene_store(), support_text("SELECT count(*) FROM learned_item WHERE state = '%s'", state));
}

NEEDS(capability_memory() && capability_store());
FIXTURE(scene_setup, scene_teardown);

/* --- cards --- */

TEST(a_card_is_accepted_and_taken_back)
{
    struct screen *s = scene_open(30, 100, NULL);
    say(s, "Reply in French please.");
    see(s, "remember this? Reply in French", "you typed: \u201cReply in French please.\u201d",
        "Alt-k keeps it");
    assert_int_equal(count("candidate"), 1);
    act(s, "<alt-k>", "Remembered: Reply in French", "Alt-j undoes it", "!remember this?",
        "!Alt-k keeps it");
    assert_int_equal(count("active"), 1);
    act(s, "<alt-j>", "Not remembered: Reply in French", "!Alt-j undoes it");
    assert_int_equal(count("rejected"), 1);
    act(s, "<alt-k>", "No proposal waits");
}

TEST(what_waits_is_told_at_the_start_and_what_is_kept_asks_no_more)
{
    struct screen *s = scene_open(30, 100, NULL);
    say(s, "Reply in French please.");
    act(s, "<alt-k>", "Remembered: Reply in French");
    say(s, "No emojis.");
    see(s, "remember this? No emojis");
    scene_leave(s);
    s = scene_open(30, 100, (const char *const[]){"-c", NULL});
    see(s, "1 item waits to be remembered", "remembered: Reply in French",
        "!this? Reply in French", "remember this? No emojis");
}

TEST(a_card_is_changed_in_the_editor)
{
    struct screen *s = scene_open(30, 100, NULL);
    say(s, "Remember that we deploy on Fridays.");
    act(s, "<alt-w>", "> /remember we deploy on Fridays");
    act(s, " at noon<enter>", "Remembered: we deploy on Fridays at noon");
    assert_int_equal(count("active"), 1);
    assert_int_equal(count("candidate"), 0);
}

TEST(what_is_kept_unasked_leaves_a_receipt)
{
    struct screen *s = open_with(30, 100, "TIRO_LEARNED_CAPTURE", "auto");
    say(s, "No emojis.");
    see(s, "remembered: No emojis", "Alt-j undoes it");
    act(s, "<alt-j>", "Not remembered: No emojis");
    assert_int_equal(count("active"), 0);
}

/* --- permissions of a session --- */

TEST(the_status_line_says_what_the_session_may)
{
    struct screen *s = scene_open(30, 120, NULL);
    see(s, "memory on");
    act(s, "/memory off<enter>", "nothing is recalled and nothing remembered", "memory off");
    say(s, "No emojis.");
    see(s, "!to be remembered");
    act(s, "<alt-m>", "memory on");
    act(s, "<alt-m>", "memory read only");
    act(s, "<alt-m>", "memory off");
    act(s, "/memory on<enter>", "Memory is read and written", "memory on");
}

/* --- the tab --- */

static const struct {
    int rows, cols;
} sizes[] = {{40, 120}, {24, 80}, {10, 40}};

TEST(the_inbox_is_worked_off_at_every_size)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = scene_open(sizes[i].rows, sizes[i].cols, NULL);
        say(s, support_text("Remember that door %zu is open.", i));
        act(s, "<f2>", " Memory · all");
        screen_type(s, next_tab);
        see(s, "1 wait", "door ", "a remember");
        act(s, "a", "Remembered.", "0 wait");
        act(s, "e", "text: door");
        act(s, "<ctrl-a>the <enter>", "Changed.", "the door");
        act(s, "h", "before: door");
        act(s, "h", "!before:");
        act(s, "dy", "u undoes it");
        act(s, "u", "Restored", "the door");
        act(s, "r", "Rejected; it is not asked");
        act(s, "<f2>", "!Learned · ");
        scene_leave(s);
    }
}

TEST(the_command_finds_and_the_source_is_shown)
{
    struct screen *s = scene_open(24, 80, NULL);
    say(s, "Remember that we deploy on Fridays. #ops");
    act(s, "<alt-k>", "Remembered: we deploy");
    scene_queue(.text = "Another answer.");
    act(s, "/new<enter>", "!As you like.");
    act(s, "hi<enter>", "Another answer.", IDLE);
    act(s, "/learned friday<enter>", "- we deploy on Fridays", "1 use");
    act(s, "o", "Remember that we deploy", "!Another answer.");
}

TEST(forget_looks_in_memory_and_in_what_was_learned)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "/remember the port is 8443<enter>", "Remembered: the port is 8443");
    act(s, "/forget port<enter>", "No matches in memory", "1 learned item has these words, too");
    screen_type(s, next_tab);
    see(s, "/ port", "- the port is 8443");
    act(s, "dy", "Forgotten");
    assert_int_equal(damage_number(scene_store(), "SELECT count(*) FROM learned_item"), 0);
}

TEST(proposals_of_a_model_are_told)
{
    struct screen *s = open_with(24, 80, "TIRO_LEARNED_EXTRACT", "on_archive");
    say(s, "We use tabs here.");
    scene_exchange(s, "Ada leads.", "Fine.");
    scene_exchange(s, "Thanks!", "Welcome.");
    scene_queue(.hold = true,
                .text =
                    "{\"items\":[{\"message\":1,\"kind\":\"fact\",\"text\":\"tabs are used\"}]}");
    act(s, "/archive<enter>", "is archived");
    assert_true(model_server_wait(scene_server(), 4, WAIT_MS));
    model_server_release(scene_server());
    see(s, "1 item waits to be remembered; a model proposed it");
    act(s, "/learned<enter>", "1 waiting", "tabs are used");
    act(s, "<enter>", "proposed by a model");
}

TEST(without_memory_it_says_so)
{
    struct screen *s = open_with(24, 80, "TIRO_MEMORY_ENABLED", "false");
    act(s, "/learned<enter>", "Memory is off");
    see(s, "!memory write");
}
