#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/i18n.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/term/rows.h"
#include "ui/text/markdown_private.h"

enum {
    FORMULA_MAX = 500, /* bytes to either side in which the ends of a formula are looked for */
    GAP = 3,           /* columns between those of a table */
    LEAST_COLUMN = 6
};

/* --- entities --- */

/* Each name with its character and a comma. */
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

void markdown_entity(struct buf *out, const char *text, size_t len)
{
    char bytes[4], digits[16];
    uint32_t cp = 0;
    if (len >= 4 && text[1] == '#') {
        size_t from = text[2] == 'x' || text[2] == 'X' ? 3 : 2, count = len - from - 1;
        if (len - 3 < sizeof digits) {
            memcpy(digits, text + from, count);
            digits[count] = '\0';
            unsigned long n = strtoul(digits, NULL, from == 3 ? 16 : 10);
            cp = n == 0 || n > 0x10ffff ? 0xfffd : (uint32_t)n;
        }
    } else if (len >= 3) {
        for (const char *name = entities; *name; name = strchr(name + 1, ',') + 1) {
            size_t n = 0;
            while ((unsigned char)name[n] < 0x80 && isalnum((unsigned char)name[n]))
                n++;
            if (n == len - 2 && memcmp(name, text + 1, n) == 0)
                utf8_decode(name + n, strlen(name + n), &cp);
        }
    }
    if (cp == 0)
        buf_add(out, text, len);
    else
        buf_add(out, bytes, utf8_encode(cp, bytes));
}

/* --- text --- */

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

/* Whether md4c removed a backslash before this text that belongs to a formula. A formula stands
 * between two "$", with no blank behind the first and before the last, and no digit behind the
 * last; or between two "$$". */
static bool lost_backslash(const struct markdown_leaf *leaf, MD_TEXTTYPE type, const char *text)
{
    size_t count = 0;
    const char *open = text - 1, *close = text;
    if (type != MD_TEXT_NORMAL || text <= leaf->source || text >= leaf->source_end)
        return false;
    while (count < FORMULA_MAX && text - count > leaf->source &&
           text[-1 - (ptrdiff_t)count] == '\\')
        count++;
    if (count % 2 == 0)
        return false;
    while (open > leaf->source && text - open < FORMULA_MAX && *open != '$')
        open--;
    if (*open != '$' ||
        (isspace((unsigned char)open[1]) && (open == leaf->source || open[-1] != '$')))
        return false;
    for (; close < leaf->source_end - 1 && close - text < FORMULA_MAX; close++) {
        bool ends = *close == '$' && close[-1] != '\\';
        if (ends && (close[1] == '$' ||
                     (!isspace((unsigned char)close[-1]) && !isdigit((unsigned char)close[1]))))
            return true;
    }
    return false;
}

int markdown_add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE len, void *leaf)
{
    AUTO(buf_release) struct buf decoded = BUF_INIT;
    const struct markdown_leaf *l = leaf;
    switch (type) {
    case MD_TEXT_NULLCHAR:
        add(leaf, "\ufffd", strlen("\ufffd"));
        break;
    case MD_TEXT_BR:
        add(leaf, l->one_line ? " " : "\n", 1);
        break;
    case MD_TEXT_SOFTBR:
        add(leaf, l->keep_lines && !l->one_line ? "\n" : " ", 1);
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
    return 0;
}

/* --- spans --- */

/* Whether the link's text is its address, or the mark of a source as "[3]", which a list below the
 * answer has: so the address need not follow. */
static bool is_address(const struct styled *line, size_t from, const char *url, size_t len)
{
    static const char *const schemes[] = {"", "mailto:", "http://", "https://"};
    const char *text = line->text.data + from;
    size_t text_len = line->text.len - from;
    if (text_len > 2 && *text == '[' && strspn(text + 1, "0123456789") == text_len - 2 &&
        text[text_len - 1] == ']')
        return true;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        size_t n = strlen(schemes[i]);
        if (len == n + text_len && memcmp(url, schemes[i], n) == 0 &&
            memcmp(url + n, text, text_len) == 0)
            return true;
    }
    return false;
}

/* Links the text that is added from now on to the address, if that is safe; NULL: to none. */
static void lead_to(struct markdown_leaf *leaf, const MD_ATTRIBUTE *url)
{
    AUTO(buf_release) struct buf decoded = BUF_INIT;
    AUTO(buf_release) struct buf clean = BUF_INIT;
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
}

