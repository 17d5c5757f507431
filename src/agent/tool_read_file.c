#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/builtin.h"

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

static bool fail(const char *path, const struct buf *why, struct buf *out)
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
                                        : fail(path, &text, out);
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

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
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
    .run = run,
};
