/* tiro_run, tiro_resume and tiro_compact: a session is begun or found, and a turn or a compaction
 * runs in it. A client that gave a token is told the progress; one that cancels interrupts it. */
#include <stdlib.h>
#include <string.h>

#include "base/json_pack.h"
#include "base/mem.h"
#include "chat/transcript_text.h"
#include "serve/contract.h"
#include "serve/mcp_private.h"
#include "session/config_operations.h"
#include "session/conversation_operations.h"
#include "session/corpus_operations.h"
#include "session/graph_operations.h"
#include "session/mcp_operations.h"
#include "session/memory_operations.h"
#include "session/session_operations.h"

struct run_params {
    char *prompt;
    struct session_create_params session;
};
struct resume_params {
    char *prompt;       /* NULL: of tiro_compact */
    char *mode, *focus; /* … alone */
    struct session_params session;
};

#define PROMPT(S) SHAPE_REQ_AS(PROMPT_MEMBER, S, prompt, "The message.", .least = 1)
#define CHOICE(member, ...) SHAPE_OPT_AS(#member, run_params, session.member, __VA_ARGS__)

const struct shape mcp_run_shape = SHAPE_PARAMETERS(
    struct run_params, PROMPT(run_params),
    CHOICE(provider, "Name of the provider; absent: the present provider."),
    CHOICE(model, "Name of the model; absent: the configured model, else the provider's default."),
    CHOICE(directory, "Absolute path of its working directory; absent: the program's."),
    CHOICE(system, "System prompt; absent: the configured one."),
    CHOICE(labels, "Labels, separated by blanks."),
    SHAPE_FIELD("tools", ENUM, OPTIONAL,
                SHAPE_AT(enum tools_offer, struct run_params, session.tools),
                .names = &tools_offer_names, .absent = TOOLS_CONFIGURED,
                .help = "Tools that the model may use; tools that would ask are denied."));

#define RESUMED                                                                                    \
    SHAPE_REQ_AS(SESSION_MEMBER, resume_params, session.session,                                   \
                 "Id, title, unique part of an id, \"last\" or \"~N\".", .least = 1)

const struct shape mcp_resume_shape =
    SHAPE_PARAMETERS(struct resume_params, RESUMED, PROMPT(resume_params));
const struct shape mcp_compact_shape = SHAPE_PARAMETERS(
    struct resume_params, RESUMED,
    SHAPE_OPT(resume_params, mode,
              "handoff, structured, recency_preserving, deterministic or llm_replace; "
              "absent: the configured one."),
    SHAPE_OPT(resume_params, focus, "What the summary should keep above all."));

struct turn {
    char *prompt;       /* NULL: a compaction */
    char *mode, *focus; /* … of it */
    char *token;        /* of progress, JSON; NULL: nobody wants to know */
    int64_t progress;
    char session[UUID_LEN + 1]; /* "": it has not begun */
};

static void free_turn(struct mcp_call *c)
{
    struct turn *t = c->state;
    free(t->prompt);
    free(t->mode);
    free(t->focus);
    free(t->token);
    free(t);
}

/* --- interrupting ----------------------------------------------------------------------------- */

/* The answer of the turn ends the call; the session keeps the part that was done. */
static void interrupt(struct mcp_call *c)
{
    const struct session_params session = {.session = ((const struct turn *)c->state)->session};
    if (!*session.session)
        mcp_call_free(c);
    else
        server_ask(c->mcp->server, &operation_turn_interrupt, &session, NULL, NULL);
}

static const struct mcp_work work = {.lasts = true, .cancel = interrupt, .free = free_turn};

/* --- progress --------------------------------------------------------------------------------- */

