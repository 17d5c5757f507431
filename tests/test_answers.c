/* The peculiarities of each API's stream, given verbatim. */
#include "base/clock.h"
#include "provider/outgoing.h"
#include "tests/suite.h"
#include "tests/talk.h"

static struct talk t;
static bool talking;

static void end_talk(void)
{
    if (talking)
        talk_end(&t);
    talking = false;
}

static void start_talk(int api)
{
    end_talk();
    talk_start(&t, &apis[api]);
    talking = true;
}

static int teardown(void **state)
{
    end_talk();
    return support_teardown(state);
}

static void add_event(struct buf *raw, const char *json)
{
    buf_addf(raw, "data: %s\n\n", support_json(json));
}

/* A stream of events; Anthropic's repeat their type inside the data. */
#define EVENTS(...) events_of((const char *const[]){__VA_ARGS__, NULL})
#define DONE "[DONE]"
static char *events_of(const char *const *json)
{
    struct buf raw = BUF_INIT;
    for (; *json; json++)
        add_event(&raw, *json);
    return support_keep(buf_take(&raw));
}

static void ask_raw(int api, const char *raw)
{
    start_talk(api);
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw}));
}

static void ask_and_fail(int api, const char *raw, enum failure_kind kind)
{
    start_talk(api);
    talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raw}), kind);
}

static const struct block *block_at(size_t index, enum block_type type)
{
    assert_true(index < t.response.blocks.len);
    assert_int_equal(t.response.blocks.items[index].type, type);
    return &t.response.blocks.items[index];
}

static void assert_call(size_t index, const char *id, const char *args)
{
    assert_string_equal(block_at(index, BLOCK_TOOL_CALL)->id, id);
    assert_string_equal(block_at(index, BLOCK_TOOL_CALL)->text, args);
}

FIXTURE(support_setup, teardown);

#define START(index, block)                                                                        \
    "{'type':'content_block_start','index':" #index ",'content_block':{" block "}}"
#define DELTA(index, delta) "{'type':'content_block_delta','index':" #index ",'delta':{" delta "}}"

TEST(test_anthropic_thinking)
{
    ask_raw(
        API_ANTHROPIC,
        EVENTS("{'type':'message_start','message':{'model':'m','usage':{'input_tokens':10,"
               "'cache_creation_input_tokens':5,'cache_read_input_tokens':7,'output_tokens':1}}}",
               "{'type':'ping'}", START(0, "'type':'thinking','thinking':'','signature':''"),
               DELTA(0, "'type':'thinking_delta','thinking':'Hm. '"),
               DELTA(0, "'type':'thinking_delta','thinking':'Yes.'") "\n\n: comment",
               DELTA(0, "'type':'signature_delta','signature':'c2ln+/='"),
               "{'type':'content_block_stop','index':0}",
               START(1, "'type':'redacted_thinking','data':'ZW5j'"),
               START(2, "'type':'from_the_future','text':'no'"),
               DELTA(2, "'type':'text_delta','text':'no'"), "{'type':'what_is_this','x':1}",
               START(3, "'type':'text','text':'A'"), DELTA(3, "'type':'unknown_delta','text':'no'"),
               DELTA(3, "'type':'text_delta','text':'nswer'"),
               START(4, "'type':'tool_use','id':'toolu_1','name':'look','input':{}"),
               "{'type':'message_delta','delta':{'stop_reason':'tool_use'},"
               "'usage':{'output_tokens':40}}",
               "{'type':'message_delta','delta':{},"
               "'usage':{'input_tokens':11,'output_tokens':42}}",
               "{'type':'message_stop'}"));
    assert_int_equal(t.response.blocks.len, 4);
    const struct block *thinking = block_at(0, BLOCK_REASONING);
    assert_string_equal(thinking->text, "Hm. Yes.");
    assert_string_equal(thinking->signature, "c2ln+/=");
    assert_false(thinking->redacted);
    const struct block *redacted = block_at(1, BLOCK_REASONING);
    assert_string_equal(redacted->text, "");
    assert_string_equal(redacted->signature, "ZW5j");
    assert_true(redacted->redacted);
    assert_string_equal(block_at(2, BLOCK_TEXT)->text, "Answer");
    assert_call(3, "toolu_1", "{}");
    /* Cumulative figures replace, and all three kinds of input count. */
    assert_int_equal(t.response.usage.input, 11 + 5 + 7);
    assert_int_equal(t.response.usage.cached, 7);
    assert_int_equal(t.response.usage.output, 42);
    assert_string_equal(t.response.model, "m");
    assert_string_equal(t.reasoning.data, "Hm. Yes.");
    assert_string_equal(t.text.data, "Answer");
}

