/* Effects of keys on the surface's state, without a terminal or an engine. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tests/seen.h"
#include "tests/still_app.h"
#include "tests/suite.h"
#include "ui/app/dispatch.h"
#include "ui/app/turns.h"

/* Replaces the engine's function: records the requests. */
static VEC(struct operation_request *) asked;

uint64_t engine_start(struct engine *s, const struct operation *o, const void *params)
{
    (void)s;
    vec_push(&asked, operation_request_new(o, params));
    return asked.len;
}

void engine_withdraw(struct engine *s, uint64_t id)
{
    (void)s;
    (void)id;
}

/* Parameters of the last request for the row; NULL: there is none. */
static const void *asked_last(const struct operation *o)
{
    for (size_t i = asked.len; i-- > 0;)
        if (asked.items[i]->operation == o)
            return asked.items[i]->params;
    return NULL;
}

static size_t asked_count(const struct operation *o)
{
    size_t count = 0;
    for (size_t i = 0; i < asked.len; i++)
        count += asked.items[i]->operation == o;
    return count;
}

static const char *opened(void)
{
    const struct session_open_params *p = asked_last(&operation_session_open);
    assert_false(p->read_only);
    return p->session;
}

static int64_t now_ms;

static int64_t stopped_clock(void)
{
    return now_ms;
}

static int tear_down(void **state)
{
    for (size_t i = 0; i < asked.len; i++)
        operation_request_free(asked.items[i]);
    vec_release(&asked);
    clock_replace(NULL, NULL);
    return still_app_teardown(state);
}

static int key(const struct key *k)
{
    struct key own = *k;
    dispatch_key(&app, &own);
    return 0;
}

static const struct person person = {.key = key};

static int set_up(void **state)
{
    seen_by(&person);
    now_ms = 1000;
    clock_replace(NULL, stopped_clock);
    return still_app_setup(state);
}

/* --- Ctrl-C --- */

FIXTURE(set_up, tear_down);

TEST(it_leaves_at_the_second_press)
{
    act("<ctrl-c>");
    assert_false(app.leaving);
    assert_int_not_equal(app.leave_until, 0); /* the status line says so */
    now_ms += 1999;
    act("<ctrl-c>");
    assert_true(app.leaving);
}

TEST(it_leaves_within_two_seconds_alone)
{
    act("<ctrl-c>");
    assert_in_range(app_timeout(&app, now_ms), 0, 2000);
    now_ms += 2000;
    app_timers(&app, now_ms);
    assert_int_equal(app.leave_until, 0);
    act("<ctrl-c>");
    assert_false(app.leaving);
    now_ms += 2000; /* before the timer was seen */
    act("<ctrl-c>");
    assert_false(app.leaving);
}

TEST(another_key_makes_the_next_press_the_first)
{
    act("<ctrl-c>x");
    assert_int_equal(app.leave_until, 0);
    act("<ctrl-c>");
    assert_string_equal(editor_text(app.editor), "");
    assert_false(app.leaving);
    act("<ctrl-c>");
    assert_false(app.leaving);
    act("<ctrl-c>");
    assert_true(app.leaving);
}

/* The turn ends between two presses that were both meant to stop it. */
TEST(stopping_is_no_first_press)
{
    app.activity.busy = true;
    act("<ctrl-c>");
    assert_int_equal(asked_count(&operation_turn_interrupt), 1);
    assert_int_equal(app.leave_until, 0);
    app.activity.busy = false;
    act("<ctrl-c>");
    assert_false(app.leaving);
    assert_int_equal(asked_count(&operation_turn_interrupt), 1);
}

TEST(closing_a_list_is_no_press)
{
    act("<ctrl-c><f1>");
    assert_non_null(list_view_find(&app.views, LIST_HELP));
    act("<ctrl-c>");
    assert_null(app.views.at[VIEW_LIST]);
    assert_false(app.leaving);
    act("<ctrl-c>");
    assert_false(app.leaving);
}

/* --- /edit --- */

