/* An engine that serves: many sessions at once, none in front, each request names its own. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/engine_private.h"
#include "session/lock.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"
#include "tests/conversation.h"
#include "tests/damage.h"
#include "tests/served.h"
#include "tests/suite.h"

FIXTURE(surface_setup, served_teardown);

/* Opens an engine and creates a session; returns its id, kept. */
static const char *begin(void)
{
    char id[UUID_LEN + 1];
    served_open(true);
    served_create(id);
    return support_text("%s", id);
}

TEST(a_session_is_made_and_asked)
{
    const char *id = begin();
    model_server_queue(surface_server(), &(struct reply){.text = "Well met."});
    served_ask(id, "Hello", "Well met.");
    served_ask(id, "And again", "Hello from the scripted model.");
}

TEST_IF(capability_store(), a_request_names_its_session)
{
    served_open(true);
    served_refused(&operation_turn_start, &(struct turn_start_params){.text = "Hello"}, ERR_USAGE);
    assert_non_null(strstr(served_refusal.text, "\"session_id\""));
    served_refused(&operation_turn_start,
                   &(struct turn_start_params){.session = "nobody", .text = "Hello"},
                   ERR_SESSION_NOT_FOUND);
}

/* --- settings --------------------------------------------------------------------------------- */

static void assert_set_to(const char *id, enum tools_offer tools, const char *mode)
{
    struct operation_answer *a =
        served_done(&operation_session_settings, &(struct session_params){id});
    const struct session_settings *set = a->result;
    assert_int_equal(set->tools, tools);
    if (capability_compaction())
        assert_string_equal(set->compaction, mode);
}

/* Whether the next request offers the tool. */
static bool offers(const char *id, const char *tool)
{
    size_t before = model_server_requests(surface_server());
    served_ask(id, "What can you do?", "Hello from the scripted model.");
    return strstr(model_server_body(surface_server(), before), tool);
}

TEST_IF(capability_store() && capability_compaction(), settings_stay_with_the_session)
{
    const struct session_create_params without = {
        .tools = TOOLS_NONE, .labels = "garden", .system = "Be brief."};
    char id[UUID_LEN + 1], fork[UUID_LEN + 1];
    served_open(true);
    const struct session_info *plain = served_done(&operation_session_create, &without)->result;
    memcpy(id, plain->id, sizeof id);
    assert_set_to(id, TOOLS_NONE, "handoff");
    assert_false(offers(id, "read_file"));
    if (capability_compaction()) {
        const struct session_compaction_params mode = {.session = id, .mode = "structured"};
        served_done(&operation_session_set_compaction, &mode);
        served_refused(&operation_session_set_compaction,
                       &(struct session_compaction_params){.session = id, .mode = "tea"},
                       ERR_USAGE);
    }
    served_close();
    served_open(true);
    assert_set_to(id, TOOLS_NONE, "structured");
    assert_false(offers(id, "read_file"));
    const struct session_info *info =
        served_done(&operation_session_fork, &(struct session_fork_params){.session = id})->result;
    assert_string_equal(info->labels, "garden");
    assert_string_equal(info->system, "Be brief.");
    memcpy(fork, info->id, sizeof fork);
    assert_set_to(fork, TOOLS_NONE, "structured");
    served_done(&operation_session_set_tools, &(struct session_tools_params){id, TOOLS_FULL});
    assert_true(offers(id, "read_file"));
    assert_set_to(fork, TOOLS_NONE, "structured");
    served_done(&operation_session_delete, &(struct session_params){id});
    served_close();
    assert_int_equal(damage_number(surface_store(), "SELECT count(*) FROM session_setting"), 2);
}

/* The session's model does not depend on the program's arguments. */
TEST_IF(capability_store(), a_session_keeps_its_model)
{
    const char *id = begin();
    served_done(&operation_session_set_model,
                &(struct session_model_params){.session = id, .model = "another-model"});
    served_ask(id, "Hello", "Hello from the scripted model.");
    served_done(&operation_session_close, &(struct session_close_params){id, false});
    assert_true(offers(id, "another-model"));
    served_close();
    served_open(true);
    assert_true(offers(id, "another-model"));
}

