/* The exports of ChatGPT and Claude.ai. */
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define NODE(id, parent, message)                                                                  \
    "'" id "':{'id':'" id "','parent':" parent ",'children':[],'message':" message "}"
#define SAY(id, role, more, content)                                                               \
    "{'id':'" id "','author':{'role':'" role                                                       \
    "'},'create_time':1772359201.5,'recipient':'all'," more "'content':" content "}"
#define TEXT(text) "{'content_type':'text','parts':['" text "']}"
#define CHAT(current)                                                                              \
    "{'id':'g1','title':'Tax','create_time':1772359200.0,'update_time':1772359260.0,"              \
    "'default_model_slug':'gpt-5','current_node':'" current "','mapping':{"                        \
    NODE("n0", "null", "null") ","                                                                 \
    NODE("n1", "'n0'", SAY("n1", "system", "", TEXT("rules"))) ","                                 \
    NODE("n2", "'n1'", SAY("n2", "user", "", TEXT("Where is it?"))) ","                            \
    NODE("n3", "'n2'", SAY("n3", "assistant", "'metadata':{'model_slug':'gpt-5-pro'},",            \
         "{'content_type':'thoughts','thoughts':[]}")) ","                                         \
    NODE("n4", "'n3'", SAY("n4", "assistant", "", TEXT("There \xee\x88\x80" "cite\xee\x88\x82turn0" \
                                                       "\xee\x88\x81now."))) ","                   \
    NODE("n5", "'n4'", SAY("n5", "user", "", "{'content_type':'multimodal_text','parts':"          \
                           "[{'content_type':'image_asset_pointer'},'And this?']}")) ","           \
    NODE("n6", "'n4'", SAY("n6", "user", "", TEXT("And that?"))) "}}"

TEST(test_the_talk_of_chatgpt_leads_to_the_current_node)
{
    import_case_write("export/conversations-000.json", "[" CHAT("n5") "]");
    struct import_counts counts = import_case_scan("export");
    assert_string_equal(counts.name, "chatgpt");
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(TEXTS("== Tax |  | gpt-5 | chatgpt", "user: Where is it?",
                             "assistant: There now.", "user: [image]\\n\\nAnd this?"));
    import_case_write("newer/conversations.json", "{'conversations':[" CHAT("n5") "]}");
    assert_int_equal(import_case_scan("newer").messages, 0);
}

TEST(test_a_conversation_that_is_not_to_be_remembered_stays_out)
{
    import_case_write("export/conversations.json",
                      "[{'id':'g2','is_do_not_remember':true,'mapping':{" NODE(
                          "n2", "null", SAY("n2", "user", "", TEXT("secret"))) "},"
                      "'current_node':'n2'}]");
    import_case_scan("export");
    import_case_expect((const char *const[]){NULL});
}

#define MESSAGE(id, parent, time, sender, content)                                                 \
    "{'uuid':'" id "','parent_message_uuid':'" parent "','created_at':'2026-03-01T10:00:" time     \
    "Z','sender':'" sender "','text':'old','content':[" content "],'attachments':[],'files':[]}"
#define ROOT "00000000-0000-4000-8000-000000000000"

TEST(test_the_talk_of_claude_ai_leads_to_the_newest_leaf)
{
    import_case_write(
        "export/conversations.json",
        "[{'uuid':'c1','name':'Tax','created_at':'2026-03-01T10:00:00Z','updated_at':"
        "'2026-03-01T10:01:00Z','chat_messages':["
        MESSAGE("m1", ROOT, "01", "human", "{'type':'text','text':'Where is it?'}") ","
        MESSAGE("m2", "m1", "02", "assistant", "{'type':'thinking','thinking':'Hm.'},{'type':'text',"
                "'text':'I look.'},{'type':'tool_use','id':'t1','name':'search','input':{'q':'tax'}},"
                "{'type':'tool_result','tool_use_id':'t1','name':'search','content':[{'type':'text',"
                "'text':'tax.c'}]}") ","
        MESSAGE("m3", "m1", "03", "assistant", "{'type':'text','text':'There.'}") ","
        MESSAGE("m4", "m2", "04", "human", "{'type':'text','text':'And the fee?'}") "]},"
        "{'uuid':'c2','name':'','chat_messages':[{'uuid':'x','sender':'human','text':'Hello?',"
        "'files':[{'file_name':'a.pdf'}]}]}]");
    struct import_counts counts = import_case_scan("export");
    assert_string_equal(counts.name, "claude.ai");
    assert_int_equal(counts.not_understood, 0);
    import_case_expect((const char *const[]){
        "== Tax |  |  | claude.ai", "user: Where is it?", "assistant: I look.",
        "call search {\"q\":\"tax\"}", "result search: tax.c", "user: And the fee?",
        "== Hello? |  |  | claude.ai", "user: Hello?\\n\\n[file a.pdf]", NULL});
}

TEST(test_other_files_of_claude_ai_are_known)
{
    import_case_write("export/projects.json",
                      "[{'uuid':'p','name':'Shop','description':'','docs':[{'uuid':'d','filename':"
                      "'a.md','content':'[{\\'role\\':\\'user\\'}]'}]}]");
    import_case_write("export/memories.json",
                      "[{'account_uuid':'u','conversations_memory':'Lives in Kiel.',"
                      "'project_memories':{}}]");
    import_case_write("export/users.json", "[{'uuid':'u','email_address':'u@example.org'}]");
    struct import_counts counts = import_case_scan("export");
    assert_string_equal(counts.name, "claude.ai");
    assert_int_equal(counts.files, 3);
    assert_int_equal(counts.failed + counts.not_understood + counts.messages, 0);
}
