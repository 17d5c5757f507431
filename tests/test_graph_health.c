/* The tables of the graph in a check and a recovery of the database. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "session/health.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/facts.h"
#include "tests/suite.h"
#include "tests/support.h"

FIXTURE(facts_setup, facts_teardown);

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
