/* Readers of what a model's server says, and of a command that gives a key. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/embedder.h"
#include "provider/failure.h"
#include "provider/http.h"
#include "provider/outgoing.h"
#include "provider/provider.h"
#include "provider/sse.h"
#include "tests/fuzz/fuzz.h"

/* --- lines ------------------------------------------------------------------------------------ */

enum { LONGEST_LINE = 4096 };

static bool take_line(void *context, const char *line, size_t len)
{
    FUZZ_CHECK(len <= LONGEST_LINE);
    FUZZ_CHECK(len == 0 || (!memchr(line, '\n', len) && !memchr(line, '\r', len)));
    struct buf *out = context;
    buf_addf(out, "%zu:", len);
    buf_add(out, line, len);
    return true;
}

static enum feed_result read_lines(const uint8_t *data, size_t size, struct dice *d,
                                   struct buf *out)
{
    AUTO(lines_release) struct lines lines = {0};
    enum feed_result result = FEED_OK;
    lines_init(&lines, LONGEST_LINE);
    for (size_t at = 0; at < size && result == FEED_OK;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        result = lines_feed(&lines, (const char *)data + at, len, take_line, out);
        at += len;
    }
    if (result == FEED_OK)
        result = lines_end(&lines, take_line, out);
    return result;
}

/* Splits the lines by the letter of the rule; returns false if one is too long. */
static bool expect_lines(const char *text, size_t len, struct buf *out)
{
    size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < len) {
        size_t end = at;
        while (end < len && text[end] != '\n' && text[end] != '\r')
            end++;
        if (end - at > LONGEST_LINE)
            return false;
        buf_addf(out, "%zu:", end - at);
        buf_add(out, text + at, end - at);
        bool both = end + 1 < len && text[end] == '\r' && text[end + 1] == '\n';
        at = end + (both ? 2 : 1);
    }
    return true;
}

/* Lines of a stream: they follow the rule, in any split. */
int fuzz_lines(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf whole = BUF_INIT, split = BUF_INIT, expected = BUF_INIT;
    struct dice d = fuzz_dice(data, size);
    enum feed_result of_whole = read_lines(data, size, NULL, &whole);
    enum feed_result of_split = read_lines(data, size, &d, &split);
    FUZZ_CHECK(of_whole == of_split);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    FUZZ_CHECK(expect_lines((const char *)data, size, &expected) == (of_whole == FEED_OK));
    FUZZ_CHECK(of_whole != FEED_OK ||
               (whole.len == expected.len && memcmp(whole.data, expected.data, whole.len) == 0));
    return 0;
}

/* --- sse -------------------------------------------------------------------------------------- */

enum { LONGEST_EVENT = 4096 };

static bool take_event(void *context, const char *name, const char *data, size_t len)
{
    struct buf *out = context;
    FUZZ_CHECK(len <= LONGEST_EVENT && strlen(name) <= LONGEST_EVENT && data[len] == '\0');
    buf_addf(out, "[%s]%zu:", name, len);
    buf_add(out, data, len);
    return true;
}

static enum feed_result read_events(const uint8_t *data, size_t size, struct dice *d,
                                    struct buf *out)
{
    AUTO(sse_release) struct sse sse = {0};
    enum feed_result result = FEED_OK;
    sse_init(&sse, LONGEST_EVENT, take_event, out);
    for (size_t at = 0; at < size && result == FEED_OK;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        result = sse_feed(&sse, (const char *)data + at, len);
        at += len;
    }
    if (result == FEED_OK)
        result = sse_end(&sse);
    return result;
}

/* Server-sent events: any split gives the same events, and no event is longer than it may be. */
int fuzz_sse(const uint8_t *data, size_t size)
{
    AUTO(buf_release) struct buf whole = BUF_INIT, split = BUF_INIT;
    struct dice d = fuzz_dice(data, size);
    enum feed_result of_whole = read_events(data, size, NULL, &whole);
    enum feed_result of_split = read_events(data, size, &d, &split);
    FUZZ_CHECK(of_whole == of_split);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    return 0;
}

