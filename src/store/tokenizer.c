#include "store/tokenizer.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/sql.h"

/* ---- pieces of a text, from left to right ---- */

/* WORD: letters, marks and digits of scripts that put blanks between words, apostrophes within.
 * SIGN: one character, with its modifiers, of a script that does not (Han, Kana, Hangul, Thai …).
 * EMOJI: one, however many characters it has. */
enum piece_kind { PIECE_WORD, PIECE_SIGN, PIECE_EMOJI };

struct piece {
    enum piece_kind kind;
    size_t start, end; /* bytes */
};

struct token_scan {
    const char *text;
    size_t len, at;
    bool elides; /* apostrophes separate words */
};

enum character { CLASS_OTHER, CLASS_WORD, CLASS_SIGN, CLASS_MARK, CLASS_JOINER, CLASS_EMOJI };

/* Scripts without blanks between words. Other characters in these ranges (punctuation) are no
 * letters. */
static bool is_sign_script(uint32_t cp)
{
    static const uint32_t scripts[][2] = {
        {0x0E00, 0x0EFF}, /* Thai, Lao */
        {0x1000, 0x109F}, /* Myanmar */
        {0x1100, 0x11FF}, /* Hangul by parts */
        {0x1780, 0x17FF}, /* Khmer */
        {0x2E80, 0x2FDF}, /* radicals */
        {0x3005, 0x3007}, {0x3021, 0x30FF},   {0x3100, 0x318F},   {0x31A0, 0x31FF},
        {0x3400, 0x9FFF}, {0xA960, 0xA97F},   {0xAC00, 0xD7FF},   {0xF900, 0xFAFF},
        {0xFF66, 0xFFDC}, {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFF},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (cp >= scripts[i][0] && cp <= scripts[i][1])
            return true;
    return false;
}

static bool is_plain(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

static enum character class_at(const struct token_scan *scan, size_t at, size_t *used, uint32_t *cp)
{
    *used = utf8_decode(scan->text + at, scan->len - at, cp);
    if (*used == 0 || *cp < 0x80)
        return *used > 0 && is_plain((char)*cp) ? CLASS_WORD : CLASS_OTHER;
    const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)*cp);
    int category = (int)p->category;
    if (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME)
        return CLASS_MARK;
    if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO) {
        /* Halfwidth voicing, and the later parts of a Hangul syllable, belong to the character
         * before. */
        if (*cp == 0xFF9E || *cp == 0xFF9F || (*cp >= 0x1160 && *cp <= 0x11FF) ||
            (*cp >= 0xD7B0 && *cp <= 0xD7FF) || *cp == 0x0E33 || *cp == 0x0EB3)
            return CLASS_MARK;
        return is_sign_script(*cp) ? CLASS_SIGN : CLASS_WORD;
    }
    if ((*cp >= 0x2190 && p->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC) ||
        p->boundclass == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR)
        return CLASS_EMOJI;
    return *cp == 0x00AD || *cp == 0x200C || *cp == 0x200D ? CLASS_JOINER : CLASS_OTHER;
}

/* Whether a letter follows, possibly behind an apostrophe or an invisible character. */
static bool word_goes_on(const struct token_scan *scan, size_t at, size_t *used)
{
    uint32_t cp, next_cp;
    size_t next_used;
    enum character c = class_at(scan, at, used, &cp);
    if (c == CLASS_WORD || c == CLASS_MARK)
        return true;
    if (*used == 0 || (c != CLASS_JOINER && (scan->elides || !token_is_apostrophe(cp))))
        return false;
    return class_at(scan, at + *used, &next_used, &next_cp) == CLASS_WORD;
}

/* False at the end of the text. Invalid bytes separate words. */
static bool scan_next(struct token_scan *scan, struct piece *out)
{
    while (scan->at < scan->len) {
        size_t used;
        uint32_t cp;
        enum character c = class_at(scan, scan->at, &used, &cp);
        out->start = scan->at;
        scan->at += used;
        switch (c) {
        case CLASS_WORD:
            out->kind = PIECE_WORD;
            do
                while (scan->at < scan->len && is_plain(scan->text[scan->at]))
                    scan->at++;
            while (word_goes_on(scan, scan->at, &used) && (scan->at += used));
            break;
        case CLASS_SIGN:
            out->kind = PIECE_SIGN;
            while (class_at(scan, scan->at, &used, &cp) == CLASS_MARK)
                scan->at += used;
            break;
        case CLASS_EMOJI:
            out->kind = PIECE_EMOJI;
            scan->at = utf8_next(scan->text, scan->len, out->start);
            break;
        default:
            continue;
        }
        out->end = scan->at;
        return true;
    }
    return false;
}

