/* F2 in the real program: the pane beside the transcript and over it, its keys, what the model
 * asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

#define RULE "\u2502"

/* An answer that is long enough for a compaction to make sense. */
static void exchange(struct screen *s, const char *question, const char *begin, const char *end,
                     int words)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "%s\n\n", begin);
    for (int i = 0; i < words; i++)
        buf_addstr(&text, "and more ");
    buf_addf(&text, "\n\n%s", end);
    struct reply r = {.text = text.data};
    model_server_queue(scene_server(), &r);
    scene_ask(s, question, end);
    buf_release(&text);
}

/* A conversation of three turns that are dropped and remembered. */
static struct screen *open_compacted(int rows, int cols)
{
    setenv("TIRO_COMPACTION_MODE", "deterministic", 1);
    struct screen *s = scene_open(rows, cols, NULL);
    exchange(s, "where did we want to sleep?", "In the ryokan by the river.", "first end", 0);
    exchange(s, "which train?", "The one at nine from Tokyo.", "second end", 200);
    exchange(s, "thanks", "You are welcome.", "third end", 200);
    scene_say(s, "/compact deterministic");
    assert_true(screen_wait_text(s, " memory entr", WAIT_MS));
    assert_true(scene_wait_idle(s));
    return s;
}

static void open_pane(struct screen *s)
{
    screen_key(s, SCREEN_F2);
    assert_true(screen_wait_text(s, " Memory \u00b7 all", WAIT_MS));
}

static void search(struct screen *s, const char *query, const char *found)
{
    screen_type(s, query);
    assert_true(screen_wait_text(s, " by score", WAIT_MS));
    assert_true(screen_wait_text(s, found, WAIT_MS));
}

static void leave(struct screen *s)
{
    screen_ctrl(s, 'c');
    screen_ctrl(s, 'u');
}

/* --- beside and over --- */
NEEDS(capability_memory() && capability_compaction());
FIXTURE(scene_setup, scene_teardown);

TEST(it_stands_beside_from_100_columns_on)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    assert_true(screen_wait_text(s, RULE " Memory \u00b7 all \u00b7 6 entries", WAIT_MS));
    assert_true(screen_wait_text(s, "compacted \u00b7 deterministic", WAIT_MS)); /* beside it */
    screen_resize(s, 24, 80);
    assert_true(screen_wait_gone(s, "compacted \u00b7 deterministic", WAIT_MS));
    assert_true(screen_wait_text(s, " Memory \u00b7 all \u00b7 6 entries", WAIT_MS));
    screen_resize(s, 10, 40);
    assert_true(screen_wait_text(s, " Memory \u00b7 all \u00b7 6 entries", WAIT_MS));
    screen_resize(s, 30, 120);
    assert_true(screen_wait_text(s, "compacted \u00b7 deterministic", WAIT_MS));
    screen_key(s, SCREEN_F2);
    assert_true(screen_wait_gone(s, " Memory \u00b7 all", WAIT_MS));
}

TEST(it_searches_as_one_types)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    search(s, "ryok", "ryokan by the river.");
    assert_true(screen_wait_text(s, "\u2587", WAIT_MS));
    screen_ctrl(s, 'u');
    screen_type(s, "xyzzy");
    assert_true(screen_wait_text(s, "No matches in memory.", WAIT_MS));
}

TEST(tab_moves_the_keys)
{
    int row, col, rows, cols;
    bool visible;
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    screen_type(s, "ryo");
    assert_true(screen_wait_text(s, "/ ryo", WAIT_MS));
    screen_cursor(s, &row, &col, &visible);
    screen_size(s, &rows, &cols);
    assert_true(visible && col > 70 && row == 2);
    screen_key(s, SCREEN_TAB);
    screen_type(s, "for the message");
    assert_true(screen_wait_row(s, rows - 1, "> for the message", WAIT_MS));
    screen_key(s, SCREEN_TAB);
    screen_type(s, "kan");
    assert_true(screen_wait_text(s, "/ ryokan", WAIT_MS));
    screen_key(s, SCREEN_TAB);
    scene_exchange(s, " goes on", "It does.");
}

