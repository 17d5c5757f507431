#include "compact/mode.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "compact/extract.h"

/* --- cuts ------------------------------------------------------------------------------------ */

static bool is_tool(const struct compact_input *in, size_t i)
{
    return in->messages[i].role == ROLE_TOOL;
}

/* Where the protected head ends. Behind an earlier summary the conversation goes on: its head is
 * what stands before. */
static size_t head_end(const struct compact_input *in)
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

/* What lies between the protected head and the tail. Neither border parts a tool call from its
 * results. */
static void cut_middle(const struct compact_input *in, enum compact_fate *fates)
{
    size_t tail = tail_start(in);
    for (size_t i = head_end(in); i < tail; i++)
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

/* All but results that the running turn's model has not seen yet, with their calls, if they take at
 * most half of the threshold: it would only ask for them again. */
static void cut_all(const struct compact_input *in, enum compact_fate *fates)
{
    size_t end = unseen_from(in);
    for (size_t i = 0; i < end; i++)
        fates[i] = FATE_GOES;
}

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

static void cut_old_turns(const struct compact_input *in, enum compact_fate *fates)
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

/* The texts of earlier summaries are all that is left of still older messages. */
static char *mark_text(const struct compact_input *in, const struct compact_plan *p)
{
    struct buf out = BUF_INIT;
    compact_add_counts(&out, in, p);
    compact_add_earlier(&out, in, p);
    buf_addstr(&out, "\n\n" COMPACT_MARK_END);
    return buf_take(&out);
}

/* --- the modes ------------------------------------------------------------------------------- */

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

static const struct message *summary_among(const struct compact_input *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (in->messages[i].summary && !in->messages[i].pinned)
            return &in->messages[i];
    return NULL;
}

/* What stands for what goes; NULL: nothing. */
static char *expected_text(const struct compact_mode *mode, const struct compact_input *in,
                           const struct compact_plan *p)
{
    const struct message *earlier = summary_among(in);
    if (p->gone == 0)
        return NULL;
    if (mode->text)
        return mode->text(in, p);
    return earlier ? message_text(earlier) : mem_strdup(COMPACT_PREFIX);
}

int64_t compact_foresee(const struct compact_mode *mode, const struct compact_input *in,
                        const struct compact_plan *p)
{
    struct rebuild r;
    char *text = expected_text(mode, in, p);
    compact_plan_rebuild(mode, in, p, text, &r);
    int64_t tokens = rebuild_estimate(&r, in->estimates);
    rebuild_release(&r);
    free(text);
    return tokens;
}

static int64_t nine_tenths(int64_t tokens)
{
    return tokens - tokens / 10;
}

static bool shortens_history(const struct compact_settings *s, const struct compact_limits *l,
                             const struct compact_prospect *p)
{
    return p->after <= nine_tenths(p->before) && p->after <= nine_tenths(compact_threshold(s, l));
}

static bool shortens_request(const struct compact_settings *s, const struct compact_limits *l,
                             const struct compact_prospect *p)
{
    int64_t before = p->before + p->overhead, after = p->after + p->overhead;
    return after <= nine_tenths(compact_request_threshold(s, l)) ||
           (before >= l->window && after < l->window);
}

bool compact_is_worth(const struct compact_settings *s, const struct compact_limits *l,
                      const struct compact_prospect *p)
{
    return (p->for_history && shortens_history(s, l, p)) ||
           (p->for_request && shortens_request(s, l, p));
}

/* --- what is in its way ---------------------------------------------------------------------- */

/* Settings that keep messages, of which these are at their least. */
static const struct lever {
    const char *key;
    bool turns, head, tail_min, tail_ratio;
} levers[] = {
    {"recent_turn_budget", .turns = true},
    {"protect_tail_min", .tail_min = true},
    {"tail_budget_ratio", .tail_ratio = true},
    {"protect_head", .head = true},
    {"protect_head and protect_tail_min", .head = true, .tail_min = true},
};

static struct compact_settings loosen(struct compact_settings s, const struct lever *lever)
{
    s.recent_turns = lever->turns ? 0 : s.recent_turns;
    s.protect_head = lever->head ? 0 : s.protect_head;
    s.protect_tail_min = lever->tail_min ? 0 : s.protect_tail_min;
    s.tail_ratio = lever->tail_ratio ? 0.05 : s.tail_ratio;
    return s;
}

static bool is_worth_with(const struct lever *lever, const struct compact_mode *mode,
                          const struct compact_input *in, const struct compact_limits *l,
                          struct compact_prospect p)
{
    const struct compact_settings loosened = loosen(*in->settings, lever);
    struct compact_input other = *in;
    struct compact_plan plan;
    other.settings = &loosened;
    if (compact_plan_make(mode, &other, &plan))
        p.after = compact_foresee(mode, &other, &plan);
    compact_plan_release(&plan);
    return compact_is_worth(&loosened, l, &p);
}

static const char *key_that_helps(const struct compact_mode *mode, const struct compact_input *in,
                                  const struct compact_limits *l, const struct compact_prospect *p)
{
    for (size_t i = 0; i < sizeof levers / sizeof *levers; i++)
        if (is_worth_with(&levers[i], mode, in, l, *p))
            return levers[i].key;
    return NULL;
}

static bool is_window_full(const struct compact_settings *s, const struct compact_limits *l,
                           const struct compact_prospect *p)
{
    return !p->for_history || (l->window > 0 && compact_threshold(s, l) < s->auto_threshold);
}

/* It is the limit of bytes that the request nears. */
static bool is_body_full(const struct compact_settings *s, const struct compact_limits *l,
                         const struct compact_prospect *p)
{
    struct compact_limits boundless = *l;
    boundless.max_bytes = 0;
    int64_t by_window = compact_request_threshold(s, &boundless);
    return !p->for_history && (by_window == 0 || compact_request_threshold(s, l) < by_window);
}

char *compact_obstacle(const struct compact_mode *mode, const struct compact_input *in,
                       const struct compact_limits *l, const struct compact_prospect *p)
{
    const char *key = key_that_helps(mode, in, l, p);
    long long threshold = (long long)in->threshold;
    if (key)
        return mem_printf(
            "the conversation is past %lld tokens and is not compacted: %s would "
            "keep nearly all of it; lower [compaction] %s, or choose another mode",
            threshold, mode->name, key);
    if (is_body_full(in->settings, l, p))
        return mem_printf(
            "a request nears %lld bytes and the conversation is not compacted: nearly "
            "all of it has to stay (new message, pinned ones, system prompt, tools); raise "
            "[compaction] max_request_bytes if the server takes more",
            (long long)l->max_bytes);
    if (is_window_full(in->settings, l, p))
        return mem_printf(
            "the conversation nears the end of the model's window and is not "
            "compacted: nearly all of it has to stay (new message, pinned ones, "
            "system prompt, tools); choose a model with a larger window");
    return mem_printf(
        "the conversation is past %lld tokens and is not compacted: nearly all of "
        "it has to stay (new message, pinned ones, system prompt, tools); raise "
        "[compaction] auto_compact_threshold",
        threshold);
}
