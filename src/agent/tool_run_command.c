/* The tool that runs a command, by tiro itself or in a terminal of the surface. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/approval.h"
#include "agent/bounds.h"
#include "agent/simple_command.h"
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
    PIECE = 8192,     /* bytes that are shown at once; at most twice as many */
    NOTES = 256,      /* bytes kept free for the notes at the end */
    SIGNAL_BYTES = 40 /* of a name that the surface tells */
};

extern char **environ;

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
    struct head_tail output;
    const struct tool_context *context;
    struct buf unshown; /* output */
    size_t held;        /* bytes at its end that wait for more: half a character, or a CR */
    bool anew;          /* earlier output was left out */
    int64_t shown_ms;   /* when output was shown last; 0: not yet */
};

static bool take(void *context, const char *bytes, size_t len)
{
    struct running *r = context;
    head_tail_add(&r->output, bytes, len);
    if (!r->context->show)
        return true;
    buf_add(&r->unshown, bytes, len);
    if (r->unshown.len > 2 * PIECE) {
        buf_consume(&r->unshown, r->unshown.len - PIECE);
        r->held = 0;
        r->anew = true;
    }
    return true;
}

/* Shows the output that came since the last time, if it is due. A CR before a newline does not
 * begin the line anew. */
static int due(void *context)
{
    struct running *r = context;
    const struct tool_context *c = r->context;
    int64_t now = clock_mono_ms(), wait = r->unshown.len > r->held ? SHOW_MS : CLOCK_MS;
    AUTO(buf_release) struct buf piece = BUF_INIT;
    if (!c->show)
        return INT_MAX;
    if (r->shown_ms > 0 && now < r->shown_ms + wait)
        return (int)(r->shown_ms + wait - now);
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
        .text = piece.data, .anew = r->anew || r->shown_ms == 0, .ran_ms = now - r->started_ms};
    c->show(c->tell_context, &output);
    buf_consume(&r->unshown, len);
    r->held = r->unshown.len;
    r->anew = false;
    r->shown_ms = now;
    return CLOCK_MS;
}

static bool run_child(const struct tool_context *context, struct running *r, struct buf *out)
{
    const struct tool_host *host = context->self;
    AUTO(child_environment_release) struct child_environment environment = {0};
    struct child_result result;
    struct error e = {0};
    char status[16];
    bool confined = r->access != ACCESS_ALL && bounds_hold(host);
    AUTO(sandbox_release) struct sandbox sandbox = {.files = -1};
    if (confined && !bounds_make(host, r->access == ACCESS_NETWORK, &sandbox, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    child_environment_init(&environment, environ, CHILD_OF_MODEL, host->environment);
    const struct child_command command = {
        .argv = (const char *const[]){"/bin/sh", "-c", "--", r->command, NULL},
        .directory = host->root,
        .environment = environment.list.items,
        .with_errors = true,
        .deadline_ms = r->deadline_ms,
        .wakeup = context->wakeup,
        .sandbox = confined ? &sandbox : NULL,
        .take = take,
        .due = due,
        .context = r};
    if (!child_run(&command, &result, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    head_tail_show(&r->output, out);
    snprintf(status, sizeof status, "%d", result.status);
    add_end(result.end, status, clock_mono_ms() - r->started_ms, out);
    if (result.left_some)
        buf_addstr(out, "\n[some of what it started could not be ended]");
    bool ok = result.end == CHILD_EXITED && result.status == 0;
    if (confined && !ok)
        bounds_explain(host, r->access == ACCESS_NETWORK, out);
    if (!confined)
        bounds_tell_lack(host, out);
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
    head_tail_add(&r->output, run->output.data, run->output.len);
    head_tail_show(&r->output, out);
    add_end(end, how.data, clock_mono_ms() - r->started_ms, out);
    return end == CHILD_EXITED && run->status == 0;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const struct tool_host *host = context->self;
    const struct tool_surface *s = host->surface;
    if (!check_directory(context, out))
        return false;
    size_t max = context->max_output;
    int64_t now = clock_mono_ms(), seconds = json_get_int(args, "timeout", 0);
    bool sooner = seconds > 0 && seconds < (context->deadline_ms - now) / 1000;
    struct running r = {.command = json_get_string(args, "command"),
                        .access = access_of(args),
                        .context = context,
                        .unshown = BUF_INIT,
                        .started_ms = now,
                        .deadline_ms = sooner ? now + 1000 * seconds : context->deadline_ms};
    AUTO(surface_run_release) struct surface_run run = {.output = BUF_INIT, .status = -1};
    AUTO(buf_release) struct buf first = BUF_INIT;
    enum surface_outcome outcome = SURFACE_PASSED;
    head_tail_init(&r.output, max > 2 * NOTES ? max - NOTES : max / 2);
    if (s) {
        child_environment_script(&first, CHILD_OF_MODEL, host->environment);
        const struct surface_command command = {.text = r.command,
                                                .first = first.data,
                                                .directory = host->root,
                                                .max_output = 2 * r.output.half,
                                                .deadline_ms = r.deadline_ms};
        outcome = s->run(s->context, context, &command, &run, out);
    }
    bool ok = outcome == SURFACE_PASSED ? run_child(context, &r, out)
                                        : outcome == SURFACE_DID && show_run(&r, &run, out);
    head_tail_release(&r.output);
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
    buf_addf(out, "%sin %s:\n%s", reaches[access], host->root, json_get_string(args, "command"));
    return true;
}

/* Whether a word of the command names a place of keys, which a person who allows `cat …` does not
 * mean. A command can reach these places by other names, such as a pattern; only a sandbox hides
 * them. */
static bool names_keys(const char *command)
{
    static const char between[] = " \t=";
    const struct guard keys = {{0}};
    auto_free char *unquoted = mem_strdup(command);
    bool named = false;
    char *to = unquoted;
    for (const char *p = command; *p; p++)
        if (*p != '\'' && *p != '"') /* the shell joins .s""sh */
            *to++ = *p;
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
             "it leaves in the background is ended with it. A sandbox may confine it: it "
             "reads files except keys, changes the working directory and $TMPDIR alone, and has "
             "no network.",
         .schema = TOOL_SCHEMA(
             "\"command\":{\"type\":\"string\"}," TOOL_ARG_WITH(
                 "integer", "timeout",
                 "\"minimum\":1,\"description\":\"seconds; the user's own limit "
                 "holds anyway\"") "," TOOL_ARG_WITH("string", "access",
                                                     "\"enum\":[\"project\",\"network\",\"all\"],"
                                                     "\"description\":"
                                                     "\"more than the sandbox allows, if the "
                                                     "command cannot do without: "
                                                     "network, or all (no sandbox); the user is "
                                                     "asked\""),
             TOOL_NEEDS("\"command\""))},
    .class = TOOL_EXECUTE,
    .timeout = CONFIG_TOOLS_COMMAND_TIMEOUT,
    .run = run,
    .preview = preview,
    .bounds = bounds,
    .grant = grant,
};
