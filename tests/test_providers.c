/* The HTTP providers against the scripted server: the result of every answer and every fault. */
#include <pthread.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "provider/outgoing.h"
#include "tests/raw_server.h"
#include "tests/suite.h"
#include "tests/talk.h"

#define CANCEL_MS 100
#define TEXT                                                                                       \
    "Gr\xC3\xBC\xC3\x9F"                                                                           \
    "e \xF0\x9F\x98\x80, \"quoted\"\nand a second line."
#define REASONING "Let me see\xE2\x80\xA6"

static const struct reply full_reply = {.text = TEXT,
                                        .reasoning = REASONING,
                                        .tool_name = "read_file",
                                        .tool_args = "{\"path\":\"a \\\"b\\\".txt\",\"n\":[1,2]}",
                                        .piece = 3,
                                        .input_tokens = 120,
                                        .output_tokens = 34,
                                        .cached_tokens = 20};

FIXTURE(support_setup, support_teardown);

TEST(test_full_answer_split_at_every_byte_or_not)
{
    struct reply reply = full_reply;
    for (int i = 0; i < 2; i++, reply.split_bytes = true)
        EACH_TALK(t)
        {
            talk_assert_ok(&t, talk_ask_with(&t, reply));
            const struct block *text = talk_only_block(&t, BLOCK_TEXT);
            const struct block *reasoning = talk_only_block(&t, BLOCK_REASONING);
            const struct block *tool = talk_only_block(&t, BLOCK_TOOL_CALL);
            assert_non_null(text);
            assert_non_null(reasoning);
            assert_non_null(tool);
            assert_string_equal(text->text, TEXT);
            assert_string_equal(t.text.data, TEXT);
            assert_string_equal(reasoning->text, REASONING);
            assert_string_equal(t.reasoning.data, REASONING);
            assert_string_equal(tool->name, "read_file");
            assert_string_equal(tool->id, "call_1");
            assert_string_equal(tool->text, "{\"path\":\"a \\\"b\\\".txt\",\"n\":[1,2]}");
            assert_int_equal(t.response.stop_reason, STOP_TOOL_USE);
            assert_int_equal(t.response.usage.input, 120);
            assert_int_equal(t.response.usage.output, 34);
            assert_int_equal(t.response.usage.cached,
                             t.api->provider == &provider_ollama ? -1 : 20);
            assert_false(t.response.usage.estimated);
            assert_string_equal(t.response.model, "test-model");
            assert_true(t.failure.content_seen);
        }
}

TEST(test_plain_answer_without_usage)
{
    EACH_TALK(t)
    {
        talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.text = "Yes.", .no_usage = true}));
        assert_int_equal(t.response.blocks.len, 1);
        assert_string_equal(t.response.blocks.items[0].text, "Yes.");
        assert_int_equal(t.response.stop_reason, STOP_END_TURN);
        if (t.api->provider != &provider_anthropic)
            assert_false(usage_known(&t.response.usage));
    }
}

/* Text that arrives in one read from the network is one delta. */
TEST(test_small_deltas_are_joined)
{
    enum { LENGTH = 20000 };
    char *text = support_keep(mem_alloc(LENGTH + 1));
    memset(text, 'x', LENGTH);
    EACH_TALK(t)
    {
        talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.text = text, .piece = 1}));
        assert_string_equal(t.text.data, text);
        assert_true(t.deltas < LENGTH / 10);
    }
}

TEST(test_request_and_headers)
{
    EACH_TALK(t)
    {
        talk_assert_ok(&t, talk_ask(&t));
        assert_string_equal(model_server_header(t.server, 0, "content-type"), "application/json");
        assert_null(model_server_header(t.server, 0, "expect"));
        if (t.api->provider == &provider_anthropic) {
            assert_string_equal(model_server_header(t.server, 0, "x-api-key"), TALK_KEY);
            assert_string_equal(model_server_header(t.server, 0, "anthropic-version"),
                                "2023-06-01");
            assert_null(model_server_header(t.server, 0, "authorization"));
            t.endpoint.bearer = true;
            talk_assert_ok(&t, talk_ask(&t));
            assert_null(model_server_header(t.server, 1, "x-api-key"));
        }
        size_t last = model_server_requests(t.server) - 1;
        assert_string_equal(model_server_header(t.server, last, "authorization"),
                            "Bearer " TALK_KEY);
        const char *sent = model_server_body(t.server, last);
        AUTO(json_free_local) struct json *body = json_parse(sent, strlen(sent), NULL);
        assert_string_equal(json_get_string(body, "model"), "test-model");
        assert_true(json_get_bool(body, "stream", false));
    }
}

