/* Facts of the graph deleted and restored, and their remains in the file. */
#include <stdio.h>
#include <string.h>

#include "store/store.h"
#include "tests/facts.h"
#include "tests/suite.h"
#include "tests/support.h"

FIXTURE(facts_setup, facts_teardown);

TEST(all_that_are_named_go_or_none)
{
    struct graph_part gone;
    facts_kyoto();
    assert_err(facts_delete_entities("{'entity_names':['Kyoto','Rome']}", &gone), facts.e,
               ERR_MEMORY_NOT_FOUND);
    assert_non_null(strstr(facts.e.text, "entity_names[1]"));
    assert_err(
        facts_delete_observations("{'deletions':[{'entity_name':'Kyoto','observations':['was the "
                                  "capital','no']}]}",
                                  &gone),
        facts.e, ERR_MEMORY_NOT_FOUND);
    assert_non_null(strstr(facts.e.text, "deletions[0].observations[1]"));
    assert_err(
        facts_delete_relations("{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies "
                               "in'},{'from':'Kyoto','to':'Ada','relation_type':'x'}]}",
                               &gone),
        facts.e, ERR_MEMORY_NOT_FOUND);
    assert_non_null(strstr(facts.e.text, "relations[1]"));
    assert_string_equal(facts_open_names(FACTS_KYOTO), FACTS_KYOTO_TOLD);
}

TEST(what_is_named_twice_goes_once)
{
    struct graph_part gone;
    facts_kyoto();
    assert_true(facts_delete_observations(
        "{'deletions':[{'entity_name':'Kyoto','observations':['was the capital','was  the "
        "capital']},{'entity_name':' Kyoto','observations':['was the capital']}]}",
        &gone));
    assert_int_equal(graph_part_counts(&gone).observations, 1);
    graph_part_release(&gone);
    assert_true(
        facts_delete_relations("{'relations':[{'from':'Ada','to':'Kyoto','relation_type':'visits'},"
                               "{'from':'Ada ','to':'Kyoto','relation_type':'visits'}]}",
                               &gone));
    assert_int_equal(graph_part_counts(&gone).relations, 1);
    graph_part_release(&gone);
}

/* An entity with its observations, and relations out and in. */
TEST(what_was_deleted_comes_back_as_it_was)
{
    struct graph_part gone;
    facts_kyoto();
    const char *before = facts_open_names(FACTS_KYOTO);
    assert_true(facts_delete_entities("{'entity_names':['Kyoto','Kyoto']}", &gone));
    struct graph_counts counts = graph_part_counts(&gone);
    assert_int_equal(counts.entities, 1);
    assert_int_equal(counts.observations, 2);
    assert_int_equal(counts.relations, 2);
    assert_string_equal(facts_open_names(FACTS_KYOTO),
                        "Japan (country)\nAda (person): likes Kyoto in autumn\n"
                        "?Kyoto\n");
    assert_int_equal(facts_number("SELECT relations FROM graph_size"), 0);
    assert_true(graph_restore(&facts.graph, &gone, &facts.e));
    assert_true(graph_restore(&facts.graph, &gone, &facts.e)); /* again does nothing */
    graph_part_release(&gone);
    assert_string_equal(facts_open_names(FACTS_KYOTO), before);
    assert_non_null(strstr(facts_search("capital"), "Kyoto"));
    assert_true(facts_delete_relations(
        "{'relations':[{'from':'Ada','to':'Kyoto','relation_type':'visits'}]}", &gone));
    assert_true(graph_restore(&facts.graph, &gone, &facts.e));
    graph_part_release(&gone);
    assert_true(facts_delete_observations(
        "{'deletions':[{'entity_name':'Ada','observations':['likes Kyoto in autumn']}]}", &gone));
    assert_true(graph_restore(&facts.graph, &gone, &facts.e));
    graph_part_release(&gone);
    assert_string_equal(facts_open_names(FACTS_KYOTO), before);
}

static bool facts_file_has(const char *word)
{
    FILE *f = fopen(facts.path, "rb");
    struct buf bytes = BUF_INIT;
    char chunk[4096];
    assert_non_null(f);
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;)
        buf_add(&bytes, chunk, n);
    fclose(f);
    bool found = false;
    for (size_t i = 0; i + strlen(word) <= bytes.len && !found; i++)
        found = memcmp(bytes.data + i, word, strlen(word)) == 0;
    buf_release(&bytes);
    return found;
}

TEST(nothing_of_what_was_deleted_stays_in_the_file)
{
    bool more = true;
    facts_kyoto();
    (void)facts_create(
        "{'entities':[{'name':'Zzyzx','entity_type':'road','observations':['quxnoodle "
        "wobble']}]}");
    store_settle(facts.graph.store);
    assert_true(facts_file_has("quxnoodle") || facts_file_has("quxnoodl"));
    assert_true(facts_delete_entities("{'entity_names':['Zzyzx']}", NULL));
    while (more)
        assert_true(graph_purge(&facts.graph, &more, &facts.e));
    store_settle(facts.graph.store);
    assert_false(facts_file_has("quxnood") || facts_file_has("Zzyzx") || facts_file_has("zzyzx"));
}

TEST(words_follow_every_change)
{
    facts_kyoto();
    (void)facts_observe("{'observations':[{'entity_name':'Japan','contents':['volcanoes']}]}");
    assert_non_null(strstr(facts_search("volcano"), "Japan"));
    assert_true(facts_delete_observations(
        "{'deletions':[{'entity_name':'Japan','observations':['volcanoes']}]}", NULL));
    assert_string_equal(facts_search("volcano"), "");
    assert_true(facts_delete_entities("{'entity_names':['Kyoto']}", NULL));
    assert_null(strstr(facts_search("capital"), "Kyoto"));
}

TEST(relations_beyond_a_number_are_counted)
{
    enum { MORE = 7 };
    struct graph_names names = {0};
    struct graph_relate p = {0};
    struct graph_part part;
    facts_kyoto();
    for (int i = 0; i < GRAPH_PART_RELATIONS + MORE - 1; i++)
        vec_push(&p.relations,
                 (struct graph_new_relation){"Ada", "Japan", support_text("knows %d", i)});
    assert_true(graph_relate(&facts.graph, &p, &facts_nobody, &part, &facts.e));
    graph_part_release(&part);
    vec_release(&p.relations);
    vec_push(&names.names, "Ada");
    assert_true(graph_open(&facts.graph, &names, &part, &facts.e));
    assert_int_equal(part.relations.len, GRAPH_PART_RELATIONS);
    assert_int_equal(part.relations_left, MORE);
    graph_part_release(&part);
    /* all of them go and come back */
    assert_true(graph_delete_entities(&facts.graph, &names, &part, &facts.e));
    assert_int_equal(part.relations.len, GRAPH_PART_RELATIONS + MORE);
    assert_true(graph_restore(&facts.graph, &part, &facts.e));
    graph_part_release(&part);
    vec_release(&names.names);
}
