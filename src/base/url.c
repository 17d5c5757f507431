#include "base/url.h"

#include <string.h>

/* Where the part before the host begins, in the next URL that has one, and how long it is. */
static const char *find_password(const char *text, size_t *len)
{
    for (const char *at = text; (at = strstr(at, "://"));) {
        at += strlen("://");
        size_t host = strcspn(at, "/?# \t\r\n\"'<>");
        for (*len = host; *len > 0 && at[*len] != '@';)
            (*len)--;
        if (*len > 0 && *len < host)
            return at;
    }
    return NULL;
}

bool url_has_password(const char *url)
{
    size_t len;
    return find_password(url, &len) != NULL;
}

void url_add_masked(struct buf *out, const char *text)
{
    size_t len;
    for (const char *at; (at = find_password(text, &len)); text = at + len) {
        buf_add(out, text, (size_t)(at - text));
        buf_addstr(out, "****");
    }
    buf_addstr(out, text);
}

char *url_escape(const char *text)
{
    static const char unreserved[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789-._~";
    struct buf out = BUF_INIT;
    for (const char *at = text; *at != '\0'; at++) {
        if (strchr(unreserved, *at) != NULL)
            buf_addch(&out, *at);
        else
            buf_addf(&out, "%%%02X", (unsigned)(unsigned char)*at);
    }
    return buf_take(&out);
}
