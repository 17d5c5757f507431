/* The programs of the kill campaign that have no terminal: which is started, when it is hit, and
 * whether it ended as it may. */
#include <signal.h>
#include <unistd.h>

#include "tests/kill_commands.h"
#include "tests/suite.h"

enum { FIRST_GUESS = 120 };

void kill_op_add(struct kill_op *op, const char *argument)
{
    kill_texts_add(&op->args, argument);
}

static bool choose_session(const struct kill_stage *stage, struct kill_op *op)
{
    op->session = kill_choose_session(stage);
    return op->session != NULL;
}

/* The verb and the session. */
bool kill_op_begin(const struct kill_stage *stage, struct kill_op *op, const char *verb)
{
    if (!choose_session(stage, op))
        return false;
    kill_op_add(op, "sessions");
    kill_op_add(op, verb);
    return true;
}

static struct kill_command commands[] = {
    {"run", 14, kill_begin_run, NULL, kill_after_run, 0},
    {"rename", 2, kill_begin_rename, kill_told_rename, NULL, 0},
    {"label", 2, kill_begin_label, kill_told_label, NULL, 0},
    {"archive", 2, kill_begin_archive, kill_told_archive, NULL, 0},
    {"delete", 5, kill_begin_delete, kill_told_delete, NULL, 0},
    {"rebuild", 2, kill_begin_rebuild, NULL, NULL, 0},
    {"fork", 2, kill_begin_fork, kill_told_new, NULL, 0},
    {"import", 2, kill_begin_import, kill_told_new, kill_after_import, 0},
    {"export", 2, kill_begin_export, NULL, kill_after_export, 0},
    {"memory import", 2, kill_begin_remember, kill_told_remember, kill_after_import, 0},
    {"memory pin", 2, kill_begin_pin, kill_told_pin, NULL, 0},
    {"memory edit", 2, kill_begin_edit, kill_told_edit, NULL, 0},
    {"memory delete", 3, kill_begin_forget, kill_told_forget, NULL, 0},
    {"memory search", 1, kill_begin_search, kill_told_search, NULL, 0},
    {"memory reindex", 1, kill_begin_reindex, NULL, NULL, 0},
    {"config set", 3, kill_begin_set, kill_told_set, NULL, 0},
    {"doctor", 1, kill_begin_doctor, NULL, NULL, 0},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static struct kill_command *choose_command(void)
{
    int sum = 0;
    for (int i = 0; i < COMMANDS; i++)
        sum += commands[i].weight;
    int at = (int)kill_below((size_t)sum);
    int i = 0;
    while (at >= commands[i].weight)
        at -= commands[i++].weight;
    return &commands[i];
}

struct kill_moment kill_choose_moment(long most)
{
    static const int signals[] = {SIGTERM, SIGHUP, SIGINT};
    struct kill_moment m = {.signal_number = SIGKILL};
    if (kill_below(6) == 0)
        m.signal_number = signals[kill_below(3)];
    if (kill_below(8) > 0)
        m.at = 1 + (long)kill_below((size_t)(most ? most + most / 10 : FIRST_GUESS));
    return m;
}

static void release(struct kill_op *op)
{
    kill_texts_clear(&op->args);
    kill_texts_clear(&op->words);
    free(op->value);
    free(op->path);
}

bool kill_op_start(struct kill_stage *stage, struct kill_op *op)
{
    *op = (struct kill_op){.kind = choose_command()};
    kill_word(op->word);
    if (!op->kind->begin(stage, op)) {
        release(op);
        return false;
    }
    struct kill_moment moment = kill_choose_moment(op->kind->most);
    if (op->until && moment.signal_number != SIGKILL)
        moment.at = 0; /* a second signal ends it at once */
    struct kill_argv argv = {0};
    op->signal_number = moment.signal_number;
    op->watch = kill_watch_new(moment.at, moment.signal_number);
    kill_watch_argv(op->watch, &argv);
    vec_push(&argv.items, support_program());
    for (size_t i = 0; i < op->args.items.len; i++)
        vec_push(&argv.items, op->args.items.items[i]);
    vec_push(&argv.items, NULL);
    support_start(&op->child, argv.items.items);
    close(op->child.in); /* it would be a part of a prompt */
    op->child.in = -1;
    vec_release(&argv.items);
    return true;
}

/* The command may fail if another program has the session open, or removed its target. */
static bool may_fail(const struct kill_op *op)
{
    static const char *const reasons[] = {"SESSION_BUSY", "SESSION_NOT_FOUND", "MEMORY_NOT_FOUND",
                                          "INTERRUPTED"};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strstr(op->child.err_text.data, reasons[i]))
            return true;
    return strcmp(op->kind->name, "run") == 0 && op->status == 1;
}

/* KILL_TRACE tells what each program did. */
void kill_trace(const char *name, const char *argument, int status, long calls)
{
    if (getenv("KILL_TRACE"))
        print_message("  %s %.60s: status %d after %ld calls\n", name, argument, status, calls);
}

void kill_count_end(struct kill_stage *stage, int status)
{
    stage->ended[status == 0 ? 0 : status == 128 + SIGKILL ? 1 : status > 128 ? 2 : 3]++;
}

void kill_op_finish(struct kill_stage *stage, struct kill_op *op)
{
    if (op->until && support_read_until(&op->child, op->until, KILL_DEADLINE_MS)) {
        if (op->plan == KILL_PLAN_COMMAND)
            kill_wait_for_command(op);
        kill(op->child.pid, op->signal_number);
    }
    op->status = support_finish(&op->child, NULL);
    struct kill_count count = kill_watch_end(op->watch);
    if (count.exact && count.calls > op->kind->most)
        op->kind->most = count.calls;
    kill_trace(op->kind->name, op->args.items.len > 2 ? vec_last(&op->args.items) : "", op->status,
               count.calls);
    bool hit = op->status == 128 + op->signal_number && (count.sent || op->until);
    if (op->status != 0 && !hit && !may_fail(op))
        fail_msg("%s: status %d: %s%s", op->kind->name, op->status, op->child.err_text.data,
                 op->child.out_text.data);
    kill_count_end(stage, op->status);
    if (op->kind->after)
        op->kind->after(stage, op);
    if (op->kind->told && op->status == 0)
        op->kind->told(stage, op);
    support_release(&op->child);
    release(op);
}

void kill_commands_print(void)
{
    for (int i = 0; i < COMMANDS; i++)
        print_message("%s%s %ld", i ? ", " : "calls at most: ", commands[i].name, commands[i].most);
    print_message("\n");
}
