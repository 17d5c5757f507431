/* `tiro run` in the kill campaign: turns that stream, call tools, stall and are cut off. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/kill_commands.h"
#include "tests/program.h"
#include "tests/suite.h"

enum { LAST_SECOND_MS = 1200 };

bool kill_begin_run(struct kill_stage *stage, struct kill_op *op)
{
    static const char *const fixed[] = {"run",     "-o",    "stream-json", "--tools", "full",
                                        "--allow", "write", "--allow",     "execute"};
    op->session = kill_below(3) > 0 ? kill_choose_session(stage) : NULL;
    op->number = ++stage->number;
    op->plan = (enum kill_plan)kill_below(KILL_PLAN_COUNT);
    op->until = kill_plan_info(op->plan)->until;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        kill_op_add(op, fixed[i]);
    if (op->session) {
        kill_op_add(op, "--resume");
        kill_op_add(op, op->session->id);
        kill_texts_add(&op->session->archived.tried, "no");
    }
    auto_free char *prompt = kill_question(op->number, op->plan, op->word, kill_below(200));
    kill_op_add(op, prompt);
    return true;
}

/* The text of all deltas whose time is at least a second before that of the last line. */
static void take_streamed(struct kill_stage *stage, struct kill_op *op)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    int64_t last = 0, at;
    for (int pass = 0; pass < 2; pass++) {
        for (char *line = op->child.out_text.data, *end; (end = strchr(line, '\n'));
             line = end + 1) {
            *end = '\0';
            AUTO(json_free_local) struct json *v = parse_json(line);
            const char *when = json_get_string(v, "at");
            bool delta = strcmp(json_get_string(v, "type"), "text_delta") == 0;
            if (when && rfc3339_parse(when, &at) && pass == 0)
                last = at;
            else if (when && rfc3339_parse(when, &at) && delta && at < last - LAST_SECOND_MS)
                buf_addstr(&text, json_get_string(v, "delta"));
            *end = '\n';
        }
    }
    if (text.len > 0 && !(op->session && op->session->delete_tried)) {
        /* Text that was shown a second before the last event must be kept, although the answer is
         * incomplete. */
        auto_free char *sql = mem_printf(
            "SELECT count(*) > 0 FROM (SELECT group_concat(t, '') AS said FROM"
            " (SELECT json_extract(payload, '$.delta') AS t FROM event"
            " WHERE type = 'text_delta' ORDER BY session, seq)"
            " UNION ALL SELECT json_extract(payload, '$.content') FROM event"
            " WHERE type = 'text_complete') WHERE instr(said, '%s') > 0",
            text.data);
        kill_promise(stage, sql);
    }
}

/* Reads every complete line that the program had shown. */
static void take_lines(struct kill_stage *stage, struct kill_op *op)
{
    struct kill_session *s = op->session;
    for (char *line = op->child.out_text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        AUTO(json_free_local) struct json *v = parse_json(line);
        const char *id = json_get_string(v, "session_id");
        if (id && op->session)
            assert_string_equal(id, op->session->id);
        if (id && !s && !(s = kill_model_session(&stage->model, id)))
            s = kill_model_add_session(&stage->model, id);
        if (id)
            kill_session_shown(&stage->model, s, line);
        *end = '\n';
    }
}

static int shell(const char *format, const char *word)
{
    auto_free char *command = mem_printf("%s '%s'", format, word);
    AUTO(support_release) struct support_child c = {0};
    support_start(&c, TEXTS("/bin/sh", "-c", command));
    return support_finish(&c, "");
}

static bool is_over(void *mark)
{
    return shell("pgrep -f", mark) != 0;
}

static char *command_mark(const struct kill_op *op)
{
    auto_free char *argument = kill_command_mark(op->number);
    return mem_printf("^sleep %s$", argument);
}

struct commanding {
    pid_t program;
    char *mark;
};

static bool has_begun_or_ended(void *context)
{
    struct commanding *c = context;
    siginfo_t info = {0};
    return (waitid(P_PID, (id_t)c->program, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0) ||
           !is_over(c->mark);
}

void kill_wait_for_command(const struct kill_op *op)
{
    struct commanding c = {.program = op->child.pid, .mark = command_mark(op)};
    if (!support_wait_until(has_begun_or_ended, &c, KILL_DEADLINE_MS))
        fail_msg("the command of question %d does not begin", op->number);
    free(c.mark);
}

void kill_after_run(struct kill_stage *stage, struct kill_op *op)
{
    bool began = strstr(op->child.out_text.data, "\"run_started\"") != NULL;
    bool ended = strstr(op->child.out_text.data, "\"interrupted\"") ||
                 strstr(op->child.out_text.data, "\"run_completed\"") ||
                 strstr(op->child.out_text.data, "\"run_failed\"");
    take_lines(stage, op);
    if (op->plan == KILL_PLAN_SLOW)
        take_streamed(stage, op);
    if (op->plan == KILL_PLAN_WRITES) {
        /* The file is whole if it is there, and is there if the result was shown. */
        auto_free char *name = mem_printf("out-%d.txt", op->number);
        auto_free char *path = mem_printf("%s/%s", stage->work, name);
        auto_free char *mark = mem_printf("\"call_%d_0\"", op->number);
        const char *done = strstr(op->child.out_text.data, "\"tool_execution_completed\"");
        bool shown = done && strstr(done, mark) && strstr(done, "\"is_error\":false");
        auto_free char *wanted = kill_written(op->word);
        if (access(path, F_OK) == 0) {
            auto_free char *found = support_read(path);
            assert_string_equal(found, wanted);
        } else if (shown) {
            fail_msg("%s was told written, and is not there", name);
        }
    }
    if (op->plan == KILL_PLAN_COMMAND) {
        /* A command dies with its program, but for one that had no time: that is counted. */
        auto_free char *mark = command_mark(op);
        if (op->status == 128 + SIGKILL && !is_over(mark)) {
            stage->commands_left++;
            shell("pkill -KILL -f", mark);
        }
        if (!support_wait_until(is_over, mark, KILL_DEADLINE_MS))
            fail_msg("a command of question %d runs on", op->number);
    }
    if (began && !ended && op->status != 128 + SIGKILL)
        fail_msg("status %d, and the turn has no end: %s", op->status, op->child.out_text.data);
}
