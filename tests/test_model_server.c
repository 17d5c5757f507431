#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "tests/model_server.h"
#include "tests/steps.h"
#include "tests/suite.h"

#define DEADLINE_MS 10000

/* One request through libcurl's multi interface, so that the test can check it in between. */
struct fetch {
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    char *url;
    struct buf body;
    size_t writes;
    bool done;
    CURLcode result;
    long status;
};

static size_t on_data(char *data, size_t size, size_t count, void *context)
{
    struct fetch *f = context;

    buf_add(&f->body, data, size * count);
    f->writes++;
    return size * count;
}

static void fetch_start(struct fetch *f, struct model_server *s, const char *path, const char *body)
{
    *f = (struct fetch){.body = BUF_INIT};
    f->url = mem_printf("%s%s", model_server_url(s), path);
    f->multi = curl_multi_init();
    f->easy = curl_easy_init();
    f->headers = curl_slist_append(NULL, "X-Mark: here");
    curl_easy_setopt(f->easy, CURLOPT_URL, f->url);
    curl_easy_setopt(f->easy, CURLOPT_HTTPHEADER, f->headers);
    curl_easy_setopt(f->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(f->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(f->easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(f->easy, CURLOPT_WRITEDATA, f);
    if (body)
        curl_easy_setopt(f->easy, CURLOPT_COPYPOSTFIELDS, body);
    curl_multi_add_handle(f->multi, f->easy);
}

static void fetch_step(struct fetch *f)
{
    int running = 0, left = 0;
    CURLMsg *message;

    curl_multi_perform(f->multi, &running);
    while ((message = curl_multi_info_read(f->multi, &left))) {
        if (message->msg != CURLMSG_DONE)
            continue;
        f->done = true;
        f->result = message->data.result;
        curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &f->status);
    }
    if (!f->done)
        curl_multi_poll(f->multi, NULL, 0, 20, NULL);
}

/* Runs until the request is done or its body contains `text`. */
static void fetch_until(struct fetch *f, const char *text)
{
    int64_t deadline = clock_mono_ms() + DEADLINE_MS;

    while (!f->done && !(text && strstr(f->body.data, text))) {
        assert_true(clock_mono_ms() < deadline);
        fetch_step(f);
    }
}

static void fetch_end(struct fetch *f)
{
    curl_multi_remove_handle(f->multi, f->easy);
    curl_easy_cleanup(f->easy);
    curl_multi_cleanup(f->multi);
    curl_slist_free_all(f->headers);
    buf_release(&f->body);
    free(f->url);
}

static void fetch_whole(struct fetch *f, struct model_server *s, const char *path, const char *body)
{
    fetch_start(f, s, path, body);
    fetch_until(f, NULL);
}

/* Every "data: " line, or every line where there are none, must be JSON. Counts them. */
static size_t count_json(const char *body, bool sse)
{
    size_t count = 0;

    for (const char *line = body; *line;) {
        size_t len = strcspn(line, "\n");
        const char *text = sse ? line + 6 : line;
        size_t text_len = sse ? len - 6 : len;

        if (len > 0 && (!sse || strncmp(line, "data: {", 7) == 0)) {
            struct error e = {0};
            struct json *v = json_parse(text, text_len, &e);

            assert_non_null(v);
            json_free(v);
            count++;
        }
        line += len + (line[len] == '\n');
    }
    return count;
}

static int setup(void **state)
{
    *state = model_server_start();
    return 0;
}

static int teardown(void **state)
{
    model_server_stop(*state);
    return 0;
}

static const char *const paths[] = {"/v1/messages", "/v1/chat/completions", "/api/chat"};

static int begin_curl(void **state)
{
    (void)state;
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
}

BEFORE_ALL(begin_curl);
FIXTURE(setup, teardown);

TEST(speaks_every_dialect)
{
    struct reply r = {.text = "He said \"p\303\244per\"\nand\tleft.",
                      .reasoning = "hm",
                      .tool_name = "read_file",
                      .tool_args = "{\"path\":\"a\"}",
                      .piece = 1};

    for (size_t i = 0; i < 3; i++) {
        struct fetch f;

        model_server_queue(*state, &r);
        fetch_whole(&f, *state, paths[i], "{\"model\":\"m-1\",\"messages\":[]}");
        assert_int_equal(f.result, CURLE_OK);
        assert_int_equal(f.status, 200);
        assert_true(count_json(f.body.data, i < 2) > 20);
        assert_says(f.body.data, "\"model\":\"m-1\"", "\"read_file\"", "\303\244");
        fetch_end(&f);
    }
}

TEST(records_requests)
{
    struct fetch f;

    assert_false(model_server_wait(*state, 1, 1));
    fetch_whole(&f, *state, paths[0], "{\"model\":\"m\"}");
    assert_non_null(strstr(f.body.data, "Hello from the"));
    assert_true(model_server_wait(*state, 1, DEADLINE_MS));
    assert_int_equal(model_server_requests(*state), 1);
    assert_string_equal(model_server_body(*state, 0), "{\"model\":\"m\"}");
    assert_string_equal(model_server_header(*state, 0, "x-mark"), "here");
    assert_null(model_server_header(*state, 0, "absent"));
    assert_null(model_server_body(*state, 1));
    fetch_end(&f);
}

TEST(status_has_body_and_header)
{
    struct fetch f;
    struct curl_header *header = NULL;

    model_server_queue(*state, &(struct reply){.fault = REPLY_STATUS,
                                               .status = 529,
                                               .error_type = "overloaded_error",
                                               .error_message = "Busy",
                                               .retry_after = "7"});
    fetch_whole(&f, *state, paths[0], "{}");
    assert_int_equal(f.status, 529);
    assert_non_null(strstr(f.body.data, "overloaded_error"));
    assert_int_equal(curl_easy_header(f.easy, "retry-after", 0, CURLH_HEADER, -1, &header),
                     CURLHE_OK);
    assert_string_equal(header->value, "7");
    fetch_end(&f);
}

TEST(disconnects)
{
    struct fetch f;

    model_server_queue(*state, &(struct reply){.fault = REPLY_DISCONNECT, .text = "half an"});
    fetch_whole(&f, *state, paths[1], "{}");
    assert_int_not_equal(f.result, CURLE_OK);
    assert_says(f.body.data, "half an", "![DONE]");
    fetch_end(&f);
}

TEST(stalls_until_released)
{
    struct fetch f;

    model_server_queue(*state, &(struct reply){.fault = REPLY_STALL, .text = "then"});
    fetch_start(&f, *state, paths[1], "{}");
    fetch_until(&f, "then");
    for (int i = 0; i < 3; i++)
        fetch_step(&f);
    assert_false(f.done);
    assert_null(strstr(f.body.data, "[DONE]"));
    model_server_release(*state);
    fetch_until(&f, NULL);
    assert_non_null(strstr(f.body.data, "[DONE]"));
    fetch_end(&f);
}

static long status_so_far(struct fetch *f)
{
    long status = 0;

    curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

TEST(stalls_after_the_headers)
{
    struct fetch f;
    int64_t deadline = clock_mono_ms() + DEADLINE_MS;

    model_server_queue(*state, &(struct reply){.fault = REPLY_STALL});
    fetch_start(&f, *state, paths[2], "{}");
    while (status_so_far(&f) != 200) {
        assert_true(clock_mono_ms() < deadline);
        fetch_step(&f);
    }
    assert_false(f.done);
    fetch_end(&f);
}

TEST(holds_the_status_line)
{
    struct fetch f;

    model_server_queue(*state, &(struct reply){.hold = true, .text = "late"});
    fetch_start(&f, *state, paths[2], "{}");
    while (model_server_requests(*state) == 0)
        fetch_step(&f);
    for (int i = 0; i < 3; i++)
        fetch_step(&f);
    assert_int_equal(status_so_far(&f), 0);
    model_server_release(*state);
    fetch_until(&f, NULL);
    assert_non_null(strstr(f.body.data, "late"));
    fetch_end(&f);
}

FIXTURES(plain, NULL, NULL);

TEST(stops_while_replies_wait)
{
    struct fetch stalled, held, slow;
    struct model_server *s = model_server_start();
    int64_t start;

    model_server_queue(s, &(struct reply){.fault = REPLY_STALL, .text = "then"});
    model_server_queue(s, &(struct reply){.text = "slow", .piece = 1, .interval_ms = 60000});
    model_server_queue(s, &(struct reply){.hold = true});
    fetch_start(&stalled, s, paths[0], "{}");
    fetch_until(&stalled, "then");
    fetch_start(&slow, s, paths[0], "{}");
    fetch_until(&slow, "message_start");
    fetch_start(&held, s, paths[0], "{}");
    while (model_server_requests(s) < 3)
        fetch_step(&held);
    start = clock_mono_ms();
    model_server_stop(s);
    assert_true(clock_mono_ms() - start < 2000);
    fetch_end(&stalled);
    fetch_end(&slow);
    fetch_end(&held);
}

FIXTURES(own, setup, teardown);

TEST(splits_and_paces)
{
    struct fetch f;
    int64_t start = clock_mono_ms();

    model_server_queue(*state, &(struct reply){.text = "abcde", .piece = 1, .interval_ms = 10});
    fetch_whole(&f, *state, paths[2], "{}");
    assert_true(clock_mono_ms() - start >= 40);
    assert_int_equal(count_json(f.body.data, false), 6);
    assert_true(f.writes >= 5);
    fetch_end(&f);
    model_server_queue(*state, &(struct reply){.raw = "{\"a\":1}\n", .split_bytes = true});
    fetch_whole(&f, *state, paths[2], "{}");
    assert_string_equal(f.body.data, "{\"a\":1}\n");
    fetch_end(&f);
}

TEST(plays_every_fault)
{
    static const struct {
        enum reply_fault fault;
        const char *present, *type;
        size_t least;
    } rows[] = {
        {REPLY_ERROR_EVENT, "oops", "", 10},           {REPLY_MALFORMED_JSON, "{,]", "", 10},
        {REPLY_HUGE_LINE, "xxxx", "", 17U << 20},      {REPLY_BROKEN_ARGS, "read_file", "", 10},
        {REPLY_WRONG_TYPE, "<html>", "text/html", 10}, {REPLY_EMPTY, "", "", 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t p = 0; p < 3; p++) {
            struct fetch f;
            const char *type = NULL;

            model_server_queue(*state,
                               &(struct reply){.fault = rows[i].fault, .error_message = "oops"});
            fetch_whole(&f, *state, paths[p], "{}");
            assert_int_equal(f.result, CURLE_OK);
            assert_int_equal(f.status, 200);
            curl_easy_getinfo(f.easy, CURLINFO_CONTENT_TYPE, &type);
            assert_non_null(strstr(type, rows[i].type));
            assert_non_null(strstr(f.body.data, rows[i].present));
            assert_true(f.body.len >= rows[i].least);
            assert_true(rows[i].least > 0 || f.body.len == 0);
            fetch_end(&f);
        }
    }
}

static void expect_listing(void **state, const char *path, const char *body, const char *text)
{
    struct fetch f;

    fetch_whole(&f, *state, path, body);
    assert_int_equal(f.status, text ? 200 : 404);
    assert_int_equal(count_json(f.body.data, false), 1);
    if (text)
        assert_non_null(strstr(f.body.data, text));
    fetch_end(&f);
}

TEST(lists_models_and_windows)
{
    expect_listing(state, "/v1/models", NULL, "\"data\":[]");
    expect_listing(state, "/props", NULL, NULL);
    model_server_set_models(*state, (const char *const[]){"m-1", "m-2", NULL});
    model_server_set_window(*state, 32768);
    expect_listing(state, "/v1/models", NULL, "\"m-2\"");
    expect_listing(state, "/v1/models/m-9", NULL, "\"max_model_len\":32768");
    expect_listing(state, "/api/tags", NULL, "\"m-1\"");
    expect_listing(state, "/api/ps", NULL, "\"context_length\":32768");
    expect_listing(state, "/api/show", "{\"model\":\"m-1\"}", "\"script.context_length\":32768");
    expect_listing(state, "/props", NULL, "\"n_ctx\":32768");
    expect_listing(state, "/nothing", NULL, NULL);
    assert_int_equal(model_server_requests(*state), 0);
}
