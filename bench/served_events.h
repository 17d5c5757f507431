/* tiro serve --http with one session, and a reader of its event stream. */
#ifndef BENCH_SERVED_EVENTS_H
#define BENCH_SERVED_EVENTS_H

struct served_events;

/* Ends the program with a message on failure. */
struct served_events *served_events_start(void);
void served_events_stop(struct served_events *s);

/* Sends a message; its answer is not read. */
void served_events_say(struct served_events *s);

/* The data of the next event, borrowed until the next call. NULL at the end of the stream. */
const char *served_events_next(struct served_events *s);

#endif
