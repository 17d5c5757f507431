/* The kill campaign in its long form: KILL_ROUNDS says how long, TIRO_TEST_SEED repeats one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "session/capability.h"
#include "tests/kill_campaign.h"
#include "tests/kill_watch.h"
#include "tests/support.h"

enum { ROUNDS = 40, IMPORTS_A_ROUND = 2 };

static size_t rounds = ROUNDS;

static void what_was_acknowledged_survives(void **state)
{
    (void)state;
    kill_campaign(rounds);
}

static void a_scan_goes_on_after_its_death(void **state)
{
    (void)state;
    kill_import(rounds * IMPORTS_A_ROUND);
}

int main(int argc, char **argv)
{
    const char *given = getenv("KILL_ROUNDS");
    (void)argc;
    kill_watch_launch(argv);
    if (given)
        rounds = strtoul(given, NULL, 10);
    if (!capability_store() || !capability_compaction() || !capability_memory())
        return SUPPORT_SKIPPED;
    const struct CMUnitTest all[] = {
        cmocka_unit_test_setup_teardown(what_was_acknowledged_survives, support_setup,
                                        support_teardown),
        cmocka_unit_test_setup_teardown(a_scan_goes_on_after_its_death, support_setup,
                                        support_teardown)};
    return cmocka_run_group_tests_name("kill", all, NULL, NULL);
}
