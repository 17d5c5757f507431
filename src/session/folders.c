#include "session/folders.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/approval.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"

/* Both are resolved. A name below the folder that begins with a dot is hidden: what programs read
 * by themselves at their start (.bashrc, .config) is there. */
static bool is_shown_in(const char *folder, const char *path)
{
    size_t len = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0') &&
           !strstr(path + len, "/.");
}

static bool is_in_folder(const char *name, size_t len, const char *path)
{
    bool is_home = name[0] == '~' && (len == 1 || name[1] == '/');
    const char *home = is_home ? environment_get("HOME") : NULL;
    char *folder =
        mem_printf("%s%.*s", home ? home : "", (int)len - (home ? 1 : 0), name + (home ? 1 : 0));
    auto_free char *resolved = len > 0 ? realpath(folder, NULL) : NULL;
    bool is_in = resolved && is_shown_in(resolved, path);
    free(folder);
    return is_in;
}

static bool is_allowed(const struct config *config, const char *own, const char *path)
{
    const char *at = config_string(config, CONFIG_SERVE_FOLDERS);
    bool is_in = is_in_folder(own, strlen(own), path);
    for (size_t len; *at && !is_in; at += len + (at[len] == ':')) {
        len = strcspn(at, ":");
        is_in = is_in_folder(at, len, path);
    }
    return is_in;
}

/* The folder's resolved path and the name of a file that is not there yet. */
static char *resolve_new(const char *path, struct error *e)
{
    struct stat st;
    const char *slash = strrchr(path, '/'), *name = slash + 1;
    char *folder = mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
    auto_free char *resolved = *name ? realpath(folder, NULL) : NULL;
    char *whole = resolved ? paths_join(resolved, name) : NULL;
    if (whole && lstat(whole, &st) == 0) {
        err_set(e, ERR_FILE_ERROR, "%.160s already exists; name a new file", whole);
        free(whole);
        whole = NULL;
    } else if (!whole) {
        err_set_errno(e, ERR_FILE_ERROR, "cannot write %.120s", path);
    }
    free(folder);
    return whole;
}

char *folders_resolve(const struct config *config, const char *own, const char *path,
                      enum shape_place place, bool anywhere, struct error *e)
{
    char *whole = *path == '/' ? mem_strdup(path) : paths_join(own, path), *found;
    if (place == SHAPE_WRITES)
        found = resolve_new(whole, e);
    else if (!(found = realpath(whole, NULL)))
        err_set_errno(e, place == SHAPE_WORKS ? ERR_USAGE : ERR_FILE_ERROR,
                      "\"%.120s\" cannot be used", path);
    free(whole);
    if (!found)
        return NULL;
    bool ok = !guard_asks(found) ||
              err_set(e, ERR_FORBIDDEN,
                      "%.120s is where keys or tiro's own files are; name another place", path);
    ok = ok && (anywhere || is_allowed(config, own, found) ||
                err_set(e, ERR_FORBIDDEN,
                        "%.80s is hidden or outside the folders that programs may name; the "
                        "person adds a folder to [serve] folders",
                        path));
    if (ok)
        return found;
    free(found);
    return NULL;
}
