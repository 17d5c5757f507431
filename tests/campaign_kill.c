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

enum { ROUNDS = 40 };

static size_t rounds = ROUNDS;

static void what_was_acknowledged_survives(void **state)
{
    (void)state;
    kill_campaign(rounds);
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
    const struct CMUnitTest all[] = {cmocka_unit_test_setup_teardown(
        what_was_acknowledged_survives, support_setup, support_teardown)};
    return cmocka_run_group_tests_name("kill", all, NULL, NULL);
}
