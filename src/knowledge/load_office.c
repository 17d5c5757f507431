/* Documents of word processors: docx (ISO/IEC 29500) and odt (ISO/IEC 26300). Styles tell headings
 * and code, so they are read first. Names are compared without their prefixes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/document_loaders.h"
#include "knowledge/markup.h"
#include "knowledge/package.h"

enum {
    CODE = -1,
    LEVELS = 9,
    BASES_FOLLOWED = 16,
    TITLE_BYTES = 1000,
    STYLES_MOST = 10000,
    BLANKS_MOST = 200
};

struct style {
    char *id;
    char *base; /* NULL: none */
    int level;  /* of a heading; CODE; 0: its base's */
};

/* One document while it is read. */
struct office {
    struct package package;
    struct flow flow;
    const struct element *elements; /* of the format */
    VEC(struct style) styles;
    bool sorted;   /* those styles, by their ids */
    bool in_style; /* … within the definition of the last of them */
    size_t texts;  /* open elements that hold text */
    size_t unseen; /* … that are not shown */
    size_t notes;  /* … of notes, which stand in brackets within their sentence */
    bool note_begins;
    char *target; /* of the package's main part */
    struct buf title;
};

/* --- styles ----------------------------------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct style *)a)->id, ((const struct style *)b)->id);
}

static const struct style *find_style(struct office *o, const char *id)
{
    const struct style key = {.id = (char *)id};
    if (!o->sorted)
        vec_sort(&o->styles, by_id);
    o->sorted = true;
    return o->styles.len == 0
               ? NULL
               : bsearch(&key, o->styles.items, o->styles.len, sizeof *o->styles.items, by_id);
}

static int clamp_level(int level)
{
    return level < 1 ? 0 : level > LEVELS ? LEVELS : level;
}

/* "heading 2" in docx, whatever the language; the names for code are those of Word, LibreOffice and
 * pandoc. */
static int level_of_name(const char *name)
{
    static const char *const code[] = {"Source Code", "HTML Preformatted", "Preformatted_20_Text",
                                       "Preformatted Text", "Source_20_Code"};
    static const char heading[] = "heading ";
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (strcmp(name, code[i]) == 0)
            return CODE;
    return strncmp(name, heading, strlen(heading)) == 0 ? clamp_level(atoi(name + strlen(heading)))
                                                        : 0;
}

/* Takes both. False: it has no id, or there are too many. */
static bool add_style(struct office *o, char *id, char *base)
{
    if (!id || o->styles.len >= STYLES_MOST) {
        free(id);
        free(base);
        return false;
    }
    vec_push(&o->styles, (struct style){.id = id, .base = base, .level = level_of_name(id)});
    o->sorted = false;
    return true;
}

static int number_of(struct markup *m, const char *attribute)
{
    auto_free char *value = markup_attribute(m, attribute);
    return value ? (int)strtol(value, NULL, 10) : 0;
}

static bool begin_docx_style(void *context, struct markup *m, const char *name)
{
    struct office *o = context;
    if (strcmp(name, "style") == 0)
        o->in_style = add_style(o, markup_attribute(m, "styleId"), NULL);
    if (!o->in_style)
        return true;
    struct style *s = &vec_last(&o->styles);
    if (strcmp(name, "name") == 0 && s->level == 0) {
        auto_free char *its = markup_attribute(m, "val");
        s->level = its ? level_of_name(its) : 0;
    } else if (strcmp(name, "basedOn") == 0) {
        free(s->base);
        s->base = markup_attribute(m, "val");
    } else if (strcmp(name, "outlineLvl") == 0) {
        s->level = clamp_level(number_of(m, "val") + 1);
    }
    return true;
}

static bool end_style(void *context, const char *name)
{
    struct office *o = context;
    o->in_style = o->in_style && strcmp(name, "style") != 0;
    return true;
}

/* --- members ---------------------------------------------------------------------------------- */

/* `found` may be NULL. */
static bool read_member(struct office *o, const char *name, const struct markup_events *events,
                        bool *found)
{
    bool there;
    package_read_xml(&o->package, name, events, o, found ? found : &there);
    if (o->package.outcome == DOCUMENT_LOADED)
        o->package.outcome = o->flow.outcome;
    return o->package.outcome == DOCUMENT_LOADED;
}

static bool begin_title(void *context, struct markup *m, const char *name)
{
    struct office *o = context;
    (void)m;
    o->texts = strcmp(name, "title") == 0;
    return true;
}

static bool end_title(void *context, const char *name)
{
    (void)name;
    ((struct office *)context)->texts = 0;
    return true;
}

