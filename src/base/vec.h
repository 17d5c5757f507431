/* A growing array of any type:
 *     VEC(struct row) rows = {0};
 *     vec_push(&rows, row);
 *     for (size_t i = 0; i < rows.len; i++) use(&rows.items[i]);
 *     vec_release(&rows);
 * Elements are moved with memmove(). The caller releases what they own; vec_free_each() frees
 * elements that are pointers. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *items;                                                                                  \
        size_t len;                                                                                \
        size_t cap;                                                                                \
    }

#define vec_reserve(v, want)                                                                       \
    ((v)->items = vec_reserve_((v)->items, &(v)->cap, (want), sizeof *(v)->items))

/* The same for megabytes that are filled at once and soon released: with pages of 2 MB, where the
 * system has them, the first write to a page is a tenth of the cost. */
#define vec_reserve_large(v, want)                                                                 \
    ((v)->items = vec_reserve_large_((v)->items, &(v)->cap, (v)->len, (want), sizeof *(v)->items))

#define vec_push(v, ...)                                                                           \
    (vec_reserve((v), (v)->len + 1), (void)((v)->items[(v)->len++] = (__VA_ARGS__)))

#define vec_insert(v, at, ...)                                                                     \
    (vec_reserve((v), (v)->len + 1),                                                               \
     vec_move_((v)->items, (at) + 1, (at), (v)->len - (at), sizeof *(v)->items),                   \
     (void)((v)->items[at] = (__VA_ARGS__)), (void)(v)->len++)

#define vec_remove(v, at, count)                                                                   \
    (vec_move_((v)->items, (at), (at) + (count), (v)->len - (at) - (count), sizeof *(v)->items),   \
     (void)((v)->len -= (count)))

#define vec_clear(v) ((void)((v)->len = 0))
#define vec_release(v) (free((v)->items), (v)->items = NULL, (void)((v)->len = (v)->cap = 0))
/* Releases an array of vec_reserve_large(). A large block is kept for the next one, whose pages the
 * system then need not provide and clear again: 64 MB at most, until mem_return_unused(). Any
 * thread. */
#define vec_release_large(v)                                                                       \
    (vec_release_large_((v)->items, (v)->cap * sizeof *(v)->items), (v)->items = NULL,             \
     (void)((v)->len = (v)->cap = 0))
/* For AUTO(): a VEC that owns nothing but its items. */
static inline void vec_release_local(void *vec)
{
    free(*(void **)vec);
}
#define vec_free_each(v)                                                                           \
    do {                                                                                           \
        for (size_t vec_i_ = 0; vec_i_ < (v)->len; vec_i_++)                                       \
            free((v)->items[vec_i_]);                                                              \
        vec_release(v);                                                                            \
    } while (0)

/* Removes an item, a pointer that is in it at most once. */
#define vec_drop(v, item)                                                                          \
    do {                                                                                           \
        for (size_t vec_i_ = (v)->len; vec_i_-- > 0;)                                              \
            if ((v)->items[vec_i_] == (item)) {                                                    \
                vec_remove(v, vec_i_, 1);                                                          \
                break;                                                                             \
            }                                                                                      \
    } while (0)

/* An empty array has NULL items, which qsort() must not get. */
#define vec_sort(v, order)                                                                         \
    do {                                                                                           \
        if ((v)->len > 1)                                                                          \
            qsort((v)->items, (v)->len, sizeof *(v)->items, order);                                \
    } while (0)

#define vec_last(v) ((v)->items[(v)->len - 1])

/* For vec_sort() and bsearch() of texts, and of int64_t. */
int vec_text_order(const void *a, const void *b);
int vec_number_order(const void *a, const void *b);

void *vec_reserve_(void *items, size_t *cap, size_t want, size_t size);
void *vec_reserve_large_(void *items, size_t *cap, size_t len, size_t want, size_t size);
void vec_release_large_(void *items, size_t bytes);
static inline void vec_move_(void *items, size_t to, size_t from, size_t count, size_t size)
{
    if (count)
        memmove((char *)items + to * size, (char *)items + from * size, count * size);
}

#endif
