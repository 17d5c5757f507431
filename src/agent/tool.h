/* Tools: what one is, what tools share while they work, where they come from, and one call of a
 * tool: checked before it runs, shown to a person, bounded in its result. */
#ifndef AGENT_TOOL_H
#define AGENT_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "agent/task.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/vec.h"
#include "base/wakeup.h"
#include "chat/change.h"
#include "chat/event.h"
#include "chat/knowledge.h"
#include "chat/memory.h"
#include "config/config.h"
#include "knowledge/graph.h"
#include "provider/provider.h"

/* The file that a call changes, as the preview of the call found it. */
struct tool_sight {
    bool taken;  /* false: there was no preview, or it was about no file */
    bool exists; /* then `file` is filled */
    struct stat file;
    bool has_directory; /* then `directory` is filled */
    struct stat directory;
    char *text; /* the text that the surface has, which then replaces that on the disk; owned; NULL:
                   the surface has none */
    struct file_change change; /* the change that the call would make, if it is known */
};
void tool_sight_release(struct tool_sight *sight);

/* A piece of the output of a running call: the bytes since the last piece. */
struct tool_output {
    const char *call; /* id; set by the turn */
    const char *text; /* valid, without control characters but newline, tab and CR, which begins its
                         line anew; may be "" */
    bool anew;        /* what came before is left out, or there is nothing */
    int64_t ran_ms;
};

struct tool_context {
    void *self; /* the tool's own; the members to the blank line are set by tool_call_run() */
    int number;
    const struct tool_sight *sight;
    const char *guarded; /* the guarded place that this call may reach; NULL: none */

    struct file_change *change; /* gets the change that the call made; NULL: not wanted */
    bool *pins;                 /* set: no compaction takes the result; NULL: not wanted */
    struct json **images; /* gets the images of the result, for each of which its text has a word,
                             as [{data: Base64}]; NULL: not wanted */
    size_t max_output;    /* bytes */
    bool is_scarce;       /* max_output is the room that the model's window has left */
    int64_t deadline_ms;  /* clock_mono_ms() at which the tool gives up */
    const struct wakeup *wakeup;

    /* Takes an event of the tool's own, for a deed that is worth one. NULL: nobody listens. */
    void (*tell)(void *context, struct event *ev);
    /* Shows output while the call runs, some ten times a second at most, and its time once a
     * second. NULL: nobody looks. */
    void (*show)(void *context, struct tool_output *output);
    /* Asks the person on behalf of a server (MCP's elicitation/create); returns the result, JSON,
     * which the caller frees. It gives up when `waits` (asked a few times a second) says no. NULL:
     * there is no person. */
    char *(*elicit)(void *context, const char *server, const struct json *params,
                    bool (*waits)(void *of), void *of);
    void *tell_context;
};

/* X(NAME, "name"): what a tool can do to the user. */
#define TOOL_CLASSES(X)                                                                            \
    X(READ, "read")                                                                                \
    X(WRITE, "write")                                                                              \
    X(EXECUTE, "execute")                                                                          \
    X(NETWORK, "network")

enum tool_class {
#define X(id, name) TOOL_##id,
    TOOL_CLASSES(X)
#undef X
        TOOL_CLASS_COUNT
};
const char *tool_class_name(enum tool_class class);

/* Whether a call that changes something is asked about first, where neither its name nor its class
 * is denied, and no list has its name. */
enum tool_consent {
    CONSENT_BY_CLASS, /* as [tools] has its class */
    CONSENT_ASKED,    /* always */
    CONSENT_GIVEN     /* never: it says what it did */
};

/* Whether a call stays in the sandbox. */
enum tool_bounds {
    BOUNDS_NONE,   /* no sandbox confines the call */
    BOUNDS_HOLD,   /* the call stays in the sandbox; with [tools] ask = outside-sandbox it runs
                      without a question */
    BOUNDS_WIDENED /* the call wants more than the sandbox allows; the user is asked each time */
};

/* How the arguments are checked before run(). */
enum tool_check {
    CHECK_SCHEMA,
    CHECK_ROUNDED, /* the same, but a whole number may have a fraction, which the tool cuts off */
    CHECK_OBJECT   /* they are an object; run() reads it by a shape that is closed */
};

