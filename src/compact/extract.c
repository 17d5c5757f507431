#include "compact/extract.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "chat/extract.h"

#define HEADING "## Earlier highlights"
#define OMITTED "(lines left out)\n"

enum {
    LEAST_BYTES = 2000, /* of the earlier summaries' texts, whatever the threshold */
    MOST_BYTES = 16000,
    MOST_LINES = 1000, /* of a section of an extract, which a model may have written */
    LINE_BYTES = 400
};

/* --- counts ----------------------------------------------------------------------------------- */

struct tally {
    int64_t user, assistant, tool;
};

/* Both step over what they read; false: it is not there. */
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

/* The counts that a summary begins with; `rest` is the text behind them. */
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

void compact_add_counts(struct buf *out, const struct compact_input *in,
                        const struct compact_plan *p)
{
    struct tally t = {0}, before;
    for (size_t i = 0; i < in->count; i++) {
        const struct message *m = &in->messages[i];
        if (p->fates.items[i] == FATE_GOES && !in->messages[i].summary) {
            t.user += m->role == ROLE_USER;
            t.assistant += m->role == ROLE_ASSISTANT;
            t.tool += m->role == ROLE_TOOL;
        } else if (p->fates.items[i] == FATE_GOES && in->messages[i].summary) {
            auto_free char *text = message_text(m);
            const char *rest;
            if (!read_counts(text, &before, &rest))
                continue;
            t.user += before.user;
            t.assistant += before.assistant;
            t.tool += before.tool;
        }
    }
    long long all = (long long)(t.user + t.assistant + t.tool);
    buf_addf(out, COMPACT_PREFIX " %lld earlier %s dropped: %lld user, %lld assistant, %lld tool.",
             all, all == 1 ? "message was" : "messages were", (long long)t.user,
             (long long)t.assistant, (long long)t.tool);
}

/* --- texts of earlier summaries --------------------------------------------------------------- */

/* The lines of extracts by their sections, newest first (in the timeline last), and other text. */
struct highlights {
    struct buf prose;
    struct {
        VEC(char *) lines; /* owned */
    } sections[EXTRACT_SECTIONS];
};

static bool equals(const char *line, size_t len, const char *text)
{
    return len == strlen(text) && strncmp(line, text, len) == 0;
}

/* The sections of the newest extract have headings of the second level and come last; those of the
 * highlights have headings of the third. `section` is -1 in other text. */
static void read_line(struct highlights *h, const char *line, size_t len, int *level, int *section)
{
    int hashes = strncmp(line, "## ", 3) == 0 ? 2 : strncmp(line, "### ", 4) == 0 ? 3 : 0;
    bool blank = strspn(line, " \t\r") >= len || equals(line, len, COMPACT_MARK_END);
    if (hashes > 0) {
        *level = hashes;
        for (*section = EXTRACT_SECTIONS - 1; *section >= 0; --*section)
            if (equals(line + hashes + 1, len - (size_t)hashes - 1, extract_headings[*section]))
                return;
    }
    if (*section >= 0 && !blank && strncmp(line, EXTRACT_NONE, len) != 0) {
        size_t count = h->sections[*section].lines.len;
        if (count == MOST_LINES)
            return;
        char *copy = mem_strndup(line, utf8_cut_bytes(line, len, LINE_BYTES));
        bool first = *level == 2 && *section != EXTRACT_TIMELINE;
        vec_insert(&h->sections[*section].lines, first ? 0 : count, copy);
    } else if (*section < 0 && !(blank && h->prose.len == 0) && !equals(line, len, HEADING)) {
        buf_addf(&h->prose, "%s%.*s\n", hashes == 2 ? "#" : "", (int)len, line);
    }
}

/* Each line once, at most `max` bytes together, but at least one line. */
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

/* The first lines and the newest ones, these of at most `max` bytes together. */
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

/* All of it, or its first and last half of `max` bytes: cut between lines, or between graphemes
 * where that would cost half of the half. */
static void add_bounded(struct buf *out, const struct buf *text, size_t max)
{
    size_t half = max / 2, first = half, last = text->len - half;
    if (text->len <= max) {
        buf_add(out, text->data, text->len);
        return;
    }
    while (first > half / 2 && text->data[first - 1] != '\n')
        first--;
    if (first == half / 2)
        first = utf8_cut_bytes(text->data, text->len, half);
    const char *line = memchr(text->data + last, '\n', half / 2);
    size_t border = utf8_cut_bytes(text->data, text->len, last);
    if (line)
        last = (size_t)(line - text->data) + 1;
    else if (border < last)
        last = utf8_next(text->data, text->len, border);
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
    AUTO(buf_release) struct buf lists = BUF_INIT;
    const size_t most = in->threshold < LEAST_BYTES  ? LEAST_BYTES
                        : in->threshold > MOST_BYTES ? MOST_BYTES
                                                     : (size_t)in->threshold;
    for (size_t i = 0; i < in->count; i++) {
        struct tally counted;
        int level = 2, section = -1;
        if (p->fates.items[i] != FATE_GOES || !in->messages[i].summary)
            continue;
        auto_free char *text = message_text(&in->messages[i]);
        const char *line = text;
        if (!read_counts(text, &counted, &line))
            read_word(&line, COMPACT_PREFIX);
        for (size_t len; *line; line += len + (line[len] == '\n')) {
            len = strcspn(line, "\n");
            read_line(&h, line, len, &level, &section);
        }
    }
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
    buf_release(&h.prose);
}

