#include "knowledge/sentences.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "chat/session_info.h"
#include "store/language.h"

enum { CODE_COLUMNS = 4, TAB_COLUMNS = 4, FENCE = 3 };

/* --- marks ------------------------------------------------------------------------------------ */

/* Marks around a quotation; an apostrophe is none. */
static const struct {
    const char *open, *close;
} quotes[] = {{"\"", "\""}, {"\u201c", "\u201d"}, {"\u201e", "\u201c"}, {"\u00ab", "\u00bb"}};

/* The dot behind these words belongs to them. */
static const char *const abbreviations[] = {"e.g",  "i.e", "vs",   "cf",  "approx", "dr",   "mr",
                                            "mrs",  "ms",  "prof", "z.b", "d.h",    "u.a",  "bzw",
                                            "evtl", "ggf", "inkl", "ca",  "nr",     "p.ej", "ej",
                                            "p.ex", "ex",  "sr",   "sra", "mme",    NULL};

/* Abbreviations that can end a sentence: the next one begins with a capital letter. */
static const char *const closing_abbreviations[] = {"etc", "usw", "env", NULL};

/* A number and a dot behind one of these is an ordinal number: "am 3. Mai". */
static const char *const before_ordinals[] = {"am",  "den", "dem", "der", "vom",
                                              "zum", "im",  "ab",  NULL};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_one_of(const char *word, size_t len, const char *const *words)
{
    while (*words && (strlen(*words) != len || strncasecmp(*words, word, len) != 0))
        words++;
    return *words;
}

static const char *word_before(const char *begin, const char *end)
{
    while (end > begin && !is_blank(end[-1]) && end[-1] != '(')
        end--;
    return end;
}

/* Whether the dot belongs to the word before it. */
static bool dot_goes_on(const char *begin, const char *dot, const char *end)
{
    const char *word = word_before(begin, dot), *next = dot + 1;
    size_t len = (size_t)(dot - word), digits = 0;
    while (next < end && is_blank(*next))
        next++;
    bool lower = next < end && islower((unsigned char)*next);
    while (digits < len && isdigit((unsigned char)word[digits]))
        digits++;
    if (len > 0 && digits == len) { /* an ordinal number: "am 3. Mai" */
        const char *before = word;
        while (before > begin && is_blank(before[-1]))
            before--;
        const char *first = word_before(begin, before);
        return lower || word == begin ||
               is_one_of(first, (size_t)(before - first), before_ordinals);
    }
    bool initial = len == 1 && isalpha((unsigned char)*word) && next < end;
    return initial || is_one_of(word, len, abbreviations) ||
           (lower && is_one_of(word, len, closing_abbreviations));
}

static bool ends_here(const char *begin, const char *at, const char *end)
{
    if (!strchr(".;!?", *at))
        return false;
    const char *next = at + 1;
    while (next < end && strchr(".;!?)\"", *next))
        next++;
    if (next < end && !is_blank(*next))
        return false;
    return *at != '.' || !dot_goes_on(begin, at, end);
}

/* --- what is skipped -------------------------------------------------------------------------- */

static const char *find(const char *at, const char *end, const char *mark)
{
    size_t len = strlen(mark);
    for (; at + len <= end; at++)
        if (memcmp(at, mark, len) == 0)
            return at;
    return NULL;
}

/* The end of a quotation or of code that begins here; `at`: none does. */
static const char *skip_marked(const char *at, const char *end)
{
    const char *close = *at == '`' ? find(at + 1, end, "`") : NULL;
    if (close)
        return close + 1;
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        size_t open = strlen(quotes[i].open);
        if ((size_t)(end - at) <= open || memcmp(at, quotes[i].open, open) != 0)
            continue;
        close = find(at + open, end, quotes[i].close);
        if (close)
            return close + strlen(quotes[i].close);
    }
    return at;
}

bool sentence_quotes(const struct sentence *s)
{
    return s->len > 0 && *s->text != '`' && skip_marked(s->text, s->text + s->len) > s->text;
}

/* The length of a fence's run of marks; 0: the line is none. */
static size_t fence_of(const char *text, const char *end, char *mark)
{
    size_t run = 0;
    while (text + run < end && text[run] == *text && (*text == '`' || *text == '~'))
        run++;
    *mark = run >= FENCE ? *text : '\0';
    return run >= FENCE ? run : 0;
}

/* --- sentences -------------------------------------------------------------------------------- */

static void add(struct sentences *out, const char *begin, const char *end, bool question)
{
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && (is_blank(end[-1]) || strchr(".;!?", end[-1])))
        end--;
    if (begin == end || skip_marked(begin, end) == end)
        return;
    vec_push(&out->items,
             (struct sentence){.text = begin, .len = (size_t)(end - begin), .question = question});
}

static void split_line(struct sentences *out, const char *begin, const char *end)
{
    const char *at = begin;
    while (at < end) {
        const char *after = skip_marked(at, end);
        if (after > at) {
            at = after;
        } else if (ends_here(begin, at, end)) {
            bool question = *at == '?';
            for (at++; at < end && strchr(".;!?)\"", *at); at++)
                question = question || *at == '?';
            add(out, begin, at, question);
            begin = at;
        } else {
            at++;
        }
    }
    add(out, begin, end, false);
}

/* Without attached files, white space at the beginning counts as indentation. */
void sentences_read(const char *message, struct sentences *out)
{
    char fence = '\0', mark;
    size_t fence_run = 0;
    const char *line = attached_files_end(message), *end;
    if (line == message + strspn(message, " \t\r\n"))
        line = message;
    for (; *line; line = end + (*end == '\n')) {
        const char *text = line;
        size_t indent = 0;
        end = line + strcspn(line, "\n");
        for (; text < end && is_blank(*text); text++)
            indent += *text == '\t' ? TAB_COLUMNS : 1;
        size_t run = text < end ? fence_of(text, end, &mark) : 0;
        if (fence) {
            if (run >= fence_run && mark == fence)
                fence = '\0';
        } else if (run > 0) {
            fence = mark;
            fence_run = run;
        } else if (indent < CODE_COLUMNS && text < end && *text != '>') {
            split_line(out, text, end);
        }
    }
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_word_character(uint32_t cp)
{
    if (cp < 0x80)
        return (cp >= '0' && cp <= '9') || (cp >= 'A' && cp <= 'Z') || (cp >= 'a' && cp <= 'z');
    bool latin_mark = cp <= 0xBF || cp == 0xD7 || cp == 0xF7;
    bool punctuation = (cp >= 0x2000 && cp <= 0x206F) || (cp >= 0x3000 && cp <= 0x303F);
    return !latin_mark && !punctuation;
}

void folded_words_read(const char *text, size_t len, struct folded_words *out)
{
    size_t at = 0;
    while (at < len) {
        uint32_t cp;
        size_t end = at, step = utf8_decode(text + at, len - at, &cp);
        while (end < len && is_word_character(cp)) {
            end += step;
            step = end < len ? utf8_decode(text + end, len - end, &cp) : 0;
        }
        if (end > at) {
            struct buf folded = BUF_INIT;
            token_fold(&folded, text + at, end - at);
            token_strip_marks(&folded);
            vec_push(&out->items, (struct folded_word){buf_take(&folded), at, end});
        } else if (cp == ':') {
            vec_push(&out->items, (struct folded_word){mem_strdup(":"), at, at + 1});
        }
        at = end > at ? end : at + step;
    }
}

void folded_words_release(struct folded_words *w)
{
    for (size_t i = 0; i < w->items.len; i++)
        free(w->items.items[i].text);
    vec_release(&w->items);
}
