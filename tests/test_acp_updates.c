/* Events as updates of the Agent Client Protocol. */
#include "serve/acp_updates.h"
#include "tests/steps.h"
#include "tests/suite.h"

/* --- updates to a client ---------------------------------------------------------------------- */

static struct buf told;
static struct acp_client client;
static struct acp_telling telling;
static int64_t seq;

static void take_update(void *context, const char *json)
{
    (void)context;
    struct error e;
    AUTO(json_free_local) struct json *v = json_parse(json, strlen(json), &e);
    assert_non_null(v);
    buf_addstr(&told, json);
    buf_addch(&told, '\n');
}

static int begin(void **state)
{
    (void)state;
    told = (struct buf)BUF_INIT;
    client = (struct acp_client){0};
    telling =
        (struct acp_telling){.client = &client, .directory = "/home/ada", .update = take_update};
    seq = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    acp_telling_release(&telling);
    buf_release(&told);
    return 0;
}

FIXTURE(begin, end);

static struct event *make(enum event_type type, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = ++seq;
    ev->text = mem_strdup(text);
    return ev;
}

static void tell(struct event *ev)
{
    acp_tell_event(&telling, ev);
    event_free(ev);
}

static void tell_text(enum event_type type, const char *text)
{
    tell(make(type, text));
}

static void call_tool(const char *id, const char *name, const char *args)
{
    struct event *ev = make(EVENT_TOOL_CALL_REQUESTED, args);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name);
    tell(ev);
}

/* A call that was told, and is the only one. */
static void begin_tool(const char *id, const char *name, const char *args)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool(id, name, args);
    buf_clear(&told);
}

static struct event *tool_end(const char *id, const char *name, const char *text, bool is_error)
{
    struct event *ev = make(EVENT_TOOL_EXECUTION_COMPLETED, text);
    ev->id = mem_strdup(id);
    ev->name = mem_strdup(name);
    ev->flag = is_error;
    return ev;
}

static void end_tool(const char *id, const char *name, const char *text, bool is_error)
{
    tell(tool_end(id, name, text, is_error));
}

/* Compares all updates since the last call; ' stands for ". */
static void expect(const char *updates)
{
    assert_string_equal(told.data, support_json(updates));
    buf_clear(&told);
}

/* The only update is one of this call, with these members. */
static void expect_call(const char *id, const char *members)
{
    expect(
        support_text("{'sessionUpdate':'tool_call_update','toolCallId':'%s',%s}\n", id, members));
}

/* --- texts ------------------------------------------------------------------------------------ */

#define THOUGHT(id, text)                                                                          \
    "{'sessionUpdate':'agent_thought_chunk','messageId':'" id                                      \
    "','content':{'type':'text','text':"                                                           \
    "'" text "'}}\n"
#define SAID(id, text)                                                                             \
    "{'sessionUpdate':'agent_message_chunk','messageId':'" id                                      \
    "','content':{'type':'text','text':"                                                           \
    "'" text "'}}\n"

/* The complete events come when all of the answer is there. */
TEST(a_streamed_answer_is_told_once)
{
    telling.told_input = true;
    tell_text(EVENT_TURN_STARTED, "hi");
    tell_text(EVENT_CALL_STARTED, NULL);
    expect("");
    tell_text(EVENT_REASONING_DELTA, "H");
    tell_text(EVENT_REASONING_DELTA, "m");
    tell_text(EVENT_TEXT_DELTA, "Hel");
    expect(THOUGHT("2.0", "H") THOUGHT("2.0", "m") SAID("2.1", "Hel"));
    tell_text(EVENT_TEXT_DELTA, "lo");
    tell_text(EVENT_REASONING_COMPLETE, "Hm");
    tell_text(EVENT_TEXT_COMPLETE, "Hello");
    expect(SAID("2.1", "lo"));
}

TEST(what_did_not_stream_is_told_when_it_is_complete)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    tell_text(EVENT_TEXT_DELTA, "He");
    tell_text(EVENT_TEXT_COMPLETE, "Hello");
    tell_text(EVENT_TEXT_COMPLETE, "Bye");
    expect(SAID("1.0", "He") SAID("1.0", "llo") SAID("1.1", "Bye"));
    tell_text(EVENT_CALL_STARTED, NULL);
    tell_text(EVENT_REASONING_COMPLETE, "Hm");
    tell_text(EVENT_TEXT_COMPLETE, "Hello");
    expect(THOUGHT("5.0", "Hm") SAID("5.1", "Hello"));
}