/* --- closing ---------------------------------------------------------------------------------- */

static void run(const struct operation *o, const char *session)
{
    served_done(o, &(struct session_params){session});
}

static void shut(const char *session)
{
    served_done(&operation_session_close, &(struct session_close_params){session, false});
}

static int64_t sessions_kept(void)
{
    const struct session_list_result *list =
        served_done(&operation_session_list, &(struct session_filter){0})->result;
    return list->total;
}

TEST_IF(capability_store(), a_session_is_closed_and_opened_again)
{
    char id[UUID_LEN + 1], unused[UUID_LEN + 1];
    served_open(true);
    served_create(id);
    served_create(unused);
    assert_int_equal(sessions_kept(), 2);
    served_ask(id, "Hello", "Hello from the scripted model.");
    shut(id);
    shut(id); /* it is closed */
    shut(unused);
    assert_int_equal(sessions_kept(), 2); /* also one in which nothing was said */
    served_create(unused);
    served_done(&operation_session_close, &(struct session_close_params){unused, true});
    assert_int_equal(sessions_kept(), 2);
    served_refused(&operation_session_close, &(struct session_close_params){unused, false},
                   ERR_SESSION_NOT_FOUND);
    size_t before = model_server_requests(surface_server());
    served_ask(id, "And you?", "Hello from the scripted model.");
    const char *body = model_server_body(surface_server(), before);
    assert_non_null(strstr(body, "Hello from the scripted model."));
}

static void begin_turn(const char *session, const char *half)
{
    model_server_queue(surface_server(), &(struct reply){.fault = REPLY_STALL, .text = half});
    engine_start(served, &operation_turn_start,
                 &(struct turn_start_params){.session = session, .text = "Tell me all."});
    for (bool came = false; !came;) {
        came = strcmp(surface_expect_event(served, EVENT_TEXT_DELTA)->session, session) == 0;
    }
}

TEST(closing_ends_what_runs)
{
    const char *id = begin();
    begin_turn(id, "Half of it");
    uint64_t closing =
        engine_start(served, &operation_session_close, &(struct session_close_params){id, false});
    const struct turn_result *turn =
        surface_expect_answer(served, &operation_turn_start)->answer->result;
    assert_int_equal(turn->stop_reason, STOP_CANCELLED);
    assert_int_equal(surface_expect_answer(served, &operation_session_close)->answer->request->id,
                     closing);
    served_refused(&operation_turn_interrupt, &(struct session_params){id},
                   ERR_SESSION_NOT_RUNNING);
}

/* Waits until at most this many sessions are open, that is, hold their locks. */
static void expect_open(char own[][UUID_LEN + 1], int count, int most)
{
    auto_free char *directory = support_path("data");
    int held = count;
    for (int64_t until = clock_mono_ms() + SURFACE_MS; held > most && clock_mono_ms() < until;) {
        held = 0;
        for (int i = 0; i < count; i++)
            held += !lock_is_free(directory, own[i]);
        if (held > most)
            notice_free(mailbox_wait(engine_notices(served), 10));
    }
    assert_in_range(held, 0, most);
}

/* An idle session closes by itself, and its next user does not notice. */
TEST_IF(capability_store(), what_rests_closes)
{
    char own[4][UUID_LEN + 1], *directory = support_path("data");
    surface_set(CONFIG_SERVE_OPEN_SESSIONS, "2");
    served_open(true);
    for (int i = 0; i < 4; i++)
        served_create(own[i]);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++)
            served_ask(own[i], "Hello", "Hello from the scripted model.");
    expect_open(own, 4, 2);
    assert_false(lock_is_free(directory, own[3])); /* the newest */
    free(directory);
    served_close();
    surface_set(CONFIG_SERVE_OPEN_SESSIONS, "100");
    surface_set(CONFIG_SERVE_IDLE_MINUTES, "0");
    served_open(true);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 4; i++)
            served_ask(own[i], "Hello", "Hello from the scripted model.");
    expect_open(own, 4, 0);
    for (int i = 0; i < 4; i++) {
        struct operation_answer *a =
            served_done(&operation_session_read, &(struct session_params){own[i]});
        assert_int_equal(((struct session_info *)a->result)->turns, 6);
    }
}

