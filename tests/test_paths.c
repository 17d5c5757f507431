#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/paths.h"
#include "tests/suite.h"

static void assert_path(char *path, const char *base, const char *rest)
{
    assert_string_equal(support_keep(path), support_text("%s%s", base, rest));
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return (unsigned)st.st_mode & 07777u;
}

FIXTURE(support_setup, support_teardown);

TEST(home_holds_what_nothing_moves)
{
    const char *home = support_dir();
    assert_path(paths_dir(PATHS_CONFIG), home, "/.config/tiro");
    assert_path(paths_config_file(), home, "/.config/tiro/tiro.ini");
    assert_path(paths_dir(PATHS_DATA), home, "/.local/share/tiro");
    assert_path(paths_dir(PATHS_STATE), home, "/.local/state/tiro");
}

TEST(xdg_variables_move_them)
{
    setenv("XDG_CONFIG_HOME", "/x/config", 1);
    setenv("XDG_DATA_HOME", "/x/data/", 1);
    setenv("XDG_STATE_HOME", "/x/state", 1);
    assert_path(paths_config_file(), "/x/config", "/tiro/tiro.ini");
    assert_path(paths_dir(PATHS_DATA), "/x/data", "/tiro");
    assert_path(paths_dir(PATHS_STATE), "/x/state", "/tiro");
    setenv("XDG_DATA_HOME", "relative/data", 1);
    setenv("XDG_STATE_HOME", "", 1);
    assert_path(paths_dir(PATHS_DATA), support_dir(), "/.local/share/tiro");
    assert_path(paths_dir(PATHS_STATE), support_dir(), "/.local/state/tiro");
}

TEST(without_home_the_user_database_tells)
{
    unsetenv("HOME");
    char *path = support_keep(paths_dir(PATHS_CONFIG));
    assert_int_equal(path[0], '/');
    assert_non_null(strstr(path, "/.config/tiro"));
    setenv("HOME", support_dir(), 1);
}

TEST(joining_adds_one_slash)
{
    assert_path(paths_join("a", "b"), "a/b", "");
    assert_path(paths_join("a/", "b"), "a/b", "");
    assert_path(paths_join("/", "b"), "/b", "");
    assert_path(paths_join("", "b"), "b", "");
}

TEST(directories_are_made_private)
{
    struct error e = {0};
    char *deep = support_path("one/two/three");
    assert_true(paths_make_dir(deep, &e));
    assert_true(paths_make_dir(deep, &e));
    assert_int_equal(mode_of(deep), 0700);
    assert_int_equal(mode_of(support_path("one")), 0700);

    char *file = support_path("file"), *below = support_path("file/dir");
    support_write(file, "x");
    assert_error(paths_make_dir(file, &e), e, ERR_FILE_ERROR, "file");
    assert_false(paths_make_dir(below, &e));
}

TEST(files_are_read_whole)
{
    struct error e = {0};
    char *path = support_path("big");
    AUTO(buf_release) struct buf content = BUF_INIT, got = BUF_INIT;
    for (int i = 0; i < 20000; i++)
        buf_addf(&content, "line %d\n", i);
    buf_add(&content, "\0end", 4);
    assert_true(paths_write_file(path, content.data, content.len, &e));
    buf_addstr(&got, "before ");
    assert_true(paths_read_file(path, PATHS_FILE, &got, &e));
    assert_int_equal(got.len, content.len + 7);
    assert_memory_equal(got.data + 7, content.data, content.len);
    buf_release(&got);

    buf_init(&got, content.len - 1);
    assert_error(paths_read_file(path, PATHS_FILE, &got, &e), e, ERR_FILE_ERROR, "too long");
    assert_non_null(strstr(e.text, path));
    buf_release(&got);
    buf_init(&got, content.len);
    assert_true(paths_read_file(path, PATHS_FILE, &got, &e));
    buf_release(&got);
}

