/* GET /sessions/{id}/events: each event once and in order, in spite of broken connections. */
#include <inttypes.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/http_events.h"
#include "serve/http_service.h"
#include "session/capability.h"
#include "tests/http_client.h"
#include "tests/program.h"
#include "tests/suite.h"

NEEDS(HTTP_IS_SERVED);

static struct model_server *model;

static int setup(void **state)
{
    support_setup(state);
    model = begin_server();
    return 0;
}

static struct http_stream events; /* of a test, closed with it */

static int teardown(void **state)
{
    if (events.client.fd)
        events_close(&events);
    served_end(&tiro);
    model_server_release(model);
    end_server(model);
    return support_teardown(state);
}

FIXTURE(setup, teardown);

enum { WAIT_MS = 10000 };

#define SCRIPTED "--provider", "openai", "--model", "m"

/* Starts the server and begins a session; returns its id, kept. */
static char *serve_session(void)
{
    SERVE(&tiro, SCRIPTED);
    return http_begin_session(tiro.port);
}

/* A turn whose answer nobody waits for here. */
static void begin_turn(struct http_client *c, int port, const char *session, const char *text)
{
    char *body = support_text("{\"prompt\":\"%s\"}", text);
    http_client_open(c, port);
    http_client_send(c, support_text("POST /sessions/%s/messages HTTP/1.1\r\n" HTTP_HOST
                                     "Content-Type: application/json\r\nContent-Length: %zu"
                                     "\r\n\r\n%s",
                                     session, strlen(body), body));
}

static void end_turn(struct http_client *c)
{
    struct http_answer a = http_client_answer(c);
    if (a.status != 200)
        fail_msg("%d: %s", a.status, a.body);
    http_client_close(c);
}

static void run_turn(int port, const char *session, const char *text)
{
    struct http_client c;
    begin_turn(&c, port, session, text);
    end_turn(&c);
}

static bool is_end(const char *name)
{
    return strcmp(name, "run_completed") == 0 || strcmp(name, "interrupted") == 0 ||
           strcmp(name, "run_failed") == 0;
}

/* Adds the numbered events up to the end of a turn: a line each. */
static void add_turn(struct http_stream *s, struct buf *out)
{
    while (events_next(s, WAIT_MS)) {
        if (!*s->id || strcmp(s->name, "session_loaded") == 0)
            continue;
        buf_addf(out, "%s %s %s\n", s->id, s->name, s->data);
        if (is_end(s->name))
            return;
    }
    fail_msg("the stream ended after: %s", s->data ? s->data : "nothing");
}

/* --- events ----------------------------------------------------------------------------------- */

TEST(what_happens_comes_numbered_and_in_order)
{
    char *id = serve_session();
    events_open(&events, tiro.port, id, -1);
    assert_true(events_next(&events, WAIT_MS));
    assert_string_equal(events.name, "session_loaded");
    assert_string_equal(events.id, "0");
    assert_json(parse_json(events.data), support_text("{'session_id':'%s','seq':0}", id));
    run_turn(tiro.port, id, "hello");
    for (int64_t seq = 1;; seq++) {
        do
            assert_true(events_next(&events, WAIT_MS));
        while (!*events.id);
        assert_int_equal(atoll(events.id), seq);
        const struct json *v = parse_json(events.data);
        assert_int_equal(json_get_int(v, "seq", 0), seq);
        assert_string_equal(json_get_string(v, "type"), events.name);
        assert_string_equal(json_get_string(v, "session_id"), id);
        if (is_end(events.name))
            break;
    }
}

TEST_IF(capability_store(), without_a_number_it_begins_now_with_one_behind_it)
{
    char *id = serve_session();
    run_turn(tiro.port, id, "one");
    struct http_answer a = GET(support_text("/sessions/%s", id));
    int64_t last = json_get_int(http_json(&a), "last_seq", 0);
    events_open(&events, tiro.port, id, -1);
    assert_true(events_next(&events, WAIT_MS));
    assert_int_equal(atoll(events.id), last);
    run_turn(tiro.port, id, "two");
    events_expect(&events, "run_started");
    assert_int_equal(atoll(events.id), last + 1);
    events_close(&events);

    events_open(&events, tiro.port, id, last);
    events_expect(&events, "run_started");
    assert_int_equal(atoll(events.id), last + 1);
    assert_text(events.data, "\"two\"");
}

