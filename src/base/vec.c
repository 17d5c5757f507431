#include "base/vec.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/die.h"
#include "base/mem.h"

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

void vec_move_(void *items, size_t to, size_t from, size_t count, size_t size)
{
    if (count)
        memmove((char *)items + to * size, (char *)items + from * size, count * size);
}

void vec_free_(void *items)
{
    free(items);
}

int vec_text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
