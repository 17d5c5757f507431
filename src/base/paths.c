#include "base/paths.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* --- where files are -------------------------------------------------------------------------- */

char *paths_dir(enum paths_place place)
{
    static const struct {
        const char *variable, *below_home;
    } places[] = {
        [PATHS_CONFIG] = {"XDG_CONFIG_HOME", ".config/tiro"},
        [PATHS_DATA] = {"XDG_DATA_HOME", ".local/share/tiro"},
        [PATHS_STATE] = {"XDG_STATE_HOME", ".local/state/tiro"},
    };
    const char *base = getenv(places[place].variable), *below_home = places[place].below_home;
    if (base && base[0] == '/') /* the XDG specification wants a relative path ignored */
        return paths_join(base, "tiro");
    const char *home = getenv("HOME");
    if (home && *home)
        return paths_join(home, below_home);
    struct passwd entry, *found = NULL;
    size_t size = 1024;
    auto_free char *space = mem_alloc(size);
    while (getpwuid_r(getuid(), &entry, space, size, &found) == ERANGE)
        space = mem_resize(space, size *= 2);
    /* In the root nothing can be written, and the error names the path. */
    bool known = found && found->pw_dir && *found->pw_dir;
    return paths_join(known ? found->pw_dir : "/", below_home);
}

static char profile[65]; /* "": none */

bool paths_set_profile(const char *name)
{
    size_t len = name ? strlen(name) : 0;
    if (name && (len == 0 || len >= sizeof profile || *name == '.' || strchr(name, '/')))
        return false;
    snprintf(profile, sizeof profile, "%s", name ? name : "");
    return true;
}

const char *paths_profile(void)
{
    return *profile ? profile : NULL;
}

char *paths_config_file(void)
{
    auto_free char *dir = paths_dir(PATHS_CONFIG);
    return *profile ? mem_printf("%s/profiles/%s.ini", dir, profile) : paths_join(dir, "tiro.ini");
}

char *paths_join(const char *dir, const char *name)
{
    size_t len = strlen(dir);
    return mem_printf("%s%s%s", dir, len && dir[len - 1] != '/' ? "/" : "", name);
}

bool paths_within(const char *path, const char *directory)
{
    size_t len = strlen(directory);
    return strncmp(path, directory, len) == 0 &&
           (path[len] == '\0' || path[len] == '/' || (len > 0 && path[len - 1] == '/'));
}

char *paths_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return mem_strdup(".");
    return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
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