/* --- a store that cannot be used -------------------------------------------------------------- */

/* With a store in memory nobody would see that sessions are lost; when the store is repaired, work
 * continues. */
TEST_IF(capability_store(), a_store_that_cannot_be_used_is_no_store_in_memory)
{
    static const char rubbish[] = "This is no database.";
    char id[UUID_LEN + 1];
    assert_int_equal(mkdir(support_path("data"), 0700), 0);
    support_write(surface_store(), rubbish);
    served_open(true);
    for (int i = 0; i < 2; i++) {
        served_refused(&operation_session_list, NULL, ERR_SESSION_STORE_ERROR);
        served_refused(&operation_session_create, NULL, ERR_SESSION_STORE_ERROR);
        served_refused(&operation_turn_start,
                       &(struct turn_start_params){.session = "last", .text = "x"},
                       ERR_SESSION_STORE_ERROR);
        if (capability_memory())
            served_refused(&operation_memory_search,
                           &(struct memory_search){.query = "x", .limit = 1},
                           ERR_SESSION_STORE_ERROR);
    }
    assert_string_equal(support_read(surface_store()), rubbish);
    assert_int_equal(remove(surface_store()), 0);
    served_create(id);
    served_ask(id, "Hello", "Hello from the scripted model.");
    served_done(&operation_session_list, NULL);
    assert_int_equal(sessions_kept(), 1);
}

/* --- read-only sessions ----------------------------------------------------------------------- */

static void assert_not_written_to(const char *id, const char *why)
{
    served_refused(&operation_turn_start, &(struct turn_start_params){.session = id, .text = "x"},
                   ERR_SESSION_NOT_FOUND);
    assert_non_null(strstr(served_refusal.text, why));
    served_refused(&operation_session_set_system,
                   &(struct session_text_params){.session = id, .text = "x"},
                   ERR_SESSION_NOT_FOUND);
    run(&operation_session_settings, id);
    run(&operation_context_read, id);
    served_refused(&operation_turn_retry, &(struct turn_retry_params){.session = id},
                   ERR_SESSION_NOT_FOUND);
}

static void open_again(const char *id, bool read_only)
{
    const struct session_open_params params = {.session = id, .read_only = read_only};
    served_done(&operation_session_open, &params);
}

/* A read-only session takes no turn, by any of its names, until it is opened for writing or
 * closed. */
TEST_IF(capability_store(), a_session_that_is_looked_at_takes_no_turn)
{
    const char *id = begin();
    served_ask(id, "Hello", "Hello from the scripted model.");
    open_again(id, true); /* it is open to be written to, and stays so */
    served_ask(id, "Hello", "Hello from the scripted model.");
    shut(id);
    open_again(id, true);
    assert_not_written_to(id, "read-only");
    assert_not_written_to("last", "read-only");
    open_again(id, false);
    served_ask(id, "Hello", "Hello from the scripted model.");
    shut(id);
    open_again(id, true);
    shut(id);
    served_ask(id, "Hello", "Hello from the scripted model.");
}

/* The session may be read, and is live again when a client opens it or says so. */
TEST_IF(capability_store(), a_session_that_is_archived_takes_no_turn_until_it_is_resumed)
{
    const char *id = begin();
    served_ask(id, "Hello", "Hello from the scripted model.");
    begin_turn(id, "Half of it");
    run(&operation_session_archive, id); /* the turn is interrupted first */
    assert_not_written_to(id, "archived");
    open_again(id, false);
    served_ask(id, "Hello", "Hello from the scripted model.");
    run(&operation_session_archive, id);
    open_again(id, true);
    assert_not_written_to(id, "read-only");
    run(&operation_session_unarchive, id);
    shut(id);
    served_ask(id, "Hello", "Hello from the scripted model.");
}

