/* The contract for people and programs, made from the tables: what `tiro serve --describe` prints.
 */
#ifndef SERVE_DESCRIBE_H
#define SERVE_DESCRIBE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/* "openrpc" (OpenRPC 1.3), "openapi" (OpenAPI 3.1: what HTTP serves), "json-schema" (draft 2020-12:
 * what each method and notification takes and gives, under $defs). */
extern const char describe_formats[]; /* parted by blanks */

/* NULL: there is no such format. The caller frees. */
struct json *describe_contract(const char *format);

#endif
