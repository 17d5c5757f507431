#include "ui/app/plain_writer.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "ui/term/tty.h"

enum { LINE_LONG = 40, LINE_VERY_LONG = 400 }; /* bytes */
enum { COLUMNS_LEAST = 20 };

static void put_bytes(struct plain_writer *w, const char *bytes, size_t len)
{
    errno = 0;
    if (w->failed == 0 && !tty_write(bytes, len))
        w->failed = errno != 0 ? errno : EIO;
}

/* Of the terminal; 0: there is none, and lines are as long as they are. */
static size_t terminal_columns(void)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_LEAST;
    return known ? size.ws_col : 0;
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
    struct buf clean = BUF_INIT, lines = BUF_INIT, shown = BUF_INIT;
    utf8_clean(&clean, text, len, UTF8_MULTILINE);
    plain_wrap(w, &lines, clean.data, clean.len, terminal_columns());
    charset_encode(&shown, lines.data, lines.len);
    put_bytes(w, shown.data, shown.len);
    buf_release(&shown);
    buf_release(&lines);
    buf_release(&clean);
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
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&text, format, args);
    va_end(args);
    plain_write(w, text.data);
    buf_release(&text);
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
    plain_end_line(w);
    struct buf blanks = BUF_INIT;
    put(w, text, strlen(text));
    add_blanks(w, &blanks);
    put_bytes(w, blanks.data, blanks.len);
    buf_release(&blanks);
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

static bool ends_sentence(const char *text, size_t at)
{
    return strchr(".!?:;", text[at - 1]) != NULL;
}

/* The last blank before `len`, behind a sentence if that is wanted; the bytes up to it and with it;
 * 0 if there is none. */
static size_t last_blank(const char *text, size_t from, size_t len, bool sentence)
{
    for (size_t i = len; i-- > from + 1;)
        if (text[i] == ' ' && (!sentence || ends_sentence(text, i)))
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
