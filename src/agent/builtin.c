#include "agent/builtin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/confine.h"
#include "agent/guard.h"

static const char *lacks(const void *self)
{
    const struct tool_host *host = self;
    return host->root_fd < 0 ? "the working directory cannot be opened" : NULL;
}

static void list(struct tool_host *host, struct toolset *out)
{
    static const struct tool *const rows[] = {&tool_read_file, &tool_list_directory,
                                              &tool_search_files, &tool_write_file,
                                              &tool_run_command};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tool tool = *rows[i];
        tool.lacks = lacks;
        toolset_add(out, &tool, host);
    }
}

const struct tool_source tool_source_builtin = {.name = "built-in", .list = list};

char *builtin_reaches(const void *self, const struct json *args)
{
    const struct tool_host *host = self;
    const char *path = json_get_string(args, "path");
    return confine_resolve(host->root_fd, host->root, path ? path : ".");
}

/* What was asked about, and what is below it. */
static bool was_asked(const struct tool_context *context, const char *where)
{
    size_t len = context->guarded ? strlen(context->guarded) : 0;
    return len > 0 && strncmp(where, context->guarded, len) == 0 &&
           (where[len] == '\0' || where[len] == '/' || len == 1);
}

bool builtin_may_reach(const struct tool_context *context, const char *path, const char *where,
                       struct error *e)
{
    return was_asked(context, where) || !guard_asks(where) ||
           err_set(e, ERR_FILE_ERROR,
                   "%s: keys or tiro's own files are there, and the user was not asked about it",
                   path);
}

int builtin_open(const struct tool_context *context, const char *path, int flags, char **where,
                 struct buf *out)
{
    const struct tool_host *host = context->self;
    struct error e = {0};
    char *found = NULL;
    int fd = confine_open(host->root_fd, host->root, path, flags, &found, &e);
    if (fd >= 0 && !builtin_may_reach(context, path, found, &e)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        buf_addstr(out, e.text);
    if (where && fd >= 0)
        *where = found;
    else
        free(found);
    return fd;
}
