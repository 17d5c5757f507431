#include "compact/sections.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"

static const char *const names[SECTIONS] = {
    "Goal",       "Constraints & Preferences", "Progress", "Key Decisions", "Relevant Files",
    "Next Steps", "Critical Context",
};

/* Models write it either way. */
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

/* Which section begins with this line: "## Goal"; where there is no such heading, "**Goal:**",
 * "1. Goal" or "Goal:" is one. -1: none. */
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

static void add_line(struct buf *out, struct line line)
{
    bool blank = without(line, " \t\r", "").len == 0;
    if (blank && out->len == 0)
        return;
    buf_add(out, line.text, line.len);
    buf_addch(out, '\n');
}

static bool has_hashes(const char *text)
{
    for (const char *at = text; *at;)
        if (section_of(next_line(&at), true) >= 0)
            return true;
    return false;
}

/* Against what is asked, a model may put the sections in a fence, with an introduction before it and
 * a remark behind it: gives what is in that fence, else all of the text. The caller frees. */
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

/* A heading in a fence is a line like others. */
static void read_sections(const char *wrapped, struct sections *out)
{
    int section = -1;
    char *text = unwrapped(wrapped);
    bool hashes = has_hashes(text), inside = false;
    for (int i = 0; i < SECTIONS; i++)
        out->text[i] = (struct buf)BUF_INIT;
    for (const char *at = text; *at;) {
        struct line line = next_line(&at);
        int begins = inside ? -1 : section_of(line, hashes);
        if (begins >= 0)
            out->there[section = begins] = true;
        else if (section >= 0)
            add_line(&out->text[section], line);
        inside = inside != is_fence(line);
    }
    for (int i = 0; i < SECTIONS; i++)
        buf_trim_end(&out->text[i], " \t\r\n");
    free(text);
}

static void release(struct sections *s)
{
    for (int i = 0; i < SECTIONS; i++)
        buf_release(&s->text[i]);
}

int sections_count(const char *text)
{
    struct sections s = {0};
    int count = 0;
    read_sections(text, &s);
    for (int i = 0; i < SECTIONS; i++)
        count += s.there[i];
    release(&s);
    return count;
}

char *sections_complete(const char *text, const char *earlier)
{
    struct sections now = {0}, before = {0};
    struct buf out = BUF_INIT;
    read_sections(text, &now);
    read_sections(earlier ? earlier : "", &before);
    for (int i = 0; i < SECTIONS; i++) {
        const struct buf *content = now.there[i] ? &now.text[i] : &before.text[i];
        buf_addf(&out, "%s## %s\n%s", i > 0 ? "\n\n" : "", names[i],
                 content->len > 0 ? content->data : "(none)");
    }
    release(&now);
    release(&before);
    return buf_take(&out);
}