/* There is no person to ask: a tool that needs more than was allowed at start is denied. */
void mcp_turn_notice(void *mcp, const struct notice *n)
{
    static const char *const progress[EVENT_TYPE_COUNT] = {
        [EVENT_CALL_STARTED] = "asking the model",
        [EVENT_TOOL_CALL_REQUESTED] = "calling ",
        [EVENT_TOOL_EXECUTION_COMPLETED] = "the tool has run",
        [EVENT_RETRYING] = "trying again",
        [EVENT_COMPACTION_STARTED] = "shortening the conversation",
    };
    struct mcp *m = mcp;
    const char *did = n->type == NOTICE_EVENT ? progress[n->event->type] : NULL, *tool = "";
    if (did && n->event->type == EVENT_TOOL_CALL_REQUESTED)
        tool = n->event->name ? n->event->name : "a tool";
    auto_free char *words = did ? mem_printf("%s%s", did, tool) : NULL;
    bool runs_here = false;
    for (size_t i = 0; i < m->calls.len; i++) {
        struct mcp_call *c = m->calls.items[i];
        struct turn *t = c->work == &work ? c->state : NULL;
        if (!t || strcmp(t->session, n->session) != 0)
            continue;
        runs_here = true;
        if (!words || !c->rpc || !t->token)
            continue;
        AUTO(buf_release) struct buf text = BUF_INIT;
        json_out_pack(&(struct json_out){.buf = &text}, "{progressToken:r progress:I message:s}",
                      t->token, ++t->progress, words);
        mcp_notify(c->link, "notifications/progress", text.data);
    }
    if (n->type == NOTICE_APPROVAL && runs_here) {
        const struct approval_decide_params no = {
            .session = n->session, .call = n->text, .decision = ANSWER_DENY};
        server_ask(m->server, &operation_approval_decide, &no, NULL, NULL);
    } else if (n->type == NOTICE_ELICITATION && !n->flag && runs_here) {
        const struct elicitation_decide_params no = {
            .session = n->session, .number = n->number, .action = ELICITATION_DECLINE};
        server_ask(m->server, &operation_elicitation_decide, &no, NULL, NULL);
    } else if (n->type == NOTICE_DRAFT && runs_here) {
        const struct compaction_decide_params yes = {.session = n->session,
                                                     .decision = DRAFT_COMMIT};
        server_ask(m->server, &operation_compaction_decide, &yes, NULL, NULL);
    }
}

/* --- the turn --------------------------------------------------------------------------------- */

static void on_turn(struct mcp_call *c, const struct operation_answer *a)
{
    const struct error *fault = contract_fault(a);
    const struct shape *shape = a->error.code == ERR_OK ? a->request->operation->result : NULL;
    if (fault)
        mcp_tool_fail(c, fault, shape, a->result);
    else
        mcp_tool_send(c, shape, a->result, NULL);
}

static void on_session(struct mcp_call *c, const struct operation_answer *a)
{
    struct turn *t = c->state;
    if (a->error.code != ERR_OK) {
        mcp_tool_fail(c, &a->error, NULL, NULL);
        return;
    }
    memcpy(t->session, ((const struct session_info *)a->result)->id, sizeof t->session);
    const struct turn_start_params turn = {
        .session = t->session, .text = t->prompt, .origin = INPUT_PROGRAM};
    const struct compaction_run_params compaction = {
        .session = t->session, .mode = t->mode, .focus = t->focus};
    /* Forms are declined here. */
    const struct session_client_params client = {.session = t->session};
    server_ask(c->mcp->server, &operation_session_set_client, &client, NULL, NULL);
    if (t->prompt)
        mcp_ask(c, &operation_turn_start, &turn, on_turn);
    else
        mcp_ask(c, &operation_compaction_run, &compaction, on_turn);
}

/* Opens the session for writing: it may have been closed, or opened for reading. */
static void on_found(struct mcp_call *c, const struct operation_answer *a)
{
    if (a->error.code != ERR_OK) {
        mcp_tool_fail(c, &a->error, NULL, NULL);
        return;
    }
    const struct session_open_params params = {.session = ((struct session_info *)a->result)->id};
    mcp_ask(c, &operation_session_open, &params, on_session);
}

/* `begun` is copied; its texts are taken. */
static void begin(struct mcp_call *c, const struct operation *o, const void *params,
                  void (*answered)(struct mcp_call *c, const struct operation_answer *a),
                  struct turn begun)
{
    struct turn *t = mem_alloc(sizeof *t);
    *t = begun;
    c->work = &work;
    c->state = t;
    mcp_ask(c, o, params, answered);
}

void mcp_turn_run(struct mcp_call *c, void *params, const char *token)
{
    struct run_params *p = params;
    struct error e;
    if (authority_gives(c->mcp->server, mcp_authority(c->mcp), &operation_session_create,
                        &p->session, &e))
        begin(c, &operation_session_create, &p->session, on_session,
              (struct turn){.prompt = mem_strdup(p->prompt), .token = mem_strdup(token)});
    else
        mcp_tool_fail(c, &e, NULL, NULL);
    shape_release(&mcp_run_shape, p);
    free(p);
}

