/* The notices of the engine as notifications of a protocol, and the clients that follow them. */
#ifndef SERVE_NOTIFICATION_H
#define SERVE_NOTIFICATION_H

#include "base/buf.h"
#include "base/entropy.h"
#include "base/shape.h"
#include "base/vec.h"
#include "rpc/peer.h"
#include "serve/server.h"
#include "session/notice.h"

struct notification {
    const char *method;        /* "session/event"; NULL: it is not told */
    const char *summary;       /* one sentence, English */
    const struct shape *shape; /* of a struct notice */
};

const struct notification *notification_of(enum notice_type type);

/* The parameters of a notice that has a method, in one line; the caller frees. */
char *notice_json(const struct notice *n);

/* --- subscriptions of a client: the log of a session first, then its notices, each event once ----
 *
 * While the client does not read what waits for it, its logs are not read. */

/* In place of the number of an event: from now on. */
enum { SUBSCRIBE_NOW = -1 };

struct subscription_sink {
    /* A notice of a subscribed session, or of none; borrowed. */
    void (*tell)(void *context, const struct notice *n);
    /* The log was told; what follows happens from now on. NULL: not wanted. */
    void (*live)(void *context, const char *session);
    /* The log cannot be read: there is no such session, or it is damaged. It is not subscribed. */
    void (*failed)(void *context, const char *session, const struct error *e);
};

/* `peer` is that of the client. */
struct subscriptions;
struct subscriptions *subscriptions_new(struct server *s, const struct rpc_peer *peer,
                                        const struct subscription_sink *sink, void *context);
void subscriptions_free(struct subscriptions *s); /* NULL is fine */

/* Events behind `since` (0: all), else SUBSCRIBE_NOW. `session` is an id; NULL: every session there
 * is, with SUBSCRIBE_NOW. One that is subscribed already begins anew, with SUBSCRIBE_NOW it goes
 * on. Whether it is a session that was not subscribed. */
bool subscriptions_add(struct subscriptions *s, const char *session, int64_t since);
/* Whether the session was subscribed. NULL: those that were not added by their ids. */
bool subscriptions_remove(struct subscriptions *s, const char *session);

/* --- questions that wait for an answer (approval/requested, draft/requested) ---------------------
 *
 * A client that comes later is asked again, as the one that was asked may have gone. Pure. */

struct question {
    char session[UUID_LEN + 1];
    const char *method; /* static */
    char *params;       /* JSON */
};

struct questions {              /* zeroed at first */
    VEC(struct question) items; /* one a session at most */
};

/* To be called with every notice, in order. */
void questions_note(struct questions *q, const struct notice *n);

/* Whether a notice asks, or ends what its session asks. */
enum question_step { QUESTION_STAYS, QUESTION_BEGINS, QUESTION_ENDS };
enum question_step question_step(const struct notice *n);

/* --- tails: pieces of an answer that are not in the log yet --------------------------------------
 *
 * The log has the pieces joined, and up to a second late. With the tail a client that begins to
 * follow a session gets each piece once. Pure. */

struct tail {
    char session[UUID_LEN + 1];
    int64_t kept;         /* as tails_kept() */
    enum event_type type; /* of the pieces, as count and limit */
    int count, limit;
    struct buf text;
    VEC(struct tail_piece) pieces;
};
struct tail_piece {
    int64_t seq, wall_ms;
    size_t end; /* in the text */
};

struct tails {              /* zeroed at first */
    VEC(struct tail) items; /* of running turns */
};
void tails_release(struct tails *t);

/* To be called with every notice, in order. */
void tails_note(struct tails *t, const struct notice *n);

/* The newest event of the running turn that is surely in the log; 0: none runs, and all are. */
int64_t tails_kept(const struct tails *t, const char *session);

/* The pieces behind that event and behind `after`, joined to one delta with the number of the last.
 * NULL: none. The caller frees. */
struct event *tails_after(const struct tails *t, const char *session, int64_t after);

#endif
