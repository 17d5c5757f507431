/* The agent thread: pops commands, opens sessions, runs turns, tells notices. While a turn runs it
 * keeps answering, through the wakeup that every long effect polls. */
#ifndef SESSION_WORKER_H
#define SESSION_WORKER_H

#include "base/mailbox.h"
#include "session/service.h"

struct worker;

/* Copies the options' strings; both mailboxes are borrowed. */
struct worker *worker_new(const struct service_options *options, struct mailbox *commands,
                          struct mailbox *notices);
void worker_free(struct worker *w);

/* Until COMMAND_QUIT. */
void worker_run(struct worker *w);

#endif
