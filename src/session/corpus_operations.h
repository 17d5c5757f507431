/* The operations on corpora: corpus/…. What they take and give is in chat/corpora.h; texts of
 * parameters are borrowed.
 *
 * corpus/add and corpus/update run to their end where nobody goes on with them (struct corpora,
 * `alone`), with progress ("files", "vectors"); else they only begin, and give a struct
 * corpus_progress that is not `finished`. One with `asks` has done nothing: with `consent` it goes
 * on. corpus/update without a name is of all, also those that tiro.ini alone names; its figures are
 * those of all. */
#ifndef SESSION_CORPUS_OPERATIONS_H
#define SESSION_CORPUS_OPERATIONS_H

#include "chat/knowledge.h"
#include "session/operation.h"

extern const struct operation operation_corpus_list, operation_corpus_documents,
    operation_corpus_passages, operation_corpus_cited, operation_corpus_search,
    operation_corpus_stats, operation_corpus_add, operation_corpus_update, operation_corpus_ingest,
    operation_corpus_remove;

#endif
