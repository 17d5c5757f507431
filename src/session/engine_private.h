/* The engine and its seats: the state that conversations share, and the engine's state of each
 * conversation. engine.c calls conversations; conversations call engine_seats.c only. */
#ifndef SESSION_ENGINE_PRIVATE_H
#define SESSION_ENGINE_PRIVATE_H

#include <pthread.h>

#include "session/corpora_desk.h"
#include "session/desk.h"
#include "session/engine.h"
#include "session/extractor.h"
#include "session/import_desk.h"
#include "session/memory_desk.h"
#include "session/space_desk.h"

struct conversation;
struct engine;

/* The engine's state of a conversation, under the engine's lock unless a member says otherwise. */
struct seat {
    struct engine *engine;
    struct conversation *conversation;
    struct mailbox *requests;                 /* sent to it; a mailbox has its own lock */
    VEC(struct operation_request *) deferred; /* until the turn has ended; its own thread's */
    pthread_t thread;
    bool started;
    pthread_t earlier;          /* the thread that retired before it, which it joins at its end */
    bool joins;                 /* `earlier` is set */
    char session[UUID_LEN + 1]; /* the open session; "": none, and it can open any. In an engine
                                   that serves: its only session, also while it is closed */
    char before[UUID_LEN + 1];  /* the session that was in front before this seat was */
    char *provider, *model;     /* of the last NOTICE_PROVIDER, unless a last resort */
    int load;                   /* requests that were sent to it and are not over */
    int claims;                 /* requests among them that begin a turn or a compaction */
    bool spent;      /* in an engine that serves: it has had a session and takes no other */
    int64_t used_ms; /* clock_mono_ms() of the end of its last request */
};

struct engine {
    struct engine_options options; /* its strings are the engine's own */
    const struct config *config;
    char *root;       /* working directory, resolved */
    bool tools_asked; /* options.tools were given: they precede the settings of sessions */
    bool persist, compaction, memory, graph, corpora, learned;
    struct mailbox *notices;
    struct place *place;
    struct place *lasting; /* of memory, graph and corpora, which outlive sessions; often `place` */
    struct desk reader;
    struct memory_desk *desk;
    struct extractor *extractor; /* NULL: nothing is proposed */
    struct corpora_desk *corpora_desk;
    struct import_desk *import_desk;
    struct space_desk *space_desk;

    pthread_mutex_t lock; /* over the rest, and the seats */
    VEC(struct seat *) seats;
    struct seat *front;                      /* NULL: the engine serves */
    VEC(struct operation_request *) waiting; /* for a seat, while there are `most` */
    VEC(uint64_t) queued;                    /* requests that were sent and are not begun */
    pthread_t last_ended;                    /* of the conversation that retired last */
    bool has_ended;
    size_t most;       /* seats; tests set it */
    uint64_t requests; /* that were started */
    bool tidied;       /* a conversation does the work that a process does once */
    bool ends;
    /* Sends the requests that wait, after a seat became free. With the lock held. */
    void (*serve_waiting)(struct engine *s);
};

/* A process can surely start so many threads. */
enum { CONVERSATIONS_MOST = 1000 };

/* engine_new() but for the thread of its conversation. */
struct engine *engine_make(const struct engine_options *options);

/* --- with the lock held --- */

struct seat *engine_find_open(const struct engine *s, const char *session); /* NULL: none */
/* The session that the request names; NULL: none. */
const char *engine_named(struct operation_request *r);
void engine_send(struct seat *seat, struct operation_request *r); /* takes it */
bool engine_take_queued(struct engine *s, uint64_t id);           /* whether it was queued */
/* If more than [serve] open_sessions are open, asks the conversation that was idle longest to check
 * whether it can close. */
void engine_make_room(const struct engine *s);

/* Requests of the engine itself, without answer: look whether the conversation can close and which
 * of its commands in the background have ended; end. */
extern const struct operation order_look, order_quit;
void engine_order(struct seat *seat, const struct operation *order); /* any thread */

/* --- on the conversation's thread, which does not hold the lock --- */

/* Records the conversation's session; "": none, which never happens in an engine that serves. */
void engine_note_session(struct seat *seat, const char *id);
void engine_note_backend(struct seat *seat, const char *provider, const char *model);
/* The request is begun; false: it was cancelled (engine_cancel()). */
bool engine_begin_request(struct seat *seat, const struct operation_request *r);
/* A request was answered, or dropped. */
void engine_request_over(struct seat *seat, uint64_t id, const struct operation *o);
/* Pushes the notice if the conversation is in front: the session that the surface shows is always
 * the one in front. Takes the notice. */
void engine_tell_front(struct seat *seat, struct notice *n);
bool engine_has_in_front(struct seat *seat);
/* True: the conversation is not in front and has no requests. */
bool engine_is_done_with(struct seat *seat);
/* Reserves the session for this conversation. False: another conversation has it and got the
 * request. */
bool engine_claim(struct seat *seat, const char *session, struct operation_request *r);
/* The conversation has no store: it ends after its present requests. */
void engine_spend(struct seat *seat);
/* ms until the conversation may close its session (`open`) or end; -1: it has requests. */
int engine_rest_wait(struct seat *seat, bool open);
/* Removes the seat from the engine: no more requests come. False: a request came before. */
bool engine_retire(struct seat *seat);
/* Brings the conversation that has the session open to the front, if it is another, and gives it
 * the request (may be NULL) and all that wait here. False: nothing was given. */
bool engine_hand_over(struct seat *seat, const char *session, struct operation_request *r);

/* Sends the answer (not that of an order) for the conversation that has this session open. Takes
 * `a`. engine_fail() sends the answer that the request failed. Any thread. */
void engine_answer(struct engine *s, struct operation_answer *a, const char *session);
void engine_fail(struct engine *s, struct operation_request *r, const struct error *e);

#endif