/* ---- languages of a text ---- */

/* The language of a text shows in its first bytes; one with a lead of so many points has won. One
 * stop word makes it English, but nothing else ("a red car" has a French one). A short text may
 * have the stems of all languages. */
enum {
    FOUND_BYTES = 600,
    FOUND_LEAST = 2 * LANGUAGE_VOTE,
    FOUND_LEAD = 8 * LANGUAGE_VOTE,
    SHORT_BYTES = 200
};

struct text_languages text_languages_find(struct language *l, const char *text, size_t len)
{
    struct token_scan scan = {.text = text, .len = len < FOUND_BYTES ? len : FOUND_BYTES};
    struct text_languages out = {0};
    struct language *english = language_part(l, 0);
    int points[LANGUAGE_PARTS] = {0}, lead = 0;
    size_t best = 0;
    struct piece p;
    size_t marked = len > 0 ? (size_t)(text[0] - TOKEN_LANGUAGE) : LANGUAGE_PARTS;
    if (!language_part(l, 1) || marked < LANGUAGE_PARTS) {
        out.items[out.count++] = language_part(l, 1) ? language_part(l, marked) : english;
        return out;
    }
    while (lead < FOUND_LEAD && scan_next(&scan, &p)) {
        if (p.kind != PIECE_WORD || !language_vote(l, text + p.start, p.end - p.start, points))
            continue;
        lead = INT_MAX;
        for (size_t i = 0; i < LANGUAGE_PARTS; i++)
            if (points[i] > points[best])
                best = i;
        for (size_t i = 0; i < LANGUAGE_PARTS; i++)
            if (i != best && points[best] - points[i] < lead)
                lead = points[best] - points[i];
    }
    bool found = points[best] >= (best > 0 ? FOUND_LEAST : LANGUAGE_VOTE) && lead > 0;
    if (found && best > 0)
        out.items[out.count++] = language_part(l, best);
    out.items[out.count++] = english;
    for (size_t i = 1; !found && len <= SHORT_BYTES && i < LANGUAGE_PARTS; i++)
        out.items[out.count++] = language_part(l, i);
    return out;
}

/* ---- identifiers ---- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Returns the end of the part that begins at `at`: "HTTPServerError" has the parts "HTTP", "Server"
 * and "Error"; "IDs", "4K" and "10MB" have one part each. */
static size_t part_end(const char *text, size_t at, size_t end)
{
    size_t from = at, capitals;
    while (at < end && is_upper(text[at]))
        at++;
    capitals = at - from;
    if (capitals > 1 && at + 1 < end && is_lower(text[at]) && is_lower(text[at + 1]))
        return at - 1;
    bool letters = capitals > 0;
    for (; at < end && !(is_upper(text[at]) && letters); at++)
        letters = letters || is_lower(text[at]);
    return at;
}

/* ---- tokens of a text ---- */

struct tokenizing {
    const struct text_languages *languages;
    enum token_purpose purpose;
    const char *text;
    size_t place; /* of the next token */
    token_teller tell;
    void *context;
    struct buf *word, *others; /* the stems of a word in other languages, each with its NUL */

    /* The sign before, if it was the last piece: */
    struct buf *sign;
    size_t sign_start, sign_end;
    bool has_sign, has_pair;
};

static int tell(struct tokenizing *r, const struct buf *word, size_t start, size_t end,
                size_t place, bool single)
{
    struct token_seen t = {.word = word->data,
                           .len = word->len,
                           .start = start,
                           .end = end,
                           .place = place,
                           .single = single,
                           .language = r->languages->items[0]};
    return r->tell(r->context, &t);
}

/* A single sign is a token; the last one of several only in a text, at the place of the last pair.
 */
static int end_signs(struct tokenizing *r)
{
    bool told = r->has_sign && (!r->has_pair || r->purpose == TOKENS_TEXT);
    size_t place = r->has_pair ? r->place - 1 : r->place;
    if (told && !r->has_pair)
        r->place++;
    r->has_sign = r->has_pair = false;
    return told ? tell(r, r->sign, r->sign_start, r->sign_end, place, true) : 0;
}

