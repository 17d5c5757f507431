#include "compact/summary_text.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

/* What a byte of a text takes in JSON at most; one that is no UTF-8 becomes a character of 3. */
static size_t json_bytes(unsigned char c, bool valid)
{
    if (c < 0x20)
        return strchr("\b\t\n\f\r", c) ? 2 : 6;
    if (c == '"' || c == '\\')
        return 2;
    return c < 0x80 || valid ? 1 : 3;
}

size_t summary_text_fit(const char *text, size_t len, int64_t tokens)
{
    int64_t bytes = tokens * 4 - SUMMARY_MESSAGE_BYTES;
    size_t room = bytes > 0 ? (size_t)bytes : 0;
    size_t probe = room < len ? room : len;
    bool valid = utf8_valid(text, probe - utf8_incomplete_tail(text, probe));
    size_t fits = 0;
    for (size_t used = 0; fits < len; fits++) {
        used += json_bytes((unsigned char)text[fits], valid);
        if (used > room)
            break;
    }
    size_t cut = utf8_cut_bytes(text, len, fits);
    if (cut == 0) /* one grapheme without end: any character's border must do */
        cut = fits - utf8_incomplete_tail(text, fits);
    if (cut == 0 && len > 0) {
        uint32_t cp;
        cut = utf8_decode(text, len, &cp);
    }
    return cut;
}

static bool ends_sentence(const char *text, size_t len, size_t at)
{
    static const char *const ends[] = {".",           "!", "?", "\xE3\x80\x82", "\xEF\xBC\x81",
                                       "\xEF\xBC\x9F"};
    if (text[at] == '\n')
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        bool wide = n > 1; /* they need no blank behind them */
        if (at + 1 >= n && memcmp(text + at + 1 - n, ends[i], n) == 0 &&
            (wide || at + 1 == len || strchr(" \t\n", text[at + 1])))
            return true;
    }
    return false;
}

size_t summary_text_sentences(const char *text, size_t len)
{
    for (size_t at = len; at > len / 2; at--)
        if (ends_sentence(text, len, at - 1))
            return at;
    return len;
}

static void add_texts(struct buf *out, const struct block *blocks, size_t count, size_t max)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = blocks[i].text;
        if (blocks[i].type != BLOCK_TEXT || !text || out->len > max)
            continue;
        if (out->len > 0)
            buf_addstr(out, "\n\n");
        size_t len = strnlen(text, max + 1);
        utf8_clean(out, text, len - (text[len] ? utf8_incomplete_tail(text, len) : 0),
                   UTF8_MULTILINE);
    }
}

char *summary_text(const struct block *blocks, size_t count, size_t max, bool cut_off)
{
    struct buf text = BUF_INIT;
    add_texts(&text, blocks, count, max);
    if (text.len > max) {
        buf_truncate(&text, utf8_cut_bytes(text.data, text.len, max));
        cut_off = true;
    }
    if (cut_off)
        buf_truncate(&text, summary_text_sentences(text.data, text.len));
    buf_trim_end(&text, " \t\n");
    buf_consume(&text, strspn(text.data, " \t\n"));
    if (text.len > 0)
        return buf_take(&text);
    buf_release(&text);
    return NULL;
}
