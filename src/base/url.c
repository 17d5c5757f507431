#include "base/url.h"

#include <string.h>

#define AFTER_URL " \t\r\n\"'<>"

/* Appends the text up to the secret and "****" for it; `rest` is what follows. Nothing for a secret
 * in what was masked before. */
static bool hide(struct buf *out, const char **rest, const char *secret, size_t len)
{
    if (secret < *rest || len == 0)
        return false;
    if (out) {
        buf_add(out, *rest, (size_t)(secret - *rest));
        buf_addstr(out, "****");
    }
    *rest = secret + len;
    return true;
}

/* `out` NULL: only looks whether there are secrets. */
static bool mask(struct buf *out, const char *text)
{
    bool found = false;
    const char *rest = text, *value;
    for (const char *at = text; (at = strstr(at, "://"));) {
        at += strlen("://");
        size_t host = strcspn(at, "/?#" AFTER_URL), login = host;
        while (login > 0 && at[login] != '@')
            login--;
        found |= hide(out, &rest, at, login < host ? login : 0);
        for (value = at + strcspn(at, "?" AFTER_URL);
             *(value += strcspn(value, "=" AFTER_URL)) == '=';) {
            size_t len = strcspn(++value, "&;#" AFTER_URL);
            found |= hide(out, &rest, value, len);
            value += len;
        }
    }
    if (out)
        buf_addstr(out, rest);
    return found;
}

bool url_has_secret(const char *url)
{
    return mask(NULL, url);
}

void url_add_masked(struct buf *out, const char *text)
{
    mask(out, text);
}

char *url_escape(const char *text)
{
    static const char unreserved[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
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
