/* Rollouts of Codex as sessions. */
#include "store/sessions.h"
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define FOLDER ".codex/sessions/2026/03/01/"
#define PLACE FOLDER "rollout-2026-03-01T10-00-00-aaaa.jsonl"
#define META(id, more)                                                                             \
    "{'timestamp':'2026-03-01T10:00:00Z','type':'session_meta','payload':{'id':'" id               \
    "','timestamp':'2026-03-01T10:00:00Z','cwd':'/home/u/shop'" more "}}\n"
#define ITEM(text)                                                                                 \
    "{'timestamp':'2026-03-01T10:00:01Z','type':'response_item','payload':" text "}\n"
#define EVENT(text) "{'timestamp':'2026-03-01T10:00:02Z','type':'event_msg','payload':" text "}\n"
#define SAID(text)                                                                                 \
    ITEM("{'type':'message','role':'user','content':[{'type':'input_text','text':'" text "'}]}")
#define ANSWER(text)                                                                               \
    ITEM("{'type':'message','role':'assistant','content':[{'type':'output_text','text':'" text     \
         "'}]}")
#define COUNT(input, output)                                                                       \
    EVENT("{'type':'token_count','info':{'last_token_usage':{'input_tokens':" input                \
          ",'cached_input_tokens':10,'output_tokens':" output "}}}")

#define TALK                                                                                       \
    META("aaaa", ",'base_instructions':{'text':'You are a coding agent.'}")                        \
    ITEM("{'type':'message','role':'developer','content':[{'type':'input_text','text':'rules'}]}") \
    SAID("<environment_context>the machine</environment_context>")                                 \
    "{'timestamp':'2026-03-01T10:00:00Z','type':'turn_context','payload':{'model':'gpt-5'}}"       \
    "\n" SAID("Where is the tax rate kept?")                                                       \
        EVENT("{'type':'user_message','message':'Where is the tax rate kept?'}")                   \
            ITEM("{'type':'reasoning','summary':[],'encrypted_content':'xyz'}") ITEM(              \
                "{'type':'function_call','name':'shell','arguments':'{\\'cmd\\':\\'ls\\'}',"       \
                "'call_id':'c1'}")                                                                 \
                ITEM("{'type':'function_call_output','call_id':'c1','output':'tax.c'}")            \
                    COUNT("100", "5") ANSWER("In src/tax.c.")                                      \
                        EVENT("{'type':'agent_message','message':'In src/tax.c.'}")                \
                            COUNT("200", "7")

#define TALK_LINES                                                                                 \
    "user: Where is the tax rate kept?", "call shell {\"cmd\":\"ls\"}", "result shell: tax.c",     \
        "assistant: In src/tax.c."

TEST(test_a_rollout_becomes_a_session)
{
    import_case_write(PLACE, TALK EVENT("{'type':'thread_name_updated','thread_name':'Tax'}"));
    struct import_counts counts = import_case_scan(NULL);
    assert_string_equal(counts.name, "codex");
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(TEXTS("== Tax | /home/u/shop | gpt-5 | codex", TALK_LINES));
    struct session_list all;
    struct error e;
    assert_ok(sessions_list(import_case_store, &(struct session_filter){0}, &all, NULL, &e), e);
    assert_int_equal(all.items.items[0].usage.input, 300);
    assert_int_equal(all.items.items[0].usage.cached, 20);
    assert_int_equal(all.items.items[0].usage.output, 12);
    session_list_release(&all);
    assert_int_equal(import_case_scan(NULL).read, 0);
}

TEST(test_the_last_line_waits_until_it_is_whole)
{
    import_case_write(PLACE, TALK "{'timestamp':'2026-03-01T10:01:00Z','type':'response_item',");
    import_case_scan(NULL);
    import_case_append(PLACE,
                       "'payload':{'type':'message','role':'user','content':[{'type':"
                       "'input_text','text':'Thanks.'}]}}\n");
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.messages, 1);
    import_case_expect(
        TEXTS("== Where is the tax rate kept? | /home/u/shop | "
              "gpt-5 | codex",
              TALK_LINES, "user: Thanks."));
}

TEST(test_a_fork_brings_only_its_own_words)
{
    import_case_write(PLACE, TALK);
    import_case_write(FOLDER "rollout-2026-03-01T11-00-00-bbbb.jsonl",
                      META("bbbb", ",'forked_from_id':'aaaa'") TALK SAID("And the discount?")
                          ANSWER("In src/discount.c."));
    import_case_write(FOLDER "rollout-2026-03-01T12-00-00-cccc.jsonl",
                      META("cccc", ",'forked_from_id':'aaaa'") SAID("And the fee?"));
    import_case_scan(NULL);
    import_case_expect(TEXTS("== Where is the tax rate kept? | /home/u/shop | gpt-5 | codex",
                             TALK_LINES, "== And the discount? | /home/u/shop | gpt-5 | codex",
                             "user: And the discount?", "assistant: In src/discount.c.",
                             "== And the fee? | /home/u/shop |  | codex", "user: And the fee?"));
}

