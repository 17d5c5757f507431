/* The real program, killed with SIGKILL at any moment, again and again in the same sessions: what
 * it had shown is kept, and what a crash cut off harms nothing. TIRO_CRASH_ROUNDS sets how often.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/vec.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/snapshot.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/program.h"
#include "tests/support.h"
#include "tests/surface.h"

enum { DEADLINE_MS = 20000, ROUNDS = 200, SESSIONS_AT_ONCE = 3, LONGEST_LINE_COUNT = 12 };

static char *database;
static size_t rounds = ROUNDS;

static int setup(void **state)
{
    if (support_setup(state) != 0 || chdir(support_dir()) != 0)
        return -1;
    database = support_path(".local/share/tiro/tiro.db");
    char *note = support_path("note.txt");
    support_write(note, "Verba volant, scripta manent.\n");
    free(note);
    return 0;
}

static int teardown(void **state)
{
    free(database);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

static size_t below(size_t n)
{
    return (size_t)(entropy_unit() * (double)n);
}

static void check(bool ok, const struct error *e)
{
    if (!ok)
        fail_msg("%s: %s", err_info(e->code)->name, e->text);
}

/* --- what the model answers --------------------------------------------------------------------
 */

/* What a round's answer says, so that it can be told from every other round's. */
static char *answer_of(int round, size_t words)
{
    struct buf text = BUF_INIT;
    buf_addf(&text, "answer-%d:", round);
    for (size_t i = 0; i < words; i++)
        buf_addf(&text, " wörd%zu", i);
    return buf_take(&text);
}

/* The first piece holds the mark of the round. */
static void queue(struct model_server *s, struct reply r)
{
    r.piece = 16 + below(200);
    model_server_queue(s, &r);
}

static void queue_call(struct model_server *s, const char *id)
{
    queue(s, (struct reply){.text = "I look.",
                            .tool_name = "read_file",
                            .tool_args = "{\"path\":\"note.txt\"}",
                            .tool_id = id});
}

static void queue_refusal(struct model_server *s, int status)
{
    queue(s, (struct reply){.fault = REPLY_STATUS,
                            .status = status,
                            .error_type = "of_the_script",
                            .error_message = "not now",
                            .retry_after = "0"});
}

enum plan { PLAIN, LONG, REASONED, ONE_CALL, TWO_CALLS, RETRIED, BROKEN_OFF, REFUSED, PLAN_COUNT };

/* The replies of a turn; the last one with this fault. */
static void queue_turn(struct model_server *s, enum plan plan, int round, enum reply_fault fault,
                       bool hold)
{
    char *answer = answer_of(round, plan == LONG ? 400 + below(6000) : below(40));
    if (plan == ONE_CALL || plan == TWO_CALLS)
        queue_call(s, "call_1");
    if (plan == TWO_CALLS)
        queue_call(s, "call_2");
    if (plan == RETRIED)
        queue_refusal(s, 503);
    if (plan == REFUSED)
        queue_refusal(s, 401);
    else
        queue(s, (struct reply){.text = answer,
                                .reasoning = plan == REASONED ? "Let me think. Yes." : NULL,
                                .fault = plan == BROKEN_OFF ? REPLY_DISCONNECT : fault,
                                .hold = hold});
    free(answer);
}

/* --- when the program is killed ----------------------------------------------------------------
 */

enum moment {
    AT_START,
    AT_FIRST_BYTE,
    AT_REQUEST,
    AFTER_BYTES,
    AFTER_LINES,
    WHILE_STALLED,
    AT_END,
    NEVER,
    MOMENT_COUNT
};

