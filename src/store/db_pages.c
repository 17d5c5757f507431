#include "store/db_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/db_cell.h"

enum { HEADER_BYTES = 100, PAGES_TASTED = 512 };

static const char magic[16] = "SQLite format 3";

uint32_t db_u16(const unsigned char *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

uint32_t db_u32(const unsigned char *at)
{
    return db_u16(at) << 16 | db_u16(at + 2);
}

/* As many bytes as there are; what cannot be read is as if the file ended there. */
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

static uint32_t word_of(const unsigned char *at, bool big_endian)
{
    if (big_endian)
        return db_u32(at);
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static void sum(struct checksum *c, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i + 8 <= len; i += 8) {
        c->a += word_of(bytes + i, c->big_endian) + c->b;
        c->b += word_of(bytes + i + 4, c->big_endian) + c->a;
    }
}

static bool sum_is(const struct checksum *c, const unsigned char *at)
{
    return c->a == db_u32(at) && c->b == db_u32(at + 4);
}

static bool read_wal_header(int fd, unsigned char header[WAL_HEADER], struct checksum *c)
{
    if (read_at(fd, header, WAL_HEADER, 0) != WAL_HEADER ||
        (db_u32(header) | 1) != (WAL_MAGIC | 1) || db_u32(header + 4) != WAL_VERSION)
        return false;
    *c = (struct checksum){.big_endian = db_u32(header) & 1};
    sum(c, header, WAL_HEADER - 8);
    return sum_is(c, header + WAL_HEADER - 8);
}

/* As its header says; 0 when it has none. */
static uint32_t wal_page_size(int fd)
{
    unsigned char header[WAL_HEADER];
    struct checksum c;
    return read_wal_header(fd, header, &c) ? db_u32(header + 8) : 0;
}

/* Of a page the last one wins: those are kept that a sort leaves behind their equals. */
static int by_number(const void *a, const void *b)
{
    const struct wal_page *left = a;
    const struct wal_page *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static void keep_newest(struct db_pages *p, size_t committed)
{
    p->log.len = committed;
    if (committed == 0)
        return;
    vec_sort(&p->log, by_number);
    size_t kept = 0;
    for (size_t i = 0; i < p->log.len; i++)
        if (i + 1 == p->log.len || p->log.items[i].number != p->log.items[i + 1].number)
            p->log.items[kept++] = p->log.items[i];
    p->log.len = kept;
}

/* The frame at `offset` is of this log, whole and in its place. */
static bool read_frame(const struct db_pages *p, const unsigned char *header, int64_t offset,
                       unsigned char *frame, struct checksum *c)
{
    size_t len = FRAME_HEADER + p->page_size;
    if (read_at(p->wal, frame, len, offset) != len || db_u32(frame) == 0 ||
        memcmp(frame + 8, header + 16, 8) != 0)
        return false;
    sum(c, frame, FRAME_SUMMED);
    sum(c, frame + FRAME_HEADER, p->page_size);
    return sum_is(c, frame + 16);
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
    unsigned char *frame = mem_alloc(FRAME_HEADER + p->page_size);
    int64_t offset = WAL_HEADER;
    while (read_frame(p, header, offset, frame, &c)) {
        vec_push(&p->log, (struct wal_page){db_u32(frame), offset + FRAME_HEADER});
        if (db_u32(frame + 4) != 0) {
            pages = db_u32(frame + 4);
            committed = p->log.len;
        }
        offset += FRAME_HEADER + p->page_size;
    }
    free(frame);
    keep_newest(p, committed);
    return pages;
}

/* --- the pages ------------------------------------------------------------------------------- */

static int open_file(const char *path, bool must, struct error *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (must || errno != ENOENT))
        err_set_errno(e, ERR_FILE_ERROR, "cannot open %s", path);
    return fd;
}

static bool is_page_size(uint32_t size)
{
    return size >= PAGE_SIZE_MIN && size <= PAGE_SIZE_MAX && (size & (size - 1)) == 0;
}

/* The header's fixed bytes tell a database from a text that only quotes its beginning. */
static bool read_header(struct db_pages *p)
{
    unsigned char h[HEADER_BYTES];
    if (read_at(p->file, h, sizeof h, 0) != sizeof h || memcmp(h, magic, sizeof magic) != 0)
        return false;
    uint32_t size = db_u16(h + 16) == 1 ? PAGE_SIZE_MAX : db_u16(h + 16);
    if (!is_page_size(size) || h[21] != 64 || h[22] != 32 || h[23] != 32 || size - h[20] < 480)
        return false;
    p->page_size = size;
    p->usable = size - h[20];
    /* An old program that does not know of the count leaves it behind the change counter. */
    if (db_u32(h + 24) == db_u32(h + 92))
        p->claimed = db_u32(h + 28);
    return true;
}

/* How many bytes of the file's beginning look like pages of this size. */
static int64_t taste(const struct db_pages *p, uint32_t size)
{
    unsigned char *page = mem_alloc(size);
    int64_t likely = 0;
    for (int i = 0; i < PAGES_TASTED; i++) {
        if (read_at(p->file, page, size, (int64_t)i * size) != size)
            break;
        if (db_page_likely(page, size))
            likely += size;
    }
    free(page);
    return likely;
}

/* A small page that is found at the beginning of a greater one counts less. */
static uint32_t guess_page_size(const struct db_pages *p)
{
    uint32_t best = 4096;
    int64_t best_likely = taste(p, best);
    for (uint32_t size = PAGE_SIZE_MIN; size <= PAGE_SIZE_MAX; size *= 2) {
        int64_t likely = taste(p, size);
        if (likely > best_likely) {
            best = size;
            best_likely = likely;
        }
    }
    return best;
}

static void find_page_size(struct db_pages *p)
{
    uint32_t logged = p->wal >= 0 ? wal_page_size(p->wal) : 0;
    p->header = read_header(p);
    if (p->header)
        return;
    p->page_size = is_page_size(logged) ? logged : guess_page_size(p);
    p->usable = p->page_size;
}

static void count_pages(struct db_pages *p)
{
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
}

bool db_pages_open(struct db_pages *p, const char *path, struct error *e)
{
    struct error cause = {0};
    char *wal = mem_printf("%s-wal", path);
    *p = (struct db_pages){.wal = -1};
    p->file = open_file(path, true, &cause);
    if (p->file >= 0)
        p->wal = open_file(wal, false, &cause);
    free(wal);
    struct stat st;
    if (cause.code == ERR_OK && fstat(p->file, &st) != 0)
        err_set_errno(&cause, ERR_FILE_ERROR, "cannot read %s", path);
    if (cause.code != ERR_OK) {
        db_pages_close(p);
        return err_set(e, cause.code, "%s", cause.text);
    }
    p->bytes = st.st_size;
    find_page_size(p);
    count_pages(p);
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

/* Where the first page of the log from this number on stands. */
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
