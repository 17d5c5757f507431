/* What the parts of the agent thread share: worker.c (the loop and what may happen when),
 * worker_session.c (opening, changing and leaving sessions), worker_turn.c (turns and their
 * questions), worker_compact.c (compaction and what it asks), worker_context.c (the next request by
 * parts), worker_memory.c (semantic memory), worker_tell.c (notices). */
#ifndef SESSION_WORKER_PRIVATE_H
#define SESSION_WORKER_PRIVATE_H

#include "agent/agent.h"
#include "agent/approval.h"
#include "agent/budget.h"
#include "memory/recall.h"
#include "session/backend.h"
#include "session/journal.h"
#include "session/memory_desk.h"
#include "session/memory_sink.h"
#include "session/reader.h"
#include "session/worker.h"

/* A tool that waits for the user's word. */
struct question {
    const char *id; /* of the call; NULL: none is open */
    bool answered;
    enum approval_answer answer;
};

/* A draft summary that waits for the user's word. */
struct review {
    bool open, answered;
    struct draft_verdict verdict;
};

struct worker {
    const struct config *config;
    char *store_path; /* of the file; NULL: in memory alone */
    char *store_dir;  /* that holds it, once it is open; NULL: in memory after all */
    bool persist, compaction, memory;
    char *provider, *model, *system, *resume, *allow, *labels; /* asked for at the start */
    char *offer;                                               /* level of tools */
    bool can_ask, open_read_only, offer_draft;
    char *root; /* working directory, resolved */
    int root_fd;

    struct mailbox *commands, *notices;
    struct wakeup wakeup;
    struct store *store;
    struct journal journal;
    struct backend backend;
    struct reader *reader;
    struct approval_policy policy;
    struct budget budget;
    struct question question;
    struct review review;
    struct compact_settings compact;
    struct backend summary_backend; /* where [compaction] names another provider or model */
    struct summariser summariser;   /* borrows from that, or from `backend` */
    char *summariser_label;
    bool failure_told; /* compaction_failed came since the command */

    struct recall recall; /* on `store`; its memory is NULL where there is none */
    struct memory_sink memory_sink;
    struct memory_desk *desk; /* NULL: there is no memory */
    struct tool_memory tool_memory;
    struct toolset tools;

    char *newer_draft; /* that came since a message was taken, whose sending uses up the older one;
                          NULL: none */

    int64_t last_cached; /* input of the last answer that the provider had cached; -1 unknown */

    /* COMPACTION: by hand. ASIDE: asks the server something between turns. */
    enum { IDLE, TURN, COMPACTION, ASIDE } doing;
    bool cancelled;
    bool quit;
    VEC(struct command *) deferred; /* until the turn has ended */
};

/* worker.c */
void worker_handle(struct worker *w, struct command *c); /* takes it */
bool worker_go_on(void *worker);
/* Asks the server something between turns, for a few seconds at most. */
void worker_step_aside(struct worker *w);
void worker_finish(struct worker *w); /* idle again */
/* The command of a turn that was put off, which the caller frees; NULL if there is none. */
struct command *worker_take_waiting_turn(struct worker *w);

/* worker_tell.c */
void tell(struct worker *w, struct notice *n);
struct notice *error_notice(const struct command *c, const struct error *e); /* to be added to */
void tell_error(struct worker *w, const struct command *c, const struct error *e);
void tell_session(struct worker *w, bool opened);
void tell_provider(struct worker *w);
void tell_busy(struct worker *w, bool busy);
void tell_done(struct worker *w, const struct command *c, const char *id);
struct budget_use worker_spent(const struct worker *w);

/* worker_session.c */
void worker_open_first(struct worker *w);
bool worker_choose(struct worker *w, struct error *e);
void worker_note_backend(struct worker *w);
/* The session that the command names is the open one. */
bool worker_means_current(struct worker *w, const struct command *c);
void do_new(struct worker *w, struct command *c);
void do_resume(struct worker *w, struct command *c);
void do_open(struct worker *w, struct command *c);
void do_fork(struct worker *w, struct command *c);
void do_rename(struct worker *w, struct command *c);
void do_label(struct worker *w, struct command *c);
void do_archive(struct worker *w, struct command *c);
void do_delete(struct worker *w, struct command *c);
void do_set_model(struct worker *w, struct command *c);
void do_set_system(struct worker *w, struct command *c);
void do_save_draft(struct worker *w, struct command *c);

/* worker_turn.c */
/* How large the next request is, also of a session whose messages are not loaded. */
struct request_size worker_request(struct worker *w);
/* What a request is made with; worker_agent_release() frees what it owns. */
struct agent worker_agent(struct worker *w);
void worker_agent_release(struct agent *a);
/* False: the session is open for reading only. */
bool worker_is_live(const struct worker *w, struct error *e);
bool worker_need_history(struct worker *w, struct error *e);
void worker_project(struct worker *w); /* derived files, after the history changed */
void do_start_turn(struct worker *w, struct command *c);
void do_retry(struct worker *w, struct command *c);
void do_interrupt(struct worker *w, struct command *c);
void do_answer(struct worker *w, struct command *c);

/* worker_compact.c */
/* What compaction needs of the worker, in the agent's struct; nothing where it is off. */
void worker_equip(struct worker *w, struct agent *a);
void worker_read_compaction(struct worker *w, const struct service_options *o);
void worker_forget_summariser(struct worker *w);
/* Whether automatic compaction stopped, and from how many tokens on it would happen. */
bool worker_suspended(struct worker *w);
struct compact_limits worker_limits(const struct worker *w);
int64_t worker_threshold(const struct worker *w);
void do_compact(struct worker *w, struct command *c);
void do_uncompact(struct worker *w, struct command *c);
void do_pin(struct worker *w, struct command *c);
void do_draft(struct worker *w, struct command *c);

/* worker_memory.c */
void worker_open_memory(struct worker *w, const char *path); /* of the store, which is open */
void worker_close_memory(struct worker *w);
void worker_note_indexed(struct worker *w);          /* a compaction was kept */
void do_memory(struct worker *w, struct command *c); /* any that the desk answers */

/* worker_context.c */
void do_context(struct worker *w, struct command *c);

#endif
