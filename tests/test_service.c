/* The engine as a surface sees it: commands in, notices out, and the contents of the store. */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/session_operations.h"
#include "store/event_log.h"
#include "store/sessions.h"
#include "store/sql.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

static struct engine *open_with(const char *provider, const char *model, const char *resume,
                                bool persist)
{
    struct engine_options options = surface_options(resume, persist);
    options.provider = provider;
    options.model = model;
    return engine_new(&options);
}

FIXTURE(surface_setup, surface_teardown);

TEST_IF(capability_store(), a_turn_is_answered_and_kept)
{
    struct engine *s = surface_open(NULL, true);
    struct notice *n = surface_next(s);
    assert_int_equal(n->type, NOTICE_SESSION);
    assert_true(n->flag);
    char id[UUID_LEN + 1];
    memcpy(id, n->info.id, sizeof id);
    n = surface_expect(s, NOTICE_PROVIDER);
    assert_string_equal(n->provider, "openai");
    assert_string_equal(n->model, "scripted-model");
    assert_int_equal(n->reason, PROVIDER_BY_OPTION);

    QUEUE(surface_server(), .text = "First answer.");
    assert_string_equal(surface_ask(s, "What is this?"), "First answer.");
    engine_free(s);

    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_int_equal(list.items.len, 1);
    assert_string_equal(list.items.items[0].id, id);
    assert_string_equal(list.items.items[0].title, "What is this?");
    assert_string_equal(list.items.items[0].last_line, "First answer.");
    assert_int_equal(list.items.items[0].messages, 2);
    assert_int_equal(list.items.items[0].turns, 1);
    assert_true(list.items.items[0].usage.input > 0);
}

TEST_IF(capability_store(), a_resumed_session_goes_on)
{
    struct engine *s = surface_open(NULL, true);
    surface_ask(s, "My name is Ada.");
    engine_free(s);

    s = surface_open("last", true);
    struct notice *n = surface_expect(s, NOTICE_PAGE);
    assert_int_equal(n->events.items[0]->type, EVENT_TURN_STARTED);
    assert_string_equal(n->events.items[0]->text, "My name is Ada.");
    assert_int_equal(vec_last(&n->events)->type, EVENT_TURN_COMPLETED);
    assert_false(n->flag);
    surface_ask(s, "Who am I?");
    engine_free(s);
    const char *body = surface_body(1);
    assert_text(body, "My name is Ada.");
    assert_text(body, "Hello from the scripted model.");
    assert_text(body, "Who am I?");
}

TEST(an_interrupt_keeps_the_partial_answer)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "Half of it");
    surface_send(s, &operation_turn_start, "Tell me all.");
    surface_expect_event(s, EVENT_TEXT_DELTA);
    int64_t before = clock_mono_ms();
    surface_send(s, &operation_turn_interrupt, NULL);
    assert_true(surface_expect_event(s, EVENT_TEXT_COMPLETE)->event->flag);
    surface_expect_event(s, EVENT_INTERRUPTED);
    assert_true(clock_mono_ms() - before < 1000);
    surface_expect_idle(s);
    surface_ask(s, "Go on.");
    assert_text(surface_body(1), "Half");
}

static bool add_reasoning(void *context, const struct event *ev)
{
    if (ev->type == EVENT_REASONING_DELTA)
        buf_addstr(context, ev->text);
    return true;
}

/* No event has the whole of it, and the last second of it is in no checkpoint yet. */
TEST_IF(capability_store(), an_interrupt_keeps_the_reasoning)
{
    struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .fault = REPLY_STALL, .reasoning = "Let me see");
    surface_send(s, &operation_turn_start, "Think.");
    AUTO(buf_release) struct buf shown = BUF_INIT;
    struct notice *n = surface_expect_event(s, EVENT_REASONING_DELTA);
    buf_addstr(&shown, n->event->text);
    surface_send(s, &operation_turn_interrupt, NULL);
    while ((n = surface_expect(s, NOTICE_EVENT))->event->type != EVENT_INTERRUPTED) {
        add_reasoning(&shown, n->event);
    }
    surface_expect_idle(s);
    engine_free(s);
    AUTO(buf_release) struct buf kept = BUF_INIT;
    AUTO(session_info_release) struct session_info info = {0};
    assert_true(surface_read("last", &info, add_reasoning, &kept, &(struct error){0}));
    assert_string_equal(kept.data, shown.data);
}

