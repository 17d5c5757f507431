#include "compact/mode.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compact/extract.h"

/* --- beginning and end ------------------------------------------------------------------------ */

static bool is_tool(const struct compact_input *in, size_t i)
{
    return in->messages[i].role == ROLE_TOOL;
}

/* End of the protected head. It ends before an earlier summary. */
static size_t head_end(const struct compact_input *in)
{
    size_t most = (size_t)in->settings->protect_head;
    size_t head = 0;
    while (head < in->count && (head < most || (head > 0 && is_tool(in, head))) &&
           (!in->messages[head].summary || in->messages[head].pinned))
        head++;
    return head;
}

/* Lets go what is between the protected head and the tail. Neither border parts a tool call from
 * its results. */
static void cut_middle(const struct compact_input *in, enum compact_fate *fates)
{
    size_t least = (size_t)in->settings->protect_tail_min, tail = in->count;
    int64_t left = (int64_t)((double)in->threshold * in->settings->tail_ratio + 1e-6);
    for (; tail > 0; tail--) {
        left -= in->estimates[tail - 1];
        size_t kept = in->count - tail;
        if (kept > 0 && kept >= least && left < 0)
            break;
    }
    while (tail > 0 && tail < in->count && is_tool(in, tail))
        tail--;
    for (size_t i = head_end(in); i < tail; i++)
        fates[i] = FATE_GOES;
}

/* Lets all go except results that the running turn's model has not seen yet, with their calls, if
 * they take at most half of the threshold: it would only ask for them again. */
static void cut_all(const struct compact_input *in, enum compact_fate *fates)
{
    size_t i = in->count, end = in->count;
    while (i > in->open + 1 && is_tool(in, i - 1))
        i--;
    if (i > in->open + 1 && i < in->count &&
        compact_tokens(in, i - 1, in->count) <= in->threshold / 2)
        end = i - 1;
    for (i = 0; i < end; i++)
        fates[i] = FATE_GOES;
}

/* --- the newest turns ------------------------------------------------------------------------- */

/* First message of the kept turns: a tail without gaps, behind the newest turn that is too large.
 * It leaves room below the threshold, or the history would have to be compacted again at once.
 * `kept`: tokens of the other kept messages. */
static size_t kept_from(const struct compact_input *in, const struct turn_spans *turns,
                        int64_t kept)
{
    size_t count = turns->items.len, first = count;
    bool fills = in->settings->recent_turns == COMPACT_AUTO;
    size_t budget = fills ? COMPACT_AUTO_TURNS : (size_t)in->settings->recent_turns;
    int64_t share = compact_tokens(in, 0, in->count);
    share = (int64_t)((double)compact_lesser(share, in->threshold) * COMPACT_AUTO_SHARE);
    while (first > 1) {
        int64_t tokens = turns->items.items[first - 1].tokens;
        kept += tokens;
        if ((count - first >= budget && !(fills && kept <= share)) ||
            tokens > in->threshold / 2 || kept > in->threshold / 4 * 3)
            break;
        first--;
    }
    return first < count ? turns->items.items[first].first : in->open;
}

/* Lets go the turns before the kept ones, and of the running turn all but the newest rounds (an
 * answer with the results of its calls) that together take at most half of the threshold. Without
 * an older turn the first round never stays. */
static void cut_old_turns(const struct compact_input *in, enum compact_fate *fates)
{
    AUTO(vec_release_local) struct turn_spans turns = {.items = {0}};
    compact_turns(in, &turns);
    bool none = turns.items.len == 0;
    size_t rounds = in->count; /* first message of the kept ones */
    int64_t tokens = 0;
    for (size_t i = in->count; i-- > in->open + 1;) {
        tokens += compact_tokens(in, i, i + 1);
        if (tokens > in->threshold / 2)
            break;
        if (in->messages[i].role != ROLE_ASSISTANT)
            continue;
        if (none && compact_tokens(in, in->open + 1, i) == 0)
            break;
        rounds = i;
    }
    int64_t besides = compact_tokens(in, rounds, in->count);
    for (size_t i = 0; i < in->count; i++) /* a new summary will be about as long */
        besides += in->messages[i].summary || (in->kept && in->kept[i] && i < rounds)
                       ? in->estimates[i]
                       : 0;
    if (in->open < in->count)
        besides += in->estimates[in->open];
    size_t kept = none ? in->open : kept_from(in, &turns, besides);
    for (size_t i = 0; i < kept; i++)
        fates[i] = FATE_GOES;
    for (size_t i = in->open + 1; i < rounds; i++)
        fates[i] = FATE_GOES;
}

/* --- the modes -------------------------------------------------------------------------------- */

/* Earlier summaries are all that is left of still older messages, so their texts stay. */
static char *mark_text(const struct compact_input *in, const struct compact_plan *p)
{
    struct buf out = BUF_INIT;
    compact_add_counts(&out, in, p);
    compact_add_earlier(&out, in, p);
    buf_addstr(&out, "\n\n" COMPACT_MARK_END);
    return buf_take(&out);
}

/* A summary, then the last turns word for word, of the running one its last rounds. */
const struct compact_mode mode_handoff = {
    .name = "handoff",
    .cut = cut_old_turns,
    .prompt = "prompts/compaction-handoff.md",
    .prefix = COMPACT_PREFIX,
};

/* Beginning and end word for word, between them a summary in fixed sections. */
const struct compact_mode mode_structured = {
    .name = "structured",
    .cut = cut_middle,
    .head = head_end,
    .prompt = "prompts/compaction-structured.md",
    .update_prompt = "prompts/compaction-update.md",
    .prefix = COMPACT_PREFIX,
    .sections = true,
    .prunes = true,
    .fallback = &mode_recency_preserving,
};

