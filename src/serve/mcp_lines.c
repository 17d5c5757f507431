/* The protocol on a pair of descriptors, a message a line: standard input and output. */
#include <stdlib.h>

#include "base/mem.h"
#include "serve/mcp_private.h"
#include "serve/wire.h"

struct mcp_connection {
    struct mcp_link link; /* first */
    struct wire *wire;
    void (*closed)(void *context);
    void *context;
};

static void on_output(void *context)
{
    struct mcp_connection *c = context;
    wire_update(c->wire);
}

/* What was asked is answered; but what only listens would never end. */
static void on_end_of_input(void *context)
{
    struct mcp_connection *c = context;
    mcp_stop_listening(&c->link);
}

static void on_closed(void *context)
{
    struct mcp_connection *c = context;
    c->closed(c->context);
}

static const struct wire_events events = {.ended = on_end_of_input, .closed = on_closed};

struct mcp_connection *mcp_connect(struct mcp *m, int in, int out, void (*closed)(void *context),
                                   void *context)
{
    struct mcp_connection *c = mem_alloc(sizeof *c);
    *c = (struct mcp_connection){.closed = closed, .context = context};
    c->link = (struct mcp_link){.hears = true, .wrote = on_output, .context = c};
    mcp_link_open(&c->link, m);
    c->wire = wire_new(m->server, c->link.peer, in, out, &events, c);
    return c;
}

void mcp_disconnect(struct mcp_connection *c)
{
    if (!c)
        return;
    wire_free(c->wire);
    mcp_link_close(&c->link, true);
    free(c);
}
