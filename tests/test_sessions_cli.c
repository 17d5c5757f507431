/* `tiro sessions` through the real program. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "session/capability.h"
#include "session/lock.h"
#include "tests/program.h"
#include "tests/record.h"
#include "tests/screen.h"
#include "tests/steps.h"
#include "tests/suite.h"

enum { PATIENCE_MS = 20000 };

static const char conversation[] =
    "[{\"role\":\"user\",\"content\":\"The first question\"},"
    "{\"role\":\"assistant\",\"content\":\"The first answer\"},"
    "{\"role\":\"user\",\"content\":\"The second question\"},"
    "{\"role\":\"assistant\",\"content\":\"The second answer\"}]";

#define SESSIONS(...) RUN("sessions", __VA_ARGS__)

/* A session of two turns with this title; its id. */
static char *add_session(const char *title)
{
    const char *const args[] = {"sessions", "import", "-", NULL};
    char *id = program_output(program_run(conversation, args));
    id[strcspn(id, "\n")] = '\0';
    assert_int_equal(strlen(id), UUID_LEN);
    assert_string_equal(program_output(SESSIONS("rename", id, title)), "");
    return id;
}

static const char *member(const struct json *list, size_t index, const char *name)
{
    return json_get_string(json_at(list, index), name);
}

static void expect_titles(struct result r, const char *const *titles)
{
    struct json *list = program_json(r);
    size_t count = 0;
    for (; titles[count]; count++) {
        const char *title = member(list, count, "title");
        if (!title || strcmp(title, titles[count]) != 0)
            fail_msg("title %zu is %s, not %s", count, title ? title : "missing", titles[count]);
    }
    assert_int_equal(json_len(list), count);
}

#define TITLES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_TITLES ((const char *const[]){NULL})

/* --- list ------------------------------------------------------------------------------------ */

FIXTURE(support_setup, support_teardown);

TEST_IF(capability_store(), test_list_filters)
{
    char *here = support_path("here");
    assert_int_equal(mkdir(here, 0700), 0);
    char *old = add_session("old");
    add_session("young");
    assert_int_equal(chdir(here), 0);
    add_session("other place");
    run_ok(SESSIONS("label", old, "urgent", "+law"));
    run_ok(SESSIONS("archive", old));

    expect_titles(SESSIONS("list", "--json"), TITLES("other place", "young", "old"));
    expect_titles(SESSIONS("--json"), TITLES("other place", "young", "old"));
    expect_titles(SESSIONS("list", "--json", "--limit", "2"), TITLES("other place", "young"));
    expect_titles(SESSIONS("list", "--json", "--archived"), TITLES("old"));
    expect_titles(SESSIONS("list", "--json", "--live"), TITLES("other place", "young"));
    expect_titles(SESSIONS("list", "--json", "--label", "law"), TITLES("old"));
    expect_titles(SESSIONS("list", "--json", "--label", "la"), NO_TITLES);
    expect_titles(SESSIONS("list", "--json", "--directory", "."), TITLES("other place"));
    expect_titles(SESSIONS("list", "--json", "--directory", here), TITLES("other place"));
    expect_titles(SESSIONS("list", "--json", "--directory", "/nonesuch"), NO_TITLES);
    expect(SESSIONS("list", "--label", "nonesuch"), 0, "no session matches");
    expect(SESSIONS("list", "--live", "--archived"), 64, "tiro: USAGE: ");
    expect(SESSIONS("list", "--json", "--names"), 64, "tiro: USAGE: ");
    assert_int_equal(chdir("/"), 0);
}

/* Columns before `text` in the line that holds `in`. */
static size_t column_of(const char *lines, const char *in, const char *text)
{
    const char *line = strstr(lines, in);
    if (!line)
        fail_msg("\"%s\" is not in: %s", in, lines);
    while (line > lines && line[-1] != '\n')
        line--;
    const char *at = strstr(line, text);
    assert_non_null(at);
    assert_true(at < line + strcspn(line, "\n"));
    return utf8_width(line, (size_t)(at - line));
}

