/* The part of JSON Schema that tools use: type, properties, required, enum, minimum, maximum,
 * items. Members that `properties` does not name are refused. */
#ifndef AGENT_SCHEMA_H
#define AGENT_SCHEMA_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/* False with the path of the first member that does not fit, and why. */
bool schema_check(const struct json *schema, const struct json *value, struct error *e);

#endif
