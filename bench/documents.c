#include "bench/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/paths.h"
#include "bench/chat.h"
#include "bench/exam_plain.h"
#include "bench/exam_store.h"
#include "knowledge/corpora.h"

enum { FOUND = 10, FIRST = 5, FILE_MAX = 1 << 20 };

struct asked {
    char *question, *file, *text;
};
struct documents {
    VEC(struct asked) questions;
    struct config *config;
    struct store *store;
    struct corpora *corpora;
};

static _Noreturn void give_up(const char *text)
{
    fprintf(stderr, "bench: %s\n", text);
    exit(99);
}

static void must(bool ok, const struct error *e)
{
    if (!ok)
        give_up(e->text);
}

/* --- questions -------------------------------------------------------------------------------- */

static char *member(const struct json *v, const char *name)
{
    const char *text = json_get_string(v, name);
    if (!text)
        give_up("a question lacks a member");
    return mem_strdup(text);
}

/* Source code changes: a question whose answer has gone is named. */
static void check_answer(const char *directory, const struct asked *q)
{
    struct buf text;
    char *path = paths_join(directory, q->file);
    buf_init(&text, FILE_MAX);
    bool has = paths_read_file(path, PATHS_FILE, &text, NULL) && strstr(text.data, q->text);
    if (!has)
        fprintf(stderr, "bench: %s has no longer \"%s\"\n", path, q->text);
    buf_release(&text);
    free(path);
}

static void read_questions(struct documents *d, const char *directory, const char *questions)
{
    struct buf text;
    struct error e;
    char *rest = NULL;
    buf_init(&text, FILE_MAX);
    must(paths_read_file(questions, PATHS_FILE, &text, &e), &e);
    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        struct json *v = json_parse(line, strlen(line), &e);
        must(v != NULL, &e);
        struct asked q = {member(v, "question"), member(v, "file"), member(v, "text")};
        check_answer(directory, &q);
        vec_push(&d->questions, q);
        json_free(v);
    }
    buf_release(&text);
}

/* --- the corpus ------------------------------------------------------------------------------- */

static void ingest(struct documents *d, const char *directory)
{
    struct ingest *in;
    struct error e;
    bool more = true;
    must(ingest_begin(d->corpora, "documents", &directory, 1, &in, &e), &e);
    while (more)
        must(ingest_step(in, NULL, &more, &e), &e);
    ingest_free(in);
}

static void configure(struct documents *d, bool served)
{
    struct error e;
    const char *model = getenv("RECALL_EMBEDDING_MODEL");
    must(config_set(d->config, CONFIG_CORPUS_RANKING, "both", &e), &e);
    must(config_set(d->config, CONFIG_EMBEDDING_PROVIDER, served ? "openai" : "hashed", &e), &e);
    if (served)
        must(config_set(d->config, CONFIG_EMBEDDING_BASE_URL, getenv("RECALL_EMBEDDING_URL"), &e),
             &e);
    if (served && model)
        must(config_set(d->config, CONFIG_EMBEDDING_MODEL, model, &e), &e);
}

enum encoder_kind { NONE, HASHED, SERVED };

static void open_corpus(struct documents *d, const char *directory, enum encoder_kind encoder)
{
    static int number;
    struct error e;
    int64_t left;
    int retry_ms;
    char *path = mem_printf("%s/documents-%d.db", chat_home(), ++number);
    d->config = config_new();
    if (encoder != NONE)
        configure(d, encoder == SERVED);
    must(store_open(path, STORE_READ_WRITE, &d->store, &e), &e);
    d->corpora = corpora_open(d->config, d->store, NULL);
    ingest(d, directory);
    enum corpora_work did;
    while ((did = corpora_embed(d->corpora, NULL, &left, &retry_ms, &e)) == CORPORA_WORKED)
        continue;
    must(did == CORPORA_IDLE, &e);
    free(path);
}

