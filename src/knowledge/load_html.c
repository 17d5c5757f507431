/* Flow, HTML, and books: epub (W3C EPUB 3), whose chapters are pages of HTML. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/document_loaders.h"
#include "knowledge/markup.h"
#include "knowledge/package.h"

enum { TITLE_BYTES = 1000, ITEMS_MOST = 100000, LINKS_BYTES = 32 * 1024 };

/* --- flow ------------------------------------------------------------------------------------- */

static const char white[] = " \t\n\r\f\v";

static bool add(struct flow *f, const char *text, size_t len)
{
    struct buf *out = &f->l->out->text;
    int64_t most = f->l->options->limits.text;
    if (f->outcome == DOCUMENT_LOADED && (int64_t)(out->len + len) > most)
        f->outcome = loading_fails(f->l, "has more than %lld MiB of text", (long long)(most >> 20));
    if (f->outcome != DOCUMENT_LOADED)
        return false;
    buf_add(out, text, len);
    return true;
}

static bool is_empty(const struct flow *f)
{
    return f->l->out->text.len == f->from;
}

static void open_block(struct flow *f, struct document_part block)
{
    struct buf *text = &f->l->out->text;
    buf_trim_end(text, white);
    if (text->len > f->from)
        loading_add_part(f->l, f->block, f->from, text->len);
    f->from = text->len;
    f->gap = false;
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
    else if (!is_empty(f) && add(f, "\t", 1))
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
    f->gap = !is_empty(f);
}

bool flow_newline(struct flow *f)
{
    f->gap = false;
    return is_empty(f) || add(f, f->block.kind == DOCUMENT_ROW ? " " : "\n", 1);
}

/* Parts the first text of a block from the block above: rows, and code of which each line is a
 * block, are lines; else there is a blank line between. */
static void begin_text(struct flow *f)
{
    const struct loaded_document *d = f->l->out;
    enum document_part_kind next = f->block.kind;
    if (!is_empty(f))
        return;
    if (d->parts.len > 0) {
        bool joined =
            vec_last(&d->parts).kind == next && (next == DOCUMENT_ROW || next == DOCUMENT_CODE);
        add(f, "\n\n", joined ? 1 : 2);
    }
    f->from = d->text.len;
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
    const struct buf *out = &f->l->out->text;
    if (f->block.kind == DOCUMENT_CODE && len > 0) {
        begin_text(f);
        return add(f, text, len);
    }
    while (len > 0) {
        size_t blanks = span(text, len, true), word = span(text + blanks, len - blanks, false);
        if (blanks > 0)
            flow_gap(f);
        text += blanks;
        if (word > 0) {
            begin_text(f);
            bool blank = f->gap && !is_empty(f) && !strchr(white, out->data[out->len - 1]);
            f->gap = false;
            if ((blank && !add(f, " ", 1)) || !add(f, text, word))
                return false;
        }
        text += word;
        len -= blanks + word;
    }
    return f->outcome == DOCUMENT_LOADED;
}

/* --- HTML ------------------------------------------------------------------------------------- */

enum effect { BLOCK, PARAGRAPH, HEADING, PREFORMATTED, ROW, CELL, NEWLINE, GAP, TITLE, UNSEEN };

/* In the order of their names. Others stand in the line. */
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
    size_t unseen; /* open elements that are not shown */
    size_t within; /* … of preformatted text */
    bool in_title;
    struct buf title;
    char *href; /* of the link that is open; NULL: none to be shown */
    size_t link_bytes;
};

/* The text of the link is over. */
static void end_link(struct page *p)
{
    const char *href = p->href ? p->href : "#";
    size_t scheme = strcspn(href, ":/?#");
    bool web = href[scheme] != ':' || strncasecmp(href, "http", 4) == 0;
    auto_free char *shown = mem_printf("(%s)", href);
    if (*href && *href != '#' && web && p->unseen == 0 && p->within == 0 && !p->in_title &&
        p->link_bytes + strlen(shown) <= LINKS_BYTES) {
        p->link_bytes += strlen(shown);
        flow_gap(p->flow);
        flow_text(p->flow, shown, strlen(shown));
    }
    mem_replace(&p->href, NULL);
}

static bool begin_element(void *context, struct markup *m, const char *name)
{
    struct page *p = context;
    const struct element *element = element_of(name);
    int64_t line = p->has_lines ? markup_line(m) : 0;
    if (p->flow->l->options->links && strcmp(name, "a") == 0)
        mem_replace(&p->href, markup_attribute(m, "href"));
    if (!element)
        return true;
    if (p->unseen > 0 || element->effect == UNSEEN) {
        p->unseen += element->effect == UNSEEN;
        return true;
    }
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

static bool end_element(void *context, const char *name)
{
    struct page *p = context;
    const struct element *element = element_of(name);
    if (p->href && strcmp(name, "a") == 0)
        end_link(p);
    if (!element)
        return p->flow->outcome == DOCUMENT_LOADED;
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
    size_t room = TITLE_BYTES - p->title.len;
    if (p->in_title)
        buf_add(&p->title, bytes, len < room ? len : room);
    return p->in_title || p->unseen > 0 || flow_text(p->flow, bytes, len);
}

/* Adds the page's text. `title` (may be NULL) gets its title; the caller releases it. The caller
 * looks whether the source's read() refused. */
static enum document_outcome load_page(struct flow *flow, const struct markup_source *source,
                                       bool has_lines, struct buf *title)
{
    static const struct markup_events events = {begin_element, end_element, page_text};
    struct page p = {.flow = flow, .has_lines = has_lines, .title = BUF_INIT};
    struct error e;
    enum markup_end how = markup_read_html(source, &events, &p, &e);
    while (flow->rows > 0)
        flow_end_row(flow);
    flow_end(flow);
    free(p.href);
    if (title)
        *title = p.title;
    else
        buf_release(&p.title);
    if (how == MARKUP_BROKEN)
        flow->outcome = loading_fails(flow->l, "cannot be read: %s", e.text);
    return flow->outcome;
}

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
    AUTO(buf_release) struct buf title = BUF_INIT;
    const struct markup_source source = {
        .read = read_memory, .context = &memory, .utf8 = utf8_valid(l->source.data, l->source.len)};
    enum document_outcome outcome = load_page(&flow, &source, true, &title);
    loading_name(l, title.data, title.len);
    return memory.outcome == DOCUMENT_LOADED ? outcome : memory.outcome;
}

