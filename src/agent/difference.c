#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create(), where it exists */
#endif
#include "agent/difference.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/child.h"
#include "base/child_environment.h"
#include "base/paths.h"
#include "base/utf8.h"

extern char **environ;

enum { DIFFERENT = 1, NOT_FOUND = 127 };

/* -a: a text with a stray byte is one, too. The number is child_run()'s for `extra`. */
static const char diff_command[] =
    "LC_ALL=C; export LC_ALL; exec diff -a -u -L \"$1\" -L \"$1\" /dev/fd/3 -";

struct taken {
    struct buf *out;
    size_t max;
};

static bool take(void *context, const char *bytes, size_t len)
{
    struct taken *t = context;
    buf_add(t->out, bytes, len);
    return t->out->len <= t->max;
}

static void add_label(struct buf *out, const char *path)
{
    utf8_reveal(out, path, strlen(path), UTF8_ONE_LINE);
}

static void show_whole(const struct difference *d, const char *why, struct buf *out)
{
    buf_clear(out);
    buf_addf(out, "[%s; this is the whole new content of ", why);
    add_label(out, d->path);
    buf_addstr(out, "]\n");
    buf_addstr(out, d->content);
}

static bool conclude(const struct difference *d, const struct child_result *result, struct buf *out)
{
    if (result->end == CHILD_STOPPED) {
        buf_clear(out);
        buf_addstr(out, "interrupted");
        return false;
    }
    if (result->end == CHILD_LATE)
        show_whole(d, "diff took too long", out);
    else if (result->end == CHILD_REFUSED)
        show_whole(d, "the difference is too long to be shown", out);
    else if (result->end == CHILD_SIGNALED)
        show_whole(d, "diff failed", out);
    else if (result->end == CHILD_EXITED && result->status == 0)
        buf_addstr(out, "[no difference]\n");
    else if (result->end == CHILD_EXITED && result->status == NOT_FOUND)
        show_whole(d, "diff is not installed", out);
    else if (result->end == CHILD_EXITED && result->status != DIFFERENT)
        show_whole(d, "diff failed", out);
    return true;
}

bool difference_show(const struct difference *d, struct buf *out)
{
    struct buf label = BUF_INIT;
    struct child_result result;
    struct taken taken = {.out = out, .max = d->max};
    add_label(&label, d->path);
    struct child_environment environment;
    child_environment_init(&environment, environ, CHILD_HELPER, NULL);
    const struct child_command diff = {
        .argv = (const char *const[]){"/bin/sh", "-c", diff_command, "sh", label.data, NULL},
        .environment = environment.list.items,
        .input = d->content,
        .input_len = strlen(d->content),
        .extra = d->old,
        .deadline_ms = d->deadline_ms,
        .wakeup = d->wakeup,
        .take = take,
        .context = &taken};
    bool ok = true;
    if (child_run(&diff, &result, NULL))
        ok = conclude(d, &result, out);
    else
        show_whole(d, "diff cannot be run", out);
    child_environment_release(&environment);
    buf_release(&label);
    return ok;
}

static int open_nameless_file(void)
{
#ifdef MFD_CLOEXEC
    return memfd_create("text", MFD_CLOEXEC);
#else
    FILE *f = tmpfile();
    int fd = f ? fcntl(fileno(f), F_DUPFD_CLOEXEC, 0) : -1;
    if (f)
        fclose(f);
    return fd;
#endif
}

int difference_open_text(const char *text, size_t len)
{
    int fd = open_nameless_file();
    if (fd < 0 || (paths_write_all(fd, text, len) && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    int cause = errno;
    close(fd);
    errno = cause;
    return -1;
}

size_t difference_count_lines(const char *text)
{
    size_t lines = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        lines++;
    return lines;
}

void difference_show_new(const char *path, const char *content, struct buf *out)
{
    buf_addstr(out, "--- /dev/null\n+++ ");
    add_label(out, path);
    buf_addf(out, "\n@@ -0,0 +1,%zu @@\n", difference_count_lines(content));
    for (const char *p = content; *p;) {
        size_t len = strcspn(p, "\n");
        buf_addch(out, '+');
        buf_add(out, p, len);
        buf_addch(out, '\n');
        p += len;
        if (*p == '\n')
            p++;
        else
            buf_addstr(out, "\\ No newline at end of file\n");
    }
}
