/* Descriptors that systemd has opened for us (sd_listen_fds(3)): LISTEN_PID, LISTEN_FDS. */
#ifndef SERVE_ACTIVATION_H
#define SERVE_ACTIVATION_H

#include <stdbool.h>

/* The first that listens and was not taken yet: on a path (`unix_path`), or on an address. It is
 * the caller's, and children do not get it. -1: there is none. */
int activation_take(bool unix_path);

#endif
