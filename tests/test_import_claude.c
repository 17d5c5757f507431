/* Transcripts of Claude Code as sessions. */
#include "store/sessions.h"
#include "tests/import_case.h"
#include "tests/suite.h"

FIXTURE(import_case_set_up, import_case_tear_down);

#define PLACE ".claude/projects/-home-u-shop/11111111-aaaa-4aaa-8aaa-111111111111.jsonl"

#define TURNS                                                                                      \
    "== Find the tax rate | /home/u/shop | claude-opus-4-5 | claude",                              \
        "user: Where is the tax rate kept?", "assistant: I look for it.",                          \
        "call Grep {\"pattern\":\"tax_rate\",\"path\":\"src\"}",                                   \
        "call Read {\"file_path\":\"src/tax.c\"}", "result Grep: src/tax.c:12",                    \
        "result Read: static const double tax_rate = 0.19;", "assistant: In src/tax.c, line 12.",  \
        "user: [image]\\n\\nAnd this?", "assistant: A receipt."

static const char *const turns[] = {TURNS, NULL};

TEST(test_a_transcript_becomes_a_session)
{
    import_case_copy("claude/turns.jsonl", PLACE);
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.files, 1);
    assert_int_equal(counts.conversations, 1);
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(turns);

    struct session_list all;
    struct error e;
    assert_ok(sessions_list(import_case_store, &(struct session_filter){0}, &all, NULL, &e), e);
    const struct session_info *s = &all.items.items[0];
    assert_int_equal(s->usage.input, 115 + 20 + 30); /* a response counts once */
    assert_int_equal(s->usage.cached, 100);
    assert_int_equal(s->usage.output, 7 + 9 + 3);
    assert_int_equal(s->created_ms, 1772359200000);
    assert_int_equal(s->updated_ms, 1772359262000);
    session_list_release(&all);
    static const struct {
        const char *text;
        size_t count;
    } rows[] = {{"from:cl", 1},
                {"from:codex", 0},
                {"from:tiro", 0},
                {"tax from:claude", 1},
                {"from:claude tea", 0},
                {"\"from:claude\"", 0},
                {"from:codex from:claude", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) { /* its source can be searched for */
        const struct session_filter filter = {.text = rows[i].text};
        assert_ok(sessions_list(import_case_store, &filter, &all, NULL, &e), e);
        assert_int_equal(all.items.len, rows[i].count);
        session_list_release(&all);
    }
}

TEST(test_to_read_it_again_adds_nothing)
{
    import_case_copy("claude/turns.jsonl", PLACE);
    import_case_scan(NULL);
    assert_int_equal(import_case_scan(NULL).read, 0);
    import_case_copy("claude/turns.jsonl", "copy/elsewhere.jsonl");
    struct import_counts counts = import_case_scan("copy");
    assert_int_equal(counts.read, 1);
    assert_int_equal(counts.messages, 0);
    import_case_expect(turns);
}

/* --- a made transcript ------------------------------------------------------------------------ */

/* A line of the user ("u…"), the assistant ("a…") or a result ("r…"), by the first letter of its
 * id. */
static const char *line(const char *id, const char *parent, const char *text)
{
    static const char head[] =
        "{'parentUuid':%s%s%s,'isSidechain':false,'cwd':'/w','sessionId':'s',"
        "'timestamp':'2026-03-01T10:00:00Z','uuid':'%s',";
    const char *quote = parent ? "'" : "";
    char *begin = support_text(head, quote, parent ? parent : "null", quote, id);
    if (*id == 'u')
        return support_text("%s'type':'user','message':{'role':'user','content':'%s'}}\n", begin,
                            text);
    if (*id == 'r')
        return support_text(
            "%s'type':'user','message':{'role':'user','content':[{'type':"
            "'tool_result','tool_use_id':'t','content':'%s'}]}}\n",
            begin, text);
    return support_text(
        "%s'type':'assistant','message':{'id':'m%s','role':'assistant','model':"
        "'opus','content':[{'type':'text','text':'%s'}]}}\n",
        begin, id, text);
}

#define FILE_S ".claude/projects/-w/s.jsonl"

static void write_talk(void)
{
    import_case_write(FILE_S, "");
    import_case_append(FILE_S, line("u1", NULL, "one"));
    import_case_append(FILE_S, line("a1", "u1", "first"));
    import_case_append(FILE_S, line("u2", "a1", "two"));
    import_case_append(FILE_S, line("a2", "u2", "second"));
}

#define HEAD "== one | /w | opus | claude"

TEST(test_what_grew_is_continued)
{
    write_talk();
    import_case_scan(NULL);
    import_case_append(FILE_S, line("u3", "a2", "three"));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_append(FILE_S, line("a3", "u3", "third"));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_expect(TEXTS(HEAD, "user: one", "assistant: first", "user: two",
                             "assistant: second", "user: three", "assistant: third"));
}