TEST(test_anthropic_stop_reasons)
{
    static const struct {
        const char *name;
        enum stop_reason reason;
    } cases[] = {
        {"end_turn", STOP_END_TURN},
        {"max_tokens", STOP_MAX_TOKENS},
        {"stop_sequence", STOP_SEQUENCE},
        {"tool_use", STOP_TOOL_USE},
        {"pause_turn", STOP_PAUSE},
        {"refusal", STOP_REFUSAL},
        {"model_context_window_exceeded", STOP_CONTEXT_EXCEEDED},
        {"something new", STOP_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask_raw(API_ANTHROPIC, EVENTS(support_text("{'type':'message_delta','delta':"
                                                   "{'stop_reason':'%s'}}",
                                                   cases[i].name),
                                      "{'type':'message_stop'}"));
        assert_int_equal(t.response.stop_reason, cases[i].reason);
    }
}

TEST(test_openai_stop_reasons)
{
    static const struct {
        const char *name;
        enum stop_reason reason;
    } cases[] = {
        {"stop", STOP_END_TURN},       {"length", STOP_MAX_TOKENS},
        {"tool_calls", STOP_TOOL_USE}, {"content_filter", STOP_REFUSAL},
        {"new", STOP_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask_raw(API_OPENAI, EVENTS("{'choices':[{'delta':{'content':'x'},'finish_reason':null}]}",
                                   support_text("{'choices':[{'delta':{},'finish_reason':'%s'}]}",
                                                cases[i].name),
                                   DONE));
        assert_int_equal(t.response.stop_reason, cases[i].reason);
        assert_string_equal(block_at(0, BLOCK_TEXT)->text, "x");
    }
}

#define CALLS(list) "{'choices':[{'delta':{'tool_calls':[" list "]}}]}"

TEST(test_openai_tool_calls)
{
    ask_raw(API_OPENAI,
            EVENTS("{'choices':[{'delta':{'role':'assistant','content':null,'tool_calls':"
                   "[{'index':0,'id':'a','function':{'name':'one','arguments':''}}]}}]}",
                   CALLS("{'index':1,'id':'b','function':{'name':'two','arguments':'{\\'y\\''}}"),
                   CALLS("{'index':0,'function':{'arguments':'{\\'x\\':'}},"
                         "{'index':1,'function':{'arguments':':2}'}}"),
                   CALLS("{'index':0,'id':'','function':{'name':null,'arguments':'1}'}}"),
                   "{'choices':[{'delta':{},'finish_reason':'stop'}]}",
                   "{'choices':[],'usage':{'prompt_tokens':9,'completion_tokens':4,"
                   "'prompt_tokens_details':{'cached_tokens':3}}}",
                   DONE));
    assert_int_equal(t.response.blocks.len, 2);
    assert_call(0, "a", "{\"x\":1}");
    assert_string_equal(block_at(0, BLOCK_TOOL_CALL)->name, "one");
    assert_call(1, "b", "{\"y\":2}");
    assert_int_equal(t.response.stop_reason, STOP_TOOL_USE); /* whatever name the server uses */
    assert_int_equal(t.response.usage.input, 9);
    assert_int_equal(t.response.usage.output, 4);
    assert_int_equal(t.response.usage.cached, 3);
}

/* Servers that number every call 0. */
TEST(test_openai_calls_of_one_number)
{
    ask_raw(
        API_OPENAI,
        EVENTS(CALLS("{'index':0,'id':'a','function':{'name':'one','arguments':'{\\'x\\':1}'}}"),
               CALLS("{'index':0,'id':'b','function':{'name':'two','arguments':'{\\'y\\''}}"),
               "{'choices':[{'delta':{'tool_calls':[{'index':0,'function':"
               "{'arguments':':2}'}}]},'finish_reason':'tool_calls'}]}",
               DONE));
    assert_int_equal(t.response.blocks.len, 2);
    assert_call(0, "a", "{\"x\":1}");
    assert_call(1, "b", "{\"y\":2}");
}

/* Compatible servers: no index, arguments as an object, no id, two names for reasoning. */
TEST(test_openai_variants)
{
    ask_raw(API_OPENAI, /* which ends without [DONE] */
            EVENTS("{'choices':[{'delta':{'reasoning_content':'one ','reasoning':'one '}}]}",
                   "{'choices':[{'delta':{'reasoning':'two'}}]}",
                   CALLS("{'id':'a','function':{'name':'one','arguments':{'x':1}}}"),
                   CALLS("{'id':'b','function':{'name':'two','arguments':'{'}}"),
                   CALLS("{'function':{'arguments':'}'}}"),
                   "{'choices':[{'delta':{'tool_calls':[{'index':5,'function':"
                   "{'name':'three','arguments':''}}]},'finish_reason':'tool_calls'}]}"));
    assert_int_equal(t.response.blocks.len, 4);
    assert_string_equal(block_at(0, BLOCK_REASONING)->text, "one two");
    assert_string_equal(block_at(1, BLOCK_TOOL_CALL)->text, "{\"x\":1}");
    assert_call(2, "b", "{}");
    assert_call(3, "call_1", "{}");
    assert_string_equal(block_at(3, BLOCK_TOOL_CALL)->name, "three");
}

/* ---- more calls than an answer may have ---- */

enum { MANY = 4000, SOON_MS = 10000 };

/* This number of calls, and the end. */
static char *calls_of(int api, int count)
{
    static const char *const ends[] = {
        [API_ANTHROPIC] = "data: {\"type\":\"message_stop\"}\n\n",
        [API_OPENAI] = "data: [DONE]\n\n",
        [API_OLLAMA] = "{\"message\":{\"content\":\"\"},\"done\":true}\n",
    };
    struct buf raw = BUF_INIT;
    for (int n = 0; n < count; n++) {
        /* The n-th of many calls without an id, split where the API splits. */
        if (api == API_ANTHROPIC) {
            add_event(&raw, support_text("{'type':'content_block_start','index':%d,'content_block':"
                                         "{'type':'tool_use','name':'one'}}",
                                         n));
            add_event(&raw,
                      support_text("{'type':'content_block_delta','index':%d,'delta':"
                                   "{'type':'input_json_delta','partial_json':'{\\'n\\':%d}'}}",
                                   n, n));
        } else if (api == API_OPENAI) {
            add_event(&raw, support_text(CALLS("{'index':%d,'function':"
                                               "{'name':'one','arguments':'{\\'n\\':'}}"),
                                         n));
            add_event(&raw,
                      support_text(CALLS("{'index':%d,'function':{'arguments':'%d}'}}"), n, n));
        } else {
            buf_addstr(&raw, support_json(
                                 support_text("{'message':{'content':'','tool_calls':[{'function':"
                                              "{'name':'one','arguments':{'n':%d}}}]}}\n",
                                              n)));
        }
    }
    buf_addstr(&raw, ends[api]);
    return support_keep(buf_take(&raw));
}

TEST(test_more_calls_than_an_answer_may_have)
{
    for (int api = 0; api < API_COUNT; api++) {
        char *raw = calls_of(api, MANY);
        int64_t begun = clock_mono_ms();
        ask_raw(api, raw);
        assert_true(clock_mono_ms() - begun < SOON_MS);
        /* The first calls are there, each whole and with an id of its own; the response knows of
         * more. */
        assert_int_equal(t.response.blocks.len, PROVIDER_MAX_CALLS);
        assert_true(t.response.calls_refused);
        for (size_t i = 0; i < PROVIDER_MAX_CALLS; i++)
            assert_call(i, support_text("call_%zu", i + 1), support_text("{\"n\":%zu}", i));
    }
}

/* Arguments without a number that belong to a refused call are not added to the last accepted call;
 * the text after them is kept. */
TEST(test_pieces_of_a_refused_call)
{
    struct buf raw = BUF_INIT;
    for (int n = 0; n <= PROVIDER_MAX_CALLS; n++) {
        add_event(&raw, support_text(
                            CALLS("{'id':'id%d','function':{'name':'one','arguments':'{'}}"), n));
        add_event(&raw, CALLS("{'function':{'arguments':'}'}}"));
    }
    add_event(&raw, "{'choices':[{'delta':{'content':'Done.'}}]}");
    add_event(&raw, DONE);
    ask_raw(API_OPENAI, support_keep(buf_take(&raw)));
    assert_int_equal(t.response.blocks.len, PROVIDER_MAX_CALLS + 1);
    assert_string_equal(block_at(PROVIDER_MAX_CALLS - 1, BLOCK_TOOL_CALL)->text, "{}");
    assert_string_equal(block_at(PROVIDER_MAX_CALLS, BLOCK_TEXT)->text, "Done.");
}

/* A conversation with many calls, some of whose ids look like ours. */
TEST(test_ids_in_a_long_conversation)
{
    static const char *const odd[] = {"call_0",  "call_07", "call_", "call_99999999999999999999",
                                      "call_2x", "",        NULL};
    start_talk(API_OLLAMA);
    for (int n = 0; n < 20000; n++) {
        struct block b = {.type = BLOCK_TOOL_CALL, .id = mem_printf("call_%d", 20001 - n)};
        vec_push(&t.user.blocks, b);
    }
    for (size_t i = 0; odd[i]; i++) {
        struct block b = {.type = BLOCK_TOOL_CALL, .id = mem_strdup(odd[i])};
        vec_push(&t.user.blocks, b);
    }
    char *raw = calls_of(API_OLLAMA, PROVIDER_MAX_CALLS);
    int64_t begun = clock_mono_ms();
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw}));
    assert_true(clock_mono_ms() - begun < SOON_MS);
    assert_string_equal(block_at(0, BLOCK_TOOL_CALL)->id, "call_1");
    assert_string_equal(block_at(1, BLOCK_TOOL_CALL)->id, "call_20002");
    assert_string_equal(block_at(2, BLOCK_TOOL_CALL)->id, "call_20003");
}

