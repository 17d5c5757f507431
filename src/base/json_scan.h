/* Where a JSON value ends, found while its text comes in pieces: brackets and strings are followed,
 * nothing else is checked. A value is then parsed by itself, and a text of many never lies in
 * memory as a whole. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* All 0: before the value's first byte, which is none of " \t\r\n,:". */
struct json_scan {
    size_t depth; /* brackets that are open */
    bool in_string, escaped;
    bool ended; /* the value is whole */
};

/* How many of these bytes belong to the value. All of them, unless it ends among them or in front
 * of them: then `ended` is set. A bracket that closes nothing ends a value in front of it, which
 * may be empty. */
size_t json_scan(struct json_scan *s, const char *bytes, size_t len);

#endif
