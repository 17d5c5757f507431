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

/* A number of bytes of which so many are left. */
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

/* One whose words have all gone into another part has no pages any more. */
static bool is_empty(const struct doclist_part *part)
{
    return part->first == 0 && part->last == 0;
}

static bool is_part(const struct doclist_part *part)
{
    return part->id > 0 && part->id <= UINT16_MAX && part->last <= INT32_MAX &&
           (is_empty(part) || (part->first > 0 && part->first <= part->last));
}

static struct doclist_part take_part(struct bytes *b)
{
    struct doclist_part part;
    part.id = (int64_t)take_number(b);
    part.first = (int64_t)take_number(b);
    part.last = (int64_t)take_number(b);
    return part;
}

/* Of a level the oldest part stands first. The result is how many it has. */
static uint64_t take_level(struct bytes *b, struct doclist_parts *out)
{
    size_t first = out->items.len;
    take_number(b); /* how many are being merged */
    uint64_t count = take_number(b);
    for (uint64_t i = 0; i < count && !b->damaged; i++) {
        struct doclist_part part = take_part(b);
        b->damaged = b->damaged || !is_part(&part) || i == MOST_PARTS;
        if (!is_empty(&part))
            vec_insert(&out->items, first, part);
    }
    return count;
}

bool doclist_parts_read(const uint8_t *bytes, size_t len, struct doclist_parts *out)
{
    *out = (struct doclist_parts){0};
    if (len < COOKIE)
        return false;
    struct bytes b = {bytes + COOKIE, bytes + len, false};
    uint64_t levels = take_number(&b), parts = take_number(&b), found = 0;
    take_number(&b); /* how often it was written */
    for (uint64_t i = 0; i < levels && !b.damaged; i++)
        found += take_level(&b, out);
    return !b.damaged && found == parts;
}

int64_t doclist_page_id(const struct doclist_part *part, int64_t page)
{
    return (part->id << PART_SHIFT) + page;
}

/* ---- a page ---- */

/* Words and lists up to the footer, which has how far the words are from one another. */
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

static bool open_page(const uint8_t *bytes, size_t len, struct page *out)
{
    if (len < PAGE_HEADER)
        return false;
    *out = (struct page){.bytes = bytes, .first_entry = u16(bytes), .end = u16(bytes + 2)};
    out->footer = (struct bytes){bytes + (out->end <= len ? out->end : len), bytes + len, false};
    return out->end >= PAGE_HEADER && out->end <= len && out->first_entry <= out->end;
}

/* Where the next word begins; the page's end where there is none. */
static size_t next_word(struct page *p, size_t before)
{
    if (left_of(&p->footer) == 0)
        return p->end;
    uint64_t distance = take_number(&p->footer);
    p->footer.damaged = p->footer.damaged || distance == 0 || distance > p->end - before;
    return p->footer.damaged ? p->end : before + (size_t)distance;
}

/* ---- a list ---- */

/* Each place is a number, of two more than the distance to the one before; none is on two pages.
 * Their bytes are copied. */
static bool count_places(struct posting *p, const struct bytes *b, unsigned char *to)
{
    uint64_t number = 0;
    for (const uint8_t *at = b->at; at < b->end; at++) {
        *to++ = *at;
        number = number << 7 | (*at & 0x7f);
        if (*at & 0x80)
            continue;
        if (number < 2 || number > UINT32_MAX)
            return false;
        posting_add_place(p, number - 2);
        number = 0;
    }
    return b->at == b->end || b->end[-1] < 0x80;
}

/* As much of the places as is on this page. */
static void take_places(struct doclist *d, struct bytes *b)
{
    size_t here = d->left < left_of(b) ? d->left : left_of(b);
    const struct bytes places = {b->at, b->at + here, false};
    struct place_bytes *to = d->places;
    b->damaged = !count_places(&vec_last(&d->out->items), &places, to->bytes.items + to->bytes.len);
    to->bytes.len += here;
    b->at += here;
    d->left -= (uint32_t)here;
}

/* The size's lowest bit marks what takes out an older part's entry; where it has places, it is one
 * that was put in anew. */
static void take_entry(struct doclist *d, struct bytes *b)
{
    uint64_t size = take_number(b) >> 1;
    b->damaged = b->damaged || size > INT32_MAX;
    if (b->damaged)
        return;
    d->left = (uint32_t)size;
    d->out->items.items[d->out->items.len++] =
        (struct posting){.key = d->key, .places = (uint32_t)d->places->bytes.len};
    take_places(d, b);
}

/* The first entry of each page has its whole key, others what it is more than the last one's. */
static int64_t take_key(const struct doclist *d, struct bytes *b, bool whole)
{
    uint64_t key = take_number(b) + (whole ? 0 : (uint64_t)d->key);
    b->damaged = b->damaged || key > INT64_MAX || (int64_t)key <= d->key;
    return (int64_t)key;
}

static void take_entries(struct doclist *d, struct bytes *b)
{
    for (bool whole = true; b->at < b->end && !b->damaged; whole = false) {
        d->key = take_key(d, b, whole);
        if (!b->damaged)
            take_entry(d, b);
    }
}

/* ---- finding the word ---- */

/* How the word that begins here compares with the one that is looked for, of which `*same` bytes
 * are those of the word before. Words share their beginnings with the ones before them, and are in
 * order. */
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

/* … of those that begin so, whether this one does; it is kept. */
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

static void begin_run(struct doclist *d)
{
    size_t len = d->out->items.len;
    vec_push(&d->runs->items, ((struct doclist_run){len, len, mem_strndup(d->at.data, d->at.len)}));
}

