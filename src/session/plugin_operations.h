/* The operations on plugins: plugin/…. Texts of parameters are borrowed. */
#ifndef SESSION_PLUGIN_OPERATIONS_H
#define SESSION_PLUGIN_OPERATIONS_H

#include "base/vec.h"
#include "session/operation.h"

struct plugin_info {
    char *name, *directory;
    char *about;   /* for people: what it brings; of plugin/add in full, in lines */
    char *servers; /* JSON, as they will be started; NULL: none */
    bool added;
};
struct plugin_list {
    VEC(struct plugin_info) plugins;
};

/* plugin/add: without `seen` nothing is added, and the result says what the plugin would bring.
 * `seen` is that result's `servers` ("": none): FORBIDDEN if the plugin has others now. */
struct plugin_add_params {
    const char *directory;
    const char *seen;
};

struct plugin_remove_params {
    const char *name;
};

#endif
