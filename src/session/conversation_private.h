/* Shared by the files of the agent thread: conversation.c has its loop and decides when a request
 * is done; conversation_session.c opens, changes and leaves sessions; conversation_place.c has
 * their directory and settings, and opens them for a server; conversation_turn.c has turns, notices
 * and the tasks of the surface for tools; conversation_compact.c compaction, rewinds
 * and the parts of the next request; conversation_restore.c files after a rewind;
 * conversation_memory.c memory, learned items, the graph,
 * corpora and files of instructions. */
#ifndef SESSION_CONVERSATION_PRIVATE_H
#define SESSION_CONVERSATION_PRIVATE_H

#include "agent/agent.h"
#include "agent/approval.h"
#include "agent/budget.h"
#include "agent/tool_mcp.h"
#include "chat/form.h"
#include "knowledge/directive.h"
#include "memory/recall.h"
#include "session/backend.h"
#include "session/conversation.h"
#include "session/conversation_operations.h"
#include "session/engine_private.h"
#include "session/journal.h"
#include "session/memory_sink.h"
#include "session/session_operations.h"

/* A tool call that waits for approval, or the project's parts that wait for trust. */
struct question {
    const char *id;               /* of the call, or QUESTION_OF_TRUST; NULL: none is open */
    const struct tool_call *call; /* NULL: about the project */
    const char *args, *preview;
    bool answered;
    enum approval_answer answer;
    char *reason; /* of a refusal, owned; NULL: none was given */
};

/* The parts of the project that could run something (knowledge/trust.h), of the open session. */
struct project_trust {
    struct project_parts parts; /* as gathered when the session's first turn began */
    bool decided;               /* the user has answered, or need not or cannot be asked */
    bool trusted;               /* they may run */
};

/* A task of the surface for a tool (NOTICE_READ, NOTICE_WRITE, NOTICE_RUN). */
struct wanted {
    int64_t number; /* tasks with smaller numbers are over */
    bool waits, answered;
    struct surface_answer_params answer; /* owned, if `answered` */
};

/* A form of an MCP server that waits for a person. */
struct elicitation {
    int64_t number;     /* counts them */
    const char *server; /* NULL: none waits */
    char *params;       /* JSON, as the server sent it; owned */
    struct form form;
    bool answered;
    enum elicitation_action action;
    char *content; /* JSON, owned; NULL: none */
};

/* A draft summary that waits for the user's decision. */
struct review {
    const struct draft *draft; /* NULL: none is open */
    bool answered;
    struct draft_verdict verdict;
};

/* COMPACTION: requested by the user. ASIDE: a question to the server between turns. */
enum doing { IDLE, TURN, COMPACTION, ASIDE };

/* The corpora that the user has named in a session up to a message. */
struct named_corpora {
    struct text_list names;
    char session[UUID_LEN + 1];
    int64_t turn;
    bool known;
};

struct conversation {
    struct engine *engine;
    struct seat seat;
    bool is_first;               /* the engine's first, which opens the session of the options */
    bool tidies;                 /* it does the work that a process does once, while idle */
    const struct config *config; /* the engine's */
    char *labels;                /* of a new session; NULL: none */
    char *root; /* directory that it works in, resolved; the engine's, or its session's */
    int root_fd;

    struct wakeup wakeup;
    struct store *store;
    /* The store of memory, graph, learned items and corpora: `store`, or beside a store in memory
     * the file, for reading only (the engine's `lasting`). */
    struct store *lasting;
    struct error fault; /* why there is no store; every request is refused with it */
    struct journal journal;
    struct backend backend;
    struct approval_policy policy;
    struct budget budget;
    struct prompt_told prompt_told;
    struct question question;
    struct elicitation elicitation;
    struct wanted wanted;
    struct tool_surface tool_surface;
    struct review review;
    struct compact_settings compact;
    struct backend summary_backend; /* used if [compaction] names another provider or model */
    struct summariser summariser;   /* borrows from that, or from `backend` */
    char *summariser_label;
    bool failure_told; /* a compaction_failed came since the request */

