/* Commands in the background: the tools of the model, the request of the user, and that none
 * outlives its session or the program. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/clock.h"
#include "tests/steps.h"
#include "tests/suite.h"
#include "tests/surface.h"
#include "tests/workplace.h"

enum { SOON_MS = 8000 };

static const char *start(const char *command)
{
    return workplace_call("run_command",
                          support_text("{\"command\":\"%s\",\"background\":true}", command), false);
}

static const char *output(int task, int wait_ms)
{
    return workplace_call("task_output",
                          support_text("{\"task\":%d,\"wait_ms\":%d}", task, wait_ms), false);
}

static const char *stop(int task)
{
    return workplace_call("task_stop", support_text("{\"task\":%d}", task), false);
}

static bool is_dead(void *fifo)
{
    char byte;
    return read(*(int *)fifo, &byte, 1) == 0;
}

static bool is_written(void *fifo)
{
    char byte;
    return read(*(int *)fifo, &byte, 1) == 1;
}

/* Readable until all who have it open for writing are dead. */
static int make_fifo(void)
{
    assert_int_equal(mkfifoat(place.root_fd, "fifo", 0600), 0);
    return openat(place.root_fd, "fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

/* A process that left its group and its session, and one that ignores SIGTERM. */
#define STUBBORN "exec 4>fifo; setsid sleep 600 & trap '' TERM; echo up; echo >&4; sleep 600"

FIXTURE(workplace_setup, workplace_teardown);

TEST(the_result_has_the_start_and_a_number)
{
    assert_says(start("echo up; until [ -e go ]; do sleep .01; done; echo on; exit 3"),
                "up\n[runs in the background as task 1 and goes on;", "task_output", "task_stop");
    assert_says(output(1, 0), "[task 1 runs, ", " s]", "!up");
    support_write(support_path("work/go"), "");
    assert_string_equal(output(1, SOON_MS), "on\n[exit status 3]");
    assert_string_equal(output(1, 0), "[exit status 3]");
    assert_says(start("sleep 600"), "as task 2 ");
    assert_says(workplace_call("task_output", "{\"task\":3}", true),
                "there is no task 3; there are 1, 2");
}

TEST(a_command_that_ends_at_once_needs_no_number)
{
    assert_string_equal(workplace_call("run_command",
                                       "{\"command\":\"echo no; exit 2\",\"background\":true}",
                                       true),
                        "no\n[exit status 2]");
    assert_says(workplace_call("task_output", "{\"task\":1}", true), "there is no task 1");
}

TEST(no_time_limit_holds_in_the_background)
{
    place.context.deadline_ms = clock_mono_ms() + 1200;
    start("sleep 1.5; echo late");
    place.context.deadline_ms = clock_mono_ms() + SOON_MS;
    assert_string_equal(output(1, SOON_MS), "late\n[exit status 0]");
    place.context.deadline_ms = clock_mono_ms() + 200; /* … but for the tools */
    start("sleep 600");
    int64_t before = clock_mono_ms();
    assert_says(output(2, SOON_MS), "[task 2 runs");
    assert_true(clock_mono_ms() - before < SOON_MS);
}

TEST(output_is_bounded)
{
    start("yes 0123456789 | head -c 3000000; echo the end; sleep 600");
    start("sleep .2; until [ -e go ]; do sleep .01; done; seq 1 100000; echo last");
    support_write(support_path("work/go"), "");
    const char *out = output(2, SOON_MS);
    assert_true(place.out.len <= place.context.max_output);
    assert_says(out, "1\n2\n3\n", " bytes left out …]\n", "99999\n100000\nlast\n[exit status 0]");
    assert_false(strstr(output(1, 0), "[cut"));
}

TEST(a_stopped_task_may_tidy_up)
{
    start("trap 'echo tidied; exit 0' TERM; echo up; while :; do sleep .01; done");
    assert_says(stop(1), "tidied\n[ended by task_stop]");
    assert_string_equal(stop(1), "[ended by task_stop]");
}

TEST(a_stopped_task_ends_with_all_it_started)
{
    int fifo = make_fifo();
    start(STUBBORN);
    assert_true(support_wait_until(is_written, &fifo, SOON_MS));
    assert_string_equal(stop(1), "[ended by task_stop]");
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    close(fifo);
}

TEST(all_end_with_the_session)
{
    int fifo = make_fifo();
    start(STUBBORN);
    start("sleep 600");
    start("sleep 1.3");
    assert_true(support_wait_until(is_written, &fifo, SOON_MS));
    assert_string_equal(output(3, SOON_MS), "[exit status 0]");
    assert_int_equal(tasks_end(&place.tools.host.tasks), 2);
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    assert_says(workplace_call("task_output", "{\"task\":1}", true), "there is no task 1");
    close(fifo);
}

/* The supervisor of a command sees that we are gone. */
TEST(all_end_with_the_program)
{
    int fifo = make_fifo();
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(fifo);
        start(STUBBORN);
        pause();
        _exit(0);
    }
    assert_true(support_wait_until(is_written, &fifo, SOON_MS));
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(support_wait_until(is_dead, &fifo, SOON_MS));
    close(fifo);
}

TEST(an_interrupt_does_not_end_them)
{
    start("sleep 600");
    workplace_interrupt();
    int64_t before = clock_mono_ms();
    assert_says(output(1, SOON_MS), "[task 1 runs");
    assert_true(clock_mono_ms() - before < SOON_MS);
    place.stop = false;
    assert_says(output(1, 0), "[task 1 runs");
}

/* A task that has ended leaves its place in the table to a new one. */
TEST(there_are_only_so_many)
{
    const char *refused = "{\"command\":\"sleep 600\",\"background\":true}";
    for (int i = 0; i < TASKS_MOST; i++) {
        struct task_command c = {.text = "sleep 600", .directory = place.root, .max_output = 100};
        c.deadline_ms = INT64_MAX;
        struct task *task = task_start(&place.tools.host.tasks, &c, &(struct error){0});
        tasks_put_aside(&place.tools.host.tasks, task);
    }
    assert_says(workplace_call("run_command", refused, true), "16 commands run in the background");
    stop(3);
    assert_says(start("sleep 600"), "as task 17 ");
    assert_says(workplace_call("task_output", "{\"task\":3}", true), "there is no task 3; ");
}

TEST(the_model_is_told_of_an_end_once)
{
    AUTO(buf_release) struct buf note = BUF_INIT;
    struct tasks *t = &place.tools.host.tasks;
    start("sleep 2.5; exit 4");
    start("sleep 2; exit 5");
    tasks_note(t, &note);
    assert_int_equal(note.len, 0);
    assert_says(output(2, SOON_MS), "[exit status 5]"); /* so the first has ended, too */
    tasks_note(t, &note);
    assert_string_equal(note.data,
                        "[Task 1 in the background (sleep 2.5; exit 4) has ended: exit status 4. "
                        "task_output has the rest of its output.]");
    buf_clear(&note);
    tasks_note(t, &note);
    assert_int_equal(note.len, 0);
}

TEST(the_question_says_that_it_goes_on)
{
    assert_says(
        workplace_preview("run_command", "{\"command\":\"make\",\"background\":true}", false),
        "in the background, in ");
}

/* --- with the engine: what the user asks for and is told --- */

FIXTURES(engine, surface_setup, surface_teardown);

static struct engine *open_full(void)
{
    struct engine_options options = surface_options(NULL, true);
    options.tools = "full";
    options.allow = "execute";
    options.can_ask = true;
    return engine_new(&options);
}

static void queue(const char *args)
{
    const struct reply call = {.tool_name = "run_command", .tool_args = args};
    model_server_queue(surface_server(), &call);
    model_server_queue(surface_server(), &(struct reply){.text = "Done."});
}

TEST(the_user_puts_a_command_into_the_background)
{
    AUTO(engine_free_local) struct engine *s = open_full();
    queue("{\"command\":\"echo begun; sleep 600\"}");
    assert_int_equal(surface_call(s, &operation_turn_background, NULL)->error.code,
                     ERR_SESSION_NOT_RUNNING);
    surface_send(s, &operation_turn_start, "go");
    while (!strstr(surface_expect(s, NOTICE_OUTPUT)->detail, "begun"))
        continue;
    surface_send(s, &operation_turn_background, NULL);
    const struct event *ev = surface_expect_event(s, EVENT_TOOL_EXECUTION_COMPLETED)->event;
    assert_false(ev->flag);
    assert_says(ev->text,
                "begun\n[runs in the background as task 1 and goes on, as the user wants;");
    assert_int_equal(surface_expect(s, NOTICE_TASKS)->meters.tasks, 1);
    surface_expect_idle(s);
    assert_says(surface_last_body(), "as task 1 and goes on", "task_output");
    surface_send(s, &operation_session_create, NULL);
    assert_int_equal(surface_expect(s, NOTICE_SESSION)->meters.tasks, 0);
    const struct notice *n = surface_expect(s, NOTICE_TASKS);
    assert_true(n->flag);
    assert_int_equal(n->number, 1);
    assert_int_equal(surface_call(s, &operation_turn_background, NULL)->error.code,
                     ERR_SESSION_NOT_RUNNING);
}

TEST(the_end_of_a_command_is_told)
{
    AUTO(engine_free_local) struct engine *s = open_full();
    queue("{\"command\":\"sleep 1.5; exit 3\",\"background\":true}");
    surface_send(s, &operation_turn_start, "go");
    surface_expect_idle(s);
    const struct notice *n = surface_expect(s, NOTICE_TASKS);
    while (n->number == 0)
        n = surface_expect(s, NOTICE_TASKS);
    assert_int_equal(n->number, 1);
    assert_int_equal(n->limit, 3);
    assert_int_equal(n->meters.tasks, 0);
    assert_string_equal(n->text, "sleep 1.5; exit 3");
    surface_ask(s, "And now?");
    assert_says(surface_last_body(), "has ended: exit status 3.");
    surface_ask(s, "And then?");
    assert_says(surface_last_body(), "!has ended");
}

/* A surface that runs commands itself has no background for them. */
TEST(a_command_of_the_editor_stays_in_front)
{
    struct engine_options options = surface_options(NULL, true);
    options.tools = "full";
    options.allow = "execute";
    options.can_ask = options.helps_tools = true;
    AUTO(engine_free_local) struct engine *s = engine_new(&options);
    queue("{\"command\":\"make\"}");
    surface_send(s, &operation_turn_start, "go");
    surface_expect(s, NOTICE_RUN);
    const struct operation_answer *a = surface_call(s, &operation_turn_background, NULL);
    assert_int_equal(a->error.code, ERR_USAGE);
    assert_says(a->error.text, "the editor runs this command");
    surface_send(s, &operation_turn_interrupt, NULL);
    surface_expect_idle(s);
}

/* --- commands of a person: "!COMMAND" --- */

static void run_own(struct engine *s, const char *text)
{
    engine_start(s, &operation_turn_start,
                 &(struct turn_start_params){.text = text, .origin = INPUT_COMMAND});
}

TEST(a_command_of_a_person_asks_nobody_and_is_told_with_the_next_message)
{
    struct engine *s = surface_open(NULL, true);
    surface_send(s, &operation_session_set_tools, "none");
    run_own(s, "!echo here; pwd; exit 3");
    const struct notice *shown = surface_expect(s, NOTICE_OUTPUT);
    assert_string_equal(shown->text, COMMAND_CALL);
    const struct event *ev = surface_expect_event(s, EVENT_COMMAND_COMPLETED)->event;
    assert_says(ev->text, "here\n/", "[exit status 3]");
    assert_true(ev->flag);
    assert_int_equal(surface_expect_event(s, EVENT_TURN_COMPLETED)->event->stop_reason,
                     STOP_TOOL_USE);
    surface_expect_idle(s);
    assert_int_equal(surface_requests(), 0);
    surface_send(s, &operation_turn_retry, NULL);
    surface_expect_error(s, ERR_USAGE, NULL);
    model_server_queue(surface_server(), &(struct reply){.text = "It failed."});
    surface_ask(s, "Why?");
    assert_says(surface_last_body(), "echo here; pwd; exit 3",
                "[output of this command, which I ran]\\nhere\\n/", "Why?");
    engine_free(s);
    s = surface_open("last", true); /* it is in the log */
    model_server_queue(surface_server(), &(struct reply){.text = "As I said."});
    surface_ask(s, "Really?");
    assert_says(surface_last_body(), "which I ran]\\nhere\\n/", "Really?");
    engine_free(s);
}

TEST(a_command_of_a_person_is_stopped)
{
    AUTO(engine_free_local) struct engine *s = surface_open(NULL, true);
    run_own(s, "!echo begun; sleep 600");
    while (!strstr(surface_expect(s, NOTICE_OUTPUT)->detail, "begun"))
        continue;
    surface_send(s, &operation_turn_interrupt, NULL);
    assert_says(surface_expect_event(s, EVENT_COMMAND_COMPLETED)->event->text,
                "begun\n[interrupted]");
    surface_expect_event(s, EVENT_INTERRUPTED);
    surface_expect_idle(s);
}
