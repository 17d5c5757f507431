/* HTML: its blocks by their elements. */
#include "knowledge/load_html.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/markup.h"

enum effect { BLOCK, PARAGRAPH, HEADING, PREFORMATTED, ROW, CELL, NEWLINE, GAP, TITLE, UNSEEN };

/* In the order of their names. What is not here stands in the line. */
static const struct element {
    const char *name;
    enum effect effect;
    int level;
} elements[] = {
    {"address", BLOCK, 0},    {"article", BLOCK, 0},   {"aside", BLOCK, 0},
    {"blockquote", BLOCK, 0}, {"body", BLOCK, 0},      {"br", NEWLINE, 0},
    {"button", GAP, 0},       {"caption", BLOCK, 0},   {"center", BLOCK, 0},
    {"dd", BLOCK, 0},         {"details", BLOCK, 0},   {"dialog", BLOCK, 0},
    {"dir", BLOCK, 0},        {"div", BLOCK, 0},       {"dl", BLOCK, 0},
    {"dt", BLOCK, 0},         {"fieldset", BLOCK, 0},  {"figcaption", BLOCK, 0},
    {"figure", BLOCK, 0},     {"footer", BLOCK, 0},    {"form", BLOCK, 0},
    {"h1", HEADING, 1},       {"h2", HEADING, 2},      {"h3", HEADING, 3},
    {"h4", HEADING, 4},       {"h5", HEADING, 5},      {"h6", HEADING, 6},
    {"header", BLOCK, 0},     {"hr", BLOCK, 0},        {"html", BLOCK, 0},
    {"iframe", UNSEEN, 0},    {"img", GAP, 0},         {"input", GAP, 0},
    {"legend", BLOCK, 0},     {"li", BLOCK, 0},        {"listing", PREFORMATTED, 0},
    {"main", BLOCK, 0},       {"math", GAP, 0},        {"menu", BLOCK, 0},
    {"nav", BLOCK, 0},        {"noscript", BLOCK, 0},  {"object", UNSEEN, 0},
    {"ol", BLOCK, 0},         {"option", GAP, 0},      {"p", PARAGRAPH, 0},
    {"pre", PREFORMATTED, 0}, {"script", UNSEEN, 0},   {"section", BLOCK, 0},
    {"select", GAP, 0},       {"style", UNSEEN, 0},    {"summary", BLOCK, 0},
    {"svg", UNSEEN, 0},       {"table", BLOCK, 0},     {"tbody", GAP, 0},
    {"td", CELL, 0},          {"template", UNSEEN, 0}, {"textarea", GAP, 0},
    {"tfoot", GAP, 0},        {"th", CELL, 0},         {"thead", GAP, 0},
    {"title", TITLE, 0},      {"tr", ROW, 0},          {"ul", BLOCK, 0},
    {"xmp", PREFORMATTED, 0},
};

static int by_name(const void *name, const void *element)
{
    return strcmp(name, ((const struct element *)element)->name);
}

static const struct element *element_of(const char *name)
{
    return bsearch(name, elements, sizeof elements / sizeof *elements, sizeof *elements, by_name);
}

/* One page while it is read. */
struct page {
    struct flow *flow;
    bool has_lines;
    size_t unseen; /* elements that are not shown, in one another */
    size_t within; /* … that preformatted text is in */
    bool in_title;
    struct buf title;
};