/* The JSON Schema of a tool's arguments, as a text: TOOL_SCHEMA(TOOL_ARG("string", "path", "…") ","
 * TOOL_ARG_WITH("integer", "limit", "\"minimum\":1"), TOOL_NEEDS("\"path\"")). */
#define TOOL_ARG_WITH(type, name, more) "\"" name "\":{\"type\":\"" type "\"," more "}"
#define TOOL_ARG(type, name, help) TOOL_ARG_WITH(type, name, "\"description\":\"" help "\"")
#define TOOL_NEEDS(names) ",\"required\":[" names "]"
#define TOOL_SCHEMA(arguments, needs)                                                              \
    "{\"type\":\"object\",\"properties\":{" arguments "}" needs ",\"additionalProperties\":false}"

#define TOOL_PATH TOOL_ARG("string", "path", "relative to the working directory")

enum { TOOL_MAX_PREVIEW = 1024 * 1024 /* bytes */ };

struct tool {
    struct tool_spec spec;
    enum tool_class class;
    enum tool_consent consent;
    enum config_key timeout; /* the key with its seconds */
    const char *skill;       /* that joins the prompt with it (prompt.h); NULL: none */
    enum tool_check check;
    int number; /* context->number: for a function that several tools share */
    bool finds; /* its results fit the room that there is, and no compaction of their turn drops
                   them */

    /* Set as it is listed (toolset_add()). The functions below get `self`, run() and preview() as
     * context->self. */
    const struct tool_source *source;
    void *self;

    /* Why it cannot be had now, English for the model and borrowed; NULL: it can. Asked for each
     * prompt and again before a call runs. No such function: it always can. */
    const char *(*lacks)(const void *self);

    /* True: the tool is not offered for now, since the session has no use for it; a call runs.
     * NULL: never. */
    bool (*idle)(const void *self);

    /* The resolved path that a call reaches; the caller frees. NULL: none, or it cannot be
     * followed. No such function: it takes no path. */
    char *(*reaches)(const void *self, const struct json *args);

    /* Whether the call stays in the sandbox. No such function: BOUNDS_NONE. */
    enum tool_bounds (*bounds)(const void *self, const struct json *args);

    /* Appends the grant of the call: the name of a set of calls, for a person to read. A person who
     * allows this call for the session or the project allows all calls with the same grant. Nothing
     * appended: the call has no grant, and the user is asked each time. No such function: the grant
     * is the name of the tool. */
    void (*grant)(const struct json *args, struct buf *out);

    /* Appends the result for the model to `out` (bounded by the caller). False: `out` holds the
     * reason, and the model gets it as an error; the turn goes on. Arguments fit the schema. What
     * context->sight shows must be there still: a person allowed no other change. */
    bool (*run)(const struct tool_context *context, const struct json *args, struct buf *out);

    /* Appends what run() would do, in full and for a person: the command line, or the difference
     * that it would make; `sight` keeps what that was made from. Changes nothing. False: it would
     * fail, and `out` holds why. NULL: the arguments say it. */
    bool (*preview)(const struct tool_context *context, const struct json *args,
                    struct tool_sight *sight, struct buf *out);
};

const char *tool_lacks(const struct tool *tool);

enum tool_stop { TOOL_GOES_ON, TOOL_INTERRUPTED, TOOL_TIMED_OUT };
enum tool_stop tool_stop(const struct tool_context *context);

/* Whether the tool must stop; `out` then holds why, and nothing else. */
bool tool_stopped(const struct tool_context *context, struct buf *out);

/* The tools that work in a directory, in the order of the prompt; their `self` is the struct
 * tool_host. */
#define DIRECTORY_TOOLS(X)                                                                         \
    X(read_file)                                                                                   \
    X(list_directory)                                                                              \
    X(search_files) X(write_file) X(edit_file) X(run_command) X(task_output) X(task_stop)
#define X(name) extern const struct tool tool_##name;
DIRECTORY_TOOLS(X)
#undef X
extern const struct tool tool_fetch_url, tool_web_search; /* likewise, but without directory */

