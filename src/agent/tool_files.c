#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/tool.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"
#include "base/vec.h"

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create(), where it exists */
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/environment.h"
#include "base/wakeup.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct difference {
    const char *path;    /* as it is shown */
    int old;             /* the file as it is, open for reading */
    const char *content; /* as it would be */
    int64_t deadline_ms;
    const struct wakeup *wakeup;
    size_t max; /* bytes of a difference */
};

/* Appends the difference. Where there is no diff, it fails or has more than `max` bytes, the whole
 * new content with a note of that. False when the wakeup said stop; `out` then holds that. */
bool difference_show(const struct difference *d, struct buf *out);

/* The same for a file that does not exist: every line is added. */
void difference_show_new(const char *path, const char *content, struct buf *out);

/* A text as `old`, which no disk gets to see where that can be had. -1 with errno. The caller
 * closes. */
int difference_open_text(const char *text, size_t len);

/* Of a text; the last one may lack its end. */
size_t difference_count_lines(const char *text);

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

static void add_label(struct buf *out, const char *path)
{
    utf8_reveal(out, path, strlen(path), UTF8_ONE_LINE);
}

static void show_whole(const struct difference *d, const char *why, struct buf *out)
{
    buf_clear(out);
    buf_addf(out, "[%s; this is the whole new content of ", why);
    add_label(out, d->path);
    buf_addstr(out, "]\n");
    buf_addstr(out, d->content);
}

static bool conclude(const struct difference *d, const struct child_result *result, struct buf *out)
{
    if (result->end == CHILD_STOPPED) {
        buf_clear(out);
        buf_addstr(out, "interrupted");
        return false;
    }
    if (result->end == CHILD_LATE)
        show_whole(d, "diff took too long", out);
    else if (result->end == CHILD_REFUSED)
        show_whole(d, "the difference is too long to be shown", out);
    else if (result->end == CHILD_SIGNALED)
        show_whole(d, "diff failed", out);
    else if (result->end == CHILD_EXITED && result->status == 0)
        buf_addstr(out, "[no difference]\n");
    else if (result->end == CHILD_EXITED && result->status == NOT_FOUND)
        show_whole(d, "diff is not installed", out);
    else if (result->end == CHILD_EXITED && result->status != DIFFERENT)
        show_whole(d, "diff failed", out);
    return true;
}

bool difference_show(const struct difference *d, struct buf *out)
{
    struct buf label = BUF_INIT;
    struct child_result result;
    struct taken taken = {.out = out, .max = d->max};
    add_label(&label, d->path);
    struct child_environment environment;
    child_environment_init(&environment, environ, CHILD_HELPER, NULL);
    const struct child_command diff = {
        .argv = (const char *const[]){"/bin/sh", "-c", diff_command, "sh", label.data, NULL},
        .environment = environment.list.items,
        .input = d->content,
        .input_len = strlen(d->content),
        .extra = d->old,
        .deadline_ms = d->deadline_ms,
        .wakeup = d->wakeup,
        .take = take,
        .context = &taken};
    bool ok = true;
    if (child_run(&diff, &result, NULL))
        ok = conclude(d, &result, out);
    else
        show_whole(d, "diff cannot be run", out);
    child_environment_release(&environment);
    buf_release(&label);
    return ok;
}

static int open_nameless_file(void)
{
#ifdef MFD_CLOEXEC
    return memfd_create("text", MFD_CLOEXEC);
#else
    FILE *f = tmpfile();
    int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;
    if (f)
        fclose(f);
    return fd;
#endif
}

