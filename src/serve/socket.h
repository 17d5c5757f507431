/* JSON-RPC on a Unix socket, for many clients at once. */
#ifndef SERVE_SOCKET_H
#define SERVE_SOCKET_H

#include "serve/server.h"

enum { SOCKET_CLIENTS_MAX = 1000 }; /* others wait to be accepted */

/* Listens on a socket that systemd gave us, else at `path`, mode 0600; one that nobody listens at
 * any more is replaced. Holds the server. NULL with FILE_ERROR: somebody listens there, it is no
 * socket, or it cannot be made. */
struct socket_surface;
struct socket_surface *socket_open(struct server *s, const char *path, struct error *e);

/* Hangs up, and takes the path away that it made. NULL is fine. */
void socket_free(struct socket_surface *s);

#endif
