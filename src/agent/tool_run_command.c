#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

enum {
    NOTES = 256,      /* bytes kept free for what is said at the end */
    SIGNAL_BYTES = 40 /* of a name that the surface tells */
};

extern char **environ;

/* --- by tiro ---------------------------------------------------------------------------------- */

static bool take(void *context, const char *bytes, size_t len)
{
    head_tail_add(context, bytes, len);
    return true;
}

/* A child starts in a directory by its name; it must still be the one that the tools work in. */
static bool check_directory(const struct tool_context *context, struct buf *out)
{
    const struct tool_host *host = context->self;
    struct stat named, opened;
    if (stat(host->root, &named) == 0 && fstat(host->root_fd, &opened) == 0 &&
        named.st_dev == opened.st_dev && named.st_ino == opened.st_ino)
        return true;
    buf_addf(out, "the working directory %s was moved or removed", host->root);
    return false;
}

/* How a command ended; `how`: its exit status, or its signal. */
static void add_end(enum child_end end, const char *how, int64_t ran_ms, struct buf *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        buf_addch(out, '\n');
    switch (end) {
    case CHILD_EXITED:
        buf_addf(out, "[exit status %s]", how);
        break;
    case CHILD_SIGNALED:
        buf_addf(out, "[ended by signal %s]", how);
        break;
    case CHILD_LATE:
        buf_addf(out, "[timed out after %lld s and was ended]", (long long)(ran_ms / 1000));
        break;
    case CHILD_STOPPED:
    case CHILD_REFUSED:
        buf_addstr(out, "[interrupted]");
        break;
    }
}

static int64_t deadline(const struct tool_context *context, const struct json *args, int64_t now)
{
    int64_t seconds = json_get_int(args, "timeout", 0);
    bool sooner = seconds > 0 && seconds < (context->deadline_ms - now) / 1000;
    return sooner ? now + 1000 * seconds : context->deadline_ms;
}

/* What a run is told, whoever runs it. */
struct running {
    const char *command;
    int64_t started_ms, deadline_ms;
    struct head_tail output;
};

static bool wait_for_child(const struct child_command *command, const struct running *r,
                           struct buf *out)
{
    char number[16];
    struct child_result result;
    struct error e = {0};
    if (!child_run(command, &result, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    head_tail_show(&r->output, out);
    snprintf(number, sizeof number, "%d", result.status);
    add_end(result.end, number, clock_mono_ms() - r->started_ms, out);
    if (result.left_some)
        buf_addstr(out, "\n[some of what it started could not be ended]");
    return result.end == CHILD_EXITED && result.status == 0;
}

static bool run_child(const struct tool_context *context, struct running *r, struct buf *out)
{
    const struct tool_host *host = context->self;
    struct child_environment environment;
    child_environment_init(&environment, environ, CHILD_OF_MODEL, host->environment);
    const struct child_command command = {
        .argv = (const char *const[]){"/bin/sh", "-c", "--", r->command, NULL},
        .directory = host->root,
        .environment = environment.list.items,
        .with_errors = true,
        .deadline_ms = r->deadline_ms,
        .wakeup = context->wakeup,
        .take = take,
        .context = &r->output};
    bool ok = wait_for_child(&command, r, out);
    child_environment_release(&environment);
    return ok;
}

/* --- by the surface, in a terminal of its own --------------------------------------------------
 */

static enum surface_outcome run_elsewhere(const struct tool_context *context,
                                          const struct running *r, struct surface_run *run,
                                          struct buf *out)
{
    const struct tool_host *host = context->self;
    const struct tool_surface *s = host->surface;
    struct buf first = BUF_INIT;
    if (!s)
        return SURFACE_PASSED;
    child_environment_script(&first, CHILD_OF_MODEL, host->environment);
    const struct surface_command command = {.text = r->command,
                                            .first = first.data,
                                            .directory = host->root,
                                            .max_output = 2 * r->output.half,
                                            .deadline_ms = r->deadline_ms};
    enum surface_outcome outcome = s->run(s->context, context, &command, run, out);
    buf_release(&first);
    return outcome;
}

static enum child_end end_of(const struct surface_run *run)
{
    switch (run->end) {
    case SURFACE_LATE:
        return CHILD_LATE;
    case SURFACE_INTERRUPTED:
        return CHILD_STOPPED;
    default:
        return run->signal ? CHILD_SIGNALED : CHILD_EXITED;
    }
}

static bool show_run(struct running *r, const struct surface_run *run, struct buf *out)
{
    char number[32] = "unknown";
    struct buf how = BUF_INIT;
    enum child_end end = end_of(run);
    if (run->status >= 0)
        snprintf(number, sizeof number, "%lld", (long long)run->status);
    const char *word = run->signal ? run->signal : number;
    utf8_clean(&how, word, strnlen(word, SIGNAL_BYTES), UTF8_ONE_LINE);
    if (run->truncated)
        buf_addstr(out, "[… the beginning was left out …]\n");
    head_tail_add(&r->output, run->output.data, run->output.len);
    head_tail_show(&r->output, out);
    add_end(end, how.data, clock_mono_ms() - r->started_ms, out);
    buf_release(&how);
    return end == CHILD_EXITED && run->status == 0;
}

static bool run_somewhere(const struct tool_context *context, struct running *r, struct buf *out)
{
    struct surface_run run = {.output = BUF_INIT, .status = -1};
    enum surface_outcome outcome = run_elsewhere(context, r, &run, out);
    bool ok = outcome == SURFACE_PASSED ? run_child(context, r, out)
                                        : outcome == SURFACE_DID && show_run(r, &run, out);
    surface_run_release(&run);
    return ok;
}

/* --- the tool --------------------------------------------------------------------------------- */

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    if (!check_directory(context, out))
        return false;
    size_t max = context->max_output;
    int64_t now = clock_mono_ms();
    struct running r = {.command = json_get_string(args, "command"),
                        .started_ms = now,
                        .deadline_ms = deadline(context, args, now)};
    head_tail_init(&r.output, max > 2 * NOTES ? max - NOTES : max / 2);
    bool ok = run_somewhere(context, &r, out);
    head_tail_release(&r.output);
    return ok;
}

/* The directory first: nothing in the command can look like it. */
static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    const struct tool_host *host = context->self;
    (void)sight;
    if (!check_directory(context, out))
        return false;
    buf_addf(out, "in %s:\n%s", host->root, json_get_string(args, "command"));
    return true;
}