static void close_corpus(struct documents *d)
{
    corpora_close(d->corpora);
    store_close(d->store);
    config_free(d->config);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* Shares of the questions whose answer is the first, among the first five, the first ten. */
struct shares {
    double first, five, ten;
};

static void count(struct shares *s, size_t place, size_t all)
{
    s->first += place < 1 ? 1.0 / (double)all : 0;
    s->five += place < FIRST ? 1.0 / (double)all : 0;
    s->ten += place < FOUND ? 1.0 / (double)all : 0;
}

static bool ends_in(const char *path, const char *name)
{
    size_t len = strlen(path), end = strlen(name);
    return len >= end && strcmp(path + len - end, name) == 0;
}

static bool answers(const struct corpus_passage *p, const struct asked *q)
{
    return ends_in(p->file, q->file) && strstr(p->content, q->text);
}

static struct shares ask_ours(struct documents *d, double weight)
{
    struct shares s = {0};
    for (size_t i = 0; i < d->questions.len; i++) {
        const struct asked *q = &d->questions.items[i];
        const struct corpus_search what = {
            .query = q->question, .top_k = FOUND, .hybrid_weight = weight};
        struct corpus_found found;
        struct error e;
        size_t place = 0;
        must(corpora_search(d->corpora, &what, NULL, &found, &e), &e);
        while (place < found.items.len && !answers(&found.items.items[place], q))
            place++;
        count(&s, place < found.items.len ? place : FOUND, d->questions.len);
        shape_release(&corpus_found_shape, &found);
    }
    return s;
}

/* Adds all passages as the turns of one conversation. */
static void take_passages(struct documents *d, struct exam *x, struct corpus_passages *all)
{
    struct exam_conversation c = {.name = mem_strdup("documents")};
    struct corpus_documents listed;
    struct error e;
    must(corpora_documents(d->corpora, &(struct corpus_documents_query){.name = "documents"},
                           &listed, &e),
         &e);
    for (size_t i = 0; i < listed.items.len; i++) {
        const struct corpus_passages_query of = {.document = listed.items.items[i].id};
        struct corpus_passages some;
        must(corpora_passages(d->corpora, &of, &some, &e), &e);
        for (size_t k = 0; k < some.items.len; k++)
            vec_push(&all->items, some.items.items[k]);
        vec_release(&some.items);
    }
    for (size_t i = 0; i < all->items.len; i++)
        vec_push(&c.turns.items,
                 (struct memory_entry){.id = mem_printf("%zu", i),
                                       .content = mem_strdup(all->items.items[i].content)});
    vec_push(&x->conversations, c);
    shape_release(&corpus_documents_shape, &listed);
}

static struct shares ask_plain(struct documents *d)
{
    struct shares s = {0};
    struct exam x = {0};
    struct corpus_passages all = {0};
    struct exam_found found = {0};
    take_passages(d, &x, &all);
    struct exam_plain *plain = exam_plain_new(EXAM_PORTER, &x, 0, 1);
    for (size_t i = 0; i < d->questions.len; i++) {
        const struct asked *q = &d->questions.items[i];
        size_t place = 0;
        exam_plain_ask(plain, q->question, EXAM_MOST, &found);
        while (place < found.ids.len &&
               !answers(&all.items.items[strtoul(found.ids.items[place], NULL, 10)], q))
            place++;
        count(&s, place < found.ids.len ? place : FOUND, d->questions.len);
    }
    exam_found_release(&found);
    exam_plain_free(plain);
    exam_release(&x);
    shape_release(&corpus_passages_shape, &all);
    return s;
}

/* --- the table -------------------------------------------------------------------------------- */

static void print(const char *name, const struct shares *s)
{
    printf("%-34s%8.3f%8.3f%8.3f\n", name, s->first, s->five, s->ten);
}

static void print_weights(struct documents *d, const char *vectors)
{
    static const double weights[] = {0, 0.3, 0.7};
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++) {
        char *name = mem_printf("hybrid_weight %.1f, %s", weights[i], vectors);
        struct shares s = ask_ours(d, weights[i]);
        print(name, &s);
        free(name);
    }
}

void documents_measure(const char *directory, const char *questions, bool vectors)
{
    struct documents d = {0};
    read_questions(&d, directory, questions);
    open_corpus(&d, directory, vectors ? HASHED : NONE);
    printf("\n%s: %zu questions\n%-34s%8s%8s%8s\n", directory, d.questions.len, "", "R@1", "R@5",
           "R@10");
    struct shares plain = ask_plain(&d);
    print("plain FTS5", &plain);
    struct shares words = ask_ours(&d, 1);
    print("ours: words", &words);
    if (vectors)
        print_weights(&d, "hashed");
    close_corpus(&d);
    if (vectors && exam_is_served()) {
        open_corpus(&d, directory, SERVED);
        print_weights(&d, "served");
        close_corpus(&d);
    }
    for (size_t i = 0; i < d.questions.len; i++) {
        free(d.questions.items[i].question);
        free(d.questions.items[i].file);
        free(d.questions.items[i].text);
    }
    vec_release(&d.questions);
}