static int add_sign(struct tokenizing *r, const struct piece *p)
{
    int result = 0;
    if (r->has_sign && r->sign_end != p->start)
        result = end_signs(r);
    if (!r->has_sign)
        buf_clear(r->sign);
    size_t before = r->sign->len;
    token_fold(r->sign, r->text + p->start, p->end - p->start);
    if (result == 0 && r->has_sign) {
        result = tell(r, r->sign, r->sign_start, p->end, r->place++, false);
        r->has_pair = true;
        buf_consume(r->sign, before);
    }
    r->has_sign = true;
    r->sign_start = p->start;
    r->sign_end = p->end;
    return result;
}

/* Adds the stems of a word at the place of the next token. */
static int add_stems(struct tokenizing *r, const struct piece *p, bool in_identifier)
{
    static const enum word_form forms[] = {[TOKENS_TEXT] = WORD_STEM,
                                           [TOKENS_QUERY] = WORD_STEM,
                                           [TOKENS_EVERY] = WORD_ANY_STEM,
                                           [TOKENS_PREFIX] = WORD_PREFIX};
    enum word_form form = forms[r->purpose];
    const struct text_languages *all = r->languages;
    size_t len = p->end - p->start, others = form == WORD_PREFIX ? 1 : all->count;
    if (!language_word(all->items[0], r->text + p->start, len, form, r->word))
        return 0;
    struct token_seen t = {
        .start = p->start, .end = p->end, .place = r->place++, .in_identifier = in_identifier};
    int result = 0;
    buf_clear(r->others);
    for (size_t i = 0; result == 0 && i < others; i++) {
        bool fresh = i == 0 || language_word(all->items[i], r->text + p->start, len, form, r->word);
        for (size_t at = 0; fresh && at < r->others->len; at += strlen(r->others->data + at) + 1)
            fresh = strcmp(r->others->data + at, r->word->data) != 0;
        if (!fresh)
            continue;
        if (others > 1)
            buf_add(r->others, r->word->data, r->word->len + 1);
        t.word = r->word->data;
        t.len = r->word->len;
        t.language = all->items[i];
        t.also = i > 0;
        result = r->tell(r->context, &t);
    }
    return result;
}

/* Adds a word. If it is an ASCII identifier of several parts, each part of two characters or more
 * is a word, too; the whole has the place of the first part. */
static int add_word(struct tokenizing *r, const struct piece *p)
{
    size_t end = part_end(r->text, p->start, p->end), place = r->place;
    bool in_identifier = end < p->end && r->purpose != TOKENS_PREFIX;
    for (size_t i = p->start; in_identifier && i < p->end; i++)
        in_identifier = is_plain(r->text[i]);
    int result = add_stems(r, p, in_identifier);
    if (!in_identifier)
        return result;
    size_t next = r->place;
    r->place = place;
    for (size_t at = p->start; result == 0 && at < p->end; at = end) {
        end = part_end(r->text, at, p->end);
        if (end - at > 1)
            result = add_stems(r, &(struct piece){PIECE_WORD, at, end}, true);
    }
    r->place = r->place > next ? r->place : next;
    return result;
}

/* Skin tones and the choice of presentation are left out. */
static int add_emoji(struct tokenizing *r, const struct piece *p)
{
    buf_clear(r->word);
    for (size_t at = p->start, used; at < p->end && r->word->len < WORD_CHARACTERS; at += used) {
        uint32_t cp;
        used = utf8_decode(r->text + at, p->end - at, &cp);
        bool plain = cp != 0xFE0E && cp != 0xFE0F && !(cp >= 0x1F3FB && cp <= 0x1F3FF);
        if (plain || r->word->len == 0)
            buf_add(r->word, r->text + at, used);
    }
    return tell(r, r->word, p->start, p->end, r->place++, false);
}

int tokens_each(const struct text_languages *l, enum token_purpose purpose, const char *text,
                size_t len, token_teller teller, void *context)
{
    struct token_scan scan = {.text = text, .len = len, .elides = language_elides(l->items[0])};
    AUTO(buf_release) struct buf word = BUF_INIT;
    AUTO(buf_release) struct buf sign = BUF_INIT;
    AUTO(buf_release) struct buf others = BUF_INIT;
    struct tokenizing r = {.languages = l,
                           .purpose = purpose,
                           .text = text,
                           .tell = teller,
                           .context = context,
                           .word = &word,
                           .others = &others,
                           .sign = &sign};
    struct piece p;
    int result = 0;
    while (result == 0 && scan_next(&scan, &p)) {
        if (p.kind != PIECE_SIGN)
            result = end_signs(&r);
        if (result == 0)
            result = p.kind == PIECE_SIGN   ? add_sign(&r, &p)
                     : p.kind == PIECE_WORD ? add_word(&r, &p)
                                            : add_emoji(&r, &p);
    }
    if (result == 0)
        result = end_signs(&r);
    char mark = len > 0 ? text[len - 1] : '\0';
    if (result != 0 || purpose != TOKENS_TEXT || !token_is_mark(mark) || r.place == 0)
        return result;
    buf_clear(&word);
    buf_addch(&word, mark);
    return tell(&r, &word, len - 1, len, r.place - 1, false);
}