/* Programs that run another one, or whatever their arguments say. */
static bool runs_others(const char *program, size_t len)
{
    static const char *const names[] = {
        "env",     "sudo", "doas", "su",  "nice",  "nohup",  "time",   "timeout", "xargs", "exec",
        "command", "eval", "find", "ssh", "sh",    "bash",   "dash",   "zsh",     "ksh",   "fish",
        "busybox", ".",    "awk",  "sed", "watch", "setsid", "stdbuf", "builtin", "source"};
    const char *name = program + len;
    while (name > program && name[-1] != '/')
        name--;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len - (size_t)(name - program) &&
            strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The program and its first argument, which is the sub-command where there are any: of one simple
 * command, whose words there the shell takes as they are. With options alone: the program with any
 * options. The shell's variables, expansions, redirections and lists are no simple command. */
static void grant(const struct json *args, struct buf *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        "_-./:+,@";
    const char *command = json_get_string(args, "command");
    const char *program = command + strspn(command, " ");
    size_t len = strspn(program, plain);
    const char *first = program + len + strspn(program + len, " "), *rest = first;
    size_t first_len = strspn(first, plain);
    if (strpbrk(command, ";&|$`<>(){}\\\n\r") || len == 0 || *program == '-' ||
        !strchr(" ", program[len]) || !strchr(" ", first[first_len]) || runs_others(program, len))
        return;
    while (*rest == '-') {
        rest += strspn(rest, plain);
        rest += strspn(rest, " ");
    }
    bool options = *first == '-';
    if (options && *rest)
        return;
    buf_addch(out, '`');
    buf_add(out, program, len);
    if (first_len > 0)
        buf_addch(out, ' ');
    buf_add(out, first, options ? 1 : first_len);
    buf_addstr(out, first_len == 0 ? "`" : options ? "…`" : " …`");
}

const struct tool tool_run_command = {
    .spec = {.name = "run_command",
             .description =
                 "Run a command with /bin/sh in the working directory. Returns its output and "
                 "errors together and its exit status. It has no input and no terminal, and what "
                 "it leaves in the background is ended with it.",
             .schema = "{\"type\":\"object\",\"properties\":{"
                       "\"command\":{\"type\":\"string\"},"
                       "\"timeout\":{\"type\":\"integer\",\"minimum\":1,\"description\":\"seconds; "
                       "the user's own limit holds anyway\"}},"
                       "\"required\":[\"command\"],\"additionalProperties\":false}"},
    .class = TOOL_EXECUTE,
    .timeout = CONFIG_TOOLS_COMMAND_TIMEOUT,
    .run = run,
    .preview = preview,
    .grant = grant,
};
