/* `tiro serve` killed or ended amid turns in several sessions: acknowledged events are kept, each
 * session is sound and continues. Also the ownership of a session among programs that share a
 * store. SERVE_ROUNDS sets the number of rounds; TIRO_TEST_SEED repeats them. */
#include <signal.h>

#include "session/capability.h"
#include "store/sessions.h"
#include "tests/conversation.h"
#include "tests/history_check.h"
#include "tests/kill_model.h"
#include "tests/rpc_client.h"
#include "tests/scene.h"
#include "tests/suite.h"

NEEDS(capability_store() && capability_compaction() && capability_memory());

FIXTURE(scene_setup, scene_teardown);

/* --- killed ----------------------------------------------------------------------------------- */

enum { SESSIONS = 4, ROUNDS = 6, HEARD = 150, TURNS_A_ROUND = 12 };

static struct kill_model model;
static struct rpc_client client;
static struct dice dice;
static int running[SESSIONS]; /* id of the request for its turn; 0: none */
static int turns;             /* that were asked for */

static const char *id_of(int i)
{
    return model.sessions.items[i]->id;
}

static void ask_for_turn(int i)
{
    static const char *const calls[] = {NULL, NULL, "list_directory"};
    const char *call = calls[dice_below(&dice, 3)];
    QUEUE(scene_server(), .text = "This is said piece by piece, word after word.",
          .piece = 1 + dice_below(&dice, 20), .interval_ms = (int)dice_below(&dice, 4),
          .tool_name = call, .tool_args = call ? "{\"path\":\".\"}" : NULL);
    running[i] = rpc_client_ask(
        &client, "turn/start",
        support_text("{'session_id':'%s','prompt':'question %d'}", id_of(i), ++turns));
}

/* A signal may end a turn before anything of it was sent. */
static void take_answer(const struct json *v)
{
    const struct json *data = json_get(json_get(v, "error"), "data");
    const char *code = json_get_string(data, "code");
    for (int i = 0; i < SESSIONS; i++)
        if (running[i] && json_get_int(v, "id", 0) == running[i]) {
            if (!json_get(v, "result") && !(code && strcmp(code, "INTERRUPTED") == 0))
                fail_msg("%s", support_keep(json_print(v)));
            running[i] = 0;
        }
}

static void take_message(const struct json *v)
{
    const struct json *event = json_get(json_get(v, "params"), "event");
    const char *id = event ? json_get_string(event, "session_id") : NULL;
    if (id)
        kill_session_shown(&model, kill_model_session(&model, id), support_keep(json_print(event)));
    else if (!json_get(v, "method"))
        take_answer(v);
}

static void take_the_rest(void)
{
    for (size_t i = 0; i < client.waiting.len; i++)
        take_message(client.waiting.items[i]);
}

static void settle(void)
{
    struct store *store;
    struct error e;
    assert_int_equal(assert_store_sound(scene_store()), SESSIONS);
    if (!store_open(scene_store(), STORE_READ_WRITE, &store, &e))
        fail_msg("%s", e.text);
    kill_model_settle_sessions(&model, store);
    assert_int_equal(model.sessions.len, SESSIONS);
    store_close(store);
}

static void kill_once(void)
{
    bool killed = dice_below(&dice, 3) > 0;
    memset(running, 0, sizeof running);
    RPC_START(&client, "--tools", "full");
    (void)rpc_client_result(&client, "events/subscribe", NULL);
    while (model.sessions.len < SESSIONS) {
        const struct json *made = rpc_client_result(&client, "session/create", "{}");
        kill_model_add_session(&model, json_get_string(made, "id"));
    }
    /* Runs a turn in each session, and another when one has ended, until this number of messages
     * has come. */
    size_t messages = dice_below(&dice, HEARD);
    int asked = 0;
    for (int i = 0; i < SESSIONS; i++)
        ask_for_turn(i);
    for (size_t i = 0; i < messages; i++) {
        take_message(rpc_client_next(&client));
        int next = (int)dice_below(&dice, SESSIONS);
        if (!running[next] && asked++ < TURNS_A_ROUND)
            ask_for_turn(next);
    }
    int status = rpc_client_stop(&client, killed ? SIGKILL : SIGTERM);
    assert_int_equal(status, killed ? 128 + SIGKILL : 0);
    take_the_rest();
    if (!killed) {
        /* Every client that asked for a turn was answered and told how the turn ended. */
        for (int i = 0; i < SESSIONS; i++)
            assert_int_equal(running[i], 0);
    }
    rpc_client_end(&client);
    settle();
}