int difference_open_text(const char *text, size_t len)
{
    int fd = open_nameless_file();
    if (fd < 0 || (paths_write_all(fd, text, len) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

size_t difference_count_lines(const char *text)
{
    size_t lines = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        lines++;
    return lines;
}

void difference_show_new(const char *path, const char *content, struct buf *out)
{
    buf_addstr(out, "--- /dev/null\n+++ ");
    add_label(out, path);
    buf_addf(out, "\n@@ -0,0 +1,%zu @@\n", difference_count_lines(content));
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

/* --- tool_read_file --- */

enum { CHUNK = 64 * 1024 };

/* Which lines are wanted, and how far the file has been seen. */
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

static bool check_regular(int fd, const char *path, struct stat *st, struct buf *out)
{
    if (fstat(fd, st) != 0)
        buf_addf(out, "%s: %s", path, strerror(errno));
    else if (!S_ISREG(st->st_mode))
        buf_addf(out, "%s: not a regular file%s", path,
                 S_ISDIR(st->st_mode) ? "; list_directory shows what is in it" : "");
    else
        return true;
    return false;
}

static bool take_text(const struct tool_context *context, const struct buf *text, struct reading *r,
                      struct buf *out)
{
    take_lines(r, text->data, text->len, context->max_output, out);
    return true;
}

static bool fail_read(const char *path, const struct buf *why, struct buf *out)
{
    buf_addf(out, "%s: %s", path, why->data);
    return false;
}

/* What an editor has open is read as it stands there; what it refuses is not read. */
static bool read_content(const struct tool_context *context, int fd, const char *path,
                         const char *where, struct reading *r, struct buf *out)
{
    const struct tool_surface *s = ((const struct tool_host *)context->self)->surface;
    struct buf text = BUF_INIT;
    enum surface_outcome outcome = s ? s->read(s->context, context, where, &text) : SURFACE_PASSED;
    bool ok = outcome == SURFACE_PASSED ? read_lines(context, fd, r, out)
              : outcome == SURFACE_DID  ? take_text(context, &text, r, out)
                                        : fail_read(path, &text, out);
    buf_release(&text);
    return ok;
}

static bool read_regular(const struct tool_context *context, int fd, const char *path,
                         const char *where, struct reading *r, struct buf *out)
{
    struct stat st;
    if (!check_regular(fd, path, &st, out) || !read_content(context, fd, path, where, r, out))
        return false;
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
    char *where;
    int64_t first = json_get_int(args, "offset", 1);
    int64_t count = json_get_int(args, "limit", 1000000000000000);
    struct reading r = {.first = first, .last = first + count - 1, .line = 1};
    int fd = builtin_open(context, path, O_RDONLY, &where, out);
    if (fd < 0)
        return false;
    bool ok = read_regular(context, fd, path, where, &r, out);
    free(where);
    close(fd);
    return ok;
}

const struct tool tool_read_file = {
    .spec = {.name = "read_file",
             .description = "Read a text file of the working directory. Returns its lines, from "
                            "line `offset` (1 is the first), at most `limit` of them.",
             .schema = "{\"type\":\"object\",\"properties\":{"
                       "\"path\":{\"type\":\"string\",\"description\":\"relative to the working "
                       "directory\"},"
                       "\"offset\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":"
                       "1000000000000000},"
                       "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000000}},"
                       "\"required\":[\"path\"],\"additionalProperties\":false}"},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = read_file,
};

/* --- tool_list_directory --- */

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

/* Names are shown as the one line that they are, so none looks like another entry. "name/" for a
 * directory, "name -> (link)", "name (123 bytes)" for a file. */
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

/* As many as leave room to say how many are left out: what is longer than `max` is cut. */
static void add_entries(struct buf *out, int dir, struct names *names, size_t max)
{
    enum { NOTE_BYTES = sizeof "[18446744073709551615 more]\n" };
    if (names->list.len == 0)
        buf_addstr(out, "[empty]\n");
    vec_sort(&names->list, vec_text_order);
    for (size_t i = 0; i < names->list.len; i++) {
        size_t before = out->len;
        add_entry(out, dir, names->list.items[i]);
        size_t note = i + 1 < names->list.len ? NOTE_BYTES : 0;
        if (out->len + note > max) {
            buf_truncate(out, before);
            buf_addf(out, "[%zu more]\n", names->list.len - i);
            return;
        }
    }
}

static bool list_directory(const struct tool_context *context, const struct json *args,
                           struct buf *out)
{
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
    if (ok)
        add_entries(out, dirfd(dir), &names, context->max_output);
    vec_free_each(&names.list);
    closedir(dir);
    return ok;
}

const struct tool tool_list_directory = {
    .spec = {.name = "list_directory",
             .description = "List a directory within the working directory: one entry a line, "
                            "directories end in a slash, files show their size. Characters that "
                            "nobody sees are shown as <U+XXXX>.",
             .schema = "{\"type\":\"object\",\"properties\":{"
                       "\"path\":{\"type\":\"string\",\"description\":\"relative to the working "
                       "directory; default: the working directory itself\"}},"
                       "\"additionalProperties\":false}"},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = list_directory,
};

/* --- tool_write_file --- */

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

/* Replacing a file needs no permission of the file; who took it away meant it. */
static bool check_target(struct target *t, struct buf *out)
{
    int dir = t->place.dir;
    const char *name = t->place.name;
    t->exists = fstatat(dir, name, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!t->exists && errno != ENOENT)
        return fail_write(t, strerror(errno), out);
    if (t->exists && S_ISDIR(t->st.st_mode))
        return fail_write(t, "is a directory", out);
    if (t->exists && !S_ISREG(t->st.st_mode))
        return fail_write(t, "not a regular file", out);
    if (t->exists && faccessat(dir, name, W_OK, AT_EACCESS) != 0)
        return fail_write(t, strerror(errno), out);
    if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) != 0)
        return fail_write(t, strerror(errno), out);
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
        return fail_write(t, strerror(errno), out);
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
        fail_write(t, strerror(fault), out);
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
    bool failed = outcome == SURFACE_FAILED && !fail_write(t, now.data, out);
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
                                        : outcome == SURFACE_DID || fail_write(t, why.data, out);
    buf_release(&why);
    return ok;
}

static bool write_file(const struct tool_context *context, const struct json *args, struct buf *out)
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
    return fail_write(t, strerror(errno), out);
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
        ok = fail_write(t, text.data, out);
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
    .run = write_file,
    .preview = preview,
};