/* --- at once ---------------------------------------------------------------------------------- */

TEST(one_turn_runs_in_a_session)
{
    char id[UUID_LEN + 1];
    const struct turn_start_params again = {.session = id, .text = "And this?"};
    served_open(true);
    served_create(id);
    served_refused(&operation_turn_interrupt, &(struct session_params){id},
                   ERR_SESSION_NOT_RUNNING);
    begin_turn(id, "Half of it");
    served_refused(&operation_turn_start, &again, ERR_SESSION_BUSY);
    run(&operation_turn_interrupt, id);
    surface_expect_answer(served, &operation_turn_start);
    served_ask(id, "Now?", "Hello from the scripted model.");
}

/* The lock is the process's: a second engine stands for another one. */
TEST_IF(capability_store(), a_session_of_another_process_is_busy)
{
    char id[UUID_LEN + 1];
    const struct turn_start_params again = {.session = id, .text = "And this?"};
    served_open(true);
    served_create(id);
    begin_turn(id, "Half of it");
    struct engine *first = served;
    served = NULL;
    served_open(true);
    served_refused(&operation_turn_start, &again, ERR_SESSION_BUSY);
    served_done(&operation_context_read, &(struct session_params){id});
    run(&operation_session_read, id);
    engine_free(first);
    served_ask(id, "Now?", "Hello from the scripted model.");
}

TEST(approvals_of_two_sessions_wait_at_once)
{
    char own[2][UUID_LEN + 1], *places[2] = {served_place("place-1"), served_place("place-2")};
    const struct reply call = {.tool_name = "write_file",
                               .tool_args = "{\"path\":\"new.txt\",\"content\":\"x\"}"};
    served_open(true);
    for (int i = 0; i < 2; i++) {
        served_create_in(places[i], own[i]);
        model_server_queue(surface_server(), &call);
        engine_start(served, &operation_turn_start,
                     &(struct turn_start_params){.session = own[i], .text = "Write."});
        assert_string_equal(surface_expect(served, NOTICE_APPROVAL)->session, own[i]);
    }
    for (int i = 1; i >= 0; i--) { /* the second is allowed, the first is not */
        const struct approval_decide_params decide = {
            .session = own[i], .call = "call_1", .decision = i ? ANSWER_ONCE : ANSWER_DENY};
        served_done(&operation_approval_decide, &decide);
        const struct turn_result *turn =
            surface_expect_answer(served, &operation_turn_start)->answer->result;
        assert_string_equal(turn->session_id, own[i]);
        auto_free char *path = mem_printf("%s/new.txt", places[i]);
        assert_int_equal(access(path, F_OK), i ? 0 : -1);
        free(places[i]);
    }
}

TEST(drafts_wait_in_their_sessions)
{
    char id[UUID_LEN + 1];
    if (!capability_compaction())
        skip();
    served_open(true);
    served_create(id);
    for (int i = 0; i < 4; i++)
        served_ask(id, "Tell me a lot about gardens and what grows in them.",
                   "Hello from the scripted model.");
    const struct compaction_run_params compact = {
        .session = id, .mode = "deterministic", .preview = true};
    const struct compaction_decide_params no = {.session = id, .decision = DRAFT_REFUSE};
    served_refused(&operation_compaction_decide, &no, ERR_SESSION_NOT_RUNNING);
    engine_start(served, &operation_compaction_run, &compact);
    assert_string_equal(surface_expect(served, NOTICE_DRAFT)->session, id);
    served_done(&operation_compaction_decide, &no);
}

TEST(without_a_store_an_unknown_session_is_not_found)
{
    char id[UUID_LEN + 1];
    const struct turn_start_params unknown = {.session = "nobody", .text = "Hello"};
    served_open(false);
    served_refused(&operation_turn_start, &unknown, ERR_SESSION_NOT_FOUND);
    served_create(id);
    served_ask(id, "Hello", "Hello from the scripted model.");
    shut(id);
    served_ask(id, "Are you still there?", "Hello from the scripted model.");
}

