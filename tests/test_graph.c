/* The graph of facts in the store: additions, refusals, sources; two processes. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/health.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/facts.h"
#include "tests/suite.h"
#include "tests/support.h"

/* --- making --- */

FIXTURE(facts_setup, facts_teardown);

TEST(entities_that_are_there_stay_as_they_are)
{
    facts_kyoto();
    assert_string_equal(
        facts_create("{'entities':[{'name':'Kyoto','entity_type':'town','observations':"
                     "['new']},{'name':'Nara','entity_type':'city'},"
                     "{'name':' Nara ','entity_type':'x'}]}"),
        "Nara (city)\n");
    assert_string_equal(facts_open_names("{'names':['Kyoto']}"),
                        "Kyoto (city): has ryokans by the river; was the capital\n"
                        "Ada -visits-> Kyoto\nKyoto -lies in-> Japan\n");
}

/* "é" as one character, and as "e" with a combining accent. */
#define ONE "Caf\u00E9"
#define TWO "Cafe\u0301"

#define TOLD(observations) ONE " (place): " observations "\n"

TEST(a_name_is_one_however_its_accents_are_written)
{
    AUTO(graph_part_release) struct graph_part gone = {0};
    assert_string_equal(facts_create("{'entities':[{'name':'" TWO "','entity_type':'place',"
                                     "'observations':['at " ONE "','at " TWO "']},"
                                     "{'name':'" ONE "','entity_type':'x'}]}"),
                        TOLD("at " ONE));
    assert_string_equal(facts_create("{'entities':[{'name':'" TWO "','entity_type':'x'}]}"), "");
    assert_string_equal(facts_observe("{'observations':[{'entity_name':'" TWO "',"
                                      "'contents':['at " TWO "','old']}]}"),
                        ONE "+old\n");
    assert_string_equal(facts_open_names("{'names':['" TWO "','" ONE "']}"),
                        TOLD("at " ONE "; old"));
    assert_string_equal(facts_search("fe\u0301"), TOLD("at " ONE "; old"));
    assert_string_equal(
        facts_relate("{'relations':[{'from':'" TWO "','to':'" ONE "','relation_type':'" TWO "'},"
                     "{'from':'" ONE "','to':'" ONE "','relation_type':'" ONE "'}]}"),
        ONE " -" ONE "-> " ONE "\n");
    assert_int_equal(facts_import("{\"type\":\"entity\",\"name\":\"" TWO
                                  "\",\"entityType\":\"x\",\"observations\":[\"old\"]}\n"),
                     0);
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 1);
    assert_int_equal(facts_number("SELECT count(*) FROM graph_observation"), 2);
    assert_true(facts_delete_entities("{'entity_names':['" TWO "']}", &gone));
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 0);
}

TEST(an_observation_is_kept_once)
{
    facts_kyoto();
    assert_string_equal(
        facts_observe("{'observations':[{'entity_name':'Kyoto','contents':['was the "
                      "capital','  big ','big','was  the\\ncapital']},"
                      "{'entity_name':'Japan','contents':['islands']}]}"),
        "Kyoto+big\nJapan+islands\n");
}

TEST(an_unknown_entity_is_an_error_and_nothing_is_written)
{
    facts_kyoto();
    assert_null(
        facts_observe("{'observations':[{'entity_name':'Kyoto','contents':['x']},"
                      "{'entity_name':'Rome','contents':['y']}]}"));
    assert_int_equal(facts.e.code, ERR_MEMORY_NOT_FOUND);
    assert_non_null(strstr(facts.e.text, "observations[1].entity_name"));
    assert_non_null(strstr(facts.e.text, "Rome"));
    assert_null(
        facts_relate("{'relations':[{'from':'Japan','to':'Ada','relation_type':'x'},"
                     "{'from':'Ada','to':'Rome','relation_type':'x'}]}"));
    assert_non_null(strstr(facts.e.text, "relations[1].to"));
    assert_string_equal(facts_open_names(FACTS_KYOTO), FACTS_KYOTO_TOLD);
}

