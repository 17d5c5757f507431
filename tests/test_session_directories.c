/* Sessions of one engine that work in directories of their own: tools, prompts, projects. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/learned_operations.h"
#include "session/memory_operations.h"
#include "tests/served.h"
#include "tests/suite.h"

FIXTURE(surface_setup, surface_teardown);

/* --- tools and prompts ------------------------------------------------------------------------ */

/* The model reads note.txt of where the session works. */
static void assert_works_in(const char *id, const char *directory, const char *note)
{
    size_t before = model_server_requests(surface_server());
    model_server_queue(surface_server(), &(struct reply){.tool_name = "read_file",
                                                         .tool_args = "{\"path\":\"note.txt\"}"});
    served_ask(id, "Read the note.", "Hello from the scripted model.");
    const char *body = model_server_body(surface_server(), before + 1);
    assert_non_null(strstr(body, note));
    char *line = mem_printf("Working directory: %s\\n", directory);
    assert_non_null(strstr(body, line));
    free(line);
}

TEST(each_session_works_in_its_directory)
{
    char a[UUID_LEN + 1], b[UUID_LEN + 1];
    char *one = served_place("first-place"), *two = served_place("second-place");
    served_open(true);
    served_create_in(one, a);
    served_create_in(two, b);
    assert_works_in(a, one, "first-place");
    assert_works_in(b, two, "second-place");
    assert_works_in(a, one, "first-place");
    engine_free(served);
    served_open(true); /* another process, later */
    assert_works_in(b, two, "second-place");
    operation_answer_free(served_done(
        &operation_session_open, &(struct session_open_params){.session = b, .directory = one}));
    assert_works_in(b, one, "first-place");
    engine_free(served);
    free(one);
    free(two);
}

TEST(a_directory_is_one)
{
    char *file = support_path("a-file");
    served_make_file(file, "text");
    const char *const wrong[] = {"relative/path", "/nobody/has/this", file, ""};
    served_open(true);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        served_refused(&operation_session_create,
                       &(struct session_create_params){.directory = wrong[i]}, ERR_USAGE);
        assert_non_null(strstr(served_refusal.text, "\"directory\""));
    }
    engine_free(served);
    free(file);
}

/* What is gone is said by the tools; the session can be talked to. */
TEST(a_directory_may_be_gone)
{
    char id[UUID_LEN + 1], *place = served_place("short-lived"),
                           *note = mem_printf("%s/note.txt", place);
    served_open(true);
    served_create_in(place, id);
    served_ask(id, "Hello", "Hello from the scripted model.");
    engine_free(served);
    assert_int_equal(unlink(note), 0);
    assert_int_equal(rmdir(place), 0);
    served_open(true);
    model_server_queue(surface_server(), &(struct reply){.tool_name = "read_file",
                                                         .tool_args = "{\"path\":\"note.txt\"}"});
    size_t before = model_server_requests(surface_server());
    served_ask(id, "Read the note.", "Hello from the scripted model.");
    assert_non_null(strstr(model_server_body(surface_server(), before + 1), "cannot be opened"));
    engine_free(served);
    free(note);
    free(place);
}
