/* Events on the screen while an answer streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";

/* Begins a turn whose answer stops after `text` until the server is released. */
static struct screen *open_stalled(const char *text)
{
    scene_queue(.fault = REPLY_STALL, .text = text);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "begin<enter>");
    return s;
}

FIXTURE(scene_setup, scene_teardown);

TEST(one_message_can_wait_for_the_end)
{
    struct screen *s = open_stalled("streaming");
    see(s, "streaming");
    act(s, "sent when it ends<enter>", "sent when it ends");
    assert_int_equal(model_server_requests(scene_server()), 1);
    model_server_release(scene_server());
    assert_true(model_server_wait(scene_server(), 2, WAIT_MS));
    see(s, hello);
    scene_sent(1, "sent when it ends");
}

TEST(escape_cancels_and_keeps_what_came)
{
    struct screen *s = open_stalled("half of a thought");
    see(s, "half of a thought");
    act(s, "<escape>", "interrupted", "half of a thought");
    scene_exchange(s, "go on", hello);
    const char *body = model_server_body(scene_server(), 1);
    assert_says(body, "half of a thought", "go on");
}

TEST(stop_cancels_before_any_answer)
{
    scene_queue(.text = "never seen", .hold = true);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "/stop<enter>", "Nothing is running.");
    act(s, "hello?<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    act(s, "/stop<enter>", "interrupted");
    model_server_release(scene_server());
    scene_exchange(s, "again", hello);
    see(s, "!never seen");
}

/* A long answer of numbered lines, 8 bytes in a delta. */
static char *numbered_lines(int count)
{
    struct buf text = BUF_INIT;
    for (int i = 1; i <= count; i++)
        buf_addf(&text, "%d. item number %d of the list\n", i, i);
    buf_addstr(&text, "\nthe very end\n");
    return buf_take(&text);
}

TEST(resizing_while_it_streams)
{
    static const int sizes[][2] = {{24, 100}, {10, 40}, {50, 200}, {5, 20},   {30, 41}, {24, 80},
                                   {11, 120}, {40, 40}, {2, 2},    {24, 132}, {20, 60}};
    char *text = numbered_lines(120);
    scene_queue(.text = text, .piece = 8, .interval_ms = 1);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "a list, please<enter>", "item number");
    for (size_t round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            screen_resize(s, sizes[i][0], sizes[i][1]);
            (void)screen_pump(s, 20);
        }
    see(s, "the very end", "item number 120 of the list", IDLE);
    assert_int_equal(screen_status(s), -1);
    scene_assert_truthful(s);
    free(text);
}

/* Too quick for the program to see the size between: the terminal has forgotten its text anyway. */
TEST(resizing_there_and_back)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", hello);
    for (int i = 0; i < 10; i++) {
        screen_resize(s, 10, 40);
        screen_resize(s, 24, 80);
        see(s, hello);
        scene_assert_truthful(s);
    }
}

TEST(scrolling_stays_while_more_comes)
{
    char *text = numbered_lines(60);
    scene_queue(.text = text);
    scene_queue(.fault = REPLY_STALL, .text = "news from below");
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "a list", "the very end");
    act(s, "<pageup>", "!the very end");
    act(s, "<pageup*3>", "item number 1 of");
    act(s, "<pagedown*4>");
    see(s, "the very end");
    for (int i = 0; i < 4; i++)
        act(s, "<wheel-up>");
    see(s, "!the very end");
    for (int i = 0; i < 6; i++)
        act(s, "<wheel-down>");
    see(s, "the very end");
    act(s, "and?<enter>", "news from below");
    free(text);
}

TEST(characters_split_between_reads_come_whole)
{
    scene_queue(.text = "日本語 ünïcode 🙂 done", .piece = 1, .split_bytes = true);
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "split<enter>", "日本語 ünïcode 🙂 done", "!\xef\xbf\xbd");
}

/* A word on a full screen does not repaint it. */
TEST(a_key_sends_few_bytes)
{
    struct screen *s = scene_open(40, 120, NULL);
    scene_exchange(s, "hi", hello);
    act(s, "a", "> a");
    size_t before = screen_bytes(s);
    act(s, "b", "> ab");
    assert_true(screen_bytes(s) - before < 200);
    assert_false(screen_pump(s, 300)); /* and then nothing moves */
}
