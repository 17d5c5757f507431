/* The peculiarities of each API's stream, given verbatim. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "provider/dialects.h"
#include "tests/suite.h"
#include "tests/support.h"
#include "tests/talk.h"

/* One event of each framing; Anthropic's repeats its type inside the data. */
#define EVENT(json) "data: " json "\n\n"
#define DONE EVENT("[DONE]")

static void ask_raw(struct talk *t, int api, const char *raw)
{
    talk_start(t, &apis[api]);
    talk_assert_ok(t, talk_ask_with(t, (struct reply){.raw = raw}));
}

static const struct block *block_at(const struct talk *t, size_t index, enum block_type type)
{
    assert_true(index < t->response.blocks.len);
    assert_int_equal(t->response.blocks.items[index].type, type);
    return &t->response.blocks.items[index];
}

static const char thinking_stream[] = ": comment\n" EVENT(
    "{\"type\":\"message_start\",\"message\":{\"model\":\"m\","
    "\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":5,"
    "\"cache_read_input_tokens\":7,\"output_tokens\":1}}}") EVENT("{\"type\":\"ping\"}")
    EVENT(
        "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
        "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}")
        EVENT(
            "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
            "{\"type\":\"thinking_delta\",\"thinking\":\"Hm. \"}}")
            EVENT(
                "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
                "{\"type\":\"thinking_delta\",\"thinking\":\"Yes.\"}}")
                EVENT(
                    "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
                    "{\"type\":\"signature_delta\",\"signature\":\"c2ln+/=\"}}")
                    EVENT("{\"type\":\"content_block_stop\",\"index\":0}") EVENT(
                        "{\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
                        "{\"type\":\"redacted_thinking\",\"data\":\"ZW5j\"}}")
                        EVENT(
                            "{\"type\":\"content_block_start\",\"index\":2,\"content_block\":"
                            "{\"type\":\"from_the_future\",\"text\":\"no\"}}")
                            EVENT(
                                "{\"type\":\"content_block_delta\",\"index\":2,\"delta\":"
                                "{\"type\":\"text_delta\",\"text\":\"no\"}}")
                                EVENT("{\"type\":\"what_is_this\",\"x\":1}") EVENT(
                                    "{\"type\":\"content_block_start\",\"index\":3,\"content_"
                                    "block\":"
                                    "{\"type\":\"text\",\"text\":\"A\"}}")
                                    EVENT(
                                        "{\"type\":\"content_block_delta\",\"index\":3,"
                                        "\"delta\":"
                                        "{\"type\":\"unknown_delta\",\"text\":\"no\"}}")
                                        EVENT(
                                            "{\"type\":\"content_block_delta\",\"index\":3,"
                                            "\"delta\":"
                                            "{\"type\":\"text_delta\",\"text\":\"nswer\"}}")
                                            EVENT(
                                                "{\"type\":\"content_block_start\",\"index\":4,"
                                                "\"content_block\":"
                                                "{\"type\":\"tool_use\",\"id\":\"toolu_1\","
                                                "\"name\":\"look\",\"input\":{}}}")
                                                EVENT(
                                                    "{\"type\":\"message_delta\",\"delta\":{"
                                                    "\"stop_reason\":\"tool_use\"},"
                                                    "\"usage\":{\"output_tokens\":40}}")
                                                    EVENT(
                                                        "{\"type\":\"message_delta\",\"delta\":"
                                                        "{},\"usage\":{\"input_tokens\":11,"
                                                        "\"output_tokens\":42}}")
                                                        EVENT("{\"type\":\"message_stop\"}");

FIXTURE(support_setup, support_teardown);

