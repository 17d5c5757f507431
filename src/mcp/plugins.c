#include "mcp/plugins.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json_out.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/shape.h"
#include "base/utf8.h"
#include "config/edit.h"

enum { FILE_BYTES = 1 << 20 };

static const struct shape kept_shape =
    SHAPE_OF("plugin", struct plugin, SHAPE_REQ(plugin, name, NULL, .least = 1),
             SHAPE_REQ(plugin, directory, NULL, .least = 1), SHAPE_OPT(plugin, claude, NULL),
             SHAPE_FIELD("servers", JSON, OPTIONAL, SHAPE_AT_TEXT(struct plugin, servers)));
static const struct shape plugins_shape =
    SHAPE_OF("plugins", struct plugins, SHAPE_REQ_LIST("plugins", plugins, list, kept_shape, NULL));

/* --- a folder --------------------------------------------------------------------------------- */

void plugin_release(struct plugin *p)
{
    shape_release(&kept_shape, p);
    free(p->version);
    free(p->description);
    free(p->unknown);
}

char *plugin_data(const struct plugin *p)
{
    auto_free char *data = paths_dir(PATHS_DATA);
    return mem_printf("%s/plugins/%s", data, p->name);
}

/* The tree of a file of the folder; NULL with ERR_OK: it is not there. */
static struct json *read_below(const char *directory, const char *name, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *path = paths_join(directory, name), *real = realpath(path, NULL);
    size_t len = strlen(directory);
    struct error why;
    text.max = FILE_BYTES;
    e->code = ERR_OK;
    if (!real)
        return NULL;
    if (strncmp(real, directory, len) != 0 || real[len] != '/') {
        err_set(e, ERR_FILE_ERROR, "%s is a link that leads out of the plugin", path);
        return NULL;
    }
    if (!paths_read_file(real, PATHS_FILE_NO_LINK, &text, e))
        return NULL;
    struct json *v = json_find_nul(text.data, text.len)
                         ? (err_set(&why, ERR_CONFIG_ERROR, "it has a NUL character"), NULL)
                         : json_parse_foreign(text.data, text.len, &why);
    if (v && json_type(v) == JSON_OBJECT)
        return v;
    err_set(e, ERR_CONFIG_ERROR, "%s: %s", path, v ? "it is no object" : why.text);
    json_free(v);
    return NULL;
}

/* Names of members that are not used, and of files of Claude Code likewise; NULL: none. */
static char *find_unknown(const struct plugin *p, const struct json *about)
{
    static const char *const known[] = {
        "$schema",    "name",     "version", "description", "author",     "homepage", "license",
        "repository", "keywords", "icon",    "displayName", "mcpServers", "skills"};
    static const char *const files[] = {"hooks/hooks.json", "agents", ".lsp.json"};
    const size_t count = sizeof known / sizeof *known - p->claude; /* paths of skills */
    AUTO(buf_release) struct buf out = BUF_INIT;
    for (const struct json *m = json_first(about); m; m = json_next(m)) {
        size_t i = 0;
        while (i < count && strcmp(known[i], json_name(m)) != 0)
            i++;
        if (i == count)
            buf_addf(&out, "%s%s", out.len > 0 ? ", " : "", json_name(m));
    }
    for (size_t i = 0; p->claude && i < sizeof files / sizeof *files; i++) {
        auto_free char *path = paths_join(p->directory, files[i]);
        if (access(path, F_OK) == 0)
            buf_addf(&out, "%s%s", out.len > 0 ? ", " : "", files[i]);
    }
    return out.len > 0 ? utf8_clean_line(out.data) : NULL;
}

/* The file of servers. Claude Code's may be named by the manifest, or stand in it, and need no
 * member around the servers. */
static struct json *read_servers(const struct plugin *p, const struct json *about, struct error *e)
{
    const struct json *named = p->claude ? json_get(about, "mcpServers") : NULL;
    const char *path = json_string(named) ? json_string(named)
                       : p->claude        ? ".mcp.json"
                                          : "mcp.json";
    e->code = ERR_OK;
    if (json_type(named) == JSON_OBJECT)
        return json_clone(named);
    AUTO(json_free_local) struct json *file = read_below(p->directory, path, e);
    const struct json *servers = json_get(file, "mcpServers");
    return servers ? json_clone(servers) : p->claude && file ? json_clone(file) : NULL;
}

