/* The tools that read, list and write files of the working directory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create(), where it exists */
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/tool.h"
#include "base/buf.h"
#include "base/child.h"
#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "base/wakeup.h"

/* --- read_file -------------------------------------------------------------------------------- */

enum { CHUNK = 64 * 1024 };

/* The lines that are wanted, and how far the file has been seen. */
struct reading {
    int64_t first, last; /* lines, from 1 */
    int64_t line;        /* of the next byte */
    bool binary;
};

/* Appends the wanted lines of a chunk. Once past the limit one byte more is enough: the caller cuts
 * there and says so. */
static void take_lines(struct reading *r, const char *bytes, size_t len, size_t max,
                       struct buf *out)
{
    r->binary = r->binary || memchr(bytes, '\0', len) != NULL;
    while (len > 0 && r->line <= r->last && out->len <= max) {
        const char *end = memchr(bytes, '\n', len);
        size_t n = end ? (size_t)(end - bytes) + 1 : len;
        if (r->line >= r->first)
            buf_add(out, bytes, n);
        r->line += end != NULL;
        bytes += n;
        len -= n;
    }
}

static bool read_lines(const struct tool_context *context, int fd, struct reading *r,
                       struct buf *out)
{
    char chunk[CHUNK];
    while (r->line <= r->last && out->len <= context->max_output && !r->binary) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            buf_clear(out);
            buf_addf(out, "cannot read: %s", strerror(errno));
            return false;
        }
        if (n == 0)
            return true;
        take_lines(r, chunk, (size_t)n, context->max_output, out);
        if (tool_stopped(context, out))
            return false;
    }
    return true;
}

/* A text that an editor has open is read as it stands there; one that it refuses is not read. */
static bool read_regular(const struct tool_context *context, int fd, const char *path,
                         const char *where, struct reading *r, struct buf *out)
{
    const struct tool_surface *s = ((const struct tool_host *)context->self)->surface;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        buf_addf(out, "%s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        buf_addf(out, "%s: not a regular file%s", path,
                 S_ISDIR(st.st_mode) ? "; list_directory shows what is in it" : "");
        return false;
    }
    switch (s ? s->read(s->context, context, where, &text) : SURFACE_PASSED) {
    case SURFACE_DID:
        take_lines(r, text.data, text.len, context->max_output, out);
        break;
    case SURFACE_PASSED:
        if (!read_lines(context, fd, r, out))
            return false;
        break;
    default:
        buf_addf(out, "%s: %s", path, text.data);
        return false;
    }
    if (r->binary) {
        buf_clear(out);
        buf_addf(out, "%s: a binary file of %lld bytes", path, (long long)st.st_size);
        return false;
    }
    if (out->len == 0 && r->first > 1)
        buf_addf(out, "[the file has fewer than %lld lines]", (long long)r->first);
    return true;
}

static bool read_file(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const char *path = json_get_string(args, "path");
    auto_free char *where = NULL;
    int64_t first = json_get_int(args, "offset", 1);
    int64_t count = json_get_int(args, "limit", 1000000000000000);
    struct reading r = {.first = first, .last = first + count - 1, .line = 1};
    int fd = builtin_open(context, path, O_RDONLY, &where, out);
    if (fd < 0)
        return false;
    bool ok = read_regular(context, fd, path, where, &r, out);
    close(fd);
    return ok;
}

#define PATH_ARG TOOL_ARG("string", "path", "relative to the working directory")

/* clang-format off */
const struct tool tool_read_file = {
    .spec =
        {.name = "read_file",
         .description = "Read a text file: at most `limit` lines from line `offset` (from 1) on.",
         .schema = TOOL_SCHEMA(
             PATH_ARG ","
             TOOL_ARG_WITH("integer", "offset", "\"minimum\":1,\"maximum\":1000000000000000") ","
             TOOL_ARG_WITH("integer", "limit", "\"minimum\":1,\"maximum\":1000000"),
             TOOL_NEEDS("\"path\""))},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = read_file,
};
/* clang-format on */

/* --- list_directory --------------------------------------------------------------------------- */

struct names {
    VEC(char *) list;
};

static bool read_names(const struct tool_context *context, DIR *dir, struct names *names,
                       struct buf *out)
{
    struct dirent *d;
    errno = 0;
    while ((d = readdir(dir))) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            vec_push(&names->list, mem_strdup(d->d_name));
        if (names->list.len % 256 == 255 && tool_stopped(context, out))
            return false;
        errno = 0;
    }
    if (errno)
        buf_addf(out, "cannot read the directory: %s", strerror(errno));
    return errno == 0;
}

/* A name stands on one line, whatever it holds, so that none looks like another entry. "name/" for
 * a directory, "name -> (link)", "name (123 bytes)" for a file. */
