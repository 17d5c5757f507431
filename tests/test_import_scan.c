/* Scans of histories of other agents: what is no file, deaths in between, deletion. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "index/transcripts.h"
#include "memory/memory.h"
#include "session/catalog.h"
#include "session/health.h"
#include "session/memory_sink.h"
#include "store/health.h"
#include "store/sql.h"
#include "tests/damage.h"
#include "tests/fault_vfs.h"
#include "tests/import_case.h"
#include "tests/suite.h"
#include "tests/zip_file.h"

FIXTURE(import_case_set_up, import_case_tear_down);

static struct error e;

#define PLACE ".claude/projects/-w/"

/* The n-th turn of a talk: two lines. */
static const char *turn(const char *session, int n)
{
    static const char form[] =
        "{'parentUuid':%s,'cwd':'/w','sessionId':'%s','type':'user','uuid':'%s-u%d','timestamp':"
        "'2026-03-01T10:00:00Z','message':{'role':'user','content':'question %d of %s'}}\n"
        "{'parentUuid':'%s-u%d','cwd':'/w','sessionId':'%s','type':'assistant','uuid':'%s-a%d',"
        "'timestamp':'2026-03-01T10:00:01Z','message':{'id':'%s-m%d','role':'assistant','model':"
        "'opus','content':[{'type':'text','text':'answer %d of %s'}]}}\n";
    char *parent = n > 0 ? support_text("'%s-a%d'", session, n - 1) : support_text("null");
    return support_text(form, parent, session, session, n, n, session, session, n, session, session,
                        n, session, n, n, session);
}

static void write_turns(const char *path, const char *session, int from, int to)
{
    if (from == 0)
        import_case_write(path, "");
    for (int i = from; i < to; i++)
        import_case_append(path, turn(session, i));
}

static int64_t number(const char *sql)
{
    int64_t out = -1;
    assert_ok(store_number(import_case_store, sql, &out, &e), e);
    return out;
}

TEST(test_only_regular_files_below_the_place_are_read)
{
    write_turns(PLACE "a.jsonl", "a", 0, 1);
    write_turns("outside/b.jsonl", "b", 0, 1);
    assert_int_equal(mkfifo(support_path(PLACE "fifo.jsonl"), 0600), 0);
    assert_int_equal(symlink(support_path("outside"), support_path(PLACE "folder")), 0);
    assert_int_equal(symlink(support_path("outside/b.jsonl"), support_path(PLACE "c.jsonl")), 0);
    assert_int_equal(symlink("/dev/zero", support_path(PLACE "zero.jsonl")), 0);
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.files, 1);
    assert_int_equal(counts.messages, 2);
}

TEST(test_an_unknown_source_is_an_error)
{
    struct import_report report;
    const struct import_options o = {.from = "claude,codexx"};
    assert_error(import_scan(import_case_store, NULL, &o, &report, &e), e, ERR_USAGE, "codexx");
    import_report_release(&report);
}

TEST(test_options_narrow_the_scan_and_a_later_one_takes_the_rest)
{
    write_turns(PLACE "a.jsonl", "a", 0, 1);
    import_case_options.dry = true;
    assert_int_equal(import_case_scan(NULL).messages, 2);
    assert_int_equal(number("SELECT count(*) FROM session"), 0);
    import_case_options = (struct import_options){.project = "/elsewhere"};
    assert_int_equal(import_case_scan(NULL).messages, 0);
    import_case_options = (struct import_options){.since_ms = INT64_MAX};
    assert_int_equal(import_case_scan(NULL).messages, 0);
    import_case_options = (struct import_options){.from = "codex"};
    assert_int_equal(import_case_scan(NULL).messages, 0);
    import_case_options = (struct import_options){.project = "/w"};
    assert_int_equal(import_case_scan(NULL).messages, 2);
}

TEST(test_a_scan_and_a_list_count_the_same_messages)
{
    struct import_report report;
    import_case_copy("claude/turns.jsonl", PLACE "a.jsonl");
    import_case_options.dry = true;
    int64_t found = import_case_scan(NULL).messages;
    import_case_options.dry = false;
    int64_t stored = import_case_scan(NULL).messages;
    assert_ok(import_survey(import_case_store, &import_case_options, &report, &e), e);
    assert_true(strstr(import_case_text(), "\nresult "));
    assert_int_equal(stored, report.sources.items[0].messages);
    assert_int_equal(stored, found);
    import_report_release(&report);
}

/* --- deletion --------------------------------------------------------------------------------- */

static char *session_of(const char *title)
{
    struct query q =
        sql_query(import_case_store, &e, "SELECT id FROM session WHERE title = ?", "t", title);
    char *id = query_next(&q) ? support_keep(query_column_text(&q, 0)) : NULL;
    assert_true(query_end(&q));
    return id;
}

