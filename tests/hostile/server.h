/* A server on 127.0.0.1 with hostile answers. It writes to its sockets itself, since a library
 * would refuse most of them. One mode at a time; one thread per connection. */
#ifndef TESTS_HOSTILE_SERVER_H
#define TESTS_HOSTILE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tests/hostile/form.h"

/* The part of the server that is hostile. All other parts answer correctly. */
enum target { TARGET_CHAT, TARGET_LISTING, TARGET_EMBEDDING, TARGET_COUNT };
extern const char *const target_names[TARGET_COUNT];

struct hostile_server;

/* A connection whose request was read, unless the mode is deaf. */
struct peer {
    int fd;
    struct hostile_server *server;
    const struct mode *mode;
    const struct form *form;
    enum target target; /* the kind of request */
    const char *key;    /* the client's key, or the key that it would have sent */
    size_t ordinal;     /* number of the hostile request: 0, 1, … */
    long step;          /* of a mode with steps */
    long left;          /* bytes until the connection breaks; -1: never */
    struct buf request; /* head and body */
};

/* Ends the program if it cannot start. */
struct hostile_server *hostile_server_start(const struct form *form, const struct mode *mode,
                                            enum target target, const char *key);
void hostile_server_stop(struct hostile_server *s);

const char *hostile_server_url(const struct hostile_server *s); /* "http://127.0.0.1:PORT" */
void hostile_server_set_step(struct hostile_server *s, long step);

/* Sets whether all later answers are correct. False at first. */
void hostile_server_behave(struct hostile_server *s, bool well);

/* The number of the mode's steps for this request; 0 before the first. */
long hostile_server_steps(struct hostile_server *s);

/* Whether a client followed an answer to another port, which is a fault. */
bool hostile_server_strayed(struct hostile_server *s);

/* For modes: each returns false if the client has gone or the server must end. */
bool peer_send(struct peer *p, const void *bytes, size_t len);
bool peer_say(struct peer *p, const char *text);
bool peer_repeat(struct peer *p, const char *unit, size_t count); /* 0: for ever */
bool peer_pause(struct peer *p, int ms);
bool peer_events(struct peer *p, const char *format, const char *const *values);
void peer_reset(struct peer *p); /* the connection ends with RST in place of FIN */

/* Sends the head of an answer that ends with the connection. `more`: further lines, or "". */
bool peer_head(struct peer *p, int status, const char *type, const char *more);

/* Sends head and body at once; releases the body. */
void peer_reply(struct peer *p, int status, const char *type, const char *more, struct buf *body);

/* Appends the body of the correct answer. */
void peer_good_body(struct peer *p, struct buf *out);
const char *peer_good_type(const struct peer *p);

/* A port of the server that the client was not given. */
int peer_other_port(const struct peer *p);
int peer_port(const struct peer *p);

/* The text of a good answer within a hostile mode, and of one from a server that behaves well. */
#define HOSTILE_GOOD "This answer came through."
#define HOSTILE_WELL "All is well again."

#endif