/* The text of a failed try is not the beginning of the next try's answer. */
TEST(another_try_is_another_text)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    tell_text(EVENT_TEXT_DELTA, "He");
    struct event *ev = make(EVENT_RETRYING, "busy");
    ev->count = 2;
    ev->limit = 5;
    tell(ev);
    buf_clear(&told);
    tell_text(EVENT_TEXT_DELTA, "Hello");
    tell_text(EVENT_TEXT_COMPLETE, "Hello");
    expect(SAID("1.2", "Hello"));
}

/* A piece ends where a character does. */
TEST(a_very_long_text_comes_in_pieces)
{
    enum { CHARACTERS = 1000000 };
    AUTO(buf_release) struct buf text = BUF_INIT;
    size_t pieces = 0, bytes = 0;
    for (int i = 0; i < CHARACTERS; i++)
        buf_addstr(&text, "\xe2\x82\xac");
    tell_text(EVENT_CALL_STARTED, NULL);
    tell_text(EVENT_TEXT_COMPLETE, text.data);
    for (const char *at = told.data; *at; at = strchr(at, '\n') + 1, pieces++) {
        AUTO(json_free_local) struct json *v = json_parse(at, strcspn(at, "\n"), NULL);
        assert_string_equal(json_get_string(v, "messageId"), "1.0");
        bytes += strlen(json_get_string(json_get(v, "content"), "text"));
    }
    assert_int_equal(pieces, 3);
    assert_int_equal(bytes, text.len);
    assert_null(strstr(told.data, "\xef\xbf\xbd"));
}

TEST(what_another_surface_sent_is_told)
{
    struct event *ev = make(EVENT_TURN_STARTED, "look");
    ev->attachments = mem_strdup(
        "[{\"type\":\"image\",\"text\":\"/x/a b.png\",\"media_type\":"
        "\"image/png\"}]");
    tell(ev);
    expect(
        "{'sessionUpdate':'user_message_chunk','messageId':'1','content':{'type':'text',"
        "'text':'look'}}\n"
        "{'sessionUpdate':'user_message_chunk','messageId':'1','content':{'type':"
        "'resource_link','uri':'file:///x/a%20b.png','name':'a b.png','mimeType':'image/png'}}\n");
}

/* --- tool calls ------------------------------------------------------------------------------- */

TEST(a_call_is_told_from_its_beginning_to_its_end)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool("call_1", "read_file", "{\"path\":\"a.c\",\"offset\":7}");
    expect(
        "{'sessionUpdate':'tool_call','toolCallId':'1:call_1','title':'Read a.c','kind':'read',"
        "'locations':[{'path':'/home/ada/a.c','line':7}],'rawInput':{'path':'a.c','offset':7},"
        "'status':'pending'}\n");
    tell_text(EVENT_CALL_COMPLETED, NULL);
    expect_call("1:call_1", "'status':'in_progress'");
    end_tool("call_1", "read_file", "int ```` a;", false);
    expect_call("1:call_1",
                "'status':'completed','content':[{'type':'content','content':{'type':'text',"
                "'text':'`````\\nint ```` a;\\n`````\\n'}}],'rawOutput':'int ```` a;'");
}

TEST(a_page_is_fetched_by_its_url)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool("f", "fetch_url", "{\"url\":\"https://example.org/a\"}");
    expect(
        "{'sessionUpdate':'tool_call','toolCallId':'1:f','title':'https://example.org/a','kind':"
        "'fetch','rawInput':{'url':'https://example.org/a'},'status':'pending'}\n");
}

TEST(a_search_of_the_provider_ends_within_the_answer)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool("s", "web_search", "{\"query\":\"tides\"}");
    expect(
        "{'sessionUpdate':'tool_call','toolCallId':'1:s','title':'Search the web for tides','kind':"
        "'search','rawInput':{'query':'tides'},'status':'pending'}\n");
    end_tool("s", "web_search", "Tides", false);
    expect_call("1:s",
                "'status':'completed','content':[{'type':'content','content':{'type':'text',"
                "'text':'```\\nTides\\n```\\n'}}],'rawOutput':'Tides'");
    tell_text(EVENT_CALL_COMPLETED, NULL);
    expect("");
}

