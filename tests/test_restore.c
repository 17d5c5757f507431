/* Files that tools changed, taken back after a rewind: session/changes and session/restore. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "session/conversation_operations.h"
#include "tests/program.h"
#include "tests/suite.h"
#include "tests/surface.h"
#include "tests/workplace.h"

static struct engine *engine;

static int set_up(void **state)
{
    surface_setup(state);
    struct engine_options options = surface_options(NULL, true);
    options.tools = "full";
    options.allow = "write_file edit_file run_command";
    engine = engine_new(&options);
    return 0;
}

static int tear_down(void **state)
{
    engine_free(engine);
    return surface_teardown(state);
}

FIXTURE(set_up, tear_down);

/* A turn in which the model makes one call. */
static void turn(const char *tool, const char *args)
{
    QUEUE(surface_server(), .tool_name = tool, .tool_args = args);
    QUEUE(surface_server(), .text = "Done.");
    surface_ask(engine, "Do it");
}

static void turn_writes(const char *path, const char *content)
{
    auto_free char *args = workplace_args("path", path, "content", content, NULL);
    turn("write_file", args);
}

static void rewind_to(int64_t number)
{
    const struct session_rewind_params p = {.turn = number};
    assert_int_equal(surface_call(engine, &operation_session_rewind, &p)->error.code, ERR_OK);
}

static void unrewind(void)
{
    assert_int_equal(surface_call(engine, &operation_session_unrewind, NULL)->error.code, ERR_OK);
}

/* "ready a +1 -0, …; COMMAND" */
static const char *told(const struct operation_answer *a)
{
    static const char *const states[] = {"ready", "changed", "lost", "restored", "failed"};
    const struct session_files *list = a->result;
    AUTO(buf_release) struct buf out = BUF_INIT;
    assert_int_equal(a->error.code, ERR_OK);
    for (size_t i = 0; i < list->files.len; i++) {
        const struct restorable *r = &list->files.items[i];
        buf_addf(&out, "%s%s %s%s +%d -%d", i > 0 ? ", " : "", states[r->state], r->path,
                 r->removes ? " removes" : "", (int)r->added, (int)r->removed);
    }
    for (size_t i = 0; i < list->commands.len; i++)
        buf_addf(&out, "; %s", list->commands.items[i]);
    return support_keep(buf_take(&out));
}

static const char *changes(void)
{
    return told(surface_call(engine, &operation_session_changes, NULL));
}

static const char *restore(const char *path)
{
    const struct session_restore_params p = {.file = path};
    return told(surface_call(engine, &operation_session_restore, &p));
}

static const char *content(const char *name)
{
    struct buf text = BUF_INIT;
    if (access(support_path(name), F_OK) != 0)
        return "none";
    assert_true(paths_read_file(support_path(name), PATHS_FILE, &text, &(struct error){0}));
    return support_keep(buf_take(&text));
}

