/* Where a session works: the directory that its tools do not leave. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "session/conversation_private.h"
#include "session/folders.h"
#include "session/image_file.h"
#include "session/projection.h"

static void list_tools(struct conversation *c)
{
    const struct tool_host host = {
        .root_fd = c->root_fd,
        .root = c->root,
        .environment = config_string(c->config, CONFIG_TOOLS_ENVIRONMENT),
        .surface = c->engine->options.helps_tools ? &c->tool_surface : NULL,
        .memory = c->engine->memory ? &c->tool_memory : NULL,
        .learned = c->engine->learned ? &c->tool_learned : NULL,
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

/* --- images ----------------------------------------------------------------------------------- */

static bool is_below(const char *path)
{
    return *path != '/' && strncasecmp(path, "http://", 7) != 0 &&
           strncasecmp(path, "https://", 8) != 0;
}

/* NULL: it is no image. */
static struct json *placed_image(const struct conversation *c, const struct json *given)
{
    const char *type = json_get_string(given, "type"), *where = json_get_string(given, "text");
    if (!type || strcmp(type, "image") != 0 || !where || !*where)
        return NULL;
    struct json *image = json_new_object();
    char *path = is_below(where) ? paths_join(c->root, where) : mem_strdup(where);
    json_set_string(image, "type", "image");
    json_set_string(image, "text", path);
    json_set_string(image, "media_type", json_get_string(given, "media_type"));
    free(path);
    return image;
}

/* What other programs name as an image goes to the model: a file of the session, or one that they
 * may name. */
static bool may_be_read(const struct conversation *c, const char *path, struct error *e)
{
    struct catalog catalog;
    catalog_borrow(&catalog, c->store, c->journal.directory, c->journal.info.id);
    char *files = projection_directory(&catalog, c->journal.info.id), *found = realpath(path, NULL);
    char *kept = files ? realpath(files, NULL) : NULL;
    bool may = found && kept && strncmp(found, kept, strlen(kept)) == 0 &&
               found[strlen(kept)] == '/' && image_file_is(found + strlen(kept) + 1, false);
    free(found);
    found = may ? NULL : folders_resolve(c->config, c->root, path, SHAPE_READS, false, e);
    may = may || found;
    catalog_release(&catalog);
    free(files);
    free(kept);
    free(found);
    return may;
}

static bool place_each(const struct conversation *c, const struct json *given, struct json *out,
                       struct error *e)
{
    if (json_type(given) != JSON_ARRAY)
        return err_set(e, ERR_USAGE, "\"attachments\" is no array; give one of images");
    for (const struct json *v = json_first(given); v; v = json_next(v)) {
        struct json *image = placed_image(c, v);
        if (!image)
            return err_set(e, ERR_USAGE,
                           "\"attachments\": %zu is no image; give its type "
                           "\"image\", and as its text a path or URL",
                           json_len(out));
        json_push(out, image);
        const char *path = json_get_string(image, "text");
        if (c->engine->options.serves && *path == '/' && !may_be_read(c, path, e))
            return false;
    }
    return true;
}

bool conversation_place_images(const struct conversation *c, const char *given, char **out,
                               struct error *e)
{
    *out = NULL;
    if (!given)
        return true;
    struct json *list = json_parse_foreign(given, strlen(given), e), *placed = json_new_array();
    bool ok = list && place_each(c, list, placed, e);
    if (ok)
        *out = json_print(placed);
    json_free(placed);
    json_free(list);
    return ok;
}
