/* The extract that replaces a summary, and the sections of a structured one. */
#include "base/paths.h"
#include "base/utf8.h"
#include "compact/extract.h"
#include "compact/mode.h"
#include "tests/conversation.h"
#include "tests/steps.h"
#include "tests/suite.h"

static struct compact_settings settings;

static int read_settings(void **state)
{
    (void)state;
    settings = conversation_settings();
    return 0;
}

static struct conversation conversation, *const c = &conversation;

static int teardown(void **state)
{
    (void)state;
    conversation_release(c);
    return 0;
}

/* Kept. */
static char *extract_at(int64_t threshold)
{
    struct compact_input in = conversation_input(c, &settings, threshold);
    AUTO(compact_plan_release) struct compact_plan plan = {0};
    assert_true(compact_plan_make(&mode_deterministic, &in, &plan));
    return support_keep(mode_deterministic.text(&in, &plan));
}

static char *extract(void)
{
    return extract_at(100000);
}

/* The text from a heading to the next; kept. */
static char *section(const char *text, const char *heading)
{
    char *start = support_text("\n\n## %s\n\n", heading);
    const char *at = strstr(text, start);
    if (!at)
        fail_msg("there is no %s in:\n%s", heading, text);
    at += strlen(start);
    const char *end = strstr(at, "\n\n## ");
    return support_keep(end ? mem_strndup(at, (size_t)(end - at)) : mem_strdup(at));
}

static void assert_section(const char *heading, const char *expected)
{
    assert_string_equal(section(extract(), heading), expected);
}

/* The conversation becomes this summary. */
static void become(const char *summary)
{
    conversation_release(c);
    conversation_add(c, ROLE_USER, summary);
    c->messages.items[0].summary = true;
}

static void talk(int messages)
{
    for (int i = 0; i < messages; i++)
        conversation_add(c, i % 2 == 0 ? ROLE_USER : ROLE_ASSISTANT,
                         support_text("message %d.", i));
}

BEFORE_ALL(read_settings);

FIXTURES(extract, NULL, teardown);

TEST(check_10_the_timeline_has_both_ends)
{
    talk(12);
    assert_section("Timeline",
                   "- user: message 0.\n- assistant: message 1.\n- user: message 2.\n"
                   "- (4 messages omitted)\n"
                   "- assistant: message 7.\n- user: message 8.\n- assistant: message 9.\n"
                   "- user: message 10.\n- assistant: message 11.");
}

TEST(sections_come_in_order)
{
    static const char *const headings[] = {
        "Earlier highlights", "Tools used", "Last requests", "Pending work", "Files",
        "Current work",       "Timeline"};
    become("[Context compacted]\n\nold");
    talk(2);
    char *text = extract();
    const char *at = text;
    static const char first[] =
        "[Context compacted] 2 earlier messages were dropped: 1 user, 1 assistant, 0 tool.\n\n";
    assert_memory_equal(text, first, strlen(first));
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        at = strstr(at, headings[i]);
        assert_non_null(at);
    }
    assert_section("Tools used", "(none)");
    assert_section("Pending work", "(none)");
    assert_section("Files", "(none)");
    assert_section("Earlier highlights", "old");
}

TEST(tools_are_sorted_and_told_once)
{
    conversation_add(c, ROLE_USER, "go");
    conversation_add(c, ROLE_ASSISTANT, NULL);
    conversation_call(c, "1", "write_file", "{}");
    conversation_call(c, "2", "grep", "{}");
    conversation_call(c, "3", "write_file", "{}");
    assert_section("Tools used", "grep, write_file");
    for (int i = 0; i < 40; i++) {
        char *name = support_text("tool%02d", i);
        conversation_call(c, name, name, "{}");
    }
    char *text = extract();
    assert_non_null(strstr(section(text, "Tools used"), "tool30 (and 10 more)"));
}

TEST(the_last_three_requests_are_cut)
{
    AUTO(buf_release) struct buf expected = BUF_INIT;
    AUTO(buf_release) struct buf request = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_addstr(&request, "é");
    conversation_add(c, ROLE_USER, "too old");
    conversation_add(c, ROLE_USER, "one\n  line");
    conversation_add(c, ROLE_USER, "x\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB");
    conversation_add(c, ROLE_USER, request.data);
    buf_addf(&expected, "- one line\n- x\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB\n- %.160s…",
             request.data);
    assert_section("Last requests", expected.data);
}

TEST(pending_work_is_found_by_its_words)
{
    conversation_add(c, ROLE_USER, "todo: too old");
    conversation_add(c, ROLE_ASSISTANT, "Done.\nNEXT we paint.\nThen rest.");
    conversation_add(c, ROLE_USER, "nothing of the kind");
    conversation_add(c, ROLE_ASSISTANT, "Follow up tomorrow");
    conversation_add(c, ROLE_TOOL, NULL);
    conversation_result(c, "c", "pending in a result is none");
    conversation_add(c, ROLE_USER, "what is remaining?");
    assert_section("Pending work", "- NEXT we paint.\n- Follow up tomorrow\n- what is remaining?");
}

TEST(paths_are_told_from_words)
{
    conversation_add(c, ROLE_USER,
                     "Look at src/main.c, /usr/share/doc, ~/notes and ./run. It is and/or 1/2, "
                     "https://example.org/a.html, TCP/IP, README.md, src/größe.c");
    conversation_add(c, ROLE_ASSISTANT, "3.5 // src/main.c");
    conversation_call(c, "c", "read_file", "{\"path\":\"NEWS.md\",\"lines\":1.5}");
    conversation_add(c, ROLE_TOOL, NULL);
    conversation_result(c, "c", "in/a/result.c");
    assert_section("Files",
                   "- ./run\n- /usr/share/doc\n- NEWS.md\n- src/größe.c\n- src/main.c\n- ~/notes");
}