TEST_IF(capability_store(), what_an_earlier_server_kept_comes_out_of_the_log)
{
    AUTO(buf_release) struct buf first = BUF_INIT, again = BUF_INIT;
    /* … of which the log keeps pieces of a second, in case that it is not completed. */
    QUEUE(model, .text = "an answer that takes more than a second", .piece = 2, .interval_ms = 70);
    char *id = serve_session();
    run_turn(tiro.port, id, "one");
    run_turn(tiro.port, id, "two");
    events_open(&events, tiro.port, id, 0);
    add_turn(&events, &first);
    add_turn(&events, &first);
    events_close(&events);
    assert_int_equal(served_stop(&tiro), 0);
    SERVE(&tiro, SCRIPTED);
    events_open(&events, tiro.port, id, 0);
    add_turn(&events, &again);
    add_turn(&events, &again);
    /* The log has texts whole, and not the pieces that they came in. */
    assert_no_text(again.data, " text_delta ");
    int lines = 0;
    for (const char *at = first.data; *at; at = strchr(at, '\n') + 1) {
        auto_free char *line = mem_strndup(at, strcspn(at, "\n"));
        bool delta = strstr(line, " text_delta ") != NULL;
        assert_true(delta == !strstr(again.data, line));
        lines += !delta;
    }
    for (const char *at = again.data; *at; at = strchr(at, '\n') + 1)
        lines--;
    assert_int_equal(lines, 0);
    run_turn(tiro.port, id, "three");
    add_turn(&events, &again); /* … and it goes on with what happens */
}

/* A server that finds a session of one turn in the store. `last`: the number of its last event. */
static char *serve_kept_session(struct served *s, int64_t *last)
{
    SERVE(s, SCRIPTED);
    char *id = http_begin_session(s->port);
    run_turn(s->port, id, "one");
    struct http_answer a = http_ask(s->port, "GET", support_text("/sessions/%s", id), NULL);
    *last = json_get_int(http_json(&a), "last_seq", 0);
    assert_int_equal(served_stop(s), 0);
    SERVE(s, SCRIPTED);
    return id;
}

TEST_IF(capability_store(), what_another_process_wrote_comes_too)
{
    write_config("[serve]\nheartbeat = 1\n");
    int64_t last;
    char *id = serve_kept_session(&tiro, &last);
    events_open(&events, tiro.port, id, last);
    run_ok(RUN("run", "--resume", id, SCRIPTED, "from the command line"));
    events_expect(&events, "run_started");
    assert_int_equal(atoll(events.id), last + 1);
    events_expect(&events, "run_completed");
    run_turn(tiro.port, id, "and from here");
    events_expect(&events, "run_started");
    assert_text(events.data, "and from here");
    assert_true(events.comments > 1);
}

/* A proxy or a browser that waits for bytes would keep a stream closed. */
TEST(a_stream_opens_at_once_and_is_not_gathered)
{
    struct http_client c;
    SERVE(&tiro, "--provider", "offline");
    char *id = http_begin_session(tiro.port);
    http_client_open(&c, tiro.port);
    http_client_send(&c, support_text("GET /sessions/%s/events HTTP/1.1\r\n" HTTP_HOST "\r\n", id));
    while (!strstr(c.bytes.data ? c.bytes.data : "", "session_loaded"))
        assert_true(http_client_read(&c, 10000));
    assert_text(c.bytes.data, "X-Accel-Buffering: no\r\n");
    assert_text(c.bytes.data, "\r\n\r\n3\r\n:\n\n\r\n");
    http_client_close(&c);
}

