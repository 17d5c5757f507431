/* The graph of facts in the store: additions, refusals, sources, searches; deleting and restoring;
 * a check and a recovery; two processes. */
#include <sys/wait.h>
#include <unistd.h>

#include "session/health.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/facts.h"
#include "tests/suite.h"

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
    facts_refused(facts_observe("{'observations':[{'entity_name':'Kyoto','contents':['x']},"
                                "{'entity_name':'Rome','contents':['y']}]}"),
                  ERR_MEMORY_NOT_FOUND, "observations[1].entity_name");
    assert_non_null(strstr(facts.e.text, "Rome"));
    facts_refused(facts_relate("{'relations':[{'from':'Japan','to':'Ada','relation_type':'x'},"
                               "{'from':'Ada','to':'Rome','relation_type':'x'}]}"),
                  ERR_MEMORY_NOT_FOUND, "relations[1].to");
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
        facts_refused(facts_create(rows[i].json), ERR_USAGE, rows[i].member);
        assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 0);
    }
}

static char *of_length(char letter, size_t len)
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
    facts_refused(
        facts_observe("{'observations':[{'entity_name':'Japan','contents':['fact 1','more']}]}"),
        ERR_USAGE, "observations[0].contents[1]");
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
        char *text = of_length('o', GRAPH_OBSERVATION_BYTES);
        text[i] = 'x';
        vec_push(&n.contents, text);
    }
    const char *again = n.contents.items[3];
    vec_push(&p.observations, n);
    assert_true(graph_observe(&facts.graph, &p, &facts_nobody, &added, &facts.e));
    shape_release(&graph_added_shape, &added);
    vec_release(&p.observations.items[0].contents);
    vec_release(&p.observations);
    facts_refused(facts_observe("{'observations':[{'entity_name':'Japan','contents':['more']}]}"),
                  ERR_USAGE, "observations[0].contents[0]");
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

/* An entity that exists already needs no room. */
TEST(a_full_graph_says_so)
{
    facts_kyoto();
    facts_sql(support_text("UPDATE graph_size SET entities = %d", GRAPH_ENTITIES));
    facts_refused(facts_create("{'entities':[{'name':'Nara','entity_type':'city'}]}"), ERR_USAGE,
                  "full");
    assert_string_equal(facts_create("{'entities':[{'name':'Ada','entity_type':'person'}]}"), "");
    facts_sql(support_text("UPDATE graph_size SET observations = %d", GRAPH_OBSERVATIONS_IN_ALL));
    facts_refused(facts_observe("{'observations':[{'entity_name':'Ada','contents':['new']}]}"),
                  ERR_USAGE, "full");
    assert_string_equal(
        facts_observe("{'observations':[{'entity_name':'Ada','contents':['likes Kyoto in "
                      "autumn']}]}"),
        "Ada\n");
    facts_sql(support_text("UPDATE graph_size SET relations = %d", GRAPH_RELATIONS));
    facts_refused(facts_relate("{'relations':[{'from':'Ada','to':'Japan','relation_type':'x'}]}"),
                  ERR_USAGE, "full");
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
    facts_sql(support_text("UPDATE session SET id = '%s'", here));
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
        facts_sql("DELETE FROM session");
    }
    struct graph_stats stats;
    assert_true(graph_stats(&facts.graph, &stats, &facts.e));
    assert_int_equal(stats.orphans, 1);
    vec_release(&names.names);
}

/* --- searches --- */

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

/* --- deleting --- */

static struct graph_part gone; /* of the last deleted() */

/* "1 2 0": entities, observations, relations; NULL: it failed. */
static const char *deleted(bool (*delete)(const char *json, struct graph_part *out),
                           const char *json)
{
    if (!delete (json, &gone))
        return NULL;
    struct graph_counts n = graph_part_counts(&gone);
    return support_text("%d %d %d", (int)n.entities, (int)n.observations, (int)n.relations);
}

/* A deleted fact comes back. */
static void restore(void)
{
    assert_ok(graph_restore(&facts.graph, &gone, &facts.e), facts.e);
    assert_ok(graph_restore(&facts.graph, &gone, &facts.e), facts.e); /* again does nothing */
    graph_part_release(&gone);
}

TEST(all_that_are_named_go_or_none)
{
    facts_kyoto();
    facts_refused(deleted(facts_delete_entities, "{'entity_names':['Kyoto','Rome']}"),
                  ERR_MEMORY_NOT_FOUND, "entity_names[1]");
    facts_refused(deleted(facts_delete_observations,
                          "{'deletions':[{'entity_name':'Kyoto','observations':['was the "
                          "capital','no']}]}"),
                  ERR_MEMORY_NOT_FOUND, "deletions[0].observations[1]");
    facts_refused(deleted(facts_delete_relations,
                          "{'relations':[{'from':'Kyoto','to':'Japan','relation_type':'lies "
                          "in'},{'from':'Kyoto','to':'Ada','relation_type':'x'}]}"),
                  ERR_MEMORY_NOT_FOUND, "relations[1]");
    assert_string_equal(facts_open_names(FACTS_KYOTO), FACTS_KYOTO_TOLD);
}

TEST(what_is_named_twice_goes_once)
{
    facts_kyoto();
    assert_string_equal(
        deleted(facts_delete_observations,
                "{'deletions':[{'entity_name':'Kyoto','observations':['was the capital','was  the "
                "capital']},{'entity_name':' Kyoto','observations':['was the capital']}]}"),
        "2 1 0");
    graph_part_release(&gone);
    assert_string_equal(
        deleted(facts_delete_relations,
                "{'relations':[{'from':'Ada','to':'Kyoto','relation_type':'visits'},"
                "{'from':'Ada ','to':'Kyoto','relation_type':'visits'}]}"),
        "0 0 1");
    graph_part_release(&gone);
}

