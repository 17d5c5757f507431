#include "store/db_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum { HEADER_BYTES = 100, PAGES_TASTED = 512 };

static const char magic[16] = "SQLite format 3";

static uint32_t u16(const unsigned char *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

uint32_t db_u32(const unsigned char *at)
{
    return u16(at) << 16 | u16(at + 2);
}

/* Returns the number of bytes that were read; a fault is like the end of the file. */
static size_t read_at(int fd, unsigned char *out, size_t len, int64_t at)
{
    size_t got = 0;
    ssize_t n = 1;
    while (got < len && (n > 0 || (n < 0 && errno == EINTR))) {
        n = pread(fd, out + got, len - got, (off_t)at + (off_t)got);
        got += n > 0 ? (size_t)n : 0;
    }
    return got;
}

/* --- the write-ahead log (https://sqlite.org/walformat.html) --------------------------------- */

enum { WAL_HEADER = 32, FRAME_HEADER = 24, FRAME_SUMMED = 8, WAL_VERSION = 3007000 };

#define WAL_MAGIC 0x377f0682u /* or 1 more: then the checksums are over big-endian words */

struct checksum {
    uint32_t a, b;
    bool big_endian;
};

static void sum(struct checksum *c, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        uint32_t words[2];
        for (size_t k = 0; k < 2; k++) {
            const unsigned char *at = bytes + i + 4 * k;
            words[k] = c->big_endian ? db_u32(at)
                                     : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 |
                                           (uint32_t)at[1] << 8 | at[0];
        }
        c->a += words[0] + c->b;
        c->b += words[1] + c->a;
    }
}

static bool read_wal_header(int fd, unsigned char header[WAL_HEADER], struct checksum *c)
{
    if (read_at(fd, header, WAL_HEADER, 0) != WAL_HEADER ||
        (db_u32(header) | 1) != (WAL_MAGIC | 1) || db_u32(header + 4) != WAL_VERSION)
        return false;
    *c = (struct checksum){.big_endian = db_u32(header) & 1};
    sum(c, header, WAL_HEADER - 8);
    return c->a == db_u32(header + WAL_HEADER - 8) && c->b == db_u32(header + WAL_HEADER - 4);
}

