/* The engine where two events meet: a change and a read-only session, an end and delayed work, a
 * deletion and foreign files, a question and a slow server. */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/conversation_private.h"
#include "tests/suite.h"
#include "tests/surface.h"

/* A kept session with one answer; its id. */
static void keep_one(char id[UUID_LEN + 1])
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    memcpy(id, surface_expect(s, NOTICE_SESSION)->info.id, UUID_LEN + 1);
    surface_ask(s, "one");
}

static struct engine *open_to_read(const char *id)
{
    struct engine_options options = surface_options(id, true);
    options.read_only = true;
    struct engine *s = engine_new(&options);
    surface_expect(s, NOTICE_PROVIDER);
    return s;
}

FIXTURE(surface_setup, surface_teardown);

TEST_IF(capability_store(), what_is_only_read_can_be_renamed)
{
    char id[UUID_LEN + 1];
    keep_one(id);
    struct engine *s = open_to_read(id);
    surface_send_for(s, &operation_session_label, NULL, "+kept", 0);
    surface_expect_changed(s);
    surface_send_for(s, &operation_session_rename, id, "Another", 0);
    struct notice *n = surface_expect(s, NOTICE_SESSION);
    assert_string_equal(n->info.title, "Another");
    assert_string_equal(n->info.labels, "kept");
    assert_true(n->read_only);
    engine_free(s);
    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_int_equal(list.items.len, 1);
    assert_string_equal(list.items.items[0].title, "Another");
    assert_string_equal(list.items.items[0].labels, "kept");
}

TEST_IF(capability_store(), what_another_writes_to_is_not_renamed)
{
    char id[UUID_LEN + 1];
    keep_one(id);
    AUTO(engine_free_local) struct engine *writer = surface_open(id, true);
    surface_expect(writer, NOTICE_PROVIDER);
    AUTO(engine_free_local) struct engine *s = open_to_read(id);
    surface_send_for(s, &operation_session_rename, NULL, "Another", 0);
    surface_expect_error(s, ERR_SESSION_BUSY, NULL);
}

/* The session's row is gone; continuing the session would restore it. */
TEST_IF(capability_store(), what_is_deleted_but_for_a_file_is_left)
{
    char id[UUID_LEN + 1];
    keep_one(id);
    auto_free char *notes = mem_printf("data/sessions/%s/notes.txt", id);
    auto_free char *path = support_path(notes);
    support_write(path, "mine");
    struct engine *s = surface_open(id, true);
    surface_expect(s, NOTICE_PROVIDER);
    surface_send_for(s, &operation_session_delete, NULL, NULL, 0);
    surface_expect_error(s, ERR_FILE_ERROR, NULL);
    surface_ask(s, "two");
    engine_free(s);
    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_int_equal(list.items.len, 1);
    assert_string_not_equal(list.items.items[0].id, id);
}

/* The deletion waits for the end of the turn, and the end of the program comes with it. */
TEST_IF(capability_store(), what_was_put_off_is_done_at_the_end)
{
    for (int i = 0; i < 10; i++) {
        struct engine *s = surface_open(NULL, true);
        model_server_queue(surface_server(), &(struct reply){.fault = REPLY_STALL, .text = "Half"});
        surface_send(s, &operation_turn_start, "Tell me all.");
        surface_expect_event(s, EVENT_TEXT_DELTA);
        surface_send_for(s, &operation_session_delete, NULL, NULL, 0);
        engine_free(s);
        AUTO(session_list_release) struct session_list list = {0};
        surface_list(&list);
        assert_int_equal(list.items.len, 0);
    }
}

/* The turn of the open session is none of its business. */
TEST(taking_it_out_of_the_archive_ends_no_turn)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    model_server_queue(surface_server(), &(struct reply){.fault = REPLY_STALL, .text = "Half"});
    surface_send(s, &operation_turn_start, "Tell me all.");
    surface_expect_event(s, EVENT_TEXT_DELTA);
    surface_send_for(s, &operation_session_unarchive, NULL, NULL, 0);
    surface_expect_changed(s);
    surface_send(s, &operation_turn_start, "And this?");
    surface_expect_error(s, ERR_SESSION_BUSY, "And this?");
}

/* A worker that asks the server something between turns, without its thread. */
struct aside {
    struct engine *engine;
    struct conversation *conversation;
    struct mailbox *notices;
    uint64_t requests;
};

