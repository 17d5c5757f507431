/* Databases of older programs: all that they hold is there afterwards, or they stay as they are. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "index/transcripts.h"
#include "index/words.h"
#include "memory/sqlite_private.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "tests/damage.h"
#include "tests/suite.h"
#include "tests/support.h"

static struct error e;

static const char OLD_ID[] = "01890a5d-ac96-774b-bcce-b302099a8057";

/* What version 1 of the program left: a session with a run, its snapshot, and a run behind that. */
static const char old_rows[] =
    "PRAGMA application_id = 1953067631; PRAGMA user_version = 1;"
    "INSERT INTO session VALUES (7, '01890a5d-ac96-774b-bcce-b302099a8057', 'Grüße', 1, '/d', 'p',"
    " 'm', 'line', 11, 12, 13, 14, 8, 16, 17, NULL, 0, 'be brief', 'half a thought');"
    "INSERT INTO event VALUES"
    " (7, 1, 101, 'run_started', 1, '{\"input\":\"How big is the harvest?\"}'),"
    " (7, 2, 102, 'turn_started', 1, '{\"turn\":1,\"call\":1}'),"
    " (7, 3, 103, 'text_delta', 1, '{\"delta\":\"Gr\"}'),"
    " (7, 4, 104, 'text_complete', 1, '{\"content\":\"Größer.\"}'),"
    " (7, 5, 105, 'run_completed', 1,"
    "  '{\"result\":\"\",\"model_calls\":1,\"duration_ms\":5,\"stop_reason\":\"end_turn\"}'),"
    " (7, 6, 106, 'run_started', 1, '{\"input\":\"And now?\"}'),"
    " (7, 7, 107, 'text_complete', 1, '{\"content\":\"Smaller.\"}'),"
    " (7, 8, 108, 'interrupted', 1, '{}');"
    "INSERT INTO snapshot VALUES (7, 5, '{\"version\":1,\"messages\":[]}');";

static char *old_database(const char *more)
{
    char *file = support_path("old.db");
    damage_sql(file, embedded_text("schema.sql"));
    damage_sql(file, old_rows);
    damage_sql(file, more);
    return file;
}

static void check_old_session(struct store *s)
{
    struct session_info info;
    struct search_hits hits;
    struct history h;
    bool more;
    assert_true(sessions_get(s, OLD_ID, &info, &e));
    assert_string_equal(info.title, "Grüße");
    assert_string_equal(info.system, "be brief");
    assert_string_equal(info.draft, "half a thought");
    assert_string_equal(info.last_line, "line");
    assert_int_equal(info.usage.output, 17);
    assert_int_equal(info.usage.cached, -1);
    assert_null(info.labels);
    assert_string_equal(info.parent, "");
    assert_int_equal(info.archived_ms + info.tool_calls + info.run_ms, 0);
    assert_true(info.cost < 0);
    session_info_release(&info);

    assert_true(snapshot_resume(s, OLD_ID, &h, &e));
    assert_int_equal(h.messages.len, 4);
    assert_string_equal(h.messages.items[1].blocks.items[0].text, "Größer.");
    assert_true(h.messages.items[3].partial);
    assert_int_equal(h.applied_seq, 8);
    history_release(&h);

    assert_true(transcripts_search(s, "harvest", NULL, 9, &hits, &more, &e));
    assert_int_equal(hits.items.len, 1);
    assert_int_equal(hits.items.items[0].seq, 1);
    search_hits_release(&hits);
}

FIXTURE(support_setup, support_teardown);

TEST(test_version_1_is_renewed)
{
    struct store *s;
    char *file = old_database("");
    assert_err(store_open(file, STORE_READ_ONLY, &s, &e), e, ERR_SESSION_STORE_ERROR);
    assert_non_null(strstr(e.text, "older"));
    assert_int_equal(damage_number(file, "PRAGMA user_version"), 1);
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    check_old_session(s);
    store_close(s);
    assert_int_equal(damage_number(file, "PRAGMA user_version"), store_schema_version());
    assert_int_equal(damage_number(file, "SELECT count(*) FROM event"), 8);
    assert_int_equal(damage_number(file, "SELECT sum(at) FROM event"), 836);
    /* A listing need not read the long texts. */
    assert_int_equal(
        damage_number(file, "SELECT cid FROM pragma_table_info('session') WHERE name = 'draft'"),
        damage_number(file, "SELECT count(*) - 1 FROM pragma_table_info('session')"));
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e)); /* nothing more to do */
    check_old_session(s);
    store_close(s);
}

/* What the last version without memory left. */
TEST(test_version_3_has_no_memory_yet)
{
    struct store *s;
    char *file = old_database(embedded_text("schema-2.sql"));
    damage_sql(file, embedded_text("schema-3.sql"));
    damage_sql(file, "PRAGMA user_version = 3");
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    check_old_session(s);
    store_close(s);
    assert_int_equal(damage_number(file, "PRAGMA user_version"), store_schema_version());
    assert_int_equal(damage_number(file, "SELECT count(*) FROM event"), 8);
    assert_int_equal(damage_number(file, "SELECT count(*) FROM memory_entry"), 0);
    assert_int_equal(damage_number(file, "SELECT count(*) FROM memory_session"), 0);
    assert_int_equal(damage_number(file, "SELECT count(*) FROM memory_version"), 1);
    assert_int_equal(damage_number(file, "SELECT count(*) FROM removal"), 0);
}

