#include "store/db_wal.h"

#include <stdlib.h>

#include "base/mem.h"

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

static bool read_header(int fd, unsigned char header[WAL_HEADER], struct checksum *c)
{
    if (db_read(fd, header, WAL_HEADER, 0) != WAL_HEADER ||
        (db_u32(header) | 1) != (WAL_MAGIC | 1) || db_u32(header + 4) != WAL_VERSION)
        return false;
    *c = (struct checksum){.big_endian = db_u32(header) & 1};
    sum(c, header, WAL_HEADER - 8);
    return sum_is(c, header + WAL_HEADER - 8);
}

uint32_t db_wal_page_size(int fd)
{
    unsigned char header[WAL_HEADER];
    struct checksum c;
    return read_header(fd, header, &c) ? db_u32(header + 8) : 0;
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
    qsort(p->log.items, p->log.len, sizeof *p->log.items, by_number);
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
    if (db_read(p->wal, frame, len, offset) != len || db_u32(frame) == 0 ||
        memcmp(frame + 8, header + 16, 8) != 0)
        return false;
    sum(c, frame, FRAME_SUMMED);
    sum(c, frame + FRAME_HEADER, p->page_size);
    return sum_is(c, frame + 16);
}

uint32_t db_wal_read(struct db_pages *p)
{
    unsigned char header[WAL_HEADER];
    struct checksum c;
    uint32_t pages = 0;
    size_t committed = 0;
    if (!read_header(p->wal, header, &c) || db_u32(header + 8) != p->page_size)
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
