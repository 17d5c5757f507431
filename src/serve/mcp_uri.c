#include "serve/mcp_uri.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"

static const char scheme[] = "tiro://session/", json_ending[] = ".json";

/* Of a hexadecimal digit; negative: it is none. */
static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)((at - digits) % 16) : -1;
}

/* NULL: an escape is none, or the text that comes of it is. */
static char *unescape(const char *text, size_t len)
{
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < len; i++) {
        int high = text[i] == '%' && i + 1 < len ? digit_of(text[i + 1]) : -1;
        int low = high >= 0 && i + 2 < len ? digit_of(text[i + 2]) : -1;
        if (text[i] == '%' && low < 0) {
            buf_release(&out);
            return NULL;
        }
        buf_addch(&out, text[i] == '%' ? (char)(high * 16 + low) : text[i]);
        i += text[i] == '%' ? 2 : 0;
    }
    if (strlen(out.data) == out.len && out.len > 0 && utf8_valid(out.data, out.len))
        return buf_take(&out);
    buf_release(&out);
    return NULL;
}

bool mcp_uri_read(const char *uri, char **reference, enum mcp_form *form)
{
    size_t before = strlen(scheme), ending = strlen(json_ending);
    *reference = NULL;
    if (strncmp(uri, scheme, before) != 0)
        return false;
    const char *rest = uri + before;
    size_t len = strlen(rest);
    *form = len > ending && strcmp(rest + len - ending, json_ending) == 0 ? MCP_JSON : MCP_MARKDOWN;
    len -= *form == MCP_JSON ? ending : 0;
    if (!memchr(rest, '/', len))
        *reference = unescape(rest, len);
    return *reference;
}

char *mcp_uri_of(const char *session_id, enum mcp_form form)
{
    char *escaped = url_escape(session_id);
    char *uri = mem_printf("%s%s%s", scheme, escaped, form == MCP_JSON ? json_ending : "");
    free(escaped);
    return uri;
}
