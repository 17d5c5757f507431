/* The desk of reads: answers PAGE, LIST, SEARCH, PREVIEW, INPUTS and EXPORT on a read-only
 * connection. A newer SEARCH ends one that runs. */
#ifndef SESSION_READER_H
#define SESSION_READER_H

#include "base/mailbox.h"
#include "session/command.h"
#include "session/operation_request.h"
#include "session/place.h"

struct reader;

/* Answers go to `notices`. Both are borrowed. */
struct reader *reader_new(struct place *place, struct mailbox *notices);
void reader_free(struct reader *r);

bool reader_answers(enum command_type type);

/* Takes the command. PAGE needs the session's id in `name`. */
void reader_ask(struct reader *r, struct command *c);

/* Takes the request, of a row with OPERATION_READ that does not write. */
void reader_start(struct reader *r, struct operation_request *request);
void reader_withdraw(struct reader *r, uint64_t id);

#endif