    struct recall recall;  /* on `store`; its memory is NULL without memory */
    struct recall earlier; /* on `lasting`, if that is another store */
    struct memory_sink memory_sink;
    struct tool_memory tool_memory;
    struct { /* events of the messages that searches of the turn passed over */
        int64_t turn, seqs[40];
        size_t count;
    } passed_over;
    struct tool_learned tool_learned;
    struct tool_graph tool_graph; /* on `lasting`, while it is open */
    struct corpora *corpora;      /* on `lasting`; NULL: none */
    struct tool_corpora tool_corpora;
    struct tool_skills tool_skills;
    struct named_corpora named_corpora;
    int cited;            /* passages that were sent with the last message */
    struct tool_mcp *mcp; /* the servers of the open session, which work in `root`; NULL: no root */
    char *editor_servers; /* that the client named for the open session, JSON; NULL: none */
    unsigned elicits;     /* what the person of the open session answers: MCP_ELICITS_… */
    bool servers_trusted; /* they were started with those of the project */
    bool servers_changed; /* in the configuration, since then */
    struct toolset tools;

    enum memory_access access; /* of the open session; so is `level` */
    enum tools_offer level;
    char *effort;       /* that was set for it; NULL: as configured */
    struct hooks hooks; /* of the open session */
    struct project_trust trust;
    struct instructions instructions; /* read at the last turn or context/read */
    struct skills skills;             /* read with the instructions, as is the next */
    char *skills_told;                /* their names in the prompt; NULL: none */
    char *graph_hint;                 /* likewise; NULL: none */
    char *project;                    /* of `root`; NULL: not determined yet */
    char *learned;                    /* text about learned memory in the prompt; NULL: none */
    bool uncounted;                   /* the size of the session's history is not known yet */
    bool learned_used;                /* `learned` was counted as used for this session */
    char *recalled;   /* what memory has on the running turn's message; NULL: nothing */
    char *asked;      /* the last message with words to search for; NULL: none yet */
    bool title_due;   /* a model gives the session its title as soon as no request waits */
    bool graph_named; /* a message of this session was about the graph */
    /* Results of tools before the session was opened. Not updated with each call: a change in the
     * prompt makes the provider's cache useless for all text after it. */
    struct learned_items tool_usage;
    bool tool_usage_known;

    char *newer_draft; /* a draft that came after a message was taken, whose turn deletes the older
                          draft; NULL: none */

    int64_t last_cached; /* input of the last answer that the provider had cached; -1 unknown */

    enum doing doing;
    enum input_origin origin; /* of the message of the newest turn */
    int64_t busy_since_ms;    /* clock_mono_ms() at which the turn or compaction began */
    int64_t idle_at_ms;       /* time at which to index the messages of a session that stays open;
                                 0: none */
    struct turn_result *turn; /* of the running turn */
    bool prepared;            /* of the running turn: key, model, window and history are there */
    bool cancelled;
    bool begun;         /* the open session was begun here */
    bool looked_at;     /* in an engine that serves: it was opened for reading */
    bool gone;          /* the open session was archived or deleted */
    size_t tasks;       /* commands in the background, as was told last */
    size_t tasks_ended; /* with a session that was left; not told yet */
    bool quit;
};

/* conversation.c */
void conversation_handle(struct conversation *c, struct operation_request *r); /* takes it */
bool conversation_go_on(void *conversation);
/* Asks the server something between turns, for a few seconds at most. */
void conversation_step_aside(struct conversation *c);
void conversation_finish(struct conversation *c); /* back to IDLE */
/* Answers with the error. Takes the request. */
void conversation_refuse(struct conversation *c, struct operation_request *r,
                         const struct error *e);
/* The `wants` of the row; session/open with `read_only` wants reading. */
enum operation_want conversation_wants(const struct operation_request *r);

/* conversation_place.c */
/* Makes the tools work in the directory (resolved; NULL and "": the engine's), or in none. */
void conversation_work_in(struct conversation *c, const char *directory);
void conversation_leave_directory(struct conversation *c);
/* Before a turn that has tools: starts the MCP servers, unless they were; again, if the user has
 * answered about trust in the project meanwhile. */
void conversation_start_servers(struct conversation *c);