TEST(test_without_key)
{
    EACH_TALK(t)
    {
        free(t.endpoint.key);
        t.endpoint.key = NULL;
        talk_assert_ok(&t, talk_ask(&t));
        assert_null(model_server_header(t.server, 0, "x-api-key"));
        assert_null(model_server_header(t.server, 0, "authorization"));
        t.endpoint.key = mem_strdup("sk\r\nX-Injected: yes");
        talk_assert_failed(&t, talk_ask(&t), FAILURE_SETUP);
        assert_int_equal(model_server_requests(t.server), 1);
    }
}

TEST(test_statuses)
{
    static const struct {
        int status;
        const char *type, *message, *retry_after;
        enum failure_kind kind;
        int64_t retry_after_ms;
    } cases[] = {
        {400, "invalid_request_error", "bad", NULL, FAILURE_STATUS, -1},
        {400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", NULL,
         FAILURE_OVERFLOW, -1},
        {401, "authentication_error", "you sent " TALK_KEY, NULL, FAILURE_STATUS, -1},
        {404, "not_found_error", "no such model", NULL, FAILURE_STATUS, -1},
        {429, "rate_limit_error", "slow down", "7", FAILURE_STATUS, 7000},
        {429, "insufficient_quota", "You exceeded your current quota", NULL, FAILURE_QUOTA, -1},
        {500, "api_error", "oops", NULL, FAILURE_STATUS, -1},
        {503, "unavailable_error", "Loading model", "2", FAILURE_LOADING, 2000},
        {529, "overloaded_error", "Overloaded", NULL, FAILURE_STATUS, -1},
    };
    EACH_TALK(t)
    {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            bool ok = talk_ask_with(&t, (struct reply){.fault = REPLY_STATUS,
                                                       .status = cases[i].status,
                                                       .error_type = cases[i].type,
                                                       .error_message = cases[i].message,
                                                       .retry_after = cases[i].retry_after});
            talk_assert_failed(&t, ok, cases[i].kind);
            assert_int_equal(t.failure.status, cases[i].status);
            assert_int_equal(t.failure.retry_after_ms, cases[i].retry_after_ms);
            assert_false(t.failure.content_seen);
            assert_int_equal(t.response.blocks.len, 0);
            assert_int_equal(t.deltas, 0);
        }
        assert_int_equal(model_server_requests(t.server), sizeof cases / sizeof *cases);
    }
}

TEST(test_error_event)
{
    EACH_TALK(t)
    {
        struct reply reply = {.fault = REPLY_ERROR_EVENT,
                              .error_type = "overloaded_error",
                              .error_message = "Overloaded"};
        talk_assert_failed(&t, talk_ask_with(&t, reply), FAILURE_STREAM);
        assert_false(t.failure.content_seen);
        assert_true(failure_retry_wait(&t.failure, 1, 3, 0.5) >= 0);
        if (t.api->provider == &provider_anthropic)
            assert_int_equal(t.failure.status, 529);

        reply.text = "Half an ";
        talk_assert_failed(&t, talk_ask_with(&t, reply), FAILURE_STREAM);
        assert_true(t.failure.content_seen);
        assert_int_equal(failure_retry_wait(&t.failure, 1, 3, 0.5), -1);
        assert_string_equal(t.text.data, "Half an ");
        assert_string_equal(talk_only_block(&t, BLOCK_TEXT)->text, "Half an ");
    }
}

