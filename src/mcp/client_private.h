/* Shared by the files of the client: client.c has its thread, orders and news; dialogue.c the
 * protocol, content.c tools and results, offers.c prompts and resources, stdio.c and http_link.c
 * the ways to a server. */
#ifndef MCP_CLIENT_PRIVATE_H
#define MCP_CLIENT_PRIVATE_H

#include <pthread.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "base/worker.h"
#include "mcp/client.h"
#include "rpc/peer.h"

#define MCP_META "io.modelcontextprotocol/"
#define MCP_HEADER "x-mcp-header" /* in a schema: HTTP repeats the argument in a header */
#define MCP_MODERN "2026-07-28"   /* without a handshake; those before it begin with initialize */
#define MCP_NO_ANSWER "{\"action\":\"cancel\"}" /* to a form that nobody decides about */
#define MCP_LEGACY "2025-11-25"                 /* the newest of them */

enum {
    MCP_HEARD_MAX = 64 * 1024 * 1024, /* bytes that a server may send between two answers */
    MCP_PROBE_MS = 2000,              /* for the answer to server/discover, before a server of the
                                         older era is started afresh */
    MCP_RELIST_MS = 1000,             /* from the news that a list has changed to reading it */
    MCP_START_MS = 60000,             /* for each answer until the tools are known */
    MCP_OFFER_MS = 10000,             /* for a page of a list of offers by HTTP */
    MCP_GOODBYE_MS = 2000             /* from the end of input to the first signal */
};

/* The lists that a server has besides that of tools. */
enum { MCP_OFFER_PROMPTS, MCP_OFFER_RESOURCES, MCP_OFFER_TEMPLATES, MCP_OFFERS };

enum mcp_era { MCP_ERA_UNKNOWN, MCP_ERA_MODERN, MCP_ERA_LEGACY }; /* of the protocol */

/* Where the dialogue is. */
enum mcp_phase { MCP_SILENT, MCP_DISCOVERS, MCP_INITIALIZES, MCP_LISTS, MCP_WORKS };

struct mcp_running {
    uint64_t number; /* the caller's; 0: there is none */
    enum mcp_ask what;
    char *name, *args;      /* JSON */
    int64_t ask;            /* its request; 0: not sent yet */
    int rounds;             /* of results that wanted input */
    struct rpc_call *asked; /* a question of the server, before 2026-07-28; NULL: none waits */
    struct json *inputs;    /* a result that wants input, until the person has answered, or NULL */
};

struct mcp_client {
    const struct mcp_server *server;
    char *directory;
    pthread_t thread;
    bool threaded;
    struct mailbox *orders; /* to the thread */
    struct mailbox *news;   /* from it */
    uint64_t numbers;       /* of calls; the caller's, as is the next */
    struct mcp_asker asker;
    unsigned elicits; /* MCP_ELICITS_… */
    char *ca_file;
    struct http_reach reach;

    pthread_mutex_t lock; /* of the next three */
    struct mcp_view view; /* without its log */
    struct mcp_offers offers;
    bool asks; /* a question to the person waits */
    struct buf log;

    /* --- the thread's --- */
    bool ends;             /* for good */
    bool wanted;           /* the server is to run */
    bool restarts;         /* as soon as it has ended, and nothing is held against it */
    int deaths;            /* in a row, without a result of a tool between them */
    int64_t not_before_ms; /* clock_mono_ms() before which it is not started again */
    enum mcp_era known;    /* the era of a connection before, maybe of another tiro */
    enum mcp_era agreed;   /* the era of this connection; UNKNOWN: it got no answer so far */
    struct mcp_running call;
    struct wakeup wakeup; /* `orders` */
    uint64_t connections; /* so far */

    /* the connection's; new with each */
    struct rpc_peer *peer; /* NULL: there is no connection */
    enum mcp_era era;
    bool slow; /* the probe was not answered in time, or it died of it: the older era is tried */
    enum mcp_phase phase;
    int64_t phase_end_ms; /* until it is MCP_WORKS; 0: none */
    bool rejected;        /* the version was, and asked about once more */
    bool closes;          /* it is to end, softly */
    int64_t closes_ms;    /* clock_mono_ms() at which that was decided */
    bool afresh;          /* … to be begun again at once */
    char *fault;          /* why; NULL: nothing is wrong */
    size_t heard;         /* bytes since the last answer */
    uint64_t answers;     /* to our requests */
    uint64_t answers_heard;
    bool has_tools, listens; /* it has tools, and tells when they change */
    int64_t relist_ms;       /* clock_mono_ms() at which a changed list is read; 0: it is not */
    int pages;
    struct mcp_view found; /* tools of a list that is being read */
    size_t schema_bytes;
    /* of the lists of offers (offers.c) */
    bool has_offer[MCP_OFFERS];
    int offer, offer_pages; /* the list that is being read, and its pages; MCP_OFFERS: none */
    int64_t offer_ask;      /* the request for its page; 0: none */
    int64_t offers_due_ms;  /* as `relist_ms` */
    struct mcp_offers offered;
};

