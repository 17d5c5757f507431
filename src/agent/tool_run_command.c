/* The tool that runs a command, by tiro itself or in a terminal of the surface, and the tools for
 * commands in the background. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/approval.h"
#include "agent/bounds.h"
#include "agent/simple_command.h"
#include "agent/task.h"
#include "agent/tool.h"
#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"

enum {
    SHOW_MS = 100, /* between two pieces that are shown */
    CLOCK_MS = 1000,
    START_MS = 1000,   /* a command that is to run in the background shows its start so long */
    NOTES = 256,       /* bytes kept free for the notes at the end */
    SIGNAL_BYTES = 40, /* of a name that the surface tells */
    NAMED_BYTES = 100  /* of a command, in a note */
};

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
    switch (end) {
    case CHILD_EXITED:
        buf_addf(out, "exit status %s", how);
        break;
    case CHILD_SIGNALED:
        buf_addf(out, "ended by signal %s", how);
        break;
    case CHILD_LATE:
        buf_addf(out, "timed out after %lld s and was ended", (long long)(ran_ms / 1000));
        break;
    case CHILD_STOPPED:
    case CHILD_REFUSED:
        buf_addstr(out, "interrupted");
        break;
    }
}

static void end_line(struct buf *out)
{
    if (out->len > 0 && out->data[out->len - 1] != '\n')
        buf_addch(out, '\n');
}

/* How a task ended, that is over. */
static void add_task_end(const struct task *task, struct buf *out)
{
    char status[16];
    snprintf(status, sizeof status, "%d", task->result.status);
    if (task->fault.code != ERR_OK)
        buf_addstr(out, task->fault.text);
    else if (task->stopped)
        buf_addstr(out, "ended by task_stop");
    else
        add_end(task->result.end, status, task->ended_ms - task->started_ms, out);
}

enum access { ACCESS_PROJECT, ACCESS_NETWORK, ACCESS_ALL };

static enum access access_of(const struct json *args)
{
    const char *word = json_get_string(args, "access");
    return !word || strcmp(word, "project") == 0 ? ACCESS_PROJECT
           : strcmp(word, "network") == 0        ? ACCESS_NETWORK
                                                 : ACCESS_ALL;
}

/* A surface may run the command in a terminal of its own, which tiro cannot confine. */
static enum tool_bounds bounds(const void *self, const struct json *args)
{
    const struct tool_host *host = self;
    if (!bounds_hold(host))
        return BOUNDS_NONE;
    if (access_of(args) != ACCESS_PROJECT)
        return BOUNDS_WIDENED;
    return host->surface ? BOUNDS_NONE : BOUNDS_HOLD;
}

struct running {
    const char *command;
    enum access access;
    int64_t started_ms, deadline_ms;
    size_t max_output;
    const struct tool_context *context;
    struct buf unshown; /* output; its end may wait for more: half a character, or a CR */
    int64_t shown_ms;   /* when output was shown last; 0: not yet */
};

/* Shows the output that came since the last time, and the clock once a second. A CR before a
 * newline does not begin the line anew. */
static void show(struct running *r, struct task *task)
{
    const struct tool_context *c = r->context;
    int64_t now = clock_mono_ms();
    size_t held = r->unshown.len;
    AUTO(buf_release) struct buf piece = BUF_INIT;
    bool anew = task_unshown(task, &r->unshown);
    if (!anew && r->unshown.len == held && r->shown_ms > 0 && now < r->shown_ms + CLOCK_MS)
        return;
    const char *text = r->unshown.data;
    size_t len = r->unshown.len - utf8_incomplete_tail(text, r->unshown.len);
    len -= len > 0 && text[len - 1] == '\r';
    for (size_t from = 0, end; from < len; from = end + 1) {
        const char *cr = memchr(text + from, '\r', len - from);
        end = cr ? (size_t)(cr - text) : len;
        utf8_clean(&piece, text + from, end - from, UTF8_MULTILINE);
        if (cr && cr[1] != '\n')
            buf_addch(&piece, '\r');
    }
    struct tool_output output = {
        .text = piece.data, .anew = anew || r->shown_ms == 0, .ran_ms = now - r->started_ms};
    c->show(c->tell_context, &output);
    buf_consume(&r->unshown, len);
    r->shown_ms = now;
}

/* Waits for the end of the task, or until it is to go on in the background: for a second with
 * `background`, else until the user wants that. */
