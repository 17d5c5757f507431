/* Semantic memory without SQLite, for tests of its users: a hit contains at least one of the
 * query's words as a substring (case ignored); its score is matching words / words of the query. */
#ifndef TESTS_SIMPLE_STORE_H
#define TESTS_SIMPLE_STORE_H

#include "memory/memory.h"

struct memory *memory_simple_new(void);

#endif
