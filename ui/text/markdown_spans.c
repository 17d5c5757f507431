#include "ui/text/markdown_spans.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"

/* --- entities --- */

static const struct {
    const char *name;
    uint32_t cp;
} entities[] = {
    {"amp", '&'},      {"lt", '<'},        {"gt", '>'},        {"quot", '"'},
    {"apos", '\''},    {"nbsp", ' '},      {"ensp", ' '},      {"emsp", ' '},
    {"thinsp", ' '},   {"copy", 0xa9},     {"reg", 0xae},      {"trade", 0x2122},
    {"deg", 0xb0},     {"plusmn", 0xb1},   {"sup2", 0xb2},     {"sup3", 0xb3},
    {"micro", 0xb5},   {"para", 0xb6},     {"sect", 0xa7},     {"middot", 0xb7},
    {"frac12", 0xbd},  {"frac14", 0xbc},   {"frac34", 0xbe},   {"times", 0xd7},
    {"divide", 0xf7},  {"laquo", 0xab},    {"raquo", 0xbb},    {"lsquo", 0x2018},
    {"rsquo", 0x2019}, {"ldquo", 0x201c},  {"rdquo", 0x201d},  {"bdquo", 0x201e},
    {"sbquo", 0x201a}, {"ndash", 0x2013},  {"mdash", 0x2014},  {"hellip", 0x2026},
    {"bull", 0x2022},  {"dagger", 0x2020}, {"permil", 0x2030}, {"euro", 0x20ac},
    {"pound", 0xa3},   {"yen", 0xa5},      {"cent", 0xa2},     {"larr", 0x2190},
    {"uarr", 0x2191},  {"rarr", 0x2192},   {"darr", 0x2193},   {"harr", 0x2194},
    {"rArr", 0x21d2},  {"hArr", 0x21d4},   {"minus", 0x2212},  {"infin", 0x221e},
    {"ne", 0x2260},    {"le", 0x2264},     {"ge", 0x2265},     {"asymp", 0x2248},
    {"equiv", 0x2261}, {"sum", 0x2211},    {"prod", 0x220f},   {"radic", 0x221a},
    {"part", 0x2202},  {"int", 0x222b},    {"isin", 0x2208},   {"alpha", 0x3b1},
    {"beta", 0x3b2},   {"gamma", 0x3b3},   {"delta", 0x3b4},   {"epsilon", 0x3b5},
    {"lambda", 0x3bb}, {"mu", 0x3bc},      {"pi", 0x3c0},      {"rho", 0x3c1},
    {"sigma", 0x3c3},  {"tau", 0x3c4},     {"phi", 0x3c6},     {"omega", 0x3c9},
    {"Delta", 0x394},  {"Sigma", 0x3a3},   {"Omega", 0x3a9},   {"auml", 0xe4},
    {"ouml", 0xf6},    {"uuml", 0xfc},     {"Auml", 0xc4},     {"Ouml", 0xd6},
    {"Uuml", 0xdc},    {"szlig", 0xdf},    {"eacute", 0xe9},   {"egrave", 0xe8},
    {"ecirc", 0xea},   {"agrave", 0xe0},   {"aacute", 0xe1},   {"acirc", 0xe2},
    {"aring", 0xe5},   {"aelig", 0xe6},    {"ccedil", 0xe7},   {"iacute", 0xed},
    {"ntilde", 0xf1},  {"oacute", 0xf3},   {"ocirc", 0xf4},    {"oslash", 0xf8},
    {"uacute", 0xfa},  {"ugrave", 0xf9},   {"iexcl", 0xa1},    {"iquest", 0xbf},
    {"lbrace", '{'},   {"rbrace", '}'},    {"lsqb", '['},      {"rsqb", ']'},
    {"lpar", '('},     {"rpar", ')'},      {"num", '#'},       {"ast", '*'},
    {"vert", '|'},     {"lowbar", '_'},    {"grave", '`'},     {"check", 0x2713},
    {"cross", 0x2717}, {"star", 0x2606},   {"starf", 0x2605},  {"hearts", 0x2665},
};

static uint32_t number_of(const char *text, size_t len)
{
    char digits[16];
    if (len < 4 || text[1] != '#' || len - 3 >= sizeof digits)
        return 0;
    bool hex = text[2] == 'x' || text[2] == 'X';
    size_t from = hex ? 3 : 2;
    memcpy(digits, text + from, len - from - 1);
    digits[len - from - 1] = '\0';
    unsigned long n = strtoul(digits, NULL, hex ? 16 : 10);
    return n == 0 || n > 0x10ffff ? 0xfffd : (uint32_t)n;
}

static uint32_t named(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (strlen(entities[i].name) == len - 2 && !memcmp(entities[i].name, text + 1, len - 2))
            return entities[i].cp;
    return 0;
}

void markdown_entity(struct buf *out, const char *text, size_t len)
{
    char bytes[4];
    uint32_t cp = len < 3 ? 0 : text[1] == '#' ? number_of(text, len) : named(text, len);
    if (cp == 0)
        buf_add(out, text, len);
    else
        buf_add(out, bytes, utf8_encode(cp, bytes));
}

/* --- text --- */

void markdown_leaf_init(struct markdown_leaf *leaf, enum style style, bool keep_lines)
{
    *leaf = (struct markdown_leaf){.style = style, .keep_lines = keep_lines};
    styled_init(&leaf->line);
}

void markdown_leaf_release(struct markdown_leaf *leaf)
{
    styled_release(&leaf->line);
    vec_release(&leaf->link_starts);
}

