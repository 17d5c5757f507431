#include "base/embedded.h"

#include <string.h>

const char *embedded_text(const char *name)
{
    for (const struct embedded *f = embedded_files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->text;
    return NULL;
}