TEST(one_stream_tells_of_all_sessions)
{
    SERVE(&tiro, SCRIPTED);
    char *first = http_begin_session(tiro.port);
    run_turn(tiro.port, first, "before anybody listened");
    events_open(&events, tiro.port, NULL, -1);
    char *second = http_begin_session(tiro.port);
    const char *const ids[] = {second, first, second};
    for (size_t i = 0; i < 3; i++) {
        run_turn(tiro.port, ids[i], support_text("message %zu", i));
        events_expect(&events, "session/running");
        events_expect(&events, "run_started");
        assert_text(events.data, ids[i]);
        assert_text(events.data, support_text("message %zu", i));
        assert_string_equal(events.id, ""); /* numbers are of one session */
        events_expect(&events, "run_completed");
    }
    http_expect_error(GET("/events?after=0"), 400, "USAGE", "after");
}

static struct http_answer post_async(int port, const char *session, const char *text)
{
    struct http_client c;
    char *body = support_text("{\"prompt\":\"%s\"}", text);
    http_client_open(&c, port);
    http_client_send(&c, support_text("POST /sessions/%s/messages HTTP/1.1\r\n" HTTP_HOST
                                      "Content-Type: application/json\r\nPrefer: respond-async\r\n"
                                      "Content-Length: %zu\r\n\r\n%s",
                                      session, strlen(body), body));
    struct http_answer a = http_client_answer(&c);
    http_client_close(&c);
    return a;
}

/* The caller disconnects, and the turn continues. */
TEST(a_message_is_answered_when_it_is_kept_if_its_caller_prefers_so)
{
    QUEUE(model, .text = "half of it", .fault = REPLY_STALL);
    SERVE(&tiro, "--provider", "openai", "--model", "m");
    char *id = http_begin_session(tiro.port);
    events_open(&events, tiro.port, id, 0);
    struct http_answer a = post_async(tiro.port, id, "take your time");
    assert_int_equal(a.status, 202);
    assert_json(http_json(&a), support_text("{'session_id':'%s','seq':1}", id));
    assert_text(a.head, support_text("Location: /sessions/%s/events?after=1\r\n", id));
    assert_text(a.head, "Preference-Applied: respond-async\r\n");
    events_expect(&events, "text_delta");
    http_expect_error(post_async(tiro.port, id, "another"), 409, "SESSION_BUSY", NULL);
    http_expect_error(post_async(tiro.port, "nobody", "hello"), 404, "SESSION_NOT_FOUND", NULL);
    assert_int_equal(POST(support_text("/sessions/%s/interrupt", id), "{}").status, 200);
    events_expect(&events, "interrupted");
}

/* A browser's EventSource can give no header. */
TEST(a_ticket_opens_one_stream_in_place_of_the_token)
{
    struct http_client c;
    SERVE(&tiro, "--provider", "offline");
    char *id = http_begin_session(tiro.port);
    struct http_answer a = POST("/tickets", "{}");
    assert_int_equal(a.status, 201);
    char *ticket = support_text("%s", json_get_string(http_json(&a), "ticket"));
    assert_in_range(json_int(json_get(http_json(&a), "seconds"), 0), 1, 60);
    const struct {
        const char *target;
        int status;
    } rows[] = {
        {support_text("GET /sessions/%s?ticket=%s", id, ticket), 401},
        {support_text("POST /tickets?ticket=%s", ticket), 401},
        {support_text("GET /sessions/%s/events?ticket=%.31s%c", id, ticket,
                      ticket[31] == '0' ? '1' : '0'),
         401},
        {support_text("GET /sessions/%s/events?ticket=", id), 401},
        {support_text("GET /sessions/%s/events?after=0&ticket=%s", id, ticket), 200},
        {support_text("GET /sessions/%s/events?ticket=%s", id, ticket), 401},
        {"GET /.well-known/oauth-protected-resource", 404},
        {"GET /well-known/oauth-protected-resource", 401},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        http_client_open(&c, tiro.port);
        http_client_send(&c,
                         support_text("%s HTTP/1.1\r\nHost: localhost\r\n\r\n", rows[i].target));
        while (c.bytes.len < sizeof "HTTP/1.1 200")
            assert_true(http_client_read(&c, 10000));
        if (atoi(c.bytes.data + strlen("HTTP/1.1 ")) != rows[i].status)
            fail_msg("%s: %s", rows[i].target, c.bytes.data);
        http_client_close(&c);
    }
}

