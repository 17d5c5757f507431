#include "knowledge/chunk.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/document_loaders.h"

#define HEADING_SEPARATOR " › "

enum {
    CHUNKS_BETWEEN_LOOKS = 64,
    HEADING_MAX = 200, /* bytes of a heading in a path */
    ITEM_LOOK = 32     /* bytes of a line that show whether it is an item of a list */
};

/* Places to cut at, the strongest first. */
enum border {
    BORDER_UNIT, /* code: a blank line above something that is not indented */
    BORDER_PARAGRAPH,
    BORDER_ITEM, /* a row, an item of a list */
    BORDER_BLOCK,
    BORDER_SENTENCE,
    BORDER_LINE, /* of code, but no comment, which belongs to the next */
    BORDER_WORD,
    BORDERS
};

/* The least share of the room, in eighths, that a passage must fill to end at the border: else weak
 * borders would cut crumbs. */
static const size_t least_eighths[BORDERS] = {
    [BORDER_UNIT] = 4, [BORDER_BLOCK] = 2, [BORDER_SENTENCE] = 2, [BORDER_LINE] = 1};

/* One document while it is cut. Places only go forward. */
struct cutter {
    struct chunks *out;
    const struct loaded_document *d;
    const char *text;
    size_t most;
    size_t part;          /* the first that does not end before the passage */
    size_t counted;       /* the place that the next two are for */
    int64_t line, source; /* lines from 1, bytes of the source */
    VEC(size_t) open;     /* headings above, as parts, of rising level */
    const char *heading;
    size_t seen;                       /* code: definitions were looked for up to here */
    size_t definition, definition_len; /* the last one found */
};

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* U+2028 and U+2029, which become ends of lines. */
static bool is_separator(const char *s)
{
    return memcmp(s, "\xE2\x80\xA8", 3) == 0 || memcmp(s, "\xE2\x80\xA9", 3) == 0;
}

static size_t skip_white(const char *text, size_t at, size_t end)
{
    for (;;)
        if (at < end && is_white(text[at]))
            at++;
        else if (end - at >= 3 && is_separator(text + at))
            at += 3;
        else
            return at;
}

static size_t trim_white(const char *text, size_t from, size_t end)
{
    for (;;)
        if (end > from && is_white(text[end - 1]))
            end--;
        else if (end - from >= 3 && is_separator(text + end - 3))
            end -= 3;
        else
            return end;
}

static size_t line_end(const char *text, size_t at, size_t end)
{
    const char *found = memchr(text + at, '\n', end - at);
    return found ? (size_t)(found - text) : end;
}

/* The beginning of the line that `at` is in, not before `from`. */
static size_t line_start(const char *text, size_t from, size_t at)
{
    size_t start = at;
    while (start > from && text[start - 1] != '\n')
        start--;
    return start > from ? start : at;
}

/* --- where a place is in the source ----------------------------------------------------------- */

static int64_t lines_in(const char *text, size_t len)
{
    int64_t n = 0;
    for (const char *at = text; (at = memchr(at, '\n', len - (size_t)(at - text))); at++)
        n++;
    return n;
}

/* Counts lines, and bytes of the source, up to `at`. */
static void count_up_to(struct cutter *c, size_t at)
{
    enum document_offsets offsets = c->d->offsets;
    const char *text = c->text + c->counted;
    size_t len = at - c->counted;
    if (offsets == DOCUMENT_NO_OFFSETS)
        return;
    c->line += lines_in(text, len);
    c->counted = at;
    if (offsets == DOCUMENT_OFFSETS_BYTES) {
        c->source += (int64_t)len;
        return;
    }
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        i += utf8_decode(text + i, len - i, &cp);
        c->source += offsets != DOCUMENT_OFFSETS_UTF16 ? 1 : cp > 0xFFFF ? 4 : 2;
    }
}

/* The part that the byte is in, or the next one. */
static const struct document_part *part_at(struct cutter *c, size_t at)
{
    const struct document_part *parts = c->d->parts.items;
    while (c->part + 1 < c->d->parts.len && parts[c->part].at + parts[c->part].len <= at)
        c->part++;
    return &parts[c->part];
}

/* --- headings --------------------------------------------------------------------------------- */

