/* Follows histories of other agents: what they write is read at once, also into memory. Of the
 * processes that follow for one store, one works and the others wait for its end. */
#ifndef SESSION_IMPORT_FOLLOW_H
#define SESSION_IMPORT_FOLLOW_H

#include "session/import_operations.h"

struct import_follow;

/* The context and its configuration are borrowed; the texts of `p` are copied. `memory`: what comes
 * is indexed, too. `gives_way`: it is one of several things that a program does, takes a quarter of
 * a processor, and leaves the indexing of older sessions to the desk of memory. NULL with `e`: for
 * wrong parameters. */
struct import_follow *import_follow_new(struct operation_context *c, const struct import_params *p,
                                        bool memory, bool gives_way, struct error *e);
void import_follow_free(struct import_follow *f); /* NULL is fine */

/* Waits, or does a bounded part of the work. True: something was read, *out says what, and the
 * caller releases it. False: something else was done, or `wakeup` said stop. Faults are logged, and
 * the work is done later. */
bool import_follow_step(struct import_follow *f, const struct wakeup *wakeup,
                        struct import_report *out);

#endif
