/* tiro as an agent of the Agent Client Protocol, version 1: an editor runs it and talks to it over
 * a pair of descriptors, one JSON text a line (https://agentclientprotocol.com). */
#ifndef SERVE_ACP_H
#define SERVE_ACP_H

#include "base/err.h"
#include "serve/server.h"

struct acp;

/* The descriptors stay the caller's. `closed` is called once, from the loop: nobody reads any more,
 * or all that was asked until the end of input is answered and written. The caller frees it then.
 */
struct acp *acp_new(struct server *s, int in, int out, void (*closed)(void *context),
                    void *context);

/* Turns go on; the client is not told of them. NULL is fine. */
void acp_free(struct acp *a);

#endif