/* Operations that concern no session need none. */
TEST_IF(capability_store(), models_are_listed_without_a_session)
{
    served_open(true);
    served_done(&operation_models_list, NULL);
    served_done(&operation_provider_check, NULL);
    const struct report_result *told = served_done(&operation_doctor_report, NULL)->result;
    assert_int_equal(told->fault.code, 0);
    assert_string_equal(told->facts.items[0].name, "provider");
    assert_string_equal(told->facts.items[0].value, "openai");
    assert_int_equal(sessions_kept(), 0);
}

/* --- withdrawals and the end ------------------------------------------------------------------ */

/* An operation that changes something is carried out although its request was withdrawn. */
TEST(what_was_asked_is_done_though_withdrawn)
{
    const char *id = begin();
    begin_turn(id, "Half of it");
    engine_withdraw(served, engine_start(served, &operation_session_rename,
                                         &(struct session_rename_params){id, "Kyoto"}));
    engine_withdraw(served, engine_start(served, &operation_session_list, NULL));
    run(&operation_turn_interrupt, id);
    surface_expect_answer(served, &operation_turn_start);
    struct operation_answer *a =
        served_done(&operation_session_read, &(struct session_params){"Kyoto"});
    assert_string_equal(((struct session_info *)a->result)->id, id);
}

/* The text that arrived is kept, for every turn that ran. */
TEST_IF(capability_store(), the_end_keeps_what_arrived)
{
    enum { TURNS = 20 };
    char own[TURNS][UUID_LEN + 1];
    served_open(true);
    for (int i = 0; i < TURNS; i++) {
        served_create(own[i]);
        begin_turn(own[i], "Half of it");
    }
    served_create(own[0]); /* one that does nothing */
    served_close();
    served_open(true);
    for (int i = 1; i < TURNS; i++) {
        const struct session_history_params last = {.session = own[i], .newest = true, .limit = 9};
        const struct session_history_result *history =
            served_done(&operation_session_history, &last)->result;
        assert_int_equal(vec_last(&history->events.items)->type, EVENT_INTERRUPTED);
        const struct session_info *info =
            served_done(&operation_session_read, &(struct session_params){own[i]})->result;
        assert_string_equal(info->last_line, "Half of it");
    }
}

/* --- events ----------------------------------------------------------------------------------- */

/* The streamed text, with its length at each event's number. */
static struct buf streamed;
static VEC(size_t) streamed_up_to; /* by number: bytes */

static bool keep_event(void *log, const struct event *ev)
{
    vec_push(&((struct event_list *)log)->items, event_clone(ev));
    return true;
}

/* Reads on a connection of its own, beside the engine, whose notices all count here. */
static void read_log(const char *id, struct event_list *log)
{
    AUTO(session_info_release) struct session_info info = {0};
    *log = (struct event_list){0};
    assert_true(surface_read(id, &info, keep_event, log, NULL));
}

static void assert_in_log(const char *id, const struct event *ev)
{
    AUTO(event_list_release) struct event_list log = {0};
    bool found = false;
    read_log(id, &log);
    for (size_t i = 0; i < log.items.len; i++)
        found =
            found || (log.items.items[i]->seq == ev->seq && log.items.items[i]->type == ev->type);
    assert_true(found);
}

/* A follower of a session relies on this: every event except pieces of an answer is in the log when
 * it is announced; in the log the pieces are joined, under the number of the last. */
