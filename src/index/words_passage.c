#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "index/words_private.h"
#include "index/words_query.h"
#include "store/tokenizer.h"

/* Of a longer text only the words of its passage are marked. */
enum { MARKED_BYTES = 64 * 1024 };

/* ---- passages ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static bool ends_paragraph(const char *text, size_t at)
{
    return at >= 2 && text[at - 1] == '\n' && text[at - 2] == '\n';
}

static bool ends_line(const char *text, size_t at)
{
    return text[at - 1] == '\n';
}

static bool ends_sentence(const char *text, size_t at)
{
    return at >= 2 && is_blank(text[at - 1]) && strchr(".!?", text[at - 2]) && text[at - 2];
}

static bool ends_word(const char *text, size_t at)
{
    return is_blank(text[at - 1]);
}

/* As much as fits, up to the end of a paragraph, else of a line, a sentence, a word. One that would
 * leave most of the room is passed over. */
static size_t passage_end(const char *text, size_t len, size_t start)
{
    static bool (*const ends[])(const char *, size_t) = {ends_paragraph, ends_line, ends_sentence,
                                                         ends_word};
    size_t limit = start + utf8_cut_points(text + start, len - start, MEMORY_PASSAGE);
    if (limit == len)
        return len;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (size_t at = limit; at > start + (limit - start) / 4; at--)
            if (ends[i](text, at))
                return at;
    return limit;
}

static struct memory_span trimmed(const char *text, size_t start, size_t end)
{
    while (end > start && is_blank(text[end - 1]))
        end--;
    while (start < end && is_blank(text[start]))
        start++;
    return (struct memory_span){start, end - start};
}

/* ---- what of the query is in which ---- */

struct marks {
    VEC(struct memory_span) items;
};

struct reading {
    struct language *language;
    const struct words_query *query;
    const char *text;
    size_t len;
    struct buf folded;
    struct marks all;

    /* The passage that is read, and the best so far: */
    struct memory_span span, best_span;
    size_t end;
    struct marks marks, best;
    uint64_t terms; /* a bit for each */
    int weight, best_weight;
    bool has_best;
};

static int count_bits(uint64_t bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

/* Different words first, then how many there are. */
static void end_passage(struct reading *r)
{
    enum { MANY = 1000 };
    int places = r->marks.items.len < MANY ? (int)r->marks.items.len : MANY - 1;
    r->weight = count_bits(r->terms) * MANY + places;
    if (!r->has_best || r->weight > r->best_weight) {
        struct marks swap = r->best;
        r->best = r->marks;
        r->marks = swap;
        r->best_span = r->span;
        r->best_weight = r->weight;
        r->has_best = true;
    }
    vec_clear(&r->marks.items);
    r->terms = 0;
}

static void begin_passage(struct reading *r, size_t start)
{
    r->end = passage_end(r->text, r->len, start);
    r->span = trimmed(r->text, start, r->end);
}

/* Marks that touch become one. */
static void add_mark(struct marks *m, size_t start, size_t end)
{
    struct memory_span *last = m->items.len > 0 ? &vec_last(&m->items) : NULL;
    struct memory_span mark = {start, end - start};
    if (!last || last->start + last->len < start)
        vec_push(&m->items, mark);
    else if (end > last->start + last->len)
        last->len = end - last->start;
}

static uint64_t terms_met(struct reading *r, const struct token_seen *t)
{
    uint64_t met = 0;
    const char *folded = NULL;
    for (size_t i = 0; i < r->query->terms.len; i++) {
        const struct query_term *term = &r->query->terms.items[i];
        if (term->prefix && !folded) {
            language_word(r->language, r->text + t->start, t->end - t->start, WORD_PREFIX,
                          &r->folded);
            folded = r->folded.data;
        }
        if (query_term_meets(term, t->word, folded))
            met |= UINT64_C(1) << i % 64;
    }
    return met;
}

static int read_token(void *context, const struct token_seen *t)
{
    struct reading *r = context;
    while (t->start >= r->end && r->end < r->len) {
        end_passage(r);
        begin_passage(r, r->end);
    }
    uint64_t met = terms_met(r, t);
    if (met == 0)
        return 0;
    r->terms |= met;
    add_mark(&r->marks, t->start, t->end);
    if (r->len <= MARKED_BYTES)
        add_mark(&r->all, t->start, t->end);
    return 0;
}

static void explain(struct language *l, const struct words_query *q, struct memory_hit *hit)
{
    const char *text = hit->entry.content;
    struct reading r = {
        .language = l, .query = q, .text = text, .len = strlen(text), .folded = BUF_INIT};
    begin_passage(&r, 0);
    tokens_each(l, TOKENS_TEXT, text, r.len, read_token, &r);
    end_passage(&r);
    hit->passage = r.best_span;
    struct marks *kept = r.len <= MARKED_BYTES ? &r.all : &r.best;
    vec_clear(&hit->marks);
    for (size_t i = 0; i < kept->items.len; i++)
        vec_push(&hit->marks, kept->items.items[i]);
    vec_release(&r.all.items);
    vec_release(&r.marks.items);
    vec_release(&r.best.items);
    buf_release(&r.folded);
}

bool words_explain(const struct corpus *c, const struct words_question *question,
                   struct memory_hits *hits, struct error *e)
{
    struct words_query q;
    struct language *l;
    if (!words_speak(c, &l, e))
        return false;
    words_query_parse(l, question->text, question->typing, &q);
    for (size_t i = 0; i < hits->items.len; i++)
        explain(l, &q, &hits->items.items[i]);
    words_query_release(&q);
    language_free(l);
    return true;
}
