/* An imported text comes in pieces of any size, and takes little memory. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "session/capability.h"
#include "session/import_private.h"
#include "tests/program.h"
#include "tests/suite.h"

/* Longer than a value may be; where memory says nothing, no more than that. */
enum {
    MB = 1000000,
    MEMORY_MB = 40,
    LARGE = (SUPPORT_TELLS_MEMORY ? 24 : 20) * MB,
    TURNS = LARGE / 4400, /* at least, of a pair of messages each */
    PATIENCE_MS = 10000
};

static struct error e;

/* --- where a value ends ----------------------------------------------------------------------- */

static const struct {
    const char *text;
    size_t len; /* of the value */
} values[] = {
    {"1,2", 1},
    {"-1.5e3 ", 6},
    {"true]", 4},
    {"null}", 4},
    {"\"\",", 2},
    {"\"a\\\"b]\",3", 7},
    {"\"a\\\\\"x", 5},
    {"\"\\u005c\"\"", 8},
    {"[]]", 2},
    {"[[1,\"]\"],{}]]", 12},
    {"{\"a\":[{}],\"}\":\"\\\"}\"}}", 20},
    {"]", 0},
    {",1", 0},
    {":1", 0},
};

/* In two pieces, then a byte at a time. */
TEST(test_a_value_ends_alike_however_it_is_split)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const char *text = values[i].text;
        size_t len = strlen(text);
        for (size_t split = 0; split <= len; split++) {
            struct json_scan s = {0};
            size_t at = json_scan(&s, text, split);
            if (!s.ended)
                at += json_scan(&s, text + split, len - split);
            assert_true(s.ended);
            assert_int_equal(at, values[i].len);
        }
        struct json_scan s = {0};
        size_t at = 0;
        while (!s.ended)
            at += json_scan(&s, text + at, 1);
        assert_int_equal(at, values[i].len);
    }
}

TEST(test_a_value_that_does_not_end)
{
    static const char *const open[] = {"", "1", "\"a", "\"a\\\"", "[1,[2]", "{\"a\":{}", "nul"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        struct json_scan s = {0};
        assert_int_equal(json_scan(&s, open[i], strlen(open[i])), strlen(open[i]));
        assert_false(s.ended);
    }
}

/* --- chunks ----------------------------------------------------------------------------------- */

static void note(void *seen, struct event *ev)
{
    buf_addf(seen, "%s\n", support_keep(event_to_line(ev)));
    event_free(ev);
}

static bool settle(void *seen, struct error *fault)
{
    (void)fault;
    buf_addstr(seen, "|");
    return true;
}

static bool nobody_minds(void *context, int64_t bytes)
{
    (void)context, (void)bytes;
    return true;
}

/* The result of importing the text in chunks of this size, or the error. */
static char *read_in(const char *text, size_t chunk)
{
    static const struct import_keeper keeper = {note, settle};
    struct buf seen = BUF_INIT;
    struct imported im;
    struct import_text t;
    struct error fault = {0};
    FILE *in = fmemopen((void *)text, strlen(text), "rb");
    imported_init(&im);
    im.keeper = &keeper;
    im.context = &seen;
    import_text_init(&t, in, chunk, nobody_minds, NULL);
    if (!import_form_read(&t, &im, &fault))
        buf_addf(&seen, "%s", fault.text);
    buf_addf(&seen, "%s %s %s", im.info.id, im.info.title, im.info.system ? im.info.system : "");
    import_text_release(&t);
    imported_release(&im);
    fclose(in);
    return support_keep(buf_take(&seen));
}

static const char list[] =
    "\xef\xbb\xbf {\"tools\":[{\"a\":\"}\\\"]\"}], \"messages\" :\n[ {\"role\":\"system\","
    "\"content\":\"Größe\"},\n{\"role\":\"user\",\"content\":\"a\\\\\"} ,\r\n"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"a\",\"function\":"
    "{\"name\":\"sky\",\"arguments\":\"{}\"}}]}]\n, \"model\": \"m\"}\n";

#define EVENT                                                                                      \
    "{\"type\":\"run_started\",\"seq\":1,\"session_id\":\"01890a5d-ac96-774b-bcce-b302099a8057\"," \
    "\"at\":\"2026-03-09T14:05:07.123Z\",\"prompt\":\"x\\u20ac\"}"

