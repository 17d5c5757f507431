/* The engine, one in a process. It owns the conversations, each on its agent thread, and what they
 * share: configuration, the place of the store and the desks that read and search. One conversation
 * is in front: the one that the surface asked for last. A surface starts operations and pops
 * notices; nothing else is shared. Commands that need no conversation (listings, exports) call the
 * same rows without an engine (operation.h).
 *
 * Reads (session/history, memory/search, …) go to the desks and never to an agent thread, so that
 * they do not wait for a turn. Threads start when they are needed. */
#ifndef SESSION_ENGINE_H
#define SESSION_ENGINE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/worker.h"
#include "config/config.h"
#include "session/notice.h"

struct engine;
struct discard_sink;

/* The newest session of the project that the engine is started in. */
#define RESUME_HERE "."

struct engine_options {
    const struct config *config; /* borrowed; outlives the engine */
    const char *directory;       /* working directory; NULL: the process's */
    const char *store_path;      /* NULL: the default */
    const char *provider;        /* overrides; NULL: not given */
    const char *model;
    const char *effort; /* of reasoning; until a session sets another. Ignored by other models */
    const char *system;
    const char *tools; /* "none", "read" or "full"; NULL: configured */
    const char
        *allow; /* tools and classes that need no question, as in [tools] allow; NULL: none */
    bool trust; /* what the project would run is trusted until the engine ends */
    const char *labels; /* of a new session; NULL: none */
    bool compaction;    /* histories are shortened, if the build can */
    bool memory;        /* messages are indexed for memory_search, if the build can */
    bool can_ask;       /* the surface answers NOTICE_APPROVAL and NOTICE_DRAFT; else calls that
                           need approval are denied and drafts are committed */
    bool nobody_allows; /* with can_ask: no caller may answer NOTICE_APPROVAL */
    bool helps_tools;   /* the surface answers NOTICE_READ, NOTICE_WRITE and NOTICE_RUN */
    bool persist;       /* false, or a build without a store: sessions are in memory only */
    bool apart;         /* without `persist`: the store on disk is not opened for reading either */
    bool read_only;     /* `resume` is opened for reading */
    bool many;        /* session/create, open and fork are allowed during a turn, which goes on, and
                         the surface accepts notices of sessions that it does not show */
    bool serves;      /* no conversation is in front: each request names its session (see below) */
    bool offer_draft; /* instead of a new session, open the newest one of this directory that has
                         a draft and no messages, if no process has it open */
    const char *resume; /* reference of the session to open, or RESUME_HERE; NULL: a new one */
    const struct discard_sink *sink; /* for tests: takes the messages that compactions drop,
                                        in place of semantic memory; borrowed; NULL: none */
};

/* Copies the options' strings and starts the agent thread. Never waits for disk or network: later
 * failures arrive as NOTICE_ERROR. The first notices are SESSION, then PROVIDER as soon as the
 * provider is known. */
struct engine *engine_new(const struct engine_options *options);

/* Removes API keys from the environment. Call it after the configuration was loaded and before the
 * first engine and the first child process. */
void engine_hide_keys(void);

/* Interrupts the running turns, saves the answers so far, ends all threads and frees. */
void engine_free(struct engine *s);
AUTO_POINTER(engine_free, struct engine)

/* Starts a row of the table (operation.h) and returns the request's id. The answer comes as a
 * NOTICE_ANSWER with that id, also if the operation could not begin, and has the parameters.
 * `params` is a struct of the row's shape or NULL, and is copied. Any thread.
 *
 * A row of OPERATION_CONVERSATION goes to the conversation whose open session has the id in the
 * member "session_id" (SESSION_NOT_FOUND: none has), or without that member to the one in front. A
 * change of a session (session/rename, …), named by any reference, goes to the conversation that
 * has the session open. The request wakes the conversation's thread. turn/start while a turn runs
 * is SESSION_BUSY, turn/interrupt while none runs SESSION_NOT_RUNNING.
 *
 * With `many`, session/create, open and fork during a turn begin another conversation, which is
 * then in front. session/open of a session that is open in another conversation brings that one to
 * the front and sends its state again: SESSION, BUSY, PAGE, PROVIDER, and APPROVAL or DRAFT if it
 * waits for an answer. A conversation that is not in front goes on until its turn has ended, and
 * then closes its session. */
uint64_t engine_start(struct engine *s, const struct operation *o, const void *params);

/* With `serves` no session is begun at the start, and `resume`, `read_only`, `many`, `labels` and
 * `offer_draft` mean nothing. A request names its session in the member "session_id", by any
 * reference (sessions.h); USAGE that names the member if the row needs one. A session that is not
 * open is opened, only for reading if the row does not write (context/read, models/list …). An
 * archived session, or one that was opened for reading, is SESSION_NOT_FOUND to rows that write,
 * until session/open resumes it. session/create and session/fork open a session each. Requests for
 * one session go to one conversation, in the order in which they came. SESSION_NOT_FOUND: no such
 * session; SESSION_BUSY: a turn runs in it, also in another process.
 *
 * A conversation closes after [serve] idle_minutes without a request; while more than [serve]
 * open_sessions are open, the one that was idle longest closes. The next request opens it again.
 * Notices of all sessions are sent, except PAGE: session/history has the events. */

/* The surface does not need the answer: a read that is not done yet is dropped, and no answer comes
 * unless it was already sent. An operation that changes something is still done. */
void engine_withdraw(struct engine *s, uint64_t id);

/* Cancels a request that waits for a conversation. True: it was not begun and will not be; no
 * answer comes. False: it is being done or over, or is no request to a conversation. */
bool engine_cancel(struct engine *s, uint64_t id);

/* Opens the store's file now. False with `e`: the file cannot be used, and sessions would be in
 * memory only. For a caller that would rather end. */
bool engine_open_store(struct engine *s, struct error *e);

/* Notices; poll mailbox_fd() of it, free with notice_free(). */
struct mailbox *engine_notices(struct engine *s);

#endif