/* --- answer ----------------------------------------------------------------------------------- */

#define KEY "sk-ant-0123456789abcdef"

/* Chosen by the first byte; '0' is the usual answer_answer. */
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
static bool answer_answer(void *context, const struct http_request *request,
                          struct http_reply *reply, struct failure *f)
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
    static const struct tool_spec own = {.name = "web_search", .by_provider = true};
    struct request request = {.model = "test-model",
                              .messages = &user,
                              .message_count = 1,
                              .tools = &own,
                              .tool_count = provider->searches_web && !provider->vendor_host,
                              .max_output = 512};
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
    struct provider_call call = {.http = http_new_answered(answer_answer, says),
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

static int fuzz_answer(const struct provider *provider, const char *stream_type,
                       const uint8_t *data, size_t size)
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

/* The answers of each dialect: any split gives the same deltas and blocks; error messages are clean
 * and without the key. */
int fuzz_anthropic(const uint8_t *data, size_t size)
{
    return fuzz_answer(&provider_anthropic, "text/event-stream", data, size);
}

int fuzz_ollama(const uint8_t *data, size_t size)
{
    return fuzz_answer(&provider_ollama, "application/x-ndjson", data, size);
}

int fuzz_openai(const uint8_t *data, size_t size)
{
    return fuzz_answer(&provider_openai, "text/event-stream", data, size);
}

int fuzz_responses(const uint8_t *data, size_t size)
{
    struct provider everywhere = provider_openai; /* it searches at its vendor alone */
    everywhere.vendor_host = NULL;
    return fuzz_answer(&everywhere, "text/event-stream", data, size);
}

/* --- embedding -------------------------------------------------------------------------------- */

struct body {
    const uint8_t *bytes;
    size_t len;
};

static bool answer_embedding(void *context, const struct http_request *request,
                             struct http_reply *reply, struct failure *f)
{
    const struct body *b = context;
    (void)request;
    reply->status = 200;
    snprintf(reply->content_type, sizeof reply->content_type, "application/json");
    return buf_try_add(&reply->body, b->bytes, b->len) ||
           failure_set(f, FAILURE_TOO_LARGE, "large");
}

static void check_vectors(const struct embeddings *v, size_t count)
{
    FUZZ_CHECK(v->dimension > 0 && v->values.len == count * (size_t)v->dimension);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int k = 0; k < v->dimension; k++) {
            double x = v->values.items[i * (size_t)v->dimension + (size_t)k];
            FUZZ_CHECK(isfinite(x));
            sum += x * x;
        }
        FUZZ_CHECK(sum == 0 || fabs(sum - 1) < 1e-3);
    }
}

/* Vectors of a server: of the texts' number, one dimension, finite, and of length 1 or 0. The first
 * byte chooses the embedder. */
int fuzz_embedding(const uint8_t *data, size_t size)
{
    static const struct embedder *const all[] = {&embed_openai, &embed_ollama};
    static const char *const texts[] = {"one", "two"};
    static char url[] = "http://127.0.0.1:1", model[] = "test";
    static struct config *config;
    if (!config)
        config = config_new();
    if (size == 0)
        return -1;
    struct embedding_settings s = {.embedder = all[data[0] & 1],
                                   .base_url = url,
                                   .model = model,
                                   .batch = 2,
                                   .config = config};
    struct body body = {data + 1, size - 1};
    struct http *http = http_new_answered(answer_embedding, &body);
    AUTO(embeddings_release) struct embeddings out = {0};
    struct failure f;
    if (embed_once(&s, http, NULL, texts, 2, s.embedder->max_bytes, &out, &f))
        check_vectors(&out, 2);
    else
        FUZZ_CHECK(fuzz_is_clean(f.text, strlen(f.text), false) && *f.text);
    http_free(http);
    return 0;
}

