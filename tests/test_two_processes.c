/* Several programs on one store at once. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/damage.h"
#include "tests/history_check.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"

enum { PROCESSES = 4, CONTESTS = 10, DEADLINE_MS = 20000 };

static char *database;
static struct model_server *server;

static int setup(void **state)
{
    if (support_setup(state) != 0 || chdir(support_dir()) != 0)
        return -1;
    database = support_path(".local/share/tiro/tiro.db");
    server = begin_server();
    return 0;
}

static int teardown(void **state)
{
    end_server(server);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

static void start(struct support_child *c, const char *session, const char *prompt)
{
    const char *const argv[] = {support_program(),           "run",   "-o", "json", prompt,
                                session ? "--resume" : NULL, session, NULL};
    support_start(c, argv);
    close(c->in);
    c->in = -1;
}

/* Ends well; its session's id, which the caller frees. */
static char *finish_well(struct support_child *c)
{
    int status = support_finish(c, NULL);
    if (status != 0)
        fail_msg("status %d: %s%s", status, c->out_text.data, c->err_text.data);
    struct json *v = parse_json(c->out_text.data);
    char *id = mem_strdup(json_get_string(v, "session_id"));
    support_release(c);
    return id;
}

NEEDS(capability_store());
FIXTURE(setup, teardown);

TEST(a_store_takes_many_writers)
{
    char *ids[PROCESSES] = {0};
    const int turns = (int)suite_sample(8, 25);
    for (int turn = 1; turn <= turns; turn++) {
        struct support_child children[PROCESSES];
        for (int i = 0; i < PROCESSES; i++) {
            start(&children[i], ids[i], support_text("turn %d of %d", turn, i));
        }
        for (int i = 0; i < PROCESSES; i++) {
            char *id = finish_well(&children[i]);
            if (ids[i])
                assert_string_equal(id, ids[i]);
            free(ids[i]);
            ids[i] = id;
        }
    }
    assert_int_equal(assert_store_sound(database), PROCESSES);
    for (int i = 0; i < PROCESSES; i++) {
        char *sql = support_text(
            "SELECT count(*) FROM event e JOIN session s ON s.key = e.session WHERE s.id = '%s'"
            " AND e.type = 'run_completed'",
            ids[i]);
        assert_int_equal(damage_sql(database, sql), turns);
        free(ids[i]);
    }
}

/* The one that has ended, if one has. */
struct contest {
    struct support_child children[2];
    int loser;
};

static bool one_has_ended(void *context)
{
    struct contest *c = context;
    for (int i = 0; i < 2; i++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)c->children[i].pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0)
            c->loser = i;
    }
    return c->loser >= 0;
}

static void expect_busy(struct support_child *c)
{
    assert_int_equal(support_finish(c, NULL), 1);
    assert_text(c->err_text.data, "SESSION_BUSY");
    support_release(c);
}

/* The model says nothing before one of the two has been refused. */
static void contend(const char *session)
{
    struct contest c = {.loser = -1};
    size_t before = model_server_requests(server);
    for (int i = 0; i < 2; i++)
        start(&c.children[i], session, "me");
    assert_true(support_wait_until(one_has_ended, &c, DEADLINE_MS));
    expect_busy(&c.children[c.loser]);
    assert_true(model_server_wait(server, before + 1, DEADLINE_MS));
    model_server_release(server);
    free(finish_well(&c.children[1 - c.loser]));
    assert_int_equal(model_server_requests(server), before + 1);
}

TEST(of_two_on_one_session_one_wins)
{
    struct support_child first;
    start(&first, NULL, "begin");
    char *id = support_keep(finish_well(&first));
    model_server_set_default(server, &(struct reply){.text = "You.", .hold = true});
    for (int i = 0; i < CONTESTS; i++)
        contend(id);
    assert_int_equal(assert_store_sound(database), 1);
}

TEST(a_dead_process_holds_nothing)
{
    struct support_child first, second, third;
    model_server_queue(server, &(struct reply){.text = "A long", .fault = REPLY_STALL});
    start(&first, NULL, "begin");
    assert_true(model_server_wait(server, 1, DEADLINE_MS));
    start(&second, "last", "me too");
    expect_busy(&second);
    kill(first.pid, SIGKILL);
    assert_int_equal(support_finish(&first, NULL), 128 + SIGKILL);
    support_release(&first);
    start(&third, "last", "now me");
    free(finish_well(&third));
    assert_null(strstr(model_server_body(server, 1), "begin"));
    assert_int_equal(assert_store_sound(database), 1);
}
