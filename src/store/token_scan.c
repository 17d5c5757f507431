#include "store/token_scan.h"

#include <stdint.h>
#include <utf8proc.h>

#include "base/utf8.h"
#include "store/token_fold.h"

enum character { CLASS_OTHER, CLASS_WORD, CLASS_SIGN, CLASS_MARK, CLASS_JOINER, CLASS_EMOJI };

/* Scripts whose words are not parted. What else stands in these ranges (punctuation) is no letter.
 */
static bool is_sign_script(uint32_t cp)
{
    static const uint32_t scripts[][2] = {
        {0x0E00, 0x0EFF}, /* Thai, Lao */
        {0x1000, 0x109F}, /* Myanmar */
        {0x1100, 0x11FF}, /* Hangul by parts */
        {0x1780, 0x17FF}, /* Khmer */
        {0x2E80, 0x2FDF}, /* radicals */
        {0x3005, 0x3007}, {0x3021, 0x30FF},   {0x3100, 0x318F},   {0x31A0, 0x31FF},
        {0x3400, 0x9FFF}, {0xA960, 0xA97F},   {0xAC00, 0xD7FF},   {0xF900, 0xFAFF},
        {0xFF66, 0xFFDC}, {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFF},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (cp >= scripts[i][0] && cp <= scripts[i][1])
            return true;
    return false;
}

/* Halfwidth voicing, and the later parts of a Hangul syllable, belong to the character before. */
static bool continues_sign(uint32_t cp)
{
    return cp == 0xFF9E || cp == 0xFF9F || (cp >= 0x1160 && cp <= 0x11FF) ||
           (cp >= 0xD7B0 && cp <= 0xD7FF) || cp == 0x0E33 || cp == 0x0EB3;
}

static bool is_emoji(uint32_t cp, const utf8proc_property_t *p)
{
    return (cp >= 0x2190 && p->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC) ||
           p->boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR;
}

static enum character classify_other(uint32_t cp)
{
    const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)cp);
    int category = (int)p->category;
    if (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME)
        return CLASS_MARK;
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO) {
        if (continues_sign(cp))
            return CLASS_MARK;
        return is_sign_script(cp) ? CLASS_SIGN : CLASS_WORD;
    }
    if (is_emoji(cp, p))
        return CLASS_EMOJI;
    return cp == 0x00AD || cp == 0x200C || cp == 0x200D ? CLASS_JOINER : CLASS_OTHER;
}

static bool is_plain(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

static enum character classify(uint32_t cp)
{
    if (cp >= 0x80)
        return classify_other(cp);
    return is_plain((char)cp) ? CLASS_WORD : CLASS_OTHER;
}

static enum character class_at(const struct token_scan *scan, size_t at, size_t *used, uint32_t *cp)
{
    *used = utf8_decode(scan->text + at, scan->len - at, cp);
    return *used > 0 ? classify(*cp) : CLASS_OTHER;
}

/* A letter follows, possibly behind an apostrophe or something that cannot be seen. */
static bool word_goes_on(const struct token_scan *scan, size_t at, size_t *used)
{
    uint32_t cp, next_cp;
    size_t next_used;
    enum character c = class_at(scan, at, used, &cp);
    if (c == CLASS_WORD || c == CLASS_MARK)
        return true;
    if (c != CLASS_JOINER && (scan->elides || !token_is_apostrophe(cp)))
        return false;
    if (*used == 0)
        return false;
    return class_at(scan, at + *used, &next_used, &next_cp) == CLASS_WORD;
}

static size_t word_end(const struct token_scan *scan, size_t at)
{
    size_t used;
    for (;;) {
        while (at < scan->len && is_plain(scan->text[at]))
            at++;
        if (!word_goes_on(scan, at, &used))
            return at;
        at += used;
    }
}

static size_t sign_end(const struct token_scan *scan, size_t at)
{
    size_t used;
    uint32_t cp;
    while (class_at(scan, at, &used, &cp) == CLASS_MARK)
        at += used;
    return at;
}

bool token_scan_next(struct token_scan *scan, struct piece *out)
{
    while (scan->at < scan->len) {
        size_t used;
        uint32_t cp;
        enum character c = class_at(scan, scan->at, &used, &cp);
        out->start = scan->at;
        scan->at += used;
        if (c == CLASS_WORD) {
            out->kind = PIECE_WORD;
            out->end = scan->at = word_end(scan, scan->at);
            return true;
        }
        if (c == CLASS_SIGN) {
            out->kind = PIECE_SIGN;
            out->end = scan->at = sign_end(scan, scan->at);
            return true;
        }
        if (c == CLASS_EMOJI) {
            out->kind = PIECE_EMOJI;
            out->end = scan->at = utf8_next(scan->text, scan->len, out->start);
            return true;
        }
    }
    return false;
}
