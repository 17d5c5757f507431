#include "compact/plan.h"

#include "compact/input.h"
#include "compact/mode.h"
#include "compact/shorten.h"

void compact_plan_release(struct compact_plan *p)
{
    vec_release(&p->fates);
    p->gone = 0;
}

static bool has_block(const struct message *m, enum block_type type)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (m->blocks.items[i].type == type)
            return true;
    return false;
}

static bool is_content(const struct block *b)
{
    return (b->type == BLOCK_TEXT && b->text && *b->text) || b->type == BLOCK_IMAGE;
}

static bool has_content(const struct message *m)
{
    for (size_t i = 0; i < m->blocks.len; i++)
        if (is_content(&m->blocks.items[i]))
            return true;
    return false;
}

bool compact_is_held(const struct compact_input *in, size_t i)
{
    const struct message *m = &in->messages[i];
    return m->pinned || m->role == ROLE_SYSTEM || i == in->open;
}

/* Nothing but calls was pinned: they stay, and so do their results. */
static void hold_with_results(const struct compact_input *in, size_t i, enum compact_fate *fates)
{
    fates[i] = FATE_STAYS;
    while (++i < in->count && in->messages[i].role == ROLE_TOOL)
        fates[i] = FATE_STAYS;
}

static void put_back(const struct compact_input *in, enum compact_fate *fates)
{
    for (size_t i = 0; i < in->count; i++) {
        const struct message *m = &in->messages[i];
        if (fates[i] == FATE_STAYS || !compact_is_held(in, i))
            continue;
        if (!has_block(m, BLOCK_TOOL_CALL))
            fates[i] = FATE_STAYS;
        else if (has_content(m))
            fates[i] = FATE_TEXT_STAYS;
        else
            hold_with_results(in, i, fates);
    }
}

/* There is one summary at most: an earlier one goes into the new one, wherever it stands. */
static void let_summaries_go(const struct compact_input *in, enum compact_fate *fates)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->messages[i].summary)
            fates[i] = FATE_GOES;
}

static size_t first_gone(const struct compact_input *in, const enum compact_fate *fates)
{
    size_t i = 0;
    while (i < in->count && fates[i] != FATE_GOES)
        i++;
    return i;
}

static bool are_alike(const struct message *a, const struct message *b)
{
    return a->role == b->role && !a->pinned && !b->pinned;
}

/* The rest of an answer whose beginning went: its results. */
static bool follows_gone(const struct compact_input *in, const enum compact_fate *fates, size_t i)
{
    return i > 0 && in->messages[i].role == ROLE_TOOL && fates[i - 1] == FATE_GOES;
}

static int64_t let_go(const struct compact_input *in, enum compact_fate *fates, size_t first,
                      size_t end, int64_t left)
{
    for (size_t i = first; i < end && (left > in->fit || follows_gone(in, fates, i)); i++) {
        if (fates[i] == FATE_STAYS && !compact_is_held(in, i))
            left -= in->estimates[i];
        fates[i] = FATE_GOES;
    }
    return left;
}

static void make_fit(const struct compact_mode *mode, const struct compact_input *in,
                     enum compact_fate *fates)
{
    int64_t left = 0;
    for (size_t i = 0; i < in->count; i++)
        left += fates[i] == FATE_GOES ? 0 : in->estimates[i];
    size_t gap = first_gone(in, fates);
    if (gap == in->count)
        gap = mode->head ? mode->head(in) : 0;
    left = let_go(in, fates, gap, in->count, left);
    let_go(in, fates, 0, gap, left);
}

/* Where a summary went from between two messages of one role, with the new one standing before
 * both, they would follow each other: what is kept begins with the second. */
static void close_gaps(const struct compact_input *in, enum compact_fate *fates)
{
    size_t first = first_gone(in, fates);
    size_t last = in->count, kept_from = first;
    bool parted = false;
    for (size_t i = first; i < in->count; i++) {
        if (fates[i] == FATE_GOES) {
            parted = parted || in->messages[i].summary;
            continue;
        }
        if (parted && last < i && are_alike(&in->messages[last], &in->messages[i]))
            kept_from = i;
        last = i;
        parted = false;
    }
    for (size_t i = first; i < kept_from; i++)
        fates[i] = FATE_GOES;
}

/* A summary made of summaries alone would be no gain. */
static size_t count_gone(const struct compact_input *in, const enum compact_fate *fates)
{
    size_t gone = 0;
    bool others = false;
    for (size_t i = 0; i < in->count; i++) {
        gone += fates[i] == FATE_GOES;
        others = others || (fates[i] == FATE_GOES && !in->messages[i].summary);
    }
    return others ? gone : 0;
}

static void keep_all(struct compact_plan *p)
{
    for (size_t i = 0; i < p->fates.len; i++)
        p->fates.items[i] = FATE_STAYS;
}

static bool any_prunes(const struct compact_input *in)
{
    size_t newest = compact_newest_turn(in);
    for (size_t i = 0; i < newest; i++)
        if (compact_prunes(in, i, newest))
            return true;
    return false;
}

bool compact_plan_make(const struct compact_mode *mode, const struct compact_input *in,
                       struct compact_plan *p)
{
    *p = (struct compact_plan){.gone = 0};
    vec_reserve(&p->fates, in->count);
    p->fates.len = in->count;
    keep_all(p);
    mode->cut(in, p->fates.items);
    let_summaries_go(in, p->fates.items);
    if (in->fit > 0)
        make_fit(mode, in, p->fates.items);
    close_gaps(in, p->fates.items);
    put_back(in, p->fates.items);
    p->gone = count_gone(in, p->fates.items);
    if (p->gone > 0)
        return true;
    keep_all(p);
    return mode->prunes && any_prunes(in);
}

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
    size_t first = first_gone(in, p->fates.items);
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
    compact_repair_pairs(in, out);
}
