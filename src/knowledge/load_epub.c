/* Books: epub (W3C EPUB 3), its chapters in the order of the spine. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "knowledge/load_html.h"
#include "knowledge/package.h"

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

static bool text(void *context, const char *bytes, size_t len)
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
    static const struct markup_events container = {begin_container, end_element, text};
    static const struct markup_events contents = {begin_contents, end_element, text};
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
