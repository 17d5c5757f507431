/* A page of the index of words: for any bytes, the result is in order and lies within the page. The
 * first byte is the length of the word after it; the rest are pages, the first of them up to a
 * mark. */
#include <stdlib.h>
#include <string.h>

#include "index/doclist.h"
#include "tests/fuzz/fuzz.h"

static void check_list(const struct postings *list, const struct place_bytes *bytes)
{
    struct occurrences places = {0};
    for (size_t i = 0; i < list->items.len; i++) {
        const struct posting *p = &list->items.items[i];
        FUZZ_CHECK(i == 0 || p->key > list->items.items[i - 1].key);
        vec_clear(&places.items);
        places_unpack(bytes->bytes.items + p->places, p->count, 0, &places);
        FUZZ_CHECK(places.items.len == p->count);
    }
    vec_release(&places.items);
}

static void read_pages(struct doclist *d, const uint8_t *data, size_t size)
{
    enum doclist_step step = DOCLIST_MORE;
    for (const uint8_t *end = data + size; step == DOCLIST_MORE && data < end;) {
        const uint8_t *mark = memchr(data, 0xff, (size_t)(end - data));
        size_t len = (size_t)((mark ? mark : end) - data);
        step = doclist_read(d, data, len);
        data += len + 1;
    }
    if (step == DOCLIST_DAMAGED || d->left > 0)
        return;
    if (d->runs)
        doclist_join(d->out, d->runs, d->places);
    check_list(d->out, d->places);
}

int fuzz_doclist(const uint8_t *data, size_t size)
{
    struct postings list = {0};
    struct place_bytes places = {0};
    struct doclist_parts parts;
    int64_t entries, words;
    if (doclist_parts_read(data, size, &parts))
        for (size_t i = 0; i < parts.items.len; i++)
            FUZZ_CHECK(parts.items.items[i].first > 0 &&
                       parts.items.items[i].first <= parts.items.items[i].last);
    vec_release(&parts.items);
    if (doclist_totals_read(data, size, &entries, &words))
        FUZZ_CHECK(entries >= 0 && words >= 0);
    size_t word_len = size > 0 ? data[0] & 0x7f : 0;
    if (size < 1 || size - 1 < word_len)
        return -1;
    struct doclist_runs runs = {0};
    struct doclist d = {.word = (const char *)data + 1,
                        .word_len = word_len,
                        .runs = data[0] & 0x80 ? &runs : NULL,
                        .out = &list,
                        .places = &places,
                        .key = -1,
                        .at = BUF_INIT};
    read_pages(&d, data + 1 + word_len, size - 1 - word_len);
    doclist_runs_release(&runs);
    buf_release(&d.at);
    vec_release(&list.items);
    vec_release(&places.bytes);
    return 0;
}
