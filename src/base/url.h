/* URLs: passwords and keys in them, which are not shown, and texts made fit for them. */
#ifndef BASE_URL_H
#define BASE_URL_H

#include <stdbool.h>

#include "base/buf.h"

/* Whether there is something before an @ of the host, or a value in the query, which may be a key:
 * scheme://user:password@host/path?name=value. */
bool url_has_secret(const char *url);

/* Appends the text with these parts as "****" in every URL of it; all else stays. */
void url_add_masked(struct buf *out, const char *text);

/* The text as one segment of a path: all but RFC 3986's unreserved characters as %XX. The caller
 * frees. */
char *url_escape(const char *text);

#endif