/* Beginning and end word for word, between them only a mark. */
const struct compact_mode mode_recency_preserving = {
    .name = "recency_preserving",
    .cut = cut_middle,
    .head = head_end,
    .text = mark_text,
    .prunes = true,
};

/* An extract that the program makes itself. */
const struct compact_mode mode_deterministic = {
    .name = "deterministic",
    .cut = cut_all,
    .text = compact_extract,
};

/* One summary of everything. */
const struct compact_mode mode_llm_replace = {
    .name = "llm_replace",
    .cut = cut_all,
    .prompt = "prompts/compaction-llm-replace.md",
    .prefix = COMPACT_PREFIX,
};

const struct compact_mode *const compact_modes[] = {
    &mode_handoff,       &mode_structured,  &mode_recency_preserving,
    &mode_deterministic, &mode_llm_replace, NULL,
};

const struct compact_mode *compact_mode_find(const char *name)
{
    for (size_t i = 0; name && compact_modes[i]; i++)
        if (strcmp(compact_modes[i]->name, name) == 0)
            return compact_modes[i];
    return NULL;
}

/* --- what a compaction would free ------------------------------------------------------------- */

int64_t compact_tokens_after(const struct compact_mode *mode, const struct compact_input *in,
                             const struct compact_plan *p)
{
    struct rebuild r;
    auto_free char *text = p->gone > 0 && mode->text ? mode->text(in, p) : NULL;
    for (size_t i = 0; p->gone > 0 && i < in->count && !text; i++)
        if (in->messages[i].summary && !in->messages[i].pinned)
            text = message_text(&in->messages[i]);
    if (p->gone > 0 && !text)
        text = mem_strdup(COMPACT_PREFIX);
    compact_plan_rebuild(mode, in, p, text, &r);
    int64_t tokens = rebuild_estimate(&r, in->estimates);
    rebuild_release(&r);
    return tokens;
}

static int64_t nine_tenths(int64_t tokens)
{
    return tokens - tokens / 10;
}

bool compact_is_worth(const struct compact_settings *s, const struct compact_limits *l,
                      const struct compact_prospect *p)
{
    int64_t before = p->before + p->overhead, after = p->after + p->overhead;
    bool shortens_history =
        p->after <= nine_tenths(p->before) && p->after <= nine_tenths(compact_threshold(s, l));
    bool shortens_request = after <= nine_tenths(compact_request_threshold(s, l)) ||
                            (before >= l->window && after < l->window);
    return (p->for_history && shortens_history) || (p->for_request && shortens_request);
}

/* The setting that keeps the messages: with its least value the compaction would be worth
 * beginning. NULL: none of them. */
static const char *key_that_helps(const struct compact_mode *mode, const struct compact_input *in,
                                  const struct compact_limits *l, const struct compact_prospect *p)
{
    static const struct {
        const char *key;
        bool turns, head, tail_min, tail_ratio;
    } keys[] = {
        {"recent_turn_budget", .turns = true},
        {"protect_tail_min", .tail_min = true},
        {"tail_budget_ratio", .tail_ratio = true},
        {"protect_head", .head = true},
        {"protect_head and protect_tail_min", .head = true, .tail_min = true},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct compact_settings least = *in->settings;
        struct compact_input other = *in;
        struct compact_prospect then = *p;
        struct compact_plan plan;
        least.recent_turns = keys[i].turns ? 0 : least.recent_turns;
        least.protect_head = keys[i].head ? 0 : least.protect_head;
        least.protect_tail_min = keys[i].tail_min ? 0 : least.protect_tail_min;
        least.tail_ratio = keys[i].tail_ratio ? 0.05 : least.tail_ratio;
        other.settings = &least;
        if (compact_plan_make(mode, &other, &plan))
            then.after = compact_tokens_after(mode, &other, &plan);
        compact_plan_release(&plan);
        if (compact_is_worth(&least, l, &then))
            return keys[i].key;
    }
    return NULL;
}

char *compact_why_not_worth(const struct compact_mode *mode, const struct compact_input *in,
                            const struct compact_limits *l, const struct compact_prospect *p)
{
    const struct compact_settings *s = in->settings;
    const char *key = key_that_helps(mode, in, l, p);
    if (key)
        return mem_printf(
            "the conversation is past %lld tokens and is not compacted: %s would "
            "keep nearly all of it; lower [compaction] %s, or choose another mode",
            (long long)in->threshold, mode->name, key);
    struct compact_limits boundless = *l;
    boundless.max_bytes = 0;
    int64_t by_window = compact_request_threshold(s, &boundless);
    if (!p->for_history && (by_window == 0 || compact_request_threshold(s, l) < by_window))
        return mem_printf(
            "a request nears %lld bytes and the conversation is not compacted: nearly "
            "all of it has to stay (new message, pinned ones, system prompt, tools); raise "
            "[compaction] max_request_bytes if the server takes more",
            (long long)l->max_bytes);
    if (!p->for_history || (l->window > 0 && compact_threshold(s, l) < s->auto_threshold))
        return mem_printf(
            "the conversation nears the end of the model's window and is not "
            "compacted: nearly all of it has to stay (new message, pinned ones, "
            "system prompt, tools); choose a model with a larger window");
    return mem_printf(
        "the conversation is past %lld tokens and is not compacted: nearly all of "
        "it has to stay (new message, pinned ones, system prompt, tools); raise "
        "[compaction] auto_compact_threshold",
        (long long)in->threshold);
}