static void add_url(struct markdown_leaf *leaf, const MD_ATTRIBUTE *url)
{
    AUTO(buf_release) struct buf clean = BUF_INIT;
    utf8_clean(&clean, url->text, url->size, UTF8_ONE_LINE);
    styled_addstr(&leaf->line, " (", leaf->style, 0);
    lead_to(leaf, url);
    styled_add(&leaf->line, clean.data, clean.len, STYLE_LINK, 0);
    lead_to(leaf, NULL);
    styled_addstr(&leaf->line, ")", leaf->style, 0);
}

/* Counts, because spans of a kind may be within each other. */
static void count(struct markdown_leaf *leaf, MD_SPANTYPE type, unsigned step)
{
    leaf->italic += type == MD_SPAN_EM ? step : 0;
    leaf->bold += type == MD_SPAN_STRONG ? step : 0;
    leaf->strike += type == MD_SPAN_DEL ? step : 0;
    leaf->code += type == MD_SPAN_CODE ? step : 0;
    leaf->link += type == MD_SPAN_A ? step : 0;
}

int markdown_enter_span(MD_SPANTYPE type, void *detail, void *leaf)
{
    struct markdown_leaf *l = leaf;
    count(l, type, 1);
    if (type == MD_SPAN_A) {
        vec_push(&l->link_starts, l->line.text.len);
        lead_to(l, &((const MD_SPAN_A_DETAIL *)detail)->href);
    } else if (type == MD_SPAN_IMG) {
        add(l, "[", 1);
        add(l, _("image"), strlen(_("image")));
        add(l, ": ", 2);
    }
    return 0;
}

int markdown_leave_span(MD_SPANTYPE type, void *detail, void *leaf)
{
    struct markdown_leaf *l = leaf;
    count(l, type, -1u);
    if (type == MD_SPAN_A) {
        const MD_ATTRIBUTE *url = &((const MD_SPAN_A_DETAIL *)detail)->href;
        size_t from = l->link_starts.len ? vec_last(&l->link_starts) : 0;
        l->link_starts.len -= l->link_starts.len > 0;
        lead_to(l, NULL);
        if (url->size && !is_address(&l->line, from, url->text, url->size))
            add_url(l, url);
    } else if (type == MD_SPAN_IMG) {
        add(l, "]", 1);
        add_url(l, &((const MD_SPAN_IMG_DETAIL *)detail)->src);
    }
    return 0;
}

/* --- tables --- */

void markdown_table_release(struct table *t)
{
    for (size_t i = 0; i < t->cells.len; i++)
        styled_release(&t->cells.items[i].text);
    vec_release(&t->cells);
    t->columns = 0;
}

void markdown_table_add(struct table *t, struct styled *text, enum cell_align align)
{
    for (size_t i = 0; i < text->text.len; i++)
        if (text->text.data[i] == '\t' || text->text.data[i] == '\n')
            text->text.data[i] = ' ';
    struct cell cell = {*text, align};
    vec_push(&t->cells, cell);
    *text = (struct styled)STYLED_INIT;
}

/* Cuts all columns of width `from` to `to`, or less far if `over` columns in all are enough. */
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
    for (size_t i = 0; i < columns; i++)
        widths[i] = wanted[i] ? wanted[i] : 1;
    for (;;) {
        size_t sum = 0, most = 0, second = 0;
        for (size_t i = 0; i < columns; i++) {
            size_t width = widths[i];
            sum += width;
            if (width > most) {
                second = most;
                most = width;
            } else if (width < most && width > second) {
                second = width;
            }
        }
        if (sum <= room)
            return true;
        if (most <= LEAST_COLUMN)
            return false;
        shrink(widths, columns, most, second < LEAST_COLUMN ? LEAST_COLUMN : second, sum - room);
    }
}

/* The output of a table: its rows, their width and the prefixes before them. */
struct target {
    struct rows *out;
    size_t width;
    const struct styled *first, *rest;
    const size_t *widths; /* of the columns of a grid */
    struct rows *parts;   /* one for each cell of a row of a grid */
};

static void put_line(struct target *p, const struct styled *line, enum wrap_mode mode)
{
    wrap_text(p->out, line, &(struct wrap_look){p->width, mode, p->first, p->rest});
    p->first = p->rest;
}

