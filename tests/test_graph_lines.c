/* The graph as lines of JSON, as server-memory has them: export and import. */
#include "store/sql.h"
#include "tests/facts.h"
#include "tests/suite.h"

FIXTURE(facts_setup, facts_teardown);

TEST(lines_have_the_form_of_server_memory)
{
    facts_kyoto();
    assert_string_equal(
        facts_lines(),
        support_json("{'type':'entity','name':'Kyoto','entityType':'city','observations':['has "
                     "ryokans by the river','was the capital']}\n"
                     "{'type':'entity','name':'Japan','entityType':'country','observations':[]}\n"
                     "{'type':'entity','name':'Ada','entityType':'person','observations':['likes "
                     "Kyoto in autumn']}\n"
                     "{'type':'relation','from':'Kyoto','to':'Japan','relationType':'lies in'}\n"
                     "{'type':'relation','from':'Ada','to':'Kyoto','relationType':'visits'}\n"));
}

TEST(secrets_do_not_leave)
{
    assert_int_equal(facts_import(support_json("{'type':'entity','name':'a','entityType':'t',"
                                               "'observations':['it is AKIAIOSFODNN7EXAMPLE']}\n")),
                     0);
    assert_null(strstr(facts_lines(), "AKIA"));
    assert_non_null(strstr(facts_lines(), "it is [secret]"));
}

TEST(relations_may_stand_before_their_entities)
{
    assert_int_equal(facts_import(support_json(
                         "{'type':'relation','from':'a','to':'b','relationType':'r'}\n"
                         "{'type':'entity','name':'b','entityType':'t','observations':[]}\n"
                         "{'type':'entity','name':'a','entityType':'t','observations':["
                         "'x'],'other':{}}\n")),
                     0);
    assert_string_equal(facts_open_names("{'names':['a']}"), "a (t): x\na -r-> b\n");
}

TEST(what_is_there_is_added_to)
{
    facts_kyoto();
    assert_int_equal(facts_import(support_json("{'type':'entity','name':'Kyoto','entityType':'x',"
                                               "'observations':['was the capital','big']}\n")),
                     0);
    assert_non_null(strstr(facts_search("big"),
                           "Kyoto (city): has ryokans by the river; was the "
                           "capital; big\n"));
}

TEST(a_bad_line_is_named_and_nothing_of_the_text_is_kept)
{
#define GOOD "{'type':'entity','name':'a','entityType':'t','observations':[]}\n"
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"{'type':'entity','name':'b','entityType':'t'}", "observations"},
        {"{'type':'entity','name':7,'entityType':'t','observations':[]}", "name"},
        {"{'type':'entity','name':'b','entityType':'','observations':[]}", "entityType"},
        {"{'type':'entity','name':'b','entityType':'t','observations':[1]}", "observations[0]"},
        {"{'type':'entity','name':'b','entityType':'t','observations':['x',' ']}",
         "observations[1]"},
        {"{'type':'relation','from':'a','to':'a'}", "relationType"},
        {"{'type':'node'}", "type"},
        {"{}", "type"},
        {"[]", "type"},
        {"{'type':'entity'", ""},
        {"\\x00", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(facts_import(support_json(support_text(GOOD "%s\n", rows[i].line))), 2);
        assert_non_null(strstr(facts.e.text, rows[i].says));
        assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 0);
    }
}

/* Exported, imported into another database, exported again: the same lines. */
TEST(any_graph_survives_export_and_import)
{
    uint64_t seed = support_seed();
    for (int round = 0; round < 5; round++) {
        facts_make_random(&seed, 30);
        char *lines = facts_lines();
        store_close(facts.graph.store);
        facts.path = support_path(support_text("other%d.db", round));
        facts_open_store();
        assert_int_equal(facts_import(lines), 0);
        assert_string_equal(facts_lines(), lines);
        assert_int_equal(facts_import(lines), 0); /* again adds nothing */
        assert_string_equal(facts_lines(), lines);
        store_close(facts.graph.store);
        facts.path = support_path(support_text("next%d.db", round));
        facts_open_store();
    }
}

/* --- others meanwhile --- */

enum { MANY = 2500 };

