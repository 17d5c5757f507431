#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/config.h"

enum { LONGEST_WORD = 64 }; /* longer ones are no typing slips, and the distance is quadratic */

/* Levenshtein distance by one row of the table. `row` holds strlen(b) + 1 numbers. */
static size_t distance(const char *a, const char *b, size_t *row)
{
    size_t b_len = strlen(b);
    for (size_t j = 0; j <= b_len; j++)
        row[j] = j;
    for (size_t i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            size_t best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (diagonal + 1 < best)
                best = diagonal + 1;
            row[j + 1] = best;
        }
    }
    return row[b_len];
}

static size_t most_slips(size_t len)
{
    size_t most = len / 3 > 2 ? len / 3 : 2;
    /* Else any word of two letters would be near any other. */
    return most < len ? most : len - 1;
}

const char *config_nearest(const char *word, const char *const *words, size_t count)
{
    size_t len = strlen(word);
    if (!len || len > LONGEST_WORD)
        return NULL;
    const char *nearest = NULL;
    size_t best = most_slips(len) + 1;
    size_t *row = NULL;
    for (size_t i = 0; i < count; i++) {
        row = mem_resize(row, (strlen(words[i]) + 1) * sizeof *row);
        size_t slips = distance(word, words[i], row);
        if (slips < best) {
            best = slips;
            nearest = words[i];
        }
    }
    free(row);
    return nearest;
}