static const char *keep_heading(struct cutter *c, struct buf *path)
{
    if (path->len == 0 || c->out->heading_bytes + path->len > CHUNKS_HEADING_BYTES_MOST)
        return "";
    c->out->heading_bytes += path->len;
    vec_push(&c->out->headings, buf_take(path));
    return vec_last(&c->out->headings);
}

static const char *heading_path(struct cutter *c)
{
    AUTO(buf_release) struct buf path = BUF_INIT, clean = BUF_INIT;
    for (size_t i = 0; i < c->open.len; i++) {
        const struct document_part *p = &c->d->parts.items[c->open.items[i]];
        buf_clear(&clean);
        utf8_clean(&clean, c->text + p->name_at, p->name_len, UTF8_ONE_LINE);
        if (path.len > 0 && clean.len > 0)
            buf_addstr(&path, HEADING_SEPARATOR);
        utf8_add_cut(&path, clean.data, clean.len, HEADING_MAX);
    }
    return keep_heading(c, &path);
}

/* The heading of a passage of code that begins within a definition is the line that begins this, as
 * in the head of a hunk of diff. Code at the margin has the heading above. */
static const char *definition_above(struct cutter *c, const struct document_part *p, size_t from)
{
    const struct code_language *l = c->d->language;
    bool begins_line = from == p->at || c->text[from - 1] == '\n';
    bool at_margin = begins_line && !is_white(c->text[from]) && !strchr("})]", c->text[from]);
    size_t upto = at_margin ? from : from - (from > p->at), part_end = p->at + p->len;
    if (c->seen < p->at) {
        c->seen = p->at;
        c->definition_len = 0;
    }
    while (c->seen <= upto && c->seen < part_end) {
        const char *line = c->text + c->seen;
        size_t end = line_end(c->text, c->seen, part_end);
        size_t len = trim_white(c->text, c->seen, end) - c->seen;
        if (len > 0 && (isalpha((unsigned char)*line) || *line == '_') && line[len - 1] != ';' &&
            !code_is_comment(l, line, len) && !(l->block_ends && line[len - 1] == ':')) {
            c->definition = c->seen;
            c->definition_len = len;
        }
        c->seen = end + 1;
    }
    if (at_margin || c->definition_len == 0)
        return c->heading;
    AUTO(buf_release) struct buf raw = BUF_INIT, path = BUF_INIT;
    size_t most = c->definition_len < 2 * HEADING_MAX ? c->definition_len : 2 * HEADING_MAX;
    utf8_clean(&raw, c->text + c->definition, most, UTF8_ONE_LINE);
    utf8_add_cut(&path, raw.data, raw.len, HEADING_MAX);
    return keep_heading(c, &path);
}

/* --- borders ---------------------------------------------------------------------------------- */

/* "- one", "* two", "3. three", "| four |" */
static bool is_item(const char *line, size_t len)
{
    size_t i = code_indentation(line, len), digits = i;
    while (digits < len && isdigit((unsigned char)line[digits]))
        digits++;
    if (digits > i)
        return digits + 1 < len && strchr(".)", line[digits]) && line[digits + 1] == ' ';
    return i < len &&
           (line[i] == '|' || (i + 1 < len && strchr("-*+", line[i]) && line[i + 1] == ' '));
}

/* The border between a line that ends at `end` and the next one that is not blank, at `next`, of
 * the same part. */
static enum border border_of(const struct cutter *c, const struct document_part *p, size_t start,
                             size_t end, size_t next, size_t stop)
{
    size_t part_end = p->at + p->len;
    bool blank = lines_in(c->text + end, next - end) > 1;
    if (p->kind == DOCUMENT_HEADING) /* which says nothing alone */
        return BORDER_WORD;
    if (next >= part_end)
        return p->kind == DOCUMENT_ROW ? BORDER_ITEM : BORDER_PARAGRAPH;
    if (p->kind == DOCUMENT_CODE) {
        static const struct code_language none = {.comments = "", .block_ends = "}"};
        const struct code_language *l = c->d->language ? c->d->language : &none;
        size_t below = line_start(c->text, end, next);
        const char *line = c->text + start;
        size_t len = trim_white(c->text, start, end) - start;
        if (blank)
            return below < next || strchr("})]", c->text[next]) ? BORDER_PARAGRAPH : BORDER_UNIT;
        if (code_is_comment(l, line, len))
            return BORDER_WORD;
        return code_ends_block(l, line, len, c->text + below, next - below) ? BORDER_BLOCK
                                                                            : BORDER_LINE;
    }
    if (blank)
        return BORDER_PARAGRAPH;
    size_t look = stop - next < ITEM_LOOK ? stop - next : ITEM_LOOK;
    return is_item(c->text + next, look) ? BORDER_ITEM : BORDER_WORD;
}