TEST(test_turns_that_were_rolled_back_are_left_out)
{
    import_case_write(PLACE, TALK SAID("Delete it.") ANSWER("Done."));
    import_case_scan(NULL);
    import_case_append(PLACE, EVENT("{'type':'thread_rolled_back','num_turns':1}") SAID("Keep it.")
                                  ANSWER("It stays."));
    import_case_scan(NULL);
    import_case_expect(
        TEXTS("== Where is the tax rate kept? | /home/u/shop | "
              "gpt-5 | codex",
              TALK_LINES, "user: Keep it.", "assistant: It stays."));
}

TEST(test_a_file_that_a_compaction_rewrote_has_what_is_left)
{
    import_case_write(PLACE, META("aaaa", "")
                      "{'timestamp':'2026-03-01T10:00:00Z','type':'compacted','payload':{'message':"
                      "'','replacement_history':[{'type':'message','role':'user','content':[{'type'"
                      ":'input_text','text':'Where?'}]}]}}\n" ANSWER("There."));
    import_case_scan(NULL);
    import_case_expect(
        TEXTS("== Where? | /home/u/shop |  | codex", "user: Where?", "assistant: There."));
}

TEST(test_the_oldest_forms_are_read)
{
    import_case_write(FOLDER "rollout-1.json",
                      "{'session':{'id':'old1','timestamp':'2025-05-01T10:00:00Z','instructions':''"
                      "},'items':[{'type':'message','role':'user','content':[{'type':'input_text',"
                      "'text':'Hello?'}]},{'type':'message','role':'assistant','content':[{'type':"
                      "'output_text','text':'Hello.'}]}]}");
    import_case_write(FOLDER "rollout-2.jsonl",
                      "{'id':'old2','timestamp':'2025-06-01T10:00:00Z','instructions':null}\n"
                      "{'type':'message','role':'user','content':[{'type':'input_text','text':"
                      "'Still there?'}]}\n{'record_type':'state'}\n");
    import_case_scan(NULL);
    import_case_expect(TEXTS("== Hello? |  |  | codex", "user: Hello?", "assistant: Hello.",
                             "== Still there? |  |  | codex", "user: Still there?"));
}

/* Writes a text as zstd stores what it cannot compress: a frame of one block. */
static void write_zst(const char *to, const char *text)
{
    const char *bytes = support_json(text);
    size_t len = strlen(bytes), head = len - 256, block = len << 3 | 1;
    char frame[9] = "\x28\xb5\x2f\xfd\x60";
    char lens[] = {(char)head, (char)(head >> 8), (char)block, (char)(block >> 8),
                   (char)(block >> 16)};
    import_case_write(to, "");
    FILE *f = fopen(support_path(to), "wb");
    assert_non_null(f);
    assert_true(len > 256 && len < 65536);
    assert_int_equal(fwrite(frame, 1, 5, f), 5);
    assert_int_equal(fwrite(lens, 1, sizeof lens, f), sizeof lens);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

#ifdef HAVE_LIBARCHIVE
enum { ZSTD = true };
#else
enum { ZSTD = false };
#endif

TEST_IF(ZSTD, test_a_compressed_rollout_is_the_same_one)
{
    write_zst(PLACE ".zst", TALK);
    import_case_read(
        NULL, "codex",
        TEXTS("== Where is the tax rate kept? | /home/u/shop | gpt-5 | codex", TALK_LINES));
    assert_int_equal(import_case_scan(NULL).read, 0);
    import_case_write(PLACE, TALK SAID("Thanks."));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    write_zst(PLACE ".zst", TALK ITEM("{'type':'reasoning'}"));
    assert_int_equal(import_case_scan(NULL).messages, 0);
}

TEST(test_prompts_without_a_rollout)
{
    import_case_write(PLACE, TALK);
    import_case_write(".codex/history.jsonl",
                      "{'session_id':'aaaa','ts':1772359200,'text':'Where is it?'}\n"
                      "{'session_id':'gone','ts':1772359201,'text':'Which fee?'}\n");
    import_case_read(NULL, "codex",
                     TEXTS("== Where is the tax rate kept? | /home/u/shop | gpt-5 | codex",
                           TALK_LINES, "== Which fee? |  |  | codex", "user: Which fee?"));
}
