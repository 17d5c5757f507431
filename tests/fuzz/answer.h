/* Shared by the fuzz targets of the three dialects: a model call whose answer is the input. */
#ifndef TESTS_FUZZ_ANSWER_H
#define TESTS_FUZZ_ANSWER_H

#include "provider/provider.h"
#include "tests/fuzz/fuzz.h"

/* The first byte selects status and content type of the answer (answer.c's table) or another
 * question; the rest is the body. */
int fuzz_answer(const struct provider *provider, const char *stream_type, const uint8_t *data,
                size_t size);

#endif
