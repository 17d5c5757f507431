/* What an exam's questions find by SQLite's own BM25 (k1 = 1.2, b = .75) in the texts of the turns
 * alone: with the words as FTS5 makes them (porter stems, all words), or as we do (Snowball stems,
 * stop words out, no irregular forms). */
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

void exam_plain_ask(struct exam_plain *p, const char *question, struct exam_found *out);

#endif
