/* The loop of the surfaces for other programs: its events, and its end. */
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "serve/server.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "tests/suite.h"
#include "tests/surface.h"

FIXTURE(surface_setup, surface_teardown);

/* The notices that a surface got; each test ends when it has all that it waits for. */
struct heard {
    struct server *server;
    struct listener *listener;
    struct watch *watch;
    struct timer *other;
    int fds[2];
    int answers, notices, bytes, times, begun;
    enum err_code failed;
    char session[UUID_LEN + 1];
    struct turn_result turn;
};

static struct heard begin(void)
{
    struct engine_options o = surface_options(NULL, true);
    o.serves = true;
    struct heard h = {.server = server_new(&o), .fds = {-1, -1}};
    assert_non_null(h.server);
    server_hold(h.server);
    return h;
}

static void late(void *context)
{
    (void)context;
    fail_msg("nothing came for ten seconds");
}

static void run(struct heard *h)
{
    struct timer *t = server_after(h->server, SURFACE_MS, late, NULL);
    assert_int_equal(server_run(h->server), 0);
    server_cancel_timer(h->server, t);
}

static void on_answer(void *context, const struct operation_answer *a)
{
    struct heard *h = context;
    h->answers++;
    h->failed = a->error.code;
    server_unhold(h->server);
}

static void on_unwanted(void *context, const struct operation_answer *a)
{
    (void)context, (void)a;
    fail_msg("an answer came that was withdrawn");
}

TEST(an_answer_comes_from_the_loop_to_who_asked)
{
    struct heard h = begin();
    uint64_t gone = server_ask(h.server, &operation_engine_info, NULL, on_unwanted, &h);
    uint64_t id = server_ask(h.server, &operation_engine_info, NULL, on_answer, &h);
    assert_true(id != 0 && id != gone);
    assert_int_equal(h.answers, 0);
    server_withdraw(h.server, gone);
    run(&h);
    assert_int_equal(h.answers, 1);
    assert_int_equal(h.failed, ERR_OK);
    server_free(h.server);
}

static void on_bytes(void *context, short revents)
{
    struct heard *h = context;
    char byte;
    assert_true(revents & POLLIN);
    assert_int_equal(read(h->fds[0], &byte, 1), 1);
    if (++h->bytes < 3)
        return;
    server_unwatch(h->server, h->watch);
    server_unhold(h->server);
}

static void on_time(void *context)
{
    struct heard *h = context;
    h->times++;
    assert_int_equal(write(h->fds[1], "xyz", 3), 3);
}

TEST(descriptors_and_times_are_waited_for)
{
    struct heard h = begin();
    assert_int_equal(pipe(h.fds), 0);
    h.watch = server_watch(h.server, h.fds[0], 0, on_bytes, &h);
    watch_events(h.watch, POLLIN);
    (void)server_after(h.server, 1, on_time, &h);
    server_cancel_timer(h.server, server_after(h.server, 0, late, NULL));
    run(&h);
    assert_int_equal(h.bytes, 3);
    assert_int_equal(h.times, 1);
    close(h.fds[0]);
    close(h.fds[1]);
    server_free(h.server);
}

/* The first is deaf after the first notice, though others follow. */
static void on_first(void *context, const struct notice *n)
{
    struct heard *h = context;
    assert_int_not_equal(n->type, NOTICE_ANSWER);
    h->notices++;
    server_unlisten(h->server, h->listener);
}

static void on_turn(void *context, const struct operation_answer *a)
{
    struct heard *h = context;
    assert_int_equal(a->error.code, ERR_OK);
    h->turn.stop_reason = ((const struct turn_result *)a->result)->stop_reason;
    h->answers++;
}

static void on_created(void *context, const struct operation_answer *a)
{
    (void)context;
    assert_int_equal(a->error.code, ERR_OK);
}

static void on_begun(void *context, const struct notice *n)
{
    struct heard *h = context;
    if (n->type == NOTICE_SESSION && n->flag && h->begun++ == 0)
        (void)server_ask(
            h->server, &operation_turn_start,
            &(struct turn_start_params){.session = n->info.id, .text = "go on for ever"}, on_turn,
            h);
    if (n->type == NOTICE_EVENT && n->event->type == EVENT_TEXT_DELTA)
        server_stop(h->server);
}

TEST(a_stop_interrupts_turns_and_answers_who_asked_for_them)
{
    struct heard h = begin();
    model_server_queue(surface_server(), &(struct reply){.fault = REPLY_STALL, .text = "so far"});
    h.listener = server_listen(h.server, on_first, &h);
    (void)server_listen(h.server, on_begun, &h);
    (void)server_ask(h.server, &operation_session_create, NULL, on_created, &h);
    run(&h);
    assert_true(server_stopping(h.server));
    assert_int_equal(h.notices, 1);
    assert_int_equal(h.answers, 1);
    assert_int_equal(h.turn.stop_reason, STOP_CANCELLED);
    server_free(h.server);
    model_server_release(surface_server());
}

static void on_full(void *context, short revents)
{
    struct heard *h = context;
    assert_true(revents & POLLOUT);
    h->bytes++;
    watch_events(h->watch, 0);
}

static void drain(void *context)
{
    struct heard *h = context;
    char bytes[4096];
    while (read(h->fds[0], bytes, sizeof bytes) > 0)
        continue;
}

TEST(a_stop_waits_until_what_is_written_was_taken)
{
    struct heard h = begin();
    char bytes[4096] = {0};
    assert_int_equal(pipe(h.fds), 0);
    fcntl(h.fds[0], F_SETFL, O_NONBLOCK);
    fcntl(h.fds[1], F_SETFL, O_NONBLOCK);
    while (write(h.fds[1], bytes, sizeof bytes) > 0)
        continue;
    h.watch = server_watch(h.server, h.fds[1], POLLOUT, on_full, &h);
    (void)server_after(h.server, 20, drain, &h);
    server_unhold(h.server);
    run(&h);
    assert_int_equal(h.bytes, 1);
    close(h.fds[0]);
    close(h.fds[1]);
    server_free(h.server);
}
