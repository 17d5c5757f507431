/* The table that `make bench` prints: measure, goal, ours, ok or over. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

void table_head(void);

/* One row. `goal` is the maximum allowed, in the same unit; decimals: digits after the point. */
void table_row(const char *measure, double goal, double ours, const char *unit, int decimals);

/* A row without a goal, e.g. another program's figure. */
void table_note(const char *measure, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The number of rows over their goals. */
int table_over(void);

/* Sorts the values. p in 0…100; count > 0. */
double percentile(double *values, size_t count, double p);

#endif