static bool title_text(void *context, const char *text, size_t len)
{
    struct office *o = context;
    if (o->texts > 0 && o->title.len + len <= TITLE_BYTES)
        buf_add(&o->title, text, len);
    return true;
}

static const struct markup_events title_events = {begin_title, end_title, title_text};

/* --- the text, of both ------------------------------------------------------------------------ */

enum effect {
    PARAGRAPH,
    HEADING,
    STYLE,
    OUTLINE,
    DEFINITION,
    TEXT,
    BLANKS,
    GAP,
    NEWLINE,
    ROW,
    CELL,
    NOTE,
    UNSEEN
};

struct element {
    const char *name;
    enum effect effect;
    bool has_text; /* the text in it is the document's */
};

/* Deleted text, instructions of fields and fallbacks for older readers are not shown. */
static const struct element docx_elements[] = {
    {"p", PARAGRAPH, false},     {"pStyle", STYLE, false},   {"outlineLvl", OUTLINE, false},
    {"t", TEXT, true},           {"tab", GAP, false},        {"br", NEWLINE, false},
    {"cr", NEWLINE, false},      {"tr", ROW, false},         {"tc", CELL, false},
    {"del", UNSEEN, false},      {"delText", UNSEEN, false}, {"instrText", UNSEEN, false},
    {"Fallback", UNSEEN, false}, {NULL, 0, false},
};

static const struct element odt_elements[] = {
    {"p", PARAGRAPH, true},
    {"h", HEADING, true},
    {"style", DEFINITION, false},
    {"s", BLANKS, false},
    {"tab", GAP, false},
    {"line-break", NEWLINE, false},
    {"table-row", ROW, false},
    {"table-cell", CELL, false},
    {"note-body", NOTE, false},
    {"note-citation", UNSEEN, false},
    {"annotation", UNSEEN, false},
    {"tracked-changes", UNSEEN, false},
    {NULL, 0, false},
};