static void wait_in_front(struct running *r, struct task *task, bool background)
{
    struct tasks *tasks = &((struct tool_host *)r->context->self)->tasks;
    int64_t until_ms = background ? r->started_ms + START_MS : INT64_MAX;
    bool stops = false;
    tasks->front = background ? NULL : task;
    tasks->aside = false;
    while (!task_is_over(task) && !tasks->aside && clock_mono_ms() < until_ms) {
        if (r->context->show)
            show(r, task);
        int64_t look_ms = r->context->show ? clock_mono_ms() + SHOW_MS : INT64_MAX;
        bool goes_on = task_wait(task, stops ? NULL : r->context->wakeup,
                                 look_ms < until_ms ? look_ms : until_ms);
        if (goes_on || stops)
            continue;
        stops = true;
        until_ms = INT64_MAX;
        tasks->front = NULL;
        task_kill(task);
    }
    tasks->front = NULL;
}

/* Appends the new output of a task that is over, how it ended, and what the sandbox has to do with
 * that. Returns whether it succeeded. */
static bool tell_result(const struct tool_host *host, struct task *task, struct buf *out)
{
    task_take_output(task, out);
    end_line(out);
    buf_addch(out, '[');
    add_task_end(task, out);
    buf_addch(out, ']');
    if (task->result.left_some)
        buf_addstr(out, "\n[some of what it started could not be ended]");
    bool ok = task->result.end == CHILD_EXITED && task->result.status == 0;
    if (task->confined && !ok && !task->stopped)
        bounds_explain(host, task->network, out);
    task->told = true;
    return ok;
}

static bool run_task(struct running *r, bool background, struct buf *out)
{
    struct tool_host *host = r->context->self;
    struct error e = {0};
    bool confined = r->access != ACCESS_ALL && bounds_hold(host), ok = true;
    struct sandbox sandbox = {.files = -1};
    if ((background && !tasks_have_room(&host->tasks, &e)) ||
        (confined && !bounds_make(host, r->access == ACCESS_NETWORK, &sandbox, &e))) {
        buf_addstr(out, e.text);
        return false;
    }
    const struct task_command command = {.text = r->command,
                                         .directory = host->root,
                                         .environment = host->environment,
                                         .sandbox = confined ? &sandbox : NULL,
                                         .network = r->access == ACCESS_NETWORK,
                                         .deadline_ms = background ? INT64_MAX : r->deadline_ms,
                                         .max_output = r->max_output,
                                         .shown = r->context->show != NULL};
    struct task *task = task_start(&host->tasks, &command, &e);
    if (!task) {
        buf_addstr(out, e.text);
        return false;
    }
    wait_in_front(r, task, background);
    bool over = task_is_over(task);
    if (over && task->fault.code != ERR_OK) {
        buf_addstr(out, task->fault.text);
        ok = false;
    } else if (over) {
        ok = tell_result(host, task, out);
    } else {
        task_take_output(task, out);
        end_line(out);
        tasks_put_aside(&host->tasks, task);
        buf_addf(out,
                 "[runs in the background as task %d and goes on%s; task_output has what it writes "
                 "next, task_stop ends it]",
                 task->number, background ? "" : ", as the user wants");
    }
    if (!confined)
        bounds_tell_lack(host, out);
    if (over)
        task_free(task);
    return ok;
}

