#include "agent/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

enum { MAX_LINKS = 40 };

struct walk {
    const char *root;
    int root_fd;
    VEC(int) opened;     /* directories below the root, innermost last */
    VEC(char *) pending; /* components still to come, next one last */
    int links;
};

static int walk_here(const struct walk *w)
{
    return w->opened.len > 0 ? vec_last(&w->opened) : w->root_fd;
}

static void walk_up(struct walk *w)
{
    close(vec_last(&w->opened));
    w->opened.len--;
}

static void walk_release(struct walk *w)
{
    while (w->opened.len > 0)
        walk_up(w);
    for (size_t i = 0; i < w->pending.len; i++)
        free(w->pending.items[i]);
    vec_release(&w->opened);
    vec_release(&w->pending);
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

/* One component. Sets *result to the final descriptor once the path is used up. */
static bool walk_step(struct walk *w, char *name, int flags, int *result)
{
    bool last = w->pending.len == 0;
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
    int how = last ? flags : O_RDONLY | O_DIRECTORY;
    int fd = openat(walk_here(w), name, how | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (last)
        *result = fd;
    else
        vec_push(&w->opened, fd);
    return true;
}

static int walk_run(struct walk *w, const char *path, int flags)
{
    int fd = -1;
    if (!walk_enqueue(w, path))
        return -1;
    while (fd < 0 && w->pending.len > 0) {
        char *name = vec_last(&w->pending);
        w->pending.len--;
        bool ok = walk_step(w, name, flags, &fd);
        free(name);
        if (!ok)
            return -1;
    }
    /* The path ended on "." or "..", or was the root itself. */
    return fd >= 0 ? fd : openat(walk_here(w), ".", flags | O_CLOEXEC | O_NONBLOCK);
}

int confine_open(int root_fd, const char *root, const char *path, int flags, struct error *e)
{
    struct walk w = {.root = root, .root_fd = root_fd};
    int fd = walk_run(&w, path, flags);
    int fault = errno;
    walk_release(&w);
    if (fd >= 0)
        return fd;
    if (fault == EXDEV)
        err_set(e, ERR_FILE_ERROR, "%s: outside the working directory %s", path, root);
    else
        err_set(e, ERR_FILE_ERROR, "%s: %s", path, strerror(fault));
    return -1;
}
