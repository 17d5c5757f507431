/* A summary, then the last turns word for word. */
#include "compact/mode.h"
#include "compact/turns.h"

/* Kept turns are a tail without gaps: it begins behind the newest turn that is too large, and
 * leaves room below the threshold, or the history would have to be compacted again at once. */
static size_t kept_from(const struct compact_input *in, const struct turn_spans *turns)
{
    size_t count = turns->items.len;
    size_t budget = (size_t)in->settings->recent_turns;
    size_t first = count > budget ? count - budget : 1;
    int64_t sum = 0;
    for (size_t i = count; i > first; i--) {
        int64_t tokens = turns->items.items[i - 1].tokens;
        sum += tokens;
        if (tokens > in->threshold / 2 || sum > in->threshold / 4 * 3) {
            first = i;
            break;
        }
    }
    return first < count ? turns->items.items[first].first : in->open;
}

static bool running_work_goes(const struct compact_input *in, bool is_all)
{
    return in->open < in->count &&
           (is_all || compact_tokens(in, in->open + 1, in->count) > in->threshold / 2);
}

static void cut(const struct compact_input *in, enum compact_fate *fates)
{
    struct turn_spans turns;
    compact_turns(in, &turns);
    bool none = turns.items.len == 0;
    size_t kept = none ? in->open : kept_from(in, &turns);
    vec_release(&turns.items);
    for (size_t i = 0; i < kept; i++)
        fates[i] = FATE_GOES;
    if (!running_work_goes(in, none))
        return;
    for (size_t i = in->open + 1; i < in->count; i++)
        fates[i] = FATE_GOES;
}

const struct compact_mode mode_handoff = {
    .name = "handoff",
    .cut = cut,
    .prompt = "prompts/compaction-handoff.md",
    .prefix = COMPACT_PREFIX,
};
