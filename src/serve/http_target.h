/* The target of a request ("/sessions/x/history?after=3"), parted and with its escapes read. Pure.
 */
#ifndef SERVE_HTTP_TARGET_H
#define SERVE_HTTP_TARGET_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "base/shape.h"
#include "base/vec.h"

struct http_parameter {
    char *name, *value;
};

struct http_target {
    char *authority;  /* of an absolute target ("http://host/path"); NULL: it has none */
    VEC(char *) path; /* its segments; of "/" a single empty one */
    VEC(struct http_parameter) query;
};

/* Fills a fresh struct; http_target_release() in either case. False with USAGE: it is neither a
 * path nor an http URL, has characters that belong escaped, an escape that is none, a NUL
 * character, or what is no UTF-8. */
bool http_target_parse(const char *raw, struct http_target *t, struct error *e);
void http_target_release(struct http_target *t);

const char *http_target_query(const struct http_target *t,
                              const char *name); /* the first; or NULL */

/* Adds the query to an object as the shape (NULL: there are no parameters) wants its members:
 * numbers and booleans are read, what a list takes is given by repeating it. False with USAGE that
 * names the one which is unknown, there twice, does not fit or has no form in a query. Bounds are
 * the shape's to check. */
bool http_target_add_params(const struct http_target *t, const struct shape *s, struct json *params,
                            struct error *e);

#endif