static const struct element *element_of(const struct office *o, const char *name)
{
    for (const struct element *e = o->elements; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}

static void begin_paragraph(struct office *o, int level)
{
    enum document_part_kind kind = level == CODE ? DOCUMENT_CODE
                                   : level > 0   ? DOCUMENT_HEADING
                                                 : DOCUMENT_PROSE;
    flow_begin(&o->flow, kind, level > 0 ? level : 0, 0);
}

static int level_of_style(struct office *o, struct markup *m, const char *attribute)
{
    auto_free char *id = markup_attribute(m, attribute);
    const struct style *s = id ? find_style(o, id) : NULL;
    for (int i = 0; i < BASES_FOLLOWED && s && s->level == 0 && s->base; i++)
        s = find_style(o, s->base);
    return s ? s->level : 0;
}

static void apply(struct office *o, struct markup *m, enum effect effect)
{
    int level = 0;
    switch (effect) {
    case PARAGRAPH:
    case HEADING:
        if (o->notes > 0 && !o->note_begins)
            flow_gap(&o->flow);
        o->note_begins = false;
        if (o->notes > 0) /* a note stands within a sentence */
            break;
        if (effect == PARAGRAPH)
            begin_paragraph(o, level_of_style(o, m, "style-name") == CODE ? CODE : 0);
        else
            level = clamp_level(number_of(m, "outline-level"));
        level = effect == HEADING && level == 0 ? 1 : level;
        break;
    case STYLE:
        level = level_of_style(o, m, "val");
        break;
    case OUTLINE: /* 9: none */
        level = number_of(m, "val") < LEVELS ? clamp_level(number_of(m, "val") + 1) : 0;
        break;
    case DEFINITION: {
        char *id = markup_attribute(m, "name");
        add_style(o, id, markup_attribute(m, "parent-style-name"));
        break;
    }
    case BLANKS: {
        int count = number_of(m, "c");
        for (int i = 0; i == 0 || (i < count && i < BLANKS_MOST); i++)
            flow_text(&o->flow, " ", 1);
        break;
    }
    case GAP:
        flow_gap(&o->flow);
        break;
    case NEWLINE:
        flow_newline(&o->flow);
        break;
    case ROW:
        flow_begin_row(&o->flow, 0);
        break;
    case CELL:
        flow_cell(&o->flow);
        break;
    case NOTE:
        o->notes++;
        o->note_begins = true;
        flow_text(&o->flow, " (", 2);
        break;
    case TEXT:
    case UNSEEN:
        break;
    }
    if (level != 0)
        begin_paragraph(o, level);
}

static bool begin(void *context, struct markup *m, const char *name)
{
    struct office *o = context;
    const struct element *e = element_of(o, name);
    if (e && e->effect == UNSEEN)
        o->unseen++;
    if (!e || o->unseen > 0)
        return true;
    o->texts += e->has_text;
    apply(o, m, e->effect);
    return o->flow.outcome == DOCUMENT_LOADED;
}

static bool end(void *context, const char *name)
{
    struct office *o = context;
    const struct element *e = element_of(o, name);
    if (e && e->effect == UNSEEN)
        o->unseen -= o->unseen > 0;
    else if (e && o->unseen == 0) {
        o->texts -= e->has_text && o->texts > 0;
        if ((e->effect == PARAGRAPH || e->effect == HEADING) && o->notes == 0)
            flow_end(&o->flow);
        if (e->effect == ROW)
            flow_end_row(&o->flow);
        if (e->effect == NOTE && o->notes > 0 && o->notes--)
            flow_text(&o->flow, ")", 1);
    }
    return o->flow.outcome == DOCUMENT_LOADED;
}

static bool text(void *context, const char *bytes, size_t len)
{
    struct office *o = context;
    return o->texts == 0 || o->unseen > 0 || flow_text(&o->flow, bytes, len);
}

static const struct markup_events body = {begin, end, text};

/* --- docx and odt ----------------------------------------------------------------------------- */

/* Finds the package's main part. */
static bool begin_relation(void *context, struct markup *m, const char *name)
{
    static const char kind[] = "/officeDocument";
    struct office *o = context;
    auto_free char *type = strcmp(name, "Relationship") == 0 ? markup_attribute(m, "Type") : NULL;
    size_t len = type ? strlen(type) : 0;
    if (len >= strlen(kind) && strcmp(type + len - strlen(kind), kind) == 0 && !o->target)
        o->target = markup_attribute(m, "Target");
    return true;
}

/* Reads "word/styles.xml" beside "word/document.xml". */
static bool read_beside(struct office *o, const char *part, const char *name,
                        const struct markup_events *events)
{
    const char *slash = strrchr(part, '/');
    auto_free char *path = mem_printf("%.*s%s", slash ? (int)(slash - part) + 1 : 0, part, name);
    return read_member(o, path, events, NULL);
}

static bool read_docx(struct office *o)
{
    static const struct markup_events relations = {.begin = begin_relation};
    static const struct markup_events styles = {begin_docx_style, end_style, NULL};
    bool found;
    o->elements = docx_elements;
    if (!read_member(o, "_rels/.rels", &relations, NULL) ||
        !read_member(o, "docProps/core.xml", &title_events, NULL))
        return false;
    const char *part = o->target ? o->target + (*o->target == '/') : "word/document.xml";
    if (!read_beside(o, part, "styles.xml", &styles) || !read_member(o, part, &body, &found))
        return false;
    if (!found) {
        o->package.outcome = loading_fails(o->flow.l, "is no docx: it has no document in it");
        return false;
    }
    return read_beside(o, part, "footnotes.xml", &body) &&
           read_beside(o, part, "endnotes.xml", &body);
}

/* Styles stand above the text in its member. The common ones are known by their names alone. */
static bool read_odt(struct office *o)
{
    bool found;
    o->elements = odt_elements;
    add_style(o, mem_strdup("Preformatted_20_Text"), NULL);
    if (!read_member(o, "meta.xml", &title_events, NULL) ||
        !read_member(o, "content.xml", &body, &found))
        return false;
    if (!found)
        o->package.outcome = loading_fails(o->flow.l, "is no odt: it has no content.xml in it");
    return found;
}

static enum document_outcome load_office(struct loading *l, bool (*read)(struct office *o))
{
    struct office o = {.package = {.l = l}, .flow = {.l = l}, .title = BUF_INIT};
    bool ok = read(&o);
    while (o.flow.rows > 0)
        flow_end_row(&o.flow);
    flow_end(&o.flow);
    package_close(&o.package);
    loading_name(l, o.title.data, o.title.len);
    for (size_t i = 0; i < o.styles.len; i++) {
        free(o.styles.items[i].id);
        free(o.styles.items[i].base);
    }
    vec_release(&o.styles);
    buf_release(&o.title);
    free(o.target);
    return ok ? DOCUMENT_LOADED : o.package.outcome;
}

enum document_outcome load_docx(struct loading *l)
{
    return load_office(l, read_docx);
}

enum document_outcome load_odt(struct loading *l)
{
    return load_office(l, read_odt);
}
