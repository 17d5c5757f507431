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

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/paths.h"
#include "config/config.h"
#include "serve/http_server.h"
#include "serve/http_service.h"
#include "serve/socket.h"

/* Fewer could be tried out. */
enum { HTTP_TOKEN_LEAST = 16 };

static void close_local(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

enum { TOKEN_MOST = 4096, MADE_BYTES = 32, COMMAND_MS = 30000 };

/* Reads the first line of a file that is the user's alone. `flags`: O_NOFOLLOW, or 0 for a file
 * that the user named, which may be a link to a secret that a service manager mounts. */
static bool read_file(const char *path, int flags, char **token, struct error *e)
{
    struct stat st;
    char text[TOKEN_MOST + 1] = "";
    AUTO(close_local) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
    if (fd < 0 && errno == ELOOP)
        return err_set(e, ERR_CONFIG_ERROR,
                       "the token's file %s is a symbolic link; remove the link", path);
    if (fd < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "the token's file %s cannot be opened", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return err_set(e, ERR_CONFIG_ERROR, "the token's file %s is no regular file; name one",
                       path);
    if (st.st_uid != geteuid())
        return err_set(e, ERR_CONFIG_ERROR,
                       "the token's file %s belongs to another user; remove it, or name your own",
                       path);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return err_set(e, ERR_CONFIG_ERROR,
                       "others may read the token's file %s; make it yours alone: chmod 600", path);
    if (read(fd, text, TOKEN_MOST) < 0)
        return err_set_errno(e, ERR_CONFIG_ERROR, "the token's file %s cannot be read", path);
    *token = mem_strndup(text, strcspn(text, "\r\n"));
    mem_wipe(text, sizeof text);
    return true;
}

/* The file appears whole under its name. Where two servers start at once, the first one's stays. */
static bool make_file(const char *directory, const char *path, struct error *e)
{
    unsigned char bytes[MADE_BYTES];
    char text[2 * MADE_BYTES + 2];
    struct whole_file f;
    struct stat st;
    if (lstat(path, &st) == 0)
        return true;
    entropy_fill(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 4, "%02x\n", bytes[i]);
    bool ok = paths_make_dir(directory, e) && whole_file_begin(&f, path, false, e) &&
              whole_file_write(&f, text, strlen(text), e) && whole_file_finish(&f, e);
    mem_wipe(bytes, sizeof bytes);
    mem_wipe(text, sizeof text);
    return ok || lstat(path, &st) == 0;
}

static bool read_own(char **token, char **path, struct error *e)
{
    auto_free char *directory = paths_state_dir();
    *path = paths_join(directory, "http-token");
    return make_file(directory, *path, e) && read_file(*path, O_NOFOLLOW, token, e);
}

static bool is_token(const char *s)
{
    size_t len = 0;
    while (s[len] > ' ' && s[len] < 0x7F)
        len++;
    return len >= HTTP_TOKEN_LEAST && !s[len];
}

/* The token of [serve] token_file or token_command; where neither is set, that of the file
 * "http-token" (mode 0600) in the state directory, which is made at the first start. False with
 * CONFIG_ERROR or FILE_ERROR: both keys are set, the file is not the user's alone, the one in the
 * state directory is a symbolic link or cannot be made, the command fails, or the first line is no
 * token: at least HTTP_TOKEN_LEAST visible ASCII characters. `path` is the file; NULL: a command
 * gave the token. Free the token with key_command_free(), the path with free(), also after a
 * failure. */
static bool read_token(const struct config *config, char **token, char **path, struct error *e)
{
    const char *file = config_string(config, CONFIG_SERVE_TOKEN_FILE);
    const char *command = config_string(config, CONFIG_SERVE_TOKEN_COMMAND);
    bool ok;
    *token = NULL;
    *path = *file ? mem_strdup(file) : NULL;
    if (*file && *command)
        return err_set(e, ERR_CONFIG_ERROR,
                       "[serve] has token_file and token_command; set one of them");
    if (*command)
        ok = key_command_run("[serve] token_command", command, COMMAND_MS, NULL, token, e);
    else
        ok = *file ? read_file(file, 0, token, e) : read_own(token, path, e);
    if (ok && is_token(*token))
        return true;
    key_command_free(*token);
    *token = NULL;
    return ok ? err_set(
                    e, ERR_CONFIG_ERROR,
                    "the token of [serve] is too short or has blanks; take %d characters or more",
                    HTTP_TOKEN_LEAST)
              : false;
}

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
    struct stop_handler *end;
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
    bool ok = read_token(server_config(loop), &h->token, &h->token_path, e) &&
              open_sockets(address, &sockets, e) && start(h, &sockets, e);
    listening_release(&sockets);
    if (ok) {
        h->end = server_on_stop(loop, on_stop, is_written, h);
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
    server_remove_stop(h->loop, h->end);
    http_server_free(h->server);
    http_service_free(h->service);
    key_command_free(h->token);
    free(h->token_path);
    server_unhold(h->loop);
    free(h->urls);
    free(h);
}

#endif