TEST_IF(capability_store(), test_list_is_aligned)
{
    static const char wide_title[] = "日本語の長い題名です、とても長い";
    char *plain = add_session("a plain title"), *wide = add_session(wide_title);
    char *combined = add_session("e\xcc\x81\xcc\x81\xcc\x81 accents");
    char *const ids[] = {plain, wide, combined};
    for (size_t i = 0; i < 3; i++)
        run_ok(SESSIONS("label", ids[i], "the-label"));
    run_ok(SESSIONS("archive", wide));

    char *lines = program_output(SESSIONS("list"));
    size_t label = column_of(lines, "plain", "the-label");
    assert_int_equal(column_of(lines, "日本語", "the-label"), label);
    assert_int_equal(column_of(lines, "accents", "the-label"), label);
    assert_int_equal(column_of(lines, "plain", "a plain"), column_of(lines, "日本語", "日本語"));
    size_t title = column_of(lines, "日本語", "日本語");
    assert_int_equal(column_of(lines, "日本語", "archived"),
                     title + utf8_width(wide_title, strlen(wide_title)) + 2);
    assert_says(lines, "2 turns", "archived");
    for (size_t i = 0; i < 3; i++)
        free(ids[i]);
}

TEST_IF(capability_store(), test_list_fits_the_terminal)
{
    static const char title[] = "日本語の題名はここでもういちど長くなりますから切られるはずです";
    char *ids[3];
    for (size_t i = 0; i < 3; i++) {
        ids[i] = add_session(title);
        run_ok(SESSIONS("label", ids[i], "seen"));
    }
    for (int width = 20; width < 100; width += 13) {
        struct screen *s = AT_TERMINAL(8, width, "sessions", "list");
        for (int row = 0; row < 3; row++)
            assert_int_equal(strncmp(screen_row_text(s, row), ids[2 - row] + UUID_LEN - 8, 8), 0);
        assert_string_equal(screen_row_text(s, 3), "");
        if (width > 80)
            assert_text(screen_row_text(s, 0), "seen"); /* the title gives way */
        screen_free(s);
    }
    for (size_t i = 0; i < 3; i++)
        free(ids[i]);
}

