#include "compact/whole.h"

#include <stdlib.h>

#include "compact/shorten.h"

static bool is_shortened(const struct block *b)
{
    return b->type == BLOCK_TOOL_RESULT && b->text && compact_is_shortened(b->text);
}

static bool has_shortened(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (is_shortened(&m->blocks.items[i]))
            return true;
    return false;
}

static struct message restored(const struct message *m, const struct compact_host *host)
{
    struct message whole = message_clone(m);
    for (size_t i = 0; i < whole.blocks.len; i++) {
        struct block *b = &whole.blocks.items[i];
        char *text = is_shortened(b) ? host->tool_result(host->summary.context, m->seq, b->id)
                                     : NULL;
        if (!text)
            continue;
        free(b->text);
        b->text = text;
    }
    return whole;
}

void whole_make(struct whole *w, const struct compact_input *in, const struct compact_plan *p,
                const struct compact_host *host)
{
    *w = (struct whole){.made = {0}};
    for (size_t i = 0; i < in->count; i++) {
        bool restores = host->tool_result && p->fates.items[i] == FATE_GOES &&
                        has_shortened(&in->messages[i]);
        vec_push(&w->items, restores ? restored(&in->messages[i], host) : in->messages[i]);
        if (restores)
            vec_push(&w->made, i);
    }
}

void whole_release(struct whole *w)
{
    for (size_t i = 0; i < w->made.len; i++)
        message_release(&w->items.items[w->made.items[i]]);
    vec_release(&w->made);
    vec_release(&w->items);
}
