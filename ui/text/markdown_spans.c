#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/markdown_private.h"

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

enum { GAP = 3, LEAST_COLUMN = 6 };

void markdown_table_init(struct table *t, size_t columns)
{
    *t = (struct table){.columns = columns};
}

void markdown_table_release(struct table *t)
{
    for (size_t i = 0; i < t->cells.len; i++)
        styled_release(&t->cells.items[i].text);
    vec_release(&t->cells);
}

void markdown_table_add(struct table *t, struct styled *text, enum cell_align align)
{
    for (size_t i = 0; i < text->text.len; i++)
        if (text->text.data[i] == '\t' || text->text.data[i] == '\n')
            text->text.data[i] = ' ';
    struct cell cell = {*text, align};
    vec_push(&t->cells, cell);
    styled_init(text);
}

static size_t widest(const size_t *widths, size_t columns, size_t *second)
{
    size_t best = 0;
    *second = 0;
    for (size_t i = 0; i < columns; i++) {
        if (widths[i] > best) {
            *second = best;
            best = widths[i];
        } else if (widths[i] < best && widths[i] > *second) {
            *second = widths[i];
        }
    }
    return best;
}

/* Cuts all that have `from` columns to `to`, or by what is over, whichever is less. */
static void shrink(size_t *widths, size_t columns, size_t from, size_t to, size_t over)
{
    size_t count = 0;
    for (size_t i = 0; i < columns; i++)
        count += widths[i] == from;
    size_t each = over / count, odd = over % count;
    bool last = from - to >= each + (odd > 0);
    for (size_t i = 0; i < columns; i++) {
        if (widths[i] != from)
            continue;
        widths[i] = last ? from - each - (odd > 0) : to;
        if (odd > 0)
            odd--;
    }
}

bool markdown_table_fit(const size_t *wanted, size_t *widths, size_t columns, size_t room)
{
    size_t sum = 0, second;
    for (size_t i = 0; i < columns; i++) {
        widths[i] = wanted[i] ? wanted[i] : 1;
        sum += widths[i];
    }
    while (sum > room) {
        size_t most = widest(widths, columns, &second);
        if (most <= LEAST_COLUMN)
            return false;
        second = second < LEAST_COLUMN ? LEAST_COLUMN : second;
        shrink(widths, columns, most, second, sum - room);
        sum = 0;
        for (size_t i = 0; i < columns; i++)
            sum += widths[i];
    }
    return true;
}

static void add_spaces(struct rows *out, size_t count)
{
    while (count-- > 0)
        rows_add(out, " ", 1, STYLE_TEXT, 0);
}

static void add_cell_line(struct rows *out, const struct cell *cell, const struct rows *rows,
                          size_t index, size_t width)
{
    bool empty = index >= rows->list.len;
    size_t used = empty ? 0 : rows_width(rows, index), spare = width > used ? width - used : 0;
    size_t before = cell->align == CELL_RIGHT ? spare : cell->align == CELL_CENTER ? spare / 2 : 0;
    add_spaces(out, before);
    if (!empty)
        rows_append(out, rows, index);
    add_spaces(out, spare - before);
}

/* Where the rows go, and what is before them. */
struct target {
    struct rows *out;
    size_t width;
    const struct styled *first, *rest;
    struct styled line; /* the one that is being made */
};

struct columns {
    size_t columns;
    const size_t *widths;
    struct rows *parts; /* one for each cell of a row */
};

static void put_line(struct target *p, const struct styled *line, enum wrap_mode mode)
{
    wrap_text(p->out, line, &(struct wrap_look){p->width, mode, p->first, p->rest});
    p->first = p->rest;
}

static void grid_line(struct target *p, const struct columns *g, const struct cell *cells,
                      size_t index)
{
    wrap_begin(p->out, p->first, p->width);
    p->first = p->rest;
    for (size_t i = 0; i < g->columns; i++) {
        if (i > 0) {
            add_spaces(p->out, 1);
            rows_addstr(p->out, glyph(GLYPH_BAR), STYLE_RULE, 0);
            add_spaces(p->out, 1);
        }
        add_cell_line(p->out, &cells[i], &g->parts[i], index, g->widths[i]);
    }
}

static void grid_row(struct target *p, const struct columns *g, const struct cell *cells)
{
    size_t height = 1;
    for (size_t i = 0; i < g->columns; i++) {
        rows_clear(&g->parts[i]);
        wrap_text(&g->parts[i], &cells[i].text,
                  &(struct wrap_look){g->widths[i], WRAP_WORDS, NULL, NULL});
        if (g->parts[i].list.len > height)
            height = g->parts[i].list.len;
    }
    for (size_t i = 0; i < height; i++)
        grid_line(p, g, cells, i);
}

static void grid_rule(struct target *p, const struct columns *g)
{
    styled_clear(&p->line);
    for (size_t i = 0; i < g->columns; i++) {
        size_t dashes = g->widths[i] + (i > 0) + (i + 1 < g->columns);
        if (i > 0)
            styled_addstr(&p->line, glyph(GLYPH_CROSS), STYLE_RULE, 0);
        while (dashes-- > 0)
            styled_addstr(&p->line, glyph(GLYPH_LINE), STYLE_RULE, 0);
    }
    put_line(p, &p->line, WRAP_HARD);
}

static void as_grid(struct target *p, const struct table *t, const size_t *widths)
{
    struct rows *parts = mem_alloc(t->columns * sizeof *parts);
    struct columns g = {t->columns, widths, parts};
    for (size_t i = 0; i < t->columns; i++)
        rows_init(&parts[i]);
    for (size_t i = 0; i < t->cells.len; i += t->columns) {
        grid_row(p, &g, &t->cells.items[i]);
        if (i == 0)
            grid_rule(p, &g);
    }
    for (size_t i = 0; i < t->columns; i++)
        rows_release(&parts[i]);
    free(parts);
}

static void as_lines(struct target *p, const struct table *t)
{
    for (size_t i = t->columns; i < t->cells.len; i++) {
        const struct cell *head = &t->cells.items[i % t->columns], *cell = &t->cells.items[i];
        styled_clear(&p->line);
        if (i > t->columns && i % t->columns == 0)
            put_line(p, &p->line, WRAP_WORDS);
        styled_append(&p->line, &head->text);
        styled_addstr(&p->line, ": ", STYLE_TEXT, 0);
        styled_append(&p->line, &cell->text);
        put_line(p, &p->line, WRAP_WORDS);
    }
}

static void want_columns(const struct table *t, size_t *wanted)
{
    for (size_t i = 0; i < t->cells.len; i++) {
        const struct buf *text = &t->cells.items[i].text.text;
        size_t columns = utf8_width(text->data, text->len), *most = &wanted[i % t->columns];
        *most = columns > *most ? columns : *most;
    }
}

void markdown_table_rows(struct rows *out, const struct table *t, size_t width,
                         const struct styled *first, const struct styled *rest)
{
    if (t->columns == 0 || t->cells.len < t->columns || t->cells.len % t->columns)
        return;
    struct target p = {.out = out, .width = width, .first = first, .rest = rest};
    size_t *wanted = mem_alloc(2 * t->columns * sizeof *wanted), *widths = wanted + t->columns;
    size_t room = wrap_room(rest, width), gaps = GAP * (t->columns - 1);
    want_columns(t, wanted);
    styled_init(&p.line);
    if (room > gaps && markdown_table_fit(wanted, widths, t->columns, room - gaps))
        as_grid(&p, t, widths);
    else
        as_lines(&p, t);
    styled_release(&p.line);
    free(wanted);
}
