/* `tiro memory` through the real program. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/record.h"
#include "tests/screen.h"
#include "tests/steps.h"
#include "tests/suite.h"

/* The endpoint has 5 s to answer: a stop that waited for it would take longer than this. */
enum { PATIENCE_MS = 20000, STOP_MS = 3500 };

#define MEMORY(...) RUN("memory", __VA_ARGS__)

static const char talks[] =
    "{\"id\":\"river\",\"session_id\":\"talk-1\",\"turn\":3,\"role\":\"user\",\"speaker\":\"Mia\","
    "\"created_at\":\"2026-03-01T10:00:00.000Z\",\"content\":\"we liked the ryokan by the "
    "river\"}\n"
    "{\"id\":42,\"session_id\":\"talk-1\",\"turn\":4,\"role\":\"assistant\","
    "\"created_at\":\"2026-03-01T10:01:00.000Z\",\"content\":\"the ryokan in the hills is "
    "cheaper\"}\n"
    "{\"id\":\"station\",\"session_id\":\"talk-2\",\"turn\":1,\"role\":\"user\","
    "\"created_at\":\"2026-03-02T10:00:00.000Z\",\"content\":\"a hotel near the station\","
    "\"pinned\":true}\n";

/* The program ends with 0, and its output holds, or lacks, these texts (tests/steps.h). */
#define shows(r, ...) assert_says(program_output(r), __VA_ARGS__)

static void import_text(const char *text, const char *says)
{
    struct result r = program_run(text, STEPS("memory", "import", "-"));
    if (r.status != 0 || strcmp(r.out, says) != 0)
        fail_msg("status %d: %s%s", r.status, r.out, r.err);
}

/* A line of an import without an id. */
static void add_line(struct buf *out, const char *role, const char *day, const char *content)
{
    buf_addf(out,
             "{\"session_id\":\"s\",\"role\":\"%s\",\"created_at\":\"%s\","
             "\"content\":\"%s\"}\n",
             role, day, content);
}

static void add_talks(void)
{
    import_text(talks, "3 entries added\n");
}

/* The ids of an array, a blank behind each; a number with a '#' before it. */
static char *ids_of(struct json *list)
{
    struct buf out = BUF_INIT;
    assert_int_equal(json_type(list), JSON_ARRAY);
    for (const struct json *v = json_first(list); v; v = json_next(v)) {
        const struct json *id = json_get(v, "id");
        if (json_string(id))
            buf_addf(&out, "%s ", json_string(id));
        else
            buf_addf(&out, "#%.0f ", json_number(id, -1));
    }
    return support_keep(buf_take(&out));
}

static void expect_ids(struct result r, const char *want)
{
    assert_string_equal(ids_of(program_json(r)), want);
}

/* --- empty, off ------------------------------------------------------------------------------- */

NEEDS(capability_store() && capability_memory());
FIXTURE(support_setup, support_teardown);

TEST(test_nothing_is_there)
{
    expect_ids(MEMORY("search", "--json", "anything"), "");
    expect_ids(MEMORY("list", "--json"), "");
    expect(MEMORY("search", "anything"), 0, "no matches");
    expect(MEMORY("list"), 0, "memory is empty");
    expect(RUN("memory"), 0, "memory is empty");
    expect(MEMORY("show", "x"), 1, "compactions and tiro memory import fill it");
    assert_string_equal(program_output(MEMORY("export")), "");
    assert_json(program_json(MEMORY("stats", "--json")), "{'entries':0}");
    assert_int_equal(access(support_path(".local/share/tiro/tiro.db"), F_OK), -1);
}

