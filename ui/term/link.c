#include "ui/term/link.h"

#include <string.h>
#include <strings.h>

static bool has_safe_scheme(const char *address, size_t len)
{
    static const char *const schemes[] = {"http://", "https://", "mailto:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (len > n && strncasecmp(address, schemes[i], n) == 0)
            return true;
    }
    return false;
}

bool link_clean(struct buf *out, const char *address, size_t len)
{
    static const char others[] = " \"<>\\^`{|}";
    size_t before = out->len;
    bool ok = has_safe_scheme(address, len);
    for (size_t i = 0; ok && i < len; i++) {
        unsigned char c = (unsigned char)address[i];
        ok = (c >= ' ' && c != 0x7f) && out->len - before < LINK_MAX;
        if (c >= 0x80 || strchr(others, c))
            buf_addf(out, "%%%02X", c);
        else
            buf_addch(out, (char)c);
    }
    if (!ok)
        buf_splice(out, before, out->len - before, "", 0);
    return ok;
}

void links_release(struct links *l)
{
    buf_release(&l->text);
    vec_release(&l->starts);
}

void links_clear(struct links *l)
{
    links_truncate(l, 0);
}

uint16_t links_add(struct links *l, const char *address)
{
    uint16_t last = (uint16_t)l->starts.len;
    if (!address)
        return 0;
    if (last > 0 && strcmp(links_at(l, last), address) == 0)
        return last;
    if (last == UINT16_MAX)
        return 0;
    vec_push(&l->starts, (uint32_t)l->text.len);
    buf_add(&l->text, address, strlen(address) + 1);
    return (uint16_t)(last + 1);
}

const char *links_at(const struct links *l, uint16_t number)
{
    return number ? l->text.data + l->starts.items[number - 1] : NULL;
}

void links_truncate(struct links *l, size_t count)
{
    if (count >= l->starts.len)
        return;
    buf_splice(&l->text, l->starts.items[count], l->text.len - l->starts.items[count], "", 0);
    l->starts.len = count;
}
