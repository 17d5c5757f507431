/* The first exchange of a session: the surroundings that go with the message, and the title that a
 * model gives after the answer. */
#include <sys/stat.h>

#include "base/clock.h"
#include "base/json.h"
#include "session/conversation_operations.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

static int64_t now_ms;

static int64_t now(void)
{
    return now_ms;
}

static int teardown(void **state)
{
    clock_replace(NULL, NULL);
    return surface_teardown(state);
}

FIXTURE(surface_setup, teardown);

/* Opens the engine of a surface that stays, as a terminal does. */
static struct engine *open_here(const char *resume)
{
    struct engine_options options = surface_options(resume, true);
    options.can_ask = true;
    return engine_new(&options);
}

static void titles(const char *text)
{
    model_server_set_title(surface_server(), &(struct reply){.text = text});
}

/* --- titles ----------------------------------------------------------------------------------- */

TEST_IF(capability_store(), a_model_gives_the_title_once)
{
    AUTO(session_list_release) struct session_list list = {0};
    titles("**\"A river ryokan\"**\nI chose it.");
    struct engine *s = open_here(NULL);
    surface_ask(s, "Where do we sleep in Kyoto?");
    const struct event *ev = surface_expect_event(s, EVENT_SESSION_TITLED)->event;
    assert_string_equal(ev->text, "A river ryokan");
    assert_string_equal(surface_expect(s, NOTICE_SESSION)->info.title, "A river ryokan");
    assert_int_equal(surface_requests(), 2);
    assert_text(surface_last_body(), "Where do we sleep in Kyoto?");
    assert_text(surface_last_body(), "Hello from the scripted model.");
    assert_no_text(surface_last_body(), "read_file");

    surface_ask(s, "And where do we eat?");
    engine_free(s);
    s = open_here("last");
    surface_ask(s, "And then?");
    engine_free(s);
    assert_int_equal(surface_requests(), 4);
    surface_list(&list);
    assert_string_equal(list.items.items[0].title, "A river ryokan");
    assert_false(list.items.items[0].title_set);
    assert_int_equal(list.items.items[0].usage.input, 4 * 12); /* the title's call counts */
}

TEST_IF(capability_store(), a_title_of_the_user_stays)
{
    titles("Wrong");
    struct engine *s = open_here(NULL);
    surface_send(s, &operation_session_rename, "Mine");
    surface_expect_changed(s);
    surface_ask(s, "one");
    surface_ask(s, "two");
    assert_int_equal(surface_requests(), 2);
    engine_free(s);
}

/* As for a program that runs one turn and ends. */
TEST_IF(capability_store(), a_title_can_be_the_first_message)
{
    titles("Wrong");
    struct engine *s = surface_open(NULL, true);
    surface_ask(s, "one");
    surface_ask(s, "two");
    engine_free(s);
    surface_set(CONFIG_SESSION_TITLES, "first_message");
    s = open_here(NULL);
    surface_ask(s, "three");
    surface_ask(s, "four");
    engine_free(s);
    assert_int_equal(surface_requests(), 4);
}

TEST_IF(capability_store(), without_a_title_the_first_words_stay)
{
    AUTO(session_list_release) struct session_list list = {0};
    titles("\"\" \n");
    struct engine *s = open_here(NULL);
    surface_ask(s, "one");
    assert_null(surface_expect_event(s, EVENT_SESSION_TITLED)->event->text); /* its usage counts */
    engine_free(s);
    surface_list(&list);
    assert_string_equal(list.items.items[0].title, "one");
    assert_int_equal(list.items.items[0].usage.input, 2 * 12);
}

TEST_IF(capability_store(), a_turn_does_not_wait_for_the_title)
{
    model_server_set_title(surface_server(), &(struct reply){.text = "Late", .hold = true});
    struct engine *s = open_here(NULL);
    surface_ask(s, "one");
    assert_true(model_server_wait(surface_server(), 2, SURFACE_MS)); /* the title's */
    QUEUE(surface_server(), .text = "Two.");
    assert_string_equal(surface_ask(s, "two"), "Two.");
    assert_true(model_server_wait(surface_server(), 4, SURFACE_MS));
    model_server_release(surface_server());
    assert_string_equal(surface_expect_event(s, EVENT_SESSION_TITLED)->event->text, "Late");
    engine_free(s);
    assert_int_equal(surface_requests(), 4);
}

