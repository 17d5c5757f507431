#include "session/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"

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
                session_id);
    else
        err_set_errno(e, ERR_SESSION_STORE_ERROR, "cannot lock %s", path);
    lock_drop(fd);
    return false;
}

bool lock_take(const char *dir, const char *session_id, int *fd, struct error *e)
{
    *fd = -1;
    char *locks = paths_join(dir, "locks");
    char *path = mem_printf("%s/%s.lock", locks, session_id);
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
