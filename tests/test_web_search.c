/* The search that a provider runs itself: what comes of its stream, what goes back, and what others
 * than that provider get. */
#include "provider/outgoing.h"
#include "session/capability.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/talk.h"

#define EVENT(type, members) "data: {'type':'" type "'" members "}\n\n"
#define BEGIN                                                                                      \
    EVENT("message_start",                                                                         \
          ",'message':{'model':'test-model','usage':{'input_tokens':10,"                           \
          "'output_tokens':1}}")
#define START(index, block)                                                                        \
    EVENT("content_block_start", ",'index':" index ",'content_block':" block)
#define DELTA(index, delta) EVENT("content_block_delta", ",'index':" index ",'delta':" delta)
#define STOP(index) EVENT("content_block_stop", ",'index':" index)
#define TEXT(index, text)                                                                          \
    START(index, "{'type':'text','text':''}")                                                      \
    DELTA(index, "{'type':'text_delta','text':'" text "'}")
#define CITE(index, url, title)                                                                    \
    DELTA(index,                                                                                   \
          "{'type':'citations_delta','citation':{'type':'web_search_result_location',"             \
          "'url':'" url "','title':'" title "','encrypted_index':'Eo8=','cited_text':'c'}}")
#define SEARCH(index)                                                                              \
    START(index, "{'type':'server_tool_use','id':'srv_1','name':'web_search','input':{}}")         \
    DELTA(index, "{'type':'input_json_delta','partial_json':'{\\'query\\': '}")                    \
    DELTA(index, "{'type':'input_json_delta','partial_json':'\\'tides\\'}'}")                      \
    STOP(index)
#define PAGE(url, title)                                                                           \
    "{'type':'web_search_result','url':'" url "','title':'" title                                  \
    "','encrypted_content':'EqgfCioI+/=','page_age':null}"
#define FOUND(index, content)                                                                      \
    START(index, "{'type':'web_search_tool_result','tool_use_id':'srv_1','content':" content "}")  \
    STOP(index)
#define END(reason)                                                                                \
    EVENT("message_delta", ",'delta':{'stop_reason':'" reason                                      \
                           "'},'usage':{'output_tokens':20,"                                       \
                           "'server_tool_use':{'web_search_requests':1}}")                         \
    EVENT("message_stop", "")

#define PAGES                                                                                      \
    "[" PAGE("https://a.example/t", "Tides") "," PAGE("javascript:x", "Bad\\u001b[31m]\\nb") "]"
#define ANSWER                                                                                     \
    TEXT("3", "Tides follow ")                                                                     \
    STOP("3")                                                                                      \
    TEXT("4", "the moon")                                                                          \
    CITE("4", "https://a.example/t", "Tides *and* ](x)")                                           \
    CITE("4", "javascript:x", "Bad")                                                               \
    STOP("4")                                                                                      \
    TEXT("5", ".")                                                                                 \
    STOP("5")

static struct talk t;
static const struct tool_spec own = {.name = "web_search", .by_provider = true};

static int setup(void **state)
{
    support_setup(state);
    talk_start(&t, &apis[API_ANTHROPIC]);
    t.request.tools = &own;
    t.request.tool_count = 1;
    return 0;
}

