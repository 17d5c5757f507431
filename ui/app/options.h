/* What a surface is started with. */
#ifndef UI_OPTIONS_H
#define UI_OPTIONS_H

#include "config/config.h"
#include "session/engine.h"

struct ui_options {
    const struct config *config;
    const struct engine_options *engine;
    const char *first_draft; /* put into the editor (from -f); NULL: none */
    char *const *warnings;   /* shown as notes at the start; ends with NULL; may be NULL */
};

#endif
