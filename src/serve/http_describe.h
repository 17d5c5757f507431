/* The routes of HTTP as paths of OpenAPI. */
#ifndef SERVE_HTTP_DESCRIBE_H
#define SERVE_HTTP_DESCRIBE_H

#include "base/json.h"

/* Adds them to the object "paths", but those of JSON-RPC; and to the "schemas" of the components
 * what they refer to, besides NAME.params and NAME.result of the operations
 * ("session.list.result"). */
void http_describe(struct json *paths, struct json *schemas);

#endif
