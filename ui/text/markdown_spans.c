#include "ui/text/markdown_spans.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/utf8.h"

enum { FORMULA_MAX = 500 /* bytes to either end that are looked at */ };

/* --- entities --- */

/* Names, each with its character and a comma. */
static const char entities[] =
    "amp&,lt<,gt>,quot\",apos',nbsp ,ensp ,emsp ,thinsp ,copy©,reg®,trade™,deg°,plusmn±,sup2²,"
    "sup3³,microµ,para¶,sect§,middot·,frac12½,frac14¼,frac34¾,times×,divide÷,laquo«,raquo»,"
    "lsquo‘,rsquo’,ldquo“,rdquo”,bdquo„,sbquo‚,ndash–,mdash—,hellip…,bull•,dagger†,permil‰,"
    "euro€,pound£,yen¥,cent¢,larr←,uarr↑,rarr→,darr↓,harr↔,rArr⇒,hArr⇔,minus−,infin∞,ne≠,le≤,"
    "ge≥,asymp≈,equiv≡,sum∑,prod∏,radic√,part∂,int∫,isin∈,alphaα,betaβ,gammaγ,deltaδ,"
    "epsilonε,lambdaλ,muμ,piπ,rhoρ,sigmaσ,tauτ,phiφ,omegaω,DeltaΔ,SigmaΣ,OmegaΩ,aumlä,oumlö,"
    "uumlü,AumlÄ,OumlÖ,UumlÜ,szligß,eacuteé,egraveè,ecircê,agraveà,aacuteá,acircâ,aringå,"
    "aeligæ,ccedilç,iacuteí,ntildeñ,oacuteó,ocircô,oslashø,uacuteú,ugraveù,iexcl¡,iquest¿,"
    "lbrace{,rbrace},lsqb[,rsqb],lpar(,rpar),num#,ast*,vert|,lowbar_,grave`,check✓,cross✗,"
    "star☆,starf★,hearts♥,";

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
    uint32_t cp = 0;
    for (const char *name = entities; *name; name = strchr(name + 1, ',') + 1) {
        size_t name_len = 0;
        while ((unsigned char)name[name_len] < 0x80 && isalnum((unsigned char)name[name_len]))
            name_len++;
        if (name_len == len - 2 && memcmp(name, text + 1, name_len) == 0)
            utf8_decode(name + name_len, strlen(name + name_len), &cp);
    }
    return cp;
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
                     (leaf->strike ? ATTR_STRIKE : 0u) |
                     (leaf->link || leaf->underline ? ATTR_UNDERLINE : 0u);
    styled_add_clean(&leaf->line, text, len, style, attrs);
}

/* Whether this place is between two "$" as formulas have them: no blank behind the first and before
 * the last, and no digit behind that; or between two "$$". */
static bool is_in_formula(const struct markdown_leaf *leaf, const char *at)
{
    const char *open = at - 1, *close = at;
    while (open > leaf->source && at - open < FORMULA_MAX && *open != '$')
        open--;
    if (*open != '$' ||
        (isspace((unsigned char)open[1]) && (open == leaf->source || open[-1] != '$')))
        return false;
    for (; close < leaf->source_end - 1 && close - at < FORMULA_MAX; close++) {
        bool ends = *close == '$' && close[-1] != '\\';
        if (ends && (close[1] == '$' ||
                     (!isspace((unsigned char)close[-1]) && !isdigit((unsigned char)close[1]))))
            return true;
    }
    return false;
}

/* md4c takes the backslash before a punctuation mark away. */
static bool lost_backslash(const struct markdown_leaf *leaf, MD_TEXTTYPE type, const char *text)
{
    size_t count = 0;
    if (type != MD_TEXT_NORMAL || text <= leaf->source || text >= leaf->source_end)
        return false;
    while (count < FORMULA_MAX && text - count > leaf->source &&
           text[-1 - (ptrdiff_t)count] == '\\')
        count++;
    return count % 2 == 1 && is_in_formula(leaf, text);
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
        if (lost_backslash(leaf, type, text))
            add(leaf, "\\", 1);
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