/* An entity with its observations, and relations out and in. */
TEST(what_was_deleted_comes_back_as_it_was)
{
    facts_kyoto();
    const char *before = facts_open_names(FACTS_KYOTO);
    assert_string_equal(deleted(facts_delete_entities, "{'entity_names':['Kyoto','Kyoto']}"),
                        "1 2 2");
    assert_string_equal(facts_open_names(FACTS_KYOTO),
                        "Japan (country)\nAda (person): likes Kyoto in autumn\n"
                        "?Kyoto\n");
    assert_int_equal(facts_number("SELECT relations FROM graph_size"), 0);
    restore();
    assert_string_equal(facts_open_names(FACTS_KYOTO), before);
    assert_non_null(strstr(facts_search("capital"), "Kyoto"));
    assert_non_null(
        deleted(facts_delete_relations,
                "{'relations':[{'from':'Ada','to':'Kyoto','relation_type':'visits'}]}"));
    restore();
    assert_non_null(
        deleted(facts_delete_observations,
                "{'deletions':[{'entity_name':'Ada','observations':['likes Kyoto in autumn']}]}"));
    restore();
    assert_string_equal(facts_open_names(FACTS_KYOTO), before);
}

TEST(nothing_of_what_was_deleted_stays_in_the_file)
{
    bool more = true;
    facts_kyoto();
    (void)facts_create(
        "{'entities':[{'name':'Zzyzx','entity_type':'road','observations':['quxnoodle "
        "wobble']}]}");
    store_settle(facts.graph.store);
    assert_true(damage_on_disk(facts.path, "quxnoodle") || damage_on_disk(facts.path, "quxnoodl"));
    assert_true(facts_delete_entities("{'entity_names':['Zzyzx']}", NULL));
    while (more)
        assert_true(graph_purge(&facts.graph, &more, &facts.e));
    store_settle(facts.graph.store);
    assert_false(damage_on_disk(facts.path, "quxnood") || damage_on_disk(facts.path, "Zzyzx") ||
                 damage_on_disk(facts.path, "zzyzx"));
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

/* --- a check and a recovery --- */

static const char *state_after(const char *sql)
{
    static struct health found;
    store_close(facts.graph.store);
    (void)damage_sql(facts.path, sql);
    health_check(facts.path, true, health_extensions, &found);
    facts_open_store();
    return found.state == HEALTH_GOOD ? "good" : found.detail;
}

TEST(a_check_counts_and_tells_what_makes_no_sense)
{
    struct health found;
    facts_kyoto();
    store_close(facts.graph.store);
    health_check(facts.path, true, health_extensions, &found);
    assert_int_equal(found.graph_entities, 3);
    assert_int_equal(found.graph_observations, 3);
    assert_int_equal(found.graph_relations, 2);
    facts_open_store();
    assert_string_equal(state_after("SELECT 1"), "good");
    assert_non_null(strstr(state_after("UPDATE graph_size SET entities = 7"), "counts are wrong"));
    (void)state_after("UPDATE graph_size SET entities = 3");
    assert_non_null(strstr(state_after("PRAGMA foreign_keys = OFF;"
                                       "DELETE FROM graph_entry WHERE name = 'Kyoto'"),
                           "belong to no entity"));
}

static bool make_index(void *context, struct store *s, struct error *error)
{
    (void)context;
    return damage_index(NULL, s, error) && graph_reindex(&(struct graph){s, "english"}, error);
}

static const char *recovered_lines(int64_t *lost)
{
    const struct recovery_help help = {.index = make_index, .extensions = health_extensions};
    struct recovery r;
    store_close(facts.graph.store);
    if (!health_recover(facts.path, &r, &help, &facts.e))
        fail_msg("%s", facts.e.text);
    facts.path = support_keep(mem_strdup(r.recovered));
    *lost = r.lost;
    recovery_release(&r);
    facts_open_store();
    return facts_lines();
}

/* The schema is destroyed, so no table leads to the pages. */
TEST(facts_are_found_in_pages_that_nothing_leads_to)
{
    uint64_t seed = support_seed();
    int64_t lost;
    facts_make_random(&seed, 60);
    char *before = facts_lines();
    store_settle(facts.graph.store);
    store_close(facts.graph.store);
    FILE *f = fopen(facts.path, "r+b");
    assert_non_null(f);
    for (int i = 0; i < DAMAGE_PAGE; i++)
        fputc(i < 100 ? 0x5a : 0, f);
    fclose(f);
    facts.graph.store = NULL;
    assert_string_equal(recovered_lines(&lost), before);
    assert_int_equal(lost, 0);
    assert_non_null(strstr(facts_search("n7"), "n7 (kind)"));
}

TEST(what_was_observed_of_a_lost_entity_is_kept_under_a_name)
{
    int64_t lost;
    facts_kyoto();
    (void)state_after("PRAGMA foreign_keys = OFF; DELETE FROM graph_entry WHERE name = 'Kyoto'");
    const char *after = recovered_lines(&lost);
    assert_non_null(strstr(after, "\"recovered 1\""));
    assert_non_null(strstr(after, "was the capital"));
    assert_true(lost > 0);
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
