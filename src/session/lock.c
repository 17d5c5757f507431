#include "session/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/uuid.h"

static char *path_of(const char *locks, const char *session_id)
{
    return mem_printf("%s/%s.lock", locks, session_id);
}

static bool lock_file(const char *path, const char *session_id, int *fd, struct error *e)
{
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*fd < 0)
        return err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot open the lock file %s", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    if (errno == EWOULDBLOCK)
        err_set(e, ERR_SESSION_BUSY,
                "session %.8s is open in another tiro; leave that one, or start a new session",
                session_id + UUID_LEN - 8);
    else
        err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot lock %s", path);
    lock_drop(fd);
    return false;
}

bool lock_take(const char *dir, const char *session_id, int *fd, struct error *e)
{
    *fd = -1;
    char *locks = paths_join(dir, "locks");
    char *path = path_of(locks, session_id);
    bool ok = paths_make_dir(locks, e) && lock_file(path, session_id, fd, e);
    free(path);
    free(locks);
    return ok;
}

void lock_drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool lock_remove(const char *dir, const char *session_id, struct error *e)
{
    char *locks = paths_join(dir, "locks");
    char *path = path_of(locks, session_id);
    bool ok = unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR ||
              err_set_errno(e, ERR_FILE_ERROR, "cannot remove the lock file %s", path);
    free(path);
    free(locks);
    return ok;
}
