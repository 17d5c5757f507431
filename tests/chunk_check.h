/* Invariants of every document and of its chunks. */
#ifndef TESTS_CHUNK_CHECK_H
#define TESTS_CHUNK_CHECK_H

#include "knowledge/chunk.h"

/* NULL: all of it holds; else what does not, kept by support_text(). */
const char *document_fault(const struct loaded_document *d);

/* `source` is what the document was made of, where it has offsets in bytes; else NULL. */
const char *chunks_fault(const struct chunks *c, const struct loaded_document *d, size_t most,
                         const char *source, size_t len);

#endif
