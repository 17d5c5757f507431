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
bool section_is_pattern(const char *section);

/* Checks and stores the value; the latest one counts, "" goes back to the default. */
bool config_assign(struct config *c, enum config_key key, const char *value,
                   enum config_origin origin, struct error *e);

#endif
