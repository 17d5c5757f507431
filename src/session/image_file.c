#include "session/image_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "provider/outgoing.h"

static const char prefix[] = "image-";

static bool decode(const char *data, struct buf *bytes, const char **media_type, struct error *e)
{
    if (!base64_decode(data, bytes))
        return err_set(e, ERR_USAGE,
                       "\"data\" does not fit; give base64 of at most %zu MB of an image",
                       IMAGE_MAX_BYTES >> 20);
    *media_type = image_media_type(bytes->data, bytes->len);
    return *media_type || err_set(e, ERR_USAGE, "\"data\" is no PNG, JPEG, GIF or WebP image");
}

static char *new_path(const char *directory, const char *media_type)
{
    char id[UUID_LEN + 1];
    uuid_new(id);
    return mem_printf("%s/%s%s.%s", directory, prefix, id, strchr(media_type, '/') + 1);
}

bool image_file_add(const char *directory, const char *data, struct session_image *out,
                    struct error *e)
{
    struct buf bytes;
    const char *media_type = NULL;
    buf_init(&bytes, IMAGE_MAX_BYTES);
    bool ok = decode(data, &bytes, &media_type, e) && paths_make_dir(directory, e);
    char *path = ok ? new_path(directory, media_type) : NULL;
    ok = ok && paths_write_file(path, bytes.data, bytes.len, e);
    if (ok)
        *out = (struct session_image){.path = path, .media_type = mem_strdup(media_type)};
    else
        free(path);
    buf_release(&bytes);
    return ok;
}

bool image_file_remove_all(int directory)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = copy < 0 ? NULL : fdopendir(copy);
    bool ok = d != NULL;
    if (!d && copy >= 0)
        close(copy);
    for (const struct dirent *f; d && (f = readdir(d));)
        if (strncmp(f->d_name, prefix, strlen(prefix)) == 0)
            ok = (unlinkat(directory, f->d_name, 0) == 0 || errno == ENOENT) && ok;
    int cause = errno;
    if (d)
        closedir(d);
    errno = cause;
    return ok;
}

/* "image-UUID.png", "image-UUID.png.tiro-XXXXXX" (base/paths.h). */
bool image_file_is(const char *file, bool unfinished)
{
    char id[UUID_LEN + 1] = "";
    if (strncmp(file, prefix, strlen(prefix)) != 0)
        return false;
    memcpy(id, file + strlen(prefix), strnlen(file + strlen(prefix), UUID_LEN));
    const char *rest = file + strlen(prefix) + strlen(id);
    return uuid_valid(id) && *rest == '.' && (strchr(rest + 1, '.') != NULL) == unfinished;
}