TEST(test_memory_is_off)
{
    static const char *const verbs[] = {"list", "stats", "export", "reindex"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        setenv("TIRO_MEMORY_ENABLED", "false", 1);
        expect(MEMORY(verbs[i]), 1, "tiro: MEMORY_DISABLED: ");
        unsetenv("TIRO_MEMORY_ENABLED");
        setenv("TIRO_SESSION_PERSIST", "false", 1);
        if (strcmp(verbs[i], "reindex") == 0)
            expect(MEMORY(verbs[i]), 1, "tiro: SESSION_PERSISTENCE_DISABLED: ");
        else
            assert_int_equal(MEMORY(verbs[i]).status, 0); /* what there is can be read */
        unsetenv("TIRO_SESSION_PERSIST");
    }
}

/* The advice in the message works. */
TEST(test_how_to_turn_it_on)
{
    write_config("[memory]\nenabled = false\n[session]\npersist = false\n");
    struct result r = MEMORY("list");
    assert_text(r.err, "[memory] enabled = true, or TIRO_MEMORY_ENABLED=true in the environment");
    assert_no_text(r.err, "--");
    setenv("TIRO_MEMORY_ENABLED", "true", 1);
    r = MEMORY("reindex");
    assert_text(r.err, "[session] persist = true, or TIRO_SESSION_PERSIST=true in the environment");
    assert_no_text(r.err, "--");
    setenv("TIRO_SESSION_PERSIST", "true", 1);
    expect(MEMORY("list"), 0, "memory is empty");
}

/* --- search ----------------------------------------------------------------------------------- */

TEST(test_search_json)
{
    add_talks();
    struct json *list = program_json(MEMORY("search", "--json", "ryokan", "river"));
    assert_int_equal(json_len(list), 2);
    const struct json *best = json_at(list, 0);
    assert_json(best,
                "{'id':'river','content':'we liked the ryokan by the river','session_id':'talk-1',"
                "'role':'user','speaker':'Mia','created_at':'2026-03-01T10:00:00.000Z',"
                "'turn':3}");
    double score = json_get_number(best, "score", -1);
    assert_true(score > 0 && score <= 1);
    assert_true(json_get_number(json_get(best, "why"), "words", 0) > 0);
    assert_true(json_get_number(json_get(best, "why"), "coverage", 0) > 0);
    expect_ids(MEMORY("search", "--json", "the ryokan in the hills"), "#42 river ");
    list = program_json(MEMORY("search", "--json", "the ryokan in the hills is cheaper"));
    assert_true(json_get_number(json_at(list, 0), "score", -1) == 1);
}

TEST(test_search_options)
{
    add_talks();
    expect_ids(MEMORY("search", "--json", "--limit", "1", "ryokan river"), "river ");
    expect_ids(MEMORY("search", "--json", "ryokan", "-hills"), "river ");
    expect_ids(MEMORY("search", "--json", "\"ryokan in the hills\""), "#42 ");
    expect_ids(MEMORY("search", "--json", "--scope", "session=talk-2", "hotel ryokan"), "station ");
    expect_ids(MEMORY("search", "--json", "--scope=project", "ryokan"), "");
    expect(MEMORY("search", "--scope", "galaxy", "x"), 64, "galaxy");
    expect(MEMORY("search", "--scope", "session=nobody", "x"), 1, "tiro: SESSION_NOT_FOUND: ");
    expect(MEMORY("search", "--limit", "1001", "x"), 64, "1000");
    expect(MEMORY("search", "--limit", "0", "x"), 64, "--limit");
    expect(MEMORY("ryokan"), 64, "see tiro memory --help");
    expect_ids(MEMORY("search", "--json", "\"no such order\" hotel"), "station ");
    char *help = program_output(MEMORY("search", "--help"));
    assert_text(help, "if no entry has them, the other words");
    expect_ids(MEMORY("search", "--json", "--limit", "1000", "hotel"), "station ");
}

TEST(test_search_gives_five)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 12; i++)
        add_line(&text, "user", "2026-03-01", support_text("needle %d", i));
    import_text(text.data, "12 entries added\n");
    assert_int_equal(json_len(program_json(MEMORY("search", "--json", "needle"))), 5);
    assert_int_equal(json_len(program_json(MEMORY("search", "--json", "--limit", "7", "needle"))),
                     7);
}

