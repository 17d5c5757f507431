#include "ui/view/memory_view_private.h"

struct asked_row asked_row(const struct memory_view *p, size_t index)
{
    const struct recalls *all = &p->recalls;
    for (size_t i = all->items.len; i-- > 0;) {
        const struct recalled *r = all->items.items[i];
        if (index == 0)
            return (struct asked_row){r, NULL};
        index--;
        if (index < r->hits.items.len)
            return (struct asked_row){r, &r->hits.items.items[index]};
        index -= r->hits.items.len;
    }
    return (struct asked_row){NULL, NULL};
}

size_t asked_count(const struct memory_view *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->recalls.items.len; i++)
        count += 1 + p->recalls.items.items[i]->hits.items.len;
    return count;
}

size_t asked_fresh(const struct memory_view *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->recalls.items.len; i++)
        count += p->recalls.items.items[i]->fresh;
    return count;
}

void asked_seen(struct memory_view *p)
{
    for (size_t i = 0; i < p->recalls.items.len; i++)
        p->recalls.items.items[i]->fresh = false;
}
