/* A session from its beginning to its end in the real program: turns with tools, a compaction,
 * memory, an export, a chat at a terminal, and nothing left of it. Short enough to run under
 * valgrind (tests/valgrind.sh). */
#include <unistd.h>

#include "tests/damage.h"
#include "tests/program.h"
#include "tests/scene.h"
#include "tests/suite.h"

enum { PATIENCE_MS = 200000 }; /* valgrind takes fifty times as long */

#define WORD "quincunx"

static struct model_server *server;

static int setup(void **state)
{
    if (support_setup(state) != 0 || chdir(support_dir()) != 0)
        return -1;
    support_write(support_path("note.txt"), "Verba volant, scripta manent.\n");
    write_config("[embedding]\nprovider = builtin\n");
    server = begin_server();
    return 0;
}

static int teardown(void **state)
{
    end_server(server);
    return chdir("/") == 0 ? support_teardown(state) : -1;
}

static void queue(struct reply r)
{
    model_server_queue(server, &r);
}

static void queue_call(const char *tool, const char *args)
{
    queue((struct reply){.text = "I look.", .tool_name = tool, .tool_args = args});
}

static void wait_text(struct screen *s, const char *text)
{
    assert_true(screen_wait_text(s, text, PATIENCE_MS));
}

static void say(struct screen *s, const char *text, const char *answer)
{
    screen_type(s, text);
    screen_key(s, SCREEN_ENTER);
    wait_text(s, answer);
}

/* Compacts, looks at memory, and leaves. */
static void a_chat(void)
{
    const char *const argv[] = {support_program(), "--continue", NULL};
    struct screen *s = screen_start(argv, support_dir(), 24, 80);
    wait_text(s, "done.");
    queue((struct reply){.text = "It has five points."});
    say(s, "How many points has it?", "It has five points.");
    assert_true(screen_wait_gone(s, "Esc stops", PATIENCE_MS));
    queue((struct reply){.text = "They spoke of points."});
    say(s, "/compact llm_replace", "compacted");
    screen_key(s, SCREEN_F2);
    wait_text(s, "Memory");
    screen_type(s, WORD);
    wait_text(s, "square?");
    screen_key(s, SCREEN_ESCAPE);
    screen_key(s, SCREEN_ESCAPE);
    assert_true(screen_wait_gone(s, "Memory ·", PATIENCE_MS));
    screen_ctrl(s, 'd');
    assert_true(screen_wait_exit(s, PATIENCE_MS));
    assert_int_equal(screen_status(s), 0);
    scene_assert_restored(s);
    screen_free(s);
}

NEEDS(capability_store() && capability_memory() && capability_compaction());
FIXTURE(setup, teardown);

TEST(from_its_beginning_to_its_end)
{
    queue_call("read_file", "{\"path\":\"note.txt\"}");
    queue_call("write_file", "{\"path\":\"new.txt\",\"content\":\"one\\ntwo\\n\"}");
    queue_call("run_command", "{\"command\":\"echo from a command\"}");
    queue_call("search_files", "{\"pattern\":\"volant\"}");
    queue((struct reply){.text = "All is **done**.\n\n```c\nint x;\n```\n", .reasoning = "Well."});
    char *out = program_output(RUN("run", "-o", "stream-json", "--tools", "full", "--allow",
                                   "write", "--allow", "execute", "Is the " WORD " square?"));
    assert_says(out, "scripta manent", "from a command", "\"run_completed\"");

    queue((struct reply){
        .fault = REPLY_STATUS, .status = 401, .error_type = "auth", .error_message = "no"});
    expect(RUN("run", "-c", "And now?"), 1, "no");
    queue((struct reply){.fault = REPLY_DISCONNECT, .text = "half an ans"});
    expect(RUN("run", "-c", "And now?"), 1, "");
    a_chat();

    char *file = support_path("exported.json");
    char *found = program_output(RUN("memory", "search", WORD));
    assert_text(found, WORD);
    found = program_output(RUN("sessions", "search", WORD));
    assert_text(found, WORD);
    run_ok(RUN("sessions", "export", "--format", "json", "-o", file, "last"));
    found = support_read(file);
    assert_text(found, WORD);
    run_ok(RUN("doctor"));
    run_ok(RUN("sessions", "import", file));
    run_ok(RUN("sessions", "list"));

    char *database = support_path(".local/share/tiro/tiro.db");
    run_ok(RUN("sessions", "delete", "--yes", "last", "~2"));
    assert_int_equal(damage_number(database, "SELECT count(*) FROM session"), 0);
}
