/* The tools that a model may call now. They come from sources, which are asked at run time: a
 * source is one file and one row. The order is that of the rows and of each one's list, so that
 * what a server has cached of a prompt stays of use. */
#ifndef AGENT_TOOLSET_H
#define AGENT_TOOLSET_H

#include "agent/tool_surface.h"
#include "base/vec.h"
#include "chat/corpora.h"
#include "chat/learned_item.h"
#include "chat/memory_excerpt.h"
#include "chat/memory_hit.h"
#include "knowledge/graph.h"

/* Semantic memory, for the tools that search and read it. */
struct tool_memory {
    /* Best first, at most `limit`, without what the request holds anyway. */
    bool (*search)(void *context, const char *query, int limit, const struct memory_filter *filter,
                   struct memory_hits *out, struct error *e);
    /* As the memory's around() (memory/memory.h). The id may be the beginning of one. */
    bool (*read)(void *context, const struct memory_place *place, struct memory_excerpt *out,
                 struct error *e);
    void *context;
    bool off; /* the user switched it off */
};

/* The graph of facts, for the tools that read and write it. */
struct tool_graph {
    struct graph graph;
    enum { GRAPH_CAPTURE_ASK, GRAPH_CAPTURE_AUTO, GRAPH_CAPTURE_OFF } capture; /* [learned] */
    enum { GRAPH_WRITES, GRAPH_READS, GRAPH_SHUT } access; /* as the user lets the session */
    struct graph_by (*by)(void *context); /* what a fact comes from now; borrowed */
    void (*deleted)(void *context, struct graph_part *gone); /* may take it; its words are to leave
                                                                the index (graph_purge()); NULL: no
                                                                one wants to know */
    void *context;
};

/* Learned memory, for the tool that searches it. Members of a query may be NULL. */
struct tool_learned_query {
    const char *query, *scope, *kind, *tag, *session;
    int limit;
};
struct tool_learned {
    bool (*search)(void *context, const struct tool_learned_query *query, struct learned_items *out,
                   struct error *e);
    void *context;
    bool told; /* the prompt has all of it */
    bool off;  /* the user switched it off */
};

/* Corpora, for the tools that search them and add to them. */
struct tool_corpora {
    /* Refuses a corpus that the user has not named in this session. */
    bool (*search)(void *context, const struct corpus_search *what, struct corpus_found *out,
                   struct error *e);
    bool (*ingest)(void *context, const struct corpus_ingest *text, struct corpus_ingested *out,
                   struct error *e);
    bool (*any_named)(void *context);
    int *cited; /* number of the last passage that was given for this message */
    void *context;
};

/* What a conversation has for its sources. */
struct tool_host {
    int root_fd;             /* the working directory, which no path leaves; -1: there is none */
    const char *root;        /* its resolved name */
    const char *environment; /* names of further variables for a command; NULL: none */
    const struct tool_surface *surface; /* NULL: it does nothing for tools */
    const struct tool_memory *memory;   /* NULL: there is none */
    const struct tool_learned *learned; /* NULL: there is none */
    const struct tool_graph *graph;     /* likewise */
    const struct tool_corpora *corpora; /* likewise */
};

struct toolset;

struct tool_source {
    const char *name; /* for people: what its tools take of a request is shown with it */

    /* Adds its tools with toolset_add(), those that cannot be had now, too. What it adds (texts,
     * `self`) lives until it is asked again or the toolset is released. */
    void (*list)(struct tool_host *host, struct toolset *out);

    /* Whether its list is another than the one it gave. NULL: it never is. */
    bool (*changed)(struct tool_host *host);
};

extern const struct tool_source *const tool_sources[]; /* the program's; ends with NULL */
extern const struct tool_source tool_source_builtin, tool_source_memory, tool_source_learned,
    tool_source_graph, tool_source_corpus;
extern const struct tool tool_memory_read; /* of tool_source_memory */
const char *tool_memory_lacks(const void *memory); /* as struct tool's, of its tools */

struct toolset {
    const struct tool_source *const *sources;
    struct tool_host host;
    VEC(struct tool) tools;
    const struct tool_source *listing; /* the source that is being asked */
};

/* Asks the sources, a table that ends with NULL. `t` must not be moved after that. */
void toolset_init(struct toolset *t, const struct tool_source *const *sources,
                  const struct tool_host *host);
void toolset_release(struct toolset *t);

/* Between model calls alone, since it ends the life of every struct tool: asks the sources again if
 * the list of one has changed. */
void toolset_refresh(struct toolset *t);

/* For a source that is asked: a copy of the row. A name that is taken is left out, and logged. */
void toolset_add(struct toolset *t, const struct tool *row, void *self);

const struct tool *toolset_find(const struct toolset *t, const char *name);

/* Whether a tool is offered at this level of [chat] tools: none, read (what cannot change anything,
 * and what keeps knowledge by a consent of its own) or full. */
bool tool_offered(const struct tool *tool, const char *level);

#endif