/* A long answer is shown with the question that it answers. */
TEST(test_search_shows_the_question)
{
    AUTO(buf_release) struct buf lines = BUF_INIT, answer = BUF_INIT;
    buf_addstr(&answer, "Find the valve of each one. ");
    for (int i = 0; i < 30; i++)
        buf_addf(&answer, "Step %d is much like the one before. ", i);
    add_line(&lines, "user", "2026-03-01", "How do I bleed\\nthe radiators?");
    add_line(&lines, "assistant", "2026-03-01", answer.data);
    add_line(&lines, "assistant", "2026-03-01", "A short word on the valve.");
    import_text(lines.data, "3 entries added\n");
    shows(MEMORY("search", "valve"), "\n  > How do I bleed the radiators?\n  Find the valve");
    struct json *list = program_json(MEMORY("search", "--json", "valve"));
    for (size_t i = 0; i < 2; i++) {
        const struct json *hit = json_at(list, i);
        bool is_long = strlen(json_get_string(hit, "content")) > 800;
        assert_int_equal(json_get_string(hit, "question") != NULL, is_long);
    }
}

/* Keeps a session with this title here. */
static char *keep_session(const char *title)
{
    char *path = support_path(".local/share/tiro/tiro.db");
    struct store *store;
    struct record r;
    struct error e = {0};
    assert_ok(store_open(path, STORE_READ_WRITE, &store, &e), e);
    record_begin(&r, store);
    free(r.info.title);
    r.info.title = mem_strdup(title);
    record_save(&r);
    char *id = mem_strdup(r.info.id);
    record_release(&r);
    store_close(store);
    return id;
}

TEST(test_search_for_people)
{
    add_talks();
    char *id = support_keep(keep_session("Spring in Kyoto"));
    char *line = support_text(
        "{\"id\":\"long\",\"session_id\":\"%s\",\"role\":\"user\","
        "\"created_at\":\"2026-03-05\",\"content\":\"cherry\\n\\u001b[31m "
        "\xc2\x9b \xe2\x80\xae blossoms\"}\n",
        id);
    import_text(line, "1 entry added\n");
    char *out = program_output(MEMORY("search", "blossoms"));
    assert_int_equal(strncmp(out, "0.", 2), 0);
    assert_says(out, "  long  ", "Spring in Kyoto", "you", "!\033", "!\xe2\x80\xae");
    shows(MEMORY("search", "ryokan river"), "  Mia  talk-1\n  we liked the ryokan by the river\n");

    struct screen *s = AT_TERMINAL(8, 40, "memory", "search", "blossoms");
    assert_text(screen_text(s), "blossoms");
    assert_true(screen_log_has(s, "\033[1mblossoms\033[0m"));
    assert_false(screen_log_has(s, "\033[31m"));
    assert_false(screen_log_has(s, "\xc2\x9b"));
    assert_string_equal(screen_row_text(s, 2), "");
    screen_free(s);
}

/* A text that is cut off at both ends has an ellipsis at both, and still takes one row. */
TEST(test_search_in_a_narrow_terminal)
{
    AUTO(buf_release) struct buf text = BUF_INIT, words = BUF_INIT;
    for (int i = 0; i < 20; i++)
        buf_addf(&words, "%s ", i == 10 ? "quincunx" : "wide and wider");
    add_line(&text, "user", "2026-03-01", words.data);
    import_text(text.data, "1 entry added\n");
    for (int columns = 40; columns < 48; columns++) {
        struct screen *s = AT_TERMINAL(8, columns, "memory", "search", "quincunx");
        assert_text(screen_row_text(s, 1), "quincunx");
        assert_text(screen_row_text(s, 1), "  \u2026");
        assert_text(screen_row_text(s, 1) + 8, "\u2026");
        assert_string_equal(screen_row_text(s, 2), "");
        screen_free(s);
    }
}

