/* F4 and the opened card in the real program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "session/capability.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static void say(struct screen *s, int from, int to)
{
    for (int i = from; i <= to; i++) {
        char question[64], answer[64];
        snprintf(question, sizeof question, "question number %d of many", i);
        snprintf(answer, sizeof answer, "answer number %d of many", i);
        scene_exchange(s, question, answer);
    }
}

static void open_context(struct screen *s)
{
    act(s, "<f4>", "Context  ~");
}

static void close_context(struct screen *s)
{
    act(s, "<escape>", "!Context  ~");
}

/* The row with the pointer; "": there is none. */
static const char *chosen(struct screen *s)
{
    int rows, cols;
    screen_size(s, &rows, &cols);
    for (int i = 0; i < rows; i++) {
        const char *row = screen_row_text(s, i);
        if (strncmp(row, "\xe2\x80\xba", 3) == 0)
            return row;
    }
    return "";
}

static bool is_another(struct screen *s, void *before)
{
    return *chosen(s) && strcmp(chosen(s), before) != 0;
}

static bool is_any(struct screen *s, void *context)
{
    (void)context;
    return *chosen(s) != '\0';
}

/* Moves down to the row with this text. No two rows on the way are the same. */
static void choose(struct screen *s, const char *text)
{
    assert_true(screen_wait(s, is_any, NULL, "a pointer", WAIT_MS));
    while (!strstr(chosen(s), text)) {
        char *before = mem_strdup(chosen(s));
        act(s, "<down>");
        assert_true(screen_wait(s, is_another, before, text, WAIT_MS));
        free(before);
    }
}

/* --- F4 --- */
static void write_own_instructions(const char *text)
{
    char *directory = paths_config_dir(), *path = paths_join(directory, "AGENTS.md");
    struct error e;
    assert_true(paths_make_dir(directory, &e));
    support_write(path, text);
    free(path);
    free(directory);
}

FIXTURE(scene_setup, scene_teardown);

TEST_IF(capability_compaction(), f4_shows_the_next_request)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "where to sleep?", "In the ryokan.");
    open_context(s);
    see(s, " system ", " tools ", "you     turn 1   where to sleep?", "tiro    turn 1   In the ryokan.",
        "a compaction now (summary + last turns)");
    close_context(s);
    see(s, "In the ryokan.");
    act(s, "/context<enter>", "Context  ~");
    act(s, "<f4>", "!Context  ~");
    scene_exchange(s, "the keyboard is the editor's again", "Indeed.");
}

TEST_IF(capability_compaction(), it_works_before_anything_was_said)
{
    struct screen *s = scene_open(10, 40, NULL);
    open_context(s);
    see(s, "system");
    act(s, "<down*2><enter>", "read_file"); /* the skills; opens the tools */
    screen_resize(s, 24, 80);
    see(s, "next dropped");
    screen_resize(s, 40, 120);
    see(s, "compacts at 100k");
    screen_resize(s, 10, 40);
    see(s, "!compacts at 100k");
    close_context(s);
}

TEST_IF(capability_compaction(), c_compacts_and_u_takes_it_back)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(40, 100, NULL);
    say(s, 1, 12);
    act(s, "<pageup>",
        "!answer number 12 of many"); /* the card is seen from wherever it was asked for */
    open_context(s);
    see(s, "a compaction now (deterministic) would drop");
    act(s, "c", "Shorten the conversation now? y/n");
    act(s, "y", "compacted", IDLE);
    open_context(s);
    see(s, "summary turn 1");
    act(s, "u", "!summary turn 1", "answer number 12 of many");
    act(s, "u", "There is no compaction to undo."); /* there is none any more */
    assert_int_equal(model_server_requests(scene_server()), 12);
}

/* --- the opened card --- */

static struct screen *compacted(int rows, int cols, int turns)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(rows, cols, NULL);
    say(s, 1, turns);
    act(s, "/compact<enter>", "compacted", IDLE);
    return s;
}

static void open_card(struct screen *s)
{
    act(s, "<enter>", "Compaction", "Summary");
}

TEST_IF(capability_compaction(), enter_opens_the_card)
{
    struct screen *s = compacted(24, 80, 6);
    open_card(s);
    see(s, "!loading");
    choose(s, "Summary");
    act(s, "<enter>", "messages summarised", "you  turn 1   question number 1 of many",
        "tiro turn 1   answer number 1 of many"); /* folds it */
    choose(s, "turn 2   question number 2");
    act(s, "<enter>");
    assert_true(screen_wait_count(s, "question number 2 of many", 2, WAIT_MS));
    screen_resize(s, 10, 40);
    see(s, "question number 2");
    screen_resize(s, 24, 80);
    see(s, "Esc close");
    act(s, "<escape>", "!messages summarised");
    scene_exchange(s, "it goes on", "Of course.");
}

/* The message is far above, on a page that is not held when the session is opened again. */
TEST_IF(capability_store() && capability_compaction(), o_jumps_to_the_message)
{
    static const char *const go_on[] = {"--continue", NULL};
    (void)state;
    struct screen *s = compacted(24, 80, 50);
    scene_leave(s);
    s = scene_open(24, 80, go_on);
    see(s, "compacted");
    open_card(s);
    choose(s, "Summary");
    act(s, "<enter>", "turn 1   question number 1 of many");
    choose(s, "turn 1   answer number 1 of many");
    act(s, "o", "!Compaction", "answer number 1 of many", "question number 2 of many",
        "!answer number 50");
}

TEST_IF(capability_compaction(), hostile_texts_stay_texts)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(24, 80, NULL);
    scene_queue(.text = "\x1b]0;stolen\x07 and \x1b[31mred");
    act(s, "be hostile<enter>", "and", IDLE);
    say(s, 1, 5);
    screen_forget_log(s);
    open_context(s);
    choose(s, "stolen");
    act(s, "<enter>");
    assert_true(screen_wait_count(s, "stolen", 2, WAIT_MS));
    close_context(s);
    act(s, "/compact<enter>", "compacted", IDLE);
    open_card(s);
    see(s, "!loading");
    choose(s, "stolen");
    assert_false(screen_log_has(s, "\x1b]0;stolen"));
    assert_false(screen_log_has(s, "\x1b[31mred"));
}

TEST(instructions_are_sent_shown_and_told_of_when_they_change)
{
    write_own_instructions("Answer in verse.");
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "one", "First.");
    scene_sent(0, "Answer in verse.");
    open_context(s);
    see(s, " project ", "tiro/AGENTS.md");
    close_context(s);
    write_own_instructions("Answer in prose.");
    scene_exchange(s, "two", "Second.");
    see(s, "AGENTS.md or CLAUDE.md has changed");
    scene_sent(1, "Answer in prose.", "!in verse");
    scene_exchange(s, "three", "Third.");
    scene_leave(s);
    setenv("TIRO_PROJECT_INSTRUCTIONS", "false", 1);
    s = scene_open(24, 80, NULL);
    unsetenv("TIRO_PROJECT_INSTRUCTIONS");
    scene_exchange(s, "four", "Fourth.");
    scene_sent(3, "!Answer in prose.");
}