/* The last border of each kind at the end of a line in from..limit; 0: none. */
static void find_borders(struct cutter *c, size_t from, size_t limit, size_t stop,
                         size_t found[BORDERS])
{
    size_t kept = c->part;
    for (size_t start = from; start < limit;) {
        const struct document_part *p = part_at(c, start);
        size_t part_end = p->at + p->len;
        size_t end = line_end(c->text, start, part_end <= limit ? part_end : limit + 1);
        if (end > limit)
            break;
        size_t next = skip_white(c->text, end, stop);
        size_t last = trim_white(c->text, from, end);
        if (last > from)
            found[border_of(c, p, start, end, next, stop)] = last;
        start = line_start(c->text, end, next);
    }
    c->part = kept;
}

/* Quotes and brackets belong to the sentence that they follow. */
static bool ends_sentence(const char *text, size_t from, size_t at, size_t stop)
{
    static const char *const closers[] = {"\"", "'", ")", "]",  "*",  "_",
                                          "”",  "’", "»", "」", "』", "）"};
    static const struct {
        const char *bytes;
        bool wide; /* needs no blank behind it */
    } terminators[] = {{".", false}, {"!", false}, {"?", false}, {"…", false}, {"؟", false},
                       {"।", false}, {"。", true}, {"！", true}, {"？", true}};
    bool blank = at < stop && is_white(text[at]);
    size_t next = skip_white(text, at, stop), end = at;
    for (size_t i = 0; i < sizeof closers / sizeof *closers; i++) {
        size_t n = strlen(closers[i]);
        if (end - from > n && memcmp(text + end - n, closers[i], n) == 0) {
            end -= n;
            i = (size_t)-1;
        }
    }
    for (size_t i = 0; i < sizeof terminators / sizeof *terminators; i++) {
        size_t n = strlen(terminators[i].bytes);
        if (end - from >= n && memcmp(text + end - n, terminators[i].bytes, n) == 0 &&
            (terminators[i].wide ||
             (blank && (next == stop || !islower((unsigned char)text[next])))))
            return true;
    }
    return false;
}

/* A place is worth a look if a blank follows, or a character or closer that needs none precedes. */
static size_t last_sentence(const char *text, size_t from, size_t limit, size_t stop)
{
    for (size_t at = limit; at > from; at--) {
        bool may_end = is_white(text[at]) || (unsigned char)text[at - 1] >= 0x80 ||
                       strchr("\"')]*_", text[at - 1]);
        if (((unsigned char)text[at] & 0xC0) != 0x80 && may_end &&
            ends_sentence(text, from, at, stop))
            return at;
    }
    return 0;
}

static size_t choose_cut(struct cutter *c, size_t from, size_t limit, size_t stop)
{
    size_t found[BORDERS] = {0}, room = limit - from;
    find_borders(c, from, limit, stop, found);
    if (found[BORDER_UNIT] > found[BORDER_PARAGRAPH])
        found[BORDER_PARAGRAPH] = found[BORDER_UNIT];
    found[BORDER_WORD] = 0;
    for (int b = 0; b < BORDERS; b++) {
        if (b == BORDER_SENTENCE && part_at(c, from)->kind != DOCUMENT_CODE)
            found[b] = last_sentence(c->text, from, limit, stop);
        for (size_t at = limit; b == BORDER_WORD && at > from && found[b] == 0; at--)
            found[b] = is_white(c->text[at]) ? trim_white(c->text, from, at) : 0;
        if (found[b] > from && found[b] - from >= room / 8 * least_eighths[b])
            return found[b];
    }
    /* Between grapheme clusters, within one that is larger than the room between characters. A
     * cluster may be endless. */
    size_t seen = limit + utf8_cut_points(c->text + limit, stop - limit, 1);
    size_t cut = utf8_cut_bytes(c->text + from, seen - from, limit - from);
    return cut > 0 ? from + cut : limit;
}

