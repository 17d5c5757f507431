/* Markdown: its headings and fences, line by line; the text stays as it is written. */
#include <string.h>

#include "knowledge/document_loaders.h"

enum { FENCE_LEAST = 3, INDENTED = 4, LEVELS = 6 };

struct markdown {
    struct loading *l;
    const char *text;
    size_t len;
    size_t from;  /* where what is not yet a part begins */
    size_t above; /* the line above, if it can be the first of a heading that is underlined */
    size_t above_len;
    char fence; /* what it is made of, 0 outside */
    size_t fence_len;
};

static size_t run_of(const char *s, size_t len, char c)
{
    size_t n = 0;
    while (n < len && s[n] == c)
        n++;
    return n;
}

static size_t trimmed(const char *s, size_t len)
{
    while (len > 0 && strchr(" \t\r\f\v", s[len - 1]))
        len--;
    return len;
}

static void add_up_to(struct markdown *m, enum document_part_kind kind, size_t end)
{
    loading_add_part(m->l, (struct document_part){.kind = kind}, m->from, end);
    m->from = end;
}

static void add_heading(struct markdown *m, int level, size_t at, size_t end, size_t name_at,
                        size_t name_len)
{
    add_up_to(m, DOCUMENT_PROSE, at);
    loading_add_part(
        m->l,
        (struct document_part){
            .kind = DOCUMENT_HEADING, .level = level, .name_at = name_at, .name_len = name_len},
        at, end);
    m->from = end;
}

/* "## Name ##" */
static bool take_hashes(struct markdown *m, size_t at, size_t len, size_t end)
{
    const char *line = m->text + at;
    size_t level = run_of(line, len, '#');
    if (level == 0 || level > LEVELS || (level < len && line[level] != ' ' && line[level] != '\t'))
        return false;
    size_t from = level, to = trimmed(line, len), mark = to;
    while (from < to && strchr(" \t\f\v", line[from]))
        from++;
    while (mark > from && line[mark - 1] == '#')
        mark--;
    if (mark > from && mark < to && strchr(" \t", line[mark - 1]))
        to = trimmed(line, mark);
    if (to <= from)
        return false;
    add_heading(m, (int)level, at, end, at + from, to - from);
    return true;
}

/* "Name" above "====" or "----" */
static bool take_underline(struct markdown *m, size_t at, size_t len, size_t end)
{
    const char *line = m->text + at;
    size_t n = trimmed(line, len);
    if (m->above_len == 0 || n == 0 || (line[0] != '=' && line[0] != '-') ||
        run_of(line, n, line[0]) != n)
        return false;
    add_heading(m, line[0] == '=' ? 1 : 2, m->above, end, m->above, m->above_len);
    return true;
}

/* Fences are opened and closed; what is between them is code, with them. */
static bool take_fence(struct markdown *m, size_t at, size_t len, size_t line_at, size_t end)
{
    const char *line = m->text + at;
    char c = len > 0 && (line[0] == '`' || line[0] == '~') ? line[0] : '\0';
    size_t run = c ? run_of(line, len, c) : 0;
    if (!m->fence && run >= FENCE_LEAST && !(c == '`' && memchr(line + run, '`', len - run))) {
        add_up_to(m, DOCUMENT_PROSE, line_at);
        m->fence = c;
        m->fence_len = run;
        return true;
    }
    if (m->fence && c == m->fence && run >= m->fence_len && trimmed(line + run, len - run) == 0) {
        add_up_to(m, DOCUMENT_CODE, end);
        m->fence = '\0';
        return true;
    }
    return m->fence != '\0';
}

static void take_line(struct markdown *m, size_t line_at, size_t line_len)
{
    size_t blanks = run_of(m->text + line_at, line_len, ' ');
    size_t at = line_at + blanks, len = line_len - blanks, end = line_at + line_len;
    bool taken = (m->fence || blanks < INDENTED) && take_fence(m, at, len, line_at, end);
    taken = taken || (blanks < INDENTED &&
                      (take_hashes(m, at, len, end) || take_underline(m, at, len, end)));
    bool is_paragraph =
        !taken && blanks < INDENTED && len > 0 && !strchr("\t\r\f\v>|-*+", m->text[at]);
    m->above = at;
    m->above_len = is_paragraph ? trimmed(m->text + at, len) : 0;
}

/* "---" … "---" at the beginning is about the document: it is kept, as code. */
static void take_front_matter(struct markdown *m)
{
    if (m->len < 4 || memcmp(m->text, "---", 3) != 0 || !strchr("\r\n", m->text[3]))
        return;
    for (const char *at = m->text; (at = strstr(at, "\n---")); at += 4) {
        if (!strchr("\r\n", at[4])) /* the text's end, too */
            continue;
        add_up_to(m, DOCUMENT_CODE, (size_t)(at - m->text) + 4);
        return;
    }
}

enum document_outcome load_markdown(struct loading *l)
{
    enum document_outcome outcome = loading_decode(l);
    if (outcome != DOCUMENT_LOADED)
        return outcome;
    struct markdown m = {.l = l, .text = l->out->text.data, .len = l->out->text.len};
    take_front_matter(&m);
    for (size_t at = m.from; at < m.len;) {
        const char *end = memchr(m.text + at, '\n', m.len - at);
        size_t len = end ? (size_t)(end - m.text) - at : m.len - at;
        take_line(&m, at, len);
        at += len + 1;
    }
    add_up_to(&m, m.fence ? DOCUMENT_CODE : DOCUMENT_PROSE, m.len);
    return DOCUMENT_LOADED;
}
