/* The graph's tab without terminal and engine: its requests, its drawing of made-up answers, and
 * its keys. */
#include "session/graph_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "ui/view/memory_view.h"

#define HERE "0198c0de-0000-7000-8000-000000000001"

/* --- made-up answers --- */

#define AT "'created_at':'2026-03-09T12:00:00Z'"
#define ENTITY(name, type, observed, relations)                                                    \
    "{'name':'" name "','entity_type':'" type "','observations':[],'observed':" #observed          \
    ",'relation_count':" #relations "," AT "}"
#define LIST                                                                                       \
    "{'entities':[" ENTITY("Ada", "person", 1, 1) "," ENTITY("Japan", "country", 0, 1) "," ENTITY( \
        "京都", "city", 2, 2) "],'relations':[],'total':1204}"
#define KYOTO                                                                                      \
    "{'entities':[{'name':'京都','entity_type':'city','observations':["                          \
    "{'content':'has ryokans\\nby the river','session_id':'" HERE "','seq':7," AT                  \
    "},"                                                                                           \
    "{'content':'was the capital','session_id':'" HERE "','session_deleted':true," AT              \
    "}],"                                                                                          \
    "'observed':2,'relation_count':2," AT                                                          \
    "}],'relations':["                                                                             \
    "{'from':'Ada','to':'京都','relation_type':'visits'," AT                                       \
    "},"                                                                                           \
    "{'from':'京都','to':'Japan','relation_type':'lies in'," AT "}],'total':3}"
#define JAPAN                                                                                      \
    "{'entities':[" ENTITY("Japan", "country", 0, 1) "],'relations':["                             \
    "{'from':'京都','to':'Japan','relation_type':'lies in'," AT "}],'total':3}"

static void begin(void)
{
    give_json(&operation_graph_list, LIST);
    act("<down>");
    forget_sent();
}

/* Moves to the rows of the city. */
static void walk(void)
{
    begin();
    act("jj<enter>", "?graph/open names=[\"京都\"]");
    give_json(&operation_graph_open, KYOTO);
    forget_sent();
}

static bool take(const char *name)
{
    struct key key = {0};
    assert_true(key_parse(name, false, &key));
    return the.view->ops->key(the.view, keymap_find(&the.keymap, &key), &key);
}

static const struct step steps[] = {
    {"begin", .alone = begin}, {"walk", .alone = walk}, {.name = NULL}};

static int set_up(void **state)
{
    (void)state;
    stage_set_up(steps, 60, 16);
    the.view = graph_view_new(&the.host);
    graph_view_show(the.view, "");
    return 0;
}

/* --- the list --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

PLAY(it_lists_entities_with_what_they_have, "?graph/list", "loading", "=graph/list " LIST,
     "Graph · 1,204 entities", "Ada · person", "2 facts", "京都 · city", "!loading");
PLAY(what_is_typed_is_searched, "=begin", ">/ky", "?graph/search query=\"ky\"",
     "?graph/search typing=true", "=graph/search {'entities':[],'relations':[],'total':3}",
     "No matches in the graph", "><ctrl-u>", "?graph/list", "=graph/list " LIST, "Ada");

TEST(digits_are_text_in_the_query_and_no_key_of_the_list)
{
    begin();
    const struct key two = {.code = K_CHAR, .cp = '2'};
    assert_false(the.view->ops->key(the.view, ACTION_NONE, &two));
    act("/2", "?graph/search query=\"2\"");
}

TEST(escape_leaves_the_list_for_the_query_and_then_the_pane)
{
    play("=begin", "><escape>");
    assert_false(take("escape"));
}

static void answer_many(const struct operation *o, int count)
{
    AUTO(buf_release) struct buf list = BUF_INIT;
    buf_addstr(&list, "{'entities':[");
    for (int i = 0; i < count; i++)
        buf_addf(&list,
                 "%s{'name':'n%03d','entity_type':'t','observations':[],'observed':0,"
                 "'relation_count':0," AT "}",
                 i > 0 ? "," : "", i);
    buf_addf(&list, "],'relations':[],'total':%d}", 5 * count);
    give_json(o, list.data);
}

TEST(the_end_of_the_list_asks_for_more)
{
    answer_many(&operation_graph_list, 100);
    play("><down>", "=forget", ">G", "n099", "?graph/list limit=200");
}

/* A list continues to its end; a search has a limit. */
TEST(a_list_goes_on_to_its_end)
{
    answer_many(&operation_graph_list, 100);
    act("<down>");
    for (int limit = 100; limit <= 1600; limit *= 2) {
        forget_sent();
        act("G", support_text("?graph/list limit=%d", 2 * limit));
        answer_many(&operation_graph_list, 2 * limit);
    }
    act("/x");
    answer_many(&operation_graph_search, 100);
    act("<down>");
    for (int limit = 200; limit < 2000; limit *= 2) {
        int most = limit < GRAPH_FOUND_MOST ? limit : GRAPH_FOUND_MOST;
        forget_sent();
        act("G", support_text("?graph/search limit=%d", most));
        answer_many(&operation_graph_search, most);
    }
    play("=forget", ">kG", "!?graph/search");
}

