#include "agent/file_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

/* Those of directories end in a slash: so their order is that of the paths. */
struct names {
    VEC(char *) list;
};

static void add_name(struct names *names, int dir, const char *name)
{
    struct stat st;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    if (S_ISREG(st.st_mode))
        vec_push(&names->list, mem_strdup(name));
    else if (S_ISDIR(st.st_mode) && strcmp(name, ".git") != 0)
        vec_push(&names->list, mem_printf("%s/", name));
}

static bool read_names(struct file_walk *w, DIR *dir, struct names *names)
{
    bool more = true;
    for (;;) {
        more = w->go_on(w->context);
        errno = 0;
        struct dirent *d = more ? readdir(dir) : NULL;
        if (!d)
            break;
        add_name(names, dirfd(dir), d->d_name);
    }
    w->unreadable += errno != 0;
    vec_sort(&names->list, vec_text_order);
    return more;
}

static bool walk_directory(struct file_walk *w, int fd, int depth);

/* w->path is the entry's. */
static bool visit(struct file_walk *w, int dir, const char *name, int depth)
{
    size_t len = strlen(name);
    bool is_dir = name[len - 1] == '/';
    if (is_dir && depth == FILE_WALK_MAX_DEPTH) {
        w->too_deep++;
        return true;
    }
    if (is_dir ? !w->enter(w->context, w->path.data) : !w->wanted(w->context, w->path.data))
        return true;
    char *plain = mem_strndup(name, is_dir ? len - 1 : len);
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (is_dir ? O_DIRECTORY : 0);
    int fd = openat(dir, plain, flags);
    free(plain);
    if (fd < 0) {
        w->unreadable++;
        return true;
    }
    return is_dir ? walk_directory(w, fd, depth + 1) : w->file(w->context, w->path.data, fd);
}

static bool walk_directory(struct file_walk *w, int fd, int depth)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        w->unreadable++;
        return true;
    }
    struct names names = {0};
    size_t base = w->path.len;
    bool more = read_names(w, dir, &names);
    for (size_t i = 0; more && i < names.list.len; i++) {
        buf_addstr(&w->path, names.list.items[i]);
        more = w->go_on(w->context) && visit(w, dirfd(dir), names.list.items[i], depth);
        buf_splice(&w->path, base, w->path.len - base, NULL, 0);
    }
    vec_free_each(&names.list);
    closedir(dir);
    return more;
}

bool file_walk_run(struct file_walk *w, int fd)
{
    return walk_directory(w, fd, 1);
}
