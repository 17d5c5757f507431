#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

struct variable {
    char *name, *value;
};

static VEC(struct variable) hidden; /* until the program ends */

static struct variable *find(const char *name)
{
    for (size_t i = 0; i < hidden.len; i++)
        if (strcmp(hidden.items[i].name, name) == 0)
            return &hidden.items[i];
    return NULL;
}

void environment_hide(const char *name)
{
    char *value = getenv(name);
    struct variable *before = find(name);
    if (!value)
        return;
    if (before) {
        mem_wipe(before->value, strlen(before->value));
        free(before->value);
        before->value = mem_strdup(value);
    } else {
        vec_push(&hidden, ((struct variable){mem_strdup(name), mem_strdup(value)}));
    }
    mem_wipe(value, strlen(value));
    unsetenv(name);
}

char *environment_get(const char *name)
{
    const struct variable *found = find(name);
    char *value = getenv(name);
    return value || !found ? value : found->value;
}
