#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/difference.h"
#include "agent/builtin.h"
#include "base/entropy.h"
#include "base/paths.h"
#include "base/temporary.h"

#define TEMPORARY ".tiro-"
enum { RANDOM_DIGITS = 16, MAX_TEMPORARY = 32 };

/* The file that is written. */
struct target {
    const char *path; /* as it was given */
    struct confine_place place;
    bool exists;
    struct stat st; /* of one that exists */
};

static bool fail(const struct target *t, const char *why, struct buf *out)
{
    buf_clear(out);
    buf_addf(out, "%s: %s", t->path, why);
    return false;
}

/* Replacing a file needs no permission of the file; who took it away meant it. */
static bool check_target(struct target *t, struct buf *out)
{
    int dir = t->place.dir;
    const char *name = t->place.name;
    t->exists = fstatat(dir, name, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!t->exists && errno != ENOENT)
        return fail(t, strerror(errno), out);
    if (t->exists && S_ISDIR(t->st.st_mode))
        return fail(t, "is a directory", out);
    if (t->exists && !S_ISREG(t->st.st_mode))
        return fail(t, "not a regular file", out);
    if (t->exists && faccessat(dir, name, W_OK, AT_EACCESS) != 0)
        return fail(t, strerror(errno), out);
    if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return fail(t, strerror(errno), out);
    return true;
}

/* A directory that lacks is made with `make`; else place.dir is -1 then. */
static bool find_target(const struct tool_context *context, const struct json *args, bool make,
                        struct target *t, struct buf *out)
{
    const struct tool_host *host = context->self;
    struct error e = {0};
    *t = (struct target){.path = json_get_string(args, "path")};
    if (!confine_find(host->root_fd, host->root, t->path, make, &t->place, &e)) {
        buf_addstr(out, e.text);
        return false;
    }
    if (!builtin_may_reach(context, t->path, t->place.where, &e))
        buf_addstr(out, e.text);
    else if (t->place.dir < 0 || check_target(t, out))
        return true;
    confine_place_release(&t->place);
    return false;
}

/* The new file gets the old one's owner and mode. Where it may not have the group, that group's
 * rights are nobody's. */
static bool take_over(const struct target *t, int fd)
{
    struct stat now;
    mode_t mode = t->st.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    if (!t->exists)
        return true;
    if (fstat(fd, &now) != 0)
        return false;
    if ((now.st_uid != t->st.st_uid || now.st_gid != t->st.st_gid) &&
        fchown(fd, t->st.st_uid, t->st.st_gid) != 0 && fchown(fd, (uid_t)-1, t->st.st_gid) != 0)
        mode &= (mode_t)~S_IRWXG;
    return fchmod(fd, mode) == 0;
}

static bool same_entry(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* The time of the last change of the inode, too: that of the content can be set back. */
static bool same_file(const struct stat *a, const struct stat *b)
{
    return same_entry(a, b) && a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) &&
           same_time(a->st_ctim, b->st_ctim);
}

/* NULL: the file is what the user was shown. Else what became of it. */
static const char *find_change(const struct tool_sight *seen, const struct target *t)
{
    struct stat file, directory;
    if (t->place.dir < 0)
        return "has lost its directory";
    if (seen->has_directory &&
        (fstat(t->place.dir, &directory) != 0 || !same_entry(&directory, &seen->directory)))
        return "leads to another place";
    bool exists = fstatat(t->place.dir, t->place.name, &file, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists && errno != ENOENT)
        return "changed";
    if (exists != seen->exists)
        return exists ? "was created" : "was removed";
    return exists && !same_file(&file, &seen->file) ? "changed" : NULL;
}

/* Whether the user allowed something else; `out` then says so. */
static bool is_outdated(const struct tool_sight *seen, const struct target *t, struct buf *out)
{
    const char *change = seen->taken ? find_change(seen, t) : NULL;
    if (!change)
        return false;
    buf_clear(out);
    buf_addf(out,
             "%s %s since the user was asked; nothing was written. Read it again and ask again",
             t->path, change);
    return true;
}

/* So that the new name survives a power failure. Some file systems cannot sync a directory; the
 * file itself is safe all the same. */
