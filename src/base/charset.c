#include "base/charset.h"

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

#include "base/utf8.h"

#define DIAERESIS 0x308
#define REPLACEMENT 0xFFFDu

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

static bool names_utf8(const char *locale)
{
    const char *dot = strchr(locale, '.');
    size_t len = dot ? strcspn(dot + 1, "@") : 0;
    char codeset[16] = "";
    if (len < sizeof codeset && dot)
        memcpy(codeset, dot + 1, len);
    return is_utf8(codeset);
}

static enum charset take_locale(void)
{
    const char *name = charset_locale();
    bool installed = setlocale(LC_ALL, "") != NULL;
    if (is_utf8(nl_langinfo(CODESET)))
        return CHARSET_UTF8;
    bool unnamed = *name == '\0';
    if ((unnamed || (!installed && names_utf8(name))) && setlocale(LC_CTYPE, "C.UTF-8"))
        return unnamed ? CHARSET_UTF8 : CHARSET_ASSUMED;
    return CHARSET_OTHER;
}

static bool is_german(const char *locale)
{
    return locale && strncmp(locale, "de", 2) == 0;
}

enum charset charset_start(void)
{
    found = take_locale();
    german = is_german(charset_locale()) || is_german(getenv("LANG"));
    if (found == CHARSET_OTHER && to_ascii == (iconv_t)-1)
        to_ascii = iconv_open("ASCII//TRANSLIT", "UTF-8");
    return found;
}

enum charset charset(void)
{
    return found;
}

static bool has(uint32_t cp)
{
    char bytes[MB_LEN_MAX];
    mbstate_t state = {0};
    return wcrtomb(bytes, (wchar_t)cp, &state) != (size_t)-1;
}

static bool is_mark(uint32_t cp)
{
    switch (utf8proc_category((utf8proc_int32_t)cp)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CC:
        return true;
    default:
        return false;
    }
}

/* As the C library has it; "" where it knows nothing near. */
static void ask_library(uint32_t cp, char out[CHARSET_STAND_IN_MAX])
{
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

/* The letters that it is made of, without the marks on them. */
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
        else if (german && parts[i] == DIAERESIS && len > 0 && strchr("aouAOU", out[len - 1]))
            out[len++] = 'e';
    }
    out[len] = '\0';
}

bool charset_lacks(uint32_t cp, char out[CHARSET_STAND_IN_MAX])
{
    if (found != CHARSET_OTHER || cp < 0x80 || has(cp))
        return false;
    *out = '\0';
    if (is_mark(cp))
        return true;
    if (to_ascii != (iconv_t)-1)
        ask_library(cp, out);
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
