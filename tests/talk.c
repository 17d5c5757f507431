#include "tests/talk.h"
#include "tests/suite.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "provider/outgoing.h"

const struct api apis[API_COUNT] = {
    [API_ANTHROPIC] = {&provider_anthropic, ""},
    [API_OPENAI] = {&provider_openai, "/v1"},
    [API_OLLAMA] = {&provider_ollama, ""},
};

static bool go_on(void *context)
{
    struct talk *t = context;
    char bytes[16];
    while (read(t->wake[0], bytes, sizeof bytes) > 0)
        continue;
    return !t->stop;
}

void talk_wake(struct talk *t, bool stop)
{
    t->stop = stop;
    t->stopped_ms = clock_mono_ms();
    assert_int_equal(write(t->wake[1], "x", 1), 1);
}

static bool on_delta(void *context, enum block_type type, const char *text, size_t len)
{
    struct talk *t = context;
    assert_true(len > 0);
    assert_true(utf8_valid(text, len));
    t->deltas++;
    buf_add(type == BLOCK_TEXT ? &t->text : &t->reasoning, text, len);
    if (t->stop_at_content && !t->stop)
        talk_wake(t, true);
    return true;
}

struct talk *talk_start(struct talk *t, const struct api *api)
{
    *t = (struct talk){.api = api, .text = BUF_INIT, .reasoning = BUF_INIT};
    t->server = model_server_start();
    t->http = http_new();
    t->config = config_new();
    t->endpoint.base_url = mem_printf("%s%s", model_server_url(t->server), api->suffix);
    t->endpoint.key = mem_strdup(TALK_KEY);
    assert_int_equal(pipe(t->wake), 0);
    assert_int_equal(fcntl(t->wake[0], F_SETFL, O_NONBLOCK), 0);
    t->wakeup = (struct wakeup){.fd = t->wake[0], .go_on = go_on, .context = t};
    t->user = (struct message){.role = ROLE_USER};
    vec_push(&t->user.blocks, block_text("Hello?"));
    t->request = (struct request){
        .model = "test-model", .messages = &t->user, .message_count = 1, .max_output = 512};
    response_init(&t->response);
    failure_clear(&t->failure);
    return t;
}

void talk_end(struct talk *t)
{
    http_free(t->http);
    model_server_stop(t->server);
    config_free(t->config);
    message_release(&t->user);
    response_release(&t->response);
    buf_release(&t->text);
    buf_release(&t->reasoning);
    free(t->endpoint.base_url);
    free(t->endpoint.key);
    close(t->wake[0]);
    close(t->wake[1]);
}

struct provider_call talk_call(struct talk *t)
{
    return (struct provider_call){.http = t->http,
                                  .endpoint = &t->endpoint,
                                  .config = t->config,
                                  .wakeup = &t->wakeup,
                                  .delta = on_delta,
                                  .context = t};
}

bool talk_ask(struct talk *t)
{
    response_release(&t->response);
    response_init(&t->response);
    buf_clear(&t->text);
    buf_clear(&t->reasoning);
    t->deltas = 0;
    const struct provider_call call = talk_call(t);
    return t->api->provider->complete(&call, &t->request, &t->response, &t->failure);
}

bool talk_ask_with(struct talk *t, struct reply reply)
{
    model_server_queue(t->server, &reply);
    return talk_ask(t);
}

void talk_set(struct talk *t, enum config_key key, const char *value)
{
    assert_true(config_set(t->config, key, value, NULL));
}

void talk_assert_ok(const struct talk *t, bool ok)
{
    if (!ok)
        print_error("%s\n", t->failure.text);
    assert_true(ok);
    assert_int_equal(t->failure.kind, FAILURE_NONE);
}

/* The text names the provider and holds no secret. */
void talk_assert_failed(const struct talk *t, bool ok, enum failure_kind kind)
{
    assert_false(ok);
    if (t->failure.kind != kind)
        print_error("%s\n", t->failure.text);
    assert_int_equal(t->failure.kind, kind);
    const char *name = t->api->provider->name;
    assert_memory_equal(t->failure.text, name, strlen(name));
    assert_null(strstr(t->failure.text, TALK_KEY));
}

const struct block *talk_only_block(const struct talk *t, enum block_type type)
{
    const struct block *found = NULL;
    for (size_t i = 0; i < t->response.blocks.len; i++)
        if (t->response.blocks.items[i].type == type) {
            assert_null(found);
            found = &t->response.blocks.items[i];
        }
    return found;
}
