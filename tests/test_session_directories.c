/* Sessions of one engine that work in directories of their own: tools, prompts,
 * projects. */
#include <unistd.h>

#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "tests/served.h"
#include "tests/suite.h"

FIXTURE(surface_setup, served_teardown);

/* --- tools and prompts
 * ------------------------------------------------------------------------ */

/* The model reads note.txt of where the session works. */
static void assert_works_in(const char *id, const char *directory, const char *note)
{
    size_t before = model_server_requests(surface_server());
    model_server_queue(surface_server(), &(struct reply){.tool_name = "read_file",
                                                         .tool_args = "{\"path\":\"note.txt\"}"});
    served_ask(id, "Read the note.", "Hello from the scripted model.");
    const char *body = model_server_body(surface_server(), before + 1);
    assert_non_null(strstr(body, note));
    auto_free char *line = mem_printf("Working directory: %s\\n", directory);
    assert_non_null(strstr(body, line));
}

TEST_IF(capability_store(), each_session_works_in_its_directory)
{
    char a[UUID_LEN + 1], b[UUID_LEN + 1];
    auto_free char *one = served_place("first-place"), *two = served_place("second-place");
    served_open(true);
    served_create_in(one, a);
    served_create_in(two, b);
    assert_works_in(a, one, "first-place");
    assert_works_in(b, two, "second-place");
    assert_works_in(a, one, "first-place");
    served_close();
    served_open(true); /* another process, later */
    assert_works_in(b, two, "second-place");
    served_done(&operation_session_open,
                &(struct session_open_params){.session = b, .directory = one});
    assert_works_in(b, one, "first-place");
}

TEST(a_directory_is_one)
{
    auto_free char *file = support_path("a-file");
    served_make_file(file, "text");
    const char *const wrong[] = {"relative/path", "/nobody/has/this", file, ""};
    served_open(true);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        served_refused(&operation_session_create,
                       &(struct session_create_params){.directory = wrong[i]}, ERR_USAGE);
        assert_non_null(strstr(served_refusal.text, "\"directory\""));
    }
}

/* If the directory is gone, the tools say so; the session still answers. */
TEST_IF(capability_store(), a_directory_may_be_gone)
{
    char id[UUID_LEN + 1], *place = served_place("short-lived"),
                           *note = mem_printf("%s/note.txt", place);
    served_open(true);
    served_create_in(place, id);
    served_ask(id, "Hello", "Hello from the scripted model.");
    served_close();
    assert_int_equal(unlink(note), 0);
    assert_int_equal(rmdir(place), 0);
    served_open(true);
    model_server_queue(surface_server(), &(struct reply){.tool_name = "read_file",
                                                         .tool_args = "{\"path\":\"note.txt\"}"});
    size_t before = model_server_requests(surface_server());
    served_ask(id, "Read the note.", "Hello from the scripted model.");
    assert_non_null(strstr(model_server_body(surface_server(), before + 1), "cannot be opened"));
    served_close();
    free(note);
    free(place);
}

/* Files of instructions, and where commands run. */
TEST(prompts_and_commands_are_of_the_directory)
{
    char own[2][UUID_LEN + 1], *places[2] = {served_place("first"), served_place("second")};
    served_open(true);
    for (int i = 0; i < 2; i++) {
        auto_free char *file = mem_printf("%s/AGENTS.md", places[i]);
        served_make_file(file, i == 0 ? "Indent with tabs.\n" : "Indent with blanks.\n");
        served_create_in(places[i], own[i]);
    }
    for (int i = 0; i < 2; i++) {
        size_t before = model_server_requests(surface_server());
        model_server_queue(surface_server(), &(struct reply){.tool_name = "run_command",
                                                             .tool_args = "{\"command\":\"pwd\"}"});
        uint64_t turn =
            engine_start(served, &operation_turn_start,
                         &(struct turn_start_params){.session = own[i], .text = "Where are you?"});
        struct notice *n = surface_expect(served, NOTICE_APPROVAL);
        assert_non_null(strstr(n->preview, places[i]));
        served_done(&operation_approval_decide,
                    &(struct approval_decide_params){own[i], n->text, ANSWER_ONCE, NULL});
        n = surface_expect_answer(served, &operation_turn_start);
        assert_int_equal(n->answer->request->id, turn);
        const char *body = model_server_body(surface_server(), before + 1);
        assert_non_null(strstr(body, places[i]));
        assert_null(strstr(body, places[1 - i]));
        assert_non_null(strstr(body, i == 0 ? "with tabs" : "with blanks"));
        assert_null(strstr(body, i == 0 ? "with blanks" : "with tabs"));
    }
    served_close();
    free(places[0]);
    free(places[1]);
}

