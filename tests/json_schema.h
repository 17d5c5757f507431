/* Checks a value against a JSON Schema (draft 2020-12) as far as ours use it. */
#ifndef TESTS_JSON_SCHEMA_H
#define TESTS_JSON_SCHEMA_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

/* False: `why` says where and what. A keyword that is not known is a fault of the schema. */
bool json_schema_check(const struct json *schema, const struct json *v, struct buf *why);

/* The same, and no object has a member that its schema does not name, though it may: for what we
 * answer ourselves. */
bool json_schema_check_exactly(const struct json *schema, const struct json *v, struct buf *why);

#endif
