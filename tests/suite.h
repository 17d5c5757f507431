/* A test program: cmocka with the headers that its own wants, and tests that are known where they
 * stand. TEST(name) { … } is run by the main() of suite.c, in the order of the file, with the fixture
 * that the last FIXTURE() before it named. A program with a main() of its own goes without. */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(f) TEST_IF(true, f)

/* One that needs what a build may leave out; skipped where `there` is false. A program all of whose
 * tests are skipped ends with SUPPORT_SKIPPED. */
#define TEST_IF(there, f)                                                                          \
    static void f(void **state);                                                                   \
    __attribute__((constructor)) static void add_##f(void)                                         \
    {                                                                                              \
        suite_add(#f, (there) ? f : NULL);                                                         \
    }                                                                                              \
    static void f(__attribute__((unused)) void **state)

/* For the tests from here on; either may be NULL. Once in a file: FIXTURES() where there are more. */
#define FIXTURE(setup, teardown) FIXTURES(, setup, teardown)
#define FIXTURES(name, setup, teardown)                                                            \
    __attribute__((constructor)) static void suite_fixture_##name(void)                            \
    {                                                                                              \
        suite_use(setup, teardown);                                                                \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* What all tests of the file need, above the first; they are skipped where it is false. */
#define NEEDS(there)                                                                               \
    __attribute__((constructor)) static void suite_needs(void)                                     \
    {                                                                                              \
        suite_need(there);                                                                         \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* Before the first test. */
#define BEFORE_ALL(setup)                                                                          \
    __attribute__((constructor)) static void suite_before_all(void)                                \
    {                                                                                              \
        suite_begin_with(setup);                                                                   \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* Names are borrowed. A test without a function is one that this build cannot run. */
void suite_add(const char *name, CMUnitTestFunction f);
void suite_use(CMFixtureFunction setup, CMFixtureFunction teardown);
void suite_need(bool there);
void suite_begin_with(CMFixtureFunction setup);

#endif
