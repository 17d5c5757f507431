/* OpenAI's Responses API, by which its models search the web: what comes, and what goes back. */
#include "provider/outgoing.h"
#include "tests/suite.h"
#include "tests/talk.h"

#define EVENT(type, members) "data: {'type':'" type "'" members "}\n\n"
#define RESPONSE(type, members) EVENT("response." type, ",'response':{" members "}")
#define BEGIN RESPONSE("created", "'model':'gpt-5-test','error':null,'usage':null")
#define ADDED(index, item)                                                                         \
    EVENT("response.output_item.added", ",'output_index':" index ",'item':" item)
#define DONE(index, item)                                                                          \
    EVENT("response.output_item.done", ",'output_index':" index ",'item':" item)
#define TEXT(index, text)                                                                          \
    EVENT("response.output_text.delta",                                                            \
          ",'output_index':" index ",'content_index':0,'delta':'" text "'")
#define PAGE(url, title)                                                                           \
    "{'type':'url_citation','start_index':0,'end_index':4,'url':'" url "','title':'" title "'}"
#define CITE(index, page)                                                                          \
    EVENT("response.output_text.annotation.added",                                                 \
          ",'output_index':" index ",'content_index':0,'annotation':" page)
#define CONTENT(text, pages) "[{'type':'output_text','text':'" text "','annotations':[" pages "]}]"
#define MESSAGE(index, content)                                                                    \
    DONE(index,                                                                                    \
         "{'id':'msg_1','type':'message','role':'assistant','status':'completed',"                 \
         "'content':" content "}")
#define USAGE                                                                                      \
    "'usage':{'input_tokens':30,'input_tokens_details':{'cached_tokens':10},'output_tokens':20,"   \
    "'output_tokens_details':{'reasoning_tokens':5}}"
#define END RESPONSE("completed", "'status':'completed'," USAGE)

#define ACTION                                                                                     \
    "{'type':'search','query':'tides','sources':[{'type':'url','url':'https://a.example/t'},"      \
    "{'type':'url','url':'javascript:\\u001b[31m'}]}"
#define SEARCH(index, id)                                                                          \
    ADDED(index, "{'id':'" id "','type':'web_search_call','status':'in_progress'}")                \
    EVENT("response.web_search_call.searching", ",'output_index':" index)                          \
    DONE(index, "{'id':'" id "','type':'web_search_call','status':'completed','action':" ACTION "}")
#define THOUGHT(index)                                                                             \
    DONE(index, "{'id':'rs_1','type':'reasoning','summary':[],'encrypted_content':'gAAA+/='}")

#define LINKED "Tides ([a](https://a.example/t)) follow"
#define CITATIONS                                                                                  \
    PAGE("https://a.example/t", "Tides")                                                           \
    "," PAGE("https://b.example/(x)", "Moon *and* ](x)") "," PAGE("javascript:x", "Bad")
#define ANSWER(index)                                                                              \
    ADDED(index, "{'id':'msg_1','type':'message','content':[]}")                                   \
    TEXT(index, LINKED)                                                                            \
    CITE(index, PAGE("https://a.example/t", "Tides"))                                              \
    TEXT(index, " the moon")                                                                       \
    CITE(index, PAGE("https://b.example/(x)", "Moon *and* ](x)"))                                  \
    CITE(index, PAGE("javascript:x", "Bad"))                                                       \
    TEXT(index, ".")                                                                               \
    MESSAGE(index, CONTENT(LINKED " the moon.", CITATIONS))

#define CALL_ITEM "'id':'fc_1','type':'function_call','call_id':'call_9','name':'look'"
#define CALL(index)                                                                                \
    ADDED(index, "{" CALL_ITEM ",'arguments':''}")                                                 \
    EVENT("response.function_call_arguments.delta",                                                \
          ",'output_index':" index ",'delta':'{\\'at\\':'")                                        \
    EVENT("response.function_call_arguments.delta", ",'output_index':" index ",'delta':'1}'")      \
    DONE(index, "{" CALL_ITEM ",'arguments':'{\\'at\\':1}'}")

static struct talk t;
static const struct tool_spec tools[] = {
    {.name = "look", .description = "Looks.", .schema = "{\"type\":\"object\"}"},
    {.name = "web_search", .by_provider = true}};

static int setup(void **state)
{
    support_setup(state);
    talk_start(&t, &apis[API_OPENAI]);
    t.request.model = "gpt-5-test";
    t.request.system = "Be brief.";
    t.request.tools = tools;
    t.request.tool_count = 2;
    return 0;
}

