/* What happens on the screen while an answer streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

/* Begins a turn whose answer stops after `text` until the server is told to go on. */
static struct screen *open_stalled(const char *text)
{
    queue((struct reply){.fault = REPLY_STALL, .text = text});
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "begin");
    return s;
}

FIXTURE(scene_setup, scene_teardown);

TEST(text_shows_before_the_answer_ends)
{
    struct screen *s = open_stalled("the first half");
    assert_true(screen_wait_text(s, "the first half", WAIT_MS));
    model_server_release(scene_server());
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "again", hello);
}

TEST(keys_work_while_it_streams)
{
    struct screen *s = open_stalled("streaming");
    assert_true(screen_wait_text(s, "streaming", WAIT_MS));
    screen_type(s, "typed meanwhile");
    assert_true(screen_wait_text(s, "> typed meanwhile", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 1);
    model_server_release(scene_server());
}

TEST(one_message_can_wait_for_the_end)
{
    struct screen *s = open_stalled("streaming");
    assert_true(screen_wait_text(s, "streaming", WAIT_MS));
    scene_say(s, "sent when it ends");
    assert_true(screen_wait_text(s, "sent when it ends", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 1);
    model_server_release(scene_server());
    assert_true(model_server_wait(scene_server(), 2, WAIT_MS));
    assert_true(screen_wait_text(s, hello, WAIT_MS));
    assert_non_null(strstr(model_server_body(scene_server(), 1), "sent when it ends"));
}

TEST(escape_cancels_and_keeps_what_came)
{
    struct screen *s = open_stalled("half of a thought");
    assert_true(screen_wait_text(s, "half of a thought", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "interrupted", WAIT_MS));
    assert_true(screen_wait_text(s, "half of a thought", WAIT_MS));
    scene_exchange(s, "go on", hello);
    const char *body = model_server_body(scene_server(), 1);
    assert_non_null(strstr(body, "half of a thought"));
    assert_non_null(strstr(body, "go on"));
}

TEST(escape_cancels_before_any_answer)
{
    queue((struct reply){.text = "never seen", .hold = true});
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "hello?");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "interrupted", WAIT_MS));
    model_server_release(scene_server());
    scene_exchange(s, "again", hello);
    assert_null(strstr(screen_text(s), "never seen"));
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

static bool caret_is_after(struct screen *s, void *context)
{
    int row, col;
    bool visible;
    screen_cursor(s, &row, &col, &visible);
    return visible && strcmp(screen_row_text(s, row), context) == 0;
}

/* Keys and their echo: what was drawn before has arrived. */
static void settle(struct screen *s)
{
    static char typed[] = "> @@", empty[] = ">";
    screen_type(s, "@@");
    assert_true(screen_wait(s, caret_is_after, typed, typed, WAIT_MS));
    screen_key(s, SCREEN_BACKSPACE);
    screen_key(s, SCREEN_BACKSPACE);
    assert_true(screen_wait(s, caret_is_after, empty, empty, WAIT_MS));
}

/* A full repaint must change nothing: what the program thinks is there, is there. */
static void assert_truthful(struct screen *s)
{
    settle(s);
    char *before = mem_strdup(screen_text(s));
    screen_ctrl(s, 'l');
    settle(s);
    assert_string_equal(screen_text(s), before);
    free(before);
}

TEST(resizing_while_it_streams)
{
    static const int sizes[][2] = {{24, 100}, {10, 40}, {50, 200}, {5, 20},   {30, 41}, {24, 80},
                                   {11, 120}, {40, 40}, {2, 2},    {24, 132}, {20, 60}};
    char *text = numbered_lines(120);
    queue((struct reply){.text = text, .piece = 8, .interval_ms = 1});
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "a list, please");
    assert_true(screen_wait_text(s, "item number", WAIT_MS));
    for (size_t round = 0; round < 5; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            screen_resize(s, sizes[i][0], sizes[i][1]);
            (void)screen_pump(s, 20);
        }
    assert_true(screen_wait_text(s, "the very end", WAIT_MS));
    assert_true(screen_wait_text(s, "item number 120 of the list", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_int_equal(screen_status(s), -1);
    assert_truthful(s);
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
        assert_true(screen_wait_text(s, hello, WAIT_MS));
        assert_truthful(s);
    }
}

