/* Files that are text as they stand: their set of characters, plain text, code, Markdown. */
#include <string.h>

#include "base/charset.h"
#include "base/utf8.h"
#include "knowledge/code_language.h"
#include "knowledge/document_loaders.h"

#define REPLACEMENT 0xFFFDu

/* --- sets of characters ----------------------------------------------------------------------- */

/* What stands at 0x80 to 0x9F of windows-1252, which otherwise is ISO 8859-1. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0xFFFD, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0xFFFD, 0x017D, 0xFFFD, 0xFFFD, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0xFFFD, 0x017E, 0x0178};

static void add_point(struct buf *out, uint32_t cp)
{
    char bytes[4];
    buf_add(out, bytes, utf8_encode(cp, bytes));
}

static void decode_windows_1252(struct buf *out, const char *s, size_t len)
{
    for (size_t i = 0, plain = 0; i <= len; i++) {
        unsigned char c = i < len ? (unsigned char)s[i] : 0x80;
        if (c < 0x80)
            continue;
        buf_add(out, s + plain, i - plain);
        plain = i + 1;
        if (i < len)
            add_point(out, c < 0xA0 ? windows_1252[c - 0x80] : c);
    }
}

static uint32_t utf16_unit(const char *s, bool big)
{
    return big ? (uint32_t)(unsigned char)s[0] << 8 | (unsigned char)s[1]
               : (uint32_t)(unsigned char)s[1] << 8 | (unsigned char)s[0];
}

static void decode_utf16(struct buf *out, const char *s, size_t len, bool big)
{
    for (size_t i = 0; i + 1 < len; i += 2) {
        uint32_t cp = utf16_unit(s + i, big);
        if (cp - 0xD800 < 0x400 && i + 3 < len && utf16_unit(s + i + 2, big) - 0xDC00 < 0x400) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + (utf16_unit(s + i + 2, big) - 0xDC00);
            i += 2;
        }
        add_point(out, cp);
    }
}

/* UTF-8 in which something was broken, and no set of one byte a character: for ten that are whole
 * there is at most one fault. */
static bool is_broken_utf8(const char *s, size_t len)
{
    size_t faults = 0, wholes = 0;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t used = utf8_decode(s + i, len - i, &cp);
        faults += cp == REPLACEMENT && used == 1;
        wholes += used > 1;
        i += used;
    }
    return faults * 10 <= wholes;
}

static bool has_many_controls(const char *s, size_t len)
{
    size_t controls = 0;
    for (size_t i = 0; i < len; i++)
        controls += (unsigned char)s[i] < 0x20 && !strchr("\t\n\v\f\r\033", s[i]);
    return controls > len / 50;
}

/* For a set in which a unit of `unit` bytes becomes 3 bytes of UTF-8 at most. */
static bool has_room(const struct loading *l, size_t unit)
{
    size_t plain = 0;
    for (size_t i = 0; unit == 1 && i < l->source.len; i++)
        plain += (unsigned char)l->source.data[i] < 0x80;
    return (int64_t)(plain + (l->source.len - plain) / unit * 3) <= l->options->limits.text;
}

static void take_source(struct loading *l, size_t from)
{
    l->out->offsets = DOCUMENT_OFFSETS_BYTES;
    l->out->source_from = (int64_t)from;
    buf_consume(&l->source, from);
    l->out->text = l->source;
    buf_init(&l->source, 0);
}

static bool begins(const struct buf *b, const char *mark)
{
    return b->len >= strlen(mark) && memcmp(b->data, mark, strlen(mark)) == 0;
}

enum document_outcome loading_decode(struct loading *l)
{
    struct loaded_document *d = l->out;
    const struct buf *s = &l->source;
    bool little = begins(s, "\xFF\xFE"), big = begins(s, "\xFE\xFF");
    long long most = l->options->limits.text >> 20;
    if ((little || big) && !has_room(l, 2))
        return loading_fails(l, "has more than %lld MiB of text", most);
    if (little || big) {
        decode_utf16(&d->text, s->data + 2, s->len - 2, big);
        d->offsets = DOCUMENT_OFFSETS_UTF16;
        d->source_from = 2;
        return memchr(d->text.data, '\0', d->text.len) ? loading_skips(l, "a binary file")
                                                       : DOCUMENT_LOADED;
    }
    if (memchr(s->data, '\0', s->len))
        return loading_skips(l, "a binary file");
    if (utf8_valid(s->data, s->len) || is_broken_utf8(s->data, s->len)) {
        take_source(l, begins(s, "\xEF\xBB\xBF") ? 3 : 0);
        return DOCUMENT_LOADED;
    }
    if (has_many_controls(s->data, s->len))
        return loading_skips(l, "a binary file");
    if (!has_room(l, 1))
        return loading_fails(l, "has more than %lld MiB of text", most);
    bool is_locale = charset() == CHARSET_OTHER;
    d->offsets = is_locale ? DOCUMENT_OFFSETS_LINES : DOCUMENT_OFFSETS_POINTS;
    (is_locale ? charset_decode : decode_windows_1252)(&d->text, s->data, s->len);
    return DOCUMENT_LOADED;
}

/* --- plain text and code ---------------------------------------------------------------------- */

static enum document_outcome load_as(struct loading *l, enum document_part_kind kind)
{
    enum document_outcome outcome = loading_decode(l);
    if (outcome == DOCUMENT_LOADED)
        loading_add_part(l, (struct document_part){.kind = kind}, 0, l->out->text.len);
    return outcome;
}

enum document_outcome load_plain_text(struct loading *l)
{
    return load_as(l, DOCUMENT_PROSE);
}

enum document_outcome load_code(struct loading *l)
{
    l->out->language = code_language_of(l->name);
    l->out->format = l->out->language->name;
    return load_as(l, DOCUMENT_CODE);
}