static void go_on(void)
{
    RPC_START(&client, NULL);
    for (int i = 0; i < SESSIONS; i++) {
        const struct json *turn = rpc_client_result(
            &client, "turn/start", support_text("{'session_id':'%s','prompt':'go on'}", id_of(i)));
        assert_string_equal(json_get_string(turn, "stop_reason"), "end_turn");
    }
    assert_int_equal(rpc_client_end(&client), 0);
    assert_int_equal(assert_store_sound(scene_store()), SESSIONS);
}

TEST(what_a_server_told_survives_it)
{
    const char *given = getenv("SERVE_ROUNDS");
    size_t rounds = given ? strtoul(given, NULL, 10) : ROUNDS;
    dice = (struct dice){support_seed()};
    for (size_t i = 0; i < rounds; i++)
        kill_once();
    go_on();
    print_message("%zu rounds, %d turns, %zu lines told\n", rounds, turns, model.lines_shown);
    kill_model_release(&model);
}

/* --- a store that programs share -------------------------------------------------------------- */

static const char *told_of(const char *session, const char *text)
{
    return support_text("{'session_id':'%s','prompt':'%s'}", session, text);
}

static const char *create(struct rpc_client *c)
{
    return support_text("%s", json_get_string(rpc_client_result(c, "session/create", "{}"), "id"));
}

static void close_session(struct rpc_client *c, const char *session)
{
    (void)rpc_client_result(c, "session/close", support_text("{'session_id':'%s'}", session));
}

/* A session belongs to the program that has it open; all may read it. */
TEST(a_session_is_one_programs_at_a_time)
{
    struct rpc_client servers[2];
    for (int i = 0; i < 2; i++)
        RPC_START(&servers[i], NULL);
    const char *session = create(&servers[0]), *shared = create(&servers[0]);
    (void)rpc_client_result(&servers[0], "turn/start", told_of(session, "one"));
    (void)rpc_client_error(&servers[1], "turn/start", told_of(session, "two"), "SESSION_BUSY");
    (void)rpc_client_error(&servers[1], "session/rename",
                           support_text("{'session_id':'%s','title':'two'}", session),
                           "SESSION_BUSY");
    (void)rpc_client_result(&servers[1], "context/read",
                            support_text("{'session_id':'%s'}", session));
    close_session(&servers[0], session);
    (void)rpc_client_result(&servers[1], "turn/start", told_of(session, "two"));
    (void)rpc_client_error(&servers[0], "turn/start", told_of(session, "three"), "SESSION_BUSY");
    close_session(&servers[1], session);

    struct screen *chat = scene_open(30, 80, STEPS("--resume", session));
    see(chat, "Hello from the scripted model."); /* it is open */
    for (int i = 0; i < 2; i++) {
        (void)rpc_client_error(&servers[i], "turn/start", told_of(session, "four"), "SESSION_BUSY");
        (void)rpc_client_result(&servers[i], "session/read",
                                support_text("{'session_id':'%s'}", session));
    }
    scene_exchange(chat, "four", "I am here.");
    (void)rpc_client_result(&servers[0], "turn/start", told_of(shared, "meanwhile"));
    scene_leave(chat);
    (void)rpc_client_result(&servers[0], "turn/start", told_of(session, "five"));
    assert_int_equal(rpc_client_stop(&servers[0], SIGKILL), 128 + SIGKILL);
    rpc_client_end(&servers[0]);
    const struct json *turn = /* a lock goes with who had it */
        rpc_client_result(&servers[1], "turn/start", told_of(session, "six"));
    assert_int_equal(json_get_int(turn, "turns", 0), 5);
    assert_int_equal(rpc_client_end(&servers[1]), 0);
    assert_int_equal(assert_store_sound(scene_store()), 2);
}
