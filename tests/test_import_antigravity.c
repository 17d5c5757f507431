/* The mirror that Antigravity keeps of its conversations. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define LOGS ".gemini/antigravity-cli/brain/a/.system_generated/logs/"
#define STEP(index, source, type, status, more)                                                    \
    "{'step_index':" index ",'source':'" source "','type':'" type "','status':'" status            \
    "','created_at':'2026-03-01T10:00:0" index "Z'," more "}\n"
#define SAID(index, text)                                                                          \
    STEP(index, "USER_EXPLICIT", "USER_INPUT", "DONE",                                             \
         "'content':'<USER_REQUEST>\\n" text                                                       \
         "\\n</USER_REQUEST>\\n<ADDITIONAL_METADATA>the time</ADDITIONAL_METADATA>\\n"             \
         "<USER_SETTINGS_CHANGE>\\nThe user changed setting `Model Selection` from None to "       \
         "Gemini 3.5 Flash (High). No need to comment.\\n</USER_SETTINGS_CHANGE>'")
#define ANSWER(index, text) STEP(index, "MODEL", "PLANNER_RESPONSE", "DONE", "'content':'" text "'")
#define TURN                                                                                       \
    SAID("0", "Where is it?")                                                                      \
    STEP("1", "SYSTEM", "CONVERSATION_HISTORY", "DONE", "'content':'old'")                         \
    STEP("2", "MODEL", "PLANNER_RESPONSE", "DONE",                                                 \
         "'thinking':'Hm.','tool_calls':[{'name':'list_dir','args':{'Path':'/w'}},"                \
         "{'name':'view_file','args':{}}]")                                                        \
    STEP("4", "MODEL", "VIEW_FILE", "RUNNING", "'content':''")                                     \
    STEP("3", "MODEL", "LIST_DIRECTORY", "DONE", "'content':'tax.c'")                              \
    STEP("4", "MODEL", "VIEW_FILE", "DONE", "'content':'rate = 19'")
#define HEAD "== Where is it? |  | Gemini 3.5 Flash (High) | antigravity"
#define TURN_LINES                                                                                 \
    "user: Where is it?", "call list_dir {\"Path\":\"/w\"}", "call view_file {}",                  \
        "result list_dir: tax.c", "result view_file: rate = 19"

TEST(test_a_mirror_becomes_a_session_and_grows)
{
    import_case_write(LOGS "transcript.jsonl", TURN);
    import_case_read(NULL, "antigravity", TEXTS(HEAD, TURN_LINES));
    import_case_append(LOGS "transcript.jsonl", ANSWER("5", "There."));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_expect(TEXTS(HEAD, TURN_LINES, "assistant: There."));
}

TEST(test_the_whole_transcript_is_read_where_there_is_one)
{
    import_case_write(LOGS "transcript.jsonl", TURN ANSWER("5", "<truncated>"));
    import_case_write(LOGS "transcript_full.jsonl", TURN ANSWER("5", "There."));
    import_case_read(NULL, "antigravity", TEXTS(HEAD, TURN_LINES, "assistant: There."));
}

TEST(test_going_back_takes_back_what_followed)
{
    import_case_write(LOGS "transcript.jsonl", TURN ANSWER("5", "There.") SAID("6", "Delete it."));
    import_case_scan(NULL);
    import_case_append(LOGS "transcript.jsonl", SAID("6", "Keep it.") ANSWER("7", "Yes."));
    import_case_read(
        NULL, "antigravity",
        TEXTS(HEAD, TURN_LINES, "assistant: There.", "user: Keep it.", "assistant: Yes."));
}
