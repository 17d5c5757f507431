#include "serve/listening.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/child.h"
#include "serve/activation.h"

void listening_take_over(struct listening *l)
{
    for (int fd; (fd = activation_take(false)) >= 0;)
        vec_push(&l->sockets, fd);
}

/* --- our own ---------------------------------------------------------------------------------- */

static void set_port(struct sockaddr_storage *address, int port)
{
    if (address->ss_family == AF_INET)
        ((struct sockaddr_in *)address)->sin_port = htons((uint16_t)port);
    else
        ((struct sockaddr_in6 *)address)->sin6_port = htons((uint16_t)port);
}

static int port_of(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET ? ((const struct sockaddr_in *)address)->sin_port
                                               : ((const struct sockaddr_in6 *)address)->sin6_port);
}

/* A numeric address; an IPv6 one may have a scope ("fe80::1%eth0"). */
static bool read_address(const char *host, struct sockaddr_storage *out, socklen_t *len)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    memset(out, 0, sizeof *out);
    memcpy(out, found->ai_addr, found->ai_addrlen);
    *len = found->ai_addrlen;
    freeaddrinfo(found);
    return out->ss_family == AF_INET || out->ss_family == AF_INET6;
}

/* -1, with errno. `port` becomes the one that it has. */
static int open_one(const char *host, int *port)
{
    struct sockaddr_storage address;
    socklen_t len;
    const int yes = 1;
    if (!read_address(host, &address, &len)) {
        errno = EINVAL;
        return -1;
    }
    int fd = descriptors_socket(address.ss_family, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (address.ss_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes);
    set_port(&address, *port);
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

static bool address_of(int socket, struct sockaddr_storage *address)
{
    socklen_t len = sizeof *address;
    return getsockname(socket, (struct sockaddr *)address, &len) == 0 &&
           (address->ss_family == AF_INET || address->ss_family == AF_INET6);
}

void listening_add_urls(const struct listening *l, struct buf *out)
{
    for (size_t i = 0; i < l->sockets.len; i++) {
        struct sockaddr_storage a;
        char text[INET6_ADDRSTRLEN];
        if (!address_of(l->sockets.items[i], &a))
            continue;
        bool v6 = a.ss_family == AF_INET6;
        const void *bytes = v6 ? (const void *)&((struct sockaddr_in6 *)&a)->sin6_addr
                               : (const void *)&((struct sockaddr_in *)&a)->sin_addr;
        if (inet_ntop(a.ss_family, bytes, text, sizeof text))
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