void markdown_leaf_begin(struct markdown_leaf *leaf, enum style style)
{
    styled_clear(&leaf->line);
    vec_clear(&leaf->link_starts);
    leaf->style = style;
    leaf->one_line = false;
}

static void add(struct markdown_leaf *leaf, const char *text, size_t len)
{
    enum style style = leaf->code ? STYLE_CODE : leaf->link ? STYLE_LINK : leaf->style;
    unsigned attrs = (leaf->bold ? ATTR_BOLD : 0u) | (leaf->italic ? ATTR_ITALIC : 0u) |
                     (leaf->strike ? ATTR_STRIKE : 0u) | (leaf->link ? ATTR_UNDERLINE : 0u);
    styled_add_clean(&leaf->line, text, len, style, attrs);
}

void markdown_leaf_text(struct markdown_leaf *leaf, MD_TEXTTYPE type, const char *text, size_t len)
{
    struct buf decoded = BUF_INIT;
    switch (type) {
    case MD_TEXT_NULLCHAR:
        add(leaf, "\ufffd", strlen("\ufffd"));
        break;
    case MD_TEXT_BR:
        add(leaf, leaf->one_line ? " " : "\n", 1);
        break;
    case MD_TEXT_SOFTBR:
        add(leaf, leaf->keep_lines && !leaf->one_line ? "\n" : " ", 1);
        break;
    case MD_TEXT_ENTITY:
        markdown_entity(&decoded, text, len);
        add(leaf, decoded.data, decoded.len);
        break;
    default:
        add(leaf, text, len);
    }
    buf_release(&decoded);
}

/* --- spans --- */

static bool begins_with(const char *text, size_t len, const char *start)
{
    size_t n = strlen(start);
    return len >= n && memcmp(text, start, n) == 0;
}

/* Is this the whole of what the link's text says? */
static bool says(const struct styled *line, size_t from, const char *url, size_t len)
{
    static const char *const schemes[] = {"", "mailto:", "http://", "https://"};
    const char *text = line->text.data + from;
    size_t text_len = line->text.len - from;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (begins_with(url, len, schemes[i]) && len - n == text_len &&
            memcmp(url + n, text, text_len) == 0)
            return true;
    }
    return false;
}

/* What is added from now on leads there, if that is safe; NULL: nowhere. */
static void lead_to(struct markdown_leaf *leaf, const MD_ATTRIBUTE *url)
{
    struct buf decoded = BUF_INIT, clean = BUF_INIT;
    for (unsigned i = 0; url && url->size > 0 && i < LINK_MAX && url->substr_offsets[i] < url->size;
         i++) {
        const char *part = url->text + url->substr_offsets[i];
        size_t len = url->substr_offsets[i + 1] - url->substr_offsets[i];
        if (url->substr_types[i] == MD_TEXT_ENTITY)
            markdown_entity(&decoded, part, len);
        else
            buf_add(&decoded, part, len);
    }
    bool safe = decoded.len > 0 && link_clean(&clean, decoded.data, decoded.len);
    styled_link(&leaf->line, safe ? clean.data : NULL);
    buf_release(&decoded);
    buf_release(&clean);
}

static void add_url(struct markdown_leaf *leaf, const MD_ATTRIBUTE *url)
{
    struct buf clean = BUF_INIT;
    utf8_clean(&clean, url->text, url->size, UTF8_ONE_LINE);
    styled_addstr(&leaf->line, " (", leaf->style, 0);
    lead_to(leaf, url);
    styled_add(&leaf->line, clean.data, clean.len, STYLE_LINK, 0);
    lead_to(leaf, NULL);
    styled_addstr(&leaf->line, ")", leaf->style, 0);
    buf_release(&clean);
}

static void leave_link(struct markdown_leaf *leaf, const MD_SPAN_A_DETAIL *link)
{
    size_t from = leaf->link_starts.len ? vec_last(&leaf->link_starts) : 0;
    leaf->link_starts.len -= leaf->link_starts.len > 0;
    lead_to(leaf, NULL);
    if (link->href.size && !says(&leaf->line, from, link->href.text, link->href.size))
        add_url(leaf, &link->href);
}

/* Spans of a kind may be within each other. */
static void count(struct markdown_leaf *leaf, MD_SPANTYPE type, unsigned step)
{
    leaf->italic += type == MD_SPAN_EM ? step : 0;
    leaf->bold += type == MD_SPAN_STRONG ? step : 0;
    leaf->strike += type == MD_SPAN_DEL ? step : 0;
    leaf->code += type == MD_SPAN_CODE ? step : 0;
    leaf->link += type == MD_SPAN_A ? step : 0;
}

void markdown_leaf_enter(struct markdown_leaf *leaf, MD_SPANTYPE type, const void *detail)
{
    count(leaf, type, 1);
    if (type == MD_SPAN_A) {
        vec_push(&leaf->link_starts, leaf->line.text.len);
        lead_to(leaf, &((const MD_SPAN_A_DETAIL *)detail)->href);
    } else if (type == MD_SPAN_IMG) {
        add(leaf, "[", 1);
        add(leaf, _("image"), strlen(_("image")));
        add(leaf, ": ", 2);
    }
}

void markdown_leaf_leave(struct markdown_leaf *leaf, MD_SPANTYPE type, const void *detail)
{
    count(leaf, type, -1u);
    if (type == MD_SPAN_A) {
        leave_link(leaf, detail);
    } else if (type == MD_SPAN_IMG) {
        add(leaf, "]", 1);
        add_url(leaf, &((const MD_SPAN_IMG_DETAIL *)detail)->src);
    }
}