/* Of several copies of a page the last one is kept, which is sorted behind the others. */
static int by_number(const void *a, const void *b)
{
    const struct wal_page *left = a;
    const struct wal_page *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

/* Finds the newest copy of each page that a completed transaction wrote. Returns how many pages the
 * database had after the last one; 0 when there is none. What follows a frame whose checksum is
 * wrong was never written, as for SQLite. */
static uint32_t read_wal(struct db_pages *p)
{
    unsigned char header[WAL_HEADER];
    struct checksum c;
    uint32_t pages = 0;
    size_t committed = 0;
    if (!read_wal_header(p->wal, header, &c) || db_u32(header + 8) != p->page_size)
        return 0;
    size_t len = FRAME_HEADER + p->page_size;
    auto_free unsigned char *frame = mem_alloc(len);
    for (int64_t offset = WAL_HEADER;; offset += (int64_t)len) {
        /* A frame of another log, or one that is not whole, ends it. */
        if (read_at(p->wal, frame, len, offset) != len || db_u32(frame) == 0 ||
            memcmp(frame + 8, header + 16, 8) != 0)
            break;
        sum(&c, frame, FRAME_SUMMED);
        sum(&c, frame + FRAME_HEADER, p->page_size);
        if (c.a != db_u32(frame + 16) || c.b != db_u32(frame + 20))
            break;
        vec_push(&p->log, (struct wal_page){db_u32(frame), offset + FRAME_HEADER});
        if (db_u32(frame + 4) != 0) {
            pages = db_u32(frame + 4);
            committed = p->log.len;
        }
    }
    p->log.len = committed;
    if (committed == 0)
        return pages;
    size_t kept = 0;
    vec_sort(&p->log, by_number);
    for (size_t i = 0; i < p->log.len; i++)
        if (i + 1 == p->log.len || p->log.items[i].number != p->log.items[i + 1].number)
            p->log.items[kept++] = p->log.items[i];
    p->log.len = kept;
    return pages;
}

/* --- the pages ------------------------------------------------------------------------------- */

static bool is_page_size(uint32_t size)
{
    return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

/* The fixed bytes of the header tell a database from a text that quotes its beginning. */
static bool read_header(struct db_pages *p)
{
    unsigned char h[HEADER_BYTES];
    if (read_at(p->file, h, sizeof h, 0) != sizeof h || memcmp(h, magic, sizeof magic) != 0)
        return false;
    uint32_t size = u16(h + 16) == 1 ? PAGE_SIZE_MAX : u16(h + 16);
    if (!is_page_size(size) || h[21] != 64 || h[22] != 32 || h[23] != 32 || size - h[20] < 480)
        return false;
    p->page_size = size;
    p->usable = size - h[20];
    /* An old program that does not know of the count leaves it behind the change counter. */
    if (db_u32(h + 24) == db_u32(h + 92))
        p->claimed = db_u32(h + 28);
    return true;
}

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

/* How many bytes of the file's beginning look like pages of this size. Cells are put at a page's
 * end: half a page has its own further up. */
static int64_t likely_bytes(const struct db_pages *p, uint32_t size)
{
    auto_free unsigned char *page = mem_alloc(size);
    int64_t likely = 0;
    for (int i = 0; i < PAGES_TASTED; i++) {
        if (read_at(p->file, page, size, (int64_t)i * size) != size)
            break;
        enum db_page_type type = type_of(page[0]);
        uint32_t pointers = is_interior(type) ? INTERIOR_HEADER : LEAF_HEADER;
        uint32_t cells = u16(page + 3), highest = 0;
        bool fits = type != DB_NO_TREE && pointers + cells * (2 + CELL_MIN) <= size;
        for (uint32_t k = 0; k < cells && fits; k++) {
            uint32_t at = u16(page + pointers + 2 * k);
            fits = at >= pointers + 2 * cells && at <= size - CELL_MIN;
            highest = at > highest ? at : highest;
        }
        if (fits && highest >= size / 2)
            likely += size;
    }
    return likely;
}

/* A small page that is found at the beginning of a greater one counts less. */
static uint32_t guess_page_size(const struct db_pages *p)
{
    uint32_t best = 4096;
    int64_t best_likely = likely_bytes(p, best);
    for (uint32_t size = PAGE_SIZE_MIN; size <= PAGE_SIZE_MAX; size *= 2) {
        int64_t likely = likely_bytes(p, size);
        if (likely > best_likely) {
            best = size;
            best_likely = likely;
        }
    }
    return best;
}

bool db_pages_open(struct db_pages *p, const char *path, struct error *e)
{
    struct stat st;
    auto_free char *wal = mem_printf("%s-wal", path);
    *p = (struct db_pages){.wal = -1};
    p->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (p->file < 0)
        return err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    p->wal = open(wal, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok =
        p->wal >= 0 || errno == ENOENT || err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", wal);
    if (ok && fstat(p->file, &st) != 0)
        ok = err_set_errno(e, ERR_FILE_ERROR, "cannot read %s", path);
    if (!ok) {
        db_pages_close(p);
        return false;
    }
    p->bytes = st.st_size;
    p->header = read_header(p);
    if (!p->header) {
        unsigned char header[WAL_HEADER];
        struct checksum c;
        bool logged =
            p->wal >= 0 && read_wal_header(p->wal, header, &c) && is_page_size(db_u32(header + 8));
        p->page_size = p->usable = logged ? db_u32(header + 8) : guess_page_size(p);
    }
    uint32_t committed = p->wal >= 0 ? read_wal(p) : 0;
    int64_t whole = p->bytes / p->page_size;
    p->in_file = whole > UINT32_MAX ? UINT32_MAX : (uint32_t)whole;
    if (p->log.len > 0)
        p->claimed = committed;
    if (p->claimed == 0)
        p->claimed = p->in_file;
    p->count = p->in_file;
    if (p->bytes % p->page_size != 0 && p->count < UINT32_MAX)
        p->count++;
    if (p->log.len > 0 && vec_last(&p->log).number > p->count)
        p->count = vec_last(&p->log).number;
    return true;
}

void db_pages_close(struct db_pages *p)
{
    if (p->file >= 0)
        close(p->file);
    if (p->wal >= 0)
        close(p->wal);
    p->file = p->wal = -1;
    vec_release(&p->log);
}

/* Index of the first page in the log with this number or a greater one. */
static size_t find_logged(const struct db_pages *p, uint32_t number)
{
    size_t low = 0;
    size_t high = p->log.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->log.items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool db_pages_begins(const struct db_pages *p)
{
    unsigned char begin[sizeof magic];
    size_t got = read_at(p->file, begin, sizeof begin, 0);
    return got > 0 && memcmp(begin, magic, got) == 0;
}

bool db_pages_whole(const struct db_pages *p)
{
    if (p->claimed <= p->in_file)
        return true;
    size_t first = find_logged(p, p->in_file + 1);
    size_t behind = p->claimed < UINT32_MAX ? find_logged(p, p->claimed + 1) : p->log.len;
    return behind - first == p->claimed - p->in_file;
}

bool db_pages_read(const struct db_pages *p, uint32_t number, unsigned char *out)
{
    if (number == 0 || number > p->count)
        return false;
    size_t i = find_logged(p, number);
    if (i < p->log.len && p->log.items[i].number == number)
        return read_at(p->wal, out, p->page_size, p->log.items[i].offset) == p->page_size;
    size_t got = read_at(p->file, out, p->page_size, (int64_t)(number - 1) * p->page_size);
    if (got == 0)
        return false;
    memset(out + got, 0, p->page_size - got);
    return true;
}

/* A log may name a page far behind the others. */
uint32_t db_pages_next(const struct db_pages *p, uint32_t number)
{
    int64_t page_size = p->page_size;
    if (number < p->count && (int64_t)number * page_size < p->bytes)
        return number + 1;
    size_t i = number < p->count ? find_logged(p, number + 1) : p->log.len;
    return i < p->log.len ? p->log.items[i].number : 0;
}

bool db_page_load(struct db_page *page, const struct db_pages *pages, uint32_t number)
{
    page->number = 0;
    page->type = DB_NO_TREE;
    page->cells = 0;
    if (!db_pages_read(pages, number, page->bytes))
        return false;
    uint32_t start = number == 1 ? FILE_HEADER : 0;
    const unsigned char *h = page->bytes + start;
    page->number = number;
    page->type = type_of(h[0]);
    page->cells = u16(h + 3);
    page->last_child = is_interior(page->type) ? db_u32(h + 8) : 0;
    page->pointers = start + (is_interior(page->type) ? INTERIOR_HEADER : LEAF_HEADER);
    if (page->pointers + page->cells * (2 + CELL_MIN) > pages->usable)
        page->type = DB_NO_TREE; /* its cells cannot fit */
    if (page->type == DB_NO_TREE)
        page->cells = page->last_child = 0;
    return true;
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

bool db_cell_read(const struct db_page *page, const struct db_pages *pages, uint32_t i,
                  struct db_cell *out)
{
    uint32_t usable = pages->usable;
    uint64_t len, rowid = 0;
    *out = (struct db_cell){0};
    if (i >= page->cells)
        return false;
    uint32_t at = u16(page->bytes + page->pointers + 2 * i);
    if (at < page->pointers + 2 * page->cells || at > usable - CELL_MIN)
        return false;
    if (is_interior(page->type)) {
        out->child = db_u32(page->bytes + at);
        at += 4;
    }
    if (page->type == DB_TABLE_INTERIOR)
        return true;
    /* The lengths that the cell's beginning tells, and whether all of it stands in the page. */
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

/* Each page of a chain has the number of the next, and the last one 0. */
bool db_cell_load(const struct db_cell *cell, const struct db_pages *pages, struct buf *out)
{
    buf_clear(out);
    buf_add(out, cell->local, cell->local_len);
    auto_free unsigned char *page = cell->overflow ? mem_alloc(pages->page_size) : NULL;
    uint32_t next = cell->overflow;
    while (next && out->len < cell->len) {
        if (!db_pages_read(pages, next, page))
            break;
        size_t left = cell->len - out->len;
        size_t room = pages->usable - 4;
        next = db_u32(page);
        buf_add(out, page + 4, left < room ? left : room);
    }
    return out->len == cell->len && next == 0;
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
    static const unsigned char numbers[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0}; /* bytes */
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
        size_t size = serial < sizeof numbers ? numbers[serial] : (size_t)((serial - 12) / 2);
        if (size > total || body > total - size)
            return false;
        struct db_value *v = &out->values[out->count++];
        *v = (struct db_value){.type = serial == 0   ? DB_NULL
                                       : serial == 7 ? DB_REAL
                                       : serial < 12 ? DB_INT
                                       : serial & 1  ? DB_TEXT
                                                     : DB_BLOB,
                               .there = body + size <= len};
        if (v->there)
            read_value(v, serial, record + body, size);
        body += size;
    }
    return body == total;
}

enum {
    PAGE_MIN = 4096, /* SQLite's default, which tiro does not change */
    PAGE_MAX = 65536,
    LARGEST_ROOT = 52, /* in the file header: not 0 if there are pages of pointers (auto_vacuum) */
    KINDS_OF_FILES = 4 /* that a VFS makes; a kind beyond these is not scrubbed */
};

/* The first byte tells pages of trees from overflow pages and free ones, which begin with the
 * number of a page in four bytes: the first of these is 0 or 1 in files below this size. */
#define FILE_MOST ((int64_t)1 << 36)

/* --- the VFS: its files are those of the default one, with another xWrite() ---------------------
 */

struct methods {
    sqlite3_io_methods own; /* the first member: a file's pMethods leads to all of it */
    const sqlite3_io_methods *real;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs layer, *below;
static struct methods kinds[KINDS_OF_FILES];

/* Zeroes the bytes between the cell pointers and the cells of a page of a tree. A page of any other
 * kind, or a damaged one, is written as it is. In a database without auto_vacuum, of less than
 * 64 GiB. */
static int write_page(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    const struct methods *m = (const struct methods *)file->pMethods;
    unsigned char page[PAGE_MAX], root[4] = {0};
    sqlite3_int64 size;
    bool has_pointers = m->real->xRead(file, root, sizeof root, LARGEST_ROOT) == SQLITE_OK &&
                        memcmp(root, "\0\0\0", sizeof root) != 0;
    if (len < PAGE_MIN || len > PAGE_MAX || (len & (len - 1)) || at % len || has_pointers ||
        m->real->xFileSize(file, &size) != SQLITE_OK || size >= FILE_MOST || at >= FILE_MOST)
        return m->real->xWrite(file, bytes, len, at);
    memcpy(page, bytes, (size_t)len);
    const unsigned char *header = page + (at == 0 ? FILE_HEADER : 0);
    enum db_page_type type = type_of(header[0]);
    size_t cells = u16(header + 5), first = cells ? cells : PAGE_MAX;
    size_t pointers = (size_t)(header - page) +
                      (is_interior(type) ? INTERIOR_HEADER : LEAF_HEADER) +
                      2 * (size_t)u16(header + 3);
    if (type != DB_NO_TREE && pointers < first && first <= (size_t)len)
        memset(page + pointers, 0, first - pointers);
    return m->real->xWrite(file, page, len, at);
}

static int scrub_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                      int *out_flags)
{
    (void)vfs;
    int result = below->xOpen(below, name, file, flags, out_flags);
    if (result != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
        return result;
    pthread_mutex_lock(&lock);
    const sqlite3_io_methods *real = file->pMethods;
    struct methods *m = kinds;
    while (m < kinds + KINDS_OF_FILES && m->real && m->real != real)
        m++;
    bool found = m < kinds + KINDS_OF_FILES;
    if (found && !m->real) {
        m->own = *real;
        m->own.xWrite = write_page;
        m->real = real;
    }
    if (found)
        file->pMethods = &m->own;
    pthread_mutex_unlock(&lock);
    return result;
}

const char *scrub_vfs(void)
{
    pthread_mutex_lock(&lock);
    if (sqlite3_vfs_find(NULL) != below) {
        /* A test puts a VFS before the default one and takes it away: this one could be the next.
         */
        sqlite3_vfs_unregister(&layer);
        below = sqlite3_vfs_find(NULL);
        layer = *below;
        layer.pNext = NULL;
        layer.zName = "tiro";
        layer.xOpen = scrub_open;
        sqlite3_vfs_register(&layer, 0);
    }
    pthread_mutex_unlock(&lock);
    return layer.zName;
}
