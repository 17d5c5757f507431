#include "serve/acp_prompt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/environment.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"

/* --- addresses -------------------------------------------------------------------------------- */

static const char file_scheme[] = "file://";

static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = strchr(digits, tolower((unsigned char)c));
    return c && at ? (int)(at - digits) : -1;
}

/* Escapes of control characters, and what is no escape, stay as they are. */
static char *unescape(const char *text)
{
    struct buf out = BUF_INIT;
    for (; *text; text++) {
        int high = *text == '%' ? hex_value(text[1]) : -1;
        int low = high >= 0 ? hex_value(text[2]) : -1;
        bool escaped = low >= 0 && high * 16 + low >= ' ';
        buf_addch(&out, escaped ? (char)(high * 16 + low) : *text);
        text += escaped ? 2 : 0;
    }
    return buf_take(&out);
}

char *acp_uri_to_path(const char *uri)
{
    if (strncmp(uri, file_scheme, strlen(file_scheme)) != 0)
        return mem_strdup(uri);
    const char *path = strchr(uri + strlen(file_scheme), '/'); /* behind a host */
    char *text = path ? unescape(path) : NULL;
    if (text && utf8_valid(text, strlen(text)))
        return text;
    free(text);
    return mem_strdup(uri);
}

char *acp_path_to_uri(const char *path)
{
    struct buf out = BUF_INIT;
    buf_addstr(&out, file_scheme);
    while (*path) {
        size_t len = strcspn(path, "/");
        char *part = mem_strndup(path, len);
        char *escaped = url_escape(part);
        buf_addstr(&out, escaped);
        free(escaped);
        free(part);
        path += len;
        if (*path)
            buf_addch(&out, *path++);
    }
    return buf_take(&out);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* A prompt while it is read. */
struct reading {
    struct acp_prompt *out;
    struct buf written; /* what follows the files */
    size_t index;       /* of the block */
    struct error *e;
};

static bool refuse(struct reading *r, const char *why)
{
    return err_set(r->e, ERR_USAGE, "prompt[%zu]: %s", r->index, why);
}

static bool read_text(struct reading *r, const struct json *block)
{
    const char *text = json_get_string(block, "text");
    if (!text)
        return refuse(r, "a text lacks its \"text\"; give a string");
    buf_addstr(&r->written, text);
    return true;
}

static bool read_image(struct reading *r, const struct json *block)
{
    struct acp_image image = {json_get_string(block, "data"), json_get_string(block, "mimeType")};
    if (!image.data || !image.media_type)
        return refuse(r, "an image needs \"data\" (base64) and \"mimeType\"");
    vec_push(&r->out->images, image);
    return true;
}

/* The model reads the file with a tool where it wants to. */
static bool read_link(struct reading *r, const struct json *block)
{
    const char *uri = json_get_string(block, "uri");
    if (!uri)
        return refuse(r, "a resource_link lacks its \"uri\"");
    char *path = acp_uri_to_path(uri);
    buf_addf(&r->written, "`%s`", path);
    free(path);
    return true;
}

static bool is_image(const char *media_type)
{
    return media_type && strncmp(media_type, "image/", 6) == 0;
}

static bool read_resource(struct reading *r, const struct json *block)
{
    const struct json *resource = json_get(block, "resource");
    const char *uri = json_get_string(resource, "uri"), *text = json_get_string(resource, "text");
    struct acp_image image = {json_get_string(resource, "blob"),
                              json_get_string(resource, "mimeType")};
    if (!uri || (!text && !image.data))
        return refuse(r, "a resource needs \"uri\" and \"text\" or \"blob\"");
    if (!text && !is_image(image.media_type))
        return refuse(r, "a resource that is neither text nor an image cannot be sent");
    if (!text) {
        vec_push(&r->out->images, image);
        return true;
    }
    char *path = acp_uri_to_path(uri);
    attached_file_add(&r->out->text, path, text, strlen(text));
    buf_addf(&r->written, "`%s`", path);
    free(path);
    return true;
}

static bool read_block(struct reading *r, const struct json *block)
{
    static const struct {
        const char *type;
        bool (*read)(struct reading *r, const struct json *block);
    } types[] = {{"text", read_text},
                 {"image", read_image},
                 {"resource_link", read_link},
                 {"resource", read_resource}};
    const char *type = json_get_string(block, "type");
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            return types[i].read(r, block);
    return refuse(r, "give a block of type text, image, resource_link or resource");
}

bool acp_prompt_read(const struct json *blocks, struct acp_prompt *out, struct error *e)
{
    struct reading r = {.out = out, .written = BUF_INIT, .e = e};
    bool ok = true;
    *out = (struct acp_prompt){.text = BUF_INIT};
    if (json_type(blocks) != JSON_ARRAY || json_len(blocks) == 0)
        return err_set(e, ERR_USAGE, "\"prompt\" does not fit; give a list of content blocks");
    for (const struct json *b = json_first(blocks); ok && b; b = json_next(b), r.index++)
        ok = read_block(&r, b);
    buf_add(&out->text, r.written.data, r.written.len);
    buf_release(&r.written);
    return ok;
}

void acp_prompt_release(struct acp_prompt *p)
{
    buf_release(&p->text);
    vec_release(&p->images);
}
