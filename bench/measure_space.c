/* Shared spaces: what goes out, the first copy of another machine, and how soon a line is found
 * there, beside indexing the same entries without a space. SPACE_ENTRIES=1000000 measures that
 * many, SPACE_URL=postgresql://… a server in place of a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/entropy.h"
#include "base/mem.h"
#include "base/paths.h"
#include "bench/measures.h"
#include "bench/memory_probe.h"
#include "bench/memory_texts.h"
#include "bench/table.h"
#include "space/space.h"

enum { LINES = 200, STEP = 2000 };
static const double FIRST_COPY_S = 30, FOUND_MS = 1000;

struct machine {
    struct store *store;
    struct memory *memory;
    struct space space;
    struct carrier *carrier;
    char *path;
};

static struct error e;

static void must(bool ok)
{
    if (!ok)
        probe_fail(e.text);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double seconds(int64_t since_ms)
{
    return (double)(clock_mono_ms() - since_ms) / 1e3;
}

static void open_machine(struct machine *m, const char *directory, const char *name)
{
    m->path = mem_printf("%s/%s.db", directory, name);
    must(store_open(m->path, STORE_READ_WRITE, &m->store, &e));
    m->memory = memory_open(m->store, NULL);
}

/* The first machine makes the space. */
static void join(struct machine *m, const char *url, const char *id, bool first)
{
    char writer[UUID_LEN + 1];
    const char *person = NULL;
    uuid_new(writer);
    m->space = (struct space){.name = mem_strdup("bench"),
                              .id = mem_strdup(id),
                              .url = mem_strdup(url),
                              .writer = mem_strdup(writer),
                              .role = SPACE_OWNER,
                              .form = SPACE_SCHEMA};
    must(space_connect(&m->space, NULL, &m->carrier, &e));
    must(m->carrier->ops->person(m->carrier, &person, &e));
    m->space.person = mem_strdup(person ? person : "bench");
    carrier_close(m->carrier);
    must(space_connect(&m->space, NULL, &m->carrier, &e));
    struct space_facts facts = {.name = (char *)"bench", .schema = SPACE_SCHEMA, .min_client = 1};
    const struct space_member owner = {.person = m->space.person, .role = SPACE_OWNER};
    snprintf(facts.id, sizeof facts.id, "%s", id);
    must(!first || m->carrier->ops->make(m->carrier, &facts, &owner, &e));
    must(space_add(m->store, &m->space, &e));
    must(space_refresh(m->store, &m->space, m->carrier, &e));
}

static void close_machine(struct machine *m)
{
    carrier_close(m->carrier);
    space_release(&m->space);
    memory_close(m->memory);
    store_close(m->store);
    free(m->path);
}

/* Indexes turns [from, to), in sessions of MEMORY_TALK. */
static void say(struct machine *m, const struct memory_texts *texts, size_t from, size_t to)
{
    struct memory_entry entries[MEMORY_TALK] = {0};
    struct buf text = BUF_INIT;
    for (size_t i = from; i < to;) {
        size_t n = 0;
        auto_free char *session = mem_printf("session-%zu", i / MEMORY_TALK);
        for (; n < MEMORY_TALK && i < to; n++, i++) {
            memory_texts_turn(texts, i, &text);
            entries[n] = (struct memory_entry){.role = i % 2 ? ROLE_ASSISTANT : ROLE_USER,
                                               .turn = (int64_t)(n / 2 + 1),
                                               .seq = (int64_t)n + 1,
                                               .created_ms = 1750000000000 + (int64_t)i * 1000,
                                               .content = mem_strdup(text.data)};
        }
        int stored;
        must(m->memory->ops->index(m->memory, session, 0, entries, n, &stored, &e));
        for (size_t k = 0; k < n; k++) {
            free(entries[k].content);
            free(entries[k].id);
        }
    }
    buf_release(&text);
}

static void send_all(struct machine *m)
{
    for (bool more = true; more;)
        must(space_gather(m->store, m->memory, STEP, &more, &e));
    for (bool more = true; more;)
        must(space_send(m->store, &m->space, m->carrier, &more, &e));
}

static void receive_all(struct machine *m)
{
    struct space_news news = {0};
    for (bool more = true; more;)
        must(space_receive(m->store, m->memory, &m->space, m->carrier, &more, &news, &e));
    if (news.refused + news.skipped > 0)
        probe_fail("lines were refused");
}

static void share(struct machine *m, const char *session)
{
    struct space_shared out;
    must(space_share(m->store, &m->space, "session", session, true, false, &out, &e));
    space_shared_release(&out);
}

void measure_space(void)
{
    const char *asked = getenv("SPACE_ENTRIES"), *server = getenv("SPACE_URL");
    size_t count = asked ? strtoul(asked, NULL, 10) : 100000;
    char directory[] = "/dev/shm/tiro-bench-XXXXXX", id[UUID_LEN + 1];
    struct machine first = {0}, second = {0}, alone = {0};
    if (!mkdtemp(directory))
        probe_fail("no directory in /dev/shm");
    uuid_new(id);
    auto_free char *url = server ? mem_strdup(server) : mem_printf("folder:%s/shared", directory);
    struct memory_texts *texts = memory_texts_new();
    open_machine(&first, directory, "first");
    open_machine(&second, directory, "second");
    open_machine(&alone, directory, "alone");

    int64_t since = clock_mono_ms();
    say(&alone, texts, 0, count);
    double indexing = seconds(since);
    say(&first, texts, 0, count);
    join(&first, url, id, true);
    join(&second, url, id, false);
    for (size_t i = 0; i * MEMORY_TALK < count; i++) {
        auto_free char *session = mem_printf("session-%zu", i);
        share(&first, session);
    }
    since = clock_mono_ms();
    send_all(&first);
    double out = seconds(since);
    since = clock_mono_ms();
    receive_all(&second);
    double in = seconds(since);
    table_note("space", "%zu entries in a %s", count, server ? "server" : "folder");
    table_note("  sent", "%.0f entries/s", (double)count / out);
    table_row("  first copy, with indexing", FIRST_COPY_S * (double)count / 1e5, in, "s", 1);
    table_note("    for comparison: indexing alone", "%.1f s (we: %.2f×)", indexing, in / indexing);
    struct stat st;
    if (stat(second.path, &st) == 0)
        table_note("    bytes of its database for an entry", "%.0f",
                   (double)st.st_size / (double)count);

    /* One after another, as people speak; a reader looks twice a second (session/space_desk.c). */
    double found[LINES];
    share(&first, "talk");
    for (int i = 0; i < LINES; i++) {
        struct memory_entry entry = {.role = ROLE_USER,
                                     .seq = i + 1,
                                     .created_ms = 1760000000000 + i * 1000,
                                     .content = mem_printf("said now, number %d", i)};
        int stored;
        must(first.memory->ops->index(first.memory, "talk", 0, &entry, 1, &stored, &e));
        free(entry.content);
        free(entry.id);
        double begin = now_ms();
        send_all(&first);
        receive_all(&second);
        found[i] = now_ms() - begin;
    }
    table_row("  one entry, sent and received, p99", FOUND_MS - 500, percentile(found, LINES, 99),
              "ms", 1);
    table_note("    p50", "%.1f ms", percentile(found, LINES, 50));
    if (server)
        measure_servers(first.carrier, first.space.person);
    close_machine(&first);
    close_machine(&second);
    memory_close(alone.memory);
    store_close(alone.store);
    free(alone.path);
    memory_texts_free(texts);
    auto_free char *command = mem_printf("rm -rf %s", directory);
    if (system(command) != 0)
        probe_fail("the directory stays");
}
