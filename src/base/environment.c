#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

struct variable {
    char *name, *value; /* value NULL: it was not set */
};

static VEC(struct variable) hidden; /* until the program ends */

static struct variable *find(const char *name)
{
    for (size_t i = 0; i < hidden.len; i++)
        if (strcmp(hidden.items[i].name, name) == 0)
            return &hidden.items[i];
    return NULL;
}

static struct variable *remember(const char *name)
{
    struct variable *known = find(name);
    if (known)
        return known;
    vec_push(&hidden, ((struct variable){.name = mem_strdup(name)}));
    return &vec_last(&hidden);
}

void environment_hide(const char *name)
{
    struct variable *variable = remember(name);
    char *value = getenv(name);
    if (!value)
        return;
    if (variable->value)
        mem_wipe(variable->value, strlen(variable->value));
    free(variable->value);
    variable->value = mem_strdup(value);
    mem_wipe(value, strlen(value));
    unsetenv(name);
}

const char *environment_hidden(size_t index)
{
    return index < hidden.len ? hidden.items[index].name : NULL;
}

char *environment_get(const char *name)
{
    const struct variable *found = find(name);
    char *value = getenv(name);
    return value || !found ? value : found->value;
}
