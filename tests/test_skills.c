/* Skills and commands: which are found, which of two is used, and what a hostile place costs. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "knowledge/skills.h"
#include "tests/suite.h"

static struct skills found;

static int tear_down(void **state)
{
    skills_release(&found);
    return support_teardown(state);
}

FIXTURE(support_setup, tear_down);

static void write_file(const char *path, const char *text)
{
    auto_free char *parent = paths_parent(support_path(path));
    struct error e;
    assert_true(paths_make_dir(parent, &e));
    support_write(support_path(path), text);
}

static void write_skill(const char *place, const char *name, const char *front, const char *text)
{
    auto_free char *path = mem_printf("%s/%s/SKILL.md", place, name);
    auto_free char *all = mem_printf("---\nname: %s\n%s\n---\n%s", name, front, text);
    write_file(path, all);
}

/* Names with their states, and what is wrong. */
static const char *told(void)
{
    static const char *const words[] = {"ready", "shadowed", "broken", "untrusted"};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < found.items.len; i++) {
        const struct skill *s = &found.items.items[i];
        buf_addf(&out, "%s%s: %s%s%s\n", s->command ? "/" : "", s->name, words[s->state],
                 s->detail ? ", " : "", s->state == SKILL_BROKEN ? s->detail : "");
    }
    return support_keep(buf_take(&out));
}

static void find_in(const char *place)
{
    auto_free char *top = realpath(support_path(place), NULL);
    skills_release(&found);
    skills_add_place(&found, support_path(place), top, false);
}

static void expect_front(const char *front, const char *description)
{
    auto_free char *text = mem_printf("---\n%s---\n", front), *name = NULL;
    struct skill s = {.name = NULL};
    assert_true(skill_read_front(text, &name, &s));
    if (description)
        assert_string_equal(s.description, description);
    else
        assert_null(s.description);
    free(s.description);
    free(s.license);
    free(s.compatibility);
    free(s.allowed_tools);
}

TEST(a_front_matter_is_read_as_its_authors_write_it)
{
    expect_front("description: Reads PDF files.\n", "Reads PDF files.");
    expect_front("name: x\ndescription:   Use when: a form is there # a comment\n",
                 "Use when: a form is there");
    expect_front("description: \"Says \\\"hi\\\": a # b\\n\\\\\" # c\n", "Says \"hi\": a # b \\");
    expect_front("description: 'It''s quoted'\n", "It's quoted");
    expect_front("description: 'no end\n", "'no end");
    expect_front("description: >-\n  Two\n  lines.\n\n  And three.\nlicense: MIT\n",
                 "Two lines. And three.");
    expect_front("description: |\n  a\n  b\n", "a b");
    expect_front("description: a\n  folded value\n", "a folded value");
    expect_front("metadata:\n  description: not this\ndescription: this\n", "this");
    expect_front("description:\ndescription: later\n", NULL);
    expect_front("description: \"\"\n", NULL);
    expect_front("descriptions: x\n", NULL);
    expect_front("", NULL);
    char *name;
    struct skill s;
    assert_false(skill_read_front("---\nname: x\n", &name, &s));
    assert_false(skill_read_front("name: x\n---\n", &name, &s));
    assert_false(skill_read_front("---\nname: x\n----\n", &name, &s));
}

TEST(a_skill_has_what_its_author_says_of_it)
{
    write_skill("s", "pdf",
                "description: Reads PDF files.\r\nlicense: MIT\ncompatibility: needs python\n"
                "metadata:\n  version: \"1\"\nallowed-tools: Bash(git:*) Read\n",
                "\n# PDF\nDo this with $ARGUMENTS.\n");
    find_in("s");
    assert_int_equal(found.items.len, 1);
    const struct skill *s = skills_find(&found, "pdf");
    assert_non_null(s);
    assert_string_equal(s->description, "Reads PDF files.");
    assert_string_equal(s->license, "MIT");
    assert_string_equal(s->compatibility, "needs python");
    assert_string_equal(s->allowed_tools, "Bash(git:*) Read");
    assert_int_equal(s->tokens, 8);
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct error e;
    assert_true(skill_open(s, "a form", &text, &e));
    auto_free char *folder = skill_folder(s);
    auto_free char *opened = mem_printf(
        "<skill name=\"pdf\" folder=\"%s\">\n"
        "# PDF\nDo this with a form.\n</skill>",
        folder);
    assert_string_equal(text.data, opened);
    assert_true(skill_opened_in(text.data, "pdf"));
    assert_false(skill_opened_in(text.data, "pd"));
    assert_false(skill_opened_in("pdf", "pdf"));
}

TEST(a_broken_skill_says_its_fault)
{
    auto_free char *long_text = mem_alloc(1100);
    memset(long_text, 'x', 1025);
    auto_free char *description = mem_printf("description: %s", long_text);
    write_file("s/a/SKILL.md", "---\nname: b\ndescription: d\n---\n");
    write_file("s/b/SKILL.md", "---\nname: b\n---\n");
    write_file("s/c/SKILL.md", "no front matter\n");
    write_skill("s", "d", description, "");
    write_skill("s", "Big Name", "description: d", "");
    write_file("s/e/README.md", "no skill at all\n");
    write_file("s/file.md", "neither\n");
    find_in("s");
    assert_string_equal(
        told(),
        "Big Name: broken, its folder's name is not of a-z, 0-9 and -, or has more than 64\n"
        "a: broken, the name in its front matter is not that of its folder\n"
        "b: broken, its front matter has no description\n"
        "c: broken, it has no front matter between two lines \"---\"\n"
        "d: broken, its description has more than 1024 characters\n");
    assert_null(skills_find(&found, "b"));
}