static int keep_token(void *context, const struct token_seen *t)
{
    struct tokens *out = context;
    struct token kept = {.word = mem_strndup(t->word, t->len),
                         .start = t->start,
                         .end = t->end,
                         .place = t->place,
                         .single = t->single,
                         .also = t->also,
                         .in_identifier = t->in_identifier,
                         .language = t->language};
    vec_push(&out->items, kept);
    return 0;
}

void tokens_of(const struct text_languages *l, enum token_purpose purpose, const char *text,
               size_t len, struct tokens *out)
{
    *out = (struct tokens){0};
    tokens_each(l, purpose, text, len, keep_token, out);
}

bool tokenize(const char *language, const char *text, size_t len, bool keep_stop_words,
              struct tokens *out)
{
    struct language *l = language_new(language);
    *out = (struct tokens){0};
    if (!l)
        return false;
    struct text_languages found = text_languages_find(l, text, len);
    tokens_of(&found, keep_stop_words ? TOKENS_EVERY : TOKENS_QUERY, text, len, out);
    language_free(l);
    return true;
}

void tokens_release(struct tokens *t)
{
    for (size_t i = 0; i < t->items.len; i++)
        free(t->items.items[i].word);
    vec_release(&t->items);
}

/* ---- for FTS5 ---- */

struct fts5_words {
    struct store *store;
    struct language *language;
};

static int create(void *store, const char **arguments, int count, Fts5Tokenizer **out)
{
    struct language *l = language_new(count > 0 ? arguments[0] : "auto");
    struct fts5_words *words = l ? mem_alloc(sizeof *words) : NULL;
    *out = (Fts5Tokenizer *)words;
    if (!l)
        return SQLITE_ERROR;
    *words = (struct fts5_words){store, l};
    vec_push(&words->store->languages, l);
    return SQLITE_OK;
}

static void destroy(Fts5Tokenizer *t)
{
    struct fts5_words *words = (struct fts5_words *)t;
    struct store *s = words->store;
    vec_drop(&s->languages, words->language);
    if (s->languages.len == 0)
        vec_release(&s->languages);
    language_free(words->language);
    free(words);
}

struct fts5_teller {
    void *context;
    int (*tell)(void *, int, const char *, int, int, int);
    size_t place; /* of the next token */
};

static int tell_fts5(void *context, const struct token_seen *t)
{
    struct fts5_teller *f = context;
    int flags = t->place < f->place ? FTS5_TOKEN_COLOCATED : 0;
    f->place = t->place + 1;
    return f->tell(f->context, flags, t->word, (int)t->len, (int)t->start, (int)t->end);
}

static int tokenize_for_fts5(Fts5Tokenizer *t, void *context, int flags, const char *text, int len,
                             int (*teller)(void *, int, const char *, int, int, int))
{
    struct fts5_teller f = {.context = context, .tell = teller};
    enum token_purpose purpose = TOKENS_TEXT;
    if (flags & FTS5_TOKENIZE_PREFIX)
        purpose = TOKENS_PREFIX;
    else if (flags & FTS5_TOKENIZE_QUERY)
        purpose = TOKENS_QUERY;
    size_t bytes = text ? (size_t)len : 0;
    struct language *l = ((struct fts5_words *)t)->language;
    struct text_languages found = text_languages_find(l, text ? text : "", bytes);
    return tokens_each(&found, purpose, text ? text : "", bytes, tell_fts5, &f);
}

bool tokenizer_register(struct store *s, struct error *e)
{
    static const fts5_tokenizer functions = {create, destroy, tokenize_for_fts5};
    fts5_api *api;
    if (!store_fts5(s, &api, e))
        return false;
    fts5_tokenizer copy = functions;
    int result = api->xCreateTokenizer(api, "tiro", s, &copy, NULL);
    return result == SQLITE_OK || store_fault(s, result, e);
}
