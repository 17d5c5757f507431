/* The tool write_file: whole files, atomically, and the preview that a person sees. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/workplace.h"

static const char *write_file(const char *path, const char *content, bool want_error)
{
    char *args = support_keep(workplace_args("path", path, "content", content, NULL));
    return workplace_call("write_file", args, want_error);
}

static const char *preview(const char *path, const char *content, bool want_error)
{
    char *args = support_keep(workplace_args("path", path, "content", content, NULL));
    return workplace_preview("write_file", args, want_error);
}

static void assert_file(const char *name, const char *text)
{
    assert_string_equal(support_read(support_path(name)), text);
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(support_path(name), &st), 0);
    return st.st_mode & 07777;
}

static size_t entries(void)
{
    size_t n = 0;
    DIR *dir = opendir(place.root);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

FIXTURE(workplace_setup, workplace_teardown);

TEST(writes_new_files_and_their_directories)
{
    mode_t mask = umask(027);
    assert_string_equal(write_file("a.txt", "one\ntwo\n", false), "wrote 8 bytes, 2 lines");
    assert_string_equal(write_file("x/y/./b", "ü", false), "wrote 2 bytes, 1 line");
    assert_string_equal(write_file("empty", "", false), "wrote 0 bytes, 0 lines");
    umask(mask);
    assert_file("work/a.txt", "one\ntwo\n");
    assert_file("work/x/y/b", "ü");
    assert_file("work/empty", "");
    assert_int_equal(mode_of("work/a.txt"), 0640);
    assert_int_equal(mode_of("work/x"), 0750);
    assert_int_equal(entries(), 3); /* nothing else is left */
}

/* The next write to a directory removes the temporary files that a killed process left there. */
TEST(what_was_abandoned_is_swept)
{
    workplace_put("work/.tiro-0123456789abcdef", "half of it");
    workplace_put("work/.tiro-of-the-user", "stays");
    workplace_call("write_file", "{\"path\":\"new.txt\",\"content\":\"new\"}", false);
    assert_file("work/.tiro-of-the-user", "stays");
    assert_int_equal(access(support_path("work/.tiro-0123456789abcdef"), F_OK), -1);
}

TEST(replaces_what_is_there)
{
    char *absolute = support_text("%s/run.sh", place.root);
    workplace_put("work/run.sh", "old\n");
    assert_int_equal(fchmodat(place.root_fd, "run.sh", 0755, 0), 0);
    int reader = openat(place.root_fd, "run.sh", O_RDONLY);
    assert_string_equal(write_file(absolute, "new\n", false), "wrote 4 bytes, 1 line");
    assert_file("work/run.sh", "new\n");
    assert_int_equal(mode_of("work/run.sh"), 0755);
    /* An open reader reads the old file to its end, since the file was replaced, not changed. */
    char bytes[8] = "";
    assert_int_equal(read(reader, bytes, sizeof bytes - 1), 4);
    assert_string_equal(bytes, "old\n");
    close(reader);
    assert_int_equal(entries(), 1);
}

