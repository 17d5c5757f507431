/* Permissions of a project: the file that keeps them, their list, and how one is taken back. */
#include "config/permissions.h"
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "tests/suite.h"

static char *path; /* of the file */

static int set_up(void **state)
{
    support_setup(state);
    auto_free char *dir = paths_dir(PATHS_DATA);
    path = paths_join(dir, "permissions.json");
    return 0;
}

static int tear_down(void **state)
{
    free(path);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);

static void set(const char *project, const char *permission, bool allowed)
{
    struct error e = {0};
    if (!permissions_set(project, permission, allowed, &e))
        fail_msg("%s", e.text);
}

static const char *all_of(const char *project)
{
    struct permissions p;
    struct error e = {0};
    struct buf out = BUF_INIT;
    if (!permissions_read(project, &p, &e))
        fail_msg("%s", e.text);
    for (size_t i = 0; i < p.len; i++)
        buf_addf(&out, "%s|", p.items[i]);
    permissions_release(&p);
    return support_keep(buf_take(&out));
}

TEST(each_project_has_its_own)
{
    assert_string_equal(all_of("/a"), "");
    set("/a", "`git status …`", true);
    set("/a", "write_file", true);
    set("/a", "write_file", true);
    set("/a/b", "`ls …`", true);
    assert_string_equal(all_of("/a"), "`git status …`|write_file|");
    assert_string_equal(all_of("/a/b"), "`ls …`|");
    assert_string_equal(all_of("/"), "");
    set("/a", "`git status …`", false);
    set("/a", "nothing", false);
    assert_string_equal(all_of("/a"), "write_file|");
    assert_string_equal(all_of("/a/b"), "`ls …`|");
}

TEST(the_file_is_the_users_alone)
{
    struct stat st;
    set("/a", "write_file", true);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* Nothing is allowed by a file that cannot be understood, and it is not overwritten. */
TEST(a_broken_file_allows_nothing_and_stays)
{
    static const char *const texts[] = {"", "{", "[]", "{\"/a\": [\"write_file\"]", "\xff"};
    set("/a", "write_file", true);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct permissions p;
        struct error e = {0};
        support_write(path, texts[i]);
        assert_false(permissions_read("/a", &p, &e));
        assert_int_equal(e.code, ERR_FILE_ERROR);
        assert_int_equal(p.len, 0);
        assert_false(permissions_set("/a", "write_file", true, &e));
        assert_string_equal(support_read(path), texts[i]);
    }
    support_write(path, "{\"/a\": [7, null, \"write_file\"], \"/b\": 7}");
    assert_string_equal(all_of("/a"), "write_file|");
    assert_string_equal(all_of("/b"), "");
}
