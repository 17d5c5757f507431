#include "config/permissions.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/vec.h"

enum { FILE_MOST = 1 << 20 /* bytes */ };

void permissions_release(struct permissions *p)
{
    vec_free_each(p);
}

/* Reads the file: {"/home/u/project": ["`git status …`", "write_file"]}. NULL: an error. */
static struct json *read_all(const char *path, struct error *e)
{
    AUTO(buf_release) struct buf text = {.data = buf_empty, .max = FILE_MOST};
    if (access(path, F_OK) != 0)
        return json_new_object();
    if (!paths_read_file(path, PATHS_FILE, &text, e))
        return NULL;
    struct json *all = json_parse_foreign(text.data, text.len, NULL);
    if (json_type(all) == JSON_OBJECT)
        return all;
    json_free(all);
    err_set(e, ERR_FILE_ERROR, "%s is not a list of permissions; remove it, and tools ask again",
            path);
    return NULL;
}

static char *file_path(void)
{
    auto_free char *dir = paths_dir(PATHS_DATA);
    return paths_join(dir, "permissions.json");
}

bool permissions_read(const char *project, struct permissions *out, struct error *e)
{
    auto_free char *path = file_path();
    AUTO(json_free_local) struct json *all = read_all(path, e);
    *out = (struct permissions){0};
    for (const struct json *v = all ? json_first(json_get(all, project)) : NULL; v;
         v = json_next(v))
        if (json_string(v))
            vec_push(out, mem_strdup(json_string(v)));
    return all != NULL;
}

bool permissions_projects(struct permissions *out, struct error *e)
{
    auto_free char *path = file_path();
    AUTO(json_free_local) struct json *all = read_all(path, e);
    *out = (struct permissions){0};
    for (const struct json *v = all ? json_first(all) : NULL; v; v = json_next(v))
        vec_push(out, mem_strdup(json_name(v)));
    return all != NULL;
}

bool permissions_set(const char *project, const char *permission, bool allowed, struct error *e)
{
    auto_free char *dir = paths_dir(PATHS_DATA), *path = file_path();
    if (!paths_make_dir(dir, e))
        return false;
    int lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* the file itself is replaced */
    if (lock >= 0)
        flock(lock, LOCK_EX);
    AUTO(json_free_local) struct json *all = read_all(path, e);
    AUTO(json_free_local) struct json *changed = json_new_object();
    struct json *mine = json_new_array();
    for (const struct json *v = all ? json_first(all) : NULL; v; v = json_next(v))
        if (strcmp(json_name(v), project) != 0)
            json_set(changed, json_name(v), json_clone(v));
    for (const struct json *v = all ? json_first(json_get(all, project)) : NULL; v;
         v = json_next(v))
        if (json_string(v) && strcmp(json_string(v), permission) != 0)
            json_push(mine, json_clone(v));
    if (allowed)
        json_push(mine, json_new_string(permission));
    if (json_first(mine))
        json_set(changed, project, mine);
    else
        json_free(mine);
    auto_free char *text = json_print(changed);
    bool ok = all && paths_write_file(path, text, strlen(text), e);
    if (lock >= 0)
        close(lock);
    return ok;
}
