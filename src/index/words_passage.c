#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "index/rank.h"
#include "index/words_private.h"
#include "store/tokenizer.h"

/* In a longer text only the words of its passage are marked. */
enum { MARKED_BYTES = 64 * 1024 };

/* ---- passages ---- */

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
    return at >= 2 && words_is_blank(text[at - 1]) && strchr(".!?", text[at - 2]) && text[at - 2];
}

static bool ends_word(const char *text, size_t at)
{
    return words_is_blank(text[at - 1]);
}

/* Borders where a passage may begin or end, the best first. */
static bool (*const borders[])(const char *, size_t) = {ends_paragraph, ends_line, ends_sentence,
                                                        ends_word};
enum { BORDERS = sizeof borders / sizeof *borders };

/* `points` characters before `at`. */
static size_t back_by(const char *text, size_t at, int points)
{
    for (int i = 0; at > 0 && i < points;)
        i += ((unsigned char)text[--at] & 0xc0) != 0x80;
    return at;
}

/* The last border from `from` to `at`, of the best kind; the beginning of the text is one. `at` if
 * there is none. */
static size_t last_border(const char *text, size_t from, size_t at)
{
    for (size_t i = 0; i < BORDERS; i++) {
        for (size_t here = at; here > 0 && here >= from; here--)
            if (borders[i](text, here))
                return here;
        if (from == 0)
            return 0;
    }
    return at;
}

/* The first beginning of a paragraph from `from` on; `at` if there is none before it. */
static size_t with_before(const char *text, size_t from, size_t at)
{
    size_t here = from;
    while (here > 0 && here < at && !ends_paragraph(text, here))
        here++;
    return here < at ? here : at;
}

/* Whole paragraphs around the found words, else lines, sentences. A quarter of the room may be
 * before them, at the end of the text all that is left. */
static struct memory_span passage_around(const char *text, size_t len, size_t found, size_t end)
{
    size_t back = back_by(text, end, MEMORY_PASSAGE);
    size_t start = last_border(text, back < found ? back : found, found);
    size_t before = back_by(text, start, MEMORY_PASSAGE / 4);
    start = with_before(text, before > back ? before : back, start);
    size_t stop = start + utf8_cut_points(text + start, len - start, MEMORY_PASSAGE);
    if (stop < len) {
        /* A border that would leave most of the room unused, or cut off the found words, is
         * skipped. */
        size_t least = start + (stop - start) / 4 + 1;
        if (end > least && end < stop)
            least = end;
        stop = last_border(text, least, stop);
    }
    if (stop == len)
        start = with_before(text, back_by(text, len, MEMORY_PASSAGE), start);
    while (stop > start && words_is_blank(text[stop - 1]))
        stop--;
    while (start < stop && words_is_blank(text[start]))
        start++;
    return (struct memory_span){start, stop - start};
}

/* ---- words of the query in a text ---- */

struct reading {
    struct language *language;
    const struct words_query *query;
    const char *text;
    struct buf *folded;
    struct occurrences places;
    VEC(struct memory_span) bytes; /* of each of them */
};

static int read_token(void *context, const struct token_seen *t)
{
    struct reading *r = context;
    const char *folded = NULL;
    uint32_t term = 0;
    for (size_t i = 0; i < r->query->terms.len; i++) {
        const struct query_term *q = &r->query->terms.items[i];
        term += i > 0 && !q->also;
        if (q->prefix && !folded) {
            language_word(r->language, r->text + t->start, t->end - t->start, WORD_PREFIX,
                          r->folded);
            folded = r->folded->data;
        }
        bool again = r->places.items.len > 0 && vec_last(&r->places.items).at == t->place &&
                     vec_last(&r->places.items).term == term; /* a stem of another language */
        if (!again && query_term_meets(q, t->word, folded)) {
            vec_push(&r->places.items, ((struct occurrence){(uint32_t)t->place, term}));
            vec_push(&r->bytes, ((struct memory_span){t->start, t->end - t->start}));
        }
    }
    return 0;
}

static void explain(struct language *l, const struct words_query *q,
                    const struct place_worth *worth, struct memory_hit *hit)
{
    const char *text = hit->entry.content;
    size_t len = strlen(text), found = 0, found_end = 0;
    AUTO(buf_release) struct buf folded = BUF_INIT;
    struct reading r = {.language = l, .query = q, .text = text, .folded = &folded};
    struct text_languages languages = text_languages_find(l, text, len);
    tokens_each(&languages, TOKENS_TEXT, text, len, read_token, &r);

    /* The same passage that the ranking finds, with the same weights. */
    struct passage best = places_passage(&r.places, worth);
    if (best.end > 0) {
        found = r.bytes.items[best.first].start;
        found_end = r.bytes.items[best.end - 1].start + r.bytes.items[best.end - 1].len;
    }
    hit->passage = passage_around(text, len, found, found_end);

    size_t from = len > MARKED_BYTES ? hit->passage.start : 0;
    size_t end = len > MARKED_BYTES ? from + hit->passage.len : len;
    vec_clear(&hit->marks);
    for (size_t i = 0; i < r.bytes.len; i++) {
        const struct memory_span *m = &r.bytes.items[i];
        struct memory_span *last = hit->marks.len > 0 ? &vec_last(&hit->marks) : NULL;
        if (m->start < from || m->start + m->len > end)
            continue;
        if (!last || last->start + last->len < m->start)
            vec_push(&hit->marks, *m);
        else if (m->start + m->len > last->start + last->len) /* marks that touch become one */
            last->len = m->start + m->len - last->start;
    }
    vec_release(&r.places.items);
    vec_release(&r.bytes);
}

bool words_explain(const struct corpus *c, const struct words_question *question,
                   const struct word_weights *weights, struct memory_hits *hits, struct error *e)
{
    double rarity[PLACE_TERMS];
    const struct place_worth worth = {rarity, question->rank.k1, question->rank.k1};
    struct words_query q;
    struct language *l;
    if (!words_open_language(c, &l, e))
        return false;
    words_query_parse(l, question->text, question->typing, &q);
    for (size_t i = 0; i < PLACE_TERMS; i++)
        rarity[i] = i < weights->items.len ? weights->items.items[i] : 1;
    for (size_t i = 0; i < hits->items.len; i++)
        explain(l, &q, &worth, &hits->items.items[i]);
    words_query_release(&q);
    return true;
}
