#include "base/late_library.h"

#include <dlfcn.h>
#include <string.h>

bool late_library_load(void *table, const char *name, const char *file,
                       const struct late_function *functions, size_t count, struct error *e)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return err_set(e, ERR_AGENT_ERROR, "%s cannot be loaded: %s; check that it is installed",
                       name, dlerror());
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, functions[i].name);
        if (found == NULL) {
            err_set(e, ERR_AGENT_ERROR, "this %s cannot be used: %s", name, dlerror());
            dlclose(library);
            return false;
        }
        memcpy((char *)table + functions[i].member, &found, sizeof found);
    }
    return true;
}
