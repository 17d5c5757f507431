/* Text that is put before a conversation: files of instructions, and the names of the graph. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "knowledge/memory_prompt.h"
#include "knowledge/project.h"
#include "tests/steps.h"
#include "tests/suite.h"

static struct instructions in;

static int set_up(void **state)
{
    support_setup(state);
    mkdir(support_path("own"), 0700);
    mkdir(support_path("top"), 0700);
    mkdir(support_path("top/.git"), 0700);
    mkdir(support_path("top/a"), 0700);
    mkdir(support_path("top/a/b"), 0700);
    return 0;
}

static int tear_down(void **state)
{
    instructions_release(&in);
    return support_teardown(state);
}

static void read_in(const char *directory)
{
    instructions_release(&in);
    instructions_read(support_path("own"), support_path(directory), &in);
}

/* Texts in their order, a blank behind each. */
static const char *texts(void)
{
    char *all = mem_strdup("");
    for (size_t i = 0; i < in.files.len; i++) {
        char *more = mem_printf("%s%s ", all, in.files.items[i].text);
        free(all);
        all = more;
    }
    return support_keep(all);
}

FIXTURE(set_up, tear_down);

TEST(the_nearer_comes_later_and_nothing_above_the_top)
{
    support_write(support_path("AGENTS.md"), "outside");
    support_write(support_path("own/AGENTS.md"), "own");
    support_write(support_path("top/AGENTS.md"), "top");
    support_write(support_path("top/a/b/AGENTS.md"), "near");
    read_in("top/a/b");
    assert_string_equal(texts(), "own top near ");
    read_in("top/a");
    assert_string_equal(texts(), "own top ");
    assert_null(in.faults);
}

TEST(without_agents_md_claude_md_stands_in)
{
    support_write(support_path("top/CLAUDE.md"), "claude");
    support_write(support_path("top/a/CLAUDE.md"), "not this");
    support_write(support_path("top/a/AGENTS.md"), "agents");
    read_in("top/a");
    assert_string_equal(texts(), "claude agents ");
}

TEST(one_file_by_two_names_is_read_once)
{
    support_write(support_path("top/AGENTS.md"), "once");
    assert_int_equal(symlink(support_path("top/AGENTS.md"), support_path("top/a/AGENTS.md")), 0);
    read_in("top/a");
    assert_string_equal(texts(), "once ");
}

TEST(a_link_leads_to_markdown_of_the_project_alone)
{
    support_write(support_path("key.md"), "outside");
    support_write(support_path("top/.env"), "secret");
    support_write(support_path("top/rules.md"), "rules");
    assert_int_equal(symlink(support_path("key.md"), support_path("top/AGENTS.md")), 0);
    assert_int_equal(symlink(support_path("top/.env"), support_path("top/a/AGENTS.md")), 0);
    assert_int_equal(symlink(support_path("top/rules.md"), support_path("top/a/b/AGENTS.md")), 0);
    assert_int_equal(symlink(support_path("key.md"), support_path("own/AGENTS.md")), 0);
    read_in("top/a/b");
    assert_string_equal(texts(), "outside rules "); /* our own may lead anywhere */
    assert_says(in.faults, "top/AGENTS.md leads to ", "/.env, which is no Markdown of the project");
}

TEST(blank_files_say_nothing_and_bytes_are_cleaned)
{
    support_write(support_path("own/AGENTS.md"), " \n\n");
    support_write(support_path("top/AGENTS.md"), "a\033[31mb\xff");
    read_in("top");
    assert_int_equal(in.files.len, 1);
    assert_null(strchr(in.files.items[0].text, '\033'));
    assert_null(strchr(in.files.items[0].text, '\xff'));
}

TEST(what_cannot_be_read_is_named_and_waited_for_by_nobody)
{
    assert_int_equal(mkfifo(support_path("top/AGENTS.md"), 0600), 0);
    mkdir(support_path("top/a/AGENTS.md"), 0700);
    support_write(support_path("top/a/b/AGENTS.md"), "near");
    read_in("top/a/b");
    assert_string_equal(texts(), "near ");
    assert_says(in.faults, "top/AGENTS.md", "top/a/AGENTS.md");
}

TEST(a_file_too_large_costs_nothing)
{
    int64_t before = clock_mono_ms();
    support_write(support_path("top/AGENTS.md"), "");
    assert_int_equal(truncate(support_path("top/AGENTS.md"), (off_t)1 << 30), 0);
    support_write(support_path("top/a/AGENTS.md"), "near");
    read_in("top/a");
    assert_string_equal(texts(), "near ");
    assert_says(in.faults, "top/AGENTS.md is too long");
    assert_true(clock_mono_ms() - before < 1000); /* it is not read */
}

/* Nobody follows a .git that says where the repository is. */
TEST(a_git_file_leads_nowhere)
{
    mkdir(support_path("top/a/b/c"), 0700);
    support_write(support_path("top/AGENTS.md"), "outside");
    support_write(support_path("top/a/b/.git"), support_text("gitdir: %s\n", support_path("top")));
    support_write(support_path("top/a/b/AGENTS.md"), "inside");
    read_in("top/a/b/c");
    assert_string_equal(texts(), "inside ");
    assert_null(in.faults);
}

/* --- the graph --- */

static struct graph_entity entities[] = {{.name = (char *)"京都", .type = (char *)"city"},
                                         {.name = (char *)"say \"yes\"", .type = (char *)"order"}};

TEST(the_graph_is_told_by_names_as_many_as_fit)
{
    struct graph_part listed = {.entities = {.items = entities, .len = 2}, .total = 7};
    auto_free char *all = graph_hint(&listed, 200), *one = graph_hint(&listed, 50);
    assert_says(all, "about 7 entities", "\"京都\" (\"city\"), \"say \\\"yes\\\"\" (\"order\")");
    assert_says(one, "(\"city\")", "!order");
    assert_true(strlen(one) <= 200);
    assert_null(graph_hint(&listed, 10));
    assert_null(graph_hint(&(struct graph_part){.total = 0}, 200));
}