/* The last screen of the session can be read, earlier text cannot. */
TEST_IF(capability_store(), a_session_whose_history_is_damaged_is_not_gone_on_with)
{
    struct error e = {0};
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "damaged");
    surface_send(s, &operation_session_create, NULL);
    surface_ask(s, "sound");
    struct store *store;
    assert_true(store_open(surface_store(), STORE_READ_WRITE, &store, &e));
    assert_true(store_exec(
        store,
        "DELETE FROM snapshot;"
        "UPDATE event SET payload = '{}' WHERE session = 1 AND seq = 2;"
        "INSERT INTO event WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n LIMIT"
        " 200) SELECT 1, i, 0, 'warning', 1, '{\"code\":\"c\",\"detail\":\"d\"}' FROM n",
        &e));
    store_close(store);
    surface_send(s, &operation_session_open, "damaged");
    surface_expect(s, NOTICE_PAGE);
    surface_send(s, &operation_turn_start, "more");
    surface_expect_error(s, ERR_SESSION_STORE_ERROR, "more");
    surface_expect_idle(s);
    assert_int_equal(surface_requests(), 2);
}

/* An import has no snapshot: its log is read after the answer, however long it is. */
TEST_IF(capability_store(), a_session_is_opened_before_its_history_is_counted)
{
    struct error e = {0};
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "imported");
    surface_send(s, &operation_session_create, NULL);
    surface_ask(s, "other");
    struct store *store;
    assert_true(store_open(surface_store(), STORE_READ_WRITE, &store, &e));
    assert_true(store_exec(store, "DELETE FROM snapshot", &e));
    store_close(store);
    surface_send(s, &operation_session_open, "imported");
    surface_expect_answer(s, &operation_session_open);
    struct notice *n = surface_expect(s, NOTICE_SESSION);
    assert_string_equal(n->info.title, "imported");
    assert_false(n->flag);
}

TEST(a_busy_session_says_so_and_gives_the_text_back)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "…");
    surface_send(s, &operation_turn_start, "first");
    surface_expect_event(s, EVENT_TEXT_DELTA);
    surface_send(s, &operation_turn_start, "second");
    surface_expect_error(s, ERR_SESSION_BUSY, "second");
    const struct session_list_result *list = surface_call(s, &operation_session_list, NULL)->result;
    assert_int_equal(list->total, 1); /* reads do not wait */
    surface_send(s, &operation_turn_interrupt, NULL);
    surface_expect_idle(s);
    surface_send(s, &operation_turn_interrupt, NULL);
    surface_expect_error(s, ERR_SESSION_NOT_RUNNING, NULL);
}

/* The window of this model is asked for after its first answer. */
TEST(a_message_right_after_an_answer_is_not_refused)
{
    setenv("ANTHROPIC_BASE_URL", model_server_url(surface_server()), 1);
    setenv("ANTHROPIC_API_KEY", "test-key", 1);
    model_server_set_window(surface_server(), 123456);
    AUTO(engine_free_local)
    struct engine *s = open_with("anthropic", "claude-sonnet-5-5", NULL, true);
    surface_ask(s, "one");
    surface_ask(s, "two");
    surface_ask(s, "three");
    assert_int_equal(surface_requests(), 3);
}

TEST_IF(capability_store(), a_second_process_cannot_write)
{
    struct engine *first = surface_open(NULL, true);
    surface_ask(first, "mine");
    AUTO(engine_free_local) struct engine *second = surface_open("last", true);
    surface_expect_error(second, ERR_SESSION_BUSY, NULL);
    struct notice *n = surface_expect(second, NOTICE_SESSION); /* a new one in its place */
    assert_int_equal(n->info.last_seq, 0);
    engine_free(first);
    surface_send(second, &operation_session_open, "mine");
    surface_expect(second, NOTICE_PAGE);
}

/* The answer to the turn; it comes before the engine says that it is idle. */
static struct notice *end_of_turn(struct engine *s)
{
    struct notice *n = surface_expect_answer(s, &operation_turn_start);
    surface_expect_idle(s);
    return n;
}