void mcp_turn_resume(struct mcp_call *c, void *params, const char *token)
{
    struct resume_params *p = params;
    begin(c, &operation_session_read, &p->session, on_found,
          (struct turn){.prompt = mem_strdup(p->prompt),
                        .mode = mem_strdup(p->mode),
                        .focus = mem_strdup(p->focus),
                        .token = mem_strdup(token)});
    shape_release(p->prompt ? &mcp_resume_shape : &mcp_compact_shape, p);
    free(p);
}

/* --- tiro_memory_search ----------------------------------------------------------------------- */

enum { RECALL = 5, RECALL_MOST = 20 };

static const struct shape recall_shape = SHAPE_PARAMETERS(
    struct memory_search,
    SHAPE_REQ(memory_search, query, "what to recall, in natural language", .least = 1),
    SHAPE_OPT(memory_search, limit, "how many results; default 5, at most 20", .least = 1,
              .most = RECALL_MOST, .nearest = true, .absent = RECALL),
    MEMORY_FILTER(memory_search));

static const struct shape recalled_shape = SHAPE_OF(
    "recalled", struct memory_found,
    SHAPE_REQ_LIST("results", memory_found, hits.items, memory_hit_model_shape, "Best first."),
    SHAPE_REQ(memory_found, total, "Entries that were searched."));

/* --- tiro_session_read ------------------------------------------------------------------------ */

static void add_transcript(const struct session_history_result *page, struct buf *out)
{
    struct transcript_text t;
    transcript_text_init(&t, &transcript_words_fixed);
    for (size_t i = 0; i < page->events.items.len; i++)
        transcript_text_add(&t, out, page->events.items.items[i]);
    transcript_text_release(&t);
}

static void write_transcript(struct json_out *o, const void *page)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    add_transcript(page, &text);
    json_out_string(o, text.data);
}

static const struct shape_codec transcript = {
    .write = write_transcript, .schema = "{\"type\":\"string\"}", .expected = "a string"};

static bool has_events(const void *page)
{
    return ((const struct session_history_result *)page)->events.items.len > 0;
}

static void write_first(struct json_out *o, const void *page)
{
    json_out_number(o, ((const struct session_history_result *)page)->events.items.items[0]->seq);
}

static void write_last(struct json_out *o, const void *page)
{
    json_out_number(o, vec_last(&((const struct session_history_result *)page)->events.items)->seq);
}

#define NUMBER(function)                                                                           \
    {                                                                                              \
        .write = function, .schema = "{\"type\":\"integer\"}", .expected = "a whole number"        \
    }
static const struct shape_codec first = NUMBER(write_first), last = NUMBER(write_last);

static const struct shape page_shape =
    SHAPE_OF("page", struct session_history_result,
             SHAPE_FIELD("session", OBJECT, REQUIRED,
                         SHAPE_AT(struct session_info, struct session_history_result, session),
                         .of = &session_info_shape, .help = "The session."),
             SHAPE_FIELD("transcript", OWN, REQUIRED, 0, .codec = &transcript,
                         .help = "The page, as Markdown."),
             SHAPE_FIELD("first", OWN, OPTIONAL, 0, .codec = &first, .there = has_events,
                         .help = "Number of its first event: \"before\" of the page before it."),
             SHAPE_FIELD("last", OWN, OPTIONAL, 0, .codec = &last, .there = has_events,
                         .help = "Number of its last event: \"after\" of the page behind it."),
             SHAPE_REQ(session_history_result, more,
                       "There is more behind the page; with \"newest\" before it."));

