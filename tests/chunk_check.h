/* Invariants of every document and of its chunks. */
#ifndef TESTS_CHUNK_CHECK_H
#define TESTS_CHUNK_CHECK_H

#include "knowledge/chunk.h"

/* Returns NULL if all invariants hold, else the fault, kept by support_text(). */
const char *document_fault(const struct loaded_document *d);

/* `source` is the file's text if the document has byte offsets into it; else NULL. */
const char *chunks_fault(const struct chunks *c, const struct loaded_document *d, size_t most,
                         const char *source, size_t len);

#endif
