#include "bench/exam_encoder.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { TERMS = 1 << 14, STEPS = 4 };

/* The share of a word, by its hash, in each latent number. */
struct axes {
    float of[TERMS][EXAM_HALF];
};

struct exam_encoder {
    const struct exam *exam;
    size_t first, end; /* conversations */
    double idf[TERMS]; /* of words, by hash */
    struct axes *axes;
};

/* ---- numbers from texts ---- */

/* FNV-1a of the letters and digits of a text. */
static uint64_t hash_of(const char *text, size_t len)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < len; i++)
        if (isalnum((unsigned char)text[i]))
            h = (h ^ (uint64_t)tolower((unsigned char)text[i])) * 1099511628211u;
    return h;
}

/* SplitMix64. */
static double next_unit(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}

/* The sum of twelve is nearly normal, with the deviation 1. */
static void add_noise(uint64_t seed, double weight, float *out)
{
    for (int i = 0; i < EXAM_HALF; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += next_unit(&seed);
        out[i] += (float)(weight * sum / sqrt(EXAM_HALF));
    }
}

static void scale_to(double length, float *values, size_t count)
{
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (double)values[i] * (double)values[i];
    for (size_t i = 0; squares > 0 && i < count; i++)
        values[i] = (float)((double)values[i] * length / sqrt(squares));
}

/* ---- latent semantic analysis ---- */

struct counts {
    VEC(uint32_t) terms; /* ascending, each once for each occurrence */
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct counts count_words(const char *text)
{
    struct counts out = {0};
    for (const char *at = text; *at;) {
        size_t len = 0;
        while (isalnum((unsigned char)at[len]))
            len++;
        if (len > 1)
            vec_push(&out.terms, (uint32_t)(hash_of(at, len) % TERMS));
        at += len + (len == 0);
    }
    if (out.terms.len > 0)
        qsort(out.terms.items, out.terms.len, sizeof *out.terms.items, by_number);
    return out;
}

/* Calls take() with each word of a text and its weight: (1 + log count) · idf, to the length 1. */
static void weigh(const struct exam_encoder *c, const char *text,
                  void (*take)(void *context, uint32_t term, double weight), void *context)
{
    struct counts words = count_words(text);
    double squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0, end; i < words.terms.len; i = end) {
            uint32_t term = words.terms.items[i];
            for (end = i; end < words.terms.len && words.terms.items[end] == term;)
                end++;
            double weight = (1 + log((double)(end - i))) * c->idf[term];
            if (pass == 0)
                squares += weight * weight;
            else if (squares > 0)
                take(context, term, weight / sqrt(squares));
        }
    vec_release(&words.terms);
}

struct projection {
    const struct axes *axes;
    struct axes *next; /* of project_back() */
    float values[EXAM_HALF];
};

static void project(void *context, uint32_t term, double weight)
{
    struct projection *p = context;
    for (int i = 0; i < EXAM_HALF; i++)
        p->values[i] += (float)weight * p->axes->of[term][i];
}

static void project_back(void *context, uint32_t term, double weight)
{
    struct projection *p = context;
    for (int i = 0; i < EXAM_HALF; i++)
        p->next->of[term][i] += (float)weight * p->values[i];
}

/* Gram and Schmidt. */
static void make_orthogonal(struct axes *a)
{
    for (int i = 0; i < EXAM_HALF; i++)
        for (int k = 0; k <= i; k++) {
            double product = 0;
            for (int t = 0; t < TERMS; t++)
                product += (double)a->of[t][i] * (double)a->of[t][k];
            for (int t = 0; t < TERMS; t++)
                a->of[t][i] = k == i ? a->of[t][i] / (float)sqrt(product > 0 ? product : 1)
                                     : a->of[t][i] - (float)product * a->of[t][k];
        }
}

