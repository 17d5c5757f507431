/* JSON that is deep, wide, of the wrong types or none at all. */
#include "tests/hostile/mode.h"

/* The event `text`, with the part between < and > repeated `number` times. */
static void repeated(struct peer *p)
{
    AUTO(buf_release) struct buf frame = BUF_INIT;
    form_fill(&frame, p->form->frame, VALUES("\x01"));
    const char *json = p->mode->text, *unit = strchr(json, '<') + 1, *rest = strchr(unit, '>');
    auto_free char *repeats = mem_strndup(unit, (size_t)(rest - unit));
    char *event = strchr(frame.data, '\x01');
    if (answer_begin(p) && peer_send(p, frame.data, (size_t)(event - frame.data)) &&
        peer_send(p, json, (size_t)(unit - 1 - json)) &&
        peer_repeat(p, repeats, (size_t)p->mode->number) && peer_say(p, rest + 1) &&
        peer_say(p, event + 1))
        (void)answer_end(p);
}

/* The start of the JSON value of this number in a body: after each colon outside strings. */
static size_t value_start(const struct buf *body, long number)
{
    bool in_string = false;
    for (size_t i = 0; i < body->len; i++) {
        if (in_string && body->data[i] == '\\')
            i++;
        else if (body->data[i] == '"')
            in_string = !in_string;
        else if (body->data[i] == ':' && !in_string &&
                 strchr("\"{[tfn-0123456789", body->data[i + 1]) && number-- == 0)
            return i + 1;
    }
    return 0;
}

static size_t value_end(const struct buf *body, size_t at)
{
    int depth = 0;
    bool in_string = false;
    for (; at < body->len; at++) {
        char c = body->data[at];
        if (in_string && c == '\\') {
            at++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '{' || c == '[')) {
            depth++;
        } else if (!in_string && (c == '}' || c == ']' || c == ',' || c == '\n')) {
            if (depth == 0)
                break;
            depth -= c == '}' || c == ']';
        }
    }
    return at;
}

static void answer_with_call(struct peer *p, struct buf *out)
{
    const struct form *f = p->form;
    const char *const none[] = {NULL};
    if (p->target != TARGET_CHAT) {
        peer_good_body(p, out);
        return;
    }
    form_events(out, f, f->begin, VALUES("m", "5"));
    form_events(out, f, f->open, none);
    form_events(out, f, f->text, VALUES("text"));
    form_events(out, f, f->reasoning, VALUES("thought"));
    form_events(out, f, f->call, VALUES("2", "id1", "list_directory", "{}"));
    form_events(out, f, f->end, VALUES(f->call_stop, "5", "5"));
    buf_addstr(out, f->done);
}

static const char *const wrong_values[] = {"null", "-1",
                                           "9e18", "1e999",
                                           "true", "\"\\u001b]0;hostile\\u0007\"",
                                           "\"\"", "[]",
                                           "{}",   "[[{\"a\":[null]}]]",
                                           "NaN"};
enum { WRONG_VALUES = sizeof wrong_values / sizeof *wrong_values };

static long wrong_steps(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT;
    long values = 0;
    answer_with_call(p, &body);
    while (value_start(&body, values) > 0)
        values++;
    return values * WRONG_VALUES;
}

/* Replaces one value of an answer; the step selects the value and its replacement. */
static void wrong_value(struct peer *p)
{
    struct buf body = BUF_INIT;
    answer_with_call(p, &body);
    size_t at = value_start(&body, p->step / WRONG_VALUES);
    const char *value = wrong_values[p->step % WRONG_VALUES];
    if (at > 0)
        buf_splice(&body, at, value_end(&body, at) - at, value, strlen(value));
    peer_reply(p, 200, peer_good_type(p), "", &body);
}

/* Removes one byte of the answer. */
static void lost_byte(struct peer *p)
{
    struct buf body = BUF_INIT;
    answer_with_call(p, &body);
    if ((size_t)p->step < body.len)
        buf_splice(&body, (size_t)p->step, 1, "", 0);
    peer_reply(p, 200, peer_good_type(p), "", &body);
}

static long byte_steps(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT;
    answer_with_call(p, &body);
    return (long)body.len;
}

const struct mode json_modes[] = {
    {"deep-arrays", "100,000 arrays in each other", repeated, "<[>", 100000},
    {"deep-arrays-15m", "15 million arrays in each other", repeated, "<[>", 15000000},
    {"deep-objects", "100,000 objects in each other", repeated, "<{\"a\":>", 100000},
    {"deep-known", "a delta in a delta …", repeated,
     "<{\"type\":\"content_block_delta\",\"delta\":>", 100000},
    {"deep-closed", "900 arrays, closed", repeated, "{\"x\":<[[[[[[[[[>1]}", 100},
    {"wide-numbers", "an array of 7 million numbers", repeated, "{\"x\":[<1,>1]}", 7000000},
    {"wide-strings", "an array of 5 million strings", repeated, "{\"x\":[<\"\",>1]}", 5000000},
    {"wide-objects", "an array of 5 million objects", repeated, "{\"x\":[<{},>1]}", 5000000},
    {"wide-object", "an object of 2 million members", repeated, "{<\"a\":1,>\"b\":1}", 2000000},
    {"wide-choices", "choices without an end of their own", repeated,
     "{\"choices\":[<{\"delta\":{\"content\":\"x\"}},>{}]}", 400000},
    {"wide-calls", "400,000 empty tool calls", repeated,
     "{\"choices\":[{\"delta\":{\"tool_calls\":[<{\"index\":1},>{}]}}],"
     "\"message\":{\"tool_calls\":[{}]}}",
     400000},
    {"same-member", "a member a million times", repeated, "{<\"type\":\"ping\",>\"type\":1}",
     1000000},
    {"digits", "a number of 10 million digits", repeated, "{\"x\":<9>}", 10000000},
    {"digits-index", "an index of a million digits", repeated,
     "{\"type\":\"content_block_start\",\"index\":<9>,\"content_block\":{\"type\":\"text\"}}",
     1000000},
    {"exponent", "an exponent of a million digits", repeated, "{\"x\":1e<9>}", 1000000},
    {"blanks", "15 MB of blanks in an event", repeated, "{<          >}", 1500000},
    {"scalar-null", "null for an event", repeated, "<null>", 1},
    {"scalar-number", "a number for an event", repeated, "<1e999>", 1},
    {"scalar-string", "a string for an event", repeated, "<\"hostile\">", 1},
    {"scalar-array", "an array for an event", repeated, "<[]>", 1},
    {"no-json", "words for an event", repeated, "<hello>", 1, MODE_FAILS},
    {"two-documents", "two documents in an event", repeated, "<{}{}>", 1},
    {"comment", "a comment in JSON", repeated, "/*<*>*/{}", 1000000, MODE_FAILS},
    {"value-wrong", "each value of an answer replaced by another", wrong_value, NULL, 0,
     MODE_ONCE | MODE_ALL, .steps = wrong_steps},
    {"byte-lost", "each byte of an answer's body left out", lost_byte, NULL, 0,
     MODE_ONCE | MODE_ALL, .steps = byte_steps},
    {.name = NULL},
};