TEST(test_anthropic_thinking)
{
    struct talk t;
    ask_raw(&t, API_ANTHROPIC, thinking_stream);
    assert_int_equal(t.response.blocks.len, 4);
    const struct block *thinking = block_at(&t, 0, BLOCK_REASONING);
    assert_string_equal(thinking->text, "Hm. Yes.");
    assert_string_equal(thinking->signature, "c2ln+/=");
    assert_false(thinking->redacted);
    const struct block *redacted = block_at(&t, 1, BLOCK_REASONING);
    assert_string_equal(redacted->text, "");
    assert_string_equal(redacted->signature, "ZW5j");
    assert_true(redacted->redacted);
    assert_string_equal(block_at(&t, 2, BLOCK_TEXT)->text, "Answer");
    assert_string_equal(block_at(&t, 3, BLOCK_TOOL_CALL)->id, "toolu_1");
    assert_string_equal(block_at(&t, 3, BLOCK_TOOL_CALL)->text, "{}");
    /* Cumulative figures replace, and all three kinds of input count. */
    assert_int_equal(t.response.usage.input, 11 + 5 + 7);
    assert_int_equal(t.response.usage.cached, 7);
    assert_int_equal(t.response.usage.output, 42);
    assert_string_equal(t.response.model, "m");
    assert_string_equal(t.reasoning.data, "Hm. Yes.");
    assert_string_equal(t.text.data, "Answer");
    talk_end(&t);
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
        struct talk t;
        struct buf raw = BUF_INIT;
        buf_addf(&raw,
                 EVENT("{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"%s\"}}")
                     EVENT("{\"type\":\"message_stop\"}"),
                 cases[i].name);
        ask_raw(&t, API_ANTHROPIC, raw.data);
        assert_int_equal(t.response.stop_reason, cases[i].reason);
        buf_release(&raw);
        talk_end(&t);
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
        struct talk t;
        struct buf raw = BUF_INIT;
        buf_addf(&raw,
                 EVENT("{\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]}")
                     EVENT("{\"choices\":[{\"delta\":{},\"finish_reason\":\"%s\"}]}") DONE,
                 cases[i].name);
        ask_raw(&t, API_OPENAI, raw.data);
        assert_int_equal(t.response.stop_reason, cases[i].reason);
        assert_string_equal(block_at(&t, 0, BLOCK_TEXT)->text, "x");
        buf_release(&raw);
        talk_end(&t);
    }
}

TEST(test_openai_tool_calls)
{
    static const char raw[] = EVENT(
        "{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":"
        "[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"one\",\"arguments\":\"\"}}]}}]}")
        EVENT(
            "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":"
            "{\"name\":\"two\",\"arguments\":\"{\\\"y\\\"\"}}]}}]}")
            EVENT(
                "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
                "{\"arguments\":\"{\\\"x\\\":\"}},{\"index\":1,\"function\":"
                "{\"arguments\":\":2}\"}}]}}]}")
                EVENT(
                    "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"\","
                    "\"function\":"
                    "{\"name\":null,\"arguments\":\"1}\"}}]}}]}")
                    EVENT("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}") EVENT(
                        "{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,"
                        "\"prompt_tokens_details\":{\"cached_tokens\":3}}}") DONE;
    struct talk t;
    ask_raw(&t, API_OPENAI, raw);
    assert_int_equal(t.response.blocks.len, 2);
    assert_string_equal(block_at(&t, 0, BLOCK_TOOL_CALL)->id, "a");
    assert_string_equal(block_at(&t, 0, BLOCK_TOOL_CALL)->name, "one");
    assert_string_equal(block_at(&t, 0, BLOCK_TOOL_CALL)->text, "{\"x\":1}");
    assert_string_equal(block_at(&t, 1, BLOCK_TOOL_CALL)->id, "b");
    assert_string_equal(block_at(&t, 1, BLOCK_TOOL_CALL)->text, "{\"y\":2}");
    assert_int_equal(t.response.stop_reason, STOP_TOOL_USE); /* whatever the server called it */
    assert_int_equal(t.response.usage.input, 9);
    assert_int_equal(t.response.usage.output, 4);
    assert_int_equal(t.response.usage.cached, 3);
    talk_end(&t);
}

