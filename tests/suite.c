#include "tests/suite.h"

#include "base/vec.h"
#include "tests/support.h"

/* What constructors fill, and so nothing that another one would have to make first. */
static VEC(struct CMUnitTest) tests;
static CMFixtureFunction fixture_setup, fixture_teardown, begin_with;
static bool lacking;
static size_t skipped;

static void skip_it(void **state)
{
    (void)state;
    skip();
}

void suite_add(const char *name, CMUnitTestFunction f)
{
    struct CMUnitTest test = {name, f, fixture_setup, fixture_teardown, NULL};
    if (!f || lacking) {
        test = (struct CMUnitTest){name, skip_it, NULL, NULL, NULL};
        skipped++;
    }
    vec_push(&tests, test);
}

void suite_use(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    fixture_setup = setup;
    fixture_teardown = teardown;
}

void suite_need(bool there)
{
    lacking = !there;
}

void suite_begin_with(CMFixtureFunction setup)
{
    begin_with = setup;
}

/* The functions behind cmocka's macros, which want an array. */
int main(void)
{
    int failed = _cmocka_run_group_tests("tests", tests.items, tests.len, begin_with, NULL);
    bool none = skipped == tests.len;
    vec_release(&tests);
    return none ? SUPPORT_SKIPPED : failed;
}
