/* tiro graph: what its commands print and refuse, in the real program. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct {
    char *out, *err;
    int status;
} r;

static int set_up(void **state)
{
    support_setup(state);
    r.out = r.err = NULL;
    return 0;
}

static int tear_down(void **state)
{
    free(r.out);
    free(r.err);
    return support_teardown(state);
}

static void run_with(const char *input, const char *const *args)
{
    free(r.out);
    free(r.err);
    r.status = support_run(args, input, &r.out, &r.err);
}
#define GRAPH(...) run_with(NULL, (const char *const[]){"graph", __VA_ARGS__, NULL})
#define SAYS(text) assert_non_null(strstr(r.out, text))
#define WARNS(text) assert_non_null(strstr(r.err, text))

static void kyoto(void)
{
    GRAPH("add", "--type", "city", "Kyoto", "has ryokans", "東京 is newer");
    assert_string_equal(r.out, "1 entity created\n2 observations added\n");
    GRAPH("add", "Japan");
    GRAPH("relate", "Kyoto", "lies in", "Japan");
    assert_string_equal(r.out, "1 relation created\n");
}

FIXTURE(set_up, tear_down);
NEEDS(capability_store() && capability_memory());

TEST(an_empty_graph_says_what_fills_it)
{
    GRAPH("list");
    assert_int_equal(r.status, 0);
    WARNS("tiro graph add");
}

/* The index is rebuilt even if durable memory is off. */
TEST(an_index_that_lacks_entities_is_made_anew)
{
    char *database = support_path(".local/share/tiro/tiro.db");
    kyoto();
    write_config("[memory]\nenabled = false\n");
    damage_sql(database, "DELETE FROM graph_words_docsize");
    run_with(NULL, (const char *const[]){"doctor", "--thorough", NULL});
    SAYS("tiro graph reindex");
    GRAPH("reindex");
    assert_int_equal(r.status, 0);
    run_with(NULL, (const char *const[]){"doctor", "--thorough", NULL});
    assert_null(strstr(r.out, "tiro graph reindex"));
    GRAPH("search", "newer");
    SAYS("Kyoto");
}

TEST(what_was_added_is_listed_found_and_shown)
{
    kyoto();
    GRAPH("list");
    assert_string_equal(r.out,
                        "Japan  thing  0 observations  1 relation\n"
                        "Kyoto  city   2 observations  1 relation\n");
    GRAPH("search", "RYOK");
    SAYS("Kyoto (city)");
    SAYS("- has ryokans");
    SAYS("Kyoto -- lies in -> Japan");
    GRAPH("search", "京");
    SAYS("Kyoto");
    GRAPH("search", "nothing");
    assert_int_equal(r.status, 0);
    WARNS("no matches");
    GRAPH("show", "Kyoto", "Rome");
    assert_int_equal(r.status, 1);
    SAYS("has ryokans");
    WARNS("\"Rome\"");
    GRAPH("add", "-t", "town", "Kyoto", "has ryokans", "more");
    assert_string_equal(r.out, "1 observation added\n");
    WARNS("its type stays");
    GRAPH("relate", "Kyoto", "lies in", "Japan");
    SAYS("exists already");
}

TEST(json_is_the_result_of_the_operation)
{
    kyoto();
    GRAPH("list", "--json");
    struct json *v = json_parse(r.out, strlen(r.out), NULL);
    assert_string_equal(json_get_string(json_at(v, 1), "name"), "Kyoto");
    json_free(v);
    GRAPH("show", "--json", "Kyoto");
    v = json_parse(r.out, strlen(r.out), NULL);
    assert_int_equal(json_len(json_get(v, "relations")), 1);
    json_free(v);
    GRAPH("stats", "--json");
    v = json_parse(r.out, strlen(r.out), NULL);
    assert_int_equal(json_get_int(v, "observations", 0), 2);
    json_free(v);
}

TEST(what_goes_is_asked_for_and_counted)
{
    kyoto();
    GRAPH("forget", "Kyoto");
    assert_int_equal(r.status, 64);
    WARNS("--yes");
    GRAPH("forget", "-y", "Kyoto", "has ryokans");
    SAYS("entities 0, observations 1, relations 0");
    GRAPH("forget", "-y", "Kyoto", "--relation", "lies in", "--to", "Japan");
    SAYS("entities 0, observations 0, relations 1");
    GRAPH("forget", "-y", "Kyoto", "--relation", "lies in");
    assert_int_equal(r.status, 64);
    GRAPH("forget", "-y", "Kyoto");
    SAYS("entities 1, observations 1, relations 0");
    GRAPH("forget", "-y", "Kyoto");
    assert_int_equal(r.status, 1);
    WARNS("Kyoto");
}

TEST(a_file_goes_out_and_comes_back)
{
    kyoto();
    const char *file = support_path("graph.jsonl");
    GRAPH("export", file);
    assert_int_equal(r.status, 0);
    GRAPH("export", file);
    assert_int_not_equal(r.status, 0);
    GRAPH("forget", "-y", "Kyoto");
    GRAPH("import", file);
    assert_string_equal(r.out, "added: entities 1, observations 2, relations 1\n");
    GRAPH("export");
    assert_string_not_equal(r.out, "");
    run_with("{\"type\":\"entity\",\"name\":\"x\"}\n",
             (const char *const[]){"graph", "import", "-", NULL});
    assert_int_equal(r.status, 64);
    WARNS("standard input:1: \"entityType\"");
}

TEST(what_cannot_be_added_whole_is_not_added)
{
    GRAPH("add", "Nara", "deer", " ");
    assert_int_equal(r.status, 64);
    WARNS("observations[1]");
    GRAPH("show", "Nara");
    assert_int_equal(r.status, 1);
}

/* Text that came from a file cannot control the terminal. */
TEST(foreign_text_is_cleaned)
{
    GRAPH("add", "x", "red \033[31m text");
    GRAPH("show", "x");
    assert_null(strchr(r.out, '\033'));
}

TEST(each_of_the_two_is_switched_off_alone)
{
    setenv("TIRO_GRAPH_ENABLED", "false", 1);
    GRAPH("list");
    assert_int_not_equal(r.status, 0);
    WARNS("[graph] enabled = true");
    run_with(NULL, (const char *const[]){"memory", "list", NULL});
    assert_int_equal(r.status, 0);
    unsetenv("TIRO_GRAPH_ENABLED");
    setenv("TIRO_MEMORY_ENABLED", "false", 1);
    GRAPH("add", "x");
    assert_int_equal(r.status, 0);
    run_with(NULL, (const char *const[]){"memory", "list", NULL});
    assert_int_not_equal(r.status, 0);
    unsetenv("TIRO_MEMORY_ENABLED");
}