TEST(a_changed_message_is_not_sent_while_a_turn_runs)
{
    app.last_sent = mem_strdup("the old words");
    message_edit(&app);
    assert_true(app.replacing);
    assert_string_equal(editor_text(app.editor), "the old words");
    app.activity.busy = true;
    act("<enter>");
    assert_string_equal(editor_text(app.editor), "the old words");
    assert_true(app.replacing);
    assert_null(app.waiting);
    app.activity.busy = false;
    act("<enter>");
    const struct turn_retry_params *p = asked_last(&operation_turn_retry);
    assert_string_equal(p->text, "the old words");
    assert_false(app.replacing);
}

TEST(a_running_turn_is_not_changed)
{
    app.last_sent = mem_strdup("the old words");
    app.activity.busy = true;
    message_edit(&app);
    assert_false(app.replacing);
    assert_string_equal(editor_text(app.editor), "");
}

/* --- Esc after a jump --- */

static const char here[] = "00000000-0000-7000-8000-000000000001";
static const char there[] = "00000000-0000-7000-8000-000000000002";

static void open_one(const char *id, bool read_only)
{
    way_back_session(&app, id);
    memcpy(app.session.id, id, UUID_LEN + 1);
    app.read_only = read_only;
    app.fresh = false;
    way_back_page(&app);
}

TEST(what_is_written_after_a_jump_stays)
{
    open_one(here, false);
    act("half");
    way_back_mark(&app);
    act(" a thought<escape>");
    assert_int_equal(app.way_back.places.len, 0);
    assert_string_equal(editor_text(app.editor), "half a thought");
    assert_int_equal(editor_caret(app.editor), strlen("half a thought"));
    assert_int_equal(asked.len, 0);
}

TEST(the_last_jump_is_the_first_to_go_back)
{
    open_one(here, false);
    way_back_leave(&app, there);
    open_one(there, true);
    way_back_mark(&app);
    act("<escape>");
    assert_int_equal(asked_count(&operation_session_open), 0);
    act("<escape>");
    assert_string_equal(opened(), here);
    act("<escape>"); /* it is on its way */
    assert_int_equal(asked_count(&operation_session_open), 1);
    open_one(here, false);
    act("<escape>");
    assert_int_equal(asked_count(&operation_session_open), 1);
}

TEST(reading_what_is_open_has_a_way_back)
{
    open_one(here, false);
    way_back_leave(&app, here);
    open_one(here, true);
    act("<escape>");
    assert_string_equal(opened(), here);
}

TEST(another_session_or_a_message_ends_it)
{
    open_one(here, false);
    way_back_mark(&app);
    open_one(there, false);
    assert_int_equal(app.way_back.places.len, 0);
    way_back_mark(&app);
    message_send(&app, "go on");
    assert_int_equal(app.way_back.places.len, 0);
}

TEST(what_cannot_be_opened_leaves_nothing_behind)
{
    open_one(here, false);
    way_back_leave(&app, there);
    way_back_refused(&app);
    assert_int_equal(app.way_back.places.len, 0);
    open_one(there, false); /* later, by another way */
    assert_int_equal(app.way_back.places.len, 0);
}

TEST(a_session_without_a_word_is_begun_again)
{
    memcpy(app.session.id, here, sizeof here);
    way_back_leave(&app, there);
    open_one(there, true);
    app.session.draft = mem_strdup("its own draft");
    editor_set(app.editor, "its own draft");
    act("<escape>");
    assert_int_equal(asked_count(&operation_session_create), 1);
    assert_string_equal(editor_text(app.editor), ""); /* the draft of the read-only session is not
                                                       * taken along */
}

/* --- Ctrl-F --- */

TEST(a_search_begins_empty)
{
    act("<ctrl-f>needle");
    assert_string_equal(editor_text(app.find.line), "needle");
    act("<escape><ctrl-f>");
    assert_string_equal(editor_text(app.find.line), "");
    assert_false(app.find.failed);
    act("<up>");
    assert_string_equal(editor_text(app.find.line), "needle");
    act("<escape><ctrl-f>");
    act("<escape>"); /* without a word */
    act("<ctrl-f><up>");
    assert_string_equal(editor_text(app.find.line), "needle");
}
