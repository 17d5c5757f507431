#include "tests/told.h"

#include "base/mem.h"

struct event *told_event(enum event_type type, int64_t seq, const char *text)
{
    struct event *ev = event_new(type);
    ev->seq = seq;
    ev->text = mem_strdup(text);
    return ev;
}

bool told(struct transcript *t, struct event *ev)
{
    bool changed = transcript_apply(t, ev);
    event_free(ev);
    return changed;
}

bool told_all(struct transcript *t, struct event **events)
{
    bool shown = false;
    for (; *events; events++)
        shown = told(t, *events);
    return shown;
}

void told_earlier(struct transcript *t, struct event **events, size_t count, bool more)
{
    transcript_prepend(t, events, count, more);
    for (size_t i = 0; i < count; i++)
        event_free(events[i]);
}