static void add_entry(struct buf *out, int dir, const char *name)
{
    struct stat st;
    utf8_reveal(out, name, strlen(name), UTF8_ONE_LINE);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        buf_addstr(out, " (unreadable)");
    else if (S_ISDIR(st.st_mode))
        buf_addch(out, '/');
    else if (S_ISLNK(st.st_mode))
        buf_addstr(out, " (symbolic link)");
    else if (S_ISREG(st.st_mode))
        buf_addf(out, " (%lld bytes)", (long long)st.st_size);
    else
        buf_addstr(out, " (special)");
    buf_addch(out, '\n');
}

static bool list_directory(const struct tool_context *context, const struct json *args,
                           struct buf *out)
{
    enum { NOTE_BYTES = sizeof "[18446744073709551615 more]\n" };
    const char *path = json_get_string(args, "path");
    int fd = builtin_open(context, path ? path : ".", O_RDONLY | O_DIRECTORY, NULL, out);
    if (fd < 0)
        return false;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        buf_addf(out, "%s: %s", path ? path : ".", strerror(errno));
        close(fd);
        return false;
    }
    struct names names = {0};
    bool ok = read_names(context, dir, &names, out);
    if (ok && names.list.len == 0)
        buf_addstr(out, "[empty]\n");
    vec_sort(&names.list, vec_text_order);
    /* Entries that leave room for the note of how many are left out: a longer output is cut. */
    for (size_t i = 0; ok && i < names.list.len; i++) {
        size_t before = out->len, note = i + 1 < names.list.len ? NOTE_BYTES : 0;
        add_entry(out, fd, names.list.items[i]);
        if (out->len + note > context->max_output) {
            buf_truncate(out, before);
            buf_addf(out, "[%zu more]\n", names.list.len - i);
            break;
        }
    }
    vec_free_each(&names.list);
    closedir(dir);
    return ok;
}

const struct tool tool_list_directory = {
    .spec = {.name = "list_directory",
             .description =
                 "List a directory: one entry a line, directories with a slash, files with "
                 "their size. Characters that nobody sees are shown as <U+XXXX>.",
             .schema = TOOL_SCHEMA(PATH_ARG, "")},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = list_directory,
};

/* --- differences ------------------------------------------------------------------------------ */

extern char **environ;

enum { DIFFERENT = 1, NOT_FOUND = 127 };

/* -a: a text with a stray byte is one, too. The number is child_run()'s for `extra`. */
static const char diff_command[] =
    "LC_ALL=C; export LC_ALL; exec diff -a -u -L \"$1\" -L \"$1\" /dev/fd/3 -";

struct taken {
    struct buf *out;
    size_t max;
};

static bool take(void *context, const char *bytes, size_t len)
{
    struct taken *t = context;
    buf_add(t->out, bytes, len);
    return t->out->len <= t->max;
}

/* Appends the difference between a file or text that is open for reading (`old`) and the content,
 * and closes `old`. Where there is no diff, it fails or shows too much, the whole content with a
 * note of that. False when the wakeup said stop; `out` then holds that. */
static bool show_difference(const struct tool_context *context, const char *path, int old,
                            const char *content, struct buf *out)
{
    AUTO(buf_release) struct buf label = BUF_INIT;
    AUTO(child_environment_release) struct child_environment environment;
    struct taken taken = {.out = out, .max = TOOL_MAX_PREVIEW};
    struct child_result result;
    const char *why = NULL;
    utf8_reveal(&label, path, strlen(path), UTF8_ONE_LINE);
    child_environment_init(&environment, environ, CHILD_HELPER, NULL);
    const struct child_command diff = {
        .argv = (const char *const[]){"/bin/sh", "-c", diff_command, "sh", label.data, NULL},
        .environment = environment.list.items,
        .input = content,
        .input_len = strlen(content),
        .extra = old,
        .deadline_ms = context->deadline_ms,
        .wakeup = context->wakeup,
        .take = take,
        .context = &taken};
    bool ran = child_run(&diff, &result, NULL);
    close(old);
    if (!ran) {
        why = "diff cannot be run";
    } else {
        switch (result.end) {
        case CHILD_STOPPED:
            buf_clear(out);
            buf_addstr(out, "interrupted");
            return false;
        case CHILD_LATE:
            why = "diff took too long";
            break;
        case CHILD_REFUSED:
            why = "the difference is too long to be shown";
            break;
        case CHILD_SIGNALED:
            why = "diff failed";
            break;
        case CHILD_EXITED:
            if (result.status == 0)
                buf_addstr(out, "[no difference]\n");
            else if (result.status != DIFFERENT)
                why = result.status == NOT_FOUND ? "diff is not installed" : "diff failed";
            break;
        }
    }
    if (why) {
        buf_clear(out);
        buf_addf(out, "[%s; this is the whole new content of %s]\n%s", why, label.data, content);
    }
    return true;
}

