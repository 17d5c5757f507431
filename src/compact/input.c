#include "compact/input.h"

struct compact_input compact_input_of(const struct history *h, const struct compact_settings *s,
                                      const struct compact_limits *l)
{
    return (struct compact_input){
        .messages = h->messages.items,
        .count = h->messages.len,
        .source = h->source,
        .estimates = h->estimates.items,
        .open = h->running ? h->turn_first : h->messages.len,
        .settings = s,
        .threshold = compact_threshold(s, l),
    };
}

static bool begins_turn(const struct compact_input *in, size_t i)
{
    const struct message *m = &in->messages[i];
    return i == 0 || (m->role == ROLE_USER && !m->summary) || m->turn != in->messages[i - 1].turn;
}

static bool can_go(const struct message *m)
{
    return !m->pinned && !m->summary && m->role != ROLE_SYSTEM;
}

static bool any_can_go(const struct compact_input *in, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (can_go(&in->messages[i]))
            return true;
    return false;
}

int64_t compact_tokens(const struct compact_input *in, size_t first, size_t end)
{
    int64_t tokens = 0;
    for (size_t i = first; i < end; i++)
        if (!in->messages[i].summary)
            tokens += in->estimates[i];
    return tokens;
}

void compact_turns(const struct compact_input *in, struct turn_spans *out)
{
    *out = (struct turn_spans){.items = {0}};
    size_t complete = in->open < in->count ? in->open : in->count;
    for (size_t first = 0, end; first < complete; first = end) {
        for (end = first + 1; end < complete && !begins_turn(in, end);)
            end++;
        if (any_can_go(in, first, end))
            vec_push(&out->items, (struct turn_span){.first = first,
                                                     .end = end,
                                                     .tokens = compact_tokens(in, first, end)});
    }
}

size_t compact_newest_turn(const struct compact_input *in)
{
    if (in->open < in->count || in->count == 0)
        return in->open;
    size_t i = in->count - 1;
    while (!begins_turn(in, i))
        i--;
    return i;
}
