/* The messages that come of a plan. */
#include "compact/mode.h"
#include "compact/pairs.h"
#include "compact/shorten.h"
#include "compact/turns.h"

static struct message summary_message(const struct message *first, const char *text)
{
    struct message m = {.role = ROLE_USER, .summary = true, .seq = first->seq, .turn = first->turn};
    vec_push(&m.blocks, block_text(text));
    return m;
}

static struct message text_alone(const struct message *old)
{
    struct message m = message_without_blocks(old);
    for (size_t i = 0; i < old->blocks.len; i++) {
        const struct block *b = &old->blocks.items[i];
        if (b->type == BLOCK_TEXT || b->type == BLOCK_IMAGE)
            vec_push(&m.blocks, block_clone(b));
    }
    return m;
}

static size_t first_gone(const struct compact_plan *p)
{
    size_t i = 0;
    while (i < p->fates.len && p->fates.items[i] != FATE_GOES)
        i++;
    return i;
}

/* Would an answer come first if nothing stood for what went? */
static bool needs_user(const struct compact_input *in, const struct compact_plan *p)
{
    for (size_t i = 0; i < in->count; i++)
        if (p->fates.items[i] != FATE_GOES && in->messages[i].role != ROLE_SYSTEM)
            return in->messages[i].role != ROLE_USER;
    return true;
}

static void add_kept(const struct compact_mode *mode, const struct compact_input *in, size_t i,
                     size_t newest, struct rebuild *out)
{
    if (mode->prunes && compact_prunes(in, i, newest))
        rebuild_rewrite(out, i, compact_pruned(in, i));
    else
        rebuild_keep(out, i, 1);
}

void compact_plan_rebuild(const struct compact_mode *mode, const struct compact_input *in,
                          const struct compact_plan *p, const char *text, struct rebuild *out)
{
    size_t newest = compact_newest_turn(in);
    size_t first = first_gone(p);
    if (!text && first < in->count && needs_user(in, p))
        text = COMPACT_PREFIX;
    *out = (struct rebuild){.parts = {0}};
    for (size_t i = 0; i < in->count; i++) {
        if (i == first && text)
            rebuild_make(out, summary_message(&in->messages[i], text));
        if (p->fates.items[i] == FATE_STAYS)
            add_kept(mode, in, i, newest, out);
        else if (p->fates.items[i] == FATE_TEXT_STAYS)
            rebuild_rewrite(out, i, text_alone(&in->messages[i]));
    }
    compact_repair_pairs(in->messages, out);
}
