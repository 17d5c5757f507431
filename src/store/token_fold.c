#include "store/token_fold.h"

#include <utf8proc.h>

#include "base/utf8.h"

/* No character decomposes into more. */
enum { MOST_PARTS = 18 };

bool token_is_apostrophe(uint32_t cp)
{
    return cp == '\'' || cp == 0x2019 || cp == 0x02BC || cp == 0xFF07;
}

/* Writes what `keeps` accepts of the decomposed text, composed again. The text is valid and has at
 * most WORD_CHARACTERS of what can be seen. */
static void add_mapped(struct buf *out, const char *text, size_t len, unsigned options,
                       bool (*keeps)(uint32_t cp))
{
    utf8proc_int32_t cps[WORD_CHARACTERS * MOST_PARTS];
    const utf8proc_ssize_t room = sizeof cps / sizeof *cps;
    utf8proc_ssize_t count =
        utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)len, cps, room,
                           (utf8proc_option_t)(options | UTF8PROC_DECOMPOSE | UTF8PROC_STABLE));
    utf8proc_ssize_t kept = 0;
    if (count > room)
        return;
    for (utf8proc_ssize_t i = 0; i < count; i++)
        if (keeps((uint32_t)cps[i]))
            cps[kept++] = cps[i];
    kept = utf8proc_normalize_utf32(cps, kept, UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    for (utf8proc_ssize_t i = 0; i < kept; i++) {
        char bytes[4];
        buf_add(out, bytes, utf8_encode((uint32_t)cps[i], bytes));
    }
}

static bool is_word_part(uint32_t cp)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return cp == '\'' || (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO);
}

/* Bytes of the first WORD_CHARACTERS. */
static size_t counting_len(const char *text, size_t len)
{
    size_t at = 0;
    for (int i = 0; i < WORD_CHARACTERS && at < len; i++) {
        uint32_t cp;
        at += utf8_decode(text + at, len - at, &cp);
    }
    return at;
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

static void fold_ascii(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        buf_addch(out, (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + ('a' - 'A') : text[i]));
}

/* With plain apostrophes; a copy that the caller releases. */
static struct buf plain_apostrophes(const char *text, size_t len)
{
    struct buf plain = BUF_INIT;
    for (size_t at = 0, used; at < len; at += used) {
        uint32_t cp;
        used = utf8_decode(text + at, len - at, &cp);
        if (token_is_apostrophe(cp))
            buf_addch(&plain, '\'');
        else
            buf_add(&plain, text + at, used);
    }
    return plain;
}

void token_fold(struct buf *out, const char *text, size_t len)
{
    len = counting_len(text, len);
    if (is_ascii(text, len)) {
        fold_ascii(out, text, len);
        return;
    }
    struct buf plain = plain_apostrophes(text, len);
    add_mapped(out, plain.data, plain.len, UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE,
               is_word_part);
    buf_release(&plain);
}

static bool is_no_accent(uint32_t cp)
{
    static const uint32_t accents[][2] = {
        {0x0300, 0x036F}, /* Latin, Greek, Cyrillic */
        {0x0591, 0x05C7}, /* Hebrew points */
        {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06ED}, /* Arabic vowels */
        {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F},
    };
    for (size_t i = 0; i < sizeof accents / sizeof *accents; i++)
        if (cp >= accents[i][0] && cp <= accents[i][1])
            return false;
    return true;
}

void token_strip_marks(struct buf *text)
{
    if (is_ascii(text->data, text->len))
        return;
    struct buf stripped = BUF_INIT;
    add_mapped(&stripped, text->data, counting_len(text->data, text->len), 0, is_no_accent);
    buf_release(text);
    *text = stripped;
}
