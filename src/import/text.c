#include "import/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

/* A larger element's memory is freed after use. */
#define KEPT_BYTES ((size_t)1024 * 1024)

#define CANNOT_READ "the text cannot be read"
#define TOO_LONG "longer than %zu MiB"

/* cJSON's limit */
#define DEPTH_MAX 1000

struct place place_of(const char *format, ...)
{
    struct place p;
    va_list args;
    va_start(args, format);
    vsnprintf(p.text, sizeof p.text, format, args);
    va_end(args);
    return p;
}

bool import_fault(const struct place *p, struct error *e, const char *format, ...)
{
    AUTO(buf_release) struct buf reason = BUF_INIT;
    va_list args;
    va_start(args, format);
    buf_vaddf(&reason, format, args);
    va_end(args);
    err_set(e, ERR_FILE_ERROR, "%s: %s; nothing was imported", p->text, reason.data);
    return false;
}

void import_text_init(struct import_text *t, FILE *in, size_t chunk,
                      bool (*go_on)(void *context, int64_t bytes), void *context)
{
    *t = (struct import_text){.in = in,
                              .begin = ftello(in),
                              .chunk = mem_alloc(chunk),
                              .room = chunk,
                              .go_on = go_on,
                              .context = context};
    buf_init(&t->element, IMPORT_ELEMENT_BYTES);
}

void import_text_release(struct import_text *t)
{
    buf_release(&t->element);
    free(t->chunk);
}

/* --- bytes ------------------------------------------------------------------------------------ */

bool import_text_rewind(struct import_text *t, struct error *e)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    char first[sizeof mark];
    bool marked = fseeko(t->in, t->begin, SEEK_SET) == 0 &&
                  fread(first, 1, sizeof first, t->in) == sizeof first &&
                  memcmp(first, mark, sizeof mark) == 0;
    t->offset = marked ? (int64_t)sizeof mark : 0;
    t->at = t->len = 0;
    t->line = 1;
    if (!ferror(t->in) && (marked || fseeko(t->in, t->begin, SEEK_SET) == 0))
        return true;
    err_set_errno(&t->fault, ERR_FILE_ERROR, CANNOT_READ);
    return err_set(e, t->fault.code, "%s", t->fault.text);
}

/* Whether the chunk has bytes; reads the next chunk if not. */
static bool has_more(struct import_text *t)
{
    if (t->at < t->len)
        return true;
    if (t->fault.code != ERR_OK)
        return false;
    t->offset += (int64_t)t->len;
    t->at = 0;
    t->len = fread(t->chunk, 1, t->room, t->in);
    if (t->len == 0 && ferror(t->in))
        return err_set_errno(&t->fault, ERR_FILE_ERROR, CANNOT_READ);
    if (t->offset > IMPORT_MAX_BYTES)
        return err_set(&t->fault, ERR_FILE_ERROR,
                       "the text is longer than %lld bytes; nothing was imported",
                       (long long)IMPORT_MAX_BYTES);
    if (t->go_on && !t->go_on(t->context, t->offset))
        return err_set(&t->fault, ERR_INTERRUPTED, "stopped; nothing was imported");
    return t->len > 0;
}

int import_text_peek(struct import_text *t)
{
    for (; has_more(t); t->at++) {
        if (!memchr(" \t\r\n", t->chunk[t->at], 4))
            return (unsigned char)t->chunk[t->at];
        t->line += t->chunk[t->at] == '\n';
    }
    return -1;
}

bool import_text_take(struct import_text *t, char c)
{
    bool is_next = import_text_peek(t) == (unsigned char)c;
    t->at += is_next;
    return is_next;
}

bool import_text_fault(struct import_text *t, const struct place *p, struct error *e)
{
    return import_fault(p, e, "not valid JSON near byte %lld, line %lld",
                        (long long)t->offset + (long long)t->at, (long long)t->line);
}

/* --- elements --------------------------------------------------------------------------------- */

static void drop_element(struct import_text *t)
{
    if (t->element.cap > KEPT_BYTES) {
        buf_release(&t->element);
        buf_init(&t->element, IMPORT_ELEMENT_BYTES);
    }
    buf_clear(&t->element);
}

static int64_t newlines(const char *bytes, size_t len)
{
    int64_t count = 0;
    const char *end = bytes + len;
    for (const char *at = bytes; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        count++;
    return count;
}

/* Moves the next bytes of the chunk into the element. */
static bool add_bytes(struct import_text *t, size_t len)
{
    const char *bytes = t->chunk + t->at;
    if (!buf_try_add(&t->element, bytes, len))
        return false;
    t->line += newlines(bytes, len);
    t->at += len;
    return true;
}

struct json *import_text_value(struct import_text *t, const struct place *p, struct error *e)
{
    struct json_scan scan = {0};
    int first = import_text_peek(t);
    drop_element(t);
    t->element_line = t->line;
    while (first >= 0 && !scan.ended && has_more(t)) {
        size_t len = json_scan(&scan, t->chunk + t->at, t->len - t->at);
        if (!add_bytes(t, len)) {
            import_fault(p, e, TOO_LONG, IMPORT_ELEMENT_BYTES >> 20);
            return NULL;
        }
        if (scan.depth > DEPTH_MAX) {
            import_fault(p, e, "nested deeper than %d, which no JSON of a session is", DEPTH_MAX);
            return NULL;
        }
    }
    if (t->element.len > 0)
        return import_text_parse(t, p, e);
    import_text_fault(t, p, e);
    return NULL;
}

bool import_text_line(struct import_text *t, struct error *e)
{
    bool ended = false, any = has_more(t);
    drop_element(t);
    t->element_line = t->line;
    struct place p = place_of("line %lld", (long long)t->line);
    while (!ended && has_more(t)) {
        const char *begin = t->chunk + t->at;
        const char *newline = memchr(begin, '\n', t->len - t->at);
        ended = newline != NULL;
        if (!add_bytes(t, newline ? (size_t)(newline - begin) : t->len - t->at))
            return import_fault(&p, e, TOO_LONG, IMPORT_ELEMENT_BYTES >> 20);
        t->at += ended;
        t->line += ended;
    }
    return any;
}

/* --- trees ------------------------------------------------------------------------------------ */

struct json *import_text_parse(struct import_text *t, const struct place *p, struct error *e)
{
    const char *text = t->element.data;
    const char *nul = json_find_nul(text, t->element.len);
    struct error cause = {0};
    if (nul) {
        struct place at = place_of(
            "line %lld", (long long)(t->element_line + newlines(text, (size_t)(nul - text))));
        import_fault(&at, e, "a NUL character");
        return NULL;
    }
    if (!utf8_valid(text, t->element.len)) {
        import_fault(p, e, "not UTF-8");
        return NULL;
    }
    struct json *v = json_parse_foreign(t->element.data, t->element.len, &cause);
    if (!v)
        import_fault(p, e, "%s of what begins in line %lld", cause.text,
                     (long long)t->element_line);
    drop_element(t);
    return v;
}