/* --- list, show ------------------------------------------------------------------------------- */

TEST(test_list_and_show)
{
    add_talks();
    expect_ids(MEMORY("list", "--json"), "station #42 river ");
    expect_ids(RUN("memory", "--json"), "station #42 river ");
    expect_ids(MEMORY("list", "--json", "--limit", "1"), "station ");
    expect_ids(MEMORY("list", "--json", "--session", "talk-1"), "#42 river ");
    expect(MEMORY("list", "--session", "nobody"), 1, "tiro: SESSION_NOT_FOUND: ");
    char *list = program_output(MEMORY("list"));
    assert_true(strstr(list, "station") < strstr(list, "river"));
    assert_text(list, "pinned");
    assert_text(list, "Mia");
    char *shown = program_output(MEMORY("show", "riv"));
    assert_text(shown, "talk-1");
    assert_text(shown, "\n\nwe liked the ryokan by the river\n");
    assert_json(program_json(MEMORY("show", "--json", "station")),
                "{'content':'a hotel near the station','pinned':true}");
    expect(MEMORY("show", "nonesuch"), 1, "tiro: MEMORY_NOT_FOUND: ");
}

/* A name that is longer than the least stays whole where the content gives way. */
static const char named[] =
    "{\"id\":\"tea\",\"session_id\":\"talk-3\",\"role\":\"user\",\"speaker\":\"Bartholomew\","
    "\"created_at\":\"2026-03-03T10:00:00.000Z\",\"content\":\"green tea from Uji is what we "
    "should bring home, and a blue teapot for my sister, who has only a small one\"}\n";

static void expect_at_width(const char *verb, int columns, const char *const *texts)
{
    struct screen *s = AT_TERMINAL(12, columns, "memory", verb);
    for (; *texts; texts++)
        assert_text(screen_text(s), *texts);
    screen_free(s);
}

TEST(test_narrow_terminals)
{
    add_talks();
    import_text(named, "1 entry added\n");
    setenv("TZ", "UTC", 1);
    expect_at_width(
        "list", 80,
        STEPS("tea      2026-03-03 10:00  Bartholomew", "green tea", "2026-03-01 10:01  tiro"));
    expect_at_width("list", 40, STEPS("2026-03-03…  Bar…", "gre…"));
    expect_at_width("stats", 40, STEPS("entries", "       4\n", "auto\n"));
    expect_at_width("stats", 24, STEPS("entries", " 4\n", "auto\n"));
}

/* A terminal has no room for a whole memory; any other output gets all. */
TEST(test_a_terminal_gets_a_page)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 1; i <= 23; i++)
        add_line(&text, "user", support_text("2026-03-%02d", i), support_text("day %02d.", i));
    import_text(text.data, "23 entries added\n");
    struct screen *s = AT_TERMINAL(30, 90, "memory");
    assert_text(screen_row_text(s, 0), "day 23.");
    assert_text(screen_row_text(s, 19), "day 04.");
    assert_text(screen_row_text(s, 20), "only the newest 20 are shown;");
    screen_free(s);
    s = AT_TERMINAL(30, 90, "memory", "-n", "21");
    assert_text(screen_row_text(s, 20), "day 03.");
    assert_string_equal(screen_row_text(s, 21), "");
    screen_free(s);
    assert_text(program_output(RUN("memory")), "day 01.");
}

/* --- changes ---------------------------------------------------------------------------------- */

static void expect_content(const char *id, const char *content)
{
    struct json *entry = program_json(MEMORY("show", "--json", id));
    assert_string_equal(json_get_string(entry, "content"), content);
}

static struct result edit_with_input(const char *id, const char *input)
{
    return program_run(input, STEPS("memory", "edit", id));
}

