#include "knowledge/directive.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "knowledge/directive_patterns.h"
#include "knowledge/sentences.h"

enum { WORDS_LEAST = 2 /* that are kept of more */ };

/* --- patterns --------------------------------------------------------------------------------- */

/* A sentence that is compared: its words from `first` to before `end`. */
struct said {
    const struct folded_words *words;
    size_t first, end;
    bool lasting;
};

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

/* --- what is said around it ------------------------------------------------------------------- */

/* Words of the phrase if they stand at `at`; 0: they do not. */
static size_t phrase_at(const struct said *s, size_t at, const char *phrase)
{
    size_t count = 0;
    for (const char *p = phrase; *p; p = element_after(p), count++)
        if (at + count >= s->end ||
            !is_of(s->words->items.items[at + count].text, p, element_len(p)))
            return 0;
    return count;
}

static size_t phrase_len(const char *phrase)
{
    size_t count = 0;
    for (; *phrase; phrase = element_after(phrase))
        count++;
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
        size_t len = phrase_len(c->words);
        if (len > s->end - s->first || phrase_at(s, s->end - len, c->words) == 0)
            continue;
        s->end -= len;
        s->lasting = s->lasting || c->lasting;
        return true;
    }
    return false;
}

/* --- what is kept ----------------------------------------------------------------------------- */

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

static bool is_directive(const struct sentence *sentence, const struct folded_words *words,
                         struct directive *out)
{
    struct said s = {.words = words, .end = words->items.len};
    bool asks = false;
    size_t kept;
    while (strip_before(&s, &asks))
        continue;
    while (strip_behind(&s))
        continue;
    if (sentence->question && !asks)
        return false;
    const struct directive_pattern *p = find_pattern(&s, &kept);
    if (!p || p->kind == DIRECTIVE_NONE || (kept > s.first && s.end < kept + WORDS_LEAST))
        return false;
    *out =
        (struct directive){.kind = (enum learned_kind)p->kind, .text = text_of(sentence, &s, kept)};
    return true;
}

bool directive_of(const struct sentence *s, struct directive *out)
{
    struct folded_words words = {0};
    *out = (struct directive){.text = NULL};
    if (s->len > LEARNED_TEXT_BYTES || !utf8_valid(s->text, s->len) || sentence_quotes(s))
        return false;
    folded_words_read(s->text, s->len, &words);
    bool found = is_directive(s, &words, out);
    folded_words_release(&words);
    return found;
}

void directives_release(struct directives *d)
{
    for (size_t i = 0; i < d->items.len; i++)
        free(d->items.items[i].text);
    vec_release(&d->items);
}

static void add_new(struct directives *out, struct directive d)
{
    for (size_t i = 0; i < out->items.len; i++)
        if (strcmp(out->items.items[i].text, d.text) == 0) {
            free(d.text);
            return;
        }
    vec_push(&out->items, d);
}

void directives_read(const char *message, struct directives *out)
{
    struct sentences sentences = {0};
    struct directive d;
    sentences_read(message, &sentences);
    for (size_t i = 0; i < sentences.items.len && out->items.len <= DIRECTIVES_MOST; i++)
        if (directive_of(&sentences.items.items[i], &d))
            add_new(out, d);
    vec_release(&sentences.items);
    if (out->items.len > DIRECTIVES_MOST)
        directives_release(out);
}
