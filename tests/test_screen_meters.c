/* The figures of the status line in the real program: the same request as on F4 and on the card,
 * with the mark of the threshold, and no price that nobody knows. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "session/capability.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/text/format.h"

#define MARK "\u2502"
static const char *const unheard_of[] = {"--model", "unheard-of", NULL};
static const char *const unheard_of_again[] = {"--model", "unheard-of", "--continue", NULL};

static void exchange(struct screen *s, const char *question, const char *answer, long input)
{
    scene_queue(.text = answer, .input_tokens = input, .output_tokens = 150);
    scene_ask(s, question, answer);
}

/* --- one request ----------------------------------------------------------------------------- */
/* "Context  ~1,955 tokens": the figure and its suffix as in the gauge. */
static bool f4_tells(struct screen *s, void *short_form)
{
    static const char title[] = "Context  ~";
    int row, col;
    if (!screen_find(s, title, &row, &col))
        return false;
    const char *text = strstr(screen_row_text(s, row), title) + strlen(title);
    int64_t tokens = 0;
    for (; *text != ' ' && *text; text++)
        if (*text != ',')
            tokens = tokens * 10 + (*text - '0');
    format_short(short_form, tokens);
    buf_addch(short_form, '/');
    return true;
}

static void assert_gauge_is_f4(struct screen *s)
{
    struct buf tokens = BUF_INIT;
    act(s, "<f4>");
    assert_true(screen_wait(s, f4_tells, &tokens, "the title of F4", WAIT_MS));
    see(s, tokens.data);
    act(s, "<escape>", "!Context  ~", tokens.data);
    buf_release(&tokens);
}

FIXTURE(scene_setup, scene_teardown);

TEST(before_the_first_answer)
{
    struct screen *s = scene_open(24, 100, NULL);
    assert_gauge_is_f4(s);
    scene_queue(.hold = true, .text = "Late.", .no_usage = true);
    act(s, "a first question that is not answered for now<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    assert_gauge_is_f4(s);
    model_server_release(scene_server());
    see(s, IDLE);
    assert_gauge_is_f4(s);
}

#define COURSES                                                                                    \
    "tofu in broth at the corner of the canal, noodles with spring onions behind the theatre, "    \
    "rice with pickled plums near the bridge, tea and sweets of red beans in the garden, "         \
    "aubergine with miso above the bookshop, cold soba where the tram used to turn, "

static const char long_answer[] =
    "In Gion, where the lanterns are lit: " COURSES COURSES COURSES "and so on.";

TEST(after_answers_and_a_compaction)
{
    struct screen *s = scene_open(24, 100, NULL);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    see(s, "4.2k/");
    assert_gauge_is_f4(s);
    scene_queue(.text = long_answer, .input_tokens = 9000, .output_tokens = 150);
    scene_ask(s, "and to eat?", "In Gion, where");
    see(s, "9.2k/");
    assert_gauge_is_f4(s);
    if (!capability_compaction())
        return;
    act(s, "/compact deterministic<enter>", "deterministic \xc2\xb7 9,150 \xe2\x86\x92 ");
    assert_gauge_is_f4(s);
    act(s, "/uncompact<enter>",
        "!\xe2\x9f\xb3"
        "1");
    assert_gauge_is_f4(s);
}

TEST_IF(capability_store(), after_a_resume_and_a_fork)
{
    struct screen *s = scene_open(24, 100, NULL);
    exchange(s, "where to sleep?", "In the ryokan.", 9000);
    scene_leave(s);
    s = scene_open(24, 100, (const char *const[]){"--continue", NULL});
    see(s, "9.2k/");
    assert_gauge_is_f4(s);
    act(s, "/fork<enter>", "This is a copy", "9.2k/");
    assert_gauge_is_f4(s);
    scene_leave(s); /* before the copy has a turn of its own */
    s = scene_open(24, 100, (const char *const[]){"--continue", NULL});
    see(s, "9.2k/");
    assert_gauge_is_f4(s);
}

/* --- the mark -------------------------------------------------------------------------------- */

/* Only the server knows the window. */
TEST_IF(capability_compaction(), the_mark_is_there_from_the_start)
{
    model_server_set_window(scene_server(), 32768);
    struct screen *s = scene_open(24, 100, unheard_of);
    see(s, MARK);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    see(s, MARK);
    act(s, "/model another-one<enter>", "another-one", MARK);
}

TEST_IF(capability_store() && capability_compaction(), the_mark_is_there_after_a_resume_and_a_fork)
{
    model_server_set_window(scene_server(), 32768);
    struct screen *s = scene_open(24, 100, unheard_of);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    scene_leave(s);
    s = scene_open(24, 100, unheard_of_again);
    see(s, MARK);
    act(s, "/fork<enter>", "This is a copy", MARK);
}

/* A key that a command gives is not asked for before it is needed. */
TEST_IF(capability_compaction(), no_command_runs_for_the_mark)
{
    char *made = support_path("asked");
    model_server_set_window(scene_server(), 32768);
    unsetenv("ANTHROPIC_API_KEY");
    struct buf command = BUF_INIT;
    buf_addf(&command, "touch %s; echo key-of-a-command", made);
    setenv("TIRO_PROVIDER_NAME", "anthropic", 1);
    setenv("TIRO_ANTHROPIC_API_KEY_COMMAND", command.data, 1);
    struct screen *s = scene_open(24, 100, unheard_of);
    see(s, "/100k");
    assert_int_equal(access(made, F_OK), -1);
    exchange(s, "where to sleep?", "In the ryokan.", 4000);
    see(s, MARK);
    unsetenv("TIRO_ANTHROPIC_API_KEY_COMMAND");
    unsetenv("TIRO_PROVIDER_NAME");
    buf_release(&command);
    free(made);
}

/* --- costs ----------------------------------------------------------------------------------- */

#define ARGS(...) ((const char *const[]){"--no-compaction", __VA_ARGS__, NULL})

TEST_IF(capability_store(), an_unknown_price_stays_unknown)
{
    struct screen *s = scene_open(24, 100, ARGS("--model", "unheard-of"));
    exchange(s, "where to sleep?", "In the ryokan.", 400000);
    see(s, "In the ryokan.", "!$");
    act(s, "/model claude-haiku-4-5<enter>", "claude-haiku-4-5", "!/model", "!$");
    exchange(s, "and to eat?", "In Gion.", 1000000);
    see(s, "$1.00+");
    scene_leave(s);
    s = scene_open(24, 100, ARGS("--continue"));
    see(s, "$1.00+");
}

TEST(each_call_has_its_own_price)
{
    struct screen *s = scene_open(24, 100, ARGS("--model", "claude-haiku-4-5"));
    exchange(s, "where to sleep?", "In the ryokan.", 1000000);
    see(s, "$1.00");
    act(s, "/model claude-opus-4-5<enter>", "claude-opus-4-5", "$1.00");
    exchange(s, "and to eat?", "In Gion.", 1000000);
    see(s, "$6.00", "!$6.00+");
}
