/* The agent thread: pops commands, opens sessions, runs turns, tells notices. While a turn runs it
 * keeps answering, through the wakeup that every long effect polls. */
#ifndef SESSION_CONVERSATION_H
#define SESSION_CONVERSATION_H

#include "base/mailbox.h"
#include "session/engine.h"

struct conversation;

/* Copies the options' strings; both mailboxes are borrowed. */
struct conversation *conversation_new(const struct engine_options *options,
                                      struct mailbox *commands, struct mailbox *notices);
void conversation_free(struct conversation *w);

/* Until COMMAND_QUIT. */
void conversation_run(struct conversation *w);

#endif