/* A line that is being written is left for the next reading, and read once. */
TEST(test_a_torn_line_waits)
{
    const char *whole = line("a3", "u3", "third");
    write_talk();
    import_case_append(FILE_S, line("u3", "a2", "three"));
    import_case_append(FILE_S, support_text("%.*s", 70, whole));
    assert_int_equal(import_case_scan(NULL).messages, 5);
    import_case_append(FILE_S, whole + 70);
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.messages, 1);
    assert_int_equal(counts.not_understood, 0);
    import_case_expect(TEXTS(HEAD, "user: one", "assistant: first", "user: two",
                             "assistant: second", "user: three", "assistant: third"));
}

TEST(test_a_branch_that_was_taken_back_is_left_out)
{
    write_talk();
    import_case_append(FILE_S, line("u3", "a1", "two again"));
    import_case_append(FILE_S, line("a3", "u3", "other"));
    import_case_scan(NULL);
    import_case_expect(
        TEXTS(HEAD, "user: one", "assistant: first", "user: two again", "assistant: other"));
}

/* The session goes back as the person did, and to read all again changes nothing. */
TEST(test_a_branch_that_comes_later_is_followed)
{
    static const char *const there[] = {
        HEAD, "user: one", "assistant: first", "user: two again", "assistant: other", NULL};
    write_talk();
    import_case_scan(NULL);
    import_case_append(FILE_S, line("u3", "a1", "two again"));
    import_case_append(FILE_S, line("a3", "u3", "other"));
    assert_int_equal(import_case_scan(NULL).messages, 2);
    import_case_expect(there);
    import_case_write("all/s.jsonl", support_read(support_path(FILE_S)));
    assert_int_equal(import_case_scan("all").messages, 0);
    import_case_expect(there);
}

TEST(test_a_compaction_takes_nothing_away)
{
    write_talk();
    import_case_append(FILE_S,
                       "{'parentUuid':null,'logicalParentUuid':'a2','isSidechain':false,"
                       "'type':'system','subtype':'compact_boundary','sessionId':'s',"
                       "'uuid':'c1','timestamp':'2026-03-01T11:00:00Z','compactMetadata':"
                       "{'trigger':'manual','preTokens':9}}\n");
    import_case_append(FILE_S,
                       "{'parentUuid':'c1','isSidechain':false,'type':'user','sessionId':"
                       "'s','uuid':'k1','isCompactSummary':true,'message':{'role':'user',"
                       "'content':'This session is being continued from before.'}}\n");
    import_case_append(FILE_S, line("u3", "k1", "three"));
    import_case_append(FILE_S, line("a3", "u3", "third"));
    import_case_scan(NULL);
    import_case_expect(TEXTS(HEAD, "user: one", "assistant: first", "user: two",
                             "assistant: second", "user: three", "assistant: third"));
}

/* Old versions copied the history into a new file when a session was resumed. */
TEST(test_a_copied_history_comes_once)
{
    write_talk();
    import_case_scan(NULL);
    import_case_write(".claude/projects/-w/t.jsonl",
                      "{'type':'summary','summary':'Of another file','leafUuid':'elsewhere'}\n");
    for (size_t i = 0; i < 4; i++) {
        static const char *const ids[][3] = {{"u1", NULL, "one"},
                                             {"a1", "u1", "first"},
                                             {"u2", "a1", "two"},
                                             {"a2", "u2", "second"}};
        AUTO(buf_release) struct buf copy = BUF_INIT;
        const char *text = line(ids[i][0], ids[i][1], ids[i][2]);
        const char *at = strstr(text, "'sessionId':'s'");
        buf_addf(&copy, "%.*s'sessionId':'t'%s", (int)(at - text), text, at + 15);
        import_case_append(".claude/projects/-w/t.jsonl", copy.data);
    }
    import_case_append(".claude/projects/-w/t.jsonl",
                       "{'parentUuid':'a2','isSidechain':false,'cwd':'/w','sessionId':'t','type':"
                       "'user','uuid':'u9','timestamp':'2026-03-02T10:00:00Z','message':{'role':"
                       "'user','content':'later'}}\n");
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_expect(TEXTS(HEAD, "user: one", "assistant: first", "user: two",
                             "assistant: second", "== later | /w | opus | claude", "user: later"));
}

TEST(test_a_bad_line_costs_itself)
{
    write_talk();
    import_case_append(FILE_S, "{'type':'user','uuid':\n");
    import_case_append(FILE_S, "nonsense\n[1,2]\n\n");
    import_case_append(FILE_S, line("u3", "a2", "three"));
    struct import_counts counts = import_case_scan(NULL);
    assert_int_equal(counts.failed, 0);
    assert_int_equal(counts.not_understood, 2);
    assert_non_null(strstr(import_case_text(), "user: three\n"));
}

