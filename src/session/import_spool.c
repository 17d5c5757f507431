#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "session/import_private.h"

enum { CHUNK_BYTES = 65536, ASK_MS = 100 };

/* A terminal or a device can be moved in, but does not say the same again. */
static bool can_be_read_twice(FILE *in)
{
    struct stat st;
    int fd = fileno(in);
    return fseeko(in, 0, SEEK_CUR) == 0 && (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)));
}

/* 0600, and gone with its last descriptor. */
static FILE *open_unnamed(const char *directory, struct error *e)
{
    if (!directory)
        directory = getenv("TMPDIR");
    char *path = mem_printf("%s/import.XXXXXX", directory && *directory ? directory : "/tmp");
    int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!file)
        err_set_errno(e, ERR_FILE_ERROR, "cannot keep what is read for the import in %s", path);
    if (fd >= 0)
        unlink(path);
    if (!file && fd >= 0)
        close(fd);
    free(path);
    return file;
}

/* There is nothing yet. */
static ssize_t again(void)
{
    errno = EAGAIN;
    return -1;
}

static bool unreadable(struct error *e)
{
    return err_set_errno(e, ERR_FILE_ERROR, "the text cannot be read");
}

static bool unkept(struct error *e)
{
    return err_set_errno(e, ERR_FILE_ERROR, "cannot keep what is read for the import");
}

/* Who writes may take long, and of a named pipe that nobody writes to poll() alone says nothing. So
 * the pipe does not wait, and is asked first. */
static ssize_t read_some(int fd, char *chunk)
{
    struct stat st;
    struct pollfd in = {.fd = fd, .events = POLLIN};
    int flags = fcntl(fd, F_GETFL);
    bool is_pipe = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
    if (!is_pipe)
        return poll(&in, 1, ASK_MS) != 0 ? read(fd, chunk, CHUNK_BYTES) : again();
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    ssize_t len = read(fd, chunk, CHUNK_BYTES);
    int cause = errno;
    fcntl(fd, F_SETFL, flags);
    if (len < 0 && cause == EAGAIN)
        poll(&in, 1, ASK_MS);
    errno = cause;
    return len;
}

static bool copy(int in, int out, bool (*go_on)(void *context, int64_t bytes), void *context,
                 struct error *e)
{
    char chunk[CHUNK_BYTES];
    int64_t bytes = 0;
    while (go_on(context, bytes)) {
        ssize_t len = read_some(in, chunk);
        if (len == 0)
            return lseek(out, 0, SEEK_SET) == 0 || unkept(e);
        if (len < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (len < 0)
            return unreadable(e);
        if (!paths_write_all(out, chunk, (size_t)len))
            return unkept(e);
        bytes += len;
        if (bytes > IMPORT_MAX_BYTES)
            return err_set(e, ERR_FILE_ERROR,
                           "the text is longer than %lld bytes; nothing was imported",
                           (long long)IMPORT_MAX_BYTES);
    }
    return err_set(e, ERR_INTERRUPTED, "stopped; nothing was imported");
}

FILE *import_spool(FILE *in, const char *directory, bool (*go_on)(void *context, int64_t bytes),
                   void *context, struct error *e)
{
    if (can_be_read_twice(in))
        return in;
    FILE *out = open_unnamed(directory, e);
    if (out && !copy(fileno(in), fileno(out), go_on, context, e)) {
        fclose(out);
        return NULL;
    }
    return out;
}