/* Who writes a message goes on with that in a terminal that becomes narrow: a letter there would
 * do something with an entry. */
TEST(a_narrow_terminal_takes_no_keys_away)
{
    int rows, cols;
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    screen_key(s, SCREEN_DOWN);
    screen_key(s, SCREEN_TAB);
    screen_type(s, "hid");
    screen_size(s, &rows, &cols);
    assert_true(screen_wait_row(s, rows - 1, "> hid", WAIT_MS));
    screen_resize(s, 24, 80);
    assert_true(screen_wait_gone(s, " Memory \u00b7 all", WAIT_MS));
    screen_type(s, "den");
    assert_true(screen_wait_row(s, 23, "> hidden", WAIT_MS));
    screen_key(s, SCREEN_F2);
    assert_true(screen_wait_text(s, " Memory \u00b7 all \u00b7 6 entries", WAIT_MS));
    screen_key(s, SCREEN_F2);
    assert_true(screen_wait_gone(s, " Memory \u00b7 all", WAIT_MS));
    leave(s);
}

/* The wheel is over the transcript, the keys are the pane's. */
TEST(the_wheel_moves_what_is_below_it)
{
    struct screen *s = open_compacted(20, 120);
    open_pane(s);
    screen_type(s, "xyz");
    assert_true(screen_wait_text(s, "/ xyz ", WAIT_MS));
    assert_true(screen_wait_text(s, "No matches in memory.", WAIT_MS));
    assert_null(strstr(screen_text(s), "which train?"));
    for (int i = 0; i < 60 && !strstr(screen_text(s), "  which train?"); i++) {
        screen_wheel(s, true);
        (void)screen_pump(s, 20);
    }
    assert_true(screen_wait_text(s, "  which train?", WAIT_MS));
    screen_type(s, "zy");
    assert_true(screen_wait_text(s, "/ xyzzy ", WAIT_MS));
}

/* Letters of a query answer no question. */
TEST(a_question_waits_for_the_query)
{
    static const char *const full[] = {"--tools", "full", NULL};
    struct screen *s = scene_open(30, 120, full);
    struct reply call = {.tool_name = "write_file",
                         .tool_args = "{\"path\":\"made.txt\",\"content\":\"x\"}",
                         .hold = true};
    struct reply answer = {.text = "All done."};
    model_server_queue(scene_server(), &call);
    model_server_queue(scene_server(), &answer);
    scene_say(s, "make a file");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    open_pane(s);
    screen_type(s, "ryo");
    assert_true(screen_wait_text(s, "/ ryo", WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "write_file (write) wants to run", WAIT_MS));
    screen_type(s, "kan");
    assert_true(screen_wait_text(s, "/ ryokan", WAIT_MS));
    assert_true(screen_wait_text(s, "a allow once", WAIT_MS)); /* after a pause */
    screen_type(s, "d");
    assert_true(screen_wait_text(s, "All done.", WAIT_MS));
    assert_true(screen_wait_text(s, "/ ryokan ", WAIT_MS));
}

/* The pane works while an answer streams in beside it. */
TEST(it_works_while_the_model_answers)
{
    struct screen *s = open_compacted(30, 120);
    struct reply r = {.text = "streaming in the end", .hold = true};
    model_server_queue(scene_server(), &r);
    scene_say(s, "and now?");
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    screen_key(s, SCREEN_ENTER);
    screen_type(s, "p");
    assert_true(screen_wait_text(s, "\u25c6 tiro", WAIT_MS));
    assert_true(screen_wait_text(s, "pinned", WAIT_MS));
    assert_true(model_server_wait(scene_server(), 4, WAIT_MS));
    model_server_release(scene_server());
    assert_true(screen_wait_text(s, "streaming in the end", WAIT_MS));
}

/* --- what can be done --- */

