/* A summary, then the last turns word for word, of the running one its last rounds. */
#include "compact/mode.h"
#include "compact/turns.h"

/* Kept turns are a tail without gaps: it begins behind the newest turn that is too large, and
 * leaves room below the threshold, or the history would have to be compacted again at once. `kept`:
 * tokens of what stays besides. */
static size_t kept_from(const struct compact_input *in, const struct turn_spans *turns,
                        int64_t kept)
{
    size_t count = turns->items.len;
    size_t budget = (size_t)in->settings->recent_turns;
    size_t first = count > budget ? count - budget : 1;
    for (size_t i = count; i > first; i--) {
        int64_t tokens = turns->items.items[i - 1].tokens;
        kept += tokens;
        if (tokens > in->threshold / 2 || kept > in->threshold / 4 * 3) {
            first = i;
            break;
        }
    }
    return first < count ? turns->items.items[first].first : in->open;
}

/* The running turn by rounds, an answer with the results of its calls: where those begin of which
 * all together take at most half of the threshold; but for the first where one has to go. */
static size_t rounds_from(const struct compact_input *in, bool one_goes)
{
    int64_t tokens = 0;
    size_t from = in->count;
    for (size_t i = in->count; i-- > in->open + 1;) {
        tokens += compact_tokens(in, i, i + 1);
        if (tokens > in->threshold / 2)
            return from;
        if (in->messages[i].role != ROLE_ASSISTANT)
            continue;
        if (one_goes && compact_tokens(in, in->open + 1, i) == 0)
            return from;
        from = i;
    }
    return from;
}

/* A new one will be about as long. */
static int64_t summary_tokens(const struct compact_input *in)
{
    int64_t tokens = 0;
    for (size_t i = 0; i < in->count; i++)
        tokens += in->messages[i].summary ? in->estimates[i] : 0;
    return tokens;
}

static void cut(const struct compact_input *in, enum compact_fate *fates)
{
    struct turn_spans turns;
    compact_turns(in, &turns);
    bool none = turns.items.len == 0;
    size_t rounds = rounds_from(in, none);
    int64_t besides = compact_tokens(in, rounds, in->count) + summary_tokens(in);
    if (in->open < in->count)
        besides += in->estimates[in->open];
    size_t kept = none ? in->open : kept_from(in, &turns, besides);
    vec_release(&turns.items);
    for (size_t i = 0; i < kept; i++)
        fates[i] = FATE_GOES;
    for (size_t i = in->open + 1; i < rounds; i++)
        fates[i] = FATE_GOES;
}

const struct compact_mode mode_handoff = {
    .name = "handoff",
    .cut = cut,
    .prompt = "prompts/compaction-handoff.md",
    .prefix = COMPACT_PREFIX,
};
