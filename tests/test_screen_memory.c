/* F2 in the real program: the pane beside the transcript and over it, its keys, and the model's
 * searches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/paths.h"
#include "tests/damage.h"
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
    act(s, "/compact deterministic<enter>", " memory entr", IDLE);
    return s;
}

static void open_pane(struct screen *s)
{
    act(s, "<f2>", " Memory \u00b7 all");
}

static void search(struct screen *s, const char *query, const char *found)
{
    screen_type(s, query);
    see(s, " by score", found);
}

static void leave(struct screen *s)
{
    act(s, "<ctrl-c><ctrl-u>");
}

/* --- beside and over --- */
NEEDS(capability_memory() && capability_compaction());
FIXTURE(scene_setup, scene_teardown);

TEST(it_stands_beside_from_100_columns_on)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    see(s, RULE " Memory \u00b7 all \u00b7 6 entries",
        "compacted \u00b7 deterministic"); /* beside it */
    screen_resize(s, 24, 80);
    see(s, "!compacted \u00b7 deterministic", " Memory \u00b7 all \u00b7 6 entries");
    screen_resize(s, 10, 40);
    see(s, " Memory \u00b7 all \u00b7 6 entries");
    screen_resize(s, 30, 120);
    see(s, "compacted \u00b7 deterministic");
    act(s, "<f2>", "! Memory \u00b7 all");
}

TEST(tab_moves_the_keys)
{
    int row, col, rows, cols;
    bool visible;
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    act(s, "ryo", "/ ryo");
    screen_cursor(s, &row, &col, &visible);
    screen_size(s, &rows, &cols);
    assert_true(visible && col > 70 && row == 3);
    act(s, "<tab>for the message");
    assert_true(screen_wait_row(s, rows - 1, "> for the message", WAIT_MS));
    act(s, "<tab>kan", "/ ryokan");
    act(s, "<tab>");
    scene_exchange(s, " goes on", "It does.");
}

/* The message keeps the keyboard when the terminal becomes narrow, since in the pane a letter would
 * act on an entry. */
TEST(a_narrow_terminal_takes_no_keys_away)
{
    int rows, cols;
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    act(s, "<down><tab>hid");
    screen_size(s, &rows, &cols);
    assert_true(screen_wait_row(s, rows - 1, "> hid", WAIT_MS));
    screen_resize(s, 24, 80);
    see(s, "! Memory \u00b7 all");
    act(s, "den");
    assert_true(screen_wait_row(s, 23, "> hidden", WAIT_MS));
    act(s, "<f2>", " Memory \u00b7 all \u00b7 6 entries");
    act(s, "<f2>", "! Memory \u00b7 all");
    leave(s);
}

/* The wheel is over the transcript, the keys are the pane's. */
TEST(the_wheel_moves_what_is_below_it)
{
    struct screen *s = open_compacted(20, 120);
    open_pane(s);
    act(s, "xyz", "/ xyz ", "No matches in memory.", "!which train?");
    for (int i = 0; i < 60 && !strstr(screen_text(s), "│ which train?"); i++) {
        act(s, "<wheel-up>");
        (void)screen_pump(s, 20);
    }
    see(s, "│ which train?");
    act(s, "zy", "/ xyzzy ");
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
    act(s, "make a file<enter>");
    assert_true(model_server_wait(scene_server(), 1, WAIT_MS));
    open_pane(s);
    act(s, "ryo", "/ ryo");
    model_server_release(scene_server());
    see(s, "model wants to write (write_file)");
    act(s, "kan", "/ ryokan", "Tab goes to the question"); /* after a pause */
    act(s, "<tab>", "a allow once");
    act(s, "d", "All done.", "/ ryokan ");
}

/* --- actions --- */

TEST(d_forgets_and_u_puts_back)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    act(s, "<enter>d", "forgotten; u restores it", "5 entries");
    act(s, "u", "restored", "6 entries");
    act(s, "u", "There is nothing to restore.");
    act(s, "du", "restored");
}

/* Keys that come before the answers act as they would after them. */
TEST(keys_may_be_typed_ahead)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    act(s, "ryokan<enter>eSurely: <enter>", "Surely: In the ryokan");
    act(s, "t<enter>", "edited by you"); /* all of it, in the preview */
    act(s, "/thanks<ctrl-u>train<enter>iand so on", "> > which train?", "  and so on");
    leave(s);
}

TEST(escape_goes_back_to_where_o_was_pressed)
{
    static const struct {
        int cols;
        const char *pane;
    } sizes[] = {{120, " Memory \u00b7 all"}, {80, " Memory \u00b7 all"}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_compacted(16, sizes[i].cols);
        act(s, "half a thought");
        open_pane(s);
        search(s, "ryokan", "ryokan by the river.");
        act(s, "<enter>o", "Esc goes back", "  In the ryokan by the river.");
        act(s, "<escape>", "!Esc goes back", "/ ryokan",
            "> half a thought");                         /* the pane as it was */
        act(s, "p", "pinned");                           /* and the keys in its list */
        act(s, "<f2>", "!/ ryokan", "\u25a3 compacted"); /* the end */
        leave(s);
    }
}

