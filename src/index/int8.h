/* Vectors as bytes: each component a part of the largest one, in 127ths. */
#ifndef INDEX_INT8_H
#define INDEX_INT8_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a row: the dimension and zeros behind it, so that no row has a rest. */
enum { INT8_LANES = 16 };
static inline size_t int8_stride(int dimension)
{
    return ((size_t)dimension + INT8_LANES - 1) / INT8_LANES * INT8_LANES;
}

/* Fills int8_stride() bytes; the result is what one of them stands for (0: all are 0). */
float int8_quantise(const float *values, int dimension, int8_t *out);

/* Sum of the products; `stride` is a multiple of INT8_LANES. Bytes are -127 … 127. */
int32_t int8_dot(const int8_t *a, const int8_t *b, size_t stride);
int32_t int8_dot_plain(const int8_t *a, const int8_t *b, size_t stride); /* to compare with */

#ifdef __cplusplus
}
#endif

#endif