TEST(a_turn_is_answered_when_it_has_ended)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .text = "Hello to you.");
    surface_send(s, &operation_turn_start, "Hello?");
    struct notice *n = end_of_turn(s);
    const struct turn_result *r = n->answer->result;
    assert_string_equal(r->text, "Hello to you.");
    assert_string_equal(r->session_id, n->session);
    assert_int_equal(r->turns, 1);
    assert_int_equal(r->tool_calls, 0);
    assert_int_equal(r->stop_reason, STOP_END_TURN);
    assert_true(r->usage.output > 0);
    assert_int_equal(r->fault.code, ERR_OK);
}

/* The message is part of the conversation, so the request has not failed. */
TEST(the_answer_says_what_ended_a_turn)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .fault = REPLY_STATUS, .status = 401, .error_message = "no");
    surface_send(s, &operation_turn_start, "Hello?");
    const struct turn_result *r = end_of_turn(s)->answer->result;
    assert_int_not_equal(r->fault.code, ERR_OK);
    assert_text(r->fault.text, "401");
    assert_int_equal(r->stop_reason, STOP_OTHER);
    QUEUE(surface_server(), .fault = REPLY_STALL, .text = "Half of it");
    surface_send(s, &operation_turn_start, "Tell me all.");
    surface_expect_event(s, EVENT_TEXT_DELTA);
    surface_send(s, &operation_turn_interrupt, NULL);
    r = end_of_turn(s)->answer->result;
    assert_int_equal(r->stop_reason, STOP_CANCELLED);
    assert_string_equal(r->text, "Half of it");
    assert_int_equal(r->turns, 2);
    assert_int_equal(r->fault.code, ERR_OK);
}

TEST(a_failed_turn_can_be_retried)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .fault = REPLY_STATUS, .status = 401, .error_type = "invalid_api_key",
          .error_message = "bad key");
    surface_send(s, &operation_turn_start, "Hello?");
    struct notice *n = surface_expect_event(s, EVENT_TURN_FAILED);
    assert_text(n->event->text, "401");
    assert_no_text(n->event->text, "test-key");
    surface_expect_idle(s);
    surface_send(s, &operation_turn_retry, NULL);
    n = surface_expect_event(s, EVENT_TURN_STARTED);
    assert_string_equal(n->event->text, "Hello?");
    assert_int_equal(n->event->number, 1);
    surface_expect_event(s, EVENT_TURN_COMPLETED);
    surface_expect_idle(s);
}

TEST_IF(capability_store(), a_retry_sends_images_again)
{
    static const char image[] =
        "[{\"type\":\"image\",\"text\":\"https://example.invalid/"
        "ryokan.png\",\"media_type\":\"image/png\"}]";
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    engine_start(s, &operation_turn_start,
                 &(struct turn_start_params){.text = "what is this?", .attachments = image});
    surface_expect_idle(s);
    surface_send(s, &operation_turn_retry, NULL);
    surface_expect_idle(s);
    assert_text(surface_body(0), "ryokan.png");
    assert_text(surface_body(1), "ryokan.png");
    surface_send(s, &operation_turn_retry, "and who lives there?"); /* in other words */
    surface_expect_idle(s);
    const char *other = surface_body(2);
    assert_text(other, "ryokan.png");
    assert_text(other, "and who lives there?");
    assert_no_text(other, "what is this?");
    engine_free(s);
    s = surface_open("last", true);
    surface_send(s, &operation_turn_retry, NULL);
    surface_expect_idle(s);
    assert_text(surface_body(3), "ryokan.png");
    assert_text(surface_body(3), "and who lives there?");
}

TEST_IF(capability_store(), drafts_are_kept)
{
    struct engine *s = surface_open(NULL, true);
    surface_send(s, &operation_session_set_draft, "half a thou");
    engine_free(s);
    s = surface_open("last", true);
    assert_string_equal(surface_expect(s, NOTICE_SESSION)->info.draft, "half a thou");
    surface_send(s, &operation_session_set_draft, "");
    engine_free(s);
    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_int_equal(list.items.len, 0); /* nothing was ever said in it */
}

struct ending {
    struct engine *engine;
    int told; /* closed when the engine has ended */
};

static void *end_engine(void *ending)
{
    struct ending *x = ending;
    engine_free(x->engine);
    close(x->told);
    return NULL;
}