/* --- client.c --- */

/* A client without its thread, which does nothing. */
struct mcp_client *mcp_client_make(const struct mcp_server *server, const char *directory);

/* The server has answered in this era, which the next start begins with. */
void mcp_note_era(struct mcp_client *c);

/* Handles the orders that wait; false: the connection must stop at once. */
bool mcp_take_orders(void *client);

/* A message that another thread got for this connection; false: too many wait. */
bool mcp_hand_over(struct mcp_client *c, uint64_t connection, const char *message, size_t len);

/* Changes the view; the caller is told. `error` NULL: none. */
void mcp_tell_state(struct mcp_client *c, enum mcp_state state, const char *error);
/* The list of offers is read. */
void mcp_tell_offers(struct mcp_client *c);
void mcp_tell_progress(struct mcp_client *c, const char *line);

/* Asks the person: an object of requests {method, params}, of which the answers have the names. */
void mcp_tell_question(struct mcp_client *c, const struct json *requests);
void mcp_take_back_question(struct mcp_client *c); /* nobody waits for the answer */

/* Ends the call: with a result, or with the reason why there is none. */
void mcp_tell_result(struct mcp_client *c, const struct mcp_outcome *o); /* takes its members */
void mcp_tell_failure(struct mcp_client *c, const char *why);

void mcp_add_log(struct mcp_client *c, const char *bytes, size_t len);

/* --- dialogue.c --- */

/* Begins a connection, and ends one: the open call fails with the fault. */
void mcp_dialogue_begin(struct mcp_client *c);
void mcp_dialogue_end(struct mcp_client *c);

/* False: the server sends too much, and `fault` says so. */
bool mcp_dialogue_heard(struct mcp_client *c, size_t len);

/* Does what is due; returns the ms until it must be called again (INT_MAX: whenever). */
int mcp_dialogue_due(struct mcp_client *c);

/* Asks for a list, from the cursor on (NULL: its beginning); returns the request, 0: it cannot. */
int64_t mcp_dialogue_list(struct mcp_client *c, const char *method, const char *cursor,
                          rpc_answered *answered);

/* Sends the call, once the server is ready for it. */
void mcp_dialogue_call(struct mcp_client *c);
void mcp_dialogue_cancel(struct mcp_client *c);

/* The person has answered: an object of results, JSON. */
void mcp_dialogue_answer(struct mcp_client *c, const char *answers);

/* The connection is to end softly; the first reason counts. NULL: nothing is wrong. */
void mcp_dialogue_close(struct mcp_client *c, const char *why);

/* --- offers.c --- */

/* The method of a call; static. */
const char *mcp_call_method(enum mcp_ask what);
bool mcp_is_call(const char *method);

/* Notes which lists the server has by its capabilities. */
void mcp_offers_note(struct mcp_client *c, const struct json *capabilities);

/* Reads the lists, one after the other; a server that refuses one has an empty one. */
void mcp_offers_read(struct mcp_client *c);

/* Reads them anew if the notification says that they have changed. */
void mcp_offers_heard(struct mcp_client *c, const char *method);

/* The result, for the model; to be released. */
struct mcp_outcome mcp_call_outcome(enum mcp_ask what, const struct json *result);

/* --- content.c --- */

/* Adds the tools of a page to `found`; a tool with a fault is left out and counted. */
void mcp_take_tools(struct mcp_client *c, const struct json *tools);

/* A text of at most `max` bytes without hidden characters; NULL for none. The caller frees. */
char *mcp_clean(const char *text, size_t max, enum utf8_clean_mode mode);

/* A result of tools/call, for the model: content in its order, sounds by their kind and size,
 * resources by their URI; images likewise, or with `images` of their own. To be released. */
struct mcp_outcome mcp_result(const struct json *result, bool images);

/* --- the connection, from its beginning to its end --- */
void mcp_run_stdio(struct mcp_client *c); /* stdio.c */
void mcp_run_http(struct mcp_client *c);  /* http_link.c */

#endif
