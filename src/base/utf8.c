#include "base/utf8.h"

#include <iconv.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>
#include <wchar.h>

#include "base/mem.h"

#define REPLACEMENT 0xFFFDu
#define ZERO_WIDTH_JOINER 0x200Du

static bool is_printable_ascii(char c)
{
    return c >= 0x20 && c < 0x7F;
}

size_t utf8_decode(const char *s, size_t len, uint32_t *cp)
{
    utf8proc_int32_t read;
    utf8proc_ssize_t used =
        utf8proc_iterate((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)len, &read);
    *cp = used > 0 ? (uint32_t)read : REPLACEMENT;
    return used > 0 ? (size_t)used : len > 0;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        cp = REPLACEMENT;
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)cp, (utf8proc_uint8_t *)out);
}

/* A byte that continues a character. */
#define CONTINUES(c) (((unsigned char)(c)&0xC0) == 0x80)

/* U+FFFD decoded from one byte means an invalid byte. */
static bool is_invalid(uint32_t cp, size_t used)
{
    return cp == REPLACEMENT && used == 1;
}

/* ASCII bytes at the beginning, a multiple of 8: most text is ASCII and must be checked fast. */
static size_t ascii_span(const char *s, size_t len)
{
    size_t i = 0;
    for (uint64_t eight; len - i >= sizeof eight; i += sizeof eight) {
        memcpy(&eight, s + i, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

bool utf8_valid(const char *s, size_t len)
{
    for (size_t i = ascii_span(s, len); i < len; i += ascii_span(s + i, len - i)) {
        uint32_t cp;
        size_t used = utf8_decode(s + i, len - i, &cp);
        if (is_invalid(cp, used))
            return false;
        i += used;
    }
    return true;
}

size_t utf8_incomplete_tail(const char *s, size_t len)
{
    size_t back = 1;
    while (back < 3 && back < len && CONTINUES(s[len - back]))
        back++;
    /* Whether a longer character can begin so: tries the least and the greatest continuations. */
    for (int fill = 0x80; back <= len && fill <= 0xBF; fill += 0x3F) {
        char whole[4];
        uint32_t cp;
        memset(whole, fill, sizeof whole);
        memcpy(whole, s + len - back, back);
        if (utf8_decode(whole, sizeof whole, &cp) > back)
            return back;
    }
    return 0;
}

struct range {
    uint32_t first, last;
};

static bool is_within(const struct range *ranges, size_t count, uint32_t cp)
{
    for (size_t i = 0; i < count; i++)
        if (cp >= ranges[i].first && cp <= ranges[i].last)
            return true;
    return false;
}

bool utf8_is_pictograph(uint32_t cp)
{
    return utf8proc_get_property((utf8proc_int32_t)cp)->boundclass ==
           UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

/* C1 controls, bidirectional overrides, and invisible characters that no script needs, in which
 * text can be hidden. Languages need joiners, the two selectors of emoji, zero-width spaces and the
 * marks of right-to-left text. */
static bool is_forbidden(uint32_t cp)
{
    static const struct range ranges[] = {
        {0x80, 0x9F},     {0x202A, 0x202E},   {0x2060, 0x206F},   {0xFE00, 0xFE0D},
        {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
    };
    return is_within(ranges, sizeof ranges / sizeof *ranges, cp);
}

int utf8_cp_width(uint32_t cp)
{
    if (cp >= 0x20 && cp < 0x7F)
        return 1;
    char stand_in[CHARSET_STAND_IN_MAX];
    if (charset_lacks(cp, stand_in))
        return (int)strlen(stand_in);
    int width = wcwidth((wchar_t)cp);
    return width > 0 ? width : is_forbidden(cp);
}

size_t utf8_width(const char *s, size_t len)
{
    size_t width = 0;
    for (size_t i = 0; i < len;) {
        if (is_printable_ascii(s[i])) {
            width++;
            i++;
            continue;
        }
        uint32_t cp;
        i += utf8_decode(s + i, len - i, &cp);
        width += (size_t)utf8_cp_width(cp);
    }
    return width;
}

size_t utf8_next(const char *s, size_t len, size_t pos)
{
    if (pos >= len)
        return len;
    if (is_printable_ascii(s[pos]) && (pos + 1 == len || is_printable_ascii(s[pos + 1])))
        return pos + 1;
    uint32_t before, after;
    utf8proc_int32_t state = 0;
    pos += utf8_decode(s + pos, len - pos, &before);
    while (pos < len) {
        size_t used = utf8_decode(s + pos, len - pos, &after);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)before, (utf8proc_int32_t)after,
                                             &state))
            break;
        pos += used;
        before = after;
    }
    return pos;
}

/* The beginning of the character that the byte at pos belongs to. */
static size_t character_start(const char *s, size_t len, size_t pos)
{
    for (size_t back = 1; back <= 3 && back <= pos && CONTINUES(s[pos - back + 1]); back++) {
        uint32_t cp;
        if (utf8_decode(s + pos - back, len - pos + back, &cp) > back)
            return pos - back;
    }
    return pos;
}

/* The last grapheme border that is not after `limit`, which is less than len. Goes back to a border
 * that is certain whatever is before it, then forward: only joiners and flags need more than two
 * characters to decide, and two regional indicators count as joined here. */
static size_t border_floor(const char *s, size_t len, size_t limit)
{
    size_t pos = character_start(s, len, limit);
    while (pos > 0) {
        uint32_t before, after;
        size_t previous = character_start(s, len, pos - 1);
        utf8_decode(s + previous, len - previous, &before);
        utf8_decode(s + pos, len - pos, &after);
        if (before != ZERO_WIDTH_JOINER &&
            utf8proc_grapheme_break((utf8proc_int32_t)before, (utf8proc_int32_t)after))
            break;
        pos = previous;
    }
    for (size_t next; (next = utf8_next(s, len, pos)) <= limit;)
        pos = next;
    return pos;
}

size_t utf8_prev(const char *s, size_t len, size_t pos)
{
    return pos ? border_floor(s, len, pos - 1) : 0;
}

size_t utf8_cut_bytes(const char *s, size_t len, size_t max)
{
    return len <= max ? len : border_floor(s, len, max);
}

size_t utf8_cut_width(const char *s, size_t len, size_t max_columns)
{
    size_t pos = 0, columns = 0;
    while (pos < len) {
        size_t next = utf8_next(s, len, pos);
        columns += utf8_width(s + pos, next - pos);
        if (columns > max_columns)
            break;
        pos = next;
    }
    return pos;
}

size_t utf8_cut_points(const char *s, size_t len, size_t max)
{
    size_t pos = 0;
    for (uint32_t cp; max > 0 && pos < len; max--)
        pos += utf8_decode(s + pos, len - pos, &cp);
    return pos;
}

void utf8_add_cut(struct buf *out, const char *s, size_t len, size_t max)
{
    size_t cut = utf8_cut_bytes(s, len, max);
    buf_add(out, s, cut);
    if (cut < len)
        buf_addstr(out, "…");
}

void utf8_clean(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode)
{
    size_t copied = 0; /* harmless runs are copied whole */
    for (size_t i = 0; i < len;) {
        if (is_printable_ascii(s[i])) {
            i++;
            continue;
        }
        uint32_t cp, shown; /* itself if it is harmless */
        size_t used = utf8_decode(s + i, len - i, &cp);
        bool invalid = is_invalid(cp, used);
        if (cp == '\n' || cp == '\r' || cp == 0x2028 || cp == 0x2029)
            shown = mode == UTF8_MULTILINE ? '\n' : ' ';
        else if (cp == '\t')
            shown = mode == UTF8_MULTILINE ? '\t' : ' ';
        else if (cp < 0x20 || cp == 0x7F)
            shown = cp < 0x20 ? 0x2400 + cp : 0x2421;
        else
            shown = invalid || is_forbidden(cp) ? REPLACEMENT : cp;
        if (shown != cp || invalid) {
            char bytes[4];
            buf_add(out, s + copied, i - copied);
            if (cp != '\r' || i + 1 == len || s[i + 1] != '\n')
                buf_add(out, bytes, utf8_encode(shown, bytes));
            copied = i + used;
        }
        i += used;
    }
    buf_add(out, s + copied, len - copied);
}

void utf8_add_output(struct buf *out, const char *piece, size_t max)
{
    for (;;) {
        size_t len = strcspn(piece, "\r");
        utf8_clean(out, piece, len, UTF8_MULTILINE);
        if (!piece[len])
            break;
        piece += len + 1;
        while (*piece != '\n' && out->len > 0 && out->data[out->len - 1] != '\n')
            buf_truncate(out, out->len - 1);
    }
    if (out->len > max) {
        size_t over = out->len - max;
        const char *newline = memchr(out->data + over, '\n', max);
        while (!newline && over < out->len && ((unsigned char)out->data[over] & 0xC0) == 0x80)
            over++;
        buf_consume(out, newline ? (size_t)(newline + 1 - out->data) : over);
    }
}

char *utf8_clean_line(const char *text)
{
    struct buf out = BUF_INIT;
    utf8_clean(&out, text ? text : "", text ? strlen(text) : 0, UTF8_ONE_LINE);
    return buf_take(&out);
}

bool utf8_is_blank(const char *text)
{
    return !text || text[strspn(text, " \t\r\n")] == '\0';
}

/* Lower case of the upper case, so that the two small Greek sigmas are equal. */
static uint32_t fold(uint32_t cp)
{
    if (cp < 0x80)
        return cp - 'A' < 26 ? cp + ('a' - 'A') : cp;
    return (uint32_t)utf8proc_tolower(utf8proc_toupper((utf8proc_int32_t)cp));
}

static size_t decode_folded(const char *s, size_t len, uint32_t *cp)
{
    unsigned char first = (unsigned char)*s;
    size_t used = first < 0x80 ? 1 : utf8_decode(s, len, cp);
    *cp = fold(first < 0x80 ? first : *cp);
    return used;
}

/* The length of `start` in the text, as it is written there; SIZE_MAX: it does not begin so. */
static size_t begins_folded(const char *s, size_t len, const char *start, size_t start_len)
{
    size_t i = 0, at = 0;
    while (at < start_len && i < len) {
        uint32_t is, wanted;
        i += decode_folded(s + i, len - i, &is);
        at += decode_folded(start + at, start_len - at, &wanted);
        if (is != wanted)
            return SIZE_MAX;
    }
    return at == start_len ? i : SIZE_MAX;
}

/* The next place where a character may begin that folds to `first`: ASCII folds to ASCII; any other
 * character is a candidate. */
static size_t next_candidate(const char *s, size_t len, size_t at, uint32_t first)
{
    for (; at < len; at++) {
        unsigned char c = (unsigned char)s[at];
        if (c >= 0x80 || fold(c) == first)
            break;
    }
    return at;
}

/* Makes no copy: a filter over thousands of texts runs at every key. */
const char *utf8_find_folded(const char *s, size_t len, const char *needle, size_t *match_len)
{
    size_t needle_len = strlen(needle), used, more;
    uint32_t cp, first;
    *match_len = 0;
    if (needle_len == 0)
        return s;
    size_t rest = decode_folded(needle, needle_len, &first);
    for (size_t i = next_candidate(s, len, 0, first); i < len;
         i = next_candidate(s, len, i + used, first)) {
        used = decode_folded(s + i, len - i, &cp);
        if (cp != first)
            continue;
        more = begins_folded(s + i + used, len - i - used, needle + rest, needle_len - rest);
        *match_len = used + more;
        if (more != SIZE_MAX)
            return s + i;
    }
    return NULL;
}

char *utf8_composed(const char *text)
{
    const char *at = text;
    while (*at && (unsigned char)*at < 0x80)
        at++;
    if (!*at)
        return mem_strdup(text);
    utf8proc_uint8_t *composed = utf8proc_NFC((const utf8proc_uint8_t *)text);
    char *out = mem_strdup(composed ? (const char *)composed : text);
    free(composed);
    return out;
}

bool utf8_contains_folded(const char *haystack, const char *needle)
{
    size_t match_len;
    return utf8_find_folded(haystack, strlen(haystack), needle, &match_len) != NULL;
}

/* --- revealing -------------------------------------------------------------------------------- */

#define ZERO_WIDTH_NON_JOINER 0x200Cu

static bool is_emoji_selector(uint32_t cp)
{
    return cp == 0xFE0E || cp == 0xFE0F;
}

static bool is_revealed(uint32_t cp)
{
    /* Letters and marks without a glyph, which no general category tells (Unicode's
     * Default_Ignorable_Code_Point without its format characters), and the empty Braille pattern.
     */
    static const struct range blanks[] = {
        {0x034F, 0x034F}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x2800, 0x2800},
        {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFFA0, 0xFFA0}, {0xE0000, 0xE0FFF},
    };
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
        return is_within(blanks, sizeof blanks / sizeof *blanks, cp);
    }
}

