#include "config/config_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "config/edit.h"

void config_file_init(struct config_file *f)
{
    *f = (struct config_file){0};
    buf_init(&f->text, CONFIG_FILE_MAX);
    buf_init(&f->changed, 0);
}

void config_file_release(struct config_file *f)
{
    free(f->path);
    buf_release(&f->text);
    buf_release(&f->changed);
}

bool config_file_read(struct config_file *f, struct error *e)
{
    struct stat st;
    free(f->path);
    f->path = paths_config_file();
    buf_clear(&f->text);
    buf_clear(&f->changed);
    if (stat(f->path, &st) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        if (lstat(f->path, &st) == 0)
            return err_set(e, ERR_FILE_ERROR, "%s is a link to a file that is not there; make it",
                           f->path);
        return true;
    }
    if (!paths_read_regular(f->path, &f->text, e))
        return false;
    return !memchr(f->text.data, '\0', f->text.len) ||
           err_set(e, ERR_FILE_ERROR, "%s is not a text file; move it away", f->path);
}

bool config_file_write(const struct config_file *f, struct error *e)
{
    char *dir = paths_config_dir();
    if (f->changed.len > CONFIG_FILE_MAX)
        err_set(e, ERR_FILE_ERROR, "%s would be too long; at most %d bytes are read", f->path,
                (int)CONFIG_FILE_MAX);
    bool ok = f->changed.len <= CONFIG_FILE_MAX && paths_make_dir(dir, e) &&
              paths_write_file(f->path, f->changed.data, f->changed.len, e);
    free(dir);
    return ok;
}

/* Of the directory: the file itself is replaced. */
int config_file_lock(struct error *e)
{
    char *dir = paths_config_dir();
    int fd = paths_make_dir(dir, e) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0)
        flock(fd, LOCK_EX);
    free(dir);
    return fd;
}

bool config_file_set(const char *section, const char *name, const char *value, struct error *e)
{
    struct config_file f;
    config_file_init(&f);
    int lock = config_file_lock(e);
    bool ok = config_edit_check(section, name, value, e) && config_file_read(&f, e) &&
              config_edit_set(f.text.data, section, name, value, &f.changed, e) &&
              (strcmp(f.text.data, f.changed.data) == 0 || config_file_write(&f, e));
    if (lock >= 0)
        close(lock);
    config_file_release(&f);
    return ok;
}