TEST(test_disconnect)
{
    EACH_TALK(t)
    {
        talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.fault = REPLY_DISCONNECT}),
                           FAILURE_CONNECT);
        assert_false(t.failure.content_seen);
        talk_assert_failed(
            &t, talk_ask_with(&t, (struct reply){.fault = REPLY_DISCONNECT, .text = "Half "}),
            FAILURE_CUT);
        assert_true(t.failure.content_seen);
        assert_string_equal(t.text.data, "Half ");
        assert_string_equal(talk_only_block(&t, BLOCK_TEXT)->text, "Half ");
        talk_assert_ok(&t, talk_ask(&t)); /* and the next call finds a new connection */
    }
}

/* Half a tool call must not be run. */
TEST(test_cut_tool_call_is_dropped)
{
    EACH_TALK(t)
    {
        talk_assert_failed(&t,
                           talk_ask_with(&t, (struct reply){.fault = REPLY_DISCONNECT,
                                                            .text = "I look.",
                                                            .tool_name = "read_file",
                                                            .tool_args = "{\"path\":\"x\"}"}),
                           FAILURE_CUT);
        assert_null(talk_only_block(&t, BLOCK_TOOL_CALL));
        assert_string_equal(talk_only_block(&t, BLOCK_TEXT)->text, "I look.");
    }
}

TEST(test_stall)
{
    struct talk t;
    talk_start(&t, &apis[API_OPENAI]);
    talk_set(&t, CONFIG_PROVIDER_STALL_TIMEOUT, "1");
    int64_t begin = clock_mono_ms();
    talk_assert_failed(&t, talk_ask_with(&t, (struct reply){.fault = REPLY_STALL, .text = "Wait "}),
                       FAILURE_STALL);
    assert_in_range(clock_mono_ms() - begin, 900, 3000);
    assert_true(t.failure.content_seen);
    assert_string_equal(t.text.data, "Wait ");
    model_server_release(t.server);
    talk_end(&t);
}

