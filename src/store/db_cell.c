#include "store/db_cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    FILE_HEADER = 100, /* before the header of page 1 */
    LEAF_HEADER = 8,
    INTERIOR_HEADER = 12,
    VARINT_MAX = 9,
    CELL_MIN = 4
};

/* A record is no longer than a text can be. */
#define RECORD_MAX 1000000000u

static bool is_interior(enum db_page_type type)
{
    return type == DB_INDEX_INTERIOR || type == DB_TABLE_INTERIOR;
}

static enum db_page_type type_of(unsigned char byte)
{
    switch (byte) {
    case DB_INDEX_INTERIOR:
    case DB_TABLE_INTERIOR:
    case DB_INDEX_LEAF:
    case DB_TABLE_LEAF:
        return (enum db_page_type)byte;
    default:
        return DB_NO_TREE;
    }
}

/* Fills in the page after its bytes; one whose cells cannot fit is of no tree. */
static void read_header(struct db_page *page, uint32_t usable)
{
    uint32_t start = page->number == 1 ? FILE_HEADER : 0;
    const unsigned char *h = page->bytes + start;
    page->type = type_of(h[0]);
    page->cells = db_u16(h + 3);
    page->last_child = is_interior(page->type) ? db_u32(h + 8) : 0;
    page->pointers = start + (is_interior(page->type) ? INTERIOR_HEADER : LEAF_HEADER);
    if (page->pointers + page->cells * (2 + CELL_MIN) > usable)
        page->type = DB_NO_TREE;
    if (page->type == DB_NO_TREE)
        page->cells = page->last_child = 0;
}

void db_page_init(struct db_page *page, const struct db_pages *pages)
{
    *page = (struct db_page){.bytes = mem_alloc(pages->page_size)};
}

void db_page_release(struct db_page *page)
{
    free(page->bytes);
    *page = (struct db_page){0};
}

bool db_page_load(struct db_page *page, const struct db_pages *pages, uint32_t number)
{
    page->number = 0;
    page->type = DB_NO_TREE;
    page->cells = 0;
    if (!db_pages_read(pages, number, page->bytes))
        return false;
    page->number = number;
    read_header(page, pages->usable);
    return true;
}

/* Cells are put at a page's end: half a page has its own further up. */
bool db_page_likely(const unsigned char *bytes, uint32_t size)
{
    enum db_page_type type = type_of(bytes[0]);
    uint32_t cells = db_u16(bytes + 3);
    uint32_t pointers = is_interior(type) ? INTERIOR_HEADER : LEAF_HEADER;
    uint32_t highest = 0;
    if (type == DB_NO_TREE || cells == 0 || pointers + cells * (2 + CELL_MIN) > size)
        return false;
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t at = db_u16(bytes + pointers + 2 * i);
        if (at < pointers + 2 * cells || at > size - CELL_MIN)
            return false;
        if (at > highest)
            highest = at;
    }
    return highest >= size / 2;
}

/* Bytes used; 0 when the number does not end within `len`. */
static size_t read_varint(const unsigned char *at, size_t len, uint64_t *out)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len && i < VARINT_MAX; i++) {
        bool last = i + 1 == VARINT_MAX;
        n = last ? n << 8 | at[i] : n << 7 | (at[i] & 0x7f);
        if (last || !(at[i] & 0x80)) {
            *out = n;
            return i + 1;
        }
    }
    return 0;
}

/* How much of a record of this length stands in its page. */
static uint32_t local_len(enum db_page_type type, uint32_t usable, uint32_t len)
{
    uint32_t max = type == DB_TABLE_LEAF ? usable - 35 : (usable - 12) * 64 / 255 - 23;
    uint32_t min = (usable - 12) * 32 / 255 - 23;
    if (len <= max)
        return len;
    uint32_t fit = min + (len - min) % (usable - 4);
    return fit <= max ? fit : min;
}

