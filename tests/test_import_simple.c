/* The neutral list of messages as a source. */
#include "session/export.h"
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

TEST(test_a_list_of_messages_becomes_a_session)
{
    static const char text[] =
        "[{'role':'system','content':'be short'},{'role':'user','content':'one'},"
        "{'role':'assistant','content':null,'tool_calls':[{'id':'t','type':'function','function':"
        "{'name':'ls','arguments':'{\\'path\\':\\'/\\'}'}}]},"
        "{'role':'tool','tool_call_id':'t','content':'bin etc'},"
        "{'role':'assistant','content':'Two folders.'}";
    static const char *const there[] = {"== one |  |  | messages",  "user: one",
                                        "call ls {\"path\":\"/\"}", "result ls: bin etc",
                                        "assistant: Two folders.",  NULL};
    import_case_write("talk.json", support_text("%s]", text));
    assert_int_equal(import_case_scan("talk.json").messages, 2);
    import_case_expect(there);
    import_case_write("copy.json", support_text("%s]", text));
    assert_int_equal(import_case_scan("copy.json").messages, 0);
    import_case_write("copy.json", support_text("%s,{'role':'user','content':'two'}]", text));
    assert_int_equal(import_case_scan("copy.json").messages, 1);
}

TEST(test_an_object_tells_more)
{
    import_case_write("talk.json",
                      "{'id':'x','title':'Mine','cwd':'/w','model':'m','timestamp':1772359200,"
                      "'messages':[{'role':'user','content':[{'type':'text','text':'one'}]},"
                      "{'role':'assistant','content':[{'type':'text','text':'first'},{'type':"
                      "'tool_use','id':'t','name':'Read','input':{'path':'a'}}]},"
                      "{'role':'user','content':[{'type':'tool_result','tool_use_id':'t',"
                      "'content':'text'}]}]}");
    import_case_scan("talk.json");
    import_case_expect(TEXTS("== Mine | /w | m | messages", "user: one", "assistant: first",
                             "call Read {\"path\":\"a\"}", "result Read: text"));
}

/* Sessions of tiro are written in this form, too; what was taken back is left out. */
TEST(test_a_session_that_was_exported_comes_back)
{
    struct catalog c;
    struct error e;
    import_case_copy("claude/turns.jsonl", ".claude/projects/p/a.jsonl");
    import_case_scan(NULL);
    char *before = support_keep(mem_strdup(import_case_text()));
    catalog_borrow(&c, import_case_store, NULL, "");
    assert_ok(export_to_file(&c, "last", EXPORT_MESSAGES, support_path("talk.json"), false, &e), e);
    catalog_release(&c);
    struct import_counts counts = import_case_scan("talk.json");
    assert_string_equal(counts.name, "messages");
    assert_int_equal(counts.not_understood, 0);
    const char *after = import_case_text() + strlen(before);
    assert_string_equal(strchr(after, '\n'), strchr(before, '\n'));
    assert_non_null(strstr(after, "== Find the tax rate | /home/u/shop | claude-opus-4-5 |"));
    assert_int_equal(import_case_scan("talk.json").read, 0);
}

TEST(test_a_name_that_had_to_be_cleaned_is_no_change)
{
#define TALK "{'model':'m\\u0007','messages':[{'role':'user','content':'one'}]}"
    import_case_write("talk.json", TALK);
    assert_int_equal(import_case_scan("talk.json").conversations, 1);
    import_case_write("talk.json", TALK "\n");
    assert_int_equal(import_case_scan("talk.json").conversations, 0);
}