TEST(a_relation_is_kept_once)
{
    facts_kyoto();
    assert_string_equal(
        facts_relate("{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies in'},"
                     "{'from':'Japan','to':'Kyoto','relation_type':'lies in'},"
                     "{'from':'Ada','to':'Ada','relation_type':'knows'}]}"),
        "Japan -lies in-> Kyoto\nAda -knows-> Ada\n");
}

TEST(names_and_texts_that_cannot_be_are_refused_by_their_member)
{
    static const struct {
        const char *json, *member;
    } rows[] = {
        {"{'entities':[{'name':'a','entity_type':'b'},{'name':'  ','entity_type':'b'}]}",
         "entities[1].name"},
        {"{'entities':[{'name':'a\\nb','entity_type':'b'}]}", "entities[0].name"},
        {"{'entities':[{'name':'a\\u2028b','entity_type':'b'}]}", "entities[0].name"},
        {"{'entities':[{'name':'a\\u009bb','entity_type':'b'}]}", "entities[0].name"},
        {"{'entities':[{'name':'a','entity_type':'\\t'}]}", "entities[0].entity_type"},
        {"{'entities':[{'name':'a','entity_type':'b','observations':['c',' ']}]}",
         "entities[0].observations[1]"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_null(facts_create(rows[i].json));
        assert_int_equal(facts.e.code, ERR_USAGE);
        assert_non_null(strstr(facts.e.text, rows[i].member));
        assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 0);
    }
}

static const char *of_length(char letter, size_t len)
{
    char *text = mem_alloc(len + 1);
    memset(text, letter, len);
    return support_keep(text);
}

TEST(texts_are_bounded_in_bytes)
{
    struct graph_create p = {0};
    struct graph_new_entity n = {.name = of_length('n', GRAPH_NAME_BYTES),
                                 .type = of_length('t', GRAPH_TYPE_BYTES)};
    struct graph_part made;
    vec_push(&n.observations, of_length('o', GRAPH_OBSERVATION_BYTES));
    vec_push(&p.entities, n);
    assert_true(graph_create(&facts.graph, &p, &facts_nobody, &made, &facts.e));
    graph_part_release(&made);
    p.entities.items[0].name = "other";
    p.entities.items[0].observations.items[0] = of_length('o', GRAPH_OBSERVATION_BYTES + 1);
    assert_err(graph_create(&facts.graph, &p, &facts_nobody, &made, &facts.e), facts.e, ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "entities[0].observations[0]"));
    p.entities.items[0].name = of_length('n', GRAPH_NAME_BYTES + 1);
    assert_err(graph_create(&facts.graph, &p, &facts_nobody, &made, &facts.e), facts.e, ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "entities[0].name"));
    vec_release(&p.entities.items[0].observations);
    vec_release(&p.entities);
}

TEST(an_entity_has_a_bounded_number_of_observations)
{
    facts_kyoto();
    AUTO(buf_release) struct buf json = BUF_INIT;
    buf_addstr(&json, "{'observations':[{'entity_name':'Japan','contents':[");
    for (int i = 0; i < GRAPH_OBSERVATIONS; i++)
        buf_addf(&json, "%s'fact %d'", i > 0 ? "," : "", i);
    buf_addstr(&json, "]}]}");
    assert_non_null(facts_observe(json.data));
    assert_null(
        facts_observe("{'observations':[{'entity_name':'Japan','contents':['fact 1','more']}]}"));
    assert_int_equal(facts.e.code, ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "observations[0].contents[1]"));
    assert_int_equal(facts_number("SELECT count(*) FROM graph_observation WHERE content = 'more'"),
                     0);
}