char *compact_extract(const struct compact_input *in, const struct compact_plan *p)
{
    AUTO(vec_release_local) VEC(const struct message *) gone = {0};
    struct buf out = BUF_INIT;
    for (size_t i = 0; i < in->count; i++)
        if (p->fates.items[i] == FATE_GOES && !in->messages[i].summary)
            vec_push(&gone, &in->messages[i]);
    compact_add_counts(&out, in, p);
    compact_add_earlier(&out, in, p);
    extract_add(&out, gone.items, gone.len, in->source);
    return buf_take(&out);
}

/* --- sections of a structured summary --------------------------------------------------------- */

static const char *const names[SECTIONS] = {
    "Goal",       "Constraints & Preferences", "Progress", "Key Decisions", "Relevant Files",
    "Next Steps", "Critical Context",
};

/* Models also write the second one so. */
static const char constraints_and[] = "Constraints and Preferences";

struct sections {
    struct buf text[SECTIONS];
    bool there[SECTIONS];
};

struct line {
    const char *text;
    size_t len;
};

static struct line next_line(const char **at)
{
    struct line line = {.text = *at, .len = strcspn(*at, "\n")};
    *at += line.len + ((*at)[line.len] == '\n');
    return line;
}

static struct line without(struct line line, const char *at_begin, const char *at_end)
{
    while (line.len > 0 && strchr(at_begin, *line.text)) {
        line.text++;
        line.len--;
    }
    while (line.len > 0 && strchr(at_end, line.text[line.len - 1]))
        line.len--;
    return line;
}

static bool is(struct line line, const char *name)
{
    return line.len == strlen(name) && strncasecmp(line.text, name, line.len) == 0;
}

/* The section that begins with this line: "## Goal"; without `hashes` also "**Goal:**", "1. Goal"
 * or "Goal:". -1: none. */
static int section_of(struct line line, bool hashes)
{
    static const char blanks[] = " \t\r";
    struct line bare = without(line, blanks, blanks);
    struct line name = without(bare, "#*_0123456789.) \t", "*_: \t#");
    if (name.len == bare.len || (hashes && *bare.text != '#'))
        return -1;
    for (int i = 0; i < SECTIONS; i++)
        if (is(name, names[i]))
            return i;
    return is(name, constraints_and) ? 1 : -1;
}

static bool is_fence(struct line line)
{
    line = without(line, " \t", "");
    return line.len >= 3 &&
           (strncmp(line.text, "```", 3) == 0 || strncmp(line.text, "~~~", 3) == 0);
}

/* A model may put the sections in a fence, with an introduction before it and a remark behind it,
 * against its instructions. Gives the text in that fence, else all of it. The caller frees. */
static char *unwrapped(const char *text)
{
    const char *begin = NULL, *end = NULL;
    size_t fences = 0;
    for (const char *at = text; *at;) {
        const char *start = at;
        struct line line = next_line(&at);
        if (!begin && section_of(line, true) >= 0)
            break;
        if (!is_fence(line))
            continue;
        const char *ahead = at + strspn(at, " \t\r\n");
        if (!begin && section_of(next_line(&ahead), true) < 0)
            continue;
        begin = begin ? begin : at;
        end = start;
        fences++;
    }
    if (!begin || fences % 2 != 0) /* not closed: the answer was cut off */
        return mem_strdup(begin ? begin : text);
    return mem_strndup(begin, (size_t)(end - begin));
}

/* A heading within a fence is a line like others. */
static void read_sections(const char *wrapped, struct sections *out)
{
    int section = -1;
    auto_free char *text = unwrapped(wrapped);
    bool hashes = false, in_fence = false;
    for (const char *at = text; *at && !hashes;)
        hashes = section_of(next_line(&at), true) >= 0;
    for (int i = 0; i < SECTIONS; i++)
        out->text[i] = (struct buf)BUF_INIT;
    for (const char *at = text; *at;) {
        struct line line = next_line(&at);
        int begins = in_fence ? -1 : section_of(line, hashes);
        in_fence = in_fence != is_fence(line);
        if (begins >= 0)
            out->there[section = begins] = true;
        else if (section >= 0 && (out->text[section].len > 0 || without(line, " \t\r", "").len > 0))
            buf_addf(&out->text[section], "%.*s\n", (int)line.len, line.text);
    }
    for (int i = 0; i < SECTIONS; i++)
        buf_trim_end(&out->text[i], " \t\r\n");
}

static void sections_release(struct sections *s)
{
    for (int i = 0; i < SECTIONS; i++)
        buf_release(&s->text[i]);
}

int sections_count(const char *text)
{
    AUTO(sections_release) struct sections s = {0};
    int count = 0;
    read_sections(text, &s);
    for (int i = 0; i < SECTIONS; i++)
        count += s.there[i];
    return count;
}

char *sections_complete(const char *text, const char *earlier)
{
    AUTO(sections_release) struct sections now = {0}, before = {0};
    struct buf out = BUF_INIT;
    read_sections(text, &now);
    read_sections(earlier ? earlier : "", &before);
    for (int i = 0; i < SECTIONS; i++) {
        const struct buf *content = now.there[i] ? &now.text[i] : &before.text[i];
        buf_addf(&out, "%s## %s\n%s", i > 0 ? "\n\n" : "", names[i],
                 content->len > 0 ? content->data : "(none)");
    }
    return buf_take(&out);
}
