/* Checks a value against a JSON Schema (draft 2020-12) as far as ours use it. */
#ifndef TESTS_JSON_SCHEMA_H
#define TESTS_JSON_SCHEMA_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

/* False: `why` says where and what. A keyword that is not known is a fault of the schema. */
bool json_schema_check(const struct json *schema, const struct json *v, struct buf *why);

/* Like json_schema_check(), and no object may have a member that its schema does not name, even
 * where the schema allows it: for our own answers. */
bool json_schema_check_exactly(const struct json *schema, const struct json *v, struct buf *why);

#endif
