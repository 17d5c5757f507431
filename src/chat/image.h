/* Images: what the first bytes of a PNG, JPEG, GIF or WebP tell. Pure, but for one function. */
#ifndef CHAT_IMAGE_H
#define CHAT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "chat/message.h"

struct image_facts {
    const char *media_type; /* "image/png" */
    int32_t width, height;  /* 0: not found */
    int64_t bytes;          /* of the whole file */
};

/* "image/png" of the bytes, whatever their file is called; NULL: no PNG, JPEG, GIF or WebP. */
const char *image_media_type(const char *bytes, size_t len);

/* False: no such image. The bytes may be the beginning of a file; `bytes` is their number then. */
bool image_facts(const char *bytes, size_t len, struct image_facts *out);

/* Reads the beginning of a file. */
bool image_file_facts(const char *path, struct image_facts *out);

/* "1024×768 png 210 kB", the member `id` of an image's block. The caller frees. */
char *image_size_text(const struct image_facts *f);

/* Appends the form of an image where a text stands for it: "[image 1024×768 png 210 kB]", or of a
 * block without `id` its name or the end of its place. */
void image_add_text(struct buf *out, const struct block *b);
void image_add_json_text(struct buf *out, const struct json *block);

#endif
