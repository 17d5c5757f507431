/* Texts of the types that a key can have. Decimal points are points in every locale. */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/config.h"

/* False when the text is not wholly such a value. */
bool value_integer(const char *text, int64_t *out);
bool value_real(const char *text, double *out);
bool value_boolean(const char *text, bool *out);

/* Does the text fit the key's type, bounds and choices? "" always does: it unsets. The error says
 * what would, and quotes the text unless it is a secret. */
bool value_fits(const struct config_key_info *key, const char *text, struct error *e);

#endif
