/* Time enters here, so that a test can replace it. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

int64_t clock_wall_ms(void); /* since 1970-01-01 UTC */
int64_t clock_mono_ms(void); /* never goes back; starts anywhere */

/* Tests only; NULL restores the system's clock. */
void clock_replace(int64_t (*wall)(void), int64_t (*mono)(void));

#endif
