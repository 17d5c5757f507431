/* What an engine has for its conversations. */
#ifndef SESSION_ENGINE_PRIVATE_H
#define SESSION_ENGINE_PRIVATE_H

#include <pthread.h>

#include "session/corpora_desk.h"
#include "session/desk.h"
#include "session/engine.h"
#include "session/extractor.h"
#include "session/memory_desk.h"

struct conversation;

struct engine {
    struct engine_options options; /* its strings are the engine's own */
    const struct config *config;
    char *root;       /* working directory, resolved */
    bool tools_asked; /* by who started it, whatever a session is set to */
    bool persist, compaction, memory, graph, corpora, learned;
    struct mailbox *notices;
    struct place *place;
    struct place *lasting; /* of what outlives a session: memory, graph, corpora; often `place` */
    struct reader *reader;
    struct memory_desk *desk;    /* of memory */
    struct extractor *extractor; /* NULL: nothing is proposed */
    struct corpora_desk *corpora_desk;

    pthread_mutex_t lock; /* over the rest, and the `seat` of each conversation */
    VEC(struct conversation *) conversations;
    struct conversation *front;              /* NULL: the engine serves */
    VEC(struct operation_request *) waiting; /* for a conversation, of which there are too many */
    VEC(uint64_t) queued; /* requests that conversations were sent and have not begun */
    pthread_t last_ended; /* of a conversation that retired, which joins the one before it */
    bool has_ended;
    size_t most;       /* conversations, whatever they do; tests set it */
    uint64_t requests; /* that were started */
    bool tidied;       /* a conversation does what is done once a process */
    bool ends;
};

/* Threads that a program has for sure: of an engine that serves, what needs more waits. */
enum { CONVERSATIONS_MOST = 1000 };

/* What the engine knows of a conversation. */
struct seat {
    pthread_t thread;
    bool started;
    pthread_t earlier;          /* that retired before it */
    bool joins;                 /* there is one */
    char session[UUID_LEN + 1]; /* that is open in it; "": none, it can be taken for any. Of an
                                   engine that serves: its only one, also while it is closed */
    char before[UUID_LEN + 1];  /* that was in front when it was taken */
    char *provider, *model;     /* that were told last, if somebody chose them */
    int load;                   /* requests that it was sent and has not done with */
    int claims;                 /* those that begin a turn */
    bool spent;      /* of an engine that serves: it has had a session, and takes no other */
    int64_t used_ms; /* clock_mono_ms() when it last had a request */
};

/* engine_new() but for the thread of its conversation. */
struct engine *engine_make(const struct engine_options *options);

/* engine_seats.c: with the lock held. */
struct conversation *engine_add_conversation(struct engine *s);
bool engine_start_conversation(struct conversation *c); /* false: there is no thread to be had */
struct conversation *engine_find_open(const struct engine *s, const char *session); /* NULL: none */
bool engine_names_session(struct operation_request *r);
struct conversation *engine_find_named(const struct engine *s, struct operation_request *r);
void engine_send(struct conversation *c, struct operation_request *r); /* takes it */
bool engine_take_queued(struct engine *s, uint64_t id);                /* whether it was */
/* A request that `from` has not done. Takes it. */
void engine_pass_on(struct conversation *from, struct conversation *to,
                    struct operation_request *r);
/* Those that it has not begun. */
void engine_move_requests(struct conversation *from, struct conversation *to);

/* Where more are open than are to be, the one that rested longest looks whether it is still needed.
 */
void engine_make_room(const struct engine *s);

/* engine_front.c: gives the request to who does it; false (with `e`): its session is not open. With
 * the lock held. */
bool engine_ask_front(struct engine *s, struct operation_request *r, struct error *e);

/* engine_serve.c: gives the request to who has its session open, else to one that will open it.
 * False (with `e`): it is not done. With the lock held. */
bool engine_serve(struct engine *s, struct operation_request *r, struct error *e);

/* The session is this conversation's until it ends, open or not. With the lock held. */
void engine_take_seat(struct conversation *c, const char *session);

/* On the conversation's thread, as all that follows. Its session is this one; "": none, which an
 * engine that serves never says. */
void engine_note_session(struct conversation *c, const char *id);
void engine_note_backend(struct conversation *c, const char *provider, const char *model);

/* It begins what it was sent; false: nobody wants that any more (engine_cancel()). */
bool engine_begin_request(struct conversation *c, const struct operation_request *r);

/* A request that it was sent is answered, or dropped. */
void engine_request_over(struct conversation *c, uint64_t id, const struct operation *o);

/* Tells it if the conversation is in front: what is shown is what is in front. Takes the notice. */
void engine_tell_front(struct conversation *c, struct notice *n);
bool engine_has_in_front(struct conversation *c);

/* Whether nobody asks for it any more: it is not in front, and has nothing to do. */
bool engine_is_done_with(struct conversation *c);

/* engine_serve.c. The session is this conversation's from now on, open or not; false: it is
 * another's, who was given the request. */
bool engine_claim(struct conversation *c, const char *session, struct operation_request *r);
/* It is of no use to a session: it ends with the requests that it has. */
void engine_spend(struct conversation *c);
/* ms until it is to look whether it is needed; -1: it has something to do. */
int engine_rest_wait(struct conversation *c, bool open);
/* Whether nobody needs it. / It was closed, and ends: no request will come. False: one came. */
bool engine_may_close(struct conversation *c, bool open);
bool engine_retire(struct conversation *c);

/* Brings the conversation that has this session open to the front, if it is another, and gives it
 * the request (taken then; may be NULL) and those that wait behind it here. */
bool engine_hand_over(struct conversation *c, const char *session, struct operation_request *r);

/* Tells the answer, of a conversation that has this session open. Takes it; one without an id is
 * not told. */
void engine_fail(struct engine *s, struct operation_request *r, const struct error *e);
void engine_answer(struct engine *s, struct operation_answer *a, const char *session);

#endif