/* A text as a file to read, which no disk gets to see where that can be had. -1 with errno. The
 * caller closes. */
static int open_text(const char *text, size_t len)
{
#ifdef MFD_CLOEXEC
    int fd = memfd_create("text", MFD_CLOEXEC);
#else
    FILE *f = tmpfile();
    int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;
    if (f)
        fclose(f);
#endif
    if (fd < 0 || (paths_write_all(fd, text, len) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

/* The last line may lack its end. */
static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        lines++;
    return lines;
}

/* The difference of a file that does not exist: every line is added. */
static void show_new(const char *path, const char *content, struct buf *out)
{
    buf_addstr(out, "--- /dev/null\n+++ ");
    utf8_reveal(out, path, strlen(path), UTF8_ONE_LINE);
    buf_addf(out, "\n@@ -0,0 +1,%zu @@\n", count_lines(content));
    for (const char *p = content; *p;) {
        size_t len = strcspn(p, "\n");
        buf_addch(out, '+');
        buf_add(out, p, len);
        buf_addch(out, '\n');
        p += len;
        if (*p == '\n')
            p++;
        else
            buf_addstr(out, "\\ No newline at end of file\n");
    }
}

/* --- write_file ------------------------------------------------------------------------------- */

#define TEMPORARY ".tiro-"
enum { RANDOM_DIGITS = 16, MAX_TEMPORARY = 32 };

/* The file that is written. */
struct target {
    const char *path; /* as it was given */
    struct confine_place place;
    bool exists;
    struct stat st; /* of one that exists */
};

static bool fail_write(const struct target *t, const char *why, struct buf *out)
{
    buf_clear(out);
    buf_addf(out, "%s: %s", t->path, why);
    return false;
}

/* A missing directory is made with `make`; else place.dir is -1 then. */
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
    int dir = t->place.dir;
    const char *name = t->place.name, *why = NULL;
    bool reaches = builtin_may_reach(context, t->path, t->place.where, &e);
    if (!reaches)
        buf_addstr(out, e.text);
    if (reaches && dir < 0)
        return true;
    if (reaches) {
        t->exists = fstatat(dir, name, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
        if (!t->exists && errno != ENOENT)
            why = strerror(errno);
        else if (t->exists && !S_ISREG(t->st.st_mode))
            why = S_ISDIR(t->st.st_mode) ? "is a directory" : "not a regular file";
        else if ((t->exists && faccessat(dir, name, W_OK, AT_EACCESS) != 0) ||
                 faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) != 0)
            why = strerror(errno); /* replacing needs no right, but it was taken away on purpose */
        if (!why || fail_write(t, why, out))
            return true;
    }
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

/* Whether the user allowed another change than this: `change` tells it (NULL: none), and `out` then
 * says so. */
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

/* Whether the place, and with `file` the file, is another than the user was shown. */
static bool is_outdated(const struct tool_sight *seen, const struct target *t, bool file,
                        struct buf *out)
{
    const struct stat *was = &seen->file;
    struct stat now;
    const char *change = NULL;
    if (!seen->taken)
        return false;
    if (t->place.dir < 0)
        change = "has lost its directory";
    else if (seen->has_directory &&
             (fstat(t->place.dir, &now) != 0 || !same_entry(&now, &seen->directory)))
        change = "leads to another place";
    if (!change && file) {
        bool exists = fstatat(t->place.dir, t->place.name, &now, AT_SYMLINK_NOFOLLOW) == 0;
        if (!exists && errno != ENOENT)
            change = "changed";
        else if (exists != seen->exists)
            change = exists ? "was created" : "was removed";
        else if (exists && (!same_entry(&now, was) || now.st_size != was->st_size ||
                            now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
                            now.st_mtim.tv_nsec != was->st_mtim.tv_nsec ||
                            now.st_ctim.tv_sec != was->st_ctim.tv_sec ||
                            now.st_ctim.tv_nsec != was->st_ctim.tv_nsec))
            change = "changed"; /* the time of the content alone can be set back */
    }
    return refuse_if(change, t, out);
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
        return fail_write(t, strerror(errno), out);
    bool ok = paths_write_all(fd, content, strlen(content)) && take_over(t, fd) && fsync(fd) == 0;
    int fault = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        fault = errno;
    }
    bool refused = ok && (tool_stopped(context, out) || is_outdated(context->sight, t, true, out));
    if (ok && !refused) {
        ok = renameat(t->place.dir, temporary, t->place.dir, t->place.name) == 0;
        fault = errno;
        /* Synced so that the new name survives a power failure. Some file systems cannot sync a
         * directory; the file itself is safe all the same. */
        if (ok)
            fsync(t->place.dir);
    }
    if (!ok || refused)
        unlinkat(t->place.dir, temporary, 0);
    if (!ok)
        fail_write(t, strerror(fault), out);
    return ok && !refused;
}

static const struct tool_surface *surface_of(const struct tool_context *context)
{
    return ((const struct tool_host *)context->self)->surface;
}

static enum surface_outcome read_open_text(const struct tool_context *context,
                                           const struct target *t, struct buf *out)
{
    const struct tool_surface *s = surface_of(context);
    return s ? s->read(s->context, context, t->place.where, out) : SURFACE_PASSED;
}

/* Whether the target is as the user was shown it. Where the surface has the text, that counts: the
 * file on the disk may be saved meanwhile. */
static bool may_write(const struct tool_context *context, const struct target *t, struct buf *out)
{
    const struct tool_sight *seen = context->sight;
    AUTO(buf_release) struct buf now = BUF_INIT;
    if (tool_stopped(context, out) || is_outdated(seen, t, !seen->text, out))
        return false;
    if (!seen->text)
        return true;
    enum surface_outcome outcome = read_open_text(context, t, &now);
    if (outcome == SURFACE_FAILED)
        return fail_write(t, now.data, out);
    bool same = outcome == SURFACE_DID && strcmp(now.data, seen->text) == 0;
    return !refuse_if(same ? NULL : "changed in the editor", t, out);
}

static bool write_file(const struct tool_context *context, const struct json *args, struct buf *out)
{
    struct target t;
    bool make = !context->sight->has_directory; /* else it was removed meanwhile */
    if (!find_target(context, args, make, &t, out))
        return false;
    const struct tool_surface *s = surface_of(context);
    const char *content = json_get_string(args, "content");
    AUTO(buf_release) struct buf why = BUF_INIT;
    enum surface_outcome outcome = SURFACE_PASSED;
    bool ok = may_write(context, &t, out);
    if (ok && s)
        outcome = s->write(s->context, context, t.place.where, content, &why);
    if (ok && outcome == SURFACE_PASSED)
        ok = replace(context, &t, content, out);
    else if (ok && outcome != SURFACE_DID)
        ok = fail_write(&t, why.data, out);
    if (ok) {
        size_t bytes = strlen(content), lines = count_lines(content);
        buf_addf(out, "wrote %zu byte%s, %zu line%s", bytes, bytes == 1 ? "" : "s", lines,
                 lines == 1 ? "" : "s");
    }
    confine_place_release(&t.place);
    return ok;
}

/* A file that the surface refuses is not written: nobody could see the loss. */
static bool show_change(const struct tool_context *context, const struct target *t,
                        const char *content, struct tool_sight *sight, struct buf *out)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    enum surface_outcome outcome = read_open_text(context, t, &text);
    if (outcome == SURFACE_DID) {
        sight->text = mem_strdup(text.data);
        int old = open_text(text.data, text.len);
        return old >= 0 ? show_difference(context, t->path, old, content, out)
                        : fail_write(t, strerror(errno), out);
    }
    if (!t->exists) {
        show_new(t->path, content, out);
        return true;
    }
    if (outcome == SURFACE_FAILED)
        return fail_write(t, text.data, out);
    int old = openat(t->place.dir, t->place.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (old >= 0)
        return show_difference(context, t->path, old, content, out);
    buf_addf(out, "[the present content cannot be read: %s; this is the whole new one]\n%s",
             strerror(errno), content);
    return true;
}

static bool preview(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out)
{
    struct target t;
    if (!find_target(context, args, false, &t, out))
        return false;
    /* As it is before it is read, so that a change meanwhile is found, too. */
    *sight = (struct tool_sight){.taken = true, .exists = t.exists, .file = t.st};
    sight->has_directory = t.place.dir >= 0 && fstat(t.place.dir, &sight->directory) == 0;
    bool ok = show_change(context, &t, json_get_string(args, "content"), sight, out);
    confine_place_release(&t.place);
    return ok;
}

const struct tool tool_write_file = {
    .spec = {.name = "write_file",
             .description = "Write a whole text file of the working directory: a new one, or in "
                            "place of the one that is there. Directories that lack are made.",
             .schema = TOOL_SCHEMA(PATH_ARG "," TOOL_ARG("string", "content", "all of it"),
                                   TOOL_NEEDS("\"path\",\"content\""))},
    .class = TOOL_WRITE,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = write_file,
    .preview = preview,
};