/* --- server_error ----------------------------------------------------------------------------- */

static const char key[] = "sk-ant-0123456789abcdef";

static void check(const struct failure *f)
{
    size_t len = strlen(f->text);
    FUZZ_CHECK(len > 0 && f->kind != FAILURE_NONE);
    FUZZ_CHECK(fuzz_is_clean(f->text, len, false));
    /* No piece of the key that is worth something. */
    enum { PIECE = 8 };
    for (size_t i = 0; i + PIECE < sizeof key; i++) {
        char piece[PIECE + 1] = {0};
        memcpy(piece, key + i, PIECE);
        FUZZ_CHECK(!strstr(f->text, piece));
    }
    FUZZ_CHECK(f->prompt_tokens >= -1 && f->window >= -1);
    FUZZ_CHECK(failure_retry_wait(f, 1, 3, 0.5) >= -1);
}

/* Bodies of errors: the message is clean, bounded, and holds no key. The first byte is a part of
 * the status. */
int fuzz_server_error(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"anthropic", "openai", "ollama"};
    if (size == 0)
        return -1;
    AUTO(mask_release) struct mask mask = {0};
    struct error_origin server = {.name = names[data[0] % 3], .mask = &mask};
    struct failure f;
    mask_init(&mask, key, NULL);
    failure_clear(&f);
    FUZZ_CHECK(!server_error_status(&server, 300 + data[0], (const char *)data + 1, size - 1, &f));
    check(&f);
    AUTO(json_free_local) struct json *event = json_parse((const char *)data + 1, size - 1, NULL);
    if (json_get(event, "error")) {
        failure_clear(&f);
        FUZZ_CHECK(!server_error_event(&server, event, &f));
        check(&f);
    }
    return 0;
}

/* --- key_command ------------------------------------------------------------------------------ */

static size_t first_line(const char **text, size_t size)
{
    const char *newline = memchr(*text, '\n', size);
    size_t len = newline ? (size_t)(newline - *text) : size;
    for (; len > 0 && strchr(" \t\r", **text) && **text; len--)
        ++*text;
    while (len > 0 && (*text)[len - 1] && strchr(" \t\r", (*text)[len - 1]))
        len--;
    return len;
}

/* The output of a command that gives a key: it is the first line without blanks around it, or there
 * is an error that shows nothing of it. */
int fuzz_key_command(const uint8_t *data, size_t size)
{
    auto_free char *command = mem_printf("cat '%s'", fuzz_file("key", data, size));
    const char *line = (const char *)data;
    size_t len = size > 0 ? first_line(&line, size) : 0;
    char *found = NULL;
    struct error e = {0};
    if (key_command_run("api_key_command", command, 5000, NULL, &found, &e)) {
        FUZZ_CHECK(strlen(found) == len && memcmp(found, line, len) == 0);
    } else {
        fuzz_check_error(&e);
        FUZZ_CHECK(!found);
    }
    key_command_free(found);
    return 0;
}

/* --- image ------------------------------------------------------------------------------------ */

/* The first bytes of an image: its sides are both known or none is, and the beginning of a file
 * tells either nothing of them or the same. */
int fuzz_image(const uint8_t *data, size_t size)
{
    struct image_facts whole, begun;
    const char *bytes = (const char *)data;
    FUZZ_CHECK(image_facts(bytes, size, &whole) == (image_media_type(bytes, size) != NULL));
    if (!whole.media_type)
        return -1;
    FUZZ_CHECK((whole.width > 0) == (whole.height > 0) && whole.width >= 0);
    for (size_t len = 0; len < size && len < 64; len++)
        if (image_facts(bytes, len, &begun) && begun.width > 0)
            FUZZ_CHECK(begun.width == whole.width && begun.height == whole.height);
    auto_free char *text = image_size_text(&whole);
    FUZZ_CHECK(strlen(text) < 80);
    return 0;
}
