/* The desk of reads: rows with OPERATION_READ on a read-only connection, so that they wait neither
 * for a turn nor for who writes. */
#ifndef SESSION_READER_H
#define SESSION_READER_H

#include "base/worker.h"
#include "session/operation_request.h"
#include "session/place.h"

struct reader;

/* Answers go to `notices`. Both are borrowed. */
struct reader *reader_new(struct place *place, struct mailbox *notices);
void reader_free(struct reader *r);

/* Takes the request. A row that writes fails. */
void reader_start(struct reader *r, struct operation_request *request);
void reader_withdraw(struct reader *r, uint64_t id);

#endif
