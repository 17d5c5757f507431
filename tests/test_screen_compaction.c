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

/* Like open_full(), with a summary that stops after its first lines until the server is
 * released. */
static struct screen *open_compacting(int rows, int cols)
{
    struct screen *s = open_full(rows, cols);
    scene_queue(.fault = REPLY_STALL, .text = "## Goal\n日本 in November\nnext: hotels, and");
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
    see(s, "▣ compacting · summary + last turns · ~623 tokens · ", " · limit of 500 tokens reached",
        "\n  日本 in November\n");
    assert_says(status_row(s), "compacting ", " 623/500");
    see(s, " · 1 s   Esc cancels", " · 2 s   Esc cancels");
    model_server_release(scene_server());
    see(s, "the second answer", IDLE);
    const char *text = screen_text(s);
    assert_says(text, "▣ compacted · summary + last turns · ", " ⏎ opens\n",
                "another mode: /compact MODE", "!next: hotels", "!compacting");
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
    see(s, "▣ compacting · summary + last turns");
    model_server_release(scene_server());
    see(s, "the second answer", IDLE, "⏎ opens", "!another mode");
}

TEST(escape_stops_it)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.fault = REPLY_STALL, .text = "half a summary");
    act(s, "/compact --preview the names<enter>", "half a summary", "manual");
    scene_sent(1, "the names");
    act(s, "/compact<enter>", "Not possible while a compaction is running");
    act(s, "<escape>", "▣ not compacted · summary + last turns", "cancelled", IDLE,
        "!half a summary");
    model_server_release(scene_server());
    scene_exchange(s, "go on", "as if nothing had been");
    scene_sent(2, "the first answer");
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

/* Another view covers the conversation, and Esc closes it. */
static void assert_opened(struct screen *s)
{
    see(s, "!⏎ opens", "the gist of it");
    act(s, "<escape>", "⏎ opens");
}

TEST(enter_and_a_click_open_the_card)
{
    struct screen *s = open_full(24, 80);
    scene_queue(.text = "the gist of it");
    act(s, "/compact<enter>", "⏎ opens", IDLE, "!the gist of it");
    act(s, "<enter>");
    assert_opened(s);
    click(s, "▣ compacted");
    assert_opened(s);
    act(s, "text", "> text");
    scene_exchange(s, " is sent", "an answer to it"); /* not the card */
}