TEST(passages_that_go_with_a_message_are_a_call)
{
    struct event *ev = make(EVENT_MEMORY_RECALLED, "where?");
    ev->hits = mem_strdup("[{\"content\":\"by the river\"},{\"content\":\"in May\"}]");
    auto_free char *line = mem_printf(
        "{'sessionUpdate':'tool_call','toolCallId':'recalled-%lld','title':'Recalled 2 passages',"
        "'kind':'search','status':'completed','content':[{'type':'content','content':"
        "{'type':'text','text':'by the river\\n\\nin May'}}]}\n",
        (long long)ev->seq);
    tell(ev);
    expect(line);
}

/* Models give the ids of calls, and may give one again. */
TEST(calls_of_one_id_are_different)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool("x", "run_command", "{\"command\":\"ls\\n-l\"}");
    end_tool("x", "run_command", "", true);
    tell_text(EVENT_CALL_STARTED, NULL);
    buf_clear(&told);
    call_tool("x", "mystery", "no JSON");
    expect(
        "{'sessionUpdate':'tool_call','toolCallId':'4:x','title':'mystery','kind':'other',"
        "'rawInput':'no JSON','status':'pending'}\n");
    assert_non_null(acp_find_call(&telling, "x"));
    assert_string_equal(acp_find_call(&telling, "x")->told, "4:x");
}

TEST(calls_run_one_after_another_and_an_end_ends_all)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool("a", "run_command", "{}");
    call_tool("b", "run_command", "{}");
    tell_text(EVENT_CALL_COMPLETED, NULL);
    buf_clear(&told);
    end_tool("a", "run_command", "", false);
    assert_non_null(strstr(told.data, "\"toolCallId\":\"1:b\",\"status\":\"in_progress\""));
    buf_clear(&told);
    tell_text(EVENT_INTERRUPTED, NULL);
    expect_call("1:b", "'status':'failed'");
    assert_null(acp_find_call(&telling, "b"));
}

#define EDIT "{\"path\":\"n.txt\",\"edits\":[]}"

/* `before` and `after` are borrowed. */
static void preview(const char *id, const char *text, const char *before, const char *after,
                    int64_t line)
{
    struct file_change change = {.line = line};
    change.before = mem_strdup(before);
    change.after = mem_strdup(after);
    acp_tell_preview(&telling, id, text, &change);
    shape_release(&change_shape, &change);
}

static void end_change(const char *id, const char *before, const char *after, int64_t line)
{
    struct event *ev = tool_end(id, "edit_file", "replaced 1 text", false);
    ev->change = (struct file_change){
        .before = mem_strdup(before), .after = mem_strdup(after), .line = line};
    tell(ev);
}

#define DIFF                                                                                       \
    "'content':[{'type':'diff','path':'/home/ada/n.txt','oldText':'one\\ntwo\\n',"                 \
    "'newText':'one\\nzwei\\n'}]"

TEST(a_change_is_a_diff_before_and_after_and_in_the_log)
{
    tell_text(EVENT_CALL_STARTED, NULL);
    call_tool("w", "edit_file", EDIT);
    expect(
        "{'sessionUpdate':'tool_call','toolCallId':'1:w','title':'Edit n.txt','kind':'edit',"
        "'locations':[{'path':'/home/ada/n.txt'}],'rawInput':{'path':'n.txt','edits':[]},"
        "'status':'pending'}\n");
    preview("w", "@@", "one\ntwo\n", "one\nzwei\n", 0);
    expect_call("1:w", DIFF);
    end_change("w", "one\ntwo\n", "one\nzwei\n", 0);
    expect_call("1:w", "'status':'completed'," DIFF ",'rawOutput':'replaced 1 text'");
    telling.replays = true;
    begin_tool("w", "edit_file", EDIT);
    end_change("w", "one\ntwo\n", "one\nzwei\n", 40); /* a part of a long file */
    expect_call("4:w", "'status':'completed'," DIFF
                       ",'locations':[{'path':'/home/ada/n.txt','line':40}],'rawOutput':"
                       "'replaced 1 text'");
}

TEST(a_change_that_failed_or_is_not_known_is_its_result)
{
    begin_tool("w", "edit_file", EDIT);
    end_tool("w", "edit_file", "disk full", true);
    assert_non_null(strstr(told.data, "disk full\\n```"));
    call_tool("x", "edit_file", "{}"); /* no path */
    end_change("x", "a", "b", 0);
    assert_non_null(strstr(told.data, "replaced 1 text\\n```"));
}

TEST(a_terminal_stays_whatever_came_of_it)
{
    acp_tell_terminal(&telling, "t"); /* no call runs */
    assert_int_equal(told.len, 0);
    begin_tool("r", "run_command", "{\"command\":\"make\"}");
    acp_tell_terminal(&telling, "t\"1");
    expect_call("1:r", "'content':[{'type':'terminal','terminalId':'t\\'1'}]");
    end_tool("r", "run_command", "[exit status 2]", true);
    expect_call("1:r", "'status':'failed','rawOutput':'[exit status 2]'");
}

