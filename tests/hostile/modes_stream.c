/* Streams of events: lines, their ends and their order. */
#include "tests/hostile/mode.h"

/* Between some text and a correct end: `text`, unchanged, `number` times; 0: without an end. */
static void insert(struct peer *p)
{
    if (answer_begin(p) && answer_text(p, "before ") &&
        peer_repeat(p, p->mode->text, (size_t)p->mode->number) && answer_text(p, "after"))
        (void)answer_end(p);
}

/* Inserts an event into the stream. */
static void insert_event(struct peer *p)
{
    AUTO(buf_release) struct buf event = BUF_INIT;
    form_fill(&event, p->form->frame, VALUES(p->mode->text));
    if (answer_begin(p) && answer_text(p, "before ") &&
        peer_repeat(p, event.data, (size_t)p->mode->number) && answer_text(p, "after"))
        (void)answer_end(p);
}

/* A body of `text` alone, `number` times; 0: without an end. */
static void only(struct peer *p)
{
    if (peer_head(p, 200, p->form->type, ""))
        (void)peer_repeat(p, p->mode->text, (size_t)p->mode->number);
}

/* An event with `text` as its text, `number` times; 0: without an end. */
static void long_event(struct peer *p)
{
    AUTO(buf_release) struct buf event = BUF_INIT;
    form_events(&event, p->form, p->form->text, VALUES("\x01"));
    char *at = strchr(event.data, '\x01');
    if (answer_begin(p) && peer_send(p, event.data, (size_t)(at - event.data)) &&
        peer_repeat(p, p->mode->text, (size_t)p->mode->number) && peer_say(p, at + 1))
        (void)answer_end(p);
}

static void zeros(struct peer *p)
{
    static const char nul[16];
    if (answer_begin(p) && answer_text(p, "before") && peer_send(p, nul, sizeof nul) &&
        answer_text(p, "after") && peer_send(p, nul, sizeof nul))
        (void)answer_end(p);
}

static void zeros_in_event(struct peer *p)
{
    AUTO(buf_release) struct buf event = BUF_INIT;
    form_events(&event, p->form, p->form->text, VALUES("a\x01z"));
    *strchr(event.data, '\x01') = '\0';
    if (answer_begin(p) && peer_send(p, event.data, event.len))
        (void)answer_end(p);
}

/* A good body in which each character became two bytes. */
static void utf16(struct peer *p)
{
    struct buf body = BUF_INIT, wide = BUF_INIT;
    peer_good_body(p, &body);
    buf_add(&wide, "\xff\xfe", 2);
    for (size_t i = 0; i < body.len; i++)
        buf_add(&wide, (const char[]){body.data[i], '\0'}, 2);
    peer_reply(p, 200, peer_good_type(p), "", &wide);
    buf_release(&body);
}

static void byte_order_mark(struct peer *p)
{
    AUTO(buf_release) struct buf body = BUF_INIT;
    peer_good_body(p, &body);
    if (peer_head(p, 200, peer_good_type(p), "") && peer_say(p, "\xef\xbb\xbf"))
        (void)peer_send(p, body.data, body.len);
}

static void returns_alone(struct peer *p)
{
    struct buf body = BUF_INIT;
    peer_good_body(p, &body);
    for (size_t i = 0; i < body.len; i++)
        if (body.data[i] == '\n')
            body.data[i] = '\r';
    peer_reply(p, 200, peer_good_type(p), "", &body);
}

static void end_twice(struct peer *p)
{
    if (answer_begin(p) && answer_text(p, "once") && answer_end(p))
        (void)answer_end(p);
}

static void after_end(struct peer *p)
{
    if (answer_begin(p) && answer_text(p, "said") && answer_end(p))
        while (answer_text(p, "never"))
            ;
}

static void no_end(struct peer *p)
{
    if (answer_begin(p))
        (void)answer_text(p, "an answer without an end");
}

static void no_beginning(struct peer *p)
{
    if (peer_head(p, 200, p->form->type, "") && answer_text(p, "an answer without a beginning"))
        (void)answer_end(p);
}

static void only_end(struct peer *p)
{
    if (peer_head(p, 200, p->form->type, ""))
        (void)answer_end(p);
}

static void error_after_text(struct peer *p)
{
    if (answer_begin(p) && answer_text(p, "half an ans"))
        (void)peer_events(p, p->form->error,
                          VALUES("overloaded_error", "\\u001b]0;hostile\\u0007"));
}

static void error_after_end(struct peer *p)
{
    if (answer_begin(p) && answer_text(p, "a whole answer") && answer_end(p))
        (void)peer_events(p, p->form->error, VALUES("late_error", "late"));
}

static void begin_again(struct peer *p)
{
    if (peer_head(p, 200, p->form->type, ""))
        while (peer_events(p, p->form->begin, VALUES("m", "5")))
            ;
}

static void open_again(struct peer *p)
{
    if (!answer_begin(p))
        return;
    AUTO(buf_release) struct buf opens = BUF_INIT;
    const char *open = *p->form->open != '\0' ? p->form->open : p->form->text;
    form_events(&opens, p->form, open, VALUES(""));
    if (peer_repeat(p, opens.data, 1000000))
        (void)answer_end(p);
}

