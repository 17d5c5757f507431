#include "index/int8.h"

#include <math.h>
#include <string.h>

float int8_quantise(const float *values, int dimension, int8_t *out)
{
    float largest = 0;
    for (int i = 0; i < dimension; i++)
        largest = fmaxf(largest, fabsf(values[i]));
    memset(out, 0, int8_stride(dimension));
    if (largest <= 0)
        return 0;
    for (int i = 0; i < dimension; i++)
        out[i] = (int8_t)lrintf(values[i] / largest * 127);
    return largest / 127;
}

int32_t int8_dot_plain(const int8_t *a, const int8_t *b, size_t stride)
{
    int32_t sum = 0;
    for (size_t i = 0; i < stride; i++)
        sum += a[i] * b[i];
    return sum;
}

#if defined(__GNUC__)

typedef int16_t shorts __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint16_t ushorts __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef uint32_t uints __attribute__((vector_size(16)));

/* The two halves of each lane as numbers of the whole lane's width. Which of them comes first is
 * the machine's affair: they are added. Compilers make better code of shifts than of
 * conversions. */
#define LOW(v, type, utype, bits) ((type)((utype)(v) << (bits)) >> (bits))
#define HIGH(v, bits) ((v) >> (bits))

/* A product is at most 127 · 127, and two of them fit in 16 bits. */
int32_t int8_dot(const int8_t *a, const int8_t *b, size_t stride)
{
    ints sum = {0};
    for (size_t i = 0; i < stride; i += INT8_LANES) {
        shorts x = *(const shorts *)(const void *)(a + i);
        shorts y = *(const shorts *)(const void *)(b + i);
        shorts products =
            LOW(x, shorts, ushorts, 8) * LOW(y, shorts, ushorts, 8) + HIGH(x, 8) * HIGH(y, 8);
        ints pairs = (ints)products;
        sum += LOW(pairs, ints, uints, 16) + HIGH(pairs, 16);
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

#else

int32_t int8_dot(const int8_t *a, const int8_t *b, size_t stride)
{
    return int8_dot_plain(a, b, stride);
}

#endif