TEST(follows_links_inside)
{
    struct stat st;
    workplace_mkdir("work/real");
    workplace_put("work/real/file", "old");
    workplace_link("real/file", "work/link");
    workplace_link("real/new", "work/dangling");
    workplace_link("real", "work/dir");
    write_file("link", "through the link", false);
    write_file("dangling", "made", false);
    write_file("dir/third", "in the directory", false);
    assert_file("work/real/file", "through the link");
    assert_file("work/real/new", "made");
    assert_file("work/real/third", "in the directory");
    assert_int_equal(fstatat(place.root_fd, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISLNK(st.st_mode));
}

TEST(refuses_what_is_no_file)
{
    workplace_mkdir("work/dir");
    workplace_put("work/file", "old");
    assert_int_equal(mkfifoat(place.root_fd, "fifo", 0600), 0);
    static const struct {
        const char *path, *says;
    } rows[] = {
        {"dir", "dir: is a directory"},
        {"dir/", "directory"},
        {".", "directory"},
        {"new/", "directory"},
        {"new/.", "directory"},
        {"", "directory"},
        {"dir/..", "directory"},
        {"fifo", "not a regular file"},
        {"file/x", "Not a directory"},
        {"new/../x", "No such file"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *out = write_file(rows[i].path, "new", true);
        if (!strstr(out, rows[i].says))
            fail_msg("%s: %s", rows[i].path, out);
        out = preview(rows[i].path, "new", true);
        if (!strstr(out, rows[i].says))
            fail_msg("preview of %s: %s", rows[i].path, out);
    }
    assert_file("work/file", "old");
    assert_int_equal(entries(), 3);
}

TEST(respects_permissions)
{
    workplace_put("work/fixed", "old");
    if (geteuid() == 0) { /* who may do anything, but takes nothing away */
        struct stat st;
        assert_int_equal(fchownat(place.root_fd, "fixed", 1234, 4321, 0), 0);
        write_file("fixed", "new", false);
        assert_int_equal(fstatat(place.root_fd, "fixed", &st, 0), 0);
        assert_int_equal(st.st_uid, 1234);
        assert_int_equal(st.st_gid, 4321);
        return;
    }
    assert_int_equal(fchmodat(place.root_fd, "fixed", 0444, 0), 0);
    assert_non_null(strstr(write_file("fixed", "new", true), "Permission denied"));
    assert_non_null(strstr(preview("fixed", "new", true), "Permission denied"));
    assert_file("work/fixed", "old");
    workplace_mkdir("work/closed");
    assert_int_equal(fchmodat(place.root_fd, "closed", 0555, 0), 0);
    assert_non_null(strstr(write_file("closed/x", "new", true), "Permission denied"));
    assert_non_null(strstr(preview("closed/x", "new", true), "Permission denied"));
    assert_non_null(strstr(write_file("closed/x/y", "new", true), "Permission denied"));
}

TEST(a_stop_leaves_the_old_one)
{
    workplace_put("work/a", "old");
    workplace_interrupt();
    assert_string_equal(write_file("a", "new", true), "interrupted");
    place.stop = false;
    place.context.deadline_ms = clock_mono_ms() - 1;
    assert_string_equal(write_file("a", "new", true), "timed out");
    assert_file("work/a", "old");
    assert_int_equal(entries(), 1);
}

TEST(previews_the_difference)
{
    workplace_put("work/a", "one\ntwo\nthree\n");
    assert_string_equal(preview("a", "one\nzwei\nthree\n", false),
                        "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n");
    assert_string_equal(preview("./a", "one\ntwo", false),
                        "--- ./a\n+++ ./a\n@@ -1,3 +1,2 @@\n one\n-two\n-three\n+two\n"
                        "\\ No newline at end of file\n");
    assert_string_equal(preview("a", "one\ntwo\nthree\n", false), "[no difference]\n");
    assert_file("work/a", "one\ntwo\nthree\n");
    workplace_link("a", "work/link");
    assert_non_null(strstr(preview("link", "", false), "@@ -1,3 +0,0 @@\n-one\n"));
}

TEST(previews_a_new_file)
{
    assert_string_equal(preview("new", "one\ntwo\n", false),
                        "--- /dev/null\n+++ new\n@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_string_equal(preview("x/y\nz", "\nend", false),
                        "--- /dev/null\n+++ x/y␊z\n@@ -0,0 +1,2 @@\n+\n+end\n"
                        "\\ No newline at end of file\n");
    assert_int_equal(entries(), 0); /* it changes nothing */
}

TEST(a_preview_is_clean)
{
    workplace_put("work/a", "\x1b[2J\xff\n");
    const char *out = preview("a", "\x1b]0;title\x07\n", false);
    assert_says(out, "-\xe2\x90\x9b[2J<0xFF>\n", "+\xe2\x90\x9b]0;title\xe2\x90\x87\n");
}

/* A file that is too large to be compared, or may not be read, is replaced all the same. */
TEST(shows_the_whole_where_nothing_can_be_compared)
{
    workplace_put("work/a", "");
    assert_int_equal(truncate(support_path("work/a"), 17 * 1024 * 1024), 0);
    assert_string_equal(preview("a", "new\n", false),
                        "[the present content has more than 16 MiB; this is the whole new content "
                        "of a]\nnew\n");
    if (geteuid() == 0)
        return;
    assert_int_equal(fchmodat(place.root_fd, "a", 0200, 0), 0);
    assert_string_equal(preview("a", "new\n", false),
                        "[the present content cannot be read: Permission denied; this is the whole "
                        "new content of a]\nnew\n");
}

/* --- between the question and the answer ------------------------------------------------------ */

static void ask_about(struct tool_call *call, const char *path)
{
    char *args = support_keep(workplace_args("path", path, "content", "new\n", NULL));
    buf_clear(&place.out);
    assert_true(tool_call_prepare(call, &place.tools, "write_file", args, &place.out));
    assert_true(tool_call_preview(call, &place.context, &place.out));
    buf_clear(&place.out);
}

/* Checks that the call was refused, with the change of the file as the reason. */
static void assert_refused(struct tool_call *call, const char *what)
{
    if (!tool_call_run(call, &place.context, &place.out))
        fail_msg("%s: %s", what, place.out.data);
    char *says = support_text(
        "%s since the user was asked; nothing was written. Read it again and ask again", what);
    assert_string_equal(place.out.data, says);
    tool_call_release(call);
}

static void set_modified(const char *name, time_t seconds, long nanoseconds)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT},
                                     {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    assert_int_equal(utimensat(place.root_fd, name, times, 0), 0);
}

static void replace_alike(void)
{
    struct stat st;
    assert_int_equal(fstatat(place.root_fd, "a", &st, 0), 0);
    workplace_put("work/b", "odd\n");
    set_modified("b", st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    assert_int_equal(renameat(place.root_fd, "b", place.root_fd, "a"), 0);
}

static void lengthen(void)
{
    workplace_put("work/a", "longer\n");
    set_modified("a", 1000, 1);
}

static void touch_by_nanoseconds(void)
{
    set_modified("a", 1000, 2);
}

/* Repeats until the clock of the file system has advanced. */
static bool rewrite_in_place(void *context)
{
    (void)context;
    struct stat before, after;
    assert_int_equal(fstatat(place.root_fd, "a", &before, 0), 0);
    workplace_put("work/a", "odd\n");
    set_modified("a", 1000, 1);
    assert_int_equal(fstatat(place.root_fd, "a", &after, 0), 0);
    return before.st_ctim.tv_sec != after.st_ctim.tv_sec ||
           before.st_ctim.tv_nsec != after.st_ctim.tv_nsec;
}

static void rewrite_and_set_back(void)
{
    assert_true(support_wait_until(rewrite_in_place, NULL, 5000));
}

TEST(a_changed_file_is_not_replaced)
{
    static const struct {
        void (*change)(void);
        const char *left;
    } rows[] = {
        {replace_alike, "odd\n"},
        {lengthen, "longer\n"},
        {touch_by_nanoseconds, "old\n"},
        {rewrite_and_set_back, "odd\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tool_call call;
        workplace_put("work/a", "old\n");
        set_modified("a", 1000, 1);
        ask_about(&call, "a");
        rows[i].change();
        assert_refused(&call, "a changed");
        assert_file("work/a", rows[i].left);
        assert_int_equal(entries(), 1); /* nothing else is left */
    }
}

TEST(a_file_that_comes_or_goes_is_not_written)
{
    struct tool_call call;
    ask_about(&call, "a");
    workplace_put("work/a", "");
    assert_refused(&call, "a was created");
    assert_file("work/a", "");
    ask_about(&call, "a");
    assert_int_equal(unlinkat(place.root_fd, "a", 0), 0);
    assert_refused(&call, "a was removed");
    assert_int_equal(entries(), 0);
    ask_about(&call, "x/y/a"); /* there is no directory yet */
    workplace_mkdir("work/x");
    workplace_mkdir("work/x/y");
    workplace_put("work/x/y/a", "theirs");
    assert_refused(&call, "x/y/a was created");
    assert_file("work/x/y/a", "theirs");
}

TEST(a_path_that_leads_elsewhere_is_not_written)
{
    struct tool_call call;
    workplace_mkdir("work/x");
    workplace_mkdir("work/y");
    workplace_link("x", "work/link");
    ask_about(&call, "link/a");
    assert_int_equal(unlinkat(place.root_fd, "link", 0), 0);
    workplace_link("y", "work/link");
    assert_refused(&call, "link/a leads to another place");
    ask_about(&call, "x/a");
    assert_int_equal(unlinkat(place.root_fd, "x", AT_REMOVEDIR), 0);
    assert_refused(&call, "x/a has lost its directory");
    assert_int_equal(unlinkat(place.root_fd, "y", AT_REMOVEDIR), 0); /* it is empty */
    assert_int_equal(entries(), 1);                                  /* x was not made again */
    workplace_put("work/one", "old\n");
    workplace_put("work/two", "old\n");
    workplace_link("one", "work/file");
    ask_about(&call, "file");
    assert_int_equal(unlinkat(place.root_fd, "file", 0), 0);
    workplace_link("two", "work/file");
    assert_refused(&call, "file changed");
    assert_file("work/two", "old\n");
}

TEST(what_is_as_it_was_shown_is_written)
{
    static const char *const paths[] = {"a", "new", "x/y/new"};
    workplace_put("work/a", "old\n");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct tool_call call;
        ask_about(&call, paths[i]);
        workplace_put("work/beside", "it"); /* others may change */
        if (tool_call_run(&call, &place.context, &place.out))
            fail_msg("%s", place.out.data);
        tool_call_release(&call);
        assert_file(support_text("work/%s", paths[i]), "new\n");
    }
}

static void fill(struct buf *out, const char *what, int lines)
{
    buf_clear(out);
    for (int i = 0; i < lines; i++)
        buf_addf(out, "%s line %d\n", what, i);
}

/* A difference that is too large to compute is not computed. */
TEST(a_huge_difference_is_shown_as_the_new_text)
{
    AUTO(buf_release) struct buf old = BUF_INIT, new = BUF_INIT;
    fill(&old, "old", 200000);
    fill(&new, "new", 2);
    workplace_put("work/a", old.data);
    assert_string_equal(preview("a", new.data, false),
                        "[the difference is too long to be shown; this is the whole new content of "
                        "a]\nnew line 0\nnew line 1\n");
    fill(&new, "new", 200000);
    assert_non_null(strstr(preview("a", new.data, true), " at most 1048576 can be shown"));
    assert_in_range(place.out.len, 1, 200);
    preview("new file", new.data, true);
}