/* --- passages --------------------------------------------------------------------------------- */

static void add_chunk(struct cutter *c, size_t from, size_t to)
{
    const struct document_part *p = part_at(c, from), *end = c->d->parts.items + c->d->parts.len;
    const struct document_part *content = p;
    while (content < end && content->at < to && content->kind == DOCUMENT_HEADING)
        content++;
    bool has_content = content < end && content->at < to;
    struct chunk chunk = {.kind = has_content ? content->kind : DOCUMENT_HEADING,
                          .heading = c->heading,
                          .page = p->page,
                          .byte_from = -1,
                          .byte_to = -1,
                          .line_from = p->line};
    if (p->kind == DOCUMENT_CODE && c->d->language)
        chunk.heading = definition_above(c, p, from);
    count_up_to(c, from);
    int64_t line = c->line, source = c->source;
    count_up_to(c, to);
    chunk.line_to = part_at(c, to - 1)->line;
    if (c->d->offsets > DOCUMENT_OFFSETS_LINES) {
        chunk.byte_from = source;
        chunk.byte_to = c->source;
    }
    if (c->d->offsets != DOCUMENT_NO_OFFSETS) {
        chunk.line_from = line;
        chunk.line_to = c->line;
    }
    struct buf text = BUF_INIT;
    utf8_clean(&text, c->text + from, to - from, UTF8_MULTILINE);
    chunk.len = text.len;
    chunk.text = buf_take(&text);
    c->out->bytes += chunk.len;
    vec_push(&c->out->items, chunk);
}

static bool is_ended(const struct chunks *c)
{
    return c->is_cut_off || c->is_stopped;
}

/* The first line of code keeps its indentation unless that leaves no room for it. */
static void cut_section(struct cutter *c, size_t from, size_t stop)
{
    stop = trim_white(c->text, from, stop);
    while (!is_ended(c->out)) {
        size_t at = skip_white(c->text, from, stop), start = line_start(c->text, from, at);
        if (at == stop)
            return;
        bool is_code = part_at(c, at)->kind == DOCUMENT_CODE;
        from = is_code && at - start <= c->most / 2 ? start : at;
        size_t limit = from + utf8_cut_points(c->text + from, stop - from, c->most);
        size_t cut = limit == stop ? stop : choose_cut(c, from, limit, stop);
        size_t end = trim_white(c->text, from, cut);
        if (end > from)
            add_chunk(c, from, end);
        from = cut;
        c->out->is_stopped = c->out->wakeup && c->out->items.len % CHUNKS_BETWEEN_LOOKS == 0 &&
                             !wakeup_sleep(c->out->wakeup, 0);
        c->out->is_cut_off = c->out->bytes > CHUNKS_BYTES_MOST;
    }
}

/* A page begins a section, and so does a heading, except one right below its parent. */
void chunks_make(struct chunks *out, const struct loaded_document *d, size_t most)
{
    struct cutter c = {.out = out,
                       .d = d,
                       .text = d->text.data,
                       .most = most ? most : 1,
                       .line = 1,
                       .source = d->source_from,
                       .heading = ""};
    const struct document_part *parts = d->parts.items;
    for (size_t first = 0, next; !is_ended(out) && first < d->parts.len; first = next) {
        bool headings = true, opened = false;
        for (next = first; next < d->parts.len; next++) {
            const struct document_part *p = &parts[next], *before = p - (next > first);
            bool is_heading = p->kind == DOCUMENT_HEADING;
            bool is_child = before->kind == DOCUMENT_HEADING && p->level > before->level;
            if (p->page != before->page || (next > first && is_heading && !is_child))
                break;
            headings = headings && is_heading;
            if (!headings)
                continue;
            while (c.open.len > 0 && parts[vec_last(&c.open)].level >= parts[next].level)
                c.open.len--;
            vec_push(&c.open, next);
            opened = true;
        }
        if (opened)
            c.heading = heading_path(&c);
        cut_section(&c, parts[first].at, parts[next - 1].at + parts[next - 1].len);
    }
    vec_release(&c.open);
}

void chunks_release(struct chunks *c)
{
    for (size_t i = 0; i < c->items.len; i++)
        free(c->items.items[i].text);
    vec_release(&c->items);
    vec_free_each(&c->headings);
}
