#include "store/db_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"

/* In the database: a pending, a reserved and 510 shared bytes. A reader has a read lock on the
 * shared ones, which a connection that uses the WAL keeps until it closes. A writer without WAL has
 * write locks. */
#define PENDING_BYTE 0x40000000
#define SHARED_BYTE (PENDING_BYTE + 2)
#define SHARED_BYTES 510
/* In the -shm: locked by the writer of the WAL. */
#define WAL_WRITE_BYTE 120

static struct flock lock_of(short type, off_t start, off_t len)
{
    struct flock lock = {0};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = start;
    lock.l_len = len;
    return lock;
}

/* Whether another process's lock stands in the way of this one. */
static bool held(int fd, short type, off_t start, off_t len, pid_t *pid)
{
    struct flock lock = lock_of(type, start, len);
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return false;
    *pid = lock.l_pid;
    return true;
}

bool db_lock_look(const char *path, struct db_lock *out)
{
    *out = (struct db_lock){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    auto_free char *shm_path = mem_printf("%s-shm", path);
    int shm = open(shm_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    out->open = held(fd, F_WRLCK, SHARED_BYTE, SHARED_BYTES, &out->pid);
    out->locked = held(fd, F_RDLCK, PENDING_BYTE, 2 + SHARED_BYTES, &out->pid) ||
                  (shm >= 0 && held(shm, F_WRLCK, WAL_WRITE_BYTE, 1, &out->pid));
    if (shm >= 0)
        close(shm);
    close(fd);
    return true;
}

int db_lock_take(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -1;
    struct flock lock = lock_of(F_WRLCK, PENDING_BYTE, 2 + SHARED_BYTES);
    if (fcntl(fd, F_SETLK, &lock) == 0)
        return fd;
    int cause = errno == EAGAIN || errno == EACCES ? EBUSY : errno;
    close(fd);
    errno = cause;
    return -1;
}

enum { CHUNK = 1 << 16 };

static const char *const kept[] = {"-wal", "-journal"}; /* that have pages of the database */
const char *const db_file_endings[] = {"", "-wal", "-shm", "-journal", NULL};

/* As many bytes as there are, at most a chunk; -1 on failure. */
static ssize_t read_chunk(int fd, char *chunk, off_t at)
{
    ssize_t got;
    do
        got = pread(fd, chunk, CHUNK, at);
    while (got < 0 && errno == EINTR);
    return got;
}

static bool copy_file(const char *from, const char *to, bool must, bool (*go_on)(void *context),
                      void *context, struct error *e)
{
    ssize_t got = 1;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0)
        return (!must && errno == ENOENT) ||
               err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", from);
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = out >= 0 || err_set_errno(e, ERR_FILE_ERROR, "cannot make %s", to);
    auto_free char *chunk = mem_alloc(CHUNK);
    for (off_t at = 0; ok && got > 0; at += got) {
        got = read_chunk(in, chunk, at);
        if (got < 0)
            ok = err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", from);
        else if (got > 0 && !paths_write_all(out, chunk, (size_t)got))
            ok = err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", to);
        else if (got > 0 && go_on && !go_on(context))
            ok = err_set(e, ERR_INTERRUPTED, "stopped; nothing was changed");
    }
    if (ok && fsync(out) != 0)
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", to);
    if (out >= 0 && close(out) != 0 && ok)
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", to);
    close(in);
    return ok;
}

bool db_files_copy(const char *from, const char *to, bool (*go_on)(void *context), void *context,
                   struct error *e)
{
    bool ok = copy_file(from, to, true, go_on, context, e);
    for (size_t i = 0; ok && i < sizeof kept / sizeof *kept; i++) {
        auto_free char *in = mem_printf("%s%s", from, kept[i]);
        auto_free char *out = mem_printf("%s%s", to, kept[i]);
        ok = copy_file(in, out, false, go_on, context, e);
    }
    if (ok)
        paths_sync_parent(to);
    return ok;
}

static bool same_bytes(int a, int b)
{
    auto_free char *left = mem_alloc(CHUNK);
    auto_free char *right = mem_alloc(CHUNK);
    ssize_t got = 1;
    for (off_t at = 0; got > 0; at += got) {
        got = read_chunk(a, left, at);
        if (got < 0 || read_chunk(b, right, at) != got || memcmp(left, right, (size_t)got) != 0)
            return false;
    }
    return true;
}

bool db_files_same(int fd, const char *path, const char *copy)
{
    int other = open(copy, O_RDONLY | O_CLOEXEC);
    bool same = other >= 0 && same_bytes(fd, other);
    if (other >= 0)
        close(other);
    for (size_t i = 0; same && i < sizeof kept / sizeof *kept; i++) {
        auto_free char *left = mem_printf("%s%s", path, kept[i]);
        auto_free char *right = mem_printf("%s%s", copy, kept[i]);
        int a = open(left, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        int b = open(right, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        same = (a < 0) == (b < 0) && (a < 0 || same_bytes(a, b)); /* both may be missing */
        if (a >= 0)
            close(a);
        if (b >= 0)
            close(b);
    }
    return same;
}

bool db_files_regular(const char *path, char **out)
{
    struct stat st;
    *out = NULL;
    for (const char *const *ending = db_file_endings; !*out && *ending; ending++) {
        auto_free char *name = mem_printf("%s%s", path, *ending);
        if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
            *out = mem_strdup(name);
    }
    return !*out;
}

void db_files_remove_beside(const char *path)
{
    for (const char *const *ending = db_file_endings + 1; *ending; ending++) {
        auto_free char *name = mem_printf("%s%s", path, *ending);
        unlink(name);
    }
}

void db_files_remove(const char *path)
{
    unlink(path);
    db_files_remove_beside(path);
}

bool db_files_sync(const char *path, struct error *e)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}
