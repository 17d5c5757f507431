/* `tiro serve --socket`: many clients, and the path. */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "session/capability.h"
#include "tests/program.h"
#include "tests/rpc_client.h"
#include "tests/suite.h"

static struct model_server *model;
static struct support_child server; /* which ends with the test */
static const char *path;

static int set_up(void **state)
{
    support_setup(state);
    model = begin_server();
    path = support_path("socket");
    return 0;
}

static struct sockaddr_un address_of(const char *at)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert_true(strlen(at) < sizeof address.sun_path);
    memcpy(address.sun_path, at, strlen(at) + 1);
    return address;
}

static bool is_listened_at(void *context)
{
    struct sockaddr_un address = address_of(context);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool is = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return is;
}

static void start(void)
{
    support_start(&server, (const char *const[]){support_program(), "serve", "--socket", path,
                                                 "--tools", "full", NULL});
    assert_true(support_wait_until(is_listened_at, (void *)(uintptr_t)path, RPC_CLIENT_MS));
}

static void stop(void)
{
    kill(server.pid, SIGTERM);
    assert_int_equal(support_finish(&server, NULL), 0);
    assert_string_equal(server.out_text.data, "");
    support_release(&server);
    server.pid = 0;
}

static int tear_down(void **state)
{
    if (server.pid)
        stop();
    end_server(model);
    return support_teardown(state);
}

FIXTURE(set_up, tear_down);

static const char *create(struct rpc_client *c)
{
    const struct json *made = rpc_client_result(c, "session/create", "{}");
    return support_text("%s", json_get_string(made, "id"));
}

TEST(the_path_is_the_users_alone_and_goes_with_the_server)
{
    start();
    struct stat there;
    assert_int_equal(stat(path, &there), 0);
    assert_true(S_ISSOCK(there.st_mode));
    assert_int_equal(there.st_mode & 07777, 0600);
    stop();
    assert_int_equal(stat(path, &there), -1);
}

TEST(a_path_that_is_in_use_is_refused)
{
    start();
    expect(RUN("serve", "--socket", path), 1, "listens at");
    assert_true(is_listened_at((void *)(uintptr_t)path));
}

TEST(what_is_no_socket_stays)
{
    support_write(path, "mine");
    expect(RUN("serve", "--socket", path), 1, "no socket");
    assert_string_equal(support_read(path), "mine");
    char *deep = support_keep(malloc(200));
    memset(deep, 'x', 199);
    deep[199] = '\0';
    expect(RUN("serve", "--socket", deep), 1, "shorter");
}

TEST(a_stale_socket_is_replaced)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    start();
}

TEST(clients_come_and_go_and_interrupt_nothing)
{
    start();
    struct rpc_client first, second;
    rpc_client_connect(&first, path);
    rpc_client_connect(&second, path);
    const char *session = create(&first);
    (void)rpc_client_result(&second, "events/subscribe", NULL);
    QUEUE(model, .fault = REPLY_STALL, .text = "so far");
    (void)rpc_client_ask(&first, "turn/start",
                         support_text("{'session_id':'%s','prompt':'go on'}", session));
    (void)rpc_client_told(&first, "session/event", "text_delta");
    assert_int_equal(rpc_client_end(&first), 0);
    (void)rpc_client_told(&second, "session/event", "text_delta");
    model_server_release(model);
    (void)rpc_client_told(&second, "session/event", "run_completed");
    rpc_client_end(&second);
}

TEST(who_could_start_no_turn_hears_nothing_of_it)
{
    start();
    struct rpc_client first, second;
    rpc_client_connect(&first, path);
    rpc_client_connect(&second, path);
    const char *id = create(&first);
    const char *params = support_text("{'session_id':'%s','prompt':'go on'}", id);
    QUEUE(model, .fault = REPLY_STALL, .text = "so far");
    (void)rpc_client_ask(&first, "turn/start", params);
    (void)rpc_client_told(&first, "session/event", "text_delta");
    (void)rpc_client_error(&second, "turn/start", params, "SESSION_BUSY");
    model_server_release(model);
    (void)rpc_client_told(&first, "session/event", "run_completed");
    (void)rpc_client_result(&second, "session/list", NULL);
    assert_false(rpc_client_was_told(&second, "session/event", NULL));
    rpc_client_end(&first);
    rpc_client_end(&second);
}

/* Checks the numbers of the events that come, and joins the pieces of the answer. */
static const char *heard_text(struct rpc_client *c)
{
    struct buf text = BUF_INIT;
    int64_t last = 0;
    const char *type = "";
    while (strcmp(type, "run_completed") != 0) {
        const struct json *event = json_get(rpc_client_told(c, "session/event", NULL), "event");
        const char *delta = json_get_string(event, "delta");
        type = json_get_string(event, "type");
        if (json_get_int(event, "seq", 0) <= last)
            fail_msg("%s comes behind %d", support_keep(json_print(event)), (int)last);
        last = json_get_int(event, "seq", 0);
        if (delta)
            buf_addstr(&text, delta);
    }
    return support_keep(buf_take(&text));
}