bool utf8_is_hidden(uint32_t cp)
{
    bool joins = cp == ZERO_WIDTH_NON_JOINER || cp == ZERO_WIDTH_JOINER || is_emoji_selector(cp);
    return cp >= 0x80 && !joins && is_revealed(cp) &&
           utf8proc_category((utf8proc_int32_t)cp) != UTF8PROC_CATEGORY_ZS;
}

/* The selectors and joiners within emoji: they change the picture. */
static bool is_part_of_emoji(uint32_t before, uint32_t cp, uint32_t after)
{
    bool keycap = (before >= '0' && before <= '9') || before == '#' || before == '*';
    bool skin = before >= 0x1F3FB && before <= 0x1F3FF;
    if (is_emoji_selector(cp))
        return utf8_is_pictograph(before) || (keycap && after == 0x20E3);
    return cp == ZERO_WIDTH_JOINER && utf8_is_pictograph(after) &&
           (utf8_is_pictograph(before) || skin || is_emoji_selector(before));
}

void utf8_reveal(struct buf *out, const char *s, size_t len, enum utf8_clean_mode mode)
{
    uint32_t before = 0, cp, after = 0;
    for (size_t i = 0, used; i < len; i += used, before = cp) {
        char picture[4];
        used = utf8_decode(s + i, len - i, &cp);
        if (i + used < len)
            utf8_decode(s + i + used, len - i - used, &after);
        else
            after = 0;
        bool kept = mode == UTF8_MULTILINE && (cp == '\n' || cp == '\t');
        if (is_invalid(cp, used))
            buf_addf(out, "<0x%02X>", (unsigned)(unsigned char)s[i]);
        else if (kept || !is_revealed(cp) || is_part_of_emoji(before, cp, after))
            buf_add(out, s + i, used);
        else if (cp < 0x20 || cp == 0x7F)
            buf_add(out, picture, utf8_encode(cp == 0x7F ? 0x2421 : 0x2400 + cp, picture));
        else
            buf_addf(out, "<U+%04X>", (unsigned)cp);
    }
}

