/* A compaction as a person sees it, from its start to its outcome, and the commands about it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

/* A second answer would be compacted before, as the first one takes more than this. */
#define SMALL                                                                                      \
    "[compaction]\nauto_compact_threshold = 500\nmin_turns_between_compactions = 0\n"              \
    "recent_turn_budget = 1\n"

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

/* A conversation that the next message compacts. */
static struct screen *open_full(int rows, int cols)
{
    queue((struct reply){.text = "the first answer", .input_tokens = 600, .output_tokens = 5});
    struct screen *s = scene_open(rows, cols, NULL);
    scene_ask(s, "one", "the first answer");
    return s;
}

/* The same with a summary that stops after its first lines until the server is told to go on. */
static struct screen *open_compacting(int rows, int cols)
{
    struct screen *s = open_full(rows, cols);
    queue((struct reply){.fault = REPLY_STALL, .text = "## Goal\n日本 in November\nnext: hotels"});
    queue((struct reply){.text = "the second answer", .input_tokens = 90, .output_tokens = 5});
    scene_say(s, "two");
    assert_true(screen_wait_text(s, "next: hotels", WAIT_MS));
    return s;
}

static const char *status_row(struct screen *s)
{
    int rows, cols;
    screen_size(s, &rows, &cols);
    return screen_row_text(s, rows - 2);
}

NEEDS(capability_compaction());
FIXTURE(scene_setup, scene_teardown);

TEST(it_is_seen_from_start_to_outcome)
{
    write_config(SMALL);
    struct screen *s = open_compacting(24, 80);
    assert_non_null(strstr(screen_text(s), "▣ compacting · handoff · ~623 tokens · "));
    assert_non_null(strstr(screen_text(s), " · limit of 500 tokens reached"));
    assert_non_null(strstr(screen_text(s), "\n  日本 in November\n"));
    assert_non_null(strstr(status_row(s), "compacting "));
    assert_non_null(strstr(status_row(s), " 623/500"));
    assert_true(screen_wait_text(s, " · 1 s   Esc cancels", WAIT_MS));
    assert_true(screen_wait_text(s, " · 2 s   Esc cancels", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "the second answer", WAIT_MS));
    assert_true(scene_wait_idle(s));
    const char *text = screen_text(s);
    assert_non_null(strstr(text, "▣ compacted · handoff · "));
    assert_non_null(strstr(text, " ⏎ opens\n"));
    assert_non_null(strstr(text, "another mode: /compact MODE"));
    assert_null(strstr(text, "next: hotels"));
    assert_null(strstr(text, "compacting"));
    assert_true(strstr(text, "two") < strstr(text, "▣ compacted"));
    assert_true(strstr(text, "▣ compacted") < strstr(text, "the second answer"));
    assert_non_null(strstr(status_row(s), "⟳1"));
    assert_int_equal(model_server_requests(scene_server()), 3);
    assert_non_null(strstr(model_server_body(scene_server(), 2), "[Context compacted]"));
    assert_null(strstr(model_server_body(scene_server(), 2), "the first answer"));
}