/* --- books ------------------------------------------------------------------------------------ */

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

/* Items without an id or a path cannot be named. */
static bool begin_contents(void *context, struct markup *m, const char *name)
{
    struct book *b = context;
    b->in_title = strcmp(name, "title") == 0 && b->title.len == 0;
    if (strcmp(name, "item") == 0 && b->manifest.len < ITEMS_MOST) {
        struct item item = {.id = markup_attribute(m, "id")};
        item.href = item.id ? markup_attribute(m, "href") : NULL;
        if (item.href)
            vec_push(&b->manifest, item);
        else
            free(item.id);
    } else if (strcmp(name, "itemref") == 0 && b->spine.len < ITEMS_MOST) {
        char *id = markup_attribute(m, "idref");
        if (id)
            vec_push(&b->spine, id);
    }
    return true;
}

static bool end_contents(void *context, const char *name)
{
    (void)name;
    ((struct book *)context)->in_title = false;
    return true;
}

static bool contents_text(void *context, const char *bytes, size_t len)
{
    struct book *b = context;
    if (b->in_title && b->title.len + len <= TITLE_BYTES)
        buf_add(&b->title, bytes, len);
    return true;
}

/* Reads a member that must be there. */
static bool read_list(struct book *b, const char *name, const struct markup_events *events)
{
    bool found;
    if (package_read_xml(&b->package, name, events, b, &found) == DOCUMENT_LOADED && !found)
        b->package.outcome = loading_fails(b->flow.l, "is no epub: it lacks %s", name);
    return b->package.outcome == DOCUMENT_LOADED;
}

/* 16: no digit. */
static unsigned hex(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (unsigned)(at - digits) : 16;
}

/* The member for a path beside the contents, up to its fragment, with %XX decoded. "a/b/../c" and
 * "a/./c" are "a/c"; a path that leads out of the package is the name of no member. */
static char *member_of(const struct book *b, const char *href)
{
    const char *slash = strrchr(b->contents, '/');
    AUTO(buf_release) struct buf path = BUF_INIT;
    struct buf out = BUF_INIT;
    if (slash)
        buf_add(&path, b->contents, (size_t)(slash - b->contents) + 1);
    for (; *href && *href != '#'; href++) {
        unsigned high = *href == '%' ? hex(href[1]) : 16, low = high < 16 ? hex(href[2]) : 16;
        unsigned char byte = (unsigned char)(high << 4 | low);
        buf_addch(&path, low < 16 ? (char)byte : *href);
        href += low < 16 ? 2 : 0;
    }
    const char *at = path.data;
    for (size_t len; *at; at += len + (at[len] == '/')) {
        len = strcspn(at, "/");
        if (len == 0 || (len == 1 && at[0] == '.'))
            continue;
        if (len == 2 && memcmp(at, "..", 2) == 0) {
            const char *last = strrchr(out.data, '/');
            buf_truncate(&out, last ? (size_t)(last - out.data) : 0);
            continue;
        }
        if (out.len > 0)
            buf_addch(&out, '/');
        buf_add(&out, at, len);
    }
    return buf_take(&out);
}

static int item_by_id(const void *a, const void *b)
{
    return strcmp(((const struct item *)a)->id, ((const struct item *)b)->id);
}

/* A chapter is read once, however often the spine names it: its path is taken out of the list. */
static bool add_chapter(struct book *b, char *id)
{
    const struct markup_source source = {
        .read = package_read, .context = &b->package, .utf8 = true};
    const struct item key = {.id = id};
    struct item *item = b->manifest.len == 0 ? NULL
                                             : bsearch(&key, b->manifest.items, b->manifest.len,
                                                       sizeof *b->manifest.items, item_by_id);
    bool found;
    if (!item || !item->href)
        return true;
    auto_free char *name = member_of(b, item->href);
    free(item->href);
    item->href = NULL;
    if (package_find(&b->package, name, &found) == DOCUMENT_LOADED && found) {
        enum document_outcome outcome = load_page(&b->flow, &source, false, NULL);
        if (b->package.outcome == DOCUMENT_LOADED)
            b->package.outcome = outcome;
    }
    return b->package.outcome == DOCUMENT_LOADED;
}

static bool read_book(struct book *b)
{
    static const struct markup_events container = {.begin = begin_container};
    static const struct markup_events contents = {begin_contents, end_contents, contents_text};
    if (!read_list(b, "META-INF/container.xml", &container))
        return false;
    if (!b->contents) {
        b->package.outcome =
            loading_fails(b->flow.l, "is no epub: its container names no contents");
        return false;
    }
    if (!read_list(b, b->contents, &contents))
        return false;
    vec_sort(&b->manifest, item_by_id);
    bool ok = true;
    for (size_t i = 0; ok && i < b->spine.len; i++)
        ok = add_chapter(b, b->spine.items[i]);
    return ok;
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
