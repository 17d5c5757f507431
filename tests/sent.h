/* What a view asked the engine for: the commands that it sent since they were last forgotten. */
#ifndef TESTS_SENT_H
#define TESTS_SENT_H

#include <stddef.h>

#include "base/buf.h"
#include "base/vec.h"
#include "session/command.h"
#include "session/operation_request.h"

typedef VEC(struct command *) sent_commands;

/* For the view's host: takes the command; its context is the sent_commands. */
void sent_take(void *sent, struct command *c);

/* Lines for one: "RENAME", "RENAME text=Apples", "RENAME name=…", "RENAME limit=0" … */
void sent_tell(const struct command *c, struct buf *out);

void sent_forget(sent_commands *sent);
void sent_release(sent_commands *sent);

/* Of this type: the last one; the one, which fails the test where there are more; how many. NULL:
 * none. */
const struct command *sent_last(const sent_commands *sent, enum command_type type);
const struct command *sent_only(const sent_commands *sent, enum command_type type);
size_t sent_count(const sent_commands *sent, enum command_type type);

/* The same of requests; started_take() makes one. Parameters of the last one for the row; NULL:
 * there is none, or it takes none. */
typedef VEC(struct operation_request *) started_requests;
void started_take(started_requests *started, const struct operation *o, const void *params);
void started_release(started_requests *started);
const void *started_params(const started_requests *started, const struct operation *o);
size_t started_count(const started_requests *started, const struct operation *o);

#endif
