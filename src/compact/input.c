#include "compact/input.h"

struct compact_input compact_input_of(const struct history *h, const struct compact_settings *s,
                                      const struct compact_limits *l)
{
    return (struct compact_input){
        .messages = h->messages.items,
        .count = h->messages.len,
        .estimates = h->estimates.items,
        .open = h->running ? h->turn_first : h->messages.len,
        .settings = s,
        .threshold = compact_threshold(s, l),
    };
}
