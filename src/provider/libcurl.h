/* libcurl as a table of its functions, loaded when the first request needs it: with all that it
 * brings (TLS, HTTP/2, Kerberos, LDAP) it is half of what an idle program would hold in memory, and
 * of the time that a start takes. */
#ifndef PROVIDER_LIBCURL_H
#define PROVIDER_LIBCURL_H

#include <curl/curl.h>

#include "provider/failure.h"

/* X(name) for each curl_NAME() that is called. */
#define LIBCURL_FUNCTIONS(X)                                                                       \
    X(easy_cleanup)                                                                                \
    X(easy_getinfo)                                                                                \
    X(easy_init)                                                                                   \
    X(easy_setopt)                                                                                 \
    X(easy_strerror)                                                                               \
    X(getdate)                                                                                     \
    X(global_init)                                                                                 \
    X(multi_add_handle)                                                                            \
    X(multi_cleanup)                                                                               \
    X(multi_info_read)                                                                             \
    X(multi_init)                                                                                  \
    X(multi_perform)                                                                               \
    X(multi_poll)                                                                                  \
    X(multi_remove_handle)                                                                         \
    X(multi_setopt)                                                                                \
    X(multi_strerror)                                                                              \
    X(slist_append)                                                                                \
    X(slist_free_all)

struct libcurl {
#define X(name) __typeof__(curl_##name) *name;
    LIBCURL_FUNCTIONS(X)
#undef X
};

/* Loaded and started; from any thread. NULL: it cannot be, SETUP says why, and the next call tries
 * again. */
const struct libcurl *libcurl_load(struct failure *f);

#endif
