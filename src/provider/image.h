/* An image that goes to a model: read from its file, or named by its URL. */
#ifndef PROVIDER_IMAGE_H
#define PROVIDER_IMAGE_H

#include "chat/message.h"

#define IMAGE_MAX_BYTES ((size_t)20 * 1024 * 1024)

struct image {
    const char *url; /* borrowed from the block; NULL: `base64` is set */
    char *base64;
    const char *media_type;
    char *problem; /* why there is neither: text to send in its place */
};

/* "image/png" of the bytes, whatever their file is called; NULL: no PNG, JPEG, GIF or WebP. Static.
 */
const char *image_media_type(const char *bytes, size_t len);

/* A path whose file is gone, too large or no PNG, JPEG, GIF or WebP is no fault of the call: the
 * model is told. */
void image_load(struct image *out, const struct block *block);
void image_release(struct image *image);

#endif