TEST_IF(capability_store(), escape_goes_back_over_sessions)
{
    struct screen *s = open_compacted(16, 120);
    act(s, "/new<enter>", "Chat with a language model");
    act(s, "half a thought");
    open_pane(s);
    search(s, "ryokan", "ryokan by the river.");
    act(s, "<enter>o", "read-only", "  In the ryokan by the river.", "!half a thought",
        "Esc goes back");
    act(s, "<escape>", "!read-only", "Chat with a language model", "half a thought",
        "/ ryokan");
}

TEST(a_command_brings_a_query)
{
    struct screen *s = open_compacted(24, 80);
    act(s, "/memory train<enter>", "/ train", "which train?");
    act(s, "<escape>", "!/ train");
    act(s, "/forget ryokan<enter>", "/ ryokan");
    act(s, "d", "forgotten; u restores it", "/ ryokan ");
}

TEST(m_in_a_card_shows_what_is_remembered)
{
    struct screen *s = open_compacted(24, 80);
    act(s, "<enter>", "m memory entries");
    act(s, "m", "Memory \u00b7 session \u00b7 6 entries");
}

/* --- the model's searches --- */

TEST(what_the_model_asked_is_shown)
{
    struct screen *s = open_compacted(30, 120);
    open_pane(s);
    act(s, "<tab>");
    struct reply call = {.tool_name = "memory_search", .tool_args = "{\"query\":\"sleep ryokan\"}"};
    struct reply answer = {.text = "By the river."};
    model_server_queue(scene_server(), &call);
    model_server_queue(scene_server(), &answer);
    scene_ask(s, "where again?", "By the river.");
    see(s, "memory_search \u201csleep ryokan\u201d \u2192 ", " Model's searches \u00b7 1",
        "\u201csleep ryokan\u201d \u2192 2 matches");
}

/* --- conversations from before --- */

/* Two turns, in a database of the version before memory followed sessions. */
static void talk_before(void)
{
    setenv("TIRO_MEMORY_INDEX", "dropped", 1);
    for (int i = 0; i < 2; i++) {
        struct screen *s = scene_open(24, 80, NULL);
        scene_exchange(s, i ? "which train?" : "where did we want to sleep?",
                       i ? "The one at nine." : "In the ryokan by the river.");
        act(s, "/quit<enter>");
        assert_true(screen_wait_exit(s, WAIT_MS));
    }
    unsetenv("TIRO_MEMORY_INDEX");
    damage_sql(scene_store(),
               "INSERT OR REPLACE INTO memory_followed"
               " SELECT id, last_seq, 0, 1 FROM session WHERE last_seq > 0");
}

#define OFFER "2 earlier conversations are not in memory yet"

TEST_IF(capability_store(), earlier_conversations_come_in_when_they_are_wanted)
{
    talk_before();
    struct screen *s = scene_open(30, 120, NULL);
    act(s, "who writes goes on", OFFER, "> who writes goes on");
    act(s, "<ctrl-u>/index<enter>", "are indexed in the background");
    open_pane(s);
    see(s, " Memory \u00b7 all \u00b7 4 entries");
    search(s, "ryokan", "In the ryokan by the river.");
    act(s, "<down><enter>", "contains ryokan · earlier session");
    act(s, "<escape>", "!contains ryokan");
    act(s, "vv", " all \u00b7 compacted \u00b7 0 entries");
    act(s, "v", " all \u00b7 earlier session \u00b7 4 entries", "ryokan");
    act(s, "<f2>/quit<enter>");
    assert_true(screen_wait_exit(s, WAIT_MS));
    s = scene_open(24, 80, NULL);
    scene_exchange(s, "hello", "Good day.");
    see(s, "!earlier conversation");
}

TEST_IF(capability_store(), who_does_not_answer_is_asked_again_and_who_refuses_is_not)
{
    talk_before();
    for (int i = 0; i < 2; i++) {
        struct screen *s = scene_open(i ? 10 : 24, i ? 40 : 80, NULL);
        see(s, "2 earlier conversations");
        act(s, i ? "/index none<enter>" : "/quit<enter>", i ? "stay out of" : NULL);
        if (i)
            act(s, "/quit<enter>");
        assert_true(screen_wait_exit(s, WAIT_MS));
    }
    struct screen *s = scene_open(24, 80, NULL);
    scene_exchange(s, "hello", "Good day.");
    see(s, "!earlier conversation");
    act(s, "<f2>", " Memory \u00b7 all \u00b7 0 entries");
}

/* --- when there is none --- */

TEST(without_a_memory_f2_says_so)
{
    write_config(
        "[memory]\nenabled = false\n[graph]\nenabled = false\n"
        "[corpus]\nenabled = false\n");
    struct screen *s = scene_open(24, 80, NULL);
    act(s, "<f2>", "Memory is off");
    scene_exchange(s, "still here?", "Yes.");
}