/* By header or query, in a session with events and in one without. */
TEST_IF(capability_store(), a_number_that_was_never_told_is_gone)
{
    SERVE(&tiro, SCRIPTED);
    char *empty = http_begin_session(tiro.port), *id = http_begin_session(tiro.port);
    run_turn(tiro.port, id, "one");
    struct http_answer a = GET(support_text("/sessions/%s", id));
    int64_t last = json_get_int(http_json(&a), "last_seq", 0);
    events_open(&events, tiro.port, id, last);
    events_close(&events);
    struct http_client c;
    http_client_open(&c, tiro.port);
    http_client_send(&c, support_text("GET /sessions/%s/events HTTP/1.1\r\n" HTTP_HOST
                                      "Last-Event-ID: %" PRId64 "\r\n\r\n",
                                      id, last + 1));
    http_expect_error(http_client_answer(&c), 410, "EVENT_NOT_FOUND",
                      support_text("%" PRId64, last));
    http_client_close(&c);
    const char *path = support_text("/sessions/%s/events?after=1", empty);
    http_expect_error(GET(path), 410, "EVENT_NOT_FOUND", NULL);
}

/* An event of this process reveals that earlier events are missing. */
TEST_IF(capability_store(), what_another_process_wrote_comes_before_what_follows)
{
    write_config("[serve]\nheartbeat = 3600\nidle_minutes = 0\n");
    struct served other;
    int64_t last;
    char *id = serve_kept_session(&tiro, &last);
    events_open(&events, tiro.port, id, last);
    SERVE(&other, SCRIPTED);
    run_turn(other.port, id, "from another");
    assert_int_equal(served_stop(&other), 0);
    run_turn(tiro.port, id, "from here");
    events_expect(&events, "run_started");
    assert_int_equal(atoll(events.id), last + 1);
    assert_text(events.data, "from another");
    events_expect(&events, "run_started");
    assert_text(events.data, "from here");
}

TEST_IF(capability_store(), a_session_that_is_deleted_ends_its_streams)
{
    write_config("[serve]\nheartbeat = 1\n");
    char *id = serve_session();
    run_turn(tiro.port, id, "one");
    assert_int_equal(served_stop(&tiro), 0);
    SERVE(&tiro, SCRIPTED);
    events_open(&events, tiro.port, id, 0);
    run_ok(RUN("sessions", "delete", "--yes", id));
    events_expect(&events, "done");
    assert_text(events.data, "deleted");
    assert_false(events_next(&events, WAIT_MS));
}

/* --- cuts ------------------------------------------------------------------------------------- */

/* Reads on after cuts at chance places, until it has seen the end of the turn. */
static void add_turn_with_cuts(int port, const char *id, uint64_t *seed, struct buf *out, int *cuts)
{
    struct http_stream s;
    int64_t seen = 0;
    for (bool over = false; !over; ++*cuts) {
        int left = (int)(support_random(seed) % 40);
        events_open(&s, port, id, seen);
        while (!over && left-- > 0 && events_next(&s, WAIT_MS)) {
            if (!*s.id || strcmp(s.name, "session_loaded") == 0)
                continue;
            seen = atoll(s.id);
            buf_addf(out, "%s %s %s\n", s.id, s.name, s.data);
            over = is_end(s.name);
        }
        events_close(&s);
    }
}

