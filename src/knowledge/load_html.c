#include "knowledge/document_loaders.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/markup.h"
#include "knowledge/package.h"

static const char white[] = " \t\n\r\f\v";

static struct buf *text_of(const struct flow *f)
{
    return &f->l->out->text;
}

static bool flow_add(struct flow *f, const char *text, size_t len)
{
    int64_t most = f->l->options->limits.text;
    if (f->outcome == DOCUMENT_LOADED && (int64_t)(text_of(f)->len + len) > most)
        f->outcome = loading_fails(f->l, "has more than %lld MiB of text", (long long)(most >> 20));
    if (f->outcome != DOCUMENT_LOADED)
        return false;
    buf_add(text_of(f), text, len);
    return true;
}

/* Rows, and lines of code that are a block each, are lines; else there is a blank line between. */
static void part_from_above(struct flow *f, enum document_part_kind next)
{
    const struct loaded_document *d = f->l->out;
    if (d->parts.len == 0)
        return;
    enum document_part_kind above = vec_last(&d->parts).kind;
    bool joined = above == next && (next == DOCUMENT_ROW || next == DOCUMENT_CODE);
    flow_add(f, "\n\n", joined ? 1 : 2);
}

static void close_block(struct flow *f)
{
    struct buf *text = text_of(f);
    buf_trim_end(text, white);
    if (text->len > f->from)
        loading_add_part(f->l, f->block, f->from, text->len);
    f->from = text->len;
    f->gap = false;
}

static void open_block(struct flow *f, struct document_part block)
{
    close_block(f);
    f->block = block;
}

void flow_begin(struct flow *f, enum document_part_kind kind, int level, int64_t line)
{
    if (f->rows > 0 && !f->loose) {
        if (kind == DOCUMENT_PROSE) {
            flow_gap(f);
            return;
        }
        f->loose = true;
    }
    open_block(f, (struct document_part){.kind = kind, .level = level, .line = line});
}

void flow_end(struct flow *f)
{
    if (f->rows > 0 && !f->loose)
        flow_gap(f);
    else
        open_block(f, (struct document_part){.kind = DOCUMENT_PROSE, .line = f->block.line});
}

void flow_begin_row(struct flow *f, int64_t line)
{
    f->loose = f->rows++ > 0;
    open_block(
        f, (struct document_part){.kind = f->loose ? DOCUMENT_PROSE : DOCUMENT_ROW, .line = line});
}

void flow_cell(struct flow *f)
{
    if (f->rows > 0 && f->loose)
        flow_end(f);
    else if (text_of(f)->len > f->from && flow_add(f, "\t", 1))
        f->gap = false;
}

void flow_end_row(struct flow *f)
{
    f->rows -= f->rows > 0;
    f->loose = f->rows > 0;
    open_block(f, (struct document_part){.kind = DOCUMENT_PROSE, .line = f->block.line});
}

void flow_gap(struct flow *f)
{
    f->gap = text_of(f)->len > f->from;
}

bool flow_newline(struct flow *f)
{
    f->gap = false;
    return text_of(f)->len == f->from || flow_add(f, f->block.kind == DOCUMENT_ROW ? " " : "\n", 1);
}

/* What is about to be the first of its block. */
static void begin_text(struct flow *f)
{
    if (text_of(f)->len > f->from)
        return;
    part_from_above(f, f->block.kind);
    f->from = text_of(f)->len;
}

static bool add_word(struct flow *f, const char *text, size_t len)
{
    const struct buf *out = text_of(f);
    begin_text(f);
    bool blank = f->gap && out->len > f->from && !strchr(white, out->data[out->len - 1]);
    f->gap = false;
    return (!blank || flow_add(f, " ", 1)) && flow_add(f, text, len);
}

static size_t span(const char *text, size_t len, bool of_white)
{
    size_t n = 0;
    while (n < len && (strchr(white, text[n]) != NULL) == of_white)
        n++;
    return n;
}

