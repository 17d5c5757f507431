#include "base/buf.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/die.h"
#include "base/mem.h"

enum {
    BUF_FIRST_CAP = 64,
    BUF_DOUBLED_CAP =
        1 << 20, /* a buffer above this grows by an eighth: little of it is spare */
};

/* Shared by all that are empty, so nothing ever writes to it. */
char buf_empty[1];

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT;
    b->max = max;
}

void buf_release(struct buf *b)
{
    if (b->cap)
        free(b->data);
    buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    if (b->cap)
        b->data[0] = '\0';
}

/* Makes room for `more` bytes and the NUL behind them. */
static void reserve(struct buf *b, size_t more)
{
    if (more >= SIZE_MAX - b->len)
        die("out of memory");
    size_t want = b->len + more + 1;
    if (want <= b->cap)
        return;
    size_t spare = b->cap <= BUF_DOUBLED_CAP ? b->cap : b->cap / 8;
    size_t cap = b->cap > SIZE_MAX - spare ? SIZE_MAX : b->cap + spare;
    if (cap < BUF_FIRST_CAP)
        cap = BUF_FIRST_CAP;
    if (cap < want)
        cap = want;
    b->data = mem_resize(b->cap ? b->data : NULL, cap);
    b->cap = cap;
    b->data[b->len] = '\0';
}

bool buf_try_add(struct buf *b, const void *bytes, size_t len)
{
    if (b->max && (b->len > b->max || len > b->max - b->len))
        return false;
    buf_add(b, bytes, len);
    return true;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
    if (!len)
        return;
    reserve(b, len);
    memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void buf_addstr(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_addch(struct buf *b, char c)
{
    reserve(b, 1);
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void buf_addf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_vaddf(b, format, args);
    va_end(args);
}

void buf_vaddf(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    size_t room = b->cap ? b->cap - b->len : 0;
    int len = vsnprintf(room ? b->data + b->len : NULL, room, format, args);
    assert(len >= 0);
    if ((size_t)len >= room) {
        reserve(b, (size_t)len);
        vsnprintf(b->data + b->len, (size_t)len + 1, format, again);
    }
    b->len += (size_t)len;
    va_end(again);
}

void buf_splice(struct buf *b, size_t pos, size_t old_len, const void *bytes, size_t len)
{
    assert(pos <= b->len && old_len <= b->len - pos);
    if (!old_len && !len)
        return;
    if (len > old_len)
        reserve(b, len - old_len);
    memmove(b->data + pos + len, b->data + pos + old_len, b->len - pos - old_len + 1);
    if (len)
        memcpy(b->data + pos, bytes, len);
    b->len = b->len - old_len + len;
}

void buf_consume(struct buf *b, size_t len)
{
    buf_splice(b, 0, len, NULL, 0);
}

void buf_truncate(struct buf *b, size_t len)
{
    buf_splice(b, len, b->len - len, NULL, 0);
}

void buf_trim_end(struct buf *b, const char *chars)
{
    size_t len = b->len;
    while (len > 0 && b->data[len - 1] && strchr(chars, b->data[len - 1]))
        len--;
    buf_truncate(b, len);
}

char *buf_take(struct buf *b)
{
    char *text = b->cap ? b->data : mem_strndup("", 0);
    buf_init(b, b->max);
    return text;
}
