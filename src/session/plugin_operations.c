/* plugin/list, plugin/add and plugin/remove. */
#include "session/plugin_operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/skills.h"
#include "mcp/config.h"
#include "mcp/plugins.h"

static const struct shape info_shape =
    SHAPE_OF("plugin", struct plugin_info, SHAPE_REQ(plugin_info, name, "Name of the plugin."),
             SHAPE_REQ(plugin_info, directory, "Its folder."),
             SHAPE_REQ(plugin_info, about, "What it brings, for people."),
             SHAPE_OPT(plugin_info, servers, "Its MCP servers, a JSON text."),
             SHAPE_OPT(plugin_info, added, "The user has added it."));

static const struct shape list_shape =
    SHAPE_OF("plugins", struct plugin_list,
             SHAPE_REQ_LIST("plugins", plugin_list, plugins, info_shape, "In the order added."));

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* All that the plugin brings, in lines. */
static char *describe(const struct plugin *p)
{
    AUTO(buf_release) struct buf raw = BUF_INIT, out = BUF_INIT;
    AUTO(mcp_servers_release) struct mcp_servers servers;
    AUTO(skills_release) struct skills skills = {.items = {0}};
    mcp_servers_of_plugin(p, &servers);
    skills_add_plugin(&skills, p);
    buf_addf(&raw, "%s%s%s: %s\n%s\n", p->name, p->version ? " " : "", p->version ? p->version : "",
             p->description ? p->description : "a plugin without a description", p->directory);
    for (size_t i = 0; i < servers.len; i++) {
        const struct mcp_server *s = &servers.items[i];
        buf_addf(&raw, "server %s: %s%s%s\n", s->name, s->shown ? s->shown : "",
                 s->shown && s->fault ? "; " : "", s->fault ? s->fault : "");
    }
    for (size_t i = 0; i < skills.items.len; i++) {
        const struct skill *s = &skills.items.items[i];
        const char *text = s->state == SKILL_BROKEN ? s->detail : s->description;
        buf_addf(&raw, "%s %s: %s\n", s->command ? "command" : "skill", s->name, text ? text : "");
    }
    if (p->unknown)
        buf_addf(&raw, "without use here: %s\n", p->unknown);
    buf_trim_end(&raw, "\n");
    utf8_reveal(&out, raw.data, raw.len, UTF8_MULTILINE);
    return buf_take(&out);
}

/* "1 server, 2 skills", or what is wrong. */
static char *sum_up(const struct plugin *kept)
{
    AUTO(plugin_release) struct plugin now = {.name = NULL};
    AUTO(mcp_servers_release) struct mcp_servers servers = {.items = NULL};
    AUTO(skills_release) struct skills skills = {.items = {0}};
    struct error e;
    if (!plugin_look(kept->directory, &now, &e))
        return utf8_clean_line(e.text);
    mcp_servers_of_plugin(kept, &servers);
    skills_add_plugin(&skills, kept);
    const char *more = same_text(now.servers, kept->servers)
                           ? ""
                           : "; its servers have changed: add it again to use the new ones";
    return mem_printf("%zu server%s, %zu skill%s%s", servers.len, servers.len == 1 ? "" : "s",
                      skills.items.len, skills.items.len == 1 ? "" : "s", more);
}

static bool run_list(struct operation_context *c, const void *params, void *result, struct error *e)
{
    struct plugin_list *out = result;
    AUTO(plugins_release) struct plugins plugins;
    (void)c, (void)params;
    bool ok = plugins_read(&plugins, e);
    for (size_t i = 0; i < plugins.list.len; i++) {
        const struct plugin *p = &plugins.list.items[i];
        vec_push(&out->plugins, (struct plugin_info){.name = mem_strdup(p->name),
                                                     .directory = mem_strdup(p->directory),
                                                     .about = sum_up(p),
                                                     .servers = mem_strdup(p->servers),
                                                     .added = true});
    }
    return ok;
}

static bool run_add(struct operation_context *c, const void *params, void *result, struct error *e)
{
    const struct plugin_add_params *p = params;
    AUTO(plugin_release) struct plugin plugin = {.name = NULL};
    (void)c;
    if (!plugin_look(p->directory, &plugin, e))
        return false;
    if (p->seen && !same_text(p->seen, plugin.servers))
        return err_set(e, ERR_FORBIDDEN, "%s has changed since it was shown; add it again",
                       plugin.name);
    if (p->seen && !plugins_add(&plugin, e))
        return false;
    *(struct plugin_info *)result = (struct plugin_info){.name = mem_strdup(plugin.name),
                                                         .directory = mem_strdup(plugin.directory),
                                                         .about = describe(&plugin),
                                                         .servers = mem_strdup(plugin.servers),
                                                         .added = p->seen != NULL};
    return true;
}

OPERATION_RUN(run_remove, plugins_remove(((const struct plugin_remove_params *)params)->name, e))

const struct operation operation_plugin_list = {
    OPERATION("plugin/list", OWNER, CALLER, "Lists the plugins that the user has added."),
    COMMAND("plugin list", "", N_("list the plugins that you have added")),
    .lines = "plugins",
    .line = "{name}  {about}  {directory}",
    .none = N_("No plugin was added; tiro plugin add DIR adds one."),
    .result = &list_shape,
    .run = run_list,
};

const struct operation operation_plugin_add = {
    OPERATION("plugin/add", TERMINAL, CALLER, "Adds a plugin: its skills and its MCP servers."),
    COMMAND("plugin add", "DIR", N_("add the skills and MCP servers of a plugin's folder")),
    .details = N_("Shows what it brings and asks once; without a terminal, --yes is required. "
                  "Nothing is\ncopied or downloaded. When the folder's servers change, the old "
                  "ones stay until it is added\nagain."),
    .line = "{about}",
    .params = PARAMETERS(
        plugin_add_params,
        SHAPE_REQ(plugin_add_params, directory, "The folder.", .least = 1, .place = SHAPE_READS),
        SHAPE_OPT(plugin_add_params, seen,
                  "The servers that the user has seen; absent: nothing is added.")),
    .result = &info_shape,
    .lasting = true,
    .run = run_add,
};

const struct operation operation_plugin_remove = {
    OPERATION("plugin/remove", TERMINAL, CALLER, "Removes a plugin; its folder stays."),
    COMMAND("plugin remove", "NAME", N_("remove a plugin; its folder stays")),
    .params = PARAMETERS(plugin_remove_params,
                         SHAPE_REQ(plugin_remove_params, name, "Name of the plugin.", .least = 1)),
    .lasting = true,
    .run = run_remove,
};
