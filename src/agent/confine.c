#include "agent/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"

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
