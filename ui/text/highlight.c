#include "ui/text/highlight.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A line and where the tokenizer is in it. */
struct scan {
    const char *line;
    size_t len, pos;
};

static bool word_in(const char *names, const char *name, size_t len)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, " ");
        if (n == len && strncasecmp(p, name, n) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

const struct language *language_find(const char *name, size_t len)
{
    for (size_t i = 0; len > 0 && i < language_count; i++)
        if (word_in(languages[i].names, name, len))
            return &languages[i];
    return NULL;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool starts(const struct scan *s, const char *with)
{
    size_t n = with ? strlen(with) : 0;
    return n > 0 && s->len - s->pos >= n && memcmp(s->line + s->pos, with, n) == 0;
}

static bool is_keyword(const struct language *l, const char *word, size_t len)
{
    char folded[24];
    if (!l->keywords || len >= sizeof folded)
        return false;
    for (size_t i = 0; i < len; i++)
        folded[i] =
            (l->flags & LANGUAGE_ANY_CASE) ? (char)tolower((unsigned char)word[i]) : word[i];
    folded[len] = '\0';
    for (size_t low = 0, high = strlen(l->keywords); low < high;) {
        size_t start = low + (high - low) / 2;
        while (start > low && l->keywords[start - 1] != ' ')
            start--;
        const char *keyword = l->keywords + start;
        size_t n = strcspn(keyword, " ");
        int order = strncmp(folded, keyword, n);
        if (order == 0 && len == n)
            return true;
        if (order < 0)
            high = start;
        else
            low = start + n + 1;
    }
    return false;
}

static void emit(struct scan *s, struct styled *out, size_t len, enum style style)
{
    styled_add(out, s->line + s->pos, len, style, 0);
    s->pos += len;
}

/* From here to the end of what is open, or of the line. Quotes are escaped by a backslash. */
static void finish_open(struct highlight *h, struct scan *s, struct styled *out, size_t from)
{
    bool escapes = h->inside == STYLE_CODE_STRING;
    size_t n = strlen(h->until), i = s->pos + from;
    for (; i < s->len; i++) {
        if (escapes && s->line[i] == '\\') {
            i++;
        } else if (s->len - i >= n && memcmp(s->line + i, h->until, n) == 0) {
            h->until = NULL;
            i += n;
            break;
        }
    }
    emit(s, out, (i < s->len ? i : s->len) - s->pos, h->inside);
}

static bool open_comment(struct highlight *h, struct scan *s, struct styled *out)
{
    const struct language *l = h->language;
    if (starts(s, l->block_open)) {
        h->until = l->block_close;
        h->inside = STYLE_CODE_COMMENT;
        finish_open(h, s, out, strlen(l->block_open));
        return true;
    }
    bool alone = s->pos == 0 || isspace((unsigned char)s->line[s->pos - 1]);
    if ((l->flags & LANGUAGE_SPACED) && !alone)
        return false;
    if (!starts(s, l->line_comments[0]) && !starts(s, l->line_comments[1]))
        return false;
    emit(s, out, s->len - s->pos, STYLE_CODE_COMMENT);
    return true;
}

static const char *closing_quote(const struct highlight *h, const struct scan *s, bool *goes_on)
{
    static const char *const ends[] = {"\"", "'", "`"};
    const struct language *l = h->language;
    char c = s->line[s->pos];
    *goes_on = true;
    if ((l->flags & LANGUAGE_TRIPLE) && starts(s, "\"\"\""))
        return "\"\"\"";
    if ((l->flags & LANGUAGE_TRIPLE) && starts(s, "'''"))
        return "'''";
    bool many = l->long_quotes && strchr(l->long_quotes, c);
    bool one = l->quotes && strchr(l->quotes, c) && (!(l->flags & LANGUAGE_TAGS) || h->tag);
    *goes_on = many;
    for (size_t i = 0; (many || one) && i < sizeof ends / sizeof *ends; i++)
        if (*ends[i] == c)
            return ends[i];
    return NULL;
}

static bool open_string(struct highlight *h, struct scan *s, struct styled *out)
{
    bool goes_on;
    const char *end = closing_quote(h, s, &goes_on);
    if (!end)
        return false;
    h->until = end;
    h->inside = STYLE_CODE_STRING;
    finish_open(h, s, out, strlen(end));
    if (!goes_on)
        h->until = NULL;
    return true;
}

static size_t word_len(const struct scan *s, size_t from)
{
    size_t i = s->pos + from;
    while (i < s->len && is_word(s->line[i]))
        i++;
    return i - s->pos;
}

static bool is_key(const struct scan *s, size_t len)
{
    size_t i = s->pos + len;
    return i < s->len && s->line[i] == ':' && (i + 1 == s->len || s->line[i + 1] == ' ');
}

static bool add_tag(struct highlight *h, struct scan *s, struct styled *out)
{
    char c = s->line[s->pos];
    if (c == '<') {
        size_t slash = s->pos + 1 < s->len && strchr("/!?", s->line[s->pos + 1]) ? 2 : 1;
        size_t len = word_len(s, slash);
        h->tag = len > slash;
        emit(s, out, len, h->tag ? STYLE_CODE_KEYWORD : STYLE_CODE);
        return true;
    }
    if (c != '>' || !h->tag)
        return false;
    h->tag = false;
    emit(s, out, 1, STYLE_CODE_KEYWORD);
    return true;
}

static size_t number_len(const struct scan *s)
{
    size_t i = s->pos;
    while (i < s->len && (is_word(s->line[i]) || s->line[i] == '.'))
        i++;
    return i - s->pos;
}

static void add_word(struct highlight *h, struct scan *s, struct styled *out)
{
    unsigned flags = h->language->flags;
    char c = s->line[s->pos];
    bool sigil = c == '#' || c == '@' || (c == '$' && (flags & LANGUAGE_VARIABLES));
    size_t len = word_len(s, sigil);
    if (isdigit((unsigned char)c)) {
        emit(s, out, number_len(s), STYLE_CODE_NUMBER);
        return;
    }
    if (len == 0 || (sigil && len == 1)) {
        emit(s, out, len ? len : 1, STYLE_CODE);
        return;
    }
    bool special = (c == '$' && sigil) || ((flags & LANGUAGE_KEYS) && is_key(s, len));
    bool key = special || is_keyword(h->language, s->line + s->pos, len);
    emit(s, out, len, key ? STYLE_CODE_KEYWORD : STYLE_CODE);
}

static enum style diff_style(const struct scan *line)
{
    static const struct {
        const char *beginning;
        enum style style;
    } looks[] = {{"+++ ", STYLE_CODE_COMMENT},
                 {"--- ", STYLE_CODE_COMMENT},
                 {"@@", STYLE_CODE_COMMENT},
                 {"+", STYLE_DIFF_ADDED},
                 {"-", STYLE_DIFF_REMOVED}};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        if (starts(line, looks[i].beginning))
            return looks[i].style;
    return STYLE_CODE;
}

void highlight_line(struct highlight *h, struct styled *out, const char *line, size_t len)
{
    struct scan s = {line, len, 0};
    if (!h->language) {
        emit(&s, out, len, STYLE_CODE);
        return;
    }
    if (h->language->flags & LANGUAGE_DIFF) {
        emit(&s, out, len, diff_style(&s));
        return;
    }
    if (h->until)
        finish_open(h, &s, out, 0);
    while (s.pos < s.len) {
        if (open_comment(h, &s, out) || open_string(h, &s, out))
            continue;
        if ((h->language->flags & LANGUAGE_TAGS) && add_tag(h, &s, out))
            continue;
        add_word(h, &s, out);
    }
}
