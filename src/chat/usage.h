/* Numbers that are counted or measured, what a model call used, and the size of the next request.
 * Figures are whole and not negative; -1 means unknown, which is not zero. A server's numbers are
 * read by figure_tokens(); stored numbers and sums stay within FIGURE_MAX, so that they read back
 * as they were written. Pure. */
#ifndef CHAT_USAGE_H
#define CHAT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/shape.h"

/* Every whole number up to this is exact as a JSON number, a double. */
#define FIGURE_MAX (INT64_C(1) << 53)

/* Every amount up to this reads back from 15 digits, as reals are written. */
#define FIGURE_REAL_MAX 1e18

/* The most tokens of a request, answer or window that are believed. The largest windows have ten
 * million. */
#define FIGURE_TOKENS_MAX INT64_C(1000000000)

/* The number if it is whole and in [0, most]; else -1. NaN is no number. */
int64_t figure_from(double n, int64_t most);

/* The member's tokens; `absent` if it is missing, not a whole number, negative or above
 * FIGURE_TOKENS_MAX. */
int64_t figure_tokens(const struct json *object, const char *name, int64_t absent);

/* The nearest number in [0, most]. */
int64_t figure_bounded(int64_t n, int64_t most);
/* The nearest number in [0, FIGURE_MAX], or -1 if it is unknown. */
int64_t figure_known(int64_t n);

/* The sum, at most FIGURE_MAX. An unknown number adds nothing; -1 if both are unknown. */
int64_t figure_sum(int64_t a, int64_t b);

/* steps * part / whole, rounded, at most `most`; 0 if the whole is 0 or the part unknown. */
int figure_share(int64_t part, int64_t whole, int steps, int most);

/* ---- the tokens of model calls, and their cost ---- */

struct usage {
    int64_t input; /* all input tokens, cached ones included */
    int64_t output;
    int64_t cached;   /* of the input: read from the provider's cache */
    int64_t searches; /* of the web, by the provider; never unknown */
    bool estimated;   /* our own guess: show "~" */
};

#define USAGE_UNKNOWN ((struct usage){.input = -1, .output = -1, .cached = -1})

bool usage_known(const struct usage *u);

/* {"input_tokens","output_tokens","cached_tokens","searches"?,"estimated"?}; unknown members are
 * left out. */
extern const struct shape usage_shape;
/* For two structs in a row: the usage of a whole turn, and in it, as "summaries", the compactions'
 * share. */
extern const struct shape usage_turn_shape;

/* Adds to the total (figure_sum()); with an estimate the sum is one, too. */
void usage_add(struct usage *total, const struct usage *u);

/* USD per million tokens, and per 1,000 searches of the web; negative: unknown. */
struct price {
    double input, output, cached, search;
};

/* USD; -1 when the usage or a needed price is unknown. An unknown cached price is the input's. */
double usage_cost(const struct usage *u, const struct price *p);

/* The sum, bounded; an unknown cost (negative) adds nothing. */
double usage_cost_sum(double a, double b);

/* ---- the size of the next request ---- The provider's count of the last request, plus an estimate
 * of the messages since. The gauge, the cards of compactions and the context view all show it. */

/* The last request together with its answer, as the provider counted them, less what a compaction
 * has removed since. */
struct request_measure {
    int64_t tokens;  /* -1: none, or of another history */
    int64_t history; /* the estimate of the history then */
    bool estimated;
};

#define REQUEST_UNMEASURED ((struct request_measure){.tokens = -1})

/* The measure by a response, after which the history is estimated at so many tokens. Unmeasured if
 * the provider did not count the input. */
struct request_measure request_measured(const struct usage *u, int64_t history);

/* Absent members: nothing is measured. */
extern const struct shape request_measure_shape;

struct request_size {
    int64_t tokens;
    bool estimated;
};

/* `history` is its estimate now, `overhead` the estimate of the rest: system prompt, skills, tools.
 * `last_input` (-1: unknown) is the least result without a measure. */
struct request_size request_size(const struct request_measure *m, int64_t history, int64_t overhead,
                                 int64_t last_input);

/* Scales a measured number of tokens by the ratio of two estimates: both have the same error. */
int64_t request_resized(int64_t tokens, int64_t before, int64_t after);

#endif