/* A title that reached the store past every check. */
TEST_IF(capability_store(), test_hostile_title_is_cleaned)
{
    char *id = add_session("harmless");
    const char *const export[] = {"sessions", "export", "--format", "json", id, NULL};
    char *text = program_output(program_run("", export));
    char *at = strstr(text, "harmless");
    assert_non_null(at);
    memcpy(at, "\\u001b]0", 8);
    const char *const import[] = {"sessions", "import", "-", NULL};
    run_ok(program_run(text, import));
    static const char *const ways[][4] = {
        {"list"}, {"list", "--names"}, {"show"}, {"search", "first"}, {"export", "last"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_null(strchr(program_output(SESSIONS(ways[i][0], ways[i][1])), '\x1b'));
    }
}

TEST_IF(capability_store(), test_json_is_cleaned_for_a_terminal)
{
    static const char input[] = "[{\"role\":\"user\",\"content\":\"a \\u009b31m b \\u202e c\"}]";
    const char *const import[] = {"sessions", "import", "-", NULL};
    run_ok(program_run(input, import));
    static const char *const ways[][3] = {
        {"show", "--json"}, {"list", "--json"}, {"export", "--format=json"}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct screen *s =
            AT_TERMINAL(24, 80, "sessions", ways[i][0], ways[i][1], i == 2 ? "last" : NULL);
        assert_false(screen_log_has(s, "\xc2\x9b"));
        assert_false(screen_log_has(s, "\xe2\x80\xae"));
        screen_free(s);
    }
    assert_text(program_output(SESSIONS("show", "--json")), "a \\u009b31m b \\u202e c");
}

/* Unreadable data is an error, not an empty list. */
TEST_IF(capability_store(), test_unreadable_data)
{
    expect(SESSIONS("list"), 0, "no sessions yet");
    char *dir = support_path(".local"), *file = support_path(".local/share");
    assert_true(mkdir(dir, 0700) == 0 || access(dir, F_OK) == 0);
    support_write(file, "a file where a directory should be\n");
    static const char *const verbs[] = {"list", "show", "search"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct result r = i == 2 ? SESSIONS(verbs[i], "word") : SESSIONS(verbs[i]);
        assert_string_equal(r.out, "");
        expect(r, 1, "tiro: SESSION_STORE_ERROR: ");
    }
}

/* --- show, search ---------------------------------------------------------------------------- */

TEST_IF(capability_store(), test_show)
{
    expect(SESSIONS("show"), 1, "tiro: SESSION_NOT_FOUND: ");
    char *id = add_session("The title");
    char *whole = program_output(SESSIONS("show", id));
    assert_text(whole, "The title");
    assert_text(whole, id);
    assert_true(strstr(whole, "The first answer") < strstr(whole, "The second question"));
    assert_string_equal(program_output(SESSIONS("show", "the TITLE")), whole);
    char *limited = program_output(SESSIONS("show", "-n", "1", "last"));
    assert_says(limited, "The title", "!The first", "The second question", "The second answer");
    assert_string_equal(program_output(SESSIONS("show", "--limit", "99", "last")), whole);
}

/* Adds two unfinished runs; returns the session's id. */
static char *add_crashes(void)
{
    char *path = support_path(".local/share/tiro/tiro.db");
    struct store *store;
    struct record r;
    struct error e = {0};
    assert_ok(store_open(path, STORE_READ_WRITE, &store, &e), e);
    record_begin(&r, store);
    record_add(&r, EVENT_TURN_STARTED, "Why?");
    record_add(&r, EVENT_TEXT_DELTA, "Because of ");
    record_add(&r, EVENT_TURN_STARTED, "And?");
    record_add(&r, EVENT_TEXT_DELTA, "So that ");
    char *id = mem_strdup(r.info.id);
    record_release(&r);
    store_close(store);
    return support_keep(id);
}

TEST_IF(capability_store(), test_show_crashes)
{
    static const char cut_off[] = "Why?\n\n## tiro · cut off\n\nBecause of \n\n! cut off\n\n## you";
    static const char unfinished[] =
        "And?\n\n## tiro · unfinished\n\nSo that \n\n"
        "! unfinished: interrupted, or still running\n\n";
    free(add_session("for its store"));
    char *id = add_crashes();
    const char *const limits[] = {NULL, "--limit=2", "--limit=1"};
    for (size_t i = 0; i < 3; i++) {
        char *text = program_output(SESSIONS("show", id, limits[i]));
        size_t len = strlen(text);
        if (i < 2)
            assert_text(text, cut_off);
        else
            assert_no_text(text, "! cut off"); /* a part of the turn that is left out */
        assert_true(len > strlen(unfinished));
        assert_string_equal(text + len - strlen(unfinished), unfinished);
    }
    struct json *v = program_json(SESSIONS("show", "--json", id));
    assert_int_equal(json_len(json_get(v, "events")), 4);
}

TEST_IF(capability_store(), test_show_json)
{
    char *id = add_session("The title");
    struct json *whole = program_json(SESSIONS("show", "--json", id));
    const struct json *events = json_get(whole, "events");
    assert_string_equal(json_get_string(json_get(whole, "session"), "id"), id);
    assert_string_equal(json_get_string(json_first(events), "type"), "run_started");
    struct json *last = program_json(SESSIONS("show", "--json", "--limit", "1"));
    const struct json *fewer = json_get(last, "events");
    assert_string_equal(json_get_string(json_first(fewer), "prompt"), "The second question");
    assert_true(json_len(fewer) * 2 == json_len(events));
}

TEST_IF(capability_store(), test_search)
{
    char *old = add_session("old"), *young = add_session("young");
    struct json *hits = program_json(SESSIONS("search", "--json", "second", "answer"));
    assert_int_equal(json_len(hits), 2);
    assert_string_equal(member(hits, 0, "session_id"), young);
    assert_string_equal(member(hits, 1, "session_id"), old);
    assert_text(member(hits, 0, "snippet"), "The second answer");

    hits = program_json(SESSIONS("search", "--json", "--in", "old", "second"));
    assert_int_equal(json_len(hits), 2); /* question and answer */
    assert_string_equal(member(hits, 0, "session_id"), old);

    struct result r = SESSIONS("search", "--limit", "1", "answer");
    assert_text(r.out, young + UUID_LEN - 8);
    assert_no_text(r.out, old + UUID_LEN - 8);
    expect(r, 0, "--limit N");
    expect(SESSIONS("search", "nonesuch"), 0, "no matches");
    expect(SESSIONS("search", "--in", "nonesuch", "x"), 1, "tiro: SESSION_NOT_FOUND: ");
    run_ok(SESSIONS("search", "\"second answer\"", "(", "*"));
    expect(SESSIONS("search", "\"answer second\""), 0, "no matches");
}

TEST_IF(capability_store(), test_search_shows_the_match)
{
    AUTO(buf_release) struct buf input = BUF_INIT;
    buf_addstr(&input, "[{\"role\":\"user\",\"content\":\"");
    for (int i = 0; i < 30; i++)
        buf_addstr(&input, "filler ");
    buf_addstr(&input, "needle");
    for (int i = 0; i < 30; i++)
        buf_addstr(&input, " filler");
    buf_addstr(&input, "\"}]");
    const char *const import[] = {"sessions", "import", "-", NULL};
    run_ok(program_run(input.data, import));
    struct screen *s = AT_TERMINAL(8, 40, "sessions", "search", "needle");
    assert_text(screen_row_text(s, 1), "needle");
    assert_string_equal(screen_row_text(s, 2), "");
    screen_free(s);
}

/* --- changes --------------------------------------------------------------------------------- */

TEST_IF(capability_store(), test_rename_and_label)
{
    char *id = add_session("before");
    run_ok(SESSIONS("rename", "last", "after"));
    expect_titles(SESSIONS("list", "--json"), TITLES("after"));
    run_ok(SESSIONS("rename", id, ""));
    expect_titles(SESSIONS("list", "--json"), TITLES("The first question"));

    run_ok(SESSIONS("label", id, "b", "+a", "h"));
    run_ok(SESSIONS("label", id, "-b", "-h", "+c"));
    assert_json(program_json(SESSIONS("list", "--json")), "[{'labels':['a','c']}]");
    expect(SESSIONS("label", id, "far-too-long-a-label-to-be-accepted-by-anybody"), 64,
           "tiro: USAGE: ");
    expect(SESSIONS("label", "nonesuch", "x"), 1, "tiro: SESSION_NOT_FOUND: ");
    expect(SESSIONS("rename", "nonesuch", "x"), 1, "tiro: SESSION_NOT_FOUND: ");
}

TEST_IF(capability_store(), test_archive)
{
    char *one = add_session("one"), *two = add_session("two");
    expect(SESSIONS("archive", "nonesuch", one, two), 1, "tiro: SESSION_NOT_FOUND: ");
    expect_titles(SESSIONS("list", "--json", "--live"), NO_TITLES);
    run_ok(SESSIONS("unarchive", two));
    expect_titles(SESSIONS("list", "--json", "--live"), TITLES("two"));
    expect_titles(SESSIONS("list", "--json", "--archived"), TITLES("one"));
    assert_text(program_output(SESSIONS("show", one)), "The first answer");
}

TEST_IF(capability_store(), test_fork)
{
    char *id = add_session("origin");
    struct json *origin = program_json(SESSIONS("show", "--json"));
    int64_t at = 0;
    for (const struct json *v = json_first(json_get(origin, "events")); v; v = json_next(v))
        if (strcmp(json_get_string(v, "type"), "run_completed") == 0 && at == 0)
            at = json_get_int(v, "seq", 0);
    assert_true(at > 0);
    char *fork = program_output(SESSIONS("fork", "--at", support_text("%lld", (long long)at), id));
    fork[strcspn(fork, "\n")] = '\0';
    char *text = program_output(SESSIONS("show", fork));
    assert_says(text, "The first answer", "!The second question");
    char *turn = program_output(SESSIONS("fork", "--at", "turn:1", id));
    turn[strcspn(turn, "\n")] = '\0';
    assert_says(program_output(SESSIONS("show", turn)), "The first answer", "!The second question");
    expect(SESSIONS("fork", "--at", "turn:9", id), 1, "from 1 to 2");
    expect(SESSIONS("fork", "--at", "turn:0", id), 64, "tiro: USAGE: --at takes a whole number");
    struct json *whole = program_json(SESSIONS("fork", "--json", id));
    assert_string_equal(json_get_string(whole, "parent"), id);
    expect(SESSIONS("fork", "--at", "0", id), 64, "tiro: USAGE: --at takes a whole number");
    expect(SESSIONS("fork", "--at", "99999999999", id), 64, "no event 99999999999");
    expect(SESSIONS("fork", "--at", "~before-compaction", id), 64, "was never compacted");
    expect(SESSIONS("fork", "--at", "~before", id), 64, "tiro: USAGE: --at takes a whole number");
    expect(SESSIONS("fork", "nonesuch"), 1, "tiro: SESSION_NOT_FOUND: ");
}

TEST_IF(capability_store(), test_delete)
{
    char *one = add_session("one");
    add_session("two");
    char *three = add_session("three");
    expect(SESSIONS("delete", one), 64, "--yes");
    expect(SESSIONS("delete", "--yes", one, "nonesuch"), 1, "tiro: SESSION_NOT_FOUND: ");
    expect_titles(SESSIONS("list", "--json"), TITLES("three", "two", "one"));
    /* "last" is the same session as its id, also when that has gone. */
    run_ok(SESSIONS("delete", "--yes", "last", three, one));
    expect_titles(SESSIONS("list", "--json"), TITLES("two"));
    expect(SESSIONS("show", one), 1, "tiro: SESSION_NOT_FOUND: ");
}

static void answer_delete(const char *answer, int status, const char *const *left)
{
    const char *const args[] = {"sessions", "delete", "one", "two", NULL};
    const char *const shown[] = {"one", "2 sessions", NULL};
    program_asks(args, 60, shown, answer, status);
    expect_titles(SESSIONS("list", "--json"), left);
}

TEST_IF(capability_store(), test_delete_asks)
{
    add_session("one");
    add_session("two");
    answer_delete("", 1, TITLES("two", "one"));
    answer_delete("no", 1, TITLES("two", "one"));
    answer_delete("y", 0, NO_TITLES);
}

/* --- transfer -------------------------------------------------------------------------------- */

TEST_IF(capability_store(), test_export)
{
    char *id = add_session("The title");
    char *markdown = program_output(SESSIONS("export", id));
    assert_says(markdown, "# The title\n", "The second answer");
    struct json *v = program_json(SESSIONS("export", "--format", "json", id));
    assert_string_equal(json_get_string(json_get(v, "session"), "title"), "The title");

    char *path = support_path("out.jsonl");
    run_ok(SESSIONS("export", "-o", path, id));
    char *file = support_read(path),
         *lines = program_output(SESSIONS("export", "--format=jsonl", id));
    assert_string_equal(file, lines);
    struct json *twin = program_json(SESSIONS("import", "--json", path));
    assert_json(twin, "{'title':'The title'}");
    assert_string_not_equal(json_get_string(twin, "id"), id);
    expect(SESSIONS("export", "-o", path, id), 1, "tiro: FILE_ERROR: ");
    run_ok(SESSIONS("export", "-o", path, "--force", "--format", "md", id));
    assert_string_equal(support_read(path), markdown);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    expect(SESSIONS("export", "--format", "jsno", id), 64, "did you mean \"json\"?");
    expect(SESSIONS("export", "nonesuch"), 1, "tiro: SESSION_NOT_FOUND: ");
    expect(SESSIONS("export", "-o", "/nonesuch/file.md", id), 1, "tiro: FILE_ERROR: ");
}

TEST_IF(capability_store(), test_import_faults)
{
    const char *const titled[] = {"sessions", "import", "-", "--title", "Given here", NULL};
    run_ok(program_run(conversation, titled));
    expect_titles(SESSIONS("list", "--json"), TITLES("Given here"));
    const char *const import[] = {"sessions", "import", "-", NULL};
    struct result r =
        program_run("[{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"judge\"}]", import);
    assert_string_equal(r.out, "");
    expect(r, 1, "messages[1]");
    expect(program_run("no JSON at all", import), 1, "tiro: ");
    expect(program_run("", import), 1, "tiro: ");
    expect(SESSIONS("import", support_path("missing.json")), 1, "tiro: FILE_ERROR: ");
    expect_titles(SESSIONS("list", "--json"), TITLES("Given here"));
}

static char *derived(const char *id, const char *name)
{
    return support_path(support_text(".local/share/tiro/sessions/%s/%s", id, name));
}

TEST_IF(capability_store(), test_rebuild)
{
    char *one = add_session("one"), *two = add_session("two");
    run_ok(SESSIONS("rebuild"));
    char *path = derived(one, "transcript.md"), *other = derived(two, "events.jsonl");
    char *text = support_read(path), *events = support_read(other);
    assert_text(text, "The second answer");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(other), 0);
    run_ok(SESSIONS("rebuild", one));
    assert_string_equal(support_read(path), text);
    assert_int_equal(access(other, F_OK), -1);

    const char *const argv[] = {support_program(), "sessions", "rebuild", NULL};
    struct screen *s = screen_start(argv, support_dir(), 10, 60);
    assert_true(screen_wait_text(s, "2/2", PATIENCE_MS));
    assert_true(screen_wait_exit(s, PATIENCE_MS));
    screen_free(s);
    assert_string_equal(support_read(other), events);
    expect(SESSIONS("rebuild", "nonesuch"), 1, "tiro: SESSION_NOT_FOUND: ");
}