/* --- the character set of the locale ---------------------------------------------------------- */

static enum charset found;
static iconv_t to_ascii = (iconv_t)-1;
static pthread_mutex_t to_ascii_lock = PTHREAD_MUTEX_INITIALIZER; /* a conversion has a state */
static bool german;

const char *charset_locale(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return value;
    }
    return "";
}

static bool is_utf8(const char *codeset)
{
    return strcasecmp(codeset, "UTF-8") == 0 || strcasecmp(codeset, "utf8") == 0;
}

enum charset charset_start(void)
{
    const char *name = charset_locale(), *language = getenv("LANG"), *dot = strchr(name, '.');
    bool installed = setlocale(LC_ALL, "") != NULL, unnamed = *name == '\0';
    auto_free char *codeset = mem_strdup(dot ? dot + 1 : "");
    codeset[strcspn(codeset, "@")] = '\0';
    found = CHARSET_OTHER;
    if (is_utf8(nl_langinfo(CODESET)))
        found = CHARSET_UTF8;
    else if ((unnamed || (!installed && is_utf8(codeset))) && setlocale(LC_CTYPE, "C.UTF-8"))
        found = unnamed ? CHARSET_UTF8 : CHARSET_ASSUMED;
    german = strncmp(name, "de", 2) == 0 || (language && strncmp(language, "de", 2) == 0);
    if (found == CHARSET_OTHER && to_ascii == (iconv_t)-1)
        to_ascii = iconv_open("ASCII//TRANSLIT", "UTF-8");
    return found;
}