/* Servers that number every call 0. */
TEST(test_openai_calls_of_one_number)
{
    static const char raw[] = EVENT(
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":"
        "{\"name\":\"one\",\"arguments\":\"{\\\"x\\\":1}\"}}]}}]}")
        EVENT(
            "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":"
            "{\"name\":\"two\",\"arguments\":\"{\\\"y\\\"\"}}]}}]}")
            EVENT(
                "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":"
                "{\"arguments\":\":2}\"}}]},\"finish_reason\":\"tool_calls\"}]}") DONE;
    struct talk t;
    ask_raw(&t, API_OPENAI, raw);
    assert_int_equal(t.response.blocks.len, 2);
    assert_string_equal(block_at(&t, 0, BLOCK_TOOL_CALL)->text, "{\"x\":1}");
    assert_string_equal(block_at(&t, 1, BLOCK_TOOL_CALL)->id, "b");
    assert_string_equal(block_at(&t, 1, BLOCK_TOOL_CALL)->text, "{\"y\":2}");
    talk_end(&t);
}

/* Compatible servers: no index, arguments as an object, no id, two names for reasoning. */
TEST(test_openai_variants)
{
    static const char raw[] = EVENT(
        "{\"choices\":[{\"delta\":{\"reasoning_content\":\"one \","
        "\"reasoning\":\"one \"}}]}") EVENT("{\"choices\":[{\"delta\":{\"reasoning\":\"two\"}}]}")
        EVENT(
            "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":"
            "{\"name\":\"one\",\"arguments\":{\"x\":1}}}]}}]}")
            EVENT(
                "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"b\",\"function\":"
                "{\"name\":\"two\",\"arguments\":\"{\"}}]}}]}")
                EVENT(
                    "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":"
                    "{\"arguments\":\"}\"}}]}}]}")
                    EVENT(
                        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":5,\"function\":"
                        "{\"name\":\"three\",\"arguments\":\"\"}}]},\"finish_reason\":\"tool_"
                        "calls\"}]}");
    struct talk t;
    ask_raw(&t, API_OPENAI, raw); /* which ends without [DONE] */
    assert_int_equal(t.response.blocks.len, 4);
    assert_string_equal(block_at(&t, 0, BLOCK_REASONING)->text, "one two");
    assert_string_equal(block_at(&t, 1, BLOCK_TOOL_CALL)->text, "{\"x\":1}");
    assert_string_equal(block_at(&t, 2, BLOCK_TOOL_CALL)->id, "b");
    assert_string_equal(block_at(&t, 2, BLOCK_TOOL_CALL)->text, "{}");
    assert_string_equal(block_at(&t, 3, BLOCK_TOOL_CALL)->name, "three");
    assert_string_equal(block_at(&t, 3, BLOCK_TOOL_CALL)->id, "call_1");
    assert_string_equal(block_at(&t, 3, BLOCK_TOOL_CALL)->text, "{}");
    talk_end(&t);
}

/* ---- more calls than an answer may have ---- */

enum { MANY = 4000, SOON_MS = 10000 };

/* The n-th of many calls without an id, split where the API splits. */
static void add_call(struct buf *raw, int api, int n)
{
    if (api == API_ANTHROPIC)
        buf_addf(raw,
                 EVENT("{\"type\":\"content_block_start\",\"index\":%d,\"content_block\":"
                       "{\"type\":\"tool_use\",\"name\":\"one\"}}")
                     EVENT("{\"type\":\"content_block_delta\",\"index\":%d,\"delta\":"
                           "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"n\\\":%d}\"}}"),
                 n, n, n);
    else if (api == API_OPENAI)
        buf_addf(raw,
                 EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"function\":"
                       "{\"name\":\"one\",\"arguments\":\"{\\\"n\\\":\"}}]}}]}")
                     EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"function\":"
                           "{\"arguments\":\"%d}\"}}]}}]}"),
                 n, n, n);
    else
        buf_addf(raw,
                 "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"one\","
                 "\"arguments\":{\"n\":%d}}}]}}\n",
                 n);
}

