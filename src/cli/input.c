#include "cli/input.h"

#include <errno.h>
#include <langinfo.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/mem.h"
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
    int fd = paths_open_readable(path, PATHS_FILE_OR_PIPE, e);
    FILE *in = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (fd >= 0 && !in) {
        err_set_errno(e, ERR_FILE_ERROR, _("cannot open %.100s"), path);
        close(fd);
    }
    return in;
}

bool confirm_possible(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool confirm(const char *question)
{
    auto_free char *answer = NULL;
    size_t size = 0;
    regex_t yes;
    fputs(question, stderr);
    fflush(stderr);
    if (getline(&answer, &size, stdin) <= 0)
        return false;
    if (regcomp(&yes, nl_langinfo(YESEXPR), REG_EXTENDED | REG_NOSUB) != 0)
        return *answer == 'y' || *answer == 'Y';
    bool matches = regexec(&yes, answer, 0, NULL, 0) == 0;
    regfree(&yes);
    return matches;
}