/* Threads of the same process write to the store, too. 100 ms are less than the grace, and more
 * than an engine takes that drops the draft at once. */
TEST_IF(capability_store(), an_end_waits_for_another_writer_and_keeps_the_draft)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    struct store *other;
    struct error e;
    pthread_t thread;
    int told[2];
    surface_send(s, &operation_turn_start, "hello");
    surface_expect_idle(s);
    assert_true(store_open(surface_store(), STORE_READ_WRITE, &other, &e));
    assert_true(store_begin(other, &e));
    surface_send(s, &operation_session_set_draft, "half a thou");
    assert_int_equal(pipe(told), 0);
    struct ending ending = {s, told[1]};
    assert_int_equal(pthread_create(&thread, NULL, end_engine, &ending), 0);
    assert_int_equal(poll(&(struct pollfd){.fd = told[0], .events = POLLIN}, 1, 100), 0);
    store_close(other);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(told[0]);
    s = surface_open("last", true);
    assert_string_equal(surface_expect(s, NOTICE_SESSION)->info.draft, "half a thou");
}

TEST_IF(capability_store(), a_message_does_not_use_up_a_newer_draft)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_send(s, &operation_session_set_draft, "first");
    surface_send(s, &operation_turn_start, "first");
    surface_send(s, &operation_session_set_draft, "next");
    surface_expect_idle(s);
    engine_free(s);
    s = surface_open("last", true);
    struct notice *n = surface_expect(s, NOTICE_SESSION);
    assert_non_null(n->info.draft);
    assert_string_equal(n->info.draft, "next");
    surface_send(s, &operation_turn_start, "next");
    surface_expect_idle(s);
    engine_free(s);
    s = surface_open("last", true);
    assert_null(surface_expect(s, NOTICE_SESSION)->info.draft);
}

static struct engine *open_with_offer(const char *directory, const char *resume)
{
    struct engine_options o = surface_options(resume, true);
    o.directory = directory;
    o.offer_draft = true;
    return engine_new(&o);
}

static void assert_offered(struct engine *s, const char *draft)
{
    struct notice *n = surface_expect(s, NOTICE_SESSION);
    if (draft)
        assert_string_equal(n->info.draft, draft);
    else
        assert_null(n->info.draft);
}

static struct engine *leave_draft(const char *directory, const char *draft)
{
    struct engine_options o = surface_options(NULL, true);
    o.directory = directory;
    struct engine *s = engine_new(&o);
    surface_send(s, &operation_session_set_draft, draft);
    return s;
}

TEST_IF(capability_store(), what_was_never_sent_is_offered_where_it_was_written)
{
    struct engine *s = leave_draft("/", "of the root");
    engine_free(s);
    s = leave_draft(support_dir(), "of here");
    surface_send(s, &operation_session_label, "mine");
    engine_free(s);
    s = open_with_offer("/tmp", NULL);
    assert_offered(s, NULL);
    engine_free(s);
    s = open_with_offer("/", NULL);
    assert_offered(s, "of the root");
    struct engine *second = open_with_offer("/", NULL); /* the other has it */
    assert_offered(second, NULL);
    engine_free(second);
    engine_free(s);

    struct engine_options o = surface_options(NULL, true);
    o.offer_draft = true;
    o.labels = "yours";
    s = engine_new(&o);
    struct notice *n = surface_expect(s, NOTICE_SESSION);
    assert_string_equal(n->info.draft, "of here");
    assert_string_equal(n->info.labels, "mine yours");
    surface_expect(s, NOTICE_PROVIDER);
    surface_ask(s, "of here");
    engine_free(s);
    s = open_with_offer(support_dir(), NULL); /* it was sent */
    assert_offered(s, NULL);
    engine_free(s);
    s = surface_open(NULL, true); /* nobody wants it offered */
    assert_offered(s, NULL);
    engine_free(s);
}

TEST(nothing_is_kept_without_persistence)
{
    struct engine *s = surface_open(NULL, false);
    surface_ask(s, "in memory only");
    surface_send(s, &operation_session_open, "of last week");
    surface_expect_error(s, ERR_SESSION_NOT_FOUND, "of last week");
    engine_free(s);
    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_int_equal(list.items.len, 0);
}