bool flow_text(struct flow *f, const char *text, size_t len)
{
    if (f->block.kind == DOCUMENT_CODE && len > 0) {
        begin_text(f);
        return flow_add(f, text, len);
    }
    while (len > 0) {
        size_t blanks = span(text, len, true);
        if (blanks > 0)
            flow_gap(f);
        text += blanks;
        len -= blanks;
        size_t word = span(text, len, false);
        if (word > 0 && !add_word(f, text, word))
            return false;
        text += word;
        len -= word;
    }
    return f->outcome == DOCUMENT_LOADED;
}

/* HTML: its blocks by their elements. */

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

static int element_by_name(const void *name, const void *element)
{
    return strcmp(name, ((const struct element *)element)->name);
}

static const struct element *element_of(const char *name)
{
    return bsearch(name, elements, sizeof elements / sizeof *elements, sizeof *elements,
                   element_by_name);
}

/* One page while it is read. */
struct page {
    struct flow *flow;
    bool has_lines;
    size_t unseen; /* elements that are not shown, in one another */
    size_t within; /* … that preformatted page_text is in */
    bool in_title;
    struct buf title;
};

static bool begin_element(void *context, struct markup *m, const char *name)
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

static bool end_page_element(void *context, const char *name)
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

static bool page_text(void *context, const char *bytes, size_t len)
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
    static const struct markup_events events = {begin_element, end_page_element, page_text};
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

/* Books: epub (W3C EPUB 3), its chapters in the order of the spine. */

enum { TITLE_BYTES = 1000, ITEMS_MOST = 100000 };

struct item {
    char *id, *href;
};

/* One book while it is read. */
struct book {
    struct package package;
    struct flow flow;
    char *contents; /* path of the file that lists the rest */
    VEC(struct item) manifest;
    VEC(char *) spine; /* ids */
    bool in_title;
    struct buf title;
};

static bool begin_container(void *context, struct markup *m, const char *name)
{
    struct book *b = context;
    if (strcmp(name, "rootfile") == 0 && !b->contents)
        b->contents = markup_attribute(m, "full-path");
    return true;
}

static bool begin_contents(void *context, struct markup *m, const char *name)
{
    struct book *b = context;
    b->in_title = strcmp(name, "title") == 0 && b->title.len == 0;
    if (strcmp(name, "item") == 0 && b->manifest.len < ITEMS_MOST) {
        struct item item = {.id = markup_attribute(m, "id")};
        item.href = markup_attribute(m, "href");
        vec_push(&b->manifest, item);
    } else if (strcmp(name, "itemref") == 0 && b->spine.len < ITEMS_MOST) {
        char *id = markup_attribute(m, "idref");
        if (id)
            vec_push(&b->spine, id);
    }
    return true;
}

static bool end_element(void *context, const char *name)
{
    (void)name;
    ((struct book *)context)->in_title = false;
    return true;
}

static bool package_text(void *context, const char *bytes, size_t len)
{
    struct book *b = context;
    if (b->in_title && b->title.len + len <= TITLE_BYTES)
        buf_add(&b->title, bytes, len);
    return true;
}

/* False where it is not there, or broken. */
static bool read_list(struct book *b, const char *name, const struct markup_events *events)
{
    bool found;
    if (package_read_xml(&b->package, name, events, b, &found) == DOCUMENT_LOADED && !found)
        b->package.outcome = loading_fails(b->flow.l, "is no epub: it lacks %s", name);
    return b->package.outcome == DOCUMENT_LOADED;
}

/* --- chapters --------------------------------------------------------------------------------- */

/* 16: no digit. */
static unsigned hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (unsigned)(at - digits) : 16;
}

/* Up to the fragment, with what %XX stands for. */
static void add_decoded(struct buf *out, const char *href)
{
    for (; *href && *href != '#'; href++) {
        unsigned high = *href == '%' ? hex(href[1]) : 16, low = high < 16 ? hex(href[2]) : 16;
        unsigned char byte = (unsigned char)(high << 4 | low);
        buf_addch(out, low < 16 ? (char)byte : *href);
        href += low < 16 ? 2 : 0;
    }
}