/* Two calls with one id: the first keeps it. */
TEST(test_ids_that_repeat)
{
    static const char *const ids[] = {"same", "call_1", "same", "same"};
    static const char *const kept[] = {"same", "call_1", "call_2", "call_3"};
    AUTO(buf_release) struct buf raw = BUF_INIT;
    for (int n = 0; n < 4; n++)
        add_event(&raw, support_text(CALLS("{'index':%d,'id':'%s','function':"
                                           "{'name':'one','arguments':'{}'}}"),
                                     n, ids[n]));
    add_event(&raw, DONE);
    ask_raw(API_OPENAI, support_keep(buf_take(&raw)));
    assert_int_equal(t.response.blocks.len, 4);
    for (size_t n = 0; n < 4; n++)
        assert_string_equal(block_at(n, BLOCK_TOOL_CALL)->id, kept[n]);
}

TEST(test_nameless_tool_call)
{
    ask_and_fail(API_OPENAI,
                 EVENTS("{'choices':[{'delta':{'tool_calls':[{'index':0,'id':'a'}]},"
                        "'finish_reason':'tool_calls'}]}",
                        DONE),
                 FAILURE_PROTOCOL);
    assert_int_equal(t.response.blocks.len, 0);
}

TEST(test_broken_characters)
{
    ask_raw(API_OPENAI,
            EVENTS("{'choices':[{'delta':{'content':'a\\ud83db \\ud83d\\ude00 \\ude00 "
                   "\\\\ud83d'}}]}",
                   "{'choices':[{'delta':{'content':' \xFFz'},'finish_reason':'stop'}]}", DONE));
    assert_string_equal(t.text.data,
                        "a\xEF\xBF\xBD"
                        "b \xF0\x9F\x98\x80 \xEF\xBF\xBD \\ud83d \xEF\xBF\xBDz");
}

