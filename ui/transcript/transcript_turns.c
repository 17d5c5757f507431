/* The turns of the conversation, as a person counts them. */
#include "ui/transcript/transcript_private.h"

/* Up to where the next one begins. */
static int64_t last_of(const struct fold *f, size_t index)
{
    for (size_t i = index + 1; i < f->items.len; i++)
        if (f->items.items[i]->kind == ITEM_USER)
            return f->items.items[i]->from - 1;
    return f->last_seq;
}

void transcript_each_turn(const struct transcript *t,
                          void (*visit)(void *context, const struct transcript_turn *turn),
                          void *context)
{
    const struct fold *f = &t->fold;
    struct transcript_turn turn = {0};
    for (size_t i = 0; i < f->items.len; i++) {
        if (f->items.items[i]->kind != ITEM_USER)
            continue;
        turn.number++;
        turn.text = f->items.items[i]->text.data;
        turn.seq = f->items.items[i]->seq;
        turn.last = last_of(f, i);
        visit(context, &turn);
    }
}

int64_t transcript_oldest(const struct transcript *t)
{
    return t->fold.more ? t->fold.first_seq : 0;
}
