/* What an engine would tell a transcript: events with the few fields that most tests need. */
#ifndef TESTS_TOLD_H
#define TESTS_TOLD_H

#include "chat/event.h"
#include "ui/transcript/transcript.h"

/* The caller frees; `text` may be NULL. */
struct event *told_event(enum event_type type, int64_t seq, const char *text);

/* Take the events. The result is transcript_apply()'s. */
bool told(struct transcript *t, struct event *ev);
void told_earlier(struct transcript *t, struct event **events, size_t count, bool more);

#endif