TEST(cuts_miss_nothing_and_repeat_nothing)
{
    uint64_t seed = support_seed();
    struct http_client turn;
    struct http_stream whole;
    AUTO(buf_release) struct buf text = BUF_INIT, first = BUF_INIT, second = BUF_INIT;
    int cuts = 0;
    char *id = serve_session();
    for (int i = 0; i < 400; i++)
        buf_addf(&text, "word%d ", i);
    QUEUE(model, .text = text.data, .reasoning = "hm", .piece = 8, .interval_ms = 2);
    events_open(&whole, tiro.port, id, 0);
    begin_turn(&turn, tiro.port, id, "go");
    add_turn_with_cuts(tiro.port, id, &seed, &second, &cuts);
    add_turn(&whole, &first);
    assert_string_equal(first.data, second.data);
    assert_true(cuts > 5);
    assert_text(first.data, "word399");
    /* … and at any place afterwards. */
    for (int i = 0; i < 20; i++) {
        struct http_stream late;
        AUTO(buf_release) struct buf rest = BUF_INIT;
        int64_t lines = 0, from;
        for (const char *at = first.data; *at; at = strchr(at, '\n') + 1)
            lines++;
        from = (int64_t)(support_random(&seed) % (uint64_t)lines);
        events_open(&late, tiro.port, id, from);
        add_turn(&late, &rest);
        const char *at = first.data;
        for (int64_t n = 0; n < from; n++)
            at = strchr(at, '\n') + 1;
        assert_string_equal(rest.data, at);
        events_close(&late);
    }
    end_turn(&turn);
    events_close(&whole);
}

/* The text of deltas that come until there is so much of it. */
static const char *text_of_deltas(int port, const char *id, int64_t after, size_t len)
{
    struct buf text = BUF_INIT;
    events_open(&events, port, id, after);
    while (text.len < len) {
        events_expect(&events, "text_delta");
        buf_addstr(&text, json_get_string(parse_json(events.data), "delta"));
    }
    events_close(&events);
    return support_keep(buf_take(&text));
}

/* An answer that was never completed is in the log as deltas that are joined; who goes on behind
 * any of its pieces gets the others alone, also from a server that told none of them. */
TEST_IF(capability_store(), a_joined_delta_goes_on_behind_any_of_its_pieces)
{
    enum { PIECES = 40 };
    struct http_client turn;
    AUTO(buf_release) struct buf text = BUF_INIT;
    int64_t seqs[2 * PIECES];
    size_t told[2 * PIECES], kept = 0, count = 0;
    for (int i = 10; i < 10 + PIECES; i++)
        buf_addf(&text, "%d", i);
    QUEUE(model, .text = text.data, .piece = 2, .interval_ms = 40, .fault = REPLY_STALL);
    char *id = serve_session();
    events_open(&events, tiro.port, id, 0);
    begin_turn(&turn, tiro.port, id, "go");
    for (size_t len = 0; len < text.len; count++) {
        events_expect(&events, "text_delta");
        len += strlen(json_get_string(parse_json(events.data), "delta"));
        seqs[count] = atoll(events.id);
        told[count] = len;
    }
    events_close(&events);
    kill(tiro.child.pid, SIGKILL);
    (void)support_finish(&tiro.child, NULL);
    support_release(&tiro.child);
    http_client_close(&turn);
    model_server_release(model);
    SERVE(&tiro, SCRIPTED);
    struct http_answer a = GET(support_text("/sessions/%s/history", id));
    const struct json *list = json_get(http_json(&a), "events");
    for (const struct json *ev = json_first(list); ev; ev = json_next(ev))
        if (strcmp(json_get_string(ev, "type"), "text_delta") == 0)
            kept += strlen(json_get_string(ev, "delta"));
    assert_true(kept > told[1]);
    for (size_t i = 0; i < count && told[i] < kept; i++)
        assert_string_equal(text_of_deltas(tiro.port, id, seqs[i], kept - told[i]),
                            support_text("%.*s", (int)(kept - told[i]), text.data + told[i]));
}

