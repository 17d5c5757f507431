#include "compact/extract.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "chat/extract.h"

#define HEADING "## Earlier highlights"
#define OMITTED "(lines left out)\n"
#define LEAST_BYTES 2000
#define MOST_BYTES 16000
/* Of a section of an extract, which a model may have written. */
enum { MOST_LINES = 1000, LINE_BYTES = 400 };

struct tally {
    int64_t user, assistant, tool;
};

/* Is the message among what goes, and no earlier summary? */
static bool goes(const struct compact_input *in, const struct compact_plan *p, size_t i)
{
    return p->fates.items[i] == FATE_GOES && !in->messages[i].summary;
}

static bool is_earlier(const struct compact_input *in, const struct compact_plan *p, size_t i)
{
    return p->fates.items[i] == FATE_GOES && in->messages[i].summary;
}

/* ---- counts ---- */

/* Both step over what they read and say no where it is not there. */
static bool read_word(const char **at, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(*at, word, len) != 0)
        return false;
    *at += len;
    return true;
}

static bool read_number(const char **at, int64_t *out)
{
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > 9)
        return false;
    *out = 0;
    for (; digits > 0; digits--)
        *out = *out * 10 + *(*at)++ - '0';
    return true;
}

/* The counts that a summary begins with; `rest` is what follows them. */
static bool read_counts(const char *text, struct tally *out, const char **rest)
{
    int64_t all;
    if (!read_word(&text, COMPACT_PREFIX " ") || !read_number(&text, &all) ||
        !(read_word(&text, " earlier messages were dropped: ") ||
          read_word(&text, " earlier message was dropped: ")) ||
        !read_number(&text, &out->user) || !read_word(&text, " user, ") ||
        !read_number(&text, &out->assistant) || !read_word(&text, " assistant, ") ||
        !read_number(&text, &out->tool) || !read_word(&text, " tool."))
        return false;
    *rest = text;
    return true;
}

static void count_role(struct tally *t, enum role role)
{
    t->user += role == ROLE_USER;
    t->assistant += role == ROLE_ASSISTANT;
    t->tool += role == ROLE_TOOL;
}

static void count_earlier(struct tally *t, const struct message *m)
{
    struct tally before;
    const char *rest;
    char *text = message_text(m);
    if (read_counts(text, &before, &rest)) {
        t->user += before.user;
        t->assistant += before.assistant;
        t->tool += before.tool;
    }
    free(text);
}

void compact_add_counts(struct buf *out, const struct compact_input *in,
                        const struct compact_plan *p)
{
    struct tally t = {0};
    for (size_t i = 0; i < in->count; i++) {
        if (goes(in, p, i))
            count_role(&t, in->messages[i].role);
        else if (is_earlier(in, p, i))
            count_earlier(&t, &in->messages[i]);
    }
    long long all = (long long)(t.user + t.assistant + t.tool);
    buf_addf(out, COMPACT_PREFIX " %lld earlier %s dropped: %lld user, %lld assistant, %lld tool.",
             all, all == 1 ? "message was" : "messages were", (long long)t.user,
             (long long)t.assistant, (long long)t.tool);
}

/* ---- texts ---- */

/* What earlier summaries say: the lines of an extract by its sections, newest first (in the timeline
 * last), and all other text. */
struct highlights {
    struct buf prose;
    struct {
        VEC(char *) lines; /* owned */
    } sections[EXTRACT_SECTIONS];
};

static bool is_line(const char *line, size_t len, const char *text)
{
    return len == strlen(text) && strncmp(line, text, len) == 0;
}

/* The sections of the newest extract have headings of the second level and come last; those of the
 * highlights have headings of the third. `section` is -1 in other text. */
static void read_line(struct highlights *h, const char *line, size_t len, int *level, int *section)
{
    int hashes = strncmp(line, "## ", 3) == 0 ? 2 : strncmp(line, "### ", 4) == 0 ? 3 : 0;
    bool blank = strspn(line, " \t\r") >= len || is_line(line, len, COMPACT_MARK_END);
    if (hashes > 0) {
        *level = hashes;
        for (*section = EXTRACT_SECTIONS - 1; *section >= 0; --*section)
            if (is_line(line + hashes + 1, len - (size_t)hashes - 1, extract_headings[*section]))
                return;
    }
    if (*section >= 0 && !blank && strncmp(line, EXTRACT_NONE, len) != 0) {
        size_t count = h->sections[*section].lines.len;
        if (count == MOST_LINES)
            return;
        vec_push(&h->sections[*section].lines,
                 mem_strndup(line, utf8_cut_bytes(line, len, LINE_BYTES)));
        char **lines = h->sections[*section].lines.items, *last = lines[count];
        if (*level == 2 && *section != EXTRACT_TIMELINE) {
            memmove(lines + 1, lines, count * sizeof *lines);
            lines[0] = last;
        }
    } else if (*section < 0 && !(blank && h->prose.len == 0) && !is_line(line, len, HEADING)) {
        buf_addf(&h->prose, "%s%.*s\n", hashes == 2 ? "#" : "", (int)len, line);
    }
}

