#include "ui/view/memory_pane_private.h"

struct asked_row asked_row(const struct memory_pane *p, size_t index)
{
    const struct recalls *all = p->host.recalls;
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

size_t asked_count(const struct memory_pane *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->host.recalls->items.len; i++)
        count += 1 + p->host.recalls->items.items[i]->hits.items.len;
    return count;
}

size_t asked_fresh(const struct memory_pane *p)
{
    size_t count = 0;
    for (size_t i = 0; i < p->host.recalls->items.len; i++)
        count += p->host.recalls->items.items[i]->fresh;
    return count;
}

void asked_seen(struct memory_pane *p)
{
    for (size_t i = 0; i < p->host.recalls->items.len; i++)
        p->host.recalls->items.items[i]->fresh = false;
}
