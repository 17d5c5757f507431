#include "knowledge/directive.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/directive_patterns.h"
#include "knowledge/sentences.h"

enum { WORDS_LEAST = 2 /* that are kept of more */ };

/* --- patterns --------------------------------------------------------------------------------- */

/* The words of a sentence from `first` to before `end`. */
struct said {
    const struct folded_words *words;
    size_t first, end;
    bool lasting; /* "from now on" was said */
};

/* Whether the word is one of the alternatives: "word|word|$class". */
static bool is_of(const char *word, const char *alternatives, size_t len)
{
    size_t mine = strlen(word);
    for (const char *at = alternatives, *stop = alternatives + len; at < stop;) {
        const char *bar = memchr(at, '|', (size_t)(stop - at));
        size_t one = (size_t)((bar ? bar : stop) - at);
        const char *class = *at == '$' ? directive_class(at + 1, one - 1) : NULL;
        if (class ? is_of(word, class, strlen(class)) : one == mine && memcmp(at, word, one) == 0)
            return true;
        at += one + 1;
    }
    return false;
}

static size_t element_len(const char *pattern)
{
    return strcspn(pattern, " ");
}

static const char *element_after(const char *pattern)
{
    pattern += element_len(pattern);
    return pattern + strspn(pattern, " ");
}

/* Whether the words from `at` on fit the pattern; *kept is where the text begins that is kept. */
static bool fits(const struct said *s, size_t at, const char *pattern, size_t *kept)
{
    const char *rest = element_after(pattern);
    size_t len = element_len(pattern);
    switch (*pattern) {
    case '\0':
        return true;
    case '.':
        return at == s->end;
    case '@':
        return s->lasting && fits(s, at, rest, kept);
    case '<':
        *kept = at;
        return fits(s, at, rest, kept);
    case '*':
    case '~':
        for (size_t next = at + (*pattern == '*'); next <= s->end; next++)
            if (fits(s, next, rest, kept))
                return true;
        return false;
    case '?':
        if (at < s->end && is_of(s->words->items.items[at].text, pattern + 1, len - 1) &&
            fits(s, at + 1, rest, kept))
            return true;
        return fits(s, at, rest, kept);
    default:
        return at < s->end && is_of(s->words->items.items[at].text, pattern, len) &&
               fits(s, at + 1, rest, kept);
    }
}

static const struct directive_pattern *find_pattern(const struct said *s, size_t *kept)
{
    static const struct directive_pattern *const tables[] = {directive_english, directive_german,
                                                             directive_spanish, directive_french};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct directive_pattern *p = tables[t]; p->pattern; p++) {
            *kept = s->first;
            if (fits(s, s->first, p->pattern, kept))
                return p;
        }
    return NULL;
}

/* --- courtesies ------------------------------------------------------------------------------- */

/* How many words the phrase has, if it stands at `at`; 0: it does not. */
static size_t phrase_at(const struct said *s, size_t at, const char *phrase)
{
    size_t count = 0;
    for (const char *p = phrase; *p; p = element_after(p), count++)
        if (at + count >= s->end ||
            !is_of(s->words->items.items[at + count].text, p, element_len(p)))
            return 0;
    return count;
}

static bool strip_before(struct said *s, bool *asks)
{
    for (const struct directive_courtesy *c = directive_before; c->words; c++) {
        size_t count = phrase_at(s, s->first, c->words);
        if (count == 0)
            continue;
        s->first += count;
        s->lasting = s->lasting || c->lasting;
        *asks = *asks || c->asks;
        return true;
    }
    return false;
}

static bool strip_behind(struct said *s)
{
    for (const struct directive_courtesy *c = directive_behind; c->words; c++) {
        size_t len = 0;
        for (const char *p = c->words; *p; p = element_after(p))
            len++;
        if (len > s->end - s->first || phrase_at(s, s->end - len, c->words) == 0)
            continue;
        s->end -= len;
        s->lasting = s->lasting || c->lasting;
        return true;
    }
    return false;
}

/* --- directives ------------------------------------------------------------------------------- */

/* Marks that belong to the first and the last word are kept with them: `code`, (brackets). */
static char *text_of(const struct sentence *sentence, const struct said *s, size_t kept)
{
    const struct folded_word *first = &s->words->items.items[kept];
    const struct folded_word *last = &s->words->items.items[s->end - 1];
    size_t begin = first->begin, end = last->end;
    size_t before = kept > 0 ? s->words->items.items[kept - 1].end : 0;
    bool whole = s->end == s->words->items.len;
    while (begin > before && !strchr(" \t,'", sentence->text[begin - 1]) &&
           (kept == 0 || strchr("`\"([{<$./~@#-", sentence->text[begin - 1])))
        begin--;
    if (whole)
        end = sentence->len;
    while (end > begin && strchr(" \t,", sentence->text[end - 1]))
        end--;
    return mem_strndup(sentence->text + begin, end - begin);
}

bool directive_of(const struct sentence *s, struct directive *out)
{
    AUTO(folded_words_release) struct folded_words words = {0};
    bool asks = false;
    size_t kept;
    *out = (struct directive){.text = NULL};
    if (s->len > LEARNED_TEXT_BYTES || !utf8_valid(s->text, s->len) || sentence_quotes(s))
        return false;
    folded_words_read(s->text, s->len, &words);
    struct said said = {.words = &words, .end = words.items.len};
    while (strip_before(&said, &asks))
        continue;
    while (strip_behind(&said))
        continue;
    if (s->question && !asks)
        return false;
    const struct directive_pattern *p = find_pattern(&said, &kept);
    if (!p || p->kind == DIRECTIVE_NONE || (kept > said.first && said.end < kept + WORDS_LEAST))
        return false;
    *out = (struct directive){.kind = (enum learned_kind)p->kind, .text = text_of(s, &said, kept)};
    return true;
}

void directives_release(struct directives *d)
{
    for (size_t i = 0; i < d->items.len; i++)
        free(d->items.items[i].text);
    vec_release(&d->items);
}

void directives_read(const char *message, struct directives *out)
{
    AUTO(vec_release_local) struct sentences sentences = {0};
    struct directive d;
    sentences_read(message, &sentences);
    for (size_t i = 0; i < sentences.items.len && out->items.len <= DIRECTIVES_MOST; i++) {
        bool known = !directive_of(&sentences.items.items[i], &d);
        for (size_t k = 0; k < out->items.len && !known; k++)
            known = strcmp(out->items.items[k].text, d.text) == 0;
        if (known)
            free(d.text);
        else
            vec_push(&out->items, d);
    }
    if (out->items.len > DIRECTIVES_MOST)
        directives_release(out);
}
