#include "provider/host.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Past the scheme and a user's name. */
static const char *authority_of(const char *url, size_t *len)
{
    const char *scheme = strstr(url, "://");
    const char *start = scheme ? scheme + 3 : url;
    size_t length = strcspn(start, "/?#");
    for (size_t i = length; i > 0; i--) {
        if (start[i - 1] == '@') {
            start += i;
            length -= i;
            break;
        }
    }
    *len = length;
    return start;
}

char *host_of_url(const char *url, char port[6])
{
    size_t len, host_len;
    const char *start = authority_of(url, &len);
    const char *after;
    bool bracket = len > 0 && *start == '[';
    if (bracket) {
        start++;
        len--;
    }
    host_len = strcspn(start, bracket ? "]" : ":");
    if (host_len > len)
        host_len = len;
    after = start + host_len;
    if (bracket && host_len < len)
        after++;
    port[0] = '\0';
    if (after < start + len && *after == ':') {
        size_t port_len = strspn(after + 1, "0123456789");
        if (port_len <= 5) {
            memcpy(port, after + 1, port_len);
            port[port_len] = '\0';
        }
    }
    return mem_strndup(start, host_len);
}

bool host_is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}