static bool begin(void *context, struct markup *m, const char *name)
{
    struct page *p = context;
    const struct element *element = element_of(name);
    int64_t line = p->has_lines ? markup_line(m) : 0;
    if (p->unseen > 0 || (element && element->effect == UNSEEN)) {
        p->unseen += element && element->effect == UNSEEN;
        return true;
    }
    if (!element)
        return true;
    switch (element->effect) {
    case BLOCK:
    case PARAGRAPH:
        if (p->within == 0)
            flow_begin(p->flow, DOCUMENT_PROSE, 0, line);
        break;
    case HEADING:
        flow_begin(p->flow, DOCUMENT_HEADING, element->level, line);
        break;
    case PREFORMATTED:
        if (p->within++ == 0)
            flow_begin(p->flow, DOCUMENT_CODE, 0, line);
        break;
    case ROW:
        flow_begin_row(p->flow, line);
        break;
    case CELL:
        flow_cell(p->flow);
        break;
    case NEWLINE:
        flow_newline(p->flow);
        break;
    case GAP:
        flow_gap(p->flow);
        break;
    case TITLE:
        p->in_title = p->title.len == 0;
        break;
    case UNSEEN:
        break;
    }
    return p->flow->outcome == DOCUMENT_LOADED;
}

static bool end(void *context, const char *name)
{
    struct page *p = context;
    const struct element *element = element_of(name);
    if (!element)
        return true;
    if (element->effect == UNSEEN)
        p->unseen -= p->unseen > 0;
    if (p->unseen > 0)
        return true;
    p->in_title = false;
    if (element->effect == PREFORMATTED && p->within > 0)
        p->within--;
    if (element->effect == ROW)
        flow_end_row(p->flow);
    else if (element->effect <= PREFORMATTED && p->within == 0)
        flow_end(p->flow);
    else if (element->effect == GAP)
        flow_gap(p->flow);
    return p->flow->outcome == DOCUMENT_LOADED;
}

static bool text(void *context, const char *bytes, size_t len)
{
    struct page *p = context;
    if (p->in_title)
        buf_add(&p->title, bytes,
                len < LOAD_HTML_TITLE - p->title.len ? len : LOAD_HTML_TITLE - p->title.len);
    else if (p->unseen == 0)
        return flow_text(p->flow, bytes, len);
    return true;
}

enum document_outcome load_html_page(struct flow *flow, const struct markup_source *source,
                                     bool has_lines, struct buf *title)
{
    static const struct markup_events events = {begin, end, text};
    struct page p = {.flow = flow, .has_lines = has_lines, .title = BUF_INIT};
    struct error e;
    enum markup_end how = markup_read_html(source, &events, &p, &e);
    while (flow->rows > 0)
        flow_end_row(flow);
    flow_end(flow);
    if (title)
        *title = p.title;
    else
        buf_release(&p.title);
    if (how == MARKUP_BROKEN)
        flow->outcome = loading_fails(flow->l, "cannot be read: %s", e.text);
    return flow->outcome;
}

/* --- a file of its own ------------------------------------------------------------------------ */

struct in_memory {
    struct loading *l;
    size_t at;
    enum document_outcome outcome;
};

static ssize_t read_memory(void *context, char *bytes, size_t len)
{
    struct in_memory *m = context;
    size_t left = m->l->source.len - m->at, n = len < left ? len : left;
    m->outcome = loading_goes_on(m->l);
    if (m->outcome != DOCUMENT_LOADED)
        return -1;
    memcpy(bytes, m->l->source.data + m->at, n);
    m->at += n;
    return (ssize_t)n;
}

enum document_outcome load_html(struct loading *l)
{
    bool wide = l->source.len > 1 && (unsigned char)l->source.data[0] >= 0xFE; /* UTF-16's mark */
    if (!wide && memchr(l->source.data, '\0', l->source.len))
        return loading_skips(l, "a binary file");
    struct in_memory memory = {.l = l};
    struct flow flow = {.l = l};
    struct buf title = BUF_INIT;
    const struct markup_source source = {
        .read = read_memory, .context = &memory, .utf8 = utf8_valid(l->source.data, l->source.len)};
    enum document_outcome outcome = load_html_page(&flow, &source, true, &title);
    if (memory.outcome != DOCUMENT_LOADED)
        outcome = memory.outcome;
    loading_name(l, title.data, title.len);
    buf_release(&title);
    return outcome;
}
