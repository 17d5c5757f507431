/* Recall of the evidence for questions about long conversations: our search, SQLite's own and a
 * plain BM25. Each conversation is searched in a store that holds it alone, and in one store that
 * holds all. A hit is a message or its exchange (exam.h). */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/paths.h"
#include "bench/chat.h"
#include "bench/documents.h"
#include "bench/exam.h"
#include "bench/exam_plain.h"
#include "bench/exam_score.h"
#include "bench/exam_store.h"
#include "bench/measures.h"

enum { NAME_WIDTH = 36, SCORE_WIDTH = 17, RATIO_WIDTH = 11 };

enum engine { PLAIN, BM25, OURS };
enum parts {
    NEIGHBOURS = 1,
    SESSION = 2,
    WINDOW = 4,
    FADING = 8, /* these three, by the length of texts */
    LENGTH = 16,
    NAMED = 32,
    ASKS = 64,
    PASSAGES = 128,
    PROXIMITY = 256,
    USER = 512,
    ALL = 1023
};

struct variant {
    const char *name;
    enum engine engine;
    enum memory_ranking ranking;
    enum exam_vectors vectors;
    int parts; /* of enum parts */
    struct exam_mixture mixture;
};

/* The variants with served vectors come last, since they replace the hashed vectors. */
static const struct variant usual[] = {
    {"FTS5 as it comes (porter, all words)", PLAIN, MEMORY_WORDS, EXAM_HASHED, 0, {0, 0, 0}},
    {"BM25 1.2 .75 (stems, no stop words)", BM25, MEMORY_WORDS, EXAM_HASHED, 0, {0, 0, 0}},
    {"ours: words", OURS, MEMORY_WORDS, EXAM_HASHED, ALL, {0, 0, 0}},
    {"  hashed vectors", OURS, MEMORY_VECTORS, EXAM_HASHED, ALL, {0, 0, 0}},
    {"  words and hashed vectors", OURS, MEMORY_BOTH, EXAM_HASHED, ALL, {0, 0, 0}},
    {"  served vectors", OURS, MEMORY_VECTORS, EXAM_SERVED, ALL, {0, 0, 0}},
    {"  words and served vectors", OURS, MEMORY_BOTH, EXAM_SERVED, ALL, {0, 0, 0}},
};
enum { USUAL = sizeof usual / sizeof *usual, ROW_BM25 = 1, ROW_OURS = 2 };