TEST(scrolling_stays_while_more_comes)
{
    char *text = numbered_lines(60);
    queue((struct reply){.text = text});
    queue((struct reply){.fault = REPLY_STALL, .text = "news from below"});
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "a list", "the very end");
    screen_key(s, SCREEN_PAGE_UP);
    assert_true(screen_wait_gone(s, "the very end", WAIT_MS));
    screen_key(s, SCREEN_PAGE_UP);
    screen_key(s, SCREEN_PAGE_UP);
    screen_key(s, SCREEN_PAGE_UP);
    assert_true(screen_wait_text(s, "item number 1 of", WAIT_MS));
    for (int i = 0; i < 4; i++)
        screen_key(s, SCREEN_PAGE_DOWN);
    assert_true(screen_wait_text(s, "the very end", WAIT_MS));
    for (int i = 0; i < 4; i++)
        screen_wheel(s, true);
    assert_true(screen_wait_gone(s, "the very end", WAIT_MS));
    for (int i = 0; i < 6; i++)
        screen_wheel(s, false);
    assert_true(screen_wait_text(s, "the very end", WAIT_MS));
    scene_say(s, "and?");
    assert_true(screen_wait_text(s, "news from below", WAIT_MS));
    free(text);
}

TEST(the_view_does_not_jump_while_reading_back)
{
    char *text = numbered_lines(80);
    queue((struct reply){.text = text, .piece = 16, .interval_ms = 15});
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "a list");
    assert_true(screen_wait_text(s, "item number 30 of", WAIT_MS));
    screen_key(s, SCREEN_PAGE_UP);
    screen_key(s, SCREEN_PAGE_UP);
    screen_key(s, SCREEN_PAGE_UP);
    assert_true(screen_wait_text(s, "item number 1 of", WAIT_MS));
    char *top = mem_strdup(screen_row_text(s, 3));
    screen_type(s, "x");
    assert_true(screen_wait_text(s, "> x", WAIT_MS));
    assert_string_equal(screen_row_text(s, 3), top);
    assert_true(screen_wait_text(s, "item number 1 of", WAIT_MS));
    assert_null(strstr(screen_text(s), "the very end"));
    free(top);
    free(text);
}

TEST(characters_split_between_reads_come_whole)
{
    queue((struct reply){.text = "日本語 ünïcode 🙂 done", .piece = 1, .split_bytes = true});
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "split");
    assert_true(screen_wait_text(s, "日本語 ünïcode 🙂 done", WAIT_MS));
    assert_null(strstr(screen_text(s), "\xef\xbf\xbd"));
}

TEST(markdown_is_formatted)
{
    queue((struct reply){.text = "# The heading\n\nSome **bold** and `code` words.\n\n"
                                 "| a | b |\n|---|---|\n| cell one | cell two |\n\nfin\n"});
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "format", "fin");
    assert_true(screen_wait_text(s, "Some bold and code words.", WAIT_MS));
    assert_true(screen_wait_text(s, "cell two", WAIT_MS));
    assert_null(strstr(screen_text(s), "**"));
    assert_null(strstr(screen_text(s), "|---|"));
}

TEST(a_tool_call_is_one_line)
{
    char *path = support_path("notes.txt");
    support_write(path, "line one of the notes\nline two of the notes\nline three\n");
    free(path);
    queue((struct reply){.tool_name = "read_file", .tool_args = "{\"path\":\"notes.txt\"}"});
    queue((struct reply){.text = "Three lines."});
    struct screen *s = scene_open(24, 80, NULL);
    scene_ask(s, "how long are my notes?", "Three lines.");
    assert_true(screen_wait_text(s, "read_file", WAIT_MS));
    assert_null(strstr(screen_text(s), "line two of the notes"));
    assert_non_null(strstr(model_server_body(scene_server(), 1), "line two of the notes"));
}

/* A word on a full screen does not repaint it. */
TEST(a_key_sends_few_bytes)
{
    struct screen *s = scene_open(40, 120, NULL);
    scene_exchange(s, "hi", hello);
    screen_type(s, "a");
    assert_true(screen_wait_text(s, "> a", WAIT_MS));
    size_t before = screen_bytes(s);
    screen_type(s, "b");
    assert_true(screen_wait_text(s, "> ab", WAIT_MS));
    assert_true(screen_bytes(s) - before < 200);
    assert_false(screen_pump(s, 300)); /* and then nothing moves */
}
