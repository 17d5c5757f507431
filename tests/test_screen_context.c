/* F4 and the opened card in the real program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/capability.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static void queue(struct reply r)
{
    model_server_queue(scene_server(), &r);
}

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
    screen_key(s, SCREEN_F4);
    assert_true(screen_wait_text(s, "Context  ~", WAIT_MS));
}

static void close_context(struct screen *s)
{
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "Context  ~", WAIT_MS));
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
        screen_key(s, SCREEN_DOWN);
        assert_true(screen_wait(s, is_another, before, text, WAIT_MS));
        free(before);
    }
}

/* --- F4 --- */
FIXTURE(scene_setup, scene_teardown);

TEST_IF(capability_compaction(), f4_shows_the_next_request)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "where to sleep?", "In the ryokan.");
    open_context(s);
    assert_true(screen_wait_text(s, " system ", WAIT_MS));
    assert_true(screen_wait_text(s, " tools ", WAIT_MS));
    assert_true(screen_wait_text(s, "you     t1   where to sleep?", WAIT_MS));
    assert_true(screen_wait_text(s, "tiro    t1   In the ryokan.", WAIT_MS));
    assert_true(screen_wait_text(s, "a compaction now (handoff)", WAIT_MS));
    close_context(s);
    assert_true(screen_wait_text(s, "In the ryokan.", WAIT_MS));
    scene_say(s, "/context");
    assert_true(screen_wait_text(s, "Context  ~", WAIT_MS));
    screen_key(s, SCREEN_F4);
    assert_true(screen_wait_gone(s, "Context  ~", WAIT_MS));
    scene_exchange(s, "the keyboard is the editor's again", "Indeed.");
}

TEST_IF(capability_compaction(), it_works_before_anything_was_said)
{
    struct screen *s = scene_open(10, 40, NULL);
    open_context(s);
    assert_true(screen_wait_text(s, "system", WAIT_MS));
    screen_key(s, SCREEN_DOWN); /* the skills */
    screen_key(s, SCREEN_DOWN);
    screen_key(s, SCREEN_ENTER); /* opens the tools */
    assert_true(screen_wait_text(s, "read_file", WAIT_MS));
    screen_resize(s, 24, 80);
    assert_true(screen_wait_text(s, "next dropped", WAIT_MS));
    screen_resize(s, 40, 120);
    assert_true(screen_wait_text(s, "threshold 100,000", WAIT_MS));
    screen_resize(s, 10, 40);
    assert_true(screen_wait_gone(s, "threshold 100,000", WAIT_MS));
    close_context(s);
}

TEST(it_follows_a_turn)
{
    struct screen *s = scene_open(24, 80, NULL);
    queue((struct reply){.text = "京都の旅館で朝食をとる。", .hold = true});
    scene_say(s, "朝食は?");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    open_context(s);
    assert_true(screen_wait_text(s, "you     t1   朝食は?", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "tiro    t1   京都の旅館で朝食をとる。", WAIT_MS));
    close_context(s);
}

TEST_IF(capability_compaction(), p_pins_and_unpins)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "keep this one", "Yes.");
    open_context(s);
    choose(s, "keep this one");
    screen_type(s, "p");
    assert_true(screen_wait_text(s, " pinned ", WAIT_MS));
    screen_type(s, "p");
    assert_true(screen_wait_gone(s, " pinned ", WAIT_MS));
}

