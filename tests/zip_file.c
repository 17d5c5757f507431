#include "tests/zip_file.h"

#include <stdint.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/paths.h"

enum { STORED = 0, DEFLATED = 8 };

static uint32_t crc32_of(const char *bytes, size_t len)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static void add_number(struct buf *out, uint32_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_addch(out, (char)(n >> 8 * i));
}

/* Adds the fields that the member's own header and its entry of the directory share. */
static void add_head(struct buf *out, const char *name, int method, bool encrypted, uint32_t crc,
                     size_t packed, size_t grown)
{
    add_number(out, 20, 2);
    add_number(out, encrypted, 2);
    add_number(out, (uint32_t)method, 2);
    add_number(out, 0, 4);
    add_number(out, crc, 4);
    add_number(out, (uint32_t)packed, 4);
    add_number(out, (uint32_t)grown, 4);
    add_number(out, (uint32_t)strlen(name), 2);
    add_number(out, 0, 2);
}

static void add_member(struct zip_file *z, const char *name, int method, bool encrypted,
                       uint32_t crc, const struct buf *packed, size_t grown)
{
    if (!z->bytes.data) {
        buf_init(&z->bytes, 0);
        buf_init(&z->directory, 0);
    }
    buf_add(&z->directory, "PK\1\2\24\0", 6);
    add_head(&z->directory, name, method, encrypted, crc, packed->len, grown);
    buf_add(&z->directory, (const char[10]){0}, 10); /* no comment, no attributes */
    add_number(&z->directory, (uint32_t)z->bytes.len, 4);
    buf_addstr(&z->directory, name);
    buf_add(&z->bytes, "PK\3\4", 4);
    add_head(&z->bytes, name, method, encrypted, crc, packed->len, grown);
    buf_addstr(&z->bytes, name);
    buf_add(&z->bytes, packed->data, packed->len);
    z->count++;
}

void zip_add(struct zip_file *z, const char *name, const char *bytes, size_t len, bool encrypted)
{
    struct buf packed = BUF_INIT;
    buf_add(&packed, bytes, len);
    add_member(z, name, STORED, encrypted, crc32_of(bytes, len), &packed, len);
    buf_release(&packed);
}

/* --- deflate, RFC 1951, with the fixed codes -------------------------------------------------- */

struct bits {
    struct buf out;
    unsigned held, count;
};

static void put_bit(struct bits *b, unsigned bit)
{
    b->held |= bit << b->count++;
    if (b->count == 8) {
        buf_addch(&b->out, (char)b->held);
        b->held = b->count = 0;
    }
}

static void put_code(struct bits *b, unsigned code, int len)
{
    while (len-- > 0)
        put_bit(b, code >> len & 1);
}

static void put_literal(struct bits *b, unsigned char c)
{
    if (c < 144)
        put_code(b, 0x30u + c, 8);
    else
        put_code(b, 0x190u + c - 144, 9);
}

void zip_add_bomb(struct zip_file *z, const char *name, const char *start, size_t grown)
{
    enum { RUN = 258 };
    struct bits b = {.out = BUF_INIT};
    put_bit(&b, 1); /* the last block */
    put_bit(&b, 1); /* of fixed codes */
    put_bit(&b, 0);
    for (const char *c = start; *c; c++)
        put_literal(&b, (unsigned char)*c);
    put_literal(&b, ' ');
    for (size_t made = strlen(start) + 1; made < grown; made += RUN) {
        put_code(&b, 0xC5, 8); /* 258 bytes … */
        put_code(&b, 0, 5);    /* … as the one before */
    }
    put_code(&b, 0, 7);
    while (b.count > 0)
        put_bit(&b, 0);
    add_member(z, name, DEFLATED, false, 0, &b.out, grown);
    buf_release(&b.out);
}

void zip_write(struct zip_file *z, const char *path)
{
    uint32_t at = (uint32_t)z->bytes.len;
    struct error e;
    buf_add(&z->bytes, z->directory.data, z->directory.len);
    buf_add(&z->bytes, "PK\5\6\0\0\0\0", 8);
    add_number(&z->bytes, z->count, 2);
    add_number(&z->bytes, z->count, 2);
    add_number(&z->bytes, (uint32_t)z->directory.len, 4);
    add_number(&z->bytes, at, 4);
    add_number(&z->bytes, 0, 2);
    if (!paths_write_file(path, z->bytes.data, z->bytes.len, &e))
        fail_msg("%s", e.text);
    buf_release(&z->bytes);
    buf_release(&z->directory);
    *z = (struct zip_file){0};
}
