/* Time: the clocks, which a test can replace, and times as text (RFC 3339). */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

int64_t clock_wall_ms(void); /* since 1970-01-01 UTC */
int64_t clock_mono_ms(void); /* never goes back; starts anywhere */

/* Tests only; NULL restores the system's clock. */
void clock_replace(int64_t (*wall)(void), int64_t (*mono)(void));

/* Reads "2026-03-09T14:05:07.123+01:00" with any fraction of seconds and any offset. A blank may
 * replace the T, seconds are optional, no zone means UTC, a date alone is its midnight. False for
 * anything else and for a date that no calendar has. A time outside the years 0000 to 9999 becomes
 * the nearest one inside. */
bool rfc3339_parse(const char *text, int64_t *wall_ms);

/* "2026-03-09T14:05:07.123Z", the nearest time of the years 0000 to 9999; out holds 25 bytes. */
void rfc3339_format(int64_t wall_ms, char out[25]);

/* Reads the form that rfc3339_format() writes; false for anything else. */
bool rfc3339_parse_exact(const char *text, int64_t *wall_ms);

#endif
