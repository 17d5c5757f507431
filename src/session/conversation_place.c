/* Where a session works: the directory that its tools do not leave. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/conversation_private.h"

static void list_tools(struct conversation *c)
{
    const struct tool_host host = {
        .root_fd = c->root_fd,
        .root = c->root,
        .environment = config_string(c->config, CONFIG_TOOLS_ENVIRONMENT),
        .surface = c->engine->options.helps_tools ? &c->tool_surface : NULL,
        .memory = c->engine->memory ? &c->tool_memory : NULL,
        .learned = c->engine->memory ? &c->tool_learned : NULL,
        .graph = c->engine->graph ? &c->tool_graph : NULL,
        .corpora = c->engine->corpora ? &c->tool_corpora : NULL,
    };
    toolset_init(&c->tools, tool_sources, &host);
}

void conversation_leave_directory(struct conversation *c)
{
    if (!c->root)
        return;
    toolset_release(&c->tools);
    if (c->root_fd >= 0)
        close(c->root_fd);
    free(c->root);
    free(c->project);
    c->root = c->project = NULL;
    c->root_fd = -1;
}

/* Without a directory tools say that it cannot be opened. */
void conversation_work_in(struct conversation *c, const char *directory)
{
    const char *root = directory && *directory ? directory : c->engine->root;
    if (c->root && strcmp(c->root, root) == 0 && c->root_fd >= 0)
        return;
    char *name = mem_strdup(root);
    conversation_leave_directory(c);
    c->root = name;
    c->root_fd = open(c->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list_tools(c);
}

bool conversation_find_directory(const char *given, char **resolved, struct error *e)
{
    struct stat status;
    *resolved = NULL;
    if (!given)
        return true;
    if (*given != '/')
        return err_set(e, ERR_USAGE, "\"directory\": \"%.100s\" is no absolute path; give one",
                       given);
    *resolved = realpath(given, NULL);
    if (!*resolved || stat(*resolved, &status) != 0)
        err_set_errno(e, ERR_USAGE, "\"directory\": \"%.100s\" cannot be used", given);
    else if (!S_ISDIR(status.st_mode))
        err_set(e, ERR_USAGE, "\"directory\": \"%.100s\" is no directory; name one", given);
    else
        return true;
    free(*resolved);
    *resolved = NULL;
    return false;
}