TEST_IF(capability_store(), the_log_has_what_was_told)
{
    char id[UUID_LEN + 1];
    const struct reply slow = {.text = "A rather long answer which comes word by word, slowly.",
                               .piece = 1,
                               .interval_ms = 40};
    int64_t last = 0;
    buf_init(&streamed, 0);
    served_open(true);
    served_create(id);
    model_server_queue(surface_server(), &slow);
    engine_start(served, &operation_turn_start,
                 &(struct turn_start_params){.session = id, .text = "Tell me."});
    for (bool over = false; !over;) {
        const struct event *ev = surface_expect(served, NOTICE_EVENT)->event;
        assert_true(ev->seq > last);
        last = ev->seq;
        if (ev->type == EVENT_TEXT_DELTA)
            buf_addstr(&streamed, ev->text);
        while ((int64_t)streamed_up_to.len <= ev->seq)
            vec_push(&streamed_up_to, streamed.len);
        streamed_up_to.items[ev->seq] = streamed.len;
        if (ev->type != EVENT_TEXT_DELTA)
            assert_in_log(id, ev);
        if (streamed.len == 45 && ev->type == EVENT_TEXT_DELTA)
            engine_start(served, &operation_turn_interrupt, &(struct session_params){id});
        over = ev->type == EVENT_INTERRUPTED;
    }
    struct event_list log;
    size_t joined = 0, deltas = 0;
    read_log(id, &log);
    for (size_t i = 0; i < log.items.len; i++) {
        const struct event *ev = log.items.items[i];
        if (ev->type == EVENT_TEXT_COMPLETE) /* with the text that was not joined yet */
            assert_string_equal(ev->text, streamed.data);
        if (ev->type != EVENT_TEXT_DELTA)
            continue;
        size_t upto = streamed_up_to.items[ev->seq];
        assert_int_equal(strlen(ev->text), upto - joined);
        assert_memory_equal(ev->text, streamed.data + joined, upto - joined);
        joined = upto;
        deltas++;
    }
    assert_in_range(deltas, 1, 3); /* a second each */
    event_list_release(&log);
    vec_release(&streamed_up_to);
    buf_release(&streamed);
}

/* --- races ------------------------------------------------------------------------------------ */

enum { SESSIONS = 5, ASKERS = 4, ASKED = 60 };

/* The random requests, with the errors that each may get instead of success. */
static const struct move {
    const struct operation *operation;
    enum err_code or_one_of[3];
} moves[] = {
    {&operation_turn_start, {ERR_SESSION_BUSY, ERR_INTERRUPTED, ERR_SESSION_NOT_FOUND}},
    {&operation_turn_start, {ERR_SESSION_BUSY, ERR_INTERRUPTED, ERR_SESSION_NOT_FOUND}},
    {&operation_turn_interrupt, {ERR_SESSION_NOT_RUNNING}},
    {&operation_context_read, {ERR_OK}},
    {&operation_session_close, {ERR_OK}},
    {&operation_session_open, {ERR_OK}},
    {&operation_session_rename, {ERR_OK}},
    {&operation_session_settings, {ERR_OK}},
    {&operation_session_set_draft, {ERR_SESSION_NOT_FOUND}}, /* it is archived */
    {&operation_session_archive, {ERR_OK}},                  /* in memory alone it is deleting */
    {&operation_session_unarchive, {ERR_OK}},
};
enum { MOVES = sizeof moves / sizeof *moves, MOVES_IN_MEMORY = MOVES - 2 };

struct asker {
    pthread_t thread;
    struct dice dice;
    size_t moves; /* that it knows */
};

static char ids[SESSIONS][UUID_LEN + 1], titles[SESSIONS][40];

static void *ask_at_random(void *asker)
{
    struct asker *a = asker;
    for (int i = 0; i < ASKED; i++) {
        const struct move *m = &moves[dice_below(&a->dice, a->moves)];
        int which = (int)dice_below(&a->dice, SESSIONS);
        const char *name = dice_below(&a->dice, 2) ? ids[which] : titles[which];
        if (m->operation == &operation_turn_start)
            engine_start(served, m->operation,
                         &(struct turn_start_params){.session = name, .text = "Hello"});
        else if (m->operation == &operation_session_rename)
            engine_start(served, m->operation,
                         &(struct session_rename_params){.session = name, .title = titles[which]});
        else if (m->operation == &operation_session_open)
            engine_start(served, m->operation, &(struct session_open_params){.session = name});
        else if (m->operation == &operation_session_set_draft)
            engine_start(served, m->operation, &(struct session_text_params){.session = name});
        else if (m->operation == &operation_session_close)
            engine_start(served, m->operation, &(struct session_close_params){.session = name});
        else
            engine_start(served, m->operation, &(struct session_params){name});
    }
    return NULL;
}

