#include "store/db_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"

enum { CHUNK = 1 << 16 };

static const char *const kept[] = {"-wal", "-journal"}; /* that have pages of the database */
const char *const db_copy_endings[] = {"", "-wal", "-shm", "-journal", NULL};

/* As many bytes as there are, at most a chunk; -1 on failure. */
static ssize_t read_chunk(int fd, char *chunk, off_t at)
{
    ssize_t got;
    do
        got = pread(fd, chunk, CHUNK, at);
    while (got < 0 && errno == EINTR);
    return got;
}

struct copying {
    int in, out;
    const char *from, *to;
    bool (*go_on)(void *context);
    void *context;
};

static bool copy_bytes(const struct copying *c, char *chunk, struct error *e)
{
    for (off_t at = 0;;) {
        ssize_t got = read_chunk(c->in, chunk, at);
        if (got < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", c->from);
        if (got == 0)
            break;
        if (!paths_write_all(c->out, chunk, (size_t)got))
            return err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", c->to);
        if (c->go_on && !c->go_on(c->context))
            return err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed");
        at += got;
    }
    return fsync(c->out) == 0 || err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", c->to);
}

static bool open_out(struct copying *c, struct error *e)
{
    c->out = open(c->to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return c->out >= 0 || err_set_errno(e, ERR_FILE_ERROR, "cannot make %s", c->to);
}

static bool copy_file(struct copying *c, bool must, struct error *e)
{
    char *chunk = mem_alloc(CHUNK);
    bool ok = true;
    c->out = -1;
    c->in = open(c->from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (c->in >= 0)
        ok = open_out(c, e) && copy_bytes(c, chunk, e);
    else if (must || errno != ENOENT)
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", c->from);
    if (c->in >= 0)
        close(c->in);
    if (c->out >= 0 && close(c->out) != 0 && ok)
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", c->to);
    free(chunk);
    return ok;
}

bool db_copy(const char *from, const char *to, bool (*go_on)(void *context), void *context,
             struct error *e)
{
    struct copying c = {.from = from, .to = to, .go_on = go_on, .context = context};
    bool ok = copy_file(&c, true, e);
    for (size_t i = 0; ok && i < sizeof kept / sizeof *kept; i++) {
        char *in = mem_printf("%s%s", from, kept[i]);
        char *out = mem_printf("%s%s", to, kept[i]);
        c.from = in;
        c.to = out;
        ok = copy_file(&c, false, e);
        free(in);
        free(out);
    }
    if (ok)
        paths_sync_parent(to);
    return ok;
}

static bool same_bytes(int a, int b)
{
    char *left = mem_alloc(CHUNK);
    char *right = mem_alloc(CHUNK);
    bool same = true;
    for (off_t at = 0; same;) {
        ssize_t got = read_chunk(a, left, at);
        same = got >= 0 && read_chunk(b, right, at) == got && memcmp(left, right, (size_t)got) == 0;
        if (got <= 0)
            break;
        at += got;
    }
    free(left);
    free(right);
    return same;
}

/* Both lack, or both are there and alike. */
static bool same_files(const char *path, const char *copy, const char *suffix)
{
    char *left = mem_printf("%s%s", path, suffix);
    char *right = mem_printf("%s%s", copy, suffix);
    int a = open(left, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int b = open(right, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool same = (a < 0) == (b < 0) && (a < 0 || same_bytes(a, b));
    if (a >= 0)
        close(a);
    if (b >= 0)
        close(b);
    free(left);
    free(right);
    return same;
}

bool db_copy_same(int fd, const char *path, const char *copy)
{
    int other = open(copy, O_RDONLY | O_CLOEXEC);
    bool same = other >= 0 && same_bytes(fd, other);
    if (other >= 0)
        close(other);
    for (size_t i = 0; same && i < sizeof kept / sizeof *kept; i++)
        same = same_files(path, copy, kept[i]);
    return same;
}

static bool is_other(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

bool db_copy_are_files(const char *path, char **out)
{
    *out = NULL;
    for (const char *const *ending = db_copy_endings; !*out && *ending; ending++) {
        char *name = mem_printf("%s%s", path, *ending);
        if (is_other(name))
            *out = name;
        else
            free(name);
    }
    return !*out;
}

void db_copy_remove_beside(const char *path)
{
    for (const char *const *ending = db_copy_endings + 1; *ending; ending++) {
        char *name = mem_printf("%s%s", path, *ending);
        unlink(name);
        free(name);
    }
}

void db_copy_remove(const char *path)
{
    unlink(path);
    db_copy_remove_beside(path);
}

bool db_copy_sync(const char *path, struct error *e)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}