enum charset charset(void)
{
    return found;
}

/* The ASCII letters that the character is composed of, without their marks. */
static void take_apart(uint32_t cp, char out[CHARSET_STAND_IN_MAX])
{
    utf8proc_int32_t parts[CHARSET_STAND_IN_MAX];
    int last = 0;
    utf8proc_ssize_t count =
        utf8proc_decompose_char((utf8proc_int32_t)cp, parts, CHARSET_STAND_IN_MAX - 1,
                                UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT, &last);
    size_t len = 0;
    for (utf8proc_ssize_t i = 0; i < count && i < CHARSET_STAND_IN_MAX - 1; i++) {
        if (parts[i] >= ' ' && parts[i] < 0x7F)
            out[len++] = (char)parts[i];
        else if (german && parts[i] == 0x308 && len > 0 && strchr("aouAOU", out[len - 1]))
            out[len++] = 'e';
    }
    out[len] = '\0';
}

bool charset_lacks(uint32_t cp, char out[CHARSET_STAND_IN_MAX])
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    if (found != CHARSET_OTHER || cp < 0x80 || wcrtomb(bytes, (wchar_t)cp, &state) != (size_t)-1)
        return false;
    *out = '\0';
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CC:
        return true; /* a mark, or nothing that is seen */
    default:
        break;
    }
    if (to_ascii != (iconv_t)-1) { /* the C library's transliteration, if it has one */
        char in[4], *from = in, *to = out;
        size_t from_len = utf8_encode(cp, in), room = CHARSET_STAND_IN_MAX - 1;
        pthread_mutex_lock(&to_ascii_lock);
        bool ok = iconv(to_ascii, &from, &from_len, &to, &room) != (size_t)-1;
        iconv(to_ascii, NULL, NULL, NULL, NULL);
        pthread_mutex_unlock(&to_ascii_lock);
        *to = '\0';
        if (!ok || strchr(out, '?'))
            *out = '\0';
    }
    if (*out == '\0')
        take_apart(cp, out);
    if (*out == '\0')
        memcpy(out, "?", 2);
    return true;
}

