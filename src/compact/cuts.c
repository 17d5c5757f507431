#include "compact/cuts.h"

#include "compact/turns.h"

static bool is_tool(const struct compact_input *in, size_t i)
{
    return in->messages[i].role == ROLE_TOOL;
}

/* Behind an earlier summary the conversation goes on: its head is what stands before. */
size_t compact_head_end(const struct compact_input *in)
{
    size_t most = (size_t)in->settings->protect_head;
    size_t head = 0;
    while (head < in->count && (head < most || (head > 0 && is_tool(in, head))) &&
           (!in->messages[head].summary || in->messages[head].pinned))
        head++;
    return head;
}

static int64_t tail_budget(const struct compact_input *in)
{
    return (int64_t)((double)in->threshold * in->settings->tail_ratio + 1e-6);
}

static size_t tail_start(const struct compact_input *in)
{
    size_t floor = (size_t)in->settings->protect_tail_min;
    int64_t left = tail_budget(in);
    size_t i = in->count;
    while (i > 0) {
        left -= in->estimates[i - 1];
        size_t kept = in->count - i;
        if (kept > 0 && kept >= floor && left < 0)
            break;
        i--;
    }
    while (i > 0 && i < in->count && is_tool(in, i))
        i--;
    return i;
}

void compact_cut_middle(const struct compact_input *in, enum compact_fate *fates)
{
    size_t tail = tail_start(in);
    for (size_t i = compact_head_end(in); i < tail; i++)
        fates[i] = FATE_GOES;
}

/* The running turn's newest calls, where the model has not seen their results yet; `count`: there
 * are none, or they are most of what is too long. */
static size_t unseen_from(const struct compact_input *in)
{
    size_t i = in->count;
    while (i > in->open + 1 && is_tool(in, i - 1))
        i--;
    bool is_unseen = i > in->open + 1 && i < in->count;
    return is_unseen && compact_tokens(in, i - 1, in->count) <= in->threshold / 2 ? i - 1
                                                                                  : in->count;
}

void compact_cut_all(const struct compact_input *in, enum compact_fate *fates)
{
    size_t end = unseen_from(in);
    for (size_t i = 0; i < end; i++)
        fates[i] = FATE_GOES;
}
