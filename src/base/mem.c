#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

#ifdef __linux__
#include <sys/mman.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

void *mem_alloc(size_t size)
{
    void *p = calloc(1, size ? size : 1);
    if (!p)
        die("out of memory");
    return p;
}

void *mem_resize(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        die("out of memory");
    return p;
}

void mem_replace(char **kept, char *text)
{
    free(*kept);
    *kept = text;
}

char *mem_strdup(const char *s)
{
    return s ? mem_strndup(s, strlen(s)) : NULL;
}

char *mem_strndup(const char *s, size_t len)
{
    char *copy = mem_resize(NULL, len + 1);
    if (len)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *mem_printf(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    assert(len >= 0);
    size_t size = (size_t)len + 1;
    char *text = mem_resize(NULL, size);
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(args);
    return text;
}

uint64_t mem_hash(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

void mem_wipe(void *bytes, size_t len)
{
    for (volatile unsigned char *p = bytes; len > 0; len--)
        *p++ = 0;
}

void mem_return_large_blocks(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 512 * 1024);
#endif
}

enum {
    BUF_FIRST_CAP = 64,
    BUF_DOUBLED_CAP = 1 << 20, /* a buffer above this grows by an eighth: little of it is spare */
};

/* Shared by all empty buffers; never written to. */
char buf_empty[1];

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

/* Makes room for `more` bytes and the NUL after them. */
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

enum { VEC_FIRST_CAP = 8 };

void *vec_reserve_(void *items, size_t *cap, size_t want, size_t size)
{
    if (want <= *cap)
        return items;
    size_t most = SIZE_MAX / size;
    if (want > most)
        die("out of memory");
    size_t grown = *cap > most / 2 ? most : *cap * 2;
    if (grown < VEC_FIRST_CAP)
        grown = VEC_FIRST_CAP;
    *cap = grown < want ? want : grown;
    return mem_resize(items, *cap * size);
}

/* ---- large blocks ---- */

enum { LARGE_PAGE = 2 << 20, LARGE_KEPT = 8, LARGE_MOST = 64 << 20 };

/* Blocks of vec_release_large(), until mem_return_unused(). */
static struct {
    pthread_mutex_t lock;
    struct {
        void *block;
        size_t bytes;
    } kept[LARGE_KEPT];
    size_t bytes;
} large = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The smallest kept block of at least so many bytes; NULL: there is none. */
static void *take_kept(size_t *bytes)
{
    int best = -1;
    void *block = NULL;
    pthread_mutex_lock(&large.lock);
    for (int i = 0; i < LARGE_KEPT; i++)
        if (large.kept[i].bytes >= *bytes &&
            (best < 0 || large.kept[i].bytes < large.kept[best].bytes))
            best = i;
    if (best >= 0) {
        block = large.kept[best].block;
        *bytes = large.kept[best].bytes;
        large.kept[best].bytes = 0;
        large.bytes -= *bytes;
    }
    pthread_mutex_unlock(&large.lock);
    return block;
}

void *vec_reserve_large_(void *items, size_t *cap, size_t len, size_t want, size_t size)
{
    if (want <= *cap || want > SIZE_MAX / 4 / size || want * size < LARGE_PAGE / 2)
        return vec_reserve_(items, cap, want, size);
    size_t grown = want > 2 * *cap ? want : 2 * *cap;
    size_t bytes = (grown * size / LARGE_PAGE + 1) * LARGE_PAGE;
    void *block = take_kept(&bytes);
    if (!block) {
        if (posix_memalign(&block, LARGE_PAGE, bytes) != 0)
            die("out of memory");
#ifdef MADV_HUGEPAGE
        madvise(block, bytes, MADV_HUGEPAGE);
#endif
    }
    if (len > 0)
        memcpy(block, items, len * size);
    free(items);
    *cap = bytes / size;
    return block;
}

void vec_release_large_(void *items, size_t bytes)
{
    pthread_mutex_lock(&large.lock);
    for (int i = 0; bytes >= LARGE_PAGE && i < LARGE_KEPT; i++)
        if (large.kept[i].bytes == 0 && large.bytes + bytes <= LARGE_MOST) {
            large.kept[i].block = items;
            large.kept[i].bytes = bytes;
            large.bytes += bytes;
            items = NULL;
            break;
        }
    pthread_mutex_unlock(&large.lock);
    free(items);
}

void mem_return_unused(void)
{
    size_t bytes = LARGE_PAGE;
    for (void *block; (block = take_kept(&bytes)); bytes = LARGE_PAGE)
        free(block);
#ifdef HAVE_MALLOC_TRIM
    malloc_trim(0);
#endif
}

int vec_number_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int vec_text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
