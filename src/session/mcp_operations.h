/* The operations on servers of the Model Context Protocol: mcp/…. Texts of parameters are borrowed.
 */
#ifndef SESSION_MCP_OPERATIONS_H
#define SESSION_MCP_OPERATIONS_H

#include "base/vec.h"
#include "session/operation.h"

/* mcp/list: the servers of the configuration and of the project; in a session, with their state
 * there. `command`: NULL lists all; "NAME" says more of one; "off NAME [TOOL]" and "on NAME [TOOL]"
 * change the user's file first; "restart NAME" starts a server of the session again. USAGE: there
 * is no such server. */
struct mcp_list_params {
    const char *command;
    const char *session;
};

enum mcp_use {
    MCP_USE_UNREAD, /* a file of another program */
    MCP_USE_FAULTY, /* `about` says why */
    MCP_USE_OFF,
    MCP_USE_WAITS, /* until a turn needs it */
    MCP_USE_STARTING,
    MCP_USE_READY,
    MCP_USE_ENDED, /* it starts again when it is called */
    MCP_USE_FAILED /* it did not start; `about` says why */
};

struct mcp_listed {
    char *name;
    enum mcp_use state;
    char *origin;    /* "user", "project", "editor", "plugin" */
    char *transport; /* "stdio", "http"; NULL: it is a file, or faulty */
    char *shown;     /* its command line or address; NULL as above */
    char *about;     /* for people; of one server, lines */
    int64_t tools, tokens;
};

struct mcp_list {
    VEC(struct mcp_listed) servers;
};

/* session/set_client: the servers that an editor configures for a session, and the questions of
 * servers that it can answer, until the session is closed. Servers that have started know of the
 * client before. ACP and MCP alone call it, since servers are commands; no client calls it by name.
 */
struct session_client_params {
    const char *session;
    const char *servers; /* JSON, as in ACP; NULL: as before */
    bool forms, pages;
};
extern const struct operation operation_session_set_client;

/* mcp/test: USAGE when the configuration has no such server, or with a fault. Gives a struct
 * mcp_list; a server that did not start is MCP_USE_FAILED. */
struct mcp_test_params {
    const char *name;
};

/* mcp/switch: as "off NAME [TOOL]" and "on NAME [TOOL]" of mcp/list, which it gives. */
struct mcp_switch_params {
    const char *name, *tool;
    bool on;
};

/* mcp/add: USAGE when the file has the name, or the server could not be used. */
struct mcp_add_params {
    const char *name;
    VEC(char *) command; /* a program and its arguments; or */
    const char *url;
    VEC(char *) env, headers; /* "NAME=VALUE"; "Name: value" */
    bool project;             /* into .mcp.json of the project, not the user's mcp.json */
};

/* mcp/remove: USAGE when the file does not have it. */
struct mcp_remove_params {
    const char *name;
    bool project;
};

#endif