bool plugin_look(const char *directory, struct plugin *out, struct error *e)
{
    *out = (struct plugin){.directory = realpath(directory, NULL)};
    if (!out->directory)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", directory);
    AUTO(json_free_local) struct json *about = read_below(out->directory, "plugin.json", e);
    if (!about && e->code == ERR_OK) {
        about = read_below(out->directory, ".claude-plugin/plugin.json", e);
        out->claude = about;
    }
    if (!about && e->code == ERR_OK)
        return err_set(e, ERR_USAGE, "%s has no plugin.json; name the folder of a plugin",
                       directory);
    if (!about)
        return false;
    const char *name = json_get_string(about, "name");
    size_t len = name ? strlen(name) : 0;
    if (len == 0 || len > PLUGIN_NAME_BYTES || *name == '.' ||
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") != len)
        return err_set(e, ERR_CONFIG_ERROR,
                       "%s/plugin.json: \"name\" does not fit; it has 1 to %d of a-z, 0-9, . and -",
                       directory, PLUGIN_NAME_BYTES);
    AUTO(json_free_local) struct json *servers = read_servers(out, about, e);
    if (!servers && e->code != ERR_OK)
        return false;
    const char *version = json_get_string(about, "version");
    const char *description = json_get_string(about, "description");
    out->name = mem_strdup(name);
    out->version = version ? utf8_clean_line(version) : NULL;
    out->description = description ? utf8_clean_line(description) : NULL;
    out->unknown = find_unknown(out, about);
    out->servers = json_len(servers) > 0 ? json_print(servers) : NULL;
    return true;
}

/* --- those that were added -------------------------------------------------------------------- */

static char *list_path(void)
{
    auto_free char *data = paths_dir(PATHS_DATA);
    return paths_join(data, "plugins.json");
}

void plugins_release(struct plugins *p)
{
    shape_release(&plugins_shape, p);
}

bool plugins_read(struct plugins *out, struct error *e)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    auto_free char *path = list_path();
    struct error why;
    *out = (struct plugins){.list = {0}};
    text.max = (size_t)PLUGINS * FILE_BYTES;
    if (access(path, F_OK) != 0)
        return true;
    if (!paths_read_file(path, PATHS_FILE, &text, e))
        return false;
    AUTO(json_free_local) struct json *v = json_parse_foreign(text.data, text.len, &why);
    return (v && shape_read(&plugins_shape, v, out, &why)) ||
           err_set(e, ERR_CONFIG_ERROR, "%s: %s", path, why.text);
}

static bool plugins_write(const struct plugins *p, struct error *e)
{
    AUTO(buf_release) struct buf compact = BUF_INIT, text = BUF_INIT;
    auto_free char *path = list_path(), *directory = paths_parent(path);
    shape_write(&plugins_shape, p, &(struct json_out){.buf = &compact});
    json_out_pretty(compact.data, &text);
    buf_addch(&text, '\n');
    return paths_make_dir(directory, e) && paths_write_file(path, text.data, text.len, e);
}

/* Changes the list: without the plugins of this name, and with `added` (NULL: none). */
static bool change(const char *name, const struct plugin *added, struct error *e)
{
    AUTO(plugins_release) struct plugins p;
    int lock = config_file_lock(e);
    bool found = false, ok = plugins_read(&p, e);
    for (size_t i = p.list.len; i-- > 0;)
        if (strcmp(p.list.items[i].name, name) == 0) {
            plugin_release(&p.list.items[i]);
            vec_remove(&p.list, i, 1);
            found = true;
        }
    if (ok && !found && !added)
        ok = err_set(e, ERR_USAGE, "there is no plugin \"%.80s\"; list them first", name);
    if (ok && added && p.list.len == PLUGINS)
        ok = err_set(e, ERR_USAGE, "there are %d plugins; remove one first", PLUGINS);
    if (ok && added) {
        struct plugin copy = {.name = NULL};
        shape_copy(&kept_shape, &copy, added);
        vec_push(&p.list, copy);
    }
    ok = ok && plugins_write(&p, e);
    if (lock >= 0)
        close(lock);
    return ok;
}

bool plugins_add(const struct plugin *p, struct error *e)
{
    auto_free char *data = plugin_data(p);
    return paths_make_dir(data, e) && change(p->name, p, e);
}

bool plugins_remove(const char *name, struct error *e)
{
    return change(name, NULL, e);
}
