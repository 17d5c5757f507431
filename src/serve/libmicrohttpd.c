#include "serve/libmicrohttpd.h"

#ifdef HAVE_LIBMICROHTTPD

#include <stddef.h>

#include "base/paths.h"

const struct libmicrohttpd *libmicrohttpd_load(struct error *e)
{
    static struct libmicrohttpd library;
#ifdef LIBMICROHTTPD_FILE
    static const struct late_function functions[] = {
#define X(name) {"MHD_" #name, offsetof(struct libmicrohttpd, name)},
        LIBMICROHTTPD_FUNCTIONS(X)
#undef X
    };
    static bool loaded;
    loaded = loaded || late_library_load(&library, "libmicrohttpd", LIBMICROHTTPD_FILE, functions,
                                         sizeof functions / sizeof *functions, e);
    return loaded ? &library : NULL;
#else
    (void)e;
#define X(name) library.name = MHD_##name;
    LIBMICROHTTPD_FUNCTIONS(X)
#undef X
    return &library;
#endif
}

#endif
