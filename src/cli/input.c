#include "cli/input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/paths.h"

bool input_read(struct buf *out, struct error *e)
{
    char chunk[65536];
    for (;;) {
        ssize_t n = read(STDIN_FILENO, chunk, sizeof chunk);
        if (n == 0)
            return true;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(e, ERR_FILE_ERROR, "%s", _("standard input cannot be read"));
        if (!buf_try_add(out, chunk, (size_t)n))
            return err_set(e, ERR_USAGE, _("standard input is longer than %zu MiB; send less"),
                           out->max >> 20);
    }
}

FILE *input_open(const char *path, struct error *e)
{
    if (strcmp(path, "-") == 0)
        return stdin;
    int fd = paths_open_readable(path, e);
    FILE *in = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !in) {
        err_set_errno(e, ERR_FILE_ERROR, _("cannot open %.100s"), path);
        close(fd);
    }
    return in;
}

void input_close(FILE *in)
{
    if (in != stdin)
        fclose(in);
}