TEST(it_is_seen_on_a_small_screen)
{
    write_config(SMALL "show_settings_hint = false\n");
    struct screen *s = open_compacting(10, 40);
    assert_true(screen_wait_text(s, "▣ compacting · handoff", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "the second answer", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_non_null(strstr(screen_text(s), "⏎ opens"));
    assert_null(strstr(screen_text(s), "another mode"));
}

/* The turn goes on with what there is. */
TEST(a_failure_is_said_and_harms_nothing)
{
    write_config(SMALL "max_consecutive_failures = 1\n");
    struct screen *s = open_full(24, 80);
    queue((struct reply){.fault = REPLY_STATUS,
                         .status = 400,
                         .error_type = "invalid_request_error",
                         .error_message = "no summaries today"});
    queue((struct reply){.text = "the second answer", .input_tokens = 700, .output_tokens = 5});
    scene_ask(s, "two", "the second answer");
    const char *text = screen_text(s);
    assert_non_null(strstr(text, "✗ not compacted · handoff"));
    assert_non_null(strstr(text, "the model sent no summary"));
    assert_non_null(strstr(text, "no summaries today"));
    assert_non_null(strstr(text, "Automatic compaction has stopped in this session"));
    assert_non_null(strstr(status_row(s), "compaction stopped"));
    assert_non_null(strstr(model_server_body(scene_server(), 2), "the first answer"));
    scene_exchange(s, "three", "the third answer"); /* no further attempt */
    assert_int_equal(model_server_requests(scene_server()), 4);
    scene_say(s, "/compact deterministic");
    assert_true(screen_wait_text(s, "▣ compacted · deterministic", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_true(screen_wait_gone(s, "compaction stopped", WAIT_MS));
}

TEST(escape_stops_it)
{
    struct screen *s = open_full(24, 80);
    queue((struct reply){.fault = REPLY_STALL, .text = "half a summary"});
    scene_say(s, "/compact --preview the names");
    assert_true(screen_wait_text(s, "half a summary", WAIT_MS));
    assert_non_null(strstr(screen_text(s), "manual"));
    assert_non_null(strstr(model_server_body(scene_server(), 1), "the names"));
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "Not possible while a compaction is running", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "▣ not compacted · handoff", WAIT_MS));
    assert_true(screen_wait_text(s, "cancelled", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_null(strstr(screen_text(s), "half a summary"));
    model_server_release(scene_server());
    scene_exchange(s, "go on", "as if nothing had been");
    assert_non_null(strstr(model_server_body(scene_server(), 2), "the first answer"));
    assert_null(strstr(status_row(s), "⟳"));
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

TEST(resizing_does_not_disturb_it)
{
    static const int sizes[][2] = {{24, 100}, {10, 40}, {50, 200}, {5, 20},  {30, 41},
                                   {24, 80},  {2, 2},   {11, 120}, {40, 40}, {24, 80}};
    write_config(SMALL);
    struct screen *s = open_compacting(24, 80);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        screen_resize(s, sizes[i][0], sizes[i][1]);
        (void)screen_pump(s, 20);
    }
    assert_true(screen_wait_text(s, "▣ compacting · handoff · ~623 tokens · ", WAIT_MS));
    assert_true(screen_wait_text(s, "  日本 in November", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "the second answer", WAIT_MS));
    assert_true(scene_wait_idle(s));
    settle(s);
    char *before = mem_strdup(screen_text(s));
    screen_ctrl(s, 'l'); /* a full repaint changes nothing */
    settle(s);
    assert_string_equal(screen_text(s), before);
    free(before);
}

/* The conversation and its card, without what is above and below. */
static char *body(struct screen *s)
{
    const char *text = screen_text(s);
    const char *from = strchr(text, '\n'), *to = strstr(text, "the second answer");
    assert_true(from && to);
    return mem_strndup(from, (size_t)(to - from));
}

TEST_IF(capability_store(), resumed_it_looks_the_same)
{
    write_config(SMALL);
    struct screen *s = open_compacting(24, 80);
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "the second answer", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_true(screen_wait_text(s, "⟳1", WAIT_MS));
    char *seen = body(s);
    scene_leave(s);
    s = scene_open(24, 80, (const char *const[]){"--continue", NULL});
    assert_true(screen_wait_text(s, "the second answer", WAIT_MS));
    assert_true(screen_wait_text(s, "⟳1", WAIT_MS));
    char *now = body(s);
    assert_string_equal(now, seen);
    free(now);
    free(seen);
}

/* The program dies in the middle of it; what it was about is found again as it was. */
TEST_IF(capability_store(), a_crash_is_said)
{
    write_config(SMALL);
    struct screen *s = open_compacting(24, 80);
    screen_signal(s, SIGKILL);
    assert_true(screen_wait_exit(s, WAIT_MS));
    model_server_release(scene_server());
    s = scene_open(24, 80, (const char *const[]){"--continue", NULL});
    assert_true(screen_wait_text(s, "▣ compaction interrupted · handoff", WAIT_MS));
    assert_null(strstr(screen_text(s), "next: hotels"));
    assert_null(strstr(screen_text(s), "Esc cancels"));
    assert_null(strstr(status_row(s), "compacting"));
    assert_null(strstr(status_row(s), "⟳"));
}

/* A click on the row that shows this. */
static void click(struct screen *s, const char *text)
{
    int row, col;
    char keys[64];
    assert_true(screen_find(s, text, &row, &col));
    snprintf(keys, sizeof keys, "\033[<0;%d;%dM\033[<0;%d;%dm", col + 1, row + 1, col + 1, row + 1);
    screen_type(s, keys);
}

/* Another view covers the conversation, and Esc takes it away. */
static void assert_opened(struct screen *s)
{
    assert_true(screen_wait_gone(s, "⏎ opens", WAIT_MS));
    assert_true(screen_wait_text(s, "the gist of it", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_text(s, "⏎ opens", WAIT_MS));
}

TEST(enter_and_a_click_open_the_card)
{
    struct screen *s = open_full(24, 80);
    queue((struct reply){.text = "the gist of it"});
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "⏎ opens", WAIT_MS));
    assert_true(scene_wait_idle(s));
    assert_null(strstr(screen_text(s), "the gist of it"));
    screen_key(s, SCREEN_ENTER);
    assert_opened(s);
    click(s, "▣ compacted");
    assert_opened(s);
    screen_type(s, "text");
    assert_true(screen_wait_text(s, "> text", WAIT_MS));
    scene_exchange(s, " is sent", "an answer to it"); /* not the card */
}

TEST(modes_are_offered_with_what_stays)
{
    static const char *const ends[] = {"handoff ",
                                       "a summary of the rest",
                                       "structured ",
                                       "in sections between",
                                       "recency_preserving ",
                                       "dropped, no model",
                                       "deterministic ",
                                       "made without a model",
                                       "llm_replace ",
                                       "by the model"};
    (void)state;
    struct screen *s = scene_open(24, 80, NULL);
    screen_type(s, "/compact \t");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        assert_true(screen_wait_text(s, ends[i], WAIT_MS));
}

TEST(commands_say_why_not)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "nothing to compact", WAIT_MS));
    assert_null(strstr(screen_text(s), "Nothing was shortened."));
    scene_say(s, "/uncompact");
    assert_true(screen_wait_text(s, "There is no compaction to undo.", WAIT_MS));
    scene_say(s, "/pin");
    assert_true(screen_wait_text(s, "No pin was changed.", WAIT_MS));
    queue((struct reply){.fault = REPLY_STALL, .text = "streaming"});
    scene_say(s, "hello");
    assert_true(screen_wait_text(s, "streaming", WAIT_MS));
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "Not possible while a turn is running", WAIT_MS));
    model_server_release(scene_server());
    assert_true(scene_wait_idle(s));
}

