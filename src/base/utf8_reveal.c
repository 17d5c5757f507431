/* Characters that a screen does not show, or that look like a plain space, made visible. */
#include <utf8proc.h>

#include "base/utf8.h"

#define REPLACEMENT 0xFFFDu
#define ZERO_WIDTH_NON_JOINER 0x200Cu
#define ZERO_WIDTH_JOINER 0x200Du

/* What no general category tells: letters and marks without a glyph (Unicode's
 * Default_Ignorable_Code_Point but for its format characters), and the empty Braille pattern. */
static const struct {
    uint32_t first, last;
} blanks[] = {
    {0x034F, 0x034F}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x2800, 0x2800},
    {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFFA0, 0xFFA0}, {0xE0000, 0xE0FFF},
};

static bool is_blank_letter(uint32_t cp)
{
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (cp >= blanks[i].first && cp <= blanks[i].last)
            return true;
    return false;
}

static bool is_emoji_selector(uint32_t cp)
{
    return cp == 0xFE0E || cp == 0xFE0F;
}

static bool is_revealed(uint32_t cp)
{
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
        return cp != ' ';
    default:
        return is_blank_letter(cp);
    }
}

bool utf8_is_hidden(uint32_t cp)
{
    bool joins = cp == ZERO_WIDTH_NON_JOINER || cp == ZERO_WIDTH_JOINER || is_emoji_selector(cp);
    return cp >= 0x80 && !joins && is_revealed(cp) &&
           utf8proc_category((utf8proc_int32_t)cp) != UTF8PROC_CATEGORY_ZS;
}

static bool is_skin(uint32_t cp)
{
    return cp >= 0x1F3FB && cp <= 0x1F3FF;
}

static bool is_keycap(uint32_t cp)
{
    return (cp >= '0' && cp <= '9') || cp == '#' || cp == '*';
}

/* The selectors and joiners of which emoji are made: they change what is seen. */
static bool is_part_of_emoji(uint32_t before, uint32_t cp, uint32_t after)
{
    if (is_emoji_selector(cp))
        return utf8_is_pictograph(before) || (is_keycap(before) && after == 0x20E3);
    return cp == ZERO_WIDTH_JOINER && utf8_is_pictograph(after) &&
           (utf8_is_pictograph(before) || is_skin(before) || is_emoji_selector(before));
}

static bool stays(uint32_t cp, enum utf8_clean_mode mode)
{
    return mode == UTF8_MULTILINE && (cp == '\n' || cp == '\t');
}

static void add_mark(struct buf *out, uint32_t cp)
{
    char picture[4];
    if (cp < 0x20 || cp == 0x7F)
        buf_add(out, picture, utf8_encode(cp == 0x7F ? 0x2421 : 0x2400 + cp, picture));
    else
        buf_addf(out, "<U+%04X>", (unsigned)cp);
}

void utf8_reveal(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode)
{
    uint32_t before = 0, cp, after = 0;
    for (size_t i = 0, used; i < len; i += used, before = cp) {
        used = utf8_decode(s + i, len - i, &cp);
        if (i + used < len)
            utf8_decode(s + i + used, len - i - used, &after);
        else
            after = 0;
        if (cp == REPLACEMENT && used == 1)
            buf_addf(out, "<0x%02X>", (unsigned)(unsigned char)s[i]);
        else if (!is_revealed(cp) || stays(cp, mode) || is_part_of_emoji(before, cp, after))
            buf_add(out, s + i, used);
        else
            add_mark(out, cp);
    }
}