static bool show_run(struct running *r, const struct surface_run *run, struct buf *out)
{
    char status[32] = "unknown";
    AUTO(buf_release) struct buf how = BUF_INIT;
    enum child_end end = run->end == SURFACE_LATE          ? CHILD_LATE
                         : run->end == SURFACE_INTERRUPTED ? CHILD_STOPPED
                         : run->signal                     ? CHILD_SIGNALED
                                                           : CHILD_EXITED;
    if (run->status >= 0)
        snprintf(status, sizeof status, "%lld", (long long)run->status);
    const char *word = run->signal ? run->signal : status;
    utf8_clean(&how, word, strnlen(word, SIGNAL_BYTES), UTF8_ONE_LINE);
    if (run->truncated)
        buf_addstr(out, "[… the beginning was left out …]\n");
    AUTO(head_tail_release) struct head_tail kept = {0};
    head_tail_init(&kept, r->max_output);
    head_tail_add(&kept, run->output.data, run->output.len);
    head_tail_show(&kept, out);
    end_line(out);
    buf_addch(out, '[');
    add_end(end, how.data, clock_mono_ms() - r->started_ms, out);
    buf_addch(out, ']');
    return end == CHILD_EXITED && run->status == 0;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_host *host = context->self;
    const struct tool_surface *s = host->surface;
    bool background = json_get_bool(args, "background", false);
    if (!check_directory(context, out))
        return false;
    size_t max = context->max_output;
    int64_t now = clock_mono_ms(), seconds = json_get_int(args, "timeout", 0);
    bool sooner = seconds > 0 && seconds < (context->deadline_ms - now) / 1000;
    struct running r = {.command = json_get_string(args, "command"),
                        .access = access_of(args),
                        .context = context,
                        .max_output = max > 2 * NOTES ? max - NOTES : max / 2,
                        .unshown = BUF_INIT,
                        .started_ms = now,
                        .deadline_ms = sooner ? now + 1000 * seconds : context->deadline_ms};
    AUTO(surface_run_release) struct surface_run run = {.output = BUF_INIT, .status = -1};
    AUTO(buf_release) struct buf first = BUF_INIT;
    enum surface_outcome outcome = SURFACE_PASSED;
    if (s && !background) { /* a terminal of the surface has no background */
        child_environment_script(&first, CHILD_OF_MODEL, host->environment);
        const struct surface_command command = {.text = r.command,
                                                .first = first.data,
                                                .directory = host->root,
                                                .max_output = 2 * (r.max_output / 2),
                                                .deadline_ms = r.deadline_ms};
        outcome = s->run(s->context, context, &command, &run, out);
    }
    bool ok = outcome == SURFACE_PASSED ? run_task(&r, background, out)
                                        : outcome == SURFACE_DID && show_run(&r, &run, out);
    buf_release(&r.unshown);
    return ok;
}

/* The directory first: nothing in the command can look like it. */
static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    static const char *const reaches[] = {[ACCESS_PROJECT] = "",
                                          [ACCESS_NETWORK] = "with the network, ",
                                          [ACCESS_ALL] = "OUTSIDE the sandbox, "};
    const struct tool_host *host = context->self;
    enum access access = bounds_hold(host) ? access_of(args) : ACCESS_PROJECT;
    (void)sight;
    if (!check_directory(context, out))
        return false;
    buf_addf(out, "%s%sin %s:\n%s", reaches[access],
             json_get_bool(args, "background", false) ? "in the background, " : "", host->root,
             json_get_string(args, "command"));
    return true;
}

/* Whether a word of the command names a place of keys, or is a pattern that can find one, which a
 * person who allows `cat …` does not mean. A command can reach these places in other ways, such as
 * `grep -r`; only a sandbox hides them. */
static bool names_keys(const char *command)
{
    static const char between[] = " \t=";
    const struct guard keys = {{0}};
    auto_free char *unquoted = mem_strdup(command);
    bool named = false;
    char *to = unquoted;
    for (const char *p = command, *quoted = NULL; *p; p++)
        if (quoted ? *p == *quoted : *p == '\'' || *p == '"') /* the shell joins .s""sh */
            quoted = quoted ? NULL : p;
        else
            *to++ = quoted && strchr("*?[", *p) ? '+' : *p; /* there it is no pattern */
    *to = '\0';
    for (const char *p = unquoted + strspn(unquoted, between); *p && !named;) {
        size_t len = strcspn(p, between);
        auto_free char *word = mem_strndup(p, len);
        named = guard_covers(&keys, word);
        p += len + strspn(p + len, between);
    }
    return named;
}

static void grant(const struct json *args, struct buf *out)
{
    const char *command = json_get_string(args, "command");
    if (access_of(args) == ACCESS_PROJECT && !names_keys(command))
        (void)simple_command_grant(command, out);
}

