#include "compact/prospect.h"

#include <stdlib.h>

#include "base/mem.h"

static const struct message *earlier_summary(const struct compact_input *in)
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
    const struct message *earlier = earlier_summary(in);
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
    return !p->for_history &&
           (by_window == 0 || compact_request_threshold(s, l) < by_window);
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
