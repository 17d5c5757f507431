/* What a client sends as a prompt: a list of content blocks, which becomes the text of a turn and
 * the images that go with it. Pure. */
#ifndef SERVE_ACP_PROMPT_H
#define SERVE_ACP_PROMPT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/vec.h"

struct acp_image {
    const char *data;       /* base64, borrowed of the blocks */
    const char *media_type; /* likewise */
};

struct acp_prompt {
    struct buf text; /* embedded files first (chat/attached_file.h), then what was written */
    VEC(struct acp_image) images;
};

/* False with USAGE that names the block: "prompt[2]: …". `out` is to be released in either case. */
bool acp_prompt_read(const struct json *blocks, struct acp_prompt *out, struct error *e);
void acp_prompt_release(struct acp_prompt *p);

/* What a file:// address names, the part behind "#" with it; any other, and one of a name that is
 * no UTF-8, as it is. The caller frees. */
char *acp_uri_to_path(const char *uri);

/* The way back; the caller frees. */
char *acp_path_to_uri(const char *path);

#endif
