#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/die.h"

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

void mem_return_unused(void)
{
#ifdef HAVE_MALLOC_TRIM
    malloc_trim(0);
#endif
}