static int teardown(void **state)
{
    talk_end(&t);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

static bool ask(const char *raw)
{
    QUEUE(t.server, .raw = support_json(raw));
    return talk_ask(&t);
}

static const struct block *block(size_t i)
{
    assert_true(i < t.response.blocks.len);
    return &t.response.blocks.items[i];
}

/* The newest body has this, in which ' stands for ". */
static void assert_sent(const char *text)
{
    const char *body = model_server_body(t.server, model_server_requests(t.server) - 1);
    text = support_json(text);
    if (!strstr(body, text))
        print_error("%s\n%s\n", text, body);
    assert_non_null(strstr(body, text));
}

/* Puts the answer into messages, as the history does; other calls get the result "Seen". */
static void answer_becomes_history(struct message *messages)
{
    messages[0] = message_clone(&t.user);
    messages[1] = (struct message){.role = ROLE_ASSISTANT};
    messages[2] = (struct message){.role = ROLE_TOOL};
    for (size_t i = 0; i < t.response.blocks.len; i++) {
        const struct block *b = block(i);
        vec_push(&messages[b->type == BLOCK_TOOL_RESULT ? 2 : 1].blocks, block_clone(b));
        if (b->type == BLOCK_TOOL_CALL && !b->signature)
            vec_push(&messages[2].blocks, ((struct block){.type = BLOCK_TOOL_RESULT,
                                                          .id = mem_strdup(b->id),
                                                          .name = mem_strdup(b->name),
                                                          .text = mem_strdup("Seen")}));
    }
    messages[3] = message_clone(&t.user);
    t.request.messages = messages;
    t.request.message_count = 4;
}

TEST(responses_answer_with_citations)
{
    talk_assert_ok(&t, ask(BEGIN THOUGHT("0") SEARCH("1", "ws_1") ANSWER("2") END));
    assert_int_equal(t.response.blocks.len, 4);
    assert_int_equal(block(0)->type, BLOCK_REASONING);
    assert_true(block(0)->redacted);
    assert_string_equal(block(0)->signature, "gAAA+/=");
    assert_int_equal(block(1)->type, BLOCK_TOOL_CALL);
    assert_string_equal(block(1)->id, "ws_1");
    assert_string_equal(block(1)->text, "{\"query\":\"tides\"}");
    assert_int_equal(block(2)->type, BLOCK_TOOL_RESULT);
    assert_string_equal(block(2)->text, "https://a.example/t\njavascript:\xe2\x90\x9b[31m");
    /* A link of the model needs no mark. */
    assert_string_equal(block(3)->text, LINKED
                        " the moon[[2]](https://b.example/%28x%29).\n\n---\n\n"
                        "1. [Tides](https://a.example/t)\n"
                        "2. [Moon \\*and\\* \\](x)](https://b.example/%28x%29)\n");
    assert_string_equal(t.text.data, block(3)->text);
    assert_int_equal(t.response.stop_reason, STOP_END_TURN);
    assert_string_equal(t.response.model, "gpt-5-test");
    assert_int_equal(t.response.usage.searches, 1);
    assert_int_equal(t.response.usage.input, 30);
    assert_int_equal(t.response.usage.cached, 10);
    assert_int_equal(t.response.usage.output, 20);
    assert_sent(
        "{'model':'gpt-5-test','max_output_tokens':512,'stream':true,'store':false,"
        "'max_tool_calls':5,'include':['web_search_call.action.sources',"
        "'reasoning.encrypted_content'],'instructions':'Be brief.','tools':["
        "{'type':'function','name':'look','description':'Looks.','parameters':"
        "{'type':'object'},'strict':false},{'type':'web_search'}],'input':[{'type':"
        "'message','role':'user','content':[{'type':'input_text','text':'Hello?'}]}]}");

    /* Models that do not think refuse a request for their thoughts. */
    t.request.model = "gpt-4.1";
    talk_assert_ok(&t, ask(BEGIN TEXT("0", "No.") END));
    assert_sent("'include':['web_search_call.action.sources']");
    assert_int_equal(t.response.blocks.len, 1);

    /* Models of Chat Completions that search by themselves stay there. */
    t.request.model = "gpt-5-search-api";
    talk_assert_ok(&t, ask("data: {'choices':[{'delta':{'content':'Yes.'},'finish_reason':'stop'}]}"
                           "\n\ndata: [DONE]\n\n"));
    assert_sent(
        "'tools':[{'type':'function','function':{'name':'look','description':'Looks.',"
        "'parameters':{'type':'object'}}}],'max_tokens':512,");
}

TEST(responses_items_go_back_as_they_came)
{
    struct message messages[4];
    talk_assert_ok(&t, ask(BEGIN THOUGHT("0") SEARCH("1", "ws_1") ANSWER("2") END));
    answer_becomes_history(messages);
    talk_assert_ok(&t, ask(BEGIN TEXT("0", "Yes.") END));
    assert_sent(
        "},{'type':'reasoning','summary':[],'encrypted_content':'gAAA+/='},"
        "{'type':'web_search_call','status':'completed','action':" ACTION
        "},"
        "{'type':'message','role':'assistant','content':" CONTENT(
            LINKED " the moon.", CITATIONS) "},{'type':'message','role':'user',");

    /* For Anthropic, which searches too, and for Chat Completions it is a call like others. */
    struct outgoing_body bodies[2];
    anthropic_body(&bodies[0], t.config, &t.request);
    openai_body(&bodies[1], t.config, &t.request, true);
    assert_non_null(strstr(bodies[0].text.data, "\"type\":\"tool_use\",\"id\":\"ws_1\""));
    assert_non_null(strstr(bodies[1].text.data, "\"tool_call_id\":\"ws_1\""));
    for (size_t i = 0; i < 2; i++) {
        assert_null(strstr(bodies[i].text.data, "web_search_call"));
        assert_null(strstr(bodies[i].text.data, "output_text"));
        assert_non_null(strstr(bodies[i].text.data, "the moon[[2]]"));
        buf_release(&bodies[i].text);
    }

    /* Nor does Anthropic's own search go to OpenAI. */
    struct block *call = &messages[1].blocks.items[1], *result = &messages[2].blocks.items[0];
    free(call->signature);
    free(result->signature);
    call->signature = mem_strdup("{\"type\":\"server_tool_use\"}");
    result->signature = mem_strdup("null");
    talk_assert_ok(&t, ask(BEGIN TEXT("0", "Yes.") END));
    assert_sent("{'type':'function_call','call_id':'ws_1','name':'web_search','arguments':");
    assert_sent("{'type':'function_call_output','call_id':'ws_1','output':'https://a.example/t");
    for (size_t i = 0; i < 4; i++)
        message_release(&messages[i]);
}

TEST(responses_call_of_a_tool)
{
    struct message messages[4];
    talk_assert_ok(&t, ask(BEGIN TEXT("0", "I look.") CALL("1") END));
    assert_int_equal(t.response.blocks.len, 2);
    assert_string_equal(block(1)->id, "call_9");
    assert_string_equal(block(1)->name, "look");
    assert_string_equal(block(1)->text, "{\"at\":1}");
    assert_null(block(1)->signature);
    assert_int_equal(t.response.stop_reason, STOP_TOOL_USE);
    answer_becomes_history(messages);
    vec_push(&messages[3].blocks,
             ((struct block){.type = BLOCK_IMAGE, .text = mem_strdup("https://a.example/i.png")}));
    talk_assert_ok(&t, ask(BEGIN TEXT("0", "Yes.") END));
    assert_sent(
        "{'type':'message','role':'assistant','content':[{'type':'output_text','text':"
        "'I look.','annotations':[]}]},{'type':'function_call','call_id':'call_9','name':"
        "'look','arguments':'{\\'at\\':1}'},{'type':'function_call_output','call_id':"
        "'call_9','output':'Seen'},");
    assert_sent("{'type':'input_image','image_url':'https://a.example/i.png'}");
    for (size_t i = 0; i < 4; i++)
        message_release(&messages[i]);
}

TEST(responses_that_end_early)
{
    static const struct {
        const char *reason;
        enum stop_reason stop;
    } reasons[] = {{"max_output_tokens", STOP_MAX_TOKENS},
                   {"content_filter", STOP_REFUSAL},
                   {"else", STOP_OTHER}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        talk_assert_ok(
            &t, ask(support_text(BEGIN TEXT("0", "Half") RESPONSE("incomplete",
                                                                  "'incomplete_details':{'reason':"
                                                                  "'%s'}," USAGE),
                                 reasons[i].reason)));
        assert_int_equal(t.response.stop_reason, reasons[i].stop);
        assert_int_equal(t.response.usage.output, 20);
    }
    talk_assert_failed(&t,
                       ask(BEGIN RESPONSE("failed",
                                          "'status':'failed','error':{'code':"
                                          "'server_error','message':'Sorry " TALK_KEY "'}")),
                       FAILURE_STREAM);
    assert_int_equal(t.failure.status, 500);
    talk_assert_failed(&t,
                       ask(BEGIN EVENT("error", ",'code':'rate_limit_exceeded','message':'Slow'")),
                       FAILURE_STREAM);
    assert_int_equal(t.failure.status, 429);

    /* Cut off, a finished search stays, and the text is not signed. */
    assert_false(ask(BEGIN SEARCH("0", "ws_1") ANSWER("1") CALL("2")));
    assert_int_equal(t.response.blocks.len, 3);
    assert_null(block(2)->signature);
    assert_true(t.failure.content_seen);
}

TEST(responses_of_a_hostile_server)
{
    talk_assert_ok(&t, ask(BEGIN EVENT("response.output_item.done", "") EVENT("response.x", "")
                               SEARCH("0", "ws_1") SEARCH("0", "ws_1") SEARCH("0", "")
                                   DONE("1", "{'type':'web_search_call','id':'ws_2'}")
                                       CITE("7", PAGE("https://a.example/", "A"))
                                           MESSAGE("8", "'x'") CALL("0") TEXT("0", "Same number")
                                               CITE("0", "3") MESSAGE("0", CONTENT("", "")) END));
    assert_int_equal(t.response.blocks.len, 4);
    assert_string_equal(block(2)->id, "call_9");
    assert_string_equal(block(3)->text, "Same number");
    assert_null(block(3)->signature);
    assert_int_equal(t.response.usage.searches, 1);
}