TEST(d_forgets_and_u_puts_back)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    screen_key(s, SCREEN_ENTER);
    screen_type(s, "d");
    assert_true(screen_wait_text(s, "forgotten; u restores it", WAIT_MS));
    assert_true(screen_wait_text(s, "5 entries", WAIT_MS));
    screen_type(s, "u");
    assert_true(screen_wait_text(s, "restored", WAIT_MS));
    assert_true(screen_wait_text(s, "6 entries", WAIT_MS));
    screen_type(s, "u");
    assert_true(screen_wait_text(s, "There is nothing to restore.", WAIT_MS));
    screen_type(s, "du");
    assert_true(screen_wait_text(s, "restored", WAIT_MS));
}

TEST(e_changes_and_i_quotes)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    screen_key(s, SCREEN_ENTER);
    screen_type(s, "e");
    assert_true(screen_wait_text(s, "edit entry", WAIT_MS));
    screen_type(s, "Surely: ");
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "changed", WAIT_MS));
    assert_true(screen_wait_gone(s, "edit entry", WAIT_MS));
    assert_true(screen_wait_text(s, "Surely: In the ryokan", WAIT_MS));
    screen_type(s, "i");
    assert_true(screen_wait_text(s, "> > Surely: In the ryokan by the river.", WAIT_MS));
    assert_true(screen_wait_text(s, "  > \u2014 tiro", WAIT_MS));
    leave(s);
}

/* Keys that are faster than the answers mean what they would have meant after them. */
TEST(keys_may_be_typed_ahead)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    screen_type(s, "ryokan\reSurely: \r");
    assert_true(screen_wait_text(s, "Surely: In the ryokan", WAIT_MS));
    screen_type(s, "t\r");
    assert_true(screen_wait_text(s, "edited by you", WAIT_MS)); /* all of it, in the preview */
    screen_type(s, "/thanks\x15train\riand so on");
    assert_true(screen_wait_text(s, "> > which train?", WAIT_MS));
    assert_true(screen_wait_text(s, "  and so on", WAIT_MS));
    leave(s);
}

TEST_IF(capability_store(), o_goes_to_the_message)
{
    struct screen *s = open_compacted(16, 120);
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    screen_key(s, SCREEN_ENTER);
    screen_type(s, "o");
    assert_true(screen_wait_text(s, "  In the ryokan by the river.", WAIT_MS));
    scene_say(s, "/new");
    assert_true(screen_wait_text(s, "writes down what you and a model say", WAIT_MS));
    screen_key(s, SCREEN_TAB);
    screen_type(s, "o");
    assert_true(screen_wait_text(s, "read-only", WAIT_MS));
    assert_true(screen_wait_text(s, "  In the ryokan by the river.", WAIT_MS));
}

