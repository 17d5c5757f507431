#include "knowledge/markup.h"

#ifdef HAVE_LIBXML2

#include <libxml/HTMLparser.h>
#include <libxml/xmlreader.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "base/utf8.h"

/* --- the library ------------------------------------------------------------------------------ */

#define LIBXML2_FUNCTIONS(X)                                                                       \
    X(htmlCreatePushParserCtxt)                                                                    \
    X(htmlCtxtUseOptions)                                                                          \
    X(htmlFreeParserCtxt)                                                                          \
    X(htmlParseChunk)                                                                              \
    X(xmlFreeTextReader)                                                                           \
    X(xmlInitParser)                                                                               \
    X(xmlReaderForIO)                                                                              \
    X(xmlSAX2GetLineNumber)                                                                        \
    X(xmlSetExternalEntityLoader)                                                                  \
    X(xmlSetGenericErrorFunc)                                                                      \
    X(xmlSetStructuredErrorFunc)                                                                   \
    X(xmlStopParser)                                                                               \
    X(xmlTextReaderConstLocalName)                                                                 \
    X(xmlTextReaderConstValue)                                                                     \
    X(xmlTextReaderGetParserLineNumber)                                                            \
    X(xmlTextReaderIsEmptyElement)                                                                 \
    X(xmlTextReaderMoveToElement)                                                                  \
    X(xmlTextReaderMoveToNextAttribute)                                                            \
    X(xmlTextReaderNodeType)                                                                       \
    X(xmlTextReaderRead)                                                                           \
    X(xmlTextReaderSetStructuredErrorHandler)

struct libxml2 {
#define X(name) __typeof__(name) *name;
    LIBXML2_FUNCTIONS(X)
#undef X
};

#ifdef LIBXML2_FILE
static bool load(struct libxml2 *library, struct error *e)
{
    static const struct late_function functions[] = {
#define X(name) {#name, offsetof(struct libxml2, name)},
        LIBXML2_FUNCTIONS(X)
#undef X
    };
    return late_library_load(library, "libxml2", LIBXML2_FILE, functions,
                             sizeof functions / sizeof *functions, e);
}
#else
static bool load(struct libxml2 *library, struct error *e)
{
    (void)e;
#define X(name) library->name = name;
    LIBXML2_FUNCTIONS(X)
#undef X
    return true;
}
#endif

/* Whatever the options are, nothing outside of the text is opened. */
static xmlParserInputPtr load_nothing(const char *url, const char *id, xmlParserCtxtPtr context)
{
    (void)url, (void)id, (void)context;
    return NULL;
}

/* Faults that belong to no parser, as one of an encoding, would be printed. */
static void drop_fault(void *context, xmlErrorPtr fault)
{
    (void)context, (void)fault;
}

static void drop_text(void *context, const char *format, ...)
{
    (void)context, (void)format;
}

static const struct libxml2 *libxml2(struct error *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct libxml2 library;
    static bool loaded;
    pthread_mutex_lock(&lock);
    if (!loaded && load(&library, e)) {
        library.xmlInitParser();
        library.xmlSetExternalEntityLoader(load_nothing);
        loaded = true;
    }
    bool usable = loaded;
    pthread_mutex_unlock(&lock);
    if (usable) { /* of this thread */
        library.xmlSetStructuredErrorFunc(NULL, drop_fault);
        library.xmlSetGenericErrorFunc(NULL, drop_text);
    }
    return usable ? &library : NULL;
}

/* --- HTML and XML ----------------------------------------------------------------------------- */

enum {
    PIECE = 4096,      /* bytes between two looks at the time */
    DEPTH_MOST = 5000, /* of HTML: the end of an element is searched among all that are open */
    /* libxml2 before 2.12 compares each attribute with all before it, and cannot be stopped
     * meanwhile. */
    ATTRIBUTES_MOST = 10000,
    PROLOG_MOST = 64 * 1024 /* bytes before the first element: a DTD gives attributes to all */
};

struct markup {
    const struct libxml2 *xml;
    const struct markup_source *source;
    const struct markup_events *events;
    void *context;
    xmlTextReaderPtr reader; /* of XML */
    htmlParserCtxtPtr html;
    size_t depth;
    size_t looked_at; /* HTML: bytes of an unfinished tag when its words were counted last */
    size_t equals;    /* XML: equals signs since the last node */
    size_t fed;       /* XML: bytes */
    const xmlChar **attributes; /* HTML: of the element that begins: names and values; NULL: none */
    bool has_element;
    bool stopped;
    struct error *e;
    bool broken; /* `e` has the reason */
};

