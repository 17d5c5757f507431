/* Checks a value against a JSON Schema (draft 2020-12), for the keywords that our schemas use. */
#ifndef TESTS_JSON_SCHEMA_H
#define TESTS_JSON_SCHEMA_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

/* On failure returns false, and `why` names the place and the fault. An unknown keyword is a fault
 * of the schema. No object may have a member that its schema does not name, even where the schema
 * allows it: for our own answers. */
bool json_schema_check(const struct json *schema, const struct json *v, struct buf *why);

#endif
