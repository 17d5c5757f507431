/* The servers of the Model Context Protocol that the configuration names: those of the user's
 * mcp.json, of the project's .mcp.json, and of an editor. Reading starts nothing. */
#ifndef MCP_CONFIG_H
#define MCP_CONFIG_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

enum {
    MCP_FILE_BYTES = 1 << 20, /* of a file; more is a fault */
    MCP_SERVERS = 64,         /* of a file; others are left out, with a fault */
    MCP_NAME_BYTES = 64,      /* of a server's name, [A-Za-z0-9_-] */
    MCP_TIMEOUT_S = 3600      /* the longest time limit */
};

struct plugin;

struct mcp_pair {
    char *name, *value;
};
struct mcp_pairs {
    struct mcp_pair *items;
    size_t len, cap;
};
struct mcp_texts {
    char **items;
    size_t len, cap;
};

/* In `env`, `headers` and the texts of `command`, `args`, `cwd` and `url` the variables of the
 * environment (${NAME}) have been replaced, except in those of an editor. */
struct mcp_server {
    char *name; /* cleaned, if it is no name */
    /* A program that is started (`url` is NULL then). */
    char *command;
    struct mcp_texts args;
    struct mcp_pairs env;
    char *cwd; /* absolute; a relative one is below the project */
    /* A server that is reached by HTTP. */
    char *url;
    struct mcp_pairs headers;
    char *headers_command; /* its first line is one more header, "Name: value"; NULL: none */

    int64_t timeout;                                /* as written; `timeout_s` has it */
    int timeout_s;                                  /* of a call; 0: the default */
    struct mcp_texts enabled_tools, disabled_tools; /* no enabled ones: all */
    bool disabled;
    char *type;         /* as written; NULL: not given */
    const char *origin; /* "editor", "user", "project", "plugin" */
    char *definition;   /* its JSON, before variables were replaced; NULL: a member has a fault */
    /* For people, cleaned by utf8_reveal(): command line or URL, directory, names of environment
     * variables and headers, before variables were replaced; passwords in a URL are masked. NULL as
     * `definition`. */
    char *shown;
    char *fault; /* why it cannot be used; NULL: it can */
};

struct mcp_servers {
    struct mcp_server *items; /* of one name, the first is used; the others have a fault */
    size_t len, cap;
    struct mcp_texts faults; /* of whole files */
    struct mcp_texts unread; /* files of other programs in the project, which are not read */
};

/* Servers of the editor, then of the user, of plugins, and of the project. A server hides those of
 * its name that come later. A server of the user without `command` and `url` is none: its other
 * members change the project's server of its name. In the project no symbolic link is followed.
 *
 * `project`: its resolved top directory. `editor`: the JSON text that an editor gave, an array or
 * object of servers; NULL: none. */
void mcp_servers_read(const char *project, const char *editor, struct mcp_servers *out);
/* Only those of one plugin, whether it was added or not. */
void mcp_servers_of_plugin(const struct plugin *p, struct mcp_servers *out);
void mcp_servers_release(struct mcp_servers *s);

/* The server of this name that is used, also one with another fault; NULL: there is none. */
const struct mcp_server *mcp_servers_find(const struct mcp_servers *s, const char *name);

/* Whether the server gives this tool to models. */
bool mcp_server_offers(const struct mcp_server *s, const char *tool);

/* ---- changes of a file ---- The path of the user's file (NULL), or of this project's. The caller
 * frees. */
char *mcp_config_path(const char *project);

/* Adds a server, which is taken. USAGE: it has a fault, or the file has its name. */
bool mcp_config_add(const char *project, const char *name, struct json *server, struct error *e);
/* USAGE: the file does not have it. */
bool mcp_config_remove(const char *project, const char *name, struct error *e);
/* Turns a server, or one of its tools, off or on in the user's file, for every project. */
bool mcp_config_switch(const char *name, const char *tool, bool on, struct error *e);

#endif
