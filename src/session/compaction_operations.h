/* The operations on compactions: compaction/…, and what they take and give. Texts of parameters are
 * borrowed. */
#ifndef SESSION_COMPACTION_OPERATIONS_H
#define SESSION_COMPACTION_OPERATIONS_H

#include "session/operation.h"

/* A page of the events that the messages which a compaction dropped were made of. */
struct compaction_ledger_params {
    const char *session; /* a reference (catalog.h) */
    int64_t seq;         /* of its compaction_completed */
    int64_t place;       /* of the page's first among all of them; 0: the first */
    int limit;
};
struct compaction_ledger {
    struct event *completed;
    struct event_list events;
    bool more;             /* behind the page */
    bool quotes_forgotten; /* its summary: something that memory was told to forget */
};

extern const struct operation operation_compaction_ledger;

/* The compaction_completed of this number; the caller frees. USAGE: there is no such event. */
bool compaction_find(struct store *s, const char *session, int64_t seq, struct event **out,
                     struct error *e);

#endif
