#include "bench/memory_texts.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    WORD_BYTES = 24,
    LEAST_WORDS = 15,
    WORDS_RANGE = 31,
    LEAST_ASKED = 3,
    ASKED_RANGE = 4,
    COMMON = 16,
    COMMON_ASKED = 4
};

struct memory_texts {
    char words[MEMORY_VOCABULARY][WORD_BYTES];
    double share[MEMORY_VOCABULARY]; /* of all words up to this one, 0 … 1 */
};

static const char *const little[] = {
    "the",  "of",    "and",   "to",    "a",    "in",    "that", "is",   "was", "it",  "for",
    "with", "as",    "on",    "be",    "at",   "by",    "i",    "this", "had", "not", "are",
    "but",  "or",    "have",  "an",    "they", "which", "you",  "were", "we",  "her", "all",
    "she",  "there", "would", "their", "him",  "been",  "has",  "when", "who"};
enum { LITTLE = sizeof little / sizeof *little };

/* --- chance ---------------------------------------------------------------------------------- */

/* splitmix64: any seed begins a sequence of its own. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t end)
{
    return next(state) % end;
}

static double unit(uint64_t *state)
{
    return (double)(next(state) >> 11) / 9007199254740992.0;
}

/* --- words ----------------------------------------------------------------------------------- */

static void make_word(char out[WORD_BYTES], size_t i)
{
    static const char *const begins[] = {"b", "d", "f", "g",  "k",  "l",  "m",  "n",  "p",
                                         "r", "s", "t", "v",  "w",  "br", "st", "tr", "pl",
                                         "h", "c", "j", "ch", "gr", "sh", "th", "z"};
    static const char *const middles[] = {"a", "e", "i", "o", "u", "ai", "ea", "ou", "oo", "y"};
    static const char *const ends[] = {"",   "n",  "r",   "s",  "t",  "l",    "ck",   "nd",
                                       "rm", "st", "ing", "ed", "er", "tion", "ness", "ly"};
    uint64_t state = i * 2654435761u;
    struct buf word = BUF_INIT;
    size_t syllables = 1 + below(&state, 3);
    for (size_t k = 0; k < syllables; k++)
        buf_addf(&word, "%s%s", begins[below(&state, sizeof begins / sizeof *begins)],
                 middles[below(&state, sizeof middles / sizeof *middles)]);
    buf_addstr(&word, ends[below(&state, sizeof ends / sizeof *ends)]);
    snprintf(out, WORD_BYTES, "%s", word.data);
    buf_release(&word);
}

/* Zipf's law, a little flatter at its beginning. */
struct memory_texts *memory_texts_new(void)
{
    struct memory_texts *t = mem_alloc(sizeof *t);
    double sum = 0;
    for (size_t i = 0; i < MEMORY_VOCABULARY; i++) {
        make_word(t->words[i], i);
        sum += t->share[i] = 1 / ((double)i + 8);
    }
    double before = 0;
    for (size_t i = 0; i < MEMORY_VOCABULARY; i++)
        before = t->share[i] = before + t->share[i] / sum;
    return t;
}

void memory_texts_free(struct memory_texts *t)
{
    free(t);
}

static const char *draw_word(const struct memory_texts *t, uint64_t *state)
{
    double wanted = unit(state);
    size_t low = 0;
    size_t high = MEMORY_VOCABULARY - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->share[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return t->words[low];
}

static const char *draw_little(uint64_t *state)
{
    return little[below(state, LITTLE)];
}

/* --- texts ----------------------------------------------------------------------------------- */

/* The words of a turn, rare and little ones, in their order. */
struct turn {
    const char *words[LEAST_WORDS + WORDS_RANGE];
    bool rare[LEAST_WORDS + WORDS_RANGE];
    size_t count;
};

static struct turn draw_turn(const struct memory_texts *t, uint64_t i)
{
    uint64_t state = i;
    struct turn turn = {.count = LEAST_WORDS + below(&state, WORDS_RANGE)};
    for (size_t k = 0; k < turn.count; k++) {
        turn.rare[k] = k % 3 != 0;
        turn.words[k] = turn.rare[k] ? draw_word(t, &state) : draw_little(&state);
    }
    return turn;
}

void memory_texts_turn(const struct memory_texts *t, uint64_t i, struct buf *out)
{
    struct turn turn = draw_turn(t, i);
    buf_clear(out);
    for (size_t k = 0; k < turn.count; k++)
        buf_addf(out, "%s%s", k > 0 ? " " : "", turn.words[k]);
    buf_addch(out, '.');
}

void memory_texts_question(const struct memory_texts *t, uint64_t i, struct buf *question,
                           struct buf *words)
{
    struct turn turn = draw_turn(t, i);
    uint64_t state = ~i;
    size_t asked = LEAST_ASKED + below(&state, ASKED_RANGE);
    buf_clear(question);
    buf_addstr(question, "when was");
    if (words)
        buf_clear(words);
    for (size_t done = 0; done < asked;) {
        size_t k = below(&state, turn.count);
        if (!turn.rare[k])
            continue;
        buf_addf(question, " %s %s", draw_little(&state), turn.words[k]);
        if (words)
            buf_addf(words, "%s%s", done > 0 ? " " : "", turn.words[k]);
        done++;
    }
    buf_addch(question, '?');
}

void memory_texts_common(const struct memory_texts *t, uint64_t i, struct buf *question)
{
    enum { STEP = COMMON / COMMON_ASKED };
    uint64_t state = i;
    buf_clear(question);
    for (size_t k = 0; k < COMMON_ASKED; k++)
        buf_addf(question, "%s%s", k > 0 ? " " : "", t->words[k * STEP + below(&state, STEP)]);
}
