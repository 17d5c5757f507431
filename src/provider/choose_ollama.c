/* Where an Ollama server is, and whether one listens there. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/mem.h"
#include "provider/choose.h"
#include "provider/host.h"

#define DEFAULT_PORT "11434"
#define ANSWER_MS 150

/* A server's "listen on all addresses" is no address to connect to. */
static const char *reachable(const char *host)
{
    if (!*host || strcmp(host, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(host, "::") == 0 ? "::1" : host;
}

/* Bare "::1", which would read as a host with a port. */
static bool is_bare_v6(const char *host)
{
    struct in6_addr v6;
    return inet_pton(AF_INET6, host, &v6) == 1;
}

/* A port that lacks is Ollama's own without a scheme, and the scheme's own with one, as its own
 * client reads it. */
static const char *default_port(const char *scheme, bool given)
{
    if (!given)
        return DEFAULT_PORT;
    return strcasecmp(scheme, "https") == 0 ? "443" : "80";
}

char *choose_ollama_url(const char *host)
{
    const char *colon = strstr(host, "://");
    char *scheme = colon ? mem_strndup(host, (size_t)(colon - host)) : mem_strdup("http");
    const char *rest = colon ? colon + 3 : host;
    char *name = is_bare_v6(rest) ? mem_strdup(rest) : NULL;
    const char *path = name ? "" : rest + strcspn(rest, "/");
    size_t path_len = strlen(path);
    char port[6] = "";
    char *url;
    if (!name) {
        char *authority = mem_printf("%s://%.*s", scheme, (int)(path - rest), rest);
        name = host_of_url(authority, port);
        free(authority);
    }
    while (path_len > 0 && path[path_len - 1] == '/')
        path_len--;
    url = mem_printf(strchr(reachable(name), ':') ? "%s://[%s]:%s%.*s" : "%s://%s:%s%.*s", scheme,
                     reachable(name), *port ? port : default_port(scheme, colon != NULL),
                     (int)path_len, path);
    free(name);
    free(scheme);
    return url;
}

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* Its length, or 0 when the URL names no loopback address. */
static socklen_t loopback_address(const char *url, union address *out)
{
    char port[6];
    char *host = host_of_url(url, port);
    uint16_t number = htons((uint16_t)atoi(*port ? port : "80"));
    socklen_t len = 0;
    memset(out, 0, sizeof *out);
    if (host_is_loopback(host) && strchr(host, ':')) {
        out->v6.sin6_family = AF_INET6;
        out->v6.sin6_port = number;
        out->v6.sin6_addr = in6addr_loopback;
        len = sizeof out->v6;
    } else if (host_is_loopback(host)) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = number;
        if (inet_pton(AF_INET, host, &out->v4.sin_addr) != 1)
            out->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        len = sizeof out->v4;
    }
    free(host);
    return len;
}

static bool wait_connected(int fd)
{
    int64_t deadline = clock_mono_ms() + ANSWER_MS;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    int fault = 0;
    socklen_t len = sizeof fault;
    for (;;) {
        int64_t left = deadline - clock_mono_ms();
        int count = poll(&ready, 1, left > 0 ? (int)left : 0);
        if (count == 0 || (count < 0 && errno != EINTR))
            return false;
        if (count > 0)
            break;
    }
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &fault, &len) == 0 && fault == 0;
}

bool choose_ollama_answers(void *context, const char *base_url)
{
    union address address;
    socklen_t len = loopback_address(base_url, &address);
    bool answers;
    int fd;
    (void)context;
    if (len == 0)
        return false;
    fd = descriptors_socket(address.any.sa_family, SOCK_STREAM, 0);
    if (fd < 0)
        return false;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    answers = connect(fd, &address.any, len) == 0 || (errno == EINPROGRESS && wait_connected(fd));
    close(fd);
    return answers;
}
