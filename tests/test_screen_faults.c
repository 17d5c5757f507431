/* Failures on the way to an answer, and attempts of an answer to control the terminal. */
#include <stdlib.h>
#include <string.h>

#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char hello[] = "Hello from the scripted model.";

static const char hostile[] =
    "before\033[31mred\033]0;owned\007\033]52;c;b3duZWQ=\007\033[?1049l"
    "\033P+q\033\\\2335m\302\2336m\r\b\b\x7f"
    "after\xe2\x80\xaegnp";

/* None of the sequences above may occur; a bell alone could also be the program's own. */
static void assert_harmless(struct screen *s)
{
    static const char *const never[] = {
        "\033[31mred", "\033]0;owned", "owned\007", "\033]52;c;b3duZWQ=",
        "\033P+q",     "\xc2\x9b",     "\2335m",    "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        assert_false(screen_log_has(s, never[i]));
    assert_false(screen_log_has(s, "\033[?1049l"));
    assert_true(screen_alternate(s));
    assert_null(strstr(screen_title(s), "\033"));
}

FIXTURE(scene_setup, scene_teardown);

TEST(an_answer_cannot_write_escape_sequences)
{
    scene_queue(.text = hostile, .reasoning = hostile);
    struct screen *s = scene_open(24, 120, NULL);
    act(s, "attack<enter>", "after", "before\u241b[31mred");
    assert_true(scene_wait_prompt(s));
    assert_harmless(s);
}

TEST(a_tool_result_cannot_either)
{
    char *path = support_path("evil.txt");
    support_write(path, hostile);
    free(path);
    scene_queue(.tool_name = "read_file", .tool_args = "{\"path\":\"evil.txt\"}");
    scene_queue(.text = "I have read it.");
    struct screen *s = scene_open(24, 120, NULL);
    scene_ask(s, "read evil.txt", "I have read it.");
    see(s, "read_file");
    assert_int_equal(model_server_requests(scene_server()), 2);
    assert_harmless(s);
}

TEST(nor_an_error_message)
{
    scene_queue(.fault = REPLY_STATUS, .status = 400, .error_type = hostile,
                .error_message = hostile);
    struct screen *s = scene_open(24, 120, NULL);
    act(s, "refuse me<enter>", "400");
    assert_harmless(s);
    scene_exchange(s, "again", hello);
}

TEST(a_retry_is_counted_down)
{
    scene_queue(.fault = REPLY_STATUS, .status = 429, .error_type = "rate_limit_error",
                .error_message = "slow down", .retry_after = "1");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "hello?<enter>");
    assert_true(screen_wait_text(s, "1/3", WAIT_MS) || screen_wait_text(s, "1 of 3", 1));
    see(s, hello);
    assert_int_equal(model_server_requests(scene_server()), 2);
}

TEST(escape_ends_the_wait_for_a_retry)
{
    scene_queue(.fault = REPLY_STATUS, .status = 529, .error_type = "overloaded_error",
                .error_message = "overloaded", .retry_after = "600");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "hello?<enter>", "overloaded");
    act(s, "<escape>", "interrupted");
    scene_exchange(s, "again", hello);
    assert_int_equal(model_server_requests(scene_server()), 2);
}

TEST(a_refused_key_is_said_and_the_message_kept)
{
    scene_queue(.fault = REPLY_STATUS, .status = 401, .error_type = "authentication_error",
                .error_message = "invalid x-api-key");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "my long question<enter>", "invalid x-api-key", "my long question");
    assert_int_equal(model_server_requests(scene_server()), 1);
    assert_null(strstr(screen_text(s), SCENE_KEY));
    assert_false(screen_log_has(s, SCENE_KEY));
    act(s, "<ctrl-u>/retry<enter>", hello);
    scene_sent(1, "my long question");
}

TEST(a_lost_connection_keeps_the_partial_answer)
{
    scene_queue(.fault = REPLY_DISCONNECT, .text = "cut off in the");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "begin<enter>", "cut off in the", "/retry");
    assert_int_equal(model_server_requests(scene_server()), 1);
    scene_exchange(s, "again", hello);
}