TEST_IF(capability_store(), an_unusable_store_is_told_and_the_chat_goes_on)
{
    auto_free char *path = support_path("data");
    support_write(path, "a file where the directory should be");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_expect_error(s, ERR_SESSION_STORE_ERROR, NULL);
    surface_ask(s, "still there?");
}

TEST_IF(capability_store(), the_model_can_be_changed_and_renames_last)
{
    struct engine *s = surface_open(NULL, true);
    surface_ask(s, "one");
    surface_send_for(s, &operation_session_set_model, "openai", "other-model", 0);
    surface_send(s, &operation_session_rename, "A good title");
    surface_ask(s, "two");
    assert_text(surface_body(1), "other-model");
    engine_free(s);
    AUTO(session_list_release) struct session_list list = {0};
    surface_list(&list);
    assert_string_equal(list.items.items[0].title, "A good title");
    assert_string_equal(list.items.items[0].model, "other-model");
}

static void assert_model(struct engine *s, const char *provider, const char *model)
{
    struct notice *n = surface_expect(s, NOTICE_PROVIDER);
    assert_string_equal(n->provider, provider);
    assert_string_equal(n->model, model);
}

static void assert_refuses_model(struct engine *s, const char *provider, const char *model,
                                 enum err_code code, const char *says)
{
    surface_send_for(s, &operation_session_set_model, provider, model, 0);
    struct notice *n = surface_expect_failure(s);
    assert_int_equal(surface_error(n)->code, code);
    assert_true(operation_answers(n->answer, &operation_session_set_model));
    if (!strstr(surface_error(n)->text, says))
        fail_msg("%s", surface_error(n)->text);
}

TEST(a_model_that_cannot_be_is_refused)
{
    static const char *const names[] = {"scripted-model", "scripted-large", NULL};
    model_server_set_models(surface_server(), names);
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    assert_model(s, "openai", "scripted-model");
    assert_refuses_model(s, "anthropic", NULL, ERR_CONFIG_ERROR, "ANTHROPIC_API_KEY");
    assert_refuses_model(s, NULL, "scripted-lagre", ERR_USAGE, "did you mean \"scripted-large\"");
    assert_refuses_model(s, NULL, "ollma", ERR_USAGE, "did you mean \"ollama\"");
    assert_refuses_model(s, NULL, "antropic/some-model", ERR_USAGE,
                         "did you mean \"anthropic/some-model\"");
    assert_refuses_model(s, NULL, "something quite different", ERR_USAGE, "its list");
    surface_ask(s, "still the same?");
    assert_text(surface_body(0), "\"scripted-model\"");
    surface_send(s, &operation_session_set_model, "scripted-large");
    assert_model(s, "openai", "scripted-large"); /* the provider is the present one */
    surface_send_for(s, &operation_session_set_model, "offline", NULL, 0);
    assert_model(s, "offline", "offline");
    model_server_set_models(surface_server(), NULL); /* it lists nothing, and takes any name */
    surface_send_for(s, &operation_session_set_model, "openai", "any-name", 0);
    assert_model(s, "openai", "any-name");
}

static void set_effort(struct engine *s, const char *word)
{
    const struct session_effort_params params = {.effort = word};
    assert_int_equal(surface_call(s, &operation_session_set_effort, &params)->error.code, ERR_OK);
}

/* The session's effort comes before that of the start, and this before the configured one. Only a
 * word that the model has is sent. */
TEST_IF(capability_store(), an_effort_is_kept_with_its_session)
{
    const struct session_effort_params tea = {.effort = "tea"};
    struct engine_options o = surface_options(NULL, true);
    o.model = "gpt-5.1";
    o.effort = "medium";
    struct engine *s = engine_new(&o);
    struct notice *n = surface_expect(s, NOTICE_PROVIDER);
    assert_string_equal(n->name, "medium");
    assert_string_equal(n->args, "none low medium high");
    surface_ask(s, "one");
    assert_text(surface_body(0), "\"reasoning_effort\":\"medium\"");
    assert_text(surface_call(s, &operation_session_set_effort, &tea)->error.text,
                "none low medium high");
    set_effort(s, "low");
    surface_ask(s, "two");
    assert_text(surface_body(1), "\"reasoning_effort\":\"low\"");
    const struct context *context = surface_call(s, &operation_context_read, NULL)->result;
    assert_string_equal(context->effort, "low");
    surface_send_for(s, &operation_session_set_model, "openai", "gpt-4.1", 0);
    surface_ask(s, "three");
    assert_no_text(surface_body(2), "reasoning_effort");
    engine_free(s);

    o.resume = "last";
    o.model = "gpt-5.1";
    o.effort = NULL;
    s = engine_new(&o);
    assert_string_equal(surface_expect(s, NOTICE_PROVIDER)->name, "low");
    set_effort(s, "default");
    surface_ask(s, "four");
    assert_no_text(surface_body(3), "reasoning_effort");
    engine_free(s);
}

