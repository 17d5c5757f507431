/* Searches in the graph of facts: by words, and by parts of words. */
#include <string.h>

#include "tests/facts.h"
#include "tests/suite.h"
#include "tests/support.h"

FIXTURE(facts_setup, facts_teardown);

TEST(words_come_first_then_what_stands_within_a_word)
{
    facts_kyoto();
    (void)facts_create(
        "{'entities':[{'name':'Map','entity_type':'paper','observations':['shows the "
        "Kyotographer']}]}");
    const char *found = facts_search("KYOTO");
    const char *city = strstr(found, "Kyoto (city)"), *map = strstr(found, "Map (paper)");
    assert_non_null(city);
    assert_non_null(strstr(found, "Ada (person)"));
    assert_true(map > city);
    assert_non_null(strstr(facts_search("yotograph"), "Map"));
    assert_non_null(strstr(facts_search("COUNTR"), "Japan"));
    assert_non_null(strstr(facts_search("river ryokan"), "Kyoto (city)"));
    assert_string_equal(facts_search("absent"), "");
    assert_string_equal(facts_search("  "), "");
}

TEST(case_is_folded_beyond_ascii)
{
    (void)facts_create(
        "{'entities':[{'name':'Ärger','entity_type':'Gefühl','observations':['東京タワー']}]}");
    assert_non_null(strstr(facts_search("äRGE"), "Ärger"));
    assert_non_null(strstr(facts_search("京タ"), "Ärger"));
}

TEST(what_is_found_brings_its_relations)
{
    facts_kyoto();
    assert_string_equal(facts_search("country"), "Japan (country)\nKyoto -lies in-> Japan\n");
}

TEST(a_brief_search_counts_what_it_leaves_out)
{
    const struct graph_search search = {.query = "capital", .limit = 5, .brief = true};
    struct graph_part found;
    facts_kyoto();
    assert_true(graph_search(&facts.graph, &search, &found, &facts.e));
    assert_int_equal(found.entities.items[0].observed, 2);
    assert_int_equal(found.entities.items[0].relations, 2);
    assert_int_equal(found.total, 3);
    assert_string_equal(facts_told(&found), "Kyoto (city)\n");
}

TEST(secrets_are_not_found)
{
    assert_non_null(
        facts_create("{'entities':[{'name':'a','entity_type':'t','observations':['it is "
                     "AKIAIOSFODNN7EXAMPLE']}]}"));
    assert_string_equal(facts_search("AKIAIOSFODNN7EXAMPLE"), "");
    assert_string_equal(facts_search("IOSFODNN7"), "");
}