static char *page_text(const void *result)
{
    const struct session_history_result *page = result;
    const struct event_list *events = &page->events;
    struct buf text = BUF_INIT;
    transcript_text_head(&text, &page->session, &transcript_words_fixed, false);
    add_transcript(page, &text);
    if (events->items.len > 0)
        buf_addf(&text, "\n[events %lld to %lld%s]\n", (long long)events->items.items[0]->seq,
                 (long long)vec_last(&events->items)->seq, page->more ? "; there are more" : "");
    return buf_take(&text);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct mcp_tool own_tools[] = {
    {.name = "tiro_memory_search",
     .title = "Search memory",
     .description = "Use it when the user refers to something said, decided or done earlier, and "
                    "before you guess or ask again: searches semantic memory, which holds past "
                    "conversations, and what was compacted away from this one to save context "
                    "space. Gives passages, best first.",
     .operation = &operation_memory_search,
     .params = &recall_shape,
     .result = &recalled_shape,
     .memory = true},
    {.name = "tiro_memory_read",
     .title = "Read a memory",
     .description = "Use it when a result of tiro_memory_search is a part of a long message, or "
                    "makes sense only with the turns beside it: reads the entry in full, and what "
                    "was said around it.",
     .operation = &operation_memory_around,
     .result = &memory_excerpt_model_shape,
     .memory = true},
    {.name = "tiro_sessions_search",
     .title = "Search sessions",
     .description = "Use it for an exact word, name or error text: searches the whole transcripts "
                    "of all tiro sessions, or of one. Gives a line around each match, and where "
                    "it is.",
     .operation = &operation_session_search,
     .memory = true},
    {.name = "tiro_session_read",
     .title = "Read a session",
     .description = "Use it to read on around a match of tiro_sessions_search: a page of a "
                    "session's transcript, from its beginning, behind an event (after), or the "
                    "newest (newest), perhaps before an event (before).",
     .operation = &operation_session_history,
     .result = &page_shape,
     .text = page_text,
     .memory = true},
    {.name = "tiro_read",
     .title = "Read about a session",
     .description = "Tell what a session is: its title, model, labels, directory, times, number of "
                    "turns, tokens, and whether it is archived. tiro_session_read gives the text.",
     .operation = &operation_session_read},
    {.name = "tiro_capabilities",
     .title = "What is there",
     .description =
         "Tell which parts of tiro are there (saved sessions, compaction, memory, graph, "
         "corpora, learned items), and why one is not.",
     .operation = &operation_capabilities_get},
    {.name = "tiro_rag_search",
     .title = "Search documents",
     .description = "Search the documents of a corpus, or of all, by meaning and words. Gives "
                    "passages, best first, with their files.",
     .operation = &operation_corpus_search},
    {.name = "tiro_rag_corpora",
     .title = "List corpora",
     .description = "List the corpora of documents that tiro_rag_search can search.",
     .operation = &operation_corpus_list},
    {.name = "tiro_memory_search_nodes",
     .title = "Search the knowledge graph",
     .description = "Search the knowledge graph by words, or by a part of a name, type or "
                    "observation. Gives entities, best first, and their relations.",
     .operation = &operation_graph_search},
    {.name = "tiro_memory_open_nodes",
     .title = "Open entities",
     .description = "Open entities of the knowledge graph by their exact names, with their "
                    "relations.",
     .operation = &operation_graph_open},
    {.name = "tiro_run",
     .title = "Run a prompt",
     .description = "Begin a session with tiro and send it a message. Gives the answer, and the "
                    "session's id for tiro_resume.",
     .operation = &operation_turn_start,
     .params = &mcp_run_shape,
     .start = mcp_turn_run,
     .right = MCP_RUN,
     .destroys = true,
     .reaches_out = true},
    {.name = "tiro_resume",
     .title = "Continue a session",
     .description = "Send a message to a session that exists. Gives the answer.",
     .operation = &operation_turn_start,
     .params = &mcp_resume_shape,
     .start = mcp_turn_resume,
     .right = MCP_RUN,
     .destroys = true,
     .reaches_out = true},
    {.name = "tiro_compact",
     .title = "Compact a session",
     .description =
         "Replace the older part of a session's history with a shorter text, so that the session "
         "fits the model's context window. The transcript keeps everything. Gives the result.",
     .operation = &operation_compaction_run,
     .params = &mcp_compact_shape,
     .start = mcp_turn_resume,
     .right = MCP_RUN,
     .destroys = true,
     .reaches_out = true},
    {.name = "tiro_interrupt",
     .title = "Interrupt a session",
     .description = "Stop the turn or the compaction that runs in a session of this server; the "
                    "part of the answer that arrived is kept.",
     .operation = &operation_turn_interrupt,
     .right = MCP_RUN},
    {.name = "tiro_archive",
     .title = "Archive a session",
     .description = "Put a session away: it is no longer listed, and can still be found and read. "
                    "tiro_resume takes it out again.",
     .operation = &operation_session_archive,
     .right = MCP_RUN,
     .repeatable = true},
    {.name = "tiro_rag_ingest",
     .title = "Add a document",
     .description = "Add a text to a corpus; it replaces a text of the same name.",
     .operation = &operation_corpus_ingest,
     .right = MCP_CORPORA,
     .destroys = true,
     .repeatable = true},
    {.name = "tiro_memory_create_entities",
     .title = "Create entities",
     .description = "Create entities in the knowledge graph, which lasts across sessions. Gives "
                    "those that are new; one that exists stays as it is.",
     .operation = &operation_graph_create,
     .right = MCP_GRAPH,
     .repeatable = true},
    {.name = "tiro_memory_add_observations",
     .title = "Add observations",
     .description = "Add observations to entities of the knowledge graph that exist. Gives those "
                    "that are new, for each entity.",
     .operation = &operation_graph_observe,
     .right = MCP_GRAPH,
     .repeatable = true},
    {.name = "tiro_memory_create_relations",
     .title = "Create relations",
     .description = "Create relations between entities of the knowledge graph that exist; in the "
                    "active voice (\"works at\"). Gives those that are new.",
     .operation = &operation_graph_relate,
     .right = MCP_GRAPH,
     .repeatable = true},
    {.name = "tiro_memory_delete_entities",
     .title = "Delete entities",
     .description = "Delete entities of the knowledge graph with their observations and relations; "
                    "if one name is unknown, none is deleted.",
     .operation = &operation_graph_delete,
     .right = MCP_GRAPH,
     .destroys = true},
    {.name = "tiro_memory_delete_observations",
     .title = "Delete observations",
     .description = "Delete observations of entities of the knowledge graph, given exactly as "
                    "they are.",
     .operation = &operation_graph_unobserve,
     .right = MCP_GRAPH,
     .destroys = true},
    {.name = "tiro_memory_delete_relations",
     .title = "Delete relations",
     .description = "Delete relations of the knowledge graph.",
     .operation = &operation_graph_unrelate,
     .right = MCP_GRAPH,
     .destroys = true},
};

/* The tools of a guise, from the first on; *count: how many. */
static const struct mcp_tool *tools_as(enum mcp_guise as, size_t *count)
{
    *count = as == MCP_AS_SERVER_MEMORY ? MCP_GRAPH_TOOLS : sizeof own_tools / sizeof *own_tools;
    return as == MCP_AS_SERVER_MEMORY ? mcp_graph_tools : own_tools;
}

static const struct shape *params_of(const struct mcp_tool *t)
{
    return t->params ? t->params : t->operation->params;
}

static const struct shape *result_of(const struct mcp_tool *t)
{
    return t->result ? t->result : t->operation->result;
}

/* --- tools/list ------------------------------------------------------------------------------- */

/* A right stands for the authority of the rows that its tools call. A tool without one calls what
 * every client may. */
static bool may_call(const struct mcp_tool *t, const struct mcp *m)
{
    if (m->as == MCP_AS_MEMORY && !t->memory)
        return false;
    return t->right ? m->rights & (t->right | MCP_OWNER)
                    : t->operation->authority == AUTHORITY_CLIENT;
}

char *mcp_tools_json(const struct mcp *m)
{
    AUTO(json_free_local) struct json *list = json_new_array();
    struct error e;
    size_t count;
    const struct mcp_tool *tools = tools_as(m->as, &count);
    for (size_t i = 0; i < count; i++) {
        const struct mcp_tool *t = &tools[i];
        /* every token of this guise counts, and models do not see what a tool gives */
        const struct shape *takes = params_of(t),
                           *gives = m->as == MCP_AS_MEMORY ? NULL : result_of(t);
        if (!may_call(t, m) || !operation_offered(t->operation, server_config(m->server), &e))
            continue;
        json_push(list,
                  json_pack("{name:s title:s description:s inputSchema:o outputSchema:o "
                            "annotations:{title:s readOnlyHint:b destructiveHint:b "
                            "idempotentHint:b openWorldHint:b}}",
                            t->name, t->title, t->description,
                            takes
                                ? shape_schema(takes)
                                : json_pack("{type:'object' properties:{} additionalProperties:b}",
                                            false),
                            gives ? shape_schema(gives) : NULL, t->title, !t->right, t->destroys,
                            t->repeatable || !t->right, t->reaches_out));
    }
    return json_print(list);
}

/* How long a client may go by it: which there are is decided at start. */
enum { LISTED_MS = 3600 * 1000 };

void mcp_tools_list(struct mcp_call *c, const struct json *params)
{
    struct mcp_result r;
    if (json_get_string(params, "cursor")) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"cursor\" is not one that was given; leave it out", NULL);
        return;
    }
    mcp_result_begin_kept(c, &r, LISTED_MS);
    json_out_name(&r.out, "tools");
    json_out_raw(&r.out, c->mcp->tools);
    mcp_result_send(c, &r);
}

