/* libmicrohttpd as a table of its functions, loaded when `tiro serve --http` begins: it brings a
 * TLS library, which nobody else of the program needs. A build may lack it. */
#ifndef SERVE_LIBMICROHTTPD_H
#define SERVE_LIBMICROHTTPD_H

#include "base/err.h"

#ifdef HAVE_LIBMICROHTTPD

#include <microhttpd.h>

/* X(name) for each MHD_NAME() that is called. */
#define LIBMICROHTTPD_FUNCTIONS(X)                                                                 \
    X(add_connection)                                                                              \
    X(add_response_header)                                                                         \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(destroy_response)                                                                            \
    X(get_connection_info)                                                                         \
    X(get_connection_values)                                                                       \
    X(get_daemon_info)                                                                             \
    X(get_timeout)                                                                                 \
    X(get_version)                                                                                 \
    X(queue_response)                                                                              \
    X(resume_connection)                                                                           \
    X(run)                                                                                         \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(suspend_connection)

struct libmicrohttpd {
#define X(name) __typeof__(MHD_##name) *name;
    LIBMICROHTTPD_FUNCTIONS(X)
#undef X
};

/* On the thread that serves. NULL with AGENT_ERROR: it cannot be loaded. */
const struct libmicrohttpd *libmicrohttpd_load(struct error *e);

#endif

#endif
