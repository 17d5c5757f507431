/* What callers of a protocol may ask for. Every protocol that lets its caller name a row asks here
 * first. */
#ifndef SERVE_AUTHORITY_H
#define SERVE_AUTHORITY_H

#include "serve/server.h"
#include "session/operation.h"

/* False with FORBIDDEN: the row is for a caller with more. */
bool authority_calls(enum authority caller, const struct operation *o, struct error *e);

/* Whether the parameters (a struct of the row's shape, or NULL) are such a caller's to give: paths
 * as session/folders.h says, which are replaced by what they lead to; no key of the configuration
 * that a person alone sets; of a client no more tools than the server was started with, and no text
 * that is said to be typed. False with FORBIDDEN, or what is wrong with a path. */
bool authority_gives(const struct server *s, enum authority caller, const struct operation *o,
                     void *params, struct error *e);

#endif
