/* Messages whose blocks are kept elsewhere and read when they are needed: of a long history memory
 * has who spoke when, and how long. Belongs to one thread. */
#ifndef CHAT_MESSAGE_SOURCE_H
#define CHAT_MESSAGE_SOURCE_H

#include <stdbool.h>

#include "base/err.h"
#include "chat/message.h"

struct message_source {
    /* The message whose blocks are kept at m->row, with them; `out` is empty on failure. */
    bool (*read)(struct message_source *s, const struct message *m, struct message *out,
                 struct error *e);
    bool failed; /* something could not be read: what was made of the messages is worth nothing */
    struct error fault; /* the first */
};

/* The message with its blocks: `m` itself where it has them, else *room, which it is read into.
 * Where that fails it is `m`, without blocks, and the source has failed. The caller releases *room
 * in any case. `s` may be NULL where all messages have their blocks. */
const struct message *message_whole(struct message_source *s, const struct message *m,
                                    struct message *room);

#endif