static void end_answer(struct buf *raw, int api)
{
    static const char *const ends[] = {
        [API_ANTHROPIC] = EVENT("{\"type\":\"message_stop\"}"),
        [API_OPENAI] = DONE,
        [API_OLLAMA] = "{\"message\":{\"content\":\"\"},\"done\":true}\n",
    };
    buf_addstr(raw, ends[api]);
}

/* The first calls are there, each whole and with an id of its own; the response knows of more. */
static void assert_first_calls(const struct talk *t)
{
    assert_int_equal(t->response.blocks.len, PROVIDER_MAX_CALLS);
    assert_true(t->response.calls_refused);
    for (size_t i = 0; i < PROVIDER_MAX_CALLS; i++) {
        const struct block *b = block_at(t, i, BLOCK_TOOL_CALL);
        char *args = support_text("{\"n\":%zu}", i), *id = mem_printf("call_%zu", i + 1);
        assert_string_equal(b->text, args);
        assert_string_equal(b->id, id);
        free(id);
    }
}

TEST(test_more_calls_than_an_answer_may_have)
{
    for (int api = 0; api < API_COUNT; api++) {
        struct buf raw = BUF_INIT;
        struct talk t;
        for (int n = 0; n < MANY; n++)
            add_call(&raw, api, n);
        end_answer(&raw, api);
        int64_t begun = clock_mono_ms();
        ask_raw(&t, api, raw.data);
        assert_true(clock_mono_ms() - begun < SOON_MS);
        assert_first_calls(&t);
        talk_end(&t);
        buf_release(&raw);
    }
}

TEST(test_as_many_calls_as_an_answer_may_have)
{
    struct buf raw = BUF_INIT;
    struct talk t;
    for (int n = 0; n < PROVIDER_MAX_CALLS; n++)
        add_call(&raw, API_OLLAMA, n);
    end_answer(&raw, API_OLLAMA);
    ask_raw(&t, API_OLLAMA, raw.data);
    assert_int_equal(t.response.blocks.len, PROVIDER_MAX_CALLS);
    assert_false(t.response.calls_refused);
    talk_end(&t);
    buf_release(&raw);
}

/* What goes on a refused call without a number is not added to the last that was taken; what the
 * model says behind it stays. */
TEST(test_pieces_of_a_refused_call)
{
    struct buf raw = BUF_INIT;
    struct talk t;
    for (int n = 0; n <= PROVIDER_MAX_CALLS; n++)
        buf_addf(&raw,
                 EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"id%d\",\"function\":"
                       "{\"name\":\"one\",\"arguments\":\"{\"}}]}}]}")
                     EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":"
                           "{\"arguments\":\"}\"}}]}}]}"),
                 n);
    buf_addstr(&raw, EVENT("{\"choices\":[{\"delta\":{\"content\":\"Done.\"}}]}") DONE);
    ask_raw(&t, API_OPENAI, raw.data);
    assert_int_equal(t.response.blocks.len, PROVIDER_MAX_CALLS + 1);
    assert_string_equal(block_at(&t, PROVIDER_MAX_CALLS - 1, BLOCK_TOOL_CALL)->text, "{}");
    assert_string_equal(block_at(&t, PROVIDER_MAX_CALLS, BLOCK_TEXT)->text, "Done.");
    talk_end(&t);
    buf_release(&raw);
}