static bool put_in_place(const struct target *t, const char *temporary)
{
    if (renameat(t->place.dir, temporary, t->place.dir, t->place.name) != 0)
        return false;
    fsync(t->place.dir);
    return true;
}

static int make_temporary(const struct target *t, char name[MAX_TEMPORARY])
{
    uint64_t random;
    entropy_fill(&random, sizeof random);
    snprintf(name, MAX_TEMPORARY, TEMPORARY "%016" PRIx64, random);
    int fd = openat(t->place.dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    t->exists ? 0600 : 0666);
    if (fd < 0 || temporary_claim(fd))
        return fd;
    close(fd);
    return make_temporary(t, name);
}

static bool replace(const struct tool_context *context, const struct target *t, const char *content,
                    struct buf *out)
{
    char temporary[MAX_TEMPORARY];
    temporary_sweep(t->place.dir, TEMPORARY, RANDOM_DIGITS);
    int fd = make_temporary(t, temporary);
    if (fd < 0)
        return fail(t, strerror(errno), out);
    bool ok = paths_write_all(fd, content, strlen(content)) && take_over(t, fd) && fsync(fd) == 0;
    int fault = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        fault = errno;
    }
    bool refused = ok && (tool_stopped(context, out) || is_outdated(context->sight, t, out));
    if (ok && !refused) {
        ok = put_in_place(t, temporary);
        fault = errno;
    }
    if (!ok || refused)
        unlinkat(t->place.dir, temporary, 0);
    if (!ok)
        fail(t, strerror(fault), out);
    return ok && !refused;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    struct target t;
    const char *content = json_get_string(args, "content");
    bool make = !context->sight->has_directory; /* else it was removed meanwhile */
    if (!find_target(context, args, make, &t, out))
        return false;
    bool there = t.place.dir >= 0;
    bool ok = there ? replace(context, &t, content, out) : !is_outdated(context->sight, &t, out);
    if (ok && there) {
        size_t bytes = strlen(content), lines = difference_count_lines(content);
        buf_addf(out, "wrote %zu byte%s, %zu line%s", bytes, bytes == 1 ? "" : "s", lines,
                 lines == 1 ? "" : "s");
    }
    confine_place_release(&t.place);
    return ok;
}

/* As it is before it is read: what changes meanwhile is found, too. */
static void remember(const struct target *t, struct tool_sight *sight)
{
    *sight = (struct tool_sight){.taken = true, .exists = t->exists, .file = t->st};
    sight->has_directory = t->place.dir >= 0 && fstat(t->place.dir, &sight->directory) == 0;
}

static bool show_difference(const struct tool_context *context, const struct target *t,
                            const char *content, struct buf *out)
{
    int old = openat(t->place.dir, t->place.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (old < 0) {
        buf_addf(out, "[the present content cannot be read: %s; this is the whole new one]\n%s",
                 strerror(errno), content);
        return true;
    }
    const struct difference d = {.path = t->path,
                                 .old = old,
                                 .content = content,
                                 .deadline_ms = context->deadline_ms,
                                 .wakeup = context->wakeup,
                                 .max = TOOL_MAX_PREVIEW};
    bool ok = difference_show(&d, out);
    close(old);
    return ok;
}

static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    struct target t;
    bool ok = true;
    const char *content = json_get_string(args, "content");
    if (!find_target(context, args, false, &t, out))
        return false;
    remember(&t, sight);
    if (t.exists)
        ok = show_difference(context, &t, content, out);
    else
        difference_show_new(t.path, content, out);
    confine_place_release(&t.place);
    return ok;
}

const struct tool tool_write_file = {
    .spec = {.name = "write_file",
             .description = "Write a whole text file of the working directory: a new one, or in "
                            "place of the one that is there. Directories that lack are made.",
             .schema = "{\"type\":\"object\",\"properties\":{"
                       "\"path\":{\"type\":\"string\",\"description\":\"relative to the working "
                       "directory\"},"
                       "\"content\":{\"type\":\"string\",\"description\":\"all of it\"}},"
                       "\"required\":[\"path\",\"content\"],\"additionalProperties\":false}"},
    .class = TOOL_WRITE,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = run,
    .preview = preview,
};
