/* The log has a streamed text joined: one delta, with the number of the last of its pieces, each of
 * which was told with a number of its own. How long each was is in the delta's "pieces", so that
 * who saw some of them gets the others alone. Pure. */
#ifndef CHAT_EVENT_PIECES_H
#define CHAT_EVENT_PIECES_H

#include "base/vec.h"
#include "chat/event.h"

/* Lengths in bytes of pieces whose numbers follow one another. */
struct event_pieces {
    VEC(size_t) lengths;
    int64_t last; /* number of the newest */
};

void event_pieces_clear(struct event_pieces *p);
void event_pieces_release(struct event_pieces *p);

/* A piece of that number, or what lengthens the newest, whose number it has. */
void event_pieces_add(struct event_pieces *p, int64_t seq, size_t length);

/* "[4,3]", for the member; NULL: there is one alone. The caller frees. */
char *event_pieces_json(const struct event_pieces *p);

/* Leaves out of a joined delta the pieces up to this number. Nothing where it does not say of what
 * it was joined. */
void event_pieces_skip(struct event *ev, int64_t after);

#endif
