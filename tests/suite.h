/* The frame of a test file: cmocka, the headers that nearly every test needs, and tests that
 * register themselves. TEST(name) { … } runs in the order of the file, with the fixture of the last
 * FIXTURE() before it.
 *
 * Most files are linked into one program: `tests/suite test_json` runs a file, `tests/suite
 * test_json NAME` the tests of it whose names match (wildcards * and ?), `tests/suite` lists the
 * files. A file that replaces functions of the program is a program of its own (tests/local.mk). */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tests/support.h"

#define TEST(f) TEST_IF(true, f)

/* A test of a part that a build may leave out; skipped if `there` is false. A file whose tests are
 * all skipped ends with SUPPORT_SKIPPED. */
#define TEST_IF(there, f)                                                                          \
    static void f(void **state);                                                                   \
    __attribute__((constructor)) static void add_##f(void)                                         \
    {                                                                                              \
        suite_add(__FILE__, #f, (there) ? f : NULL, NULL);                                         \
    }                                                                                              \
    static void f(__attribute__((unused)) void **state)

/* Sets the fixture of the tests after it; either may be NULL. Once per file: use FIXTURES() for
 * more. */
#define FIXTURE(setup, teardown) FIXTURES(, setup, teardown)
#define FIXTURES(name, setup, teardown)                                                            \
    __attribute__((constructor)) static void suite_fixture_##name(void)                            \
    {                                                                                              \
        suite_use(__FILE__, setup, teardown);                                                      \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* Put it above the first test: all tests of the file are skipped if `there` is false. */
#define NEEDS(there)                                                                               \
    __attribute__((constructor)) static void suite_needs(void)                                     \
    {                                                                                              \
        suite_need(__FILE__, there);                                                               \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* Runs before the first test of the file. */
#define BEFORE_ALL(setup)                                                                          \
    __attribute__((constructor)) static void suite_before_all(void)                                \
    {                                                                                              \
        suite_begin_with(__FILE__, setup);                                                         \
    }                                                                                              \
    _Static_assert(1, "for the semicolon")

/* The size of a test that tries many cases: `sample` in make check, `whole` where the environment
 * has TEST_WHOLE (make check-long). */
size_t suite_sample(size_t sample, size_t whole);

/* For constructors that add tests of a table. Names are borrowed. A test without a function is
 * skipped. *state of the test is `state`. */
void suite_add(const char *file, const char *name, CMUnitTestFunction f, const void *state);
void suite_use(const char *file, CMFixtureFunction setup, CMFixtureFunction teardown);
void suite_need(const char *file, bool there);
void suite_begin_with(const char *file, CMFixtureFunction setup);

#endif