TEST(files_are_taken_back_and_that_is_undone)
{
    support_write(support_path("a"), "one\ntwo\n");
    assert_int_equal(chmod(support_path("a"), 0640), 0);
    assert_string_equal(changes(), "");
    surface_ask(engine, "Hello");
    turn_writes("a", "one\n2\n");
    turn_writes("./a", "one\n2\n3\n");
    turn_writes("a", "one\n2\n3\n"); /* the log has no change of it */
    turn_writes("sub/new", "n\n");
    assert_string_equal(changes(), ""); /* nothing was rewound */
    rewind_to(2);
    assert_string_equal(changes(), "ready a +1 -2, ready sub/new removes +0 -1");
    assert_string_equal(restore(""), "restored a +1 -2, restored sub/new removes +0 -1");
    assert_string_equal(content("a"), "one\ntwo\n");
    assert_string_equal(content("sub/new"), "none");
    struct stat st;
    assert_int_equal(stat(support_path("a"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_string_equal(changes(), "");

    unrewind();
    assert_string_equal(changes(), "ready a +2 -1, ready sub/new +1 -0");
    assert_string_equal(restore("sub/new"), "ready a +2 -1, restored sub/new +1 -0");
    assert_string_equal(content("sub/new"), "n\n");
    assert_string_equal(restore(NULL), "restored a +2 -1");
    assert_string_equal(content("a"), "one\n2\n3\n");
}

TEST(a_file_that_somebody_changed_is_named_only)
{
    support_write(support_path("a"), "one\n");
    turn_writes("a", "two\n");
    turn_writes("b", "new\n");
    support_write(support_path("a"), "mine\n");
    support_write(support_path("b"), "mine\n");
    rewind_to(1);
    assert_string_equal(restore(""), "changed a +1 -1, changed b removes +0 -1");
    assert_string_equal(content("a"), "mine\n");
    const struct session_restore_params none = {.file = "c"};
    struct operation_answer *a = surface_call(engine, &operation_session_restore, &none);
    assert_int_equal(a->error.code, ERR_USAGE);
    (void)restore("a"); /* by its name */
    assert_string_equal(content("a"), "one\n");
    assert_string_equal(content("b"), "mine\n");
    unrewind(); /* what was there before comes back */
    assert_string_equal(restore(""), "restored a +1 -1");
    assert_string_equal(content("a"), "mine\n");
}

/* The user's change between two of the tools would be lost. */
TEST(a_change_between_those_of_tools_counts)
{
    turn_writes("a", "one\n");
    turn_writes("b", "one\n");
    support_write(support_path("a"), "mine\n");
    turn_writes("a", "two\n");
    rewind_to(1);
    assert_string_equal(restore(""), "changed a removes +0 -1, restored b removes +0 -1");
    assert_string_equal(content("a"), "two\n");
}

TEST(a_turn_that_stands_keeps_its_file)
{
    turn_writes("a", "one\n");
    rewind_to(1);
    turn_writes("a", "two\n");
    assert_string_equal(changes(), "");
    rewind_to(1); /* the point is the newer message: there was the file */
    assert_string_equal(restore(""), "restored a +1 -1");
    assert_string_equal(content("a"), "one\n");
}

TEST(a_large_file_is_made_of_parts)
{
    AUTO(buf_release) struct buf old = BUF_INIT;
    for (int i = 0; i < 20000; i++)
        buf_addf(&old, "line %d\n", i);
    support_write(support_path("large"), old.data);
    turn("read_file", "{\"path\":\"large\"}");
    turn("edit_file",
         "{\"path\":\"large\",\"edits\":[{\"old_text\":\"line 9000\\n\","
         "\"new_text\":\"line\\nmore\\n\"}]}");
    turn("edit_file",
         "{\"path\":\"large\",\"edits\":[{\"old_text\":\"line 100\\n\","
         "\"new_text\":\"\"},{\"old_text\":\"more\\n\",\"new_text\":\"\"}]}");
    rewind_to(2);
    assert_string_equal(restore(""), "restored large +2 -1");
    assert_string_equal(content("large"), old.data);
    unrewind();
    assert_string_equal(restore(""), "restored large +1 -2");
    support_write(support_path("large"), "mine\n");
    rewind_to(2);
    assert_string_equal(changes(), "lost large +0 -0");
}

TEST(commands_are_named)
{
    turn("run_command", "{\"command\":\"echo hi > x\"}");
    const struct turn_start_params own = {.text = "echo y > y", .origin = INPUT_COMMAND};
    assert_int_equal(surface_call(engine, &operation_turn_start, &own)->error.code, ERR_OK);
    rewind_to(1);
    assert_string_equal(changes(), "; echo hi > x; !echo y > y");
}

TEST(the_model_is_told)
{
    support_write(support_path("a"), "one\n");
    turn_writes("a", "two\n");
    turn_writes("b", "new\n");
    rewind_to(1);
    (void)restore("");
    surface_ask(engine, "Go on");
    assert_text(surface_last_body(),
                "Read them again before you rely on them:\\n- a\\n- b (removed)");
    size_t first = surface_requests() - 1;
    surface_ask(engine, "And on"); /* it was told, and so were the surroundings */
    const char *all = surface_last_body(), *told_once = strstr(all, "before you rely on them");
    assert_non_null(told_once);
    assert_null(strstr(told_once + 1, "before you rely on them"));
    assert_int_equal(surface_requests() - 1, first + 1);
    rewind_to(1);
    surface_ask(engine, "Anew");
    assert_text(surface_last_body(), "before you rely on them");
    const struct turn_retry_params again = {.origin = INPUT_TYPED};
    assert_int_equal(surface_call(engine, &operation_turn_retry, &again)->error.code, ERR_OK);
    assert_text(surface_last_body(), "before you rely on them");
}

/* The files are as a model of them says: of each rewind and unrewind that is followed by a restore,
 * the files of that time. */
TEST(random_rewinds_leave_the_files_of_then)
{
    enum { FILES = 3, STEPS = 40, DEEP = 60 };
    uint64_t seed = support_seed();
    struct state {
        int files[FILES]; /* number of the content; 0: there is no file */
    } now = {{0}}, before[DEEP], rewound[DEEP];
    int turns_of[DEEP]; /* messages that stood at each rewind */
    size_t turns = 0, rewinds = 0;
    for (int step = 1; step <= STEPS; step++) {
        size_t dice = support_random(&seed) % 4;
        if (dice == 0 && turns > 0) {
            size_t to = support_random(&seed) % turns;
            turns_of[rewinds] = (int)turns;
            rewound[rewinds++] = now;
            rewind_to((int64_t)to + 1);
            (void)restore("");
            now = before[to];
            turns = to;
        } else if (dice == 1 && rewinds > 0 && turns < (size_t)turns_of[rewinds - 1]) {
            /* as if no message was sent since, so that the order of messages is that of before */
            unrewind();
            (void)restore("");
            now = rewound[--rewinds];
            turns = (size_t)turns_of[rewinds];
        } else {
            size_t file = support_random(&seed) % FILES;
            before[turns++] = now;
            now.files[file] = step;
            turn_writes(support_text("f%zu", file), support_text("content %d\n", step));
            rewinds = 0; /* what was rewound before this message comes back beside it */
        }
        for (size_t i = 0; i < FILES; i++)
            assert_string_equal(content(support_text("f%zu", i)),
                                now.files[i] ? support_text("content %d\n", now.files[i]) : "none");
    }
}
