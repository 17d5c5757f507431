/* The desk of reads: answers PAGE, LIST, SEARCH, PREVIEW, INPUTS, DROPPED and EXPORT on a read-only
 * connection. A newer SEARCH ends one that runs. */
#ifndef SESSION_READER_H
#define SESSION_READER_H

#include "base/mailbox.h"
#include "session/command.h"
#include "session/place.h"

struct reader;

/* Answers go to `notices`. Both are borrowed. */
struct reader *reader_new(struct place *place, struct mailbox *notices);
void reader_free(struct reader *r);

bool reader_answers(enum command_type type);

/* Takes the command. PAGE and DROPPED need the session's id in `name`. */
void reader_ask(struct reader *r, struct command *c);

#endif
