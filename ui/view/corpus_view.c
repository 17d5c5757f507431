/* What the tab of corpora holds. */
#include "ui/view/corpus_view.h"

#include "ui/view/corpus_view_private.h"

const struct corpus_row *corpus_view_chosen(const struct corpus_view *v)
{
    size_t chosen = outline_chosen(v->outline);
    return chosen < v->rows_of.len ? &v->rows_of.items[chosen] : NULL;
}

const struct corpus_passage *corpus_view_passage(const struct corpus_view *v,
                                                 const struct corpus_row *r)
{
    if (!r || r->kind != ROW_PASSAGE)
        return NULL;
    return v->level == LEVEL_CITED   ? &v->cited.items.items[r->index]
           : v->level == LEVEL_FOUND ? &v->found.items.items[r->index]
                                     : &v->passages.items.items[r->index];
}
