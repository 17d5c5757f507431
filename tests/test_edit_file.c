/* The tool edit_file: exact replacements of a file that was read. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/suite.h"
#include "tests/workplace.h"

FIXTURE(workplace_setup, workplace_teardown);

static const char *read_file(const char *path)
{
    return workplace_call("read_file", support_text("{\"path\":\"%s\"}", path), false);
}

/* `edits`: JSON with ' for ". */
static char *edits_of(const char *path, const char *edits)
{
    return support_text("{\"path\":\"%s\",\"edits\":[%s]}", path, support_json(edits));
}

static const char *edit(const char *path, const char *edits, bool want_error)
{
    return workplace_call("edit_file", edits_of(path, edits), want_error);
}

static void assert_file(const char *text)
{
    assert_string_equal(support_read(support_path("work/a")), text);
}

#define EDIT(from, to) "{'old_text':'" from "','new_text':'" to "'}"
#define EDIT_ALL(from, to) "{'old_text':'" from "','new_text':'" to "','replace_all':true}"

TEST(replaces_exactly_what_is_there_once)
{
    static const struct {
        const char *before, *edits, *after, *says;
    } rows[] = {
        {"one\ntwo\n", EDIT("two", "zwei"), "one\nzwei\n", "replaced 1 text"},
        {"one\ntwo\n", EDIT("one\\n", ""), "two\n", "replaced 1 text"},
        {"a b a\n", EDIT_ALL("a", "aa"), "aa b aa\n", "replaced 2 texts"},
        /* in order: the second finds what the first has written */
        {"one\n", EDIT("one", "two three") "," EDIT("two", "2"), "2 three\n", "replaced 2 texts"},
        /* line ends are the file's, even where it has both */
        {"a\r\nb\r\nc\r\n", EDIT("a\\nb", "x\\ny\\nz"), "x\r\ny\r\nz\r\nc\r\n", "replaced 1 text"},
        {"a\r\nb\r\nc", EDIT("c", "c\\nd"), "a\r\nb\r\nc\r\nd", "replaced 1 text"},
        {"a\nb\r\nc\r\nd\n", EDIT("b\\nc", "x\\ny"), "a\nx\r\ny\r\nd\n", "replaced 1 text"},
        {"a\nb\r\nc\r\nd\n", EDIT("a", "x\\ny"), "x\ny\nb\r\nc\r\nd\n", "replaced 1 text"},
        {"a\r\nb\r\n", EDIT("a\\r\\nb", "x\\r\\ny"), "x\r\ny\r\n", "replaced 1 text"},
        {"a\rb\r\n", EDIT("b", "c"), "a\rc\r\n", "replaced 1 text"},
        /* a mark of the byte order, and the end of the last line, stay */
        {"\xef\xbb\xbfone\n", EDIT("one", "two"), "\xef\xbb\xbftwo\n", "replaced 1 text"},
        {"one\ntwo\n", EDIT("two\\n", "2"), "one\n2\n", "replaced 1 text"},
        {"one\r\ntwo\r\n", EDIT("two\\n", "2"), "one\r\n2\r\n", "replaced 1 text"},
        {"one\ntwo", EDIT("two", "2\\n3\\n"), "one\n2\n3", "replaced 1 text"},
        {"one\r\ntwo", EDIT("two", "2\\n"), "one\r\n2", "replaced 1 text"},
        {"one\n", EDIT("one\\n", ""), "", "replaced 1 text"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        workplace_put("work/a", rows[i].before);
        read_file("a");
        assert_string_equal(edit("a", rows[i].edits, false), rows[i].says);
        assert_file(rows[i].after);
    }
}

TEST(says_why_a_text_is_not_replaced_and_writes_nothing)
{
#define TEN "x\nx\nx\nx\nx\nx\nx\nx\nx\nx\n"
    static const struct {
        const char *before, *edits, *says;
    } rows[] = {
        {"a\nb\na\n", EDIT("a", "c"),
         "a: old_text of edit 1 is found 2 times (lines 1, 3); give more of the text around it, or "
         "set replace_all"},
        {TEN, EDIT("x", "y"),
         "a: old_text of edit 1 is found 10 times (lines 1, 2, 3, 4, 5…); give more of the text "
         "around it, or set replace_all"},
        {"aaa\n", EDIT("aa", "b"),
         "a: old_text of edit 1 is found 2 times (lines 1, 1); give more of the text around it, or "
         "set replace_all"},
        {"one\n", EDIT("two", "2"), "a: old_text of edit 1 is not found"},
        {"{\n\tif (a)\n\t\tb;\n}\n", EDIT("  if (a)\\n    b;", "c;"),
         "a: old_text of edit 1 is not found; its first line is like line 2"},
        {"one\ntwo\n", EDIT("one", "1") "," EDIT("three", "3"),
         "a: old_text of edit 2 is not found; none of the edits was written"},
        {"one\n", EDIT("", "1"), "a: old_text of edit 1 is empty"},
        {"one\n", EDIT("one", "one"),
         "a: the edits change nothing (the end of the last line stays as it is)"},
        {"one", EDIT("one", "one\\n"),
         "a: the edits change nothing (the end of the last line stays as it is)"},
        {"one\n", "", "a: the edits change nothing (the end of the last line stays as it is)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        workplace_put("work/a", rows[i].before);
        read_file("a");
        assert_string_equal(edit("a", rows[i].edits, true), rows[i].says);
        assert_string_equal(workplace_preview("edit_file", edits_of("a", rows[i].edits), true),
                            rows[i].says);
        assert_file(rows[i].before);
    }
}

TEST(edits_only_what_was_read_and_is_as_it_was)
{
    static const char unread[] =
        "a was not read in this session; nothing was written. Read it, then edit it";
    static const char changed[] =
        "a changed since it was read; nothing was written. Read it, then edit it";
    workplace_put("work/a", "one\n");
    assert_string_equal(edit("a", EDIT("one", "two"), true), unread);
    read_file("a");
    workplace_put("work/a", "one, and more\n");
    assert_string_equal(edit("a", EDIT("one", "two"), true), changed);
    read_file("./a"); /* by another name */
    edit("a", EDIT("one", "two"), false);
    edit("a", EDIT("two", "three"), false); /* the model knows what it wrote */
    assert_file("three, and more\n");
    workplace_put("work/b", "three, and more\n");
    assert_int_equal(renameat(place.root_fd, "b", place.root_fd, "a"), 0);
    assert_string_equal(edit("a", EDIT("three", "four"), true), changed);
    workplace_call("write_file", "{\"path\":\"a\",\"content\":\"mine\\n\"}", false);
    assert_int_equal(chmod(support_path("work/a"), 0755), 0); /* that changes no text */
    edit("a", EDIT("mine", "ours"), false);
    assert_file("ours\n");
    struct stat st;
    assert_int_equal(stat(support_path("work/a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    read_files_clear(&place.tools.host.read); /* another session */
    assert_string_equal(edit("a", EDIT("ours", "all"), true), unread);
}

TEST(refuses_what_is_no_text)
{
    enum { MEBIBYTE = 1024 * 1024 };
    assert_string_equal(edit("a", EDIT("x", "y"), true),
                        "a: there is no such file; write_file makes one");
    workplace_mkdir("work/dir");
    assert_string_equal(edit("dir", EDIT("x", "y"), true), "dir: is a directory");
    workplace_call("write_file", "{\"path\":\"a\",\"content\":\"x\"}", false);
    assert_int_equal(truncate(support_path("work/a"), 2), 0); /* with a NUL */
    struct stat st;
    assert_int_equal(stat(support_path("work/a"), &st), 0);
    const char *where = support_text("%s/a", place.root);
    read_files_note(&place.tools.host.read, where, &st, NULL);
    assert_string_equal(edit("a", EDIT("x", "y"), true), "a: a binary file");
    assert_int_equal(truncate(support_path("work/a"), 17 * MEBIBYTE), 0);
    assert_string_equal(edit("a", EDIT("x", "y"), true), "a: has more than 16 MiB");
    AUTO(buf_release) struct buf part = BUF_INIT, many = BUF_INIT;
    for (int i = 0; i < MEBIBYTE / 8; i++)
        buf_addstr(&part, "xxxxxxxx");
    for (int i = 0; i < 8; i++)
        buf_addf(&many, "%s\n", part.data);
    workplace_put("work/a", many.data);
    place.context.max_output = 100;
    read_file("a");
    char *longer =
        support_text(EDIT_ALL("%s", "%s%s%s"), part.data, part.data, part.data, part.data);
    assert_string_equal(edit("a", longer, true),
                        "a: after edit 1 the file would have more than 16 MiB");
    edit("a", support_text(EDIT_ALL("%s", "y"), part.data), false);
    assert_file("y\ny\ny\ny\ny\ny\ny\ny\n");
}

TEST(shows_the_difference_and_writes_only_that)
{
    static const char edits[] = EDIT("two", "zwei") "," EDIT("four", "vier");
    workplace_put("work/a", "one\ntwo\nthree\nfour\n");
    read_file("a");
    char *args = edits_of("a", edits);
    assert_string_equal(workplace_preview("edit_file", args, false),
                        "--- a\n+++ a\n@@ -1,4 +1,4 @@\n one\n-two\n+zwei\n three\n-four\n+vier\n");
    assert_file("one\ntwo\nthree\nfour\n");
    struct tool_call call;
    buf_clear(&place.out);
    assert_true(tool_call_prepare(&call, &place.tools, "edit_file", args, &place.out));
    assert_true(tool_call_preview(&call, &place.context, &place.out));
    assert_string_equal(call.sight.change.before, "one\ntwo\nthree\nfour\n");
    assert_string_equal(call.sight.change.after, "one\nzwei\nthree\nvier\n");
    workplace_put("work/a", "one\ntwo\nthree\nfour\nfive\n");
    buf_clear(&place.out);
    assert_true(tool_call_run(&call, &place.context, &place.out));
    assert_string_equal(place.out.data,
                        "a changed since the user was asked; nothing was written. Read it again "
                        "and ask again");
    tool_call_release(&call);
    assert_file("one\ntwo\nthree\nfour\nfive\n");
}

TEST(keeps_the_change_for_the_log)
{
    struct file_change change = {0};
    place.context.change = &change;
    workplace_call("write_file", "{\"path\":\"a\",\"content\":\"one\\n\"}", false);
    assert_null(change.before);
    assert_string_equal(change.after, "one\n");
    shape_release(&change_shape, &change);
    edit("a", EDIT("one", "two"), false);
    assert_string_equal(change.before, "one\n");
    assert_string_equal(change.after, "two\n");
    shape_release(&change_shape, &change);
    edit("a", EDIT("one", "three"), true);
    assert_null(change.after);
}
