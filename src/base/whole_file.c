#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/die.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/temporary.h"

#define TEMPORARY ".tiro-" /* between the name and what mkstemp() adds */
#define UNIQUE "XXXXXX"

enum { TRIES = 10 }; /* each fails only if another process sweeps just then */

static const char *const itself[] = {"", NULL};

static void forget_temporary(struct whole_file *f)
{
    die_keeps(f->temporary);
    free(f->temporary);
    f->temporary = NULL;
}

void whole_file_drop(struct whole_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    if (f->temporary)
        unlink(f->temporary);
    forget_temporary(f);
    free(f->target);
    *f = (struct whole_file){.fd = -1};
}

/* With errno as it stands. */
static bool fail(struct whole_file *f, struct error *e)
{
    err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", f->target);
    whole_file_drop(f);
    return false;
}

static bool is_taken(const char *path, struct error *e)
{
    err_set(e, ERR_FILE_ERROR, "%s already exists; name another file, or delete it first", path);
    return true;
}

static bool may_be_written(const char *path, bool replace, struct error *e)
{
    struct stat st;
    if (!replace)
        return lstat(path, &st) != 0 || !is_taken(path, e);
    return stat(path, &st) != 0 || S_ISREG(st.st_mode) ||
           err_set(e, ERR_FILE_ERROR, "%s is not a regular file; name another one", path);
}

/* --- temporary files -------------------------------------------------------------------------- */

void whole_file_sweep(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *directory = paths_parent(path);
    char *beginning = mem_printf("%s" TEMPORARY, slash ? slash + 1 : path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    temporary_sweep(fd, beginning, strlen(UNIQUE));
    if (fd >= 0)
        close(fd);
    free(beginning);
    free(directory);
}

static bool make_temporary(struct whole_file *f)
{
    for (int i = 0; i < TRIES; i++) {
        f->temporary = mem_printf("%s" TEMPORARY UNIQUE, f->target);
        die_unlinks(f->temporary, itself);
        f->fd = mkstemp(f->temporary); /* makes it with mode 0600 */
        int cause = errno;
        if (f->fd >= 0) {
            if (temporary_claim(f->fd))
                return true;
            close(f->fd);
        }
        forget_temporary(f);
        errno = cause;
        if (f->fd < 0)
            return false;
        f->fd = -1;
    }
    errno = EAGAIN;
    return false;
}

/* --- writing ---------------------------------------------------------------------------------- */

bool whole_file_begin(struct whole_file *f, const char *path, bool replace, struct error *e)
{
    *f = (struct whole_file){.fd = -1, .replace = replace};
    if (!may_be_written(path, replace, e))
        return false;
    f->target = realpath(path, NULL);
    if (!f->target) {
        bool is_new = errno == ENOENT;
        f->target = mem_strdup(path);
        if (!is_new)
            return fail(f, e);
    }
    whole_file_sweep(f->target);
    return make_temporary(f) || fail(f, e);
}

bool whole_file_write(struct whole_file *f, const void *bytes, size_t len, struct error *e)
{
    return paths_write_all(f->fd, bytes, len) || fail(f, e);
}

bool whole_file_sync(struct whole_file *f, struct error *e)
{
    return fsync(f->fd) == 0 || fail(f, e);
}

static bool close_safely(struct whole_file *f)
{
    bool ok = fsync(f->fd) == 0;
    ok = close(f->fd) == 0 && ok;
    f->fd = -1;
    return ok;
}

static bool fail_to_tidy(struct whole_file *f, struct error *e)
{
    err_set_errno(e, ERR_FILE_ERROR, "%s is written, but cannot remove %s", f->target,
                  f->temporary);
    whole_file_drop(f);
    return false;
}

/* Some file systems have no links; there a name that was taken meanwhile is lost. */
static bool move_to_free_name(struct whole_file *f, struct error *e)
{
    struct stat st;
    if (link(f->temporary, f->target) == 0)
        return unlink(f->temporary) == 0 || fail_to_tidy(f, e);
    if (errno == EEXIST || lstat(f->target, &st) == 0) {
        is_taken(f->target, e);
        whole_file_drop(f);
        return false;
    }
    return rename(f->temporary, f->target) == 0 || fail(f, e);
}

bool whole_file_finish(struct whole_file *f, struct error *e)
{
    if (!close_safely(f))
        return fail(f, e);
    if (!f->replace && !move_to_free_name(f, e))
        return false;
    if (f->replace && rename(f->temporary, f->target) != 0)
        return fail(f, e);
    forget_temporary(f);
    paths_sync_parent(f->target);
    whole_file_drop(f);
    return true;
}
