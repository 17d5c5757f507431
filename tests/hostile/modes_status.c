/* Statuses, waits that are asked for, and the bodies of errors. */
#include "tests/hostile/mode.h"

enum { LONGEST_PAD = 320 }; /* longer than an error's text */

/* `number` with an error in the dialect's form. `text` is a further header, or NULL. */
static void status(struct peer *p)
{
    struct buf body = BUF_INIT;
    form_fill(&body, p->form->error, VALUES("hostile_error", "No."));
    peer_reply(p, (int)p->mode->number, "application/json",
               p->mode->text == NULL ? "" : p->mode->text, &body);
}

/* Status 400 with the body `text`: @1: the key; @2: as many letters as the step says. */
static void error_body(struct peer *p)
{
    struct buf body = BUF_INIT;
    auto_free char *pad = mem_alloc((size_t)p->step + 1);
    memset(pad, 'x', (size_t)p->step);
    form_fill(&body, p->mode->text, VALUES(p->key, pad));
    peer_reply(p, 400, "application/json", "", &body);
}

static long pads(struct peer *p)
{
    (void)p;
    return LONGEST_PAD;
}

/* An error as an event, after status 200. */
static void error_event(struct peer *p)
{
    AUTO(buf_release) struct buf event = BUF_INIT;
    form_fill(&event, p->mode->text, VALUES(p->key));
    buf_addch(&event, '\n');
    if (peer_head(p, 200, p->form->type, ""))
        (void)peer_events(p, event.data, VALUES(NULL));
}

/* Status 500 with a body of `number` times `text`; 0: without an end. */
static void long_body(struct peer *p)
{
    if (peer_head(p, 500, "application/json", ""))
        (void)peer_repeat(p, p->mode->text, (size_t)p->mode->number);
}

static void nested_body(struct peer *p)
{
    if (peer_head(p, 400, "application/json", "") &&
        peer_repeat(p, p->mode->text, (size_t)p->mode->number))
        (void)peer_say(p, "1");
}

static void key_in_escapes(struct peer *p)
{
    struct buf key = BUF_INIT, body = BUF_INIT;
    for (const char *s = p->key; *s != '\0'; s++)
        buf_addf(&key, "\\u%04x", (unsigned)*s);
    form_fill(&body, p->form->error, VALUES("e", key.data));
    peer_reply(p, 401, "application/json", "", &body);
    buf_release(&key);
}

#define FAILS_ALL (MODE_FAILS | MODE_ALL)
#define WAIT(value) "Retry-After: " value "\r\n"

