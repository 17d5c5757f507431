#include <sys/stat.h>
#include <unistd.h>

#include "knowledge/project.h"
#include "tests/suite.h"

FIXTURE(support_setup, support_teardown);

static void make(const char *name)
{
    assert_int_equal(mkdir(support_path(name), 0700), 0);
}

static void expect(const char *directory, const char *wanted)
{
    auto_free char *resolved = realpath(support_path(wanted), NULL);
    auto_free char *project = project_of(support_path(directory));
    assert_string_equal(project, resolved);
}

TEST(a_repository_is_one_project_from_wherever_in_it)
{
    make("app");
    make("app/.git");
    make("app/src");
    make("app/src/deep");
    expect("app", "app");
    expect("app/src/deep", "app");
    make("tree");
    support_write(support_path("tree/.git"), "gitdir: ../app/.git\n");
    expect("tree", "tree");
}

TEST(a_directory_outside_of_one_is_its_own)
{
    make("notes");
    make("notes/app");
    expect("notes/app", "notes/app");
    expect("notes", "notes");
}

TEST(a_link_leads_to_the_project_itself)
{
    make("app");
    make("app/.git");
    assert_int_equal(symlink(support_path("app"), support_path("link")), 0);
    expect("link", "app");
}

TEST(what_is_not_there_stands_for_itself)
{
    auto_free char *project = project_of("/nowhere/at/all");
    assert_string_equal(project, "/nowhere/at/all");
}
