#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/whole_file.h"

/* The user database when HOME lacks; the root as the last resort, where nothing can be written
 * and the error names the path. */
static char *home_dir(void)
{
    const char *home = getenv("HOME");
    if (home && *home)
        return mem_strdup(home);
    struct passwd entry, *found = NULL;
    size_t size = 1024;
    char *space = mem_alloc(size);
    while (getpwuid_r(getuid(), &entry, space, size, &found) == ERANGE)
        space = mem_resize(space, size *= 2);
    home = found && found->pw_dir && *found->pw_dir ? found->pw_dir : "/";
    char *copy = mem_strdup(home);
    free(space);
    return copy;
}

/* The XDG specification wants a relative path ignored. */
static char *xdg_dir(const char *variable, const char *below_home)
{
    const char *base = getenv(variable);
    if (base && base[0] == '/')
        return paths_join(base, "tiro");
    char *home = home_dir();
    char *dir = paths_join(home, below_home);
    free(home);
    return dir;
}

char *paths_config_dir(void)
{
    return xdg_dir("XDG_CONFIG_HOME", ".config/tiro");
}

char *paths_data_dir(void)
{
    return xdg_dir("XDG_DATA_HOME", ".local/share/tiro");
}

char *paths_state_dir(void)
{
    return xdg_dir("XDG_STATE_HOME", ".local/state/tiro");
}

char *paths_config_file(void)
{
    char *dir = paths_config_dir();
    char *file = paths_join(dir, "tiro.ini");
    free(dir);
    return file;
}

char *paths_join(const char *dir, const char *name)
{
    size_t len = strlen(dir);
    const char *slash = len && dir[len - 1] != '/' ? "/" : "";
    return mem_printf("%s%s%s", dir, slash, name);
}

static bool make_one(const char *path, struct error *e)
{
    if (mkdir(path, 0700) == 0)
        return true;
    int cause = errno;
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return true;
        cause = ENOTDIR;
    }
    errno = cause;
    return err_set_errno(e, ERR_FILE_ERROR, "cannot make the directory %s", path);
}

char *paths_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

bool paths_make_dir(const char *path, struct error *e)
{
    char *part = mem_strdup(path);
    bool ok = true;
    for (char *slash = part; ok && *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        ok = make_one(part, e);
        *slash = '/';
    }
    free(part);
    return ok && make_one(path, e);
}

/* Not blocking while it opens: a named pipe without a writer would never come back. */
static int open_readable(const char *path, bool may_be_pipe, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0) {
        err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    } else if (!S_ISREG(st.st_mode) && !(may_be_pipe && S_ISFIFO(st.st_mode))) {
        err_set(e, ERR_FILE_ERROR, "%s is not a regular file; name another", path);
    } else if (fcntl(fd, F_SETFL, 0) < 0) {
        err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", path);
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

void paths_sync_parent(const char *path)
{
    char *dir = paths_parent(path);
    int fd = open(dir, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(dir);
}

static bool read_all(int fd, const char *path, struct buf *out, struct error *e)
{
    char chunk[16384];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", path);
        if (got == 0)
            return true;
        if (!buf_try_add(out, chunk, (size_t)got))
            return err_set(e, ERR_FILE_ERROR, "%s is too long; at most %zu bytes are read", path,
                           out->max);
    }
}

int paths_open_readable(const char *path, struct error *e)
{
    return open_readable(path, true, e);
}

static bool read_and_close(int fd, const char *path, struct buf *out, struct error *e)
{
    if (fd < 0)
        return false;
    bool ok = read_all(fd, path, out, e);
    close(fd);
    return ok;
}

bool paths_read_file(const char *path, struct buf *out, struct error *e)
{
    return read_and_close(open_readable(path, true, e), path, out, e);
}

bool paths_read_regular(const char *path, struct buf *out, struct error *e)
{
    return read_and_close(open_readable(path, false, e), path, out, e);
}

bool paths_write_file(const char *path, const void *bytes, size_t len, struct error *e)
{
    struct whole_file f;
    return whole_file_begin(&f, path, true, e) && whole_file_write(&f, bytes, len, e) &&
           whole_file_finish(&f, e);
}

bool paths_write_all(int fd, const void *bytes, size_t len)
{
    const char *rest = bytes;
    while (len > 0) {
        ssize_t done = write(fd, rest, len);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        rest += done;
        len -= (size_t)done;
    }
    return true;
}
