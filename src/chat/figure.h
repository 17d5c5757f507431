/* Figures: what is counted or measured, whole and not negative. Absent is not zero: a figure that
 * nobody measured is -1. What a server tells comes in through figure_tokens(), and what is kept or
 * added up stays within FIGURE_MAX, so that it reads back as it was written. Pure. */
#ifndef CHAT_FIGURE_H
#define CHAT_FIGURE_H

#include <stdint.h>

#include "base/json.h"

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

#endif
