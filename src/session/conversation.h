/* The agent thread: takes requests, opens sessions, runs turns, tells notices and answers. While a
 * turn runs it keeps answering, through the wakeup that every long effect polls. */
#ifndef SESSION_CONVERSATION_H
#define SESSION_CONVERSATION_H

#include "session/operation.h"

struct conversation;
struct engine;

/* What it tells goes to the engine's mailbox. */
struct conversation *conversation_new(struct engine *engine);
void conversation_free(struct conversation *c); /* its thread has ended */

/* Any thread. Takes the request; one without an id gets no answer. */
void conversation_send(struct conversation *c, struct operation_request *r);

/* It is not in front any more: it looks whether it is done with. / Its thread is to end. */
void conversation_leave(struct conversation *c);
void conversation_quit(struct conversation *c);

/* Whether it keeps a conversation busy: a turn, or a compaction. */
bool conversation_begins_turn(const struct operation *o);

/* On its thread, until conversation_quit(). True: it retired before (engine_retire()), and nobody
 * else knows it. */
bool conversation_run(struct conversation *c);

#endif