/* Without what it begins with, be it counts or the prefix alone. */
static void read_summary(struct highlights *h, const struct message *m)
{
    struct tally counted;
    int level = 2, section = -1;
    char *text = message_text(m);
    const char *line = text;
    if (!read_counts(text, &counted, &line))
        read_word(&line, COMPACT_PREFIX);
    for (size_t len; *line; line += len + (line[len] == '\n')) {
        len = strcspn(line, "\n");
        read_line(h, line, len, &level, &section);
    }
    free(text);
}

/* Each line once, of at most `max` bytes together, but one at least. */
static void add_list(struct buf *out, char *const *lines, size_t count, size_t max)
{
    size_t start = out->len;
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (strcmp(lines[first], lines[i]) != 0)
            first++;
        if (first < i)
            continue;
        if (i > 0 && out->len - start + strlen(lines[i]) >= max)
            break;
        buf_addf(out, "%s\n", lines[i]);
    }
}

/* The first lines and, of at most `max` bytes together, the newest. */
static void add_timeline(struct buf *out, char *const *lines, size_t count, size_t max)
{
    enum { FIRST = 3 };
    size_t from = count, bytes = 0;
    int64_t omitted = 0, more;
    while (from > FIRST && (from == count || bytes < max))
        bytes += strlen(lines[--from]) + 1;
    for (size_t i = 0; i < count; i++) {
        const char *line = lines[i];
        if (i >= FIRST && i < from)
            omitted += read_word(&line, "- (") && read_number(&line, &more) ? more : 1;
        else
            buf_addf(out, "%s\n", line);
        if (i + 1 == from && omitted > 0)
            buf_addf(out, "- (%lld messages omitted)\n", (long long)omitted);
    }
}

static size_t bound(const struct compact_input *in)
{
    if (in->threshold < LEAST_BYTES)
        return LEAST_BYTES;
    return in->threshold > MOST_BYTES ? MOST_BYTES : (size_t)in->threshold;
}

/* Both end at the border of a line, or where that would cost half, at one of a grapheme. */
static size_t first_bytes(const struct buf *text, size_t max)
{
    for (size_t i = max; i > max / 2; i--)
        if (text->data[i - 1] == '\n')
            return i;
    return utf8_cut_bytes(text->data, text->len, max);
}

static size_t last_begins(const struct buf *text, size_t max)
{
    size_t from = text->len - max;
    const char *line = memchr(text->data + from, '\n', max / 2);
    if (line)
        return (size_t)(line - text->data) + 1;
    size_t border = utf8_cut_bytes(text->data, text->len, from);
    return border < from ? utf8_next(text->data, text->len, border) : from;
}

/* The newest is at the end, what the conversation began with at the beginning. */
static void add_bounded(struct buf *out, const struct buf *text, size_t max)
{
    if (text->len <= max) {
        buf_add(out, text->data, text->len);
        return;
    }
    size_t first = first_bytes(text, max / 2);
    size_t last = last_begins(text, max / 2);
    buf_add(out, text->data, first);
    if (first == 0 || text->data[first - 1] != '\n')
        buf_addch(out, '\n');
    buf_addstr(out, OMITTED);
    buf_add(out, text->data + last, text->len - last);
}

void compact_add_earlier(struct buf *out, const struct compact_input *in,
                         const struct compact_plan *p)
{
    struct highlights h = {.prose = BUF_INIT};
    struct buf lists = BUF_INIT;
    const size_t most = bound(in);
    for (size_t i = 0; i < in->count; i++)
        if (is_earlier(in, p, i))
            read_summary(&h, &in->messages[i]);
    for (int i = 0; i < EXTRACT_SECTIONS; i++) {
        size_t count = h.sections[i].lines.len;
        char **lines = h.sections[i].lines.items;
        if (count == 0)
            continue;
        buf_addf(&lists, "\n\n### %s\n\n", extract_headings[i]);
        if (i == EXTRACT_TIMELINE)
            add_timeline(&lists, lines, count, most / 4);
        else
            add_list(&lists, lines, count, most / 8);
        buf_trim_end(&lists, "\n");
        vec_free_each(&h.sections[i].lines);
    }
    buf_trim_end(&h.prose, " \t\r\n\v\f");
    if (h.prose.len + lists.len > 0)
        buf_addstr(out, "\n\n" HEADING);
    if (h.prose.len > 0) {
        buf_addstr(out, "\n\n");
        add_bounded(out, &h.prose, most - (lists.len < most / 2 ? lists.len : most / 2));
    }
    buf_add(out, lists.data, lists.len);
    buf_release(&lists);
    buf_release(&h.prose);
}

char *compact_extract(const struct compact_input *in, const struct compact_plan *p)
{
    VEC(const struct message *) gone = {0};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < in->count; i++)
        if (goes(in, p, i))
            vec_push(&gone, &in->messages[i]);
    compact_add_counts(&out, in, p);
    compact_add_earlier(&out, in, p);
    extract_add(&out, gone.items, gone.len, in->source);
    vec_release(&gone);
    return buf_take(&out);
}
