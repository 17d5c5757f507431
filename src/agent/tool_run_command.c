#include <sys/stat.h>

#include "agent/head_tail.h"
#include "agent/builtin.h"
#include "base/child.h"
#include "base/child_environment.h"
#include "base/clock.h"

enum { NOTES = 256 /* bytes kept free for what is said at the end */ };

extern char **environ;

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

static void add_end(const struct child_result *result, int64_t ran_ms, struct buf *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        buf_addch(out, '\n');
    switch (result->end) {
    case CHILD_EXITED:
        buf_addf(out, "[exit status %d]", result->status);
        break;
    case CHILD_SIGNALED:
        buf_addf(out, "[ended by signal %d]", result->status);
        break;
    case CHILD_LATE:
        buf_addf(out, "[timed out after %lld s and was ended]", (long long)(ran_ms / 1000));
        break;
    case CHILD_STOPPED:
    case CHILD_REFUSED:
        buf_addstr(out, "[interrupted]");
        break;
    }
    if (result->left_some)
        buf_addstr(out, "\n[some of what it started could not be ended]");
}

static int64_t deadline(const struct tool_context *context, const struct json *args, int64_t now)
{
    int64_t seconds = json_get_int(args, "timeout", 0);
    bool sooner = seconds > 0 && seconds < (context->deadline_ms - now) / 1000;
    return sooner ? now + 1000 * seconds : context->deadline_ms;
}

static bool run_child(const struct child_command *command, int64_t started_ms,
                      const struct head_tail *output, struct buf *out)
{
    struct child_result result;
    struct error e = {0};
    if (!child_run(command, &result, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    head_tail_show(output, out);
    add_end(&result, clock_mono_ms() - started_ms, out);
    return result.end == CHILD_EXITED && result.status == 0;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    if (!check_directory(context, out))
        return false;
    const struct tool_host *host = context->self;
    size_t max = context->max_output;
    int64_t now = clock_mono_ms();
    struct child_environment environment;
    struct head_tail output;
    head_tail_init(&output, max > 2 * NOTES ? max - NOTES : max / 2);
    child_environment_init(&environment, environ, CHILD_OF_MODEL, host->environment);
    const struct child_command command = {
        .argv =
            (const char *const[]){"/bin/sh", "-c", "--", json_get_string(args, "command"), NULL},
        .directory = host->root,
        .environment = environment.list.items,
        .with_errors = true,
        .deadline_ms = deadline(context, args, now),
        .wakeup = context->wakeup,
        .take = take,
        .context = &output};
    bool ok = run_child(&command, now, &output, out);
    child_environment_release(&environment);
    head_tail_release(&output);
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
};