/* --- an entity --- */

PLAY(an_entity_shows_observations_and_relations_both_ways, "=walk", "Graph > 京都", "city",
     "- has ryokans", "- was the capital", "→ lies in: Japan", "<- visits: Ada");
PLAY(relations_that_are_left_out_are_counted, "=begin", ">jj<enter>",
     "=graph/open {'entities':[{'name':'京都','entity_type':'city','observations':[],'observed':0,"
     "'relation_count':2007," AT "}],'relations':[],'relations_left':2007,'total':3}",
     "Graph > 京都 · 2007 more relations");
PLAY(an_observation_unfolds_with_its_source, "=walk", ">j<enter>", "by the river",
     "2026-03-09, from a conversation: Kyoto in November", "><enter>", "!from a conversation",
     ">j<enter>", "its conversation was deleted");
PLAY(a_relation_leads_on_and_there_is_a_way_back, "=walk", ">jjj<enter>",
     "?graph/open names=[\"Japan\"]", "Graph > 京都 > Japan", "=graph/open " JAPAN,
     "<- lies in: 京都", "=forget", "><backspace>", "?graph/open names=[\"京都\"]",
     "=graph/open " KYOTO, "›→ lies in: Japan", /* where it was left */
     "><escape>", "Ada · person", "›京都");
PLAY(an_entity_that_is_gone_is_told_and_left, "=begin", "><enter>",
     "=graph/open {'entities':[],'relations':[],'unknown':['Ada'],'total':0}",
     "does not exist any more", "京都 · city");
PLAY(the_source_of_a_fact_is_opened, "=walk", ">o", "yours or imported", ">jo",
     "?message " HERE " 7", ">jo", "was deleted", "!?message " HERE " 0");

/* --- changing it --- */

PLAY(what_is_deleted_is_asked_for_and_can_be_undone, "=begin", ">d", "Delete Ada and all about it?",
     ">x", "Delete Ada", ">n", "!Delete Ada", "!?graph/delete_entities", ">dy",
     "?graph/delete_entities entity_names=[\"Ada\"]",
     "=graph/delete_entities {'entities':1,'observations':1,'relations':1}", "u undoes",
     "?graph/list", ">u", "?graph/restore",
     "=graph/restore {'entities':1,'observations':1,'relations':1}", "Restored");
PLAY(an_observation_and_a_relation_go_by_themselves, "=walk", ">jdy",
     "?graph/delete_observations "
     "deletions=[{\"entity_name\":\"京都\",\"observations\":[\"has ryokans\\nby the "
     "river\"]}]",
     "=forget", ">jjdy",
     "?graph/delete_relations relations=[{\"from\":\"京都\",\"to\":\"Japan\","
     "\"relation_type\":\"lies in\"}]");
PLAY(a_failure_is_told, "=begin", ">dy", "=fails graph/delete_entities The database is locked.",
     "The database is locked.");

/* Changes that the model makes meanwhile are shown. */
TEST(a_tool_that_wrote_is_followed)
{
    begin();
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    n->event->name = mem_strdup("memory_create_entities");
    give(n);
    play("=due soon", "=tick", "?graph/list", "=due 0");
}

/* --- any size --- */

PLAY(it_fits_every_size, "=walk", "=sizes", "><escape>", "=sizes");
PLAY(foreign_text_is_cleaned,
     "=graph/list {'entities':[" ENTITY("a\\u001b[31m", "b\\nc", 0,
                                        0) "],'relations':[],'total':1}",
     "=line 2|a|[31m");

/* --- help --- */

KEYS_HOLD(keys_of_entities, set_up, "=begin", ">j");
KEYS_HOLD(keys_of_an_entity, set_up, "=walk", ">j");
KEYS_HOLD(keys_of_a_query, set_up, "=begin", ">/ky");
