#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/builtin.h"
#include "agent/confine.h"
#include "agent/difference.h"
#include "base/entropy.h"
#include "base/mem.h"
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

/* NULL: the file is where the user was shown it. Else what became of that place. */
static const char *find_move(const struct tool_sight *seen, const struct target *t)
{
    struct stat directory;
    if (t->place.dir < 0)
        return "has lost its directory";
    if (seen->has_directory &&
        (fstat(t->place.dir, &directory) != 0 || !same_entry(&directory, &seen->directory)))
        return "leads to another place";
    return NULL;
}

/* NULL: the file is what the user was shown. Else what became of it. */
static const char *find_change(const struct tool_sight *seen, const struct target *t)
{
    struct stat file;
    bool exists = fstatat(t->place.dir, t->place.name, &file, AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists && errno != ENOENT)
        return "changed";
    if (exists != seen->exists)
        return exists ? "was created" : "was removed";
    return exists && !same_file(&file, &seen->file) ? "changed" : NULL;
}

/* Whether the user allowed something else (`change` says what became of it); `out` then says so. */
static bool refuse_if(const char *change, const struct target *t, struct buf *out)
{
    if (!change)
        return false;
    buf_clear(out);
    buf_addf(out,
             "%s %s since the user was asked; nothing was written. Read it again and ask again",
             t->path, change);
    return true;
}

static bool has_moved(const struct tool_sight *seen, const struct target *t, struct buf *out)
{
    return refuse_if(seen->taken ? find_move(seen, t) : NULL, t, out);
}

static bool is_outdated(const struct tool_sight *seen, const struct target *t, struct buf *out)
{
    return has_moved(seen, t, out) || refuse_if(seen->taken ? find_change(seen, t) : NULL, t, out);
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

/* --- what the surface has open ---------------------------------------------------------------- */

static enum surface_outcome read_open_text(const struct tool_context *context,
                                           const struct target *t, struct buf *out)
{
    const struct tool_surface *s = ((const struct tool_host *)context->self)->surface;
    return s ? s->read(s->context, context, t->place.where, out) : SURFACE_PASSED;
}

static enum surface_outcome write_open_file(const struct tool_context *context,
                                            const struct target *t, const char *content,
                                            struct buf *out)
{
    const struct tool_surface *s = ((const struct tool_host *)context->self)->surface;
    return s ? s->write(s->context, context, t->place.where, content, out) : SURFACE_PASSED;
}

/* Whether the user was shown another text than is open now; `out` then says so. */
static bool open_text_changed(const struct tool_context *context, const struct target *t,
                              struct buf *out)
{
    struct buf now = BUF_INIT;
    enum surface_outcome outcome = read_open_text(context, t, &now);
    bool failed = outcome == SURFACE_FAILED && !fail(t, now.data, out);
    bool same = outcome == SURFACE_DID && strcmp(now.data, context->sight->text) == 0;
    buf_release(&now);
    return failed || refuse_if(same ? NULL : "changed in the editor", t, out);
}

/* Where the surface has the text, what is on the disk is another matter: it may be saved meanwhile.
 */
static bool may_write(const struct tool_context *context, const struct target *t, struct buf *out)
{
    const struct tool_sight *seen = context->sight;
    if (tool_stopped(context, out))
        return false;
    return seen->text ? !has_moved(seen, t, out) && !open_text_changed(context, t, out)
                      : !is_outdated(seen, t, out);
}

/* --- the tool --------------------------------------------------------------------------------- */

static bool write_content(const struct tool_context *context, const struct target *t,
                          const char *content, struct buf *out)
{
    struct buf why = BUF_INIT;
    if (!may_write(context, t, out))
        return false;
    enum surface_outcome outcome = write_open_file(context, t, content, &why);
    bool ok = outcome == SURFACE_PASSED ? replace(context, t, content, out)
                                        : outcome == SURFACE_DID || fail(t, why.data, out);
    buf_release(&why);
    return ok;
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    struct target t;
    const char *content = json_get_string(args, "content");
    bool make = !context->sight->has_directory; /* else it was removed meanwhile */
    if (!find_target(context, args, make, &t, out))
        return false;
    bool ok = write_content(context, &t, content, out);
    if (ok) {
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

static bool show_difference(const struct tool_context *context, const struct target *t, int old,
                            const char *content, struct buf *out)
{
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

static bool show_change_on_disk(const struct tool_context *context, const struct target *t,
                                const char *content, struct buf *out)
{
    int old = openat(t->place.dir, t->place.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (old >= 0)
        return show_difference(context, t, old, content, out);
    buf_addf(out, "[the present content cannot be read: %s; this is the whole new one]\n%s",
             strerror(errno), content);
    return true;
}

static bool show_change_of_text(const struct tool_context *context, const struct target *t,
                                const char *text, const char *content, struct buf *out)
{
    int old = difference_open_text(text, strlen(text));
    if (old >= 0)
        return show_difference(context, t, old, content, out);
    return fail(t, strerror(errno), out);
}

/* A file that the surface does not give is new, or is not written: nobody could see what is lost.
 */
static bool show_change(const struct tool_context *context, const struct target *t,
                        const char *content, struct tool_sight *sight, struct buf *out)
{
    struct buf text = BUF_INIT;
    enum surface_outcome outcome = read_open_text(context, t, &text);
    bool ok = true;
    if (outcome == SURFACE_DID)
        ok = show_change_of_text(context, t, sight->text = mem_strdup(text.data), content, out);
    else if (outcome == SURFACE_FAILED && t->exists)
        ok = fail(t, text.data, out);
    else if (t->exists)
        ok = show_change_on_disk(context, t, content, out);
    else
        difference_show_new(t->path, content, out);
    buf_release(&text);
    return ok;
}

static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    struct target t;
    if (!find_target(context, args, false, &t, out))
        return false;
    remember(&t, sight);
    bool ok = show_change(context, &t, json_get_string(args, "content"), sight, out);
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