/* What the last version left: entries in an index that is just made anew, with words of what was
 * forgotten, and one that was replaced. */
static const char half_done[] =
    "INSERT INTO memory_session VALUES (1, 'talk', 3);"
    "INSERT INTO memory_entry (key, id, id_number, session, turn, role, created_ms, pinned, edited,"
    " digest, content) VALUES"
    " ((1 << 24), 'a', 0, 1, 1, 'user', 0, 0, 0, 1, 'alte Häuser'),"
    " ((1 << 24) + 1, 'b', 0, 1, 1, 'user', 0, 0, 0, 2, 'neue Schiffe');"
    "INSERT INTO memory_words (rowid, words) SELECT key, 'user' || char(10, 10) || content"
    " FROM memory_entry;"
    "CREATE VIRTUAL TABLE memory_words_next USING fts5 (words, content = '', prefix = '2 3',"
    " tokenize = 'tiro german');"
    "INSERT INTO memory_words_next (rowid, words)"
    " SELECT key, 'user' || char(10, 10) || content FROM memory_entry WHERE id = 'a';"
    "CREATE VIRTUAL TABLE memory_words_old USING fts5 (words, content = '', prefix = '2 3',"
    " tokenize = 'tiro french');"
    "INSERT INTO memory_words_config VALUES ('tiro_next', 1 << 24), ('tiro_purge', 1);"
    "PRAGMA user_version = 6";

static void finds(struct memory *m, const char *question, const char *id)
{
    struct memory_hits hits;
    const struct memory_query query = {
        .text = question, .limit = 5, .rank = rank_settings_for(1.2, 0.75)};
    assert_true(m->ops->search(m, &query, &hits, &e));
    assert_int_equal(hits.items.len, 1);
    assert_string_equal(hits.items.items[0].entry.id, id);
    memory_hits_release(&hits);
}

TEST(test_version_6_goes_on_where_it_was)
{
    struct store *s;
    bool waits, more = true;
    static const char *const steps[] = {"schema-3.sql", "schema-4.sql", "schema-5.sql",
                                        "schema-6.sql"};
    char *file = support_keep(old_database(embedded_text("schema-2.sql")));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        damage_sql(file, embedded_text(steps[i]));
    damage_sql(file, half_done);
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    check_old_session(s);
    struct memory *m = memory_open(s, &(struct memory_settings){.language = "german"});
    const struct corpus c = memory_sqlite_corpus(s);
    assert_int_equal(damage_number(file, "SELECT next - (1 << 24) FROM words_state"), 0);
    assert_int_equal(
        damage_number(file, "SELECT count(*) FROM sqlite_schema WHERE name LIKE '%_words_old%'"),
        0);
    assert_true(words_purge_waits(&c, &waits, &e));
    assert_true(waits);
    finds(m, "Schiffe", "b");
    while (more)
        assert_true(m->ops->tidy(m, &more, &e));
    finds(m, "Haus", "a"); /* a German stem: the next index has taken its place */
    finds(m, "Schiff", "b");
    for (more = true; more;)
        assert_true(m->ops->purge(m, &more, &e));
    assert_true(words_purge_waits(&c, &waits, &e));
    assert_false(waits);
    memory_close(m);
    store_close(s);
}

/* One row that cannot be understood does not keep a person from all others. */
TEST(test_a_damaged_payload_is_carried_along)
{
    struct store *s;
    struct search_hits hits;
    bool more;
    char *file = old_database(
        "UPDATE event SET payload = '{\"content\":' WHERE seq = 7;"
        "UPDATE event SET payload = '[1]' WHERE seq = 6");
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    assert_true(transcripts_search(s, "harvest", NULL, 9, &hits, &more, &e));
    assert_int_equal(hits.items.len, 1);
    search_hits_release(&hits);
    assert_true(transcripts_delete(s, OLD_ID, &e));
    assert_true(transcripts_search(s, "harvest", NULL, 9, &hits, &more, &e));
    assert_int_equal(hits.items.len, 0);
    store_close(s);
}

TEST(test_a_migration_that_fails_changes_nothing)
{
    struct store *s;
    size_t before_len, after_len;
    char *file = old_database(
        "PRAGMA journal_mode = WAL;"
        "CREATE TABLE transcript (somebody TEXT)"); /* in the last one's way */
    char *before = support_keep(damage_read(file, &before_len));
    assert_err(store_open(file, STORE_READ_WRITE, &s, &e), e, ERR_SESSION_STORE_ERROR);
    assert_non_null(strstr(e.text, file));
    char *after = support_keep(damage_read(file, &after_len));
    assert_int_equal(before_len, after_len);
    assert_memory_equal(before, after, before_len);
    assert_int_equal(damage_number(file, "PRAGMA user_version"), 1);
    assert_int_equal(damage_number(file, "SELECT count(*) FROM snapshot WHERE history IS NOT NULL"),
                     1);
    damage_sql(file, "DROP TABLE transcript");
    assert_true(store_open(file, STORE_READ_WRITE, &s, &e));
    check_old_session(s);
    store_close(s);
}

/* One of those who open a database that is not there yet. */
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
    enum { ROUNDS = 150, OPENERS = 6 };
    for (int round = 0; round < ROUNDS; round++) {
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
