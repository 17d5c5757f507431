/* A growing byte string. Invariants: `data` is never NULL after buf_init() and is NUL-terminated at
 * `len`; `len` does not count that NUL. A buffer that the network or a file feeds has a maximum and
 * is fed with buf_try_add() only; the unchecked adders are for text of our own making. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
    char *data;
    size_t len;
    size_t cap; /* 0: data is the shared empty string */
    size_t max; /* most bytes that buf_try_add() accepts; 0 is unlimited */
};

extern char buf_empty[1];
#define BUF_INIT                                                                                   \
    {                                                                                              \
        .data = buf_empty                                                                          \
    }

static inline void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.data = buf_empty, .max = max};
}
/* A text as a buffer that is only read, and not released. */
static inline struct buf buf_borrow(const char *text)
{
    return (struct buf){.data = (char *)(uintptr_t)text, .len = strlen(text)};
}
void buf_release(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory */

/* False, and nothing added, when `max` would be passed. */
__attribute__((warn_unused_result)) bool buf_try_add(struct buf *b, const void *bytes, size_t len);

void buf_add(struct buf *b, const void *bytes, size_t len);
static inline void buf_addstr(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}
void buf_addch(struct buf *b, char c);
void buf_addf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Replaces `old_len` bytes at `pos` by `len` others. */
void buf_splice(struct buf *b, size_t pos, size_t old_len, const void *bytes, size_t len);

/* Removes the first `len` bytes; all but the first `len` bytes; any of `chars` at the end. */
static inline void buf_consume(struct buf *b, size_t len)
{
    buf_splice(b, 0, len, NULL, 0);
}
static inline void buf_truncate(struct buf *b, size_t len)
{
    buf_splice(b, len, b->len - len, NULL, 0);
}
void buf_trim_end(struct buf *b, const char *chars);

/* The caller owns the string; the buffer is empty afterwards. */
char *buf_take(struct buf *b);

#endif
