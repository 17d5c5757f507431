/* The graph's tab without terminal and engine: its requests, its drawing of made-up answers, and
 * its keys. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/graph_operations.h"
#include "tests/seen.h"
#include "tests/stage.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "ui/view/memory_view.h"

#define HERE "0198c0de-0000-7000-8000-000000000001"

static int set_up(void **state)
{
    (void)state;
    stage_set_up();
    the.width = 60;
    the.height = 16;
    the.view = graph_view_new(&the.host);
    graph_view_show(the.view, "");
    return 0;
}

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

/* --- the list --- */

BEFORE_ALL(support_utf8);
FIXTURE(set_up, stage_tear_down);

TEST(it_lists_entities_with_what_they_have)
{
    see("?graph/list", "loading");
    give_json(&operation_graph_list, LIST);
    see("Graph · 1,204 entities", "Ada · person", "2 facts", "京都 · city", "!loading");
}

TEST(what_is_typed_is_searched)
{
    begin();
    act("/ky", "?graph/search query=\"ky\"", "?graph/search typing=true");
    give_json(&operation_graph_search, "{'entities':[],'relations':[],'total':3}");
    see("No matches in the graph");
    act("<ctrl-u>", "?graph/list");
    give_json(&operation_graph_list, LIST);
    see("Ada");
}

TEST(digits_are_text_in_the_query_and_no_key_of_the_list)
{
    begin();
    const struct key two = {.code = K_CHAR, .cp = '2'};
    assert_false(the.view->ops->key(the.view, ACTION_NONE, &two));
    act("/2", "?graph/search query=\"2\"");
}

TEST(escape_leaves_the_list_for_the_query_and_then_the_pane)
{
    begin();
    act("<escape>");
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
    act("<down>");
    forget_sent();
    act("G", "n099", "?graph/list limit=200");
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
    forget_sent();
    act("kG", "!?graph/search");
}

/* --- an entity --- */

TEST(an_entity_shows_observations_and_relations_both_ways)
{
    walk();
    see("Graph > 京都", "city", "- has ryokans", "- was the capital", "→ lies in: Japan",
        "<- visits: Ada");
}

TEST(relations_that_are_left_out_are_counted)
{
    begin();
    act("jj<enter>");
    give_json(&operation_graph_open,
              "{'entities':[{'name':'京都','entity_type':'city','observations':[],'observed':0,"
              "'relation_count':2007," AT "}],'relations':[],'relations_left':2007,'total':3}");
    see("Graph > 京都 · 2007 more relations");
}

TEST(an_observation_unfolds_with_its_source)
{
    walk();
    act("j<enter>", "by the river", "2026-03-09, from a conversation: Kyoto in November");
    act("<enter>", "!from a conversation");
    act("j<enter>", "its conversation was deleted");
}

TEST(a_relation_leads_on_and_there_is_a_way_back)
{
    walk();
    act("jjj<enter>", "?graph/open names=[\"Japan\"]", "Graph > 京都 > Japan");
    give_json(&operation_graph_open, JAPAN);
    see("<- lies in: 京都");
    forget_sent();
    act("<backspace>", "?graph/open names=[\"京都\"]");
    give_json(&operation_graph_open, KYOTO);
    see("›→ lies in: Japan"); /* where it was left */
    act("<escape>", "Ada · person");
    see("›京都");
}

TEST(an_entity_that_is_gone_is_told_and_left)
{
    begin();
    act("<enter>");
    give_json(&operation_graph_open, "{'entities':[],'relations':[],'unknown':['Ada'],'total':0}");
    see("does not exist any more", "京都 · city");
}

TEST(the_source_of_a_fact_is_opened)
{
    walk();
    act("o", "yours or imported");
    act("jo", "?message " HERE " 7");
    act("jo", "was deleted", "!?message " HERE " 0");
}

/* --- changing it --- */

TEST(what_is_deleted_is_asked_for_and_can_be_undone)
{
    begin();
    act("d", "Delete Ada and all about it?");
    act("x", "Delete Ada");
    act("n", "!Delete Ada", "!?graph/delete_entities");
    act("dy", "?graph/delete_entities entity_names=[\"Ada\"]");
    give_json(&operation_graph_delete, "{'entities':1,'observations':1,'relations':1}");
    see("u undoes", "?graph/list");
    act("u", "?graph/restore");
    give_json(&operation_graph_restore, "{'entities':1,'observations':1,'relations':1}");
    see("Restored");
}

TEST(an_observation_and_a_relation_go_by_themselves)
{
    walk();
    act("jdy",
        "?graph/delete_observations "
        "deletions=[{\"entity_name\":\"京都\",\"observations\":[\"has ryokans\\nby the "
        "river\"]}]");
    forget_sent();
    act("jjdy",
        "?graph/delete_relations relations=[{\"from\":\"京都\",\"to\":\"Japan\","
        "\"relation_type\":\"lies in\"}]");
}

TEST(a_failure_is_told)
{
    begin();
    act("dy");
    give_answer(answer_to(&operation_graph_delete), "The database is locked.");
    see("The database is locked.");
}

/* Changes that the model makes meanwhile are shown. */
TEST(a_tool_that_wrote_is_followed)
{
    begin();
    struct notice *n = notice_new(NOTICE_EVENT);
    n->event = event_new(EVENT_TOOL_EXECUTION_COMPLETED);
    n->event->name = mem_strdup("memory_create_entities");
    give(n);
    assert_true(the.view->ops->due(the.view) > 0);
    the.view->ops->tick(the.view);
    see("?graph/list");
    assert_int_equal(the.view->ops->due(the.view), 0);
}

/* --- any size --- */

TEST(it_fits_every_size)
{
    walk();
    for (the.width = 3; the.width < 100; the.width += 7)
        for (the.height = 1; the.height < 20; the.height += 3)
            (void)rows_now();
    act("<escape>");
    for (the.width = 3; the.width < 100; the.width += 7)
        for (the.height = 1; the.height < 20; the.height += 3)
            (void)rows_now();
}

TEST(foreign_text_is_cleaned)
{
    give_json(&operation_graph_list,
              "{'entities':[" ENTITY("a\\u001b[31m", "b\\nc", 0, 0) "],'relations':[],'total':1}");
    assert_null(strchr(row_text(2), '\033'));
}