TEST(who_asked_and_goes_away_stops_nothing)
{
    struct http_client turn;
    QUEUE(model, .text = "to nobody", .hold = true);
    char *id = serve_session();
    events_open(&events, tiro.port, id, 0);
    begin_turn(&turn, tiro.port, id, "go");
    assert_true(model_server_wait(model, 1, WAIT_MS));
    http_client_close(&turn);
    model_server_release(model);
    events_expect(&events, "run_completed");
    assert_text(events.data, "to nobody");
}

TEST(a_reader_that_goes_away_stops_nothing)
{
    struct http_client turn;
    QUEUE(model, .text = "some words that take their time", .piece = 2, .interval_ms = 5);
    char *id = serve_session();
    events_open(&events, tiro.port, id, 0);
    begin_turn(&turn, tiro.port, id, "go");
    events_expect(&events, "text_delta");
    events_close(&events);
    struct http_answer a = http_client_answer(&turn);
    assert_json(http_json(&a), "{'stop_reason':'end_turn'}");
    http_client_close(&turn);
}

/* --- readers that are slow, readers that are many --------------------------------------------- */

TEST(a_slow_reader_is_told_what_it_missed_and_takes_no_memory)
{
    struct http_stream slow;
    const int small = 65536, turns = 6;
    const size_t len = (size_t)200 << 10; /* longer events would come out of the log */
    char *text = support_keep(mem_alloc(len + 1));
    memset(text, 'x', len);
    char *id = serve_session();
    events_open(&slow, tiro.port, id, 0);
    setsockopt(slow.client.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < turns; i++) {
        QUEUE(model, .text = text, .piece = 16384);
        run_turn(tiro.port, id, "go");
    }
    run_turn(tiro.port, id, "the last one");
    int64_t dropped = 0, seen = 0;
    while (!(slow.data && strstr(slow.data, "the last one")) && events_next(&slow, WAIT_MS)) {
        if (strcmp(slow.name, "stream_truncated") == 0) {
            const struct json *v = parse_json(slow.data);
            dropped += json_get_int(v, "dropped", 0);
            assert_int_equal(json_get_int(v, "after", -1), seen);
        } else if (*slow.id) {
            assert_true(atoll(slow.id) > seen || strcmp(slow.name, "session_loaded") == 0);
            seen = atoll(slow.id);
        }
    }
    assert_text(slow.data, "the last one");
    assert_true(dropped > 0);
    events_close(&slow);
}

/* --- readers of long messages ----------------------------------------------------------------- */

/* Messages of 3 MiB, or of READERS_MIB, which makes them and their readers as many as an attacker
 * did. */
struct attack {
    size_t bytes;
    int messages, readers, most_mib, stop_ms;
};

static struct attack attack_of(void)
{
    const char *given = getenv("READERS_MIB");
    return given ? (struct attack){(size_t)atoi(given) << 20, 20, 70, 128, 2000}
                 : (struct attack){3 << 20, 4, 20, 120, 2500};
}

/* The id of a session of long messages. */
static char *import_long_messages(const struct attack *k)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    char *words = support_keep(mem_alloc(k->bytes + 1));
    for (size_t i = 0; i < k->bytes; i++)
        words[i] = "a few words "[i % 12];
    for (int i = 0; i < k->messages; i++)
        buf_addf(&text, "%s{\"role\":\"%s\",\"content\":\"%d\\n\\u20ac%s\"}", i ? "," : "[",
                 i % 2 ? "assistant" : "user", i, words);
    buf_addstr(&text, "]");
    char *path = support_path("long.json");
    support_write(path, text.data);
    char *id = program_output(RUN("sessions", "import", path));
    id[strcspn(id, "\n")] = '\0';
    return id;
}

/* Resident bytes at most so far. */
static long peak_kib(const struct served *s)
{
    const char *line =
        strstr(support_read(support_text("/proc/%d/status", (int)s->child.pid)), "VmHWM:");
    return line ? strtol(line + strlen("VmHWM:"), NULL, 10) : 0;
}

