/* A JSON-RPC peer on a pair of descriptors, such as standard input and output, or a socket: moves
 * its bytes, as fast as the other side takes them. */
#ifndef SERVE_WIRE_H
#define SERVE_WIRE_H

#include "rpc/peer.h"
#include "serve/server.h"

struct wire_events {
    /* Nothing more comes in. */
    void (*ended)(void *context);
    /* The reader took something, so there may be room for more; NULL: nobody asks. */
    void (*wrote)(void *context);
};

/* `peer`, `events` and `context` outlive the wire; the descriptors, which may be the same, stay the
 * caller's. `closed` is called once, from the loop, with its own context: nobody reads any more, or
 * all that was asked until the end of input is answered and written. The wire may be freed then. */
struct wire;
struct wire *wire_new(struct server *s, struct rpc_peer *peer, int in, int out,
                      const struct wire_events *events, void *context,
                      void (*closed)(void *context), void *closed_context);
void wire_free(struct wire *w); /* NULL is fine */

/* To be called when the peer may have something to write. */
void wire_update(struct wire *w);

#endif