TEST(the_nearest_wins_and_the_others_are_listed)
{
    write_skill("home/.agents/skills", "pdf", "description: agents", "");
    write_skill("home/.claude/skills", "pdf", "description: claude", "");
    write_skill("home/.claude/skills", "web", "description: web", "");
    write_file("home/.claude/commands/web.md", "shadowed\n");
    write_file("home/.claude/commands/Fix_it.md", "\n# Fix issue $ARGUMENTS\n\nQuickly.\n");
    write_file("home/.claude/commands/none.md", "");
    write_skill("own/skills", "web", "description: own", "");
    write_file("home/.agents/skills/broken/SKILL.md", "x");
    write_skill("own/skills", "broken", "description: whole", "");
    assert_int_equal(
        symlink(support_path("home/.agents/skills/pdf"), support_path("home/.claude/skills/also")),
        0);
    skills_add_own(&found, support_path("home"), support_path("own"));
    assert_string_equal(told(),
                        "broken: broken, it has no front matter between two lines \"---\"\n"
                        "pdf: ready\n"
                        "pdf: shadowed, \n"
                        "web: ready\n"
                        "/Fix_it: ready\n"
                        "/none: broken, it is empty\n"
                        "/web: shadowed, \n"
                        "broken: ready\n"
                        "web: shadowed, \n");
    assert_string_equal(skills_find(&found, "pdf")->description, "agents");
    assert_string_equal(skills_find(&found, "broken")->description, "whole");
    assert_string_equal(skills_find(&found, "Fix_it")->description, "Fix issue $ARGUMENTS");
    assert_non_null(strstr(found.items.items[2].detail, "/home/.agents/skills/pdf/SKILL.md"));
}

TEST(a_project_has_its_places_up_to_its_top)
{
    write_file("home/work/.git/HEAD", "");
    write_skill("home/work/a/b/.claude/skills", "pdf", "description: near", "");
    write_skill("home/work/.agents/skills", "pdf", "description: top", "");
    write_file("home/work/a/.claude/commands/fix.md", "Fix it.\n");
    write_skill("home/.agents/skills", "own", "description: above the project", "");
    skills_add_project(&found, support_path("home/work/a/b"), support_path("home"));
    assert_string_equal(told(), "pdf: ready\n/fix: ready\npdf: shadowed, \n");
    assert_string_equal(skills_find(&found, "pdf")->description, "near");
    skills_release(&found);
    skills_add_project(&found, support_path("home"), support_path("home")); /* the user's own */
    assert_int_equal(found.items.len, 0);
}

TEST(no_link_of_a_project_leads_out)
{
    write_file("secret/SKILL.md", "---\nname: secret\ndescription: keys\n---\n");
    write_skill("top/shared", "inside", "description: d", "");
    write_file("top/s/linked/note", "");
    assert_int_equal(symlink(support_path("secret"), support_path("top/s/secret")), 0);
    assert_int_equal(symlink(support_path("top/shared/inside"), support_path("top/s/inside")), 0);
    assert_int_equal(
        symlink(support_path("secret/SKILL.md"), support_path("top/s/linked/SKILL.md")), 0);
    auto_free char *top = realpath(support_path("top"), NULL);
    skills_add_place(&found, support_path("top/s"), top, false);
    assert_int_equal(found.items.len, 3);
    assert_int_equal(found.items.items[0].state, SKILL_READY);
    assert_int_equal(found.items.items[1].state, SKILL_BROKEN);
    assert_non_null(strstr(found.items.items[1].detail, "it is a symbolic link"));
    assert_int_equal(found.items.items[2].state, SKILL_BROKEN);
    assert_non_null(strstr(found.items.items[2].detail, "outside of the project"));
    skills_release(&found);
    skills_add_place(&found, support_path("top/s"), NULL, false); /* the user's own */
    assert_int_equal(found.items.items[2].state, SKILL_READY);
}

TEST(a_hostile_place_costs_nothing)
{
    write_file("s/pipe/x", "");
    assert_int_equal(mkfifo(support_path("s/pipe/SKILL.md"), 0600), 0);
    write_file("s/huge/SKILL.md", "---\n");
    assert_int_equal(truncate(support_path("s/huge/SKILL.md"), (off_t)1 << 30), 0);
    write_file("s/folder/SKILL.md/x", "");
    write_file("s/bytes/SKILL.md",
               "---\nname: bytes\ndescription: a\x1b[31m\xff"
               "b\n---\n\x1b]0;t\x07");
    find_in("s");
    const struct skill *s = found.items.items;
    assert_int_equal(found.items.len, 4);
    assert_string_equal(s[0].description, "a␛[31m\uFFFDb");
    assert_non_null(strstr(s[1].detail, "is no regular file"));
    assert_non_null(strstr(s[2].detail, "has more than 262144 bytes"));
    assert_non_null(strstr(s[3].detail, "is no regular file"));
    for (int i = 0; i < 250; i++) {
        auto_free char *name = mem_printf("s%d", i);
        write_skill("many", name, "description: d", "");
    }
    find_in("many");
    assert_int_equal(found.items.len, SKILLS_MAX);
}

TEST(the_files_of_a_skill_are_named)
{
    write_skill("s", "pdf", "description: d", "");
    write_file("s/pdf/scripts/fill\nin.py", "print()\n");
    write_file("s/pdf/.hidden", "");
    write_file("outside", "");
    assert_int_equal(symlink(support_path("outside"), support_path("s/pdf/link")), 0);
    find_in("s");
    AUTO(buf_release) struct buf files = BUF_INIT;
    struct error e;
    assert_true(skill_open(&found.items.items[0], NULL, &files, &e));
    assert_string_equal(strstr(files.data, "</skill>"),
                        "</skill>\nFiles of its folder:\nscripts/fill␊in.py (8 bytes)");
}