TEST(test_edit)
{
    add_talks();
    run_ok(MEMORY("edit", "--content", "an inn", "station"));
    expect_content("station", "an inn");
    run_ok(edit_with_input("42", "from a pipe\n"));
    expect_content("42", "from a pipe");
    expect(edit_with_input("42", "from a pipe\n"), 0, "the text was not changed");
    expect(edit_with_input("42", "  \n"), 64, "tiro: USAGE: ");
    expect(edit_with_input("42", "\xff"), 64, "UTF-8");
    expect(edit_with_input("nonesuch", "x"), 1, "tiro: MEMORY_NOT_FOUND: ");
    expect_content("42", "from a pipe");
    expect_ids(MEMORY("search", "--json", "pipe"), "#42 ");
    expect_ids(MEMORY("search", "--json", "hotel"), "");

    char *editor = support_path("editor");
    support_write(editor, "#!/bin/sh\nsed -i 's/ryokan/tent/' \"$1\"\n");
    assert_int_equal(chmod(editor, 0700), 0);
    setenv("EDITOR", editor, 1);
    struct screen *s = AT_TERMINAL(8, 40, "memory", "edit", "river");
    screen_free(s);
    unsetenv("EDITOR");
    expect_content("river", "we liked the tent by the river");
}

TEST(test_pin)
{
    add_talks();
    run_ok(MEMORY("pin", "river"));
    assert_json(program_json(MEMORY("show", "--json", "river")), "{'pinned':true}");
    run_ok(MEMORY("unpin", "river"));
    assert_null(json_get(program_json(MEMORY("show", "--json", "river")), "pinned"));
    expect(MEMORY("pin", "nonesuch"), 1, "tiro: MEMORY_NOT_FOUND: ");
}

TEST(test_delete)
{
    add_talks();
    expect(MEMORY("delete", "river"), 64, "--yes");
    expect(MEMORY("delete", "--yes", "river", "nonesuch"), 1, "tiro: MEMORY_NOT_FOUND: ");
    expect_ids(MEMORY("list", "--json"), "station #42 river ");
    assert_string_equal(program_output(MEMORY("delete", "--yes", "river", "station", "river")),
                        "2 entries deleted\n");
    expect_ids(MEMORY("list", "--json"), "#42 ");
    expect_ids(MEMORY("search", "--json", "river station"), "");
}

static void answer_delete(const char *answer, int status, const char *left)
{
    const char *const args[] = {"memory", "delete", "river", "42", NULL};
    const char *const shown[] = {"we liked the ryokan \u241b[31m", "2 entries", NULL};
    program_asks(args, 70, shown, answer, status);
    expect_ids(MEMORY("list", "--json"), left);
}

TEST(test_delete_asks)
{
    add_talks();
    run_ok(MEMORY("edit", "--content", "we liked the ryokan \x1b[31m", "river"));
    answer_delete("n", 1, "station #42 river ");
    answer_delete("y", 0, "station ");
}

/* --- import, export --------------------------------------------------------------------------- */

TEST(test_export)
{
    add_talks();
    char *path = support_path("out.jsonl");
    assert_string_equal(program_output(MEMORY("export")), talks);
    run_ok(MEMORY("export", path));
    char *written = support_read(path);
    assert_string_equal(written, talks);
    expect(MEMORY("export", path), 1, "tiro: FILE_ERROR: ");
    expect(MEMORY("export", path), 1, "overwrite it with --force");
    run_ok(MEMORY("delete", "--yes", "42"));
    run_ok(MEMORY("export", "--force", path));
    run_ok(MEMORY("export", "--force", "-o", path));
    expect(MEMORY("export", "-o", path), 1, "overwrite it with --force");
    assert_string_equal(program_output(MEMORY("export", "-o", "-")), support_read(path));
    expect(MEMORY("export", "-o", path, path), 64, "FILE is given twice");
    assert_true(strlen(support_read(path)) < strlen(written));
}