/* A key that a server repeats at any place is not in the shown text. */
TEST(test_echoed_keys)
{
    static const struct raw_reply replies[] = {
        {.begin = "HTTP/1.1 200 OK\r\nContent-Type: " TALK_KEY "\r\n\r\n", .end = "{}"},
        {.begin = "HTTP/1.1 500 No\r\nContent-Length: 30\r\n\r\n", .end = "you sent " TALK_KEY},
        {.begin = "HTTP/1.1 401 No\r\nContent-Length: 21\r\n\r\n", .end = "you sent " TALK_KEY},
        {.begin = "HTTP/1.1 200 OK\r\nContent-Length: " TALK_KEY "\r\n\r\n"},
        {.begin = "HTTP/1.1 200 OK\r\nContent-Encoding: " TALK_KEY "\r\n\r\n"},
        {.begin = "HTTP/1.1 200 OK\r\nTransfer-Encoding: " TALK_KEY "\r\n\r\n"},
        {.begin = "HTTP/" TALK_KEY " 200 OK\r\n\r\n"},
        {.begin = TALK_KEY "\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof replies / sizeof *replies; i++) {
        EACH_API(api)
        {
            struct talk t;
            struct raw_reply reply = replies[i];
            reply.close = true;
            struct raw_server *server = raw_server_start(&reply, 1);
            talk_start(&t, api);
            free(t.endpoint.base_url);
            t.endpoint.base_url = mem_strdup(raw_server_url(server));
            assert_false(talk_ask(&t));
            assert_memory_equal(t.failure.text, t.api->provider->name,
                                strlen(t.api->provider->name));
            for (size_t from = 0; from + 8 <= strlen(TALK_KEY); from++) {
                char *piece = support_keep(mem_strndup(&TALK_KEY[from], 8));
                if (utf8_contains_folded(t.failure.text, piece))
                    fail_msg("%zu: %s", i, t.failure.text);
            }
            talk_end(&t);
            raw_server_stop(server);
        }
    }
}

#define ECHO(key) "before " key ", sk-secret-01 and " key
#define ECHOED "before [key], sk-secret-01 and [key]"
/* The key in decoded text, after a double escape. */
#define KEY_ESCAPED "sk-\\u0073ecret%2D0123456\\\\\\u00378\\u0039"

static void check_echo(struct talk *t, struct reply reply)
{
    talk_assert_ok(t, talk_ask_with(t, reply));
    assert_string_equal(t->text.data, ECHOED);
    assert_string_equal(talk_only_block(t, BLOCK_TEXT)->text, ECHOED);
    assert_string_equal(t->reasoning.data, ECHOED);
    assert_string_equal(talk_only_block(t, BLOCK_REASONING)->text, ECHOED);
    const struct block *tool = talk_only_block(t, BLOCK_TOOL_CALL);
    assert_string_equal(tool->text, "{\"path\":\"" ECHOED "\"}");
    assert_string_equal(tool->name, "[key]");
}

/* However the server cuts and escapes it. */
TEST(test_answers_that_hold_the_key)
{
    EACH_TALK(t)
    {
        for (size_t piece = 1; piece < sizeof ECHO(TALK_KEY) + 2; piece += 8)
            check_echo(&t, (struct reply){.text = ECHO(TALK_KEY),
                                          .reasoning = ECHO(TALK_KEY),
                                          .tool_name = TALK_KEY,
                                          .tool_args = "{\"path\":\"" ECHO(TALK_KEY) "\"}",
                                          .piece = piece});
        check_echo(&t, (struct reply){.text = ECHO(KEY_ESCAPED),
                                      .reasoning = ECHO(KEY_ESCAPED),
                                      .tool_name = TALK_KEY,
                                      .tool_args = "{\"path\":\"" ECHO(TALK_KEY) "\"}",
                                      .piece = 1});
    }
}

/* JSON's own escapes, two parts of the key in two events, and an end before that of the key. */
TEST(test_escaped_and_cut_keys_in_answers)
{
    struct talk t;
    talk_start(&t, &apis[API_OPENAI]);
    static const char raw[] =
        "data: {\"model\":\"of-" TALK_KEY
        "\",\"choices\":[{\"delta\":{\"content\":"
        "\"a \\u0073\\u006b-secret\"}}]}\n\n"
        "data: {\"choices\":[{\"delta\":{\"content\":\"-01234\\u003567\\u00389 "
        "\\u0073k-secret-012345678\"}}]}\n\n"
        "data: [DONE]\n\n";
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw}));
    assert_string_equal(t.text.data, "a [key] [key]");
    assert_string_equal(t.response.model, "of-[key]");
    talk_end(&t);
}

TEST(test_nonsense)
{
    static const struct {
        enum reply_fault fault;
        enum failure_kind kind;
    } cases[] = {
        {REPLY_MALFORMED_JSON, FAILURE_PROTOCOL},
        {REPLY_HUGE_LINE, FAILURE_TOO_LARGE},
        {REPLY_WRONG_TYPE, FAILURE_PROTOCOL},
        {REPLY_EMPTY, FAILURE_PROTOCOL},
    };
    EACH_TALK(t)
    {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            bool ok = talk_ask_with(&t, (struct reply){.fault = cases[i].fault, .text = "So "});
            talk_assert_failed(&t, ok, cases[i].kind);
            assert_int_equal(failure_retry_wait(&t.failure, 1, 3, 0.5), -1);
            bool streamed = cases[i].fault != REPLY_WRONG_TYPE && cases[i].fault != REPLY_EMPTY;
            assert_string_equal(t.text.data, streamed ? "So " : "");
            assert_int_equal(t.failure.content_seen, streamed);
        }
    }
}

/* Arguments that are no JSON are the tools' to refuse: the answer itself is whole. */
TEST(test_broken_arguments)
{
    EACH_TALK(t)
    {
        talk_assert_ok(&t,
                       talk_ask_with(&t, (struct reply){.fault = REPLY_BROKEN_ARGS,
                                                        .tool_name = "read_file",
                                                        .tool_args = "{\"path\":\"name.txt\"}"}));
        const struct block *tool = talk_only_block(&t, BLOCK_TOOL_CALL);
        assert_non_null(tool);
        assert_string_equal(tool->name, "read_file");
        assert_memory_equal(tool->text, "{\"path\"", 7);
        assert_null(json_parse(tool->text, strlen(tool->text), NULL));
    }
}

