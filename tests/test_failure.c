/* The meaning of a failed call: the retry decision, Retry-After, and the errors that servers
 * send. */
#include <time.h>

#include "base/utf8.h"
#include "provider/failure.h"
#include "provider/http.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define KEY "sk-test-0123456789"
#define NOW_MS 1445412480000LL /* 2015-10-21T07:28:00Z */

static struct failure make(enum failure_kind kind, int status)
{
    struct failure f;
    failure_clear(&f);
    f.kind = kind;
    f.status = status;
    return f;
}

TEST(test_set_cuts_at_a_character)
{
    for (int shift = 0; shift < 4; shift++) {
        struct failure f;
        failure_clear(&f);
        char text[600] = "";
        for (int i = 0; i < shift; i++)
            strcat(text, "x");
        for (int i = 0; i < 100; i++)
            strcat(text, "\xF0\x9F\x98\x80");
        assert_false(failure_set(&f, FAILURE_CUT, "%s", text));
        assert_int_equal(f.kind, FAILURE_CUT);
        assert_true(strlen(f.text) > 250);
        assert_true(utf8_valid(f.text, strlen(f.text)));
    }
}

TEST(test_which_kinds_are_retried)
{
    static const struct {
        enum failure_kind kind;
        int status;
        bool retried;
    } cases[] = {
        {FAILURE_NONE, 0, false},      {FAILURE_CANCELLED, 0, false},  {FAILURE_CONNECT, 0, true},
        {FAILURE_STALL, 0, true},      {FAILURE_CUT, 0, true},         {FAILURE_PROTOCOL, 0, false},
        {FAILURE_TOO_LARGE, 0, false}, {FAILURE_OVERFLOW, 400, false}, {FAILURE_QUOTA, 429, false},
        {FAILURE_LOADING, 503, true},  {FAILURE_SETUP, 0, false},      {FAILURE_STATUS, 400, false},
        {FAILURE_STATUS, 401, false},  {FAILURE_STATUS, 402, false},   {FAILURE_STATUS, 403, false},
        {FAILURE_STATUS, 404, false},  {FAILURE_STATUS, 408, true},    {FAILURE_STATUS, 409, true},
        {FAILURE_STATUS, 413, false},  {FAILURE_STATUS, 422, false},   {FAILURE_STATUS, 301, false},
        {FAILURE_STATUS, 429, true},   {FAILURE_STATUS, 500, true},    {FAILURE_STATUS, 502, true},
        {FAILURE_STATUS, 503, true},   {FAILURE_STATUS, 529, true},    {FAILURE_STREAM, 0, true},
        {FAILURE_STREAM, 529, true},   {FAILURE_STREAM, 400, false},   {FAILURE_STREAM, 401, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure f = make(cases[i].kind, cases[i].status);
        assert_int_equal(failure_retry_wait(&f, 1, 3, 0.5) >= 0, cases[i].retried);
        f.content_seen = true;
        assert_int_equal(failure_retry_wait(&f, 1, 3, 0.5), -1);
    }
}

TEST(test_waits)
{
    struct failure f = make(FAILURE_STATUS, 500);
    assert_int_equal(failure_retry_wait(&f, 1, 10, 0.5), 500);
    assert_int_equal(failure_retry_wait(&f, 2, 10, 0.5), 1000);
    assert_int_equal(failure_retry_wait(&f, 3, 10, 0.5), 2000);
    assert_int_equal(failure_retry_wait(&f, 6, 10, 0.5), 16000);
    assert_int_equal(failure_retry_wait(&f, 7, 10, 0.5), 30000);
    assert_int_equal(failure_retry_wait(&f, 10, 10, 0.5), 30000);
    assert_int_equal(failure_retry_wait(&f, 1, 10, 0.0), 450);
    assert_int_equal(failure_retry_wait(&f, 1, 10, 0.999999), 550);
    assert_int_equal(failure_retry_wait(&f, 3, 3, 0.5), 2000);
    assert_int_equal(failure_retry_wait(&f, 4, 3, 0.5), -1);
    assert_int_equal(failure_retry_wait(&f, 1, 0, 0.5), -1);
    f.retry_after_ms = 7250;
    assert_int_equal(failure_retry_wait(&f, 2, 3, 0.9), 7250);
    f.retry_after_ms = 0;
    assert_int_equal(failure_retry_wait(&f, 2, 3, 0.9), 0);
    assert_int_equal(failure_retry_wait(&f, 4, 3, 0.9), -1);
}

TEST(test_loading_is_waited_for)
{
    struct failure f = make(FAILURE_LOADING, 503);
    int limit = failure_retry_limit(&f, 3);
    assert_true(limit > 3);
    int64_t sum = 0;
    for (int attempt = 1; attempt <= limit; attempt++) {
        int64_t wait = failure_retry_wait(&f, attempt, 3, 0.5);
        assert_in_range(wait, 500, 5000);
        sum += wait;
    }
    assert_true(sum >= 120 * 1000); /* a model may take minutes */
    assert_int_equal(failure_retry_wait(&f, limit + 1, 3, 0.5), -1);
    assert_int_equal(failure_retry_wait(&f, 1, 0, 0.5), -1);
    f.kind = FAILURE_CONNECT;
    assert_int_equal(failure_retry_limit(&f, 3), 3);
}

TEST(test_retry_after)
{
    static const struct {
        const char *value;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"1", 1000},
        {" 120 ", 120000},
        {"1.5", 1500},
        {"0.25", 250},
        {"0.0001", 0},
        {"Wed, 21 Oct 2015 07:28:10 GMT", 10000},
        {"Wednesday, 21-Oct-15 07:29:00 GMT", 60000},
        {"Wed Oct 21 08:28:00 2015", 3600000},
        {"Wed, 21 Oct 2015 07:27:00 GMT", 0},
        {"", -1},
        {"soon", -1},
        {"-5", -1},
        {"12 parsecs", -1},
        {"1,5", -1},
        {"nan", -1},
        {"0x10", -1},
        {"Wed, 99 Oct 2015 07:28:00 GMT", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = http_retry_after(cases[i].value, NOW_MS);
        if (ms != cases[i].ms)
            print_error("for \"%s\"\n", cases[i].value);
        assert_int_equal(ms, cases[i].ms);
    }
    /* Any value is reduced to an int of milliseconds. */
    assert_in_range(http_retry_after("99999999999999999999999999", NOW_MS), 1, INT32_MAX);
    assert_in_range(http_retry_after("Wed, 21 Oct 2135 07:28:00 GMT", NOW_MS), 1, INT32_MAX);
}

static struct failure status_failure(const char *provider, int status, const char *body)
{
    struct failure f;
    failure_clear(&f);
    AUTO(mask_release) struct mask mask = {0};
    const struct error_origin server = {.name = provider, .mask = &mask};
    mask_init(&mask, KEY, NULL);
    assert_false(server_error_status(&server, status, body, strlen(body), &f));
    assert_int_equal(f.status, status);
    return f;
}

TEST(test_texts)
{
    static const struct {
        const char *provider;
        int status;
        const char *body;
        const char *text;
    } cases[] = {
        {"anthropic", 401,
         "{\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid "
         "x-api-key\"}}",
         "anthropic: 401: invalid x-api-key; set ANTHROPIC_API_KEY or [anthropic] "
         "api_key_command"},
        {"openai", 401, "{\"error\":{\"message\":\"no\"}}",
         "openai: 401: no; set OPENAI_API_KEY or [openai] api_key_command"},
        {"openai", 500, "{\"error\":{\"message\":\"two\\nlines\\u001b[2J\"}}",
         "openai: 500: two lines\xE2\x90\x9B[2J"},
        {"openai", 502, "<html>Bad Gateway</html>", "openai: 502"},
        {"openai", 500, "", "openai: 500"},
        {"openai", 500, "plain words", "openai: 500: plain words"},
        {"openai", 400, "{\"object\":\"error\",\"message\":\"vLLM says no\",\"code\":400}",
         "openai: 400: vLLM says no"},
        {"openai", 405, "{\"detail\":\"Method Not Allowed\"}", "openai: 405: Method Not Allowed"},
        {"ollama", 404, "{\"error\":\"model 'x' not found\"}",
         "ollama: 404: model 'x' not found; get it with ollama pull, or choose another model"},
        {"ollama", 400, "{\"error\":\"gemma does not support tools\"}",
         "ollama: 400: gemma does not support tools; choose another model or set [chat] tools = "
         "none"},
        {"openai", 500, "{\"error\":{\"message\":\"you sent " KEY " and " KEY "\"}}",
         "openai: 500: you sent [key] and [key]"},
        {"openai", 500, "your " KEY, "openai: 500: your [key]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure f = status_failure(cases[i].provider, cases[i].status, cases[i].body);
        assert_int_equal(f.kind, FAILURE_STATUS);
        assert_string_equal(f.text, cases[i].text);
    }
}

/* A long message gives way to the hint, at a character's border, and never leaves half a key. */
TEST(test_long_texts)
{
    for (size_t pad = 0; pad < 260; pad++) {
        char body[800] = "{\"error\":{\"message\":\"";
        for (size_t i = 0; i < pad; i++)
            strcat(body, "x");
        strcat(body, KEY);
        for (size_t i = 0; i < 60; i++)
            strcat(body, "\xF0\x9F\x98\x80");
        strcat(body, "\"}}");
        struct failure f = status_failure("openai", 401, body);
        assert_null(strstr(f.text, "sk-t"));
        assert_true(utf8_valid(f.text, strlen(f.text)));
        assert_non_null(strstr(f.text, "; set OPENAI_API_KEY or [openai] api_key_command"));
    }
}

/* Nor does a body that is no JSON, wherever it is cut: by the server or by us. */
TEST(test_a_key_in_a_quote)
{
    for (size_t pad = 0; pad < 5000; pad += pad < 300 ? 1 : 7) {
        AUTO(buf_release) struct buf body = BUF_INIT;
        for (size_t i = 0; i < pad; i++)
            buf_addch(&body, i % 9 ? 'x' : ' ');
        buf_addf(&body, "%s %.12s", KEY, KEY);
        struct failure f = status_failure("openai", 502, body.data);
        assert_says(f.text, "!sk-test-", "!23456789");
    }
}

/* Only a part of a message of megabytes is read, but its words still count. */
TEST(test_a_large_message)
{
    AUTO(buf_release) struct buf body = BUF_INIT;
    buf_addstr(&body, "{\"error\":{\"message\":\"prompt is too long: ");
    for (int i = 0; i < 2000000; i++)
        buf_addstr(&body, "exceed ");
    buf_addstr(&body, "\"}}");
    clock_t begin = clock();
    struct failure f = status_failure("openai", 400, body.data);
    assert_true(clock() - begin < CLOCKS_PER_SEC);
    assert_int_equal(f.kind, FAILURE_OVERFLOW);
}

TEST(test_kinds)
{
    static const struct {
        int status;
        const char *error; /* members of the error object */
        enum failure_kind kind;
        int64_t prompt_tokens, window;
    } cases[] = {
        {400,
         "\"type\":\"exceed_context_size_error\",\"message\":\"the request exceeds\","
         "\"n_prompt_tokens\":5000,\"n_ctx\":4096",
         FAILURE_OVERFLOW, 5000, 4096},
        {400, "\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"",
         FAILURE_OVERFLOW, 210000, 200000},
        {400,
         "\"code\":\"context_length_exceeded\",\"message\":\"This model's maximum context length "
         "is 128000 tokens. However, your messages resulted in 130001 tokens.\"",
         FAILURE_OVERFLOW, 130001, 128000},
        {400,
         "\"message\":\"This model's maximum context length is 4096 tokens. However, you "
         "requested 5000 tokens\"",
         FAILURE_OVERFLOW, 5000, 4096},
        {400, "\"code\":\"context_length_exceeded\",\"message\":\"\"", FAILURE_OVERFLOW, -1, -1},
        {429, "\"message\":\"the maximum context length of your tier\"", FAILURE_STATUS, -1, -1},
        {413, "\"type\":\"request_too_large\",\"message\":\"too many bytes\"", FAILURE_OVERFLOW, -1,
         -1},
        {413, "\"code\":\"rate_limit_exceeded\",\"message\":\"too large for your tier\"",
         FAILURE_OVERFLOW, -1, -1},
        {413, "\"type\":\"insufficient_quota\",\"message\":\"x\"", FAILURE_QUOTA, -1, -1},
        {429, "\"type\":\"insufficient_quota\",\"message\":\"x\"", FAILURE_QUOTA, -1, -1},
        {429, "\"message\":\"You exceeded your current quota\"", FAILURE_QUOTA, -1, -1},
        {400, "\"message\":\"Your credit balance is too low\"", FAILURE_QUOTA, -1, -1},
        {403, "\"type\":\"billing_error\",\"message\":\"x\"", FAILURE_QUOTA, -1, -1},
        {429, "\"message\":\"Add a payment method at https://x.com/account/billing\"",
         FAILURE_STATUS, -1, -1},
        {503, "\"message\":\"Loading model\",\"type\":\"unavailable_error\"", FAILURE_LOADING, -1,
         -1},
        {503, "\"message\":\"Service unavailable\"", FAILURE_STATUS, -1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        snprintf(body, sizeof body, "{\"error\":{%s}}", cases[i].error);
        struct failure f = status_failure("openai", cases[i].status, body);
        if (f.kind != cases[i].kind)
            print_error("for %s\n", cases[i].error);
        assert_int_equal(f.kind, cases[i].kind);
        assert_int_equal(f.prompt_tokens, cases[i].prompt_tokens);
        assert_int_equal(f.window, cases[i].window);
    }
}

/* A proxy in front of any server may say it in HTML. */
TEST(test_too_many_bytes)
{
    static const struct {
        int status;
        const char *body;
        int64_t body_bytes;
        const char *text;
    } cases[] = {
        {413, "<html>413 Request Entity Too Large</html>", 1000,
         "p: 413: the request has too many bytes; compact it, or start a new session"},
        {413, "{\"error\":{\"type\":\"request_too_large\",\"message\":\"32 MB\"}}", 1000,
         "p: 413: 32 MB; compact it, or start a new session"},
        {413, "{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}",
         -1,
         "p: 413: prompt is too long: 210000 tokens > 200000 maximum; start a new session, or "
         "choose a model with a larger window"},
        {400, "{\"error\":{\"message\":\"prompt is too long\"}}", -1,
         "p: 400: prompt is too long; start a new session, or choose a model with a larger window"},
        {500, "{\"error\":{\"message\":\"broken\"}}", -1, "p: 500: broken"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure f;
        failure_clear(&f);
        const struct mask mask = {0};
        const struct error_origin server = {.name = "p", .mask = &mask, .body_bytes = 1000};
        const char *body = cases[i].body;
        assert_false(server_error_status(&server, cases[i].status, body, strlen(body), &f));
        assert_string_equal(f.text, cases[i].text);
        assert_int_equal(f.body_bytes, cases[i].body_bytes);
        assert_int_equal(f.kind, cases[i].status == 500 ? FAILURE_STATUS : FAILURE_OVERFLOW);
    }
}

TEST(test_events)
{
    static const struct {
        const char *event;
        enum failure_kind kind;
        int status;
        const char *text;
    } cases[] = {
        {"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"
         "}",
         FAILURE_STREAM, 529, "p: overloaded_error: Overloaded"},
        {"{\"error\":{\"code\":429,\"message\":\"slow down\"}}", FAILURE_STREAM, 429,
         "p: error: slow down"},
        {"{\"error\":\"the runner died\"}", FAILURE_STREAM, 0, "p: error: the runner died"},
        {"{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"prompt is too long\"}}",
         FAILURE_OVERFLOW, 400,
         "p: invalid_request_error: prompt is too long; start a new session, or choose a model "
         "with a larger window"},
        {"{\"error\":{\"type\":\"request_too_large\",\"message\":\"no\"}}", FAILURE_OVERFLOW, 413,
         "p: request_too_large: no; compact it, or start a new session"},
        {"{\"error\":{\"message\":5}}", FAILURE_STREAM, 0, "p: error"},
        {"{\"error\":[]}", FAILURE_STREAM, 0, "p: error"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct failure f;
        failure_clear(&f);
        const struct mask mask = {0};
        const struct error_origin server = {.name = "p", .mask = &mask, .body_bytes = 1000};
        AUTO(json_free_local)
        struct json *event = json_parse(cases[i].event, strlen(cases[i].event), NULL);
        assert_non_null(event);
        assert_false(server_error_event(&server, event, &f));
        assert_int_equal(f.kind, cases[i].kind);
        assert_int_equal(f.status, cases[i].status);
        assert_string_equal(f.text, cases[i].text);
    }
}
