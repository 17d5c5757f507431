/* A request belongs to the session that it names, independent of earlier requests. Clients of an
 * engine that serves send random requests, many at once, to a few sessions; each text is kept in
 * the named session, and every acknowledged session is kept until it is deleted. NAMED_ROUNDS sets
 * the number of bursts; TIRO_TEST_SEED repeats them. */
#include "base/vec.h"
#include "session/engine_private.h"
#include "session/session_operations.h"
#include "tests/conversation.h"
#include "tests/served.h"
#include "tests/suite.h"

NEEDS(capability_store());
FIXTURE(surface_setup, served_teardown);

static void answered_in(const struct notice *n, const char *session)
{
    assert_int_equal(n->answer->error.code, ERR_OK);
    assert_string_equal(((const struct turn_result *)n->answer->result)->session_id, session);
}

/* The operation that comes first is followed at once by a fork and a turn. */
static void turn_behind_fork(const struct operation *first, const void *params, const char *session)
{
    if (first)
        engine_start(served, first, params);
    engine_start(served, &operation_session_fork,
                 &(struct session_fork_params){.session = session});
    engine_start(served, &operation_turn_start,
                 &(struct turn_start_params){.session = session, .text = "Two"});
    struct notice *n = surface_expect_answer(served, &operation_turn_start);
    answered_in(n, session);
    engine_start(served, &operation_session_fork,
                 &(struct session_fork_params){.session = session});
    engine_start(served, &operation_turn_retry, &(struct turn_retry_params){.session = session});
    n = surface_expect_answer(served, &operation_turn_retry);
    answered_in(n, session);
}

TEST(a_turn_behind_a_fork_runs_in_the_session_that_it_names)
{
    char id[UUID_LEN + 1];
    served_open(true);
    served_create(id);
    served_ask(id, "One", "Hello from the scripted model.");
    turn_behind_fork(NULL, NULL, id);
    turn_behind_fork(&operation_session_close, &(struct session_close_params){.session = id}, id);
    turn_behind_fork(&operation_session_open, &(struct session_open_params){.session = id}, id);
}

/* The conversation of a deleted session does not take up the one that has its id as a title. */
TEST(the_id_of_a_deleted_session_may_be_a_title)
{
    char id[UUID_LEN + 1], other[UUID_LEN + 1];
    served_open(true);
    served_create(id);
    served_create(other);
    served_done(&operation_session_rename, &(struct session_rename_params){other, .title = id});
    served_done(&operation_session_close, &(struct session_close_params){.session = other});
    engine_start(served, &operation_session_delete, &(struct session_params){id});
    engine_start(served, &operation_turn_start,
                 &(struct turn_start_params){.session = id, .text = "Hello"});
    for (int i = 0; i < 2; i++) { /* the turn is refused, or finds the other one by its title */
        struct notice *n = surface_expect(served, NOTICE_ANSWER);
        if (n->answer->error.code != ERR_OK)
            assert_int_equal(n->answer->error.code, ERR_SESSION_NOT_FOUND);
    }
    served_ask(other, "Hello", "Hello from the scripted model.");
}

/* --- at random -------------------------------------------------------------------------------- */

enum { ROUNDS = 100, EPOCH = 100, CLIENTS = 8, BURST = 4, SLOTS = 4 };

struct known {
    char id[UUID_LEN + 1];
    size_t parent; /* index of the session that it was forked from; itself: none */
    bool deleted;
};

struct asked {
    uint64_t id;
    size_t session; /* index of the session that was named */
    int client;
};

enum { UNANSWERED, REFUSED, KEPT };
struct said {
    uint64_t request;
    size_t session; /* index of the session that was named */
    int answer;
    int found; /* copies in the session that was named */
};

static struct dice dice;
static VEC(struct known) known;
static VEC(struct asked) asked; /* requests without an answer yet */
static VEC(struct said) said;   /* the text is the index */
static size_t slots[SLOTS];     /* sessions that are asked for */
static int left[CLIENTS];       /* requests of a client without an answer */
static size_t refused, kept_in_all;

static size_t know(const char *id, size_t parent)
{
    struct known k = {.parent = parent};
    memcpy(k.id, id, sizeof k.id);
    vec_push(&known, k);
    return known.len - 1;
}

static size_t create(void)
{
    char id[UUID_LEN + 1];
    served_create(id);
    return know(id, known.len);
}