TEST(test_no_server)
{
    EACH_TALK(t)
    {
        free(t.endpoint.base_url);
        t.endpoint.base_url = mem_strdup("http://127.0.0.1:1");
        talk_assert_failed(&t, talk_ask(&t), FAILURE_CONNECT);
        assert_true(failure_retry_wait(&t.failure, 1, 3, 0.5) >= 0);
        t.endpoint.base_url[0] = '\0';
        talk_assert_failed(&t, talk_ask(&t), FAILURE_SETUP);
    }
}

static void assert_stopped_at_once(const struct talk *t, bool ok)
{
    int64_t took = clock_mono_ms() - t->stopped_ms;
    talk_assert_failed(t, ok, FAILURE_CANCELLED);
    if (took > CANCEL_MS)
        print_error("took %lld ms\n", (long long)took);
    assert_true(took <= CANCEL_MS);
}

static void *stop_when_asked(void *context)
{
    struct talk *t = context;
    if (model_server_wait(t->server, 1, 10000))
        talk_wake(t, true);
    return NULL;
}

TEST(test_cancel_while_held)
{
    EACH_TALK(t)
    {
        pthread_t thread;
        model_server_queue(t.server, &(struct reply){.hold = true});
        assert_int_equal(pthread_create(&thread, NULL, stop_when_asked, &t), 0);
        bool ok = talk_ask(&t);
        assert_stopped_at_once(&t, ok);
        pthread_join(thread, NULL);
        assert_false(t.failure.content_seen);
        model_server_release(t.server);
    }
}

TEST(test_cancel_while_streaming)
{
    EACH_TALK(t)
    {
        t.stop_at_content = true;
        bool ok = talk_ask_with(&t, (struct reply){.fault = REPLY_STALL, .text = "It streams "});
        assert_stopped_at_once(&t, ok);
        assert_true(t.failure.content_seen);
        assert_non_null(talk_only_block(&t, BLOCK_TEXT));
        assert_string_equal(talk_only_block(&t, BLOCK_TEXT)->text, t.text.data);
        model_server_release(t.server);
    }
}

TEST(test_ids_are_made_unique)
{
    static const char raw[] =
        "{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"a\","
        "\"arguments\":{}}},{\"function\":{\"name\":\"b\",\"arguments\":{\"x\":1}}}]}}\n"
        "{\"message\":{\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n";
    struct talk t;
    talk_start(&t, &apis[API_OLLAMA]);
    struct block earlier = {.type = BLOCK_TOOL_CALL, .id = mem_strdup("call_1")};
    vec_push(&t.user.blocks, earlier);
    talk_assert_ok(&t, talk_ask_with(&t, (struct reply){.raw = raw}));
    assert_int_equal(t.response.blocks.len, 2);
    assert_string_equal(t.response.blocks.items[0].id, "call_2");
    assert_string_equal(t.response.blocks.items[0].text, "{}");
    assert_string_equal(t.response.blocks.items[1].id, "call_3");
    assert_string_equal(t.response.blocks.items[1].text, "{\"x\":1}");
    assert_int_equal(t.response.stop_reason, STOP_TOOL_USE);
    talk_end(&t);
}

TEST(test_truncated_prompt_is_noticed)
{
    static const struct {
        int64_t estimate;
        long counted;
        bool truncated;
    } cases[] = {{10000, 4096, true}, {10000, 7000, false}, {400, 12, false}, {0, 12, false}};
    struct talk t;
    talk_start(&t, &apis[API_OLLAMA]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        t.request.estimate = cases[i].estimate;
        talk_assert_ok(
            &t, talk_ask_with(&t, (struct reply){.text = "x", .input_tokens = cases[i].counted}));
        assert_int_equal(t.response.prompt_truncated, cases[i].truncated);
    }
    talk_end(&t);
}