/* A path that is not absolute begins where the session works. */
TEST(images_are_found_in_the_directory)
{
    static const char named[] = "[{\"type\":\"image\",\"text\":\"dot.png\"}]";
    static const char *const wrong[] = {"{}", "[1]", "[{\"type\":\"text\",\"text\":\"x\"}]",
                                        "[{\"type\":\"image\"}]"};
    char id[UUID_LEN + 1], *place = served_place("pictures"),
                           *file = mem_printf("%s/dot.png", place);
    served_open(true);
    served_create_in(place, id);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        served_refused(&operation_turn_start,
                       &(struct turn_start_params){id, .text = "x", .attachments = wrong[i]},
                       ERR_USAGE);
        assert_non_null(strstr(served_refusal.text, "\"attachments\""));
    }
    served_make_file(file, "\x89PNG\r\n\x1a\n");
    size_t before = model_server_requests(surface_server());
    const struct turn_start_params params = {
        .session = id, .text = "What is this?", .attachments = named};
    served_done(&operation_turn_start, &params);
    assert_non_null(strstr(model_server_body(surface_server(), before), "data:image/png;base64,"));
    served_close();
    free(file);
    free(place);
}

/* --- projects
 * ---------------------------------------------------------------------------------
 */

static size_t learned(const struct operation *o, const void *params)
{
    return ((struct learned_items *)served_done(o, params)->result)->items.len;
}

static int64_t counted(const char *session)
{
    struct operation_answer *a =
        served_done(&operation_learned_stats, &(struct learned_stats_params){session});
    return ((struct learned_stats *)a->result)->active;
}

/* Entries that a session remembers belong to its project: they are given to its model, listed and
 * counted there. */
TEST_IF(capability_store() && capability_memory(), what_is_learned_is_of_the_sessions_project)
{
    char own[2][UUID_LEN + 1], *places[2] = {served_place("first"), served_place("second")};
    served_open(true);
    for (int i = 0; i < 2; i++)
        served_create_in(places[i], own[i]);
    const struct learned_add_params port = {.text = "The port is 8443.", .session = own[0]};
    engine_start(served, &operation_learned_add, &port);
    assert_string_equal(surface_expect(served, NOTICE_LEARNED)->text, places[0]);
    const struct learned_add_result *added =
        surface_expect_answer(served, &operation_learned_add)->answer->result;
    assert_string_equal(added->item.project, places[0]);
    assert_string_equal(added->item.session_id, own[0]);
    for (int i = 0; i < 2; i++) {
        size_t before = model_server_requests(surface_server()), here = i == 0;
        served_ask(own[i], "Hello", "Hello from the scripted model.");
        const char *body = model_server_body(surface_server(), before);
        assert_int_equal(strstr(body, "8443") != NULL, here);
        assert_int_equal(counted(own[i]), here);
        const struct learned_search_params search = {
            .query = "port", .project = places[i], .limit = 5};
        assert_int_equal(learned(&operation_learned_search, &search), here);
        const struct learned_list_params list = {.session = own[i]};
        assert_int_equal(learned(&operation_learned_list, &list), here);
    }
    assert_int_equal(counted(NULL), 0); /* of the program's own directory */
    served_refused(&operation_learned_add,
                   &(struct learned_add_params){.text = "Nothing.", .session = "nobody"},
                   ERR_SESSION_NOT_FOUND);
    served_close();
    free(places[0]);
    free(places[1]);
}

static const char *const scoped[] = {"project", "session"};

/* Entries that a compaction put into memory, of the scope as the session means
 * it. */
static int64_t recalled(const char *session, const char *scope)
{
    struct operation_answer *a =
        served_done(&operation_memory_search,
                    &(struct memory_search){
                        .query = "lanterns", .scope = scope, .session = session, .limit = 9});
    const struct memory_found *found = a->result;
    return found->total;
}

/* Is too long for the next request, and is indexed when it is dropped. */
static void remember_by_compaction(const char *session)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    for (int i = 0; i < 4000; i++)
        buf_addf(&text, "Lanterns hang in street %d. ", i);
    served_ask(session, text.data, "Hello from the scripted model.");
    for (int i = 0; i < 3; i++)
        served_ask(session, "And?", "Hello from the scripted model.");
    served_done(&operation_compaction_run,
                &(struct compaction_run_params){.session = session, .mode = "deterministic"});
}

TEST_IF(capability_store() && capability_memory() && capability_compaction(),
        scopes_of_memory_are_the_sessions)
{
    char own[2][UUID_LEN + 1], *places[2] = {served_place("first"), served_place("second")};
    served_open(true);
    for (int i = 0; i < 2; i++)
        served_create_in(places[i], own[i]);
    remember_by_compaction(own[0]);
    int64_t all = recalled(own[1], "all");
    assert_true(all > 0);
    for (size_t i = 0; i < sizeof scoped / sizeof *scoped; i++) {
        assert_int_equal(recalled(own[0], scoped[i]), all);
        assert_int_equal(recalled(own[1], scoped[i]), 0);
    }
    assert_int_equal(recalled(NULL, "project"), 0);
    served_refused(&operation_memory_search,
                   &(struct memory_search){.query = "x", .session = "nobody", .limit = 1},
                   ERR_SESSION_NOT_FOUND);
    served_close();
    free(places[0]);
    free(places[1]);
}