TEST(eight_paths_are_the_newest_sorted)
{
    for (int i = 0; i < 12; i++)
        conversation_add(c, ROLE_USER, support_text("see dir/file%02d.c", i));
    assert_section("Files",
                   "- dir/file04.c\n- dir/file05.c\n- dir/file06.c\n- dir/file07.c\n"
                   "- dir/file08.c\n- dir/file09.c\n- dir/file10.c\n- dir/file11.c");
}

TEST(current_work_is_the_last_answer)
{
    AUTO(buf_release) struct buf answer = BUF_INIT;
    for (int i = 0; i < 300; i++)
        buf_addch(&answer, 'x');
    talk(2);
    conversation_add(c, ROLE_ASSISTANT, answer.data);
    conversation_add(c, ROLE_ASSISTANT, NULL);
    conversation_call(c, "c", "grep", "{}");
    assert_section("Current work", support_text("%.200s…", answer.data));
}

TEST(what_is_hostile_is_cleaned)
{
    conversation_add(c, ROLE_USER, "\x1B[2J\xFF next \xE2\x80\xAE");
    conversation_call(c, "c", "evil\x1B\nname", "{}");
    char *text = extract();
    assert_null(strchr(text, '\x1B'));
    assert_true(utf8_valid(text, strlen(text)));
    assert_null(strstr(text, "\xE2\x80\xAE"));
}

/* --- merging --------------------------------------------------------------------------------- */

/* The conversation becomes its extract, and `messages` more follow. */
static void compact_and_go_on(int64_t threshold, int round)
{
    become(extract_at(threshold));
    for (int i = 0; i < 10; i++)
        conversation_add(c, i % 2 == 0 ? ROLE_USER : ROLE_ASSISTANT,
                         support_text("round %d message %d", round, i));
}

TEST(merging_keeps_old_highlights_under_their_heading)
{
    talk(12);
    compact_and_go_on(100000, 1);
    char *text = extract();
    char *earlier = section(text, "Earlier highlights");
    assert_says(earlier, "### Timeline\n", "- assistant: message 11.");
    assert_non_null(strstr(text, "22 earlier messages were dropped: 11 user, 11 assistant"));
    compact_and_go_on(100000, 2);
    text = extract();
    const char *heading = strstr(text, "## Earlier highlights");
    assert_non_null(heading);
    assert_null(strstr(heading + 1, "## Earlier highlights"));
    assert_says(text, "- assistant: message 11.", "- assistant: round 1 message 9");
}

/* Each section occurs once, with the newest lines first. */
TEST(sections_are_merged_newest_first)
{
    for (int round = 1; round <= 5; round++) {
        if (round > 1)
            become(extract());
        for (int turn = 8 * round - 7; turn <= 8 * round; turn++) {
            conversation_add(c, ROLE_USER,
                             support_text("request %d: read src/f%d.c next", turn, turn));
            conversation_add(c, ROLE_ASSISTANT, support_text("answer %d.", turn));
        }
    }
    char *text = extract();
    char *earlier = section(text, "Earlier highlights");
    const char *requests = strstr(earlier, "### Last requests\n\n- request 32:");
    assert_non_null(requests);
    assert_non_null(strstr(requests, "- request 30: read src/f30.c next\n- request 24:"));
    assert_says(earlier, "### Files\n\n- src/f32.c\n- src/f31.c\n", "- src/f9.c\n");
    const char *timeline = strstr(earlier, "### Timeline\n\n- user: request 1:");
    assert_non_null(timeline);
    assert_null(strstr(timeline + 1, "###"));
    assert_string_equal(strrchr(timeline, '\n'), "\n- assistant: answer 32.");
}

TEST(merging_is_bounded_and_keeps_the_newest)
{
    static const int64_t thresholds[] = {100, 5000, 100000};
    for (size_t t = 0; t < 3; t++) {
        size_t bound = t == 0 ? 2000 : t == 1 ? 5000 : 16000;
        conversation_release(c);
        talk(12);
        for (int round = 1; round <= 60; round++) {
            compact_and_go_on(thresholds[t], round);
            char *text = extract_at(thresholds[t]);
            char *newest = support_text("- assistant: round %d message 9", round);
            char *before = support_text("- assistant: round %d message 9", round - 1);
            assert_non_null(strstr(text, newest));
            if (round > 1)
                assert_non_null(strstr(text, before));
            assert_non_null(strstr(text, "message 0."));
            assert_true(strlen(text) < bound + 6000);
        }
    }
}

TEST(a_long_line_is_cut_at_grapheme_borders)
{
    static const char grapheme[] = "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB";
    AUTO(buf_release) struct buf old = BUF_INIT;
    while (old.len < 50000)
        buf_addstr(&old, grapheme);
    become(old.data);
    talk(2);
    char *text = extract();
    char *earlier = section(text, "Earlier highlights");
    size_t len = strlen(grapheme), graphemes = 0;
    for (const char *at = earlier; *at;) {
        if (strncmp(at, grapheme, len) == 0) {
            at += len;
            graphemes++;
        } else {
            static const char gap[] = "\n(lines left out)\n";
            assert_memory_equal(at, gap, strlen(gap));
            at += strlen(gap);
        }
    }
    assert_in_range(graphemes * len, 15900, 16000);
}

/* --- sections --- */

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
    auto_free char *once =
        sections_complete("```\n## Progress\n```\ncode\n## Goal\n```\n## Goal\n```\n", "x");
    assert_int_equal(sections_count(once), SECTIONS);
    check(once, NULL, once);
}
