#include "base/base64.h"

#include <string.h>

#include "base/mem.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const unsigned char *bytes, size_t len)
{
    char *out = mem_alloc((len + 2) / 3 * 4 + 1);
    char *p = out;
    for (size_t i = 0; i < len; i += 3) {
        unsigned b1 = i + 1 < len ? bytes[i + 1] : 0;
        unsigned b2 = i + 2 < len ? bytes[i + 2] : 0;
        unsigned group = (unsigned)bytes[i] << 16 | b1 << 8 | b2;
        *p++ = digits[group >> 18];
        *p++ = digits[group >> 12 & 63];
        *p++ = i + 1 < len ? digits[group >> 6 & 63] : '=';
        *p++ = i + 2 < len ? digits[group & 63] : '=';
    }
    *p = '\0';
    return out;
}

/* Of four characters, the last two of which may be padding; 0: it is none. */
static size_t decode_group(const char *text, char out[3])
{
    unsigned bits = 0;
    size_t padding = text[3] != '=' ? 0 : text[2] != '=' ? 1 : 2;
    for (size_t i = 0; i < 4; i++) {
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit && i < 4 - padding)
            return 0;
        bits = bits << 6 | (digit ? (unsigned)(digit - digits) : 0);
    }
    for (int i = 0; i < 3; i++)
        out[i] = (char)(bits >> (16 - 8 * i) & 0xff);
    return 3 - padding;
}

bool base64_decode(const char *text, struct buf *out)
{
    size_t len = strlen(text);
    if (len % 4 != 0)
        return false;
    for (const char *at = text; *at; at += 4) {
        char bytes[3];
        size_t n = decode_group(at, bytes);
        if (n == 0 || (n < 3 && at[4] != '\0') || !buf_try_add(out, bytes, n))
            return false;
    }
    return true;
}
