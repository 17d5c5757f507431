#include "agent/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/approval.h"
#include "base/mem.h"
#include "base/vec.h"

enum { MAX_LINKS = 40 };

/* How a missing directory on the way is taken. */
enum missing { MISSING_FAILS, MISSING_ENDS, MISSING_IS_MADE };

struct walk {
    const char *root;
    int root_fd;
    VEC(int) opened;     /* directories below the root, innermost last */
    VEC(char *) names;   /* theirs */
    VEC(char *) pending; /* components still to come, next one last */
    int links;
    enum missing on_missing;
    bool ended; /* by a missing directory, where MISSING_ENDS */
    char *last; /* the last component, or the missing one; NULL: the path ended on a directory */
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
    for (size_t end = strlen(path), start; end > 0; end = start) {
        while (end > 0 && path[end - 1] == '/')
            end--;
        for (start = end; start > 0 && path[start - 1] != '/';)
            start--;
        if (end > start)
            vec_push(&w->pending, mem_strndup(path + start, end - start));
    }
    return true;
}

static bool walk_down(struct walk *w, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(walk_here(w), name, flags);
    if (fd < 0) {
        if (errno != ENOENT || w->on_missing == MISSING_FAILS)
            return false;
        for (size_t i = 0; i < w->pending.len; i++)
            if (strcmp(w->pending.items[i], "..") == 0)
                return false; /* a directory that is left again must exist */
        if (w->on_missing == MISSING_ENDS) {
            w->ended = true;
            w->last = mem_strdup(name);
            return true;
        }
        if (mkdirat(walk_here(w), name, 0777) != 0 && errno != EEXIST)
            return false;
        fd = openat(walk_here(w), name, flags);
    }
    if (fd < 0)
        return false;
    vec_push(&w->opened, fd);
    vec_push(&w->names, mem_strdup(name));
    return true;
}

/* Walks one component. The last one is not opened but kept. */
static bool walk_step(struct walk *w, const char *name)
{
    struct stat st;
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
    if (fstatat(walk_here(w), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)) {
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
        return err_set(e, ERR_FILE_ERROR, "%s: outside of %s", path, root);
    return err_set(e, ERR_FILE_ERROR, "%s: %s", path, strerror(fault));
}

/* Behind a missing component the rest is as it was given. */
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

bool confine_find(int root_fd, const char *root, const char *path, bool make,
                  struct confine_place *out, struct error *e)
{
    struct walk w = {
        .root = root, .root_fd = root_fd, .on_missing = make ? MISSING_IS_MADE : MISSING_ENDS};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool ok = false;
    int fault = EISDIR;
    *out = (struct confine_place){.dir = -1};
    /* Told by the text alone, so that nothing is made on the way to a directory. */
    if (*name != '\0' && strcmp(name, ".") != 0) {
        ok = walk_run(&w, path);
        fault = ok ? EISDIR : errno;
        ok = ok && (w.ended || w.last);
    }
    if (ok)
        out->where = walk_where(&w);
    if (ok && !w.ended) {
        out->dir = fcntl(walk_here(&w), F_DUPFD_CLOEXEC, 0);
        ok = out->dir >= 0;
        fault = errno;
        out->name = w.last;
        w.last = NULL;
    }
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

/* --- for tools -------------------------------------------------------------------------------- */

char *builtin_reaches(const void *self, const struct json *args)
{
    const struct tool_host *host = self;
    const char *path = json_get_string(args, "path");
    struct walk w = {.root = host->root, .root_fd = host->root_fd, .on_missing = MISSING_ENDS};
    char *where = walk_run(&w, path ? path : ".") ? walk_where(&w) : NULL;
    walk_release(&w);
    return where;
}

bool builtin_may_reach(const struct tool_context *context, const char *path, const char *where,
                       struct error *e)
{
    /* The user was asked about a place and what is below it. */
    size_t len = context->guarded ? strlen(context->guarded) : 0;
    bool asked = len > 0 && strncmp(where, context->guarded, len) == 0 &&
                 (where[len] == '\0' || where[len] == '/' || len == 1);
    return asked || !guard_asks(where) ||
           err_set(e, ERR_FILE_ERROR,
                   "%s: keys or tiro's own files are there, and the user was not asked about it",
                   path);
}

int builtin_open(const struct tool_context *context, const char *path, int flags, char **where,
                 struct buf *out)
{
    const struct tool_host *host = context->self;
    struct error e = {0};
    auto_free char *found = NULL;
    int fd = confine_open(host->root_fd, host->root, path, flags, &found, &e);
    if (fd >= 0 && !builtin_may_reach(context, path, found, &e)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        buf_addstr(out, e.text);
    if (where && fd >= 0) {
        *where = found;
        found = NULL;
    }
    return fd;
}
