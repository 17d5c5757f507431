/* Tokens that a model call took, and what they cost. */
#ifndef CHAT_USAGE_H
#define CHAT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"

struct json_out;

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
void usage_write(struct json_out *o, const struct usage *u);
/* The same with a member `name` for a share of it, left out when unknown. */
void usage_write_share(struct json_out *o, const struct usage *u, const char *name,
                       const struct usage *share);
struct usage usage_from_json(const struct json *v);

/* Sums (figure_sum()); unknown figures count as absent, and one estimate makes the sum an estimate.
 */
void usage_add(struct usage *total, const struct usage *u);

/* USD per million tokens; negative: unknown. */
struct price {
    double input, output, cached;
};

/* USD, or -1 when the usage or a needed price is unknown. An unknown cached price is the input's.
 */
double usage_cost(const struct usage *u, const struct price *p);

/* Their sum, bounded; an unknown cost (negative) counts as absent. */
double usage_cost_sum(double a, double b);

#endif