TEST(test_a_deleted_session_does_not_come_back)
{
    write_turns(PLACE "a.jsonl", "a", 0, 2);
    write_turns(PLACE "b.jsonl", "b", 0, 2);
    import_case_scan(NULL);
    assert_ok(transcripts_delete(import_case_store, session_of("question 0 of a"), &e), e);
    for (int i = 0; i < 20; i++) {
        import_case_append(PLACE "a.jsonl", turn("a", 2 + i)); /* it goes on there */
        import_case_write(support_text("copy/%d/a.jsonl", i),
                          support_read(support_path(PLACE "a.jsonl")));
        import_case_scan(i % 2 == 0 ? "copy" : NULL);
        assert_null(session_of("question 0 of a"));
        assert_int_equal(number("SELECT count(*) FROM session"), 1);
    }
    assert_int_equal(rename(support_path(PLACE "a.jsonl"), support_path(PLACE "z.jsonl")), 0);
    import_case_scan(NULL);
    assert_int_equal(number("SELECT count(*) FROM session"), 1);
}

/* Also where the database was damaged and saved. */
TEST(test_a_recovered_database_knows_what_it_has_and_what_was_deleted)
{
    const struct recovery_help help = {.index = damage_index, .extensions = health_extensions};
    struct recovery r;
    write_turns(PLACE "a.jsonl", "a", 0, 2);
    write_turns(PLACE "b.jsonl", "b", 0, 2);
    import_case_scan(NULL);
    assert_ok(transcripts_delete(import_case_store, session_of("question 0 of a"), &e), e);
    store_close(import_case_store);
    import_case_store = NULL;
    assert_ok(health_recover(support_path("tiro.db"), &r, &help, &e), e);
    assert_ok(store_open(r.recovered, STORE_READ_WRITE, &import_case_store, &e), e);
    recovery_release(&r);
    write_turns(PLACE "b.jsonl", "b", 2, 3);
    assert_int_equal(import_case_scan(NULL).messages, 2);
    assert_int_equal(number("SELECT count(*) FROM session"), 1);
    assert_int_equal(number("SELECT sum(messages) FROM session"), 6);
}

static int64_t remembered(struct memory_sink *sink)
{
    bool more = true;
    assert_ok(memory_sink_follow(sink, import_case_store, session_of("question 0 of a"), &e), e);
    while (more)
        assert_ok(memory_sink_work(sink, import_case_store, &more, &e), e);
    return number("SELECT count(*) FROM memory_entry");
}

/* An agent may work for hours until it ends a turn. */
TEST(test_an_open_turn_is_remembered)
{
    struct config *config = config_new();
    struct memory *memory = memory_open(import_case_store, NULL);
    struct memory_sink sink;
    memory_sink_init(&sink, memory, config);
    const char *two = turn("a", 0), *end = strchr(two, '\n') + 1;
    import_case_write(PLACE "a.jsonl", support_text("%.*s", (int)(end - two), two));
    import_case_scan(NULL);
    assert_int_equal(remembered(&sink), 1);
    import_case_append(PLACE "a.jsonl", end);
    import_case_scan(NULL);
    assert_int_equal(remembered(&sink), 2);
    memory_close(memory);
    config_free(config);
}

/* Also where its text is written again, because the talk went another way behind it. */
TEST(test_a_forgotten_entry_does_not_come_back)
{
    struct config *config = config_new();
    struct memory *memory = memory_open(import_case_store, NULL);
    struct memory_sink sink;
    struct query q;
    memory_sink_init(&sink, memory, config);
    write_turns(PLACE "a.jsonl", "a", 0, 2);
    import_case_scan(NULL);
    assert_int_equal(remembered(&sink), 4);

    q = sql_query(import_case_store, &e, "SELECT id FROM memory_entry WHERE content LIKE ?", "t",
                  "question 1%");
    assert_true(query_next(&q));
    const char *id = support_keep(query_column_text(&q, 0));
    assert_true(query_end(&q));
    assert_ok(memory->ops->forget(memory, &id, 1, NULL, &e), e);

    import_case_append(PLACE "a.jsonl", turn("a", 2));
    import_case_scan(NULL);
    assert_int_equal(remembered(&sink), 5);
    /* The answer is made again: the message before it gets a new place in the log. */
    import_case_append(PLACE "a.jsonl",
                       "{'parentUuid':'a-a0','cwd':'/w','sessionId':'a','type':'user','uuid':"
                       "'a-u9','timestamp':'2026-03-01T11:00:00Z','message':{'role':'user',"
                       "'content':'another way'}}\n");
    import_case_scan(NULL);
    remembered(&sink);
    assert_int_equal(number("SELECT count(*) FROM memory_entry WHERE content LIKE 'question 1%'"),
                     0);
    memory_close(memory);
    config_free(config);
}

/* --- deaths ----------------------------------------------------------------------------------- */

