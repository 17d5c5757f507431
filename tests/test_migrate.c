/* Making the schema, also by several at once, and databases of other versions. */
#include <pthread.h>

#include "store/store.h"
#include "tests/damage.h"
#include "tests/suite.h"

static struct error e;

FIXTURE(support_setup, support_teardown);

TEST(test_a_development_version_is_refused_untouched)
{
    size_t before_len, after_len;
    struct store *s;
    char *file = support_path("old.db");
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    store_close(s);
    damage_sql(file, "PRAGMA user_version = 14");
    char *before = support_keep(damage_read(file, &before_len));
    for (int mode = 0; mode < 2; mode++) {
        assert_err(store_open(file, mode ? STORE_READ_ONLY : STORE_READ_WRITE, &s, &e), e,
                   ERR_SESSION_STORE_ERROR);
        assert_non_null(strstr(e.text, file));
        assert_non_null(strstr(e.text, "tiro sessions export"));
    }
    char *after = support_keep(damage_read(file, &after_len));
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
}

/* The row of an index in words_state is part of the schema; so is its merging, which is not FTS5's.
 */
TEST(test_each_index_of_words_has_its_state)
{
    struct store *s;
    char *file = support_path("new.db");
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    store_close(s);
    static const char *const tables[] = {"transcript", "memory", "graph", "corpus"};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_int_equal(
            damage_number(file, support_text("SELECT (SELECT count(*) FROM words_state WHERE tables"
                                             " = '%s') + (SELECT count(*) FROM %s_words_config"
                                             " WHERE k = 'automerge' AND v = 0)",
                                             tables[i], tables[i])),
            2);
}

/* One of several processes that open a new database at once. */
struct opener {
    pthread_t thread;
    const char *file;
    bool opened;
    struct error fault;
};

static void *open_it(void *context)
{
    struct opener *o = context;
    struct store *s;
    o->opened = store_open(o->file, STORE_READ_WRITE, &s, &o->fault);
    store_close(s);
    return NULL;
}

TEST(test_many_open_a_new_one_at_once)
{
    enum { OPENERS = 6 };
    for (int round = 0; round < (int)suite_sample(30, 150); round++) {
        struct opener openers[OPENERS] = {0};
        char *file = support_path(support_text("new-%d.db", round));
        for (int i = 0; i < OPENERS; i++) {
            openers[i].file = file;
            assert_int_equal(pthread_create(&openers[i].thread, NULL, open_it, &openers[i]), 0);
        }
        for (int i = 0; i < OPENERS; i++)
            assert_int_equal(pthread_join(openers[i].thread, NULL), 0);
        for (int i = 0; i < OPENERS; i++)
            if (!openers[i].opened)
                fail_msg("round %d: %s", round, openers[i].fault.text);
    }
}
