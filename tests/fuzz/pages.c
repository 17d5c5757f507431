/* A damaged database: for any pages, all rows that are read are sound. The input is the file and,
 * after a line "=wal=", its write-ahead log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "session/health.h"
#include "store/salvage.h"
#include "tests/fuzz/fuzz.h"

static struct store *make_store(void)
{
    struct store *store;
    auto_free char *path = store_memory_path();
    FUZZ_CHECK(store_open(path, STORE_READ_WRITE, &store, NULL));
    FUZZ_CHECK(salvage_register(store, NULL));
    return store;
}

/* Every row must satisfy its constraints. */
static void check_rows(struct store *s)
{
    static const char *const faults[] = {
        "SELECT 1 FROM found.session WHERE NOT whole OR NOT is_uuid(id)",
        "SELECT 1 FROM found.session WHERE plain(cleaned(title)) IS NOT cleaned(title)",
        "SELECT 1 FROM found.id WHERE NOT is_uuid(id)",
        "SELECT 1 FROM found.event WHERE session IS NULL OR coalesce(seq, 0) < 1",
        "SELECT 1 FROM found.event WHERE whole AND typeof(type) || typeof(payload) <> 'texttext'",
        "SELECT 1 FROM found.entry WHERE whole AND (content IS NULL OR role IS NULL)",
        "SELECT 1 FROM found.talk WHERE plain(id) IS NULL",
        "SELECT 1 FROM found.graph_entry WHERE whole AND (name IS NULL OR type IS NULL)",
        "SELECT 1 FROM found.graph_observation WHERE whole AND (content IS NULL OR entity IS NULL)",
        "SELECT 1 FROM found.graph_relation WHERE whole AND type || source || target IS NULL",
        "SELECT 1 FROM found.learned WHERE whole AND (id IS NULL OR text IS NULL)",
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct query q = query_begin(s, faults[i], NULL);
        FUZZ_CHECK(!query_next(&q));
        FUZZ_CHECK(query_end(&q));
    }
}

/* The start of the log, or the end of the data if there is none. */
static size_t find_wal(const uint8_t *data, size_t size)
{
    static const char mark[] = "\n=wal=\n";
    for (size_t i = 0; i + sizeof mark - 1 <= size; i++)
        if (memcmp(data + i, mark, sizeof mark - 1) == 0)
            return i;
    return size;
}

int fuzz_pages(const uint8_t *data, size_t size)
{
    size_t end = find_wal(data, size), wal = end + strlen("\n=wal=\n");
    auto_free char *log = mem_strdup(
        fuzz_file("tiro.db-wal", wal < size ? data + wal : data, wal < size ? size - wal : 0));
    static struct store *store;
    struct error e = {0};
    if (!store)
        store = make_store();
    if (end == size)
        unlink(log);
    FUZZ_CHECK(store_exec(store, "ATTACH ':memory:' AS found; BEGIN", NULL));
    if (salvage_read(store, fuzz_file("tiro.db", data, end), health_extensions, &e))
        check_rows(store);
    else
        fuzz_check_error(&e);
    FUZZ_CHECK(store_exec(store, "ROLLBACK; DETACH found", NULL));
    return 0;
}
