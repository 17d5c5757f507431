/* A pipe, a device or a socket in place of a file, or a file that may not grow, is reported without
 * waiting. */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/paths.h"
#include "session/capability.h"
#include "tests/damage.h"
#include "tests/program.h"
#include "tests/suite.h"

static const char talk[] =
    "[{\"role\":\"user\",\"content\":\"Hello\"},{\"role\":\"assistant\",\"content\":\"Hi\"}]";

static struct error e;

/* --- replacements of files -------------------------------------------------------------------- */

static void make_pipe(const char *path)
{
    assert_int_equal(mkfifo(path, 0600), 0);
}

static void make_device(const char *path)
{
    assert_int_equal(symlink("/dev/zero", path), 0);
}

static void make_directory(const char *path)
{
    assert_int_equal(mkdir(path, 0700), 0);
}

/* Bound by its relative name, since an absolute one may be too long. */
static void make_socket(const char *path)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char *before = support_keep(getcwd(NULL, 0)), *directory = support_keep(mem_strdup(path));
    *strrchr(directory, '/') = '\0';
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s", strrchr(path, '/') + 1);
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_int_equal(chdir(before), 0);
    close(fd);
}

static void (*const makers[])(const char *path) = {make_pipe, make_device, make_directory,
                                                   make_socket};

static void take_away(const char *path)
{
    if (unlink(path) != 0)
        assert_int_equal(rmdir(path), 0);
}

static char *in_data(const char *name)
{
    char *directory = support_path(".local/share/tiro");
    assert_true(paths_make_dir(directory, &e));
    char *path = paths_join(directory, name);
    return support_keep(path);
}

/* --- the database ----------------------------------------------------------------------------- */

static void expect_refused(const char *name)
{
    expect(RUN("sessions", "list"), 1, name);
    expect(RUN_WITH(talk, "sessions", "import", "-"), 1, name);
    struct result doctor = ended(1, RUN("doctor"));
    assert_text(doctor.out, "is no regular file"); /* with the target of a link */
}

FIXTURE(support_setup, support_teardown);

TEST_IF(capability_store(), test_a_database_that_is_no_file)
{
    char *path = in_data("tiro.db");
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        makers[i](path);
        expect_refused("tiro.db is no");
        take_away(path);
    }
}

TEST_IF(capability_store(), test_what_belongs_to_a_database_is_no_file)
{
    static const char *const names[] = {"tiro.db-wal", "tiro.db-shm", "tiro.db-journal"};
    run_ok(RUN_WITH(talk, "sessions", "import", "-"));
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char *path = in_data(names[n]);
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
            makers[i](path);
            expect_refused(names[n]);
            take_away(path);
        }
    }
    struct json *list = program_json(RUN("sessions", "list", "--json"));
    assert_non_null(json_first(list));
}

/* --- other files ------------------------------------------------------------------------------ */

TEST(test_a_configuration_that_is_a_pipe)
{
    char *directory = support_path(".config/tiro"), *path = support_path(".config/tiro/tiro.ini");
    assert_true(paths_make_dir(directory, &e));
    make_pipe(path);
    expect(RUN("config", "check"), 1, "");
    struct result r = RUN("doctor");
    assert_text(r.out, "tiro.ini is not a regular file");
    free(path);
}

TEST(test_a_file_that_must_not_be_a_pipe)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    char *path = support_path("pipe");
    make_pipe(path);
    FILE *writer = fopen(path, "r+b"); /* one that does not go away */
    assert_error(paths_read_file(path, PATHS_FILE, &text, &e), e, ERR_FILE_ERROR, path);
    assert_false(log_open(path, LOG_INFO, &e));
    fclose(writer);
    assert_false(log_open(path, LOG_INFO, &e));
    assert_non_null(strstr(e.text, path));
    assert_false(log_open("/dev/null", LOG_INFO, &e));
}

TEST_IF(capability_store(), test_a_pipe_to_import_without_a_writer)
{
    char *path = support_path("pipe");
    make_pipe(path);
    expect(RUN("sessions", "import", path), 1, "nothing in it");
    if (capability_memory())
        expect(RUN("memory", "import", path), 0, "");
}

/* --- files that may not grow ------------------------------------------------------------------ */

/* `ulimit` counts in blocks of 512 bytes. */
static struct result run_limited(const char *blocks, const char *input)
{
    struct support_child c;
    const char *const argv[] = {
        "/bin/sh",         "-c", "ulimit -f \"$1\" && exec \"$2\" sessions import -", "sh", blocks,
        support_program(), NULL};
    support_start(&c, argv);
    int status = support_finish(&c, input);
    struct result r = {status, support_keep(buf_take(&c.out_text)),
                       support_keep(buf_take(&c.err_text))};
    support_release(&c);
    return r;
}

static int64_t count_sessions(void)
{
    char *path = in_data("tiro.db");
    int64_t count = damage_number(path, "SELECT count(*) FROM session");
    assert_int_equal(damage_number(path,
                                   "SELECT count(*) FROM pragma_integrity_check"
                                   " WHERE integrity_check <> 'ok'"),
                     0);
    return count;
}

TEST_IF(capability_store(), test_a_file_that_may_not_grow)
{
    AUTO(buf_release) struct buf large = BUF_INIT;
    const char *const import[] = {"sessions", "import", "-", NULL};
    run_ok(program_run(talk, import));
    buf_addstr(&large, "[");
    for (int i = 0; i < 8000; i++)
        buf_addf(&large, "%s{\"role\":\"user\",\"content\":\"number %d is not said twice\"}",
                 i > 0 ? "," : "", i);
    buf_addstr(&large, "]");
    /* With no memory at all the thread sanitizer ends before main(). */
    static const char *const limits[] = {"1", "8", "300", "700", "1200"};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct result r = run_limited(limits[i], large.data);
        print_message("%s: %s", limits[i], r.err);
        assert_string_equal(r.out, "");
        expect(r, 1, "tiro: ");
        assert_int_equal(count_sessions(), 1);
    }
    run_ok(program_run(large.data, import));
    assert_int_equal(count_sessions(), 2);
}
