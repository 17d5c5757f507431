/* The desk that has a model propose learned items from archived sessions, on its own thread and
 * connection, while idle. NOTICE_LEARNED tells that there are new ones. */
#ifndef SESSION_EXTRACTOR_H
#define SESSION_EXTRACTOR_H

#include "base/worker.h"
#include "config/config.h"
#include "session/desk.h"
#include "session/operation.h"

struct extractor;

/* NULL if [learned] extract is off. Notices are about the proposals of `project`, the working
 * directory; with `serves`, of each session's own project. All but `project` are borrowed. */
struct extractor *extractor_new(const struct config *config, struct place *place,
                                const char *project, bool serves, struct mailbox *notices);
void extractor_free(struct extractor *x); /* NULL is fine: as the next */

/* Looks for archived sessions. Any thread, once the store is open. */
void extractor_want(struct extractor *x);

/* In a process without an engine: has items proposed of all sessions that wait; *proposed is their
 * number. False: some sessions failed, and wait for the next call or engine. */
bool extractor_run(const struct operation_context *c, int *proposed, struct error *e);

#endif
