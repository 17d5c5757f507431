/* Addresses that a text leads to. They come from models and pages, so a terminal gets them only
 * cleaned. */
#ifndef UI_LINK_H
#define UI_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

#define LINK_MAX 2000 /* bytes; VTE takes 2083 */

/* Appends the address in the characters that a URI may have (RFC 3986; others are %-encoded). False,
 * with nothing appended, if it has a control character, is too long, or its scheme is none of http,
 * https and mailto: what else may start, the reader does not see. */
bool link_clean(struct buf *out, const char *address, size_t len);

/* The addresses of a text, by number from 1. */
struct links {
    struct buf text; /* each with its NUL */
    VEC(uint32_t) starts;
};

void links_release(struct links *l);
void links_clear(struct links *l);

/* The number of a clean address; NULL: 0. That of the last one if it is the same; 0 if there are as
 * many as a number can say. */
uint16_t links_add(struct links *l, const char *address);

/* NULL for 0. */
const char *links_at(const struct links *l, uint16_t number);

/* Drops all but the first `count`. */
void links_truncate(struct links *l, size_t count);

#endif