static void other_dialect(struct peer *p)
{
    struct peer other = *p;
    other.form = &forms[((int)p->form->dialect + 1) % FORM_COUNT];
    if (peer_head(p, 200, p->form->type, "") &&
        peer_events(&other, other.form->begin, VALUES("m", "5")) &&
        answer_text(&other, "another dialect"))
        (void)answer_end(&other);
}

#define MIB17 (17 * 1024 * 1024)

const struct mode stream_modes[] = {
    {"comments-endless", "comments without an end", insert, ": still here\n\n", 0, MODE_ENDLESS},
    {"pings-endless", "pings without an end", insert_event, "{\"type\":\"ping\"}", 0, MODE_ENDLESS},
    {"blank-lines-endless", "empty lines without an end", insert, "\n", 0, MODE_ENDLESS},
    {"returns-endless", "CR without an end", insert, "\r", 0, MODE_ENDLESS},
    {"data-empty-endless", "events without data", insert, "data:\n\n", 0, MODE_ENDLESS},
    {"data-lines-endless", "one event of empty lines", insert, "data:\n", 0, 0},
    {"names-endless", "names of events without data", insert, "event: hostile\n\n", 0,
     MODE_ENDLESS},
    {"ids-endless", "ids and waits without an end", insert, "id: 1\nretry: 0\n", 0, MODE_ENDLESS},
    {"unknown-endless", "unknown events without an end", insert_event,
     "{\"type\":\"hostile\",\"delta\":{\"type\":\"hostile\",\"text\":\"x\"}}", 0, MODE_ENDLESS},
    {"empty-objects", "{} without an end", insert_event, "{}", 0, MODE_ENDLESS},
    {"line-endless", "a line without an end", only, "data: hostile ", 0, MODE_FAILS},
    {"line-17m", "a line of 17 MiB", only, "x", MIB17, MODE_FAILS},
    {"event-17m", "an event of 17 MiB in many lines", only, "data: x\n", MIB17 / 2, MODE_FAILS},
    {"event-name-17m", "a name of 17 MiB", only, "event: x", MIB17 / 8, MODE_FAILS},
    {"text-17m", "a piece of text of 17 MiB", long_event, "x", MIB17, MODE_FAILS},
    {"text-endless", "a piece of text without an end", long_event, "x", 0, MODE_FAILS},
    {"text-15m", "a piece of text of 15 MiB", long_event, "x ", 15 * 512 * 1024, .kept_mib = 4},
    {"escapes-15m", "2.6 million escapes", long_event, "\\u0041", 2600000, .kept_mib = 3},
    {"surrogates-15m", "2.6 million halves of characters", long_event, "\\ud800", 2600000,
     .kept_mib = 4},
    {"surrogate-last", "2.6 million escapes, then half a character", long_event,
     "\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\udc00", 216000,
     .kept_mib = 3},
    {"escape-unknown", "escapes that there are not", long_event, "\\x\\q\\u12", 1000, MODE_FAILS},
    {"backslashes", "millions of backslashes", long_event, "\\\\", 4000000, .kept_mib = 8},
    {"bytes-invalid", "bytes that are no UTF-8", long_event, "\xff\xfe\x80\xc3(", 1000},
    {"bytes-overlong", "overlong forms of a slash and of escape sequences", long_event,
     "\xc0\xaf\xe0\x80\xaf\xc0\x9b]0;hostile\xc0\x87", 1000},
    {"bytes-surrogates", "surrogates as UTF-8", long_event, "\xed\xa0\x80\xed\xb0\x80", 1000},
    {"bytes-past-unicode", "characters past the last", long_event, "\xf4\x90\x80\x80\xf8\x88",
     1000},
    {"bytes-controls", "raw controls within a string", long_event,
     "\x1b]0;hostile\x07\x1b[31337m\x9b"
     "31337m",
     10},
    {"zeros-between", "zeros between events", zeros},
    {"zeros-within", "a zero within an event", zeros_in_event},
    {"utf16", "a good answer in UTF-16", utf16, NULL, 0, MODE_FAILS},
    {"byte-order-mark", "a mark before a good answer", byte_order_mark, NULL, 0, MODE_WELL},
    {"returns-alone", "lines that end with CR", returns_alone, NULL, 0, MODE_WELL},
    {"body-empty", "no body", only, "", 1, MODE_FAILS},
    {"body-blank", "a blank line", only, "\n\n", 1, MODE_FAILS},
    {"body-done", "[DONE] alone", only, "data: [DONE]\n\n", 1},
    {"body-html", "a page", only, "<html><title>\x1b]0;hostile\x07</title></html>\n", 1,
     MODE_FAILS},
    {"error-after-text", "an error within the answer", error_after_text, NULL, 0, MODE_FAILS},
    {"error-after-end", "an error behind the answer", error_after_end, NULL, 0, MODE_WELL},
    {"end-twice", "two ends", end_twice, NULL, 0, MODE_WELL},
    {"text-after-end", "text without an end behind the end", after_end, NULL, 0, MODE_WELL},
    {"no-end", "no end", no_end, NULL, 0, MODE_FAILS},
    {"no-beginning", "text before the beginning", no_beginning},
    {"only-end", "an end alone", only_end},
    {"begin-again", "beginnings without an end", begin_again, NULL, 0, MODE_ENDLESS},
    {"open-again", "a million blocks without text", open_again},
    {"other-dialect", "the answer of another kind of server", other_dialect},
    {.name = NULL},
};
