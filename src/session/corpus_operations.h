/* The operations on corpora: corpus/…. What they take and give is in chat/corpora.h; texts of
 * parameters are borrowed.
 *
 * corpus/add and corpus/update run to their end if no desk continues them (struct corpora,
 * `alone`), with progress ("files", "vectors"); else they only begin, and give a struct
 * corpus_progress that is not `finished`. A result with `asks` means that nothing was done: call
 * again with `consent`. corpus/update without a name updates all corpora, also those that only
 * tiro.ini names, and gives their sums. */
#ifndef SESSION_CORPUS_OPERATIONS_H
#define SESSION_CORPUS_OPERATIONS_H

#include "chat/knowledge.h"
#include "session/operation.h"

#endif
