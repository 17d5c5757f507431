#include "session/summary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

static const char name[] = "summary.txt";
static const char new_name[] = "summary.txt.new";

static bool holds(int fd, const struct buf *text)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)text->len)
        return false;
    char *found = mem_alloc(text->len);
    bool same = read(fd, found, text->len) == (ssize_t)text->len &&
                memcmp(found, text->data, text->len) == 0;
    free(found);
    return same;
}

static bool is_there(int directory, const struct buf *text)
{
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool there = fd >= 0 && holds(fd, text);
    if (fd >= 0)
        close(fd);
    return there;
}

static bool write_new(int directory, const struct buf *text)
{
    int fd =
        openat(directory, new_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    bool ok = paths_write_all(fd, text->data, text->len);
    int cause = errno;
    ok = close(fd) == 0 && ok;
    if (ok && renameat(directory, new_name, directory, name) == 0)
        return true;
    cause = ok ? errno : cause;
    unlinkat(directory, new_name, 0);
    errno = cause;
    return false;
}

bool summary_file_put(int directory, const char *summary)
{
    struct buf text = BUF_INIT;
    if (!summary)
        return summary_file_remove(directory);
    unlinkat(directory, new_name, 0); /* what a crash left */
    utf8_clean(&text, summary, strlen(summary), UTF8_MULTILINE);
    buf_addch(&text, '\n');
    bool ok = is_there(directory, &text) || write_new(directory, &text);
    int cause = errno;
    buf_release(&text);
    errno = cause;
    return ok;
}

static bool is_gone(int result)
{
    return result == 0 || errno == ENOENT;
}

bool summary_file_remove(int directory)
{
    bool ok = is_gone(unlinkat(directory, name, 0));
    return is_gone(unlinkat(directory, new_name, 0)) && ok;
}

bool summary_file_is(const char *file, bool unfinished)
{
    return strcmp(file, unfinished ? new_name : name) == 0;
}