TEST(test_a_replaced_file_is_read_again)
{
    write_talk();
    import_case_scan(NULL);
    import_case_write(FILE_S, "");
    import_case_append(FILE_S, line("u1", NULL, "one"));
    assert_int_equal(import_case_scan(NULL).messages, 0);
    import_case_append(FILE_S, line("u7", "u1", "new"));
    assert_int_equal(import_case_scan(NULL).messages, 1);
}

TEST(test_a_title_by_hand_counts_most)
{
    write_talk();
    import_case_append(FILE_S,
                       "{'type':'custom-title','customTitle':'Mine','sessionId':'s'}\n"
                       "{'type':'ai-title','aiTitle':'Made','sessionId':'s'}\n");
    import_case_scan(NULL);
    assert_memory_equal(import_case_text(), "== Mine |", 9);
}

TEST(test_a_sub_agent_is_a_session_of_its_own)
{
    write_talk();
    import_case_write(".claude/projects/-w/s/subagents/agent-x.jsonl",
                      "{'parentUuid':null,'isSidechain':true,'agentId':'x','cwd':'/w','sessionId':"
                      "'s','type':'user','uuid':'x1','timestamp':'2026-03-01T10:00:00Z','message':"
                      "{'role':'user','content':'Look for it'}}\n");
    import_case_scan(NULL);
    const char *text = import_case_text();
    assert_non_null(strstr(text, HEAD "\n"));
    assert_non_null(strstr(text, "== Look for it | /w |  | claude\nuser: Look for it\n"));
}

TEST(test_secrets_are_masked_and_results_shortened)
{
    AUTO(buf_release) struct buf large = BUF_INIT;
    for (int i = 0; i < 1000; i++)
        buf_addf(&large, "row %d.", i);
    write_talk();
    import_case_append(FILE_S, line("u3", "a2", "my key is sk-ant-REDACTED"));
    import_case_append(FILE_S,
                       "{'parentUuid':'u3','cwd':'/w','sessionId':'s','type':'assistant',"
                       "'uuid':'a3','message':{'id':'m9','role':'assistant','content':[{"
                       "'type':'tool_use','id':'t','name':'Bash','input':{}}]}}\n");
    import_case_append(FILE_S, line("r3", "a3", large.data));
    import_case_scan(NULL);
    const char *text = import_case_text();
    assert_null(strstr(text, "sk-ant-api03"));
    assert_non_null(strstr(text, "bytes left out"));
    assert_non_null(strstr(text, "row 999."));
    assert_null(strstr(text, "row 500."));
}

TEST(test_other_branches_are_sessions_where_they_are_wanted)
{
    write_talk();
    import_case_append(FILE_S, line("u3", "a1", "two again"));
    import_case_append(FILE_S, line("a3", "u3", "other"));
    import_case_options.branches = true;
    import_case_scan(NULL);
    import_case_expect(TEXTS(HEAD, "user: one", "assistant: first", "user: two again",
                             "assistant: other", "== two | /w | opus | claude", "user: two",
                             "assistant: second"));
}

/* --- lists of prompts ------------------------------------------------------------------------- */

#define PROMPT(session, time, text, more)                                                          \
    "{'display':'" text "','pastedContents':{" more "},'timestamp':17723592" time                  \
    "000,'project':'/home/u/shop','sessionId':'" session "'}\n"

TEST(test_prompts_are_all_that_is_left_of_a_deleted_transcript)
{
    import_case_copy("claude/turns.jsonl", PLACE);
    import_case_write(".claude/history.jsonl",
                      PROMPT("11111111-aaaa-4aaa-8aaa-111111111111", "00", "Where is it?", "")
                          PROMPT("gone", "10", "/model opus", "")
                              PROMPT("gone", "20", "Where [Pasted text #1]",
                                     "'1':{'type':'text','content':'the fee'}")
                                  PROMPT("gone", "30", "/home/u is full", "")
                                      "{'display':'Of no session','timestamp':1772359200000,"
                                      "'project':'/w'}\n");
    import_case_read(NULL, "claude",
                     TEXTS(TURNS, "== Where [Pasted text #1] | /home/u/shop |  | claude",
                           "user: Where [Pasted text #1]\\n\\nthe fee", "user: /home/u is full"));
    import_case_append(".claude/history.jsonl", PROMPT("gone", "40", "Thanks.", ""));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_append(".claude/history.jsonl",
                       "{'display':'of today','timestamp':9772359200000,"
                       "'project':'/w','sessionId':'now'}\n");
    assert_int_equal(import_case_scan(NULL).messages, 0);
}

TEST(test_a_transcript_replaces_its_prompts)
{
    import_case_write(".claude/history.jsonl",
                      PROMPT("11111111-aaaa-4aaa-8aaa-111111111111", "00", "Where is it?", ""));
    assert_int_equal(import_case_scan(NULL).messages, 1);
    import_case_copy("claude/turns.jsonl", PLACE);
    import_case_append(".claude/history.jsonl",
                       PROMPT("11111111-aaaa-4aaa-8aaa-111111111111", "10", "And this?", ""));
    import_case_scan(NULL);
    import_case_expect(turns);
}
