/* UUID version 7 (RFC 9562): sorts by time of creation. */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdbool.h>

#define UUID_LEN 36

/* Lower-case text with a NUL. Two calls of one process never yield the same, and the later is the
 * greater, also within one millisecond. */
void uuid_new(char out[UUID_LEN + 1]);

/* The form that uuid_new() writes, of any version. */
bool uuid_valid(const char *s);

#endif
