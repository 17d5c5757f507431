#include "bench/memory_probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/memory_texts.h"
#include "bench/process.h"
#include "bench/table.h"
#include "config/config.h"
#include "memory/memory.h"
#include "store/store.h"
#include "tests/screen.h"

enum { QUESTIONS = 400, HITS = 5, COMPACTION = 100, COMPACTIONS = 21, OPENINGS = 21 };

/* 2026-01-01 and a turn a minute. */
static const int64_t begin_ms = 1767225600000;
enum { TURN_MS = 60000 };

_Noreturn void probe_fail(const char *why)
{
    fprintf(stderr, "bench: %s\n", why);
    exit(99);
}

static void must(bool ok, const struct error *e)
{
    if (!ok)
        probe_fail(e->text);
}

void probe_tell(const char *name, double value)
{
    printf("%s %.6f\n", name, value);
}

void probe_times_tell(struct probe_times *t)
{
    probe_tell("p50", percentile(t->ms.items, t->ms.len, 50));
    probe_tell("p99", percentile(t->ms.items, t->ms.len, 99));
    probe_tell("rss", process_megabytes(getpid(), "VmHWM"));
    vec_release(&t->ms);
}

/* --- ours ------------------------------------------------------------------------------------ */

struct ours {
    struct store *store;
    struct memory *memory;
};

static struct ours open_ours(const char *directory)
{
    struct ours o;
    struct error e = {0};
    char *path = mem_printf("%s/tiro.db", directory);
    must(store_open(path, STORE_READ_WRITE, &o.store, &e), &e);
    o.memory = memory_open(o.store, NULL);
    free(path);
    return o;
}

static void close_ours(struct ours *o)
{
    memory_close(o->memory);
    store_close(o->store);
}

/* Turns of one session; `from` counts all that there are. */
static struct memory_entries make_turns(const struct memory_texts *texts, size_t from, size_t count)
{
    struct memory_entries list = {0};
    struct buf text = BUF_INIT;
    for (size_t i = from; i < from + count; i++) {
        memory_texts_turn(texts, i, &text);
        struct memory_entry entry = {.session_id = mem_printf("talk-%zu", from),
                                     .turn = (int64_t)(i - from) / 2 + 1,
                                     .role = i % 2 == 0 ? ROLE_USER : ROLE_ASSISTANT,
                                     .created_ms = begin_ms + (int64_t)i * TURN_MS,
                                     .content = mem_strdup(text.data)};
        vec_push(&list.items, entry);
    }
    buf_release(&text);
    return list;
}

static void add_turns(struct ours *o, struct memory_entries *list)
{
    struct error e = {0};
    int stored;
    must(o->memory->ops->index(o->memory, list->items.items[0].session_id, 0, list->items.items,
                               list->items.len, &stored, &e),
         &e);
}

/* Adds several sessions per transaction, as an import does. */
static void fill(const char *directory, size_t count)
{
    enum { AT_ONCE = 50 * MEMORY_TALK };
    struct memory_texts *texts = memory_texts_new();
    struct ours o = open_ours(directory);
    struct error e = {0};
    for (size_t i = 0; i < count; i += MEMORY_TALK) {
        if (i % AT_ONCE == 0)
            must(store_begin(o.store, &e), &e);
        size_t turns = count - i < MEMORY_TALK ? count - i : MEMORY_TALK;
        struct memory_entries list = make_turns(texts, i, turns);
        add_turns(&o, &list);
        memory_entries_release(&list);
        if ((i + MEMORY_TALK) % AT_ONCE == 0 || i + MEMORY_TALK >= count)
            must(store_commit(o.store, &e), &e);
    }
    close_ours(&o);
    memory_texts_free(texts);
}

static void search_for(const char *directory, size_t count, bool common)
{
    struct memory_texts *texts = memory_texts_new();
    struct config *config = config_new();
    struct ours o = open_ours(directory);
    struct probe_times times = {0}, busy = {0};
    struct buf question = BUF_INIT;
    struct error e = {0};
    for (size_t i = 0; i < (common ? PROBE_COMMON : QUESTIONS); i++) {
        struct memory_hits hits = {0};
        if (common)
            memory_texts_common(texts, i, &question);
        else
            memory_texts_question(texts, i * 7919 % count, &question, NULL);
        double before = process_cpu(getpid());
        double start = screen_clock();
        struct memory_query query = memory_query_for(config, question.data);
        query.limit = HITS;
        must(o.memory->ops->search(o.memory, &query, &hits, &e), &e);
        vec_push(&times.ms, screen_clock() - start);
        vec_push(&busy.ms, (process_cpu(getpid()) - before) * 1e3);
        if (hits.items.len == 0)
            probe_fail("a question about a turn finds nothing");
        memory_hits_release(&hits);
    }
    probe_tell("cpu50", percentile(busy.ms.items, busy.ms.len, 50));
    probe_tell("cpu99", percentile(busy.ms.items, busy.ms.len, 99));
    vec_release(&busy.ms);
    probe_times_tell(&times);
    close_ours(&o);
    config_free(config);
    buf_release(&question);
    memory_texts_free(texts);
}

