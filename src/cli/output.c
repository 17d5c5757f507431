#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/i18n.h"
#include "base/utf8.h"

enum { UNBOUNDED = 1 << 20 };

void output_init(struct output *o)
{
    *o = (struct output){.terminal = isatty(STDOUT_FILENO), .line = BUF_INIT};
}

/* The first `len` bytes of what waits. */
static void write_clean(struct output *o, size_t len)
{
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, o->line.data, len, UTF8_MULTILINE);
    fwrite(clean.data, 1, clean.len, stdout);
    buf_consume(&o->line, len);
    buf_release(&clean);
}

bool output_write(struct output *o, const char *bytes, size_t len)
{
    if (!o->terminal)
        return fwrite(bytes, 1, len, stdout) == len;
    buf_add(&o->line, bytes, len);
    size_t whole = o->line.len;
    while (whole > 0 && o->line.data[whole - 1] != '\n')
        whole--;
    write_clean(o, whole);
    return !ferror(stdout);
}

bool output_end(struct output *o)
{
    write_clean(o, o->line.len);
    buf_release(&o->line);
    return !ferror(stdout);
}

void output_text(const char *text)
{
    struct output o;
    output_init(&o);
    output_write(&o, text, strlen(text));
    output_end(&o);
}

void output_json(struct json *v)
{
    char *text = json_print_pretty(v);
    output_text(text);
    putchar('\n');
    free(text);
    json_free(v);
}

bool output_may_write(const char *path, bool replace, struct error *e)
{
    return replace || access(path, F_OK) != 0 ||
           err_set(e, ERR_FILE_ERROR,
                   _("%.200s already exists; name another file, or overwrite it with --force"),
                   path);
}

size_t output_width(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return UNBOUNDED;
    return size.ws_col;
}

void output_time(struct buf *out, int64_t wall_ms)
{
    char text[32];
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm local;
    if (!localtime_r(&seconds, &local) ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local) == 0)
        buf_addch(out, '?');
    else
        buf_addstr(out, text);
}

size_t output_start(const char *text, size_t match, size_t width)
{
    size_t len = strlen(text), start = 0;
    size_t last = match < len ? match : len;
    if (utf8_width(text, len) <= width)
        return 0;
    while (start < last && utf8_width(text + start, last - start) > width / 2)
        start = utf8_next(text, len, start);
    return start;
}