TEST(test_windows)
{
    static const char *const names[] = {"test-model", "other", NULL};
    EACH_TALK(t)
    {
        const struct provider_call call = talk_call(&t);
        int64_t window = 77;
        assert_false(t.api->provider->window(&call, "test-model", &window));
        assert_int_equal(window, 77);
        model_server_set_models(t.server, names);
        model_server_set_window(t.server, 5000);
        assert_true(t.api->provider->window(&call, "test-model", &window));
        assert_int_equal(window, 5000);
        assert_int_equal(model_server_requests(t.server), 0);
    }
}

/* After a stop during the first request, the second request is not sent. */
TEST(test_a_window_is_not_asked_on_after_a_stop)
{
    EACH_TALK(t)
    {
        struct provider_call call = talk_call(&t);
        int64_t window = 77;
        model_server_set_window(t.server, 5000);
        talk_wake(&t, true);
        assert_false(t.api->provider->window(&call, "test-model", &window));
        assert_int_equal(window, 77);
    }
}

/* A model's trained window is not its allocated one: a model that is not loaded yet gets a modest
 * window. */
TEST(test_ollama_window_of_an_idle_model)
{
    struct talk t;
    talk_start(&t, &apis[API_OLLAMA]);
    const struct provider_call call = talk_call(&t);
    int64_t window = 0;
    model_server_set_window(t.server, 131072);
    assert_true(provider_ollama.window(&call, "test-model", &window));
    assert_int_equal(window, 8192);
    talk_set(&t, CONFIG_OLLAMA_NUM_CTX, "32768");
    assert_true(provider_ollama.window(&call, "test-model", &window));
    assert_int_equal(window, 32768);
    talk_end(&t);
}

TEST(ollama_says_which_models_take_images)
{
    struct talk t;
    talk_start(&t, &apis[API_OLLAMA]);
    const struct provider_call call = talk_call(&t);
    static const char *const names[] = {"sees", NULL};
    bool sees = true;
    assert_true(provider_ollama.sees(&call, "sees", &sees));
    assert_false(sees);
    model_server_set_models(t.server, names);
    assert_true(provider_ollama.sees(&call, "sees", &sees));
    assert_true(sees);
    talk_end(&t);
}

TEST(test_models)
{
    static const char *const names[] = {"one", "two:latest", NULL};
    EACH_TALK(t)
    {
        const struct provider_call call = talk_call(&t);
        struct provider_names list = {0};
        model_server_set_models(t.server, names);
        assert_true(t.api->provider->models(&call, &list, &t.failure));
        assert_int_equal(list.names.len, 2);
        assert_string_equal(list.names.items[0], "one");
        assert_string_equal(list.names.items[1], "two:latest");
        provider_names_release(&list);
        free(t.endpoint.base_url);
        t.endpoint.base_url = mem_strdup("http://127.0.0.1:1");
        talk_assert_failed(&t, t.api->provider->models(&call, &list, &t.failure), FAILURE_CONNECT);
        provider_names_release(&list);
    }
}

TEST(test_more_models_than_anyone_has)
{
    enum { OFFERED = PROVIDER_MAX_NAMES + 100 };
    const char **names = mem_alloc((OFFERED + 1) * sizeof *names);
    char *long_name = support_keep(mem_alloc(PROVIDER_MAX_NAME + 2));
    memset(long_name, 'x', PROVIDER_MAX_NAME + 1);
    names[0] = long_name;
    for (size_t i = 1; i < OFFERED; i++)
        names[i] = "one";
    EACH_TALK(t)
    {
        const struct provider_call call = talk_call(&t);
        AUTO(provider_names_release) struct provider_names list = {0};
        model_server_set_models(t.server, names);
        assert_true(t.api->provider->models(&call, &list, &t.failure));
        assert_int_equal(list.names.len, PROVIDER_MAX_NAMES);
        assert_string_equal(list.names.items[0], "one");
    }
    free(names);
}