static struct aside begin_aside(void)
{
    struct engine_options options = surface_options(NULL, true);
    struct engine *engine = engine_make(&options);
    struct conversation *c = engine->front->conversation;
    c->doing = ASIDE;
    return (struct aside){engine, c, engine->notices, 0};
}

static void hand(struct aside *a, const struct operation *o, const char *text)
{
    const struct turn_start_params params = {.text = text};
    struct operation_request *r = operation_request_new(o, text ? &params : NULL);
    r->id = ++a->requests;
    vec_push(&a->engine->queued, r->id);
    conversation_handle(a->conversation, r);
}

static void assert_refused(struct aside *a, enum err_code code, const char *text)
{
    AUTO(notice_free_local) struct notice *n = mailbox_pop(a->notices);
    assert_non_null(n);
    assert_int_equal(n->type, NOTICE_ANSWER);
    assert_int_equal(surface_error(n)->code, code);
    assert_string_equal(surface_text(n), text);
}

TEST(of_two_messages_that_wait_one_is_refused)
{
    struct aside a = begin_aside();
    hand(&a, &operation_turn_start, "first");
    assert_null(mailbox_pop(a.notices));
    assert_true(a.conversation->cancelled);
    hand(&a, &operation_turn_start, "second");
    assert_refused(&a, ERR_SESSION_BUSY, "second");
    assert_int_equal(a.conversation->seat.deferred.len, 1);
    engine_free(a.engine);
}

TEST(a_message_that_waits_can_be_interrupted)
{
    struct aside a = begin_aside();
    hand(&a, &operation_models_list, NULL);
    hand(&a, &operation_turn_start, "first");
    hand(&a, &operation_turn_interrupt, NULL);
    assert_refused(&a, ERR_INTERRUPTED, "first");
    assert_int_equal(a.conversation->seat.deferred.len, 1);
    assert_ptr_equal(a.conversation->seat.deferred.items[0]->operation, &operation_models_list);
    engine_free(a.engine);
}

/* --- asking for the name of a model ----------------------------------------------------------- */

static bool until_late(void *wakeup)
{
    return !wakeup_late(wakeup);
}

static bool never(void *nothing)
{
    (void)nothing;
    return false;
}

/* A server that takes connections and says nothing; its URL goes into the environment. */
static int listen_in_silence(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    auto_free char *url = mem_printf("http://127.0.0.1:%d/v1", ntohs(address.sin_port));
    setenv("OPENAI_BASE_URL", url, 1);
    return fd;
}

TEST(a_slow_server_is_asked_for_its_models_once)
{
    struct error e;
    struct backend b;
    int fd = listen_in_silence(), news[2];
    assert_int_equal(pipe(news), 0);
    assert_int_equal(write(news[1], "x", 1), 1);
    struct wakeup wakeup = {.fd = news[0], .go_on = never};
    backend_init(&b, surface_config(), &wakeup);
    assert_true(backend_choose(&b, "openai", NULL, &e));
    assert_true(backend_next_question(&b) == backend_ask_name);
    assert_false(backend_ask_name(&b));
    assert_true(backend_next_question(&b) == backend_ask_name); /* it was interrupted */
    wakeup = (struct wakeup){
        .fd = -1, .go_on = until_late, .context = &wakeup, .deadline_ms = clock_mono_ms() + 50};
    assert_false(backend_ask_name(&b));
    assert_null(backend_next_question(&b));
    backend_release(&b);
    close(fd);
    close(news[0]);
    close(news[1]);
}

/* --- a session that closes and is asked meanwhile --------------------------------------------- */

/* The moment between the check that no client needs the session and its end, when another thread
 * may act. */
TEST(a_request_that_meets_a_session_that_closes_is_not_lost)
{
    static const char id[UUID_LEN + 1] = "01890a5d-ac96-774b-bcce-b302099a8057";
    surface_set(CONFIG_SERVE_IDLE_MINUTES, "0");
    struct engine_options o = surface_options(NULL, true);
    o.serves = true;
    AUTO(engine_free_local) struct engine *engine = engine_make(&o);
    struct seat *seat = conversation_new(engine);
    memcpy(seat->session, id, sizeof id);
    assert_int_equal(engine_rest_wait(seat, true), 0);
    uint64_t asked =
        engine_start(engine, &operation_session_settings, &(struct session_params){id});
    assert_int_not_equal(engine_rest_wait(seat, true), 0);
    assert_false(engine_retire(seat));
    assert_int_equal(engine->seats.len, 1);
    struct operation_request *r = mailbox_pop(seat->requests);
    assert_int_equal(r->id, asked);
    operation_request_free(r);
}