void charset_reveal(struct buf *out, const char *s, size_t len)
{
    for (size_t i = 0, used; i < len; i += used) {
        uint32_t cp;
        char stand_in[CHARSET_STAND_IN_MAX];
        used = utf8_decode(s + i, len - i, &cp);
        if (charset_lacks(cp, stand_in))
            buf_addf(out, "<U+%04X>", (unsigned)cp);
        else
            buf_add(out, s + i, used);
    }
}

void charset_encode(struct buf *out, const char *s, size_t len)
{
    if (found != CHARSET_OTHER) {
        buf_add(out, s, len);
        return;
    }
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        char text[CHARSET_STAND_IN_MAX > MB_LEN_MAX ? CHARSET_STAND_IN_MAX : MB_LEN_MAX];
        mbstate_t state = {0};
        i += utf8_decode(s + i, len - i, &cp);
        if (charset_lacks(cp, text))
            buf_addstr(out, text);
        else
            buf_add(out, text, wcrtomb(text, (wchar_t)cp, &state));
    }
}

void charset_decode(struct buf *out, const char *s, size_t len)
{
    if (found != CHARSET_OTHER || utf8_valid(s, len)) {
        buf_add(out, s, len);
        return;
    }
    mbstate_t state = {0};
    for (size_t i = 0; i < len;) {
        wchar_t c;
        char bytes[4];
        size_t used = mbrtowc(&c, s + i, len - i, &state);
        if (used > len - i) { /* invalid, or cut off at the end */
            used = 1;
            c = (wchar_t)REPLACEMENT;
            memset(&state, 0, sizeof state);
        }
        buf_add(out, bytes, utf8_encode((uint32_t)c, bytes));
        i += used ? used : 1;
    }
}