static uint64_t say(const struct operation *o, size_t session)
{
    /* A text that says its number. Kept. */
    vec_push(&said, (struct said){.session = session, .answer = UNANSWERED});
    const char *id = known.items[session].id, *text = support_text("text %zu", said.len - 1);
    uint64_t request =
        o == &operation_turn_retry
            ? engine_start(served, o, &(struct turn_retry_params){.session = id, .text = text})
            : engine_start(served, o, &(struct turn_start_params){.session = id, .text = text});
    vec_last(&said).request = request;
    return request;
}

static uint64_t ask_something(size_t session)
{
    static const struct operation *const plain[] = {
        &operation_session_archive, &operation_session_unarchive, &operation_turn_interrupt,
        &operation_session_settings, &operation_context_read};
    const char *id = known.items[session].id;
    switch (dice_below(&dice, 16)) {
    case 0:
    case 1:
    case 2:
        return engine_start(served, &operation_session_fork,
                            &(struct session_fork_params){.session = id});
    case 3:
        return engine_start(served, &operation_session_close,
                            &(struct session_close_params){.session = id});
    case 4:
        return engine_start(
            served, &operation_session_open,
            &(struct session_open_params){.session = id, .read_only = dice_one_in(&dice, 4)});
    case 5:
        return engine_start(
            served, &operation_compaction_run,
            &(struct compaction_run_params){.session = id, .mode = "deterministic"});
    case 6:
        if (dice_one_in(&dice, 3))
            return engine_start(served, &operation_session_delete, &(struct session_params){id});
        return say(&operation_turn_retry, session);
    case 7:
        return say(&operation_turn_retry, session);
    case 8:
    case 9:
    case 10:
        return engine_start(served, plain[dice_below(&dice, sizeof plain / sizeof *plain)],
                            &(struct session_params){id});
    default:
        return say(&operation_turn_start, session);
    }
}

/* --- answers ---------------------------------------------------------------------------------- */

static void note_said(const struct operation_answer *a)
{
    struct said *s = &vec_last(&said); /* an earlier engine used the same numbers */
    while (s->request != a->request->id)
        s--;
    assert_int_equal(s->answer, UNANSWERED);
    s->answer = a->error.code == ERR_OK ? KEPT : REFUSED;
    refused += s->answer == REFUSED;
    kept_in_all += s->answer == KEPT;
    if (a->error.code == ERR_OK)
        assert_string_equal(((const struct turn_result *)a->result)->session_id,
                            known.items[s->session].id);
}

static void may_fail(const struct operation_answer *a)
{
    static const enum err_code fine[] = {ERR_OK,
                                         ERR_SESSION_BUSY,
                                         ERR_SESSION_NOT_RUNNING,
                                         ERR_INTERRUPTED,
                                         ERR_USAGE,
                                         ERR_SESSION_NOT_FOUND,
                                         ERR_SESSION_COMPACTION_DISABLED,
                                         ERR_NOTHING_TO_COMPACT,
                                         ERR_TOO_SMALL_TO_COMPACT};
    bool may = false;
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        may = may || a->error.code == fine[i];
    if (!may || strstr(a->error.text, "another tiro"))
        fail_msg("%s: %s", a->request->operation->name, a->error.text);
}

static void take_answer(void)
{
    const struct operation_answer *a = surface_expect(served, NOTICE_ANSWER)->answer;
    const struct operation *o = a->request->operation;
    bool done = a->error.code == ERR_OK;
    size_t i = 0;
    while (i < asked.len && asked.items[i].id != a->request->id)
        i++;
    assert_true(i < asked.len); /* each is answered once */
    const struct asked of = asked.items[i];
    vec_remove(&asked, i, 1);
    left[of.client]--;
    may_fail(a);
    if (o == &operation_turn_start || o == &operation_turn_retry)
        note_said(a);
    else if (o == &operation_session_delete && done)
        known.items[of.session].deleted = true;
    else if (o == &operation_session_fork && done)
        slots[dice_below(&dice, SLOTS)] =
            know(((const struct session_info *)a->result)->id, of.session);
}

static void send_burst(int client)
{
    for (size_t i = 1 + dice_below(&dice, BURST); i > 0; i--) {
        size_t session = slots[dice_below(&dice, SLOTS)];
        vec_push(&asked, ((struct asked){ask_something(session), session, client}));
        left[client]++;
    }
}