TEST(test_import)
{
    char *path = support_path("in.jsonl"), *bad = support_path("bad.jsonl");
    support_write(path, talks);
    assert_string_equal(program_output(MEMORY("import", path)), "3 entries added\n");
    struct result again = MEMORY("import", path);
    assert_string_equal(again.out, "0 entries added\n");
    assert_string_equal(again.err, "no new entries\n");
    expect(again, 0, "");
    support_write(bad,
                  "{\"session_id\":\"s\",\"role\":\"user\",\"created_at\":\"2026-03-01\","
                  "\"content\":\"kept\"}\nnonsense\n");
    struct result partly = MEMORY("import", bad);
    assert_string_equal(partly.out, "1 entry added\n");
    expect(partly, 64, "bad.jsonl:2: ");
    struct result nothing_more = MEMORY("import", bad);
    assert_string_equal(nothing_more.out, "");
    expect(nothing_more, 64, "bad.jsonl:2: ");
    expect_ids(MEMORY("list", "--json", "--session", "talk-2"), "station ");
    char *kept = program_output(MEMORY("search", "kept"));
    assert_text(kept, "kept");
    expect(MEMORY("import", "/nonesuch/file"), 1, "tiro: FILE_ERROR: ");
    expect(MEMORY("import", support_dir()), 1, "tiro: FILE_ERROR: ");
}

enum { LINES = 12000, STEP = 1000 };

static void write_many(const char *path)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < LINES; i++)
        buf_addf(&text,
                 "{\"id\":\"e%d\",\"session_id\":\"s%d\",\"role\":\"user\",\"created_at\":"
                 "\"2026-03-01T00:00:00Z\",\"content\":\"quincunx number %d of many words\"}\n",
                 i, i % 7, i);
    support_write(path, text.data);
}

TEST(test_import_shows_progress)
{
    char *path = support_path("many.jsonl");
    write_many(path);
    const char *const argv[] = {support_program(), "memory", "import", path, NULL};
    struct screen *s = screen_start(argv, support_dir(), 8, 60);
    assert_true(screen_wait_exit(s, 3 * PATIENCE_MS));
    assert_int_equal(screen_status(s), 0);
    assert_true(screen_log_has(s, " entries\r")); /* one count, and the next over it */
    assert_text(screen_text(s), "entries added");
    screen_free(s);
}

static int64_t stored_entries(const char *database)
{
    return damage_sql(database, "SELECT count(*) FROM memory_entry");
}

/* Ctrl-C ends an import between two steps and says so. */
TEST(test_interrupted_import)
{
    char *path = support_path("many.jsonl");
    write_many(path);
    const char *const argv[] = {support_program(), "memory", "import", path, NULL};
    struct screen *s = screen_start(argv, support_dir(), 8, 60);
    assert_true(screen_wait_text(s, "entries", PATIENCE_MS));
    screen_signal(s, SIGINT);
    assert_true(screen_wait_exit(s, PATIENCE_MS));
    int status = screen_status(s);
    assert_true(status == 1 || status == 0); /* it may have been at its last step */
    if (status == 1)
        assert_text(screen_text(s), "INTERRUPTED");
    screen_free(s);
    assert_int_equal(stored_entries(support_path(".local/share/tiro/tiro.db")) % STEP, 0);
}

/* --- stats, reindex --------------------------------------------------------------------------- */

TEST(test_stats_and_reindex)
{
    add_talks();
    shows(MEMORY("stats"), "entries", "auto");
    assert_json(program_json(MEMORY("stats", "--json")), "{'entries':3,'sessions':2,'pinned':1}");
    setenv("TIRO_MEMORY_LANGUAGE", "german", 1);
    shows(MEMORY("stats"), "tiro memory reindex");
    run_ok(MEMORY("reindex"));
    shows(MEMORY("stats"), "german", "!reindex");
}

