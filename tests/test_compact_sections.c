/* The seven sections of a structured summary, as models write them. */
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "compact/extract.h"
#include "tests/suite.h"
#include "tests/support.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void check(const char *text, const char *earlier, const char *expected)
{
    assert_string_equal(support_keep(sections_complete(text, earlier)), expected);
}

/* The prompt and the list of sections cannot be changed separately. */
TEST(the_prompt_names_them_all)
{
    assert_int_equal(sections_count(embedded_text("prompts/compaction-structured.md")), SECTIONS);
}

TEST(headings_are_found_however_they_are_written)
{
    static const struct {
        const char *text;
        int count;
    } cases[] = {
        {"", 0},
        {"A summary in plain words. Progress was made.", 0},
        {"Goal\nTo sail.", 0},
        {"## Goal\nTo sail.", 1},
        {"# GOAL:\nTo sail.\n#### next steps ##\nOn.", 2},
        {"**Goal**\nTo sail.\n**Next Steps:**\nOn.\nProgress:\nSome.", 3},
        {"1. Goal\nTo sail.\n2. Constraints and Preferences\nNone.", 2},
        {"## Goal\n## Goal\n## Goal", 1},
        {"## Progress\n### Done\n### In Progress\n### Blocked", 1},
        {"## Goal\nGoal:\n**Progress:**\nKey Decisions:", 1},  /* ## is what headings are here */
        {"## Goal\n```\n## Progress\n```\n## Next Steps", 2},  /* a file that is quoted */
        {"```markdown\n## Goal\nx\n## Progress\ny\n```\n", 2}, /* all of it in a fence */
        {"Here is the summary:\n\n```markdown\n\n## Goal\nx\n## Progress\ny\n```\nIt is complete.",
         2},
        {"I looked at\n```\nmain.c\n```\nfirst.\n~~~\n# Goal\n```\n# Progress\n```\n~~~\nSo far.",
         1},
        {"So:\n```\n## Goal\nx\n## Progress", 2}, /* cut off */
        {"## Goals\n## My Progress\n", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (sections_count(cases[i].text) != cases[i].count)
            fail_msg("%d sections in %s", sections_count(cases[i].text), cases[i].text);
}

TEST(sections_come_in_the_order_of_the_template)
{
    check(
        "Here you are:\n\n## Next Steps\n\n1. Go on.\n\n\n## Goal\nTo sail.\n"
        "## Progress\n### Done\n- rigged\n\n### Blocked\n(none)\n## Key Decisions\n\n"
        "## Goal\nWest.\n",
        NULL,
        "## Goal\nTo sail.\nWest.\n\n## Constraints & Preferences\n(none)\n\n"
        "## Progress\n### Done\n- rigged\n\n### Blocked\n(none)\n\n## Key Decisions\n(none)\n\n"
        "## Relevant Files\n(none)\n\n## Next Steps\n1. Go on.\n\n## Critical Context\n(none)");
}

TEST(what_stands_around_a_fence_of_all_sections_is_left_out)
{
    char *text = support_keep(sections_complete(
        "Here:\n```md\n## Goal\nSail.\n```\nls\n```\n## Critical Context\nKey 7.\n```\nBye.",
        NULL));
    assert_memory_equal(text, "## Goal\nSail.\n```\nls\n```\n\n## Con", 32);
    assert_string_equal(strstr(text, "## Critical Context"), "## Critical Context\nKey 7.");
}

TEST(a_missing_section_is_the_earlier_one)
{
    static const char earlier[] =
        "[Context compacted]\n\n## Goal\nOld goal.\n\n## Next Steps\nOld "
        "steps.\n\n## Critical Context\nThe key is 7.";
    check("## Goal\nNew goal.\n## Next Steps\n", earlier,
          "## Goal\nNew goal.\n\n## Constraints & Preferences\n(none)\n\n## Progress\n(none)\n\n"
          "## Key Decisions\n(none)\n\n## Relevant Files\n(none)\n\n## Next Steps\n(none)\n\n"
          "## Critical Context\nThe key is 7.");
}

/* A complete summary stays unchanged; completing twice equals completing once. */
TEST(completing_is_idempotent)
{
    char *once =
        sections_complete("```\n## Progress\n```\ncode\n## Goal\n```\n## Goal\n```\n", "x");
    assert_int_equal(sections_count(once), SECTIONS);
    check(once, NULL, once);
    free(once);
}