/* In a conversation with many calls, of which some have ids that look like ours. */
TEST(test_ids_in_a_long_conversation)
{
    static const char *const odd[] = {"call_0",  "call_07", "call_", "call_99999999999999999999",
                                      "call_2x", "",        NULL};
    struct buf raw = BUF_INIT;
    struct talk t;
    talk_start(&t, &apis[API_OLLAMA]);
    for (int n = 0; n < 20000; n++) {
        struct block b = {.type = BLOCK_TOOL_CALL, .id = mem_printf("call_%d", 20001 - n)};
        vec_push(&t.user.blocks, b);
    }
    for (size_t i = 0; odd[i]; i++) {
        struct block b = {.type = BLOCK_TOOL_CALL, .id = mem_strdup(odd[i])};
        vec_push(&t.user.blocks, b);
    }
    for (int n = 0; n < PROVIDER_MAX_CALLS; n++)
        add_call(&raw, API_OLLAMA, n);
    end_answer(&raw, API_OLLAMA);
    int64_t begun = clock_mono_ms();
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw.data}));
    assert_true(clock_mono_ms() - begun < SOON_MS);
    assert_string_equal(block_at(&t, 0, BLOCK_TOOL_CALL)->id, "call_1");
    assert_string_equal(block_at(&t, 1, BLOCK_TOOL_CALL)->id, "call_20002");
    assert_string_equal(block_at(&t, 2, BLOCK_TOOL_CALL)->id, "call_20003");
    talk_end(&t);
    buf_release(&raw);
}

/* Two calls with one id: the first keeps it. */
TEST(test_ids_that_repeat)
{
    static const char call[] = EVENT("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,"
                                     "\"id\":\"%s\",\"function\":{\"name\":\"one\","
                                     "\"arguments\":\"{}\"}}]}}]}");
    static const char *const ids[] = {"same", "call_1", "same", "same"};
    static const char *const kept[] = {"same", "call_1", "call_2", "call_3"};
    struct buf raw = BUF_INIT;
    struct talk t;
    for (int n = 0; n < 4; n++)
        buf_addf(&raw, call, n, ids[n]);
    end_answer(&raw, API_OPENAI);
    ask_raw(&t, API_OPENAI, raw.data);
    assert_int_equal(t.response.blocks.len, 4);
    for (size_t n = 0; n < 4; n++)
        assert_string_equal(block_at(&t, n, BLOCK_TOOL_CALL)->id, kept[n]);
    talk_end(&t);
    buf_release(&raw);
}

TEST(test_nameless_tool_call)
{
    static const char raw[] = EVENT(
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\"}]},"
        "\"finish_reason\":\"tool_calls\"}]}") DONE;
    struct talk t;
    talk_start(&t, &apis[API_OPENAI]);
    talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raw}), FAILURE_PROTOCOL);
    assert_int_equal(t.response.blocks.len, 0);
    talk_end(&t);
}

TEST(test_broken_characters)
{
    static const char raw[] = EVENT(
        "{\"choices\":[{\"delta\":{\"content\":\"a\\ud83db \\ud83d\\ude00 \\ude00 "
        "\\\\ud83d\"}}]}")
        EVENT("{\"choices\":[{\"delta\":{\"content\":\" \xFFz\"},\"finish_reason\":\"stop\"}]}")
            DONE;
    struct talk t;
    ask_raw(&t, API_OPENAI, raw);
    assert_string_equal(t.text.data,
                        "a\xEF\xBF\xBD"
                        "b \xF0\x9F\x98\x80 \xEF\xBF\xBD \\ud83d \xEF\xBF\xBDz");
    talk_end(&t);
}

TEST(test_ollama)
{
    static const char raw[] =
        "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":\"So"
        "\"},\"done\":false}\r\n\r\n"
        "{\"message\":{\"content\":\"Cut\",\"thinking\":\"\"},\"done\":false}\r\n"
        "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"length\","
        "\"prompt_eval_count\":31,\"eval_count\":2}"; /* no newline at the end */
    struct talk t;
    ask_raw(&t, API_OLLAMA, raw);
    assert_int_equal(t.response.blocks.len, 2);
    assert_string_equal(block_at(&t, 0, BLOCK_REASONING)->text, "So");
    assert_string_equal(block_at(&t, 1, BLOCK_TEXT)->text, "Cut");
    assert_int_equal(t.response.stop_reason, STOP_MAX_TOKENS);
    assert_int_equal(t.response.usage.input, 31);
    assert_int_equal(t.response.usage.output, 2);
    assert_int_equal(t.response.usage.cached, -1);
    talk_end(&t);
}

