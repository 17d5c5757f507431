#include "provider/image.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"

static const struct {
    const char *media_type;
    size_t at;
    const char *magic;
} formats[] = {
    {"image/png", 0, "\x89PNG\r\n\x1a\n"},
    {"image/jpeg", 0, "\xff\xd8\xff"},
    {"image/gif", 0, "GIF8"},
    {"image/webp", 8, "WEBP"},
};

/* What the bytes are counts, not what the file is called: servers refuse a mismatch. */
const char *image_media_type(const char *bytes, size_t bytes_len)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t len = strlen(formats[i].magic);
        if (bytes_len >= formats[i].at + len &&
            memcmp(bytes + formats[i].at, formats[i].magic, len) == 0)
            return formats[i].media_type;
    }
    return NULL;
}

static bool is_url(const char *s)
{
    return strncasecmp(s, "http://", 7) == 0 || strncasecmp(s, "https://", 8) == 0;
}

void image_load(struct image *out, const struct block *block)
{
    *out = (struct image){0};
    const char *where = block->text == NULL ? "" : block->text;
    if (is_url(where)) {
        out->url = where;
        out->media_type = block->media_type;
        return;
    }
    struct buf bytes;
    struct error e;
    buf_init(&bytes, IMAGE_MAX_BYTES);
    if (!paths_read_regular(where, &bytes, &e))
        out->problem = mem_printf("[an image that cannot be read: %s]", e.text);
    else if ((out->media_type = image_media_type(bytes.data, bytes.len)) == NULL)
        out->problem = mem_printf("[%s is not a PNG, JPEG, GIF or WebP image]", where);
    else
        out->base64 = base64_encode((const unsigned char *)bytes.data, bytes.len);
    buf_release(&bytes);
}

void image_release(struct image *image)
{
    free(image->base64);
    free(image->problem);
}
