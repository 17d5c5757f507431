/* Plugins (Agent Plugins 1.0, or those of Claude Code): folders of the user's disk with skills and
 * MCP servers. plugins.json beside the store keeps which ones the user has added, with their
 * servers as they were shown then: a folder that changes later brings no other server. */
#ifndef MCP_PLUGINS_H
#define MCP_PLUGINS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"

enum { PLUGIN_NAME_BYTES = 64, PLUGINS = 64 };

struct plugin {
    char *name;
    char *directory; /* resolved */
    char *servers;   /* JSON, an object; NULL: none */
    bool claude;     /* it has only .claude-plugin/plugin.json: commands, too, and .mcp.json */
    /* Only of plugin_look(). */
    char *version, *description; /* NULL: not given */
    char *unknown;               /* members of plugin.json and files without use; NULL: none */
};
struct plugins {
    VEC(struct plugin) list;
};

/* Reads the manifest and the servers of a folder, through no link that leads out of it. False: it
 * is no plugin. Release in any case. */
bool plugin_look(const char *directory, struct plugin *out, struct error *e);
void plugin_release(struct plugin *p);

/* The directory in which its servers keep their data; the caller frees. */
char *plugin_data(const struct plugin *p);

/* The plugins that were added. False: the file is damaged; then there are none. Release in any
 * case. */
bool plugins_read(struct plugins *out, struct error *e);
void plugins_release(struct plugins *p);

/* Adds the plugin, in place of one of its name. */
bool plugins_add(const struct plugin *p, struct error *e);
/* USAGE: there is none. Its data stay. */
bool plugins_remove(const char *name, struct error *e);

#endif
