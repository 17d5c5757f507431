/* JSON-RPC on a Unix socket, for many clients at once. */
#ifndef SERVE_SOCKET_H
#define SERVE_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "serve/server.h"

enum { SOCKET_CLIENTS_MAX = 1000 }; /* others wait to be accepted */

/* Listens on a socket that systemd gave us, else at `path`, mode 0600; one that nobody listens at
 * any more is replaced. Holds the server. NULL with FILE_ERROR: somebody listens there, it is no
 * socket, or it cannot be made. */
struct socket_surface;
struct socket_surface *socket_open(struct server *s, const char *path, struct error *e);

/* Hangs up, and takes the path away that it made. NULL is fine. */
void socket_free(struct socket_surface *s);

/* Sockets that listen on addresses: those that the service manager has opened and hands over, or
 * our own. All are closed on exec. */

struct listening {
    VEC(int) sockets;
};

/* Adds the sockets that systemd hands over. None is not an error. */
void listening_take_over(struct listening *l);

/* Binds the address (numeric; NULL or "localhost": that of this machine alone, in both families as
 * far as there are both) and adds its sockets. Port 0: one that is free. FILE_ERROR: it is taken,
 * or not ours. */
bool listening_open(struct listening *l, const char *host, int port, struct error *e);

/* "http://127.0.0.1:8476" of each, with blanks between. */
void listening_add_urls(const struct listening *l, struct buf *out);

/* Closes them. */
void listening_release(struct listening *l);

#endif