/* The questions that the engine's surface can ask, unless a session's client can ask fewer. */
unsigned conversation_elicits(const struct conversation *c);
/* Resolves a directory that a request names (NULL stays NULL); the caller frees. */
bool conversation_find_directory(const char *given, char **resolved, struct error *e);
/* Images of a message (JSON, NULL: none), their paths below the directory; the caller frees. */
bool conversation_place_images(const struct conversation *c, const char *given, char **out,
                               struct error *e);

/* Refuses images that the model or its provider does not take, before anything is sent, and gives
 * the blocks of the others their sizes. May ask the server. `attachments` (JSON) is replaced. */
bool conversation_check_images(struct conversation *c, char **attachments, struct error *e);

/* keep_images() of struct agent: leaves out what the model's provider does not take, and all where
 * the session has no directory. May ask the server whether the model takes images. */
char *conversation_keep_images(void *conversation, const char *tool, const struct json *images);

/* The settings of the session that was opened; the level of its tools, as [chat] tools. */
void conversation_read_settings(struct conversation *c);
const char *conversation_offer(const struct conversation *c);
bool conversation_set_tools(struct conversation *c, enum tools_offer level, struct error *e);

/* In an engine that serves: claims the session that the request names. False: the request was given
 * to another conversation, or answered. */
bool conversation_takes_up(struct conversation *c, struct operation_request *r);
/* Whether the session must be opened first; opens it. */
bool conversation_must_open(const struct conversation *c, const struct operation_request *r);
bool conversation_opens_for(struct conversation *c, const struct operation_request *r,
                            struct error *e);

/* The place among the deferred requests of a turn or compaction; their number: there is none. */
size_t conversation_waiting_turn(const struct conversation *c);

void tell(struct conversation *c, struct notice *n);
void tell_fault(struct conversation *c, const struct error *e); /* a failure without a request */
void tell_session(struct conversation *c, bool opened);
void tell_provider(struct conversation *c);
void tell_busy(struct conversation *c, bool busy);
/* Sends all notices about the session's state, to a surface that showed another session. */
void tell_all(struct conversation *c);
void tell_page(struct conversation *c, struct event_list *tail, bool more); /* takes the events */

/* conversation_session.c */
/* Before the first request: the first conversation opens what the options say. */
void conversation_begin(struct conversation *c);
bool conversation_choose(struct conversation *c, struct error *e);
/* Chooses provider and model if nothing is chosen. */
bool conversation_need_backend(struct conversation *c, struct error *e);
bool conversation_open_session(struct conversation *c, const char *reference,
                               enum journal_access access, struct error *e);
void conversation_note_backend(struct conversation *c);
/* The effort of reasoning that requests ask for; NULL: none, or none that the model has. */
const char *conversation_effort(const struct conversation *c);
/* True if the reference names the open session, or is NULL or "". */
bool conversation_means_current(struct conversation *c, const char *reference);
/* Passes a session/open to another conversation that has the session open; false: none has. */
bool conversation_hands_over(struct conversation *c, struct operation_request *r);
/* After the open session was archived or deleted: begins a new one, if it was in front. */
void conversation_give_way(struct conversation *c);

/* conversation_turn.c */
/* The agent for a request; conversation_agent_release() releases it. */
struct agent conversation_agent(struct conversation *c);
void conversation_agent_release(struct agent *a);
/* False: the session is open for reading only. */
bool conversation_is_live(const struct conversation *c, struct error *e);
bool conversation_need_history(struct conversation *c, struct error *e);
void conversation_project(struct conversation *c); /* derived files, after the history changed */

/* permission_operations.c */
const char *conversation_project_path(struct conversation *c); /* project_of() its directory */
/* Reads what is always allowed in the project into the policy. */
bool conversation_read_permissions(struct conversation *c, struct error *e);
/* Before anything of the project may run: gathers its parts and asks about them, once a session and
 * when they have changed. `asks` false: a question is left to the next turn. */
void conversation_trust_project(struct conversation *c, bool asks);
/* The parts that may run; NULL: none. Valid while the session is open. */
const struct project_parts *conversation_trusted_parts(const struct conversation *c);
void conversation_forget_trust(struct conversation *c); /* the session is left */