TEST(an_effort_of_the_start_must_be_one_of_the_model)
{
    struct engine_options o = surface_options(NULL, false);
    o.effort = "high";
    AUTO(engine_free_local) struct engine *s = engine_new(&o);
    surface_expect_error(s, ERR_USAGE, NULL);
}

TEST(offline_has_no_other_model)
{
    unsetenv("OPENAI_BASE_URL");
    unsetenv("OPENAI_API_KEY");
    struct engine_options o = surface_options(NULL, true);
    o.provider = "offline";
    o.model = NULL;
    setenv("OLLAMA_HOST", "http://127.0.0.1:1", 1);
    struct engine *s = engine_new(&o);
    assert_model(s, "offline", "offline");
    assert_refuses_model(s, "offline", "gpt-4.1", ERR_USAGE, "PROVIDER/MODEL");
    surface_send(s, &operation_session_set_model,
                 "any"); /* by the rules: nobody is there to say no */
    assert_model(s, "ollama", "any");
    engine_free(s);
    unsetenv("OLLAMA_HOST");
}

TEST(the_listing_tells_which_providers_lack_a_key)
{
    static const char *const names[] = {"one", "two", NULL};
    model_server_set_models(surface_server(), names);
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_send(s, &operation_models_list, NULL);
    const struct models_result *m =
        surface_expect_answer(s, &operation_models_list)->answer->result;
    assert_int_equal(m->models.len, 2);
    for (size_t i = 0; i < m->providers.len; i++) {
        const struct provider_offer *offer = &m->providers.items[i];
        if (strcmp(offer->name, "anthropic") == 0)
            assert_string_equal(offer->wants, "ANTHROPIC_API_KEY");
        else
            assert_null(offer->wants);
    }
    assert_true(m->providers.len >= 4);
}

TEST(the_models_of_another_provider_are_listed)
{
    static const char *const names[] = {"gpt-5", "mine", NULL};
    const struct models_params openai = {.provider = "openai"}, ollama = {.provider = "ollama"},
                               nobody = {.provider = "nobody"};
    model_server_set_models(surface_server(), names);
    setenv("OLLAMA_HOST", "http://127.0.0.1:1", 1);
    struct engine_options o = surface_options(NULL, false);
    o.provider = o.model = "offline";
    struct engine *s = engine_new(&o);
    const struct models_result *m = surface_call(s, &operation_models_list, &openai)->result;
    assert_string_equal(m->provider, "openai");
    assert_int_equal(m->models.len, 2);
    assert_int_equal(m->models.items[0].window, 400000);
    assert_true(m->models.items[0].output_price == 10);
    assert_string_equal(m->models.items[0].price_date, "2026-11-21");
    assert_true(m->models.items[1].window == 0 && m->models.items[1].input_price < 0);
    m = surface_call(s, &operation_models_list, &ollama)->result;
    assert_string_equal(m->provider, "ollama");
    assert_int_not_equal(m->fault.code, ERR_OK);
    m = surface_call(s, &operation_models_list, &nobody)->result;
    assert_null(m->provider);
    assert_int_equal(m->fault.code, ERR_USAGE);
    surface_ask(s, "still offline?"); /* the session's provider is the same */
    assert_int_equal(model_server_requests(surface_server()), 0);
    engine_free(s);
    unsetenv("OLLAMA_HOST");
}

