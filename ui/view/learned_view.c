/* What the tab of learned memory holds. */
#include "ui/view/learned_view.h"

#include "ui/view/learned_view_private.h"

const struct learned_item *learned_view_chosen(const struct learned_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->list.items.len ? &v->list.items.items[chosen] : NULL;
}