static int teardown(void **state)
{
    talk_end(&t);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

static void queue(const char *raw)
{
    QUEUE(t.server, .raw = support_json(raw));
}

static const struct block *block(size_t i)
{
    assert_true(i < t.response.blocks.len);
    return &t.response.blocks.items[i];
}

/* The newest body. */
static const char *sent(void)
{
    return model_server_body(t.server, model_server_requests(t.server) - 1);
}

#define OWN_CALL                                                                                   \
    "{'type':'server_tool_use','id':'srv_1','name':'web_search','input':{'query':'tides'}}"

/* Puts the blocks of the answer into messages, as the history does, and asks again. */
static void answer_becomes_history(struct message *messages)
{
    messages[0] = message_clone(&t.user);
    messages[1] = (struct message){.role = ROLE_ASSISTANT};
    messages[2] = (struct message){.role = ROLE_TOOL};
    for (size_t i = 0; i < t.response.blocks.len; i++) {
        struct message *m = &messages[block(i)->type == BLOCK_TOOL_RESULT ? 2 : 1];
        vec_push(&m->blocks, block_clone(block(i)));
    }
    messages[3] = message_clone(&t.user);
    t.request.messages = messages;
    t.request.message_count = 4;
}

TEST(test_answer_with_citations)
{
    queue(BEGIN TEXT("0", "I look.") STOP("0") SEARCH("1") FOUND("2", PAGES)
              ANSWER END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    assert_int_equal(t.response.blocks.len, 4);
    assert_string_equal(block(0)->text, "I look.");
    assert_null(block(0)->signature);
    assert_int_equal(block(1)->type, BLOCK_TOOL_CALL);
    assert_string_equal(block(1)->id, "srv_1");
    assert_string_equal(block(1)->text, "{\"query\":\"tides\"}");
    assert_int_equal(block(2)->type, BLOCK_TOOL_RESULT);
    assert_false(block(2)->is_error);
    assert_string_equal(block(2)->text,
                        "Tides · https://a.example/t\nBad\xe2\x90\x9b[31m] b · javascript:x");
    assert_string_equal(block(3)->text,
                        "Tides follow the moon[[1]](https://a.example/t).\n\n---\n\n"
                        "1. [Tides \\*and\\* \\](x)](https://a.example/t)\n");
    auto_free char *whole = mem_printf("%s%s", block(0)->text, block(3)->text);
    assert_string_equal(t.text.data, whole);
    assert_int_equal(t.response.stop_reason, STOP_END_TURN);
    assert_int_equal(t.response.usage.searches, 1);
    assert_int_equal(t.response.usage.output, 20);
    assert_non_null(strstr(sent(),
                           "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":"
                           "\"web_search\",\"max_uses\":5}]"));
}

TEST(test_own_blocks_go_back_as_they_came)
{
    struct message messages[4];
    queue(BEGIN TEXT("0", "I look.") STOP("0") SEARCH("1") FOUND("2", PAGES)
              ANSWER END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    answer_becomes_history(messages);
    queue(BEGIN TEXT("0", "Yes.") STOP("0") END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    const char *text = support_json(
        "{'role':'assistant','content':[{'type':'text','text':'I look.','cache_control':"
        "{'type':'ephemeral'}}," OWN_CALL
        ",{'type':'web_search_tool_result','tool_use_id':'srv_1','content':" PAGES
        "},{'type':'text','text':'Tides follow '},{'type':'text','text':'the moon','citations':["
        "{'type':'web_search_result_location','url':'https://a.example/t','title':'Tides *and* "
        "](x)',"
        "'encrypted_index':'Eo8=','cited_text':'c'},{'type':'web_search_result_location','url':"
        "'javascript:x','title':'Bad','encrypted_index':'Eo8=','cited_text':'c'}]},"
        "{'type':'text','text':'.'}]},{'role':'user','content':[");
    if (!strstr(sent(), text))
        print_error("%s\n%s\n", text, sent());
    assert_non_null(strstr(sent(), text));

    /* Without the tool, and for another provider, it is a call like others. */
    t.request.tool_count = 0;
    queue(BEGIN TEXT("0", "Yes.") STOP("0") END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    assert_non_null(strstr(sent(), "\"type\":\"tool_use\",\"id\":\"srv_1\""));
    assert_non_null(strstr(sent(), "\"tool_use_id\":\"srv_1\",\"content\":\"Tides"));
    assert_null(strstr(sent(), "encrypted"));
    struct outgoing_body body;
    openai_body(&body, t.config, &t.request, false);
    assert_non_null(strstr(body.text.data, "\"tool_call_id\":\"srv_1\",\"content\":\"Tides"));
    assert_non_null(strstr(body.text.data, "the moon[[1]](https://a.example/t)"));
    assert_null(strstr(body.text.data, "encrypted"));
    buf_release(&body.text);
    for (size_t i = 0; i < 4; i++)
        message_release(&messages[i]);
}

TEST(test_pause_goes_on_by_itself)
{
    queue(BEGIN TEXT("0", "I look.") STOP("0") SEARCH("1") END("pause_turn"));
    queue(BEGIN FOUND("0", PAGES) ANSWER END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    assert_int_equal(model_server_requests(t.server), 2);
    const char *text = support_json(
        ",{'role':'assistant','content':[{'type':'text','text':'I look.','cache_control':"
        "{'type':'ephemeral'}}," OWN_CALL "]}]}");
    assert_non_null(strstr(sent(), text));
    assert_int_equal(t.response.blocks.len, 4);
    assert_string_equal(block(1)->text, "{\"query\":\"tides\"}");
    assert_int_equal(block(2)->type, BLOCK_TOOL_RESULT);
    assert_int_equal(t.response.stop_reason, STOP_END_TURN);
    assert_int_equal(t.response.usage.searches, 2);
    assert_int_equal(t.response.usage.input, 20);
}

TEST(test_search_that_fails_or_has_no_end)
{
    queue(BEGIN SEARCH("0")
              FOUND("1", "{'type':'web_search_tool_result_error','error_code':'max_uses_exceeded'}")
                  TEXT("2", "No.") STOP("2") SEARCH("3") END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    assert_int_equal(t.response.blocks.len, 3);
    assert_true(block(1)->is_error);
    assert_string_equal(block(1)->text, "max_uses_exceeded");
    assert_string_equal(block(2)->text, "No.");

    /* Cut off, a finished search stays, and the text is not signed. */
    queue(BEGIN SEARCH("0") FOUND("1", PAGES) ANSWER);
    assert_false(talk_ask(&t));
    assert_int_equal(t.response.blocks.len, 3);
    assert_string_equal(block(2)->text, "Tides follow the moon[[1]](https://a.example/t).");
    assert_null(block(2)->signature);
    assert_true(t.failure.content_seen);
}

/* A crash between call and result leaves a call that the API does not get back. */
TEST(test_call_without_its_own_result)
{
    struct message messages[4];
    queue(BEGIN SEARCH("0") FOUND("1", PAGES) ANSWER END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    answer_becomes_history(messages);
    struct block *result = &messages[2].blocks.items[0];
    free(result->signature);
    result->signature = NULL;
    queue(BEGIN TEXT("0", "Yes.") STOP("0") END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    assert_null(strstr(sent(), "srv_1"));
    assert_null(strstr(sent(), "citations"));
    assert_non_null(strstr(sent(), "[result of the tool web_search]"));
    for (size_t i = 0; i < 4; i++)
        message_release(&messages[i]);
}

/* A call of another tool keeps its place behind the sources. */
TEST(test_search_before_a_call)
{
    queue(BEGIN SEARCH("0") FOUND("1", PAGES) ANSWER START(
        "6", "{'type':'tool_use','id':'c1','name':'look','input':{}}") STOP("6") END("tool_use"));
    talk_assert_ok(&t, talk_ask(&t));
    assert_int_equal(t.response.blocks.len, 4);
    assert_non_null(strstr(block(2)->text, "\n1. [Tides"));
    assert_string_equal(block(3)->id, "c1");
    assert_null(block(3)->signature);
    assert_int_equal(t.response.stop_reason, STOP_TOOL_USE);
}

/* A model of Chat Completions that searches by itself links its pages, or only numbers them. */
TEST(test_annotations_of_chat_completions)
{
    static const char *const texts[][2] = {
        {"Seen [1].",
         "Seen [1].\n\n---\n\n1. [A](https://a.example/)\n2. [B \\*](https://b.example/)\n"},
        {"See [A](https://a.example/) and https://b.example/.",
         "See [A](https://a.example/) and https://b.example/."}};
    talk_end(&t);
    talk_start(&t, &apis[API_OPENAI]);
    for (size_t i = 0; i < 2; i++) {
        char *raw = support_text(
            "data: {'choices':[{'delta':{'content':'%s'}}]}\n\n"
            "data: "
            "{'choices':[{'delta':{'annotations':[{'type':'url_citation','url_citation':{'url':"
            "'https://a.example/','title':'A'}},{'type':'url_citation','url_citation':{'url':"
            "'https://b.example/','title':'B *'}},{'url_citation':{'url':'file:///x'}}]}}]}\n\n"
            "data: {'choices':[{'delta':{},'finish_reason':'stop'}]}\n\ndata: [DONE]\n\n",
            texts[i][0]);
        queue(raw);
        talk_assert_ok(&t, talk_ask(&t));
        assert_string_equal(block(0)->text, texts[i][1]);
        assert_int_equal(t.response.blocks.len, 1);
    }
}

/* Without the tool in the request, such blocks are passed over. */
TEST(test_search_that_nobody_asked_for)
{
    t.request.tool_count = 0;
    queue(BEGIN SEARCH("0") FOUND("1", PAGES) ANSWER END("end_turn"));
    talk_assert_ok(&t, talk_ask(&t));
    for (size_t i = 0; i < t.response.blocks.len; i++)
        assert_int_equal(block(i)->type, BLOCK_TEXT);
}

/* The program tells of the search before the answer ends, and keeps it. */
TEST_IF(capability_store(), test_search_of_the_program)
{
    setenv("ANTHROPIC_BASE_URL", model_server_url(t.server), 1);
    setenv("ANTHROPIC_API_KEY", TALK_KEY, 1);
    write_config("[tools]\nweb_search = on\n[learned]\nextract = off\n");
    queue(BEGIN TEXT("0", "I look.") STOP("0") SEARCH("1") FOUND("2", PAGES)
              ANSWER END("end_turn"));
    queue(BEGIN TEXT("0", "Yes.") STOP("0") END("end_turn"));
    const char *out = program_output(RUN("run", "--model", "claude-opus-5", "Tides?"));
    assert_memory_equal(out, "I look.\n\nTides follow the moon[[1]](https://a.example/t).", 56);
    assert_text(sent(), "web_search_20250305");
    run_ok(RUN("run", "-c", "--quiet", "Sure?"));
    assert_text(sent(), support_json(OWN_CALL ",{'type':'web_search_tool_result'"));
    assert_text(sent(), "\"encrypted_index\":\"Eo8=\"");
    out = program_output(RUN("sessions", "export", "last"));
    assert_text(out, "I look.\n\n> web_search {\"query\":\"tides\"}\n");
    assert_text(out, "1. [Tides \\*and\\* \\](x)](https://a.example/t)");
}
