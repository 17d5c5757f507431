/* What a search finds of the evidence for questions about long conversations: the parts of the
 * ranking one after the other, beside SQLite's own. Each conversation is asked in a store that
 * holds it alone, and in one store that holds all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bench/chat.h"
#include "bench/exam.h"
#include "bench/exam_plain.h"
#include "bench/exam_score.h"
#include "bench/exam_store.h"
#include "bench/measures.h"

enum { NAME_WIDTH = 44 };

enum engine { PLAIN, PLAIN_WITHOUT_STOP_WORDS, OURS };
enum parts { NEIGHBOURS = 1, SESSION = 2, WINDOW = 4, LENGTH = 8, NAMED = 16, ASKS = 32, ALL = 63 };

static const struct variant {
    const char *name;
    enum engine engine;
    enum memory_ranking ranking;
    int parts; /* of enum parts */
} variants[] = {
    {"FTS5 as it comes (porter, bm25)", PLAIN, MEMORY_WORDS, 0},
    {"  without stop words", PLAIN_WITHOUT_STOP_WORDS, MEMORY_WORDS, 0},
    {"Snowball, BM25, speaker, date", OURS, MEMORY_WORDS, 0},
    {"  + neighbours", OURS, MEMORY_WORDS, NEIGHBOURS},
    {"  + session", OURS, MEMORY_WORDS, NEIGHBOURS | SESSION},
    {"  + window", OURS, MEMORY_WORDS, NEIGHBOURS | SESSION | WINDOW},
    {"  + length", OURS, MEMORY_WORDS, NEIGHBOURS | SESSION | WINDOW | LENGTH},
    {"  + said by whom the question names", OURS, MEMORY_WORDS, ALL & ~ASKS},
    {"  + questions and answers (what is used)", OURS, MEMORY_WORDS, ALL},
    {"hashed vectors", OURS, MEMORY_VECTORS, ALL},
    {"both, with hashed vectors", OURS, MEMORY_BOTH, ALL},
};
enum { VARIANTS = sizeof variants / sizeof *variants, USED = 8 };

/* A place to ask: some conversations, in our store and in SQLite's own index. */
struct hall {
    struct exam_store *ours;
    struct exam_plain *plain;
};
struct halls {
    VEC(struct hall) items; /* one for each conversation, or one for all */
};

struct result {
    struct exam_score all;
    VEC(struct exam_score) categories; /* as exam.categories */
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
    struct hall hall = {.plain = exam_plain_new(x, first, count)};
    char *path = mem_printf("%s/recall-%d.db", chat_home(), ++number);
    if (!exam_store_new(&hall.ours, path, x, first, count, &e))
        give_up(&e);
    vec_push(&h->items, hall);
    free(path);
}

static struct halls open_one_each(const struct exam *x)
{
    struct halls h = {0};
    for (size_t i = 0; i < x->conversations.len; i++)
        open_hall(&h, x, i, 1);
    return h;
}

static struct halls open_one_for_all(const struct exam *x)
{
    struct halls h = {0};
    open_hall(&h, x, 0, x->conversations.len);
    return h;
}

static void close_halls(struct halls *h)
{
    for (size_t i = 0; i < h->items.len; i++) {
        exam_store_free(h->items.items[i].ours);
        exam_plain_free(h->items.items[i].plain);
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
    struct rank_settings *r = &way.rank;
    if (!(v->parts & NEIGHBOURS))
        r->before = r->after = 0;
    if (!(v->parts & SESSION))
        r->session = 0;
    if (!(v->parts & WINDOW))
        r->window = 0;
    if (!(v->parts & LENGTH))
        r->half = 0;
    if (!(v->parts & NAMED))
        r->named = 1;
    if (!(v->parts & ASKS)) {
        r->answer = r->before;
        r->asks = 1;
    }
    return way;
}

static void ask(struct hall *hall, const struct variant *v, const struct exam_way *way,
                const char *question, struct exam_found *found)
{
    struct error e;
    if (v->engine != OURS)
        exam_plain_ask(hall->plain, v->engine == PLAIN_WITHOUT_STOP_WORDS, question, found);
    else if (!exam_store_ask(hall->ours, way, question, found, &e))
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
        ask(hall_of(h, q), v, &way, q->text, &found);
        struct exam_score score = exam_score(q, &found);
        exam_score_add(&out.all, &score);
        exam_score_add(&out.categories.items[category_of(x, q)], &score);
    }
    exam_found_release(&found);
    return out;
}

