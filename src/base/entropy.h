/* Randomness enters here, so that a test can replace it by a seeded generator. */
#ifndef BASE_ENTROPY_H
#define BASE_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

void entropy_fill(void *out, size_t len);
double entropy_unit(void); /* uniform in [0, 1) */

/* Tests only: from now on a deterministic sequence. */
void entropy_seed(uint64_t seed);

#endif