/* Asks, and others meanwhile: none of them waits for more than *worst ms. */
static struct http_answer ask_beside_others(int port, const char *path, const char *body,
                                            int64_t *worst)
{
    struct http_client c;
    const char *json = support_json(body);
    http_client_open(&c, port);
    http_client_send(&c, support_text("POST %s HTTP/1.1\r\n" HTTP_HOST
                                      "Content-Type: application/json\r\nContent-Length: %zu"
                                      "\r\n\r\n%s",
                                      path, strlen(json), json));
    while (!http_client_read(&c, 5)) {
        int64_t began = clock_mono_ms();
        assert_int_equal(http_ask(port, "GET", "/sessions", NULL).status, 200);
        if (clock_mono_ms() - began > *worst)
            *worst = clock_mono_ms() - began;
    }
    struct http_answer a = http_client_answer(&c);
    http_client_close(&c);
    return a;
}

/* A reader in between gets each event as the log has it, and soon. */
TEST_IF(capability_store(), readers_that_take_nothing_hold_little)
{
    const struct attack k = attack_of();
    auto_free struct http_client *stuck = mem_alloc((size_t)k.readers * sizeof *stuck);
    int64_t worst = 0;
    write_config("[memory]\nindex = off\n"); /* it reads each long message whole, meanwhile */
    char *id = import_long_messages(&k);
    SERVE(&tiro, SCRIPTED);
    long before = peak_kib(&tiro);
    struct http_answer a = ask_beside_others(
        tiro.port, "/rpc",
        support_text(
            "{'jsonrpc':'2.0','id':1,'method':'context/read','params':{'session_id':'%s'}}", id),
        &worst);
    assert_text(a.body, "a few words");
    a = ask_beside_others(
        tiro.port, "/mcp",
        support_text("{'jsonrpc':'2.0','id':1,'method':'resources/read','params':{'uri':"
                     "'tiro://session/%s'}}",
                     id),
        &worst);
    assert_text(a.body, "\"error\"");
    print_message("context/read and a resource: %ld KiB; others wait %" PRId64 " ms\n",
                  peak_kib(&tiro) - before, worst);
    for (int i = 0; i < k.readers; i++) {
        http_client_open(&stuck[i], tiro.port);
        http_client_send(&stuck[i],
                         support_text("GET /sessions/%s/%s HTTP/1.1\r\n" HTTP_HOST "\r\n", id,
                                      i % 3 ? "events?after=0" : "history?limit=1000"));
    }
    events_open(&events, tiro.port, id, 0);
    for (int messages = 0; messages < k.messages;) {
        assert_true(events_next(&events, WAIT_MS));
        if (!*events.id || atoll(events.id) == 0)
            continue;
        struct http_answer page = http_ask(
            tiro.port, "GET",
            support_text("/sessions/%s/history?after=%lld&limit=1", id, atoll(events.id) - 1),
            NULL);
        assert_true(page.status == 503 || strstr(page.body, events.data));
        messages += strlen(events.data) > k.bytes;
    }
    events_close(&events);
    print_message("%d readers: %ld KiB\n", k.readers, peak_kib(&tiro) - before);
    if (SUPPORT_TELLS_MEMORY && before > 0)
        assert_in_range(peak_kib(&tiro) - before, 0, k.most_mib * 1024);
    int64_t began = clock_mono_ms();
    assert_int_equal(served_stop(&tiro), 0);
    assert_in_range(clock_mono_ms() - began, 0, k.stop_ms);
    for (int i = 0; i < k.readers; i++)
        http_client_close(&stuck[i]);
}

enum { MANY = 1000 };

/* Raises the limit of open files as far as allowed, as the program does. Returns false if that is
 * not enough. */
static bool limit_files(rlim_t files)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur == files;
}

