/* What the parts of the agent thread share: conversation.c (the loop and what may happen when),
 * conversation_session.c (opening, changing and leaving sessions), conversation_turn.c (turns and
 * their questions), conversation_compact.c (compaction and what it asks), conversation_context.c
 * (the next request by parts), conversation_memory.c (semantic memory), conversation_tell.c
 * (notices). */
#ifndef SESSION_CONVERSATION_PRIVATE_H
#define SESSION_CONVERSATION_PRIVATE_H

#include "agent/agent.h"
#include "agent/approval.h"
#include "agent/budget.h"
#include "memory/recall.h"
#include "session/backend.h"
#include "session/conversation.h"
#include "session/engine_private.h"
#include "session/journal.h"
#include "session/memory_sink.h"

/* A tool that waits for the user's word. */
struct question {
    const char *id; /* of the call; NULL: none is open */
    const struct tool_call *call;
    const char *args, *preview;
    bool answered;
    enum approval_answer answer;
};

/* A draft summary that waits for the user's word. */
struct review {
    const struct draft *draft; /* NULL: none is open */
    bool answered;
    struct draft_verdict verdict;
};

struct conversation {
    struct engine *engine;
    struct seat seat;            /* the engine's */
    bool is_first;               /* of the engine, whose options say what it opens */
    const struct config *config; /* the engine's */
    struct mailbox *commands;
    char *labels; /* for a session that is begun; NULL: none */
    int root_fd;  /* the engine's root */

    struct wakeup wakeup;
    struct store *store;
    struct journal journal;
    struct backend backend;
    struct approval_policy policy;
    struct budget budget;
    struct prompt_told prompt_told;
    struct question question;
    struct review review;
    struct compact_settings compact;
    struct backend summary_backend; /* where [compaction] names another provider or model */
    struct summariser summariser;   /* borrows from that, or from `backend` */
    char *summariser_label;
    bool failure_told; /* compaction_failed came since the command */

    struct recall recall; /* on `store`; its memory is NULL where there is none */
    struct memory_sink memory_sink;
    struct tool_memory tool_memory;
    struct toolset tools;

    char *newer_draft; /* that came since a message was taken, whose sending uses up the older one;
                          NULL: none */

    int64_t last_cached; /* input of the last answer that the provider had cached; -1 unknown */

    /* COMPACTION: by hand. ASIDE: asks the server something between turns. */
    enum { IDLE, TURN, COMPACTION, ASIDE } doing;
    int64_t busy_since_ms; /* clock_mono_ms() at which the turn or compaction began */
    bool cancelled;
    bool quit;
    VEC(struct command *) deferred; /* until the turn has ended */
};

/* conversation.c */
void conversation_handle(struct conversation *w, struct command *c); /* takes it */
bool conversation_go_on(void *conversation);
/* Asks the server something between turns, for a few seconds at most. */
void conversation_step_aside(struct conversation *w);
void conversation_finish(struct conversation *w);                  /* idle again */
void conversation_drop(struct conversation *w, struct command *c); /* it was done, or will not be */
/* The command of a turn that was put off, which the caller frees; NULL if there is none. */
struct command *conversation_take_waiting_turn(struct conversation *w);

/* conversation_tell.c */
void tell(struct conversation *w, struct notice *n);
struct notice *error_notice(const struct command *c, const struct error *e); /* to be added to */
void tell_error(struct conversation *w, const struct command *c, const struct error *e);
void tell_session(struct conversation *w, bool opened);
void tell_provider(struct conversation *w);
void tell_busy(struct conversation *w, bool busy);
/* Session, last screens, provider, what runs and what waits for an answer, for a surface that shows
 * another one. */
void tell_all(struct conversation *w);
void tell_page(struct conversation *w, struct event_list *tail, bool more); /* takes the events */
void tell_done(struct conversation *w, const struct command *c, const char *id);
struct budget_use conversation_spent(const struct conversation *w);

/* conversation_session.c */
/* Before the first command: the first conversation opens what the options say. */
void conversation_begin(struct conversation *w);
bool conversation_choose(struct conversation *w, struct error *e);
void conversation_note_backend(struct conversation *w);
/* The session that the command names is the open one. */
bool conversation_means_current(struct conversation *w, const struct command *c);
void do_new(struct conversation *w, struct command *c);
void do_resume(struct conversation *w, struct command *c);
void do_open(struct conversation *w, struct command *c);
void do_fork(struct conversation *w, struct command *c);
void do_rename(struct conversation *w, struct command *c);
void do_label(struct conversation *w, struct command *c);
void do_archive(struct conversation *w, struct command *c);
void do_delete(struct conversation *w, struct command *c);
void do_set_model(struct conversation *w, struct command *c);
void do_set_system(struct conversation *w, struct command *c);
void do_save_draft(struct conversation *w, struct command *c);

/* conversation_turn.c */
/* How large the next request is, also of a session whose messages are not loaded. */
struct request_size conversation_request(struct conversation *w);
/* What a request is made with; conversation_agent_release() frees what it owns. */
struct agent conversation_agent(struct conversation *w);
void conversation_agent_release(struct agent *a);
/* False: the session is open for reading only. */
bool conversation_is_live(const struct conversation *w, struct error *e);
bool conversation_need_history(struct conversation *w, struct error *e);
void conversation_project(struct conversation *w); /* derived files, after the history changed */
void do_start_turn(struct conversation *w, struct command *c);
void do_retry(struct conversation *w, struct command *c);
void do_interrupt(struct conversation *w, struct command *c);
void tell_question(struct conversation *w);
void do_answer(struct conversation *w, struct command *c);

/* conversation_compact.c */
/* What compaction needs of the conversation, in the agent's struct; nothing where it is off. */
void conversation_equip(struct conversation *w, struct agent *a);
void conversation_read_compaction(struct conversation *w);
void conversation_forget_summariser(struct conversation *w);
/* Whether automatic compaction stopped, and from how many tokens on it would happen. */
bool conversation_suspended(struct conversation *w);
struct compact_limits conversation_limits(const struct conversation *w);
int64_t conversation_threshold(const struct conversation *w);
void do_compact(struct conversation *w, struct command *c);
void do_uncompact(struct conversation *w, struct command *c);
void do_pin(struct conversation *w, struct command *c);
void tell_draft(struct conversation *w);
void do_draft(struct conversation *w, struct command *c);

/* conversation_memory.c */
void conversation_open_memory(struct conversation *w); /* the store is open */
void conversation_close_memory(struct conversation *w);
void conversation_note_indexed(struct conversation *w); /* a compaction was kept */

/* conversation_context.c */
void do_context(struct conversation *w, struct command *c);

#endif
