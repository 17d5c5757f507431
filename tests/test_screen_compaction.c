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

/* A conversation that the next message compacts. */
static struct screen *open_full(int rows, int cols)
{
    scene_queue(.text = "the first answer", .input_tokens = 600, .output_tokens = 5);
    struct screen *s = scene_open(rows, cols, NULL);
    scene_ask(s, "one", "the first answer");
    return s;
}

/* The same with a summary that stops after its first lines until the server is told to go on. */
static struct screen *open_compacting(int rows, int cols)
{
    struct screen *s = open_full(rows, cols);
    scene_queue(.fault = REPLY_STALL, .text = "## Goal\n日本 in November\nnext: hotels");
    scene_queue(.text = "the second answer", .input_tokens = 90, .output_tokens = 5);
    act(s, "two<enter>", "next: hotels");
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
    see(s, "▣ compacting · handoff · ~623 tokens · ", " · limit of 500 tokens reached",
        "\n  日本 in November\n");
    assert_says(status_row(s), "compacting ", " 623/500");
    see(s, " · 1 s   Esc cancels", " · 2 s   Esc cancels");
    model_server_release(scene_server());
    see(s, "the second answer");
    assert_true(scene_wait_idle(s));
    const char *text = screen_text(s);
    assert_says(text, "▣ compacted · handoff · ", " ⏎ opens\n", "another mode: /compact MODE",
                "!next: hotels", "!compacting");
    assert_true(strstr(text, "two") < strstr(text, "▣ compacted"));
    assert_true(strstr(text, "▣ compacted") < strstr(text, "the second answer"));
    assert_non_null(strstr(status_row(s), "⟳1"));
    assert_int_equal(model_server_requests(scene_server()), 3);
    scene_sent(2, "[Context compacted]", "!the first answer");
}

TEST(it_is_seen_on_a_small_screen)
{
    write_config(SMALL "show_settings_hint = false\n");
    struct screen *s = open_compacting(10, 40);
    see(s, "▣ compacting · handoff");
    model_server_release(scene_server());
    see(s, "the second answer");
    assert_true(scene_wait_idle(s));
    see(s, "⏎ opens", "!another mode");
}

/* The turn goes on with what there is. */
TEST(a_failure_is_said_and_harms_nothing)
{
    write_config(SMALL "max_consecutive_failures = 1\n");
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_STATUS, .status = 400, .error_type = "invalid_request_error",
                .error_message = "no summaries today");
    scene_queue(.text = "the second answer", .input_tokens = 700, .output_tokens = 5);
    scene_ask(s, "two", "the second answer");
    const char *text = screen_text(s);
    assert_says(text, "✗ not compacted · handoff", "the model sent no summary",
                "no summaries today", "Automatic compaction has stopped in this session");
    assert_non_null(strstr(status_row(s), "compaction stopped"));
    scene_sent(2, "the first answer");
    scene_exchange(s, "three", "the third answer"); /* no further attempt */
    assert_int_equal(model_server_requests(scene_server()), 4);
    act(s, "/compact deterministic<enter>", "▣ compacted · deterministic");
    assert_true(scene_wait_idle(s));
    see(s, "!compaction stopped");
}

TEST(escape_stops_it)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_STALL, .text = "half a summary");
    act(s, "/compact --preview the names<enter>", "half a summary", "manual");
    scene_sent(1, "the names");
    act(s, "/compact<enter>", "Not possible while a compaction is running");
    act(s, "<escape>", "▣ not compacted · handoff", "cancelled");
    assert_true(scene_wait_idle(s));
    see(s, "!half a summary");
    model_server_release(scene_server());
    scene_exchange(s, "go on", "as if nothing had been");
    scene_sent(2, "the first answer");
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
    act(s, "@@");
    assert_true(screen_wait(s, caret_is_after, typed, typed, WAIT_MS));
    act(s, "<backspace*2>");
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
    see(s, "▣ compacting · handoff · ~623 tokens · ", "  日本 in November");
    model_server_release(scene_server());
    see(s, "the second answer");
    assert_true(scene_wait_idle(s));
    settle(s);
    char *before = mem_strdup(screen_text(s));
    act(s, "<ctrl-l>"); /* a full repaint changes nothing */
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
    see(s, "the second answer");
    assert_true(scene_wait_idle(s));
    see(s, "⟳1");
    char *seen = body(s);
    scene_leave(s);
    s = scene_open(24, 80, (const char *const[]){"--continue", NULL});
    see(s, "the second answer", "⟳1");
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
    see(s, "▣ compaction interrupted · handoff", "!next: hotels", "!Esc cancels");
    assert_says(status_row(s), "!compacting", "!⟳");
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
    see(s, "!⏎ opens", "the gist of it");
    act(s, "<escape>", "⏎ opens");
}

TEST(enter_and_a_click_open_the_card)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.text = "the gist of it");
    act(s, "/compact<enter>", "⏎ opens");
    assert_true(scene_wait_idle(s));
    see(s, "!the gist of it");
    act(s, "<enter>");
    assert_opened(s);
    click(s, "▣ compacted");
    assert_opened(s);
    act(s, "text", "> text");
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
    act(s, "/compact <tab>");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        see(s, ends[i]);
}

TEST(commands_say_why_not)
{
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "/compact<enter>", "nothing to compact", "!Nothing was shortened.");
    act(s, "/uncompact<enter>", "There is no compaction to undo.");
    act(s, "/pin<enter>", "No pin was changed.");
    scene_queue(.fault = REPLY_STALL, .text = "streaming");
    act(s, "hello<enter>", "streaming");
    act(s, "/compact<enter>", "Not possible while a turn is running");
    model_server_release(scene_server());
    assert_true(scene_wait_idle(s));
}

TEST(compaction_can_be_off)
{
    write_config("[compaction]\nenabled = false\n");
    struct screen *s = open_full(24, 80);
    act(s, "/compact<enter>", "Conversations are not shortened here.");
    assert_null(strstr(status_row(s), "│"));
}

TEST(a_pin_keeps_a_message)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "remember the ferry", "noted it");
    scene_exchange(s, "and the train", "noted both");
    act(s, "/pin 1<enter>");
    assert_true(screen_wait_text(
        s, "pinned: no compaction drops this message: “remember the ferry”", WAIT_MS));
    scene_queue(.text = "the gist");
    act(s, "/compact llm_replace<enter>", "compacted · llm_replace");
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "go on", "going on");
    const char *sent = model_server_body(scene_server(), 3);
    assert_says(sent, "remember the ferry", "!and the train");
    act(s, "/unpin 1<enter>", "no longer pinned: “remember the ferry”");
}

TEST(it_can_be_taken_back_and_forked_before)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.text = "the gist");
    act(s, "/compact<enter>", "⟳1");
    assert_true(scene_wait_idle(s));
    act(s, "/uncompact<enter>", "compaction undone", "tokens · undone", "!⟳1");
    scene_exchange(s, "go on", "the next answer");
    scene_sent(2, "the first answer");
    scene_queue(.text = "the gist again");
    act(s, "/compact<enter>", "⟳1");
    assert_true(scene_wait_idle(s));
    scene_exchange(s, "later", "a later answer");
    act(s, "/fork ~before-compaction<enter>", "!a later answer", "the next answer", "!⟳1");
}