static void search(const char *directory, size_t count)
{
    search_for(directory, count, false);
}

static void search_common(const char *directory, size_t count)
{
    search_for(directory, count, true);
}

/* Runs the chores that the program runs between two compactions, while no search waits. */
static void rest(struct ours *o)
{
    struct error e = {0};
    bool more = true;
    while (more)
        must(o->memory->ops->tidy(o->memory, &more, &e), &e);
}

/* Adds the entries that one compaction drops, to a database on disk. */
static double add_compaction(struct ours *o, struct memory_entries *list)
{
    struct error e = {0};
    double start = screen_clock();
    must(store_begin(o->store, &e), &e);
    add_turns(o, list);
    must(store_commit(o->store, &e), &e);
    return screen_clock() - start;
}

static void add_compactions(const char *directory, size_t count, bool rests)
{
    struct memory_texts *texts = memory_texts_new();
    struct ours o = open_ours(directory);
    struct probe_times times = {0}, busy = {0};
    for (size_t i = 0; i < COMPACTIONS; i++) {
        struct memory_entries list = make_turns(texts, count + i * COMPACTION, COMPACTION);
        double before = process_cpu(getpid());
        vec_push(&times.ms, add_compaction(&o, &list));
        vec_push(&busy.ms, (process_cpu(getpid()) - before) * 1e3);
        memory_entries_release(&list);
        if (rests)
            rest(&o);
    }
    probe_tell("cpu", percentile(busy.ms.items, busy.ms.len, 50));
    probe_times_tell(&times);
    vec_release(&busy.ms);
    close_ours(&o);
    memory_texts_free(texts);
}

static void append(const char *directory, size_t count)
{
    add_compactions(directory, count, true);
}

static void append_at_once(const char *directory, size_t count)
{
    add_compactions(directory, count + (size_t)COMPACTION * COMPACTIONS, false);
}

static void open_often(const char *directory, size_t count)
{
    struct probe_times times = {0};
    (void)count;
    for (size_t i = 0; i < OPENINGS; i++) {
        double start = screen_clock();
        struct ours o = open_ours(directory);
        vec_push(&times.ms, screen_clock() - start);
        close_ours(&o);
    }
    probe_times_tell(&times);
}

/* --------------------------------------------------------------------------------------------- */

static const struct {
    const char *what;
    void (*run)(const char *directory, size_t count);
} probes[] = {
    {"fill", fill},
    {"search", search},
    {"search-common", search_common},
    {"append", append},
    {"append-at-once", append_at_once},
    {"open", open_often},
    {"plain-fill", probe_plain_fill},
    {"plain-search", probe_plain_search},
    {"plain-search-common", probe_plain_search_common},
    {"graph", probe_graph},
    {"scan", probe_scan},
    {"facts-fill", probe_facts_fill},
    {"facts-search", probe_facts_search},
    {"facts-part", probe_facts_part},
    {"facts-plain-fill", probe_facts_plain_fill},
    {"facts-plain-search", probe_facts_plain_search},
    {"facts-like", probe_facts_like},
};

bool probe_run(const char *what, const char *directory, size_t count)
{
    mem_return_large_blocks(); /* as the program does */
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (strcmp(probes[i].what, what) == 0) {
            double start = screen_clock();
            probes[i].run(directory, count);
            probe_tell("all", screen_clock() - start);
            return true;
        }
    return false;
}

/* --- the other side -------------------------------------------------------------------------- */

static _Noreturn void become_probe(int out, const char *what, const char *directory, size_t count)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", count);
    if (dup2(out, STDOUT_FILENO) < 0)
        _exit(126);
    execl("/proc/self/exe", "tiro-bench", "probe-memory", what, directory, number, (char *)NULL);
    _exit(127);
}

static void read_figures(FILE *in, struct probe_figures *out)
{
    struct probe_figure figure;
    *out = (struct probe_figures){0};
    while (fscanf(in, "%31s %lf", figure.name, &figure.value) == 2)
        vec_push(&out->items, figure);
}

void probe_ask(const char *what, const char *directory, size_t count, struct probe_figures *out)
{
    int ends[2], status;
    fflush(NULL);
    if (pipe(ends) != 0)
        probe_fail("no pipe");
    pid_t pid = fork();
    if (pid == 0)
        become_probe(ends[1], what, directory, count);
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    if (pid < 0 || in == NULL)
        probe_fail("no process to measure in");
    read_figures(in, out);
    fclose(in);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        probe_fail(what);
}

double probe_figure(const struct probe_figures *f, const char *name)
{
    for (size_t i = 0; i < f->items.len; i++)
        if (strcmp(f->items.items[i].name, name) == 0)
            return f->items.items[i].value;
    probe_fail(name);
}