/* Each variant switches off one part of the ranking by words. */
static const struct variant parts[] = {
    {"all parts", OURS, MEMORY_WORDS, EXAM_HASHED, ALL, {0, 0, 0}},
    {"without passages of long texts", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~PASSAGES, {0, 0, 0}},
    {"without proximity", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~PROXIMITY, {0, 0, 0}},
    {"without the user's messages", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~USER, {0, 0, 0}},
    {"without fading among long texts", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~FADING, {0, 0, 0}},
    {"without neighbours", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~NEIGHBOURS, {0, 0, 0}},
    {"without the session", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~SESSION, {0, 0, 0}},
    {"without the window", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~WINDOW, {0, 0, 0}},
    {"without short texts", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~LENGTH, {0, 0, 0}},
    {"without who is named", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~NAMED, {0, 0, 0}},
    {"without questions and answers", OURS, MEMORY_WORDS, EXAM_HASHED, ALL & ~ASKS, {0, 0, 0}},
    {"none: BM25, speaker and date", OURS, MEMORY_WORDS, EXAM_HASHED, 0, {0, 0, 0}},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Synthetic encoders (exam_encoder.h), which the fusion of words and vectors must not lose by, and
 * gain by when they are good. */
#define ENCODER(NAME, ...)                                                                         \
    {NAME ", alone", OURS, MEMORY_VECTORS, EXAM_SYNTHETIC, ALL, __VA_ARGS__},                      \
    {                                                                                              \
        NAME ", words", OURS, MEMORY_BOTH, EXAM_SYNTHETIC, ALL, __VA_ARGS__                        \
    }
static const struct variant encoders[] = {
    {"words", OURS, MEMORY_WORDS, EXAM_HASHED, ALL, {0, 0, 0}},
    {"hashed, words", OURS, MEMORY_BOTH, EXAM_HASHED, ALL, {0, 0, 0}},
    ENCODER("noise", {0, 1, 0}),
    ENCODER(".2", {0, 1, .2}),
    ENCODER(".3", {0, 1, .3}),
    ENCODER(".6", {0, 1, .6}),
    ENCODER("latent", {1, 0, 0}),
    ENCODER("latent and .3", {1, 1, .3}),
    ENCODER("latent and .6", {1, 1, .6}),
};
enum { ENCODERS = sizeof encoders / sizeof *encoders };

/* A place to ask: some conversations, in our store and in SQLite's own indexes. */
struct hall {
    struct exam_store *ours;
    struct exam_plain *plain, *bm25;
};
struct halls {
    VEC(struct hall) items; /* one for each conversation, or one for all */
};
enum spread { ONE_EACH, ONE_FOR_ALL, SPREADS };
static const char *const spread_names[SPREADS] = {"one conversation", "one store"};
static const char *const unit_names[EXAM_UNITS] = {"by message", "by exchange"};

struct result {
    struct exam_score all[EXAM_UNITS];
    VEC(struct exam_score) categories; /* as exam.categories, by message */
};

/* For one set, our recall relative to that of BM25. */
struct ratios {
    const char *set; /* borrowed */
    double of[SPREADS][EXAM_UNITS];
};

static _Noreturn void give_up(const struct error *e)
{
    fprintf(stderr, "bench: %s\n", e->text);
    exit(99);
}

/* ---- halls ---- */

static void open_hall(struct halls *h, const struct exam *x, size_t first, size_t count)
{
    static int number;
    struct error e;
    struct hall hall = {.plain = exam_plain_new(EXAM_PORTER, x, first, count),
                        .bm25 = exam_plain_new(EXAM_SNOWBALL, x, first, count)};
    char *path = mem_printf("%s/recall-%d.db", chat_home(), ++number);
    if (!exam_store_new(&hall.ours, path, x, first, count, &e))
        give_up(&e);
    vec_push(&h->items, hall);
    free(path);
}

static struct halls open_halls(const struct exam *x, enum spread spread)
{
    struct halls h = {0};
    size_t all = x->conversations.len, count = spread == ONE_EACH ? 1 : all;
    for (size_t i = 0; i < all; i += count)
        open_hall(&h, x, i, count);
    return h;
}

static void close_halls(struct halls *h)
{
    for (size_t i = 0; i < h->items.len; i++) {
        exam_store_free(h->items.items[i].ours);
        exam_plain_free(h->items.items[i].plain);
        exam_plain_free(h->items.items[i].bm25);
    }
    vec_release(&h->items);
}

static struct hall *hall_of(const struct halls *h, const struct exam_question *q)
{
    return &h->items.items[h->items.len > 1 ? q->conversation : 0];
}

/* ---- asking ---- */

static struct exam_way way_of(const struct variant *v)
{
    struct exam_way way = exam_way_default();
    way.ranking = v->ranking;
    way.vectors = v->vectors;
    way.mixture = v->mixture;
    struct rank_settings *r = &way.rank;
    int without = ALL & ~v->parts;
    if (without & ASKS) {
        r->answer = r->before;
        r->asks = 1;
    }
    if (without & NEIGHBOURS)
        r->before = r->after = r->answer = 0;
    if (without & SESSION)
        r->session = 0;
    if (without & WINDOW)
        r->window = 0;
    if (without & FADING)
        r->talk = HUGE_VAL;
    if (without & LENGTH)
        r->half = 0;
    if (without & NAMED)
        r->named = 1;
    if (without & PASSAGES)
        r->passages = false;
    if (without & PROXIMITY)
        r->near = 0;
    if (without & USER)
        r->user = 1;
    return way;
}

static void ask(struct hall *hall, const struct variant *v, const struct exam_way *way,
                const struct exam_question *q, struct exam_found *found)
{
    struct error e;
    if (v->engine != OURS)
        exam_plain_ask(v->engine == PLAIN ? hall->plain : hall->bm25, q->text, EXAM_MOST, found);
    else if (!exam_store_ask(hall->ours, way, q, found, &e))
        give_up(&e);
}

static size_t category_of(const struct exam *x, const struct exam_question *q)
{
    size_t i = 0;
    while (strcmp(x->categories.items[i], q->category) != 0)
        i++;
    return i;
}

static struct result examine(const struct exam *x, const struct halls *h, const struct variant *v)
{
    struct result out = {0};
    struct exam_found found = {0};
    struct exam_way way = way_of(v);
    for (size_t i = 0; i < x->categories.len; i++)
        vec_push(&out.categories, (struct exam_score){0});
    for (size_t i = 0; i < x->questions.len; i++) {
        const struct exam_question *q = &x->questions.items[i];
        ask(hall_of(h, q), v, &way, q, &found);
        for (int unit = 0; unit < EXAM_UNITS; unit++) {
            struct exam_score score = exam_score(&q->evidence[unit], &found);
            exam_score_add(&out.all[unit], &score);
            if (unit == EXAM_MESSAGE)
                exam_score_add(&out.categories.items[category_of(x, q)], &score);
        }
    }
    exam_found_release(&found);
    return out;
}

static bool is_asked(const struct variant *v)
{
    return v->vectors != EXAM_SERVED || exam_is_served();
}

static void examine_all(const struct exam *x, enum spread spread, const struct variant *variants,
                        size_t count, struct result *results)
{
    struct halls h = open_halls(x, spread);
    for (size_t i = 0; i < count; i++)
        results[i] = is_asked(&variants[i]) ? examine(x, &h, &variants[i]) : (struct result){0};
    close_halls(&h);
}

/* ---- the tables ---- */

/* A column for each way to ask and each unit, so wide. */
static void print_head(const char *title, int width)
{
    printf("%-*s   %-*s   %s\n", NAME_WIDTH, title, EXAM_UNITS * width + 3, spread_names[ONE_EACH],
           spread_names[ONE_FOR_ALL]);
    printf("%*s", NAME_WIDTH, "");
    for (int i = 0; i < SPREADS * EXAM_UNITS; i++)
        printf("   %-*s", width, unit_names[i % EXAM_UNITS]);
    printf("\n");
}

static void print_measures(void)
{
    printf("%*s", NAME_WIDTH, "");
    for (int i = 0; i < SPREADS * EXAM_UNITS; i++)
        printf("   %5s %5s %5s", "R@5", "R@10", "MRR");
    printf("\n");
}

static void print_score(const struct exam_score *s)
{
    printf("   %5.3f %5.3f %5.3f", exam_mean(s->at5, s->questions),
           exam_mean(s->at10, s->questions), exam_mean(s->first, s->questions));
}

static void print_variant(const struct variant *v, const struct result *results[SPREADS])
{
    printf("%-*s", NAME_WIDTH, v->name);
    for (int spread = 0; spread < SPREADS; spread++)
        for (int unit = 0; unit < EXAM_UNITS; unit++)
            print_score(&results[spread]->all[unit]);
    printf("\n");
}

static void print_category_head(const struct exam *x, const struct result *r)
{
    printf("%-*s", NAME_WIDTH, "R@5 by message, one store");
    for (size_t i = 0; i < x->categories.len; i++)
        printf(" %10.10s", x->categories.items[i]);
    printf("\n%-*s", NAME_WIDTH, "  questions");
    for (size_t i = 0; i < x->categories.len; i++)
        printf(" %10zu", r->categories.items[i].questions);
    printf("\n");
}

static void print_categories(const struct variant *v, const struct result *r)
{
    printf("%-*s", NAME_WIDTH, v->name);
    for (size_t i = 0; i < r->categories.len; i++) {
        const struct exam_score *s = &r->categories.items[i];
        printf(" %10.3f", exam_mean(s->at5, s->questions));
    }
    printf("\n");
}

static void print_all(const struct exam *x, const char *title, const struct variant *variants,
                      size_t count, struct result *results[SPREADS])
{
    print_head(title, SCORE_WIDTH);
    print_measures();
    for (size_t i = 0; i < count; i++)
        if (is_asked(&variants[i]))
            print_variant(&variants[i], (const struct result *[]){&results[ONE_EACH][i],
                                                                  &results[ONE_FOR_ALL][i]});
    printf("\n");
    print_category_head(x, &results[ONE_FOR_ALL][0]);
    for (size_t i = 0; i < count; i++)
        if (is_asked(&variants[i]))
            print_categories(&variants[i], &results[ONE_FOR_ALL][i]);
    printf("\n");
}

static void release_results(struct result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vec_release(&results[i].categories);
}

static double ratio(const struct result *results, enum exam_unit unit)
{
    double bm25 = results[ROW_BM25].all[unit].at5;
    return bm25 > 0 ? results[ROW_OURS].all[unit].at5 / bm25 : 1;
}

static void measure_usual(const struct exam *x, struct ratios *out)
{
    struct result each[USUAL], all[USUAL], *both[SPREADS] = {each, all};
    for (int spread = 0; spread < SPREADS; spread++) {
        examine_all(x, spread, usual, USUAL, both[spread]);
        for (int unit = 0; unit < EXAM_UNITS; unit++)
            out->of[spread][unit] = ratio(both[spread], unit);
    }
    print_all(x, "", usual, USUAL, both);
    release_results(each, USUAL);
    release_results(all, USUAL);
}

enum { MOST = (int)PARTS > (int)ENCODERS ? (int)PARTS : (int)ENCODERS };

static void measure_more(const struct exam *x, const char *title, const struct variant *variants,
                         size_t count)
{
    struct result each[MOST], all[MOST], *both[SPREADS] = {each, all};
    for (int spread = 0; spread < SPREADS; spread++)
        examine_all(x, spread, variants, count, both[spread]);
    print_all(x, title, variants, count, both);
    release_results(each, count);
    release_results(all, count);
}

/* ---- sets ---- */

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

static const char *questions_file(void)
{
    return is_set("RECALL_HELD") ? exam_held : exam_questions;
}

static void print_size(const char *directory, const struct exam *x)
{
    size_t turns = 0;
    for (size_t i = 0; i < x->conversations.len; i++)
        turns += x->conversations.items[i].turns.items.len;
    printf("%s: %zu questions (%s) about %zu conversations of %zu turns\n\n", directory,
           x->questions.len, questions_file(), x->conversations.len, turns);
}

static struct ratios measure_set(const char *directory)
{
    struct ratios out = {.set = directory};
    struct exam x;
    struct error e;
    if (!exam_read(&x, directory, questions_file(), &e))
        give_up(&e);
    print_size(directory, &x);
    measure_usual(&x, &out);
    if (is_set("RECALL_ENCODERS"))
        measure_more(&x, "synthetic encoders", encoders, ENCODERS);
    if (is_set("RECALL_PARTS")) {
        measure_more(&x, "sessions as they stand in the files", parts, PARTS);
        exam_join_sessions(&x);
        measure_more(&x, "one session a conversation", parts, PARTS);
    }
    exam_release(&x);
    return out;
}

static bool has_questions(const char *directory)
{
    char *path = paths_join(directory, questions_file());
    bool has = access(path, R_OK) == 0;
    free(path);
    return has;
}

struct names {
    VEC(const char *) items;
};

/* Directories within that hold questions, by name. Owned strings. */
static struct names find_sets(const char *directory)
{
    struct names out = {0};
    DIR *d = opendir(directory);
    for (const struct dirent *entry; d && (entry = readdir(d)) != NULL;) {
        char *path = paths_join(directory, entry->d_name);
        if (entry->d_name[0] != '.' && has_questions(path))
            vec_push(&out.items, path);
        else
            free(path);
    }
    if (d)
        closedir(d);
    vec_sort(&out.items, vec_text_order);
    return out;
}

struct all_ratios {
    VEC(struct ratios) items;
};

static void print_ratios(const struct all_ratios *sets)
{
    double worst = 0;
    const char *where = "", *unit_name = "", *spread_name = "";
    print_head("ours / BM25, R@5", RATIO_WIDTH);
    for (size_t i = 0; i < sets->items.len; i++) {
        const struct ratios *r = &sets->items.items[i];
        printf("%-*s", NAME_WIDTH, r->set);
        for (int spread = 0; spread < SPREADS; spread++)
            for (int unit = 0; unit < EXAM_UNITS; unit++) {
                double one = r->of[spread][unit];
                printf("   %-*.3f", RATIO_WIDTH, one);
                if (*where && one >= worst)
                    continue;
                worst = one;
                where = r->set;
                unit_name = unit_names[unit];
                spread_name = spread_names[spread];
            }
        printf("\n");
    }
    printf("\nthe worst: %.3f (%s, %s, %s)\n", worst, where, spread_name, unit_name);
}

static void measure_sets(const struct names *sets)
{
    struct all_ratios all = {0};
    for (size_t i = 0; i < sets->items.len; i++)
        vec_push(&all.items, measure_set(sets->items.items[i]));
    print_ratios(&all);
    vec_release(&all.items);
}

void measure_recall_of(const char *directory)
{
    struct names one = {0};
    vec_push(&one.items, directory);
    measure_sets(&one);
    vec_release(&one.items);
}

static void measure_documents(const char *directory, const char *folder, const char *questions,
                              bool vectors)
{
    char *documents = paths_join(directory, folder);
    char *asked = paths_join(directory, questions);
    if (access(asked, R_OK) == 0)
        documents_measure(documents, asked, vectors);
    free(asked);
    free(documents);
}

void measure_recall(void)
{
    const char *directory = is_set("RECALL_SETS") ? getenv("RECALL_SETS") : "bench";
    struct names sets = find_sets(directory);
    if (sets.items.len == 0) {
        fprintf(stderr, "bench: no directory in %s has a file %s\n", directory, questions_file());
        exit(99);
    }
    measure_sets(&sets);
    measure_documents(directory, "documents", "documents.jsonl", true);
    measure_documents(directory, "../src", "code.jsonl", false);
    for (size_t i = 0; i < sets.items.len; i++)
        free((char *)sets.items.items[i]);
    vec_release(&sets.items);
}
