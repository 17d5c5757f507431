/* Answers an exam's questions with SQLite's own BM25 (k1 = 1.2, b = .75) over the texts of the
 * turns alone: with the words of FTS5 (porter stems, all words), or with ours (Snowball stems, no
 * stop words, no irregular forms). */
#ifndef BENCH_EXAM_PLAIN_H
#define BENCH_EXAM_PLAIN_H

#include "bench/exam.h"
#include "bench/exam_score.h"

enum exam_words { EXAM_PORTER, EXAM_SNOWBALL };

/* A fault of SQLite ends the program with a message. */
struct exam_plain;
struct exam_plain *exam_plain_new(enum exam_words words, const struct exam *x, size_t first,
                                  size_t count);
void exam_plain_free(struct exam_plain *p);

/* Fills `out` with at most `most` hits. */
void exam_plain_ask(struct exam_plain *p, const char *question, int most, struct exam_found *out);

#endif
