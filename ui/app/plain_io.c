#include "ui/app/plain_io.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/tty.h"

enum { PASTE_MS = 20 };
enum { LINE_LONG = 40, LINE_VERY_LONG = 400 }; /* bytes */
enum { COLUMNS_LEAST = 20 };

/* Input */

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

void plain_reader_fill(struct plain_reader *r)
{
    struct pollfd more = {.fd = r->fd, .events = POLLIN};
    char chunk[65536];
    do {
        ssize_t n = read(r->fd, chunk, sizeof chunk);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        r->too_long = n > 0 && !buf_try_add(&r->bytes, chunk, (size_t)n);
        r->ended = n <= 0 || r->too_long;
    } while (!r->ended && r->terminal && poll(&more, 1, PASTE_MS) > 0);
}

static char *take_text(struct plain_reader *r)
{
    AUTO(buf_release) struct buf utf8 = BUF_INIT;
    struct buf clean = BUF_INIT;
    charset_decode(&utf8, r->text.data, r->text.len);
    utf8_clean(&clean, utf8.data, utf8.len, UTF8_MULTILINE);
    buf_clear(&r->text);
    return buf_take(&clean);
}

char *plain_reader_next(struct plain_reader *r)
{
    struct buf *text = &r->text, *bytes = &r->bytes;
    while (bytes->len > 0) {
        /* The next line, or at a terminal all lines, with the newline. */
        size_t len = 0;
        for (size_t i = 0; i < bytes->len && (r->terminal || len == 0); i++)
            if (bytes->data[i] == '\n')
                len = i + 1;
        if (len == 0 && !r->ended)
            return NULL;
        bool newline = len > 0;
        len = newline ? len : bytes->len;
        if (!buf_try_add(text, bytes->data, len - newline))
            r->ended = r->too_long = true;
        buf_consume(bytes, len);
        bool last = r->ended && bytes->len == 0;
        if (last || text->len == 0 || text->data[text->len - 1] != '\\')
            return take_text(r);
        buf_splice(text, text->len - 1, 1, "\n", 1); /* a backslash continues the text */
    }
    return r->ended && text->len > 0 ? take_text(r) : NULL;
}

/* Output */

static void put_bytes(struct plain_writer *w, const char *bytes, size_t len)
{
    errno = 0;
    if (w->failed == 0 && !tty_write(bytes, len))
        w->failed = errno != 0 ? errno : EIO;
}

static void add_blanks(struct plain_writer *w, struct buf *out)
{
    w->column += w->blanks;
    for (; w->blanks > 0; w->blanks--)
        buf_addch(out, ' ');
}

void plain_wrap(struct plain_writer *w, struct buf *out, const char *text, size_t len,
                size_t columns)
{
    for (size_t i = 0, word; i < len; i += word) {
        for (word = 0; i + word < len && text[i + word] != ' ' && text[i + word] != '\n';)
            word++;
        size_t width = utf8_width(text + i, word);
        if (word > 0 && columns > 0 && w->column > 0 && w->column + w->blanks + width > columns) {
            buf_addch(out, '\n');
            w->column = w->blanks = 0;
        }
        if (word > 0) {
            add_blanks(w, out);
            buf_add(out, text + i, word);
            w->column += width;
        } else if (text[i] == '\n') {
            buf_addch(out, '\n');
            w->column = w->blanks = 0;
            word = 1;
        } else {
            w->blanks++;
            word = 1;
        }
    }
}

static void put(struct plain_writer *w, const char *text, size_t len)
{
    AUTO(buf_release) struct buf clean = BUF_INIT, lines = BUF_INIT, shown = BUF_INIT;
    struct winsize size;
    bool wraps = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_LEAST;
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    plain_wrap(w, &lines, clean.data, clean.len, wraps ? size.ws_col : 0);
    charset_encode(&shown, lines.data, lines.len);
    put_bytes(w, shown.data, shown.len);
}

static void leave_prompt(struct plain_writer *w)
{
    if (w->prompted)
        put(w, "\n", 1);
    w->prompted = false;
}

void plain_end_line(struct plain_writer *w)
{
    leave_prompt(w);
    if (w->mid_line)
        put(w, "\n", 1);
    w->mid_line = false;
}

void plain_write(struct plain_writer *w, const char *text)
{
    size_t len = strlen(text);
    while (len > 0 && text[len - 1] == '\n')
        len--;
    plain_end_line(w);
    put(w, text, len);
    put(w, "\n", 1);
}

void plain_writef(struct plain_writer *w, const char *format, ...)
{
    AUTO(buf_release) struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    plain_write(w, text.data);
}

void plain_write_piece(struct plain_writer *w, const char *text, size_t len)
{
    if (len == 0)
        return;
    leave_prompt(w);
    put(w, text, len);
    w->mid_line = text[len - 1] != '\n';
}

void plain_prompt(struct plain_writer *w, const char *text)
{
    AUTO(buf_release) struct buf blanks = BUF_INIT;
    plain_end_line(w);
    put(w, text, strlen(text));
    add_blanks(w, &blanks);
    put_bytes(w, blanks.data, blanks.len);
    w->prompted = true;
}

void plain_typed(struct plain_writer *w)
{
    w->prompted = false;
    w->column = w->blanks = 0;
}

void plain_bell(struct plain_writer *w)
{
    put_bytes(w, "\a", 1);
}

/* The bytes up to the last blank and with it, where `sentence` behind a sentence; 0: there is none.
 */
static size_t last_blank(const char *text, size_t from, size_t len, bool sentence)
{
    for (size_t i = len; i-- > from + 1;)
        if (text[i] == ' ' && (!sentence || strchr(".!?:;", text[i - 1])))
            return i + 1;
    return 0;
}

size_t plain_ready(const char *text, size_t len)
{
    size_t line = len;
    while (line > 0 && text[line - 1] != '\n')
        line--;
    size_t open = len - line, ready = 0;
    if (open > LINE_LONG)
        ready = last_blank(text, line, len, true);
    if (ready == 0 && open > LINE_VERY_LONG)
        ready = last_blank(text, line, len, false);
    if (ready == 0 && open > 2 * LINE_VERY_LONG)
        ready = utf8_cut_bytes(text, len, len - 1);
    return ready > line ? ready : line;
}
