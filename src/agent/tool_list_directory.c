#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/builtin.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

struct names {
    VEC(char *) list;
};

static bool read_names(const struct tool_context *context, DIR *dir, struct names *names,
                       struct buf *out)
{
    struct dirent *d;
    errno = 0;
    while ((d = readdir(dir))) {
        if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
            vec_push(&names->list, mem_strdup(d->d_name));
        if (names->list.len % 256 == 255 && tool_stopped(context, out))
            return false;
        errno = 0;
    }
    if (errno)
        buf_addf(out, "cannot read the directory: %s", strerror(errno));
    return errno == 0;
}

/* Names are shown as the one line that they are, so none looks like another entry. "name/" for a
 * directory, "name -> (link)", "name (123 bytes)" for a file. */
static void add_entry(struct buf *out, int dir, const char *name)
{
    struct stat st;
    utf8_reveal(out, name, strlen(name), UTF8_ONE_LINE);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        buf_addstr(out, " (unreadable)");
    else if (S_ISDIR(st.st_mode))
        buf_addch(out, '/');
    else if (S_ISLNK(st.st_mode))
        buf_addstr(out, " (symbolic link)");
    else if (S_ISREG(st.st_mode))
        buf_addf(out, " (%lld bytes)", (long long)st.st_size);
    else
        buf_addstr(out, " (special)");
    buf_addch(out, '\n');
}

/* As many as leave room to say how many are left out: what is longer than `max` is cut. */
static void add_entries(struct buf *out, int dir, struct names *names, size_t max)
{
    enum { NOTE_BYTES = sizeof "[18446744073709551615 more]\n" };
    if (names->list.len == 0)
        buf_addstr(out, "[empty]\n");
    vec_sort(&names->list, vec_text_order);
    for (size_t i = 0; i < names->list.len; i++) {
        size_t before = out->len;
        add_entry(out, dir, names->list.items[i]);
        size_t note = i + 1 < names->list.len ? NOTE_BYTES : 0;
        if (out->len + note > max) {
            buf_truncate(out, before);
            buf_addf(out, "[%zu more]\n", names->list.len - i);
            return;
        }
    }
}

static bool run(const struct tool_context *context, const struct json *args, struct buf *out)
{
    const char *path = json_get_string(args, "path");
    int fd = builtin_open(context, path ? path : ".", O_RDONLY | O_DIRECTORY, NULL, out);
    if (fd < 0)
        return false;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        buf_addf(out, "%s: %s", path ? path : ".", strerror(errno));
        close(fd);
        return false;
    }
    struct names names = {0};
    bool ok = read_names(context, dir, &names, out);
    if (ok)
        add_entries(out, dirfd(dir), &names, context->max_output);
    vec_free_each(&names.list);
    closedir(dir);
    return ok;
}

const struct tool tool_list_directory = {
    .spec = {.name = "list_directory",
             .description = "List a directory within the working directory: one entry a line, "
                            "directories end in a slash, files show their size. Characters that "
                            "nobody sees are shown as <U+XXXX>.",
             .schema = "{\"type\":\"object\",\"properties\":{"
                       "\"path\":{\"type\":\"string\",\"description\":\"relative to the working "
                       "directory; default: the working directory itself\"}},"
                       "\"additionalProperties\":false}"},
    .class = TOOL_READ,
    .timeout = CONFIG_TOOLS_TIMEOUT,
    .reaches = builtin_reaches,
    .run = run,
};