static void count_text(void *context, const char *text)
{
    struct exam_encoder *c = context;
    struct counts words = count_words(text);
    for (size_t i = 0; i < words.terms.len; i++)
        if (i == 0 || words.terms.items[i] != words.terms.items[i - 1])
            c->idf[words.terms.items[i]]++;
    vec_release(&words.terms);
}

/* A step of the power method: next = texts' · texts · axes. */
struct step {
    const struct exam_encoder *encoder;
    struct axes *next;
};

static void step_text(void *context, const char *text)
{
    const struct step *s = context;
    struct projection p = {.axes = s->encoder->axes, .next = s->next};
    weigh(s->encoder, text, project, &p);
    weigh(s->encoder, text, project_back, &p);
}

static size_t each_text(const struct exam_encoder *c, void (*take)(void *context, const char *text),
                        void *context)
{
    size_t texts = 0;
    for (size_t i = c->first; i < c->end; i++) {
        const struct memory_entries *turns = &c->exam->conversations.items[i].turns;
        for (size_t j = 0; j < turns->items.len; j++)
            take(context, turns->items.items[j].content);
        texts += turns->items.len;
    }
    return texts;
}

struct exam_encoder *exam_encoder_new(const struct exam *x, size_t first, size_t count)
{
    struct exam_encoder *c = mem_alloc(sizeof *c);
    *c = (struct exam_encoder){
        .exam = x, .first = first, .end = first + count, .axes = mem_alloc(sizeof *c->axes)};
    double texts = (double)each_text(c, count_text, c);
    for (uint32_t t = 0; t < TERMS; t++) {
        c->idf[t] = c->idf[t] > 0 ? log(1 + texts / c->idf[t]) : 0;
        add_noise(t, 1, c->axes->of[t]);
    }
    for (int i = 0; i < STEPS; i++) {
        struct step s = {.encoder = c, .next = mem_alloc(sizeof *s.next)};
        make_orthogonal(c->axes);
        each_text(c, step_text, &s);
        free(c->axes);
        c->axes = s.next;
    }
    make_orthogonal(c->axes);
    return c;
}

void exam_encoder_free(struct exam_encoder *c)
{
    if (c)
        free(c->axes);
    free(c);
}

/* ---- vectors ---- */

static void add_latent(const struct exam_encoder *c, const char *text, double length, float *out)
{
    struct projection p = {.axes = c->axes};
    weigh(c, text, project, &p);
    scale_to(length, p.values, EXAM_HALF);
    memcpy(out, p.values, sizeof p.values);
}

void exam_encoder_text(const struct exam_encoder *c, const char *text, float *out)
{
    memset(out, 0, EXAM_DIMENSION * sizeof *out);
    add_latent(c, text, 1, out);
    add_noise(hash_of(text, strlen(text)), 1, out + EXAM_HALF);
    scale_to(1, out + EXAM_HALF, EXAM_HALF);
    scale_to(1, out, EXAM_DIMENSION);
}

void exam_encoder_question(const struct exam_encoder *c, const struct exam_mixture *m,
                           const struct exam_question *q, float *out)
{
    const struct exam_targets *evidence = &q->evidence[EXAM_MESSAGE];
    const struct memory_entries *turns = &c->exam->conversations.items[q->conversation].turns;
    memset(out, 0, EXAM_DIMENSION * sizeof *out);
    add_latent(c, q->text, m->latent, out);
    add_noise(hash_of(q->text, strlen(q->text)), 1, out + EXAM_HALF);
    for (size_t i = 0; i < turns->items.len; i++)
        for (size_t k = 0; k < evidence->items.len; k++)
            if (turns->items.items[i].id == evidence->items.items[k].ids.items[0]) {
                const char *text = turns->items.items[i].content;
                add_noise(hash_of(text, strlen(text)), m->strength, out + EXAM_HALF);
            }
    scale_to(m->noise, out + EXAM_HALF, EXAM_HALF);
    scale_to(1, out, EXAM_DIMENSION);
}