/* Scans in a process that dies at the n-th write. Returns whether it did. */
static bool dies_at(long n)
{
    store_close(import_case_store);
    import_case_store = NULL;
    pid_t child = fork();
    if (child == 0) {
        struct store *s;
        struct import_report report;
        const struct import_options o = {0};
        fault_vfs_install();
        bool ok = store_open(support_path("tiro.db"), STORE_READ_WRITE, &s, &e);
        fault_vfs_arm(FAULT_WRITE, FAULT_DEATH, n, false);
        ok = ok && import_scan(s, NULL, &o, &report, &e);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_ok(store_open(support_path("tiro.db"), STORE_READ_WRITE, &import_case_store, &e), e);
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == FAULT_DEATH_STATUS);
    return WEXITSTATUS(status) != 0;
}

/* Every death leaves the talk as it was after one of the transactions, and the next scan goes on.
 */
TEST(test_a_death_leaves_nothing_half_and_nothing_comes_twice)
{
    int turns = 3;
    bool died = true;
    write_turns(PLACE "a.jsonl", "a", 0, turns);
    for (long n = 1; died; n += 1 + n / 8) {
        died = dies_at(n);
        assert_int_equal(import_case_scan(NULL).failed, 0);
        const char *text = import_case_text();
        for (int i = 0; i < turns; i++) {
            const char *words =
                support_text("user: question %d of a\nassistant: answer %d of a\n", i, i);
            const char *at = strstr(text, words);
            assert_non_null(at);
            assert_null(strstr(at + 1, words));
        }
        write_turns(PLACE "a.jsonl", "a", turns, turns + 2);
        turns += 2;
    }
    assert_int_equal(number("SELECT count(*) FROM session"), 1);
}

/* A disk that is full or broken at the n-th call says so, and the scan after it takes all. */
TEST(test_a_fault_of_the_disk_loses_nothing)
{
    static const struct {
        enum fault_point point;
        int result;
    } faults[] = {{FAULT_WRITE, SQLITE_FULL},
                  {FAULT_WRITE, SQLITE_IOERR_WRITE},
                  {FAULT_SYNC, SQLITE_IOERR_FSYNC},
                  {FAULT_READ, SQLITE_IOERR_READ}};
    int turns = 0;
    fault_vfs_install();
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool struck = true;
        for (long n = 1; struck; n += 1 + n / 4) {
            struct import_report report;
            struct error cause = {0};
            store_close(import_case_store);
            assert_ok(store_open(support_path("tiro.db"), STORE_READ_WRITE, &import_case_store, &e),
                      e);
            write_turns(PLACE "a.jsonl", "a", turns, turns + 2);
            turns += 2;
            fault_vfs_arm(faults[i].point, faults[i].result, n, false);
            bool ok = import_scan(import_case_store, NULL, &import_case_options, &report, &cause);
            struck = fault_vfs_disarm();
            import_report_release(&report);
            assert_true(ok || (struck && *cause.text)); /* the store may try again */
            import_case_scan(NULL);
            assert_int_equal(number("SELECT sum(messages) FROM session"), 2 * turns);
            assert_int_equal(number("SELECT count(*) FROM session"), 1);
        }
    }
    store_close(import_case_store);
    import_case_store = NULL;
    fault_vfs_remove();
}

/* --- large ------------------------------------------------------------------------------------ */

static bool stop(void *context, int64_t done, int64_t of)
{
    (void)context, (void)done, (void)of;
    return false;
}

/* A stop between two transactions keeps the first. */
TEST(test_a_stopped_scan_goes_on)
{
    enum { TURNS = 3000 };
    AUTO(buf_release) struct buf all = BUF_INIT;
    struct import_report report;
    for (int i = 0; i < TURNS; i++)
        buf_addstr(&all, turn("a", i));
    import_case_write(PLACE "a.jsonl", all.data);
    struct import_options o = {.tell = stop};
    assert_err(import_scan(import_case_store, NULL, &o, &report, &e), e, ERR_INTERRUPTED);
    import_report_release(&report);
    int64_t kept = number("SELECT count(*) FROM import_message");
    assert_true(kept > 0 && kept < 2 * TURNS); /* a transaction ends by time, too */
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.messages, 2 * TURNS - kept);
    assert_int_equal(number("SELECT sum(messages) FROM session"), 2 * TURNS);
    assert_int_equal(number("SELECT count(*) FROM session"), 1);
}

/* --- zip files -------------------------------------------------------------------------------- */

#ifdef HAVE_LIBARCHIVE
enum { ZIPS = true };
#else
enum { ZIPS = false };
#endif

