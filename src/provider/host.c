#include "provider/host.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Past the scheme; `login` bytes of it, with the "@", are a user's. */
static const char *authority_of(const char *url, size_t *len, size_t *login)
{
    const char *scheme = strstr(url, "://");
    const char *start = scheme ? scheme + 3 : url;
    *len = strcspn(start, "/?#");
    *login = *len;
    while (*login > 0 && start[*login - 1] != '@')
        --*login;
    return start;
}

char *host_of_url(const char *url, char port[6])
{
    size_t len, login, host_len;
    const char *start = authority_of(url, &len, &login) + login;
    const char *after;
    len -= login;
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

char *host_unescape(const char *start, size_t len)
{
    char *text = mem_strndup(start, len), *to = text;
    for (const char *at = text; *at != '\0'; at++) {
        const char hex[] = {at[1], at[1] != '\0' ? at[2] : '\0', '\0'};
        bool escape = *at == '%' && strspn(hex, "0123456789abcdefABCDEF") == 2;
        *to++ = escape ? (char)strtoul(hex, NULL, 16) : *at;
        at += escape ? 2 : 0;
    }
    *to = '\0';
    return text;
}

char *host_login_of_url(const char *url)
{
    size_t len, login;
    const char *start = authority_of(url, &len, &login);
    return login <= 1 ? NULL : host_unescape(start, login - 1);
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