const struct tool tool_run_command = {
    .spec =
        {.name = "run_command",
         .description =
             "Run a command with /bin/sh in the working directory. Returns its output and "
             "errors together and its exit status. It has no input and no terminal, and what "
             "it leaves in the background is ended with it: start a server or a watcher with "
             "\"background\". A sandbox may confine it: it "
             "reads files except keys, changes the working directory and $TMPDIR alone, and has "
             "no network.",
         .schema = TOOL_SCHEMA(
             "\"command\":{\"type\":\"string\"}," TOOL_ARG_WITH(
                 "integer", "timeout",
                 "\"minimum\":1,\"description\":\"seconds; the user's own limit "
                 "holds anyway\"") "," TOOL_ARG("boolean", "background",
                                                "go on without it: the result has its first "
                                                "second "
                                                "and a number for task_output and "
                                                "task_stop; it "
                                                "has no time limit and ends with the "
                                                "session") "," TOOL_ARG_WITH("string", "access",
                                                                             "\"enum\":["
                                                                             "\"project\","
                                                                             "\"network\","
                                                                             "\"all\"],"
                                                                             "\"description"
                                                                             "\":"
                                                                             "\"more than "
                                                                             "the sandbox "
                                                                             "allows, if "
                                                                             "the "
                                                                             "command "
                                                                             "cannot do "
                                                                             "without: "
                                                                             "network, or "
                                                                             "all (no "
                                                                             "sandbox); the "
                                                                             "user is "
                                                                             "asked\""),
             TOOL_NEEDS("\"command\""))},
    .class = TOOL_EXECUTE,
    .timeout = CONFIG_TOOLS_COMMAND_TIMEOUT,
    .run = run,
    .preview = preview,
    .bounds = bounds,
    .grant = grant,
};

/* --- commands in the background --------------------------------------------------------------- */

enum { TASK_OUTPUT, TASK_STOP }; /* context->number */

static bool is_idle(const void *self)
{
    return ((const struct tool_host *)self)->tasks.last == 0;
}

/* NULL: there is none of that number; `out` then says which there are. */
static struct task *find_task(struct tasks *t, int64_t number, struct buf *out)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->items[i]->number == number)
            return t->items[i];
    buf_addf(out, "there is no task %lld", (long long)number);
    for (size_t i = 0; i < t->count; i++)
        buf_addf(out, "%s%d", i == 0 ? "; there are " : ", ", t->items[i]->number);
    return NULL;
}

static bool run_on_task(const struct tool_context *context, const struct json *args,
                        struct buf *out)
{
    struct tool_host *host = context->self;
    struct task *task = find_task(&host->tasks, json_get_int(args, "task", 0), out);
    int64_t now = clock_mono_ms(), until_ms = now + json_get_int(args, "wait_ms", 0);
    if (!task)
        return false;
    if (context->number == TASK_STOP) {
        task_stop(task);
        until_ms = now + TASK_GRACE_MS;
    }
    until_ms = until_ms < context->deadline_ms ? until_ms : context->deadline_ms;
    while (!task_is_over(task) && clock_mono_ms() < until_ms)
        if (!task_wait(task, context->wakeup, until_ms))
            break;
    if (task_is_over(task)) {
        (void)tell_result(host, task, out);
        return true;
    }
    task_take_output(task, out);
    end_line(out);
    buf_addf(out, "[task %d runs, %lld s]", task->number,
             (long long)(clock_mono_ms() - task->started_ms) / 1000);
    return true;
}

void tasks_note(struct tasks *t, struct buf *out)
{
    for (size_t i = 0; i < t->count; i++) {
        struct task *task = t->items[i];
        if (task->told || !task_is_over(task))
            continue;
        size_t len = utf8_cut_bytes(task->command, strlen(task->command), NAMED_BYTES);
        buf_addf(out, "%s[Task %d in the background (%.*s) has ended: ", out->len > 0 ? "\n" : "",
                 task->number, (int)len, task->command);
        add_task_end(task, out);
        buf_addstr(out, ". task_output has the rest of its output.]");
        task->told = true;
    }
}

#define TASK_ARGUMENT TOOL_ARG_WITH("integer", "task", "\"minimum\":1")

const struct tool tool_task_output = {
    .spec = {.name = "task_output",
             .description = "Give what a command in the background has written since the last "
                            "call, and whether it still runs.",
             .schema = TOOL_SCHEMA(TASK_ARGUMENT
                                   "," TOOL_ARG_WITH("integer", "wait_ms",
                                                     "\"minimum\":0,\"description\":\"wait for its "
                                                     "end, so long at most\""),
                                   TOOL_NEEDS("\"task\""))},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_COMMAND_TIMEOUT,
    .number = TASK_OUTPUT,
    .idle = is_idle,
    .run = run_on_task,
};

const struct tool tool_task_stop = {
    .spec = {.name = "task_stop",
             .description = "End a command in the background, with all that it started. Returns "
                            "what it has written since the last call.",
             .schema = TOOL_SCHEMA(TASK_ARGUMENT, TOOL_NEEDS("\"task\""))},
    .class = TOOL_EXECUTE,
    .consent = CONSENT_GIVEN,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .number = TASK_STOP,
    .idle = is_idle,
    .run = run_on_task,
};
