#include "tests/fuzz/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "provider/http.h"

#define KEY "sk-ant-0123456789abcdef"

/* Chosen by the first byte; '0' is the usual answer. */
static const struct kind {
    int status;
    const char *type; /* NULL: the dialect's own */
    enum { ASK_ANSWER, ASK_MODELS, ASK_WINDOW } question;
} kinds[] = {
    {200, NULL, ASK_ANSWER},
    {200, "application/json", ASK_ANSWER},
    {200, "", ASK_ANSWER},
    {400, "application/json", ASK_ANSWER},
    {404, "application/json", ASK_ANSWER},
    {429, "application/json", ASK_ANSWER},
    {500, "text/html", ASK_ANSWER},
    {200, "application/json", ASK_MODELS},
    {200, "application/json", ASK_WINDOW},
};

struct server_says {
    const struct kind *kind;
    const char *stream_type;
    const uint8_t *body;
    size_t len;
    struct dice *dice; /* how the body is cut; NULL: it comes whole */
};

/* The part of http_perform(). */
static bool answer(void *context, const struct http_request *request, struct http_reply *reply,
                   struct failure *f)
{
    const struct server_says *s = context;
    const char *type = s->kind->type ? s->kind->type : s->stream_type;
    reply->status = s->kind->status;
    snprintf(reply->content_type, sizeof reply->content_type, "%s", type);
    if (!request->on_body || reply->status != 200)
        return buf_try_add(&reply->body, s->body, s->len) ||
               failure_set(f, FAILURE_TOO_LARGE, "too large");
    for (size_t at = 0; at < s->len;) {
        size_t len = s->dice ? fuzz_piece(s->dice, s->len - at) : s->len;
        if (!request->on_body(request->context, (const char *)s->body + at, len))
            return false;
        at += len;
        if (request->on_read && !request->on_read(request->context))
            return true;
    }
    return true;
}

/* Deltas as they came: those of one type that follow each other are one text. */
struct heard {
    struct buf text;
    int type; /* of the last delta; -1: none yet */
};

static bool hear(void *context, enum block_type type, const char *text, size_t len)
{
    struct heard *h = context;
    FUZZ_CHECK(type == BLOCK_TEXT || type == BLOCK_REASONING);
    FUZZ_CHECK(len > 0 && utf8_valid(text, len));
    if (h->type != (int)type)
        buf_addf(&h->text, "\n%d: ", (int)type);
    h->type = (int)type;
    buf_add(&h->text, text, len);
    return true;
}

static void check_failure(const struct failure *f)
{
    size_t len = strlen(f->text);
    FUZZ_CHECK(f->kind != FAILURE_NONE && len > 0);
    FUZZ_CHECK(fuzz_is_clean(f->text, len, false));
    FUZZ_CHECK(!strstr(f->text, KEY));
    FUZZ_CHECK(f->prompt_tokens >= -1 && f->window >= -1);
}

/* Everything of a response, as a text to compare. */
static void add_response(struct buf *out, const struct response *r)
{
    buf_addf(out, "\nstop %d, tokens %lld %lld %lld, model %s\n", r->stop_reason,
             (long long)r->usage.input, (long long)r->usage.output, (long long)r->usage.cached,
             r->model ? r->model : "-");
    for (size_t i = 0; i < r->blocks.len; i++) {
        const struct block *b = &r->blocks.items[i];
        buf_addf(out, "%d|%s|%s|%s|%s|%d\n", (int)b->type, b->text ? b->text : "-",
                 b->id ? b->id : "-", b->name ? b->name : "-", b->signature ? b->signature : "-",
                 b->redacted);
    }
}

static void check_block(const struct response *r, size_t i)
{
    const struct block *b = &r->blocks.items[i];
    FUZZ_CHECK(b->text && utf8_valid(b->text, strlen(b->text)));
    if (b->type != BLOCK_TOOL_CALL)
        return;
    FUZZ_CHECK(b->id && *b->id && b->name && *b->name);
    for (size_t k = 0; k < i; k++)
        FUZZ_CHECK(r->blocks.items[k].type != BLOCK_TOOL_CALL ||
                   strcmp(r->blocks.items[k].id, b->id) != 0);
}

static char *ask(const struct provider *provider, const struct provider_call *call)
{
    AUTO(message_release) struct message user = {.role = ROLE_USER};
    vec_push(&user.blocks, block_text("Hello?"));
    struct request request = {
        .model = "test-model", .messages = &user, .message_count = 1, .max_output = 512};
    struct heard *heard = call->context;
    AUTO(response_release) struct response response = {0};
    struct failure f;
    response_init(&response);
    bool ok = provider->complete(call, &request, &response, &f);
    if (!ok)
        check_failure(&f);
    FUZZ_CHECK(response.usage.input >= -1 && response.usage.output >= -1 &&
               response.usage.cached >= -1);
    for (size_t i = 0; i < response.blocks.len; i++)
        check_block(&response, i);
    buf_addf(&heard->text, "\n%s", ok ? "whole" : f.text);
    add_response(&heard->text, &response);
    return buf_take(&heard->text);
}

static char *ask_models(const struct provider *provider, const struct provider_call *call)
{
    AUTO(provider_names_release) struct provider_names names = {0};
    struct buf out = BUF_INIT;
    struct failure f;
    if (provider->models && !provider->models(call, &names, &f))
        check_failure(&f);
    for (size_t i = 0; i < names.names.len; i++)
        buf_addf(&out, "%s\n", names.names.items[i]);
    return buf_take(&out);
}

static char *ask_window(const struct provider *provider, const struct provider_call *call)
{
    int64_t tokens = 0;
    if (provider->window && provider->window(call, "test-model", &tokens))
        FUZZ_CHECK(tokens > 0);
    return mem_printf("%lld", (long long)tokens);
}

static char *outcome(const struct provider *provider, struct server_says *says)
{
    static struct config *config;
    if (!config)
        config = config_new();
    static char url[] = "http://127.0.0.1:1", key[] = KEY;
    struct endpoint endpoint = {.base_url = url, .key = key};
    struct heard heard = {.text = BUF_INIT, .type = -1};
    struct provider_call call = {.http = http_new_answered(answer, says),
                                 .endpoint = &endpoint,
                                 .config = config,
                                 .delta = hear,
                                 .context = &heard};
    char *out = says->kind->question == ASK_MODELS   ? ask_models(provider, &call)
                : says->kind->question == ASK_WINDOW ? ask_window(provider, &call)
                                                     : ask(provider, &call);
    http_free(call.http);
    buf_release(&heard.text);
    return out;
}

int fuzz_answer(const struct provider *provider, const char *stream_type, const uint8_t *data,
                size_t size)
{
    if (size == 0)
        return -1;
    struct dice d = fuzz_dice(data, size);
    struct server_says says = {.kind = &kinds[data[0] % 48 % (sizeof kinds / sizeof *kinds)],
                               .stream_type = stream_type,
                               .body = data + 1,
                               .len = size - 1};
    auto_free char *whole = outcome(provider, &says);
    says.dice = &d;
    auto_free char *split = outcome(provider, &says);
    FUZZ_CHECK_SAME(whole, split);
    return 0;
}
