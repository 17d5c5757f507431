/* What the worker of memory is asked: the order, and what a newer errand ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <stdlib.h>

#include "session/memory_errands.h"
#include "store/sql.h"
#include "tests/support.h"

static struct errands errands;
static struct store *store;
static sqlite3_stmt *endless; /* a search that runs */

static int set_up(void **state)
{
    struct error e;
    support_setup(state);
    errands_init(&errands);
    char *path = support_path("tiro.db");
    bool ok = store_open(path, STORE_READ_WRITE, &store, &e);
    free(path);
    ok = ok && sqlite3_prepare_v2(store->db,
                                  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                                  " SELECT i FROM n",
                                  -1, &endless, NULL) == SQLITE_OK;
    return ok && sqlite3_step(endless) == SQLITE_ROW ? 0 : -1;
}

static int tear_down(void **state)
{
    sqlite3_finalize(endless);
    store_close(store);
    errands_release(&errands);
    return support_teardown(state);
}

static void ask(enum command_type type)
{
    errands_send(&errands, ERRAND_ASKED, command_new(type, "words"));
}

/* The next is of this kind, and if it was asked, this command. */
static void expect_next(enum errand_kind kind, enum command_type type)
{
    struct errand *errand = errands_next(&errands, 0);
    assert_non_null(errand);
    assert_int_equal(errand->kind, kind);
    if (kind == ERRAND_ASKED)
        assert_int_equal(errand->command->type, type);
    errand_free(errand);
}

static void begin_search(void)
{
    ask(COMMAND_MEMORY_SEARCH);
    struct errand *search = errands_next(&errands, 0);
    assert_non_null(search);
    errands_begin_search(&errands, store, search);
    errand_free(search);
}

static void expect_running(bool running)
{
    assert_int_equal(sqlite3_step(endless), running ? SQLITE_ROW : SQLITE_INTERRUPT);
}

static bool goes_on(struct wakeup wakeup)
{
    return wakeup.go_on(wakeup.context);
}

static void they_come_in_order(void **state)
{
    (void)state;
    ask(COMMAND_MEMORY_PIN);
    errands_send(&errands, ERRAND_WORK, NULL);
    ask(COMMAND_MEMORY_SHOW);
    assert_false(goes_on(errands_until_any(&errands))); /* takes them out of the box */
    errands_send(&errands, ERRAND_QUIT, NULL);
    expect_next(ERRAND_ASKED, COMMAND_MEMORY_PIN);
    expect_next(ERRAND_WORK, COMMAND_MEMORY_PIN);
    expect_next(ERRAND_ASKED, COMMAND_MEMORY_SHOW);
    expect_next(ERRAND_QUIT, COMMAND_MEMORY_PIN);
    assert_null(errands_next(&errands, 0));
    assert_true(goes_on(errands_until_any(&errands)));
}

static void a_newer_search_ends_one_that_runs(void **state)
{
    (void)state;
    begin_search();
    ask(COMMAND_MEMORY_PIN);
    errands_send(&errands, ERRAND_WORK, NULL);
    expect_running(true);
    assert_false(errands_have_newer(&errands));
    assert_true(goes_on(errands_until_newer(&errands)));
    ask(COMMAND_MEMORY_SEARCH);
    expect_running(false);
    assert_true(errands_have_newer(&errands));
    assert_false(goes_on(errands_until_newer(&errands)));
}

static void so_does_the_end(void **state)
{
    (void)state;
    begin_search();
    errands_send(&errands, ERRAND_QUIT, NULL);
    expect_running(false);
    assert_true(errands_have_newer(&errands));
}

static void nothing_is_ended_between_searches(void **state)
{
    (void)state;
    begin_search();
    errands_end_search(&errands);
    ask(COMMAND_MEMORY_SEARCH);
    errands_send(&errands, ERRAND_QUIT, NULL);
    expect_running(true);
}

/* Wherever the word is: in the box, taken out of it, or taken as the next. */
static void leaving_is_known_at_once(void **state)
{
    (void)state;
    ask(COMMAND_MEMORY_SHOW);
    assert_true(goes_on(errands_until_leave(&errands)));
    errands_send(&errands, ERRAND_QUIT, NULL);
    assert_true(errands_say_leave(&errands));
    assert_false(goes_on(errands_until_leave(&errands)));
    assert_true(errands_say_leave(&errands));
    expect_next(ERRAND_ASKED, COMMAND_MEMORY_SHOW);
    expect_next(ERRAND_QUIT, COMMAND_MEMORY_SHOW);
    assert_true(errands_say_leave(&errands));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(they_come_in_order),       TEST(a_newer_search_ends_one_that_runs),
        TEST(so_does_the_end),          TEST(nothing_is_ended_between_searches),
        TEST(leaving_is_known_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
