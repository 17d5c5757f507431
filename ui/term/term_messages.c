#include <stdlib.h>
#include <string.h>

#include "base/charset.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/term_private.h"
#include "ui/term/tty.h"

#define COPY_MAX 100000

void term_notify(enum notification how, const char *clean_text)
{
    const char *tmux = getenv("TMUX");
    bool in_tmux = (tmux && *tmux) || probe_is(&term.probe, "tmux");
    struct buf bytes = BUF_INIT;
    if (term.suspended)
        return;
    if (term.plain && how != NOTIFICATION_OFF)
        how = NOTIFICATION_BELL;
    notification_write(&bytes, how, &term.probe, in_tmux, clean_text);
    tty_write(bytes.data, bytes.len);
    buf_release(&bytes);
}

void term_title(const char *clean_text)
{
    if (term.plain || term.suspended)
        return;
    struct buf sequence = BUF_INIT;
    buf_addstr(&sequence, "\033]0;");
    charset_encode(&sequence, clean_text, strlen(clean_text));
    buf_addstr(&sequence, "\033\\");
    tty_write(sequence.data, sequence.len);
    buf_release(&sequence);
}

static char *base64(const unsigned char *s, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = mem_alloc((len + 2) / 3 * 4 + 1), *p = out;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t group = (uint32_t)s[i] << 16;
        group |= i + 1 < len ? (uint32_t)s[i + 1] << 8 : 0;
        group |= i + 2 < len ? s[i + 2] : 0;
        *p++ = digits[group >> 18 & 63];
        *p++ = digits[group >> 12 & 63];
        *p++ = i + 1 < len ? digits[group >> 6 & 63] : '=';
        *p++ = i + 2 < len ? digits[group & 63] : '=';
    }
    return out;
}

bool term_copy(const char *text, size_t len)
{
    if (len > COPY_MAX || !term.screen || term.plain || term.suspended)
        return false;
    char *coded = base64((const unsigned char *)text, len);
    char *sequence = mem_printf("\033]52;c;%s\033\\", coded);
    tty_puts(sequence);
    free(sequence);
    free(coded);
    return true;
}

bool term_claims_copies(void)
{
    return term.screen && term_capability("Ms");
}

/* --- bare text --- */

/* With the ends of lines that a raw terminal wants. */
static void add_lines(struct buf *out, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        const char *line_end = memchr(text + at, '\n', len - at);
        size_t end = line_end ? (size_t)(line_end - text) : len;
        charset_encode(out, text + at, end - at);
        if (line_end)
            buf_addstr(out, "\r\n");
        at = end + (line_end != NULL);
    }
}

void term_bare(const char *text, size_t len, const char *last_row)
{
    struct buf out = BUF_INIT;
    if (!term.screen || term.suspended)
        return;
    if (!term.bare && term.mouse && !term.plain)
        buf_addstr(&out, MOUSE_OFF);
    term.bare = true;
    buf_addstr(&out, term.plain ? "" : SYNC_ON);
    term_add_capability(&out, "sgr0");
    term_add_capability(&out, "clear");
    add_lines(&out, text, len);
    term_add_unpadded(&out, tiparm(term_capability("cup"), term.rows - 1, 0));
    term_add_capability(&out, "rev");
    charset_encode(&out, last_row,
                   utf8_cut_width(last_row, strlen(last_row), (size_t)term.cols - 1));
    term_add_capability(&out, "sgr0");
    buf_addstr(&out, term.plain ? "" : SYNC_OFF);
    tty_write(out.data, out.len);
    buf_release(&out);
}

void term_bare_end(void)
{
    if (!term.bare)
        return;
    term.bare = false;
    if (term.mouse && !term.plain)
        tty_puts(MOUSE_ON);
    term_redraw();
}
