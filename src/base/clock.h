/* Time enters here, so that a test can replace it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

int64_t clock_wall_ms(void); /* since 1970-01-01 UTC */
int64_t clock_mono_ms(void); /* never goes back; starts anywhere */

/* Tests only; NULL restores the system's clock. */
void clock_replace(int64_t (*wall)(void), int64_t (*mono)(void));

/* "2026-03-09T14:05:07.123Z" (RFC 3339); out holds 25 bytes. */
void clock_format(int64_t wall_ms, char out[25]);

/* Reads what clock_format() writes; false for anything else. */
bool clock_parse(const char *text, int64_t *wall_ms);

#endif