TEST(test_ollama)
{
    ask_raw(API_OLLAMA, /* without a newline at the end */
            support_json("{'model':'m','message':{'role':'assistant','content':'','thinking':'So'},"
                         "'done':false}\r\n\r\n"
                         "{'message':{'content':'Cut','thinking':''},'done':false}\r\n"
                         "{'message':{'content':''},'done':true,'done_reason':'length',"
                         "'prompt_eval_count':31,'eval_count':2}"));
    assert_int_equal(t.response.blocks.len, 2);
    assert_string_equal(block_at(0, BLOCK_REASONING)->text, "So");
    assert_string_equal(block_at(1, BLOCK_TEXT)->text, "Cut");
    assert_int_equal(t.response.stop_reason, STOP_MAX_TOKENS);
    assert_int_equal(t.response.usage.input, 31);
    assert_int_equal(t.response.usage.output, 2);
    assert_int_equal(t.response.usage.cached, -1);
}

/* An answer whose last event is cut in two by the end of the body is cut off, not malformed. */
TEST(test_end_within_an_event)
{
    static const char *const raws[API_COUNT] = {
        [API_ANTHROPIC] = ("data: {'type':'content_block_start','index':0,'content_block':"
                           "{'type':'text','text':'Half'}}\n\ndata: {'type':'mess"),
        [API_OPENAI] = "data: {'choices':[{'delta':{'content':'Half'}}]}\n\ndata: {'cho",
        [API_OLLAMA] = "{'message':{'content':'Half'}}\n{'mess",
    };
    for (int api = 0; api < API_COUNT; api++) {
        ask_and_fail(api, support_json(raws[api]), FAILURE_CUT);
        assert_string_equal(t.text.data, "Half");
    }
}

