/* Tokens that a model call took, and what they cost. */
#ifndef CHAT_USAGE_H
#define CHAT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shape.h"

/* Absent is not zero: a figure that was not measured is -1. */
struct usage {
    int64_t input; /* all input tokens, cached ones included */
    int64_t output;
    int64_t cached; /* of the input: read from the provider's cache */
    bool estimated; /* our own guess: show "~" */
};

#define USAGE_UNKNOWN ((struct usage){.input = -1, .output = -1, .cached = -1})

bool usage_known(const struct usage *u);

/* {"input_tokens","output_tokens","cached_tokens","estimated"?}; what is unknown is left out. */
extern const struct shape usage_shape;
/* The same of two in a row: of a whole turn, and as a member "summaries" the share of those. */
extern const struct shape usage_turn_shape;

/* Sums (figure_sum()); unknown figures count as absent, an estimate makes the sum one. */
void usage_add(struct usage *total, const struct usage *u);

/* USD per million tokens; negative: unknown. */
struct price {
    double input, output, cached;
};

/* USD; -1 when the usage or a needed price is unknown. An unknown cached price is the input's. */
double usage_cost(const struct usage *u, const struct price *p);

/* Their sum, bounded; an unknown cost (negative) counts as absent. */
double usage_cost_sum(double a, double b);

#endif
