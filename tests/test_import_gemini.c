/* Sessions of Gemini CLI and pi. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define GEMINI ".gemini/tmp/shop/chats/session-2026-03-01T10-00-aaaa.jsonl"
#define FIRST                                                                                      \
    "{'sessionId':'aaaa','projectHash':'00ff','startTime':'2026-03-01T10:00:00Z','kind':'main'}\n"
#define CONTEXT "{'id':'m0','type':'user','content':[{'text':'<session_context>the machine'}]}"
#define SAID(id, text) "{'id':'" id "','type':'user','content':[{'text':'" text "'}]}"
#define ANSWER(id, text, more)                                                                     \
    "{'id':'" id "','timestamp':'2026-03-01T10:00:05Z','type':'gemini','content':'" text           \
    "','model':'gemini-2.5-pro'" more "}"
#define RESPONSE "{'functionResponse':{'id':'c1','name':'shell','response':{'output':'tax.c'}}}"
#define CALLS                                                                                      \
    ",'toolCalls':[{'id':'c1','name':'shell','args':{'cmd':'ls'},'result':[" RESPONSE "]}]"
#define TALK                                                                                       \
    FIRST "{'$set':{'messages':[" CONTEXT "]}}\n" SAID("m1", "Where is the tax rate kept?")        \
        "\n" ANSWER("m2", "", "") "\n" ANSWER("m2", "", CALLS) "\n"                                \
        "{'id':'m3','type':'user','content':[" RESPONSE "]}\n"                                     \
        ANSWER("m4", "In tax.c.", ",'tokens':{'input':9,'output':3,'cached':1,'thoughts':2}") "\n"
#define TITLE "== Where is the tax rate kept? | /home/u/shop | gemini-2.5-pro | gemini"
#define LINES                                                                                      \
    "user: Where is the tax rate kept?", "call shell {\"cmd\":\"ls\"}", "result shell: tax.c",     \
        "assistant: In tax.c."

static void put(const char *path, const char *text)
{
    import_case_write(".gemini/tmp/shop/.project_root", "/home/u/shop\n");
    import_case_write(path, text);
}

TEST(test_lines_of_gemini_become_a_session)
{
    put(GEMINI, TALK);
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "gemini");
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(TEXTS(TITLE, LINES));
    assert_int_equal(import_case_scan(NULL).read, 0);
}

TEST(test_a_resumed_session_goes_on)
{
    put(GEMINI, TALK);
    import_case_scan(NULL);
    /* The checkpoint has the calls in another form, and two messages with one id. */
    import_case_append(GEMINI, FIRST "{'$set':{'messages':[" CONTEXT "]}}\n{'$set':{'messages':["
                       CONTEXT "," SAID("m1", "Where is the tax rate kept?")
                       ",{'id':'m2','type':'gemini','content':[{'functionCall':{'id':'c1','name':"
                       "'shell','args':{}}}]},{'id':'m2','type':'user','content':[" RESPONSE "]},"
                       "{'id':'m4','type':'gemini','content':[{'text':'In tax.c.'}]}]}}\n"
                       SAID("m5", "Thanks.") "\n");
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_expect(TEXTS(TITLE, LINES, "user: Thanks."));
}

TEST(test_a_rewind_takes_messages_back)
{
    put(GEMINI, TALK SAID("m5", "Delete it.") "\n" ANSWER("m6", "Done.", "") "\n");
    import_case_scan(NULL);
    import_case_append(GEMINI, "{'$rewindTo':'m5'}\n" SAID("m7", "Keep it.") "\n");
    import_case_scan(NULL);
    import_case_expect(TEXTS(TITLE, LINES, "user: Keep it."));
}

TEST(test_files_of_one_object_and_sub_agents_are_read)
{
    put(".gemini/tmp/shop/chats/session-old.json",
        "{'sessionId':'old','projectHash':'00ff','startTime':'2025-09-01T10:00:00Z','summary':"
        "'Tax','messages':[" SAID("m1", "Where?") "," ANSWER("m2", "There.", "") "]}");
    put(".gemini/tmp/shop/chats/aaaa/session-sub.jsonl",
        "{'sessionId':'sub','projectHash':'00ff','kind':'subagent'}\n" SAID("s1", "Look.") "\n");
    import_case_scan(".gemini/tmp/shop/chats/session-old.json");
    import_case_scan(NULL);
    import_case_expect(TEXTS("== Tax | /home/u/shop | gemini-2.5-pro | gemini", "user: Where?",
                             "assistant: There.", "== Look. | /home/u/shop |  | gemini",
                             "user: Look."));
}

#define PI ".pi/agent/sessions/--home-u-shop--/2026-03-01_aaaa.jsonl"
#define ENTRY(id, parent, message)                                                                 \
    "{'type':'message','id':'" id "','parentId':'" parent                                          \
    "','timestamp':'2026-03-01T10:00:01Z','message':" message "}\n"
#define PI_SAID(id, parent, text)                                                                  \
    ENTRY(id, parent, "{'role':'user','content':[{'type':'text','text':'" text "'}]}")
#define PI_TALK                                                                                    \
    "{'type':'session','version':3,'id':'aaaa','timestamp':'2026-03-01T10:00:00Z','cwd':"          \
    "'/home/u/shop'}\n{'type':'model_change','id':'e0','parentId':null,'modelId':'m'}\n" PI_SAID(  \
        "e1", "e0", "Where is it?")                                                                \
        ENTRY("e2", "e1",                                                                          \
              "{'role':'assistant','model':'m','content':[{'type':'thinking','thinking':"          \
              "'Hm.'},{'type':'toolCall','id':'c1','name':'bash','arguments':{'command':"          \
              "'ls'}}],'usage':{'input':3,'output':4,'cacheRead':5,'cacheWrite':0,'cost':"         \
              "{'total':0.5}}}")                                                                   \
            ENTRY("e3", "e2",                                                                      \
                  "{'role':'toolResult','toolCallId':'c1','toolName':'bash','content':"            \
                  "[{'type':'text','text':'tax.c'}],'isError':false}")

TEST(test_entries_of_pi_become_a_session)
{
    import_case_write(
        PI, PI_TALK PI_SAID(
                "e4", "e3",
                "Delete it.") "{'type':'session_info','id':'e5','parentId':'e4','name':'Tax'}\n");
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "pi");
    assert_int_equal(counts.not_understood, 0);
    import_case_append(PI, PI_SAID("e6", "e3", "Keep it.") "no JSON\n"
                       "{'type':'compaction','id':'e7','parentId':'e6','summary':'all'}\n");
    counts = import_case_scan(NULL);
    assert_int_equal(counts.not_understood, 1);
    import_case_expect(TEXTS("== Tax | /home/u/shop | m | pi", "user: Where is it?",
                             "call bash {\"command\":\"ls\"}", "result bash: tax.c",
                             "user: Keep it."));
}
