#include "tests/imported.h"

#include <stdio.h>
#include <stdlib.h>

bool imported_text(struct catalog *c, const char *text, size_t len, const char *title,
                   const char *directory, struct session_info *out, struct error *e)
{
    const struct session_import_options o = {.title = title, .directory = directory};
    FILE *in = fmemopen((void *)text, len, "rb");
    if (!in)
        abort();
    bool ok = import_session(c, in, &o, out, e);
    fclose(in);
    return ok;
}