static bool may_fail_so(const struct operation_answer *a)
{
    enum err_code code = a->error.code;
    const struct move *m = moves;
    bool may = code == ERR_OK;
    while (m->operation != a->request->operation)
        m++;
    for (int i = 0; i < 3; i++)
        may = may || code == m->or_one_of[i];
    return may && (code != ERR_SESSION_NOT_FOUND || strstr(a->error.text, "archived"));
}

/* Takes the answers, which come once each; how many turns there were in each session. */
static void take_answers(int turns[SESSIONS])
{
    bool answered[1 + 2 * SESSIONS + ASKERS * ASKED + 1] = {false};
    for (int left = ASKERS * ASKED; left > 0; left--) {
        const struct operation_answer *a = surface_expect(served, NOTICE_ANSWER)->answer;
        if (!may_fail_so(a) || strstr(a->error.text, "another tiro"))
            fail_msg("%s: %s", a->request->operation->name, a->error.text);
        assert_in_range(a->request->id, 1, sizeof answered - 1);
        assert_false(answered[a->request->id]);
        answered[a->request->id] = true;
        for (int i = 0; i < SESSIONS; i++)
            turns[i] += a->request->operation == &operation_turn_start && a->result &&
                        strcmp(((const struct turn_result *)a->result)->session_id, ids[i]) == 0;
    }
}

static void assert_turns_kept(const char *id, int turns)
{
    const struct session_history_params all = {.session = id, .limit = 10000};
    const struct session_history_result *kept =
        served_done(&operation_session_history, &all)->result;
    int began = 0;
    int64_t last = 0;
    for (size_t i = 0; i < kept->events.items.len; i++) {
        const struct event *ev = kept->events.items.items[i];
        assert_true(ev->seq > last);
        last = ev->seq;
        began += ev->type == EVENT_TURN_STARTED;
    }
    assert_int_equal(began, turns);
    assert_int_equal(kept->session.turns, turns);
}

static const struct race {
    bool persist;
    const char *open_sessions, *idle_minutes;
    size_t most;
} races[] = {
    {true, "100", "10", 1000}, {true, "2", "10", 1000}, {true, "100", "0", 1000},
    {false, "3", "10", 1000},  {true, "100", "10", 3}, /* requests wait for a conversation */
};

static void race(uint64_t seed, const struct race *r)
{
    int turns[SESSIONS] = {0};
    struct asker askers[ASKERS];
    surface_set(CONFIG_SERVE_OPEN_SESSIONS, r->open_sessions);
    surface_set(CONFIG_SERVE_IDLE_MINUTES, r->idle_minutes);
    served_open(r->persist);
    served->most = r->most;
    for (int i = 0; i < SESSIONS; i++) {
        served_create(ids[i]);
        snprintf(titles[i], sizeof titles[i], "Garden %d of %s", i, ids[i] + UUID_LEN - 6);
        served_done(&operation_session_rename, &(struct session_rename_params){ids[i], titles[i]});
    }
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (struct asker){.dice = {seed + (uint64_t)i},
                                   .moves = r->persist ? MOVES : MOVES_IN_MEMORY};
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_at_random, &askers[i]), 0);
    }
    take_answers(turns);
    for (int i = 0; i < ASKERS; i++)
        pthread_join(askers[i].thread, NULL);
    for (int i = 0; i < SESSIONS; i++)
        assert_turns_kept(ids[i], turns[i]);
    served_close();
}

