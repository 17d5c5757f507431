/* The agent thread: pops commands, opens sessions, runs turns, tells notices. While a turn runs it
 * keeps answering, through the wakeup that every long effect polls. */
#ifndef SESSION_CONVERSATION_H
#define SESSION_CONVERSATION_H

#include "session/command.h"

struct conversation;
struct engine;

/* Its notices go to the engine's mailbox. */
struct conversation *conversation_new(struct engine *engine);
void conversation_free(struct conversation *w); /* its thread has ended */

/* Any thread. Takes the command. */
void conversation_send(struct conversation *w, struct command *c);

/* On its thread, until COMMAND_QUIT. */
void conversation_run(struct conversation *w);

#endif
