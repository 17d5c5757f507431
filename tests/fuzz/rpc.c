/* One side of a JSON-RPC connection: its output for any bytes is JSON-RPC, one message per line,
 * bounded, and the same for any split. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "tests/fuzz/fuzz.h"

enum { ASKED = 3 };

struct side {
    struct buf heard;
    VEC(struct rpc_call *) later;
    size_t requests;
};

static void hear(struct side *s, const char *what, const struct json *v)
{
    struct json_out o = {.buf = &s->heard};
    auto_free char *text = json_print(v);
    json_out_string(&o, what);
    json_out_raw(&o, text);
}

/* Each request is answered in another way: at once, as an error, or at the end. */
static void on_request(void *context, struct rpc_call *call, const char *method,
                       const struct json *params)
{
    static const struct error busy = {ERR_SESSION_BUSY, "a turn runs; wait"};
    struct side *s = context;
    auto_free char *text = json_print(params);
    FUZZ_CHECK(!params || json_type(params) == JSON_OBJECT || json_type(params) == JSON_ARRAY);
    hear(s, method, params);
    call->kept = s;
    s->requests++;
    if (strlen(method) % 3 == 0)
        rpc_answer(call, text);
    else if (strlen(method) % 3 == 1)
        rpc_fail_with(call, &busy);
    else
        vec_push(&s->later, call);
}

static void on_notification(void *context, const char *method, const struct json *params)
{
    hear(context, method, params);
}

static void on_cancelled(void *context, struct rpc_call *call)
{
    FUZZ_CHECK(call->kept == context);
    hear(context, "cancelled", NULL);
}

static void on_answered(void *context, const struct json *result, const struct rpc_fault *fault)
{
    FUZZ_CHECK(!result != !fault);
    hear(context, fault ? fault->message : "result", result);
}

static const struct rpc_handlers handlers = {on_request, on_notification, on_cancelled, false};

static void check_message(const struct json *v)
{
    FUZZ_CHECK(json_type(v) == JSON_OBJECT);
    FUZZ_CHECK_SAME(json_get_string(v, "jsonrpc"), "2.0");
    bool answer = json_get(v, "result") || json_get(v, "error");
    FUZZ_CHECK(answer != (json_get_string(v, "method") != NULL));
    FUZZ_CHECK(!answer || json_get(v, "id"));
    FUZZ_CHECK(!(json_get(v, "result") && json_get(v, "error")));
}

static void check_output(const char *text, size_t len)
{
    const char *end = text + len;
    FUZZ_CHECK(len == 0 || end[-1] == '\n');
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        struct error e;
        AUTO(json_free_local) struct json *v = json_parse(text, (size_t)(line_end - text), &e);
        FUZZ_CHECK_ERROR(v, &e);
        if (json_type(v) != JSON_ARRAY)
            check_message(v);
        for (const struct json *m = json_type(v) == JSON_ARRAY ? json_first(v) : NULL; m;
             m = json_next(m))
            check_message(m);
        text = line_end + 1;
    }
}

/* The messages that the peer received, then those that it sent. */
static struct buf talk(const uint8_t *data, size_t size, struct dice *d)
{
    struct side s = {.heard = BUF_INIT};
    struct rpc_peer *p = rpc_peer_new(&handlers, &s);
    struct error e;
    for (int i = 0; i < ASKED; i++)
        FUZZ_CHECK(rpc_ask(p, "x", NULL, on_answered, &s) == i + 1);
    for (size_t at = 0; at < size;) {
        size_t len = d ? fuzz_piece(d, size - at) : size;
        FUZZ_CHECK_ERROR(rpc_peer_feed(p, (const char *)data + at, len, &e), &e);
        at += len;
    }
    FUZZ_CHECK(rpc_peer_calls(p) == s.later.len);
    for (size_t i = 0; i < s.later.len; i++)
        rpc_answer(s.later.items[i], "{}");
    size_t len;
    const char *said = rpc_peer_output(p, &len);
    check_output(said, len);
    buf_add(&s.heard, said, len);
    rpc_peer_free(p); /* unanswered requests fail and are reported, too */
    vec_release(&s.later);
    return s.heard;
}

int fuzz_rpc(const uint8_t *data, size_t size)
{
    struct dice d = fuzz_dice(data, size);
    AUTO(buf_release) struct buf whole = talk(data, size, NULL), split = talk(data, size, &d);
    FUZZ_CHECK(whole.len == split.len && memcmp(whole.data, split.data, whole.len) == 0);
    return 0;
}
