/* Figures: what is counted or measured, whole and not negative. Absent is not zero: a figure that
 * nobody measured is -1. What a server tells comes in through figure_tokens(), and what is kept or
 * added up stays within FIGURE_MAX, so that it reads back as it was written. Pure. */
#ifndef CHAT_USAGE_H
#define CHAT_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/shape.h"

/* Every whole number up to here is exact as a number of JSON, which is a double. */
#define FIGURE_MAX (INT64_C(1) << 53)

/* With 15 digits, as reals are written, it is the same number again. */
#define FIGURE_REAL_MAX 1e18

/* Tokens of one request, answer or window. The largest windows have ten million; a figure beyond
 * this was not measured, whatever the server says. */
#define FIGURE_TOKENS_MAX INT64_C(1000000000)

/* The number if it is whole and in [0, most]; else -1. NaN is no number. */
int64_t figure_from(double n, int64_t most);

/* The member's tokens; `absent` where it is missing, no whole number, negative or beyond
 * FIGURE_TOKENS_MAX. */
int64_t figure_tokens(const struct json *object, const char *name, int64_t absent);

/* The nearest figure in [0, most], for what is written: it is never negative. */
int64_t figure_bounded(int64_t n, int64_t most);
/* The nearest in [0, FIGURE_MAX], or -1 for what is absent. */
int64_t figure_known(int64_t n);
/* The nearest amount (of money, of a budget) in [0, FIGURE_REAL_MAX]; NaN is 0. */
double figure_bounded_real(double n);

/* The sum, at most FIGURE_MAX. What is absent adds nothing; -1 if both are. */
int64_t figure_sum(int64_t a, int64_t b);

/* steps * part / whole, rounded, at most `most`; 0 where the whole is 0 or the part absent. */
int figure_share(int64_t part, int64_t whole, int steps, int most);

/* Tokens that a model call took, and what they cost. */

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

/* How large the next request is: the one figure of the gauge, of the cards of compactions and of
 * the context view. What the provider counted is the base; what came since is estimated. Pure. */

/* The last request together with its answer, as the provider counted them. After a compaction what
 * is left of that. */
struct request_measure {
    int64_t tokens;  /* -1: none, or of another history */
    int64_t history; /* what the history was estimated at then */
    bool estimated;
};

#define REQUEST_UNMEASURED ((struct request_measure){.tokens = -1})

/* Of a response, behind which the history is estimated at so many tokens. One whose input was not
 * counted measures nothing. */
struct request_measure request_measured(const struct usage *u, int64_t history);

/* Absent members: nothing is measured. */
extern const struct shape request_measure_shape;

struct request_size {
    int64_t tokens;
    bool estimated;
};

/* `history` is its estimate now, `overhead` that of all else that is sent: system prompt, skills,
 * tools. `last_input` (-1: unknown) is the least where nothing else was measured. */
struct request_size request_size(const struct request_measure *m, int64_t history, int64_t overhead,
                                 int64_t last_input);

/* What `tokens` become when what was estimated at `before` is estimated at `after`: our estimate
 * errs alike in both. */
int64_t request_resized(int64_t tokens, int64_t before, int64_t after);

#endif
