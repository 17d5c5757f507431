#include "knowledge/project.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

/* A directory in a repository, a file in a worktree or a submodule. */
static bool has_git(const char *directory)
{
    struct stat st;
    char *path = mem_printf("%s/.git", strcmp(directory, "/") == 0 ? "" : directory);
    bool there = stat(path, &st) == 0;
    free(path);
    return there;
}

/* "/a/b" becomes "/a", that "/"; false: there is none above. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash[1] == '\0')
        return false;
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

char *project_of(const char *directory)
{
    char *resolved = realpath(directory, NULL);
    char *own = mem_strdup(resolved ? resolved : directory);
    char *at = mem_strdup(own);
    free(resolved);
    bool found = has_git(at);
    while (!found && go_up(at))
        found = has_git(at);
    free(found ? own : at);
    return found ? at : own;
}