TEST_IF(capability_compaction(), c_compacts_and_u_takes_it_back)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(40, 100, NULL);
    say(s, 1, 12);
    screen_key(s, SCREEN_PAGE_UP); /* the card is seen from wherever it was asked for */
    assert_true(screen_wait_gone(s, "answer number 12 of many", WAIT_MS));
    open_context(s);
    assert_true(screen_wait_text(s, "a compaction now (deterministic) would drop", WAIT_MS));
    screen_type(s, "c");
    assert_true(screen_wait_text(s, "Shorten the conversation now? y/n", WAIT_MS));
    screen_type(s, "y");
    assert_true(screen_wait_text(s, "compacted", WAIT_MS));
    assert_true(scene_wait_idle(s));
    open_context(s);
    assert_true(screen_wait_text(s, "summary t1", WAIT_MS));
    screen_type(s, "u");
    assert_true(screen_wait_gone(s, "summary t1", WAIT_MS));
    assert_true(screen_wait_text(s, "answer number 12 of many", WAIT_MS));
    screen_type(s, "u"); /* there is none any more */
    assert_true(screen_wait_text(s, "There is no compaction to undo.", WAIT_MS));
    assert_int_equal(model_server_requests(scene_server()), 12);
}

TEST(another_session_closes_it)
{
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hi", "Hello.");
    open_context(s);
    screen_key(s, SCREEN_F3); /* F3 is no key of it */
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "Context  ~", WAIT_MS));
    screen_key(s, SCREEN_F3);
    assert_true(screen_wait_text(s, "Sessions", WAIT_MS));
}

/* --- the opened card --- */

static struct screen *compacted(int rows, int cols, int turns)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(rows, cols, NULL);
    say(s, 1, turns);
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "compacted", WAIT_MS));
    assert_true(scene_wait_idle(s));
    return s;
}

static void open_card(struct screen *s)
{
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "Compaction", WAIT_MS));
    assert_true(screen_wait_text(s, "Summary", WAIT_MS));
}

TEST_IF(capability_compaction(), enter_opens_the_card)
{
    struct screen *s = compacted(24, 80, 6);
    open_card(s);
    assert_true(screen_wait_gone(s, "loading", WAIT_MS));
    choose(s, "Summary");
    screen_key(s, SCREEN_ENTER); /* folds it */
    assert_true(screen_wait_text(s, "messages summarised", WAIT_MS));
    assert_true(screen_wait_text(s, "you  t1   question number 1 of many", WAIT_MS));
    assert_true(screen_wait_text(s, "tiro t1   answer number 1 of many", WAIT_MS));
    choose(s, "t2   question number 2");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_count(s, "question number 2 of many", 2, WAIT_MS));
    screen_resize(s, 10, 40);
    assert_true(screen_wait_text(s, "question number 2", WAIT_MS));
    screen_resize(s, 24, 80);
    assert_true(screen_wait_text(s, "Esc close", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "messages summarised", WAIT_MS));
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
    assert_true(screen_wait_text(s, "compacted", WAIT_MS));
    open_card(s);
    choose(s, "Summary");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "t1   question number 1 of many", WAIT_MS));
    choose(s, "t1   answer number 1 of many");
    screen_type(s, "o");
    assert_true(screen_wait_gone(s, "Compaction", WAIT_MS));
    assert_true(screen_wait_text(s, "answer number 1 of many", WAIT_MS));
    assert_true(screen_wait_text(s, "question number 2 of many", WAIT_MS));
    assert_null(strstr(screen_text(s), "answer number 50"));
}

TEST_IF(capability_compaction(), hostile_texts_stay_texts)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(24, 80, NULL);
    queue((struct reply){.text = "\x1b]0;stolen\x07 and \x1b[31mred"});
    scene_say(s, "be hostile");
    assert_true(screen_wait_text(s, "and", WAIT_MS));
    assert_true(scene_wait_idle(s));
    say(s, 1, 5);
    screen_forget_log(s);
    open_context(s);
    choose(s, "stolen");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_count(s, "stolen", 2, WAIT_MS));
    close_context(s);
    scene_say(s, "/compact");
    assert_true(screen_wait_text(s, "compacted", WAIT_MS));
    assert_true(scene_wait_idle(s));
    open_card(s);
    assert_true(screen_wait_gone(s, "loading", WAIT_MS));
    choose(s, "stolen");
    assert_false(screen_log_has(s, "\x1b]0;stolen"));
    assert_false(screen_log_has(s, "\x1b[31mred"));
}
