/* An engine that serves: many sessions at once, none in front, each request names its own. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "session/session_operations.h"
#include "tests/suite.h"
#include "tests/surface.h"

static struct engine *engine;
static struct error e;

static void open_engine(bool persist)
{
    struct engine_options o = surface_options(NULL, persist);
    o.serves = o.can_ask = true;
    o.tools = "full";
    engine = engine_new(&o);
}

static struct operation_answer *done(const struct operation *o, const void *params)
{
    struct operation_answer *a = surface_call(engine, o, params);
    if (a->error.code != ERR_OK)
        fail_msg("%s: %s", o->name, a->error.text);
    return a;
}

static void refused(const struct operation *o, const void *params, enum err_code code)
{
    struct operation_answer *a = surface_call(engine, o, params);
    assert_string_equal(err_info(a->error.code)->name, err_info(code)->name);
    e = a->error;
    operation_answer_free(a);
}

static void create(char id[UUID_LEN + 1])
{
    struct operation_answer *a = done(&operation_session_create, NULL);
    memcpy(id, ((struct session_info *)a->result)->id, UUID_LEN + 1);
    operation_answer_free(a);
}

static void ask(const char *session, const char *text, const char *expected)
{
    struct operation_answer *a =
        done(&operation_turn_start, &(struct turn_start_params){.session = session, .text = text});
    const struct turn_result *turn = a->result;
    assert_string_equal(turn->text, expected);
    operation_answer_free(a);
}

FIXTURE(surface_setup, surface_teardown);

TEST(a_session_is_made_and_asked)
{
    char id[UUID_LEN + 1];
    open_engine(true);
    create(id);
    model_server_queue(surface_server(), &(struct reply){.text = "Well met."});
    ask(id, "Hello", "Well met.");
    ask(id, "And again", "Hello from the scripted model.");
    engine_free(engine);
}

TEST(a_request_names_its_session)
{
    open_engine(true);
    refused(&operation_turn_start, &(struct turn_start_params){.text = "Hello"}, ERR_USAGE);
    assert_non_null(strstr(e.text, "\"session\""));
    refused(&operation_turn_start,
            &(struct turn_start_params){.session = "nobody", .text = "Hello"},
            ERR_SESSION_NOT_FOUND);
    engine_free(engine);
}