static const char *const texts[] = {
    list,
    "{\"tiro\":1,\"session\":{\"title\":\"T\"},\"events\":[" EVENT "]}",
    "{\"events\":[" EVENT "],\"session\":{\"title\":\"Behind\"},\"tiro\":1}",
    "{\"type\":\"session\",\"tiro\":1,\"title\":\"T\"}\n" EVENT "\n \n",
    EVENT,
    "[{\"role\":\"user\",\"content\":\"x\"}",
    "{\"tiro\":1,\"session\":{},\"events\":[" EVENT ",\n" EVENT "]}",
    "{\"tiro\":1,\"session\":{},\"events\":[" EVENT "]}}",
};

static int64_t fixed_time(void)
{
    return 1700000000000;
}

FIXTURE(support_setup, support_teardown);

TEST(test_chunks_of_any_size_read_alike)
{
    clock_replace(fixed_time, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *whole = read_in(texts[i], 4096);
        for (size_t chunk = 1; chunk < 40; chunk++) {
            assert_string_equal(read_in(texts[i], chunk), whole);
        }
    }
    clock_replace(NULL, NULL);
}

TEST(test_members_in_any_order)
{
    char *behind = read_in(texts[2], 4096);
    assert_non_null(strstr(behind, "x€"));
    assert_non_null(strstr(behind, "|01890a5d-ac96-774b-bcce-b302099a8057 Behind"));
    char *other = read_in("{\"events\":[" EVENT
                          "],\"session\":{\"id\":"
                          "\"01890a5d-0000-774b-bcce-b302099a8057\"},\"tiro\":1}",
                          4096);
    assert_non_null(strstr(other, "session: \"id\" is not that of the events"));
}

/* --- memory ----------------------------------------------------------------------------------- */

/* A file of about this many bytes. */
static char *make_file(size_t size, const char *head, const char *unit, const char *tail)
{
    char *path = support_path("large");
    FILE *out = fopen(path, "wb");
    size_t len = strlen(unit);
    fputs(head, out);
    for (size_t written = 0; written < size; written += len)
        fputs(unit, out);
    fputs(tail, out);
    assert_int_equal(fclose(out), 0);
    return path;
}

static const char *const large[][3] = {
    /* head, unit, tail */
    {"[", "1,1,1,1,1,1,1,1,", "1]"},
    {"{\"tiro\":1,\"session\":{},\"events\":[", "1,1,1,1,1,1,1,1,", "1]}"},
    {"{\"x\":[", "1,1,1,1,1,1,1,1,", "1],\"messages\":[]}"},
    {"[{\"role\":\"user\",\"content\":\"x\",\"y\":[", "1,1,1,1,1,1,1,1,", "1]}]"},
    {"", "[[[[[[[[[[[[[[[[", ""},
    {"[{\"role\":\"user\",\"content\":\"", "never ended, ", "\"}]"},
    {"{\"type\":\"", "never ended, ", ""},
    {"{\"tiro\":1,\"", "never ended, ", "\":1}"},
};

static void expect_little_memory(const char *what, const char *path, int status, const char *words)
{
    struct support_child c;
    struct rusage after;
    const char *const argv[] = {support_program(), what, "import", path, NULL};
    support_start(&c, argv);
    assert_int_equal(support_finish(&c, NULL), status);
    getrusage(RUSAGE_CHILDREN, &after);
    assert_text(c.err_text.data, words);
    print_message("%.100s: %ld kB\n", c.err_text.data, after.ru_maxrss);
    if (SUPPORT_TELLS_MEMORY)
        assert_true(after.ru_maxrss < (long)MEMORY_MB * MB / 1024);
    support_release(&c);
}

TEST_IF(capability_store(), test_no_text_takes_much_memory)
{
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        char *path = support_keep(make_file(LARGE, large[i][0], large[i][1], large[i][2]));
        expect_little_memory("sessions", path, 1, "nothing was imported");
    }
}

