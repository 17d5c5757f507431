#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ucred */
#endif

#include "serve/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "serve/activation.h"
#include "serve/jsonrpc.h"

enum { BACKLOG = 128, WAIT_MS = 100 /* where no descriptor is to be had */ };

struct client {
    struct socket_surface *surface;
    int fd;
    struct jsonrpc *jsonrpc;
};

struct socket_surface {
    struct server *server;
    int fd;
    char *path; /* that we made; NULL: it is not ours */
    dev_t device;
    ino_t inode;
    struct watch *watch;
    struct timer *wait;
    VEC(struct client *) clients;
};

/* --- the path --------------------------------------------------------------------------------- */

static bool make_address(const char *path, struct sockaddr_un *out, struct error *e)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof out->sun_path)
        return err_set(e, ERR_FILE_ERROR,
                       "the path of a socket has at most %zu bytes; use a shorter one",
                       sizeof out->sun_path - 1);
    memcpy(out->sun_path, path, strlen(path) + 1);
    return true;
}

static int open_socket(void)
{
    int fd = descriptors_socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Whether somebody listens there; not where nothing can be found out. */
static bool is_answered(const struct sockaddr_un *address)
{
    int fd = open_socket();
    bool answered =
        fd >= 0 && (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 ||
                    errno == EAGAIN || errno == EINPROGRESS);
    if (fd >= 0)
        close(fd);
    return answered;
}

/* Takes away what an ended server left. */
static bool make_room(const char *path, const struct sockaddr_un *address, struct error *e)
{
    struct stat there;
    if (lstat(path, &there) != 0)
        return errno == ENOENT || err_set_errno(e, ERR_FILE_ERROR, "cannot listen at %s", path);
    if (!S_ISSOCK(there.st_mode))
        return err_set(e, ERR_FILE_ERROR, "%s is there and no socket; name another path", path);
    if (is_answered(address))
        return err_set(e, ERR_FILE_ERROR,
                       "somebody listens at %s already; use that one, or name another path", path);
    return unlink(path) == 0 || err_set_errno(e, ERR_FILE_ERROR, "cannot replace %s", path);
}

/* Nobody can connect before listen(), by when the mode is set. */
static bool listen_at(struct socket_surface *s, const char *path, struct error *e)
{
    struct sockaddr_un address;
    struct stat made;
    if (!make_address(path, &address, e) || !make_room(path, &address, e))
        return false;
    s->fd = open_socket();
    if (s->fd < 0 || fchmod(s->fd, 0600) != 0 ||
        bind(s->fd, (struct sockaddr *)&address, sizeof address) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot make the socket %s", path);
    s->path = mem_strdup(path);
    if (chmod(path, 0600) != 0 || lstat(path, &made) != 0 || listen(s->fd, BACKLOG) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot listen at %s", path);
    s->device = made.st_dev;
    s->inode = made.st_ino;
    return true;
}

static void remove_path(const struct socket_surface *s)
{
    struct stat there;
    if (s->path && lstat(s->path, &there) == 0 && there.st_dev == s->device &&
        there.st_ino == s->inode)
        unlink(s->path);
}

/* --- clients ---------------------------------------------------------------------------------- */

static void update(struct socket_surface *s)
{
    bool accepts = s->clients.len < SOCKET_CLIENTS_MAX && !s->wait;
    watch_events(s->watch, accepts ? POLLIN : 0);
}

static void free_client(struct client *c)
{
    jsonrpc_free(c->jsonrpc);
    close(c->fd);
    free(c);
}

static void on_closed(void *context)
{
    struct client *c = context;
    struct socket_surface *s = c->surface;
    for (size_t i = s->clients.len; i-- > 0;)
        if (s->clients.items[i] == c)
            vec_remove(&s->clients, i, 1);
    free_client(c);
    update(s);
}

static void waited(void *context)
{
    struct socket_surface *s = context;
    s->wait = NULL;
    update(s);
}

/* Whether the peer is a process of our user, as the kernel says: a directory that others may enter
 * and a mode that somebody changed open nothing. */
static bool is_our_user(int fd)
{
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t len = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 && peer.uid == geteuid();
#else
    uid_t user;
    gid_t group;
    return getpeereid(fd, &user, &group) == 0 && user == geteuid();
#endif
}

static void on_connection(void *context, short revents)
{
    struct socket_surface *s = context;
    (void)revents;
    int fd = descriptors_accept(s->fd, NULL, NULL);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            s->wait = server_after(s->server, WAIT_MS, waited, s);
        update(s);
        return;
    }
    if (!is_our_user(fd)) {
        log_line(LOG_ERROR, "a process of another user was refused at the socket");
        close(fd);
        return;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    struct client *c = mem_alloc(sizeof *c);
    *c = (struct client){.surface = s, .fd = fd};
    c->jsonrpc = jsonrpc_new(s->server, fd, fd, false, on_closed, c);
    vec_push(&s->clients, c);
    update(s);
}

/* --- lifecycle -------------------------------------------------------------------------------- */

struct socket_surface *socket_open(struct server *server, const char *path, struct error *e)
{
    struct socket_surface *s = mem_alloc(sizeof *s);
    s->server = server;
    s->fd = activation_take(true);
    server_hold(server);
    if (s->fd < 0 && !listen_at(s, path, e)) {
        socket_free(s);
        return NULL;
    }
    fcntl(s->fd, F_SETFL, O_NONBLOCK);
    s->watch = server_watch(server, s->fd, POLLIN, on_connection, s);
    return s;
}

void socket_free(struct socket_surface *s)
{
    if (!s)
        return;
    while (s->clients.len > 0) {
        free_client(vec_last(&s->clients));
        vec_remove(&s->clients, s->clients.len - 1, 1);
    }
    vec_release(&s->clients);
    server_unwatch(s->server, s->watch);
    server_take_back(s->server, s->wait);
    remove_path(s);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    server_let_go(s->server);
    free(s);
}