TEST(an_entity_has_a_bounded_number_of_bytes)
{
    enum { TEXTS = GRAPH_ENTITY_BYTES / GRAPH_OBSERVATION_BYTES };
    struct graph_observe p = {0};
    struct graph_new_observations n = {.entity = "Japan"};
    struct graph_added added;
    facts_kyoto();
    for (int i = 0; i < TEXTS; i++) {
        char *text = mem_alloc(GRAPH_OBSERVATION_BYTES + 1);
        memset(text, 'o', GRAPH_OBSERVATION_BYTES);
        text[i] = 'x';
        vec_push(&n.contents, support_keep(text));
    }
    const char *again = n.contents.items[3];
    vec_push(&p.observations, n);
    assert_true(graph_observe(&facts.graph, &p, &facts_nobody, &added, &facts.e));
    shape_release(&graph_added_shape, &added);
    vec_release(&p.observations.items[0].contents);
    vec_release(&p.observations);
    assert_null(facts_observe("{'observations':[{'entity_name':'Japan','contents':['more']}]}"));
    assert_int_equal(facts.e.code, ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "observations[0].contents[0]"));
    assert_non_null(facts_observe(
        support_text("{'observations':[{'entity_name':'Japan','contents':['%s']}]}", again)));
}

/* A text of a caller that is no JSON. */
TEST(what_is_no_utf_8_is_refused)
{
    struct graph_create p = {0};
    struct graph_part made;
    vec_push(&p.entities, (struct graph_new_entity){.name = "\xff\xfe", .type = "t"});
    assert_err(graph_create(&facts.graph, &p, &facts_nobody, &made, &facts.e), facts.e, ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "entities[0].name"));
    assert_non_null(strstr(facts.e.text, "UTF-8"));
    vec_release(&p.entities);
}

static void set_size(const char *column, int count)
{
    assert_true(store_exec(facts.graph.store,
                           support_text("UPDATE graph_size SET %s = %d", column, count), &facts.e));
}

/* An entity that exists already needs no room. */
TEST(a_full_graph_says_so)
{
    facts_kyoto();
    set_size("entities", GRAPH_ENTITIES);
    assert_null(facts_create("{'entities':[{'name':'Nara','entity_type':'city'}]}"));
    assert_int_equal(facts.e.code, ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "full"));
    assert_string_equal(facts_create("{'entities':[{'name':'Ada','entity_type':'person'}]}"), "");
    set_size("observations", GRAPH_OBSERVATIONS_IN_ALL);
    assert_null(facts_observe("{'observations':[{'entity_name':'Ada','contents':['new']}]}"));
    assert_non_null(strstr(facts.e.text, "full"));
    assert_string_equal(
        facts_observe("{'observations':[{'entity_name':'Ada','contents':['likes Kyoto in "
                      "autumn']}]}"),
        "Ada\n");
    set_size("relations", GRAPH_RELATIONS);
    assert_null(facts_relate("{'relations':[{'from':'Ada','to':'Japan','relation_type':'x'}]}"));
    assert_non_null(strstr(facts.e.text, "full"));
    assert_string_equal(
        facts_relate("{'relations':[{'from':'Ada','to':'Kyoto','relation_type':'visits'}]}"), "");
}

TEST(secrets_are_masked_wherever_they_stand)
{
    assert_string_equal(
        facts_create(
            "{'entities':[{'name':'key sk-abcdefghijklmnopqrstuvwxyz0123456789','entity_type':"
            "'thing','observations':['it is AKIAIOSFODNN7EXAMPLE']}]}"),
        "key [secret] (thing): it is [secret]\n");
    assert_string_equal(
        facts_open_names("{'names':['key sk-abcdefghijklmnopqrstuvwxyz0123456789']}"),
        "key [secret] (thing): it is [secret]\n");
}

/* --- by name --- */

TEST(names_that_are_none_are_told)
{
    facts_kyoto();
    assert_string_equal(facts_open_names("{'names':['Japan','kyoto','Rome','Japan']}"),
                        "Japan (country)\nKyoto -lies in-> Japan\n?kyoto\n?Rome\n");
}

