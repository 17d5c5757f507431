/* Synthetic encoders, to measure what a ranking makes of vectors of a known quality without a
 * model. A vector has two halves. One half is latent semantic analysis of the conversations: it
 * sees little more than words do. The other is noise, of which the vector of a question has a part
 * in common with its evidence: the strength. Deterministic. */
#ifndef BENCH_EXAM_ENCODER_H
#define BENCH_EXAM_ENCODER_H

#include <stddef.h>

#include "bench/exam.h"

enum { EXAM_HALF = 64, EXAM_DIMENSION = 2 * EXAM_HALF };

struct exam_mixture {
    double latent;   /* weight of the first half of a question's vector */
    double noise;    /* weight of the second half */
    double strength; /* the evidence in the second half, by the size of the noise: 0 is noise alone;
                      * with .3 vectors alone find about as much as words in one conversation, with
                      * .6 nearly all */
};

struct exam_encoder;
/* Of conversations `first` to `first + count - 1`, which outlive it. */
struct exam_encoder *exam_encoder_new(const struct exam *x, size_t first, size_t count);
void exam_encoder_free(struct exam_encoder *c); /* NULL is fine */

/* Vectors of EXAM_DIMENSION numbers, of length 1; of a question with its evidence by message. */
void exam_encoder_text(const struct exam_encoder *c, const char *text, float *out);
void exam_encoder_question(const struct exam_encoder *c, const struct exam_mixture *m,
                           const struct exam_question *q, float *out);

#endif