TEST(test_more_parts_than_anyone_needs)
{
    struct buf raw = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        add_event(&raw, support_text("{'type':'content_block_start','index':%d,'content_block':"
                                     "{'type':'text','text':'x'}}",
                                     i));
    ask_and_fail(API_ANTHROPIC, support_keep(buf_take(&raw)), FAILURE_TOO_LARGE);
}

/* One event made of a beginning, a repeated piece, and an end. */
static char *event_of(int api, const char *begin, const char *piece, size_t times, const char *end)
{
    struct buf raw = BUF_INIT;
    buf_addstr(&raw, api == API_OLLAMA ? "" : "data: ");
    buf_addstr(&raw, begin);
    while (times-- > 0)
        buf_addstr(&raw, piece);
    buf_addf(&raw, "%s\n\n", end);
    return support_keep(buf_take(&raw));
}

/* A tree of 8 million values would take 640 MB; arguments of 300,000 are printed for a third of a
 * second, in which Esc is not answered. */
TEST(test_an_event_of_values)
{
    for (int i = 0; i < 2 * API_COUNT; i++) {
        int api = i / 2;
        char *raw = event_of(api, "{\"x\":[", "1,",
                             i % 2 == 0 ? 8000000 : PROVIDER_MAX_EVENT_VALUES, "1]}");
        ask_and_fail(api, raw, FAILURE_TOO_LARGE);
        assert_non_null(strstr(t.failure.text, "JSON values"));
    }
}

/* A step that looks at the rest of the event at each escape takes minutes for this one. */
TEST(test_an_event_of_escapes)
{
    enum { ESCAPES = 2600000 };
    char *raw = event_of(API_OLLAMA, "{\"done\":true,\"message\":{\"content\":\"", "\\u0041",
                         ESCAPES, "\\ud800\"}}");
    start_talk(API_OLLAMA);
    int64_t begin = clock_mono_ms();
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw}));
    assert_true(clock_mono_ms() - begin < 20000);
    assert_int_equal(t.text.len, ESCAPES + strlen("\xEF\xBF\xBD"));
}

/* The text of a large event is passed on in pieces, between which the call can be stopped. */
TEST(test_stopping_within_an_event)
{
    static const char *const begins[API_COUNT] = {
        [API_ANTHROPIC] = ("{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\","
                           "\"text\":\""),
        [API_OPENAI] = "{\"choices\":[{\"delta\":{\"content\":\"",
        [API_OLLAMA] = "{\"message\":{\"content\":\"",
    };
    static const char *const ends[API_COUNT] = {
        [API_ANTHROPIC] = "\"}}", [API_OPENAI] = "\"}}]}", [API_OLLAMA] = "\"}}"};
    for (int api = 0; api < API_COUNT; api++) {
        char *raw = event_of(api, begins[api], "gr\xC3\xBC\xC3\x9F", 1000000, ends[api]);
        start_talk(api);
        t.stop_at_content = true;
        talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raw}), FAILURE_CANCELLED);
        assert_in_range(t.deltas, 1, 2); /* the text after it is passed on, too */
        assert_in_range(t.text.len, 60000, 200000);
        assert_string_equal(talk_only_block(&t, BLOCK_TEXT)->text, t.text.data);
    }
}