TEST_IF(ZIPS, test_members_of_a_zip_file_are_read)
{
    struct zip_file zip = {.bytes = BUF_INIT, .directory = BUF_INIT};
    const char *text = support_json(turn("a", 0));
    zip_add(&zip, "export/readme.txt", "nothing", 7, false);
    zip_add(&zip, "export/a.jsonl", text, strlen(text), false);
    zip_write(&zip, support_path("export.zip"));
    assert_int_equal(import_case_scan("export.zip").messages, 2);
    assert_int_equal(import_case_scan("export.zip").read, 0);
    support_write(support_path("broken.zip"), "PK\3\4 and nothing of a zip file");
    assert_int_equal(import_case_scan("broken.zip").messages, 0);
}

/* --- going on here ---------------------------------------------------------------------------- */

/* A fork has the calls of the other agent's tools as texts, without their results. */
TEST(test_a_fork_has_texts_alone)
{
    struct catalog c;
    struct session_info fork;
    import_case_copy("claude/turns.jsonl", PLACE "x.jsonl");
    import_case_scan(NULL);
    catalog_borrow(&c, import_case_store, NULL, "");
    assert_ok(catalog_fork(&c, "last", 0, &fork, &e), e);
    const char *text = strstr(import_case_text(), "== Find the tax rate (fork)");
    assert_non_null(text);
    assert_non_null(strstr(text,
                           "| -\nuser: Where is the tax rate kept?\nassistant: I look for "
                           "it.\nassistant: [Grep {\"pattern\":"));
    assert_non_null(strstr(text, "assistant: In src/tax.c, line 12.\n"));
    assert_null(strstr(text, "call Grep"));
    assert_null(strstr(text, "result "));
    assert_ok(transcripts_delete(import_case_store, fork.id, &e), e);
    session_info_release(&fork);
    catalog_release(&c);
}

static char *tiro(const char *const *args)
{
    char *out, *err;
    int status = support_run(args, NULL, &out, &err);
    if (status != 0)
        fail_msg("%d: %s", status, err);
    free(err);
    return support_keep(out);
}

TEST(test_to_resume_it_forks_it)
{
    write_turns(PLACE "a.jsonl", "a", 0, 2);
    assert_non_null(strstr(tiro(TEXTS("import")), "1 conversation  4 messages"));
    assert_non_null(strstr(tiro(TEXTS("import", "--list")), "4 messages"));
    char *before = tiro(TEXTS("sessions", "export", "last"));
    tiro(TEXTS("run", "--provider", "offline", "--resume", "question 0 of a", "go on"));
    const char *list = tiro(TEXTS("sessions", "list", "--json"));
    assert_non_null(strstr(list, "question 0 of a (fork)"));
    assert_string_equal(tiro(TEXTS("sessions", "export", "question 0 of a")), before);
    assert_non_null(strstr(tiro(TEXTS("sessions", "search", "answer", "1")), "question 0 of a"));
}

/* A folder of tiro's own exports: what is missing comes back as it was. */
TEST(test_own_exports_come_back)
{
    static const char *const files[] = {"own/a.json", "own/b.jsonl"};
    import_case_write("own/here", "");
    for (size_t i = 0; i < 2; i++) {
        tiro(TEXTS("run", "--provider", "offline", i == 0 ? "One?" : "Two?"));
        tiro(TEXTS("sessions", "export", "last", "-o", support_path(files[i])));
    }
    const char *before = tiro(TEXTS("sessions", "list", "--json"));
    assert_non_null(strstr(tiro(TEXTS("import", support_path("own"))), "0 conversations"));
    tiro(TEXTS("sessions", "delete", "-y", "One?", "Two?"));
    for (size_t i = 0; i < 2; i++) /* by its path, and by that of the folder */
        assert_non_null(strstr(tiro(TEXTS("import", support_path(i == 0 ? files[0] : "own"))),
                               "1 conversation "));
    assert_string_equal(tiro(TEXTS("sessions", "list", "--json")), before);
    assert_non_null(strstr(tiro(TEXTS("import", support_path("own"))), "0 messages"));
}

/* Also of a store that is not there yet, which it does not make. */
TEST(test_doctor_tells_of_histories)
{
    write_turns(PLACE "a.jsonl", "a", 0, 2);
    import_case_append(PLACE "a.jsonl", "no JSON\n");
    const char *before = tiro(TEXTS("doctor"));
    assert_non_null(strstr(before,
                           "  Claude Code: 1 file, imported: 0 conversations, 0 messages\n"
                           "    "));
    assert_non_null(strstr(before, ".claude/projects\n"));
    assert_int_not_equal(access(support_path(".local/share/tiro"), F_OK), 0);
    tiro(TEXTS("import"));
    assert_non_null(strstr(tiro(TEXTS("doctor")),
                           "  Claude Code: 1 file, imported: 1 conversation, 4 messages, not "
                           "understood: 1 line that is no JSON\n"));
    assert_non_null(strstr(tiro(TEXTS("doctor", "--json")), "\"kinds\":"));
}
