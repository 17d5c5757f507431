#include "base/base64.h"

#include "base/mem.h"

char *base64_encode(const unsigned char *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
