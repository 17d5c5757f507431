/* What an exam's questions find in SQLite's full-text search as it comes: porter stems, BM25, the
 * texts of the turns alone. */
#ifndef BENCH_EXAM_PLAIN_H
#define BENCH_EXAM_PLAIN_H

#include "bench/exam.h"
#include "bench/exam_score.h"

/* A fault of SQLite ends the program with a message. */
struct exam_plain;
struct exam_plain *exam_plain_new(const struct exam *x, size_t first, size_t count);
void exam_plain_free(struct exam_plain *p);

void exam_plain_ask(struct exam_plain *p, bool stop_words_out, const char *question,
                    struct exam_found *out);

#endif