/* A row of the table, which has as many rows on the screen as its highest cell. */
static void grid_row(struct target *p, const struct table *t, const struct cell *cells)
{
    size_t height = 1;
    for (size_t i = 0; i < t->columns; i++) {
        rows_clear(&p->parts[i]);
        wrap_text(&p->parts[i], &cells[i].text,
                  &(struct wrap_look){p->widths[i], WRAP_WORDS, NULL, NULL});
        if (p->parts[i].list.len > height)
            height = p->parts[i].list.len;
    }
    for (size_t line = 0; line < height; line++) {
        wrap_begin(p->out, p->first, p->width - wrap_room(p->first, p->width));
        p->first = p->rest;
        for (size_t i = 0; i < t->columns; i++) {
            const struct rows *part = &p->parts[i];
            bool empty = line >= part->list.len;
            size_t used = empty ? 0 : rows_width(part, line), width = p->widths[i];
            size_t spare = width > used ? width - used : 0, left = 0;
            if (cells[i].align != CELL_LEFT)
                left = cells[i].align == CELL_RIGHT ? spare : spare / 2;
            if (i > 0) {
                rows_pad(p->out, 1, STYLE_TEXT);
                rows_addstr(p->out, glyph(GLYPH_BAR), STYLE_RULE, 0);
                rows_pad(p->out, 1, STYLE_TEXT);
            }
            rows_pad(p->out, left, STYLE_TEXT);
            if (!empty)
                rows_append(p->out, part, line);
            rows_pad(p->out, spare - left, STYLE_TEXT);
        }
    }
}

static void grid_rule(struct target *p, size_t columns)
{
    AUTO(styled_release) struct styled line = STYLED_INIT;
    for (size_t i = 0; i < columns; i++) {
        size_t dashes = p->widths[i] + (i > 0) + (i + 1 < columns);
        if (i > 0)
            styled_addstr(&line, glyph(GLYPH_CROSS), STYLE_RULE, 0);
        while (dashes-- > 0)
            styled_addstr(&line, glyph(GLYPH_LINE), STYLE_RULE, 0);
    }
    put_line(p, &line, WRAP_HARD);
}

/* "head: cell" lines, with a blank line between the rows of the table. */
static void as_lines(struct target *p, const struct table *t)
{
    for (size_t i = t->columns; i < t->cells.len; i++) {
        AUTO(styled_release) struct styled line = STYLED_INIT;
        if (i > t->columns && i % t->columns == 0)
            put_line(p, &line, WRAP_WORDS);
        styled_append(&line, &t->cells.items[i % t->columns].text);
        styled_addstr(&line, ": ", STYLE_TEXT, 0);
        styled_append(&line, &t->cells.items[i].text);
        put_line(p, &line, WRAP_WORDS);
    }
}

void markdown_table_rows(struct rows *out, const struct table *t, size_t width,
                         const struct styled *first, const struct styled *rest)
{
    if (t->columns == 0 || t->cells.len < t->columns || t->cells.len % t->columns)
        return;
    auto_free size_t *wanted = mem_alloc(2 * t->columns * sizeof *wanted);
    size_t *widths = wanted + t->columns;
    size_t room = wrap_room(rest, width), gaps = GAP * (t->columns - 1);
    for (size_t i = 0; i < t->cells.len; i++) {
        const struct buf *text = &t->cells.items[i].text.text;
        size_t columns = utf8_width(text->data, text->len), *most = &wanted[i % t->columns];
        *most = columns > *most ? columns : *most;
    }
    struct target p = {.out = out, .width = width, .first = first, .rest = rest, .widths = widths};
    if (room <= gaps || !markdown_table_fit(wanted, widths, t->columns, room - gaps)) {
        as_lines(&p, t);
        return;
    }
    p.parts = mem_alloc(t->columns * sizeof *p.parts);
    for (size_t i = 0; i < t->columns; i++)
        rows_init(&p.parts[i]);
    for (size_t i = 0; i < t->cells.len; i += t->columns) {
        grid_row(&p, t, &t->cells.items[i]);
        if (i == 0)
            grid_rule(&p, t->columns);
    }
    for (size_t i = 0; i < t->columns; i++)
        rows_release(&p.parts[i]);
    free(p.parts);
}
