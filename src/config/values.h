/* What a struct config is made of; for the files of this directory only. */
#ifndef CONFIG_VALUES_H
#define CONFIG_VALUES_H

#include "base/vec.h"
#include "config/config.h"

struct config_value {
    char *text; /* NULL: the default */
    enum config_origin origin;
};

/* A key of a section with a free name, or of [keys]. */
struct config_free_value {
    char *section, *name, *value, *source;
    int line;
};

struct config {
    struct config_value values[CONFIG_KEY_COUNT];
    VEC(struct config_free_value) free_values;
};

/* Is the section one with a free name ("model *")? */
bool config_section_is_pattern(const char *section);

/* Checks and stores the value; the latest one counts, "" goes back to the default. */
bool config_assign(struct config *c, enum config_key key, const char *value,
                   enum config_origin origin, struct error *e);

/* value.c: texts of the types that a key can have. Decimal points are points in every locale. */

/* False when the text is not wholly such a value. */
bool config_value_integer(const char *text, int64_t *out);
bool config_value_boolean(const char *text, bool *out);

/* Does the text fit the key's type, bounds and choices? "" always does: it unsets. The error says
 * what would, and quotes the text unless it is a secret. */
bool config_value_fits(const struct config_key_info *key, const char *text, struct error *e);

#endif