TEST(compaction_can_be_off)
{
    write_config("[compaction]\nenabled = false\n");
    struct screen *s = open_full(24, 80);
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "Conversations are not shortened here.", WAIT_MS));
    assert_null(strstr(status_row(s), "│"));
}

TEST(a_pin_keeps_a_message)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "remember the ferry", "noted it");
    scene_exchange(s, "and the train", "noted both");
    scene_say(s, "/pin 1");
    assert_true(screen_wait_text(
        s, "pinned: no compaction drops this message: “remember the ferry”", WAIT_MS));
    queue((struct reply){.text = "the gist"});
    scene_say(s, "/compact llm_replace");
    assert_true(screen_wait_text(s, "compacted · llm_replace", WAIT_MS));
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "go on", "going on");
    const char *sent = model_server_body(scene_server(), 3);
    assert_non_null(strstr(sent, "remember the ferry"));
    assert_null(strstr(sent, "and the train"));
    scene_say(s, "/unpin 1");
    assert_true(screen_wait_text(s, "no longer pinned: “remember the ferry”", WAIT_MS));
}

TEST(it_can_be_taken_back_and_forked_before)
{
    struct screen *s = open_full(24, 80);
    queue((struct reply){.text = "the gist"});
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "⟳1", WAIT_MS));
    assert_true(scene_wait_idle(s));
    scene_say(s, "/uncompact");
    assert_true(screen_wait_text(s, "compaction undone", WAIT_MS));
    assert_true(screen_wait_text(s, "tokens · undone", WAIT_MS));
    assert_true(screen_wait_gone(s, "⟳1", WAIT_MS));
    scene_exchange(s, "go on", "the next answer");
    assert_non_null(strstr(model_server_body(scene_server(), 2), "the first answer"));
    queue((struct reply){.text = "the gist again"});
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "⟳1", WAIT_MS));
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "later", "a later answer");
    scene_say(s, "/fork ~before-compaction");
    assert_true(screen_wait_gone(s, "a later answer", WAIT_MS));
    assert_true(screen_wait_text(s, "the next answer", WAIT_MS));
    assert_true(screen_wait_gone(s, "⟳1", WAIT_MS));
}