TEST(a_provider_is_asked_whether_it_answers)
{
    static const char *const names[] = {"one", "two", NULL};
    const struct provider_check_params other = {.provider = "openai", .model = "two"},
                                       none = {.provider = "nobody"},
                                       keyless = {.provider = "anthropic"};
    model_server_set_models(surface_server(), names);
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    const struct provider_check_result *r =
        surface_call(s, &operation_provider_check, NULL)->result;
    assert_string_equal(r->provider, "openai");
    assert_int_equal(r->models, 2);
    assert_false(r->listed);
    assert_int_equal(r->fault.code, ERR_OK);
    r = surface_call(s, &operation_provider_check, &other)->result;
    assert_true(r->listed);
    r = surface_call(s, &operation_provider_check, &keyless)->result;
    assert_int_equal(r->fault.code, ERR_CONFIG_ERROR);
    assert_text(r->fault.text, "ANTHROPIC_API_KEY");
    assert_int_not_equal(surface_call(s, &operation_provider_check, &none)->error.code, ERR_OK);
}

TEST(the_model_is_known_before_the_first_message)
{
    static const char *const names[] = {"the-only-one", NULL};
    model_server_set_models(surface_server(), names);
    struct engine_options o = surface_options(NULL, true);
    o.model = NULL;
    AUTO(engine_free_local) struct engine *s = engine_new(&o);
    assert_model(s, "openai", "");
    assert_model(s, "openai", "the-only-one");
    assert_int_equal(surface_requests(), 0);
}

TEST(a_system_prompt_holds_for_a_resumed_session_too)
{
    struct engine *s = surface_open(NULL, true);
    surface_ask(s, "one");
    engine_free(s);
    const struct engine_options options = {.config = surface_config(),
                                           .directory = support_dir(),
                                           .store_path = surface_store(),
                                           .system = "Answer in rhymes.",
                                           .persist = true,
                                           .resume = "last"};
    s = engine_new(&options);
    surface_ask(s, "two");
    assert_text(surface_body(1), "Answer in rhymes.");
    engine_free(s);
}

static char *provider_of(struct engine *s)
{
    return mem_strdup(surface_expect(s, NOTICE_PROVIDER)->provider);
}

/* Says something in a session of this provider, leaves, and tells which one a resume takes. */
static char *resumed_provider(const char *provider)
{
    struct engine *s = open_with(provider, NULL, NULL, true);
    surface_ask(s, "hello");
    engine_free(s);
    setenv("OPENAI_API_KEY", "test-key", 1);
    s = open_with(NULL, NULL, "last", true);
    char *resumed = provider_of(s);
    engine_free(s);
    unsetenv("OPENAI_API_KEY");
    return resumed;
}

TEST_IF(capability_store(), only_a_provider_that_was_chosen_is_remembered)
{
    unsetenv("OPENAI_BASE_URL");
    unsetenv("OPENAI_API_KEY");
    char *resumed = resumed_provider("offline");
    assert_string_equal(resumed, "offline");
    free(resumed);

    struct engine *s = open_with(NULL, NULL, NULL, true);
    auto_free char *found = provider_of(s);
    bool fell_back = strcmp(found, "offline") == 0; /* else an Ollama runs on this machine */
    engine_free(s);
    if (!fell_back)
        skip();
    resumed = resumed_provider(NULL);
    assert_string_equal(resumed, "openai");
    free(resumed);
}

TEST(a_report_tells_of_a_missing_key)
{
    unsetenv("OPENAI_API_KEY");
    unsetenv("OPENAI_BASE_URL");
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_send(s, &operation_doctor_report, NULL);
    const struct report_result *r =
        surface_expect_answer(s, &operation_doctor_report)->answer->result;
    assert_int_equal(r->fault.code, ERR_CONFIG_ERROR);
}

TEST(a_new_session_talks_to_the_same_model)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_send_for(s, &operation_session_set_model, "openai", "other-model", 0);
    surface_send(s, &operation_session_create, NULL);
    surface_ask(s, "hello");
    assert_text(surface_body(0), "other-model");
}

TEST(the_end_of_the_service_ends_a_turn)
{
    struct engine *s = surface_open(NULL, true);
    QUEUE(surface_server(), .hold = true);
    surface_send(s, &operation_turn_start, "never answered");
    assert_true(model_server_wait(surface_server(), 1, SURFACE_MS));
    int64_t before = clock_mono_ms();
    engine_free(s);
    assert_true(clock_mono_ms() - before < 1000);
    model_server_release(surface_server());
}
