/* The tools that read and list files of the working directory, and the record of what was read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/tool.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "base/wakeup.h"

/* --- the files that were read ----------------------------------------------------------------- */

enum { READ_FILES_MAX = 1000 };

void read_files_clear(struct read_files *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        free(r->items.items[i].path);
    vec_release(&r->items);
}

static struct read_file *find_read(const struct read_files *r, const char *path)
{
    for (size_t i = 0; i < r->items.len; i++)
        if (strcmp(r->items.items[i].path, path) == 0)
            return &r->items.items[i];
    return NULL;
}

void read_files_note(struct read_files *r, const char *path, const struct stat *file,
                     const struct buf *open)
{
    struct read_file *f = find_read(r, path);
    if (!f) {
        if (r->items.len == READ_FILES_MAX) {
            free(r->items.items[0].path);
            vec_remove(&r->items, 0, 1);
        }
        vec_push(&r->items, (struct read_file){.path = mem_strdup(path)});
        f = &vec_last(&r->items);
    }
    f->file = file ? *file : (struct stat){0};
    f->open = open != NULL;
    f->hash = open ? mem_hash(MEM_HASH, open->data, open->len) : 0;
}

const char *read_files_doubt(const struct read_files *r, const char *path, const struct stat *file,
                             const struct buf *open)
{
    const struct read_file *f = find_read(r, path);
    if (!f)
        return "was not read in this session";
    const struct stat *was = &f->file;
    bool same = open ? f->open && f->hash == mem_hash(MEM_HASH, open->data, open->len)
                     : was->st_dev == file->st_dev && was->st_ino == file->st_ino &&
                           was->st_size == file->st_size &&
                           was->st_mtim.tv_sec == file->st_mtim.tv_sec &&
                           was->st_mtim.tv_nsec == file->st_mtim.tv_nsec;
    return same ? NULL : "changed since it was read";
}

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

/* A text that the surface refuses is not read. */
bool builtin_read(const struct tool_context *context, int fd, const char *path, const char *where,
                  int64_t first, int64_t count, struct buf *out)
{
    struct tool_host *host = context->self;
    struct reading r = {.first = first, .last = first + count - 1, .line = 1};
    const struct tool_surface *s = host->surface;
    AUTO(buf_release) struct buf text = BUF_INIT;
    struct stat st; /* from before the file is read, so that a later change is noticed */
    if (fstat(fd, &st) != 0) {
        buf_addf(out, "%s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISREG(st.st_mode)) {
        buf_addf(out, "%s: not a regular file%s", path,
                 S_ISDIR(st.st_mode) ? "; list_directory shows what is in it" : "");
        return false;
    }
    enum surface_outcome outcome = s ? s->read(s->context, context, where, &text) : SURFACE_PASSED;
    switch (outcome) {
    case SURFACE_DID:
        take_lines(&r, text.data, text.len, context->max_output, out);
        break;
    case SURFACE_PASSED:
        if (!read_lines(context, fd, &r, out))
            return false;
        break;
    default:
        buf_addf(out, "%s: %s", path, text.data);
        return false;
    }
    if (r.binary) {
        buf_clear(out);
        buf_addf(out, "%s: a binary file of %lld bytes", path, (long long)st.st_size);
        return false;
    }
    bool open = outcome == SURFACE_DID;
    read_files_note(&host->read, where, open ? NULL : &st, open ? &text : NULL);
    if (out->len == 0 && r.first > 1)
        buf_addf(out, "[the file has fewer than %lld lines]", (long long)r.first);
    return true;
}

static bool read_file(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const char *path = json_get_string(args, "path");
    auto_free char *where = NULL;
    int64_t first = json_get_int(args, "offset", 1);
    int64_t count = json_get_int(args, "limit", 1000000000000000);
    int fd = builtin_open(context, path, O_RDONLY, &where, out);
    if (fd < 0)
        return false;
    bool ok = builtin_read(context, fd, path, where, first, count, out);
    close(fd);
    return ok;
}

/* clang-format off */
const struct tool tool_read_file = {
    .spec =
        {.name = "read_file",
         .description = "Read a text file: at most `limit` lines from line `offset` (from 1) on.",
         .schema = TOOL_SCHEMA(
             TOOL_PATH ","
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
             .schema = TOOL_SCHEMA(TOOL_PATH, "")},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = list_directory,
};