TEST_IF(capability_store(), test_a_large_one_is_imported_in_little_memory)
{
    char message[4096], pair[4200];
    memset(message, 'w', sizeof message);
    for (size_t i = 0; i < sizeof message; i += 6)
        message[i] = ' ';
    message[sizeof message - 1] = '\0';
    snprintf(pair, sizeof pair,
             "{\"role\":\"user\",\"content\":\"?\"},{\"role\":\"assistant\",\"content\":\"%s\"},",
             message);
    char *path =
        support_keep(make_file(LARGE, "[", pair, "{\"role\":\"user\",\"content\":\"The end\"}]"));
    expect_little_memory("sessions", path, 0, "");
    struct json *sessions = program_json(RUN("sessions", "list", "--json"));
    const struct json *info = json_first(sessions);
    assert_true(json_get_int(info, "turns", 0) > TURNS);
    assert_string_equal(json_get_string(info, "title"), "?");
}

TEST_IF(capability_store() && capability_memory(), test_a_line_of_many_values_takes_little_memory)
{
    char *path = support_path("line");
    FILE *out = fopen(path, "wb");
    fputs("{\"x\":[", out);
    for (int i = 0; i < 10 * MB; i++)
        fputs("1,", out);
    fputs("1]}\n", out);
    assert_int_equal(fclose(out), 0);
    expect_little_memory("memory", path, 64, "line:1: the JSON has more than");
}

/* The fault is at the end of the text. */
TEST_IF(capability_store(), test_a_large_one_that_breaks_off_is_none)
{
    char *path =
        make_file(LARGE, "[", "{\"role\":\"user\",\"content\":\"to be or not to be, so\"},", "");
    expect_little_memory("sessions", path, 1,
                         SUPPORT_TELLS_MEMORY ? "not valid JSON near byte 24" : "near byte 20");
    struct json *sessions = program_json(RUN("sessions", "list", "--json"));
    assert_null(json_first(sessions));
}

/* --- being stopped ---------------------------------------------------------------------------- */

/* Files of the data directory but the database's. */
static size_t count_others(void)
{
    size_t count = 0;
    char *path = support_path(".local/share/tiro");
    DIR *dir = opendir(path);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)))
        count += *entry->d_name != '.' && strncmp(entry->d_name, "tiro.db", 7) != 0;
    if (dir)
        closedir(dir);
    return count;
}

static bool has_begun(void *context)
{
    (void)context;
    return access(support_path(".local/share/tiro/tiro.db-wal"), F_OK) == 0;
}

/* The writer of the pipe has stopped in the middle. */
TEST_IF(capability_store(), test_a_signal_ends_a_pipe_that_says_nothing)
{
    static const char begun[] = "[{\"role\":\"user\",\"content\":\"x\"},";
    struct support_child c;
    const char *const argv[] = {support_program(), "sessions", "import", "-", NULL};
    support_start(&c, argv);
    assert_int_equal(write(c.in, begun, strlen(begun)), strlen(begun));
    assert_true(support_wait_until(has_begun, NULL, PATIENCE_MS));
    /* Waits until the handler is installed; before, the signal kills the program. */
    int in = c.in;
    c.in = fcntl(in, F_DUPFD_CLOEXEC, 0);
    kill(c.pid, SIGINT);
    int status = support_finish(&c, NULL);
    close(in);
    assert_true(status == 130 || status == 128 + SIGINT);
    assert_string_equal(c.out_text.data, "");
    support_release(&c);
    assert_int_equal(count_others(), 0);
    struct json *sessions = program_json(RUN("sessions", "list", "--json"));
    assert_null(json_first(sessions));
}

static bool stop_at(void *context, int percent)
{
    return percent < *(int *)context;
}

TEST_IF(capability_store(), test_it_can_be_stopped_anywhere)
{
    AUTO(catalog_release) struct catalog c = {0};
    char *store = support_path("tiro.db");
    char *path =
        make_file(4 * MB, "[", "{\"role\":\"user\",\"content\":\"to be or not to be, so\"},",
                  "{\"role\":\"user\",\"content\":\"The end\"}]");
    assert_true(catalog_open(&c, store, CATALOG_WRITE, &e));
    for (int limit = 0; limit < 40; limit += 13) {
        AUTO(session_list_release) struct session_list sessions = {0};
        struct session_filter all = {0};
        struct session_info info;
        const struct session_import_options o = {.tell = stop_at, .context = &limit};
        FILE *in = fopen(path, "rb");
        assert_err(import_session(&c, in, &o, &info, &e), e, ERR_INTERRUPTED);
        assert_true(catalog_list(&c, &all, &sessions, NULL, &e));
        assert_int_equal(sessions.items.len, 0);
        fclose(in);
    }
}