/* Takes in what there is, after waiting for some. False at the end. */
static bool take_output(struct support_child *c)
{
    char chunk[2048];
    struct pollfd p = {.fd = c->out, .events = POLLIN};
    if (poll(&p, 1, DEADLINE_MS) <= 0)
        fail_msg("nothing came in time after: %s", c->out_text.data);
    ssize_t n = read(c->out, chunk, sizeof chunk);
    if (n > 0)
        buf_add(&c->out_text, chunk, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static size_t lines_in(const struct buf *text)
{
    size_t lines = 0;
    for (const char *at = text->data; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

static void wait_for_bytes(struct support_child *c, size_t bytes)
{
    while (c->out_text.len < bytes && take_output(c))
        ;
}

static void wait_for_lines(struct support_child *c, size_t lines)
{
    while (lines_in(&c->out_text) < lines && take_output(c))
        ;
}

static void wait_for_text(struct support_child *c, const char *text)
{
    while (!strstr(c->out_text.data, text) && take_output(c))
        ;
}

static void wait_for(enum moment moment, struct support_child *c, struct model_server *s)
{
    switch (moment) {
    case AT_FIRST_BYTE:
        wait_for_bytes(c, 1);
        break;
    case AT_REQUEST:
        assert_true(model_server_wait(s, 1, DEADLINE_MS));
        break;
    case AFTER_BYTES:
        wait_for_bytes(c, 1 + below(6000));
        break;
    case AFTER_LINES:
        wait_for_lines(c, 1 + below(LONGEST_LINE_COUNT));
        break;
    case WHILE_STALLED:
        wait_for_text(c, "answer-");
        break;
    case AT_END:
        wait_for_text(c, "\"type\":\"run_");
        wait_for_text(c, below(2) ? "\"run_completed\"" : "\"turn_completed\"");
        break;
    case NEVER:
        wait_for_bytes(c, SIZE_MAX);
        return;
    case AT_START:
    case MOMENT_COUNT:
        break;
    }
    kill(c->pid, SIGKILL);
}

/* --- what a log says of the turns before -------------------------------------------------------
 */

struct past_turn {
    int round;           /* that its input names */
    bool answered, kept; /* it got any text; the next request has it */
};

struct past {
    VEC(struct past_turn) turns;
};

static bool remember(void *context, const struct event *ev)
{
    struct past *p = context;
    struct past_turn turn = {0};
    if (ev->type == EVENT_RUN_STARTED) {
        assert_int_equal(sscanf(ev->text, "ask-%d:", &turn.round), 1);
        vec_push(&p->turns, turn);
    } else if (ev->type == EVENT_TEXT_COMPLETE) {
        vec_last(&p->turns).answered = true;
    } else if (ev->type == EVENT_RUN_COMPLETED) {
        vec_last(&p->turns).kept = true;
    } else if (ev->type == EVENT_RUN_FAILED) {
        vec_last(&p->turns).kept = vec_last(&p->turns).answered;
    }
    return true;
}

static void assert_holds(const char *body, const char *what, int round, bool wanted)
{
    char *mark = mem_printf("%s-%d:", what, round);
    if (!!strstr(body, mark) != wanted)
        fail_msg("\"%s\" %s in the request: %s", mark, wanted ? "is not" : "is", body);
    free(mark);
}

/* A turn that was cut off is in no request. */
static void assert_requests(struct model_server *s, const struct past *past, int round)
{
    for (size_t i = 0; i < model_server_requests(s); i++) {
        const char *body = model_server_body(s, i);
        assert_holds(body, "ask", round, true);
        for (size_t t = 0; t < past->turns.len; t++) {
            assert_holds(body, "ask", past->turns.items[t].round, past->turns.items[t].kept);
            assert_holds(body, "answer", past->turns.items[t].round, past->turns.items[t].kept);
        }
    }
}

/* --- a round -----------------------------------------------------------------------------------
 */

struct tally {
    size_t killed, cut_off, ended, shown;
};

struct crash_test {
    VEC(char *) sessions;
    struct tally tally;
};

static bool is_delta(const char *type)
{
    return strcmp(type, "text_delta") == 0 || strcmp(type, "reasoning_delta") == 0;
}

/* A line that was shown whole is in the log, byte for byte, but for streamed text. Its number, and
 * its session's id in `id`. */
static int64_t assert_kept(struct store *store, const char *line, char *id, struct tally *tally)
{
    struct json *v = parse_json(line);
    int64_t seq = json_get_int(v, "seq", 0);
    strcpy(id, json_get_string(v, "session_id"));
    if (!is_delta(json_get_string(v, "type"))) {
        if (!log_has_line(store, id, seq, line))
            fail_msg("shown, but not in the log: %s", line);
        tally->shown++;
    }
    json_free(v);
    return seq;
}

static void assert_shown_is_kept(struct store *store, char *out, char *id, struct tally *tally)
{
    int64_t last = 0;
    for (char *end; (end = strchr(out, '\n')); out = end + 1) {
        *end = '\0';
        int64_t seq = assert_kept(store, out, id, tally);
        assert_true(seq > last);
        last = seq;
    }
}

static struct store *open_to_read(void)
{
    struct store *store;
    struct error e = {0};
    if (access(database, F_OK) != 0)
        return NULL;
    if (store_open(database, STORE_READ_ONLY, &store, &e))
        return store;
    if (e.code != ERR_SESSION_NOT_FOUND)
        fail_msg("%s", e.text);
    return NULL;
}

static struct past past_of(const char *id)
{
    struct past past = {0};
    struct error e = {0};
    struct store *store = id ? open_to_read() : NULL;
    if (store)
        check(event_log_read(store, id, 0, remember, &past, &e), &e);
    store_close(store);
    return past;
}

static void count_end(const char *id, int round, struct tally *tally)
{
    struct past past = past_of(id);
    if (past.turns.len > 0 && vec_last(&past.turns).round == round) {
        tally->cut_off += !vec_last(&past.turns).kept;
        tally->ended += vec_last(&past.turns).kept;
    }
    vec_release(&past.turns);
}

/* Everything that has to hold after the program is gone. */
static void assert_after(struct crash_test *t, struct support_child *c, const char *resumed,
                         int round)
{
    char id[UUID_LEN + 1] = "";
    struct store *store = open_to_read();
    if (lines_in(&c->out_text) > 0)
        assert_non_null(store);
    assert_shown_is_kept(store, c->out_text.data, id, &t->tally);
    if (*id && resumed)
        assert_string_equal(id, resumed);
    const char *session = *id ? id : resumed;
    if (session)
        assert_session_sound(store, session);
    store_close(store);
    if (session)
        count_end(session, round, &t->tally);
    if (*id && !resumed)
        vec_push(&t->sessions, mem_strdup(id));
}

/* One of the newest sessions, or none. */
static const char *choose_session(const struct crash_test *t)
{
    size_t newest = t->sessions.len < SESSIONS_AT_ONCE ? t->sessions.len : SESSIONS_AT_ONCE;
    return newest == 0 || below(8) == 0 ? NULL
                                        : t->sessions.items[t->sessions.len - 1 - below(newest)];
}

static void start(struct support_child *c, const char *session, const char *prompt)
{
    const char *const argv[] = {support_program(), "run",  "--output-format",
                                "stream-json",     prompt, session ? "--resume" : NULL,
                                session,           NULL};
    support_start(c, argv);
    close(c->in); /* it is part of the prompt */
    c->in = -1;
}

static void play_round(struct crash_test *t, int round)
{
    enum moment moment = (enum moment)below(MOMENT_COUNT);
    enum plan plan = (enum plan)below(PLAN_COUNT);
    if (moment == WHILE_STALLED && (plan == REFUSED || plan == BROKEN_OFF))
        plan = PLAIN;
    struct model_server *server = begin_server();
    queue_turn(server, plan, round, moment == WHILE_STALLED ? REPLY_STALL : REPLY_OK,
               moment == AT_REQUEST);
    struct support_child c;
    const char *session = choose_session(t);
    struct past past = past_of(session);
    char *prompt = mem_printf("ask-%d: please.", round);
    start(&c, session, prompt);
    wait_for(moment, &c, server);
    int status = support_finish(&c, NULL);
    if (status > 1 && status != 128 + SIGKILL)
        fail_msg("status %d: %s", status, c.err_text.data);
    t->tally.killed += status == 128 + SIGKILL;
    assert_after(t, &c, session, round);
    assert_requests(server, &past, round);
    support_release(&c);
    free(prompt);
    vec_release(&past.turns);
    end_server(server);
}

/* --- the end -----------------------------------------------------------------------------------
 */

static bool drop_snapshot(void *store, const char *id)
{
    struct error e = {0};
    check(snapshot_drop(store, id, &e), &e);
    return true;
}

/* In a copy, all events make the same histories. */
static void assert_sound_without_snapshots(void)
{
    struct store *store;
    struct error e = {0};
    char *copy = support_path("copy.db");
    check(store_open(database, STORE_READ_WRITE, &store, &e), &e);
    store_close(store); /* folds the journal in */
    damage_copy(database, copy);
    assert_true(damage_sql(copy, "SELECT count(*) FROM snapshot") > 0);
    check(store_open(copy, STORE_READ_WRITE, &store, &e), &e);
    check(sessions_each(store, drop_snapshot, store, &e), &e);
    store_close(store);
    assert_int_equal(assert_store_sound(copy), assert_store_sound(database));
    free(copy);
}

static void what_was_shown_survives_a_kill(void **state)
{
    (void)state;
    struct crash_test t = {0};
    size_t count = rounds;
    entropy_seed(support_seed());
    for (int round = 1; round <= (int)count; round++)
        play_round(&t, round);
    print_message("%zu rounds: %zu killed, %zu turns cut off, %zu ended, %zu events shown\n", count,
                  t.tally.killed, t.tally.cut_off, t.tally.ended, t.tally.shown);
    if (count >= ROUNDS) {
        assert_true(t.tally.killed > count / 2);
        assert_true(t.tally.cut_off > count / 10);
        assert_true(t.tally.ended > count / 10);
        assert_true(t.tally.shown > count);
    }
    assert_sound_without_snapshots();
    for (size_t i = 0; i < t.sessions.len; i++)
        free(t.sessions.items[i]);
    vec_release(&t.sessions);
}

/* The user sends the message again that a crash cut off. */
static void what_was_cut_off_can_be_sent_again(void **state)
{
    (void)state;
    struct model_server *server = begin_server();
    struct support_child c;
    queue_turn(server, PLAIN, 1, REPLY_OK, false);
    queue_turn(server, TWO_CALLS, 2, REPLY_STALL, false);
    start(&c, NULL, "ask-1: please.");
    assert_int_equal(support_finish(&c, NULL), 0);
    support_release(&c);
    start(&c, "last", "ask-2: please.");
    wait_for(WHILE_STALLED, &c, server);
    assert_int_equal(support_finish(&c, NULL), 128 + SIGKILL);
    support_release(&c);

    struct config *config = config_new();
    struct service *service = service_new(&(struct service_options){.config = config,
                                                                    .store_path = database,
                                                                    .provider = "openai",
                                                                    .model = "scripted-model",
                                                                    .persist = true,
                                                                    .resume = "last"});
    size_t before = model_server_requests(server);
    surface_send(service, COMMAND_RETRY, NULL);
    struct notice *n = surface_expect_event(service, EVENT_RUN_STARTED);
    assert_string_equal(n->event->text, "ask-2: please.");
    notice_free(n);
    surface_expect_idle(service);
    const char *body = model_server_body(server, before);
    assert_holds(body, "answer", 1, true);
    assert_holds(body, "answer", 2, false);
    assert_no_text(body, "scripta manent");
    const char *again = strstr(body, "ask-2:");
    assert_non_null(again);
    assert_null(strstr(again + 1, "ask-2:"));
    service_free(service);
    config_free(config);
    end_server(server);
    assert_int_equal(assert_store_sound(database), 1);
}

int main(void)
{
    const char *given = getenv("TIRO_CRASH_ROUNDS"); /* no test sees it */
    if (given)
        rounds = strtoul(given, NULL, 10);
    const struct CMUnitTest all[] = {
        support_stored(what_was_shown_survives_a_kill, setup, teardown),
        support_stored(what_was_cut_off_can_be_sent_again, setup, teardown),
    };
    return cmocka_run_group_tests_name("crash", all, NULL, NULL);
}
