/* The graph in the real program: a model that writes to it, a user who is asked and who browses it
 * in the memory pane, at three sizes. */
#include <stdlib.h>
#include <string.h>

#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"
#include "tests/support.h"

static const char next_tab[] = "\033[17~"; /* F6 */

static const char entities[] =
    "{\"entities\":[{\"name\":\"京都\",\"entity_type\":\"city\",\"observations\":[\"has ryokans by "
    "the river\",\"東京 is newer\"]},{\"name\":\"Japan\",\"entity_type\":\"country\"}]}";
static const char relations[] =
    "{\"relations\":[{\"from\":\"京都\",\"to\":\"Japan\",\"relation_type\":\"lies in\"}]}";

static struct screen *open_with(int rows, int cols, const char *capture)
{
    setenv("TIRO_LEARNED_CAPTURE", capture, 1);
    struct screen *s = scene_open(rows, cols, NULL);
    unsetenv("TIRO_LEARNED_CAPTURE");
    return s;
}

/* A conversation in which the model noted a city and a country. */
static struct screen *open_noted(int rows, int cols)
{
    scene_queue(.tool_name = "memory_create_entities", .tool_args = entities);
    scene_queue(.tool_name = "memory_create_relations", .tool_args = relations);
    scene_queue(.text = "It is noted.");
    struct screen *s = open_with(rows, cols, "auto");
    act(s, "please note Kyoto<enter>", "It is noted.", IDLE);
    return s;
}

NEEDS(capability_memory() && capability_store());
FIXTURE(scene_setup, scene_teardown);

TEST(what_is_noted_unasked_leaves_a_receipt)
{
    struct screen *s = open_noted(30, 100);
    see(s, "Noted in the graph: 京都, Japan", "Noted in the graph: 京都 lies in Japan");
}

TEST(the_model_is_told_what_the_graph_has)
{
    struct screen *s = open_noted(30, 100);
    scene_sent(0, "!A graph of facts about");
    scene_queue(.text = "Gladly.");
    act(s, "go on<enter>", "Gladly.", IDLE);
    scene_sent(3, "A graph of facts about 2 entities", "京都");
    scene_queue(.text = "Silently.");
    act(s, "/memory off<enter>", "memory off");
    act(s, "go on<enter>", "Silently.", IDLE);
    scene_sent(4, "!A graph of facts about");
}

/* Entities that the model deletes unasked can be restored, as those that the person deletes. */
TEST(what_the_model_deleted_can_be_restored)
{
    struct screen *s = open_noted(30, 100);
    scene_queue(.tool_name = "memory_delete_entities",
                .tool_args = "{\"entity_names\":[\"京都\"]}");
    scene_queue(.text = "It is gone.");
    act(s, "forget it<enter>", "It is gone.", IDLE);
    see(s, "Deleted from the graph: 京都; u in /graph restores it");
    act(s, "/graph<enter>", "Japan · country", "!京都 · city");
    act(s, "<down>u", "Restored", "京都 · city");
    act(s, "/ryokan<enter>", "京都 · city", "!Japan · country");
}

TEST(the_person_is_asked_and_can_say_no)
{
    scene_queue(.tool_name = "memory_create_entities", .tool_args = entities);
    scene_queue(.text = "As you like.");
    struct screen *s = open_with(30, 100, "ask");
    act(s, "note it<enter>", "model wants to write (memory_create", "ryokans",
        "a allow once");
    act(s, "d", "As you like.", IDLE);
    act(s, "/graph<enter>", "The graph is empty");
}

TEST(off_offers_nothing_that_writes)
{
    scene_queue(.text = "Hello.");
    struct screen *s = open_with(24, 80, "off");
    act(s, "hi<enter>", "Hello.", IDLE);
    scene_sent(0, "!memory_create_entities", "memory_search_nodes");
}

static const struct {
    int rows, cols;
} sizes[] = {{40, 120}, {24, 80}, {10, 40}};

TEST(it_is_searched_walked_and_changed_at_every_size)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct screen *s = open_noted(sizes[i].rows, sizes[i].cols);
        act(s, "<f2>", " Memory · all");
        screen_type(s, next_tab); /* the tab of learned memory */
        see(s, "Learned");
        screen_type(s, next_tab);
        see(s, "Graph · ");
        act(s, "YOKAN", "京都 · city", "!Japan · country");
        act(s, "<enter><enter>", "Graph > 京都", "- 東京 is newer", "lies in: Japan");
        act(s, "G<enter>", "Graph > 京都 > Japan", "lies in: 京都");
        act(s, "<backspace>", "- has ryokans");
        act(s, "dy", "u undoes", "!lies in: Japan");
        act(s, "u", "Restored", "lies in: Japan");
        act(s, "<escape>", "/ YOKAN");
        act(s, "<f2>", "!/ YOKAN");
        scene_leave(s);
    }
}

TEST(the_source_of_a_fact_is_shown)
{
    struct screen *s = open_noted(24, 80);
    scene_queue(.text = "Another answer.");
    act(s, "/new<enter>", "!It is noted.");
    act(s, "hi<enter>", "Another answer.", IDLE);
    act(s, "/graph ryokans<enter>", "京都 · city");
    act(s, "<enter>", "- has ryokans");
    act(s, "jo", "please note Kyoto", "!Another answer.");
}

TEST(without_memory_the_pane_has_the_graph_alone)
{
    setenv("TIRO_MEMORY_ENABLED", "false", 1);
    struct screen *s = open_noted(30, 120);
    unsetenv("TIRO_MEMORY_ENABLED");
    act(s, "<f2>", "Graph · 2 entities", "!1 memory");
}

TEST(without_the_graph_the_pane_has_memory_alone)
{
    setenv("TIRO_GRAPH_ENABLED", "false", 1);
    scene_queue(.text = "Hello.");
    struct screen *s = scene_open(30, 120, NULL);
    unsetenv("TIRO_GRAPH_ENABLED");
    act(s, "hi<enter>", "Hello.", IDLE);
    scene_sent(0, "!memory_search_nodes");
    act(s, "<f2>", " Memory · all", "!2 graph");
    act(s, "<f2>", "! Memory · all");
    act(s, "/graph<enter>", "The graph is off");
}