TEST_IF(capability_store(), requests_race_for_sessions)
{
    uint64_t seed = support_seed();
    size_t step = suite_sample(2, 1);
    for (size_t i = seed % step; i < sizeof races / sizeof *races; i += step)
        race(seed + 100 * i, &races[i]);
}

/* --- many ------------------------------------------------------------------------------------- */

/* MOST_BYTES_ONCE: desks, lists of words, and the arenas of the allocator, which some 40 sessions
 * fill. */
enum { MANY = 100, MOST_BYTES_EACH = 500 * 1000, MOST_BYTES_ONCE = 25 * 1000 * 1000 };

static int64_t resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* The model's side is in this process, too, and counts. */
TEST(many_sessions_are_open_and_busy_at_once)
{
    const int count = (int)suite_sample(40, MANY);
    static char many[MANY][UUID_LEN + 1];
    served_open(true);
    served_create(many[0]);
    served_ask(many[0], "Hello", "Hello from the scripted model.");
    mem_return_unused(); /* of the engines of earlier tests */
    int64_t before = resident_bytes();
    for (int i = 1; i < count; i++) {
        served_create(many[i]);
        served_ask(many[i], "Hello", "Hello from the scripted model.");
    }
    int64_t open = resident_bytes() - before;
    print_message("%lld KiB for an open session\n", (long long)open / (count - 1) / 1024);
    for (int i = 0; i < count; i++)
        engine_start(served, &operation_turn_start,
                     &(struct turn_start_params){.session = many[i], .text = "All at once"});
    for (int i = 0; i < count; i++)
        surface_expect_answer(served, &operation_turn_start);
    int64_t busy = (resident_bytes() - before) / (count - 1);
    print_message("%lld KiB after as many turns at once\n", (long long)busy / 1024);
    served_close();
    print_message("%lld KiB in all after the end\n", (long long)(resident_bytes() - before) / 1024);
    if (SUPPORT_TELLS_MEMORY && before > 0)
        assert_true(open <= MOST_BYTES_ONCE + (int64_t)MOST_BYTES_EACH * count);
}

/* --- requests cancelled before they begin ----------------------------------------------------- */

static uint64_t begin_held_turn(const char *id)
{
    size_t before = model_server_requests(surface_server());
    model_server_queue(surface_server(), &(struct reply){.text = "late", .hold = true});
    uint64_t turn =
        engine_start(served, &operation_turn_start,
                     &(struct turn_start_params){.session = id, .text = "Take your time"});
    assert_true(model_server_wait(surface_server(), before + 1, SURFACE_MS));
    return turn;
}

/* A request that waits for the end of a turn can be cancelled; the turn and other requests are
 * carried out. */
TEST(what_is_cancelled_before_it_begins_is_not_done)
{
    const char *id = begin();
    const struct models_params p = {.session = id};
    uint64_t turn = begin_held_turn(id), gone = engine_start(served, &operation_models_list, &p),
             kept = engine_start(served, &operation_models_list, &p);
    assert_false(engine_cancel(served, turn));
    assert_true(engine_cancel(served, gone));
    assert_false(engine_cancel(served, gone));
    model_server_release(surface_server());
    surface_expect_answer(served, &operation_turn_start);
    assert_int_equal(surface_expect_answer(served, &operation_models_list)->answer->request->id,
                     kept);
    assert_false(engine_cancel(served, kept));
    run(&operation_session_settings, id); /* nothing came in between */
}

/* … nor is a request for a conversation when the maximum of conversations is open. */
TEST_IF(capability_store(), what_is_cancelled_before_there_is_room_is_not_done)
{
    const char *id = begin();
    served->most = 1;
    (void)begin_held_turn(id);
    uint64_t gone = engine_start(served, &operation_session_create, NULL);
    assert_true(engine_cancel(served, gone));
    assert_false(engine_cancel(served, gone));
    model_server_release(surface_server());
    surface_expect_answer(served, &operation_turn_start);
    run(&operation_session_settings, id);
    assert_int_equal(sessions_kept(), 1);
}