/* Some clients come before the log has any of the answer, some when it has a part. */
TEST_IF(capability_store(), who_follows_from_any_moment_on_gets_the_whole_answer_once)
{
    enum { MANY = 12, BYTES = 2000 };
    start();
    struct rpc_client first, others[MANY];
    char *text = support_keep(malloc(BYTES + 1));
    for (int i = 0; i < BYTES; i++)
        text[i] = (char)('a' + i % 26);
    text[BYTES] = '\0';
    QUEUE(model, .text = text, .piece = 5, .interval_ms = 5);
    rpc_client_connect(&first, path);
    const char *session = create(&first);
    (void)rpc_client_ask(&first, "turn/start",
                         support_text("{'session_id':'%s','prompt':'spell'}", session));
    size_t streamed = 0;
    for (int i = 0; i < MANY; i++) {
        while (streamed < (size_t)i * BYTES / MANY) {
            const struct json *told = rpc_client_told(&first, "session/event", "text_delta");
            streamed += strlen(json_get_string(json_get(told, "event"), "delta"));
        }
        rpc_client_connect(&others[i], path);
        (void)rpc_client_result(&others[i], "events/subscribe",
                                support_text("{'session_id':'%s','since':0}", session));
    }
    for (int i = 0; i < MANY; i++) {
        assert_string_equal(heard_text(&others[i]), text);
        rpc_client_end(&others[i]);
    }
    rpc_client_end(&first);
}

/* The client that the tool asked has gone; the next client is asked, and decides. */
TEST_IF(capability_store(), a_question_outlives_the_client_that_was_asked)
{
    assert_int_equal(chdir(support_dir()), 0);
    start();
    struct rpc_client first, second;
    rpc_client_connect(&first, path);
    const char *session = create(&first);
    QUEUE(model, .tool_name = "write_file", .tool_args = "{\"path\":\"a.txt\",\"content\":\"x\"}");
    (void)rpc_client_ask(&first, "turn/start",
                         support_text("{'session_id':'%s','prompt':'write'}", session));
    (void)rpc_client_told(&first, "approval/requested", NULL);
    assert_int_equal(rpc_client_end(&first), 0);
    rpc_client_connect(&second, path);
    (void)rpc_client_result(&second, "events/subscribe",
                            support_text("{'session_id':'%s'}", session));
    const struct json *asked = rpc_client_told(&second, "approval/requested", NULL);
    (void)rpc_client_result(&second, "approval/decide",
                            support_text("{'session_id':'%s','call':'%s','decision':'once'}",
                                         session, json_get_string(asked, "call")));
    (void)rpc_client_told(&second, "session/event", "run_completed");
    assert_string_equal(support_read(support_path("a.txt")), "x");
    rpc_client_end(&second);
}

/* … including a client that follows all sessions without knowing which of them asks. */
TEST(who_comes_for_all_sessions_is_asked_what_waits)
{
    enum { SESSIONS = 2 };
    assert_int_equal(chdir(support_dir()), 0);
    start();
    struct rpc_client first, second;
    rpc_client_connect(&first, path);
    for (int i = 0; i < SESSIONS; i++) {
        const char *args = support_text("{\"path\":\"%d.txt\",\"content\":\"x\"}", i);
        QUEUE(model, .tool_name = "write_file", .tool_args = args);
        (void)rpc_client_ask(&first, "turn/start",
                             support_text("{'session_id':'%s','prompt':'write'}", create(&first)));
        (void)rpc_client_told(&first, "approval/requested", NULL);
    }
    assert_int_equal(rpc_client_end(&first), 0);
    rpc_client_connect(&second, path);
    (void)rpc_client_result(&second, "events/subscribe", NULL);
    for (int i = 0; i < SESSIONS; i++) {
        const struct json *asked = rpc_client_told(&second, "approval/requested", NULL);
        (void)rpc_client_result(&second, "approval/decide",
                                support_text("{'session_id':'%s','call':'%s','decision':'once'}",
                                             json_get_string(asked, "session_id"),
                                             json_get_string(asked, "call")));
    }
    for (int i = 0; i < SESSIONS; i++)
        (void)rpc_client_told(&second, "session/event", "run_completed");
    for (int i = 0; i < SESSIONS; i++)
        assert_string_equal(support_read(support_path(support_text("%d.txt", i))), "x");
    rpc_client_end(&second);
}

TEST(rubbish_and_silence_harm_nobody)
{
    start();
    struct rpc_client silent, loud, good;
    rpc_client_connect_raw(&silent, path);
    rpc_client_connect_raw(&loud, path);
    rpc_client_write(&loud, "GET / HTTP/1.1\r\n\r\n\x01\xff\n[[[[\n");
    const struct json *error = json_get(rpc_client_next(&loud), "error");
    assert_int_equal(json_get_int(error, "code", 0), -32700);
    rpc_client_connect(&good, path);
    (void)rpc_client_result(&good, "session/list", NULL);
    rpc_client_end(&silent);
    rpc_client_end(&loud);
    rpc_client_end(&good);
}

TEST(a_hundred_clients_are_served_at_once)
{
    enum { MANY = 100 };
    start();
    struct rpc_client clients[MANY];
    for (int i = 0; i < MANY; i++)
        rpc_client_connect(&clients[i], path);
    for (int i = 0; i < MANY; i++)
        (void)rpc_client_result(&clients[i], "session/list", NULL);
    for (int i = 0; i < MANY; i++)
        rpc_client_end(&clients[i]);
}

/* As systemd does: the socket is descriptor 3, and LISTEN_PID names the process. */
TEST(a_socket_that_was_opened_for_us_is_taken)
{
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct rpc_client c;
    struct stat there;
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 8), 0);
    const char *command = support_text(
        "exec 3<&%d; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$0\" serve "
        "--socket /nowhere/at/all",
        fd);
    support_start(&server,
                  (const char *const[]){"/bin/sh", "-c", command, support_program(), NULL});
    rpc_client_connect(&c, path);
    (void)rpc_client_result(&c, "engine/info", NULL);
    rpc_client_end(&c);
    stop();
    assert_int_equal(stat(path, &there), 0); /* it is not ours to take away */
    close(fd);
}
