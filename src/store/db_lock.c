#include "store/db_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

/* Of the database: a pending, a reserved and many shared bytes. A reader has a read lock on the
 * shared ones, and a connection that uses the WAL keeps that until it closes. A writer without WAL
 * has write locks. */
#define PENDING_BYTE 0x40000000
#define SHARED_BYTE (PENDING_BYTE + 2)
#define SHARED_BYTES 510
/* Of the -shm: who writes to the WAL. */
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

static bool wal_is_written(const char *path, pid_t *pid)
{
    char *shm = mem_printf("%s-shm", path);
    int fd = open(shm, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool yes = fd >= 0 && held(fd, F_WRLCK, WAL_WRITE_BYTE, 1, pid);
    if (fd >= 0)
        close(fd);
    free(shm);
    return yes;
}

bool db_lock_look(const char *path, struct db_lock *out)
{
    *out = (struct db_lock){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    out->open = held(fd, F_WRLCK, SHARED_BYTE, SHARED_BYTES, &out->pid);
    out->locked = held(fd, F_RDLCK, PENDING_BYTE, 2 + SHARED_BYTES, &out->pid) ||
                  wal_is_written(path, &out->pid);
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
