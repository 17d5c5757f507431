#include "serve/http_surface.h"

#ifndef HAVE_LIBMICROHTTPD

bool http_surface_there(void)
{
    return false;
}

struct http_surface *http_surface_new(struct server *loop, struct mcp *mcp, const char *address,
                                      struct error *e)
{
    (void)loop, (void)mcp, (void)address;
    err_set(e, ERR_USAGE, "this tiro was built without HTTP; install one with libmicrohttpd");
    return NULL;
}

void http_surface_add_urls(const struct http_surface *h, struct buf *out)
{
    (void)h, (void)out;
}

const char *http_surface_token_path(const struct http_surface *h)
{
    (void)h;
    return NULL;
}

void http_surface_free(struct http_surface *h)
{
    (void)h;
}

#else

#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "config/config.h"
#include "serve/http_server.h"
#include "serve/http_service.h"
#include "serve/http_token.h"
#include "serve/listening.h"

/* TIRO on the keys of a telephone. */
enum { USUAL_PORT = 8476 };

bool http_surface_there(void)
{
    return true;
}

struct http_surface {
    struct server *loop;
    struct mcp *mcp;
    char *urls;
    char *token;
    char *token_path; /* NULL: a command gave the token */
    struct http_service *service;
    struct http_server *server;
    struct surface_end *end;
};

static bool open_sockets(const char *address, struct listening *sockets, struct error *e)
{
    char *host = NULL;
    int port = USUAL_PORT;
    listening_take_over(sockets);
    if (sockets->sockets.len > 0)
        return true;
    bool ok =
        http_parse_address(address, &host, &port, e) && listening_open(sockets, host, port, e);
    free(host);
    return ok;
}

static void on_stop(void *context)
{
    struct http_surface *h = context;
    http_service_stop(h->service);
    http_server_stop(h->server);
}

static bool is_written(void *context)
{
    const struct http_surface *h = context;
    return http_server_is_written(h->server);
}

static bool start(struct http_surface *h, struct listening *sockets, struct error *e)
{
    const struct http_policy policy = {
        .hosts = config_string(server_config(h->loop), CONFIG_SERVE_HOSTS),
        .origins = config_string(server_config(h->loop), CONFIG_SERVE_ORIGINS),
        .token = h->token};
    int head_ms = 1000 * (int)config_integer(server_config(h->loop), CONFIG_SERVE_TIMEOUT);
    struct buf urls = BUF_INIT;
    listening_add_urls(sockets, &urls);
    h->urls = buf_take(&urls);
    h->service = http_service_new(h->loop, h->mcp);
    const struct http_handler handler = http_service_handler(h->service);
    size_t count = sockets->sockets.len;
    sockets->sockets.len = 0; /* they are the server's now */
    h->server =
        http_server_new(h->loop, sockets->sockets.items, count, &policy, head_ms, &handler, e);
    return h->server != NULL;
}

struct http_surface *http_surface_new(struct server *loop, struct mcp *mcp, const char *address,
                                      struct error *e)
{
    struct listening sockets = {0};
    struct http_surface *h = mem_alloc(sizeof *h);
    h->loop = loop;
    h->mcp = mcp;
    server_hold(loop);
    if (!address)
        address = config_string(server_config(loop), CONFIG_SERVE_ADDRESS);
    bool ok = http_token_read(server_config(loop), &h->token, &h->token_path, e) &&
              open_sockets(address, &sockets, e) && start(h, &sockets, e);
    listening_release(&sockets);
    if (ok) {
        h->end = server_at_end(loop, on_stop, is_written, h);
        return h;
    }
    http_surface_free(h);
    return NULL;
}

void http_surface_add_urls(const struct http_surface *h, struct buf *out)
{
    buf_addstr(out, h->urls);
}

const char *http_surface_token_path(const struct http_surface *h)
{
    return h->token_path;
}

void http_surface_free(struct http_surface *h)
{
    if (!h)
        return;
    server_take_end(h->loop, h->end);
    http_server_free(h->server);
    http_service_free(h->service);
    key_command_free(h->token);
    free(h->token_path);
    server_let_go(h->loop);
    free(h->urls);
    free(h);
}

#endif
