/* The engine: one a process. It has what conversations share (configuration, the place of the
 * sessions, the desks that read and search) and conversations, each carried by its agent thread.
 * One is in front: the one that the surface asked for last. Surfaces start operations and pop
 * notices; nothing else is shared. It knows no surface. What needs no conversation (listings,
 * exports and the like of the command line) calls the same rows without it (operation.h).
 *
 * Reads (session/history, memory/search, …) go to the desks and never to an agent thread, so
 * that they wait for no turn; nor does any thread start before it is needed. */
#ifndef SESSION_ENGINE_H
#define SESSION_ENGINE_H

#include <stdbool.h>

#include "base/err.h"
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
    const char *system;
    const char *tools; /* "none", "read" or "full"; NULL: configured */
    const char
        *allow; /* tools and classes that need no question, as in [tools] allow; NULL: none */
    const char *labels; /* for a session that is begun; NULL: none */
    bool compaction;    /* histories are shortened; in a build that can */
    bool memory;        /* what goes is indexed, and memory_search is there; in a build that can */
    bool can_ask;       /* the surface answers NOTICE_APPROVAL and NOTICE_DRAFT; else what would ask
                           is denied, and drafts are committed */
    bool nobody_allows; /* … but not NOTICE_APPROVAL: no caller may */
    bool shows_changes; /* the surface shows NOTICE_CHANGE */
    bool helps_tools;   /* … and answers NOTICE_READ, NOTICE_WRITE and NOTICE_RUN */
    bool persist;       /* false, or a build without a store: it is kept in memory alone */
    bool apart;       /* without `persist`: the store on the disk is not even opened for reading */
    bool read_only;   /* `resume` is opened for reading */
    bool many;        /* session/create, open and fork leave a running turn running, and the surface
                         knows notices of sessions that it does not show; else they are refused */
    bool serves;      /* nothing is in front: each request names its session (see below) */
    bool offer_draft; /* a session that is begun is the newest one of this directory in which
                         something was written but nothing sent, if there is one that is free */
    const char *resume; /* reference of the session to open, or RESUME_HERE; NULL: a new one */
    const struct discard_sink *sink; /* for tests: takes what compactions drop in place of
                                        semantic memory; borrowed; NULL: nobody */
};

/* Copies the options' strings and starts the agent thread; never waits for disk or network: what
 * fails later arrives as NOTICE_ERROR. The first notices are SESSION, then
 * PROVIDER as soon as it is known. */
struct engine *engine_new(const struct engine_options *options);

/* Takes keys out of the environment, once the configuration has been loaded from it. Before the
 * first engine and the first child. */
void engine_hide_keys(void);

/* Interrupts the running turns, keeps what arrived, ends all threads and frees. */
void engine_free(struct engine *s);

/* Asks for a row of the table (operation.h) and returns the request's id; the answer comes as a
 * NOTICE_ANSWER with that id, also where nothing could be begun, and has the parameters. They are a
 * struct of the row's shape or NULL, and are copied. Any thread.
 *
 * What a conversation does is asked of the one that has the session open whose id the member
 * "session_id" is (SESSION_NOT_FOUND if none has), or of the one in front where that names none; a
 * change of a session (session/rename, …), which any reference names, of the one that has that
 * open. Whatever its thread waits for, the request wakes it. A turn/start while a turn runs is
 * SESSION_BUSY, a turn/interrupt while none runs SESSION_NOT_RUNNING.
 *
 * With `many`, session/create, open and fork during a turn begin another conversation, which is in
 * front from then on; session/open of one that is open in another conversation brings that to the
 * front, and what it shows is told anew: SESSION, BUSY, PAGE, PROVIDER, and APPROVAL or DRAFT if it
 * waits for an answer. A conversation that is not in front goes on until its turn has ended, and
 * then closes its session. */
uint64_t engine_start(struct engine *s, const struct operation *o, const void *params);

/* With `serves` no session is begun at the start, and `resume`, `read_only`, `many`, `labels` and
 * `offer_draft` mean nothing. A request names its session in the member "session_id", by any
 * reference (sessions.h); USAGE that names the member where it must and does not. A session that is
 * not open is opened for it, for reading alone where nothing is written (context/read, models/list
 * …); one that is archived, or was opened to be read, is SESSION_NOT_FOUND to what writes until
 * session/open resumes it. session/create and session/fork open one each. Two requests for the same
 * session meet in one conversation, in the order in which they came. SESSION_NOT_FOUND: there is
 * none such; SESSION_BUSY: a turn runs in it, also in another process.
 *
 * A conversation that has had nothing to do for [serve] idle_minutes, or that rested longest when
 * more than [serve] open_sessions are open, closes. No request notices that. Notices are told of
 * all sessions; PAGE is not: session/history has the events. */

/* The surface has gone on: what is not done yet is left, and no answer comes unless it is on its
 * way already. What changes something is done all the same. */
void engine_withdraw(struct engine *s, uint64_t id);

/* Nobody wants it done any more. True: a conversation has not begun it, and will not; no answer
 * comes. False: it is being done, or is over, or no conversation does it. */
bool engine_cancel(struct engine *s, uint64_t id);

/* Opens the file of the store now, for a caller that would rather not go on than keep all in memory
 * alone, which is what is done where the file cannot be used. False with the error of that. */
bool engine_open_store(struct engine *s, struct error *e);

/* Notices; poll mailbox_fd() of it, free with notice_free(). */
struct mailbox *engine_notices(struct engine *s);

#endif
