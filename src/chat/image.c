#include "chat/image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"

enum {
    HEAD_BYTES = 256 * 1024, /* in which a camera's JPEG has its size, behind a preview */
    NAME_BYTES = 200
};

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

/* The bytes decide, not the name of the file: servers refuse a mismatch. */
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

/* A number of so many bytes; 0 where the bytes end. */
static uint32_t big(const unsigned char *b, size_t len, size_t at, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | (at + i < len ? b[at + i] : 0U);
    return at + count <= len ? value : 0;
}

static uint32_t little(const unsigned char *b, size_t len, size_t at, size_t count)
{
    uint32_t value = 0;
    for (size_t i = count; i-- > 0;)
        value = value << 8 | (at + i < len ? b[at + i] : 0U);
    return at + count <= len ? value : 0;
}

/* The first frame header; the segments before it are skipped by their lengths. */
static size_t jpeg_frame(const unsigned char *b, size_t len)
{
    size_t at = 2;
    while (at + 4 <= len && b[at] == 0xFF) {
        unsigned marker = b[at + 1];
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC)
            return at;
        bool alone = marker == 0xFF || marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8);
        uint32_t length = alone ? 0 : big(b, len, at + 2, 2);
        if (!alone && length < 2)
            break;
        at += marker == 0xFF ? 1 : 2 + (size_t)length;
    }
    return 0;
}

bool image_facts(const char *bytes, size_t len, struct image_facts *out)
{
    const unsigned char *b = (const unsigned char *)bytes;
    *out = (struct image_facts){.media_type = image_media_type(bytes, len), .bytes = (int64_t)len};
    if (!out->media_type)
        return false;
    const char *format = out->media_type + strlen("image/");
    uint32_t width = 0, height = 0;
    if (strcmp(format, "png") == 0) {
        width = big(b, len, 16, 4);
        height = big(b, len, 20, 4);
    } else if (strcmp(format, "gif") == 0) {
        width = little(b, len, 6, 2);
        height = little(b, len, 8, 2);
    } else if (strcmp(format, "jpeg") == 0) {
        size_t frame = jpeg_frame(b, len);
        height = frame > 0 ? big(b, len, frame + 5, 2) : 0;
        width = frame > 0 ? big(b, len, frame + 7, 2) : 0;
    } else if (len >= 16 && memcmp(b + 12, "VP8X", 4) == 0) {
        width = little(b, len, 24, 3) + (len >= 30);
        height = little(b, len, 27, 3) + (len >= 30);
    } else if (len >= 16 && memcmp(b + 12, "VP8L", 4) == 0) {
        uint32_t sizes = little(b, len, 21, 4);
        width = (sizes & 0x3FFF) + (len >= 25);
        height = (sizes >> 14 & 0x3FFF) + (len >= 25);
    } else if (len >= 16 && memcmp(b + 12, "VP8 ", 4) == 0) {
        width = little(b, len, 26, 2) & 0x3FFF;
        height = little(b, len, 28, 2) & 0x3FFF;
    }
    if (width > 0 && height > 0 && width <= INT32_MAX && height <= INT32_MAX) {
        out->width = (int32_t)width;
        out->height = (int32_t)height;
    }
    return true;
}

bool image_file_facts(const char *path, struct image_facts *out)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    auto_free char *head = mem_alloc(HEAD_BYTES);
    ssize_t n =
        fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, HEAD_BYTES) : -1;
    if (fd >= 0)
        close(fd);
    bool ok = n > 0 && image_facts(head, (size_t)n, out);
    if (ok)
        out->bytes = st.st_size;
    return ok;
}

char *image_size_text(const struct image_facts *f)
{
    const char *format = f->media_type + strlen("image/");
    auto_free char *size = f->bytes < 1000 ? mem_printf("%d B", (int)f->bytes)
                           : f->bytes < 1000000
                               ? mem_printf("%d kB", (int)(f->bytes / 1000))
                               : mem_printf("%lld.%d MB", (long long)(f->bytes / 1000000),
                                            (int)(f->bytes / 100000 % 10));
    return f->width > 0 ? mem_printf("%d\u00d7%d %s %s", f->width, f->height, format, size)
                        : mem_printf("%s %s", format, size);
}

static void add_text(struct buf *out, const char *size, const char *name, const char *place)
{
    const char *shown = size && *size ? size : name && *name ? name : place ? place : "";
    if (strncmp(shown, "data:", 5) == 0)
        shown = "";
    buf_addstr(out, *shown ? "[image " : "[image");
    utf8_clean(out, shown, utf8_cut_bytes(shown, strlen(shown), NAME_BYTES), UTF8_ONE_LINE);
    buf_addch(out, ']');
}

void image_add_text(struct buf *out, const struct block *b)
{
    add_text(out, b->id, b->name, b->text);
}

void image_add_json_text(struct buf *out, const struct json *block)
{
    add_text(out, json_get_string(block, "id"), json_get_string(block, "name"),
             json_get_string(block, "text"));
}