bool paths_make_dir(const char *path, struct error *e)
{
    auto_free char *part = mem_strdup(path);
    bool ok = true;
    for (char *slash = part; ok && *slash && (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        ok = make_one(part, e);
        *slash = '/';
    }
    return ok && make_one(path, e);
}

void paths_sync_parent(const char *path)
{
    auto_free char *dir = paths_parent(path);
    int fd = open(dir, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

/* --- reading and writing ---------------------------------------------------------------------- */

int paths_open_readable(const char *path, enum paths_kind kind, struct error *e)
{
    /* O_NONBLOCK while it opens: a named pipe without a writer would never return. */
    int no_link = kind == PATHS_FILE_NO_LINK ? O_NOFOLLOW : 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | no_link);
    struct stat st;
    if (fd < 0 && no_link && errno == ELOOP) {
        err_set(e, ERR_FILE_ERROR, "%s is a symbolic link; put a file there", path);
    } else if (fd < 0 || fstat(fd, &st) < 0) {
        err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    } else if (!S_ISREG(st.st_mode) && !(kind == PATHS_FILE_OR_PIPE && S_ISFIFO(st.st_mode))) {
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

bool paths_read_file(const char *path, enum paths_kind kind, struct buf *out, struct error *e)
{
    char chunk[16384];
    ssize_t got = 1;
    bool fits = true;
    int fd = paths_open_readable(path, kind, e);
    if (fd < 0)
        return false;
    while (fits && (got > 0 || (got < 0 && errno == EINTR)))
        if ((got = read(fd, chunk, sizeof chunk)) > 0)
            fits = buf_try_add(out, chunk, (size_t)got);
    if (got < 0)
        err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", path);
    close(fd);
    if (!fits)
        return err_set(e, ERR_FILE_ERROR, "%s is too long; at most %zu bytes are read", path,
                       out->max);
    return got == 0;
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

/* --- temporary files -------------------------------------------------------------------------- */

bool temporary_claim(int fd)
{
    struct stat st;
    flock(fd, LOCK_EX);
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

void temporary_sweep(int directory, const char *beginning, size_t more)
{
    size_t len = strlen(beginning);
    int own = directory < 0 ? -1 : openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    while (list && (entry = readdir(list))) {
        const char *name = entry->d_name;
        struct stat st;
        if (strlen(name) != len + more || strncmp(name, beginning, len) != 0)
            continue;
        int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
            flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(directory, name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (list)
        closedir(list);
    else if (own >= 0)
        close(own);
}

/* --- files that are replaced whole ------------------------------------------------------------ */

#define TEMPORARY ".tiro-" /* between the name and the characters of mkstemp() */
#define UNIQUE "XXXXXX"

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

/* Reports errno. */
static bool fail(struct whole_file *f, struct error *e)
{
    err_set_errno(e, ERR_FILE_ERROR, "cannot write %s", f->target);
    whole_file_drop(f);
    return false;
}

static bool refuse_taken(const char *path, struct error *e)
{
    return err_set(e, ERR_FILE_ERROR, "%s already exists; name another file, or delete it first",
                   path);
}

void whole_file_sweep(const char *path)
{
    const char *slash = strrchr(path, '/');
    auto_free char *directory = paths_parent(path);
    auto_free char *beginning = mem_printf("%s" TEMPORARY, slash ? slash + 1 : path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    temporary_sweep(fd, beginning, strlen(UNIQUE));
    if (fd >= 0)
        close(fd);
}

static bool make_temporary(struct whole_file *f)
{
    enum { TRIES = 10 }; /* each fails only if another process sweeps just then */
    static const char *const itself[] = {"", NULL};
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

bool whole_file_begin(struct whole_file *f, const char *path, bool replace, struct error *e)
{
    struct stat st;
    *f = (struct whole_file){.fd = -1, .replace = replace};
    if (!replace && lstat(path, &st) == 0)
        return refuse_taken(path, e);
    if (replace && stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, ERR_FILE_ERROR, "%s is not a regular file; name another one", path);
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

bool whole_file_finish(struct whole_file *f, struct error *e)
{
    bool ok = fsync(f->fd) == 0;
    ok = close(f->fd) == 0 && ok;
    f->fd = -1;
    if (!ok)
        return fail(f, e);
    struct stat st;
    bool linked = !f->replace && link(f->temporary, f->target) == 0;
    if (linked && unlink(f->temporary) != 0) {
        err_set_errno(e, ERR_FILE_ERROR, "%s is written, but cannot remove %s", f->target,
                      f->temporary);
        whole_file_drop(f);
        return false;
    }
    if (!linked && !f->replace && (errno == EEXIST || lstat(f->target, &st) == 0)) {
        refuse_taken(f->target, e);
        whole_file_drop(f);
        return false;
    }
    /* Without links (some file systems), a file that got the name meanwhile is overwritten. */
    if (!linked && rename(f->temporary, f->target) != 0)
        return fail(f, e);
    forget_temporary(f);
    paths_sync_parent(f->target);
    whole_file_drop(f);
    return true;
}

/* --- embedded files and late libraries -------------------------------------------------------- */

const char *embedded_text(const char *name)
{
    for (const struct embedded *f = embedded_files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->text;
    return NULL;
}

bool late_library_load(void *table, const char *name, const char *file,
                       const struct late_function *functions, size_t count, struct error *e)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return err_set(e, ERR_AGENT_ERROR, "%s cannot be loaded: %s; check that it is installed",
                       name, dlerror());
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL) {
            err_set(e, ERR_AGENT_ERROR, "this %s cannot be used: %s", name, dlerror());
            dlclose(library);
            return false;
        }
        memcpy((char *)table + functions[i].member, &found, sizeof found);
    }
    return true;
}
