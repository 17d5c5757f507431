#include "provider/call_ids.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char form[] = "call_";

enum { MOST_DIGITS = 18 }; /* more are beyond what is ever given */

void call_ids_release(struct call_ids *ids)
{
    vec_release(&ids->taken);
}

void call_ids_add(struct call_ids *ids, const char *id)
{
    if (id == NULL || strncmp(id, form, sizeof form - 1) != 0)
        return;
    const char *digits = id + sizeof form - 1;
    size_t len = strspn(digits, "0123456789");
    if (len > 0 && len <= MOST_DIGITS && digits[len] == '\0' && digits[0] != '0')
        vec_push(&ids->taken, strtoull(digits, NULL, 10));
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

char *call_ids_next(struct call_ids *ids)
{
    if (ids->given == 0 && ids->taken.len > 0)
        qsort(ids->taken.items, ids->taken.len, sizeof *ids->taken.items, by_number);
    ids->given++;
    for (; ids->next < ids->taken.len && ids->taken.items[ids->next] <= ids->given; ids->next++)
        ids->given += ids->taken.items[ids->next] == ids->given;
    return mem_printf("%s%" PRIu64, form, ids->given);
}
