/* The host that a URL names. */
#ifndef PROVIDER_HOST_H
#define PROVIDER_HOST_H

#include <stdbool.h>
#include <stddef.h>

/* Host without brackets and port of a URL with a scheme; `port` is "" when it names none. The
 * caller frees. */
char *host_of_url(const char *url, char port[6]);

/* What stands before the host's "@" in a URL, "name:password" or "name", with its %XX resolved. NULL:
 * nothing does. It is a secret, and the caller's to wipe. */
char *host_login_of_url(const char *url);

/* A part of a URL with its %XX resolved. The caller frees, and wipes what is secret. */
char *host_unescape(const char *start, size_t len);

/* "localhost", 127.0.0.0/8 or ::1, told by the text alone: nothing is looked up. */
bool host_is_loopback(const char *host);

#endif