/* Semantic memory, for the tools that search and read it. */
struct tool_memory {
    /* Best first, at most `limit`, without what the request holds anyway. */
    bool (*search)(void *context, const char *query, int limit, const struct memory_filter *filter,
                   struct memory_hits *out, struct error *e);
    /* As the memory's around() (memory/memory.h). The id may be the beginning of one. */
    bool (*read)(void *context, const struct memory_place *place, struct memory_excerpt *out,
                 struct error *e);
    /* Events of the messages that searches of this turn found and left out, since the request holds
     * them, best first; 0: no more. NULL: there are none. */
    int64_t (*passed_over)(void *context, size_t rank);
    void *context;
    size_t search_bytes; /* of a search without a limit */
    bool off;            /* the user switched it off */
};

/* The graph of facts, for the tools that read and write it. */
struct tool_graph {
    struct graph graph;
    enum { GRAPH_CAPTURE_ASK, GRAPH_CAPTURE_AUTO, GRAPH_CAPTURE_OFF } capture; /* [learned] */
    enum { GRAPH_WRITES, GRAPH_READS, GRAPH_SHUT } access; /* as the user lets the session */
    bool idle; /* the graph is empty, and the user has not written of it */
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

/* Skills, for the tool that opens them. */
struct tool_skills {
    const struct skills *list;                       /* of this turn */
    bool (*opened)(void *context, const char *name); /* its text is in what the model is sent */
    void *context;
};

/* --- what the surface of a conversation does for its tools: an editor has files open that are not
 * saved, writes them, and has terminals --- */

/* A command of a shell. */
struct surface_command {
    const char *text;
    const char *first;     /* what the shell does before, as child_environment_script() has it */
    const char *directory; /* an absolute path */
    size_t max_output;     /* bytes that are wanted */
    int64_t deadline_ms;   /* clock_mono_ms() at which it is ended */
};

enum surface_run_end { SURFACE_ENDED, SURFACE_LATE, SURFACE_INTERRUPTED };

struct surface_run {
    struct buf output; /* foreign, and as long as the surface likes */
    bool truncated;    /* its beginning was left out */
    enum surface_run_end end;
    int64_t status; /* of exit(); -1: unknown */
    char *signal;   /* its name, foreign; NULL: none */
};
void surface_run_release(struct surface_run *r);

/* Paths are resolved, and may be reached. `out` gets the result, or why it FAILED. Each
 * comes back soon after the deadline or the wakeup of the tool. */
struct tool_surface {
    /* The whole text of a file. PASSED: it has none of its own, and the file on the disk counts. */
    enum surface_outcome (*read)(void *context, const struct tool_context *tool, const char *path,
                                 struct buf *out);
    /* The whole content of a file, which need not exist; its directory does. DID: it is written,
     * and `out` gets nothing. FAILED by time or wakeup: whether it is, is unknown; `out` says so.
     */
    enum surface_outcome (*write)(void *context, const struct tool_context *tool, const char *path,
                                  const char *content, struct buf *out);
    /* DID: it ran, and `run` is filled, to be released. */
    enum surface_outcome (*run)(void *context, const struct tool_context *tool,
                                const struct surface_command *command, struct surface_run *run,
                                struct buf *out);
    void *context;
};

/* The newest 1,000 files that the model has read or written in the session, with the state that the
 * model knows. edit_file changes no other files. */
struct read_file {
    char *path;       /* absolute, without links */
    struct stat file; /* on the disk; zeroed: not known */
    bool open;        /* the surface had the text; `hash` is its hash */
    uint64_t hash;
};
struct read_files {
    VEC(struct read_file) items; /* oldest first */
};
void read_files_clear(struct read_files *r);

/* Remembers the state of a file. `file`: its state on the disk; `open`: the text that the surface
 * has. Each may be NULL: not known. */
void read_files_note(struct read_files *r, const char *path, const struct stat *file,
                     const struct buf *open);

/* Returns why the model may not know the present file, as words that follow the name of the file;
 * static. NULL: the file has not changed. `open`: the text that the surface has, which is compared
 * in place of the file on the disk; NULL: none. */
const char *read_files_doubt(const struct read_files *r, const char *path, const struct stat *file,
                             const struct buf *open);

/* The parts of a conversation that its sources use. */
struct tool_host {
    int root_fd;                /* the working directory, which no path leaves; -1: there is none */
    const char *root;           /* its resolved name */
    const char *environment;    /* names of further variables for a command; NULL: none */
    bool sandbox;               /* commands run in a sandbox, if the kernel supports it */
    const char *sandbox_writes; /* more directories that the commands may change; NULL: none */
    const char *fetch_allow;    /* hosts that fetch_url reaches at any address; NULL: none */
    bool web_search;            /* the provider may search the web */
    const struct tool_surface *surface; /* NULL: it does nothing for tools */
    const struct tool_memory *memory;   /* NULL: there is none */
    const struct tool_learned *learned; /* NULL: there is none */
    const struct tool_graph *graph;     /* likewise */
    const struct tool_corpora *corpora; /* likewise */
    const struct tool_skills *skills;   /* likewise */
    struct tool_mcp *mcp;               /* servers of the conversation; NULL: there are none */
    struct read_files read;             /* of the session */
    struct tasks tasks;                 /* likewise */
};

/* Appends a line for the model for each task whose end it does not know. */
void tasks_note(struct tasks *t, struct buf *out);

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
    tool_source_graph, tool_source_corpus, tool_source_skills, tool_source_mcp;
extern const struct tool tool_memory_read; /* of tool_source_memory */

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

/* Whether a value fits the part of JSON Schema that tools use: type, properties, required, enum,
 * minimum, maximum, items. Members that `properties` does not name are refused. False with the path
 * of the first member that does not fit, and why. */
bool tool_schema_check(const struct json *schema, const struct json *value, struct error *e);

/* A call whose tool exists and whose arguments fit. */
struct tool_call {
    const struct tool *tool;
    struct json *args;       /* owned */
    struct tool_sight sight; /* of its preview */
    char *guarded; /* owned: the guarded place that its path leads to (approval.h); NULL: none */
    bool asked;    /* the user allowed this very call */
    char *refusal; /* owned: the user's reason for not allowing the call; NULL: none was given */
};

/* Finds the tool, which must be one that can be had now, parses the arguments and checks them
 * against the schema (types, required, enum, minimum, maximum, no unknown members). False: `out`
 * holds the reason for the model. */
bool tool_call_prepare(struct tool_call *call, const struct toolset *tools, const char *name,
                       const char *args, struct buf *out);
void tool_call_release(struct tool_call *call);

/* Finds out where the call's path leads; `guarded` is that place. Such a call is to be asked
 * whatever is allowed, and without `asked` it fails. */
bool tool_call_is_guarded(struct tool_call *call);

/* Whether the call stays in the sandbox (tool.bounds). */
enum tool_bounds tool_call_bounds(const struct tool_call *call);

/* The grant of the call (tool.grant); the caller frees. NULL: the call has none, and the user is
 * asked each time. A guarded call has none. */
char *tool_call_grant(const struct tool_call *call);

/* Runs the tool and cuts its output at a character's border with a note. Returns whether the result
 * is an error: also when a file is no longer what tool_call_preview() saw, or the tool cannot be
 * had any more. `out` is always filled. */
bool tool_call_run(const struct tool_call *call, const struct tool_context *context,
                   struct buf *out);

/* The preview for a person before it runs, without hidden characters (utf8_reveal()).
 * False: it cannot succeed, or has more than TOOL_MAX_PREVIEW and so could not be read; `out` says
 * why. */
bool tool_call_preview(struct tool_call *call, const struct tool_context *context, struct buf *out);

/* --- the beginning and the end of an output that may be endless ------------------------------- */

struct head_tail {
    size_t half; /* bytes of either */
    struct buf head, tail;
    size_t dropped; /* bytes between them */
};

/* Keeps about `max` bytes. */
void head_tail_init(struct head_tail *h, size_t max);
void head_tail_release(struct head_tail *h);
void head_tail_add(struct head_tail *h, const char *bytes, size_t len);

/* Appends the kept bytes, cleaned (utf8_clean()) and at most `max` bytes, with a note of a line
 * where something was left out. */
void head_tail_show(const struct head_tail *h, struct buf *out);

/* Leaves at most `max` bytes of the beginning, whole characters, with a note behind them. */
void head_tail_cut(struct buf *text, size_t max);

#endif
