#include "index/doclist.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    PAGE_HEADER = 4, /* where the first entry's rowid is, and where the footer begins */
    PART_SHIFT = 37, /* of a page's rowid */
    COOKIE = 4,      /* bytes before the structure */
    ENTRY_BYTES = 2, /* at least */
    MOST_PARTS = 2000
};

/* ---- numbers ---- */

struct bytes {
    const uint8_t *at, *end;
    bool damaged;
};

/* Seven bits a byte, the highest first; all of the ninth byte's. */
static uint64_t take_long_number(struct bytes *b)
{
    uint64_t n = 0;
    for (int i = 0; i < 9 && b->at < b->end; i++) {
        uint8_t byte = *b->at++;
        if (i == 8)
            return n << 8 | byte;
        n = n << 7 | (byte & 0x7f);
        if (byte < 0x80)
            return n;
    }
    b->damaged = true;
    return 0;
}

static inline uint64_t take_number(struct bytes *b)
{
    return b->at < b->end && *b->at < 0x80 ? *b->at++ : take_long_number(b);
}

static size_t left_of(const struct bytes *b)
{
    return (size_t)(b->end - b->at);
}

/* A number of bytes, which must be left. */
static size_t take_len(struct bytes *b)
{
    uint64_t n = take_number(b);
    if (n <= left_of(b))
        return (size_t)n;
    b->damaged = true;
    return 0;
}

/* ---- records of its own ---- */

bool doclist_totals_read(const uint8_t *bytes, size_t len, int64_t *entries, int64_t *words)
{
    struct bytes b = {bytes, bytes + len, false};
    *entries = *words = 0;
    if (len == 0) /* of an index that is new */
        return true;
    *entries = (int64_t)take_number(&b);
    *words = (int64_t)take_number(&b);
    return !b.damaged && *entries >= 0 && *words >= 0;
}

/* A part whose words have all moved to another part has no pages. */
static bool is_empty(const struct doclist_part *part)
{
    return part->first == 0 && part->last == 0;
}

bool doclist_parts_read(const uint8_t *bytes, size_t len, struct doclist_parts *out)
{
    *out = (struct doclist_parts){0};
    if (len < COOKIE)
        return false;
    struct bytes b = {bytes + COOKIE, bytes + len, false};
    uint64_t levels = take_number(&b), parts = take_number(&b), found = 0;
    take_number(&b); /* how often it was written */
    for (uint64_t i = 0; i < levels && !b.damaged; i++) {
        size_t first = out->items.len; /* in a level the oldest part stands first */
        take_number(&b);               /* how many are being merged */
        uint64_t count = take_number(&b);
        for (uint64_t k = 0; k < count && !b.damaged; k++) {
            struct doclist_part part;
            part.id = (int64_t)take_number(&b);
            part.first = (int64_t)take_number(&b);
            part.last = (int64_t)take_number(&b);
            bool fits = part.id > 0 && part.id <= UINT16_MAX && part.last <= INT32_MAX &&
                        (is_empty(&part) || (part.first > 0 && part.first <= part.last));
            b.damaged = b.damaged || !fits || k == MOST_PARTS;
            if (!is_empty(&part))
                vec_insert(&out->items, first, part);
        }
        found += count;
    }
    return !b.damaged && found == parts;
}

/* ---- a page ---- */

/* Words and lists, then the footer: the distances between the beginnings of words. */
struct page {
    const uint8_t *bytes;
    size_t first_entry; /* of a list that goes on here; 0: there is none */
    size_t end;
    struct bytes footer;
};

