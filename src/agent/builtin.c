#include "agent/builtin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/guard.h"

/* What was asked about, and what is below it. */
static bool was_asked(const struct tool_context *context, const char *where)
{
    size_t len = context->guarded ? strlen(context->guarded) : 0;
    return len > 0 && strncmp(where, context->guarded, len) == 0 &&
           (where[len] == '\0' || where[len] == '/' || len == 1);
}

bool tool_may_reach(const struct tool_context *context, const char *path, const char *where,
                    struct error *e)
{
    return was_asked(context, where) || !guard_asks(where) ||
           err_set(e, ERR_FILE_ERROR,
                   "%s: keys or tiro's own files are there, and the user was not asked about it",
                   path);
}

int tool_open(const struct tool_context *context, const char *path, int flags, char **where,
              struct error *e)
{
    char *found = NULL;
    int fd = confine_open(context->root_fd, context->root, path, flags, &found, e);
    if (fd >= 0 && !tool_may_reach(context, path, found, e)) {
        close(fd);
        fd = -1;
    }
    if (where && fd >= 0)
        *where = found;
    else
        free(found);
    return fd;
}