/* Indexes entries that were left while indexing was off; a second run has nothing to do. */
TEST_IF(capability_store(), test_index_counts_what_it_indexed)
{
    setenv("TIRO_PROVIDER_NAME", "offline", 1);
    setenv("TIRO_MEMORY_INDEX", "off", 1);
    run_ok(RUN("run", "the first"));
    run_ok(RUN("run", "the second"));
    unsetenv("TIRO_MEMORY_INDEX");
    assert_string_equal(program_output(MEMORY("index")), "2 conversations were indexed\n");
    assert_json(program_json(MEMORY("stats", "--json")), "{'sessions':2}");
    assert_string_equal(program_output(MEMORY("index")),
                        "every conversation is in memory already\n");
}

static int64_t bytes_now(void)
{
    return json_get_int(program_json(MEMORY("stats", "--json")), "bytes", -1);
}

TEST(test_nothing_takes_no_bytes)
{
    free(keep_session("of another thing"));
    assert_int_equal(bytes_now(), 0);
    add_talks();
    assert_true(bytes_now() > (int64_t)strlen("we liked the ryokan by the river"));
    run_ok(MEMORY("delete", "--yes", "river", "42", "station"));
    assert_int_equal(bytes_now(), 0);
}

static void expect_remark(const char *remark)
{
    struct result r = MEMORY("search", "station");
    assert_int_equal(r.status, 0);
    assert_text(r.out, "a hotel near the station");
    if (strstr(r.err, remark) == NULL || (!*remark && *r.err))
        fail_msg("not \"%s\": %s", remark, r.err);
}

/* The search names the command that helps, and it does, even after the server got another model. */
TEST(test_vectors_are_made_by_reindex)
{
    const char *const lacking = "tiro memory reindex computes them";
    struct model_server *server = begin_server();
    setenv("TIRO_EMBEDDING_PROVIDER", "ollama", 1);
    setenv("TIRO_EMBEDDING_BASE_URL", model_server_url(server), 1);
    add_talks();
    expect_remark(lacking);
    run_ok(MEMORY("reindex"));
    expect_remark("");
    model_server_set_default(server, &(struct reply){.dimension = 48});
    expect_remark(lacking);
    run_ok(MEMORY("reindex"));
    expect_remark("");
    end_server(server);
}

TEST(test_reindex_says_what_failed)
{
    add_talks();
    setenv("TIRO_EMBEDDING_PROVIDER", "ollama", 1);
    setenv("TIRO_EMBEDDING_BASE_URL", "http://127.0.0.1:1", 1);
    struct result r = MEMORY("reindex");
    assert_int_not_equal(r.status, 0);
    assert_text(r.err, "127.0.0.1");
    expect(MEMORY("search", "station"), 0, "words only");
}

/* A socket of this machine that takes connections and says nothing. */
static int silent_endpoint(char *url, size_t size)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    snprintf(url, size, "http://127.0.0.1:%d", ntohs(at.sin_port));
    return fd;
}

TEST(test_reindex_stops_while_it_waits)
{
    char url[64], byte;
    int endpoint = silent_endpoint(url, sizeof url);
    add_talks();
    setenv("TIRO_EMBEDDING_PROVIDER", "ollama", 1);
    setenv("TIRO_EMBEDDING_BASE_URL", url, 1);
    struct support_child c;
    support_start(&c, STEPS(support_program(), "memory", "reindex"));
    int connection = accept(endpoint, NULL, NULL);
    assert_true(connection >= 0);
    assert_int_equal(recv(connection, &byte, 1, 0), 1); /* it has asked, and waits */
    double asked = screen_clock();
    kill(c.pid, SIGINT);
    assert_int_not_equal(support_finish(&c, NULL), 0);
    assert_true(screen_clock() - asked < STOP_MS);
    assert_text(c.err_text.data, "stopped");
    support_release(&c);
    close(connection);
    close(endpoint);
}