/* --- tools/call ------------------------------------------------------------------------------- */

/* False with `e`: the arguments do not fit. */
static bool read_params(const struct mcp_tool *t, const struct json *given, void **out,
                        struct error *e)
{
    const struct shape *shape = params_of(t);
    AUTO(json_free_local) struct json *none = given ? NULL : json_new_object();
    const struct json *arguments = given ? given : none;
    *out = NULL;
    if (!shape)
        return json_len(arguments) == 0 ||
               err_set(e, ERR_USAGE, "\"%s\" is not known; this tool takes no arguments",
                       json_name(json_first(arguments)));
    auto_free void *read = mem_alloc(shape->size);
    if (!shape_read(shape, arguments, read, e))
        return false;
    *out = read;
    read = NULL;
    return true;
}

void mcp_tool_answered(struct mcp_call *c, const struct operation_answer *a)
{
    const struct mcp_tool *t = c->state;
    if (a->error.code != ERR_OK) {
        mcp_tool_fail(c, &a->error, NULL, NULL);
        return;
    }
    auto_free char *text = t->text ? t->text(a->result) : NULL;
    if (c->mcp->as == MCP_AS_SERVER_MEMORY && t->right == MCP_GRAPH)
        mcp_graph_changed(c->mcp);
    mcp_tool_send(c, result_of(t), a->result, text);
}