/* An answer whose last event is cut in two by the end of the body is cut off, not malformed. */
TEST(test_end_within_an_event)
{
    static const char *const raws[API_COUNT] = {
        [API_ANTHROPIC] = EVENT("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":"
                                "{\"type\":\"text\",\"text\":\"Half\"}}") "data: {\"type\":\"mess",
        [API_OPENAI] = EVENT("{\"choices\":[{\"delta\":{\"content\":\"Half\"}}]}") "data: {\"cho",
        [API_OLLAMA] = "{\"message\":{\"content\":\"Half\"}}\n{\"mess",
    };
    for (int api = 0; api < API_COUNT; api++) {
        struct talk t;
        talk_start(&t, &apis[api]);
        talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raws[api]}), FAILURE_CUT);
        assert_string_equal(t.text.data, "Half");
        talk_end(&t);
    }
}

/* 200, the right type, and the end at once. */
TEST(test_end_without_an_answer)
{
    struct talk t;
    talk_start(&t, &apis[API_OPENAI]);
    talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = DONE}), FAILURE_PROTOCOL);
    talk_end(&t);
}

TEST(test_more_parts_than_anyone_needs)
{
    struct buf raw = BUF_INIT;
    for (int i = 0; i < 5000; i++)
        buf_addf(&raw,
                 EVENT("{\"type\":\"content_block_start\",\"index\":%d,\"content_block\":"
                       "{\"type\":\"text\",\"text\":\"x\"}}"),
                 i);
    struct talk t;
    talk_start(&t, &apis[API_ANTHROPIC]);
    talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raw.data}), FAILURE_TOO_LARGE);
    buf_release(&raw);
    talk_end(&t);
}

/* One event of a beginning, a piece as often as that, and an end. */
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
        struct talk t;
        talk_start(&t, &apis[api]);
        talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raw}), FAILURE_TOO_LARGE);
        assert_non_null(strstr(t.failure.text, "JSON values"));
        talk_end(&t);
    }
}

/* A step that looks at the rest of the event at each escape takes minutes for this one. */
TEST(test_an_event_of_escapes)
{
    enum { ESCAPES = 2600000 };
    char *raw = event_of(API_OLLAMA, "{\"done\":true,\"message\":{\"content\":\"", "\\u0041",
                         ESCAPES, "\\ud800\"}}");
    struct talk t;
    talk_start(&t, &apis[API_OLLAMA]);
    int64_t begin = clock_mono_ms();
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw}));
    assert_true(clock_mono_ms() - begin < 20000);
    assert_int_equal(t.text.len, ESCAPES + strlen("\xEF\xBF\xBD"));
    talk_end(&t);
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
        struct talk t;
        talk_start(&t, &apis[api]);
        t.stop_at_content = true;
        talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.raw = raw}), FAILURE_CANCELLED);
        assert_in_range(t.deltas, 1, 2); /* what is behind it is passed on, too */
        assert_in_range(t.text.len, 60000, 200000);
        assert_string_equal(talk_only_block(&t, BLOCK_TEXT)->text, t.text.data);
        talk_end(&t);
    }
}

TEST(test_overflow_figures)
{
    struct talk t;
    talk_start(&t, &apis[API_OPENAI]);
    bool ok = talk_ask_with(
        &t, (struct reply){.fault = REPLY_STATUS,
                           .status = 400,
                           .raw = "{\"error\":{\"code\":400,\"type\":\"exceed_context_size_error\","
                                  "\"message\":\"too long\",\"n_prompt_tokens\":9001,"
                                  "\"n_ctx\":8192}}"});
    talk_assert_failed(&t, ok, FAILURE_OVERFLOW);
    assert_int_equal(t.failure.prompt_tokens, 9001);
    assert_int_equal(t.failure.window, 8192);
    talk_end(&t);
}