static size_t u16(const uint8_t *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* Offset of the next word; the end of the page if there is none. */
static size_t next_word(struct page *p, size_t before)
{
    if (left_of(&p->footer) == 0)
        return p->end;
    uint64_t distance = take_number(&p->footer);
    p->footer.damaged = p->footer.damaged || distance == 0 || distance > p->end - before;
    return p->footer.damaged ? p->end : before + (size_t)distance;
}

/* ---- a list ---- */

/* Copies the bytes and returns the copy, so that the places of an entry are contiguous even if they
 * continue on the next page. */
static struct bytes copy_bytes(struct doclist *d, const struct bytes *b)
{
    size_t len = b->damaged ? 0 : left_of(b);
    struct bytes copy = {d->places->bytes.items + d->places->bytes.len, NULL, b->damaged};
    if (len > 0)
        memcpy(d->places->bytes.items + d->places->bytes.len, b->at, len);
    d->places->bytes.len += len;
    copy.end = copy.at + len;
    return copy;
}

/* Takes the places of the last entry that are on this page. Each is a number: two more than the
 * distance to the one before. None is split between pages. */
static void take_places(struct doclist *d, struct bytes *b)
{
    size_t here = d->left < left_of(b) ? d->left : left_of(b);
    struct posting p = vec_last(&d->out->items);
    uint64_t number = 0;
    b->damaged = here > 0 && b->at[here - 1] >= 0x80;
    for (const uint8_t *end = b->at + here; b->at < end;) {
        uint8_t byte = *b->at++;
        number = number << 7 | (byte & 0x7f);
        if (byte >= 0x80)
            continue;
        b->damaged = b->damaged || number < 2 || number > UINT32_MAX;
        posting_add_place(&p, number - 2);
        number = 0;
    }
    vec_last(&d->out->items) = p;
    d->left -= (uint32_t)here;
}

/* Eight bytes as a number, the first one lowest. */
static inline uint64_t eight_bytes(const uint8_t *at)
{
    uint64_t n;
    memcpy(&n, at, sizeof n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    n = __builtin_bswap64(n);
#endif
    return n;
}

/* Takes entries as most are, in a few operations on eight bytes: behind the first one of a page,
 * with up to six places whose numbers are single bytes. Leaves the first other one, and damage. */
static void take_usual_entries(struct doclist *d, struct bytes *b)
{
    enum { KEY_BYTES = 8, PLACES = 6 };
    const uint64_t each = UINT64_C(0x0101010101010101), odd = UINT64_C(0x00ff00ff00ff00ff);
    const uint8_t *at = b->at;
    uint64_t key = (uint64_t)d->key;
    struct posting *p = d->out->items.items + d->out->items.len;
    while (b->end - at >= 2 * KEY_BYTES) {
        const uint8_t *next = at; /* becomes the last byte of the key */
        uint64_t more = *next & 0x7f;
        while (*next >= 0x80 && next - at < KEY_BYTES - 1)
            more = more << 7 | (*++next & 0x7f);
        uint64_t all = eight_bytes(next), size = all >> 9 & 0x7f; /* above its lowest bit */
        int other = 64 - 8 * (int)size;                           /* bits that are no places */
        if ((all & 0x8080) || size - 1 >= PLACES || more - 1 >= INT64_MAX - key)
            break;
        uint64_t numbers = all >> 16 << other >> other, distances = numbers - (2 * each >> other);
        if ((numbers | distances) & 0x80 * each) /* a number is above 0x7f, or below 2 */
            break;
        uint64_t pairs = (distances & odd) + (distances >> 8 & odd);
        uint64_t last = pairs * UINT64_C(0x0001000100010001) >> 48; /* their sum */
        key += more;
        *p++ = (struct posting){.key = (int64_t)key,
                                .places = (uint32_t)(next + 2 - d->places->bytes.items),
                                .named = (distances & 0xff) == 0,
                                .last = (last < POSTING_LAST ? last : POSTING_LAST) & POSTING_LAST,
                                .count = size & POSTING_MOST};
        at = next + 2 + size;
    }
    d->key = (int64_t)key;
    d->out->items.len = (size_t)(p - d->out->items.items);
    b->at = at;
}

/* Takes the entries of bytes that copy_bytes() returned. */
static void take_entries(struct doclist *d, struct bytes *b)
{
    for (bool whole = true; b->at < b->end && !b->damaged; whole = false) {
        /* The first entry of a page has its whole key, others the difference to the one before. */
        uint64_t key = take_number(b) + (whole ? 0 : (uint64_t)d->key);
        b->damaged = b->damaged || key > INT64_MAX || (int64_t)key <= d->key;
        d->key = (int64_t)key;
        if (b->damaged)
            return;
        /* The lowest bit of the size marks the removal of an older part's entry; with places it is
         * an entry that was added again. */
        uint64_t size = take_number(b) >> 1;
        b->damaged = b->damaged || size > INT32_MAX;
        if (b->damaged)
            return;
        struct posting *p = &d->out->items.items[d->out->items.len++];
        *p = (struct posting){.key = d->key, .places = (uint32_t)(b->at - d->places->bytes.items)};
        d->removed = d->removed || size == 0;
        d->left = (uint32_t)size;
        take_places(d, b);
        if (!b->damaged)
            take_usual_entries(d, b);
    }
}

/* ---- finding the word ---- */

/* Compares the word that begins here with the wanted one, of which the word before has the first
 * *same bytes. Words are in order, and leave out the beginning that they share with the one before.
 */
enum found { BEFORE, HERE, BEHIND };
static enum found compare_word(const struct doclist *d, struct bytes *b, bool first, size_t *same)
{
    uint64_t kept = first ? 0 : take_number(b);
    size_t own = take_len(b), i = 0;
    const uint8_t *text = b->at;
    b->at += own;
    if (kept != *same)
        return kept < *same ? BEHIND : BEFORE;
    while (i < own && *same < d->word_len && text[i] == (uint8_t)d->word[*same]) {
        i++;
        ++*same;
    }
    if (*same == d->word_len)
        return i == own ? HERE : BEHIND;
    return i < own && text[i] > (uint8_t)d->word[*same] ? BEHIND : BEFORE;
}

/* Whether the word, which is kept, begins with the wanted one. */
static enum found compare_beginning(struct doclist *d, struct bytes *b, bool first)
{
    uint64_t kept = first ? 0 : take_number(b);
    size_t own = take_len(b);
    b->damaged = b->damaged || kept > d->at.len;
    if (b->damaged)
        return BEHIND;
    buf_splice(&d->at, (size_t)kept, d->at.len - (size_t)kept, b->at, own);
    b->at += own;
    size_t len = d->at.len < d->word_len ? d->at.len : d->word_len;
    int order = memcmp(d->at.data, d->word, len);
    if (order != 0)
        return order < 0 ? BEFORE : BEHIND;
    return d->at.len < d->word_len ? BEFORE : HERE;
}

/* The list of a word, up to where the next word begins. */
static enum doclist_step end_list(const struct doclist *d, const struct page *p,
                                  const struct bytes *b, size_t end)
{
    if (b->damaged || (end < p->end && d->left > 0))
        return DOCLIST_DAMAGED;
    return end < p->end ? DOCLIST_END : DOCLIST_MORE;
}

/* Finds the word in a page, whose first word is at `at`. */
static enum doclist_step find_list(struct doclist *d, struct page *p, size_t at)
{
    enum doclist_step step = DOCLIST_END;
    size_t same = 0;
    for (bool first = true; at < p->end; first = false) {
        struct bytes b = {p->bytes + at, p->bytes + p->end, false};
        enum found found =
            d->runs ? compare_beginning(d, &b, first) : compare_word(d, &b, first, &same);
        at = next_word(p, at);
        if (b.damaged || p->footer.damaged)
            return DOCLIST_DAMAGED;
        if (found == HERE) { /* its list goes up to where the next word begins */
            size_t len = d->out->items.len;
            d->listed = true;
            d->key = -1;
            if (d->runs)
                vec_push(&d->runs->items,
                         ((struct doclist_run){len, len, mem_strndup(d->at.data, d->at.len)}));
            b.damaged = b.at > p->bytes + at;
            b.end = p->bytes + at;
            struct bytes list = copy_bytes(d, &b);
            take_entries(d, &list);
            step = end_list(d, p, &list, at);
        }
        if (found == BEHIND || (found == HERE && (!d->runs || step != DOCLIST_END)))
            return step;
    }
    return p->footer.damaged ? DOCLIST_DAMAGED : d->runs ? DOCLIST_MORE : DOCLIST_END;
}

void doclist_runs_release(struct doclist_runs *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        free(r->items.items[i].word);
    vec_release(&r->items);
}

enum doclist_step doclist_read(struct doclist *d, const uint8_t *page, size_t len)
{
    if (len < PAGE_HEADER)
        return DOCLIST_DAMAGED;
    struct page p = {.bytes = page, .first_entry = u16(page), .end = u16(page + 2)};
    if (p.end < PAGE_HEADER || p.end > len || p.first_entry > p.end)
        return DOCLIST_DAMAGED;
    p.footer = (struct bytes){page + p.end, page + len, false};
    size_t entries = d->out->items.len + len / ENTRY_BYTES, bytes = d->places->bytes.len + len;
    size_t ahead = d->listed ? 4 : 1; /* of a long list, whose copies take time */
    if (entries > d->out->items.cap)
        vec_reserve(&d->out->items, ahead * entries);
    if (bytes > d->places->bytes.cap)
        vec_reserve(&d->places->bytes, ahead * bytes);
    size_t end = next_word(&p, 0);
    if (!d->listed)
        return find_list(d, &p, end);

    /* On a later page of the list: the rest of the places of the last entry, then the first entry
     * that begins here. */
    if (p.footer.damaged || end < PAGE_HEADER)
        return DOCLIST_DAMAGED;
    struct bytes b = {page + PAGE_HEADER, page + end, false};
    b = copy_bytes(d, &b);
    const uint8_t *begin = b.at;
    if (d->left > 0)
        take_places(d, &b);
    size_t at = PAGE_HEADER + (size_t)(b.at - begin);
    if (p.first_entry != 0 ? at != p.first_entry : at != end)
        return DOCLIST_DAMAGED;
    take_entries(d, &b);
    enum doclist_step step = end_list(d, &p, &b, end);
    return d->runs && step == DOCLIST_END ? find_list(d, &p, end) : step;
}

/* ---- parts as one ---- */

/* Makes one list of a word's lists in several parts, which start at `begins`, the oldest part
 * first. Removed entries go; `removed`: there may be some. */
static void unite(struct postings *p, const size_t *begins, size_t count, bool removed)
{
    size_t kept = count > 0 ? begins[0] : 0;
    bool ordered = !removed;
    for (size_t i = 1; ordered && i < count; i++)
        ordered = begins[i] == kept || begins[i] == p->items.len ||
                  p->items.items[begins[i] - 1].key < p->items.items[begins[i]].key;
    if (ordered)
        return;
    /* Each list is merged into the one before it; of equal keys the newer one comes behind. */
    for (size_t i = count; i-- > 1;) {
        struct posting *all = p->items.items;
        size_t begin = begins[i - 1], middle = begins[i], old = middle;
        size_t newer = p->items.len - middle, at = p->items.len;
        if (newer == 0 || middle == begin || all[middle - 1].key < all[middle].key)
            continue;
        auto_free struct posting *copy = mem_alloc(newer * sizeof *copy);
        memcpy(copy, all + middle, newer * sizeof *copy);
        while (newer > 0)
            all[--at] =
                old > begin && all[old - 1].key > copy[newer - 1].key ? all[--old] : copy[--newer];
    }
    for (size_t i = kept; i < p->items.len; i++) {
        bool replaced = i + 1 < p->items.len && p->items.items[i + 1].key == p->items.items[i].key;
        if (!replaced && p->items.items[i].count > 0)
            p->items.items[kept++] = p->items.items[i];
    }
    p->items.len = kept;
}

/* ---- words as one ---- */

static int compare_runs(const void *a, const void *b)
{
    const struct doclist_run *x = a, *y = b;
    int order = strcmp(x->word, y->word);
    return order ? order : (x->begin > y->begin) - (x->begin < y->begin);
}

/* One posting for those of an entry, with the places of all. */
static struct posting join_entry(const struct posting *from, size_t count, struct occurrences *work,
                                 struct place_bytes *places)
{
    struct posting out = {.key = from->key, .places = (uint32_t)places->bytes.len};
    vec_clear(&work->items);
    for (size_t i = 0; i < count; i++)
        places_unpack(places->bytes.items + from[i].places, from[i].count, 0, work);
    places_order(work);
    for (size_t i = 0, last = 0; i < work->items.len; i++) {
        uint32_t more = work->items.items[i].at - (uint32_t)last;
        if (i > 0 && more == 0)
            continue;
        posting_add_place(&out, more);
        places_pack(places, more);
        last = work->items.items[i].at;
    }
    return out;
}

void doclist_join(struct postings *p, struct doclist_runs *runs, struct place_bytes *places)
{
    struct postings all = {0};
    struct list_begins begins = {0}, parts = {0};
    struct occurrences work = {0};
    size_t kept = 0;
    for (size_t i = 0; i < runs->items.len; i++)
        runs->items.items[i].end =
            i + 1 < runs->items.len ? runs->items.items[i + 1].begin : p->items.len;
    vec_sort(&runs->items, compare_runs);

    /* The lists of each word as one, one after the other. */
    for (size_t i = 0, end; i < runs->items.len; i = end) {
        const struct doclist_run *run = runs->items.items;
        vec_push(&begins.items, all.items.len);
        vec_clear(&parts.items);
        for (end = i; end < runs->items.len && strcmp(run[end].word, run[i].word) == 0; end++) {
            vec_push(&parts.items, all.items.len);
            for (size_t k = run[end].begin; k < run[end].end; k++)
                vec_push(&all.items, p->items.items[k]);
        }
        unite(&all, parts.items.items, parts.items.len, true);
    }
    vec_release(&p->items);
    postings_merge(&all, begins.items.items, begins.items.len);

    /* One posting for each entry. */
    for (size_t i = 0, end; i < all.items.len; i = end) {
        const struct posting *from = &all.items.items[i];
        for (end = i + 1; end < all.items.len && all.items.items[end].key == from->key;)
            end++;
        all.items.items[kept++] = end == i + 1 ? *from : join_entry(from, end - i, &work, places);
    }
    all.items.len = kept;
    *p = all;
    vec_release(&begins.items);
    vec_release(&parts.items);
    vec_release(&work.items);
}

/* ---- the lists of a corpus's index ---- */

static const char format_sql[] = "SELECT v FROM #_words_config WHERE k = 'version'";
static const char record_sql[] = "SELECT block FROM #_words_data WHERE id = ?";
static const char pages_sql[] =
    "SELECT block, id FROM #_words_data WHERE id BETWEEN ? AND ? ORDER BY id";
/* The last page whose first word is not behind this one, and the first page whose first word is;
 * the lowest bit of their numbers is a mark. */
static const char page_sql[] =
    "SELECT pgno >> 1 FROM #_words_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1";
static const char end_sql[] =
    "SELECT pgno >> 1 FROM #_words_idx WHERE segid = ? AND term > ? ORDER BY term LIMIT 1";

struct words_lists {
    const struct corpus *corpus;
    struct doclist_parts parts;
    int64_t entries, words;
};

static const uint8_t *block(const struct query *q, size_t *len)
{
    const uint8_t *bytes = sqlite3_column_blob(q->handle, 0);
    *len = bytes ? (size_t)sqlite3_column_bytes(q->handle, 0) : 0;
    return bytes ? bytes : (const uint8_t *)"";
}

bool words_lists_open(const struct corpus *c, struct words_lists **out, struct error *e)
{
    struct words_lists *l = mem_alloc(sizeof *l);
    int64_t format;
    size_t len;
    bool readable = false;
    l->corpus = c;
    bool ok = corpus_number(c, &format, e, format_sql, "");
    if (ok && format == DOCLIST_FORMAT) {
        struct query q = corpus_query(c, e, record_sql, "i", (int64_t)DOCLIST_STRUCTURE);
        if (query_next(&q)) {
            const uint8_t *bytes = block(&q, &len);
            readable = doclist_parts_read(bytes, len, &l->parts);
        }
        ok = query_end(&q);
    }
    if (ok && readable) {
        struct query q = corpus_query(c, e, record_sql, "i", (int64_t)DOCLIST_TOTALS);
        if (query_next(&q)) {
            const uint8_t *bytes = block(&q, &len);
            readable = doclist_totals_read(bytes, len, &l->entries, &l->words);
        }
        ok = query_end(&q);
    }
    bool settled = sqlite3_txn_state(c->store->db, "main") != SQLITE_TXN_WRITE;
    *out = ok && readable && settled ? l : NULL;
    if (!*out)
        words_lists_close(l);
    return ok;
}

void words_lists_close(struct words_lists *l)
{
    if (!l)
        return;
    vec_release(&l->parts.items);
    free(l);
}

void words_lists_totals(const struct words_lists *l, int64_t *entries, int64_t *words)
{
    *entries = l->entries;
    *words = l->words;
}

static int64_t page_id(const struct doclist_part *part, int64_t page)
{
    return (part->id << PART_SHIFT) + page;
}

/* Makes room for the rest of a list that continues on the next page: it ends on the page before the
 * one that begins with a later word. The numbers of pages are not trusted. */
static bool reserve_list(const struct words_lists *l, const struct doclist_part *part,
                         struct doclist *d, int64_t page, struct error *e)
{
    enum { MOST_PAGES = 1024, PAGE_BYTES = 4096, QUESTION_WORDS = 8 };
    int64_t end = part->last + 1;
    struct query q =
        corpus_query(l->corpus, e, end_sql, "ib", part->id, (const void *)d->word, d->word_len);
    if (!query_number(&q, &end))
        return false;
    int64_t pages = end <= page ? 0 : end - page < MOST_PAGES ? end - page : MOST_PAGES;
    size_t bytes = (size_t)pages * PAGE_BYTES;
    vec_reserve_large(&d->out->items, d->out->items.len + bytes / ENTRY_BYTES);
    if (d->places->bytes.len + bytes > d->places->bytes.cap)
        vec_reserve_large(&d->places->bytes, QUESTION_WORDS * (d->places->bytes.len + bytes));
    return true;
}

static bool read_pages(const struct words_lists *l, const struct doclist_part *part,
                       struct doclist *d, enum doclist_step *step, struct error *e)
{
    int64_t page = part->first;
    struct query q =
        corpus_query(l->corpus, e, page_sql, "ib", part->id, (const void *)d->word, d->word_len);
    if (!query_number(&q, &page))
        return false;
    if (page < part->first)
        page = part->first;
    *step = page <= part->last ? DOCLIST_MORE : DOCLIST_DAMAGED;
    q = corpus_query(l->corpus, e, pages_sql, "ii", page_id(part, page), page_id(part, part->last));
    bool ok = true;
    for (; ok && *step == DOCLIST_MORE && page <= part->last && query_next(&q); page++) {
        size_t len;
        const uint8_t *bytes = block(&q, &len);
        bool next = sqlite3_column_int64(q.handle, 1) == page_id(part, page), listed = d->listed;
        *step = next ? doclist_read(d, bytes, len) : DOCLIST_DAMAGED;
        if (*step == DOCLIST_MORE && d->listed && !listed)
            ok = reserve_list(l, part, d, page, e);
    }
    if (*step == DOCLIST_MORE)
        *step = page > part->last && d->left == 0 ? DOCLIST_END : DOCLIST_DAMAGED;
    return query_end(&q) && ok;
}

bool words_list_read(const struct words_lists *l, const char *word, bool open, struct postings *out,
                     struct place_bytes *places, bool *whole, struct error *e)
{
    auto_free char *marked = mem_printf("%s%s", DOCLIST_WORD, word);
    struct list_begins begins = {0};
    struct doclist_runs runs = {0};
    struct postings several = {0};
    struct doclist d = {.word = marked,
                        .word_len = strlen(marked),
                        .runs = open ? &runs : NULL,
                        .out = open ? &several : out,
                        .places = places,
                        .at = BUF_INIT};
    enum doclist_step step = DOCLIST_END;
    bool ok = true;
    for (size_t i = l->parts.items.len; ok && step == DOCLIST_END && i-- > 0;) { /* oldest first */
        d.key = -1;
        d.left = 0;
        d.listed = false;
        vec_push(&begins.items, d.out->items.len);
        ok = read_pages(l, &l->parts.items.items[i], &d, &step, e);
    }
    *whole = ok && step == DOCLIST_END;
    if (!open)
        unite(out, begins.items.items, begins.items.len, d.removed);
    else if (*whole)
        doclist_join(&several, &runs, places);
    if (open && out->items.len == 0) {
        struct postings swap = *out;
        *out = several;
        several = swap;
    }
    for (size_t i = 0; open && i < several.items.len; i++)
        vec_push(&out->items, several.items.items[i]);
    vec_release(&several.items);
    doclist_runs_release(&runs);
    buf_release(&d.at);
    vec_release(&begins.items);
    return ok;
}
