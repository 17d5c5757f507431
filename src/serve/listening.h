/* Sockets of addresses to listen on: those that the service manager has opened and hands over, or
 * our own. All are closed on exec. */
#ifndef SERVE_LISTENING_H
#define SERVE_LISTENING_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct listening {
    VEC(int) sockets;
};

/* Adds those that were handed over (activation.h). None is not an error. */
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