static void put_out(const char *id, const char *text, bool anew)
{
    AUTO(notice_free_local) struct notice *n = notice_new(NOTICE_OUTPUT);
    n->text = mem_strdup(id);
    n->detail = mem_strdup(text);
    n->flag = anew;
    acp_tell_output(&telling, n);
}

TEST(output_is_told_while_a_command_runs)
{
    begin_tool("r", "run_command", "{\"command\":\"make\"}");
    put_out("r", "", true);
    put_out("other", "x", true);
    assert_int_equal(told.len, 0);
    put_out("r", "one\n10 %", false);
    assert_non_null(strstr(told.data, "1:r"));
    assert_non_null(strstr(told.data, "one\\n10 %\\n```"));
    buf_clear(&told);
    put_out("r", "\r20 %", false);
    assert_non_null(strstr(told.data, "one\\n20 %\\n```"));
    buf_clear(&told);
    put_out("r", support_text("%5000s\n%s\nend", "first", "second"), false);
    assert_null(strstr(told.data, "first"));
    assert_non_null(strstr(told.data, "second\\nend\\n```"));
    end_tool("r", "run_command", "[exit status 0]", false);
}

TEST(a_new_file_has_no_old_text)
{
    begin_tool("w", "write_file", "{\"path\":\"/home/ada/n.txt\",\"content\":\"one\\n\"}");
    preview("w", "@@", NULL, "one\n", 0);
    expect_call("1:w", "'content':[{'type':'diff','path':'/home/ada/n.txt','newText':'one\\n'}]");
}

/* A preview has nothing invisible in it: neither have the texts of the change. */
TEST(a_change_of_hidden_characters_is_shown)
{
    begin_tool("w", "edit_file", EDIT);
    preview("w", "@@", "a\n", "a\u202eb\n", 0);
    expect_call("1:w",
                "'content':[{'type':'diff','path':'/home/ada/n.txt','oldText':'a\\n',"
                "'newText':'a<U+202E>b\\n'}]");
}

TEST(a_preview_that_is_no_difference_is_text)
{
    begin_tool("r", "run_command", "{\"command\":\"make\"}");
    preview("r", "make", NULL, NULL, 0);
    expect_call("1:r",
                "'content':[{'type':'content','content':{'type':'text',"
                "'text':'```\\nmake\\n```\\n'}}]");
    preview("unknown", "x", NULL, NULL, 0);
    expect("");
}

/* --- compactions ------------------------------------------------------------------------------ */

static void compact(enum event_type type, const char *text)
{
    struct event *ev = make(type, text);
    ev->compaction.mode = mem_strdup("handoff");
    if (type == EVENT_COMPACTION_COMPLETED)
        ev->compaction.effective_mode = mem_strdup("handoff");
    ev->compaction.messages_before = 40;
    ev->compaction.messages_after = 12;
    ev->compaction.tokens_before = 90000;
    ev->compaction.tokens_after = 20000;
    tell(ev);
}

static void tell_part_of_summary(const char *text, int part, int of)
{
    struct event *ev = make(EVENT_COMPACTION_DELTA, text);
    ev->count = part;
    ev->limit = of;
    tell(ev);
}

TEST(a_compaction_is_told_to_a_client_that_knows_them)
{
    client.compaction = true;
    compact(EVENT_COMPACTION_STARTED, NULL);
    tell_part_of_summary("draft of part 1", 1, 2);
    tell_part_of_summary("Sum", 2, 2);
    tell_part_of_summary("mary", 0, 0);
    compact(EVENT_COMPACTION_COMPLETED, "Summary");
    expect(
        "{'sessionUpdate':'compaction_update','compactionId':'1','status':'in_progress'}\n"
        "{'sessionUpdate':'compaction_summary_chunk','compactionId':'1','content':{'type':"
        "'text','text':'Sum'}}\n"
        "{'sessionUpdate':'compaction_summary_chunk','compactionId':'1','content':{'type':"
        "'text','text':'mary'}}\n"
        "{'sessionUpdate':'compaction_update','compactionId':'1','status':'completed',"
        "'summary':[{'type':'text','text':'Summary'}]}\n");
}

