/* An engine that serves: many sessions at once, none in front, each request names its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/session_operations.h"
#include "tests/damage.h"
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

/* --- directories ------------------------------------------------------------------------------ */

static void make_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The directory DIR below the test's, with a file that says its name. */
static char *make_place(const char *name)
{
    char *dir = support_path(name), *file = mem_printf("%s/note.txt", dir);
    assert_int_equal(mkdir(dir, 0700), 0);
    make_file(file, name);
    free(file);
    char *resolved = realpath(dir, NULL);
    free(dir);
    return resolved;
}

static void create_in(const char *directory, char id[UUID_LEN + 1])
{
    struct operation_answer *a =
        done(&operation_session_create, &(struct session_create_params){.directory = directory});
    const struct session_info *info = a->result;
    assert_string_equal(info->directory, directory);
    memcpy(id, info->id, UUID_LEN + 1);
    operation_answer_free(a);
}

/* The model reads note.txt of where the session works. */
static void assert_works_in(const char *id, const char *directory, const char *note)
{
    size_t before = model_server_requests(surface_server());
    model_server_queue(surface_server(), &(struct reply){.tool_name = "read_file",
                                                         .tool_args = "{\"path\":\"note.txt\"}"});
    ask(id, "Read the note.", "Hello from the scripted model.");
    const char *body = model_server_body(surface_server(), before + 1);
    assert_non_null(strstr(body, note));
    char *line = mem_printf("Working directory: %s\\n", directory);
    assert_non_null(strstr(body, line));
    free(line);
}

TEST(each_session_works_in_its_directory)
{
    char a[UUID_LEN + 1], b[UUID_LEN + 1];
    char *one = make_place("first-place"), *two = make_place("second-place");
    open_engine(true);
    create_in(one, a);
    create_in(two, b);
    assert_works_in(a, one, "first-place");
    assert_works_in(b, two, "second-place");
    assert_works_in(a, one, "first-place");
    engine_free(engine);
    open_engine(true); /* another process, later */
    assert_works_in(b, two, "second-place");
    operation_answer_free(done(&operation_session_open,
                               &(struct session_open_params){.session = b, .directory = one}));
    assert_works_in(b, one, "first-place");
    engine_free(engine);
    free(one);
    free(two);
}

TEST(a_directory_is_one)
{
    char *file = support_path("a-file");
    make_file(file, "text");
    const char *const wrong[] = {"relative/path", "/nobody/has/this", file, ""};
    open_engine(true);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refused(&operation_session_create, &(struct session_create_params){.directory = wrong[i]},
                ERR_USAGE);
        assert_non_null(strstr(e.text, "\"directory\""));
    }
    engine_free(engine);
    free(file);
}

/* What is gone is said by the tools; the session can be talked to. */
TEST(a_directory_may_be_gone)
{
    char id[UUID_LEN + 1], *place = make_place("short-lived"),
                           *note = mem_printf("%s/note.txt", place);
    open_engine(true);
    create_in(place, id);
    ask(id, "Hello", "Hello from the scripted model.");
    engine_free(engine);
    assert_int_equal(unlink(note), 0);
    assert_int_equal(rmdir(place), 0);
    open_engine(true);
    model_server_queue(surface_server(), &(struct reply){.tool_name = "read_file",
                                                         .tool_args = "{\"path\":\"note.txt\"}"});
    size_t before = model_server_requests(surface_server());
    ask(id, "Read the note.", "Hello from the scripted model.");
    assert_non_null(strstr(model_server_body(surface_server(), before + 1), "cannot be opened"));
    engine_free(engine);
    free(note);
    free(place);
}

/* --- settings --------------------------------------------------------------------------------- */

static void assert_set_to(const char *id, enum tool_level tools, const char *mode)
{
    struct operation_answer *a = done(&operation_session_settings, &(struct session_params){id});
    const struct session_settings *set = a->result;
    assert_int_equal(set->tools, tools);
    if (capability_compaction())
        assert_string_equal(set->compaction, mode);
    operation_answer_free(a);
}

/* Whether the next request offers the tool. */
static bool offers(const char *id, const char *tool)
{
    size_t before = model_server_requests(surface_server());
    ask(id, "What can you do?", "Hello from the scripted model.");
    return strstr(model_server_body(surface_server(), before), tool);
}

TEST(settings_stay_with_the_session)
{
    const struct session_create_params without = {
        .tools = TOOL_LEVEL_NONE, .labels = "garden", .system = "Be brief."};
    char id[UUID_LEN + 1], fork[UUID_LEN + 1];
    open_engine(true);
    struct operation_answer *a = done(&operation_session_create, &without);
    memcpy(id, ((struct session_info *)a->result)->id, sizeof id);
    operation_answer_free(a);
    assert_set_to(id, TOOL_LEVEL_NONE, "handoff");
    assert_false(offers(id, "read_file"));
    if (capability_compaction()) {
        const struct session_compaction_params mode = {.session = id, .mode = "structured"};
        operation_answer_free(done(&operation_session_set_compaction, &mode));
        refused(&operation_session_set_compaction,
                &(struct session_compaction_params){.session = id, .mode = "tea"}, ERR_USAGE);
    }
    engine_free(engine);
    open_engine(true);
    assert_set_to(id, TOOL_LEVEL_NONE, "structured");
    assert_false(offers(id, "read_file"));
    a = done(&operation_session_fork, &(struct session_fork_params){.session = id});
    const struct session_info *info = a->result;
    assert_string_equal(info->labels, "garden");
    assert_string_equal(info->system, "Be brief.");
    memcpy(fork, info->id, sizeof fork);
    operation_answer_free(a);
    assert_set_to(fork, TOOL_LEVEL_NONE, "structured");
    operation_answer_free(
        done(&operation_session_set_tools, &(struct session_tools_params){id, TOOL_LEVEL_FULL}));
    assert_true(offers(id, "read_file"));
    assert_set_to(fork, TOOL_LEVEL_NONE, "structured");
    operation_answer_free(done(&operation_session_delete, &(struct session_params){id}));
    engine_free(engine);
    assert_int_equal(damage_number(surface_store(), "SELECT count(*) FROM session_setting"), 2);
}
