/* The host that a URL names. */
#ifndef PROVIDER_HOST_H
#define PROVIDER_HOST_H

#include <stdbool.h>

/* Host without brackets and port of a URL with a scheme; `port` is "" when it names none. The
 * caller frees. */
char *host_of_url(const char *url, char port[6]);

/* "localhost", 127.0.0.0/8 or ::1, told by the text alone: nothing is looked up. */
bool host_is_loopback(const char *host);

#endif
