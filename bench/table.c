#include "bench/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int over;

void table_head(void)
{
    printf("%-52s %12s %12s\n", "measure", "goal", "ours");
}

void table_row(const char *measure, double goal, double ours, const char *unit, int decimals)
{
    char most[32], is[32];
    bool ok = ours <= goal;
    snprintf(most, sizeof most, "%.*f %s", decimals, goal, unit);
    snprintf(is, sizeof is, "%.*f %s", decimals, ours, unit);
    printf("%-52s %12s %12s  %s\n", measure, most, is, ok ? "ok" : "OVER");
    fflush(stdout);
    over += !ok;
}

void table_note(const char *measure, const char *format, ...)
{
    va_list args;
    printf("%-52s %12s ", measure, "-");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
    fflush(stdout);
}

int table_over(void)
{
    return over;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double percentile(double *values, size_t count, double p)
{
    qsort(values, count, sizeof *values, compare);
    size_t index = (size_t)(p / 100.0 * (double)(count - 1) + 0.5);
    return values[index];
}
