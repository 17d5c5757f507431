/* The operations that work in each profile: each build, and within a full build each switch. One
 * row per operation, as in the specification's table. */
#include <unistd.h>

#include "session/capability.h"
#include "session/session_operations.h"
#include "tests/suite.h"
#include "tests/surface.h"

/* Both values of the run-time switch; in a build without a store the switch changes nothing. */
static const bool switches[] = {true, false};
#define EACH_SWITCH(persist) for (const bool *persist = switches; persist < switches + 2; persist++)

/* BUILT_WITHOUT: the arguments of `configure` that left something out, where somebody knows them.
 */
TEST(what_was_to_be_left_out_is_left_out)
{
    const char *without = getenv("BUILT_WITHOUT");
    if (!without)
        skip();
    assert_int_equal(capability_store(), !strstr(without, "--disable-session-store"));
    assert_int_equal(capability_compaction(), !strstr(without, "--disable-session-compaction"));
    assert_int_equal(capability_memory(), !strstr(without, "--disable-memory-store"));
}

static bool kept(bool persist)
{
    return persist && capability_store();
}

static struct operation_answer *read_history(struct engine *s, const char *id)
{
    const struct session_history_params params = {.session = id, .newest = true, .limit = 100};
    return surface_call(s, &operation_session_history, &params);
}

/* Removes the files of the last combination. */
static void begin_afresh(void)
{
    if (!capability_store())
        return;
    AUTO(session_list_release) struct session_list list = {0};
    struct catalog catalog;
    struct error e;
    surface_list(&list);
    for (size_t i = 0; i < list.items.len; i++) {
        assert_true(catalog_open(&catalog, surface_store(), CATALOG_WRITE, &e));
        assert_true(catalog_delete(&catalog, list.items.items[i].id, NULL, &e));
        catalog_release(&catalog);
    }
}

FIXTURE(surface_setup, surface_teardown);

TEST(a_turn_works_and_is_kept_where_it_can_be)
{
    EACH_SWITCH(persist)
    {
        begin_afresh();
        struct engine *s = surface_open(NULL, *persist);
        assert_string_equal(surface_ask(s, "hello"), "Hello from the scripted model.");
        engine_free(s);
        AUTO(session_list_release) struct session_list list = {0};
        surface_list(&list);
        assert_int_equal(list.items.len, kept(*persist) ? 1 : 0);
        if (!capability_store())
            assert_int_not_equal(access(surface_store(), F_OK), 0);
    }
}

TEST(an_interrupt_works)
{
    EACH_SWITCH(persist)
    {
        AUTO(engine_free_local) struct engine *s = surface_open(NULL, *persist);
        model_server_queue(surface_server(), &(struct reply){.fault = REPLY_STALL, .text = "half"});
        surface_send(s, &operation_turn_start, "go");
        surface_expect_event(s, EVENT_TEXT_DELTA);
        surface_send(s, &operation_turn_interrupt, NULL);
        surface_expect_event(s, EVENT_INTERRUPTED);
        surface_expect_idle(s);
    }
}

TEST(a_live_session_is_read_and_listed)
{
    EACH_SWITCH(persist)
    {
        begin_afresh();
        AUTO(engine_free_local) struct engine *s = surface_open(NULL, *persist);
        surface_ask(s, "the first");
        surface_send(s, &operation_session_create, NULL);
        surface_ask(s, "the second");
        const struct session_list_result *list =
            surface_call(s, &operation_session_list, NULL)->result;
        assert_int_equal(list->sessions.items.len, 2);
        assert_int_equal(list->total, 2);
        struct operation_answer *b = read_history(s, list->sessions.items.items[1].id);
        const struct session_history_result *page = b->result;
        assert_string_equal(page->session.title, "the first");
        assert_true(page->events.items.len > 0);
        const struct session_search_params query = {.query = "second", .limit = 100};
        const struct session_search_result *found =
            surface_call(s, &operation_session_search, &query)->result;
        assert_int_equal(found->matches.items.len, 1);
    }
}

static struct error read_error(struct engine *s, const char *id)
{
    struct error e = read_history(s, id)->error;
    return e;
}

/* Archiving ends the live session; later reads come from the store, if there is one. */
TEST(an_archived_session_is_read_from_the_store_or_not_at_all)
{
    EACH_SWITCH(persist)
    {
        begin_afresh();
        AUTO(engine_free_local) struct engine *s = surface_open(NULL, *persist);
        surface_ask(s, "for the archive");
        surface_send(s, &operation_session_archive, NULL);
        struct notice *done = surface_expect_changed(s);
        assert_true(operation_answers(done->answer, &operation_session_archive));
        char *id = support_keep(mem_strdup(surface_changed(done)));
        assert_int_equal(read_error(s, id).code, kept(*persist) ? ERR_OK : ERR_SESSION_NOT_FOUND);
        surface_send(s, &operation_session_open, id);
        if (kept(*persist))
            surface_expect(s, NOTICE_PAGE);
        else
            surface_expect_error(s, ERR_SESSION_NOT_FOUND, id);
    }
}

