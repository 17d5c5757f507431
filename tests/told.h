/* Events as an engine would hand them to a transcript, with the few fields that most tests need. */
#ifndef TESTS_TOLD_H
#define TESTS_TOLD_H

#include "chat/event.h"
#include "ui/transcript/transcript.h"

/* The caller frees the event; `text` may be NULL. */
struct event *told_event(enum event_type type, int64_t seq, const char *text);

#define EV(type, seq, text) told_event(EVENT_##type, seq, text)

/* Hands the events over. The result is that of transcript_apply() for the last one. */
#define tell(t, ...) told_all(t, (struct event *[]){__VA_ARGS__, NULL})
bool told(struct transcript *t, struct event *ev);
bool told_all(struct transcript *t, struct event **events); /* up to a NULL */
#define tell_earlier(t, more, ...)                                                                 \
    told_earlier(t, (struct event *[]){__VA_ARGS__},                                               \
                 sizeof((struct event *[]){__VA_ARGS__}) / sizeof(struct event *), more)
void told_earlier(struct transcript *t, struct event **events, size_t count, bool more);

#endif