/* The lengths that the cell's beginning says, and whether all of it stands in the page. */
static bool read_record_place(const struct db_page *page, uint32_t usable, uint32_t at,
                              struct db_cell *out)
{
    uint64_t len, rowid = 0;
    size_t used = read_varint(page->bytes + at, usable - at, &len);
    if (used == 0 || len > RECORD_MAX)
        return false;
    at += (uint32_t)used;
    if (page->type == DB_TABLE_LEAF) {
        used = read_varint(page->bytes + at, usable - at, &rowid);
        if (used == 0)
            return false;
        at += (uint32_t)used;
    }
    out->rowid = (int64_t)rowid;
    out->len = (uint32_t)len;
    out->local = page->bytes + at;
    out->local_len = local_len(page->type, usable, out->len);
    uint32_t rest = out->local_len < out->len ? 4 : 0;
    if (out->local_len + rest > usable - at)
        return false;
    out->overflow = rest ? db_u32(out->local + out->local_len) : 0;
    return !rest || out->overflow != 0;
}

bool db_cell_read(const struct db_page *page, const struct db_pages *pages, uint32_t i,
                  struct db_cell *out)
{
    *out = (struct db_cell){0};
    if (i >= page->cells)
        return false;
    uint32_t at = db_u16(page->bytes + page->pointers + 2 * i);
    if (at < page->pointers + 2 * page->cells || at > pages->usable - CELL_MIN)
        return false;
    if (is_interior(page->type)) {
        out->child = db_u32(page->bytes + at);
        at += 4;
    }
    return page->type == DB_TABLE_INTERIOR || read_record_place(page, pages->usable, at, out);
}

/* Each page of a chain has the number of the next, and the last one 0. */
bool db_cell_load(const struct db_cell *cell, const struct db_pages *pages, struct buf *out)
{
    buf_clear(out);
    buf_add(out, cell->local, cell->local_len);
    unsigned char *page = cell->overflow ? mem_alloc(pages->page_size) : NULL;
    uint32_t next = cell->overflow;
    while (next && out->len < cell->len) {
        if (!db_pages_read(pages, next, page))
            break;
        size_t left = cell->len - out->len;
        size_t room = pages->usable - 4;
        next = db_u32(page);
        buf_add(out, page + 4, left < room ? left : room);
    }
    free(page);
    return out->len == cell->len && next == 0;
}

static size_t body_len(uint64_t serial)
{
    static const unsigned char numbers[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
    return serial < sizeof numbers ? numbers[serial] : (size_t)((serial - 12) / 2);
}

static enum db_type type_of_serial(uint64_t serial)
{
    if (serial == 0)
        return DB_NULL;
    if (serial == 7)
        return DB_REAL;
    if (serial < 12)
        return DB_INT;
    return serial & 1 ? DB_TEXT : DB_BLOB;
}

/* Two's complement, big-endian. */
static int64_t read_int(const unsigned char *at, size_t len)
{
    uint64_t n = len > 0 && (at[0] & 0x80) ? UINT64_MAX : 0;
    for (size_t i = 0; i < len; i++)
        n = n << 8 | at[i];
    return (int64_t)n;
}

static void read_value(struct db_value *v, uint64_t serial, const unsigned char *at, size_t len)
{
    int64_t bits;
    switch (v->type) {
    case DB_INT:
        v->number = serial >= 8 ? (int64_t)serial - 8 : read_int(at, len);
        v->real = (double)v->number;
        break;
    case DB_REAL:
        bits = read_int(at, len);
        memcpy(&v->real, &bits, sizeof v->real);
        break;
    case DB_TEXT:
    case DB_BLOB:
        v->text = (const char *)at;
        v->len = len;
        break;
    case DB_NULL:
        break;
    }
}

bool db_record_read(const void *bytes, size_t len, size_t total, struct db_record *out)
{
    const unsigned char *record = bytes;
    uint64_t header;
    size_t at = read_varint(record, len, &header);
    out->count = 0;
    if (at == 0 || header > len || header < at)
        return false;
    size_t body = (size_t)header;
    while (at < header) {
        uint64_t serial;
        size_t used = read_varint(record + at, (size_t)header - at, &serial);
        if (used == 0 || serial == 10 || serial == 11 || out->count == DB_COLUMNS_MAX)
            return false;
        at += used;
        size_t size = body_len(serial);
        if (size > total || body > total - size)
            return false;
        struct db_value *v = &out->values[out->count++];
        *v = (struct db_value){.type = type_of_serial(serial), .there = body + size <= len};
        if (v->there)
            read_value(v, serial, record + body, size);
        body += size;
    }
    return body == total;
}
