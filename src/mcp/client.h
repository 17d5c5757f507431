/* A client of one MCP server. It has a thread of its own, which starts the server (or speaks HTTP),
 * agrees on the version of the protocol and lists the tools. Whatever the server does ends calls of
 * this client alone. */
#ifndef MCP_CLIENT_H
#define MCP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"
#include "base/wakeup.h"
#include "mcp/config.h"
#include "provider/http.h"

enum {
    MCP_TOOLS_MAX = 256,            /* of a server */
    MCP_NAME_MAX = 128,             /* bytes of a tool's name */
    MCP_DESCRIPTION_MAX = 8 * 1024, /* the rest is cut off */
    MCP_SCHEMA_MAX = 64 * 1024,     /* of a tool, which is left out past it */
    MCP_SCHEMAS_MAX = 1024 * 1024,  /* of all tools of a server */
    MCP_PROMPTS_MAX = 100,          /* of a server */
    MCP_ARGUMENTS_MAX = 32,         /* of a prompt */
    MCP_RESOURCES_MAX = 200,        /* of a server, with its templates */
    MCP_URI_MAX = 2048,             /* bytes of a resource's URI */
    MCP_LOG_MAX = 16 * 1024         /* the newest bytes of its error output */
};

enum mcp_state {
    MCP_STARTING,
    MCP_READY,
    MCP_ENDED, /* it was ready and died; the next call starts it again; its tools are still known */
    MCP_FAILED /* it did not start, or died too often; it has no tools */
};
const char *mcp_state_name(enum mcp_state state); /* "starting", …; static */

/* Texts are foreign, but valid UTF-8. */
struct mcp_tool_info {
    char *name;                                     /* 1 to MCP_NAME_MAX bytes */
    char *title;                                    /* NULL: none */
    char *description;                              /* NULL: none */
    char *schema;                                   /* JSON, an object */
    bool off;                                       /* the configuration leaves it out */
    bool reads_only, destroys, repeats, open_world; /* as it says itself: hints, for people only */
};

/* All that is known of the server at a moment. */
struct mcp_view {
    enum mcp_state state;
    uint64_t version;                /* another one whenever `state` or `tools` are others */
    char *error;                     /* why it failed or ended; NULL: it did not */
    char *protocol;                  /* "2026-07-28"; NULL: not known yet */
    char *name, *server_version;     /* as it names itself; NULL: unknown */
    char *instructions;              /* NULL: none */
    VEC(struct mcp_tool_info) tools; /* in the server's order */
    size_t left_out;                 /* tools past the limits, or with a fault */
    char *log;                       /* the newest error output, cleaned; "" */
    bool has_resources;              /* it can be asked for resources */
};
void mcp_view_release(struct mcp_view *v);

/* Offers of a server besides tools. Texts are foreign, but valid UTF-8 of one line. */
struct mcp_prompt_info {
    char *name;
    char *description; /* NULL: none */
    VEC(struct mcp_argument_info {
        char *name;
        char *description; /* NULL: none */
        bool required;
    })
    arguments; /* in the server's order */
};
struct mcp_resource_info {
    char *uri; /* or the template of one */
    char *name;
    char *description; /* NULL: none */
    bool is_template;
};
struct mcp_offers {
    bool known; /* the lists were read since the server is ready */
    VEC(struct mcp_prompt_info) prompts;
    VEC(struct mcp_resource_info) resources; /* templates behind the others */
    size_t left_out;                         /* past the limits, or with a fault */
};
void mcp_offers_release(struct mcp_offers *o);

struct mcp_client;

/* The questions that a person answers; a server is told which, and others are declined. */
enum { MCP_ELICITS_FORMS = 1, MCP_ELICITS_PAGES = 2 };

/* Starts the thread and returns at once. `server` is borrowed and outlives the client; `directory`
 * is where a server without `cwd` works, `reach` how one is reached by HTTP; copied. `elicits`:
 * bits, 0 where there is no person. */
struct mcp_client *mcp_client_new(const struct mcp_server *server, const char *directory,
                                  const struct http_reach *reach, unsigned elicits);

/* Tells the thread to end: standard input of the server is closed, and it is killed if it does not
 * end within two seconds, with all that it started. Does not wait. */
void mcp_client_end(struct mcp_client *c);

/* The same, and waits for it. NULL is fine. */
void mcp_client_free(struct mcp_client *c);

/* Any thread. */
const struct mcp_server *mcp_client_server(const struct mcp_client *c);
uint64_t mcp_client_version(struct mcp_client *c);                    /* view.version */
void mcp_client_view(struct mcp_client *c, struct mcp_view *out);     /* to be released */
void mcp_client_offers(struct mcp_client *c, struct mcp_offers *out); /* to be released */

/* ---- the functions below belong to one thread at a time ---- */

/* Waits until it is no longer starting; false: the time is over, or the wakeup said stop. */
bool mcp_client_wait(struct mcp_client *c, int64_t deadline_ms, const struct wakeup *wakeup);

/* Waits until it is not starting, and its offers are known if it is ready. */
bool mcp_client_wait_offers(struct mcp_client *c, int64_t deadline_ms, const struct wakeup *wakeup);

/* Asks a person on behalf of the server, in the course of a call. */
struct mcp_asker {
    /* `params` as in elicitation/create; returns the result for it, JSON, which the caller frees.
     * It gives up when `waits` says that the server does not wait any more. */
    char *(*ask)(void *context, const struct json *params, bool (*waits)(void *client),
                 void *client);
    void *context;
};

/* Sets the person who answers the server's questions from the next call on; NULL: nobody is there.
 * The time limit of a call stands still while the person answers. */
void mcp_client_set_asker(struct mcp_client *c, const struct mcp_asker *asker);

struct mcp_outcome {
    char *text;          /* valid UTF-8, for the model; not NULL */
    struct json *images; /* [{data: Base64}] of those for which the text has "[image 64×64 png 1
                            kB]"; NULL: none */
    bool is_error;       /* the tool says that it failed */
};
void mcp_outcome_release(struct mcp_outcome *o);

enum mcp_ask { MCP_CALL_TOOL, MCP_GET_PROMPT, MCP_READ_RESOURCE };

/* Calls a tool, gets a prompt or reads a resource, by the server's name for it (a resource: its
 * URI); a server that has ended is started again. `args` is an object, NULL: none. `progress`
 * (NULL: not wanted) gets a line for each progress that the server tells. False: there is no
 * result; the call was cancelled if it ran. INTERRUPTED: the wakeup (NULL: none) said stop. */
bool mcp_client_call(struct mcp_client *c, enum mcp_ask what, const char *name,
                     const struct json *args, int64_t deadline_ms, const struct wakeup *wakeup,
                     void (*progress)(void *context, const char *line), void *context,
                     struct mcp_outcome *out, struct error *e);

/* Ends the server and starts it again, also one that failed. */
void mcp_client_restart(struct mcp_client *c);

#endif
