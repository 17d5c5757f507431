#include "serve/libmicrohttpd.h"

#ifdef HAVE_LIBMICROHTTPD

#include <stddef.h>

#include "base/paths.h"

#ifdef LIBMICROHTTPD_FILE

static bool load(struct libmicrohttpd *library, struct error *e)
{
    static const struct late_function functions[] = {
#define X(name) {"MHD_" #name, offsetof(struct libmicrohttpd, name)},
        LIBMICROHTTPD_FUNCTIONS(X)
#undef X
    };
    return late_library_load(library, "libmicrohttpd", LIBMICROHTTPD_FILE, functions,
                             sizeof functions / sizeof *functions, e);
}

#else

static bool load(struct libmicrohttpd *library, struct error *e)
{
    (void)e;
#define X(name) library->name = MHD_##name;
    LIBMICROHTTPD_FUNCTIONS(X)
#undef X
    return true;
}

#endif

const struct libmicrohttpd *libmicrohttpd_load(struct error *e)
{
    static struct libmicrohttpd library;
    static bool loaded;
    loaded = loaded || load(&library, e);
    return loaded ? &library : NULL;
}

#endif
