/* The desk that has a model propose what to remember of sessions that were archived: on its own
 * thread and connection, while nobody waits; what it found it tells with NOTICE_LEARNED. */
#ifndef SESSION_EXTRACTOR_H
#define SESSION_EXTRACTOR_H

#include "base/worker.h"
#include "config/config.h"
#include "session/desk.h"
#include "session/operation.h"

struct extractor;

/* NULL where [learned] extract is off. All are borrowed but `project`, the working directory, whose
 * proposals it tells of; with `serves`, of those of each session's own. */
struct extractor *extractor_new(const struct config *config, struct place *place,
                                const char *project, bool serves, struct mailbox *notices);
void extractor_free(struct extractor *x); /* NULL is fine: as the next */

/* Sessions may wait. Any thread; once the store is there. */
void extractor_want(struct extractor *x);

/* Of a process without an engine: the sessions that wait, now; how many items were proposed. False:
 * some could not be asked about; they wait for the next call or engine. */
bool extractor_run(const struct operation_context *c, int *proposed, struct error *e);

#endif