TEST(escape_goes_back_to_where_o_was_pressed)
{
    static const struct {
        int cols;
        const char *pane;
    } sizes[] = {{120, " Memory \u00b7 all"}, {80, " Memory \u00b7 all"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_compacted(16, sizes[i].cols);
        screen_type(s, "half a thought");
        open_pane(s);
        search(s, "ryokan", "ryokan by the river.");
        screen_key(s, SCREEN_ENTER);
        screen_type(s, "o");
        assert_true(screen_wait_text(s, "Esc goes back", WAIT_MS));
        assert_true(screen_wait_text(s, "  In the ryokan by the river.", WAIT_MS));
        screen_key(s, SCREEN_ESCAPE);
        assert_true(screen_wait_gone(s, "Esc goes back", WAIT_MS));
        assert_true(screen_wait_text(s, "/ ryokan", WAIT_MS)); /* the pane as it was */
        assert_true(screen_wait_text(s, "> half a thought", WAIT_MS));
        screen_type(s, "p"); /* and the keys in its list */
        assert_true(screen_wait_text(s, "pinned", WAIT_MS));
        screen_key(s, SCREEN_F2);
        assert_true(screen_wait_gone(s, "/ ryokan", WAIT_MS));
        assert_true(screen_wait_text(s, "\u25a3 compacted", WAIT_MS)); /* the end */
        leave(s);
    }
}

TEST_IF(capability_store(), escape_goes_back_over_sessions)
{
    struct screen *s = open_compacted(16, 120);
    scene_say(s, "/new");
    assert_true(screen_wait_text(s, "writes down what you and a model say", WAIT_MS));
    screen_type(s, "half a thought");
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    screen_key(s, SCREEN_ENTER);
    screen_type(s, "o");
    assert_true(screen_wait_text(s, "read-only", WAIT_MS));
    assert_true(screen_wait_text(s, "  In the ryokan by the river.", WAIT_MS));
    assert_true(screen_wait_gone(s, "half a thought", WAIT_MS));
    assert_true(screen_wait_text(s, "Esc goes back", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "read-only", WAIT_MS));
    assert_true(screen_wait_text(s, "writes down what you and a model say", WAIT_MS));
    assert_true(screen_wait_text(s, "half a thought", WAIT_MS));
    assert_true(screen_wait_text(s, "/ ryokan", WAIT_MS));
}

TEST(a_command_brings_a_query)
{
    struct screen *s = open_compacted(24, 80);
    scene_say(s, "/memory train");
    assert_true(screen_wait_text(s, "/ train", WAIT_MS));
    assert_true(screen_wait_text(s, "which train?", WAIT_MS));
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "/ train", WAIT_MS));
    scene_say(s, "/forget ryokan");
    assert_true(screen_wait_text(s, "/ ryokan", WAIT_MS));
    screen_type(s, "d");
    assert_true(screen_wait_text(s, "forgotten; u restores it", WAIT_MS));
    assert_true(screen_wait_text(s, "/ ryokan ", WAIT_MS));
}

TEST(m_in_a_card_shows_what_is_remembered)
{
    struct screen *s = open_compacted(24, 80);
    screen_key(s, SCREEN_ENTER);
    assert_true(screen_wait_text(s, "m memory entries", WAIT_MS));
    screen_type(s, "m");
    assert_true(screen_wait_text(s, "Memory \u00b7 session \u00b7 6 entries", WAIT_MS));
}

/* --- what the model asked --- */

TEST(what_the_model_asked_is_shown)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    screen_key(s, SCREEN_TAB);
    struct reply call = {.tool_name = "memory_search", .tool_args = "{\"query\":\"sleep ryokan\"}"};
    struct reply answer = {.text = "By the river."};
    model_server_queue(scene_server(), &call);
    model_server_queue(scene_server(), &answer);
    scene_ask(s, "where again?", "By the river.");
    assert_true(screen_wait_text(s, "memory_search \u201csleep ryokan\u201d \u2192 ", WAIT_MS));
    assert_true(screen_wait_text(s, " Model's searches \u00b7 1", WAIT_MS));
    assert_true(screen_wait_text(s, "\u201csleep ryokan\u201d \u2192 2 matches", WAIT_MS));
}

TEST(f2_begins_with_an_empty_query)
{
    struct screen *s = open_compacted(24, 80);
    open_pane(s);
    search(s, "ryokan", "ryokan by the river");
    screen_key(s, SCREEN_F2);
    assert_true(screen_wait_gone(s, " Memory \u00b7 all", WAIT_MS));
    open_pane(s);
    assert_true(screen_wait_gone(s, "/ ryokan", WAIT_MS));
    screen_key(s, SCREEN_UP);
    assert_true(screen_wait_text(s, "/ ryokan", WAIT_MS));
}

/* --- when there is none --- */

TEST(without_a_memory_f2_says_so)
{
    write_config("[memory]\nenabled = false\n");
    struct screen *s = scene_open(24, 80, NULL);
    screen_key(s, SCREEN_F2);
    assert_true(screen_wait_text(s, "Memory is off", WAIT_MS));
    scene_exchange(s, "still here?", "Yes.");
}