TEST(a_thousand_streams_at_once)
{
    if (!limit_files(2 * MANY))
        skip();
    auto_free struct http_stream *streams = mem_alloc(MANY * sizeof *streams);
    limit_files(256);
    SERVE(&tiro, SCRIPTED);
    limit_files(2 * MANY);
    char *id = http_begin_session(tiro.port);
    run_turn(tiro.port, id, "before");
    size_t before = served_memory(&tiro);
    for (int i = 0; i < MANY; i++)
        events_open(&streams[i], tiro.port, id, -1);
    size_t each = (served_memory(&tiro) - before) / MANY;
    int64_t began = clock_mono_ms();
    run_turn(tiro.port, id, "to all");
    for (int i = 0; i < MANY; i++) {
        events_expect(&streams[i], "run_completed");
        events_close(&streams[i]);
    }
    print_message("%d streams: %zu bytes each, a turn to all of them in %" PRId64 " ms\n", MANY,
                  each, clock_mono_ms() - began);
    if (SUPPORT_TELLS_MEMORY)
        assert_true(each < 64 * 1024);
    assert_int_equal(GET("/health").status, 200);
}

/* --- events without a number ------------------------------------------------------------------ */

TEST(a_question_that_waits_is_told_to_who_comes_back)
{
    struct http_client turn;
    QUEUE(model, .tool_name = "run_command", .tool_args = "{\"command\":\"echo hi\"}");
    SERVE(&tiro, SCRIPTED, "--tools", "full", "--allow", "owner");
    char *id = http_begin_session(tiro.port);
    events_open(&events, tiro.port, id, 0);
    begin_turn(&turn, tiro.port, id, "go");
    events_expect(&events, "approval/requested");
    assert_string_equal(events.id, "");
    events_close(&events);
    events_open(&events, tiro.port, id, -1);
    events_expect(&events, "approval/requested");
    const struct json *asked = parse_json(events.data);
    struct http_answer a = http_ask(
        tiro.port, "POST", "/rpc",
        support_text(
            "{'jsonrpc':'2.0','id':1,'method':'approval/decide','params':{'session_id':'%s',"
            "'call':'%s','decision':'once'}}",
            id, json_get_string(asked, "call")));
    assert_no_text(a.body, "\"error\"");
    events_expect(&events, "tool_execution_completed");
    assert_text(events.data, "hi");
    events_expect(&events, "run_completed");
    events_close(&events);
    end_turn(&turn);
}

/* --- readers that go away --------------------------------------------------------------------- */

static int files_of(const struct served *s)
{
    char *script = support_text("ls /proc/%d/fd | wc -l", (int)s->child.pid);
    FILE *p = popen(script, "r");
    int n = 0;
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static bool few_files(void *context)
{
    return files_of(context) < 60;
}

static bool files_of_forty_sessions(void *context)
{
    return files_of(context) <= 40 * 7;
}

/* Each open session has a database, its log, a lock, a directory and a pipe. */
TEST(sessions_that_rest_keep_few_files)
{
    SERVE(&tiro, SCRIPTED);
    for (int i = 0; i < 60; i++)
        (void)http_begin_session(tiro.port);
    assert_true(support_wait_until(files_of_forty_sessions, &tiro, WAIT_MS));
}

/* Long before the heartbeat tells. */
TEST(readers_that_hang_up_are_let_go)
{
    write_config("[serve]\nheartbeat = 3600\n");
    enum { READERS = 100 };
    struct http_stream streams[READERS];
    char *id = serve_session();
    for (int i = 0; i < READERS; i++)
        events_open(&streams[i], tiro.port, id, -1);
    assert_false(few_files(&tiro));
    for (int i = 0; i < READERS; i++)
        events_close(&streams[i]);
    assert_true(support_wait_until(few_files, &tiro, WAIT_MS));
}

/* A client as netcat: it closes its writing half after the request. */
TEST(who_closes_its_half_alone_is_answered)
{
    struct http_client turn;
    QUEUE(model, .text = "late", .hold = true);
    char *id = serve_session();
    events_open(&events, tiro.port, id, -1);
    shutdown(events.client.fd, SHUT_WR);
    begin_turn(&turn, tiro.port, id, "go");
    shutdown(turn.fd, SHUT_WR);
    assert_true(model_server_wait(model, 1, WAIT_MS));
    model_server_release(model);
    end_turn(&turn);
    events_expect(&events, "run_completed");
}