int64_t markup_line(const struct markup *m)
{
    return m->html ? m->xml->xmlSAX2GetLineNumber(m->html)
                   : m->xml->xmlTextReaderGetParserLineNumber(m->reader);
}

static bool send_end(struct markup *m, const char *name)
{
    return !m->events->end || m->events->end(m->context, name);
}

static bool send_text(struct markup *m, const char *text, size_t len)
{
    return !m->events->text || m->events->text(m->context, text, len);
}

static const char *local_name(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

/* --- HTML ------------------------------------------------------------------------------------- */

static void stop_html(struct markup *m)
{
    m->stopped = true;
    m->xml->xmlStopParser(m->html);
}

static void break_off(struct markup *m, const char *why, int most)
{
    m->broken = m->stopped = true;
    err_set(m->e, ERR_FILE_ERROR, "line %lld: %s %d", (long long)markup_line(m), why, most);
}

static void begin_html(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct markup *m = context;
    m->attributes = attributes;
    if (m->stopped)
        return;
    if (++m->depth > DEPTH_MOST) {
        m->broken = true;
        err_set(m->e, ERR_FILE_ERROR, "line %lld: more than %d elements in one another",
                (long long)markup_line(m), DEPTH_MOST);
        stop_html(m);
    } else if (!m->events->begin(m->context, m, local_name((const char *)name))) {
        stop_html(m);
    }
}

static void end_html(void *context, const xmlChar *name)
{
    struct markup *m = context;
    m->depth -= m->depth > 0;
    if (!m->stopped && !send_end(m, local_name((const char *)name)))
        stop_html(m);
}

static void text_html(void *context, const xmlChar *text, int len)
{
    struct markup *m = context;
    if (!m->stopped && !send_text(m, (const char *)text, (size_t)len))
        stop_html(m);
}

static void feed_html(struct markup *m)
{
    char piece[PIECE];
    while (!m->stopped) {
        ssize_t n = m->source->read(m->source->context, piece, sizeof piece);
        m->stopped = m->stopped || n < 0;
        if (n <= 0)
            break;
        m->xml->htmlParseChunk(m->html, piece, (int)n, 0);
        if (m->stopped)
            break;
        /* The parser keeps a tag until it is complete, so its words are counted before. */
        const char *at = (const char *)m->html->input->cur;
        const char *end = (const char *)m->html->input->end;
        size_t words = 0, pending = (size_t)(end - at);
        if (pending < PIECE || *at != '<') {
            m->looked_at = PIECE;
        } else if (pending >= 2 * m->looked_at) {
            m->looked_at = pending;
            for (; at < end; at++)
                words += strchr(" \t\r\n\f/\"'", *at) != NULL;
        }
        if (words > ATTRIBUTES_MOST)
            break_off(m, "an element has more attributes than", ATTRIBUTES_MOST);
    }
    if (!m->stopped)
        m->xml->htmlParseChunk(m->html, NULL, 0, 1);
}

static enum markup_end end_of(const struct markup *m)
{
    return m->broken ? MARKUP_BROKEN : m->stopped ? MARKUP_STOPPED : MARKUP_WHOLE;
}

enum markup_end markup_read_html(const struct markup_source *source,
                                 const struct markup_events *events, void *context, struct error *e)
{
    struct markup m = {
        .xml = libxml2(e), .source = source, .events = events, .context = context, .e = e};
    xmlSAXHandler sax = {.startElement = begin_html,
                         .endElement = end_html,
                         .characters = text_html,
                         .ignorableWhitespace = text_html,
                         .cdataBlock = text_html,
                         .initialized = 1};
    if (!m.xml)
        return MARKUP_BROKEN;
    m.html = m.xml->htmlCreatePushParserCtxt(
        &sax, &m, NULL, 0, NULL, source->utf8 ? XML_CHAR_ENCODING_UTF8 : XML_CHAR_ENCODING_NONE);
    if (!m.html) {
        err_set(e, ERR_FILE_ERROR, "libxml2 makes no parser");
        return MARKUP_BROKEN;
    }
    m.xml->htmlCtxtUseOptions(m.html, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                          HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    feed_html(&m);
    m.xml->htmlFreeParserCtxt(m.html);
    return end_of(&m);
}

/* --- XML -------------------------------------------------------------------------------------- */

static int read_xml(void *context, char *bytes, int len)
{
    struct markup *m = context;
    ssize_t n = m->stopped ? -1 : m->source->read(m->source->context, bytes, (size_t)len);
    m->stopped = m->stopped || n < 0;
    m->fed += n > 0 ? (size_t)n : 0;
    for (ssize_t i = 0; i < n; i++)
        m->equals += bytes[i] == '=';
    if (!m->stopped && m->equals > ATTRIBUTES_MOST)
        break_off(m, "an element has more attributes than", ATTRIBUTES_MOST);
    if (!m->stopped && !m->has_element && m->fed > PROLOG_MOST)
        break_off(m, "the first element is behind byte", PROLOG_MOST);
    return m->stopped ? -1 : (int)n;
}

/* The first fault counts. An undeclared prefix is no fault. */
static void take_fault(void *context, xmlErrorPtr fault)
{
    struct markup *m = context;
    if (m->broken || m->stopped || fault->level < XML_ERR_ERROR ||
        fault->domain == XML_FROM_NAMESPACE)
        return;
    struct buf text = BUF_INIT;
    const char *said = fault->message ? fault->message : "damaged";
    utf8_clean(&text, said, strcspn(said, "\n"), UTF8_ONE_LINE);
    m->broken = true;
    err_set(m->e, ERR_FILE_ERROR, "its XML, line %d: %s", fault->line, text.data);
    buf_release(&text);
}

char *markup_attribute(struct markup *m, const char *name)
{
    char *value = NULL;
    const xmlChar **html = m->html ? m->attributes : NULL;
    for (; html && html[0]; html += 2)
        if (strcmp((const char *)html[0], name) == 0)
            return mem_strdup((const char *)html[1]);
    while (m->reader && !value && m->xml->xmlTextReaderMoveToNextAttribute(m->reader) == 1)
        if (strcmp((const char *)m->xml->xmlTextReaderConstLocalName(m->reader), name) == 0)
            value = mem_strdup((const char *)m->xml->xmlTextReaderConstValue(m->reader));
    if (m->reader)
        m->xml->xmlTextReaderMoveToElement(m->reader);
    return value;
}

static bool send_node(struct markup *m)
{
    const char *name = (const char *)m->xml->xmlTextReaderConstLocalName(m->reader);
    switch (m->xml->xmlTextReaderNodeType(m->reader)) {
    case XML_READER_TYPE_ELEMENT: {
        m->has_element = true;
        bool empty = m->xml->xmlTextReaderIsEmptyElement(m->reader);
        return m->events->begin(m->context, m, name) && (!empty || send_end(m, name));
    }
    case XML_READER_TYPE_END_ELEMENT:
        return send_end(m, name);
    case XML_READER_TYPE_TEXT:
    case XML_READER_TYPE_CDATA:
    case XML_READER_TYPE_WHITESPACE:
    case XML_READER_TYPE_SIGNIFICANT_WHITESPACE: {
        const char *text = (const char *)m->xml->xmlTextReaderConstValue(m->reader);
        return !text || send_text(m, text, strlen(text));
    }
    default:
        return true;
    }
}

enum markup_end markup_read_xml(const struct markup_source *source,
                                const struct markup_events *events, void *context, struct error *e)
{
    struct markup m = {
        .xml = libxml2(e), .source = source, .events = events, .context = context, .e = e};
    if (!m.xml)
        return MARKUP_BROKEN;
    m.reader = m.xml->xmlReaderForIO(read_xml, NULL, &m, NULL, NULL,
                                     XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
    if (!m.reader) {
        if (!m.broken && !m.stopped)
            m.broken = !err_set(e, ERR_FILE_ERROR, "it is no XML");
        return end_of(&m);
    }
    m.xml->xmlTextReaderSetStructuredErrorHandler(m.reader, take_fault, &m);
    int more = 1;
    while (!m.stopped && !m.broken && (more = m.xml->xmlTextReaderRead(m.reader)) == 1) {
        m.equals = 0;
        m.stopped = !send_node(&m) || m.stopped;
    }
    if (more < 0 && !m.broken && !m.stopped)
        m.broken = !err_set(e, ERR_FILE_ERROR, "its XML is damaged");
    m.xml->xmlFreeTextReader(m.reader);
    return end_of(&m);
}

#else

static enum markup_end cannot(struct error *e)
{
    err_set(e, ERR_FILE_ERROR, "this program is built without libxml2");
    return MARKUP_BROKEN;
}

enum markup_end markup_read_html(const struct markup_source *source,
                                 const struct markup_events *events, void *context, struct error *e)
{
    (void)source, (void)events, (void)context;
    return cannot(e);
}

enum markup_end markup_read_xml(const struct markup_source *source,
                                const struct markup_events *events, void *context, struct error *e)
{
    (void)source, (void)events, (void)context;
    return cannot(e);
}

int64_t markup_line(const struct markup *m)
{
    (void)m;
    return 0;
}

char *markup_attribute(struct markup *m, const char *name)
{
    (void)m, (void)name;
    return NULL;
}

#endif
