/* Numbers and times for people, by locale. A function with `out` appends to it. */
#ifndef UI_FORMAT_H
#define UI_FORMAT_H

#include <stdint.h>

#include "base/buf.h"

char *format_exact(int64_t n);                 /* 61,904; the caller frees */
void format_short(struct buf *out, int64_t n); /* 904, 58k, 1.2M: at most five columns */

/* How long ago, in at most about eight columns: "now", "5 min", "3 h", "2 d", then the date. */
void format_age(struct buf *out, int64_t then_ms, int64_t now_ms);

void format_time(struct buf *out, int64_t then_ms); /* 2026-03-09 14:05 */
void format_date(struct buf *out, int64_t then_ms); /* 2026-03-09 */

void format_duration(struct buf *out, int64_t ms); /* 35 ms, 4.2 s */

/* US dollars with two digits, below a cent with two significant digits, or "<$0.0001". */
void format_cost(struct buf *out, double usd);

#endif