/* conversation_turn.c */
void tell_question(struct conversation *c);
void tell_elicitation(struct conversation *c, bool over);
/* Asks `question`, and waits until it is answered, the turn is interrupted or the program ends.
 * ANSWER_DENY where there is no answer. The question stays for its reason; the caller clears it. */
enum approval_answer conversation_ask(struct conversation *c, struct question question);

/* attach.c */
/* Adds the files of a message to its attachments (a JSON array, owned; NULL: none). Those of its
 * older text `before` (NULL: none) that the new one no longer mentions are left out. */
bool conversation_attach(struct conversation *c, const struct mentions *names, const char *text,
                         const char *before, char **attachments, struct error *e);

/* skill_operations.c */
void conversation_know_skills(struct conversation *c);
void conversation_read_skills(struct conversation *c);
/* Adds the text of the skill, command or prompt that a typed message begins with ("/NAME …"), and
 * of the skills that are attached as "skill:NAME", to its attachments (a JSON array, owned; NULL:
 * none). `anew`: in place of those of an older message. */
bool conversation_add_skills(struct conversation *c, const char *text,
                             const struct mentions *attached, bool anew, char **attachments,
                             struct error *e);

/* mcp_operations.c */
/* Gets a prompt of a server, which is started if it was not. USAGE: there is no such server. */
bool conversation_open_prompt(struct conversation *c, const char *name, const char *words,
                              struct buf *out, struct error *e);

void conversation_know_surface(struct conversation *c);

/* Tells of commands in the background that have ended, and how many run, if that has changed. */
void conversation_tell_tasks(struct conversation *c);
/* The session is left: ends its commands in the background, which is told by the next call of
 * conversation_tell_tasks(). */
void conversation_end_tasks(struct conversation *c);

/* conversation_compact.c */
/* Sets the agent's members for compaction, if compaction is on. */
void conversation_equip(struct conversation *c, struct agent *a);
/* True if automatic compaction was stopped. conversation_threshold(): the tokens that cause one. */
bool conversation_suspended(struct conversation *c);
int64_t conversation_threshold(const struct conversation *c);
/* After the first exchange: asks the model for summaries for the session's title. A request ends
 * the call, which is then made after it. */
void conversation_make_title(struct conversation *c);
/* name NULL: the mode of the configuration. NULL with `e`: there is no such mode. */
const struct compact_mode *conversation_find_mode(const struct conversation *c, const char *name,
                                                  struct error *e);
void tell_draft(struct conversation *c);

/* conversation_restore.c */
/* Names the files that were given an earlier content since the message before the next one, for the
 * model; `retries`: the message that is sent again, as of run_started; 0: none. NULL: none were.
 * The caller frees. */
char *conversation_restored_files(const struct conversation *c, int64_t retries);

/* conversation_memory.c */
void conversation_open_memory(struct conversation *c);  /* the store is open */
void conversation_know_graph(struct conversation *c);   /* all of it but the store */
void conversation_open_corpora(struct conversation *c); /* the store is open */

void conversation_note_said(struct conversation *c);      /* a turn has ended */
int conversation_idle_wait(const struct conversation *c); /* ms until idle_at_ms; -1: no such
                                                             time */
void conversation_note_idle(struct conversation *c);      /* at idle_at_ms */
/* Once, while idle: looks for sessions that were left and not indexed, and for older sessions about
 * which the user has not decided. */
void conversation_look_back(struct conversation *c);

void conversation_open_learned(struct conversation *c); /* another session is open */
/* Reads the files of instructions and what the graph has for the prompt. */
void conversation_read_prompt(struct conversation *c);

/* The recall() of struct agent. */
const char *conversation_recall(void *conversation, const char *input, int64_t tokens,
                                struct event **told);

/* Reads what the model is told of learned memory. `begins`: also counts it as used by the turn that
 * begins. */
void conversation_read_learned(struct conversation *c, bool begins);
/* Finds lasting instructions in a typed message; keeps them after the message was kept. */
void conversation_find_directives(const struct conversation *c, const struct event *ev,
                                  struct directives *out);
void conversation_learn(struct conversation *c, const struct directives *found);
void conversation_digest(struct conversation *c); /* a turn has ended */

#endif