static const char *many_lines(void)
{
    struct buf out = BUF_INIT;
    for (int i = 0; i < MANY; i++)
        buf_addf(&out, "{'type':'entity','name':'e%d','entityType':'t','observations':['o']}\n", i);
    buf_addstr(&out, "{'type':'relation','from':'e0','to':'e1','relationType':'r'}\n");
    return support_json(support_keep(buf_take(&out)));
}

static void take_many(struct graph_import *in)
{
    int64_t number = 0;
    for (const char *text = many_lines(); *text; text = strchr(text, '\n') + 1)
        assert_true(graph_import_line(in, ++number, text, strcspn(text, "\n"), &facts.e));
}

/* Writes as another process does, on a connection that does not wait. */
static bool write_between(void *asked, int64_t done, int64_t of)
{
    struct graph other = {.language = "english"};
    struct graph_create p = {0};
    AUTO(graph_part_release) struct graph_part made = {0};
    assert_int_equal(of, MANY + 1);
    assert_true(store_open(facts.path, STORE_READ_WRITE, &other.store, &facts.e));
    store_set_patience(other.store, 0, 0, NULL, NULL);
    vec_push(&p.entities, (struct graph_new_entity){
                              .name = support_text("between %lld", (long long)done), .type = "t"});
    if (!graph_create(&other, &p, &facts_nobody, &made, &facts.e))
        fail_msg("%s", facts.e.text);
    vec_release(&p.entities);
    store_close(other.store);
    ++*(int *)asked;
    return true;
}

TEST(others_write_between_the_steps_of_an_import)
{
    struct graph_import *in = graph_import_begin(&facts.graph);
    int asked = 0;
    int64_t line;
    take_many(in);
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 0); /* nothing yet */
    assert_true(graph_import_end(in, write_between, &asked, &line, &facts.e));
    assert_true(asked >= 3);
    assert_int_equal(graph_import_counts(in).entities, MANY);
    assert_int_equal(graph_import_counts(in).relations, 1);
    graph_import_free(in);
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), MANY + asked);
}

static bool stop_later(void *asked, int64_t done, int64_t of)
{
    (void)done, (void)of;
    return ++*(int *)asked < 3;
}

TEST(what_was_stopped_is_told_and_goes_on)
{
    struct graph_import *in = graph_import_begin(&facts.graph);
    int asked = 0;
    int64_t line;
    take_many(in);
    assert_err(graph_import_end(in, stop_later, &asked, &line, &facts.e), facts.e, ERR_INTERRUPTED);
    assert_int_equal(line, 0);
    int64_t added = graph_import_counts(in).entities;
    assert_in_range(added, 1, MANY - 1);
    graph_import_free(in);
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), added);
    assert_int_equal(facts_import(many_lines()), 0);
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), MANY);
}

/* --- bounds --- */

TEST(a_text_is_bounded)
{
    enum { LINE = 8 * 1024 * 1024 };
    static const char relation[] =
        "{\"type\":\"relation\",\"from\":\"a\",\"to\":\"a\",\"relationType\":\"r\"}";
    auto_free char *line = mem_alloc(LINE + 1);
    memset(line, ' ', LINE);
    memcpy(line, relation, sizeof relation - 1);
    struct graph_import *in = graph_import_begin(&facts.graph);
    for (int i = 0; i < GRAPH_IMPORT_BYTES / LINE; i++)
        if (!graph_import_line(in, i + 1, line, LINE, &facts.e))
            fail_msg("%s", facts.e.text);
    assert_err(graph_import_line(in, 99, relation, sizeof relation - 1, &facts.e), facts.e,
               ERR_USAGE);
    assert_non_null(strstr(facts.e.text, "divide it"));
    graph_import_free(in);
}

TEST(an_entity_of_a_line_is_bounded)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, "{'type':'entity','name':'a','entityType':'t','observations':[");
    for (int i = 0; i <= GRAPH_ENTITY_BYTES / 4000; i++) {
        buf_addf(&out, "%s'%04d", i > 0 ? "," : "", i);
        for (int k = 0; k < 3996; k++)
            buf_addch(&out, 'x');
        buf_addch(&out, '\'');
    }
    buf_addstr(&out, "]}\n");
    assert_int_equal(facts_import(support_json(support_keep(buf_take(&out)))), 1);
    assert_non_null(strstr(facts.e.text, "divide it"));
    assert_int_equal(facts_number("SELECT count(*) FROM graph_entry"), 0);
}
