#include "store/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/sql.h"
#include "store/token_fold.h"
#include "store/token_scan.h"

/* ---- tokens of a text ---- */

struct run {
    struct language *language;
    enum token_purpose purpose;
    const char *text;
    size_t place; /* of the next token */
    token_teller tell;
    void *context;
    struct buf word;

    /* The sign before, if it was the last piece: */
    struct buf sign;
    size_t sign_start, sign_end;
    bool has_sign, has_pair;
};

static int tell(struct run *r, const struct buf *word, size_t start, size_t end, size_t place,
                bool single)
{
    struct token_seen t = {.word = word->data,
                           .len = word->len,
                           .start = start,
                           .end = end,
                           .place = place,
                           .single = single};
    return r->tell(r->context, &t);
}

/* A sign alone is a token; at the end of a run of them only in a text, at the place of the pair. */
static int end_signs(struct run *r)
{
    bool told = r->has_sign && (!r->has_pair || r->purpose == TOKENS_TEXT);
    size_t place = r->has_pair ? r->place - 1 : r->place;
    if (told && !r->has_pair)
        r->place++;
    r->has_sign = r->has_pair = false;
    return told ? tell(r, &r->sign, r->sign_start, r->sign_end, place, true) : 0;
}

static int add_sign(struct run *r, const struct piece *p)
{
    int result = 0;
    if (r->has_sign && r->sign_end != p->start)
        result = end_signs(r);
    if (!r->has_sign)
        buf_clear(&r->sign);
    size_t before = r->sign.len;
    token_fold(&r->sign, r->text + p->start, p->end - p->start);
    if (result == 0 && r->has_sign) {
        result = tell(r, &r->sign, r->sign_start, p->end, r->place++, false);
        r->has_pair = true;
        buf_consume(&r->sign, before);
    }
    r->has_sign = true;
    r->sign_start = p->start;
    r->sign_end = p->end;
    return result;
}

static int add_word(struct run *r, const struct piece *p)
{
    static const enum word_form forms[] = {[TOKENS_TEXT] = WORD_STEM,
                                           [TOKENS_QUERY] = WORD_STEM,
                                           [TOKENS_EVERY] = WORD_ANY_STEM,
                                           [TOKENS_PREFIX] = WORD_PREFIX};
    enum word_form form = forms[r->purpose];
    if (!language_word(r->language, r->text + p->start, p->end - p->start, form, &r->word))
        return 0;
    return tell(r, &r->word, p->start, p->end, r->place++, false);
}

/* Without tones of skin and the choice of presentation. */
static int add_emoji(struct run *r, const struct piece *p)
{
    buf_clear(&r->word);
    for (size_t at = p->start, used; at < p->end && r->word.len < WORD_CHARACTERS; at += used) {
        uint32_t cp;
        used = utf8_decode(r->text + at, p->end - at, &cp);
        bool plain = cp != 0xFE0E && cp != 0xFE0F && !(cp >= 0x1F3FB && cp <= 0x1F3FF);
        if (plain || r->word.len == 0)
            buf_add(&r->word, r->text + at, used);
    }
    return tell(r, &r->word, p->start, p->end, r->place++, false);
}

static int add_piece(struct run *r, const struct piece *p)
{
    if (p->kind == PIECE_SIGN)
        return add_sign(r, p);
    int result = end_signs(r);
    if (result != 0)
        return result;
    return p->kind == PIECE_WORD ? add_word(r, p) : add_emoji(r, p);
}

static int add_mark(struct run *r, size_t len)
{
    char mark = len > 0 ? r->text[len - 1] : '\0';
    if (r->purpose != TOKENS_TEXT || !token_is_mark(mark) || r->place == 0)
        return 0;
    buf_clear(&r->word);
    buf_addch(&r->word, mark);
    return tell(r, &r->word, len - 1, len, r->place - 1, false);
}

int tokens_each(struct language *l, enum token_purpose purpose, const char *text, size_t len,
                token_teller teller, void *context)
{
    struct token_scan scan = {.text = text, .len = len, .elides = language_elides(l)};
    struct run r = {.language = l,
                    .purpose = purpose,
                    .text = text,
                    .tell = teller,
                    .context = context,
                    .word = BUF_INIT,
                    .sign = BUF_INIT};
    struct piece p;
    int result = 0;
    while (result == 0 && token_scan_next(&scan, &p))
        result = add_piece(&r, &p);
    if (result == 0)
        result = end_signs(&r);
    if (result == 0)
        result = add_mark(&r, len);
    buf_release(&r.word);
    buf_release(&r.sign);
    return result;
}

static int keep_token(void *context, const struct token_seen *t)
{
    struct tokens *out = context;
    struct token kept = {.word = mem_strndup(t->word, t->len),
                         .start = t->start,
                         .end = t->end,
                         .place = t->place,
                         .single = t->single};
    vec_push(&out->items, kept);
    return 0;
}

void tokens_of(struct language *l, enum token_purpose purpose, const char *text, size_t len,
               struct tokens *out)
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
    tokens_of(l, keep_stop_words ? TOKENS_EVERY : TOKENS_QUERY, text, len, out);
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

static struct language *language_of(Fts5Tokenizer *t)
{
    return ((struct fts5_words *)t)->language;
}

static int create(void *store, const char **arguments, int count, Fts5Tokenizer **out)
{
    struct language *l = language_new(count > 0 ? arguments[0] : "english");
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
    struct store *s = ((struct fts5_words *)t)->store;
    for (size_t i = s->languages.len; i-- > 0;)
        if (s->languages.items[i] == language_of(t))
            vec_remove(&s->languages, i, 1);
    if (s->languages.len == 0)
        vec_release(&s->languages);
    language_free(language_of(t));
    free(t);
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
    return tokens_each(language_of(t), purpose, text ? text : "", text ? (size_t)len : 0, tell_fts5,
                       &f);
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