TEST(a_compaction_that_fails_or_is_cancelled)
{
    client.compaction = true;
    struct event *ev = make(EVENT_COMPACTION_FAILED, "stopped");
    ev->compaction.reason = mem_strdup("cancelled");
    tell(ev);
    ev = make(EVENT_COMPACTION_FAILED, "no answer");
    ev->compaction.reason = mem_strdup("llm");
    tell(ev);
    expect(
        "{'sessionUpdate':'compaction_update','compactionId':'1','status':'cancelled',"
        "'error':'stopped'}\n"
        "{'sessionUpdate':'compaction_update','compactionId':'2','status':'failed',"
        "'error':'no answer'}\n");
}

TEST(others_get_a_line_of_text)
{
    compact(EVENT_COMPACTION_STARTED, NULL);
    tell_part_of_summary("Sum", 0, 0);
    expect("");
    compact(EVENT_COMPACTION_COMPLETED, "Summary");
    expect(
        "{'sessionUpdate':'agent_message_chunk','messageId':'0.0','content':{'type':'text',"
        "'text':'\\n\\n*Compacted (handoff): 40 messages became 12, about 90000 tokens 20000.*"
        "\\n\\n'}}\n");
    telling.hints = true;
    compact(EVENT_COMPACTION_COMPLETED, "Summary");
    expect(
        "{'sessionUpdate':'agent_message_chunk','messageId':'0.1','content':{'type':'text',"
        "'text':'\\n\\n*Compacted (handoff): 40 messages became 12, about 90000 tokens 20000.*"
        "\\n\\n'}}\n"
        "{'sessionUpdate':'agent_message_chunk','messageId':'0.2','content':{'type':'text',"
        "'text':'\\n\\n*another mode: /compact MODE, or [compaction] mode in tiro.ini*"
        "\\n\\n'}}\n");
}

/* --- notices ---------------------------------------------------------------------------------- */

TEST(warnings_are_notices_where_the_client_knows_them)
{
    tell_text(EVENT_WARNING, "careful");
    expect(SAID("0.0", "\\n\\n*careful*\\n\\n"));
    client.notices = true;
    tell_text(EVENT_WARNING, "careful");
    expect("{'sessionUpdate':'notice','severity':'warning','title':'careful'}\n");
}

TEST(a_replay_tells_how_turns_ended)
{
    client.notices = true;
    tell_text(EVENT_TURN_FAILED, "no key");
    expect("");
    telling.replays = true;
    tell_text(EVENT_TURN_FAILED, "no key");
    expect(SAID("0.0", "\\n\\n*no key*\\n\\n"));
}

/* --- the session ------------------------------------------------------------------------------ */

TEST(usage_needs_a_window)
{
    struct meters m = {.request = {.tokens = 1234}, .window = 0, .cost = -1};
    acp_tell_usage(&telling, &m);
    expect("");
    m.window = 8000;
    acp_tell_usage(&telling, &m);
    expect("{'sessionUpdate':'usage_update','used':1234,'size':8000}\n");
    m.cost = 0.25;
    acp_tell_usage(&telling, &m);
    expect(
        "{'sessionUpdate':'usage_update','used':1234,'size':8000,'cost':{'amount':0.25,"
        "'currency':'USD'}}\n");
}

TEST(title_and_date)
{
    AUTO(session_info_release) struct session_info info = {0};
    session_info_init(&info);
    info.updated_ms = 1000;
    acp_tell_info(&telling, &info);
    expect(
        "{'sessionUpdate':'session_info_update','title':'','updatedAt':"
        "'1970-01-01T00:00:01.000Z'}\n");
    acp_tell_info(&telling, &info);
    expect("");
    info.updated_ms = 2000;
    acp_tell_info(&telling, &info);
    assert_non_null(strstr(told.data, "00:00:02"));
}

/* The images of a result, as those of a message: their files are linked. */
TEST(images_of_a_result_are_linked)
{
    begin_tool("c", "mcp__s__look", "{}");
    struct event *ev = tool_end("c", "mcp__s__look", "[image]", false);
    ev->attachments = mem_strdup(
        "[{\"type\":\"image\",\"text\":\"/dir/a b.png\",\"media_type\":"
        "\"image/png\"},{\"type\":\"riddle\"}]");
    tell(ev);
    assert_says(told.data,
                "{\"type\":\"content\",\"content\":{\"type\":\"resource_link\",\"uri\":"
                "\"file:///dir/a%20b.png\",\"name\":\"a b.png\",\"mimeType\":\"image/png\"}}]",
                "!riddle");
    buf_clear(&told);
}