/* --- usage and faults ------------------------------------------------------------------------ */

TEST(test_usage)
{
    expect(SESSIONS("rename", "last", "a", "b"), 64, "tiro sessions rename SESSION TITLE");
    expect(SESSIONS("list", "--yes"), 64, "unknown option --yes");
    expect(SESSIONS("renmae", "a", "b"), 64, "did you mean \"rename\"?");
    expect(RUN("help", "sessions", "shwo"), 64, "did you mean \"show\"?");
    assert_string_equal(program_output(SESSIONS("fork", "--help")),
                        program_output(RUN("help", "sessions", "fork")));
}

static void expect_not_kept(void)
{
    expect(SESSIONS("list"), 0, "not saved");
    assert_string_equal(program_output(SESSIONS("list", "--json")), "[]\n");
    expect(SESSIONS("show"), 1, "tiro: SESSION_NOT_FOUND: ");
    expect(SESSIONS("export", "last"), 1, "tiro: SESSION_NOT_FOUND: ");
    static const char *const verbs[][4] = {{"rebuild"},          {"import", "-"},
                                           {"fork", "x"},        {"archive", "x"},
                                           {"rename", "x", "y"}, {"delete", "--yes", "x"}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        expect(SESSIONS(verbs[i][0], verbs[i][1], verbs[i][2]), 1,
               "tiro: SESSION_PERSISTENCE_DISABLED: ");
}

TEST_IF(capability_store(), test_without_persistence)
{
    add_session("kept before");
    setenv("TIRO_SESSION_PERSIST", "false", 1);
    expect_not_kept();
    unsetenv("TIRO_SESSION_PERSIST");
    write_config("[session]\npersist = false\n");
    expect_not_kept();
    write_config("");
    expect_titles(SESSIONS("list", "--json"), TITLES("kept before"));
}

/* A session that another process has open can be looked at, and not be changed. */
TEST_IF(capability_store(), test_busy)
{
    char *id = add_session("busy"), *dir = support_path(".local/share/tiro");
    int lock;
    assert_true(lock_take(dir, id, &lock, &(struct error){0}));
    expect(SESSIONS("rename", id, "x"), 1, "tiro: SESSION_BUSY: ");
    expect(SESSIONS("label", id, "x"), 1, "tiro: SESSION_BUSY: ");
    expect(SESSIONS("archive", id), 1, "tiro: SESSION_BUSY: ");
    expect(SESSIONS("delete", "-y", id), 1, "tiro: SESSION_BUSY: ");
    run_ok(SESSIONS("show", id));
    run_ok(SESSIONS("export", id));
    run_ok(SESSIONS("fork", id));
    lock_drop(&lock);
    run_ok(SESSIONS("delete", "-y", id));
}
