#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* struct ucred */
#endif
#include "serve/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/child.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
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

/* --- descriptors that systemd has opened (sd_listen_fds(3)) -------------------------------------
 */

enum { FIRST_FD = 3, FDS_MAX = 64 };

/* The first descriptor that listens and was not taken yet: on a path (`unix_path`), or on an
 * address. It is the caller's, and children do not get it. -1: there is none. */
static int activation_take(bool unix_path)
{
    static bool taken[FDS_MAX];
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    bool ours = pid && fds && strtol(pid, NULL, 10) == (long)getpid();
    long count = ours ? strtol(fds, NULL, 10) : 0;
    for (int i = 0; i < count && i < FDS_MAX; i++) {
        struct sockaddr_storage address;
        int fd = FIRST_FD + i, listens = 0;
        socklen_t len = sizeof listens, address_len = sizeof address;
        if (taken[i] || getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) != 0 ||
            !listens || getsockname(fd, (struct sockaddr *)&address, &address_len) != 0 ||
            (address.ss_family == AF_UNIX) != unix_path)
            continue;
        taken[i] = true;
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return fd;
    }
    return -1;
}

/* --- the path --------------------------------------------------------------------------------- */

static int open_socket(void)
{
    int fd = descriptors_socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Nobody can connect before listen(), and the mode is set by then. */
static bool listen_at(struct socket_surface *s, const char *path, struct error *e)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat there, made;
    if (strlen(path) >= sizeof address.sun_path)
        return err_set(e, ERR_FILE_ERROR,
                       "the path of a socket has at most %zu bytes; use a shorter one",
                       sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);

    /* The socket of a server that has ended is removed; not where it cannot be found out whether
     * somebody listens there. */
    bool is_there = lstat(path, &there) == 0;
    if (!is_there && errno != ENOENT)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot listen at %s", path);
    if (is_there && !S_ISSOCK(there.st_mode))
        return err_set(e, ERR_FILE_ERROR, "%s is there and no socket; name another path", path);
    int fd = is_there ? open_socket() : -1;
    bool answered =
        fd >= 0 && (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ||
                    errno == EAGAIN || errno == EINPROGRESS);
    if (fd >= 0)
        close(fd);
    if (answered)
        return err_set(e, ERR_FILE_ERROR,
                       "somebody listens at %s already; use that one, or name another path", path);
    if (is_there && unlink(path) != 0)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot replace %s", path);

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
    vec_drop(&s->clients, c);
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
    struct stat there;
    if (!s)
        return;
    for (size_t i = s->clients.len; i-- > 0;)
        free_client(s->clients.items[i]);
    vec_release(&s->clients);
    server_unwatch(s->server, s->watch);
    server_cancel_timer(s->server, s->wait);
    if (s->path && lstat(s->path, &there) == 0 && there.st_dev == s->device &&
        there.st_ino == s->inode) /* else another server's */
        unlink(s->path);
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    server_unhold(s->server);
    free(s);
}

void listening_take_over(struct listening *l)
{
    for (int fd; (fd = activation_take(false)) >= 0;)
        vec_push(&l->sockets, fd);
}

/* --- addresses -------------------------------------------------------------------------------- */

static int port_of(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET ? ((const struct sockaddr_in *)address)->sin_port
                                               : ((const struct sockaddr_in6 *)address)->sin6_port);
}

/* Listens on a numeric address; an IPv6 one may have a scope ("fe80::1%eth0"). -1, with errno.
 * `port` becomes the port that the socket has. */
static int open_one(const char *host, int *port)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct sockaddr_storage address = {0};
    const int yes = 1;
    bool numeric = getaddrinfo(host, NULL, &hints, &found) == 0;
    socklen_t len = numeric ? found->ai_addrlen : 0;
    if (numeric) {
        memcpy(&address, found->ai_addr, len);
        freeaddrinfo(found);
    }
    if (address.ss_family != AF_INET && address.ss_family != AF_INET6) {
        errno = EINVAL;
        return -1;
    }
    int fd = descriptors_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.ss_family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
        ((struct sockaddr_in6 *)&address)->sin6_port = htons((uint16_t)*port);
    } else {
        ((struct sockaddr_in *)&address)->sin_port = htons((uint16_t)*port);
    }
    if (bind(fd, (struct sockaddr *)&address, len) == 0 && listen(fd, SOMAXCONN) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0) {
        *port = port_of(&address);
        return fd;
    }
    int fault = errno;
    close(fd);
    errno = fault;
    return -1;
}

static bool add_one(struct listening *l, const char *host, int *port, struct error *e)
{
    int fd = open_one(host, port);
    if (fd >= 0) {
        vec_push(&l->sockets, fd);
        return true;
    }
    if (errno == EINVAL)
        return err_set(e, ERR_USAGE, "\"%s\" is no numeric address; give one, as 0.0.0.0", host);
    return err_set(e, ERR_FILE_ERROR, "%s port %d cannot be listened on: %s; choose another", host,
                   *port, strerror(errno));
}

bool listening_open(struct listening *l, const char *host, int port, struct error *e)
{
    if (host && strcasecmp(host, "localhost") != 0)
        return add_one(l, host, &port, e);
    if (!add_one(l, "127.0.0.1", &port, e))
        return false;
    int v6 = open_one("::1", &port);
    if (v6 >= 0)
        vec_push(&l->sockets, v6);
    else if (errno == EADDRINUSE)
        return err_set(e, ERR_FILE_ERROR, "::1 port %d cannot be listened on: %s; choose another",
                       port, strerror(errno));
    return true;
}

/* --- both ------------------------------------------------------------------------------------- */

void listening_add_urls(const struct listening *l, struct buf *out)
{
    for (size_t i = 0; i < l->sockets.len; i++) {
        struct sockaddr_storage a;
        socklen_t len = sizeof a;
        char text[INET6_ADDRSTRLEN];
        if (getsockname(l->sockets.items[i], (struct sockaddr *)&a, &len) != 0)
            continue;
        bool v6 = a.ss_family == AF_INET6;
        const void *bytes = v6 ? (const void *)&((struct sockaddr_in6 *)&a)->sin6_addr
                               : (const void *)&((struct sockaddr_in *)&a)->sin_addr;
        if ((v6 || a.ss_family == AF_INET) && inet_ntop(a.ss_family, bytes, text, sizeof text))
            buf_addf(out, "%shttp://%s%s%s:%d", out->len ? " " : "", v6 ? "[" : "", text,
                     v6 ? "]" : "", port_of(&a));
    }
}

void listening_release(struct listening *l)
{
    for (size_t i = 0; i < l->sockets.len; i++)
        close(l->sockets.items[i]);
    vec_release(&l->sockets);
}