const struct mode status_modes[] = {
    {"status-400", "bad request", status, NULL, 400, FAILS_ALL},
    {"status-401", "unauthorised", status, NULL, 401, FAILS_ALL},
    {"status-402", "to be paid", status, NULL, 402, FAILS_ALL},
    {"status-403", "forbidden", status, NULL, 403, FAILS_ALL},
    {"status-404", "not found", status, NULL, 404, FAILS_ALL},
    {"status-407", "log in at a proxy", status, NULL, 407, FAILS_ALL},
    {"status-408", "too slow", status, NULL, 408, FAILS_ALL},
    {"status-409", "conflict", status, NULL, 409, FAILS_ALL},
    {"status-413", "too large", status, NULL, 413, FAILS_ALL},
    {"status-417", "expectation failed", status, NULL, 417, FAILS_ALL},
    {"status-421", "misdirected", status, NULL, 421, FAILS_ALL},
    {"status-425", "too early", status, NULL, 425, FAILS_ALL},
    {"status-429", "too many requests", status, NULL, 429, FAILS_ALL},
    {"status-500", "a fault", status, NULL, 500, FAILS_ALL},
    {"status-503", "loading", status, NULL, 503, FAILS_ALL},
    {"status-529", "overloaded", status, NULL, 529, FAILS_ALL},
    {"wait-negative", "retry after -5 s", status, WAIT("-5"), 429, FAILS_ALL},
    {"wait-huge", "retry after 9e18 s", status, WAIT("9000000000000000000"), 429,
     MODE_ENDLESS | FAILS_ALL},
    {"wait-overflow", "retry after more than 64 bits of ms", status,
     "Retry-After-Ms: 99999999999999999999999\r\n", 429, MODE_ENDLESS | FAILS_ALL},
    {"wait-past", "retry in 1970", status, WAIT("Thu, 01 Jan 1970 00:00:00 GMT"), 429, FAILS_ALL},
    {"wait-far", "retry in 9999", status, WAIT("Fri, 31 Dec 9999 23:59:59 GMT"), 429,
     MODE_ENDLESS | FAILS_ALL},
    {"wait-garbage", "retry after \"soon\"", status, WAIT("soon \x1b]0;hostile\x07"), 429,
     FAILS_ALL},
    {"wait-zero", "retry at once, for ever", status, WAIT("0"), 429, FAILS_ALL},
    {"wait-fraction", "retry after 0.00000000001 s", status, WAIT("0.00000000000001"), 503,
     FAILS_ALL},
    {"error-html", "a page of a proxy", error_body,
     "<html><body><h1>502 \x1b]0;hostile\x07</h1><script>alert(1)</script></body></html>", 0,
     FAILS_ALL},
    {"error-binary", "bytes that are no text", error_body,
     "\x80\x81\xfe\xff\x9b"
     "31337m\xc2\x9b"
     "31337m\x1b]0;hostile\x07\x1bPhostile\x1b\\",
     0, FAILS_ALL},
    {"error-empty", "no body", error_body, "", 0, FAILS_ALL},
    {"error-null", "null", error_body, "{\"error\":null}", 0, FAILS_ALL},
    {"error-number", "a number for an error", error_body, "{\"error\":9e999}", 0, FAILS_ALL},
    {"error-array", "an array for an error", error_body, "{\"error\":[[[\"@1\"]]]}", 0, FAILS_ALL},
    {"error-members-wrong", "an error of the wrong types", error_body,
     "{\"error\":{\"type\":[],\"message\":{\"a\":1},\"code\":{},\"n_ctx\":-9e18,"
     "\"n_prompt_tokens\":\"x\"}}",
     0, FAILS_ALL},
    {"error-controls", "escape sequences in a message", error_body,
     "{\"error\":{\"type\":\"\\u001b]0;hostile\\u0007\","
     "\"message\":\"\\u001b[31337m\\u009b31337m\\u0000\\u202e\\r\\n\\b\"}}",
     0, FAILS_ALL},
    {"error-window", "a window of figures past all", error_body,
     "{\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"too long\","
     "\"n_prompt_tokens\":9223372036854775807,\"n_ctx\":9223372036854775807}}",
     0, MODE_FAILS},
    {"error-window-one", "a window of one token", error_body,
     "{\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"too long\","
     "\"n_prompt_tokens\":2,\"n_ctx\":1}}",
     0, MODE_FAILS},
    {"error-window-words", "a window past 64 bits, in words", error_body,
     "{\"error\":{\"message\":\"prompt is too long: 99999999999999999999999 tokens > "
     "-99999999999999999999999 maximum\"}}",
     0, MODE_FAILS},
    {"error-17m", "a body of 17 MiB", long_body, "hostile", 2546542, FAILS_ALL},
    {"error-endless", "a body without an end", long_body, "hostile ", 0, FAILS_ALL},
    {"error-deep", "a body 8 million arrays deep", nested_body, "[", 8000000, FAILS_ALL},
    {"error-deep-objects", "a body a million objects deep", nested_body, "{\"error\":", 1000000,
     FAILS_ALL},
    {"error-wide", "a body of millions of numbers", nested_body, "[1,1,1,1,1,1,1,1,1],", 700000,
     FAILS_ALL},
    {"key-plain", "the key, without JSON", error_body, "the key @1 is wrong", 0, FAILS_ALL},
    {"key-plain-cut", "the key at each place of a text without JSON", error_body, "@2 @1 is wrong",
     0, FAILS_ALL, .steps = pads},
    {"key-message-cut", "the key at each place of a message", error_body,
     "{\"error\":{\"type\":\"authentication_error\",\"message\":\"@2@1 is wrong\"}}", 0, FAILS_ALL,
     .steps = pads},
    {"key-type-cut", "the key at each place of a type", error_body,
     "{\"error\":{\"type\":\"@2@1\",\"message\":\"no\"}}", 0, FAILS_ALL, .steps = pads},
    {"key-end-cut", "the key at the end of a body that is cut", error_body, "@2 @1", 0, FAILS_ALL,
     .steps = pads},
    {"key-twice", "the key again and again", error_body, "@1@1@1@1@1@1@1@1", 0, FAILS_ALL},
    {"key-in-html", "the key in a page", error_body, "<p>@1</p>", 0, FAILS_ALL},
    {"key-escaped", "the key as escapes of JSON", key_in_escapes, NULL, 0, FAILS_ALL},
    {"key-broken-json", "the key in JSON that ends early", error_body,
     "{\"error\":{\"message\":\"@1", 0, FAILS_ALL},
    {"key-event", "the key in an error after 200", error_event,
     "{\"type\":\"error\",\"error\":{\"type\":\"@1\",\"message\":\"no @1\",\"code\":\"@1\"}}", 0,
     MODE_FAILS},
    {"key-event-text", "the key as the error itself", error_event, "{\"error\":\"@1\"}", 0,
     MODE_FAILS},
    {.name = NULL},
};
