#include "session/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"

/* NULL: locked. Else the action that failed, with errno. Tries again if the last holder removed the
 * file between our opening and locking it: then the lock keeps nobody out. */
static const char *lock_file(const char *path, int *fd)
{
    for (;;) {
        struct stat ours, there;
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (*fd < 0)
            return "open the lock file";
        if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
            return "lock";
        if (fstat(*fd, &ours) != 0)
            return "look at the lock file";
        bool exists = lstat(path, &there) == 0;
        if (!exists && errno != ENOENT)
            return "look at the lock file";
        if (exists && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
            return NULL;
        lock_drop(fd);
    }
}

bool lock_is_of_work(const char *name)
{
    return strcmp(name, LOCK_INGEST) == 0 || strcmp(name, LOCK_VECTORS) == 0 ||
           strcmp(name, LOCK_IMPORT) == 0;
}

bool lock_try(const char *dir, const char *name, int *fd, bool *waits, struct error *e)
{
    *fd = -1;
    *waits = false;
    auto_free char *locks = paths_join(dir, "locks");
    auto_free char *path = mem_printf("%s/%s.lock", locks, name);
    bool ok = paths_make_dir(locks, e);
    const char *fault = ok ? lock_file(path, fd) : NULL;
    if (fault) {
        *waits = errno == EWOULDBLOCK;
        ok = *waits || err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot %s %s", fault, path);
        lock_drop(fd);
    }
    return ok;
}

bool lock_take(const char *dir, const char *session_id, int *fd, struct error *e)
{
    bool busy;
    return lock_try(dir, session_id, fd, &busy, e) &&
           (!busy || err_set(e, ERR_SESSION_BUSY,
                             "session %.8s is open in another tiro; quit that tiro, or start a new "
                             "session",
                             session_id + UUID_LEN - 8));
}

void lock_drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool lock_is_held(int locks, const char *name)
{
    int fd = openat(locks, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    lock_drop(&fd);
    return held;
}

bool lock_is_free(const char *dir, const char *session_id)
{
    auto_free char *locks = paths_join(dir, "locks");
    auto_free char *name = mem_printf("%s.lock", session_id);
    int fd = open(locks, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool nobody = fd < 0 && errno == ENOENT; /* ever locked one */
    bool is_free = uuid_valid(session_id) && (nobody || (fd >= 0 && !lock_is_held(fd, name)));
    lock_drop(&fd);
    return is_free;
}

bool lock_remove(const char *dir, const char *session_id, struct error *e)
{
    auto_free char *locks = paths_join(dir, "locks");
    auto_free char *name = mem_printf("%s.lock", session_id);
    /* the directory itself: no symbolic link leads elsewhere */
    int fd = open(locks, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ok = uuid_valid(session_id);
    if (ok && fd < 0)
        ok = errno == ENOENT || errno == ENOTDIR;
    else if (ok)
        ok = unlinkat(fd, name, 0) == 0 || errno == ENOENT;
    int cause = errno;
    if (ok && fd >= 0)
        fsync(fd);
    lock_drop(&fd);
    errno = cause;
    return ok || err_set_errno(e, ERR_FILE_ERROR, "cannot remove the lock file %.40s.lock in %s",
                               session_id, locks);
}

/* --- locks of sessions that were never written ------------------------------------------------ */

void lock_sweep(const char *dir, lock_ask *ask, void *context)
{
    auto_free char *locks = paths_join(dir, "locks");
    DIR *list = opendir(locks);
    const struct dirent *entry;
    struct error e;
    int lock;
    bool known, ok = true;
    while (list && ok && (entry = readdir(list))) {
        const char *name = entry->d_name; /* "ID.lock" */
        char id[UUID_LEN + 1] = "";
        if (strlen(name) != UUID_LEN + strlen(".lock") || strcmp(name + UUID_LEN, ".lock") != 0)
            continue;
        memcpy(id, name, UUID_LEN);
        if (!uuid_valid(id))
            continue;
        ok = ask(context, id, &known);
        if (!ok || known || !lock_take(dir, id, &lock, &e))
            continue;
        ok = ask(context, id, &known); /* the session may have been written meanwhile */
        if (ok && !known)
            lock_remove(dir, id, &e);
        lock_drop(&lock);
    }
    if (list)
        closedir(list);
}