/* What stands up to where the next word begins has been read. */
static enum doclist_step end_list(const struct doclist *d, const struct page *p,
                                  const struct bytes *b, size_t end)
{
    if (b->damaged || (end < p->end && d->left > 0))
        return DOCLIST_DAMAGED;
    return end < p->end ? DOCLIST_END : DOCLIST_MORE;
}

/* The word's list up to where the next word begins. */
static enum doclist_step begin_list(struct doclist *d, struct page *p, const uint8_t *at,
                                    size_t end)
{
    struct bytes b = {at, p->bytes + end, at > p->bytes + end};
    d->listed = true;
    d->key = -1;
    if (d->runs)
        begin_run(d);
    take_entries(d, &b);
    return end_list(d, p, &b, end);
}

/* Among the words of a page from this one on, which is the first of the page. */
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
        if (found == HERE)
            step = begin_list(d, p, b.at, at);
        if (found == BEHIND || (found == HERE && (!d->runs || step != DOCLIST_END)))
            return step;
    }
    return p->footer.damaged ? DOCLIST_DAMAGED : d->runs ? DOCLIST_MORE : DOCLIST_END;
}

/* On a page behind the one that it began on: what is left of the last entry's places, then the
 * first entry that begins here. */
static enum doclist_step go_on(struct doclist *d, struct page *p)
{
    size_t end = next_word(p, 0);
    if (p->footer.damaged || end < PAGE_HEADER)
        return DOCLIST_DAMAGED;
    struct bytes b = {p->bytes + PAGE_HEADER, p->bytes + end, false};
    if (d->left > 0)
        take_places(d, &b);
    size_t at = (size_t)(b.at - p->bytes);
    if (p->first_entry != 0 ? at != p->first_entry : at != end)
        return DOCLIST_DAMAGED;
    take_entries(d, &b);
    enum doclist_step step = end_list(d, p, &b, end);
    return d->runs && step == DOCLIST_END ? find_list(d, p, end) : step;
}

void doclist_release(struct doclist *d)
{
    buf_release(&d->at);
}

void doclist_runs_release(struct doclist_runs *r)
{
    for (size_t i = 0; i < r->items.len; i++)
        free(r->items.items[i].word);
    vec_release(&r->items);
}

enum doclist_step doclist_read(struct doclist *d, const uint8_t *page, size_t len)
{
    struct page p;
    if (!open_page(page, len, &p))
        return DOCLIST_DAMAGED;
    vec_reserve(&d->out->items, d->out->items.len + len / ENTRY_BYTES);
    vec_reserve(&d->places->bytes, d->places->bytes.len + len);
    return d->listed ? go_on(d, &p) : find_list(d, &p, next_word(&p, 0));
}

/* ---- parts as one ---- */

/* Puts what stands from `middle` on among what stands from `begin` on; of equal keys its one comes
 * behind. */
static void merge_newer(struct postings *p, size_t begin, size_t middle)
{
    struct posting *all = p->items.items;
    size_t old = middle, newer = p->items.len - middle, at = p->items.len;
    if (newer == 0 || middle == begin || all[middle - 1].key < all[middle].key)
        return;
    struct posting *copy = mem_alloc(newer * sizeof *copy);
    memcpy(copy, all + middle, newer * sizeof *copy);
    while (newer > 0)
        all[--at] =
            old > begin && all[old - 1].key > copy[newer - 1].key ? all[--old] : copy[--newer];
    free(copy);
}

void doclist_unite(struct postings *p, const size_t *begins, size_t count)
{
    size_t kept = count > 0 ? begins[0] : 0;
    for (size_t i = count; i-- > 1;)
        merge_newer(p, begins[i - 1], begins[i]);
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
/* One posting of those of an entry, which has the places of all; none of what was taken out. */
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

/* The lists of each word as one, one after the other. */
static void unite_words(const struct postings *p, struct doclist_runs *runs, struct postings *out,
                        struct list_begins *begins)
{
    struct list_begins parts = {0};
    for (size_t i = 0, end; i < runs->items.len; i = end) {
        const struct doclist_run *run = runs->items.items;
        vec_push(&begins->items, out->items.len);
        vec_clear(&parts.items);
        for (end = i; end < runs->items.len && strcmp(run[end].word, run[i].word) == 0; end++) {
            vec_push(&parts.items, out->items.len);
            for (size_t k = run[end].begin; k < run[end].end; k++)
                vec_push(&out->items, p->items.items[k]);
        }
        doclist_unite(out, parts.items.items, parts.items.len);
    }
    vec_release(&parts.items);
}

static void join_entries(struct postings *p, struct place_bytes *places)
{
    struct occurrences work = {0};
    size_t kept = 0;
    for (size_t i = 0, end; i < p->items.len; i = end) {
        const struct posting *from = &p->items.items[i];
        for (end = i + 1; end < p->items.len && p->items.items[end].key == from->key;)
            end++;
        p->items.items[kept++] = end == i + 1 ? *from : join_entry(from, end - i, &work, places);
    }
    p->items.len = kept;
    vec_release(&work.items);
}

void doclist_join(struct postings *p, struct doclist_runs *runs, struct place_bytes *places)
{
    struct postings all = {0};
    struct list_begins begins = {0};
    for (size_t i = 0; i < runs->items.len; i++)
        runs->items.items[i].end =
            i + 1 < runs->items.len ? runs->items.items[i + 1].begin : p->items.len;
    vec_sort(&runs->items, compare_runs);
    unite_words(p, runs, &all, &begins);
    vec_release(&p->items);
    postings_merge(&all, begins.items.items, begins.items.len);
    join_entries(&all, places);
    *p = all;
    vec_release(&begins.items);
}
