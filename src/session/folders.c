#include "session/folders.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/approval.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"

/* `path` is resolved. A name below the folder that begins with a dot is hidden: files that programs
 * read at their start (.bashrc, .config) are there. */
static bool is_in_folder(const char *name, size_t len, const char *path)
{
    bool is_home = name[0] == '~' && (len == 1 || name[1] == '/');
    const char *home = is_home ? environment_get("HOME") : NULL;
    auto_free char *given =
        mem_printf("%s%.*s", home ? home : "", (int)len - (home ? 1 : 0), name + (home ? 1 : 0));
    auto_free char *folder = len > 0 ? realpath(given, NULL) : NULL;
    if (!folder)
        return false;
    len = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0') &&
           !strstr(path + len, "/.");
}

/* The folder's resolved path and the name of a file that does not exist yet. */
static char *resolve_new(const char *path, struct error *e)
{
    struct stat st;
    const char *slash = strrchr(path, '/'), *name = slash + 1;
    auto_free char *folder = mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    auto_free char *resolved = *name ? realpath(folder, NULL) : NULL;
    char *whole = resolved ? paths_join(resolved, name) : NULL;
    if (!whole) {
        err_set_errno(e, ERR_FILE_ERROR, "cannot write %.120s", path);
    } else if (lstat(whole, &st) == 0) {
        err_set(e, ERR_FILE_ERROR, "%.160s already exists; name a new file", whole);
        mem_replace(&whole, NULL);
    }
    return whole;
}

char *folders_resolve(const struct config *config, const char *own, const char *path,
                      enum shape_place place, bool anywhere, struct error *e)
{
    auto_free char *whole = *path == '/' ? mem_strdup(path) : paths_join(own, path);
    char *found = place == SHAPE_WRITES ? resolve_new(whole, e) : realpath(whole, NULL);
    if (!found && place != SHAPE_WRITES)
        err_set_errno(e, place == SHAPE_WORKS ? ERR_USAGE : ERR_FILE_ERROR,
                      "\"%.120s\" cannot be used", path);
    if (!found)
        return NULL;
    bool ok = !guard_asks(found) ||
              err_set(e, ERR_FORBIDDEN,
                      "%.120s is where keys or tiro's own files are; name another place", path);
    bool is_in = anywhere || is_in_folder(own, strlen(own), found);
    const char *at = config_string(config, CONFIG_SERVE_FOLDERS);
    for (size_t len; *at && ok && !is_in; at += len + (at[len] == ':')) {
        len = strcspn(at, ":");
        is_in = is_in_folder(at, len, found);
    }
    if (ok && !is_in)
        ok = err_set(e, ERR_FORBIDDEN,
                     "%.80s is hidden or outside the folders that programs may name; the "
                     "person adds a folder to [serve] folders",
                     path);
    if (!ok)
        mem_replace(&found, NULL);
    return found;
}
