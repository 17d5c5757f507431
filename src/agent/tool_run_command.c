#include "agent/tool_run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/tool.h"
#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

void head_tail_init(struct head_tail *h, size_t max)
{
    *h = (struct head_tail){.half = max / 2, .head = BUF_INIT, .tail = BUF_INIT};
}

void head_tail_release(struct head_tail *h)
{
    buf_release(&h->head);
    buf_release(&h->tail);
}

/* Leaves the last `half` bytes. */
static void shorten_tail(struct head_tail *h)
{
    size_t over = h->tail.len - h->half;
    buf_consume(&h->tail, over);
    h->dropped += over;
}

void head_tail_add(struct head_tail *h, const char *bytes, size_t len)
{
    size_t room = h->half - h->head.len;
    size_t first = len < room ? len : room;
    buf_add(&h->head, bytes, first);
    buf_add(&h->tail, bytes + first, len - first);
    /* Not at every piece: moving half of it costs. */
    if (h->tail.len > 2 * h->half)
        shorten_tail(h);
}

static size_t skip_continuation(const char *s, size_t len)
{
    size_t n = 0;
    while (n < len && n < 3 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    return n;
}

/* At most `half` bytes of each; what is cut off counts as dropped. */
static void add_both(struct buf *out, const struct buf *head, const struct buf *tail, size_t half,
                     size_t dropped)
{
    size_t keep = utf8_cut_bytes(head->data, head->len, half);
    size_t from = tail->len > half ? tail->len - half : 0;
    if (from > 0)
        from += skip_continuation(tail->data + from, tail->len - from);
    dropped += head->len - keep + from;
    buf_add(out, head->data, keep);
    if (dropped > 0)
        buf_addf(out, "\n[… %zu bytes left out …]\n", dropped);
    buf_add(out, tail->data + from, tail->len - from);
}

static void show_all(const struct head_tail *h, struct buf *out)
{
    struct buf raw = BUF_INIT, text = BUF_INIT;
    buf_add(&raw, h->head.data, h->head.len);
    buf_add(&raw, h->tail.data, h->tail.len);
    utf8_clean(&text, raw.data, raw.len, UTF8_MULTILINE);
    if (text.len <= 2 * h->half) {
        buf_add(out, text.data, text.len);
    } else { /* it grew */
        size_t keep = utf8_cut_bytes(text.data, text.len, h->half);
        buf_clear(&raw);
        buf_add(&raw, text.data + keep, text.len - keep);
        buf_truncate(&text, keep);
        add_both(out, &text, &raw, h->half, 0);
    }
    buf_release(&raw);
    buf_release(&text);
}

static void show_ends(const struct head_tail *h, size_t over, struct buf *out)
{
    struct buf head = BUF_INIT, tail = BUF_INIT;
    size_t end = h->head.len - utf8_incomplete_tail(h->head.data, h->head.len);
    size_t start = over + skip_continuation(h->tail.data + over, h->tail.len - over);
    utf8_clean(&head, h->head.data, end, UTF8_MULTILINE);
    utf8_clean(&tail, h->tail.data + start, h->tail.len - start, UTF8_MULTILINE);
    add_both(out, &head, &tail, h->half, h->dropped + start + h->head.len - end);
    buf_release(&head);
    buf_release(&tail);
}

void head_tail_show(const struct head_tail *h, struct buf *out)
{
    size_t over = h->tail.len > h->half ? h->tail.len - h->half : 0;
    if (h->dropped + over > 0)
        show_ends(h, over, out);
    else
        show_all(h, out);
}

void head_tail_cut(struct buf *text, size_t max)
{
    size_t total = text->len;
    if (total <= max)
        return;
    size_t keep = utf8_cut_bytes(text->data, total, max);
    buf_truncate(text, keep);
    buf_addf(text, "\n[cut: %zu of %zu bytes shown]", keep, total);
}

/* --- confine --- */

enum { MAX_LINKS = 40 };

/* What a directory on the way that does not exist means. */
enum missing { MISSING_FAILS, MISSING_ENDS, MISSING_IS_MADE };

struct walk {
    const char *root;
    int root_fd;
    VEC(int) opened;     /* directories below the root, innermost last */
    VEC(char *) names;   /* theirs */
    VEC(char *) pending; /* components still to come, next one last */
    int links;
    enum missing on_missing;
    bool ended; /* by a directory that lacks, where MISSING_ENDS */
    char *last; /* the last component, when it is used up, or the one that lacks; NULL: the path
                   ended on a directory */
};

static int walk_here(const struct walk *w)
{
    return w->opened.len > 0 ? vec_last(&w->opened) : w->root_fd;
}

static void walk_up(struct walk *w)
{
    close(vec_last(&w->opened));
    free(vec_last(&w->names));
    w->opened.len--;
    w->names.len--;
}

static void walk_release(struct walk *w)
{
    while (w->opened.len > 0)
        walk_up(w);
    vec_release(&w->opened);
    vec_release(&w->names);
    vec_free_each(&w->pending);
    free(w->last);
}

static void push_components(struct walk *w, const char *path)
{
    size_t end = strlen(path);
    while (end > 0) {
        while (end > 0 && path[end - 1] == '/')
            end--;
        size_t start = end;
        while (start > 0 && path[start - 1] != '/')
            start--;
        if (end > start)
            vec_push(&w->pending, mem_strndup(path + start, end - start));
        end = start;
    }
}

/* Queues a path or a link's target. An absolute one starts over at the root, if it is inside. */
static bool walk_enqueue(struct walk *w, const char *path)
{
    if (path[0] == '/') {
        size_t n = strlen(w->root);
        if (strncmp(path, w->root, n) != 0 || (path[n] != '/' && path[n] != '\0' && n > 1)) {
            errno = EXDEV;
            return false;
        }
        while (w->opened.len > 0)
            walk_up(w);
        path += n;
    }
    push_components(w, path);
    return true;
}

static bool follow_link(struct walk *w, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(walk_here(w), name, target, sizeof target - 1);
    if (n < 0)
        return false;
    if (++w->links > MAX_LINKS) {
        errno = ELOOP;
        return false;
    }
    target[n] = '\0';
    return walk_enqueue(w, target);
}

static bool is_link(int dir, const char *name)
{
    struct stat st;
    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
}

/* Whether something that does not exist is left again by "..": then it must exist. */
static bool goes_up_again(const struct walk *w)
{
    for (size_t i = 0; i < w->pending.len; i++)
        if (strcmp(w->pending.items[i], "..") == 0)
            return true;
    return false;
}

static bool meet_missing(struct walk *w, const char *name)
{
    if (errno != ENOENT || w->on_missing == MISSING_FAILS || goes_up_again(w))
        return false;
    w->ended = w->on_missing == MISSING_ENDS;
    return w->ended || mkdirat(walk_here(w), name, 0777) == 0 || errno == EEXIST;
}

static bool walk_down(struct walk *w, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(walk_here(w), name, flags);
    if (fd < 0) {
        if (!meet_missing(w, name))
            return false;
        if (w->ended) {
            w->last = mem_strdup(name);
            return true;
        }
        fd = openat(walk_here(w), name, flags);
    }
    if (fd < 0)
        return false;
    vec_push(&w->opened, fd);
    vec_push(&w->names, mem_strdup(name));
    return true;
}

/* One component. The last one is not opened but kept. */
static bool walk_step(struct walk *w, const char *name)
{
    if (strcmp(name, ".") == 0)
        return true;
    if (strcmp(name, "..") == 0) {
        if (w->opened.len == 0) {
            errno = EXDEV;
            return false;
        }
        walk_up(w);
        return true;
    }
    if (is_link(walk_here(w), name))
        return follow_link(w, name);
    if (w->pending.len > 0)
        return walk_down(w, name);
    w->last = mem_strdup(name);
    return true;
}

static bool walk_run(struct walk *w, const char *path)
{
    bool ok = walk_enqueue(w, path);
    while (ok && !w->ended && !w->last && w->pending.len > 0) {
        char *name = vec_last(&w->pending);
        w->pending.len--;
        ok = walk_step(w, name);
        int fault = errno;
        free(name);
        errno = fault;
    }
    return ok;
}

static bool fail(const char *root, const char *path, int fault, struct error *e)
{
    if (fault == EXDEV)
        return err_set(e, ERR_FILE_ERROR, "%s: outside the working directory %s", path, root);
    return err_set(e, ERR_FILE_ERROR, "%s: %s", path, strerror(fault));
}

/* Behind a component that lacks, the rest is as it was given. */
static char *walk_where(const struct walk *w)
{
    struct buf where = BUF_INIT;
    buf_addstr(&where, strcmp(w->root, "/") == 0 ? "" : w->root);
    for (size_t i = 0; i < w->names.len; i++)
        buf_addf(&where, "/%s", w->names.items[i]);
    if (w->last)
        buf_addf(&where, "/%s", w->last);
    for (size_t i = w->pending.len; i > 0; i--)
        if (strcmp(w->pending.items[i - 1], ".") != 0)
            buf_addf(&where, "/%s", w->pending.items[i - 1]);
    if (where.len == 0)
        buf_addch(&where, '/');
    return buf_take(&where);
}

char *confine_resolve(int root_fd, const char *root, const char *path)
{
    struct walk w = {.root = root, .root_fd = root_fd, .on_missing = MISSING_ENDS};
    char *where = walk_run(&w, path) ? walk_where(&w) : NULL;
    walk_release(&w);
    return where;
}

int confine_open(int root_fd, const char *root, const char *path, int flags, char **where,
                 struct error *e)
{
    struct walk w = {.root = root, .root_fd = root_fd};
    int fd = -1;
    if (walk_run(&w, path))
        fd = openat(walk_here(&w), w.last ? w.last : ".",
                    flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int fault = errno;
    if (fd >= 0 && where)
        *where = walk_where(&w);
    walk_release(&w);
    if (fd < 0)
        fail(root, path, fault, e);
    return fd;
}

/* By its text alone, so that nothing is made on the way to it. */
static bool names_a_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    errno = EISDIR;
    return *name != '\0' && strcmp(name, ".") != 0;
}

static bool walk_to_file(struct walk *w, const char *path)
{
    if (!names_a_file(path) || !walk_run(w, path))
        return false;
    errno = EISDIR;
    return w->ended || w->last;
}

bool confine_find(int root_fd, const char *root, const char *path, bool make,
                  struct confine_place *out, struct error *e)
{
    struct walk w = {
        .root = root, .root_fd = root_fd, .on_missing = make ? MISSING_IS_MADE : MISSING_ENDS};
    bool ok = walk_to_file(&w, path);
    *out = (struct confine_place){.dir = -1};
    if (ok)
        out->where = walk_where(&w);
    if (ok && !w.ended) {
        out->dir = fcntl(walk_here(&w), F_DUPFD_CLOEXEC, 0);
        ok = out->dir >= 0;
        out->name = w.last;
        w.last = NULL;
    }
    int fault = errno;
    walk_release(&w);
    if (!ok) {
        confine_place_release(out);
        fail(root, path, fault, e);
    }
    return ok;
}

void confine_place_release(struct confine_place *p)
{
    if (p->dir >= 0)
        close(p->dir);
    free(p->name);
    free(p->where);
    *p = (struct confine_place){.dir = -1};
}

/* --- tool_run_command --- */

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
