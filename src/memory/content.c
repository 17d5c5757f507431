#include "memory/content.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "memory/secrets.h"

static bool is_blank(uint32_t cp)
{
    return (cp >= '\t' && cp <= '\r') || cp == ' ' || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200b) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000 || cp == 0xfeff;
}

/* ---- trimmed and masked ---- */

/* The text without blanks at either end. */
static void trim(const char **text, size_t *len)
{
    uint32_t cp;
    size_t end = 0;
    for (size_t used; *len > 0 && (used = utf8_decode(*text, *len, &cp), is_blank(cp));
         *text += used)
        *len -= used;
    for (size_t at = 0; at < *len;) {
        at += utf8_decode(*text + at, *len - at, &cp);
        if (!is_blank(cp))
            end = at;
    }
    *len = end;
}

char *content_clean(const char *text)
{
    struct buf out = BUF_INIT;
    size_t len = strlen(text);
    trim(&text, &len);
    secrets_mask(&out, text, len);
    if (out.len > 0)
        return buf_take(&out);
    buf_release(&out);
    return NULL;
}

/* ---- the same ---- */

char *content_normal(const char *text)
{
    struct buf out = BUF_INIT;
    uint32_t cp;
    bool parted = false;
    size_t len = strlen(text), used;
    for (size_t at = 0; at < len; at += used) {
        used = utf8_decode(text + at, len - at, &cp);
        if (is_blank(cp)) {
            parted = out.len > 0;
            continue;
        }
        if (parted)
            buf_addch(&out, ' ');
        parted = false;
        buf_add(&out, text + at, used);
    }
    return buf_take(&out);
}

/* FNV-1a */
int64_t content_digest(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char *normal = content_normal(text);
    for (const char *at = normal; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    free(normal);
    return (int64_t)hash;
}

bool content_equal(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return true;
    char *normal_a = content_normal(a), *normal_b = content_normal(b);
    bool equal = strcmp(normal_a, normal_b) == 0;
    free(normal_a);
    free(normal_b);
    return equal;
}

bool content_stays(const struct memory_entry *there, const struct memory_entry *newcomer)
{
    return there->pinned || there->created_ms >= newcomer->created_ms;
}

bool content_is_again(const struct memory_entry *there, const struct memory_entry *newcomer)
{
    return strcmp(there->session_id, newcomer->session_id) == 0 &&
           (there->edited || content_equal(there->content, newcomer->content));
}

/* ---- ids ---- */

char *memory_id_new(void)
{
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    enum { LENGTH = 12, BITS = 5 };
    uint64_t random;
    char id[LENGTH + 1] = "";
    entropy_fill(&random, sizeof random);
    for (int i = 0; i < LENGTH; i++, random >>= BITS)
        id[i] = digits[random % (sizeof digits - 1)];
    return mem_strdup(id);
}