/* --- kept sessions ---------------------------------------------------------------------------- */

static bool comes_from(size_t session, size_t ancestor)
{
    while (session != ancestor && known.items[session].parent != session)
        session = known.items[session].parent;
    return session == ancestor;
}

static void check_session(size_t session)
{
    const char *id = known.items[session].id;
    struct operation_answer *a =
        served_done(&operation_session_history,
                    &(struct session_history_params){.session = id, .limit = 10000});
    const struct session_history_result *kept = a->result;
    for (size_t i = 0; i < kept->events.items.len; i++) {
        const struct event *ev = kept->events.items.items[i];
        size_t text;
        if (ev->type != EVENT_TURN_STARTED || sscanf(ev->text, "text %zu", &text) != 1)
            continue;
        struct said *s = &said.items[text];
        if (s->answer != KEPT || !comes_from(session, s->session))
            fail_msg("text %zu, sent to %s and %s, is in %s", text, known.items[s->session].id,
                     s->answer == KEPT ? "kept" : "refused", id);
        s->found += s->session == session;
    }
}

static void check_all(size_t first_session, size_t first_text)
{
    for (size_t i = first_session; i < known.len; i++)
        if (!known.items[i].deleted)
            check_session(i);
    for (size_t i = first_text; i < said.len; i++) {
        const struct said *s = &said.items[i];
        int wanted = s->answer == KEPT && !known.items[s->session].deleted;
        if (s->found != wanted)
            fail_msg("text %zu is %d times in %s, where it was %s", i, s->found,
                     known.items[s->session].id, wanted ? "kept" : "refused");
    }
}

/* A slow answer now and then, so that turns are interrupted and refused. */
static void respond(void *context, const char *body, size_t len, struct reply *r)
{
    unsigned *count = context;
    (void)body, (void)len;
    r->text = "Fine, thank you.";
    r->piece = 1;
    r->interval_ms = ++*count % 8 == 0;
}

static void run_epoch(size_t bursts)
{
    static const char *const open_sessions[] = {"100", "2"};
    static const char *const idle_minutes[] = {"10", "0"};
    static const size_t most[] = {1000, 1000, 3};
    size_t first_session = known.len, first_text = said.len;
    config_set(surface_config(), CONFIG_SERVE_OPEN_SESSIONS, open_sessions[dice_below(&dice, 2)],
               NULL);
    config_set(surface_config(), CONFIG_SERVE_IDLE_MINUTES, idle_minutes[dice_below(&dice, 2)],
               NULL);
    served_open(true);
    served->most = most[dice_below(&dice, 3)];
    for (size_t i = 0; i < SLOTS; i++)
        slots[i] = create();
    for (size_t i = 0; i < bursts; i++) {
        int client = (int)dice_below(&dice, CLIENTS);
        while (left[client] > 0)
            take_answer();
        send_burst(client);
        size_t slot = dice_below(&dice, SLOTS);
        if (known.items[slots[slot]].deleted && asked.len == 0)
            slots[slot] = create();
    }
    while (asked.len > 0)
        take_answer();
    check_all(first_session, first_text);
    served_close();
}

TEST(each_text_is_in_the_session_that_it_was_sent_to)
{
    const char *given = getenv("NAMED_ROUNDS");
    size_t rounds = given ? strtoul(given, NULL, 10) : ROUNDS, gone = 0;
    unsigned count = 0;
    AUTO(session_list_release) struct session_list all = {0};
    dice = (struct dice){support_seed()};
    model_server_set_responder(surface_server(), respond, &count);
    for (size_t done = 0; done < rounds; done += EPOCH)
        run_epoch(rounds - done < EPOCH ? rounds - done : EPOCH);
    surface_list(&all);
    for (size_t i = 0; i < known.len; i++)
        gone += known.items[i].deleted;
    assert_int_equal(all.items.len, known.len - gone);
    print_message("%zu bursts, %zu sessions, %zu texts kept and %zu refused\n", rounds, known.len,
                  kept_in_all, refused);
    assert_true(kept_in_all > 0 && refused > 0);
    model_server_set_responder(surface_server(), NULL, NULL);
    vec_release(&known);
    vec_release(&asked);
    vec_release(&said);
}
