/* Sessions of aichat. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#ifdef HAVE_LIBYAML
enum { YAML = true };
#else
enum { YAML = false };
#endif

#define TAX ".config/aichat/sessions/tax.yaml"
#define DROPPED "user: Where is it? It's the \"rate\".", "assistant: In tax.c:\\n\\n    rate = 19"
#define SAID(text) "model: m\nmessages:\n- role: user\n  content: " text "\n"
#define ANSWER(text) "- role: assistant\n  content: " text "\n"
#define LATER                                                                                      \
    "user: And this?\\n\\n[image]", "assistant: I look.", "call fs_ls {\"path\":\"/w\"}",          \
        "call now {}", "result fs_ls: tax.c\tfee.cä", "result now: {\"time\":\"12:00\"}",          \
        "assistant: Both are there."

TEST_IF(YAML, test_a_session_with_what_its_compaction_dropped)
{
    import_case_copy("aichat/tax.yaml", TAX);
    import_case_read(NULL, "aichat", TEXTS("== tax |  | openai:gpt-5 | aichat", DROPPED, LATER));
    import_case_append(TAX, "# saved again\n");
    assert_int_equal(import_case_scan(NULL).messages, 0);
    import_case_read(NULL, "aichat", TEXTS("== tax |  | openai:gpt-5 | aichat", DROPPED, LATER));
}

TEST_IF(YAML, test_an_answer_that_was_made_anew_replaces_the_old_one)
{
    import_case_write(TAX, SAID("Where?") ANSWER("Here."));
    import_case_scan(NULL);
    import_case_write(TAX, SAID("Where?") ANSWER("There, I mean."));
    import_case_read(NULL, "aichat",
                     TEXTS("== tax |  | m | aichat", "user: Where?", "assistant: There, I mean."));
}

TEST_IF(YAML, test_a_session_that_was_emptied_and_one_with_a_made_name_are_others)
{
    import_case_write(TAX, SAID("Where?"));
    import_case_scan(NULL);
    import_case_write(TAX, SAID("Which fee?"));
    import_case_scan(NULL);
    import_case_write(".config/aichat/agents/coder/sessions/_/20260301T100000-old-fee.yaml",
                      SAID("&a Was it *less*?"));
    import_case_read(NULL, "aichat",
                     TEXTS("== tax |  | m | aichat", "user: Where?", "== tax |  | m | aichat",
                           "user: Which fee?", "== old-fee |  | m | aichat",
                           "user: Was it *less*?"));
}

TEST_IF(YAML, test_a_file_that_is_no_yaml_costs_itself)
{
    import_case_write(TAX, "model: m\nmessages:\n- role: user\n  content: [\n");
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.failed, 1);
    assert_non_null(strstr(counts.fault, "/sessions/tax.yaml: line 5: "));
    char deep[200] = "model: m\nmessages: ";
    memset(deep + strlen(deep), '[', 150);
    import_case_write(TAX, deep);
    assert_int_equal(import_case_scan(NULL).failed, 1);
    import_case_expect(TEXTS(NULL));
}

#define CHAT(summary, second) "# CHAT: " summary " [2026-03-01T10:00:0" second "+01:00] (coder)\n"
#define LOG ".config/aichat/messages.md"

TEST(test_questions_without_a_session)
{
    import_case_write(LOG, CHAT("Where is it?", "1") "Where is it?\n\nIn C.\n--------\n"
                           "<tool_calls>\n[{}]\n</tool_calls>\n\nThere:\n\n--------\n\nDone.\n--------\n\n"
                           CHAT("Which fee?", "2") "Which fee?\n--------\nThis");
    import_case_read(NULL, "aichat",
                     TEXTS("== Where is it? |  |  | aichat", "user: Where is it?\\n\\nIn C.",
                           "assistant: There:\\n\\n--------\\n\\nDone."));
    import_case_append(LOG, " one.\n--------\n\n");
    assert_int_equal(import_case_scan(NULL).messages, 2);
}
