/* From a model's cosines to scores for people and models: 0 = nothing in common, 1 = the same text,
 * useful above 0.7. Cosines of two texts that have nothing to do with each other lie elsewhere with
 * each model. Pure functions. */
#ifndef INDEX_CALIBRATION_H
#define INDEX_CALIBRATION_H

#include <stdbool.h>
#include <stddef.h>

struct knot {
    double cosine, score;
};
enum { CALIBRATION_KNOTS = 8 };
struct calibration {
    size_t count; /* 0: none was fitted; -1 … 0 is then 0, and a cosine is its own score */
    struct knot knots[CALIBRATION_KNOTS]; /* both rise */
};

/* Between knots straight lines, outside them what the last says; always 0 … 1. */
double calibration_score(const struct calibration *c, double cosine);

/* From the cosines of random pairs of texts (which it sorts): half of them get 0, and of enough of
 * them one in a thousand more than 0.7; 1 stays 1. */
struct calibration calibration_fit(double *cosines, size_t count);

/* [{"cosine", "score"}, …]; the caller frees. */
char *calibration_print(const struct calibration *c);
/* False: it is none. */
bool calibration_parse(const char *text, struct calibration *out);

#endif
