#include "index/words_query.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "chat/message.h"
#include "store/tokenizer.h"

/* One letter alone begins too many words. */
enum { PREFIX_BYTES = 2, STEM_BYTES = 3 };

struct parser {
    struct language *language;
    struct words_query *out;
};

/* ---- terms ---- */

static struct query_term *find_term(const struct words_query *q, const char *word)
{
    for (size_t i = 0; i < q->terms.len; i++)
        if (strcmp(q->terms.items[i].word, word) == 0)
            return &q->terms.items[i];
    return NULL;
}

static void add_term(struct words_query *q, const char *text, const struct token *t)
{
    if (q->terms.len == QUERY_TERMS || find_term(q, t->word))
        return;
    struct query_term term = {.raw = mem_strndup(text + t->start, t->end - t->start),
                              .word = mem_strdup(t->word),
                              .prefix = t->single};
    vec_push(&q->terms, term);
}

static void add_words(struct parser *p, const char *text, size_t len)
{
    struct tokens found;
    tokens_of(p->language, TOKENS_QUERY, text, len, &found);
    for (size_t i = 0; i < found.items.len; i++)
        add_term(p->out, text, &found.items.items[i]);
    tokens_release(&found);
}

/* The word that `whole` is, as another form of the term before. */
static void add_form(struct parser *p, const char *whole)
{
    struct tokens found;
    tokens_of(p->language, TOKENS_QUERY, whole, strlen(whole), &found);
    size_t before = p->out->terms.len;
    if (found.items.len == 1)
        add_term(p->out, whole, &found.items.items[0]);
    if (p->out->terms.len > before)
        vec_last(&p->out->terms).also = true;
    tokens_release(&found);
}

/* The index has "paint" for "painting", which "painti" does not begin: it is looked for as any word
 * that it becomes by an ending of which it has the beginning; and "buy" for "bought". */
static void add_completions(struct parser *p, const char *begun)
{
    size_t len = strlen(begun);
    for (const char *const *ending = language_endings(p->language); *ending; ending++)
        for (size_t has = 1; has < strlen(*ending) && len >= has + STEM_BYTES; has++)
            if (memcmp(begun + len - has, *ending, has) == 0) {
                char *whole = mem_printf("%s%s", begun, *ending + has);
                add_form(p, whole);
                free(whole);
            }
    const char *form = NULL;
    while (len >= STEM_BYTES && (form = language_next_form(p->language, begun, form)) != NULL)
        add_form(p, form);
}

/* The beginning of a word need not have an ending that could be taken off. */
static void add_open_word(struct parser *p, const char *text, size_t len)
{
    struct tokens folded;
    size_t whole = p->out->terms.len;
    add_words(p, text, len);
    bool also = p->out->terms.len > whole;
    tokens_of(p->language, TOKENS_PREFIX, text, len, &folded);
    const struct token *last = folded.items.len > 0 ? &vec_last(&folded.items) : NULL;
    if (last && strlen(last->word) >= PREFIX_BYTES) {
        struct query_term term = {.raw = mem_strndup(text + last->start, last->end - last->start),
                                  .word = mem_strdup(last->word),
                                  .prefix = true,
                                  .also = also};
        vec_push(&p->out->terms, term);
        add_completions(p, last->word);
    }
    tokens_release(&folded);
}

/* ---- phrases ---- */

static bool has_word(struct parser *p, const char *text, size_t len)
{
    struct tokens found;
    tokens_of(p->language, TOKENS_QUERY, text, len, &found);
    bool has = found.items.len > 0;
    tokens_release(&found);
    return has;
}

static void add_phrase(struct parser *p, const char *text, size_t len, bool excluded)
{
    if (p->out->phrases.len == QUERY_PHRASES || !has_word(p, text, len))
        return;
    struct query_phrase phrase = {.raw = mem_strndup(text, len), .excluded = excluded};
    vec_push(&p->out->phrases, phrase);
}

/* ---- parsing ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t word_len(const char *text)
{
    size_t len = 0;
    while (text[len] && !is_blank(text[len]))
        len++;
    return len;
}

/* The length of a phrase in quotes that begins here, with them; 0: none does. Quotes that stand
 * elsewhere (5", an open one) mean nothing. */
static size_t phrase_len(const char *text)
{
    const char *end = *text == '"' ? strchr(text + 1, '"') : NULL;
    return end ? (size_t)(end - text) + 1 : 0;
}

/* What stands at the beginning of `text`, which is no blank; returns its length. */
static size_t take(struct parser *p, const char *text, bool typing)
{
    bool excluded = text[0] == '-' && text[1] && !is_blank(text[1]) && text[1] != '-';
    const char *start = excluded ? text + 1 : text;
    size_t phrase = phrase_len(start), len = phrase > 0 ? phrase : word_len(start);
    if (phrase > 0)
        add_phrase(p, start + 1, phrase - 2, excluded);
    else if (excluded)
        add_phrase(p, start, len, true);
    if (excluded)
        return len + 1;
    size_t terms = p->out->terms.len;
    if (phrase == 0 && typing && start[len] == '\0')
        add_open_word(p, start, len);
    else
        add_words(p, start, len);
    p->out->beside = p->out->beside || (phrase == 0 && p->out->terms.len > terms);
    return len;
}

/* Quotes within what is no phrase would end one of FTS5's. */
static void blank_quotes(struct words_query *q)
{
    for (size_t i = 0; i < q->phrases.len; i++)
        for (char *c = q->phrases.items[i].raw; *c; c++)
            if (*c == '"')
                *c = ' ';
}

/* A role stands where a speaker would (memory_entry_speaker()), but nobody is called so. */
static void mark_roles(struct parser *p)
{
    static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        const char *name = role_name(roles[i]);
        struct tokens word;
        tokens_of(p->language, TOKENS_QUERY, name, strlen(name), &word);
        struct query_term *t =
            word.items.len > 0 ? find_term(p->out, word.items.items[0].word) : NULL;
        if (t)
            t->role = true;
        tokens_release(&word);
    }
}

void words_query_parse(struct language *l, const char *text, bool typing, struct words_query *out)
{
    *out = (struct words_query){0};
    struct parser p = {.language = l, .out = out};
    char *copy =
        mem_strndup(text, utf8_cut_bytes(text, strnlen(text, QUERY_BYTES + 4), QUERY_BYTES));
    for (const char *at = copy; *at;)
        at += is_blank(*at) ? 1 : take(&p, at, typing);
    blank_quotes(out);
    mark_roles(&p);
    free(copy);
}

bool words_query_loosen(struct words_query *q)
{
    size_t kept = 0, before = q->phrases.len;
    for (size_t i = 0; q->beside && i < before; i++) {
        if (q->phrases.items[i].excluded)
            q->phrases.items[kept++] = q->phrases.items[i];
        else
            free(q->phrases.items[i].raw);
    }
    q->phrases.len = q->beside ? kept : before;
    return q->phrases.len < before;
}

void words_query_release(struct words_query *q)
{
    for (size_t i = 0; i < q->terms.len; i++) {
        free(q->terms.items[i].raw);
        free(q->terms.items[i].word);
    }
    for (size_t i = 0; i < q->phrases.len; i++)
        free(q->phrases.items[i].raw);
    vec_release(&q->terms);
    vec_release(&q->phrases);
}

bool query_term_meets(const struct query_term *t, const char *word, const char *folded)
{
    return strcmp(t->word, word) == 0 ||
           (t->prefix && folded && strncmp(t->word, folded, strlen(t->word)) == 0);
}