/* Calls the tool. A tool that was not allowed at start is not listed, but the caller is told why.
 */
void mcp_tools_call(struct mcp_call *c, const struct json *params)
{
    const struct json *arguments = json_get(params, "arguments");
    const struct json *token = json_get(json_get(params, "_meta"), "progressToken");
    const char *name = json_get_string(params, "name");
    const struct mcp_tool *t = NULL;
    struct error e = {0};
    void *taken;
    size_t count;
    const struct mcp_tool *tools = tools_as(c->mcp->as, &count);
    for (size_t i = 0; name && i < count && !t; i++)
        t = strcmp(tools[i].name, name) == 0 ? &tools[i] : NULL;
    if (!t || (c->mcp->as == MCP_AS_MEMORY && !t->memory)) {
        mcp_fail(c, RPC_INVALID_PARAMS, "Unknown tool; tools/list names those that there are",
                 NULL);
        return;
    }
    if (!may_call(t, c->mcp)) {
        auto_free char *text = mem_printf(
            "this tool is not offered; the person who starts tiro "
            "serve allows it with --allow %s",
            mcp_right_word(t->right));
        mcp_fail(c, RPC_INVALID_PARAMS, text, NULL);
        return;
    }
    if (arguments && json_type(arguments) != JSON_OBJECT) {
        mcp_fail(c, RPC_INVALID_PARAMS, "\"arguments\" is no object; give one", NULL);
        return;
    }
    if (!operation_offered(t->operation, server_config(c->mcp->server), &e) ||
        !read_params(t, arguments, &taken, &e)) {
        mcp_tool_fail(c, &e, NULL, NULL);
        return;
    }
    bool fits = json_type(token) == JSON_STRING || json_type(token) == JSON_NUMBER;
    auto_free char *progress = fits ? json_print(token) : NULL;
    c->state = (void *)(uintptr_t)t;
    if (t->ready)
        t->ready(taken);
    if (t->start) {
        t->start(c, taken, progress);
        return;
    }
    mcp_ask(c, t->operation, taken, mcp_tool_answered);
    if (taken)
        shape_release(params_of(t), taken);
    free(taken);
}
