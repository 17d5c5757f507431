#include "ui/app/plain_reader.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"

enum { PASTE_MS = 20 };

void plain_reader_init(struct plain_reader *r, int fd)
{
    *r = (struct plain_reader){.fd = fd, .terminal = isatty(fd)};
    buf_init(&r->bytes, PLAIN_LINE_MAX);
    buf_init(&r->text, PLAIN_LINE_MAX);
}

void plain_reader_release(struct plain_reader *r)
{
    buf_release(&r->bytes);
    buf_release(&r->text);
}

bool plain_reader_holds(const struct plain_reader *r)
{
    return r->bytes.len > 0 && (r->ended || memchr(r->bytes.data, '\n', r->bytes.len));
}

/* False when there is nothing more for now. */
static bool read_some(struct plain_reader *r)
{
    char chunk[65536];
    ssize_t n = read(r->fd, chunk, sizeof chunk);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return false;
    r->too_long = n > 0 && !buf_try_add(&r->bytes, chunk, (size_t)n);
    r->ended = n <= 0 || r->too_long;
    return !r->ended;
}

void plain_reader_fill(struct plain_reader *r)
{
    struct pollfd more = {.fd = r->fd, .events = POLLIN};
    while (read_some(r) && r->terminal && poll(&more, 1, PASTE_MS) > 0)
        ;
}

/* Behind the first newline, or the last; 0: there is none. */
static size_t behind_newline(const struct buf *b, bool last)
{
    size_t behind = 0;
    for (size_t i = 0; i < b->len && (last || behind == 0); i++)
        if (b->data[i] == '\n')
            behind = i + 1;
    return behind;
}

/* Bytes of the next lines with their newline; 0: there are none. */
static size_t lines_len(const struct plain_reader *r)
{
    size_t len = behind_newline(&r->bytes, r->terminal);
    return len == 0 && r->ended ? r->bytes.len : len;
}

/* A backslash at the end says that the text goes on. */
static bool goes_on(struct buf *text)
{
    if (text->len == 0 || text->data[text->len - 1] != '\\')
        return false;
    buf_splice(text, text->len - 1, 1, "\n", 1);
    return true;
}

static char *take_text(struct plain_reader *r)
{
    struct buf utf8 = BUF_INIT, clean = BUF_INIT;
    charset_decode(&utf8, r->text.data, r->text.len);
    utf8_clean(&clean, utf8.data, utf8.len, UTF8_MULTILINE);
    buf_clear(&r->text);
    buf_release(&utf8);
    return buf_take(&clean);
}

char *plain_reader_next(struct plain_reader *r)
{
    for (size_t len; (len = lines_len(r)) > 0;) {
        bool newline = r->bytes.data[len - 1] == '\n';
        if (!buf_try_add(&r->text, r->bytes.data, len - newline))
            r->ended = r->too_long = true;
        buf_consume(&r->bytes, len);
        bool last = r->ended && r->bytes.len == 0;
        if (last || !goes_on(&r->text))
            return take_text(r);
    }
    return r->ended && r->text.len > 0 ? take_text(r) : NULL;
}