/* "a/b/../c" and "a/./c" are "a/c". What leads out of the package is the name of no member. */
static char *without_dots(const char *path)
{
    struct buf out = BUF_INIT;
    for (size_t len; *path; path += len + (path[len] == '/')) {
        len = strcspn(path, "/");
        if (len == 0 || (len == 1 && path[0] == '.'))
            continue;
        if (len == 2 && memcmp(path, "..", 2) == 0) {
            const char *slash = strrchr(out.data, '/');
            buf_truncate(&out, slash ? (size_t)(slash - out.data) : 0);
            continue;
        }
        if (out.len > 0)
            buf_addch(&out, '/');
        buf_add(&out, path, len);
    }
    return buf_take(&out);
}

static char *member_of(const struct book *b, const char *href)
{
    const char *slash = strrchr(b->contents, '/');
    struct buf path = BUF_INIT;
    if (slash)
        buf_add(&path, b->contents, (size_t)(slash - b->contents) + 1);
    add_decoded(&path, href);
    char *member = without_dots(path.data);
    buf_release(&path);
    return member;
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->id, ((const struct item *)b)->id);
}

/* Once for each id: a chapter is read once, however often the spine names it. NULL: the list has
 * none of that id, or no more. The caller frees. */
static char *take_href(const struct book *b, char *id)
{
    const struct item key = {.id = id};
    struct item *found = b->manifest.len == 0 ? NULL
                                              : bsearch(&key, b->manifest.items, b->manifest.len,
                                                        sizeof *b->manifest.items, by_id);
    char *href = found ? found->href : NULL;
    if (found)
        found->href = NULL;
    return href;
}

static bool add_chapter(struct book *b, const char *href)
{
    const struct markup_source source = {
        .read = package_read, .context = &b->package, .utf8 = true};
    char *name = member_of(b, href);
    bool found;
    if (package_find(&b->package, name, &found) == DOCUMENT_LOADED && found) {
        enum document_outcome outcome = load_html_page(&b->flow, &source, false, NULL);
        if (b->package.outcome == DOCUMENT_LOADED)
            b->package.outcome = outcome;
    }
    free(name);
    return b->package.outcome == DOCUMENT_LOADED;
}

static void drop_unnamed(struct book *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->manifest.len; i++) {
        struct item item = b->manifest.items[i];
        if (item.id && item.href) {
            b->manifest.items[kept++] = item;
            continue;
        }
        free(item.id);
        free(item.href);
    }
    b->manifest.len = kept;
}

static bool read_book(struct book *b)
{
    static const struct markup_events container = {begin_container, end_element, package_text};
    static const struct markup_events contents = {begin_contents, end_element, package_text};
    if (!read_list(b, "META-INF/container.xml", &container))
        return false;
    if (!b->contents) {
        b->package.outcome =
            loading_fails(b->flow.l, "is no epub: its container names no contents");
        return false;
    }
    if (!read_list(b, b->contents, &contents))
        return false;
    drop_unnamed(b);
    vec_sort(&b->manifest, by_id);
    for (size_t i = 0; i < b->spine.len; i++) {
        char *href = take_href(b, b->spine.items[i]);
        bool ok = !href || add_chapter(b, href);
        free(href);
        if (!ok)
            return false;
    }
    return true;
}

enum document_outcome load_epub(struct loading *l)
{
    struct book b = {.package = {.l = l}, .flow = {.l = l}, .title = BUF_INIT};
    bool ok = read_book(&b);
    flow_end(&b.flow);
    package_close(&b.package);
    loading_name(l, b.title.data, b.title.len);
    for (size_t i = 0; i < b.manifest.len; i++) {
        free(b.manifest.items[i].id);
        free(b.manifest.items[i].href);
    }
    vec_release(&b.manifest);
    vec_free_each(&b.spine);
    buf_release(&b.title);
    free(b.contents);
    return ok ? DOCUMENT_LOADED : b.package.outcome;
}