/* The answer to the first message is in the request for the third: the snapshot was kept. */
TEST_IF(capability_store(), an_archived_session_goes_on_where_it_was)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    surface_ask(s, "remember this");
    surface_send(s, &operation_session_archive, NULL);
    struct notice *done = surface_expect_changed(s);
    surface_send_for(s, &operation_session_open, NULL, surface_changed(done), 1);
    surface_expect(s, NOTICE_PAGE);
    surface_send(s, &operation_turn_start, "may I?");
    surface_expect_error(s, ERR_SESSION_NOT_FOUND, "may I?");
    surface_expect_idle(s);
    surface_send(s, &operation_session_open, surface_changed(done));
    surface_expect(s, NOTICE_PAGE);
    surface_ask(s, "what was it?");
    assert_non_null(strstr(model_server_body(surface_server(), 1), "remember this"));
}

/* An operation that changes needs a store; one that reads finds nothing. */
TEST(operations_say_what_they_cannot)
{
    struct operation_context c;
    struct error e = {0};
    struct session_info info;
    struct session_list_result found;
    const struct session_params last = {.session = "last"};
    AUTO(config_free_local) struct config *config = config_new();
    const struct operation *delete = &operation_session_delete, *list = &operation_session_list;
    assert_int_equal(operation_open(&c, delete, config, surface_store(), "/", &e),
                     capability_store());
    operation_close(&c);
    assert_true(config_set(config, CONFIG_SESSION_PERSIST, "false", &e));
    assert_false(operation_open(&c, delete, config, surface_store(), "/", &e));
    assert_int_equal(e.code, ERR_SESSION_PERSISTENCE_DISABLED);
    operation_close(&c);
    assert_true(operation_open(&c, list, config, surface_store(), "/", &e));
    assert_true(operation_call(&c, list, &(struct session_filter){0}, &found, &e));
    assert_int_equal(found.sessions.items.len, 0);
    assert_false(operation_call(&c, &operation_session_read, &last, &info, &e));
    assert_int_equal(e.code, ERR_SESSION_NOT_FOUND);
    operation_close(&c);
}

/* --- compaction: independent of the kept data ----------------------------------------------- */

#define EACH_PROFILE(persist, compaction) EACH_SWITCH(persist) EACH_SWITCH(compaction)

static bool compacts(bool compaction)
{
    return compaction && capability_compaction();
}

static struct engine *open_profile(bool persist, bool compaction)
{
    struct engine_options options = surface_options(NULL, persist);
    options.compaction = compaction;
    return engine_new(&options);
}

/* Long enough for a summary of it to be shorter. */
static void say_much(struct engine *s)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 100; i++)
        buf_addstr(&text, "much to say ");
    surface_ask(s, text.data);
}

TEST(at_the_threshold_it_compacts_or_does_nothing)
{
    assert_true(config_set(surface_config(), CONFIG_COMPACTION_AUTO_THRESHOLD, "100", NULL));
    EACH_PROFILE(persist, compaction)
    {
        begin_afresh();
        AUTO(engine_free_local) struct engine *s = open_profile(*persist, *compaction);
        say_much(s);
        surface_send(s, &operation_turn_start, "and on");
        bool happened = false;
        for (bool over = false; !over;) {
            struct notice *n = surface_expect(s, NOTICE_EVENT);
            happened = happened || n->event->type == EVENT_COMPACTION_COMPLETED;
            over = n->event->type == EVENT_TURN_COMPLETED;
        }
        surface_expect_idle(s);
        assert_int_equal(happened, compacts(*compaction));
    }
}

TEST(by_hand_it_compacts_or_says_that_it_is_off)
{
    static const struct operation *const types[] = {
        &operation_compaction_run, &operation_compaction_undo, &operation_compaction_pin};
    EACH_PROFILE(persist, compaction)
    {
        begin_afresh();
        AUTO(engine_free_local) struct engine *s = open_profile(*persist, *compaction);
        say_much(s);
        for (size_t i = 0; !compacts(*compaction) && i < sizeof types / sizeof *types; i++) {
            surface_send(s, types[i], NULL);
            surface_expect_error(s, ERR_SESSION_COMPACTION_DISABLED, NULL);
        }
        if (compacts(*compaction)) {
            surface_send(s, &operation_compaction_run, NULL);
            surface_expect_event(s, EVENT_COMPACTION_COMPLETED);
            surface_expect_idle(s);
            surface_send(s, &operation_compaction_undo, NULL);
            surface_expect_event(s, EVENT_COMPACTION_UNDONE);
        }
    }
}

TEST(the_next_request_is_shown_whatever_is_off)
{
    EACH_PROFILE(persist, compaction)
    {
        begin_afresh();
        AUTO(engine_free_local) struct engine *s = open_profile(*persist, *compaction);
        say_much(s);
        surface_send(s, &operation_context_read, NULL);
        struct notice *n = surface_expect_answer(s, &operation_context_read);
        assert_int_equal(surface_context(n)->mode != NULL, compacts(*compaction));
        assert_int_equal(surface_context(n)->threshold > 0, compacts(*compaction));
        assert_int_equal(surface_context(n)->parts.len, 4);
    }
}
