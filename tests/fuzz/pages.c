/* A damaged database: whatever its pages say, what is taken for rows is whole. The input is the
 * file and, behind a line "=wal=", the file of its write-ahead log. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "store/salvage.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text)
{
    FUZZ_CHECK(!text || utf8_valid(text, strlen(text)));
}

static void check_event(const struct salvage *s, const struct event_place *place)
{
    struct buf payload = BUF_INIT;
    int version;
    struct event *ev = salvage_event(s, place, &payload, &version);
    if (ev) {
        char *again = event_payload(ev);
        FUZZ_CHECK(utf8_valid(again, strlen(again)));
        free(again);
    }
    event_free(ev);
    buf_release(&payload);
}

static void check_entry(const struct salvage *s, const struct memory_place *place)
{
    struct salvaged_entry entry;
    if (!salvage_memory_entry(&s->pages, place, &entry))
        return;
    FUZZ_CHECK(entry.id && entry.content && entry.role);
    salvaged_entry_release(&entry);
}

static void check_rows(const struct salvage *s)
{
    for (size_t i = 0; i < s->rows.len; i++) {
        FUZZ_CHECK(i == 0 || s->rows.items[i - 1].key < s->rows.items[i].key);
        FUZZ_CHECK(uuid_valid(s->rows.items[i].info.id));
        check_text(s->rows.items[i].info.title);
        check_text(s->rows.items[i].info.draft);
    }
    for (size_t i = 0; i < s->events.len; i++) {
        FUZZ_CHECK(i == 0 || event_number_order(&s->events.items[i - 1], &s->events.items[i]) <= 0);
        check_event(s, &s->events.items[i]);
    }
    for (size_t i = 0; i < s->memory.entries.len; i++)
        check_entry(s, &s->memory.entries.items[i]);
}

/* Where the log begins; the end where there is none. */
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
    char *log = mem_strdup(
        fuzz_file("tiro.db-wal", wal < size ? data + wal : data, wal < size ? size - wal : 0));
    struct salvage s;
    struct error e = {0};
    if (end == size)
        unlink(log);
    if (salvage_open(&s, fuzz_file("tiro.db", data, end), NULL, NULL, &e)) {
        check_rows(&s);
        salvage_release(&s);
    } else {
        fuzz_check_error(&e);
    }
    free(log);
    return 0;
}
