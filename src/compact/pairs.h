/* Every call is answered, every result has its call. */
#ifndef COMPACT_PAIRS_H
#define COMPACT_PAIRS_H

#include "chat/rebuild.h"

/* What a rebuild of the messages `old` breaks of pairs, mended in place: a call without result gets
 * an error result (a message behind it), a result without call is removed, a message left empty
 * too. For messages that are well paired it changes nothing. */
void compact_repair_pairs(const struct message *old, struct rebuild *r);

#endif