/* ---- the tables ---- */

static void print_score(const struct exam_score *s)
{
    printf("   %5.3f %5.3f %5.3f", exam_mean(s->at5, s->questions),
           exam_mean(s->at10, s->questions), exam_mean(s->first, s->questions));
}

static void print_variants(const char *title, const struct result *each, const struct result *all)
{
    printf("%-*s   %-17s   %s\n", NAME_WIDTH, title, "one conversation", "one store");
    printf("%-*s   %5s %5s %5s   %5s %5s %5s\n", NAME_WIDTH, "", "R@5", "R@10", "MRR", "R@5",
           "R@10", "MRR");
    for (size_t i = 0; i < VARIANTS; i++) {
        printf("%-*s", NAME_WIDTH, variants[i].name);
        print_score(&each[i].all);
        print_score(&all[i].all);
        printf("\n");
    }
    printf("\n");
}

static void print_categories(const struct exam *x, const char *title, const struct result *results)
{
    printf("%-*s", NAME_WIDTH, title);
    for (size_t i = 0; i < x->categories.len; i++)
        printf(" %10s", x->categories.items[i]);
    printf("\n%-*s", NAME_WIDTH, "  questions");
    for (size_t i = 0; i < x->categories.len; i++)
        printf(" %10zu", results[USED].categories.items[i].questions);
    printf("\n");
    for (size_t i = 0; i < VARIANTS; i++) {
        printf("%-*s", NAME_WIDTH, variants[i].name);
        for (size_t j = 0; j < x->categories.len; j++) {
            const struct exam_score *s = &results[i].categories.items[j];
            printf(" %10.3f", exam_mean(s->at5, s->questions));
        }
        printf("\n");
    }
    printf("\n");
}

static void examine_all(const struct exam *x, const struct halls *h, struct result *results)
{
    for (size_t i = 0; i < VARIANTS; i++)
        results[i] = examine(x, h, &variants[i]);
}

static void release_results(struct result *results)
{
    for (size_t i = 0; i < VARIANTS; i++)
        vec_release(&results[i].categories);
}

static void measure_sessions(const struct exam *x, const char *title, bool with_categories)
{
    struct result each[VARIANTS], all[VARIANTS];
    struct halls alone = open_one_each(x), together = open_one_for_all(x);
    examine_all(x, &alone, each);
    examine_all(x, &together, all);
    print_variants(title, each, all);
    if (with_categories) {
        print_categories(x, "R@5 by category, one conversation", each);
        print_categories(x, "R@5 by category, one store", all);
    }
    close_halls(&alone);
    close_halls(&together);
    release_results(each);
    release_results(all);
}

static void print_size(const char *directory, const struct exam *x)
{
    size_t turns = 0;
    for (size_t i = 0; i < x->conversations.len; i++)
        turns += x->conversations.items[i].turns.items.len;
    printf("recall of evidence: %zu questions about %zu conversations of %zu turns (%s)\n\n",
           x->questions.len, x->conversations.len, turns, directory);
}

void measure_recall_of(const char *directory)
{
    struct exam x;
    struct error e;
    if (!exam_read(&x, directory, &e))
        give_up(&e);
    print_size(directory, &x);
    measure_sessions(&x, "sessions as they stand in the files", true);
    exam_join_sessions(&x);
    measure_sessions(&x, "one session a conversation", false);
    exam_release(&x);
}

void measure_recall(void)
{
    const char *directory = getenv("RECALL_SET");
    measure_recall_of(directory ? directory : "bench/recall");
}