/* --- surroundings ----------------------------------------------------------------------------- */

static void on(int64_t day, const char *branch)
{
    now_ms = (INT64_C(20000) + day) * 24 * 3600 * 1000; /* 2024-10-04 */
    clock_replace(now, NULL);
    (void)mkdir(support_path(".git"), 0700);
    support_write(support_path(".git/HEAD"), support_text("ref: refs/heads/%s\n", branch));
}

/* Reads two parts of the newest request: the system prompt with the tools, and the user's message
 * that is `back` messages before the last. */
static void read_request(char **front, char **message, size_t back)
{
    const char *body = surface_last_body();
    AUTO(json_free_local) struct json *request = json_parse(body, strlen(body), NULL);
    const struct json *messages = json_get(request, "messages");
    auto_free char *tools = json_print(json_get(request, "tools"));
    size_t count = json_len(messages), at = 0;
    for (const struct json *m = json_first(messages); m; m = json_next(m), at++) {
        if (at == 0) {
            assert_string_equal(json_get_string(m, "role"), "system");
            *front = support_keep(mem_printf("%s%s", json_get_string(m, "content"), tools));
        }
        if (at + 1 + back == count)
            *message = support_keep(mem_strdup(json_get_string(m, "content")));
    }
}

TEST(the_front_of_a_request_is_the_same_on_every_day)
{
    char *front[2] = {NULL}, *message[2] = {NULL};
    for (int i = 0; i < 2; i++) {
        on(i, i == 0 ? "main" : "topic/cache");
        struct engine *s = surface_open(NULL, false);
        surface_ask(s, "Hello?");
        read_request(&front[i], &message[i], 0);
        engine_free(s);
    }
    assert_string_equal(front[0], front[1]);
    assert_text(front[0], "read_file");
    assert_text(message[0], "Date: 2024-10-04, Friday\n");
    assert_text(message[0], support_text("Working directory: %s\n", support_dir()));
    assert_text(message[0], "Git branch: main\n\n\nHello?");
    assert_text(message[1], "Date: 2024-10-05, Saturday\n");
    assert_text(message[1], "Git branch: topic/cache\n\n\nHello?");
}

TEST(surroundings_are_told_when_they_are_others)
{
    char *front = NULL, *message = NULL;
    on(0, "main");
    struct engine *s = surface_open(NULL, true);
    surface_send(s, &operation_turn_start, "one");
    assert_string_equal(surface_expect_event(s, EVENT_TURN_STARTED)->event->text, "one");
    surface_expect_idle(s);
    surface_ask(s, "two");
    read_request(&front, &message, 0);
    assert_string_equal(message, "two");
    read_request(&front, &message, 2);
    assert_text(message, "Friday"); /* the first message is sent as before */
    on(1, "main");
    surface_ask(s, "three");
    read_request(&front, &message, 0);
    assert_text(message, "2024-10-05");
    surface_send_for(s, &operation_turn_retry, NULL, "three, again", 0);
    surface_expect_event(s, EVENT_TURN_COMPLETED);
    surface_expect_idle(s);
    read_request(&front, &message, 0);
    assert_text(message, "2024-10-05");
    assert_null(strstr(strstr(message, "2024-10-05") + 1, "2024-10-05"));
    engine_free(s);
}

TEST_IF(capability_compaction() && capability_store(), surroundings_are_told_after_a_compaction)
{
    char *front = NULL, *message = NULL;
    on(0, "main");
    struct engine *s = surface_open(NULL, true);
    surface_ask(s, "one");
    surface_send_for(s, &operation_compaction_run, "deterministic", NULL, 0);
    surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
    surface_expect_idle(s);
    engine_free(s);
    s = surface_open("last", true);
    surface_ask(s, "two");
    read_request(&front, &message, 0);
    assert_text(message, "Git branch: main");
    surface_ask(s, "three");
    read_request(&front, &message, 0);
    assert_string_equal(message, "three");
    engine_free(s);
}
