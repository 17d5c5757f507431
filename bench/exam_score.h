/* Scores of search results: pure functions. */
#ifndef BENCH_EXAM_SCORE_H
#define BENCH_EXAM_SCORE_H

#include <stddef.h>

#include "base/vec.h"
#include "bench/exam.h"

enum { EXAM_MOST = 10 }; /* hits that are scored */

/* Ids, best first. */
struct exam_found {
    VEC(char *) ids;
};
void exam_found_clear(struct exam_found *f);
void exam_found_release(struct exam_found *f);

/* Sums over questions. */
struct exam_score {
    double at5, at10; /* share of the evidence among the first 5, 10 hits */
    double first;     /* 1 / place of the first evidence, 0 if it is not among EXAM_MOST */
    size_t questions;
};
struct exam_score exam_score(const struct exam_targets *evidence, const struct exam_found *found);
void exam_score_add(struct exam_score *sum, const struct exam_score *more);

/* The mean of a sum; 0 without questions. */
double exam_mean(double sum, size_t questions);

#endif