TEST(a_list_goes_on_behind_a_name)
{
    struct graph_part part;
    facts_kyoto();
    assert_true(graph_list(&facts.graph, NULL, 2, &part, &facts.e));
    assert_int_equal(part.total, 3);
    assert_int_equal(part.entities.items[1].relations, 1);
    assert_int_equal(part.entities.items[0].observed, 1);
    assert_string_equal(facts_told(&part), "Ada (person)\nJapan (country)\n");
    assert_true(graph_list(&facts.graph, "Japan", 2, &part, &facts.e));
    assert_string_equal(facts_told(&part), "Kyoto (city)\n");
}

/* --- where facts come from --- */

TEST(a_fact_outlives_its_session_which_is_told_as_deleted)
{
    static const char here[] = "0198c0de-0000-7000-8000-000000000001";
    const struct graph_by by = {here, 7};
    struct graph_create p = {0};
    struct graph_names names = {0};
    struct graph_part part;
    store_close(facts.graph.store);
    damage_fill(facts.path, 1, 3);
    facts_open_store();
    auto_free char *sql = mem_printf("UPDATE session SET id = '%s'", here);
    assert_true(store_exec(facts.graph.store, sql, &facts.e));
    facts_parse(&graph_create_shape,
                "{'entities':[{'name':'Nara','entity_type':'city','observations':['deer']}]}", &p);
    assert_true(graph_create(&facts.graph, &p, &by, &part, &facts.e));
    shape_release(&graph_create_shape, &p);
    graph_part_release(&part);
    vec_push(&names.names, "Nara");
    for (int deleted = 0; deleted < 2; deleted++) {
        assert_true(graph_open(&facts.graph, &names, &part, &facts.e));
        const struct graph_source *s = &part.entities.items[0].observations.items[0].source;
        assert_string_equal(s->session_id, here);
        assert_int_equal(s->seq, 7);
        assert_int_equal(s->deleted, deleted);
        graph_part_release(&part);
        assert_true(store_exec(facts.graph.store, "DELETE FROM session", &facts.e));
    }
    struct graph_stats stats;
    assert_true(graph_stats(&facts.graph, &stats, &facts.e));
    assert_int_equal(stats.orphans, 1);
    vec_release(&names.names);
}

/* --- two processes --- */

enum { WRITERS = 2, ROUNDS = 60 };

static void write_much(int writer)
{
    facts_open_store();
    for (int i = 0; i < ROUNDS; i++) {
        if (!facts_create(support_text("{'entities':[{'name':'both %d','entity_type':'t'},"
                                       "{'name':'own %d %d','entity_type':'t'}]}",
                                       i, writer, i)) ||
            !facts_observe(support_text("{'observations':[{'entity_name':'both %d','contents':"
                                        "['of %d','same']}]}",
                                        i, writer)) ||
            !facts_relate(support_text("{'relations':[{'from':'both %d','to':'own %d %d',"
                                       "'relation_type':'has'}]}",
                                       i, writer, i)))
            _exit(1);
    }
    store_close(facts.graph.store);
    _exit(0);
}

TEST(two_processes_lose_nothing_of_each_other)
{
    pid_t children[WRITERS];
    store_close(facts.graph.store);
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            write_much(i);
    }
    for (int i = 0; i < WRITERS; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    facts_open_store();
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), ROUNDS * (1 + WRITERS));
    assert_int_equal(facts_number("SELECT count(*) FROM graph_observation"),
                     ROUNDS * (WRITERS + 1));
    assert_int_equal(facts_number("SELECT count(*) FROM graph_relation"), ROUNDS * WRITERS);
    struct health found;
    store_close(facts.graph.store);
    health_check(facts.path, true, health_extensions, &found);
    if (found.state != HEALTH_GOOD)
        fail_msg("%s", found.detail);
    facts_open_store();
}
