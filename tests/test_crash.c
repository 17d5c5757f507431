/* The real program, killed with SIGKILL and ended by signals at any moment: a short form of the
 * kill campaign (tests/campaign_kill.c), and the user's next steps. */
#include <signal.h>
#include <unistd.h>

#include "session/capability.h"
#include "tests/history_check.h"
#include "tests/kill_campaign.h"
#include "tests/kill_watch.h"
#include "tests/program.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/surface.h"

enum { DEADLINE_MS = 20000, ROUNDS = 6 };

static char *database;

static int setup(void **state)
{
    if (support_setup(state) != 0 || chdir(support_dir()) != 0)
        return -1;
    database = support_path(".local/share/tiro/tiro.db");
    support_write(support_path("note.txt"), "Verba volant, scripta manent.\n");
    return 0;
}

static int teardown(void **state)
{
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

FIXTURES(acknowledged, support_setup, support_teardown);

TEST_IF(capability_store() && capability_compaction() && capability_memory(),
        what_was_acknowledged_survives)
{
    kill_campaign(ROUNDS);
}

static void queue_call(struct model_server *s, const char *id)
{
    model_server_queue(s, &(struct reply){.text = "I look.",
                                          .tool_name = "read_file",
                                          .tool_args = "{\"path\":\"note.txt\"}",
                                          .tool_id = id});
}

static void start(struct support_child *c, const char *session, const char *prompt)
{
    const char *const argv[] = {support_program(), "run",  "--output-format",
                                "stream-json",     prompt, session ? "--resume" : NULL,
                                session,           NULL};
    support_start(c, argv);
    close(c->in); /* it is part of the prompt */
    c->in = -1;
}

/* The user sends the message again that a crash cut off. */
FIXTURES(cut_off, setup, teardown);

TEST_IF(capability_store(), what_was_cut_off_can_be_sent_again)
{
    struct model_server *server = begin_server();
    struct support_child c;
    model_server_queue(server, &(struct reply){.text = "answer-1: yes."});
    queue_call(server, "call_1");
    queue_call(server, "call_2");
    model_server_queue(server, &(struct reply){.text = "answer-2: so", .fault = REPLY_STALL});
    start(&c, NULL, "ask-1: please.");
    assert_int_equal(support_finish(&c, NULL), 0);
    support_release(&c);
    start(&c, "last", "ask-2: please.");
    assert_true(support_read_until(&c, "answer-2", DEADLINE_MS));
    kill(c.pid, SIGKILL);
    assert_int_equal(support_finish(&c, NULL), 128 + SIGKILL);
    support_release(&c);

    struct config *config = config_new();
    struct engine *engine = engine_new(&(struct engine_options){.config = config,
                                                                .store_path = database,
                                                                .provider = "openai",
                                                                .model = "scripted-model",
                                                                .persist = true,
                                                                .resume = "last"});
    size_t before = model_server_requests(server);
    surface_send(engine, &operation_turn_retry, NULL);
    assert_string_equal(surface_expect_event(engine, EVENT_TURN_STARTED)->event->text,
                        "ask-2: please.");
    surface_expect_idle(engine);
    const char *body = model_server_body(server, before);
    assert_says(body, "answer-1:", "!answer-2:", "!scripta manent");
    const char *again = strstr(body, "ask-2:");
    assert_non_null(again);
    assert_null(strstr(again + 1, "ask-2:"));
    engine_free(engine);
    config_free(config);
    end_server(server);
    assert_int_equal(assert_store_sound(database), 1);
}