TEST(only_files_and_pipes_are_read)
{
    struct error e = {0};
    AUTO(buf_release) struct buf got = BUF_INIT;
    assert_false(paths_read_file(support_dir(), PATHS_FILE, &got, &e));
    assert_non_null(strstr(e.text, support_dir()));
    assert_false(paths_read_file("/dev/null", PATHS_FILE_OR_PIPE, &got, &e));
    assert_error(paths_read_file(support_path("missing"), PATHS_FILE, &got, &e), e, ERR_FILE_ERROR,
                 "missing");

    char *fifo = support_path("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    /* No writer: empty, and no waiting. */
    assert_true(paths_read_file(fifo, PATHS_FILE_OR_PIPE, &got, &e));
    assert_int_equal(got.len, 0);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    assert_true(paths_read_file(support_text("/dev/fd/%d", ends[0]), PATHS_FILE_OR_PIPE, &got, &e));
    assert_string_equal(got.data, "piped");
    close(ends[0]);
}

TEST(writing_replaces_and_is_private)
{
    struct error e = {0};
    char *path = support_path("saved");
    support_write(path, "old and longer");
    assert_int_equal(chmod(path, 0644), 0);
    assert_true(paths_write_file(path, "new", 3, &e));
    char *text = support_read(path);
    assert_string_equal(text, "new");
    assert_int_equal(mode_of(path), 0600);

    char *link = support_path("link");
    assert_int_equal(symlink("saved", link), 0);
    assert_true(paths_write_file(link, "linked", 6, &e));
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    text = support_read(path);
    assert_string_equal(text, "linked");
}

TEST(a_failed_write_leaves_nothing)
{
    struct error e = {0};
    char *nowhere = support_path("no/such/dir");
    assert_error(paths_write_file(nowhere, "x", 1, &e), e, ERR_FILE_ERROR, nowhere);
    char *dir = support_path("a-directory");
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_false(paths_write_file(dir, "x", 1, &e));
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(rmdir(support_dir()), 0); /* no temporary file stayed */
    assert_int_equal(mkdir(support_dir(), 0700), 0);
}

TEST(a_whole_file_appears_at_once)
{
    struct error e = {0};
    struct whole_file f;
    char *path = support_path("whole");
    assert_true(whole_file_begin(&f, path, false, &e));
    assert_true(whole_file_write(&f, "half and ", 9, &e));
    assert_int_equal(access(path, F_OK), -1);
    assert_true(whole_file_write(&f, "half", 4, &e));
    assert_true(whole_file_finish(&f, &e));
    whole_file_drop(&f);
    char *text = support_read(path);
    assert_string_equal(text, "half and half");
    assert_int_equal(mode_of(path), 0600);

    assert_true(whole_file_begin(&f, path, true, &e));
    assert_true(whole_file_write(&f, "other", 5, &e));
    whole_file_drop(&f);
    text = support_read(path);
    assert_string_equal(text, "half and half");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(support_dir()), 0); /* no temporary file stayed */
    assert_int_equal(mkdir(support_dir(), 0700), 0);
}

/* The next write removes a temporary file that a killed process left; temporary files of running
 * processes and files of other names stay. */
TEST(what_was_abandoned_is_swept)
{
    struct error e = {0};
    struct whole_file running;
    char *path = support_path("swept"), *abandoned = support_path("swept.tiro-Ab12cd");
    char *others[] = {support_path("swept.tiro-Ab12cde"), support_path("swept.backup"),
                      support_path("other.tiro-Ab12cd")};
    support_write(abandoned, "half of it");
    for (size_t i = 0; i < 3; i++)
        support_write(others[i], "of the user");
    assert_true(whole_file_begin(&running, path, true, &e));
    assert_int_equal(access(abandoned, F_OK), -1);
    assert_true(whole_file_write(&running, "first", 5, &e));
    assert_true(paths_write_file(path, "second", 6, &e));
    assert_int_equal(access(running.temporary, F_OK), 0);
    assert_true(whole_file_finish(&running, &e));
    assert_string_equal(support_read(path), "first");
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(unlink(others[i]), 0);
        free(others[i]);
    }
}

/* The file that the program was writing when it died is incomplete and is removed; a finished file
 * stays. */
TEST(a_dying_program_leaves_no_half_file)
{
    struct error e = {0};
    char *done = support_path("done"), *half = support_path("half");
    pid_t child = fork();
    if (child == 0) {
        struct whole_file f;
        fclose(stderr);
        if (!paths_write_file(done, "whole", 5, &e) || !whole_file_begin(&f, half, false, &e) ||
            !whole_file_write(&f, "half", 4, &e))
            _exit(1);
        die("out of memory");
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 70);
    assert_int_equal(unlink(done), 0);
    assert_int_equal(rmdir(support_dir()), 0); /* no temporary file stayed */
    assert_int_equal(mkdir(support_dir(), 0700), 0);
}

TEST(a_whole_file_takes_no_name_that_is_taken)
{
    struct error e = {0};
    struct whole_file f;
    char *path = support_path("whole");
    assert_true(whole_file_begin(&f, path, false, &e));
    assert_true(whole_file_write(&f, "late", 4, &e));
    support_write(path, "first"); /* meanwhile */
    assert_error(whole_file_finish(&f, &e), e, ERR_FILE_ERROR, path);
    assert_false(whole_file_begin(&f, path, false, &e));
    assert_string_equal(support_read(path), "first");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(whole_file_begin(&f, path, true, &e)); /* never replaces anything but a file */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(support_dir()), 0);
    assert_int_equal(mkdir(support_dir(), 0700), 0);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

TEST(the_log_holds_one_line_an_entry)
{
    struct error e = {0};
    char *path = support_path("log");
    log_line(LOG_ERROR, "nobody hears this");
    assert_true(log_open(path, LOG_OFF, &e));
    assert_int_equal(access(path, F_OK), -1);
    assert_true(log_open(path, LOG_INFO, &e));
    log_line(LOG_ERROR, "first\nof \x1B %d", 2);
    log_line(LOG_INFO, "second");
    log_line(LOG_DEBUG, "too detailed");
    log_close();
    log_line(LOG_ERROR, "closed");
    assert_int_equal(mode_of(path), 0600);
    char *text = support_read(path);
    assert_int_equal(count_lines(text), 2);
    assert_non_null(strstr(text, "Z error first of \xE2\x90\x9B 2\n"));
    assert_non_null(strstr(text, "Z info second\n"));

    assert_true(log_open(path, LOG_DEBUG, &e));
    log_line(LOG_DEBUG, "third");
    log_close();
    text = support_read(path);
    assert_int_equal(count_lines(text), 3);
    assert_err(log_open(support_dir(), LOG_DEBUG, &e), e, ERR_FILE_ERROR);
}
