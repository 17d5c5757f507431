/* Corpora: how quickly files are read into one, how quickly a large one is searched, and whether
 * the keys notice. CORPORA_PASSAGES=20000 for less than 250,000. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/paths.h"
#include "bench/chat.h"
#include "bench/measures.h"
#include "bench/prose.h"
#include "bench/table.h"
#include "knowledge/corpora.h"

enum {
    PASSAGES = 250000,
    FILE_BYTES = 10 * 1024,
    FILES = 2000, /* of the ingest that is measured */
    SEARCHES = 200,
    KEYS = 300,
    LINE = 60
};

static _Noreturn void give_up(const struct error *e)
{
    fprintf(stderr, "bench: %s\n", e->text);
    exit(99);
}

static void must(bool ok, const struct error *e)
{
    if (!ok)
        give_up(e);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Words with the frequencies of natural language: the n-th word has the share 1/n. */
enum { WORDS = 30000 };

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static unsigned word_number(unsigned *seed)
{
    double u = (double)next_random(seed) / (1 << 24);
    double n = 1;
    for (int i = 0; i < 3; i++)
        n *= u; /* many small numbers, few large ones */
    return (unsigned)(n * WORDS);
}

/* "kamesilo", always the same for a number. */
static void add_word(struct buf *out, unsigned number)
{
    static const char consonants[] = "bdfgklmnprstvz", vowels[] = "aeiou";
    unsigned n = number * 2654435761u;
    int syllables = 1 + (number > 40) + (number > 1000) + (number > 8000);
    for (int i = 0; i < syllables; i++, n >>= 7) {
        buf_addch(out, consonants[n % (sizeof consonants - 1)]);
        buf_addch(out, vowels[(n >> 4) % (sizeof vowels - 1)]);
    }
    buf_addch(out, consonants[(n >> 2) % (sizeof consonants - 1)]);
}

static void make_text(struct buf *out, size_t bytes, unsigned seed)
{
    buf_clear(out);
    for (int words = 1; out->len < bytes; words++) {
        add_word(out, word_number(&seed));
        buf_addstr(out, words % 80 == 0 ? ".\n\n" : words % 12 == 0 ? ". " : " ");
    }
}

static char *make_files(const char *name, int count, size_t bytes, unsigned seed)
{
    struct buf text = BUF_INIT;
    struct error e;
    char *folder = mem_printf("%s/%s", chat_home(), name);
    mkdir(folder, 0700);
    for (int i = 0; i < count; i++) {
        char *path = mem_printf("%s/f%05d.txt", folder, i);
        make_text(&text, bytes, seed + (unsigned)i);
        must(paths_write_file(path, text.data, text.len, &e), &e);
        free(path);
    }
    buf_release(&text);
    return folder;
}

/* --- ingest ----------------------------------------------------------------------------------- */

static void ingest(struct corpora *c, const char *name, const char *folder)
{
    struct ingest *in;
    struct error e;
    bool more = true;
    must(ingest_begin(c, name, &folder, 1, &in, &e), &e);
    while (more)
        must(ingest_step(in, NULL, &more, &e), &e);
    ingest_free(in);
}

static void measure_ingest(struct corpora *c)
{
    char *folder = make_files("ingest", FILES, FILE_BYTES, 1);
    double megabytes = (double)FILES * FILE_BYTES / 1e6;
    double before = cpu_seconds();
    ingest(c, "ingest", folder);
    double took = cpu_seconds() - before;
    table_row("ingest of plain text: ms a MB (goal 5 MB/s)", 200, took * 1000 / megabytes, "ms", 0);
    table_note("  that is", "%.1f MB/s of one core", megabytes / took);
    before = cpu_seconds();
    ingest(c, "ingest", folder);
    table_note("  again, unchanged", "%.0f ms for %d files", (cpu_seconds() - before) * 1000,
               FILES);
    free(folder);
}

/* --- searches --------------------------------------------------------------------------------- */

static int64_t passages_of(struct corpora *c)
{
    struct corpus_list listed;
    struct error e;
    int64_t n = 0;
    must(corpora_list(c, &listed, &e), &e);
    for (size_t i = 0; i < listed.items.len; i++)
        if (strcmp(listed.items.items[i].name, "large") == 0)
            n = listed.items.items[i].passages;
    shape_release(&corpus_list_shape, &listed);
    return n;
}

static double search(struct corpora *c, unsigned *seed)
{
    struct corpus_found found;
    struct buf query = BUF_INIT;
    struct error e;
    for (int i = 0; i < 5; i++) {
        add_word(&query, 40 + word_number(seed)); /* the commonest ones are stop words */
        buf_addch(&query, ' ');
    }
    const struct corpus_search what = {.corpus = "large", .query = query.data, .hybrid_weight = -1};
    double before = screen_clock();
    must(corpora_search(c, &what, NULL, &found, &e), &e);
    double took = screen_clock() - before;
    shape_release(&corpus_found_shape, &found);
    buf_release(&query);
    return took;
}

static void measure_searches(struct corpora *c)
{
    const char *wanted = getenv("CORPORA_PASSAGES");
    int64_t most = wanted && *wanted ? strtoll(wanted, NULL, 10) : PASSAGES;
    double times[SEARCHES];
    unsigned seed = 7;
    bool more = true;
    struct error e;
    for (int part = 0; passages_of(c) < most; part++) {
        char *name = mem_printf("large-%d", part);
        char *folder = make_files(name, 50, 100 * FILE_BYTES, 100000u * (unsigned)(part + 1));
        ingest(c, "large", folder);
        free(folder);
        free(name);
    }
    while (more)
        must(corpora_tidy(c, &more, &e), &e);
    search(c, &seed);
    for (int i = 0; i < SEARCHES; i++)
        times[i] = search(c, &seed);
    char *measure =
        mem_printf("search of five words in %lld passages, p50", (long long)passages_of(c));
    table_row(measure, 10, percentile(times, SEARCHES, 50), "ms", 2);
    table_note("  p99", "%.2f ms", percentile(times, SEARCHES, 99));
    free(measure);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void measure_keys(void)
{
    static double times[KEYS];
    struct chat c;
    chat_new_home();
    char *folder = make_files("keys", 10000, FILE_BYTES, 5);
    char *line = mem_printf("/corpus add keys %s\r", folder);
    chat_open(&c, NULL, NULL);
    screen_type(c.screen, line);
    chat_watch(&c, 500);
    chat_clear(&c);
    for (int i = 0; i < KEYS; i++) {
        times[i] = chat_key_echo(&c);
        if (c.typed >= LINE)
            chat_clear(&c);
    }
    table_row("key echo while 100 MB are ingested, p99", 2, percentile(times, KEYS, 99), "ms", 2);
    table_note("  p50", "%.2f ms", percentile(times, KEYS, 50));
    chat_close(&c);
    free(line);
    free(folder);
}

void measure_corpora(void)
{
    struct store *store;
    struct error e;
    struct config *config = config_new();
    chat_new_home();
    char *path = mem_printf("%s/corpora.db", chat_home());
    must(store_open(path, STORE_READ_WRITE, &store, &e), &e);
    struct corpora *c = corpora_open(config, store, NULL);
    measure_ingest(c);
    measure_searches(c);
    corpora_close(c);
    store_close(store);
    config_free(config);
    free(path);
    measure_keys();
}
